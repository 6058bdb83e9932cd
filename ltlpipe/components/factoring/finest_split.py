"""The finest exact split of a component.

There is one: two exact splits have an exact common refinement (docs/factoring.md,
Theorem 3).  Labels that depend on each other share a factor; of a minimal component
without acceptance the groups that this makes are exact (Theorem 2).  With acceptance
they need not be: then groups whose labels change whether a state accepts are joined,
and unions of them tried, the smaller first.

Labels that change no state, and those that no transition has, restrict nothing that
another factor does.  They make no factor of their own but go to the largest: a
component of one state would only be one more to look at.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.factoring.exactness import Split, as_product
from ltlpipe.components.factoring.independence import (
    changing_labels,
    dependent_labels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.components.factoring.minimal_form import MinimalForm
    from ltlpipe.runtime.jobs import Job

MOST_UNITED = 8
"""Groups of labels that change acceptance whose unions are tried."""

MOST_COUNTED = 1 << 21
"""Transitions that are looked at for that, in all unions together."""

Groups = list[np.ndarray]


def finest_split(form: MinimalForm, *, together: bool = True) -> Job[Split | None]:
    """Find the finest exact split; None if there is only the whole.

    Parameters
    ----------
    form : MinimalForm
        The component.
    together : bool
        Components have to accept in the same state; otherwise at most one factor has
        states that do not accept.
    """
    dependent = yield from dependent_labels(form, together=together)
    groups = _groups(form, dependent)
    split = yield from _split(form, groups)
    if split is None and form.accepting is not None:
        groups = yield from _with_unions(form, groups)
        split = yield from _split(form, groups)
    return split


def _groups(form: MinimalForm, dependent: np.ndarray) -> Groups:
    """Return the classes of labels that move, connected by dependency."""
    moving = np.unique(form.label[form.src != form.dst])
    left = set(moving.tolist())
    groups = []
    while left:
        todo = [min(left)]
        group = set(todo)
        while todo:
            new = set(np.flatnonzero(dependent[todo.pop()]).tolist()) - group
            group |= new
            todo += new
        left -= group
        groups.append(np.array(sorted(group), dtype=np.int64))
    return groups


def _split(form: MinimalForm, groups: Groups) -> Job[Split | None]:
    """Return an exact split whose largest factor has the labels of no group."""
    if len(groups) < 2 or 1 << len(groups) > form.n_states:  # a group has two states
        return None
    others = np.setdiff1d(np.arange(form.n_labels), np.concatenate(groups))
    split = yield from as_product(form, [*groups[:-1], _union([groups[-1], others])])
    if split is None or not len(others):
        return split
    largest = int(np.argmax(split.sizes))
    groups = [
        _union([group, others]) if number == largest else group
        for number, group in enumerate(groups)
    ]
    return (yield from as_product(form, groups))


def _with_unions(form: MinimalForm, groups: Groups) -> Job[Groups]:
    """Unite groups, of those that change acceptance, that are not exact by themselves.

    What is exact is closed under union, intersection and complement; so the least sets
    of groups that are exact are found one after the other, by their sizes.
    """
    changing = changing_labels(form)
    left = [group for group in groups if np.isin(group, changing).any()]
    done = [group for group in groups if not np.isin(group, changing).any()]
    counted = form.n_transitions << len(left)
    if len(left) > MOST_UNITED or counted > MOST_COUNTED:
        return [*done, _union(left)]
    size = 1
    while 2 * size <= len(left):
        for chosen in combinations(range(len(left)), size):
            part = _union([left[k] for k in chosen])
            rest = np.setdiff1d(np.arange(form.n_labels), part)
            if (yield from as_product(form, [part, rest])) is not None:
                done.append(part)
                left = [group for k, group in enumerate(left) if k not in chosen]
                break
        else:
            size += 1
    return [*done, _union(left)] if left else done


def _union(groups: Sequence[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate(groups))
