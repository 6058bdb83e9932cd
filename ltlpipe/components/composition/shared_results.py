"""What several questions about one network have in common.

Component reduction depends on the network, the visible actions and the equivalence
alone.  So its result is kept as long as the network itself, and used again for the same
ones; and where a result for more visible actions is small already, that is where the
reduction for fewer begins.  Single groups of components are kept, too
(`ltlpipe.components.composition.group_shelf`).

Processes of one run share what has taken some time through the run's folder
(`ltlpipe.runtime.folders`): results for the same visible actions or for more, and
groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.components.alphabet import trim
from ltlpipe.components.archive import SharedPlace, shared_digest
from ltlpipe.components.composition.group_shelf import (
    GroupShelf,
    archived_result,
    restored_result,
)
from ltlpipe.components.composition.merger import Limit, is_small, reduce_components
from ltlpipe.components.progress import holding, reducing
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.objects import Beside

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.components.composition.groups import Reduced
    from ltlpipe.runtime.folders import Entry
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network

SHARED_BYTES = 256 * MIB
"""What is kept of one network in a process at most, and of a run on disk."""

_KEPT = 64  # results per network; the oldest goes first
_MEMORY_SHARE = 1 / 8  # of what a question may hold: the most that is kept for others
_WORTH_SHARING = 10_000.0  # units of work; a file takes two milliseconds


class _Shelf:
    """What has been found out about a network."""

    def __init__(self) -> None:
        self.trimmed: Network | None = None
        self.results: dict[tuple[str, frozenset[str], int], Reduced] = {}
        self._groups = GroupShelf()
        self._n_bytes = 0  # of the results, roughly

    def groups(self, network: Network) -> GroupShelf:
        """Return the groups of components that were reduced."""
        self._groups.digest = self._groups.digest or shared_digest(network)
        return self._groups

    @property
    def n_bytes(self) -> int:
        """Bytes of all that is kept."""
        return self._n_bytes + self._groups.n_bytes

    def keep(
        self, key: tuple[str, frozenset[str], int], reduced: Reduced, most_bytes: float
    ) -> None:
        """Keep a result, and as many others as there is room for."""
        self.results[key] = reduced
        self._n_bytes += _bytes_of(reduced)
        while len(self.results) > 1 and (
            len(self.results) > _KEPT or self._n_bytes > most_bytes
        ):
            oldest = self.results.pop(next(iter(self.results)))
            self._n_bytes -= _bytes_of(oldest)

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
    shared_bytes: float = SHARED_BYTES,
) -> Job[Reduced]:
    """Do `reduce_components` for a network, unless that has been done before.

    The network must not be changed as long as it exists.  Of a job that is closed the
    groups stay that it has reduced; with `shared_bytes` 0 nothing is kept or used.
    """
    names = frozenset(visible)
    limit = Limit(cap_states, equivalence=equivalence)
    if not shared_bytes:
        return (yield from reduce_components(network, names, limit))
    shelf = _shelves.of(network)
    key = (equivalence, names, cap_states)
    if key not in shelf.results:
        grant = yield reducing(0)
        most_bytes = min(shared_bytes, grant.memory_bytes * _MEMORY_SHARE)
        groups = shelf.groups(network)
        groups.limit(most_bytes)
        files = _Files(network, groups.digest, limit)
        reduced = files.result(names)
        if reduced is None:
            start = shelf.superset(names, limit) or files.superset(names)
            known = shelf.below(names, limit)
            job = reduce_components(network, names, limit, start, known, shelf=groups)
            spent: list[float] = []
            reduced = yield from holding(job, shelf.n_bytes, spent)
            if sum(spent) >= _WORTH_SHARING:
                files.put(reduced)
        if key not in shelf.results:  # another job may have been faster
            shelf.keep(key, reduced, most_bytes)
    return shelf.results[key]


def _bytes_of(reduced: Reduced) -> int:
    return sum(group.tree_bytes for group in reduced.groups)


class _Files:
    """The results for one network that the processes of a run share."""

    def __init__(self, network: Network, digest: str | None, limit: Limit) -> None:
        self._limit = limit
        self._n_components = len(network.components)
        self._small, self._large = (
            SharedPlace(digest, "components", limit.equivalence, small)
            for small in (True, False)
        )

    def result(self, visible: frozenset[str]) -> Reduced | None:
        """Return the result for some visible actions, if there is one."""
        key = [sorted(visible), self._limit.cap_states]
        return self._restored(self._small, key) or self._restored(self._large, key)

    def superset(self, visible: frozenset[str]) -> Reduced | None:
        """Return a small result for more visible actions."""
        larger = [key for key in self._small.known_keys() if visible < set(key[0])]
        if not larger:
            return None
        return self._restored(self._small, min(larger, key=lambda key: len(key[0])))

    def put(self, reduced: Reduced) -> None:
        """Share a result."""
        assert reduced.visible is not None
        is_one = is_small(reduced.groups, self._limit)
        key = [sorted(reduced.visible), reduced.cap_states]
        (self._small if is_one else self._large).put(key, archived_result(reduced))

    def _restored(self, place: SharedPlace, key: list[Any]) -> Reduced | None:
        def restore(entry: Entry) -> Reduced:
            return restored_result(entry, self._n_components, frozenset(key[0]))

        return place.get(key, restore)
