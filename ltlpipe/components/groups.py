"""Groups of components that have become one, the tree of how, and which to prefer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, prod
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.systems.networks.lts import LTS, Network

GAIN, MOST_GAINING = 1.5, 1_000
"""By how much a hidden label is expected to divide the states, and of how many labels
that is looked at: the number for more is none that a float holds.
"""

MAX_COMPONENT_STATES = 100_000
"""States that an intermediate composition may have, by default."""

_GROUP_BYTES, _TRANSITION_BYTES, _LABEL_BYTES = 1_500, 12, 20


@dataclass(frozen=True, eq=False)
class Group:
    """Some components of a network, as one."""

    lts: LTS  # what takes their place
    members: frozenset[int]  # their numbers in the network
    parts: tuple[Group, ...]  # the two that were composed; empty for one component
    n_states: int  # before the reduction
    n_transitions: int  # likewise
    equivalence: str  # that of the reduction

    @cached_property
    def alphabet(self) -> frozenset[str]:
        """The labels that others see."""
        return frozenset(self.lts.labels) - self.lts.internal

    @cached_property
    def tree_bytes(self) -> int:
        """Bytes of this group and of all that it is made of, roughly."""
        own = _GROUP_BYTES + _TRANSITION_BYTES * self.lts.n_transitions
        own += _LABEL_BYTES * len(self.lts.labels)
        return own + sum(part.tree_bytes for part in self.parts)

    @cached_property
    def largest(self) -> int:
        """States of the largest composition that this group is made of."""
        return max([self.n_states, *(part.largest for part in self.parts)])

    @property
    def counts_silent(self) -> bool:
        """Whether silent steps are steps like others to the equivalence."""
        return self.equivalence in ("strong", "block")


@dataclass(frozen=True)
class Reduced:
    """A network with fewer or smaller components, and where they come from.

    For actions in `visible` the projections of infinite runs are kept, or violations of
    properties that are erasable (equivalence ``block``); None means that every word is,
    with one letter for all actions that are not visible.
    """

    network: Network  # its components are those of `groups`
    groups: tuple[Group, ...]  # in the order of their first members
    largest: int  # states of the largest composition on the way
    cap_states: int = 0  # that a composition could have had; 0: it was not needed
    visible: frozenset[str] | None = None


def tree(group: Group, depth: int = 0) -> Iterator[str]:
    """Yield a line for a group and for those that it is made of, indented.

    Each says the sizes before and after the reduction.
    """
    numbers = sorted(group.members)
    name = f"component {numbers[0] + 1}"
    if len(numbers) > 1:
        name = f"{len(numbers)} components"
    yield (
        f"{'  ' * depth}{name}: {group.n_states:,} states, {group.n_transitions:,} "
        f"transitions -> {group.lts.n_states:,}, {group.lts.n_transitions:,} "
        f"({group.equivalence})"
    )
    for part in group.parts:
        yield from tree(part, depth + 1)


def gain(n_labels: int) -> float:
    """Return by how much labels are expected to divide the states."""
    return float(GAIN ** min(n_labels, MOST_GAINING))


def _fewest(group: Group) -> float:
    return group.lts.n_states


def _relative(combined: Callable[[Iterator[int]], int]) -> Callable[[Group], float]:
    """Return the states of a group divided by what its parts' states make together."""
    return lambda group: (
        group.lts.n_states / combined(part.lts.n_states for part in group.parts)
    )


HEURISTICS: tuple[Callable[[Group], float], ...] = (
    lambda group: group.lts.n_states - sum(part.lts.n_states for part in group.parts),
    _fewest,
    _relative(prod),
    lambda group: group.lts.n_states * gain(len(group.alphabet)),
    _relative(max),
)
"""What attempts minimise when they choose the next composition."""


def _perturbed(attempt: int) -> Callable[[Group], float]:
    """Return a randomly perturbed heuristic, the same one in every run."""
    base = (_fewest, _relative(prod), _relative(max))[attempt % 3]
    strength = (0.5, 1.0, 2.0)[attempt // 3 % 3]

    def heuristic(group: Group) -> float:
        drawn = crc32(repr((attempt, sorted(group.members))).encode()) / 2**32
        return base(group) * exp(strength * (drawn - 0.5))

    return heuristic


PERTURBED = tuple(_perturbed(attempt) for attempt in range(9))
"""More heuristics, for limits up to `PERTURBED_CAP`, where an attempt costs little."""
