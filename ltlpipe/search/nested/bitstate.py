"""Nested depth-first search over a bit array (``--bitstate MIB``).

The search of `ltlpipe.search.nested.se05` in which a visited state is three bits
somewhere in an array instead of a row in a store.  States whose bits other states
have set are taken for visited, so parts of the product can be missed: an answer
"no accepting run" says nothing.  A run that is found is exact: the states on the
path are kept as they are, and a cycle is closed only at one of them.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3 and Sec. 5; G. Holzmann,
"An Analysis of Bitstate Hashing", FMSD 13(3), 1998.

Differences from Fig. 3:

- Blue and red are two keys of a state in the same array, so that a product without
  red searches has the whole array for the blue one.
- Cyan is exact: the rows of the path are found through a hash table of their
  own.  The last row in is the first out, so a slot is freed by emptying it.

Invariants, asserted by `assert_consistent`: the hash table holds exactly the blue
frames.

Cost: three bits per visited state to be set, as many again if a red search comes
by, and the array is as large as it is made; a row and one byte of stack, and four
bytes per slot with 4 slots for 3 states or more, per state on the path; a row and
one byte per waiting successor.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import FIRST_ENTRIES, UINT8, OutOfMemoryError
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, leaves_accepting, successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, find, hash_row, slot_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

HASHES = 3
"""Bits that a key sets; Spin's number, too."""

_MIB_WORDS = (1 << 20) // 8
_ID_BITS = 31
_STEP = np.uint64(0xA0761D6478BD642F)
_RED = np.uint64(0xE7037ED1A0B428DB)
_U6, _U31, _U32 = np.uint64(6), np.uint64(31), np.uint64(32)


class Kind(IntEnum):
    """What an entry of the stack is."""

    WAITING = 0
    BLUE = 1  # a frame of the blue search
    ACCEPTING = 2  # the same, of an accepting state
    RED = 3  # a frame of the red search


class Arrays(NamedTuple):
    """The arrays of one search: k stack entries, whose rows are in the store."""

    bits: np.ndarray  # uint64[...]
    kinds: np.ndarray  # uint8[k], Kind


@inlined
def key_of(mixed, red):
    """Return the key of a state's hash in the blue or the red search."""
    if red:
        mixed = (mixed ^ _RED) * _STEP
        mixed ^= mixed >> _U32
    return mixed


@inlined
def step_of(key):
    """Return the distance of a key's places from one to the next, an odd number."""
    return ((key ^ (key >> _U31)) * _STEP) | np.uint64(1)


@inlined
def place_of(key, n_words):
    """Return the word of one place of a key."""
    return np.int64(((key >> _U32) * np.uint64(n_words)) >> _U32)


@inlined
def is_noted(bits, key):
    """Whether all places of a key are set."""
    step = step_of(key)
    for _ in range(HASHES):
        word = bits[place_of(key, bits.shape[0])]
        if (word >> (key & np.uint64(63))) & np.uint64(1) == 0:
            return False
        key += step
    return True


@inlined
def note(bits, key):
    """Set all places of a key."""
    step = step_of(key)
    for _ in range(HASHES):
        bits[place_of(key, bits.shape[0])] |= np.uint64(1) << (key & np.uint64(63))
        key += step


@inlined
def push(store, registers, arrays, rows, i):
    """Let a successor wait for its turn."""
    top = registers[Reg.TOP]
    known = store.rows
    for w in range(rows.shape[1]):
        known[top, w] = rows[i, w]
    arrays.kinds[top] = Kind.WAITING
    registers[Reg.TOP] = top + 1


@inlined
def make_frame(registers, arrays, kind):
    """Turn the state that waits on top of the stack into a frame; return its place."""
    top = registers[Reg.TOP] - 1
    arrays.kinds[top] = kind
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return top


@inlined
def generate(expand, product, store, registers, arrays, place):
    """Generate the successors of a state on the path; ask for their bits."""
    n = successors(expand, product, store.rows[place])
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    bits, rows, hashes = arrays.bits, product.rows, product.hashes
    for i in range(n):
        hashes[i] = hash_row(rows, i)
        prefetch(bits, place_of(key_of(hashes[i], False), bits.shape[0]))
    return n


@inlined
def frame_of(store, rows, i, mixed):
    """Return the place on the path of a row, or -1."""
    return find(store.slots, store.rows, rows, i, mixed, np.uint64(_ID_BITS))[1]


