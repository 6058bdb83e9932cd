"""Whether a minimal component is the composition of its parts over sets of labels.

The coordinate of a state in a part is its class among the states that the other parts'
labels connect, in whatever direction.  The component is the composition of the parts
iff no two states agree in all coordinates, there are as many states as the numbers of
coordinates multiply to, as many transitions as the parts' make with all states of the
others, and as many accepting states as the parts' accepting coordinates multiply to
(docs/factoring.md, Theorem 1).  That is counted.

Cost: O(m log n) for each part, m transitions.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import ENTRY_WORK, factoring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.components.factoring.minimal_form import MinimalForm
    from ltlpipe.runtime.jobs import Job

_STATE_BYTES = 40


class Split(NamedTuple):
    """A component as a product; all labels with transitions are in some group."""

    groups: tuple[np.ndarray, ...]  # int64[...] for each factor: its labels
    coordinates: tuple[np.ndarray, ...]  # int64[n] each: where the states are in it
    sizes: tuple[int, ...]  # states of each factor


def as_product(form: MinimalForm, groups: Sequence[np.ndarray]) -> Job[Split | None]:
    """Return the split over disjoint groups of labels; None if it is not exact."""
    owner = np.full(form.n_labels, -1, dtype=np.int64)
    for number, group in enumerate(groups):
        owner[group] = number
    of_step = owner[form.label]
    coordinates, sizes = [], []
    for number in range(len(groups)):
        theirs = of_step != number
        size, own = _classes(form.n_states, form.src[theirs], form.dst[theirs])
        yield factoring(form.n_transitions * ENTRY_WORK, _held(form, number))
        coordinates.append(own)
        sizes.append(size)
        if prod(sizes) > form.n_states:
            return None
    split = Split(tuple(groups), tuple(coordinates), tuple(sizes))
    is_bijective = len(np.unique(numbers_of(split))) == prod(sizes) == form.n_states
    if not is_bijective or not _accepts_as_product(form, split):
        return None
    for number, size in enumerate(sizes):
        own = of_step == number
        steps = len(local_steps(form, split, number))
        yield factoring(form.n_transitions * ENTRY_WORK, _held(form, len(sizes)))
        if steps * (form.n_states // size) != int(own.sum()):
            return None
    return split


def numbers_of(split: Split) -> np.ndarray:
    """Return one number for the coordinates of each state, int64[n].

    The first factor's is the most significant, `weights` has the others'.
    """
    number = np.zeros(len(split.coordinates[0]), dtype=np.int64)
    for own, weight in zip(split.coordinates, weights(split.sizes), strict=True):
        number += own * weight
    return number


def weights(sizes: Sequence[int]) -> list[int]:
    """Return what a coordinate in each factor counts in `numbers_of`."""
    return [prod(sizes[k + 1 :]) for k in range(len(sizes))]


def local_steps(form: MinimalForm, split: Split, number: int) -> np.ndarray:
    """Return the transitions of a factor, int64[k, 3]: sources, labels, targets.

    They are sorted, each once.
    """
    size, own = split.sizes[number], split.coordinates[number]
    taken = np.isin(form.label, split.groups[number])
    code = own[form.src[taken]] * form.n_labels + form.label[taken]
    code = np.unique(code * size + own[form.dst[taken]])
    rest, dst = np.divmod(code, size)
    src, label = np.divmod(rest, form.n_labels)
    return np.stack([src, label, dst], axis=1)


def _accepts_as_product(form: MinimalForm, split: Split) -> bool:
    """Whether a state accepts iff all of its coordinates do, of some in each factor."""
    if form.accepting is None:
        return True
    local = (len(np.unique(own[form.accepting])) for own in split.coordinates)
    return prod(local) == int(form.accepting.sum())


def _classes(n: int, left: np.ndarray, right: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the classes that pairs connect, of numbers below n: how many, and whose.

    They are numbered by their least members.
    """
    root = np.arange(n)
    while True:
        one, other = root[left], root[right]
        differ = one != other
        if not differ.any():
            break
        left, right = left[differ], right[differ]
        one, other = one[differ], other[differ]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(above := root[root], root):
            root = above
    roots, own = np.unique(root, return_inverse=True)
    return len(roots), own


def _held(form: MinimalForm, n_parts: int) -> int:
    return (n_parts + 1) * _STATE_BYTES * (form.n_states + form.n_transitions)
