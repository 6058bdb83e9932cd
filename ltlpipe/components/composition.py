"""The composition of two components as one, written out state by state.

A state is a pair; only pairs that can be reached from the initial one are numbered.
Labels that both have synchronise, internal ones never do.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Def. 7.

Cost: twelve bytes per pair and four to eight for the hash table, twelve per
transition; every transition of a reached pair is looked at once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.equivalences import lts_of
from ltlpipe.components.progress import ENTRY_WORK, reducing
from ltlpipe.components.transition_arrays import (
    U32,
    Status,
    Steps,
    lengthened,
    scrambled,
)
from ltlpipe.runtime.arrays import begins
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS

_BUDGET = 1 << 14  # pairs expanded by one call
_PAIR_WORK = 1 / 8
_FIXED_WORK = 200  # however small the components
_FIRST_PAIRS = 1 << 8
_FIRST_STEPS = 1 << 10
_MEAN_DEGREE = 64  # transitions per pair allowed that are worth the time


class TooManyPairsError(UnsupportedError):
    """The composition has more states than allowed."""


class Reg(IntEnum):
    """The scalars that outlive a call of `compose_step`."""

    PAIRS = 0  # pairs known
    DONE = 1  # pairs whose transitions are written
    STEPS = 2  # transitions written


class Side(NamedTuple):
    """One component: n states, m transitions by source and then by `sync`."""

    first: np.ndarray  # int64[n * (k + 1) + 1], by state and `sync`
    label: np.ndarray  # int32[m], of the composition
    dst: np.ndarray  # int32[m]
    n_syncs: int  # k + 1 for k shared labels; sync 0 is what is not shared


class Pairs(NamedTuple):
    """What has been composed: p pairs, t transitions, v slots."""

    left: np.ndarray  # int32[p]
    right: np.ndarray  # int32[p]
    slots: np.ndarray  # int32[v], v a power of two: pair + 1 by hash, 0 if free
    src: np.ndarray  # int32[t]
    label: np.ndarray  # int32[t]
    dst: np.ndarray  # int32[t]


def compose(left: LTS, right: LTS, *, cap: int | None = None) -> Job[LTS]:
    """Write out the reachable part of two components in parallel.

    They have no accepting states and are not changed.  The labels are those of both
    that are not internal, then one internal label iff there is an internal
    transition; state 0 is initial.

    Raises
    ------
    TooManyPairsError
        There are more than `cap` pairs, or transitions for so many.

    Examples
    --------
    >>> from ltlpipe.runtime.jobs import run
    >>> left = LTS.from_transitions([(0, "a", 1), (1, "x", 0)])
    >>> right = LTS.from_transitions([(0, "x", 0)])
    >>> run(compose(left, right)).transitions()
    [(0, 'a', 1), (1, 'x', 0)]
    """
    yield reducing(_FIXED_WORK)
    visible = _visible(left, right)
    shared = [name for name in _visible(left) if name in set(_visible(right))]
    a = _side(left, visible, shared)
    yield reducing(left.n_transitions * ENTRY_WORK, _bytes_of(a))
    b = _side(right, visible, shared)
    sides = _bytes_of(a) + _bytes_of(b)
    yield reducing(right.n_transitions * ENTRY_WORK, sides)
    allowed = np.iinfo(np.int32).max - 1 if cap is None else cap
    registers = np.zeros(len(Reg), dtype=np.int64)
    slots = np.zeros(2 * _FIRST_PAIRS, dtype=np.int32)
    ends = np.zeros((2, _FIRST_PAIRS), dtype=np.int32)
    columns = np.zeros((3, _FIRST_STEPS), dtype=np.int32)
    pairs = Pairs._make([*ends, slots, *columns])
    pairs.left[0], pairs.right[0] = left.initial, right.initial
    registers[Reg.PAIRS] = 1
    yield from called(_enter_slots, pairs.left, pairs.right, pairs.slots, 1)
    n_pairs, n_steps = 1, 0
    while True:
        before = n_pairs + n_steps
        status = yield from called(compose_step, a, b, pairs, registers, _BUDGET)
        n_pairs, n_steps = (int(registers[r]) for r in (Reg.PAIRS, Reg.STEPS))
        held = sides + _bytes_of(pairs)
        work = (n_pairs + n_steps - before) * _PAIR_WORK
        # What is full becomes twice as large.
        yield reducing(work, held + _bytes_of(pairs) * (status == Status.GROW))
        if n_pairs > allowed or n_steps > _MEAN_DEGREE * allowed:
            raise TooManyPairsError(f"the composition has more than {cap} states")
        if status == Status.DONE:
            src, label, dst = (a[:n_steps].copy() for a in pairs[3:])
            unmarked = np.zeros(n_pairs, dtype=np.bool_)
            steps = Steps(n_pairs, 0, len(visible), src, label, dst, unmarked)
            return lts_of(steps, visible, f"{left.name}|{right.name}")
        if status == Status.GROW:
            pairs = _grown(pairs, registers)


def _bytes_of(arrays: Side | Pairs) -> int:
    """Return the bytes of all arrays in a tuple."""
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))


def _visible(*components: LTS) -> list[str]:
    """Return the labels that are not internal, each once, in order."""
    return list(
        dict.fromkeys(
            label for c in components for label in c.labels if label not in c.internal
        )
    )


def _side(lts: LTS, visible: list[str], shared: list[str]) -> Side:
    """Sort a component's transitions; its internal ones get one label more."""
    number = {name: k for k, name in enumerate(visible)}
    sync = {name: k for k, name in enumerate(shared, start=1)}
    public = [None if name in lts.internal else name for name in lts.labels]
    labels = np.array([number.get(n, len(visible)) for n in public], dtype=np.int32)  # type: ignore[arg-type]
    syncs = np.array([sync.get(n, 0) for n in public], dtype=np.int64)  # type: ignore[arg-type]
    n_syncs = len(shared) + 1
    rows = lts.src * np.int64(n_syncs) + syncs[lts.label]
    order = np.argsort(rows, kind="stable")
    first = begins(rows, lts.n_states * n_syncs)
    return Side(first, labels[lts.label[order]], lts.dst[order], n_syncs)


