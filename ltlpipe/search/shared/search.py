"""Common parts of searches by several workers: arrays, threads, growth, limits.

The arrays with an entry per state are shared; stacks and registers each worker has for
itself, and buffers for successors, too.  A call of `step` has all workers advance, each
in a thread, and returns when all have.  Between two calls none is at work, and no set
or list is locked: so arrays can grow, limits can be looked at and the search can be
left, as with one worker.  Growth is a barrier.

With one worker nothing depends on chance: it takes successors in the product's order.
So it is with several until `SharedSearch.alone` states are stored: waking the others
would take longer than the search of a small product.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load, store
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import (
    FIRST_ENTRIES,
    Column,
    total_bytes,
    zeros,
)
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.store import (
    CHUNK,
    MAX_LOAD,
    Store,
    Worker,
    begin_resizing,
    fill_slots,
    holes,
    new_owns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from enum import IntEnum

    from ltlpipe.search.problem import Problem
    from ltlpipe.search.product import Product

MAX_WORKERS = 31
"""Bits of a set that tell which workers are inside."""

_ORDERED = (Status.FOUND, Status.EMPTY, Status.GROW, Status.LIMIT)
"""What workers answer, the first of which counts."""

_SUMS = [
    Reg.VISITED,
    Reg.EXPANSIONS,
    Reg.TRANSITIONS,
    Reg.REDUCED,
    Reg.EXAMINED,
    Worker.REENTERED,
    Worker.N_SCCS,
]

_OF_WORKERS = {
    "states_of_workers": Reg.VISITED,
    "expansions_of_workers": Reg.EXPANSIONS,
    "collisions_of_workers": Worker.LOST,
    "told_to_workers": Worker.TOLD,
}

_NOTHING = np.zeros(0, dtype=np.uint32)

_SHARE = 128
_MOST_PERMITS = 1 << 12

_SEED = 0x2545F4914F6CDD1D


@inlined
def stopped(registers, status):
    """Have all workers return; return `status`."""
    store(registers, Worker.STOP, 1)
    return status


@inlined
def is_at_limit(registers, own):
    """Whether the worker may enter no more states.

    It takes as many permits as it can without leaving the others too few, so that
    workers seldom count in the same place.  Those that are left when a call ends are
    given back (`SharedSearch.step`).
    """
    if registers[Worker.IS_LATER] != 0:
        return False
    while own[Worker.PERMITS] == 0:
        left = load(registers, Worker.PERMITS)
        if left <= 0:
            return True
        taken = min(left // _SHARE + 1, _MOST_PERMITS)
        if compare_and_swap(registers, Worker.PERMITS, left, left - taken):
            own[Worker.PERMITS] = taken
    return False


@inlined
def count_entry(registers, own):
    """Count a state that no worker had entered."""
    if registers[Worker.IS_LATER] != 0:
        own[Worker.REENTERED] += 1
    else:
        own[Reg.VISITED] += 1
        own[Worker.PERMITS] -= 1


@inlined
def shuffle(own, product, n):
    """Put the successors of a state into an order of the worker's own."""
    bits = np.uint64(own[Worker.SHUFFLE])
    for i in range(n - 1, 0, -1):
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        j = np.int64((bits >> np.uint64(33)) % np.uint64(i + 1))
        product.ids[i], product.ids[j] = product.ids[j], product.ids[i]
        product.marks[i], product.marks[j] = product.marks[j], product.marks[i]
    own[Worker.SHUFFLE] = np.int64(bits)