@inlined
def enter_blue(expand, product, store, registers, arrays, mixed):
    """Enter the state on top of the stack (Fig. 3, lines 4-9)."""
    place = make_frame(registers, arrays, Kind.BLUE)
    note(arrays.bits, key_of(mixed, False))
    registers[Reg.VISITED] += 1
    known = store.rows
    at, _ = find(store.slots, known, known, place, mixed, np.uint64(_ID_BITS))
    store.slots[at] = slot_entry(mixed, place, np.uint64(_ID_BITS))
    n = generate(expand, product, store, registers, arrays, place)
    accepting = leaves_accepting(product, n)
    if accepting:
        arrays.kinds[place] = Kind.ACCEPTING
        registers[Reg.ACCEPTING] += 1
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        if not is_noted(arrays.bits, key_of(product.hashes[i], False)):
            push(store, registers, arrays, product.rows, i)
        elif registers[Reg.ACCEPTING] > 0:
            closing = frame_of(store, product.rows, i, product.hashes[i])
            if closing >= 0 and (
                accepting or arrays.kinds[closing] == Kind.ACCEPTING
            ):  # lines 6-8
                registers[Reg.CLOSING] = closing
                return Status.FOUND
    return Status.RUNNING


@inlined
def enter_red(expand, product, store, registers, arrays, place):
    """Look at the successors of a state in the red search (lines 17-20)."""
    n = generate(expand, product, store, registers, arrays, place)
    bits = arrays.bits
    for i in range(n - 1, -1, -1):
        mixed = product.hashes[i]
        if not is_noted(bits, key_of(mixed, False)):
            continue
        closing = frame_of(store, product.rows, i, mixed)
        if closing >= 0:
            registers[Reg.CLOSING] = closing
            return Status.FOUND
        if not is_noted(bits, key_of(mixed, True)):
            push(store, registers, arrays, product.rows, i)
    return Status.RUNNING


@inlined
def leave_blue(store, registers, arrays, place):
    """End a blue frame: its state is cyan no more (lines 13-15)."""
    known = store.rows
    mixed = hash_row(known, place)
    if arrays.kinds[place] == Kind.ACCEPTING:
        note(arrays.bits, key_of(mixed, True))
        registers[Reg.RED_VISITS] += 1
        registers[Reg.ACCEPTING] -= 1
    at, _ = find(store.slots, known, known, place, mixed, np.uint64(_ID_BITS))
    store.slots[at] = 0
    registers[Reg.TOP] = place
    registers[Reg.DEPTH] -= 1


