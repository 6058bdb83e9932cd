"""A network as integer tables, and its successor function.

A composed state is a *row* of 64-bit words; each component owns a bit field
of one word.  A *move* is one way in which the participants of an action can
take it together: three words (mask, required value, xor) per word of the
system, so that testing and taking a move are three operations whatever the
number of participants.  Moves are listed under the local state of one
participant, the owner.  An action with more than `MAX_MOVES` joint moves
(many participants with many choices each) is *wide*: its successors are
multiplied out when a state is expanded.

Every kind of system offers a successor function of one signature::

    expand(ints, words, row, select, out_rows, out_letters, out_actions,
           out_marks) -> count

ints, words : int64[...], uint64[...]
    The tables of the system; their layout is the system's own affair.
row : uint64[n_words]
    The state.  Bits that the system does not own (the property's) are copied
    to every successor.
select : int
    ``Select.ALL`` for all successors; ``Select.STUTTER`` for the one step in
    which the state repeats itself, with action -1 and letter 0.
out_rows, out_letters, out_actions, out_marks
    uint64[k, n_words], int32[k], int32[k], uint32[k] with k >= the system's
    `max_successors`: row, letter, action and acceptance marks of each step.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe._errors import UnsupportedError
from ltlpipe.systems.packing_kernels import (
    COMPONENT_STRIDE,
    Header,
    expand_network,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.systems.lts import LTS, Network

MAX_MOVES = 1 << 12
"""Joint moves that one action may have before it is multiplied out on the fly."""

MAX_SUCCESSORS = 1 << 22
"""Successors of one state that a search can take in."""

_WORD_BITS = 64


class Field(NamedTuple):
    """Where a number lies in a row: `bits` bits at `shift` in word `word`."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """The field's bits, moved to bit 0."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class PackedNetwork:
    """What a search sees of a network.

    Parameters
    ----------
    expand : function
        The successor function, not yet compiled (see `expand_pointer`).
    ints, words : int64[...], uint64[...]
        Its tables.
    initial : uint64[n_words]
        The initial row; the bits of `extra` are 0.
    extra : Field
        The field that was reserved for the caller.
    max_successors : int
        No state has more.
    n_marks : int
        1 if some component has accepting states, else 0.
    fields : tuple of Field
        One per component.
    local_states : tuple of int32[k]
        For each component the states of the LTS that the field's values mean.
    """

    expand: Callable[..., int]
    ints: np.ndarray
    words: np.ndarray
    initial: np.ndarray
    extra: Field
    max_successors: int
    n_marks: int
    fields: tuple[Field, ...]
    local_states: tuple[np.ndarray, ...]

    def unpack(self, rows: np.ndarray) -> np.ndarray:
        """Return the local states, int32[n, n_components], of rows uint64[n, w]."""
        states = np.empty((len(rows), len(self.fields)), dtype=np.int32)
        for i, (field, names) in enumerate(
            zip(self.fields, self.local_states, strict=True)
        ):
            value = (rows[:, field.word] >> np.uint64(field.shift)) & np.uint64(
                field.mask
            )
            states[:, i] = names[value.astype(np.int64)]
        return states


