"""One class: its members, and how all of their swaps act, from a few automorphisms.

In come automorphisms that exchange the first component of a class with each of the
others.  The swaps of neighbours follow from them by conjugation; if those satisfy the
relations below, they span an action of the full symmetric group, and all other
swaps follow.

Source: H. S. M. Coxeter and W. O. J. Moser, "Generators and Relations for Discrete
Groups", 4th ed., Springer 1980, Sec. 6.2: swaps of neighbours s_1, s_2, ... generate
the symmetric group with the relations s_t^2 = 1, s_t s_{t+1} s_t = s_{t+1} s_t s_{t+1},
and s_t s_u = s_u s_t for |t - u| > 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import comparing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.structure import Parts, Structure

MOST_ENTRIES = 50_000_000
"""Of all tables of all swaps of one class."""


class RefusedError(Exception):
    """Components are no class of a symmetry; says why."""


@dataclass(frozen=True, eq=False)
class ClassAction:
    """Members of one class and the swaps of neighbours."""

    members: tuple[tuple[int, ...], ...]  # components of each, column by column
    # int64[n] each: where the swap of a member with the next one takes nodes.
    neighbours: list[np.ndarray]

    @property
    def columns(self) -> list[int]:
        """The components of all members."""
        return [c for member in self.members for c in member]

    def shorter(self) -> ClassAction:
        """Return the class without its last member, which stays where it is."""
        return ClassAction(self.members[:-1], self.neighbours[:-1])

    def swaps(self) -> dict[tuple[int, int], np.ndarray]:
        """Return the swap of each two members i < j: where it takes nodes."""
        swaps = {}
        for i in range(len(self.members) - 1):
            swap = self.neighbours[i]
            swaps[i, i + 1] = swap
            for j in range(i + 1, len(self.members) - 1):
                step = self.neighbours[j]
                swap = step[swap[step]]
                swaps[i, j + 1] = swap
        return swaps


def class_action(
    structure: Structure,
    parts: Parts,
    firsts: Sequence[int],
    exchanges: Sequence[np.ndarray],
) -> Job[ClassAction]:
    """Make a class of at least two components from automorphisms that exchange them.

    `exchanges` has, for each but the first, an automorphism (int64[n]) that exchanges
    it with the first.  Raises `RefusedError` if they do not fit together.
    """
    names = _Names(parts, firsts)
    n_swaps = len(firsts) * (len(firsts) - 1) // 2
    if n_swaps * structure.n_nodes > MOST_ENTRIES:
        raise RefusedError(f"tables for {n_swaps} swaps would be too large")
    neighbours = [exchanges[0]]
    for s, t in pairwise(exchanges):
        neighbours.append(s[t[s]])
    yield from _check_relations(neighbours, names)
    members = _members(structure, parts, firsts, neighbours, names)
    action = ClassAction(members, neighbours)
    yield from _check_states(structure, parts, action, names)
    return action


class _Names:
    """Names of the members of a class, for messages."""

    def __init__(self, parts: Parts, firsts: Sequence[int]) -> None:
        self._components = parts.network.components
        self._firsts = firsts

    def __getitem__(self, member: int) -> str:
        return self.component(self._firsts[member])

    def component(self, component: int) -> str:
        name = self._components[component].name
        return repr(name) if name else f"component {component}"


def _check_relations(neighbours: list[np.ndarray], names: _Names) -> Job[None]:
    nodes = np.arange(len(neighbours[0]))
    for t, swap in enumerate(neighbours):
        if not np.array_equal(swap[swap], nodes):
            raise RefusedError(
                f"exchanging {names[t]} and {names[t + 1]} twice does not take "
                "everything back to its place"
            )
    for t, u in combinations(range(len(neighbours)), 2):
        yield comparing(2 * len(nodes))
        s, r = neighbours[t], neighbours[u]
        left, right = (s[r[s]], r[s[r]]) if u == t + 1 else (s[r], r[s])
        if not np.array_equal(left, right):
            raise RefusedError(
                f"the exchanges of {names[t]} and {names[t + 1]} and of "
                f"{names[u]} and {names[u + 1]} do not fit together"
            )


def _members(
    structure: Structure,
    parts: Parts,
    firsts: Sequence[int],
    neighbours: list[np.ndarray],
    names: _Names,
) -> tuple[tuple[int, ...], ...]:
    """Return the components that belong to each member, column by column."""
    components = np.arange(structure.n_components)
    moved = [
        set(np.flatnonzero(s[components] != components).tolist()) for s in neighbours
    ]
    if len(firsts) > 2:
        own = moved[0] - moved[1]
    else:
        own = _nearer(parts, firsts, moved[0], neighbours[0])
    columns = sorted(int(c) for c in own if c != firsts[0])
    members = [(firsts[0], *columns)]
    for swap in neighbours:
        members.append(tuple(swap[list(members[-1])].tolist()))
    every = [c for member in members for c in member]
    if len(set(every)) != len(every):
        raise RefusedError("a component would move along with two of them")
    for t, both in enumerate(moved):
        if both != {*members[t], *members[t + 1]}:
            raise RefusedError(
                f"exchanging {names[t]} and {names[t + 1]} moves other components "
                "than exchanging others does"
            )
        if members[t][0] != firsts[t]:
            raise RefusedError("the exchanges do not fit together")
    return tuple(members)


def _nearer(
    parts: Parts, firsts: Sequence[int], moved: set[int], swap: np.ndarray
) -> set[int]:
    """Of two members, return the components that go with the first.

    Those that share more actions with it than with the second; where that
    is the same, either choice is right.
    """
    actions = [set(parts.action[parts.owner == c].tolist()) for c in firsts]
    own = {firsts[0]}
    for component in sorted(moved - set(firsts)):
        image = int(swap[component])
        if image < component:
            continue
        mine = set(parts.action[parts.owner == component].tolist())
        closer = len(mine & actions[0]) >= len(mine & actions[1])
        own.add(component if closer else image)
    return own


def _check_states(
    structure: Structure, parts: Parts, action: ClassAction, names: _Names
) -> Job[None]:
    """Check that members' local states say nothing of other members."""
    if len(action.members) < 3:
        return
    ranges = [
        np.concatenate([nodes_of_states(structure, parts, c) for c in member])
        for member in action.members
    ]
    for t, swap in enumerate(action.neighbours):
        yield comparing(sum(map(len, ranges)))
        for k, nodes in enumerate(ranges):
            if k not in (t, t + 1) and not np.array_equal(swap[nodes], nodes):
                raise RefusedError(
                    f"local states of {names[k]} tell {names[t]} and {names[t + 1]} "
                    "apart"
                )


def nodes_of_states(structure: Structure, parts: Parts, component: int) -> np.ndarray:
    """Return the nodes of a component's reached states, in their order: int64[k]."""
    first = structure.n_components + structure.n_actions
    begin, end = parts.first_state[component : component + 2]
    return np.arange(first + begin, first + end)
