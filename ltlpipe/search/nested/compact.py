"""Nested depth-first search over fingerprints (``--compact 32|40|64``).

See `ltlpipe.search.nested.approximate`.  A visited state is a fingerprint of so many
bits in a hash table (`ltlpipe.search.nested.prints`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.search.growth import FIRST_ENTRIES, OutOfMemoryError
from ltlpipe.search.nested.approximate import ApproximateSE05
from ltlpipe.search.nested.prints import (
    LOAD,
    Prints,
    move_prints,
    new_prints,
    print_omissions,
    table_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.search.problem import Problem

_GROWTH = 1.5
_LEAST_GROWTH = 1.05
_BLOCK = 1 << 18  # slots whose fingerprints are moved without a pause: some 20 ms


class CompactSE05(ApproximateSE05):
    """The search of Schwoon & Esparza 2005, Fig. 3, over `bits` bits of each state."""

    def __init__(self, problem: Problem, bits: int, variant: int = 0) -> None:
        self._bits = bits
        super().__init__(problem, variant)

    def _new_visits(self) -> tuple[None, Prints]:
        return None, new_prints(self._bits, 2 * FIRST_ENTRIES)

    @property
    def bytes_per_state(self) -> float:
        """Bytes for each visited state, if all slots are taken."""
        return self._bits / 8 + 1 / 8

    def predicted_omissions(self) -> float:
        """Return how many of the states met are omitted, on average."""
        return print_omissions(self.n_visited, self._bits)

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        yield from super()._grow(limit_bytes)
        prints = self.arrays.prints
        assert prints is not None  # `_new_visits` has made them
        n_slots = int(prints.shape[2])
        needed = int((self.n_visited + 1) / LOAD) + 1
        if needed <= n_slots:
            return
        least = max(needed, int(_LEAST_GROWTH * n_slots))
        more = max(least, int(_GROWTH * n_slots))
        while self.memory_bytes + table_bytes(self._bits, more) > limit_bytes:
            if more == least:  # growing by crumbs would take for ever
                raise OutOfMemoryError
            more = max(least, more * 9 // 10)
        others = new_prints(self._bits, more)
        for first in range(0, n_slots, _BLOCK):
            move_prints(prints, others, first, min(first + _BLOCK, n_slots))
            yield
        self.arrays = self.arrays._replace(prints=others)