class SharedSearch(Search):
    """An emptiness check by several workers.

    Parameters
    ----------
    problem : Problem
        The product to search.
    workers : int
        How many there are, from 1 to `MAX_WORKERS`.
    seed : int
        Decides in which order workers but the first take successors.
    """

    takes_workers = True
    alone: ClassVar[int] = 1 << 12  # states up to which one worker searches
    _extra: ClassVar[int] = 0  # entries that a step may push beside successors
    max_workers: ClassVar[int] = MAX_WORKERS

    def __init__(self, problem: Problem, *, workers: int = 1, seed: int = 0) -> None:
        if not 1 <= workers <= self.max_workers:
            raise ValueError(f"{workers} workers; 1 to {self.max_workers} are possible")
        self.n_workers = workers
        self._owns = new_owns(workers)
        for number, own in enumerate(self._owns):
            own[Worker.NUMBER] = number
            if number > 0:  # not 0 whatever the seed
                order = _SEED * (2 * (seed + 31 * number) + 1)
                own[Worker.SHUFFLE] = order % (1 << 62)
        self._threads: ThreadPoolExecutor | None = None
        super().__init__(problem)
        others = [problem.with_own_buffers().product for _ in range(workers - 1)]
        self._products: list[Product] = [problem.product, *others]

    def _own_states(self) -> dict[str, Column]:
        """Declare arrays with an entry per state that each worker has for itself."""
        return {}

    def _constants(self) -> dict[str, np.ndarray]:
        """Return arrays that all workers read and none writes."""
        return {}

    def _new_store(self, initial: np.ndarray) -> None:
        for own in self._owns:
            own[Worker.CHUNK] = self._chunk
        room = (self.n_workers + 1) * self._chunk + FIRST_ENTRIES
        rows = np.zeros((room, initial.shape[1]), dtype=np.uint64)
        rows[: len(initial)] = initial
        slots = np.zeros(int(room / MAX_LOAD) + 1, dtype=np.uint32)
        self.store = Store(rows=rows, slots=slots)
        shared = zeros(self._columns[Reg.STORED], room) | self._constants()
        shared |= self._views(shared)
        self._of_workers = [
            self.array_type(**self._new_own(room) | shared, own=own)
            for own in self._owns
        ]
        self.arrays = self._of_workers[0]
        self.registers[Reg.STORED] = len(initial)
        for _ in self._fill(self.store, self.registers):
            pass

    def _views(self, shared: dict[str, np.ndarray]) -> dict[str, np.ndarray]:  # noqa: ARG002 (some have none)
        """Return views of the shared arrays that kernels take besides."""
        return {}

    def _new_own(self, room: int) -> dict[str, Any]:
        """Return what a worker may have for itself, with room for so many states."""
        return self._new_columns(room) | zeros(self._own_states(), room)

    def _shared_store(self) -> Store:
        """Return the store as workers take it."""
        return self.store._replace(shared=_NOTHING)

    def _fill(self, store: Store, registers: np.ndarray) -> Iterator[None]:
        """Enter all rows into empty slots, all workers together, with pauses."""
        ranges = begin_resizing(store, registers, self._owns)
        for k in range(0, len(ranges), self.n_workers):
            fill = partial(fill_slots, store._replace(shared=_NOTHING), registers)
            some = ranges[k : k + self.n_workers]
            self._together([partial(fill, *rows) for rows in some])
            yield

    @property
    def _chunk(self) -> int:
        """Ids that a worker takes at a time."""
        return max(CHUNK, self._branching)

    @property
    def n_steps(self) -> int:
        """Expansions of all workers so far."""
        return sum(int(own[Reg.EXPANSIONS]) for own in self._owns)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of all workers, room to grow included."""
        return total_bytes((self.store, self._of_workers, self._products))

    def step(self, budget: int) -> Status:
        """Expand about `budget` states, by the workers together."""
        registers = self.registers
        registers[Worker.STOP] = 0
        registers[Worker.PERMITS] = registers[Reg.MAX_STATES] - registers[Reg.VISITED]
        n_active = 1 if self.n_stored < self.alone else self.n_workers
        each = max(budget // n_active, 1)
        calls = [partial(self._advance, k, each) for k in range(n_active)]
        status = self._answer(self._together(calls))
        self._sum_up()
        if (
            status == Status.LIMIT
            and registers[Reg.VISITED] < registers[Reg.MAX_STATES]
        ):
            return Status.RUNNING  # another worker had permits left
        return status

    def _answer(self, answers: list[Status]) -> Status:
        """Return what the answers of all workers come to."""
        for status in _ORDERED:
            if status in answers:
                return status
        return Status.RUNNING

    def _together(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """Make the calls, at most one for each worker, in threads; return the results.

        Raises what one of them raises, when none is at work any more.
        """
        if self._threads is None and len(calls) > 1:
            self._threads = ThreadPoolExecutor(self.n_workers - 1, "ltlpipe-worker")
        others = [self._threads.submit(call) for call in calls[1:] if self._threads]
        try:
            first = calls[0]()
        finally:
            for other in others:
                other.exception()
        return [first, *(other.result() for other in others)]

    def _advance(self, number: int, budget: int) -> Status:
        kernel, arguments = self.kernel_call(budget, number)
        try:
            return Status(kernel(*arguments))
        except BaseException:
            self.registers[Worker.STOP] = 1  # the others need not go on
            raise

    def kernel_call(self, budget: int, number: int = 0) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and the arguments with which a worker calls it."""
        return self.kernel, (
            self.problem.expand,
            self._products[number],
            self._shared_store(),
            self.registers,
            self._of_workers[number],
            budget,
        )

    def _sum_up(self) -> None:
        """Tell the registers what the workers have counted, and take permits back."""
        owns, registers = self._owns, self.registers
        for own in owns:
            own[Worker.PERMITS] = 0
        registers[Worker.PERMITS] = 0
        registers[_SUMS] = np.sum([own[_SUMS] for own in owns], axis=0)
        registers[Reg.DEPTH] = max(int(own[Reg.DEPTH]) for own in owns)
        registers[Reg.MAX_DEPTH] = max(int(own[Reg.MAX_DEPTH]) for own in owns)

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        for arrays, own in zip(self._of_workers, self._owns, strict=True):
            yield from self._grow_stacks(arrays, own, limit_bytes)
        self._follow()  # memory may have been refused half-way
        yield from self._grow_states(limit_bytes)

    def _needed(self, register: IntEnum, registers: np.ndarray) -> int:
        return int(registers[register]) + self._branching + 1 + self._extra

    @property
    def _more_states(self) -> int:
        return self.n_workers * self._chunk

    @property
    def _state_bytes(self) -> float:
        own_bytes = sum(c.entry_bytes for c in self._own_states().values())
        return super()._state_bytes + self.n_workers * own_bytes

    def _follow(self) -> None:
        """Make room for as many states as there is room for rows."""
        columns = self._columns[Reg.STORED] | self._own_states()
        length = len(self.store.rows)
        self._update(**dict.fromkeys(self._views(self.arrays._asdict()), _NOTHING))
        try:
            for arrays in self._of_workers:
                for name, column in columns.items():
                    getattr(arrays, name).resize(column.shape(length), refcheck=False)
        finally:
            self._update(**self._views(self.arrays._asdict()))

    def _update(self, **changed: Any) -> None:
        """Have all workers take other arrays."""
        self._of_workers = [a._replace(**changed) for a in self._of_workers]
        self.arrays = self._of_workers[0]

    def statistics(self) -> dict[str, Any]:
        """Return what only searches by several workers count.

        Of each worker: states that it was the first to enter, expansions, rows that
        another one has stored in the same moment, and states that others named to it.
        """
        of_workers = {
            name: [int(own[place]) for own in self._owns]
            for name, place in _OF_WORKERS.items()
        }
        return {"workers": self.n_workers, "expansions": self.n_steps} | of_workers

    def _is_stored(self) -> np.ndarray:
        """Return bool[n_stored], the ids that have a row."""
        is_stored = np.ones(self.n_stored, dtype=np.bool_)
        for first, last in holes(self._owns):
            is_stored[first:last] = False
        return is_stored
