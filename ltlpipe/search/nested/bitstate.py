"""Nested depth-first search that keeps few bits of each state, and may miss some.

The search ``se05`` (`ltlpipe.search.nested.ndfs`) in which a visited state is three
bits in an array (``--bitstate MIB``) or a fingerprint in a table (``--compact
32|40|64``) instead of a row in a store (`ltlpipe.search.nested.bits`).  States that
look like visited ones are taken for visited, so parts of the product can be missed: an
answer "no accepting run" says nothing.  A run that is found is exact: the path is known
as its steps, and a cycle is closed only at a state of it.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3 and Sec. 5.

Differences from Fig. 3:

- Blue and red visits are kept apart.
- Cyan is exact: the rows of the path are found through a hash table of their
  own (`ltlpipe.search.nested.bits`).
- The stack holds steps, not states, and none of those that wait: where the search comes
  back to a state with successors that were not visited before, it generates all of them
  again.
- The order of ``post`` is "known states first", as in se05.  While the successors of a
  state wait, no more of them become cyan.

Invariants, asserted by `tests.invariants`: the table of the path leads to exactly the
blue frames.

Cost: what is kept of visited states: three bits of an array for each, as many again if
a red search comes by, or a slot for a fingerprint; and the path.  A state is expanded
twice more for each of its successors, at most.

The steps of a nested depth-first search that keeps few bits of a state.

See `ltlpipe.search.nested.bitstate`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.runtime.kernels.rows import hash_row
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    MAX_STATES,
    ROUNDING,
    Column,
    OutOfMemoryError,
    affordable_length,
)
from ltlpipe.search.nested.bits import (
    BLOCK,
    FLAG_BITS,
    HASHES,
    LOAD,
    WINDOW,
    BitstateReg,
    Flag,
    Prints,
    Sample,
    Steps,
    ask_for,
    bit_omissions,
    block_bits,
    enter_path,
    entered_states,
    fill_path,
    first_taken,
    frame_of,
    halve,
    has_visited,
    is_crowded,
    is_full,
    leave_path,
    move_prints,
    new_prints,
    new_sample,
    omitted_of,
    print_omissions,
    read_entry,
    regenerate,
    sample_entered,
    sample_met,
    slot_of,
    taken,
    times_met,
    unlooked,
    visit,
    width_for,
    write_entry,
    write_path,
)
from ltlpipe.search.nested.coverage import Member, reached_share
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, leaves_accepting, successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import MAX_LOAD, Store, copy_row, resize_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_KEPT_FLAGS = Flag.ACCEPTING | Flag.SHARED


class Arrays(NamedTuple):
    """The arrays of one search."""

    bits: np.ndarray | None  # uint64[...]; see `visits`
    prints: Prints | None  # in their place
    salt: np.ndarray  # uint64[1], which hash function
    slots: np.ndarray  # uint32[...], the table of the path
    steps: Steps
    sample: Sample


@inlined
def generate(expand, product, arrays, frame):
    """Generate the successors of a frame's state; ask for what is kept of them.

    Returns how many they are, and the hash of the state.
    """
    window = arrays.steps.window
    n = successors(expand, product, window[frame % WINDOW])
    rows, hashes = product.rows, product.hashes
    for i in range(n):
        hashes[i] = hash_row(rows, i)
        ask_for(arrays.bits, arrays.prints, arrays.salt[0], hashes[i])
    return n, hash_row(window, frame % WINDOW)


@inlined
def arrive_blue(product, registers, arrays, frame, n, mixed):
    """Tell what a blue frame's successors say of it (Fig. 3, line 5); return flags."""
    accepting = leaves_accepting(product, n)
    registers[BitstateReg.ACCEPTING] += accepting
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
    bits, prints, salt = arrays.bits, arrays.prints, arrays.salt[0]
    base = registers[Reg.RED_BASE]
    n_frames = base if base > 0 else registers[Reg.DEPTH]
    accepting = base == 0 and flags & Flag.ACCEPTING == 0
    for i in range(n - 1, -1, -1):
        if has_visited(bits, prints, salt, product.hashes[i], False):
            place = frame_of(expand, product, registers, arrays, i, n_frames, accepting)
            if place >= 0:
                return place
    return np.int64(-1)


