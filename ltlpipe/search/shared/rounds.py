"""Searches of several workers that go through a product in rounds.

The pairs of a Rabin condition, the passes of `tela` and the SCCs that it takes apart
are searched one after the other, each by all workers as `ltlpipe.search.shared.ufscc`
does it, on the same stored states.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.shared.table import Own
from ltlpipe.search.shared.ufscc import UFSCC

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 18
"""States that are looked at between two rounds without a pause."""

_OF_ONE_ROUND = [
    Own.TOP,
    Own.N_ROOTS,
    Own.DEPTH,
    Own.N_SCCS,
    Own.IS_WAITING,
    Own.TRIES,
    Own.OFFERED,
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
        registers[Reg.N_FSTATES], registers[Reg.IS_LATER] = n, 1
        self.arrays.mail[:] = 0
        for number, own in enumerate(self._owns):
            own[_OF_ONE_ROUND] = 0
            own[Own.CURSOR] = n * number // self.n_workers  # each begins elsewhere
