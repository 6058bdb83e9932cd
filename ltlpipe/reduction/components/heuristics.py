"""Which of several compositions an attempt keeps; see `merger`."""

from __future__ import annotations

from math import exp, prod
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.reduction.components.groups import Group

GAIN = 1.5
"""By how much a hidden label is expected to divide the states."""


def _fewest(group: Group) -> float:
    return group.lts.n_states


def _least_growth(group: Group) -> float:
    return group.lts.n_states - sum(part.lts.n_states for part in group.parts)


def _greatest_gain(group: Group) -> float:
    return group.lts.n_states / prod(part.lts.n_states for part in group.parts)


def _narrow(group: Group) -> float:
    return group.lts.n_states * float(GAIN ** len(group.alphabet))


def _beside_larger(group: Group) -> float:
    return group.lts.n_states / max(part.lts.n_states for part in group.parts)


HEURISTICS: tuple[Callable[[Group], float], ...] = (
    _least_growth,
    _fewest,
    _greatest_gain,
    _narrow,
    _beside_larger,
)
"""What attempts minimise when they choose the next composition."""


def _perturbed(attempt: int) -> Callable[[Group], float]:
    """Return a randomly perturbed heuristic, the same one in every run."""
    base = (_fewest, _greatest_gain, _beside_larger)[attempt % 3]
    strength = (0.5, 1.0, 2.0)[attempt // 3 % 3]

    def heuristic(group: Group) -> float:
        drawn = crc32(repr((attempt, sorted(group.members))).encode()) / 2**32
        return base(group) * exp(strength * (drawn - 0.5))

    return heuristic


PERTURBED = tuple(_perturbed(attempt) for attempt in range(9))
"""More heuristics, for limits up to `PERTURBED_CAP`, where an attempt costs little."""
