"""Storage of a bitstate search: its path, visited states, and a sample of them.

The path takes a byte or two per state, and a table to find it by.

**Stack.**  A frame says which of its state's successors the path goes on with.  Rows
are kept of every `BLOCK`-th state only, and of the topmost ones, between one and two
blocks, which are all that a search looks at; where it comes back to a block whose rows
are gone, they are generated again, from the kept one on.  That takes one expansion per
frame that is left, at most, since a block has to be left before the one below it is
needed.  Successors are taken in the order in which the system has them or, so that
searches of one product can differ, beginning with one that depends on the state and on
an `order`.

**Table.**  States on the path are found by their hashes.  A slot holds the number of a
block of the stack, whether the state accepts, and a tag from its hash.  A look-up that
finds a slot compares the rows of the block: the answer is exact.  The last frame in is
the first out, so that a slot is freed by emptying it.  A frame whose slot would be
equal to one that a look-up meets first has none of its own, and says so
(`Flag.SHARED`).

Cost: a byte per frame, two where states have more than 30 successors; a row per `BLOCK`
frames; four bytes per slot, with 4 slots for 3 frames or more.

Visited states take a few bits each, or a fingerprint. Each hash function of a search is
its salt: the hash of a state's row, mixed with the salt, is the key that says which
bits. Two searches with different salts take different states for visited that are not.

A search has `bits`, uint64[...], or `prints`, a `Prints`.  The other is None, and
kernels hold no code for it.

**Bits.**  A visit is three bits somewhere in an array.  Blue and red visits have keys
of their own, so that a product without red searches has the whole array for blue ones.
Source: G. Holzmann, "An Analysis of Bitstate Hashing", FMSD 13(3), 1998; G. Holzmann,
R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE 37(6), 2011.

**Fingerprints.**  A b-bit hash of each state, in a hash table: two states with the
same fingerprint are taken for one.  With n states and b bits, each new state is omitted
with the probability n / 2^b, so that n^2 / 2^(b + 1) are, on average.
Source: U. Stern and D. Dill, "A New Scheme for Memory-Efficient Probabilistic
Verification", FORTE 1996; P. Wolper and D. Leroy, "Reliable Hashing without Collision
Detection", CAV 1993.
Difference from the source: where the probing of a fingerprint begins follows from the
fingerprint itself, so that the table can grow; it says nothing more of a state than
these bits.

Cost of a fingerprint: the bits, rounded up to bytes, and one for red states per slot,
with 5 slots for 4 states or more.  While the table grows there are two of them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit, prefetch, specialised
from ltlpipe.runtime.kernels.rows import hash_row, same_row
from ltlpipe.search.product import successors
from ltlpipe.search.registers import PRIVATE, Reg
from ltlpipe.search.store import copy_row, home_slot

HASHES = 3
"""Bits that a key sets; Spin's number, too."""

LOAD = 0.8
"""States per slot at which a table of fingerprints grows."""

_STEP = np.uint64(0xA0761D6478BD642F)
_RED = np.uint64(0xE7037ED1A0B428DB)
_U31, _U32, _U64 = np.uint64(31), np.uint64(32), np.uint64(64)


class Prints(NamedTuple):
    """The arrays of a table of n slots."""

    slots: np.ndarray  # uint8[n, width], fingerprints; 0 is an empty slot
    red: np.ndarray  # uint8[n / 8 + 1], a bit per slot
    n_bits: np.ndarray  # int64[1], of a fingerprint


@inlined
def key_of(mixed, salt, red):
    """Return the key of a state's hash in the blue or the red search."""
    key = mixed ^ salt
    if red:
        key ^= _RED
    key *= _STEP
    return key ^ (key >> _U32)


@inlined
def step_of(key):
    """Return the distance of a key's places from one to the next, an odd number."""
    return ((key ^ (key >> _U31)) * _STEP) | np.uint64(1)


@inlined
def is_noted(bits, key):
    """Whether all places of a key are set; bits uint64[...]."""
    step = step_of(key)
    for _ in range(HASHES):
        word = bits[home_slot(key, bits.shape[0])]
        if (word >> (key & np.uint64(63))) & np.uint64(1) == 0:
            return False
        key += step
    return True


