"""Nested depth-first search that keeps few bits of each state, and may miss some.

The search of `ltlpipe.search.nested.ndfs` in which a visited state is a few bits in an
array (`ltlpipe.search.nested.bitstate`) or a fingerprint in a table
(`ltlpipe.search.nested.compact`) instead of a row in a store.  States that look like
visited ones are taken for visited, so parts of the product can be missed: an answer
"no accepting run" says nothing.  A run that is found is exact: the path is known as
its steps, and a cycle is closed only at a state of it.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 3 and Sec. 5.

Differences from Fig. 3:

- Blue and red visits are kept apart (`ltlpipe.search.nested.visits`).
- Cyan is exact: the rows of the path are found through a hash table of their
  own (`ltlpipe.search.nested.path_table`).
- The stack holds steps, not states (`ltlpipe.search.nested.step_stack`), and none of
  those that wait: where the search comes back to a state with successors that were
  not visited before, it generates all of them again.
- The order of ``post`` is "known states first", as in `ltlpipe.search.nested.ndfs`.
  While the successors of a state wait, no more of them become cyan.

Invariants, asserted by `assert_consistent`: the table of the path leads to exactly the
blue frames.

Cost, beside what is kept of visited states: per state on the path a byte (two, where
states have more than 30 successors) and four bytes per slot with 4 slots for 3 states
or more.  A state is expanded twice more for each of its successors, at most.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import FIRST_ENTRIES, MAX_STATES, OutOfMemoryError
from ltlpipe.search.nested.approximate_steps import Arrays, approximate_step
from ltlpipe.search.nested.coverage import reached_share
from ltlpipe.search.nested.path_table import block_bits, fill_path
from ltlpipe.search.nested.sample import (
    entered_states,
    halve,
    new_sample,
    omitted_of,
    times_met,
)
from ltlpipe.search.nested.step_stack import (
    BLOCK,
    WINDOW,
    Flag,
    Steps,
    unlooked_entry,
    width_for,
    write_path,
)
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import MAX_LOAD, Store, resize_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.nested.prints import Prints
    from ltlpipe.search.problem import Problem

_SOME = 50
"""Omitted states of a sample from which on their number is estimated by them."""

_BLOCKS_PER_CALL = 1 << 8  # of the path, regenerated without a pause: some 20 ms


class ApproximateSE05(Search):
    """The search of Schwoon & Esparza 2005, Fig. 3, over few bits of each state.

    Of `variant` 0 it takes the successors of a state in the order of the system;
    others take them in orders, and have hash functions, of their own.  Nothing is
    stored but, once a lasso has been extracted, the path.
    """

    name = "se05"
    generalised = False
    counts: ClassVar = {"red_visits": Reg.RED_VISITS}
    kernel = staticmethod(approximate_step)

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
        bits, prints = self._new_visits()
        self.arrays = Arrays(
            bits=bits,
            prints=prints,
            salt=np.array([salt], dtype=np.uint64),
            slots=np.zeros(2 * FIRST_ENTRIES, dtype=np.uint32),
            steps=steps,
            sample=new_sample(self._branching),
        )
        self.registers[Reg.ID_BITS] = block_bits(2 * FIRST_ENTRIES)

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
