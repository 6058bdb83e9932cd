"""Emptiness check for generalised Rabin acceptance by several workers.

``--emptiness rabin --workers P``.  The pairs are searched one after the other, each by
all workers: `ltlpipe.search.shared.ufscc` without the pair's Fin transitions, whose
targets are states to begin with later (*Fstates*).

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Algorithm 3 and Sec. 3.3.

Differences from the source: Fstates is an array to which each state is appended once,
by an atomic addition; a worker takes the next entry whose set is not dead, from a place
of its own, and helps those who are at work there.  No entry is removed.  Pairs with the
same Fin marks are searched together.  States are stored once for all pairs.

Why the search is complete when all entries are dead and no new one has come: a state
is appended before the source of the transition can become a tombstone, so before the
set of the source can die.

Cost: as ufscc, and 4 bytes per state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.search.growth import UINT32
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.rabin import least_seen, pairs_of, rounds_of
from ltlpipe.search.shared.rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.conditions import Clause
    from ltlpipe.search.growth import Column
    from ltlpipe.search.problem import Problem


class SharedRabin(Rounds):
    """The searches of Bloemen et al. 2019, Algorithm 1, each by all workers."""

    name = "rabin"
    emerson_lei = True
    _listed: ClassVar[dict[str, Column]] = {"fstates": UINT32}

    def __init__(
        self,
        problem: Problem,
        *,
        workers: int = 1,
        seed: int = 0,
        pairs: list[Clause] | None = None,
    ) -> None:
        self._left = rounds_of(pairs_of(problem) if pairs is None else pairs)
        self.n_rounds = len(self._left)
        self._has_ended = not self._left
        super().__init__(problem, workers=workers, seed=seed)

    def _clauses(self) -> np.ndarray:
        """Return uint32[c], Inf marks of the pairs that are searched."""
        return np.zeros(0, dtype=np.uint32)

    def _begin(self) -> None:
        super()._begin()
        if self._left:
            self._begin_round()

    def _begin_round(self) -> None:
        """Begin the search for the next pairs."""
        fin, infs = self._left.pop(0)
        self.arrays.avoided[0] = fin
        clauses = np.array(infs, dtype=np.uint32)
        self._of_workers = [a._replace(clauses=clauses) for a in self._of_workers]
        self.arrays = self._of_workers[0]
        self.registers[Reg.EMPTY_ACCEPTS] = 0 in infs

    def _next_round(self) -> Iterator[None]:
        if not self._left:
            self._has_ended = True
            return
        yield from self._forget()
        self._begin_round()

    def _seen_clause(self, marks: int) -> Clause:
        fin, infs = int(self.arrays.avoided[0]), self.arrays.clauses.tolist()
        return least_seen(fin, infs, marks)

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return {
            **super().statistics(),
            "searches": self.n_rounds - len(self._left),
            "reentered": int(self.registers[Reg.REENTERED]),
        }
