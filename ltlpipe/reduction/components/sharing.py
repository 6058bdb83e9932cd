"""What several questions about one network have in common.

Component reduction depends on the network and on the visible actions alone.  So its
result is kept as long as the network itself, and used again for the same visible
actions; and where a result for more of them is small already, that is where the
reduction for fewer begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.reduction.alphabet import trim
from ltlpipe.reduction.components.merging import Limit, is_small, reduce_components
from ltlpipe.runtime.identity_cache import Beside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.systems.lts import Network

_KEPT = 64  # results per network; the oldest goes first


class _Shelf:
    """What has been found out about a network."""

    def __init__(self) -> None:
        self.trimmed: Network | None = None
        self.results: dict[tuple[frozenset[str], int], Reduced] = {}

    def below(self, visible: frozenset[str], cap_states: int) -> Reduced | None:
        """Return the result for the same visible actions with the next lower limit."""
        lower = [
            result
            for (names, cap), result in self.results.items()
            if names == visible and cap < cap_states
        ]
        return max(lower, key=lambda result: result.cap_states, default=None)

    def superset(self, visible: frozenset[str], limit: Limit) -> Reduced | None:
        """Return a small result for more visible actions, the last one found."""
        for (names, _), result in reversed(self.results.items()):
            if visible < names and is_small(result.groups, limit):
                return result
        return None


_shelves = Beside(_Shelf)


def trimmed_network(network: Network) -> Network:
    """Return `trim` of a network, the same object each time."""
    shelf = _shelves.of(network)
    if shelf.trimmed is None:
        smaller = trim(network)
        if smaller is network:  # a shelf must not keep its own network
            return network
        shelf.trimmed = smaller
    return shelf.trimmed


def reduced_components(
    network: Network,
    visible: Collection[str],
    *,
    cap_states: int,
    stopped: Callable[[], None] = lambda: None,
) -> Reduced:
    """Return what `reduce_components` does for a network, perhaps done before.

    Parameters
    ----------
    network : Network
        It must not be changed as long as it exists.
    visible : collection of str
        The visible actions of an interruptible property.
    cap_states : int
        States that a composition may have.
    stopped : callable, optional
        Called now and then; it may raise to end the work.
    """
    shelf = _shelves.of(network)
    names = frozenset(visible)
    key = (names, cap_states)
    limit = Limit(cap_states, stopped=stopped)
    if key not in shelf.results:
        if len(shelf.results) == _KEPT:
            del shelf.results[next(iter(shelf.results))]
        start = shelf.superset(names, limit)
        known = shelf.below(names, cap_states)
        shelf.results[key] = reduce_components(network, names, limit, start, known)
    return shelf.results[key]
