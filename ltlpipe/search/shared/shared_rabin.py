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

Searches that go through a product in rounds (`Rounds`), each by all workers on the same
stored states, are also those of `ltlpipe.search.shared.shared_tela`.

Cost: as ufscc, and 4 bytes per state.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.search.growth import UINT32
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.rabin import least_seen, pairs_of, rounds_of
from ltlpipe.search.shared.ufscc import UFSCC
from ltlpipe.search.shared_store import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.conditions import Clause
    from ltlpipe.search.growth import Column
    from ltlpipe.search.problem import Problem


BLOCK = 1 << 18
"""States that are looked at between two rounds without a pause."""

_OF_ONE_ROUND = [
    Reg.TOP,
    Reg.N_ROOTS,
    Reg.DEPTH,
    Worker.N_SCCS,
    Worker.IS_WAITING,
    Worker.TRIES,
    Worker.OFFERED,
]


class Rounds(UFSCC):
    """A search in rounds; the columns that it adds to `UFSCC` have `fstates`."""

    _is_over = False  # a round, and what follows is not yet prepared
    _has_ended = False  # all rounds, without a run

    def step(self, budget: int) -> Status:
        """Expand about `budget` states, by all workers together.

        GROW when a round is over, too: the next one is prepared with pauses.
        """
        if self._has_ended:
            return Status.EMPTY
        if self._is_over:
            return Status.GROW
        status = super().step(budget)
        if status != Status.EMPTY:
            return status
        self._is_over = True
        return Status.GROW

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        if not self._is_over:
            yield from super()._grow(limit_bytes)
            return
        yield from self._next_round()
        self._is_over = False

    @abstractmethod
    def _next_round(self) -> Iterator[None]:
        """Begin the next round, with pauses; set `_has_ended` if there is none."""

    def _forget(self) -> Iterator[None]:
        """Begin again with the initial state, knowing nothing of sets of states."""
        arrays = self.arrays
        for begin in range(0, self.n_stored, BLOCK):
            arrays.words[begin : begin + BLOCK] = 0
            arrays.fstates[begin : begin + BLOCK] = 0
            yield
        arrays.fstates[0] = 1
        self._begin_anew(1)

    def _begin_anew(self, n: int) -> None:
        """Search from `n` states that Fstates has."""
        registers = self.registers
        registers[Worker.N_FSTATES], registers[Worker.IS_LATER] = n, 1
        self.arrays.mail[:] = 0
        for number, own in enumerate(self._owns):
            own[_OF_ONE_ROUND] = 0
            own[Worker.CURSOR] = n * number // self.n_workers  # each begins elsewhere


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
        self.registers[Worker.EMPTY_ACCEPTS] = 0 in infs

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
            "reentered": int(self.registers[Worker.REENTERED]),
        }
