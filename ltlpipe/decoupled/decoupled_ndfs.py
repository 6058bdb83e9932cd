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
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.decoupled.boxes import (
    END,
    NOTHING,
    At,
    BoxSearch,
    enter,
    is_full,
    move_on,
    next_successor,
)
from ltlpipe.decoupled.composition import (
    DecoupledSearch,
    Places,
    has_local_run,
    meets,
    place_sets,
    places_of,
)
from ltlpipe.decoupled.dominance import has_bit
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


class Closing(IntEnum):
    """How a cycle was found: ``registers[Reg.CLOSING]`` after FOUND."""

    LOCAL = 0  # internal transitions of one component (CheckLocalAccept)
    REFERENCES = 1  # references reach themselves (Lemma 2)
    STACK = 2  # a state before it is dominated (Lemma 1), at depth Reg.RED_BASE


class Splits(NamedTuple):
    """Where the blocks of n components lie, k in all."""

    places: Places
    reference: np.ndarray  # int64[k], the reference's bit in its component's words


def split_tables(network: DecoupledNetwork) -> tuple[Splits, list[list[Block]]]:
    """Return the places of all blocks of split states, and these by component."""
    bits: list[np.ndarray] = []
    sizes: list[int] = []
    references = network.unpack(network.tables.references)
    for block, states, known in zip(
        network.blocks, network.local_states, references, strict=True
    ):
        own = np.flatnonzero(np.isin(states, list(known)))
        bits.append((own + block.shift).astype(np.int64))
        sizes += [block.size] * len(own)
    placed = iter(place_sets(sizes))
    blocks = [list(islice(placed, len(own))) for own in bits]
    return Splits(places_of(blocks), np.concatenate(bits)), blocks


@inlined
def write_root(tables, splits, rows, i, out):
    """Write to ``out[0]`` the acceptance split of ``rows[i]`` (Def. 4)."""
    blocks, places = splits.places, tables.places
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(places.first_word.shape[0]):
        first = places.first_word[component]
        down = places.shift[component]
        start = blocks.first_block[component]
        for block in range(start, blocks.first_block[component + 1]):
            bit = splits.reference[block]
            if not has_bit(rows, i, 64 * first + bit):
                continue
            place = tables.closure[tables.first_closure[component] + bit]
            for w in range(places.n_words[component]):
                closed = (tables.sets[place + w] >> down) << blocks.shift[block]
                out[0, blocks.first_word[block] + w] |= closed


@inlined
def closes_cycle(tables, splits, rows):
    """Whether every component has, in ``rows[0]``, a reference that reaches itself.

    The test of Lemma 2.
    """
    blocks = splits.places
    for component in range(tables.places.first_word.shape[0]):
        down = np.int64(tables.places.shift[component])
        some = False
        start = blocks.first_block[component]
        for block in range(start, blocks.first_block[component + 1]):
            bit = splits.reference[block] - down + np.int64(blocks.shift[block])
            if has_bit(rows, 0, 64 * blocks.first_word[block] + bit):
                some = True
                break
        if not some:
            return False
    return True


@inlined
def write_overall(tables, splits, rows, out):
    """Write to ``out[0]`` the decoupled state of all that ``rows[0]`` reaches."""
    blocks, places = splits.places, tables.places
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(places.first_word.shape[0]):
        first = places.first_word[component]
        down = places.shift[component]
        start = blocks.first_block[component]
        for block in range(start, blocks.first_block[component + 1]):
            for w in range(places.n_words[component]):
                word = rows[0, blocks.first_word[block] + w] & blocks.mask[block]
                out[0, first + w] |= (word >> blocks.shift[block]) << down


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
def begin_inside(tables, splits, registers, outer, inner):
    """Test the current state, and begin an inner search in it; returns a Status."""
    work = outer.work
    row = work.at[At.CURRENT]
    registers[Reg.MAX_DEPTH] = max(
        registers[Reg.MAX_DEPTH], np.int64(work.depth[work.state[row]]) + 1
    )
    if has_local_run(tables, work.rows, row):
        registers[Reg.CLOSING] = Closing.LOCAL
        return Status.FOUND
    if not meets(tables, tables.references, work.rows, row):
        return Status.RUNNING
    write_root(tables, splits, work.rows, row, inner.work.fresh)
    status = enter(registers, inner, -1)
    registers[Reg.INNER_ROOTS] += inner.work.at[At.OPEN]
    return status


@inlined
def enter_inside(tables, splits, registers, outer, inner, overall, label):
    """Test a split state for a cycle, and let it wait; returns a Status."""
    fresh = inner.work.fresh
    if closes_cycle(tables, splits, fresh):
        registers[Reg.CLOSING] = Closing.REFERENCES
        return Status.FOUND
    if registers[Reg.STACK_TEST] != 0:
        write_overall(tables, splits, fresh, overall)
        place = dominated_before(outer.work, overall)
        if place >= 0:
            registers[Reg.CLOSING] = Closing.STACK
            registers[Reg.RED_BASE] = place
            return Status.FOUND
    return enter(registers, inner, label)


@njit
def ndfs_step(tables, splits, registers, outer, inner, overall, budget):
    """Advance the nested search by at most `budget` >= 1 steps.

    outer, inner : Boxes, the decoupled and the split states; overall : uint64[1, w],
    room for a decoupled state.  All are changed in place.  Returns a Status; after
    FOUND ``registers[Reg.CLOSING]`` is a Closing, and the current states of the
    worklists are where the run has got to.
    """
    while budget > 0:
        if is_full(outer) or is_full(inner):
            return Status.GROW  # before any write: the call can be repeated
        budget -= 1
        registers[Reg.EXPANSIONS] += 1
        status = Status.RUNNING
        if inner.work.at[At.OPEN] > 0:
            blocks = splits.places
            label = next_successor(tables, blocks, registers, inner, False)
            if label >= 0:
                status = enter_inside(
                    tables, splits, registers, outer, inner, overall, label
                )
            if label != NOTHING:
                move_on(registers, inner, label, status)
        else:
            keeping = registers[Reg.STACK_TEST] != 0
            label = next_successor(tables, tables.places, registers, outer, keeping)
            if label == END:
                return Status.EMPTY
            if label >= 0:
                status = enter(registers, outer, label)
            elif label != NOTHING:
                status = begin_inside(tables, splits, registers, outer, inner)
            if label != NOTHING:
                move_on(registers, outer, label, status)
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
            self.registers,
            self.outer.boxes,
            self.inner.boxes,
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
