"""Classes put together: a `Symmetry` with all of its tables.

A class is added if its swaps commute with those of all others, leave the members of
other classes alone, and if all local states that swaps move are known by roles.

A server that serves client 2 knows it by its local state; a permutation of the clients
takes that state to another one.  Members that the state does not tell apart have the
same role in it.  Roles say everything about a state iff all permutations that leave it
as it is only permute members of equal roles; a state that means "1 and 2, or 3 and 4"
also stays when both pairs are exchanged, and is refused.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import SYMMETRY, comparing
from ltlpipe.runtime.jobs import Progress
from ltlpipe.symmetry.classes.class_action import (
    ClassAction,
    RefusedError,
    nodes_of_states,
)
from ltlpipe.symmetry.classes.group import NO_SWAP, UNREACHABLE, Symmetry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.structure import Parts, Structure


_IMAGES_AT_ONCE = 100  # of a state, until the next progress


class Assembly:
    """Classes of a network that go together so far."""

    def __init__(self, structure: Structure, parts: Parts) -> None:
        self._structure = structure
        self._parts = parts
        self.classes: list[ClassAction] = []

    def add(self, new: ClassAction) -> Job[None]:
        """Take in a class.

        Raises `RefusedError` if it does not go with those that are there; nothing has
        changed.
        """
        for other in self.classes:
            yield from self._check_apart(new, other)
        tables = _Tables(self._structure, self._parts, [*self.classes, new])
        yield comparing(tables.n_entries)
        yield from tables.roles()
        self.classes.append(new)

    def _check_apart(self, new: ClassAction, other: ClassAction) -> Job[None]:
        shared = set(new.columns) & set(other.columns)
        if shared:
            name = self._parts.network.components[min(shared)].name or min(shared)
            raise RefusedError(f"component {name!r} would belong to two classes")
        for one, two in ((new, other), (other, new)):
            nodes = self._nodes_of(one)
            for swap in two.neighbours:
                if not np.array_equal(swap[nodes], nodes):
                    raise RefusedError(
                        "exchanging members of one class changes those of another"
                    )
        for s in new.neighbours:
            for r in other.neighbours:
                yield comparing(2 * len(s))
                if not np.array_equal(s[r], r[s]):
                    raise RefusedError(
                        "members of two classes cannot be exchanged independently"
                    )

    def _nodes_of(self, class_: ClassAction) -> np.ndarray:
        """Return the nodes of a class's components and of their states."""
        states = [
            nodes_of_states(self._structure, self._parts, c) for c in class_.columns
        ]
        return np.concatenate([class_.columns, *states])

    def symmetry(self) -> Job[Symmetry]:
        """Put the classes together; there must be one at least."""
        classes = sorted(self.classes, key=lambda c: min(c.columns))
        tables = _Tables(self._structure, self._parts, classes)
        yield comparing(tables.n_entries)
        return (yield from tables.symmetry())


