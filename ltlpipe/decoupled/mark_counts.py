"""Counting marks along runs, with the largest boxes first: decides most properties.

An accepted run sees each mark again and again.  So a network has none if its runs see
them, in turn, less than some number of times.  Every box (a decoupled state) is visited
with the *level* that the run to it has reached, the number of marks seen in turn, up to
a highest level that stands for all above.  If no box has the highest level, no run is
accepted.  If some have it, counting does not tell.

What has been visited on one level need not be visited on a lower one.  So the level is
one more component of a box, whose local states are all levels up to it: inclusion and
members are compared as ever, and the largest boxes come first (`boxes`).  The answer
depends neither on their order nor on what covers what.

A box that was entered by a mark is compared with those before it on its way that were:
if they have members in common, and all marks are seen in between, the labels in between
are followed for true, turn after turn, by those members that are in the first box again
after each.  If some are left after every turn, a run is accepted.

Source: K. Claessen and N. Sörensson, "A Liveness Checking Algorithm That Counts", FMCAD
2012, pp. 52-59 (a signal that is seen less than k times).

Differences from the source: boxes instead of SAT; one search has all levels; several
marks, which are waited for in turn.
docs/decoupled.md, section 5, has the proof.

Invariants: those of `dominance` and `boxes`.

Cost: that of `dominance` and `boxes`, for a network with one more component; a row
and 28 bytes per box that was entered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.boxes import (
    END,
    MOST_WORDS,
    NOTHING,
    At,
    BoxSearch,
    enter,
    is_full,
    move_on,
    next_successor,
    table_words,
)
from ltlpipe.decoupled.composition import (
    LOCAL,
    Block,
    has_local_run,
    meets,
    watching,
)
from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.search.growth import OutOfMemoryError, total_bytes
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.decoupled.composition import DecoupledNetwork

MOST_LEVELS = 16
"""Levels of a box, the highest included; fewer if a table of members is too large."""

PAUSE = 16
"""States to enter after a cycle that is not there, for each such cycle so far."""

LEAST_LEVELS = 6
"""With fewer there is no table of members, and `MOST_LEVELS` levels."""

MOST_SEEDS = 64
"""Boxes on its way that a new one is compared with."""

_ONE = np.uint64(1)


class Watched(NamedTuple):
    """What is counted."""

    marks: np.ndarray  # uint32[n_labels, k], of each label in each monitor's state
    n_marks: int
    n_levels: int


class Counts(NamedTuple):
    """What is known of n boxes that have been entered."""

    seen: np.ndarray  # int32[n], marks seen in turn, no highest level
    seed: np.ndarray  # int32[n], the last box on the way that was entered by a mark


@inlined
def count_marks(seen, marks, n_marks):
    """Return how many marks have been seen in turn after these, too."""
    for _ in range(n_marks):
        if (marks >> np.uint32(seen % n_marks)) & np.uint32(1) == 0:
            break
        seen += 1
    return seen


@called
def find_seed(tables, work, counts, seen, n_marks):
    """Return the box with members of ``work.fresh[0]`` that closes a cycle, or -1.

    It is on the way to the current box, which ends in it, and `n_marks` marks or more
    are seen behind it.
    """
    state = np.int64(counts.seed[work.state[work.at[At.CURRENT]]])
    for _ in range(MOST_SEEDS):
        if state < 0:
            break
        closes = seen - counts.seen[state] >= n_marks
        if closes and meets(tables, work.rows[state], work.fresh, 0):
            return state
        parent = work.parent[state]
        state = np.int64(-1) if parent < 0 else np.int64(counts.seed[parent])
    return np.int64(-1)


@inlined
def enter_counted(tables, watched, registers, boxes, counts, label):
    """Count what a label has led to, and let it wait; return a Status."""
    work = boxes.work
    current = np.int64(work.state[work.at[At.CURRENT]])
    new = work.at[At.STATES]
    monitor = watching(tables, work.rows, work.at[At.CURRENT])
    before = np.int64(counts.seen[current])
    seen = count_marks(before, watched.marks[label, monitor], watched.n_marks)
    if seen > before and registers[Reg.VISITED] >= registers[Reg.PATIENCE]:
        state = find_seed(tables, work, counts, seen, watched.n_marks)
        if state >= 0:
            registers[Reg.CLOSING] = state
            return Status.FOUND
    level = min(seen, watched.n_levels - 1)
    levels = (_ONE << np.uint64(level + 1)) - _ONE
    work.fresh[0, work.fresh.shape[1] - 1] = levels
    status = enter(registers, boxes, label)
    if work.at[At.STATES] > new:
        counts.seen[new] = seen
        counts.seed[new] = new if seen > before else counts.seed[current]
        registers[Reg.HIGHEST] = max(registers[Reg.HIGHEST], level)
    return status


@njit
def count_step(tables, watched, registers, boxes, counts, budget):
    """Advance the search by at most `budget` >= 1 labels; return a Status.

    watched : Watched; boxes : Boxes; counts : Counts.  The last two are changed in
    place, and `registers`.  FOUND is a candidate, and the search can go on:
    ``registers[Reg.CLOSING]`` is the state to which the last label leads back, or
    LOCAL, which is a run for sure.
    """
    while budget > 0 and registers[Reg.TURN] > 0:
        if is_full(boxes):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        registers[Reg.TURN] -= 1
        registers[Reg.EXPANSIONS] += 1
        label = next_successor(tables, tables.places, registers, boxes, True)
        if label == END:
            return Status.EMPTY
        if label == NOTHING:
            continue
        status = Status.RUNNING
        if label >= 0:
            status = enter_counted(tables, watched, registers, boxes, counts, label)
        elif has_local_run(tables, boxes.work.rows, boxes.work.at[At.CURRENT]):
            registers[Reg.CLOSING] = LOCAL
            status = Status.FOUND
        move_on(registers, boxes, label, status)
        if status != Status.RUNNING:
            registers[Reg.TURN] += status == Status.LIMIT
            return status
    return Status.RUNNING


class MarkCounts:
    """The counting of marks in one network, as the search for SCCs has it.

    `registers` are those of that search.
    """

    def __init__(
        self, network: DecoupledNetwork, registers: np.ndarray, n_levels: int
    ) -> None:
        self.registers = registers
        self.n_refuted = 0  # cycles that were not there
        n_words = len(network.initial)
        tables = network.tables
        no_level = np.zeros(1, dtype=np.uint64)
        self.tables = tables._replace(
            looping=np.concatenate([tables.looping, no_level]),
            accepting=np.concatenate([tables.accepting, no_level]),
        )
        always = network.n_marks == 0  # every infinite run is accepted
        self.watched = Watched(
            marks=network.marks | np.uint32(always),
            n_marks=network.n_marks + always,
            n_levels=n_levels,
        )
        level = Block(n_words, 1, 0, n_levels)
        self.search = BoxSearch([[block] for block in network.blocks], level)
        n_states = len(self.search.work.parent)
        self.counts = Counts(
            seen=np.zeros(n_states, dtype=np.int32),
            seed=np.full(n_states, -1, dtype=np.int32),
        )
        self.search.begin(np.append(network.initial, _ONE))

    @staticmethod
    def levels_for(network: DecoupledNetwork) -> int:
        """Return how many levels are worth their memory."""
        words = table_words([block] for block in network.blocks)
        if not words or words * LEAST_LEVELS > MOST_WORDS:
            return MOST_LEVELS
        return min(MOST_WORDS // words, MOST_LEVELS)

    @property
    def is_conclusive(self) -> bool:
        """Whether no run is accepted, once all boxes are expanded: none is on top."""
        return int(self.registers[Reg.HIGHEST]) < self.watched.n_levels - 1

    @property
    def n_entered(self) -> int:
        """States entered, without the initial one."""
        return self.search.n_entered - 1

    def refute(self) -> None:
        """Note that a cycle is not there; the next ones are looked for later."""
        self.n_refuted += 1
        pause = PAUSE * self.n_refuted
        self.registers[Reg.PATIENCE] = self.registers[Reg.VISITED] + pause

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned."""
        known = self.search.visited.statistics()
        own = {f"counted_{name}": n for name, n in known.items()}
        return {"counted_refuted_cycles": self.n_refuted, **own}

    def arguments(self, budget: int) -> tuple[object, ...]:
        """Return what `count_step` is called with."""
        return (
            self.tables,
            self.watched,
            self.registers,
            self.search.boxes,
            self.counts,
            budget,
        )

    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels to the state that was found, and from there to itself."""
        taken = np.array(self.search.labels_to_current(), dtype=np.int64)
        closing = int(self.registers[Reg.CLOSING])
        if closing == LOCAL:
            return taken[:-1], taken[:0]
        depth = int(self.search.work.depth[closing])
        return taken[:depth], taken[depth:]

    @property
    def memory_bytes(self) -> int:
        """Bytes of its own arrays, room to grow included."""
        return total_bytes(self.counts) + self.search.memory_bytes

    def grow(self, free_bytes: float) -> Iterator[None]:
        """Make room for what the next label may need, in up to `free_bytes`."""
        limit = free_bytes + self.memory_bytes
        yield from self.search.grow(free_bytes)
        n_states = len(self.search.work.parent)
        if 8 * (n_states - len(self.counts.seen)) + self.memory_bytes > limit:
            raise OutOfMemoryError
        for array in self.counts:
            array.resize(n_states, refcheck=False)
