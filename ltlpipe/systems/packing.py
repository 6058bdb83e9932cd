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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.fields import Field, allocate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.systems.lts import LTS, Network

MAX_SUCCESSORS = 1 << 22
"""Successors of one state that a search can take in."""


@dataclass(frozen=True, kw_only=True)
class PackedSystem:
    """What a search sees of a system, whatever its kind.

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
        Acceptance marks of the system's own.
    overflowed : callable
        Returns the number of a variable that got a value for which its place is too
        narrow, so that successors are missing; None if there was none.
    """

    expand: Callable[..., int]
    ints: np.ndarray
    words: np.ndarray
    initial: np.ndarray
    extra: Field
    max_successors: int
    n_marks: int = 0
    overflowed: Callable[[], int | None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class PackedNetwork(PackedSystem):
    """What a search sees of a network.

    It has one mark if some component has accepting states, else none.

    Parameters
    ----------
    fields : tuple of Field
        One per component.
    local_states : tuple of int32[k]
        For each component the states of the LTS that the field's values mean.
    """

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
    # Only here: whoever reads a system, or steps through it, does without Numba.
    from ltlpipe.systems.packing_kernels import expand_network
    from ltlpipe.systems.packing_tables import TableBuilder

    rng = None if seed is None else np.random.default_rng(seed)
    local = [reachable_states(c) for c in network.components]
    *fields, extra = allocate([*map(len, local), extra_values])
    n_words = 1 + max(f.word for f in (*fields, extra))
    builder = TableBuilder(network, fields, local, n_words)
    bound = builder.bound
    if bound > MAX_SUCCESSORS:
        action, count = builder.widest()
        raise UnsupportedError(
            f"one state can have up to {bound} successors, "
            f"{count} of them by action {action.name!r}"
            f" of {len(action.participants)} components; the limit is "
            f"{MAX_SUCCESSORS}: make the components less nondeterministic"
        )
    ints, words = builder.build(letters, rng)
    initial = np.zeros(n_words, dtype=np.uint64)
    for component, states, field in zip(network.components, local, fields, strict=True):
        value = int(np.searchsorted(states, component.initial))
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


def reachable_states(component: LTS) -> np.ndarray:
    """Return the states that the component reaches by its own transitions.

    int32[k], ascending.  A component may have far more states than transitions.
    """
    ends = (np.array([component.initial]), component.src, component.dst)
    named = np.unique(np.concatenate(ends))
    src = np.searchsorted(named, component.src)
    order = np.argsort(src, kind="stable")
    targets = np.searchsorted(named, component.dst)[order].tolist()
    first = np.searchsorted(src[order], np.arange(len(named) + 1)).tolist()
    start = int(np.searchsorted(named, component.initial))
    seen = np.zeros(len(named), dtype=np.bool_)
    seen[start] = True
    frontier = [start]
    while frontier:
        state = frontier.pop()
        for dst in targets[first[state] : first[state + 1]]:
            if not seen[dst]:
                seen[dst] = True
                frontier.append(dst)
    return named[seen].astype(np.int32)
