"""Quotients of packed systems by groups of permutations, and runs of the systems.

The kernels of quotients are in `ltlpipe.systems.networks.orbit_kernels`.

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
from ltlpipe.symmetry.groups.group import MOST_BITS, swaps_with_first
from ltlpipe.systems.networks.orbit_kernels import (
    CELL_STRIDE,
    FACTOR_STRIDE,
    MEMBER_STRIDE,
    MOVE_STRIDE,
    Factor,
)
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups import group
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.networks.packing import PackedSystem

    Steps = Callable[[Sequence[int]], Iterable["SystemStep"]]


def table_bytes(acting: group.Group) -> int:
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
        if acting.space.first is not None:
            n_names = acting.space.n_points
            if acting.space.values is not None:
                n_names = n_fields << MOST_BITS
            entries += n_moving * n_names
    return 8 * entries


def quotient(
    packed: PackedSystem,
    fields: Sequence[Field],
    acting: group.Group,
    values: Sequence[np.ndarray] | None = None,
) -> PackedSystem:
    """Return a packed system whose states are representatives of orbits.

    Parameters
    ----------
    packed : PackedSystem
        It has an `expand_orbits`, and is not changed.
    fields : sequence of Field
        Those that the group moves: of variables, of components.
    acting : Group
        Its elements are automorphisms.
    values : sequence of int32[k], optional
        For each component the local states that its field's values mean, ascending.
    """
    own = packed.ints
    table = np.concatenate([own, _table(len(own), fields, acting, values)])

    def overflowed() -> int | None:
        own[:] = table[: len(own)]  # where the system has noted it
        return packed.overflowed()

    def widened() -> Job[PackedSystem | None]:
        yield from ()
        raise NotImplementedError  # replaced by whoever knows how systems are packed

    assert packed.expand_orbits is not None
    return replace(
        packed,
        expand=packed.expand_orbits,
        ints=table,
        overflowed=overflowed,
        widened=widened,
    )


class _Pieces:
    """Parts of a table that are put one behind the other."""

    def __init__(self, start: int) -> None:
        self.length = start
        self.parts: list[np.ndarray] = []

    def append(self, part: np.ndarray) -> int:
        """Append numbers of any shape; return their place."""
        place = self.length
        self.parts.append(part.ravel().astype(np.int64))
        self.length += part.size
        return place


def _table(
    start: int,
    fields: Sequence[Field],
    acting: group.Group,
    values: Sequence[np.ndarray] | None,
) -> np.ndarray:
    """Return the table of a group that stands at a place."""
    header = np.zeros(1 + FACTOR_STRIDE * len(acting.factors), dtype=np.int64)
    header[0] = len(acting.factors)
    pieces = _Pieces(start + len(header))
    for number, factor in enumerate(acting.factors):
        cells = [(f.word, f.shift, f.mask) for f in (fields[k] for k in factor.fields)]
        entry = header[1 + FACTOR_STRIDE * number :]
        entry[Factor.LISTED] = len(factor.listed)
        entry[Factor.TRIED] = len(factor.tried)
        entry[Factor.FIELDS] = len(factor.fields)
        entry[Factor.CELLS] = pieces.append(np.array(cells))
        moves = [
            _moves(pieces, acting.space, factor, e, fields, values)
            for e in (*factor.listed, *factor.tried)
        ]
        for k, own in enumerate(moves[len(factor.listed) :], len(factor.listed)):
            moves[k] = own[(own[:, 0] != own[:, 1]) | (own[:, 2] != 0)]
        sizes = np.cumsum([0, *(own.size for own in moves)])
        entry[Factor.FIRST] = pieces.append(sizes + pieces.length + len(sizes))
        pieces.append(np.concatenate([np.zeros((0, MOVE_STRIDE)), *moves]))
        classes = _classes(pieces, acting.space, factor, fields, values)
        entry[Factor.CLASSES] = pieces.append(classes)
        entry[Factor.ROOM] = pieces.append(np.zeros(4 * len(factor.fields)))
    return np.concatenate([header, *pieces.parts, np.array([start])])


def _moves(
    pieces: _Pieces,
    space: group.Space,
    factor: group.Factor,
    element: np.ndarray,
    fields: Sequence[Field],
    values: Sequence[np.ndarray] | None,
) -> np.ndarray:
    """Return the moves of an element, int64[k, `MOVE_STRIDE`], by what they change.

    The new names of values are appended to the table.
    """
    places = np.arange(len(factor.fields))
    place_of = np.zeros(space.n_fields, dtype=np.int64)
    place_of[factor.fields] = places
    to = place_of[space.fields_of(element[None])[0, factor.fields]]
    moves = np.zeros((len(places), MOVE_STRIDE), dtype=np.int64)
    moves[:, 0] = places
    moves[to, 1] = places
    for place, source_place, _ in moves.tolist():
        target, source = factor.fields[[place, source_place]].tolist()
        names = _names(space, element, source, target, fields, values)
        moves[place, 2] = 0 if names is None else pieces.append(names)
    return moves


def _classes(
    pieces: _Pieces,
    space: group.Space,
    factor: group.Factor,
    fields: Sequence[Field],
    values: Sequence[np.ndarray] | None,
) -> np.ndarray:
    """Return the classes of a factor, as `sort_members` reads them."""
    place_of = {field: place for place, field in enumerate(factor.fields.tolist())}
    found = [len(factor.classes)]
    for own in factor.classes:
        columns = [list(dict.fromkeys(space.fields_at(p).tolist())) for p in own]
        found += [len(own), len(columns[0])]
        swaps = swaps_with_first(own, space.n_points)
        for swap, member in zip(swaps, columns, strict=True):
            for field, first in zip(member, columns[0], strict=True):
                found.append(place_of[field])
                for source, target in ((field, first), (first, field)):
                    names = _names(space, swap, source, target, fields, values)
                    found.append(0 if names is None else pieces.append(names))
    return np.array(found)


def _names(
    space: group.Space,
    element: np.ndarray,
    source: int,
    target: int,
    fields: Sequence[Field],
    values: Sequence[np.ndarray] | None,
) -> np.ndarray | None:
    """Return the new names of the packed values of a field; None if they stay."""
    if values is None and space.values is None:
        return None
    assert space.first is not None
    if values is None:
        names = _renamed(space, element, source, fields[source])
    else:
        local = element[space.first[source] + values[source]] - space.first[target]
        names = np.searchsorted(values[target], local)
    return names if (names != np.arange(len(names))).any() else None


def _renamed(
    space: group.Space, element: np.ndarray, source: int, field: Field
) -> np.ndarray:
    """Return what an element makes of the values of a variable's field, as packed.

    A field that takes them has the same form.  What is no name stays as it is.
    """
    assert space.first is not None
    assert space.values is not None
    assert space.named is not None
    names = np.arange(1 << field.bits if space.named[source] else 1)
    if not space.named[source]:
        return names
    points = np.arange(*space.first[source : source + 2].tolist())
    before = space.values[points] - field.low
    after = space.values[element[points]] - field.low
    # Names for which the field has no room are those that no reachable state has.
    fit = (before >= 0) & (before < len(names)) & (after >= 0) & (after < len(names))
    names[before[fit]] = after[fit]
    return names


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
        self,
        acting: Group,
        steps: Steps,
        kind: Callable[[int], int],
        found: Run,
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
            if self._ticks.over():
                yield self._ticks.progress
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
            if self._ticks.over():
                yield self._ticks.progress
            if step.kind == kind and step.state == goal:
                self.actions.append(step.action)
                return
        raise ReplayError("a permutation took a step to none")
