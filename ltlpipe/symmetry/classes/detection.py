"""The symmetry of a network, found.

Most networks have none, and that is to be seen soon: first from the sizes of alphabets,
then from the components and actions without local states (`candidates`).  What is left
is tried pair by pair.

Only automorphisms that exchange two members and leave all others alone are looked for,
and only products of full symmetric groups come out.  First they have to keep the
initial state.  Where that tells components apart which may be exchanged otherwise, a
second look lets them move it, and what has more permutations is taken: members of a
class then begin in different states.

Limits: groups of more than `MOST_COMPONENTS` components, members with more than
`MOST_COLUMNS` components that look alike, networks of more than `MOST_NODES` reached
local states and actions, and refinements beyond `MOST_WORK` in one look are given up,
and with them symmetry that may be there.  So is a class where two members can be
exchanged in several ways, as a server's states have symmetry of their own, and the ways
that were chosen do not fit together.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.symmetry.classes.assembly import Assembly
from ltlpipe.symmetry.classes.candidates import (
    candidates,
    none_swapped,
    shown_components,
)
from ltlpipe.symmetry.classes.class_action import (
    ClassAction,
    RefusedError,
    class_action,
)
from ltlpipe.symmetry.classes.colour_refinement import (
    Effort,
    SpentError,
    refined,
)
from ltlpipe.symmetry.classes.exchange import exchange
from ltlpipe.symmetry.classes.structure import (
    MOST_NODES,
    Parts,
    Structure,
    parts_of,
    structure_of,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.lts import Network

MOST_WORK = 20_000_000
"""Tuples looked at by all refinements of one look together: about two seconds."""

_SPENT = f"not found within {MOST_WORK:,} comparisons"


def find_symmetry(
    network: Network, *, least: int = 3, refused: list[str] | None = None
) -> Job[Symmetry | None]:
    """Find the components of a network that can be exchanged; None if there are none.

    A class has at least `least` >= 2 members.  What is found has been verified.  Why
    components that look alike are in no class is appended to `refused`.
    """
    if least < 2:
        raise ValueError(f"classes have two members at least, not {least}")
    reasons: list[str] = []
    found = None
    if not _some_alike(network, least):
        reasons.append(f"no {least} components have equally many labels")
    else:
        parts = yield from parts_of(network)
        found, colours = yield from _found(parts, least, reasons)
        others: list[str] = []
        moving, _ = yield from _found(parts, least, others, told=colours)
        if moving and (not found or moving.n_permutations > found.n_permutations):
            found, reasons = moving, others
    if refused is not None:
        refused += reasons
    return found


def _found(
    parts: Parts,
    least: int,
    reasons: list[str],
    *,
    told: np.ndarray | None = None,
) -> Job[tuple[Symmetry | None, np.ndarray]]:
    """Look for components that can be exchanged.

    Without `told`, uint64[n_components], the initial state keeps its place.  With it,
    the initial state may be moved, and nothing is done unless there are components that
    may be exchanged and are told apart.

    Returns
    -------
    symmetry : Symmetry or None
        What was found.
    colours : uint64[n_components]
        Different ones for components that are told apart.
    """
    effort = Effort(MOST_WORK)
    n_components = len(parts.network.components)
    alike = np.zeros(n_components, dtype=np.uint64)
    try:
        groups, colours = yield from candidates(
            parts, least, effort, reasons, told=told
        )
        if not groups:
            return None, colours
        n_nodes = n_components + len(parts.network.actions) + parts.n_states
        if n_nodes >= MOST_NODES:
            reasons.append(f"{n_nodes:,} local states and actions are too many")
            return None, alike
        structure = yield from structure_of(parts, keeps_start=told is None)
        stable = yield from refined(structure, structure.colours[None], effort)
    except SpentError:
        reasons.append(_SPENT)
        return None, alike
    assert stable is not None  # one colouring is like itself
    search = _Search(structure, parts, stable[0], least, effort)
    classes: list[ClassAction] = []
    try:
        for group in groups:
            yield from search.add_classes(group, classes, reasons)
    except SpentError:
        reasons.append(_SPENT)  # those found before are as good
    symmetry = yield from _assembled(structure, parts, classes, least, reasons)
    return symmetry, stable[0, :n_components]


def _assembled(
    structure: Structure,
    parts: Parts,
    classes: list[ClassAction],
    least: int,
    reasons: list[str],
) -> Job[Symmetry | None]:
    """Put classes together, those of few columns and many members first.

    Where all permutations of a class are too many, those that leave its last member
    alone may not be.
    """
    assembly = Assembly(structure, parts)
    for new in sorted(classes, key=lambda c: (len(c.members[0]), -len(c.members))):
        while len(new.members) >= least:
            try:
                yield from assembly.add(new)
            except RefusedError as error:
                reasons.append(str(error))
                new = new.shorter()
            else:
                break
    if not assembly.classes:
        return None
    return (yield from assembly.symmetry())


def _some_alike(network: Network, least: int) -> bool:
    """Whether enough components agree in what is known without looking at states."""
    alike = Counter(
        (len(c.labels), len(c.internal), c.accepting is None)
        for c in network.components
    )
    return max(alike.values()) >= least


class _Search:
    """Looks for classes among components that may be exchanged."""

    def __init__(
        self,
        structure: Structure,
        parts: Parts,
        stable: np.ndarray,
        least: int,
        effort: Effort,
    ) -> None:
        self._structure = structure
        self._parts = parts
        self._stable = stable
        self._least = least
        self._effort = effort

    def add_classes(
        self,
        group: dict[int, set[int]],
        classes: list[ClassAction],
        reasons: list[str],
    ) -> Job[None]:
        """Append the classes of one group; no component leads two of them."""
        left = list(group)
        n_classes, n_reasons = len(classes), len(reasons)
        while len(left) >= self._least:
            first = left[0]
            others = [j for j in left[1:] if j in group[first]]
            taken = {first}
            for exchanges in (yield from self._by_size(first, others)):
                members = [first, *exchanges]
                try:
                    action = yield from class_action(
                        self._structure, self._parts, members, [*exchanges.values()]
                    )
                except RefusedError as error:
                    reasons.append(f"{shown_components(self._parts, members)}: {error}")
                    continue
                classes.append(action)
                taken.update(action.columns)
                break
            left = [j for j in left if j not in taken]
        if (n_classes, n_reasons) == (len(classes), len(reasons)):
            reasons.append(none_swapped(self._parts, group))

    def _by_size(
        self, first: int, others: list[int]
    ) -> Job[list[dict[int, np.ndarray]]]:
        """List exchanges of one component with others, by how much moves along.

        Those that move the fewest components first; of several that move the same
        components one is enough.
        """
        found: dict[int, dict[tuple[int, ...], tuple[int, np.ndarray]]] = {}
        components = np.arange(self._structure.n_components)
        for other in others:
            if self._stable[first] != self._stable[other]:
                continue
            swap = yield from exchange(
                self._structure, self._stable, first, other, self._effort
            )
            if swap is not None:
                moved = tuple(np.flatnonzero(swap[components] != components).tolist())
                found.setdefault(len(moved), {}).setdefault(moved, (other, swap))
        return [
            dict(exchanges.values())
            for _, exchanges in sorted(found.items())
            if len(exchanges) >= self._least - 1
        ]