@inlined
def note(bits, key):
    """Set all places of a key."""
    step = step_of(key)
    for _ in range(HASHES):
        bits[home_slot(key, bits.shape[0])] |= np.uint64(1) << (key & np.uint64(63))
        key += step


@inlined
def print_of(prints, mixed, salt):
    """Return the fingerprint of a state's hash; it is not 0."""
    value = key_of(mixed, salt, False) >> (_U64 - np.uint64(prints.n_bits[0]))
    return max(value, np.uint64(1))


@inlined
def home_of(prints, value):
    """Return the slot at which the search for a fingerprint begins."""
    shift = _U64 - np.uint64(prints.n_bits[0])
    return home_slot(value << shift, prints.slots.shape[0])


@inlined
def read_slot(prints, at):
    """Return the fingerprint in a slot, 0 if it is empty."""
    value = np.uint64(0)
    for b in range(prints.slots.shape[1]):
        value |= np.uint64(prints.slots[at, b]) << np.uint64(8 * b)
    return value


@inlined
def slot_with(prints, value):
    """Return the slot of a fingerprint, or the empty one that it would take."""
    at = home_of(prints, value)
    while True:
        found = read_slot(prints, at)
        if found == value or found == np.uint64(0):
            return at
        at += 1
        if at == prints.slots.shape[0]:
            at = 0


@inlined
def add_print(prints, value, red):
    """Enter a fingerprint; a red visit follows a blue one."""
    at = slot_with(prints, value)
    for b in range(prints.slots.shape[1]):
        byte = (value >> np.uint64(8 * b)) & np.uint64(255)
        prints.slots[at, b] = np.uint8(byte)
    if red:
        prints.red[at >> 3] |= np.uint8(1 << (at & 7))


@inlined
def is_red(prints, at):
    """Whether the state of a slot has a red visit."""
    return (prints.red[at >> 3] >> (at & 7)) & 1 != 0


@specialised
def ask_for(bits, prints, salt, mixed):
    """Ask for what is kept of a state ahead of time."""
    if bits is not None:
        prefetch(bits, home_slot(key_of(mixed, salt, False), bits.shape[0]))
    if prints is not None:
        prefetch(prints.slots, home_of(prints, print_of(prints, mixed, salt)))


@specialised
def has_visited(bits, prints, salt, mixed, red):
    """Whether the state of a hash seems to have been visited, in blue or in red.

    Red visits follow blue ones.
    """
    if bits is not None:
        return is_noted(bits, key_of(mixed, salt, red))
    if prints is not None:
        at = slot_with(prints, print_of(prints, mixed, salt))
        if read_slot(prints, at) == np.uint64(0):
            return False
        return not red or is_red(prints, at)
    return False


@specialised
def visit(bits, prints, salt, mixed, red):
    """Keep that the state of a hash is visited."""
    if bits is not None:
        note(bits, key_of(mixed, salt, red))
    if prints is not None:
        add_print(prints, print_of(prints, mixed, salt), red)


@specialised
def is_full(prints, registers):
    """Whether there is no room for one more fingerprint."""
    if prints is None:
        return False
    return 5 * (registers[Reg.VISITED] + 1) > 4 * prints.slots.shape[0]


