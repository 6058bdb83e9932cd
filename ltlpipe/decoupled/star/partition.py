"""Which variables of a model are the centre, and which belong to which leaf.

Variables that no action joins, once those of the centre are left out, belong to
different leaves.  The centre begins with what the property reads.  As long as there are
no two leaves with steps of their own, the unit that most others are joined to goes to
the centre: a shared variable, a server.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, has networks whose components
are given; that the centre is what most interact with is an idea of the star topologies
of D. Gnad and J. Hoffmann, "Star-topology decoupled state space search", Artificial
Intelligence 257, 2018, pp. 24-60.

Differences from the source: it factors planning tasks, by their causal graphs; here
units are moved to the centre one by one, and the first star will do that is not too
large.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from ltlpipe.decoupled.star.effort import Effort
    from ltlpipe.decoupled.star.footprints import Footprints
    from ltlpipe.runtime.jobs import Job

_TOUCHED = 1 / 30
"""Looks at actions that a variable takes which an action touches."""


class Leaf(NamedTuple):
    """A part that interacts with the centre alone."""

    variables: tuple[int, ...]  # ascending
    internal: tuple[int, ...]  # actions that touch nothing else
    crossing: tuple[int, ...]  # actions that touch the centre, too


class Partition(NamedTuple):
    """A star: every action touches one leaf at most."""

    centre: tuple[int, ...]  # variables, ascending
    own: tuple[int, ...]  # actions that touch no leaf
    leaves: tuple[Leaf, ...]

    @property
    def n_moving(self) -> int:
        """Leaves that have steps of their own."""
        return sum(bool(leaf.internal) for leaf in self.leaves)

    @property
    def share(self) -> float:
        """How many of the actions are steps of leaves alone, 0 to 1."""
        internal = sum(len(leaf.internal) for leaf in self.leaves)
        crossing = sum(len(leaf.crossing) for leaf in self.leaves)
        return internal / max(internal + crossing + len(self.own), 1)


def partition(
    footprints: Footprints, centre: Set[int], effort: Effort
) -> Job[Partition]:
    """Return the star with a given centre, whose leaves are as small as can be.

    Raises
    ------
    SpentError
        The effort is spent.
    """
    owner: dict[int, int] = {}

    def root(variable: int) -> int:
        while owner[variable] != variable:
            owner[variable] = owner[owner[variable]]
            variable = owner[variable]
        return variable

    outside = []
    for touched in footprints.touched:
        rest = sorted(touched - centre)
        outside.append(rest)
        for variable in rest:
            owner.setdefault(variable, variable)
            owner[root(variable)] = root(rest[0])
        if effort.over((1 + len(touched)) * _TOUCHED):
            yield effort.ticks.progress
    effort.check()
    members: dict[int, list[int]] = defaultdict(list)
    for variable in sorted(owner):
        members[root(variable)].append(variable)
    internal: dict[int, list[int]] = defaultdict(list)
    crossing: dict[int, list[int]] = defaultdict(list)
    own = []
    for action, rest in enumerate(outside):
        if not rest:
            own.append(action)
        elif footprints.touched[action] & centre:
            crossing[root(rest[0])].append(action)
        else:
            internal[root(rest[0])].append(action)
    leaves = [
        Leaf(tuple(variables), tuple(internal[key]), tuple(crossing[key]))
        for key, variables in members.items()
    ]
    return Partition(tuple(sorted(centre)), tuple(own), tuple(leaves))


def joined_most(footprints: Footprints, leaf: Leaf) -> tuple[int, ...]:
    """Return those of a leaf's variables that are in the unit that most are joined to.

    What its actions touch in the centre does not count.
    """
    chosen = frozenset(leaf.variables)
    joined: dict[int, set[int]] = defaultdict(set)
    for action in (*leaf.internal, *leaf.crossing):
        touched = footprints.touched[action] & chosen
        units = {footprints.unit_of[variable] for variable in touched}
        for unit in units:
            joined[unit] |= units
    best = max(joined, key=lambda unit: (len(joined[unit]), -unit))
    return tuple(v for v in footprints.units[best] if v in chosen)


def largest(leaves: Sequence[Leaf]) -> Leaf:
    """Return the leaf with most variables."""
    return max(leaves, key=lambda leaf: len(leaf.variables))
