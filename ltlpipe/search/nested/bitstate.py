"""Nested depth-first search over a bit array (``--bitstate MIB``).

The search of `ltlpipe.search.nested.se05` in which a visited state is three bits
somewhere in an array instead of a row in a store.  States whose bits other states
have set are taken for visited, so parts of the product can be missed: an answer
"no accepting run" says nothing.  A run that is found is exact: the path is known as
its steps, and a cycle is closed only at a state of it.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3 and Sec. 5; G. Holzmann,
"An Analysis of Bitstate Hashing", FMSD 13(3), 1998.

Differences from Fig. 3:

- Blue and red are two keys of a state in the same array
  (`ltlpipe.search.nested.bit_keys`).
- Cyan is exact: the rows of the path are found through a hash table of their
  own (`ltlpipe.search.nested.path_table`).
- The stack holds steps, not states (`ltlpipe.search.nested.step_stack`), and none of
  those that wait: where the search comes back to a state with successors that were
  not visited before, it generates all of them again.
- The order of ``post`` is "known states first", as in `ltlpipe.search.nested.se05`.
  While the successors of a state wait, no more of them become cyan.

Invariants, asserted by `assert_consistent`: the table of the path leads to exactly the
blue frames.

Cost: three bits per visited state to be set, as many again if a red search comes
by, and the array is as large as it is made; per state on the path a byte (two, where
states have more than 30 successors) and four bytes per slot with 4 slots for 3 states
or more.  A state is expanded twice more for each of its successors, at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import FIRST_ENTRIES, MAX_STATES, OutOfMemoryError
from ltlpipe.search.nested.bit_keys import HASHES, is_noted, key_of, note, place_of
from ltlpipe.search.nested.coverage import reached_share
from ltlpipe.search.nested.path_table import (
    block_bits,
    enter_path,
    fill_path,
    frame_of,
    leave_path,
    slot_of,
)
from ltlpipe.search.nested.sample import (
    Sample,
    entered_states,
    halve,
    is_crowded,
    new_sample,
    sample_entered,
    sample_met,
    times_met,
)
from ltlpipe.search.nested.step_stack import (
    BLOCK,
    FLAG_BITS,
    WINDOW,
    Flag,
    Steps,
    copy_row,
    first_taken,
    read_entry,
    regenerate,
    taken,
    unlooked,
    unlooked_entry,
    width_for,
    write_entry,
    write_path,
)
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, leaves_accepting, successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, hash_row, resize_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_MIB_WORDS = (1 << 20) // 8
_BLOCKS_PER_CALL = 1 << 8  # of the path, regenerated without a pause: some 20 ms
_KEPT_FLAGS = Flag.ACCEPTING | Flag.SHARED


class Arrays(NamedTuple):
    """The arrays of one search."""

    bits: np.ndarray  # uint64[...]
    salt: np.ndarray  # uint64[1], see `bit_keys`
    slots: np.ndarray  # uint32[...], the table of the path
    steps: Steps
    sample: Sample


@inlined
def generate(expand, product, arrays, frame):
    """Generate the successors of a frame's state; ask for their bits.

    Returns how many they are, and the hash of the state.
    """
    window = arrays.steps.window
    n = successors(expand, product, window[frame % WINDOW])
    bits, salt = arrays.bits, arrays.salt[0]
    rows, hashes = product.rows, product.hashes
    for i in range(n):
        hashes[i] = hash_row(rows, i)
        prefetch(bits, place_of(key_of(hashes[i], salt, False), bits.shape[0]))
    return n, hash_row(window, frame % WINDOW)


@inlined
def arrive_blue(product, registers, arrays, frame, n, mixed):
    """Tell what a blue frame's successors say of it (Fig. 3, line 5); return flags."""
    accepting = leaves_accepting(product, n)
    registers[Reg.ACCEPTING] += accepting
    sample_met(arrays.sample, registers, product.hashes, n, mixed)
    value = slot_of(mixed, frame, accepting, registers[Reg.ID_BITS])
    flags = Flag.ACCEPTING * np.int64(accepting)
    if enter_path(arrays.slots, value, mixed):
        flags |= np.int64(Flag.SHARED)
    return flags


