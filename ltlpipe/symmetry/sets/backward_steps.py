"""Steps backwards in the product of a symmetric net and a property, and runs by them.

An accepting run of sets is read backwards: each marking of a set has a predecessor in
the set before it (property 5 of `ltlpipe.symmetry.sets.automaton`), by a step of the
net that the property follows with the marks of the run.  Turn after turn round the
cycle of sets the walk goes on until it comes to a marking a second time at the same
place; from there it is walked back to the initial marking.  Nothing has to be searched.

Moves and propositions are those of plain Python: neither the tables of the search nor
its representatives have a part in the marking that comes before, but for whether it is
in a set.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 5.

Differences from the source: there the underlying product is searched forwards, inside
of the sets of the SCCs on the stack.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.symmetry.sets.product import set_of_one
from ltlpipe.systems.nets.coloured.bindings import first_alike
from ltlpipe.systems.propositions.letters import Letters
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.sets.automaton import Tables
    from ltlpipe.symmetry.sets.powerset_search import PowersetSearch
    from ltlpipe.symmetry.sets.runs import SetRun
    from ltlpipe.symmetry.sets.tables import Made
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


_TICKS = 20  # microseconds for a state that is looked at, roughly

STUTTER = -1
"""The action of the step in which a deadlocked marking repeats itself."""


class State(NamedTuple):
    """A state of the product."""

    local: tuple[int, ...]  # the marking
    watching: int  # state of the property


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


def run_through(
    underlying: NetSteps,
    search: PowersetSearch,
    sets: SetRun,
) -> Job[Run]:
    """Return an accepting run whose states are in the sets of an accepting run of sets.

    Raises `StoppedError` if it is longer than `most_steps` allows, and ReplayError if
    a state has no predecessor: then the sets are not what they should be.
    """
    grant = yield Progress(EXTRACTING, memory_bytes=search.memory_bytes)
    most = most_steps(grant.memory_bytes, underlying.width)
    walk = _Walk(underlying, search, most)
    rows = search.store.rows
    at = len(sets.cycle) - 1
    state = underlying.state_of(rows[sets.cycle[0]])
    seen: dict[tuple[int, State], int] = {}
    while True:
        if at == 0:
            at = len(sets.cycle) - 1
        if (at, state) in seen:
            break
        seen[at, state] = len(walk.states)
        marks = int(sets.cycle_marks[at - 1])
        state = yield from walk.back(state, sets.cycle[at - 1], marks)
        at -= 1
    turns = walk.taken(seen[at, state])
    # The prefix leads to the set at the cycle's beginning: go on to there.
    walk.clear()
    walk.most -= len(turns)
    first = state
    while at != len(sets.cycle) - 1:
        marks = int(sets.cycle_marks[at - 1])
        state = yield from walk.back(state, sets.cycle[at - 1], marks)
        at = at - 1 or len(sets.cycle) - 1
    for k in range(len(sets.prefix) - 1, 0, -1):
        marks = int(sets.prefix_marks[k - 1])
        state = yield from walk.back(state, sets.prefix[k - 1], marks)
    prefix = walk.taken(0)
    actions = [a for a, _ in (*prefix, *turns)]
    states = [s.local for _, s in (*prefix, *turns)] + [first.local]
    return Run(
        np.array(actions, dtype=np.int64),
        np.array(states, dtype=np.int64),
        len(prefix),
    )


class _Walk:
    """Steps backwards, written down."""

    def __init__(
        self,
        underlying: NetSteps,
        search: PowersetSearch,
        most: float,
    ) -> None:
        self.underlying = underlying
        self.search = search
        self.most = most  # steps
        self._ticks = Ticks(EXTRACTING, _TICKS, search.memory_bytes)
        self.clear()

    def clear(self) -> None:
        """Forget the steps."""
        self.states: list[tuple[int, State]] = []  # action, and the state before it

    def back(self, after: State, set_before: int, marks: int) -> Job[State]:
        """Step from a state to one before it, in a set."""
        if len(self.states) >= self.most:
            raise StoppedError(MEMORY)
        tables = self.search.automaton.tables
        whole = self.search.store.rows[set_before]
        watching = self.underlying.state_of(whole).watching
        within = self.underlying.within(whole, tables)
        before = self.underlying.predecessors(after, within, watching, marks)
        for step in before:
            if self._ticks.over():
                yield self._ticks.progress
            if step is None:
                continue
            action, state = step
            row = self.underlying.set_of(state, tables, len(whole))
            if row is not None and self.search.includes(whole, row):
                self.states.append((action, state))
                return state
        raise ReplayError("a state of a set has no predecessor in the set before it")

    def taken(self, start: int) -> list[tuple[int, State]]:
        """Return the steps after the first `start`, in the order of the run."""
        return self.states[start:][::-1]
