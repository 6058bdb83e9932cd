"""Groups of components that have become one, and the tree of how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.lts import LTS, Network

CAP_STATES = 100_000
"""States that an intermediate composition may have, by default."""


@dataclass(frozen=True, eq=False)
class Group:
    """Some components of a network, as one.

    Parameters
    ----------
    lts : LTS
        What takes their place.
    members : frozenset of int
        Their numbers in the network.
    parts : tuple of Group
        The two that were composed; empty for a single component.
    n_states, n_transitions : int
        Before the reduction.
    equivalence : str
        That of the reduction; see `ltlpipe.reduction.equivalence`.
    """

    lts: LTS
    members: frozenset[int]
    parts: tuple[Group, ...]
    n_states: int
    n_transitions: int
    equivalence: str

    @cached_property
    def alphabet(self) -> frozenset[str]:
        """The labels that others see."""
        return frozenset(self.lts.labels) - self.lts.internal


@dataclass(frozen=True)
class Reduced:
    """A network with fewer or smaller components, and where they come from.

    Parameters
    ----------
    network : Network
        Its components are those of `groups`.
    groups : tuple of Group
        In the order of their first members.
    largest : int
        States of the largest composition on the way.
    cap_states : int
        States that a composition could have had.
    visible : frozenset of str, optional
        Actions whose projections of infinite runs are kept; None means that every
        word is, with one letter for all actions that are not visible.
    """

    network: Network
    groups: tuple[Group, ...]
    largest: int
    cap_states: int = 0
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
