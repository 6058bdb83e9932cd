"""The states that the sets of a symbolic product are made of, and runs through them.

An accepting run of sets is read backwards: each state of a set has a predecessor in the
set before it (property 5 of `ltlpipe.symmetry.sets.automaton`), by a step of the
network that the property follows with the marks of the run.  Turn after turn round the
cycle of sets the walk goes on until it comes to a state a second time at the same
place; from there it is walked back to the initial state.  Nothing has to be searched.

The steps are taken from the components, not from the packed network.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 5.

Differences from the source: there the underlying product is searched forwards, inside
of the sets of the SCCs on the stack.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.symmetry.sets.networks.layout import Row, Sym
from ltlpipe.symmetry.sets.networks.members import read_blocks, read_colours, settle
from ltlpipe.symmetry.sets.networks.preimages import Preimages
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.symmetry.sets.automaton import Tables
    from ltlpipe.symmetry.sets.runs import SetRun
    from ltlpipe.symmetry.sets.searching import PowersetSearch
    from ltlpipe.systems.networks.packing import PackedNetwork

_TICKS = 20  # microseconds for a state that is looked at, roughly
_ACTIONS_PER_TICK = 4

STUTTER = -1
"""The action of the step in which a deadlocked state repeats itself."""


class State(NamedTuple):
    """A state of the product."""

    local: tuple[int, ...]  # states of the components
    watching: int  # state of the property


@njit
def set_of_one(tables, row):
    """Make a row of a state that of the set that holds just this state."""
    scratch = tables.scratch
    colours, before = scratch[Row.COLOURS], scratch[Row.BEFORE]
    first = scratch[Row.FIRST]
    read_colours(tables.ints, row, colours)
    for member in range(tables.ints[Sym.MEMBERS]):
        before[member] = -1
        first[member] = member
    blocks, mixed = scratch[Row.STEP_BLOCKS], scratch[Row.MIXED]
    settle(tables.ints, row, colours, before, first, blocks, mixed)


@njit
def blocks_of(tables, row):
    """Write the blocks of a set where `Row.BLOCKS` are."""
    read_blocks(tables.ints, row, tables.scratch[Row.BLOCKS])


class Underlying:
    """The product of a network and a property, with steps backwards.

    The arguments are those of `ltlpipe.symmetry.sets.networks.tables.symbolic_product`.
    """

    dtype: ClassVar[Any] = np.int32  # of states of components

    def __init__(
        self,
        symmetry: Symmetry,
        packed: PackedNetwork,
        automaton: PropertyAutomaton,
        letters: np.ndarray,
        *,
        stutter: bool,
        ends: Sequence[int] = (),
    ) -> None:
        self.ends = frozenset(ends)
        self.symmetry = symmetry
        self.network = symmetry.network
        self.packed = packed
        self.automaton = automaton
        self.letters = letters.tolist()
        self.stutter = stutter
        self._sources: list[dict[str, dict[int, list[int]]]] = []
        self._enabled: list[dict[str, set[int]]] = []

    @property
    def width(self) -> int:
        """The numbers of a state."""
        return len(self.network.components)

    def tabulate(self) -> Job[None]:
        """Read the transitions of all components; before anything else is asked."""
        self._sources, self._enabled = [], []
        ticks = Ticks(EXTRACTING, _TICKS)
        for component in self.network.components:
            sources: dict[str, dict[int, list[int]]] = defaultdict(dict)
            enabled: dict[str, set[int]] = defaultdict(set)
            for src, label, dst in sorted(component.transitions()):
                sources[label].setdefault(dst, []).append(src)
                enabled[label].add(src)
                if ticks.over():
                    yield ticks.progress
            self._sources.append(sources)
            self._enabled.append(enabled)

    def is_deadlock(self, local: tuple[int, ...]) -> bool:
        """Whether a state of the network has no successor."""
        return not any(
            all(local[c] in self._enabled[c][a.name] for c in a.participants)
            for a in self.network.actions
        )

    def steps_to(
        self, after: State, within: Preimages, watching: int, marks: int
    ) -> Iterator[tuple[int, tuple[int, ...]] | None]:
        """Yield the actions that lead to a state of a product, with their sources.

        None is yielded where the search for the next one may take long.

        Those that may be states of a set, and whose action lets the property go from
        `watching` with these marks.
        """
        repeats = self._follows(STUTTER, watching, after.watching, marks)
        if repeats and watching in self.ends:  # first: the others may be many
            yield STUTTER, after.local
        for number, action in enumerate(self.network.actions):
            if number % _ACTIONS_PER_TICK == 0:
                yield None
            if not self._follows(number, watching, after.watching, marks):
                continue
            sources = {
                c: self._sources[c][action.name].get(after.local[c], ())
                for c in action.participants
            }
            for before in within.completed(after.local, sources):
                yield None if before is None else (number, before)
        if repeats and self.stutter and self.is_deadlock(after.local):
            yield STUTTER, after.local

    def _follows(self, action: int, src: int, dst: int, marks: int) -> bool:
        """Whether the property can go with an action, whatever the network's marks."""
        return any(self.goes(action, src, dst, marks, own) for own in (0, 1))

    def goes(self, action: int, src: int, dst: int, marks: int, own: int) -> bool:
        """Whether a step has these marks, and the property goes from `src` to `dst`.

        The network's own marks on the step are `own`.
        """
        automaton = self.automaton
        told = automaton.system_marks
        letter = 0 if action == STUTTER else self.letters[action]
        at = src * automaton.n_letters + ((letter << told) | (own if told else 0))
        first, last = automaton.first_edge[at : at + 2].tolist()
        own_marks = 0 if told else own << automaton.n_marks
        return any(
            automaton.edge_dst[edge] == dst
            and int(automaton.edge_marks[edge]) | own_marks == marks
            for edge in range(first, last)
        )

    def marks_of(self, local: tuple[int, ...]) -> int:
        """Return the network's own marks on the steps that leave a state."""
        if not self.network.has_acceptance:
            return 0
        return int(
            all(
                c.accepting is None or bool(c.accepting[state])
                for c, state in zip(self.network.components, local, strict=True)
            )
        )

    def predecessors(
        self, after: State, within: Preimages, watching: int, marks: int
    ) -> Iterator[tuple[int, State] | None]:
        """Yield actions and states of the product from which one step leads to a state.

        The property is in state `watching` before, and the step has these marks.  None
        is yielded wherever the search for the next one may take long.
        """
        for step in self.steps_to(after, within, watching, marks):
            if step is None:
                yield None
                continue
            action, local = step
            own = self.marks_of(local)
            if self.goes(action, watching, after.watching, marks, own):
                yield action, State(local, watching)

    def row_of(self, state: State, n_words: int) -> np.ndarray | None:
        """Return a row, uint64[n_words], or None if a component never gets there."""
        row = np.zeros(n_words, dtype=np.uint64)
        packed = self.packed
        for field, known, local in zip(
            packed.fields, packed.local_states, state.local, strict=True
        ):
            value = int(np.searchsorted(known, local))
            if value == len(known) or known[value] != local:
                return None
            row[field.word] |= np.uint64(value << field.shift)
        row[packed.extra.word] |= np.uint64(state.watching << packed.extra.shift)
        return row

    def set_of(self, state: State, tables: Tables, n_words: int) -> np.ndarray | None:
        """Return the row of the set that holds just this state; None as `row_of`."""
        row = self.row_of(state, n_words)
        if row is not None:
            set_of_one(tables, row)
        return row

    def within(self, whole: np.ndarray, tables: Tables) -> Preimages:
        """Return what the states of a set have in common."""
        blocks_of(tables, whole)
        return Preimages(
            self.symmetry,
            self.state_of(whole).local,
            tables.scratch[Row.BLOCKS, : self.symmetry.n_members].tolist(),
        )

    def state_of(self, row: np.ndarray) -> State:
        """Return the representative of a row."""
        extra = self.packed.extra
        watching = (int(row[extra.word]) >> extra.shift) & extra.mask
        return State(tuple(self.packed.unpack(row[None])[0].tolist()), watching)


