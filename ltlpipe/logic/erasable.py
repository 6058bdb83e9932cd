"""Erasable formulas: those whose violations survive erasing other actions.

Let V be the words that violate a formula, and call the actions that it does not name
*invisible*.  The formula is *erasable* iff a word of V stays in V when

1. invisible actions are replaced by finitely many of them, at any places, and when
2. invisible actions are deleted, but for infinitely many if there are so many.

Interruptible formulas are erasable.  So are others, such as ``G(a -> X !a)``: they
forbid that actions follow each other directly, or that nothing more happens.  Component
reduction needs no more (docs/erasable.md).

Source: decided on automata in the way of S. F. Siegel and Y. Yan, "Action-Based Model
Checking: Logic, Automata, and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Theorem 1.

Differences from the source: another closure of the words (`closed`), and of the
violations only, as the class is not closed under negation.  The closure is not
compared with V: it contains V, so it is asked whether it meets the words of the
formula.  A word in which it does is half of a witness; the violation of which it is an
erasure is looked for after that.

An *erasure* of a word w puts in the place of each invisible letter a finite sequence
of invisible letters, which may be empty; if w has infinitely many invisible letters, so
has the result.  `closed` returns an automaton of the erasures of the words of another
one; docs/erasable.md has definitions and proofs.

Cost: three states for each one of the automaton, and for each pair of a state and one
that invisible letters lead to from there the transitions of the latter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.actions import bit_names, names_in, numbered, tree_of
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import Formula, FormulaLike
from ltlpipe.logic.interruptible import Witness, automata_of, numbers_of, spelled
from ltlpipe.logic.spot_graphs import automaton_of, by_spot
from ltlpipe.logic.words import satisfies
from ltlpipe.runtime.arguments import NUMBER, expect
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Edges(NamedTuple):
    """What leaves the states of an automaton, by state."""

    visible: list[list[tuple[Any, int, bool]]]  # (label, target, whether marked)
    invisible: list[list[tuple[int, bool]]]  # (target, whether marked)


def closed(automaton: Any, invisible: Any, letters: Any) -> Any:
    """Return an automaton of the erasures of the words of a Büchi automaton.

    Parameters
    ----------
    automaton : spot.twa_graph
        With one mark at most, on transitions; it is not changed.
    invisible : bdd
        The invisible letters, at least one.
    letters : bdd
        All letters; labels beyond them do not count.

    Returns
    -------
    spot.twa_graph
        With the marks 0, that of `automaton`, and 1 for letters that were not
        invented: a run that only repeats is not accepted.  For n states of `automaton`
        there are 3 n: q, n + q and 2 n + q are in state q.  From n + q on a letter
        that has just been read may be repeated; from 2 n + q on the word that is erased
        has no invisible letter any more.
    """
    n = automaton.num_states()
    edges, made = _edges(automaton, invisible, letters), []
    for state in range(n if not automaton.acc().is_f() else 0):
        leaving = _leaving(edges, state, n, invisible)
        for src in (state, n + state):
            for (dst, seen), label in leaving.items():
                made.append((src, dst, label, list(seen)))
        made.append((n + state, n + state, invisible, []))
        for label, target, marked in edges.visible[state]:
            marks = [0, 1] if marked else [1]
            made.append((2 * n + state, 2 * n + target, label, marks))
    initial = automaton.get_init_state_number()
    return automaton_of(3 * n, made, like=automaton, initial=initial, n_marks=2)


def _edges(automaton: Any, invisible: Any, letters: Any) -> _Edges:
    """Return what leaves the states; with no mark, all transitions count as marked."""
    import buddy

    n = automaton.num_states()
    all_marked = automaton.num_sets() == 0
    edges = _Edges([[] for _ in range(n)], [[] for _ in range(n)])
    for edge in automaton.edges():
        marked = all_marked or edge.acc.has(0)
        visible = edge.cond & letters - invisible
        if visible != buddy.bddfalse:
            edges.visible[edge.src].append((visible, edge.dst, marked))
        if edge.cond & invisible != buddy.bddfalse:
            edges.invisible[edge.src].append((edge.dst, marked))
    return edges


def _leaving(
    edges: _Edges, state: int, n: int, invisible: Any
) -> dict[tuple[int, tuple[int, ...]], Any]:
    """Return the labels that lead from a state, after deletions, by (target, marks)."""
    import buddy

    leaving: dict[tuple[int, tuple[int, ...]], Any] = {}

    def add(dst: int, marks: Sequence[int], label: Any) -> None:
        key = dst, tuple(marks)
        leaving[key] = leaving.get(key, buddy.bddfalse) | label

    for via, seen in _deleting(edges, state):
        for label, target, marked in edges.visible[via]:
            add(target, [0] if seen or marked else [], label)
            add(2 * n + target, [], label)
        for target, marked in edges.invisible[via]:
            add(n + target, [0, 1] if seen or marked else [1], invisible)
    return leaving


def _deleting(edges: _Edges, state: int) -> set[tuple[int, bool]]:
    """Return the states that deleted letters lead to, and whether a mark was seen."""
    found = {(state, False)}
    todo = [(state, False)]
    while todo:
        via, seen = todo.pop()
        for target, marked in edges.invisible[via]:
            reached = target, seen or marked
            if reached not in found:
                found.add(reached)
                todo.append(reached)
    return found


def originals(
    prefix: Sequence[int], cycle: Sequence[int], numbers: Sequence[Any], like: Any
) -> Any:
    """Return an automaton of the words of which a given word is an erasure.

    Parameters
    ----------
    prefix, cycle : sequence of int
        The word, 0 for the invisible letter.
    numbers : sequence of bdd
        The letters; that of 0 is the only invisible one.
    like : spot.twa_graph
        Whose propositions are taken.

    Returns
    -------
    spot.twa_graph
        With one mark.  States are places in the word; behind them, if it has finitely
        many invisible letters, those from which on none is deleted.
    """
    word = [*prefix, *cycle]
    n, back = len(word), len(prefix)
    following = [*range(1, n), back]
    for_ever = 0 in cycle  # then deleted letters need not come to an end
    read = [0] if for_ever else []
    edges: list[tuple[Any, ...]] = []
    for place, letter in enumerate(word):
        edges.append((place, place, numbers[0], []))  # deleted
        for target in _behind_block(word, following, place):
            edges.append((place, target, numbers[letter], read))
        if place >= back and not for_ever:
            for src, marks in ((place, []), (n + place, [0])):
                edges.append((src, n + following[place], numbers[letter], marks))
    return automaton_of(2 * n, edges, like=like, n_marks=1)


def _behind_block(
    word: Sequence[int], following: Sequence[int], place: int
) -> set[int]:
    """Return where one letter can lead: behind itself, or behind its repetitions."""
    found = {following[place]}
    while word[place] == 0:
        place = following[place]
        if word[place] != 0 or following[place] in found:
            break
        found.add(following[place])
    return found


def is_erasable(formula: FormulaLike, *, timeout: float | None = None) -> bool:
    """Decide whether violations survive erasing actions that a formula does not name.

    They survive if invisible actions may be deleted (but for infinitely many if there
    are so many) and repeated: then component reduction may count how many of them
    follow each other no more (docs/erasable.md).

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.
    timeout : float, optional
        Seconds, which large formulas may need more than; None is no limit.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        An operator of PSL, or a formula too large for Spot, or for the time.

    Examples
    --------
    >>> is_erasable("G(a -> F b)"), is_erasable("G(a -> X !a)")
    (True, True)
    >>> is_erasable("G(a -> X b)")
    False
    """
    expect(NUMBER.or_none, timeout=timeout)
    tree = tree_of(formula)
    if "intrpt" in syntactic_class(tree):  # only visible actions matter
        return True
    return complete(erasable_formula(Formula(str(tree), tree)), timeout)


@remote("deciding erasability")
def erasable_formula(formula: Formula) -> bool:
    """Decide whether a formula is erasable."""
    tree = formula.spot
    return "intrpt" in syntactic_class(tree) or erasure(tree) is None


def erasure(formula: FormulaLike) -> Witness | None:
    """Return two words that show that a formula is not erasable; None if it is.

    The satisfying one is the violating one with invisible actions repeated, or deleted.

    The words have been evaluated directly, not by the automata that found them.

    Raises
    ------
    FormulaError, UnsupportedError
        As for `is_erasable`.
    """
    tree = tree_of(formula)
    actions = names_in([tree])
    if not actions:
        return None
    found = by_spot(lambda: _found(tree, actions))
    if found is not None and (
        satisfies(tree, found.violating) or not satisfies(tree, found.satisfying)
    ):
        raise AssertionError(f"{found} does not show that {tree} is not erasable")
    return found


def _found(tree: Any, actions: list[str]) -> Witness | None:
    """Look for a word of the formula among the erasures of its violations."""
    import spot

    # isort: split
    import buddy

    both = automata_of(numbered(tree, actions))
    if both is None:
        return None
    holds, fails = both[0], spot.degeneralize_tba(both[1])
    for name in bit_names(len(actions)):
        fails.register_ap(name)
    numbers = numbers_of(fails, len(actions))
    word = closed(fails, numbers[0], buddy.bddtrue).intersecting_word(holds)
    if word is None:
        return None
    erased = spelled(word, numbers, actions)
    index = {action: k for k, action in enumerate(actions, start=1)}
    prefix, cycle = (
        [index.get(a, 0) for a in part] for part in (erased.prefix, erased.cycle)
    )
    before = originals(prefix, cycle, numbers, fails).intersecting_word(fails)
    if before is None:
        raise AssertionError(f"{erased} is no erasure of a violation of {tree}")
    return Witness(erased, spelled(before, numbers, actions))
