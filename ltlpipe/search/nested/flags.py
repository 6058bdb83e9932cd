"""What the nested searches have in common that keep flags instead of colours."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.search.colours import (
    new_planes,
    plane_rows,
    unpacked_flag,
)
from ltlpipe.search.nested.frames import PathSearch

if TYPE_CHECKING:
    from collections.abc import Iterable


class Flag(IntEnum):
    """The bits of a state."""

    BLUE = 0  # entered by the blue search
    RED = 1  # entered by a red search; black in gmz04
    STACK = 2  # its blue search has not ended


class Arrays(NamedTuple):
    """The arrays of one search: room for n states with f flags, k stack entries."""

    planes: np.ndarray  # uint32[n / 32, f], one bit per state and flag
    stack: np.ndarray  # int32[k]


class FlagSearch(PathSearch):
    """A nested search that keeps the first few bits of `Flag` per state."""

    flags: ClassVar[Iterable[Flag]]

    arrays: Arrays

    def _new_arrays(self, n_states: int) -> Arrays:
        return Arrays(new_planes(n_states, len(list(self.flags))), self._new_stack())

    def _follow(self) -> None:
        planes = self.arrays.planes
        shape = (plane_rows(self.store.rows.shape[0]), planes.shape[1])
        planes.resize(shape, refcheck=False)

    def flagged(self, flag: Flag) -> np.ndarray:
        """Return bool[n_stored], the states that have a flag."""
        return unpacked_flag(self.arrays.planes, flag, self.n_stored)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.flagged(Flag.BLUE) | self.flagged(Flag.RED))

    def _on_blue_stack(self) -> np.ndarray | None:
        return self.flagged(Flag.STACK) if Flag.STACK in self.flags else None