@inlined
def closing_of(expand, product, registers, arrays, n, flags):
    """Return the frame at which a step of the top frame closes a cycle, or -1.

    Of an accepting one, if the search is blue (lines 6-8, 18-19).
    """
    base = registers[Reg.RED_BASE]
    n_frames = base if base > 0 else registers[Reg.DEPTH]
    only_accepting = base == 0 and flags & Flag.ACCEPTING == 0
    salt = arrays.salt[0]
    for i in range(n - 1, -1, -1):
        if is_noted(arrays.bits, key_of(product.hashes[i], salt, False)):
            place = frame_of(
                expand,
                product,
                arrays.steps,
                arrays.slots,
                registers,
                i,
                n_frames,
                only_accepting,
            )
            if place >= 0:
                return place
    return np.int64(-1)


@inlined
def next_unvisited(product, arrays, first, count, n, red):
    """Return how many successors are passed over before one to be entered; or n."""
    salt = arrays.salt[0]
    bits, hashes = arrays.bits, product.hashes
    while count < n:
        mixed = hashes[taken(first, count, n)]
        noted = is_noted(bits, key_of(mixed, salt, False))
        if red:  # lines 20-22: what blue has not seen, it will
            if noted and not is_noted(bits, key_of(mixed, salt, True)):
                break
        elif not noted:  # lines 9-10
            break
        count += 1
    return count


@inlined
def push(product, registers, arrays, i, red):
    """Enter ``product.rows[i]``."""
    steps = arrays.steps
    frame = registers[Reg.DEPTH]
    if frame % BLOCK == 0:
        copy_row(product.rows, i, steps.kept, frame // BLOCK)
        if frame - registers[Reg.WINDOW_LOW] >= WINDOW:
            registers[Reg.WINDOW_LOW] += BLOCK
    copy_row(product.rows, i, steps.window, frame % WINDOW)
    write_entry(steps, frame, unlooked(steps.width[0]) << FLAG_BITS | Flag.MORE)
    registers[Reg.DEPTH] = frame + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], frame + 1)
    mixed = product.hashes[i]
    note(arrays.bits, key_of(mixed, arrays.salt[0], red))
    if red:
        registers[Reg.RED_VISITS] += 1
    else:
        registers[Reg.VISITED] += 1
        sample_entered(arrays.sample, registers, mixed)


@inlined
def leave_blue(registers, arrays, frame, entry):
    """End a blue frame: its state is cyan no more (lines 13-15)."""
    mixed = hash_row(arrays.steps.window, frame % WINDOW)
    accepting = entry & Flag.ACCEPTING != 0
    if accepting:
        note(arrays.bits, key_of(mixed, arrays.salt[0], True))
        registers[Reg.RED_VISITS] += 1
        registers[Reg.ACCEPTING] -= 1
    if entry & Flag.SHARED == 0:
        value = slot_of(mixed, frame, accepting, registers[Reg.ID_BITS])
        leave_path(arrays.slots, value, mixed)


@inlined
def pop(expand, product, registers, arrays):
    """Take the top frame off; return how many states were expanded for that."""
    depth = registers[Reg.DEPTH] - 1
    registers[Reg.DEPTH] = depth
    registers[Reg.FRESH] = 0
    if depth == 0 or depth > registers[Reg.WINDOW_LOW]:
        return 0
    first = registers[Reg.WINDOW_LOW] - BLOCK
    registers[Reg.WINDOW_LOW] = first
    regenerate(expand, product, arrays.steps, first, first % WINDOW, BLOCK)
    registers[Reg.EXPANSIONS] += BLOCK - 1
    return BLOCK - 1


