"""Steps backwards in the product of an unfolded net and a property.

A run of sets of markings is read backwards by
`ltlpipe.search.symmetric.concretise.run_through`, on the unfolded net and with
propositions in plain Python: neither the tables of the search nor its representatives
have a part in the marking that comes before, but for whether it is in a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.logic.propositions.syntax import uses_step
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.symbolic.product import set_of_one
from ltlpipe.search.symmetric.concretise import STUTTER, State
from ltlpipe.systems.propositions.evaluating import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.powerset.automaton import Tables
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.pnml.coloured.unfolded import UnfoldedNet


class NetSteps:
    """The product of a net and a property, with steps backwards.

    Parameters
    ----------
    net : UnfoldedNet
        States are its markings.
    propositions : sequence of Expression
        Letters are sets of them.
    automaton : PropertyAutomaton
        What is searched for.
    places : sequence of Field
        Where rows have the tokens of each place.
    of_property : Field
        Where they have the property's state.
    stutter : bool
        Whether a marking without successors repeats itself for ever.
    """

    dtype: ClassVar[Any] = np.int64

    def __init__(
        self,
        net: UnfoldedNet,
        propositions: Sequence[Expression],
        automaton: PropertyAutomaton,
        places: Sequence[Field],
        of_property: Field,
        *,
        stutter: bool,
    ) -> None:
        self.net = net
        self.automaton = automaton
        self.places = places
        self.of_property = of_property
        self.stutter = stutter
        self._of_states = [
            (1 << k, p) for k, p in enumerate(propositions) if not uses_step(p)
        ]
        self._of_steps = [
            (1 << k, p) for k, p in enumerate(propositions) if uses_step(p)
        ]

    @property
    def width(self) -> int:
        """The numbers of a marking."""
        return len(self.net.places)

    def tabulate(self) -> Job[None]:
        """Read the arcs; before anything else is asked."""
        ticks = Ticks(EXTRACTING)
        every = np.arange(len(self.net.transitions))
        self._takes = self.net.pre.of(every)
        self._puts = self.net.post.of(every)
        if ticks.over(len(self._takes[0]) + len(self._puts[0])):
            yield ticks.progress

    def state_of(self, row: np.ndarray) -> State:
        """Return the representative of a row, with the places that there are."""
        tokens = tuple(_read(row, place) for place in self.places)
        return State(tokens, _read(row, self.of_property))

    def within(self, whole: np.ndarray, tables: Tables) -> None:
        """Return what the markings of a set have in common: nothing is used."""

    def set_of(self, state: State, tables: Tables, n_words: int) -> np.ndarray | None:
        """Return the row of the set that holds just this; None if it does not fit."""
        row = np.zeros(n_words, dtype=np.uint64)
        for place, tokens in zip(self.places, state.local, strict=True):
            if tokens > place.mask:
                return None
            row[place.word] |= np.uint64(tokens << place.shift)
        own = self.of_property
        row[own.word] |= np.uint64(state.watching << own.shift)
        set_of_one(tables, row)
        return row

    def predecessors(
        self,
        after: State,
        within: Any,  # noqa: ARG002
        watching: int,
        marks: int,
    ) -> Iterator[tuple[int, State] | None]:
        """Yield actions and states of the product from which one step leads to a state.

        The property is in state `watching` before, and the step has these marks.  None
        is yielded wherever the search for the next one may take long.
        """
        tokens = np.array(after.local, dtype=np.int64)
        for action in self._lacking_none(self._puts, tokens):
            yield None
            before = self._before(action, after.local)
            letter = self._letter(before, action, dead=False)
            if self._goes(letter, watching, after.watching, marks):
                yield action, State(before, watching)
        if self.stutter and not self._lacking_none(self._takes, tokens):
            letter = self._letter(after.local, STUTTER, dead=True)
            if self._goes(letter, watching, after.watching, marks):
                yield STUTTER, State(after.local, watching)

    def _lacking_none(self, arcs: Any, tokens: np.ndarray) -> list[int]:
        """Return the transitions whose arcs on one side find enough tokens."""
        owner, place, weight = arcs
        lacks = np.zeros(len(self.net.transitions), dtype=np.bool_)
        lacks[owner[tokens[place] < weight]] = True
        found: list[int] = np.flatnonzero(~lacks).tolist()
        return found

    def _before(self, action: int, after: tuple[int, ...]) -> tuple[int, ...]:
        tokens = list(after)
        transition = self.net.transitions[action]
        for place, weight in transition.post.items():
            tokens[place] -= weight
        for place, weight in transition.pre.items():
            tokens[place] += weight
        return tuple(tokens)

    def _letter(self, tokens: tuple[int, ...], action: int, *, dead: bool) -> int:
        taken = None if action == STUTTER else action
        letter = 0
        for bit, p in (*self._of_states, *self._of_steps):
            if evaluate(p, tokens, action=taken, dead=dead):
                letter |= bit
        return letter

    def _goes(self, letter: int, src: int, dst: int, marks: int) -> bool:
        automaton = self.automaton
        at = src * automaton.n_letters + letter
        first, last = automaton.first_edge[at : at + 2].tolist()
        return any(
            automaton.edge_dst[edge] == dst and automaton.edge_marks[edge] == marks
            for edge in range(first, last)
        )


def _read(row: np.ndarray, place: Field) -> int:
    return int(row[place.word]) >> place.shift & place.mask
