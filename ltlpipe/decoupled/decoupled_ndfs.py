"""Nested search in the decoupled composition.

Decides whether a composition of Büchi automata has a run that visits, infinitely often,
a state in which all components accept.

Inner searches look at *split* states: what each component reaches from each reference
state.  A split state is a row of 64-bit words again.  A *block* is a component with one
of its accepting local states, its reference; the bits of a block are the local states
that are reached from the reference.  A block is empty if its state is no reference of
this inner search, or reaches nothing any more.  One split state dominates another iff
its row includes the other's.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 4 and 5,
Lemma 2, Fig. 7.

Differences from the source:

- A reference from which nothing is reached any more does not count as a reference when
  dominance is decided.  It cannot come back, and the proof of Theorem 4 needs only the
  references of the cycle that is missed; so more is pruned.
- An inner search begins before the successors of its state are looked at, and not
  after all that they lead to: a cycle is reported as soon as can be.  References are
  compared, so no inner search relies on its place in an order (docs/decoupled.md,
  section 6).
- The root of an inner search is a visited split state, and there is no inner search if
  another dominates it.  A split state is tested for a cycle before it is looked up.
- Neither search is depth first: the largest states come first; and states are left out
  if visited ones cover them together (`boxes`).
- The test of Lemma 1 is an option; the state at which the inner search began is on the
  stack then.

Invariants: those of `dominance` and `boxes`, for decoupled and for split states.

Cost: that of `composition`, `dominance` and `boxes`; of a split state one bit per local
state and accepting local state of its component, so n * n bits for a component of n
states without acceptance.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.boxes import (
    END,
    NOTHING,
    At,
    BoxSearch,
    enter,
    is_full,
    next_label,
)
from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    columns_of,
    has_local_run,
    is_enabled,
    meets,
    place_sets,
    write_successor,
)
from ltlpipe.decoupled.lassos import GlobalTrace
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.decoupled.composition import Block, DecoupledNetwork
    from ltlpipe.runtime.jobs import Job

_ONE = np.uint64(1)


class Closing(IntEnum):
    """How a cycle was found: ``registers[Reg.CLOSING]`` after FOUND."""

    LOCAL = 0  # internal transitions of one component (CheckLocalAccept)
    REFERENCES = 1  # references reach themselves (Lemma 2)
    STACK = 2  # a state before it is dominated (Lemma 1), at depth Reg.RED_BASE


class Splits(NamedTuple):
    """Where the blocks lie: k blocks, sorted by component, n components."""

    first_block: np.ndarray  # int64[n + 1], the blocks of each component
    reference: np.ndarray  # int64[k], the reference's bit in its component's words
    first_word: np.ndarray  # int64[k], the first word of each block
    n_words: np.ndarray  # int64[k], how many words it lies in
    shift: np.ndarray  # uint64[k], its first bit in that word
    mask: np.ndarray  # uint64[k], its bits in any of its words


def split_tables(network: DecoupledNetwork) -> tuple[Splits, list[list[Block]]]:
    """Return the places of all blocks of split states, and these by component."""
    references = network.unpack(network.tables.references)
    bits: list[int] = []
    sizes: list[int] = []
    ends = [0]
    for block, states, accepting in zip(
        network.blocks, network.local_states, references, strict=True
    ):
        own = np.flatnonzero(np.isin(states, list(accepting)))
        bits += (own + block.shift).tolist()
        sizes += [block.size] * len(own)
        ends.append(len(bits))
    blocks = place_sets(sizes)
    splits = Splits(
        first_block=np.array(ends, dtype=np.int64),
        reference=np.array(bits, dtype=np.int64),
        **columns_of(blocks),
    )
    return splits, [blocks[first:end] for first, end in pairwise(ends)]


@inlined
def write_root(tables, splits, rows, i, out):
    """Write to ``out[0]`` the acceptance split of ``rows[i]`` (Def. 4)."""
    sets = tables.sets
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(tables.first_word.shape[0]):
        first = tables.first_word[component]
        n_words = tables.n_words[component]
        down = tables.shift[component]
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            bit = splits.reference[block]
            if (rows[i, first + (bit >> 6)] >> np.uint64(bit & 63)) & _ONE == 0:
                continue
            place = tables.closure[tables.first_closure[component] + bit]
            for w in range(n_words):
                closed = (sets[place + w] >> down) << splits.shift[block]
                out[0, splits.first_word[block] + w] |= closed


@inlined
def closes_cycle(tables, splits, rows):
    """Whether every component has, in ``rows[0]``, a reference that reaches itself.

    The test of Lemma 2.
    """
    for component in range(tables.first_word.shape[0]):
        down = tables.shift[component]
        some = False
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            bit = splits.reference[block]
            word = rows[0, splits.first_word[block] + (bit >> 6)]
            place = np.uint64(bit & 63) - down + splits.shift[block]
            if (word >> place) & _ONE != 0:
                some = True
                break
        if not some:
            return False
    return True


@inlined
def write_overall(tables, splits, rows, out):
    """Write to ``out[0]`` the decoupled state of all that ``rows[0]`` reaches."""
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(tables.first_word.shape[0]):
        first = tables.first_word[component]
        down = tables.shift[component]
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            for w in range(tables.n_words[component]):
                word = rows[0, splits.first_word[block] + w] & splits.mask[block]
                out[0, first + w] |= (word >> splits.shift[block]) << down


@inlined
def dominated_before(work, overall):
    """Return the depth of a state within ``overall[0]`` on the way to the current one.

    -1 if there is none; the current state itself is on the way.
    """
    rows = work.rows
    state = np.int64(work.state[work.at[At.CURRENT]])
    found = np.int64(-1)
    while state >= 0:
        included = True
        for w in range(rows.shape[1]):
            if rows[state, w] & ~overall[0, w] != 0:
                included = False
                break
        if included:
            found = np.int64(work.depth[state])
        state = np.int64(work.parent[state])
    return found


@inlined
def begin_inside(tables, splits, seen, registers, outer, inner):
    """Test the current state, and begin an inner search in it; returns a Status."""
    row = outer.at[At.CURRENT]
    if has_local_run(tables, outer.rows, row):
        registers[Reg.CLOSING] = Closing.LOCAL
        return Status.FOUND
    if meets(tables, tables.references, outer.rows, row):
        write_root(tables, splits, outer.rows, row, inner.fresh)
        status = enter(registers, inner, seen, -1)
        registers[Reg.INNER_ROOTS] += inner.at[At.OPEN]
        return status
    return Status.RUNNING


@inlined
def look_outside(tables, splits, visited, seen, registers, outer, inner):
    """Take one step outside: choose a state, begin an inner search, follow one label.

    Returns a Status, RUNNING to go on.
    """
    at = outer.at
    n_labels = tables.first_part.shape[0] - 1
    label = next_label(outer, visited, n_labels, registers[Reg.STACK_TEST] != 0)
    if label == END:
        return Status.EMPTY
    if label == NOTHING:
        return Status.RUNNING
    status = Status.RUNNING
    if label < 0:
        status = begin_inside(tables, splits, seen, registers, outer, inner)
        depth = np.int64(outer.depth[outer.state[at[At.CURRENT]]])
        registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)
    elif is_enabled(tables, tables, outer.rows, at[At.CURRENT], label):
        united = write_successor(
            tables, tables, outer.rows, at[At.CURRENT], label, outer.fresh, 0
        )
        registers[Reg.UNITED] += united
        status = enter(registers, outer, visited, label)
        registers[Reg.TRANSITIONS] += status == Status.RUNNING
    if status == Status.RUNNING:
        at[At.LABEL] = label + 1
    return status


@inlined
def look_inside(tables, splits, seen, registers, outer, inner, overall):
    """Take one step inside: choose a state, follow one label; returns a Status."""
    at = inner.at
    label = next_label(inner, seen, tables.first_part.shape[0] - 1, False)
    if label == NOTHING:
        return Status.RUNNING
    at[At.LABEL] = label + 1
    row = at[At.CURRENT]
    if label < 0 or not is_enabled(tables, splits, inner.rows, row, label):
        return Status.RUNNING
    united = write_successor(tables, splits, inner.rows, row, label, inner.fresh, 0)
    registers[Reg.UNITED] += united
    registers[Reg.TRANSITIONS] += 1
    if closes_cycle(tables, splits, inner.fresh):
        registers[Reg.CLOSING] = Closing.REFERENCES
        return Status.FOUND
    if registers[Reg.STACK_TEST] != 0:
        write_overall(tables, splits, inner.fresh, overall)
        place = dominated_before(outer, overall)
        if place >= 0:
            registers[Reg.CLOSING] = Closing.STACK
            registers[Reg.RED_BASE] = place
            return Status.FOUND
    status = enter(registers, inner, seen, label)
    if status != Status.RUNNING:
        at[At.LABEL] = label  # the call can be repeated
        registers[Reg.TRANSITIONS] -= 1
    return status


@njit
def ndfs_step(tables, splits, visited, seen, registers, outer, inner, overall, budget):
    """Advance the nested search by at most `budget` >= 1 steps.

    visited, seen : Boxes, the decoupled and the split states; outer, inner : Worklist;
    overall : uint64[1, w], room for a decoupled state.  All are changed in place.
    Returns a Status; after FOUND ``registers[Reg.CLOSING]`` is a Closing, and the
    current states of the worklists are where the run has got to.
    """
    while budget > 0:
        if is_full(outer, visited) or is_full(inner, seen):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        if inner.at[At.OPEN] > 0:
            status = look_inside(tables, splits, seen, registers, outer, inner, overall)
        else:
            status = look_outside(
                tables, splits, visited, seen, registers, outer, inner
            )
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class DecoupledNDFS(DecoupledSearch):
    """The search of Gnad et al. 2021, Fig. 7, as the driver takes it.

    With `stack_test` the test of Lemma 1 is made, too.  `outer` has the decoupled
    states, `inner` the split ones of all inner searches so far.
    """

    def __init__(self, network: DecoupledNetwork, *, stack_test: bool = False) -> None:
        super().__init__(network)
        self.registers[Reg.STACK_TEST] = stack_test
        self.splits, blocks = split_tables(network)
        whole = [[block] for block in network.blocks]
        self.outer = BoxSearch(whole, visited=self.visited)
        self.inner = BoxSearch(blocks)
        self.overall = np.zeros((1, len(network.initial)), dtype=np.uint64)
        self.outer.begin(network.initial)

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        return ndfs_step, (
            self.network.tables,
            self.splits,
            self.outer.boxes,
            self.inner.boxes,
            self.registers,
            self.outer.work,
            self.inner.work,
            self.overall,
            budget,
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        tables = total_bytes((self.network.tables, self.splits))
        return tables + self.outer.memory_bytes + self.inner.memory_bytes

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from self.outer.grow(limit_bytes - self.memory_bytes)
        yield from self.inner.grow(limit_bytes - self.memory_bytes)

    def trace(self) -> Job[GlobalTrace]:
        """Return the labels of the run that was found; after FOUND."""
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)
        names = self.network.labels
        work = self.outer.work
        top = work.rows[work.at[At.CURRENT]]
        outer = names[self.outer.labels_to_current()[:-1]].tolist()
        closing = Closing(self.registers[Reg.CLOSING])
        if closing == Closing.LOCAL:
            return GlobalTrace(outer, [], top, returns=True)
        cycle = names[self.inner.labels_to_current()].tolist()
        if self.network.marks.shape[1] == 0:  # all accept where it began
            cycle = [-1, *cycle]
        if closing == Closing.STACK:
            cycle += outer[int(self.registers[Reg.RED_BASE]) :]
        return GlobalTrace(outer, cycle, top, returns=True)

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned, and how it was found."""
        inner = self.inner.visited.statistics()
        return {
            "decoupled_states": self.outer.n_entered,
            "split_states": self.inner.n_entered,
            "inner_searches": int(self.registers[Reg.INNER_ROOTS]),
            **self.visited.statistics(),
            **{f"split_{name}": n for name, n in inner.items()},
        }
