"""Groups of components as questions about one network have reduced them.

What becomes of a group depends on the network, the equivalence, and those visible
actions in which only its members take part: they alone decide what is hidden in
it, and in groups that it is made of.  So two formulas that name different actions have
most groups in common, and what one has composed serves the other.  What was composed
at great expense is shared with the other processes of a run, too
(`ltlpipe.runtime.folders`).

A group that was made of other parts, or with another limit, is as good: it keeps the
same traces and divergences.  One whose composition has more states than the limit
allows is not used, and one that was left to a weaker reduction is not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.components.archive import SharedPlace, archived, restored
from ltlpipe.components.composition.groups import Group, Reduced
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.components.archive import Archive
    from ltlpipe.runtime.folders import Entry

WORTH_SHARING = 1 << 12
"""Transitions of a composition that are worth a file: it takes five milliseconds."""

_MOST_FAILURES = 1 << 14


class Place(NamedTuple):
    """What a group is known by; `seen` are the visible actions of its members alone."""

    equivalence: str
    members: frozenset[int]
    seen: frozenset[str]


class GroupShelf:
    """The groups of one network, up to so many bytes; the latest used stay.

    Attributes
    ----------
    digest : str or None
        What stands for the network's contents among processes; None where nothing is
        shared with others.
    """

    def __init__(self) -> None:
        self.digest: str | None = None
        self._groups: OrderedDict[Place, Group] = OrderedDict()
        self._failed: dict[tuple[Place, Place], int] = {}
        self.n_bytes = 0
        self.most_bytes = 0.0  # nothing is kept by default

    def __len__(self) -> int:
        return len(self._groups)

    def limit(self, most_bytes: float) -> None:
        """Keep at most so many bytes from now on."""
        self.most_bytes = most_bytes
        self._shrink()

    def get(self, place: Place, cap: int) -> Group | None:
        """Return a group whose composition had at most `cap` states, if it is known."""
        group = self._groups.get(place)
        if group is None and len(place.members) > 1:
            group = self._from_folder(place)
        if group is None or (group.parts and group.n_states > cap):
            return None
        if place in self._groups:
            self._groups.move_to_end(place)
        return group

    def put(self, place: Place, group: Group) -> None:
        """Keep a group, if it was reduced as far as the equivalence allows."""
        if group.equivalence != place.equivalence or place in self._groups:
            return
        self._keep(place, group)
        if len(place.members) > 1 and group.n_transitions >= WORTH_SHARING:
            self._shared(place).put(_key(place), archived_groups([group]))

    def has_failed(self, place: Place, one: Place, other: Place, cap: int) -> bool:
        """Whether the composition of two groups has more than `cap` states.

        `place` is that of the group that they make up; if that is known, it had more.
        """
        return place in self._groups or self._failed.get((one, other), 0) >= cap

    def note_failure(self, one: Place, other: Place, cap: int) -> None:
        """Note that the composition of two groups has more than `cap` states."""
        if self.most_bytes:
            if len(self._failed) >= _MOST_FAILURES:
                self._failed.clear()
            self._failed[one, other] = cap

    def _keep(self, place: Place, group: Group) -> None:
        self._groups[place] = group
        self.n_bytes += group.tree_bytes
        self._shrink()

    def _shrink(self) -> None:
        while self._groups and self.n_bytes > self.most_bytes:
            _, group = self._groups.popitem(last=False)
            self.n_bytes -= group.tree_bytes

    def _from_folder(self, place: Place) -> Group | None:
        """Take over a group that another process has reduced."""

        def restore(entry: Entry) -> Group:
            (group,) = restored_groups(entry)
            if group.members != place.members or group.equivalence != place.equivalence:
                raise ValueError("another group")
            return group

        group = self._shared(place).get(_key(place), restore)
        if group is not None:
            self._keep(place, group)
        return group

    def _shared(self, place: Place) -> SharedPlace:
        """Return where groups are shared with other processes."""
        digest = self.digest if self.most_bytes else None
        return SharedPlace(digest, "group", place.equivalence)


def _key(place: Place) -> list[Any]:
    return [sorted(place.members), sorted(place.seen)]


def archived_groups(groups: Sequence[Group]) -> Archive:
    """Return groups and their parts for a file."""
    listed = list(_parts_first(groups))
    number = {id(group): k for k, group in enumerate(listed)}
    about, arrays = archived([group.lts for group in listed])
    about["groups"] = [
        [
            sorted(group.members),
            [number[id(part)] for part in group.parts],
            group.n_states,
            group.n_transitions,
            group.equivalence,
        ]
        for group in listed
    ]
    about["roots"] = [number[id(group)] for group in groups]
    return about, arrays


def restored_groups(entry: Entry) -> tuple[Group, ...]:
    """Return the groups that `archived_groups` was given.

    Raises
    ------
    ValueError, KeyError, TypeError, IndexError
        It does not fit together.
    """
    found: list[Group] = []
    for lts, row in zip(restored(entry), entry.about["groups"], strict=True):
        members, parts, n_states, n_transitions, equivalence = row
        if any(not 0 <= k < len(found) for k in parts):
            raise ValueError("a part that comes later")
        made = tuple(found[k] for k in parts)
        whole = frozenset(members)
        if made and whole != frozenset[int]().union(*(g.members for g in made)):
            raise ValueError("members that are in no part")
        if sum(len(g.members) for g in made) not in (0, len(whole)):
            raise ValueError("a member of two parts")
        found.append(Group(lts, whole, made, n_states, n_transitions, equivalence))
    return tuple(found[k] for k in entry.about["roots"])


def archived_result(reduced: Reduced) -> Archive:
    """Return a reduced network for a file."""
    about, arrays = archived_groups(reduced.groups)
    about["largest"], about["cap_states"] = reduced.largest, reduced.cap_states
    about["name"] = reduced.network.name
    return about, arrays


def restored_result(
    entry: Entry, n_components: int, visible: frozenset[str]
) -> Reduced:
    """Return the result for a network of so many components and visible actions.

    Raises
    ------
    ValueError, KeyError, TypeError, IndexError
        It does not fit together.
    """
    groups = restored_groups(entry)
    members = sorted(number for group in groups for number in group.members)
    if members != list(range(n_components)):
        raise ValueError("other components")
    about = entry.about
    network = Network([group.lts for group in groups], about["name"])
    return Reduced(network, groups, about["largest"], about["cap_states"], visible)


def _parts_first(groups: Sequence[Group]) -> Iterator[Group]:
    """Yield groups and their parts, each once, parts before what they make up."""
    known: set[int] = set()
    stack = [(group, False) for group in reversed(groups)]
    while stack:
        group, is_ready = stack.pop()
        if id(group) in known:
            continue
        if is_ready:
            known.add(id(group))
            yield group
        else:
            stack.append((group, True))
            stack.extend((part, False) for part in reversed(group.parts))
