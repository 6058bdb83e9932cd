"""Interruptible formulas: those for which only their own actions matter.

A formula is interruptible iff two words of actions that agree on the actions
that the formula names, once all others are deleted, agree on the formula.  What
hides or commutes the other actions may be used for interruptible formulas only.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Sec. 3.1-3.3: Def. 10,
`intrpt` and Theorem 1, Remark 1.

Differences from the source:

* `intrpt` handles all operators of Spot.  The others are defined by negation,
  conjunction, X and U, over which beta is a homomorphism but for X, so it is one
  over them, too.
* A Boolean combination of propositions and formulas X g is extended as a whole.
  With V all actions of the formula, beta(f) says of a word what f says from the
  first action of V on, or, if there is none, what f says of words without such
  actions, on which f is constant (Remark 1: replace all actions by false).  So
  for any Boolean combination B of propositions, of X g_i and of other formulas
  h_j, beta(B) is action equivalent to ``!V U (V & B')``, with W instead of U where
  B holds without actions of V; B' is B with X beta(g_i) for X g_i and beta(h_j) for
  h_j.  (At the first action of V propositions are as they are; beta(h_j) is
  interruptible, so there it is what it is at the beginning.)
* `is_interruptible` does not compare f with intrpt(f), but looks for two words that
  show that f is not interruptible.  Before that, Prop. 5 (`ltlpipe.logic.classes`) is
  asked, which needs no automaton.
* By Lemma 2 f is interruptible iff it says the same of each word and of its
  interrupt-free form: if it does, words that agree on V, the actions of f, agree
  on f, as they have forms that agree on V and differ at most in which invisible
  actions come behind the last visible one, which f cannot tell apart.  An
  automaton of the words whose interrupt-free form satisfies f is had from one of
  f by loops (`_extended`), so two automata are translated, of f and of its
  negation, and none of the larger intrpt(f), which can take minutes.  A word that
  it finds is a witness at once.
* Before that, a fixed sample of words is looked at.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.actions import (
    bit_names,
    cube_of,
    names_in,
    numbered,
    tree_of,
)
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import (
    CONNECTIVES,
    Formula,
    FormulaLike,
    fold,
    rebuilt,
)
from ltlpipe.logic.spot_graphs import automaton_of, by_spot
from ltlpipe.logic.words import (
    Word,
    interrupt_free,
    other_action,
    satisfies,
)
from ltlpipe.runtime.arguments import NUMBER, expect
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Witness:
    """Why a formula is not interruptible, or not erasable: two words."""

    satisfying: Word
    violating: Word

    def visible(self, actions: Sequence[str]) -> str:
        """Say what both words are without invisible actions."""
        form = interrupt_free(self.satisfying, actions)
        if form.cycle[0] in actions:
            return str(form)
        return " ".join(form.prefix) or "nothing"


def witness(formula: FormulaLike) -> Witness | None:
    """Return two words that show that a formula is not interruptible; None if it is.

    The words have been evaluated directly, not by the automaton that found them.

    Raises
    ------
    FormulaError, UnsupportedError
        As for `is_interruptible`.
    """
    tree = tree_of(formula)
    actions = names_in([tree])
    if not actions:
        return None
    word = _sampled(tree, actions) or by_spot(lambda: _found(tree, actions))
    return None if word is None else _checked(tree, word, actions)


def _checked(tree: Any, word: Word, actions: list[str]) -> Witness:
    """Evaluate a word and its interrupt-free form."""
    form = interrupt_free(word, actions)
    holds, holds_of_form = satisfies(tree, word), satisfies(tree, form)
    if holds == holds_of_form:
        raise AssertionError(f"{word} and {form} do not differ on {tree}")
    return Witness(word, form) if holds else Witness(form, word)


_N_WORDS, _PREFIX, _CYCLE = 20, 4, 2
"""Words that are looked at before automata, which take long for large formulas."""


def _sampled(tree: Any, actions: list[str]) -> Word | None:
    """Look for a word that differs from its interrupt-free form in a sample."""
    rng, other = random.Random(len(actions)), other_action(actions)
    for _ in range(_N_WORDS):
        few = [other, *rng.choices(actions, k=3)]
        told = tuple(rng.choices(few, k=_PREFIX + _CYCLE))
        word = Word(told[:_PREFIX], told[_PREFIX:])
        if satisfies(tree, word) != satisfies(tree, interrupt_free(word, actions)):
            return word
    return None


# --- a witness by automata --------------------------------------------------


def _found(tree: Any, actions: list[str]) -> Word | None:
    """Return a word that differs from its interrupt-free form; None if none does."""
    both = automata_of(numbered(tree, actions))
    for form, itself in (both, both[::-1]) if both else ():
        numbers = numbers_of(form, len(actions))
        found = _extended(form, numbers[0]).intersecting_word(itself)
        if found is not None:
            return spelled(found, numbers, actions)
    return None


@lru_cache(maxsize=1)
def automata_of(subject: Any) -> tuple[Any, Any] | None:
    """Return automata of the words that satisfy a formula, and of those that do not.

    None if there are only words of one of the two kinds.  Spot simplifies the formula
    first: "low" translates even ``FG a & GF b`` for two actions as it is written.  The
    last pair is kept: several questions about a formula need it.
    """
    import spot

    options = spot.tl_simplifier_options(True, True, True)
    simplified = spot.tl_simplifier(options).simplify(subject)
    found = []
    for formula in (simplified, spot.formula_Not(simplified)):
        automaton = spot.translate(formula, "GeneralizedBuchi", "low")
        if automaton.is_empty():
            return None
        found.append(automaton)
    return found[0], found[1]


def numbers_of(automaton: Any, n_actions: int) -> list[Any]:
    """Return the BDDs of the numbers of no action, the first, the second, ..."""
    import buddy

    bits = [automaton.register_ap(name) for name in bit_names(n_actions)]
    cubes = [cube_of(number, bits) for number in range(1, n_actions + 1)]
    return [reduce(sub, cubes, buddy.bddtrue), *cubes]


def _extended(automaton: Any, invisible: Any) -> Any:
    """Return an automaton of the words whose interrupt-free form is accepted.

    Visible actions are read as before and carry one mark more: a run that sees
    it again and again ignores, by loops, what is invisible in between.  A run
    that has read the last visible action may go to a state that accepts all
    words without any, if `automaton` accepts one from where it is.
    """
    import buddy

    n_states, n_marks = automaton.num_states(), automaton.num_sets()
    everything = list(range(n_marks + 1))
    edges: list[tuple[Any, ...]] = [(n_states, n_states, invisible, everything)]
    edges += [(state, state, invisible, []) for state in range(n_states)]
    for edge in automaton.edges():
        label = edge.cond - invisible
        if label != buddy.bddfalse:
            edges.append((edge.src, edge.dst, label, [*edge.acc.sets(), n_marks]))
    for state in _accepting_without_actions(automaton, invisible):
        edges.append((state, n_states, invisible, []))
    return automaton_of(
        n_states + 1,
        edges if not automaton.acc().is_f() else [],
        like=automaton,
        initial=automaton.get_init_state_number(),
        n_marks=n_marks + 1,
    )


def _accepting_without_actions(automaton: Any, invisible: Any) -> list[int]:
    """Return the states from which a word without visible actions is accepted."""
    import buddy
    import spot

    n_states = automaton.num_states()
    edges: list[tuple[Any, ...]] = [
        (edge.src, edge.dst, edge.cond & invisible, edge.acc)
        for edge in automaton.edges()
        if edge.cond & invisible != buddy.bddfalse
    ]
    # From a state of its own, so that all are looked at.
    edges += [(n_states, state, invisible) for state in range(n_states)]
    own = {"initial": n_states, "n_marks": automaton.num_sets()}
    quiet = automaton_of(n_states + 1, edges, like=automaton, **own)
    components = spot.scc_info(quiet)
    return [state for state in range(n_states) if components.is_useful_state(state)]


def spelled(word: Any, numbers: list[Any], actions: list[str]) -> Word:
    """Return a word of Spot as actions."""
    import buddy

    names = [other_action(actions), *actions]

    def letter(label: Any) -> str:
        return next(
            name
            for name, cube in zip(names, numbers, strict=True)
            if label & cube != buddy.bddfalse
        )

    word.simplify()
    return Word(tuple(map(letter, word.prefix)), tuple(map(letter, word.cycle)))


# --- intrpt -----------------------------------------------------------------


class _Part(NamedTuple):
    """What is known of beta of a subformula."""

    formula: Any  # beta, or with `waiting` what has to hold at the first visible
    waiting: bool
    unseen: bool  # whether it holds of words without visible actions


def intrpt(formula: FormulaLike) -> Formula:
    """Return the interruptible formula that agrees on interrupt-free words.

    The result is interruptible, and action equivalent to `formula` iff this is
    interruptible ([1]_, Theorem 1).

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        An operator of PSL.

    Examples
    --------
    >>> intrpt("X a").text
    '!a U (a & X(!a U a))'

    References
    ----------
    .. [1] S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
       Automata, and Reduction", CAV 2020, Sec. 3.2 and Remark 1.
    """
    import spot

    tree = tree_of(formula)
    actions = names_in([tree])
    visible = spot.formula_Or([spot.formula_ap(name) for name in actions])
    invisible = spot.formula_Not(visible)

    def closed(part: _Part) -> Any:
        if not part.waiting:
            return part.formula
        wait = spot.formula_W if part.unseen else spot.formula_U
        goal = part.formula
        if goal.kindstr() != "ap":
            goal = spot.formula_And([visible, goal])
        return wait(invisible, goal)

    def combine(node: Any, kind: str, below: list[_Part]) -> _Part:
        if kind in ("ap", "tt", "ff"):
            return _Part(node, kind == "ap", kind == "tt")
        unseen = without_actions(kind, [part.unseen for part in below])
        if kind == "X":
            return _Part(spot.formula_X(closed(below[0])), True, unseen)
        if kind in CONNECTIVES:
            waiting = any(part.waiting for part in below)
            operands = [part.formula for part in below]
        else:
            waiting = False
            operands = [closed(part) for part in below]
        return _Part(rebuilt(kind, operands), waiting, unseen)

    extended = closed(fold(tree, combine))
    return Formula(str(extended), extended)


def without_actions(kind: str, below: list[bool]) -> bool:
    """Return what an operator gives where nothing visible ever happens.

    All suffixes of such a word satisfy the same formulas, so it is a matter of the
    values of the operands.
    """
    if kind in ("tt", "ff", "ap"):
        return kind == "tt"
    first, last = below[0], below[-1]
    return {
        "And": all(below),
        "Or": any(below),
        "Not": not first,
        **dict.fromkeys(("X", "F", "G"), first),
        "Implies": not first or last,
        "Equiv": first == last,
        "Xor": first != last,
        **dict.fromkeys(("U", "R"), last),
        "W": first or last,
        "M": first and last,
    }[kind]


# --- Theorem 1 --------------------------------------------------------------


def is_interruptible(formula: FormulaLike, *, timeout: float | None = None) -> bool:
    """Decide whether only the actions that a formula names matter to it.

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
    >>> is_interruptible("G(a -> F b)"), is_interruptible("G(a -> X b)")
    (True, False)

    References
    ----------
    .. [1] S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
       Automata, and Reduction", CAV 2020, Def. 10 and Theorem 1.
    """
    expect(NUMBER.or_none, timeout=timeout)
    tree = tree_of(formula)
    if "intrpt" in syntactic_class(tree):
        return True
    return complete(interruptible_formula(Formula(str(tree), tree)), timeout)


@remote("deciding interruptibility")
def interruptible_formula(formula: Formula) -> bool:
    """Decide whether a formula is interruptible."""
    return "intrpt" in syntactic_class(formula.spot) or witness(formula) is None
