"""Components that may be exchanged, as far as their labels tell.

The outline of a network (`ltlpipe.symmetry.classes.structure`) has no local states:
it is small, and enough to see that most networks have no symmetry.  Each component is
singled out in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.symmetry.classes.colour_refinement import Effort, refined, single_out
from ltlpipe.symmetry.classes.group import listed
from ltlpipe.symmetry.classes.structure import Parts, Structure, outline_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job

    Group = dict[int, set[int]]

MOST_COMPONENTS = 256
"""In a group of components that are tried with each other."""

MOST_COLUMNS = 8
"""Of one member, among the components of one colour."""


class Candidates(NamedTuple):
    """Groups of components that the outline does not tell apart."""

    # In each group each component has those that it may be exchanged with; the others
    # of its colour are out of the question.
    groups: list[Group]
    colours: np.ndarray  # uint64[n_components], of the outline


def candidates(
    parts: Parts,
    least: int,
    effort: Effort,
    reasons: list[str],
    *,
    told: np.ndarray | None = None,
) -> Job[Candidates]:
    """Find groups of at least so many components that may be exchanged.

    Without `told` the initial state has to keep its place.  With it, uint64[n], it may
    be moved, and there are no groups unless they have components that may be exchanged
    and have different ones of these colours.  Why components that look alike are in no
    group is appended to `reasons`.
    """
    outline = outline_of(parts, keeps_start=told is None)
    stable = yield from refined(outline, outline.colours[None], effort)
    assert stable is not None
    colours = stable[0, : outline.n_components]
    _, cells, sizes = np.unique(colours, return_inverse=True, return_counts=True)
    members = [np.flatnonzero(cells == cell) for cell in np.flatnonzero(sizes >= least)]
    if told is not None and all(len(set(told[own].tolist())) == 1 for own in members):
        return Candidates([], colours)
    groups = []
    for components in members:
        if len(components) > MOST_COMPONENTS:
            shown = shown_components(parts, components)
            reasons.append(f"{shown} are more than {MOST_COMPONENTS} that look alike")
            continue
        group = yield from _hopeful(outline, stable[0], components, least, effort)
        if group:
            groups.append(group)
        else:
            reasons.append(none_swapped(parts, components))
    if not groups and not reasons:
        reasons.append(f"no {least} components have the same labels and transitions")
    if told is not None and not _has_pair(groups, told):
        groups = []
    return Candidates(groups, colours)


def _has_pair(groups: list[Group], told: np.ndarray) -> bool:
    """Whether components that may be exchanged have different colours."""
    return any(
        told[i] != told[j] for group in groups for i, own in group.items() for j in own
    )


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


def shown_components(parts: Parts, components: Iterable[int]) -> str:
    """Return the names of components for people."""
    own = parts.network.components
    return listed([own[c].name or f"component {c}" for c in components])


def none_swapped(parts: Parts, components: Iterable[int]) -> str:
    """Say that components look alike and are in no class."""
    shown = shown_components(parts, components)
    return (
        f"{shown} look alike, but no exchange of two of them was found that leaves "
        "the others alone (--reduce automorphisms knows rotations, too)"
    )
