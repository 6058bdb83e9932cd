"""Decisions of Spot about words and automata, in a worker process.

Whether a word violates a property; after which of its steps no continuation satisfies
a formula; whether an automaton accepts all words that violate one.

A finite word is a bad prefix of a formula if all its continuations violate it
(O. Kupferman and M. Y. Vardi, "Model Checking of Safety Properties", FMSD 19 (2001),
pp. 291-314).  A monitor of the formula, which accepts the words without one, has no
transition for the letter that completes the first.

Formulas are translated without simplification.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import (
    exactly_one,
    forget_unchecked,
    parse_again,
    parse_sections,
)
from ltlpipe.automata.translation import PHASE
from ltlpipe.logic.formulas import Formula
from ltlpipe.logic.generating import quoted
from ltlpipe.logic.spot_graphs import (
    automaton_of,
    by_spot,
    conjunction,
    cube,
    relabelled,
    valuation,
)
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from ltlpipe.runtime.jobs import Job

_MOST_CONDITIONS = 5_000
"""Numbers of letters in the conditions of all propositions of a word."""


Letters = Sequence[Collection[str]]
"""The propositions that hold in each letter; at most one if they are actions."""


@remote("replaying")
def violates(
    asked: Formula | Any, letters: Letters, word: np.ndarray, start: int
) -> bool:
    """Decide whether a word violates a formula, or is one of an automaton.

    A formula is translated into another automaton than that which was searched: of
    any acceptance that comes easily, without simplification.  Where that makes them
    fewer, its propositions become the bits of the number of the letter, of which the
    word has few: there may be hundreds.

    Parameters
    ----------
    asked : Formula or spot.twa_graph
        The automaton is one of the words that violate the property.
    letters, word : sequence, int64[n]
        Letters, and the numbers of those of the word.
    start : int
        Where the word goes on behind its last letter.
    """
    import spot

    automaton: Any = asked
    if isinstance(automaton, Formula):
        violation = spot.formula_Not(automaton.spot)
        violation, letters = _numbered(violation, letters)
        automaton = spot.translate(violation, "any", "low")
    return accepts(automaton, letters, word.tolist(), start)


def word_of(
    propositions: Sequence[str],
    letters: Sequence[Collection[str]],
    word: np.ndarray,
    start: int,
    dictionary: Any = None,
) -> Any:
    """Return a word as a ``spot.twa_word``.

    The propositions that are not in a letter do not hold in it.  Without a BDD
    dictionary Spot's own is used; see `violates`.
    """
    import spot

    texts = [
        " & ".join(
            ("" if name in holding else "!") + quoted(name) for name in propositions
        )
        or "1"
        for holding in letters
    ]
    steps = [texts[letter] for letter in word.tolist()]
    prefix = "".join(f"{step}; " for step in steps[:start])
    text = f"{prefix}cycle{{{'; '.join(steps[start:])}}}"
    given = () if dictionary is None else (dictionary,)
    return spot.parse_word(text, *given)


def _numbered(formula: Any, letters: Letters) -> tuple[Any, Letters]:
    """Replace propositions by conditions on the bits of the number of a letter.

    As they are if they are fewer, or letters so many that conditions would be large.
    """
    import spot

    propositions = [p.ap_name() for p in spot.atomic_prop_collect(formula) or ()]
    occurring: dict[frozenset[str], int] = {frozenset(): 0}  # what holds nowhere
    told = [frozenset(propositions).intersection(names) for names in letters]
    for names in told:
        occurring.setdefault(names, len(occurring))
    bits = [f"happens{bit}" for bit in range((len(occurring) - 1).bit_length())]
    n_held = sum(map(len, occurring))
    if len(bits) >= len(propositions) or n_held > _MOST_CONDITIONS:
        return formula, letters
    told_by = {
        names: conjunction({bit: number >> k & 1 for k, bit in enumerate(bits)})
        for names, number in occurring.items()
    }
    meaning = {
        name: spot.formula_Or([told_by[names] for names in occurring if name in names])
        for name in propositions
    }
    numbered = [
        [bit for k, bit in enumerate(bits) if occurring[names] >> k & 1]
        for names in told
    ]
    return relabelled(formula, meaning), numbered


def accepts(
    automaton: Any,
    letters: Letters,
    steps: Sequence[int],
    start: int,
    after: Sequence[Any] = (),
) -> bool:
    """Whether Spot accepts a word that goes on at `start`.

    If that is behind the last letter, any word of the BDDs `after` may follow.
    """
    import spot

    labels, end = [valuation(automaton, names) for names in letters], len(steps)
    edges = [
        (k, k + 1 if k + 1 < end else start, labels[letter])
        for k, letter in enumerate(steps)
    ]
    edges += [(end, end, label) for label in after]
    graph = automaton_of(max(end, start + 1), edges, like=automaton)
    # Not `intersects`, which removes Fin first and can need more than 32 marks; and the
    # automaton is the second one, since no place is left to move 32 marks to.
    return not spot.product(graph, automaton).is_empty()


@remote("replaying")
def first_bad_prefix(
    formula: Formula,
    letters: Letters,
    word: np.ndarray,
    start: int,
    *,
    one_at_a_time: bool,
) -> int | None:
    """Return the length of the shortest bad prefix of a word; None if it has none.

    Parameters
    ----------
    formula : Formula
        What should hold.
    letters, word, start
        As in `violates`.
    one_at_a_time : bool
        Whether propositions are actions: no continuation has two at a step.
    """
    monitor = Monitor(_monitor.here(formula, one_at_a_time))
    return monitor.first_bad_prefix([letters[k] for k in word.tolist()], start)


class Monitor:
    """Decides of a word, letter by letter, whether it is a bad prefix.

    Parameters
    ----------
    automaton : spot.twa_graph
        Accepts the words without a bad prefix.
    """

    def __init__(self, automaton: Any) -> None:
        self._automaton = automaton
        self._labels: dict[frozenset[str], Any] = {}
        self.initial: frozenset[int] = frozenset([automaton.get_init_state_number()])

    def after(self, states: frozenset[int], letter: Iterable[str]) -> frozenset[int]:
        """Return the states after a letter; of a bad prefix there are none."""
        import buddy

        names = frozenset(letter)
        if names not in self._labels:
            self._labels[names] = valuation(self._automaton, names)
        label = self._labels[names]
        return frozenset(
            edge.dst
            for state in states
            for edge in self._automaton.out(state)
            if (edge.cond & label) != buddy.bddfalse
        )

    def first_bad_prefix(
        self, word: Sequence[Collection[str]], start: int
    ) -> int | None:
        """Return the length of the shortest bad prefix of a word.

        It goes on at `start` behind its last letter, unless that is its length.
        """
        states = self.initial
        seen: set[tuple[int, frozenset[int]]] = set()
        place, n_steps = 0, 0
        while place < len(word) and (place, states) not in seen:
            seen.add((place, states))
            states = self.after(states, word[place])
            n_steps += 1
            if not states:
                return n_steps
            place = place + 1 if place + 1 < len(word) else start
        return None


def monitor_of(formula: Formula, *, one_at_a_time: bool) -> Job[Monitor]:
    """Return the monitor of a formula; `one_at_a_time` is as in `first_bad_prefix`."""
    return Monitor((yield from _monitor(formula, one_at_a_time)))


@remote(PHASE)
def _monitor(formula: Formula, one_at_a_time: bool) -> Any:
    """Translate a formula into the automaton of a monitor."""
    import spot

    wanted = formula.spot
    if one_at_a_time:
        wanted = spot.formula_And([wanted, _at_most_one(wanted)])
    return spot.translate(wanted, "monitor", "low")


def _at_most_one(formula: Any) -> Any:
    """Return that no two propositions of a formula hold together."""
    import spot

    pairs = combinations(spot.atomic_prop_collect(formula), 2)
    apart = [spot.formula_Not(spot.formula_And([*pair])) for pair in pairs]
    return spot.formula_G(spot.formula_And(apart))


@remote("replaying")
def every_continuation_violates(
    asked: Formula | Any,
    letters: Letters,
    word: np.ndarray,
    *,
    never: Collection[str],
    one_at_a_time: bool,
) -> bool:
    """Decide whether a finite word is a bad prefix of any property.

    No continuation may be a word of the formula, translated without simplification, or
    of the complement of the automaton.

    Parameters
    ----------
    asked : Formula or spot.twa_graph
        The automaton is one of the words that violate the property.
    letters, word
        As in `first_bad_prefix`.
    never : collection of str
        Propositions that hold in no continuation.
    one_at_a_time : bool
        As in `first_bad_prefix`.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    if isinstance(asked, Formula):
        wanted = by_spot(lambda: spot.translate(asked.spot, "any", "low"))
    else:
        wanted = by_spot(lambda: spot.complement(asked))
    after = _letters_after(wanted, never, one_at_a_time=one_at_a_time)
    return not by_spot(
        lambda: accepts(wanted, letters, word.tolist(), len(word), after)
    )