def new_prints(n_bits: int, n_slots: int) -> Prints:
    """Return an empty table of fingerprints of so many bits, 64 at most."""
    return Prints(
        slots=np.zeros((n_slots, -(-n_bits // 8)), dtype=np.uint8),
        red=np.zeros(n_slots // 8 + 1, dtype=np.uint8),
        n_bits=np.array([n_bits], dtype=np.int64),
    )


@njit
def move_prints(prints, others, first, last):
    """Enter the fingerprints of slots from `first` to before `last` elsewhere."""
    for at in range(first, last):
        value = read_slot(prints, at)
        if value != np.uint64(0):
            add_print(others, value, is_red(prints, at))


def bit_omissions(n_states: int, n_keys: int, n_words: int) -> float:
    """Return how many states are omitted, on average, until so many are visited.

    When i keys have been noted, each of `HASHES` bits in an array of m, a new state is
    omitted with the probability p = (1 - exp(-HASHES i / m)) ** HASHES, and p / (1 - p)
    states are for one that is not.
    """
    load = np.linspace(0.0, HASHES * n_keys / (64 * n_words), 1001)
    missing = (1 - np.exp(-load)) ** HASHES
    return float(n_states * np.mean(missing / (1 - missing)))


def print_omissions(n_states: int, n_bits: int) -> float:
    """Return how many states are omitted, on average, until so many are visited."""
    taken = np.linspace(0.0, n_states, 1001) / 2.0**n_bits
    taken = np.minimum(taken, 1 - 2.0**-n_bits)
    return float(n_states * np.mean(taken / (1 - taken)))


BLOCK = 64
"""Frames per row that is kept."""

WINDOW = 2 * BLOCK
"""Frames on top whose rows are at hand, at most."""

_MULTIPLIER = np.uint64(0xD1342543DE82EF95)
_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


class Flag(IntEnum):
    """Bits of a frame's entry; the number of successors taken stands above them."""

    MORE = 1  # others may have to be taken, too
    ACCEPTING = 2  # its state is
    SHARED = 4  # another frame's entry in the table of the path stands for it


FLAG_BITS = 3


class BitstateReg(IntEnum):
    """Places in the registers that bitstate searches have beside `Reg`."""

    ACCEPTING = PRIVATE  # accepting states on the blue stack
    RED_VISITS = PRIVATE + 1  # visits of red searches
    WINDOW_LOW = PRIVATE + 2  # the lowest frame whose row is at hand
    FRESH = PRIVATE + 3  # whether the top frame has been expanded since it is on top
    SAMPLED = PRIVATE + 4  # states in the sample


class Steps(NamedTuple):
    """The arrays of a stack with room for k frames."""

    entries: np.ndarray  # uint8[k, width]
    kept: np.ndarray  # uint64[k / BLOCK + 1, n_words], the first rows of blocks
    window: np.ndarray  # uint64[WINDOW + BLOCK + 1, n_words]; see `place_in_block`
    order: np.ndarray  # uint64[1], 0 for that of the system


def width_for(branching: int) -> int:
    """Return the bytes of an entry if states have so many successors at most."""
    return -(-((branching + 1).bit_length() + FLAG_BITS) // 8)


@inlined
def unlooked(steps):
    """Return the count of a frame none of whose successors have been looked at."""
    return (1 << (8 * steps.entries.shape[1] - FLAG_BITS)) - 1


@inlined
def read_entry(steps, frame):
    """Return the entry of a frame."""
    entry = np.int64(0)
    for b in range(steps.entries.shape[1]):
        entry |= np.int64(steps.entries[frame, b]) << (8 * b)
    return entry


@inlined
def write_entry(steps, frame, entry):
    """Replace the entry of a frame."""
    for b in range(steps.entries.shape[1]):
        steps.entries[frame, b] = np.uint8((entry >> (8 * b)) & 255)


@inlined
def first_taken(steps, mixed, n):
    """Return which of `n` successors of a state with this hash is taken first."""
    order = steps.order[0]
    if order == np.uint64(0):
        return np.int64(0)
    key = (mixed ^ order) * _MULTIPLIER
    return home_slot(key, n)


@inlined
def taken(first, count, n):
    """Return the place of the successor that is taken after `count` others."""
    i = first + count
    return i - n if i >= n else i


@called
def regenerate(expand, product, steps, first, to, n_frames):
    """Write the rows of frames from `first`, that of a block, to ``window[to:]``.

    The buffers of the product are used.
    """
    window = steps.window
    copy_row(steps.kept, first // BLOCK, window, to)
    for k in range(n_frames - 1):
        n = successors(expand, product, window[to + k])
        begin = first_taken(steps, hash_row(window, to + k), n)
        count = (read_entry(steps, first + k) >> FLAG_BITS) - 1
        copy_row(product.rows, taken(begin, count, n), window, to + k + 1)


@called
def place_in_block(expand, product, registers, steps, first, n_frames, i):
    """Return the frame of a block that is ``product.rows[i]``, or -1.

    The block begins with frame `first`.  If the rows of its frames are not at hand,
    they are written behind the window, with the one that is looked for after them, and
    the buffers of the product then hold the successors of the top frame, as before.
    That many states are expanded, which counts.
    """
    window, rows = steps.window, product.rows
    if first >= registers[BitstateReg.WINDOW_LOW]:
        at = first % WINDOW
        for k in range(n_frames):
            if same_row(window, at + k, rows, i):
                return first + k
        return np.int64(-1)
    wanted = WINDOW + BLOCK
    registers[Reg.EXPANSIONS] += n_frames
    copy_row(rows, i, window, wanted)
    regenerate(expand, product, steps, first, WINDOW, n_frames)
    place = np.int64(-1)
    for k in range(n_frames):
        if same_row(window, WINDOW + k, window, wanted):
            place = first + k
    successors(expand, product, window[(registers[Reg.DEPTH] - 1) % WINDOW])
    return place


@njit
def write_path(expand, product, steps, rows, first, last):
    """Write the rows of frames from `first`, that of a block, to before `last`.

    rows uint64[k, n_words] with k >= last.
    """
    for begin in range(first, last, BLOCK):
        n_frames = min(BLOCK, last - begin)
        regenerate(expand, product, steps, begin, WINDOW, n_frames)
        for k in range(n_frames):
            copy_row(steps.window, WINDOW + k, rows, begin + k)


def block_bits(n_slots: int) -> int:
    """Return the bits of a slot that hold the number of a block, plus 1."""
    return int(n_slots // BLOCK + 2).bit_length()


@inlined
def slot_of(mixed, frame, accepting, id_bits):
    """Return what the slot of a frame holds whose state has this hash."""
    bits = np.uint64(id_bits)
    above = (((mixed & _LOW) >> (bits + _ONE)) << _ONE) | np.uint64(accepting)
    return np.uint32((above << bits) | np.uint64(frame // BLOCK + 1))


@inlined
def enter_path(slots, value, mixed):
    """Enter a frame; return whether another one's slot stands for it."""
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != 0:
        if slots[at] == value:
            return True
        at += 1
        if at == slots.shape[0]:
            at = 0
    slots[at] = value
    return False


@inlined
def leave_path(slots, value, mixed):
    """Empty the slot of a frame, the last one that was entered and has one."""
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != value:
        at += 1
        if at == slots.shape[0]:
            at = 0
    slots[at] = 0


@inlined
def frame_of(expand, product, registers, arrays, i, n_frames, only_accepting):
    """Return the frame of ``product.rows[i]`` among the first `n_frames`, or -1.

    If `only_accepting`, frames of other states may be left out.  The buffers of the
    product hold the successors of the top frame.
    """
    steps, slots = arrays.steps, arrays.slots
    mixed = product.hashes[i]
    bits = np.uint64(registers[Reg.ID_BITS])
    tag = (mixed & _LOW) >> (bits + _ONE)
    at = home_slot(mixed, slots.shape[0])
    while slots[at] != 0:
        slot = np.uint64(slots[at])
        above = slot >> bits
        if above >> _ONE == tag and not (only_accepting and above & _ONE == 0):
            first = (np.int64(slot & ((_ONE << bits) - _ONE)) - 1) * BLOCK
            n = min(BLOCK, n_frames - first)
            place = place_in_block(expand, product, registers, steps, first, n, i)
            if place >= 0:
                return place
        at += 1
        if at == slots.shape[0]:
            at = 0
    return np.int64(-1)


@njit
def fill_path(expand, product, registers, steps, slots, first, last):
    """Enter frames from `first`, that of a block, to before `last`, in their order."""
    for begin in range(first, last, BLOCK):
        n_frames = min(BLOCK, last - begin)
        regenerate(expand, product, steps, begin, WINDOW, n_frames)
        for k in range(n_frames):
            mixed = hash_row(steps.window, WINDOW + k)
            entry = read_entry(steps, begin + k) & ~np.int64(Flag.SHARED)
            accepting = entry & Flag.ACCEPTING != 0
            value = slot_of(mixed, begin + k, accepting, registers[Reg.ID_BITS])
            if enter_path(slots, value, mixed):
                entry |= Flag.SHARED
            write_entry(steps, begin + k, entry)


# Samples of the states that are met

PLACES = 1 << 13

ENTERED = 1 << 15
"""Bit of a count: the state has been entered.  Those below are how often it was met."""

_MOST = ENTERED - 1


class Sample(NamedTuple):
    """The arrays of a sample with n places, a power of two."""

    keys: np.ndarray  # uint64[n], hashes; 0 where there is none
    counts: np.ndarray  # uint16[n], see ENTERED
    sources: np.ndarray  # uint64[n], the hash of the state that was the last to meet it
    most: np.ndarray  # uint64[1], the largest hash in it


def new_sample(branching: int) -> Sample:
    """Return an empty sample for states of at most so many successors."""
    n = PLACES
    while n < 4 * branching:
        n *= 2
    return Sample(
        keys=np.zeros(n, dtype=np.uint64),
        counts=np.zeros(n, dtype=np.uint16),
        sources=np.zeros(n, dtype=np.uint64),
        most=np.array([~np.uint64(0)], dtype=np.uint64),
    )


@inlined
def place_in(sample, registers, key):
    """Return the place of a hash that is small enough; it is added if it is new."""
    keys = sample.keys
    mask = np.uint64(keys.shape[0] - 1)
    at = np.int64(key & mask)
    while keys[at] != key:
        if keys[at] == np.uint64(0):
            keys[at] = key
            registers[BitstateReg.SAMPLED] += 1
            break
        at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
    return at


@inlined
def sample_entered(sample, registers, mixed):
    """Tell a sample that a state is entered."""
    if mixed <= sample.most[0] and mixed != np.uint64(0):
        sample.counts[place_in(sample, registers, mixed)] |= np.uint16(ENTERED)


@inlined
def sample_met(sample, registers, hashes, n, source):
    """Tell a sample the successors of a state, whose own hash is `source`."""
    most = sample.most[0]
    for i in range(n):
        mixed = hashes[i]
        if mixed > most or mixed == source or mixed == np.uint64(0):
            continue
        at = place_in(sample, registers, mixed)
        if sample.sources[at] == source:
            continue  # steps from one state to another count once
        sample.sources[at] = source
        if sample.counts[at] & np.uint16(_MOST) != np.uint16(_MOST):
            sample.counts[at] += np.uint16(1)


@inlined
def is_crowded(sample, registers):
    """Whether a sample should be halved before states are added."""
    return 2 * registers[BitstateReg.SAMPLED] > sample.keys.shape[0]


def halve(sample: Sample, registers: np.ndarray) -> None:
    """Leave out the larger hashes, until a quarter of the places is taken at most.

    It does nothing before the sample is crowded.
    """
    keys, counts, sources, most = sample
    if 2 * registers[BitstateReg.SAMPLED] <= len(keys):
        return
    filled = keys != 0
    known, times = keys[filled], counts[filled]
    while 4 * len(known) > len(keys):
        most[0] >>= np.uint64(1)
        small = known <= most[0]
        known, times = known[small], times[small]
    keys[:] = 0
    counts[:] = 0
    sources[:] = 0
    mask = len(keys) - 1
    for key, count in zip(known.tolist(), times.tolist(), strict=True):
        at = key & mask
        while keys[at]:
            at = (at + 1) & mask
        keys[at], counts[at] = key, count
    registers[BitstateReg.SAMPLED] = len(known)


def times_met(sample: Sample) -> np.ndarray:
    """Return float64[k], the share of the states met that were met 0, 1, 2, ... times.

    Steps of a state to itself do not count, nor does a second one between two states.
    """
    times = sample.counts[sample.keys != 0] & _MOST
    met = np.bincount(times[times > 0])
    return np.asarray(met / max(met.sum(), 1))


def omitted_of(sample: Sample) -> tuple[int, int]:
    """Return how many states of a sample were met but not entered, and entered."""
    counts = sample.counts[sample.keys != 0]
    n_entered = int(np.count_nonzero(counts & ENTERED))
    return len(counts) - n_entered, n_entered


def entered_states(sample: Sample) -> np.ndarray:
    """Return uint64[k], the hashes of the states in a sample that were entered."""
    return np.asarray(sample.keys[sample.counts & ENTERED != 0])
