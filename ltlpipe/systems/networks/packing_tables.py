"""The tables of a packed network.

Their layout is in `ltlpipe.systems.networks.packing_kernels.Header`.

Joint moves are built action by action as whole arrays: a component may have
millions of transitions.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.systems.networks.packing_kernels import COMPONENT_STRIDE, Header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.networks.lts import LTS, Action, Network

MAX_MOVES = 1 << 12
"""Joint moves of one action beyond which it may be multiplied out on the fly."""

_PER_ACTION = 100  # transitions that take as long as what each action takes
_SMALL = 1 << 20  # bytes of tables that are made without a pause
_SLICE = 1 << 18  # moves that are ordered without a pause
_FEW_UNUSED = 4  # states per transition for which a table is worth its room
_BLOW_UP = 4  # joint moves per local transition that are never worth a table


class _Steps(NamedTuple):
    """The transitions of one component with one label, in packed local states."""

    src: np.ndarray  # int64[m]
    dst: np.ndarray  # int64[m]

    def most_from_one_state(self) -> int:
        """Return the largest number of them that leave one state."""
        return int(np.bincount(self.src).max(initial=0))


class _Moves(NamedTuple):
    """Joint moves, listed under the local states of one component."""

    state: np.ndarray  # int64[m], of the owner
    action: np.ndarray  # int64[m]
    words: np.ndarray  # uint64[m, n_words, 3]: mask, required value, xor

    def take(self, order: np.ndarray) -> _Moves:
        return _Moves(self.state[order], self.action[order], self.words[order])


_NONE = np.zeros(0, dtype=np.int64)
_NO_MOVES = _Moves(_NONE, _NONE, np.zeros((0, 1, 3), dtype=np.uint64))


class _Wide(NamedTuple):
    """An action that is multiplied out when a state is expanded."""

    action: int
    participants: tuple[int, ...]
    steps: list[_Steps]

    def bound(self) -> int:
        """Return the largest number of joint steps that one state can have."""
        return math.prod(part.most_from_one_state() for part in self.steps)


class TableBuilder:
    """Lays out the tables of a network: first `collect`, then `build`.

    Parameters
    ----------
    network : Network
        It is not changed.
    fields : sequence of Field
        One per component.
    local : list of int32[k]
        The local states that get values, per component, ascending.
    n_words : int
        Words of a row.
    groups : sequence of sequence of int
        For each mark the components that have to accept at the same time.
    """

    def __init__(
        self,
        network: Network,
        fields: Sequence[Field],
        local: list[np.ndarray],
        n_words: int,
        groups: Sequence[Sequence[int]],
    ) -> None:
        self.network = network
        self.groups = groups
        self.fields = fields
        self.local = local
        self.n_words = n_words
        self._wide: list[_Wide] = []
        self._moves: list[_Moves] = []

    def collect(self, ticks: Ticks) -> Job[None]:
        """List the moves of all actions."""
        network, local = self.network, self.local
        listed: list[list[_Moves]] = [[] for _ in self.fields]
        by_label = []
        for component, states in zip(network.components, local, strict=True):
            by_label.append((yield from _steps_by_label(component, states, ticks)))
        n_entries = 0
        for action, steps in zip(
            network.actions, self._steps_of(by_label), strict=True
        ):
            if _is_wide(steps):  # each state of each participant says where its begin
                n_entries += sum(len(local[p]) for p in action.participants)
                n_entries += sum(len(part.src) for part in steps)
            else:
                n_entries += _n_joint(steps) * (3 * self.n_words + 2)
        ticks.memory_bytes = 2 * n_entries * 8  # while they grow
        if ticks.memory_bytes > _SMALL:  # then the limit may end it here
            yield ticks.progress
        every = zip(network.actions, self._steps_of(by_label), strict=True)
        for number, (action, steps) in enumerate(every):
            if _is_wide(steps):
                self._wide.append(_Wide(number, action.participants, steps))
                continue
            # The more states the owner has, the fewer moves are tried in vain.
            owner = max(action.participants, key=lambda p: len(local[p]))
            listed[owner].append(self._joint_moves(number, action, steps, owner))
            yield from ticks.worked(_n_joint(steps) + _PER_ACTION)
        for parts in listed:
            self._moves.append((yield from self._concatenated(parts, ticks)))
            parts.clear()  # nothing is held twice

    def _steps_of(self, by_label: list[dict[str, _Steps]]) -> Iterator[list[_Steps]]:
        """Yield the steps of the participants of each action."""
        for action in self.network.actions:
            yield [by_label[p][action.name] for p in action.participants]

    @property
    def bound(self) -> int:
        """An upper bound of the number of successors of a state."""
        own = sum(int(np.bincount(m.state).max(initial=0)) for m in self._moves)
        return own + sum(wide.bound() for wide in self._wide)

    def widest(self) -> tuple[Action, int]:
        """Return the action with most joint steps from one state, and how many."""
        most = {wide.action: wide.bound() for wide in self._wide}
        for moves in self._moves:
            for number in np.unique(moves.action).tolist():
                states = moves.state[moves.action == number]
                most[number] = int(np.bincount(states).max())
        number = max(most, key=lambda n: most[n])
        return self.network.actions[number], most[number]

    def _joint_moves(
        self, number: int, action: Action, steps: list[_Steps], owner: int
    ) -> _Moves:
        """Return all combinations of the participants' steps."""
        n = alike = _n_joint(steps)  # and how many in a row have the same first steps
        words, state = np.zeros((n, self.n_words, 3), dtype=np.uint64), np.arange(n)
        for p, part in zip(action.participants, steps, strict=True):
            alike //= max(len(part.src), 1)
            choice = np.arange(n) // alike % len(part.src)
            field = self.fields[p]
            shift = np.uint64(field.shift)
            src = part.src[choice].astype(np.uint64)
            dst = part.dst[choice].astype(np.uint64)
            words[:, field.word, 0] |= np.uint64(field.mask << field.shift)
            words[:, field.word, 1] |= src << shift
            words[:, field.word, 2] |= (src ^ dst) << shift
            if p == owner:
                state = part.src[choice]
        return _Moves(state, np.full(len(state), number), words)

    def _concatenated(self, parts: list[_Moves], ticks: Ticks) -> Job[_Moves]:
        """Return the moves of one owner, by its states, in order of their actions."""
        if not parts:
            return _NO_MOVES
        every = _Moves(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        order, words = (
            np.argsort(every.state, kind="stable"),
            np.empty_like(every.words),
        )
        for first in range(0, len(order), _SLICE):
            some = slice(first, first + _SLICE)
            words[some] = every.words[order[some]]
            yield from ticks.worked(len(order[some]))
        return _Moves(every.state[order], every.action[order], words)

    def build(
        self, letters: np.ndarray, rng: np.random.Generator | None, ticks: Ticks
    ) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return `ints` and `words`; the moves that were collected are used up.

        Parameters
        ----------
        letters : int32[n_actions]
            The letter of each action.
        rng : Generator or None
            Shuffles components and moves.
        ticks : Ticks
            Counts moves.
        """
        n = len(self.fields)
        order = np.arange(n) if rng is None else rng.permutation(n)
        ints = Pieces()
        header = np.zeros(len(Header), dtype=np.int64)
        header[Header.N_COMPONENTS] = n
        header[Header.MARKS] = (1 << len(self.groups)) - 1
        ints.append(header)
        cells = np.zeros((n, COMPONENT_STRIDE), dtype=np.int64)
        header[Header.COMPONENTS] = ints.append(cells)
        n_moves = sum(len(moves.state) for moves in self._moves)
        actions = np.empty(n_moves, dtype=np.int64)
        words = np.empty((n_moves, self.n_words, 3), dtype=np.uint64)
        first = 0
        for cell, i in zip(cells, order.tolist(), strict=True):
            moves = self._moves[i] if rng is None else _shuffled(self._moves[i], rng)
            self._moves[i] = _NO_MOVES  # nothing is held twice
            field = self.fields[i]
            entries = self._state_entries(i, moves, first)
            cell[:] = field.word, field.shift, field.mask, ints.append(entries)
            end = first + len(moves.state)
            actions[first:end], words[first:end] = moves.action, moves.words
            first = end
            yield from ticks.worked(len(moves.state))
        labelled = np.stack([actions, letters[actions]], axis=1)
        header[Header.MOVES] = ints.append(labelled)
        header[Header.N_WIDE] = len(self._wide)
        places = np.zeros(len(self._wide), dtype=np.int64)
        header[Header.WIDE] = ints.append(places)
        for k, wide in enumerate(self._wide):
            places[k] = ints.length
            self._append_wide(ints, wide, int(letters[wide.action]))
        return ints.joined(), words.ravel()

    def _state_entries(self, i: int, moves: _Moves, first: int) -> np.ndarray:
        """Return (first move, marks) per local state, and where the last ends.

        The marks are those that the component, in that state, leaves to the others.
        """
        states = self.local[i]
        accepting = self.network.components[i].accepting
        entries = np.full((len(states) + 1, 2), -1, dtype=np.int64)
        entries[:, 0] = first + np.searchsorted(moves.state, np.arange(len(states) + 1))
        if accepting is not None:
            own = sum(1 << mark for mark, group in enumerate(self.groups) if i in group)
            entries[:-1, 1] = np.where(accepting[states], -1, ~own)
        return entries

    def _append_wide(self, ints: Pieces, wide: _Wide, letter: int) -> None:
        """Append action, letter, participants; each with its steps by state."""
        ints.append(np.array([wide.action, letter, len(wide.participants)]))
        cells = np.zeros((len(wide.participants), COMPONENT_STRIDE), dtype=np.int64)
        ints.append(cells)
        for cell, p, steps in zip(cells, wide.participants, wide.steps, strict=True):
            field = self.fields[p]
            cell[:] = field.word, field.shift, field.mask, ints.length
            by_state = np.argsort(steps.src, kind="stable")
            n_states = len(self.local[p])
            offsets = np.searchsorted(steps.src[by_state], np.arange(n_states + 1))
            ints.append(offsets + ints.length + n_states + 1)
            ints.append((steps.src ^ steps.dst)[by_state])


def _n_joint(steps: list[_Steps]) -> int:
    """Return how many joint moves the participants of an action have."""
    return math.prod(len(part.src) for part in steps)


def _is_wide(steps: list[_Steps]) -> bool:
    """Whether an action has so many joint moves that none is listed."""
    most = max(MAX_MOVES, _BLOW_UP * sum(len(part.src) for part in steps))
    return _n_joint(steps) > most


class Pieces:
    """An array that grows by pieces, which may still be filled in later."""

    def __init__(self, start: int = 0) -> None:
        self.length = start
        self._pieces: list[np.ndarray] = []

    def append(self, numbers: Any) -> int:
        """Append numbers of any shape; return their place.

        An array of int64 is not copied: it may be filled in later.
        """
        piece = np.asarray(numbers, dtype=np.int64)
        self._pieces.append(piece)
        self.length += piece.size
        return self.length - piece.size

    def joined(self) -> np.ndarray:
        """Return the array, int64[n]."""
        return np.concatenate([piece.ravel() for piece in self._pieces])


def transitions_between(
    component: LTS, states: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sources, labels and targets, int64[m] each, of the transitions of states.

    The `states`, int32[k], ascending, are numbered by their places.
    """
    src, label, dst = component.src, component.label, component.dst
    if len(states) < component.n_states <= _FEW_UNUSED * len(src):
        place = np.full(component.n_states, -1)
        place[states] = np.arange(len(states))
        inside = place[src] >= 0
        src, label, dst = place[src[inside]], label[inside], place[dst[inside]]
    elif len(states) < component.n_states:
        place = np.searchsorted(states, src).clip(max=len(states) - 1)
        inside = states[place] == src
        src, label = place[inside], label[inside]
        dst = np.searchsorted(states, dst[inside])
    return src.astype(np.int64), label.astype(np.int64), dst.astype(np.int64)


def _steps_by_label(
    component: LTS, states: np.ndarray, ticks: Ticks
) -> Job[dict[str, _Steps]]:
    """Return the transitions between `states` by label, each once, in order."""
    src, label, dst = transitions_between(component, states)
    narrow = label.astype(np.min_scalar_type(len(component.labels)))
    order = np.argsort(narrow, kind="stable")  # linear, of up to 16 bits
    ends = np.searchsorted(narrow[order], np.arange(len(component.labels) + 1)).tolist()
    found = {}
    for name, (first, last) in zip(component.labels, pairwise(ends), strict=True):
        own = order[first:last]
        if len(own) > 1:
            pairs = src[own] * len(states) + dst[own]
            if not (pairs[1:] > pairs[:-1]).all():
                own = own[np.sort(np.unique(pairs, return_index=True)[1])]
        found[name] = _Steps(src[own], dst[own])
        yield from ticks.worked(1 + last - first)
    return found


def _shuffled(moves: _Moves, rng: np.random.Generator) -> _Moves:
    """Return the moves in random order within each state of the owner."""
    return moves.take(np.lexsort((rng.random(len(moves.state)), moves.state)))
