"""Reduced components, with all that they are made of, as arrays and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.components.archive import archived, restored
from ltlpipe.components.composition.groups import Group, Reduced
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from ltlpipe.runtime.shared_folder import Entry

Archive = tuple[dict[str, "Any"], "dict[str, np.ndarray]"]


def archived_groups(groups: Sequence[Group]) -> Archive:
    """Return groups and their parts as what JSON can say, and arrays."""
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
    """Return a reduced network as what JSON can say, and arrays."""
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
