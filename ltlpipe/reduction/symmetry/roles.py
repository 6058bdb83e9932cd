"""The roles that members play in a local state of a component they share.

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

from ltlpipe.reduction.progress import SYMMETRY, comparing
from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.runtime.jobs import Job

_IMAGES_AT_ONCE = 100  # of a state, until the next progress


def roles_of(
    swaps: Mapping[tuple[int, int], np.ndarray], class_of: np.ndarray, n_states: int
) -> Job[np.ndarray | None]:
    """Give numbers to the roles of all members in all states.

    Parameters
    ----------
    swaps : mapping of (int, int) to int64[n_states]
        Where the swap of each two members i < j of one class takes states.
    class_of : int32[n_members]
        The class of each member, ascending.
    n_states : int
        Number of states.

    Returns
    -------
    int32[n_states, n_members] or None
        As `Symmetry.roles` demands; None if a state is not known by roles.
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