@inlined
def next_unvisited(product, arrays, first, count, n, red):
    """Return how many successors are passed over before one to be entered; or n."""
    bits, prints, salt = arrays.bits, arrays.prints, arrays.salt[0]
    while count < n:
        mixed = product.hashes[taken(first, count, n)]
        noted = has_visited(bits, prints, salt, mixed, False)
        if red:  # lines 20-22: what blue has not seen, it will
            if noted and not has_visited(bits, prints, salt, mixed, True):
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
        if frame - registers[BitstateReg.WINDOW_LOW] >= WINDOW:
            registers[BitstateReg.WINDOW_LOW] += BLOCK
    copy_row(product.rows, i, steps.window, frame % WINDOW)
    write_entry(steps, frame, unlooked(steps) << FLAG_BITS | Flag.MORE)
    registers[Reg.DEPTH] = frame + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], frame + 1)
    registers[BitstateReg.FRESH] = 0
    mixed = product.hashes[i]
    visit(arrays.bits, arrays.prints, arrays.salt[0], mixed, red)
    if red:
        registers[BitstateReg.RED_VISITS] += 1
    else:
        registers[Reg.VISITED] += 1
        sample_entered(arrays.sample, registers, mixed)


@inlined
def leave_blue(registers, arrays, frame, entry):
    """End a blue frame: its state is cyan no more (lines 13-15)."""
    mixed = hash_row(arrays.steps.window, frame % WINDOW)
    accepting = entry & Flag.ACCEPTING != 0
    registers[Reg.RED_BASE] = 0
    if accepting:
        visit(arrays.bits, arrays.prints, arrays.salt[0], mixed, True)
        registers[BitstateReg.RED_VISITS] += 1
        registers[BitstateReg.ACCEPTING] -= 1
    if entry & Flag.SHARED == 0:
        value = slot_of(mixed, frame, accepting, registers[Reg.ID_BITS])
        leave_path(arrays.slots, value, mixed)


@inlined
def pop(expand, product, registers, arrays):
    """Take the top frame off; return how many states were expanded for that."""
    depth = registers[Reg.DEPTH] - 1
    registers[Reg.DEPTH] = depth
    registers[BitstateReg.FRESH] = 0
    if depth == 0 or depth > registers[BitstateReg.WINDOW_LOW]:
        return 0
    first = registers[BitstateReg.WINDOW_LOW] - BLOCK
    registers[BitstateReg.WINDOW_LOW] = first
    regenerate(expand, product, arrays.steps, first, first % WINDOW, BLOCK)
    registers[Reg.EXPANSIONS] += BLOCK - 1
    return BLOCK - 1


@inlined
def lacks_room(registers, arrays):
    """Whether there is no room for one more frame, or in the sample."""
    frames = registers[Reg.DEPTH] + 1
    return (
        is_full(arrays.prints, registers)
        or frames > arrays.steps.entries.shape[0]
        or 4 * frames > 3 * arrays.slots.shape[0]
        or is_crowded(arrays.sample, registers)
    )


