"""The pairs of ``rabin`` side by side, several workers for each.

``--emptiness rabin-parallel --workers P``.  The workers are distributed over the Fin
sets: with n of them each has a search of its own by P / n workers (one more or less),
`ltlpipe.search.shared.shared_rabin` for the pairs with this Fin set.  With fewer
workers than searches these take turns, P at a time.  The first accepting pair that is
found ends all.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 3.3.1.

No two searches share anything, so n of them need n times the memory (the source says
the same).  The limit on memory holds for all together, that on states for each.

Cost: as ``rabin --workers``, for each Fin set.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.rabin import by_fin, pairs_of, with_own_buffers
from ltlpipe.search.shared.shared_rabin import SharedRabin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.problem import Problem

_SUMS = (Reg.TRANSITIONS, Reg.EXPANSIONS, Reg.REENTERED)


class DistributedRabin(SharedRabin):
    """All searches of Bloemen et al. 2019, Algorithm 1, each by some of the workers.

    The first one is this object itself; what another one has found is taken over.
    """

    name = "rabin-parallel"

    def __init__(self, problem: Problem, *, workers: int = 1, seed: int = 0) -> None:
        first, *others = by_fin(pairs_of(problem)) or [[]]
        n = 1 + len(others)
        shares = [max(workers // n + (k < workers % n), 1) for k in range(n)]
        self._at_once = min(workers, n)
        self._others: list[SharedRabin] = []
        super().__init__(problem, workers=shares[0], seed=seed, pairs=first)
        self._others = [
            SharedRabin(
                with_own_buffers(problem), workers=share, seed=seed + k, pairs=pairs
            )
            for k, (share, pairs) in enumerate(zip(shares[1:], others, strict=True), 1)
        ]
        self._winner: SharedRabin = self
        self._waiting: list[SharedRabin] = [self, *self._others]
        self._short: list[SharedRabin] = []

    @property
    def n_steps(self) -> int:
        """Expansions of all searches so far."""
        return super().n_steps + sum(other.n_steps for other in self._others)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of all searches, room to grow included."""
        return super().memory_bytes + sum(other.memory_bytes for other in self._others)

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        for search in self._short:
            free = limit_bytes - self.memory_bytes
            if search is self:
                yield from super()._grow(super().memory_bytes + free)
            else:
                yield from search.grow(search.memory_bytes + free)

    def step(self, budget: int) -> Status:
        """Expand about `budget` states, in all searches that are at work together."""
        running = self._waiting[: self._at_once]
        each = max(budget // len(running), 1) if running else budget

        def advance(search: SharedRabin) -> Status:
            if search is self:
                return super(DistributedRabin, self).step(each)
            search.registers[Reg.MAX_STATES] = self.registers[Reg.MAX_STATES]
            return search.step(each)

        with ThreadPoolExecutor(max(len(running), 1)) as threads:
            answers = dict(zip(running, threads.map(advance, running), strict=True))
        del self._waiting[: len(running)]
        self._waiting += [s for s, a in answers.items() if a != Status.EMPTY]
        found = [s for s, answer in answers.items() if answer == Status.FOUND]
        if found:
            self._winner = found[0]
            return self._ended(Status.FOUND)
        self._short = [s for s, answer in answers.items() if answer == Status.GROW]
        for answer in (Status.GROW, Status.LIMIT):
            if answer in answers.values():
                return answer
        return Status.RUNNING if self._waiting else self._ended(Status.EMPTY)

    def _ended(self, status: Status) -> Status:
        """Add up what all searches have counted."""
        for other in self._others:
            for register in _SUMS:
                self.registers[register] += other.registers[register]
        return status

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; a search must have answered FOUND."""
        winner = self._winner
        if winner is self:
            return (yield from super().lasso())
        self.problem, self.store = winner.problem, winner.store
        return (yield from winner.lasso())

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        searches = [super().statistics(), *(s.statistics() for s in self._others)]
        own, *others = searches
        for one in others:
            for name, count in one.items():
                own[name] = own[name] + count  # numbers, or one for each worker
        return own
