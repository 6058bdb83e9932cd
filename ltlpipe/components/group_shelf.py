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

import numpy as np

from ltlpipe.components.groups import Group
from ltlpipe.runtime.folders import shared_folder
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from ltlpipe.runtime.folders import SharedFolder

WORTH_SHARING = 1 << 12
"""Transitions of a composition that are worth a file: it takes five milliseconds."""

_MOST_FAILURES = 1 << 16
_COLUMNS = ("src", "label", "dst")


class Place(NamedTuple):
    """What a group is known by; `seen` are the visible actions of its members alone."""

    equivalence: str
    members: frozenset[int]
    seen: frozenset[str]

    @property
    def names(self) -> tuple[list[int], list[str]]:
        """Members and actions as JSON has them."""
        return sorted(self.members), sorted(self.seen)


class GroupShelf:
    """The groups of one network, up to so many bytes; the latest used stay.

    Attributes
    ----------
    digest : str or None
        What stands for the network's contents among processes; None where nothing is
        shared with others.
    failed : dict
        How many states the composition of two groups has at least, less one.
    """

    def __init__(self) -> None:
        self.digest: str | None = None
        self.failed: dict[tuple[Place, Place], int] = {}
        self._groups: OrderedDict[Place, Group] = OrderedDict()
        self.n_bytes = 0
        self.most_bytes = 0.0  # nothing is kept by default

    def __len__(self) -> int:
        return len(self._groups)

    def limit(self, most_bytes: float) -> None:
        """Keep at most so many bytes from now on."""
        self.most_bytes = most_bytes
        self._shrink()

    def get(self, place: Place) -> Group | None:
        """Return a group if it is known, here or to another process."""
        if place in self._groups:
            self._groups.move_to_end(place)
            return self._groups[place]
        folder = self._folder
        if len(place.members) == 1 or folder is None:
            return None
        entry = folder.get(["group", self.digest, place.equivalence], place.names)
        if entry is None:
            return None
        group = restored(entry.about, entry.arrays)
        self._keep(place, group)
        return group

    def put(self, place: Place, group: Group) -> None:
        """Keep a group, if it was reduced as far as the equivalence allows."""
        if group.equivalence != place.equivalence or place in self._groups:
            return
        self._keep(place, group)
        folder, is_worth_it = self._folder, group.n_transitions >= WORTH_SHARING
        if group.parts and is_worth_it and folder is not None:
            at = ["group", self.digest, place.equivalence]
            folder.put(at, place.names, *archived(group))

    @property
    def _folder(self) -> SharedFolder | None:
        """The folder of the run, if something is shared."""
        return None if self.digest is None else shared_folder()

    def note_failure(self, pair: tuple[Place, Place], cap: int) -> None:
        """Note that the composition of two groups has more than `cap` states."""
        if len(self.failed) >= _MOST_FAILURES:
            self.failed.clear()
        self.failed[pair] = cap

    def _keep(self, place: Place, group: Group) -> None:
        self._groups[place] = group
        self.n_bytes += group.tree_bytes
        self._shrink()

    def _shrink(self) -> None:
        while self._groups and self.n_bytes > self.most_bytes:
            _, group = self._groups.popitem(last=False)
            self.n_bytes -= group.tree_bytes


def archived(group: Group) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Return a group and all its parts as JSON and arrays; parts come before wholes."""
    nodes, left = [], [group]
    while left:
        nodes.append(left.pop())
        left += nodes[-1].parts
    nodes.reverse()
    rows = [
        (
            [node.n_states, node.n_transitions, node.equivalence],
            [] if node.parts else sorted(node.members),
            [node.lts.n_states, node.lts.n_transitions, node.lts.name],
            [node.lts.labels, sorted(node.lts.internal)],
        )
        for node in nodes
    ]
    return rows, {
        column: np.concatenate([getattr(node.lts, column) for node in nodes])
        for column in _COLUMNS
    }


def restored(rows: list[Any], arrays: dict[str, np.ndarray]) -> Group:
    """Return the group that `archived` was given."""
    groups: list[Group] = []
    begin = 0
    for before, members, (n_states, n_transitions, name), (labels, internal) in rows:
        end = begin + n_transitions
        columns = {column: arrays[column][begin:end] for column in _COLUMNS}
        lts = LTS(
            n_states=n_states,
            initial=0,
            labels=tuple(labels),
            internal=frozenset(internal),
            name=name,
            **columns,
        )
        parts: tuple[Group, ...] = ()
        if not members:
            parts = (groups.pop(-2), groups.pop())
            members = parts[0].members | parts[1].members
        groups.append(Group(lts, frozenset(members), parts, *before))
        begin = end
    return groups.pop()