@njit
def bitstate_step(expand, product, _store, registers, arrays, budget):
    """Advance the nested DFS of Schwoon & Esparza 2005, Fig. 3, over bits or prints.

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
        entry = read_entry(steps, max(top, 0))
        flags = entry & _KEPT_FLAGS
        child = np.int64(-1)
        if depth == 0:  # the initial state
            copy_row(steps.kept, 0, product.rows, 0)
            product.hashes[0] = hash_row(product.rows, 0)
            child = np.int64(0)
        elif entry & Flag.MORE:
            if not (at_hand and registers[BitstateReg.FRESH]):
                n, mixed = generate(expand, product, arrays, top)
                first = first_taken(steps, mixed, n)
                # Once more only because a call has ended: not counted.
                registers[Reg.EXPANSIONS] += not registers[BitstateReg.FRESH]
                budget -= 1
                registers[BitstateReg.FRESH] = 1
                at_hand = True
            count = entry >> FLAG_BITS
            if count == unlooked(steps):
                count = np.int64(0)
                registers[Reg.TRANSITIONS] += n
                if not red:
                    flags = arrive_blue(product, registers, arrays, top, n, mixed)
                write_entry(steps, top, flags | Flag.MORE)
                if red or registers[BitstateReg.ACCEPTING] > 0:
                    before = registers[Reg.EXPANSIONS]
                    closing = closing_of(expand, product, registers, arrays, n, flags)
                    if closing >= 0:
                        registers[Reg.CLOSING] = closing
                        return Status.FOUND
                    budget -= registers[Reg.EXPANSIONS] - before
            count = next_unvisited(product, arrays, first, count, n, red)
            if count < n:
                if not red and at_limit(registers):
                    return Status.LIMIT
                child = taken(first, count, n)
                count += 1
                if next_unvisited(product, arrays, first, count, n, red) < n:
                    flags |= np.int64(Flag.MORE)
                flags |= count << FLAG_BITS
            write_entry(steps, top, flags)
        elif not red and entry & Flag.ACCEPTING:  # lines 11-12
            registers[Reg.RED_BASE] = depth
            registers[BitstateReg.FRESH] = 0
            flags |= np.int64(Flag.MORE)
            write_entry(steps, top, (unlooked(steps) << FLAG_BITS) | flags)
        else:
            if depth <= registers[Reg.RED_BASE] or not red:
                leave_blue(registers, arrays, top, entry)
            budget -= pop(expand, product, registers, arrays)
            at_hand = False
        if child >= 0:
            push(product, registers, arrays, child, red)
    return Status.RUNNING


_SOME = 50
"""Omitted states of a sample from which on their number is estimated by them."""

_FRAMES_PER_CALL = BLOCK << 8  # regenerated without a pause: some 20 ms
_SLOTS_PER_CALL = 1 << 18  # whose fingerprints are moved without a pause: some 20 ms
_MIB_WORDS = (1 << 20) // 8


class ApproximateSE05(Search):
    """The search of Schwoon & Esparza 2005, Fig. 3, over few bits of each state.

    Of `variant` 0 it takes the successors of a state in the order of the system;
    others take them in orders, and have hash functions, of their own.  Nothing is
    stored but, once a lasso has been extracted, the path.
    """

    name = "se05"
    generalised = False
    counts: ClassVar = {"red_visits": BitstateReg.RED_VISITS}
    kernel = staticmethod(bitstate_step)

    arrays: Arrays

    def __init__(self, problem: Problem, variant: int = 0) -> None:
        self._variant = variant
        super().__init__(problem)

    @abstractmethod
    def _new_visits(self) -> tuple[np.ndarray | None, Prints | None]:
        """Return the `bits` or the `prints` of `Arrays`, and None."""

    @abstractmethod
    def predicted_omissions(self) -> float:
        """Return how many of the states met are omitted, on average.

        As if each were judged when it is met; many have to wait, and are judged when
        more states have been visited.
        """

    def expected_omissions(self) -> float:
        """Return how many of the states met were taken for visited, probably.

        They are counted in the sample if it has some, else predicted; before the
        end those in the sample may still be entered.
        """
        omitted, entered = omitted_of(self.arrays.sample)
        if omitted < _SOME or not self.is_complete:
            return self.predicted_omissions()
        return omitted / entered * self.n_visited

    def _layout(self) -> Layout:
        n_words = self.problem.initial.shape[0]
        entries = Column(np.uint8, width=width_for(self._branching))
        kept = Column(np.uint64, packed=BLOCK, width=n_words)
        return {Reg.DEPTH: {"steps.entries": entries, "steps.kept": kept}}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        n_words = self.problem.initial.shape[0]
        salt, order = np.random.SeedSequence(self._variant).generate_state(2, np.uint64)
        steps = Steps(
            entries=made["steps.entries"],
            kept=made["steps.kept"],
            window=np.zeros((WINDOW + BLOCK + 1, n_words), dtype=np.uint64),
            order=np.array([order if self._variant else 0], dtype=np.uint64),
        )
        bits, prints = self._new_visits()
        return Arrays(
            bits=bits,
            prints=prints,
            salt=np.array([salt], dtype=np.uint64),
            slots=np.zeros(2 * FIRST_ENTRIES, dtype=np.uint32),
            steps=steps,
            sample=new_sample(self._branching),
        )

    def _new_store(self, initial: np.ndarray) -> None:
        rows = np.zeros((0, initial.shape[1]), dtype=np.uint64)
        self.store = Store(rows, np.zeros(0, dtype=np.uint32))
        self.arrays = self._new_arrays(0)
        self.arrays.steps.kept[0] = initial[0]
        self.registers[Reg.ID_BITS] = block_bits(len(self.arrays.slots))

    def _begin(self) -> None:
        """Leave the initial state where the kernel expects it."""

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from self._grow_arrays(limit_bytes)  # there is nothing to spill

    def _grow_states(self, limit_bytes: float) -> Iterator[None]:
        frames = int(self.registers[Reg.DEPTH]) + 1
        if frames > MAX_STATES:
            raise OutOfMemoryError
        slots = self.arrays.slots
        if frames > MAX_LOAD * slots.shape[0]:
            minimum = int(frames / MAX_LOAD) + 1
            yield from self._new_slots(self._new_length(slots, minimum, limit_bytes, 4))
        halve(self.arrays.sample, self.registers)

    def _new_slots(self, n_slots: int) -> Iterator[None]:
        """Make the table of the path anew, with pauses."""
        slots = self.arrays.slots
        slots.resize(0, refcheck=False)
        slots.resize(n_slots, refcheck=False)
        self.registers[Reg.ID_BITS] = block_bits(n_slots)
        problem, n_frames = self.problem, self.n_entered_frames
        for first in range(0, n_frames, _FRAMES_PER_CALL):
            fill_path(
                problem.expand,
                problem.product,
                self.registers,
                self.arrays.steps,
                slots,
                first,
                min(first + _FRAMES_PER_CALL, n_frames),
            )
            yield

    @property
    def n_entered_frames(self) -> int:
        """Blue frames in the table of the path: all but a new one on top."""
        base, depth = int(self.registers[Reg.RED_BASE]), int(self.registers[Reg.DEPTH])
        if base > 0 or depth == 0:
            return base
        entry = self.arrays.steps.entries[depth - 1]
        looked_at = (int.from_bytes(entry.tobytes(), "little") >> FLAG_BITS) + 1
        return depth - (looked_at.bit_length() > 8 * len(entry) - FLAG_BITS)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states of the path, once there is a lasso."""
        return np.ones(self.n_stored, dtype=np.bool_)

    def flagged(self, flag: Flag) -> np.ndarray:
        """Return bool[depth], the frames that have a flag."""
        entries = self.arrays.steps.entries[: self.registers[Reg.DEPTH]]
        return np.asarray(entries[:, 0] & flag != 0)

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
        problem, size = self.problem, _FRAMES_PER_CALL
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
    def is_complete(self) -> bool:
        """Whether it has come to its end without finding a run."""
        registers = self.registers
        return bool(registers[Reg.DEPTH] == 0 and self.n_visited > 0)

    def coverage(self) -> float | None:
        """Estimate which share of the reachable states was visited.

        None if the search has not come to its end, or if that cannot be estimated.
        """
        if not self.is_complete:
            return None
        histogram = times_met(self.arrays.sample)
        return reached_share(self.expected_omissions(), self.n_visited, histogram)

    def member(self) -> Member:
        """Return what it has seen, for estimates of several searches together."""
        return Member(
            states=self.n_visited,
            transitions=self.n_transitions,
            coverage=self.coverage(),
            omitted=self.expected_omissions(),
            sample=entered_states(self.arrays.sample),
            most=int(self.arrays.sample.most[0]),
        )

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return super().statistics() | {"omitted": self.expected_omissions()}


