"""Groups of components as questions about one network have reduced them.

What becomes of a group depends on the network, the equivalence, and those visible
actions in which only its members take part: they alone decide what is hidden in
it, and in groups that it is made of.  So two formulas that name different actions have
most groups in common, and what one has composed serves the other.  What was composed
at great expense is shared with the other processes of a run, too
(`ltlpipe.runtime.shared_folder`).

A group that was made of other parts, or with another limit, is as good: it keeps the
same traces and divergences.  One whose composition has more states than the limit
allows is not used, and one that was left to a weaker reduction is not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.components.composition.group_archive import (
    archived_groups,
    restored_groups,
)
from ltlpipe.runtime.shared_folder import shared_folder

if TYPE_CHECKING:
    from ltlpipe.components.composition.groups import Group
    from ltlpipe.runtime.shared_folder import SharedFolder

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
        folder = self._folder()
        is_large = len(place.members) > 1 and group.n_transitions >= WORTH_SHARING
        if folder is not None and is_large:
            archive = archived_groups([group])
            folder.put(self._folder_place(place), _key(place), *archive)

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
        folder = self._folder()
        if folder is None:
            return None
        at, key = self._folder_place(place), _key(place)
        entry = folder.get(at, key)
        if entry is None:
            return None
        try:
            (group,) = restored_groups(entry)
            if group.members != place.members or group.equivalence != place.equivalence:
                raise ValueError("another group")
        except (ValueError, KeyError, TypeError, IndexError):
            folder.forget(at, key)
            return None
        self._keep(place, group)
        return group

    def _folder(self) -> SharedFolder | None:
        """Return where groups are shared with other processes."""
        return shared_folder() if self.digest and self.most_bytes else None

    def _folder_place(self, place: Place) -> list[Any]:
        return ["group", self.digest, place.equivalence]


def _key(place: Place) -> list[Any]:
    return [sorted(place.members), sorted(place.seen)]