@inlined
def lacks_room(registers, arrays):
    """Whether there is no room for one more frame, or in the sample."""
    frames = registers[Reg.DEPTH] + 1
    return (
        frames * arrays.steps.width[0] > arrays.steps.entries.shape[0]
        or frames > BLOCK * arrays.steps.kept.shape[0]
        or 4 * frames > 3 * arrays.slots.shape[0]
        or is_crowded(arrays.sample, registers)
    )


@njit
def bitstate_step(expand, product, _store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3, over bits.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the one to which the last one has a transition.
    """
    steps = arrays.steps
    at_hand = False  # the buffers hold the successors of the top frame
    n, mixed, first = np.int64(0), np.uint64(0), np.int64(0)
    while budget > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0 and registers[Reg.VISITED] > 0:
            return Status.EMPTY
        if lacks_room(registers, arrays):
            return Status.GROW  # before any write: the call can be repeated
        red = registers[Reg.RED_BASE] > 0
        top = depth - 1
        child = np.int64(-1)
        if depth == 0:  # the initial state
            copy_row(steps.kept, 0, product.rows, 0)
            product.hashes[0] = hash_row(product.rows, 0)
            child = np.int64(0)
            registers[Reg.FRESH] = 0
        else:
            entry = read_entry(steps, top)
            if entry & Flag.MORE:
                if not (at_hand and registers[Reg.FRESH]):
                    n, mixed = generate(expand, product, arrays, top)
                    first = first_taken(steps, mixed, n)
                    # Once more only because a call has ended: not counted.
                    registers[Reg.EXPANSIONS] += not registers[Reg.FRESH]
                    budget -= 1
                    registers[Reg.FRESH] = 1
                    at_hand = True
                flags = entry & _KEPT_FLAGS
                count = entry >> FLAG_BITS
                if count == unlooked(steps.width[0]):
                    count = np.int64(0)
                    registers[Reg.TRANSITIONS] += n
                    if not red:
                        flags = arrive_blue(product, registers, arrays, top, n, mixed)
                    write_entry(steps, top, flags | Flag.MORE)
                    if red or registers[Reg.ACCEPTING] > 0:
                        closing = closing_of(
                            expand, product, registers, arrays, n, flags
                        )
                        if closing >= 0:
                            registers[Reg.CLOSING] = closing
                            return Status.FOUND
                count = next_unvisited(product, arrays, first, count, n, red)
                if count < n:
                    if not red and at_limit(registers):
                        return Status.LIMIT
                    child = taken(first, count, n)
                    count += 1
                    if next_unvisited(product, arrays, first, count, n, red) < n:
                        flags |= np.int64(Flag.MORE)
                    write_entry(steps, top, (count << FLAG_BITS) | flags)
                else:
                    write_entry(steps, top, flags)
            elif not red and entry & Flag.ACCEPTING:  # lines 11-12
                registers[Reg.RED_BASE] = depth
                registers[Reg.FRESH] = 0
                count = unlooked(steps.width[0])
                flags = (entry & _KEPT_FLAGS) | np.int64(Flag.MORE)
                write_entry(steps, top, (count << FLAG_BITS) | flags)
            else:
                if depth <= registers[Reg.RED_BASE] or not red:
                    registers[Reg.RED_BASE] = 0
                    leave_blue(registers, arrays, top, entry)
                budget -= pop(expand, product, registers, arrays)
                at_hand = False
        if child >= 0:
            push(product, registers, arrays, child, red)
            registers[Reg.FRESH] = 0
    return Status.RUNNING


class BitstateSE05(Search):
    """The search of Schwoon & Esparza 2005, Fig. 3, over `bits_mib` MiB of bits.

    Of `variant` 0 it takes the successors of a state in the order of the system;
    others take them in orders, and have hash functions, of their own.  Nothing is
    stored but, once a lasso has been extracted, the path.
    """

    name = "se05"
    generalised = False
    counts: ClassVar = {"red_visits": Reg.RED_VISITS}
    kernel = staticmethod(bitstate_step)

    arrays: Arrays

    def __init__(self, problem: Problem, bits_mib: float, variant: int = 0) -> None:
        self._n_words = max(1, int(bits_mib * _MIB_WORDS))
        self._variant = variant
        super().__init__(problem)

    def _layout(self) -> Layout:
        return {}

    def _new_store(self, initial: np.ndarray) -> None:
        n_words = initial.shape[1]
        self.store = Store(
            np.zeros((0, n_words), dtype=np.uint64), np.zeros(0, dtype=np.uint32)
        )
        width = width_for(self._branching)
        salt, order = np.random.SeedSequence(self._variant).generate_state(2, np.uint64)
        steps = Steps(
            entries=np.zeros(FIRST_ENTRIES * width, dtype=np.uint8),
            kept=np.zeros((FIRST_ENTRIES // BLOCK, n_words), dtype=np.uint64),
            window=np.zeros((WINDOW + BLOCK + 1, n_words), dtype=np.uint64),
            width=np.array([width], dtype=np.int64),
            order=np.array([order if self._variant else 0], dtype=np.uint64),
        )
        steps.kept[0] = initial[0]
        self.arrays = Arrays(
            bits=np.zeros(self._n_words, dtype=np.uint64),
            salt=np.array([salt], dtype=np.uint64),
            slots=np.zeros(2 * FIRST_ENTRIES, dtype=np.uint32),
            steps=steps,
            sample=new_sample(self._branching),
        )
        self.registers[Reg.ID_BITS] = block_bits(2 * FIRST_ENTRIES)

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each visited state."""
        return HASHES / 8

    def _begin(self) -> None:
        """Leave the initial state where the kernel expects it."""

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        registers = self.registers
        steps, slots = self.arrays.steps, self.arrays.slots
        frames = int(registers[Reg.DEPTH]) + 1
        if frames > MAX_STATES:
            raise OutOfMemoryError
        width, n_words = int(steps.width[0]), steps.kept.shape[1]
        if frames * width > steps.entries.shape[0]:
            length = self._new_length(steps.entries, frames * width, limit_bytes, 1)
            steps.entries.resize(length, refcheck=False)
        if frames > BLOCK * steps.kept.shape[0]:
            length = steps.kept.shape[0] + 1
            length = self._new_length(steps.kept, length, limit_bytes, 8 * n_words)
            steps.kept.resize((length, n_words), refcheck=False)
        if frames > MAX_LOAD * slots.shape[0]:
            minimum = int(frames / MAX_LOAD) + 1
            n_slots = self._new_length(slots, minimum, limit_bytes, 4)
            yield from self._new_slots(n_slots)
        halve(self.arrays.sample, registers)

    def _new_slots(self, n_slots: int) -> Iterator[None]:
        """Make the table of the path anew, with pauses."""
        slots = self.arrays.slots
        slots.resize(0, refcheck=False)
        slots.resize(n_slots, refcheck=False)
        self.registers[Reg.ID_BITS] = block_bits(n_slots)
        problem, n_frames = self.problem, self.n_entered_frames
        for first in range(0, n_frames, BLOCK * _BLOCKS_PER_CALL):
            fill_path(
                problem.expand,
                problem.product,
                self.registers,
                self.arrays.steps,
                slots,
                first,
                min(first + BLOCK * _BLOCKS_PER_CALL, n_frames),
            )
            yield

    @property
    def n_entered_frames(self) -> int:
        """Blue frames in the table of the path: all but a new one on top."""
        base = int(self.registers[Reg.RED_BASE])
        if base > 0:
            return base
        depth = int(self.registers[Reg.DEPTH])
        if depth == 0:
            return 0
        width = int(self.arrays.steps.width[0])
        entry = self.arrays.steps.entries[(depth - 1) * width : depth * width]
        unentered = unlooked_entry(width)
        new = int.from_bytes(entry.tobytes(), "little") & unentered == unentered
        return depth - new

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states of the path, once there is a lasso."""
        return np.ones(self.n_stored, dtype=np.bool_)

    def flagged(self, flag: Flag) -> np.ndarray:
        """Return bool[depth], the frames that have a flag."""
        width = int(self.arrays.steps.width[0])
        n = int(self.registers[Reg.DEPTH])
        return np.asarray(self.arrays.steps.entries[: n * width : width] & flag != 0)

    def lasso(self) -> Job[ProductLasso]:
        """Return a run through states of the path; the search has answered FOUND.

        It is as short as these allow: a shortest cycle through an accepting state of
        the cycle on the stack, and a shortest way to it.
        """
        yield from self._store_path()
        closing = int(self.registers[Reg.CLOSING])
        accepting = np.flatnonzero(self.flagged(Flag.ACCEPTING)[closing:])
        return (yield from PathFinder(self).lasso_through(closing + int(accepting[0])))

    def _store_path(self) -> Job[None]:
        """Store the rows of the path, whose ids are their places there."""
        depth = int(self.registers[Reg.DEPTH])
        n_slots = int(depth / MAX_LOAD) + 2
        n_words = self.store.rows.shape[1]
        needed = depth * 8 * n_words + 4 * n_slots
        yield Progress(EXTRACTING, memory_bytes=self.memory_bytes + needed)
        self.store.rows.resize((depth, n_words), refcheck=False)
        problem, size = self.problem, BLOCK * _BLOCKS_PER_CALL
        for first in range(0, depth, size):
            yield from called(
                write_path,
                problem.expand,
                problem.product,
                self.arrays.steps,
                self.store.rows,
                first,
                min(first + size, depth),
            )
            yield Progress(
                EXTRACTING, work=size * self.unit_work, memory_bytes=self.memory_bytes
            )
        self.registers[Reg.STORED] = depth
        for _ in resize_slots(self.store, self.registers, n_slots):
            yield Progress(EXTRACTING, memory_bytes=self.memory_bytes)

    @property
    def n_visited(self) -> int:
        """States visited."""
        return int(self.registers[Reg.VISITED])

    @property
    def n_transitions(self) -> int:
        """Transitions generated, those generated again for the stack's sake apart."""
        return int(self.registers[Reg.TRANSITIONS])

    @property
    def sample_bound(self) -> int:
        """The largest hash of states that are in the sample."""
        return int(self.arrays.sample.most[0])

    def sampled_states(self) -> np.ndarray:
        """Return uint64[...], the hashes of the visited states in the sample."""
        return entered_states(self.arrays.sample)

    @property
    def is_complete(self) -> bool:
        """Whether it has come to its end without finding a run."""
        registers = self.registers
        return bool(registers[Reg.DEPTH] == 0 and self.n_visited > 0)

    def expected_omissions(self) -> float:
        """Return how many of the states met were taken for visited, probably.

        When i keys have been noted, each of `HASHES` bits in an array of m, a
        new state is missed with the probability p = (1 - exp(-HASHES i / m)) **
        HASHES, and p / (1 - p) states are missed for one that is not.
        """
        n_states = self.n_visited
        n_keys = n_states + int(self.registers[Reg.RED_VISITS])
        load = np.linspace(0.0, HASHES * n_keys / (64 * self._n_words), 1001)
        missing = (1 - np.exp(-load)) ** HASHES
        return float(n_states * np.mean(missing / (1 - missing)))

    def coverage(self) -> float | None:
        """Estimate which share of the reachable states was visited.

        None if the search has not come to its end, or if that cannot be estimated.
        """
        if not self.is_complete:
            return None
        histogram = times_met(self.arrays.sample)
        return reached_share(self.expected_omissions(), self.n_visited, histogram)

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return super().statistics() | {"omitted": self.expected_omissions()}

    def assert_consistent(self) -> None:
        """Check that the table of the path has the blue frames, and no others."""
        shared = self.flagged(Flag.SHARED)[: self.n_entered_frames]
        slots = self.arrays.slots
        id_mask = (1 << int(self.registers[Reg.ID_BITS])) - 1
        blocks = (slots[slots != 0] & id_mask).astype(np.int64) - 1
        assert sorted(blocks.tolist()) == (np.flatnonzero(~shared) // BLOCK).tolist()