class Steps(Protocol):
    """A product with steps backwards, as `run_through` takes it; see `Underlying`."""

    dtype: ClassVar[Any]

    @property
    def width(self) -> int:
        """The numbers of a state."""

    def tabulate(self) -> Job[None]:
        """Prepare, before anything else is asked."""

    def state_of(self, row: np.ndarray) -> State:
        """Return the representative of a row."""

    def within(self, whole: np.ndarray, tables: Tables) -> Any:
        """Return what the states of a set have in common."""

    def set_of(self, state: State, tables: Tables, n_words: int) -> np.ndarray | None:
        """Return the row of the set that holds just this state, if there is one."""

    def predecessors(
        self, after: State, within: Any, watching: int, marks: int
    ) -> Iterator[tuple[int, State] | None]:
        """Yield actions and states from which one step leads to a state."""


def run_through(
    underlying: Steps,
    search: PowersetSearch,
    sets: SetRun,
) -> Job[Run]:
    """Return an accepting run whose states are in the sets of an accepting run of sets.

    Raises `StoppedError` if it is longer than `most_steps` allows, and ReplayError if
    a state has no predecessor: then the sets are not what they should be.
    """
    grant = yield Progress(EXTRACTING, memory_bytes=search.memory_bytes)
    yield from underlying.tabulate()
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
        np.array(actions, dtype=underlying.dtype),
        np.array(states, dtype=underlying.dtype),
        len(prefix),
    )


class _Walk:
    """Steps backwards, written down."""

    def __init__(
        self,
        underlying: Steps,
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
