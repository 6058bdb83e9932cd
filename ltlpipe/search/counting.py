"""Size of a product: all its states, breadth first, without numbers.

The share of transitions with Fin marks decides how a search for generalised Rabin
acceptance fares: such transitions are where it breaks off.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 5.2.3, which counts the
transitions of the product that are in some Fin set.

Differences from the source: none.

Nothing is asked of a state but whether it is known, and what follows it, once.  So,
where rows have one word, the known ones are a set (`ltlpipe.search.cells`), and those
alone are kept that wait, in a ring, in the order in which they became known.  The
same is done with the words that stand for wider rows in trees, if they are asked for
(`ltlpipe.search.interning`): 8 to 20 bytes per state, where halves of rows recur.

A batch of successors that finds the set full is entered where it stopped when the set
has grown.

Cost: a cell per state, and 8 bytes for each row that waits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.cells import (
    Cells,
    add,
    ask_for,
    mask_of,
    moved,
    new_cells,
    place_of,
    room_of,
    shape_of,
)
from ltlpipe.search.driver import Resumable, advance
from ltlpipe.search.exploring import BATCH, Exploration
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    MAX_STATES,
    ROUNDING,
    OutOfMemoryError,
    affordable_length,
    lengthen,
    total_bytes,
)
from ltlpipe.search.interning import (
    FEWEST_WORDS,
    fold_rows,
    lacks_room,
    new_tree,
    note_parts,
    number_parts,
    parts_per_row,
    unfold_row,
)
from ltlpipe.search.product import at_limit, successors_behind
from ltlpipe.search.registers import PRIVATE, Reg, Status
from ltlpipe.search.store import MAX_LOAD, resize_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.interning import Tree
    from ltlpipe.search.problem import Problem

_WORD_BITS = 64
_PART_BITS = np.uint64(24)  # of a number of a part in words that are not wider
_LOW_PART = np.uint64((1 << 24) - 1)
_U8, _LOW8 = np.uint64(8), np.uint64(0xFF)
_U32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_GROWTH, _LEAST_GROWTH = 1.5, 1.05  # of the set, the second where memory is short


class Counting(IntEnum):
    """Places in the registers that counts have beside `Reg`."""

    ROOM = PRIVATE  # rows that the set is to hold at most
    AT = PRIVATE + 1  # successors of the batch that have been entered
    N = PRIVATE + 2  # successors of the batch
    IS_FULL = PRIVATE + 3  # whether the next one finds no cell
    IS_WIDER = PRIVATE + 4  # or has more bits than were stated


class Waiting(NamedTuple):
    """The arrays of a count."""

    ring: np.ndarray  # uint64[m], the rows that wait: state k at k modulo m
    fin: np.ndarray  # uint32[1], the Fin marks
    counted: np.ndarray  # int64[1], transitions that carry some of them
    tree: Any = None  # ltlpipe.search.interning.Tree, for rows of several words
    keys: Any = None  # uint64[b, 1] with a tree: what stands for b rows at a time


@inlined
def packed(root):
    """Return the root of a tree as a word of few bits where its numbers are small."""
    left, right = root >> _U32, root & _LOW32
    low = ((left & _LOW_PART) << _PART_BITS) | (right & _LOW_PART)
    high = ((left >> _PART_BITS) << _U8) | (right >> _PART_BITS)
    return (high << (_PART_BITS + _PART_BITS)) | low


@inlined
def unpacked(word):
    """Return the root that has been packed."""
    high = word >> (_PART_BITS + _PART_BITS)
    left = ((high >> _U8) << _PART_BITS) | ((word >> _PART_BITS) & _LOW_PART)
    right = ((high & _LOW8) << _PART_BITS) | (word & _LOW_PART)
    return (left << _U32) | right


@specialised
def keys_of(tree, keys, rows):
    """Return the words that stand for the rows of a batch."""
    if tree is None:
        return rows
    return keys


@specialised
def take_row(tree, word, row):
    """Write the row for which a word stands."""
    if tree is None:
        row[0] = word
        return
    unfold_row(tree, unpacked(word))
    for w in range(row.shape[0]):
        row[w] = tree.row[w]


@specialised
def ask_for_successors(tree, product, keys, store, shape, begin, end):
    """Ask for the buckets of the successors of a state, or for what they share."""
    if tree is None:
        ask_for_batch(product, keys, store, shape, begin, end)
    else:
        note_parts(tree, product.rows, begin, end)


@specialised
def fold_batch(tree, product, keys, store, shape, n):
    """Write what stands for the rows of a batch, and ask for their buckets."""
    if tree is not None:
        number_parts(tree, keys, product.rows, 0, n, True)
        for i in range(n):
            keys[i, 0] = packed(keys[i, 0])
        ask_for_batch(product, keys, store, shape, 0, n)


@inlined
def ask_for_batch(product, keys, store, shape, begin, end):
    """Note to which buckets successors belong, and ask for these ahead of time."""
    words = store.words
    buckets, remainders = product.ids, product.hashes
    for i in range(begin, end):
        bucket, remainders[i] = place_of(shape, keys[i, 0])
        buckets[i] = bucket
        ask_for(words, bucket)


@inlined
def enter_batch(product, keys, store, shape, registers, ring):
    """Enter what is left of a batch; return whether there was room for all.

    Rows that are new wait for being expanded.
    """
    buckets, remainders = product.ids, product.hashes
    words, mask = store.words, mask_of(shape)
    n, at = registers[Counting.N], registers[Counting.AT]
    stored = registers[Reg.STORED]
    last = ring.shape[0] - 1
    while at < n:
        if keys[at, 0] & ~mask != 0:
            registers[Counting.IS_WIDER] = 1
            break
        added = add(shape, words, np.int64(buckets[at]), remainders[at])
        if added < 0:
            registers[Counting.IS_FULL] = 1
            break
        if added > 0:
            ring[stored & last] = keys[at, 0]
            stored += 1
        at += 1
    registers[Reg.STORED] = stored
    registers[Counting.AT] = at
    return at == n


@njit
def counting_step(expand, product, store, registers, arrays, budget):
    """Expand at most `budget` >= 1 states, in the order in which they became known.

    `registers` (int64[N_REGISTERS]) and the arrays are changed in place.  Returns a
    Status, EMPTY when all states have been expanded.
    """
    ring, fin = arrays.ring, arrays.fin[0]
    room, row = ring.shape[0], product.row
    shape = shape_of(store)
    tree, begun = arrays.tree, registers[Counting.AT]
    keys = keys_of(tree, arrays.keys, product.rows)
    ask_for_batch(product, keys, store, shape, begun, registers[Counting.N])
    while enter_batch(product, keys, store, shape, registers, ring):
        state, stored = registers[Reg.VISITED], registers[Reg.STORED]
        if state == stored:
            return Status.EMPTY
        if budget <= 0:
            return Status.RUNNING
        more = product.ids.shape[0]
        if stored - state + more > room or stored + more > registers[Counting.ROOM]:
            return Status.GROW
        if lacks_room(tree, more):
            return Status.GROW
        if at_limit(registers):
            return Status.LIMIT
        last = min(stored, registers[Reg.MAX_STATES], state + budget)
        first, n = state, 0
        while state < last and n <= BATCH:
            take_row(tree, ring[state & (room - 1)], row)
            before = n
            n = successors_behind(expand, product, row, n)
            ask_for_successors(tree, product, keys, store, shape, before, n)
            state += 1
        fold_batch(tree, product, keys, store, shape, n)
        if fin != 0:
            for i in range(n):
                arrays.counted[0] += product.marks[i] & fin != 0
        registers[Reg.VISITED] = state
        registers[Reg.TRANSITIONS] += n
        registers[Reg.EXPANSIONS] += state - first
        registers[Counting.AT], registers[Counting.N] = 0, n
        budget -= state - first
    return Status.GROW


class Count(Resumable):
    """A count of the states of a product in progress.

    Parameters
    ----------
    problem : Problem
        The product.
    bits : int
        What rows of one word are expected to have; wider ones are noticed.
    """

    name = "count"

    def __init__(self, problem: Problem, bits: int) -> None:
        super().__init__()
        self.problem = problem.with_own_buffers(BATCH)
        product, condition = self.problem.product, problem.condition
        self._branching, self.bits = len(product.ids), bits
        room = 1 << (self._branching + FIRST_ENTRIES).bit_length()
        fin = 0 if condition is None else condition.fin_marks
        tree, keys = self._tree(problem.initial)
        if tree is not None:
            self.bits = 2 * int(_PART_BITS)
        self.arrays = Waiting(
            tree=tree,
            keys=keys,
            ring=np.zeros(room, dtype=np.uint64),
            fin=np.array([fin], dtype=np.uint32),
            counted=np.zeros(1, dtype=np.int64),
        )
        self._take(new_cells(self.bits, self._branching + FIRST_ENTRIES))
        product.rows[0] = problem.initial  # a batch that is left to be entered
        self.registers[Counting.N] = 1

    def _tree(self, initial: np.ndarray) -> tuple[Tree | None, np.ndarray | None]:
        """Return a tree for rows of several words, and the first one's key."""
        if len(initial) < FEWEST_WORDS:
            return None, None
        tree = new_tree(len(initial), 1, self._branching)
        keys = np.zeros((self._branching, 1), dtype=np.uint64)
        fold_rows(tree, initial.reshape(1, -1), keys[:1])
        left, right = divmod(int(keys[0, 0]), 1 << 32)
        keys[0, 0] = left << int(_PART_BITS) | right  # packed: they are small
        return tree, keys

    def _take(self, store: Cells) -> None:
        self.store = store
        self.registers[Counting.ROOM] = room_of(store)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, room to grow included."""
        return total_bytes((self.store, self.arrays, self.problem.product))

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which `step` calls it."""
        problem = self.problem
        tables = problem.product, self.store, self.registers, self.arrays
        return counting_step, (problem.expand, *tables, budget)

    @property
    def fin_transitions(self) -> int:
        """Transitions that carry Fin marks, so far."""
        return int(self.arrays.counted[0])

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from self._grow_tree(limit_bytes)
        registers = self.registers
        waiting = int(registers[Reg.STORED] - registers[Reg.VISITED])
        if waiting + self._branching > len(self.arrays.ring):
            self._lengthen_ring(limit_bytes)
        if registers[Counting.IS_WIDER]:
            self.bits = _WORD_BITS
        needed = int(registers[Reg.STORED]) + self._branching
        room = int(registers[Counting.ROOM])
        is_full = registers[Counting.IS_FULL] or needed > room
        while is_full or registers[Counting.IS_WIDER]:
            room = self._more_room(max(needed, room), limit_bytes)
            new = new_cells(self.bits, room)
            is_full = False
            for has_room in moved(self.store, new):
                yield
                is_full = is_full or not has_room
            if is_full:
                room += room // 8  # the same size would be as full
            else:
                self._take(new)
                registers[Counting.IS_FULL] = registers[Counting.IS_WIDER] = 0

    def _grow_tree(self, limit_bytes: float) -> Iterator[None]:
        """Make room for the parts of one more batch, with pauses."""
        if (tree := self.arrays.tree) is None:
            return
        parts, registers = tree.parts, tree.registers
        needed = int(registers[Reg.STORED]) + self._branching * parts_per_row(tree)
        if needed > MAX_STATES:  # numbers of parts have 32 bits
            raise OutOfMemoryError
        lengthen([parts.rows], needed, limit_bytes - self.memory_bytes)
        n_slots, free = len(parts.slots), limit_bytes - self.memory_bytes
        if needed > MAX_LOAD * n_slots:
            needed = int(needed / MAX_LOAD) + 1
            length = affordable_length(n_slots, needed, 4, free, rebuilt=True)
            yield from resize_slots(parts, registers, length)

    def _more_room(self, needed: int, limit_bytes: float) -> int:
        """Return for how many rows the next set has room, beside the present one."""
        present = int(self.registers[Counting.ROOM])
        free = limit_bytes - self.memory_bytes - ROUNDING
        affordable = int(min(free, 1 << 50) * present / self.store.words.nbytes)
        if affordable < max(needed, int(_LEAST_GROWTH * present)):
            raise OutOfMemoryError
        return min(max(needed, int(_GROWTH * present)), affordable)

    def _lengthen_ring(self, limit_bytes: float) -> None:
        """Make the ring twice as long."""
        ring = self.arrays.ring
        if self.memory_bytes + 2 * ring.nbytes > limit_bytes:
            raise OutOfMemoryError
        registers = self.registers
        states = np.arange(registers[Reg.VISITED], registers[Reg.STORED])
        longer = np.zeros(2 * len(ring), dtype=np.uint64)
        longer[states % len(longer)] = ring[states % len(ring)]
        self.arrays = self.arrays._replace(ring=longer)


class ProductSize(NamedTuple):
    """The size of the reachable product."""

    states: int
    transitions: int
    # That carry a mark of which the acceptance condition has a Fin term, if it has any.
    fin_transitions: int | None

    @property
    def fin_share(self) -> float | None:
        """The share of transitions with Fin marks; None without Fin or transitions."""
        if self.fin_transitions is None or not self.transitions:
            return None
        return self.fin_transitions / self.transitions


def product_size_of(
    problem: Problem, bits: int, *, max_states: int | None = None
) -> Job[ProductSize | None]:
    """Explore a product completely; None if it has too many states.

    `bits` are those that a word of its rows is expected to have.
    """
    search: Count | Exploration
    is_one_word = len(problem.initial) == 1 or problem.compress
    if is_one_word and problem.spill is None:
        search = Count(problem, bits)
    else:
        search = Exploration(problem)
    outcome = yield from advance(search, max_states=max_states)
    if outcome.reason is not None:
        return None
    condition, registers = problem.condition, search.registers
    has_fin = condition is not None and condition.fin_marks != 0
    return ProductSize(
        states=int(registers[Reg.VISITED]),
        transitions=int(registers[Reg.TRANSITIONS]),
        fin_transitions=search.fin_transitions if has_fin else None,
    )