def _letters_after(
    automaton: Any, never: Collection[str], *, one_at_a_time: bool
) -> list[Any]:
    """Return what may hold in a step of a continuation, as BDDs."""
    names = [p.ap_name() for p in automaton.ap()]
    free = [name for name in names if name not in never]
    if one_at_a_time:
        return [valuation(automaton, some) for some in [[], *([n] for n in free)]]
    absent = (automaton.register_ap(name) for name in names if name in never)
    return [cube((variable, False) for variable in absent)]


@remote("judging the automaton")
def contains_violations(
    hoa: str,
    formula: Formula,
    *,
    constraint: str | None = None,
    never: Sequence[str],
    at_most_one: Sequence[str],
    combined: Sequence[str] = (),
) -> bool:
    """Decide whether an automaton accepts all words that violate a formula.

    Parameters
    ----------
    hoa : str
        The automaton.
    formula : Formula
        Its propositions may be more than those of the automaton.
    constraint : str, optional
        An automaton in HOA: only words that it accepts count.
    never : sequence of str
        Propositions that no word has.
    at_most_one : sequence of str
        Propositions of which each letter has at most one.
    combined : sequence of str
        Propositions about states, which may be Boolean combinations of others.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    absent = [spot.formula_G(spot.formula_Not(spot.formula_ap(n))) for n in never]
    violations = spot.formula_And([spot.formula_Not(formula.spot), *absent])
    dictionary = spot.make_bdd_dict()
    automaton = parse_again(hoa, dictionary)
    wishes = "Generic", "Any", "Low"
    wanted = by_spot(lambda: spot.translate(violations, *wishes, dict=dictionary))
    if len(at_most_one) > 1:
        single = _one_at_a_time(at_most_one, dictionary)
        wanted = by_spot(lambda: spot.product(wanted, single))
    if constraint is not None:
        parse_sections(constraint, "constraint")  # refuses what would be costly
        allowed = parse_again(constraint, dictionary)
        forget_unchecked(allowed)
        wanted = by_spot(lambda: spot.product(wanted, allowed))
    if combined:
        consistent = _consistent(combined, dictionary)
        wanted = by_spot(lambda: spot.product(wanted, consistent))
    rest = by_spot(lambda: spot.complement(automaton))
    return not by_spot(lambda: wanted.intersects(rest))


@remote("judging the automaton")
def has_violations(
    formula: Formula,
    *,
    initial: Mapping[str, bool],
    clauses: Sequence[Mapping[str, bool]],
    facts: Sequence[Sequence[Sequence[Mapping[str, bool]]]],
    combined: Sequence[str],
) -> bool:
    """Decide whether a word of which some things are known violates a formula.

    Parameters
    ----------
    formula : Formula
        What shall hold.
    initial : mapping of str to bool
        Literals of the first letter.
    clauses : sequence of mapping
        Conjunctions of literals that no letter has.
    facts : sequence of pairs
        Of each pair: if, in the end, all letters have one of the first conjunctions,
        then, in the end, all have one and the same of the second.
    combined : sequence of str
        Propositions about states, which may be Boolean combinations of others.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    import spot

    def in_the_end(letters: Any) -> Any:
        return spot.formula_F(spot.formula_G(letters))

    known = [conjunction(initial)]
    known += [spot.formula_G(spot.formula_Not(conjunction(c))) for c in clauses]
    for always, then in facts:
        before = in_the_end(spot.formula_Or(list(map(conjunction, always))))
        after = [in_the_end(conjunction(case)) for case in then]
        known.append(spot.formula_Implies(before, spot.formula_Or(after)))
    dictionary = spot.make_bdd_dict()
    found = _consistent(combined, dictionary)
    for part in (spot.formula_Not(formula.spot), *known):
        found = by_spot(partial(_both, found, part, dictionary))
    return not by_spot(found.is_empty)