class BitstateSE05(ApproximateSE05):
    """The search over an array of `bits_mib` MiB of bits."""

    bytes_per_state = HASHES / 8

    def __init__(self, problem: Problem, bits_mib: float, variant: int = 0) -> None:
        self._n_words = max(1, int(bits_mib * _MIB_WORDS))
        super().__init__(problem, variant)

    def _new_visits(self) -> tuple[np.ndarray, None]:
        return np.zeros(self._n_words, dtype=np.uint64), None

    def predicted_omissions(self) -> float:
        """Return how many of the states met are omitted, on average."""
        n_states = self.n_visited
        n_keys = n_states + int(self.registers[BitstateReg.RED_VISITS])
        return bit_omissions(n_states, n_keys, self._n_words)


class CompactSE05(ApproximateSE05):
    """The search over a table of fingerprints of `n_bits` bits."""

    def __init__(self, problem: Problem, n_bits: int, variant: int = 0) -> None:
        self._n_bits = n_bits
        super().__init__(problem, variant)

    def _new_visits(self) -> tuple[None, Prints]:
        return None, new_prints(self._n_bits, 2 * FIRST_ENTRIES)

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each visited state, if all slots are taken."""
        return self._n_bits / 8 + 1 / 8

    def predicted_omissions(self) -> float:
        """Return how many of the states met are omitted, on average."""
        return print_omissions(self.n_visited, self._n_bits)

    def _grow_states(self, limit_bytes: float) -> Iterator[None]:
        yield from super()._grow_states(limit_bytes)
        prints = self.arrays.prints
        assert prints is not None  # `_new_visits` has made them
        n_slots, width = prints.slots.shape
        needed = int((self.n_visited + 1) / LOAD) + 1
        if needed <= n_slots:
            return
        entry_bytes = width + 1 / 8
        # While fingerprints are moved there are two tables.
        free = limit_bytes - self.memory_bytes - n_slots * entry_bytes - ROUNDING
        length = affordable_length(n_slots, needed, entry_bytes, free, rebuilt=True)
        others = new_prints(self._n_bits, length)
        for first in range(0, n_slots, _SLOTS_PER_CALL):
            move_prints(prints, others, first, min(first + _SLOTS_PER_CALL, n_slots))
            yield
        self.arrays = self.arrays._replace(prints=others)
