"""What several questions about one network have in common.

Component reduction depends on the network, the visible actions and the equivalence
alone.  So its result is kept as long as the network itself, and used again for the same
ones; and where a result for more visible actions is small already, that is where the
reduction for fewer begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.reduction.alphabet import trim
from ltlpipe.reduction.components.merger import Limit, is_small, reduce_components
from ltlpipe.runtime.identity_cache import Beside

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.lts import Network

_KEPT = 64  # results per network; the oldest goes first


class _Shelf:
    """What has been found out about a network."""

    def __init__(self) -> None:
        self.trimmed: Network | None = None
        self.results: dict[tuple[str, frozenset[str], int], Reduced] = {}

    def below(self, visible: frozenset[str], limit: Limit) -> Reduced | None:
        """Return the result for the same visible actions with the next lower limit."""
        lower = [
            result
            for (equivalence, names, cap), result in self.results.items()
            if (equivalence, names) == (limit.equivalence, visible)
            and cap < limit.cap_states
        ]
        return max(lower, key=lambda result: result.cap_states, default=None)

    def superset(self, visible: frozenset[str], limit: Limit) -> Reduced | None:
        """Return a small result for more visible actions, the last one found."""
        for (equivalence, names, _), result in reversed(self.results.items()):
            if (
                equivalence == limit.equivalence
                and visible < names
                and is_small(result.groups, limit)
            ):
                return result
        return None


_shelves = Beside(_Shelf)


def trimmed_network(network: Network) -> Job[Network]:
    """Do `trim` for a network; the result is the same object each time."""
    shelf = _shelves.of(network)
    if shelf.trimmed is None:
        smaller = yield from trim(network)
        if smaller is network:  # a shelf must not keep its own network
            return network
        if shelf.trimmed is None:  # another job may have been faster
            shelf.trimmed = smaller
    return shelf.trimmed


def reduced_components(
    network: Network,
    visible: Collection[str],
    *,
    cap_states: int,
    equivalence: str = "trace",
) -> Job[Reduced]:
    """Do `reduce_components` for a network, unless that has been done before.

    The network must not be changed as long as it exists.  A job that is closed leaves
    nothing behind.
    """
    shelf = _shelves.of(network)
    names = frozenset(visible)
    key = (equivalence, names, cap_states)
    limit = Limit(cap_states, equivalence=equivalence)
    if key not in shelf.results:
        start = shelf.superset(names, limit)
        known = shelf.below(names, limit)
        reduced = yield from reduce_components(network, names, limit, start, known)
        if key not in shelf.results:  # another job may have been faster
            if len(shelf.results) == _KEPT:
                del shelf.results[next(iter(shelf.results))]
            shelf.results[key] = reduced
    return shelf.results[key]
