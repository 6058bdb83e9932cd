"""How wide the fields of a net's places are.

Invariants tell how many tokens some places can ever hold; such fields are as wide as
that.  The others begin with the bits of the initial marking, and are widened when a
search has met a marking that they cannot hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.nets.structure import Net

MAX_BITS = 63
"""Bits of the widest field: markings are signed numbers of 64 bits."""

_PATIENCE = 3  # restarts before all fields without a bound are widened


@dataclass(frozen=True)
class Widths:
    """How many bits fields have.

    Parameters
    ----------
    bits : tuple of int
        One per place.
    proven : tuple of bool
        Which of them are known to be wide enough.
    restarts : int
        How often fields have been widened.
    """

    bits: tuple[int, ...]
    proven: tuple[bool, ...]
    restarts: int = 0

    def widened(self, places: Sequence[int]) -> Widths | None:
        """Return these with at least those of `places` doubled; None at the end.

        A net with many places that overflow one after the other would be started
        many times, so after a few restarts all that might are widened.
        """
        if any(self.bits[place] == MAX_BITS for place in places):
            return None
        wider = set(places)
        if self.restarts >= _PATIENCE:
            wider.update(p for p, proven in enumerate(self.proven) if not proven)
        bits = [
            min(2 * b, MAX_BITS) if p in wider else b for p, b in enumerate(self.bits)
        ]
        return Widths(tuple(bits), self.proven, self.restarts + 1)


def first_widths(net: Net, ticks: Ticks) -> Job[Widths]:
    """Return how wide fields are at first.

    Whatever a transition adds to an empty place fits.
    """
    added = np.ones(len(net.places), dtype=np.int64)
    for piece in net.pieces():
        _, place, change = net.effects(piece)
        np.maximum.at(added, place, change)
        if ticks.over(len(piece) + len(place)):
            yield ticks.progress
    held = zip(net.initial(), added.tolist(), net.bounds.tokens, strict=True)
    bits, proven = [], []
    for tokens, put, bound in held:
        least = max(tokens, put, bound or 0).bit_length()
        bits.append(min(least, MAX_BITS))
        proven.append(bound is not None and bound.bit_length() <= bits[-1])
        if ticks.over():
            yield ticks.progress
    return Widths(tuple(bits), tuple(proven))