def pack(
    network: Network,
    letters: np.ndarray,
    *,
    extra_values: int = 1,
    seed: int | None = None,
) -> PackedNetwork:
    """Lay out the tables of `network` for one property.

    Parameters
    ----------
    network : Network
        It is not changed.
    letters : int32[n_actions]
        The letter of each action of the network for this property.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated; None keeps the
        order of the components and of their transitions.

    Raises
    ------
    UnsupportedError
        One state can have more than `MAX_SUCCESSORS` successors.

    Notes
    -----
    Local states that their own component cannot reach, whatever the others do,
    get no value; the alphabets are those of the whole components.
    """
    rng = None if seed is None else np.random.default_rng(seed)
    local = [_reachable(c) for c in network.components]
    sizes = [len(states) for states in local]
    *fields, extra = _allocate([*sizes, extra_values])
    n_words = 1 + max(f.word for f in (*fields, extra))
    index = [_inverse(states, c.n_states) for states, c in _zip(local, network)]

    moves: list[list[_Move]] = [[] for _ in fields]
    wide: list[_Wide] = []
    for number, action in enumerate(network.actions):
        steps = [
            _local_steps(network.components[p], action.name, index[p])
            for p in action.participants
        ]
        if math.prod(len(s) for s in steps) > MAX_MOVES:
            wide.append(_Wide(number, action.participants, steps))
            continue
        owner = max(action.participants, key=lambda p: sizes[p])
        at = action.participants.index(owner)
        for joint in itertools.product(*steps):
            parts = tuple(zip(action.participants, joint, strict=True))
            moves[owner].append(_Move(joint[at][0], number, parts))

    builder = _TableBuilder(network, fields, n_words, letters, rng)
    ints, words = builder.build(moves, wide, sizes, local)
    bound = _bound(moves, wide)
    if bound > MAX_SUCCESSORS:
        worst = max(wide, key=_Wide.bound)
        raise UnsupportedError(
            f"one state can have up to {bound} successors, "
            f"{worst.bound()} of them by action {network.actions[worst.action].name!r}"
            f" of {len(worst.participants)} components; the limit is "
            f"{MAX_SUCCESSORS}: make the components less nondeterministic"
        )
    initial = np.zeros(n_words, dtype=np.uint64)
    for i, (component, field) in enumerate(
        zip(network.components, fields, strict=True)
    ):
        value = int(index[i][component.initial])
        initial[field.word] |= np.uint64(value << field.shift)
    return PackedNetwork(
        expand=expand_network,
        ints=ints,
        words=words,
        initial=initial,
        extra=extra,
        max_successors=max(bound, 1),
        n_marks=int(network.has_acceptance),
        fields=tuple(fields),
        local_states=tuple(local),
    )


class _Move(NamedTuple):
    """One joint move: (component, (local source, local target)) per participant."""

    owner_state: int
    action: int
    parts: tuple[tuple[int, tuple[int, int]], ...]


class _Wide(NamedTuple):
    """An action that is multiplied out when a state is expanded."""

    action: int
    participants: tuple[int, ...]
    steps: list[list[tuple[int, int]]]

    def bound(self) -> int:
        """Return the largest number of joint steps that one state can have."""
        return math.prod(_largest_count(s for s, _ in part) for part in self.steps)


def _zip(local: list[np.ndarray], network: Network) -> Any:
    return zip(local, network.components, strict=True)


def _largest_count(values: Any) -> int:
    """Return how often the most frequent of `values` occurs; 0 for none."""
    counts = np.bincount(list(values) or [0])
    return int(counts.max())


def _reachable(component: LTS) -> np.ndarray:
    """Return the states that the component reaches by its own transitions."""
    order = np.argsort(component.src, kind="stable")
    targets = component.dst[order]
    first = np.searchsorted(component.src[order], np.arange(component.n_states + 1))
    seen = np.zeros(component.n_states, dtype=np.bool_)
    seen[component.initial] = True
    frontier = [component.initial]
    while frontier:
        state = frontier.pop()
        for dst in targets[first[state] : first[state + 1]].tolist():
            if not seen[dst]:
                seen[dst] = True
                frontier.append(dst)
    return np.flatnonzero(seen).astype(np.int32)