class _Tables:
    """The tables of a symmetry with these classes, in this order."""

    def __init__(
        self, structure: Structure, parts: Parts, classes: list[ClassAction]
    ) -> None:
        self._structure = structure
        self._parts = parts
        self._classes = classes
        self._members = tuple(m for c in classes for m in c.members)
        sizes = [len(c.members) for c in classes]
        self._class_of = np.repeat(np.arange(len(classes)), sizes).astype(np.int32)
        first = np.cumsum([0, *sizes])
        self._swaps = {
            (int(first[k]) + i, int(first[k]) + j): swap
            for k, class_ in enumerate(classes)
            for (i, j), swap in class_.swaps().items()
        }
        self._moved = self._moved_components()

    @property
    def n_entries(self) -> int:
        """Entries of the tables of all swaps."""
        return len(self._swaps) * self._structure.n_nodes

    def _moved_components(self) -> tuple[int, ...]:
        inside = {c for member in self._members for c in member}
        steps = [s for c in self._classes for s in c.neighbours]
        moved = []
        for component in range(self._structure.n_components):
            nodes = nodes_of_states(self._structure, self._parts, component)
            if component not in inside and any(
                (s[nodes] != nodes).any() for s in steps
            ):
                moved.append(component)
        return tuple(moved)

    def roles(self) -> Job[dict[int, np.ndarray]]:
        """Find the roles in the local states of each component that is moved.

        Raises `RefusedError` if a local state is not known by them.
        """
        tables = {}
        for component in self._moved:
            nodes = nodes_of_states(self._structure, self._parts, component)
            swaps = {pair: swap[nodes] - nodes[0] for pair, swap in self._swaps.items()}
            roles = yield from roles_of(swaps, self._class_of, len(nodes))
            lts = self._parts.network.components[component]
            if roles is None:
                raise RefusedError(
                    f"a local state of component {lts.name or component!r} says more "
                    "about them than which role each plays in it"
                )
            table = np.zeros((lts.n_states, len(self._members)), dtype=np.int32)
            table[self._parts.reached[component]] = roles
            tables[component] = table
        return tables

    def symmetry(self) -> Job[Symmetry]:
        roles = yield from self.roles()
        n_members = len(self._members)
        swap_of = np.full((n_members, n_members), NO_SWAP, dtype=np.int32)
        for number, (i, j) in enumerate(self._swaps):
            swap_of[i, j] = swap_of[j, i] = number
        first, n_actions = self._structure.n_components, self._structure.n_actions
        actions = [s[first : first + n_actions] - first for s in self._swaps.values()]
        return Symmetry(
            network=self._parts.network,
            members=self._members,
            class_of=self._class_of,
            canonical=self._canonical(),
            swap_of=swap_of,
            action_swaps=np.array(actions, dtype=np.int32),
            moved=self._moved,
            state_swaps={c: self._state_swaps(c) for c in self._moved},
            roles=roles,
        )

    def _state_swaps(self, component: int) -> np.ndarray:
        n_states = self._parts.network.components[component].n_states
        reached = self._parts.reached[component]
        nodes = nodes_of_states(self._structure, self._parts, component)
        table = np.tile(np.arange(n_states, dtype=np.int32), (len(self._swaps), 1))
        for row, swap in zip(table, self._swaps.values(), strict=True):
            row[reached] = reached[swap[nodes] - nodes[0]]
        return table

    def _canonical(self) -> dict[int, np.ndarray]:
        components = self._parts.network.components
        canonical = {}
        for class_ in self._classes:
            numbers = {}  # of the columns of the member before
            for c in class_.members[0]:
                numbers[c] = self._parts.reached[c]
            for k, member in enumerate(class_.members):
                if k:
                    numbers = self._taken_along(numbers, class_.neighbours[k - 1])
                for c in member:
                    table = np.full(components[c].n_states, UNREACHABLE, dtype=np.int32)
                    table[self._parts.reached[c]] = numbers[c]
                    canonical[c] = table
        return canonical

    def _taken_along(
        self, numbers: dict[int, np.ndarray], swap: np.ndarray
    ) -> dict[int, np.ndarray]:
        """Return the numbers of the states of the next member's components."""
        images = {}
        for c, table in numbers.items():
            image = int(swap[c])
            first = nodes_of_states(self._structure, self._parts, image)[0]
            taken = np.empty_like(table)
            nodes = nodes_of_states(self._structure, self._parts, c)
            taken[swap[nodes] - first] = table
            images[image] = taken
        return images


def roles_of(
    swaps: Mapping[tuple[int, int], np.ndarray], class_of: np.ndarray, n_states: int
) -> Job[np.ndarray | None]:
    """Give numbers to the roles of all members in all states.

    `swaps` tells where the swap of each two members i < j of one class takes states
    (int64[n_states]); class_of is int32[n_members], ascending.  Returns int32[n_states,
    n_members] as `Symmetry.roles` demands, or None if a state is not known by roles.
    """
    leaders = np.tile(np.arange(len(class_of)), (n_states, 1))
    states = np.arange(n_states)
    for (i, j), swap in sorted(swaps.items(), reverse=True):
        leaders[swap == states, j] = i  # at the end the lowest member of the role
        yield comparing(n_states)
    steps = [(i, j, swap.tolist()) for (i, j), swap in swaps.items() if j == i + 1]
    roles = np.full((n_states, len(class_of)), -1, dtype=np.int32)
    n_roles = 0
    for state in range(n_states):
        if roles[state, 0] >= 0:
            continue
        heads, numbers = np.unique(leaders[state], return_inverse=True)
        roles[state] = n_roles + numbers
        n_roles += len(heads)
        size = yield from _spread(roles, state, steps)
        yield Progress(SYMMETRY, size * len(steps), roles.nbytes)
        if size != _images(leaders[state], class_of):
            return None
    return roles


def _spread(
    roles: np.ndarray, state: int, steps: list[tuple[int, int, list[int]]]
) -> Job[int]:
    """Take the roles in a state along to its images; count them."""
    members = np.arange(roles.shape[1])
    orders = []
    for i, j, _ in steps:
        order = members.copy()
        order[[i, j]] = j, i
        orders.append(order)
    waiting = [state]
    size = 1
    while waiting:
        src = waiting.pop()
        for (_, _, swap), order in zip(steps, orders, strict=True):
            dst = swap[src]
            if roles[dst, 0] < 0:
                roles[dst] = roles[src, order]
                waiting.append(dst)
                size += 1
        if size % _IMAGES_AT_ONCE == 0:
            yield Progress(SYMMETRY, 0, roles.nbytes)
    return size


def _images(leaders: np.ndarray, class_of: np.ndarray) -> int:
    """Return how many images a state has that is known by its roles."""
    count = 1
    for size in np.bincount(class_of).tolist():
        count *= factorial(size)
    for size in np.bincount(leaders).tolist():
        count //= factorial(size)
    return count