def _both(automaton: Any, formula: Any, dictionary: Any) -> Any:
    """Return the automaton of the words of an automaton that satisfy a formula."""
    import spot

    return spot.product(automaton, spot.translate(formula, "TGBA", dict=dictionary))


def _one_at_a_time(names: Sequence[str], dictionary: Any) -> Any:
    """Return the automaton of the words whose letters have at most one of these."""
    import spot

    graph = spot.make_twa_graph(dictionary)
    variables = [graph.register_ap(name) for name in names]
    none = cube((variable, False) for variable in variables)
    graph.new_states(1)
    graph.new_edge(0, 0, none | exactly_one(variables))
    return graph


def _consistent(propositions: Sequence[str], dictionary: Any) -> Any:
    """Return the automaton of the words in which combinations are what they combine."""
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    from ltlpipe.logic.propositions.parsing import boolean_formula

    graph = spot.make_twa_graph(dictionary)
    label = buddy.bddtrue
    for text in propositions:
        same = spot.formula_Equiv(spot.formula_ap(text), boolean_formula(text))
        for name in spot.atomic_prop_collect(same):
            graph.register_ap(name)  # products keep the variables of what is registered
        label = label & spot.formula_to_bdd(same, dictionary, graph)
    graph.new_states(1)
    graph.new_edge(0, 0, label)
    return graph