def _inverse(states: np.ndarray, n_states: int) -> np.ndarray:
    """Return for every state its place in `states`, -1 where it has none."""
    place = np.full(n_states, -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    return place


def _local_steps(
    component: LTS, label: str, index: np.ndarray
) -> list[tuple[int, int]]:
    """Return the packed (source, target) pairs of a label, each once."""
    chosen = component.label == component.labels.index(label)
    src = index[component.src[chosen]]
    dst = index[component.dst[chosen]]
    pairs = zip(src.tolist(), dst.tolist(), strict=True)
    return list(dict.fromkeys((s, d) for s, d in pairs if s >= 0))


def _allocate(sizes: list[int]) -> list[Field]:
    """Place numbers below `sizes` into as few words as first-fit finds."""
    used: list[int] = []
    fields: dict[int, Field] = {}
    bits = [max(size - 1, 0).bit_length() for size in sizes]
    # Large fields first need fewer words; equal ones keep neighbours together.
    for i in sorted(range(len(sizes)), key=lambda i: -bits[i]):
        fitting = (w for w, taken in enumerate(used) if taken + bits[i] <= _WORD_BITS)
        word = next(fitting, len(used))
        if word == len(used):
            used.append(0)
        taken = used[word]
        fields[i] = Field(word, min(taken, _WORD_BITS - 1), bits[i])
        used[word] = taken + bits[i]
    return [fields[i] for i in range(len(sizes))]


def _bound(moves: list[list[_Move]], wide: list[_Wide]) -> int:
    """Return an upper bound of the number of successors of a state."""
    own = sum(_largest_count(m.owner_state for m in part) for part in moves if part)
    return own + sum(w.bound() for w in wide)


class _TableBuilder:
    """Writes the arrays that `expand_network` reads (layout: `Header`)."""

    def __init__(
        self,
        network: Network,
        fields: list[Field],
        n_words: int,
        letters: np.ndarray,
        rng: np.random.Generator | None,
    ) -> None:
        self.network = network
        self.fields = fields
        self.n_words = n_words
        self.letters = letters
        self.rng = rng
        self.ints: list[int] = [0] * len(Header)
        self.words: list[int] = []

    def build(
        self,
        moves: list[list[_Move]],
        wide: list[_Wide],
        sizes: list[int],
        local: list[np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        order = np.arange(len(self.fields))
        if self.rng is not None:
            self.rng.shuffle(order)
        ints = self.ints
        ints[Header.N_COMPONENTS] = len(order)
        ints[Header.HAS_MARKS] = int(self.network.has_acceptance)
        ints[Header.COMPONENTS] = len(ints)
        ints.extend([0] * (COMPONENT_STRIDE * len(order)))
        listed: list[_Move] = []
        for place, i in enumerate(order.tolist()):
            at = ints[Header.COMPONENTS] + COMPONENT_STRIDE * place
            self._write_field(at, self.fields[i])
            ints[at + 3] = len(ints)
            self._list_moves(moves[i], sizes[i], self._flags(i, local[i]), listed)
        ints[Header.MOVES] = len(ints)
        for move in listed:
            ints.extend([move.action, int(self.letters[move.action])])
            self.words.extend(self._move_words(move))
        ints[Header.N_WIDE] = len(wide)
        ints[Header.WIDE] = len(ints)
        ints.extend([0] * len(wide))
        for i, action in enumerate(wide):
            ints[ints[Header.WIDE] + i] = len(ints)
            self._write_wide(action, sizes)
        return np.array(ints, dtype=np.int64), np.array(self.words, dtype=np.uint64)

    def _write_field(self, at: int, field: Field) -> None:
        self.ints[at : at + 3] = [field.word, field.shift, field.mask]

    def _flags(self, i: int, local: np.ndarray) -> list[int]:
        accepting = self.network.components[i].accepting
        return [1] * len(local) if accepting is None else accepting[local].tolist()

    def _list_moves(
        self, moves: list[_Move], size: int, flags: list[int], listed: list[_Move]
    ) -> None:
        """Append (first move, accepting) per local state, and the end."""
        if self.rng is not None:
            moves = [moves[k] for k in self.rng.permutation(len(moves))]
        by_state: list[list[_Move]] = [[] for _ in range(size)]
        for move in moves:
            by_state[move.owner_state].append(move)
        for own, flag in zip(by_state, flags, strict=True):
            self.ints.extend([len(listed), int(flag)])
            listed.extend(own)
        self.ints.extend([len(listed), 0])

    def _move_words(self, move: _Move) -> list[int]:
        """Return the masks, the required values and the xors, word by word."""
        out = [0] * (3 * self.n_words)
        for component, (src, dst) in move.parts:
            field = self.fields[component]
            at = 3 * field.word
            out[at] |= field.mask << field.shift
            out[at + 1] |= src << field.shift
            out[at + 2] |= (src ^ dst) << field.shift
        return out

    def _write_wide(self, action: _Wide, sizes: list[int]) -> None:
        """Append action, letter, participants; each with its steps by state."""
        ints = self.ints
        letter = int(self.letters[action.action])
        ints.extend([action.action, letter, len(action.participants)])
        at = len(ints)
        ints.extend([0] * (COMPONENT_STRIDE * len(action.participants)))
        for component, steps in zip(action.participants, action.steps, strict=True):
            self._write_field(at, self.fields[component])
            offsets = len(ints)
            ints[at + 3] = offsets
            at += COMPONENT_STRIDE
            ints.extend([0] * (sizes[component] + 1))
            for state in range(sizes[component]):
                ints[offsets + state] = len(ints)
                ints.extend(src ^ dst for src, dst in steps if src == state)
            ints[offsets + sizes[component]] = len(ints)
