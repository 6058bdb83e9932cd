"""Nested depth-first search over a bit array (``--bitstate MIB``).

See `ltlpipe.search.nested.approximate`.  A visited state is three bits somewhere in an
array (`ltlpipe.search.nested.bit_keys`).

Cost: three bits per visited state to be set, as many again if a red search comes by;
the array is as large as it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.search.nested.approximate import ApproximateSE05
from ltlpipe.search.nested.bit_keys import HASHES, bit_omissions
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.search.problem import Problem

_MIB_WORDS = (1 << 20) // 8


class BitstateSE05(ApproximateSE05):
    """The search of Schwoon & Esparza 2005, Fig. 3, over `bits_mib` MiB of bits."""

    def __init__(self, problem: Problem, bits_mib: float, variant: int = 0) -> None:
        self._n_words = max(1, int(bits_mib * _MIB_WORDS))
        super().__init__(problem, variant)

    def _new_visits(self) -> tuple[np.ndarray, None]:
        return np.zeros(self._n_words, dtype=np.uint64), None

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each visited state."""
        return HASHES / 8

    def predicted_omissions(self) -> float:
        """Return how many of the states met are omitted, on average."""
        n_states = self.n_visited
        n_keys = n_states + int(self.registers[Reg.RED_VISITS])
        return bit_omissions(n_states, n_keys, self._n_words)