def _grown(pairs: Pairs, registers: np.ndarray) -> Pairs:
    """Return the same with room for twice as much of what is full."""
    if registers[Reg.PAIRS] == len(pairs.left):
        size = 2 * len(pairs.left)
        pairs = lengthened(pairs, size, "left", "right")
        slots = np.zeros(2 * size, dtype=np.int32)
        _enter_slots(pairs.left, pairs.right, slots, int(registers[Reg.PAIRS]))
        return pairs._replace(slots=slots)
    return lengthened(pairs, 2 * len(pairs.src), "src", "label", "dst")


@inlined
def slot_of(left, right, n_slots):
    """Return the slot at which the search for a pair begins."""
    pair = (np.uint64(left) << U32) | np.uint64(right)
    return np.int64(scrambled(pair) >> U32) & (n_slots - 1)


@inlined
def number_of(pairs, registers, left, right):
    """Return the number of a pair, added if it is new; -1 if there is no room."""
    slots = pairs.slots
    at = slot_of(left, right, slots.shape[0])
    while slots[at] != 0:
        known = slots[at] - 1
        if pairs.left[known] == left and pairs.right[known] == right:
            return np.int64(known)
        at = (at + 1) & (slots.shape[0] - 1)
    known = registers[Reg.PAIRS]
    if known == pairs.left.shape[0]:
        return np.int64(-1)
    slots[at] = known + 1
    pairs.left[known] = left
    pairs.right[known] = right
    registers[Reg.PAIRS] = known + 1
    return known


@njit
def _enter_slots(left, right, slots, n_pairs):
    """Enter the first pairs into a hash table that is empty."""
    for pair in range(n_pairs):
        at = slot_of(left[pair], right[pair], slots.shape[0])
        while slots[at] != 0:
            at = (at + 1) & (slots.shape[0] - 1)
        slots[at] = pair + 1


@inlined
def add_step(pairs, registers, n, label, left, right):
    """Write transition `n`, of the pair at hand; whether there is room for it."""
    if n == pairs.src.shape[0]:
        return False
    dst = number_of(pairs, registers, left, right)
    if dst < 0:
        return False
    pairs.src[n] = registers[Reg.DONE]
    pairs.label[n] = label
    pairs.dst[n] = dst
    return True


@inlined
def expand(a, b, pairs, registers):
    """Write the transitions of the pair at hand; whether there is room for them."""
    n = registers[Reg.STEPS]
    left = pairs.left[registers[Reg.DONE]]
    right = pairs.right[registers[Reg.DONE]]
    row_a, row_b = np.int64(left) * a.n_syncs, np.int64(right) * b.n_syncs
    for x in range(a.first[row_a], a.first[row_a + 1]):
        if not add_step(pairs, registers, n, a.label[x], a.dst[x], right):
            return False
        n += 1
    for y in range(b.first[row_b], b.first[row_b + 1]):
        if not add_step(pairs, registers, n, b.label[y], left, b.dst[y]):
            return False
        n += 1
    for sync in range(1, a.n_syncs):
        for x in range(a.first[row_a + sync], a.first[row_a + sync + 1]):
            for y in range(b.first[row_b + sync], b.first[row_b + sync + 1]):
                if not add_step(pairs, registers, n, a.label[x], a.dst[x], b.dst[y]):
                    return False
                n += 1
    registers[Reg.STEPS] = n
    return True


@njit
def compose_step(a, b, pairs, registers, budget):
    """Write the transitions of the pairs that have none yet.

    The arrays of `pairs` and `registers` (int64[len(Reg)]) are changed in place; at
    most `budget` pairs are expanded.  Returns RUNNING, GROW (an array is full; the
    call can be repeated) or DONE.
    """
    for _ in range(budget):
        if registers[Reg.DONE] == registers[Reg.PAIRS]:
            return Status.DONE
        if not expand(a, b, pairs, registers):
            return Status.GROW
        registers[Reg.DONE] += 1
    return Status.RUNNING
