"""The pairs of ``rabin`` side by side (``--emptiness rabin-parallel``).

Every Fin set has a search of its own, as in `ltlpipe.search.scc.rabin`.  They take
turns of `TURN` expansions, as many at a time as there are workers, each in a thread of
its own: kernels release the interpreter's lock.  One worker needs no thread.  The first
accepting pair wins, the first one in order if there are several in the same turn; so
neither threads nor budgets decide which one it is.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 3.3.1: all pairs at
once, one worker for each.

Differences from the source: there, P workers may also share a pair, and there is one
for each pair at least.

No two threads write to one array: each search has a store, and buffers for successors,
of its own.  So nothing that one pair has stored helps another, and n pairs need n
times the memory (the source says the same).  The limit on memory holds for all
together, that on states for each.

Cost: as rabin, for each pair.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.search.product import Product
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.rabin import Rabin, by_fin, pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.problem import Problem

_BUFFERS = (
    "system_rows",
    "letters",
    "actions",
    "system_marks",
    "row",
    "rows",
    "marks",
    "row_actions",
    "ids",
    "hashes",
)
_SUMS = (Reg.TRANSITIONS, Reg.EXPANSIONS)

TURN = 1 << 14
"""Expansions of a search before the next one's turn."""


def with_own_buffers(problem: Problem) -> Problem:
    """Return the same problem with buffers that no other search uses."""
    product = problem.product
    copies: dict[int, np.ndarray] = {}  # two names of one buffer stay that
    own = {}
    for name in _BUFFERS:
        buffer = getattr(product, name)
        own[name] = copies.setdefault(id(buffer), buffer.copy())
    return replace(problem, product=Product(**{**product._asdict(), **own}))


class RabinParallel(Rabin):
    """All searches of Bloemen et al. 2019, Algorithm 1, in progress side by side.

    The first one is this object itself; when another one finds a run, this object takes
    over its arrays, as if the search had been its own.  `workers` is the most threads
    at a time.
    """

    name = "rabin-parallel"
    takes_workers = True

    def __init__(
        self, problem: Problem, *, known: Search | None = None, workers: int = 1
    ) -> None:
        first, *others = by_fin(pairs_of(problem)) or [[]]
        self._others: list[Rabin] = []
        self._workers = workers
        super().__init__(problem, known=known, pairs=first)
        self._others = [Rabin(with_own_buffers(problem), pairs=p) for p in others]
        self._waiting: list[Rabin] = [self, *self._others]
        self._left: dict[Rabin, int] = {}  # expansions of the turns that are running
        self._found: list[Rabin] = []
        self._short: list[Rabin] = []
        self._is_summed = False

    @property
    def n_steps(self) -> int:
        """Expansions of all searches so far."""
        if self._is_summed:
            return super().n_steps
        return super().n_steps + sum(other.n_steps for other in self._others)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of all searches, room to grow included."""
        return super().memory_bytes + sum(other.memory_bytes for other in self._others)

    def grow(self, limit_bytes: float) -> Iterator[None]:
        """Make room wherever the next expansion of any search may lack it."""
        for search in self._short:
            if search is self:
                yield from super().grow(limit_bytes)
            else:
                others_bytes = self.memory_bytes - search.memory_bytes
                yield from search.grow(limit_bytes - others_bytes)

    def _advance(self, search: Rabin, budget: int) -> Status:
        if search is self:
            return super().step(budget)
        search.registers[Reg.MAX_STATES] = self.registers[Reg.MAX_STATES]
        return search.step(budget)

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states in every search whose turn it is."""
        while not self._left:
            if self._found:
                self._take_over(min(self._found, key=[self, *self._others].index))
                return Status.FOUND
            if not self._waiting:
                self._sum_up()
                return Status.EMPTY
            self._left = dict.fromkeys(self._waiting[: self._workers], TURN)
            del self._waiting[: self._workers]
        status = self._advance_all(budget)
        self._short = [s for s in status if status[s] == Status.GROW]
        for search, answer in status.items():
            if answer == Status.FOUND:
                self._found.append(search)
            ended = answer in (Status.FOUND, Status.EMPTY)
            if ended or (answer == Status.RUNNING and self._left[search] <= 0):
                del self._left[search]
            if answer == Status.RUNNING and search not in self._left:
                self._waiting.append(search)
        for answer in (Status.GROW, Status.LIMIT):
            if answer in status.values():
                return answer
        return Status.RUNNING

    def _advance_all(self, budget: int) -> dict[Rabin, Status]:
        """Advance the searches whose turn it is; return what they answer."""
        running = list(self._left)

        def advance(search: Rabin) -> Status:
            before = int(search.registers[Reg.EXPANSIONS])
            status = self._advance(search, min(budget, self._left[search]))
            self._left[search] -= int(search.registers[Reg.EXPANSIONS]) - before
            return status

        if len(running) == 1:
            return {running[0]: advance(running[0])}
        with ThreadPoolExecutor(len(running)) as threads:
            return dict(zip(running, threads.map(advance, running), strict=True))

    def _sum_up(self) -> None:
        """Add what the other searches have counted, once."""
        if self._is_summed:
            return
        self._is_summed = True
        for other in self._others:
            for register in _SUMS:
                self.registers[register] += other.registers[register]
        self.n_rounds += sum(other.n_rounds for other in self._others)

    def _take_over(self, winner: Rabin) -> None:
        """Go on as if the search that has found a run had been this one."""
        self._sum_up()
        if winner is self:
            return
        for register in Reg:
            if register not in _SUMS:
                self.registers[register] = winner.registers[register]
        self.problem, self.store = winner.problem, winner.store
        self.arrays = winner.arrays
        self.pairs, self._fin_less = winner.pairs, winner._fin_less