@njit
def bitstate_step(expand, product, store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3, over bits.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the place of the one to which the last one has a transition.
    """
    room = store.rows.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        registers[Reg.STORED] = top
        if top == 0:
            return Status.EMPTY
        if top > room or 4 * (registers[Reg.DEPTH] + 1) > 3 * store.slots.shape[0]:
            return Status.GROW  # before any write: the call can be repeated
        kind = arrays.kinds[top - 1]
        base = registers[Reg.RED_BASE]
        status = Status.RUNNING
        if kind == Kind.WAITING:
            mixed = hash_row(store.rows, top - 1)
            noted = is_noted(arrays.bits, key_of(mixed, base > 0))
            if not noted and base == 0 and at_limit(registers):
                return Status.LIMIT
            if noted:
                registers[Reg.TOP] = top - 1
            elif base > 0:  # lines 20-22
                make_frame(registers, arrays, Kind.RED)
                note(arrays.bits, key_of(mixed, True))
                registers[Reg.RED_VISITS] += 1
                status = enter_red(expand, product, store, registers, arrays, top - 1)
                budget -= 1
            else:  # lines 9-10
                status = enter_blue(expand, product, store, registers, arrays, mixed)
                budget -= 1
        elif kind == Kind.RED:  # a red frame has ended
            registers[Reg.TOP] = top - 1
            registers[Reg.DEPTH] -= 1
        elif kind == Kind.ACCEPTING and base == 0:  # lines 11-12
            registers[Reg.RED_BASE] = top
            status = enter_red(expand, product, store, registers, arrays, top - 1)
            budget -= 1
        else:
            registers[Reg.RED_BASE] = 0
            leave_blue(store, registers, arrays, top - 1)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


@njit
def fill_frames(store, arrays, top):
    """Enter every blue frame into the hash table, whose slots are all empty."""
    known = store.rows
    id_bits = np.uint64(_ID_BITS)
    for place in range(top):
        kind = arrays.kinds[place]
        if kind == Kind.BLUE or kind == Kind.ACCEPTING:
            mixed = hash_row(known, place)
            at, _ = find(store.slots, known, known, place, mixed, id_bits)
            store.slots[at] = slot_entry(mixed, place, id_bits)


class BitstateSE05(Search):
    """The search of Schwoon & Esparza 2005, Fig. 3, over `bits_mib` MiB of bits.

    The store holds the rows of the stack; a state id is a place there, and means the
    same state only while that entry lasts.
    """

    name = "se05"
    generalised = False
    counts: ClassVar = {"red_visits": Reg.RED_VISITS}
    kernel = staticmethod(bitstate_step)

    arrays: Arrays

    def __init__(self, problem: Problem, bits_mib: float) -> None:
        self._n_words = max(1, int(bits_mib * _MIB_WORDS))
        super().__init__(problem)

    def _new_store(self, initial: np.ndarray) -> None:
        room = self._branching + FIRST_ENTRIES
        rows = np.zeros((room, initial.shape[1]), dtype=np.uint64)
        slots = np.zeros(FIRST_ENTRIES, dtype=np.uint32)
        self.store = Store(rows, slots)
        self.arrays = self._new_arrays(room)

    def _layout(self) -> Layout:
        return {Reg.STORED: {"kinds": UINT8}}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        return Arrays(bits=np.zeros(self._n_words, dtype=np.uint64), **made)

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each visited state."""
        return HASHES / 8

    def _begin(self) -> None:
        self.store.rows[0] = self.problem.initial
        self.registers[Reg.TOP] = 1

    def _grow_states(self, limit_bytes: float) -> Iterator[None]:
        needed = self._needed(Reg.TOP)
        rows, slots = self.store
        if needed >= 1 << _ID_BITS:
            raise OutOfMemoryError
        if needed > rows.shape[0]:
            row_bytes = 8 * rows.shape[1] + 1
            length = self._new_length(rows, needed, limit_bytes, row_bytes)
            rows.resize((length, rows.shape[1]), refcheck=False)
            self._follow()
        frames = int(self.registers[Reg.DEPTH]) + 1
        if frames > MAX_LOAD * slots.shape[0]:
            minimum = int(frames / MAX_LOAD) + 1
            n_slots = self._new_length(slots, minimum, limit_bytes, 4)
            slots.resize(0, refcheck=False)
            slots.resize(n_slots, refcheck=False)
            slots[:] = 0
            fill_frames(self.store, self.arrays, self.registers[Reg.TOP])
            yield

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states of the path."""
        return np.asarray(self.arrays.kinds[: self.n_stored] != Kind.WAITING)

    def lasso(self) -> Job[ProductLasso]:
        """Return the run on the stack; the search must have answered FOUND.

        It can be long: what has been seen off the path is not known any more.
        """
        kinds = self.arrays.kinds[: self.registers[Reg.TOP]]
        path = np.flatnonzero(kinds != Kind.WAITING).astype(np.int32)
        start = int(np.flatnonzero(path == self.registers[Reg.CLOSING])[0])
        cycle = np.append(path[start:], path[start])
        finder = PathFinder(self)
        actions, _ = yield from finder.label(cycle)
        return (yield from finder.lasso(path[: start + 1], cycle, actions))

    def coverage(self) -> float:
        """Estimate how many of the states met were not taken for visited.

        When i keys have been noted, each of `HASHES` bits in an array of m, a
        new state is missed with the probability p = (1 - exp(-HASHES i / m)) **
        HASHES, and p / (1 - p) states are missed for one that is not.  States
        that can be reached only through missed ones are not counted.
        """
        n_keys = int(self.registers[Reg.VISITED] + self.registers[Reg.RED_VISITS])
        load = np.linspace(0.0, HASHES * n_keys / (64 * self._n_words), 1001)
        missing = (1 - np.exp(-load)) ** HASHES
        return float(1 / (1 + np.mean(missing / (1 - missing))))

    def assert_consistent(self) -> None:
        """Check that exactly the blue frames are in the hash table."""
        kinds = self.arrays.kinds[: self.registers[Reg.TOP]]
        blue = np.flatnonzero((kinds == Kind.BLUE) | (kinds == Kind.ACCEPTING))
        slots = self.store.slots
        places = (slots[slots != 0] & ((1 << _ID_BITS) - 1)).astype(np.int64) - 1
        assert sorted(places.tolist()) == blue.tolist()
