"""The pairs of ``rabin`` in threads of their own (``--emptiness rabin-parallel``).

Every Fin set has a search of its own, as in `ltlpipe.search.scc.rabin`, and all of
them run at the same time: kernels release the interpreter's lock.  The first
accepting pair wins, the first one in order if there are several in the same step.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 3.3.1: all pairs at
once, one worker for each.

Differences from the source: there, P workers may also share a pair.

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
from ltlpipe.search.scc.rabin import Rabin, pairs_of

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.automata.conditions import Clause
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.problem import Problem

_BUFFERS = (
    "system_rows",
    "letters",
    "actions",
    "system_marks",
    "rows",
    "marks",
    "row_actions",
    "ids",
    "hashes",
)
_SUMS = (Reg.TRANSITIONS, Reg.EXPANSIONS)


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
    """All searches of Bloemen et al. 2019, Algorithm 1, in progress at once.

    The first one is this object itself; when another one finds a run, this object
    takes over its arrays, as if the search had been its own.
    """

    name = "rabin-parallel"

    def __init__(self, problem: Problem, *, known: Search | None = None) -> None:
        groups: dict[int, list[Clause]] = {}
        for pair in pairs_of(problem):
            groups.setdefault(pair.fin, []).append(pair)
        first, *others = groups.values() or [[]]
        self._others: list[Rabin] = []
        super().__init__(problem, known=known, pairs=first)
        self._others = [Rabin(with_own_buffers(problem), pairs=p) for p in others]
        self._ended: set[Rabin] = set()
        self._short: list[Rabin] = []

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of all searches, room to grow included."""
        return super().memory_bytes + sum(other.memory_bytes for other in self._others)

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next expansion of a search may lack it."""
        for search in self._short:
            if search is self:
                super().grow(limit_bytes)
            else:
                others_bytes = self.memory_bytes - search.memory_bytes
                search.grow(limit_bytes - others_bytes)

    def _advance(self, search: Rabin, budget: int) -> Status:
        if search is self:
            return super().step(budget)
        search.registers[Reg.MAX_STATES] = self.registers[Reg.MAX_STATES]
        return search.step(budget)

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states in every search."""
        running = [s for s in (self, *self._others) if s not in self._ended]
        if len(running) == 1:
            answers = [self._advance(running[0], budget)]
        else:
            with ThreadPoolExecutor(len(running)) as threads:
                answers = list(threads.map(lambda s: self._advance(s, budget), running))
        status = dict(zip(running, answers, strict=True))
        self._short = [s for s in running if status[s] == Status.GROW]
        for search in running:
            if status[search] == Status.FOUND:
                self._take_over(search)
                return Status.FOUND
            if status[search] == Status.EMPTY:
                self._ended.add(search)
        left = [answer for answer in answers if answer != Status.EMPTY]
        for answer in (Status.LIMIT, Status.GROW):
            if answer in left:
                return answer
        if left:
            return Status.RUNNING
        self._sum_up()
        return Status.EMPTY

    def _sum_up(self) -> None:
        """Add what the other searches have counted."""
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
