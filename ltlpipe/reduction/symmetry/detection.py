"""The symmetry of a network, found.

Most networks have none, and that is to be seen soon: first from the sizes of alphabets,
then from the components and actions without local states (`outline_of`), each component
singled out in turn.  What is left is tried pair by pair.

Only automorphisms that exchange two members and leave all others alone are looked for,
and only products of full symmetric groups come out.

Limits: groups of more than `MOST_COMPONENTS` components, members with more than
`MOST_COLUMNS` components that look alike, networks of more than `MOST_NODES` reached
local states and actions, and refinements beyond `MOST_WORK` are given up, and with them
symmetry that may be there.  So is a class where two members can be exchanged in several
ways, as a server's states have symmetry of their own, and the ways that were chosen do
not fit together.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.symmetry.assembly import Assembly
from ltlpipe.reduction.symmetry.class_action import (
    ClassAction,
    RefusedError,
    class_action,
)
from ltlpipe.reduction.symmetry.colour_refinement import (
    Effort,
    SpentError,
    refined,
    single_out,
)
from ltlpipe.reduction.symmetry.exchange import exchange
from ltlpipe.reduction.symmetry.group import listed
from ltlpipe.reduction.symmetry.structure import (
    MOST_NODES,
    Parts,
    Structure,
    outline_of,
    parts_of,
    structure_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.lts import Network

MOST_WORK = 20_000_000
"""Tuples looked at by all refinements together: about two seconds."""

MOST_COMPONENTS = 256
"""In a group of components that are tried with each other."""

_SPENT = f"not found within {MOST_WORK:,} comparisons"

MOST_COLUMNS = 8
"""Of one member, among the components of one colour."""


def find_symmetry(
    network: Network, *, least: int = 3, refused: list[str] | None = None
) -> Job[Symmetry | None]:
    """Find the components of a network that can be exchanged; None if there are none.

    A class has at least `least` >= 2 members.  What is found has been verified.  Why
    components that look alike are in no class is appended to `refused`.
    """
    if least < 2:
        raise ValueError(f"classes have two members at least, not {least}")
    reasons = [] if refused is None else refused
    if not _some_alike(network, least):
        reasons.append(f"no {least} components have equally many labels")
        return None
    effort = Effort(MOST_WORK)
    parts = yield from parts_of(network)
    try:
        groups = yield from _hopeful_groups(parts, least, effort, reasons)
        if not groups:
            return None
        n_nodes = len(network.components) + len(network.actions) + parts.n_states
        if n_nodes >= MOST_NODES:
            reasons.append(f"{n_nodes:,} local states and actions are too many")
            return None
        structure = yield from structure_of(parts)
        stable = yield from refined(structure, structure.colours[None], effort)
    except SpentError:
        reasons.append(_SPENT)
        return None
    assert stable is not None  # one colouring is like itself
    search = _Search(structure, parts, stable[0], least, effort)
    classes: list[ClassAction] = []
    try:
        for group in groups:
            yield from search.add_classes(group, classes, reasons)
    except SpentError:
        reasons.append(_SPENT)  # those found before are as good
    return (yield from _assembled(structure, parts, classes, least, reasons))


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


def _hopeful_groups(
    parts: Parts,
    least: int,
    effort: Effort,
    reasons: list[str],
) -> Job[list[dict[int, set[int]]]]:
    """Find groups of components that the outline does not tell apart.

    In each group each component has those that it may be exchanged with; the others
    of its colour are out of the question.
    """
    outline = outline_of(parts)
    stable = yield from refined(outline, outline.colours[None], effort)
    assert stable is not None
    colours = stable[0, : outline.n_components]
    _, cells, sizes = np.unique(colours, return_inverse=True, return_counts=True)
    groups = []
    for cell in np.flatnonzero(sizes >= least):
        components = np.flatnonzero(cells == cell)
        if len(components) > MOST_COMPONENTS:
            shown = _shown(parts, components)
            reasons.append(f"{shown} are more than {MOST_COMPONENTS} that look alike")
            continue
        group = yield from _hopeful(outline, stable[0], components, least, effort)
        if group:
            groups.append(group)
        else:
            reasons.append(_none_swapped(parts, components))
    if not groups and not reasons:
        reasons.append(f"no {least} components have the same labels and transitions")
    return groups


def _hopeful(
    outline: Structure,
    stable: np.ndarray,
    components: np.ndarray,
    least: int,
    effort: Effort,
) -> Job[dict[int, set[int]]]:
    """Find the pairs that may be exchanged in one group.

    Row i of the colourings has component i singled out.  An exchange of i and j takes
    row i to row j and leaves all components in their places but i, j and those that
    move along; as all members of a class have equally many in the group, at most
    len(group) / least each.  Rows that are not stable yet can already tell.
    """
    rows = np.tile(stable, (len(components), 1))
    for row, component in zip(rows, components.tolist(), strict=True):
        single_out(row, component, 0)
    kept, possible = np.zeros(0, dtype=np.bool_), np.zeros((0, 0), dtype=np.bool_)

    def look(colours: np.ndarray) -> bool:
        nonlocal kept, possible
        kept, possible = _possible(colours[:, components], least)
        return bool(kept.any())

    yield from refined(outline, rows, effort, look=look)
    return {
        int(components[i]): set(components[possible[i]].tolist())
        for i in np.flatnonzero(kept)
    }


def _possible(seen: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible members, and the possible partners of each.

    bool[k], bool[k, k]; row i of `seen`, uint64[k, k], has the colours with i
    singled out.
    """
    n = len(seen)
    most_moved = 2 * min(n // least, MOST_COLUMNS)
    differing = (seen[:, None, :] != seen).sum(axis=2)
    own = seen.diagonal()
    possible = (own[:, None] == own) & (seen == seen.T) & (differing <= most_moved)
    np.fill_diagonal(possible, val=False)
    while True:
        kept = possible.sum(axis=1) >= least - 1
        if (possible <= kept[:, None] & kept).all():
            return kept, possible
        possible &= kept[:, None] & kept


def _shown(parts: Parts, components: Iterable[int]) -> str:
    own = parts.network.components
    return listed([own[c].name or f"component {c}" for c in components])


def _none_swapped(parts: Parts, components: Iterable[int]) -> str:
    return (
        f"{_shown(parts, components)} look alike, but no exchange of two of them was "
        "found that leaves the others alone (--reduce automorphisms knows rotations, "
        "too)"
    )


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
                    reasons.append(f"{_shown(self._parts, members)}: {error}")
                    continue
                classes.append(action)
                taken.update(action.columns)
                break
            left = [j for j in left if j not in taken]
        if (n_classes, n_reasons) == (len(classes), len(reasons)):
            reasons.append(_none_swapped(self._parts, group))

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
