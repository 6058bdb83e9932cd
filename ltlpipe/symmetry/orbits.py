"""Quotients of packed systems by groups of permutations, and runs of the systems.

The kernels of quotients are in `ltlpipe.systems.networks.packing_kernels`.

Cost: 24 bytes for each field that an element moves, beside the packed system; in
networks 8 more for each local state that gets a new name.  A successor costs what it
costs in the system, one or two comparisons for each element as a rule, and for each
member of a class, as a step changes few of those that are in order.

A run of a quotient is lifted to one of the system.  A step of the quotient leads from a
representative r to that of a successor s of r.  The state of the system's run is what a
permutation p makes of r; its next one is what p makes of s, which is what p and the
permutation from the next representative back to s make of that.  When a state comes
again at the beginning of the cycle, the system's cycle is closed.

Steps are taken from the system, in plain Python, and not from its packed form.

Source: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods in
System Design 9, 1996, pp. 105-131, Sec. 3 (runs of the quotient are runs of the
system).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.symmetry.groups.group import swaps_with_first
from ltlpipe.systems.networks.packing_kernels import (
    CELL_STRIDE,
    FACTOR_STRIDE,
    MEMBER_STRIDE,
    MOVE_STRIDE,
    Factor,
)
from ltlpipe.systems.networks.packing_tables import Pieces
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups import group
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.networks.packing import PackedSystem

    Steps = Callable[[Sequence[int]], Iterable["SystemStep"]]


def table_bytes(acting: Group) -> int:
    """Return the bytes of the table of a group, at most."""
    entries = 2
    for factor in acting.factors:
        n_fields = len(factor.fields)
        n_moving = n_elements = len(factor.listed) + len(factor.tried)
        entries += FACTOR_STRIDE + (CELL_STRIDE + 4) * n_fields
        entries += 1 + n_elements * (1 + MOVE_STRIDE * n_fields)
        if factor.classes:
            entries += 1 + (2 + MEMBER_STRIDE) * n_fields
            n_moving += 2  # the names in each member, and back
        if acting.space.of_values:
            entries += n_moving * acting.space.n_points
    return 8 * entries


def quotient(packed: PackedSystem, acting: Group) -> PackedSystem:
    """Return a packed system whose states are representatives of orbits.

    Parameters
    ----------
    packed : PackedSystem
        It has an `expand_orbits`, and is not changed.
    acting : Group
        Its elements are automorphisms, which move the system's fields.
    """
    own = packed.ints
    made = _Table(acting, packed).made(len(own))
    table = np.concatenate([own, made])

    def overflowed() -> int | None:
        own[:] = table[: len(own)]  # where the system has noted it
        return packed.overflowed()

    def widened() -> Job[PackedSystem | None]:
        yield from ()
        raise NotImplementedError  # replaced by whoever knows how systems are packed

    assert packed.expand_orbits is not None
    interim = packed.interim
    if interim is not None:
        interim = interim._replace(expand=interim.expand_orbits)
    return replace(
        packed,
        expand=packed.expand_orbits,
        interim=interim,
        ints=table,
        overflowed=overflowed,
        widened=widened,
    )


class _Table:
    """The table of a group, as kernels read it."""

    def __init__(self, acting: Group, packed: PackedSystem) -> None:
        self._factors, self._space = acting.factors, acting.space
        self._fields, self._values = packed.fields, packed.local_states
        self._pieces = Pieces()

    def made(self, start: int) -> np.ndarray:
        """Return the table, which is to stand at a place."""
        header = np.zeros(1 + FACTOR_STRIDE * len(self._factors), dtype=np.int64)
        header[0] = len(self._factors)
        pieces = self._pieces = Pieces(start + len(header))
        for number, factor in enumerate(self._factors):
            own_fields = [self._fields[k] for k in factor.fields]
            cells = [(f.word, f.shift, f.mask) for f in own_fields]
            entry = header[1 + FACTOR_STRIDE * number :]
            entry[Factor.LISTED] = len(factor.listed)
            entry[Factor.TRIED] = len(factor.tried)
            entry[Factor.FIELDS] = len(factor.fields)
            entry[Factor.CELLS] = pieces.append(np.array(cells))
            listed, tried = (
                [self._moves(factor, element) for element in elements]
                for elements in (factor.listed, factor.tried)
            )
            tried = [m[(m[:, 0] != m[:, 1]) | (m[:, 2] != 0)] for m in tried]
            moves = [np.zeros((0, MOVE_STRIDE)), *listed, *tried]
            sizes = np.cumsum([own.size for own in moves])
            entry[Factor.FIRST] = pieces.append(sizes + pieces.length + len(sizes))
            pieces.append(np.concatenate(moves))
            entry[Factor.CLASSES] = pieces.append(self._classes(factor))
            entry[Factor.ROOM] = pieces.append(np.zeros(4 * len(factor.fields)))
        pieces.append(np.array([start]))
        return np.concatenate([header, pieces.joined()])

    def _moves(self, factor: group.Factor, element: np.ndarray) -> np.ndarray:
        """Return the moves of an element, int64[k, `MOVE_STRIDE`], by what they change.

        The new names of values are appended to the table.
        """
        places = np.arange(len(factor.fields))
        place_of = np.zeros(self._space.n_fields, dtype=np.int64)
        place_of[factor.fields] = places
        to = place_of[self._space.fields_of(element[None])[0, factor.fields]]
        moves = np.zeros((len(places), MOVE_STRIDE), dtype=np.int64)
        moves[:, 0] = places
        moves[to, 1] = places
        for place, source_place, _ in moves.tolist():
            target, source = factor.fields[[place, source_place]].tolist()
            moves[place, 2] = self._names(element, source, target)
        return moves

    def _classes(self, factor: group.Factor) -> np.ndarray:
        """Return the classes of a factor, as `sort_members` reads them."""
        place_of = {field: place for place, field in enumerate(factor.fields.tolist())}
        space = self._space
        found = [len(factor.classes)]
        for own in factor.classes:
            columns = [list(dict.fromkeys(space.fields_at(p).tolist())) for p in own]
            found += [len(own), len(columns[0])]
            swaps = swaps_with_first(own, space.n_points)
            for swap, member in zip(swaps, columns, strict=True):
                for field, first in zip(member, columns[0], strict=True):
                    found.append(place_of[field])
                    found.append(self._names(swap, field, first))
                    found.append(self._names(swap, first, field))
        return np.array(found)

    def _names(self, element: np.ndarray, source: int, target: int) -> int:
        """Append the new names of the packed values of a field; 0 if they stay."""
        space = self._space
        if not space.of_values:
            return 0
        local = element[space.first[source] + self._values[source]]
        names = np.searchsorted(self._values[target], local - space.first[target])
        if (names == np.arange(len(names))).all():
            return 0
        return self._pieces.append(names)


_STEP_WORK = 200  # microseconds for a successor that is looked at, roughly


class SystemStep(NamedTuple):
    """A step of the system."""

    action: int
    kind: int  # what the property sees of the action
    state: tuple[int, ...]


def lifted(
    acting: Group, steps: Steps, kind: Callable[[int], int], found: Run
) -> Job[Run]:
    """Return a run of the system for one of its quotient.

    Parameters
    ----------
    acting : Group
        By which the quotient is one.
    steps : callable
        Returns the steps of a state of the system.
    kind : callable
        Returns what the property sees of an action.
    found : Run
        Its states are representatives.

    Raises
    ------
    StoppedError
        The run has more steps than `most_steps` allows.
    """
    grant = yield Progress(EXTRACTING)
    most = most_steps(grant.memory_bytes, acting.space.n_fields)
    lifting = _Lifting(acting, steps, kind, found)
    yield from lifting.walk(0, found.length)
    turns: dict[bytes, int] = {}
    while True:
        start = lifting.state(found.length)
        if start.tobytes() in turns:
            break
        turns[start.tobytes()] = len(lifting.actions)
        if len(lifting.actions) > most:
            raise StoppedError(MEMORY)
        yield from lifting.walk(found.length, len(found.actions))
        # The last representative is that of the cycle's first state.
    states = np.array([*lifting.states, start], dtype=np.int64)
    actions = np.array(lifting.actions, dtype=np.int32)
    return Run(actions, states, turns[start.tobytes()])


class _Lifting:
    """The steps of the system's run, one after the other."""

    def __init__(
        self, acting: Group, steps: Steps, kind: Callable[[int], int], found: Run
    ) -> None:
        self._acting, self._steps, self._kind = acting, steps, kind
        self._found = found
        self.actions: list[int] = []
        self.states: list[np.ndarray] = []  # before them
        self._permutation = np.arange(acting.space.n_points)
        self._taken: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._ticks = Ticks(EXTRACTING, _STEP_WORK)

    def state(self, k: int) -> np.ndarray:
        """Return the state of the run that the k-th representative stands for."""
        representative = self._found.states[k].astype(np.int64)
        return self._acting.space.image(self._permutation, representative)

    def walk(self, first: int, last: int) -> Job[None]:
        """Take the steps of the quotient's run from `first` up to `last`."""
        space = self._acting.space
        for k in range(first, last):
            state = self.state(k)
            self.states.append(state)
            action = int(self._found.actions[k])
            if action < 0:  # a deadlock repeats itself
                self.actions.append(action)
                continue
            if k not in self._taken:
                self._taken[k] = yield from self._step(k, self._kind(action))
            target, back = self._taken[k]
            goal = tuple(space.image(self._permutation, target).tolist())
            yield from self._take(state, goal, self._kind(action))
            self._permutation = self._permutation[back]

    def _step(self, k: int, kind: int) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return a successor of a representative with the next one as its own.

        And the permutation that takes this back to the successor.
        """
        goal = self._found.states[k + 1].astype(np.int64)
        for step in self._steps(tuple(self._found.states[k].tolist())):
            yield from self._ticks.worked()
            if step.kind != kind:
                continue
            target = np.array(step.state, dtype=np.int64)
            representative, permutation = self._acting.normalised(target)
            if (representative == goal).all():
                return target, np.argsort(permutation)
        raise ReplayError("the search reported a step that is not there")

    def _take(self, state: np.ndarray, goal: tuple[int, ...], kind: int) -> Job[None]:
        """Take a step to a state, by an action of which the property sees the same."""
        for step in self._steps(tuple(state.tolist())):
            yield from self._ticks.worked()
            if step.kind == kind and step.state == goal:
                self.actions.append(step.action)
                return
        raise ReplayError("a permutation took a step to none")
