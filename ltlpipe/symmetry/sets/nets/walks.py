"""Steps backwards in the product of a symmetric net and a property.

A run of sets of markings is read backwards by
`ltlpipe.symmetry.sets.networks.concretise.run_through`, with moves and propositions in
plain Python: neither the tables of the search nor its representatives
have a part in the marking that comes before, but for whether it is in a set.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.symmetry.sets.nets.product import set_of_one
from ltlpipe.symmetry.sets.networks.concretise import STUTTER, State
from ltlpipe.systems.nets.coloured.bindings import first_alike
from ltlpipe.systems.propositions.letters import Letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.sets.automaton import Tables
    from ltlpipe.symmetry.sets.nets.tables import Made
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


class NetSteps:
    """The product of a net and a property, with steps backwards.

    Parameters
    ----------
    net : SymmetricNet
        States are its markings.
    propositions : sequence of Expression
        Letters are sets of them.
    automaton : PropertyAutomaton
        What is searched for.
    made : Made
        The symbolic product, which says what is where in rows.
    stutter : bool
        Whether a marking without successors repeats itself for ever.
    ends : sequence of int
        States of the property in which every marking does.
    """

    dtype: ClassVar[Any] = np.int64

    def __init__(
        self,
        net: SymmetricNet,
        propositions: Sequence[Expression],
        automaton: PropertyAutomaton,
        made: Made,
        *,
        stutter: bool,
        ends: Sequence[int] = (),
    ) -> None:
        self.ends = frozenset(ends)
        self.net = net
        self.automaton = automaton
        self.places, self.of_property = made.places, made.of_property
        self.members, self.of_members = made.members, made.of_members
        self.stutter = stutter
        self._letters = Letters(propositions)

    @property
    def width(self) -> int:
        """The numbers of a marking."""
        return len(self.places)

    def tabulate(self) -> Job[None]:
        """Do nothing: there are no tables."""
        yield from ()

    def state_of(self, row: np.ndarray) -> State:
        """Return the representative of a row."""
        tokens = tuple(
            0 if place is None else _read(row, place) for place in self.places
        )
        return State(tokens, _read(row, self.of_property))

    def within(self, whole: np.ndarray, tables: Tables) -> list[int]:  # noqa: ARG002
        """Return the block of each member in a set."""
        return [_read(whole, field) for field in self.of_members]

    def set_of(self, state: State, tables: Tables, n_words: int) -> np.ndarray | None:
        """Return the row of the set that holds just this; None if it does not fit."""
        row = np.zeros(n_words, dtype=np.uint64)
        for place, tokens in zip(self.places, state.local, strict=True):
            if not tokens:
                continue
            if place is None or tokens > place.mask:
                return None
            row[place.word] |= np.uint64(tokens << place.shift)
        own = self.of_property
        row[own.word] |= np.uint64(state.watching << own.shift)
        set_of_one(tables, row)
        return row

    def predecessors(
        self,
        after: State,
        within: list[int],
        watching: int,
        marks: int,
    ) -> Iterator[tuple[int, State] | None]:
        """Yield actions and states of the product from which one step leads to a state.

        The property is in state `watching` before, and the step has these marks.  None
        is yielded wherever the search for the next one may take long.  Those come first
        in which the first of the colours that look alike are bound; then all.
        """
        repeated = State(after.local, watching)
        letter = self._letters.of(after.local, STUTTER)
        repeats = self._goes(letter, watching, after.watching, marks)
        if repeats and watching in self.ends:  # first: the others may be millions
            yield STUTTER, repeated
        first = first_alike(self.net.coloured, self._alike(after.local, within))
        for admits in (first, None):
            for step in self.net.firing.each_step_onto(after.local, admits):
                yield None
                if step is None:
                    continue
                letter = self._letters.of(step.state, step.action)
                if self._goes(letter, watching, after.watching, marks):
                    yield step.action, State(step.state, watching)
        if repeats and self.stutter and self.net.firing.is_dead(after.local):
            yield STUTTER, repeated

    def _alike(
        self, tokens: tuple[int, ...], blocks: list[int]
    ) -> dict[tuple[int, int], list[int]]:
        """Return the colours of one block that look alike in a marking, for each."""
        said: dict[tuple[int, int], list[object]] = {m: [] for m in self.members}
        for cell, count in enumerate(tokens):
            if not count:
                continue
            place, colours = self.net.cells.split(cell)
            pairs = list(zip(self.net.cells.domains[place], colours, strict=True))
            for pair in dict.fromkeys(pairs):
                others = tuple(None if other == pair else other for other in pairs)
                if pair in said:
                    said[pair].append((place, others, count))
        groups: dict[object, list[int]] = defaultdict(list)
        keys = {}
        for member, block in zip(self.members, blocks, strict=True):
            keys[member] = (block, member[0], tuple(said[member]))
            groups[keys[member]].append(member[1])
        return {member: groups[key] for member, key in keys.items()}

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
