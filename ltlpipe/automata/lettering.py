"""The letters of a graph: the conditions that a property can tell apart.

The labels of a property's automaton divide the valuations into classes: those that
satisfy the same labels.  A letter is a class that some condition of the graph meets, so
there are at most as many as the automaton can tell apart, however many propositions
there are.  A condition that meets several classes has several letters.

Where an emptiness check cannot take the acceptance of the graph, it is the automaton
that sees to it: then marks are propositions, too, the letters are classes of valuations
and marks, and the automaton accepts a word iff both properties hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import marks_in
from ltlpipe.automata.hoa import hoa_text, parse_again
from ltlpipe.automata.translation import PHASE
from ltlpipe.logic.formulas import Formula
from ltlpipe.logic.spot_graphs import by_spot, cube
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job

_OPERATION = 1.5  # microseconds of one on BDDs

TELLING = "telling letters apart"


class Lettering:
    """The letters of one property over the conditions of a graph.

    Parameters
    ----------
    graph : spot.twa_graph or spot.kripke_graph
        Whose BDD dictionary is used.
    text : str, optional
        The automaton of the violations in HOA; None tells nothing apart.
    known : sequence of str
        The propositions that the graph has; no other one ever holds.
    """

    def __init__(self, graph: Any, text: str | None, known: Sequence[str]) -> None:
        import buddy

        self.text = text
        self._graph = graph
        self._automaton: Any = None
        self._labels: list[Any] = []
        self._possible: Any = buddy.bddtrue  # what is unknown does not hold
        self._letters: dict[tuple[bool, ...], int] = {}
        self._examples: list[Any] = []  # a part of each letter
        self._parts: dict[int, tuple[Any, list[int]]] = {}
        if text is None:
            self._others = graph.ap_vars()
            return
        # It keeps the variables of its propositions as long as it lives.
        self._automaton = parse_again(text, graph.get_dict())
        true = buddy.bddtrue  # edges have references, which are copied
        labels = {e.cond.id(): e.cond & true for e in self._automaton.edges()}
        self._labels = list(labels.values())
        own = self._automaton.ap_vars()
        self._others = buddy.bdd_exist(graph.ap_vars(), own)
        for proposition in self._automaton.ap():
            name = proposition.ap_name()
            if name not in known and not is_mark(name):
                variable = self._automaton.register_ap(proposition)
                self._possible &= buddy.bdd_nithvar(variable)

    @property
    def n_letters(self) -> int:
        """How many letters have been met; one if none has."""
        return max(len(self._letters), 1)

    def with_marks(self, condition: Any, marks: int) -> Any:
        """Return a condition with the propositions of marks."""
        told = [p for p in self._automaton.ap() if is_mark(p.ap_name())]
        return condition & cube(
            (
                self._automaton.register_ap(p),
                marks >> int(p.ap_name().removeprefix(_MARK)) & 1,
            )
            for p in told
        )

    def letters_of(self, condition: Any) -> list[int]:
        """Return the letters that a condition meets."""
        import buddy

        seen = buddy.bdd_exist(condition, self._others) & self._possible
        known = self._parts.get(seen.id())
        if known is not None:
            return known[1]
        parts: list[tuple[Any, tuple[bool, ...]]] = [(seen, ())]
        for label in self._labels:
            finer = []
            for part, signature in parts:
                inside, outside = part & label, part - label
                if inside != buddy.bddfalse:
                    finer.append((inside, (*signature, True)))
                if outside != buddy.bddfalse:
                    finer.append((outside, (*signature, False)))
            parts = finer
        found = []
        for part, signature in parts:
            letter = self._letters.setdefault(signature, len(self._letters))
            if letter == len(self._examples):
                self._examples.append(part)
            found.append(letter)
        self._parts[seen.id()] = seen, found  # an object that lives keeps its number
        return found

    @property
    def cost(self) -> float:
        """Microseconds of `letters_of` for a condition that is new, roughly."""
        return _OPERATION * (4 + 2 * len(self._labels))

    def class_of(self, letter: int) -> Any:
        """Return the BDD of all valuations of a letter."""
        import buddy

        holding = self._possible
        for signature, number in self._letters.items():
            if number == letter:
                for label, holds in zip(self._labels, signature, strict=True):
                    holding = holding & label if holds else holding - label
                return holding
        return buddy.bddfalse

    def holding(self, condition: Any, marks: int, letter: int) -> list[str]:
        """Return the propositions of the graph that hold in one valuation of a letter.

        It satisfies a condition, of an edge that has some marks.
        """
        if self._automaton is not None:
            condition = self.with_marks(condition, marks) & self.class_of(letter)
        return holding_in(self._graph, condition)

    def table(self, acceptance: str | None) -> Job[PropertyAutomaton]:
        """Return the automaton over the letters that have been met."""
        letters = [holding_in(self._automaton, part) for part in self._examples] or [[]]
        assert self.text is not None
        return (yield from _table(self.text, letters, acceptance))


def holding_in(automaton: Any, condition: Any) -> list[str]:
    """Return the propositions of an automaton that hold in some valuation."""
    import buddy

    chosen = buddy.bdd_satone(condition)
    return [
        p.ap_name()
        for p in automaton.ap()
        if chosen & buddy.bdd_nithvar(automaton.register_ap(p)) == buddy.bddfalse
    ]


def valuations_in(
    graph: Any, condition: Any, propositions: Sequence[str]
) -> Iterator[list[str]]:
    """Yield the propositions that hold in some valuations of a condition.

    There is one valuation for each way in which `propositions` of the graph can hold.
    """
    import buddy

    known = {p.ap_name(): graph.register_ap(p) for p in graph.ap()}
    variables = [known[name] for name in propositions]
    parts = [(condition, 0)]
    while parts:
        part, k = parts.pop()
        if k == len(variables):
            yield holding_in(graph, part)
            continue
        for literal in (buddy.bdd_nithvar, buddy.bdd_ithvar):
            inside = part & literal(variables[k])
            if inside != buddy.bddfalse:
                parts.append((inside, k + 1))


@remote(PHASE)
def _table(
    text: str, letters: list[list[str]], acceptance: str | None
) -> PropertyAutomaton:
    """Return the automaton of a text over some letters."""
    import spot

    from ltlpipe.automata.translation import table_over

    automaton = parse_again(text, spot.make_bdd_dict())
    return table_over(automaton, [*map(set, letters)], acceptance or "tela")


@remote(PHASE)
def violations_text(
    violated: Formula | Any | None,
    acceptance: str | None,
    *,
    condition: str | None = None,
    sets: Sequence[int] = (),
    deterministic: bool = False,
) -> str:
    """Return the automaton of the words that violate a property, in HOA.

    Parameters
    ----------
    violated : Formula or spot.twa_graph, optional
        A formula that shall hold, or the words that shall not be; None is all words.
    acceptance : str, optional
        As in `ltlpipe.automata.translation.translate`; None takes an automaton as it
        is.
    condition : str, optional
        The system's acceptance, which words have to satisfy besides.
    sets : sequence of int
        The sets of marks that its edges carry, as bits.
    deterministic : bool
        Whether to ask Spot for a deterministic automaton.

    Raises
    ------
    UnsupportedError
        Spot gives up, for instance over more than 32 marks.
    """
    import spot

    from ltlpipe.automata.translation import violations_of

    given: Any = violated
    if isinstance(given, Formula):
        kind = "tgba" if condition is not None and acceptance == "ba" else acceptance
        given = violations_of(given, kind, deterministic=deterministic)
        if condition is None:
            return hoa_text(given)
    if condition is not None:
        dictionary = spot.make_bdd_dict() if given is None else given.get_dict()
        system = _recurrence(condition, sets, dictionary)
        given = (
            system
            if given is None
            else by_spot(lambda: spot.product(given, system), "combine acceptance")
        )
    return hoa_text(violations_of(given, acceptance, deterministic=deterministic))


def _recurrence(condition: str, sets: Sequence[int], dictionary: Any) -> Any:
    """Return the automaton of the words of sets of marks that satisfy a condition."""
    import spot

    graph = spot.make_twa_graph(dictionary)
    code = spot.acc_code(condition)
    n_marks = code.used_sets().max_set()
    graph.set_acceptance(n_marks, code)
    graph.new_states(1)
    variables = [graph.register_ap(f"{_MARK}{mark}") for mark in range(n_marks)]
    for marks in sets:
        label = cube((v, marks >> mark & 1) for mark, v in enumerate(variables))
        carried = marks_in(marks)
        graph.new_edge(0, 0, label, carried)
    return graph


_MARK = "mark\x1f"
"""How the propositions of marks begin: with a character that names do not have."""


def is_mark(name: str) -> bool:
    """Whether a proposition is that of a mark."""
    return name.startswith(_MARK)
