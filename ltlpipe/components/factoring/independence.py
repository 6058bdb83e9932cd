"""Which labels of a component depend on each other.

Labels a, b are *independent* if their steps span unique squares: for s -a-> x -b-> w
there is exactly one z with s -b-> z -a-> w, the same with a and b exchanged, and for
s -a-> x and s -b-> z there is exactly one w with x -b-> w and z -a-> w.  Then neither
enables or disables the other, and they commute.  Labels of different factors of a
product are independent, so labels that are not belong to one factor.

Everything is looked at state by state: the paths of two steps and the pairs of steps
that leave it are written as numbers, sorted and compared.

Cost: O(p log p) for p such paths and pairs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import factoring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.components.factoring.minimal_form import MinimalForm
    from ltlpipe.runtime.jobs import Job

_AT_ONCE = 1 << 16  # paths and pairs that are sorted between two yields
_PATH_WORK = 0.1
_PATH_BYTES = 100


class Effort(NamedTuple):
    """The paths and pairs of a component that have to be looked at."""

    total: int
    largest: int  # of one state


class _Graph(NamedTuple):
    """A component with what is looked up of its transitions again and again."""

    form: MinimalForm
    first: np.ndarray  # int64[n + 1], where the transitions of each state begin
    later: np.ndarray  # int64[m], where those with a later label begin, same source


def _outgoing(form: MinimalForm) -> np.ndarray:
    return np.searchsorted(form.src, np.arange(form.n_states + 1))


def effort(form: MinimalForm) -> Effort:
    """Count what `dependent_labels` has to look at."""
    per_state = _per_state(form, _outgoing(form))
    return Effort(int(per_state.sum()), int(per_state.max()))


def _per_state(form: MinimalForm, first: np.ndarray) -> np.ndarray:
    """Return the paths and pairs that begin in each state, float64[n]."""
    degree = np.diff(first).astype(np.float64)
    paths = np.bincount(form.src, weights=degree[form.dst], minlength=form.n_states)
    return np.asarray(paths + degree * degree)


def dependent_labels(form: MinimalForm, *, together: bool) -> Job[np.ndarray]:
    """Find the labels that depend on each other: bool[n_labels, n_labels], symmetric.

    Parameters
    ----------
    form : MinimalForm
        With acceptance, labels also depend on each other if both change whether a
        state accepts, and not as in a product.
    together : bool
        Components have to accept in the same state.  Otherwise all labels that change
        whether a state accepts depend on each other, so that one factor accepts.
    """
    combined = form.src * form.n_labels + form.label
    graph = _Graph(
        form, _outgoing(form), np.searchsorted(combined, combined, side="right")
    )
    found = np.zeros(form.n_labels * form.n_labels, dtype=np.bool_)
    for begin, end in _pieces(_per_state(form, graph.first)):
        yield from _look(graph, begin, end, found)
    table: np.ndarray = found.reshape(form.n_labels, form.n_labels)
    if form.accepting is not None and not together:
        changing = changing_labels(form)
        table[changing[:1], changing] = True
    return np.asarray(table | table.T)


def changing_labels(form: MinimalForm) -> np.ndarray:
    """Return the labels on transitions between states of which one accepts."""
    if form.accepting is None:
        return np.empty(0, dtype=np.int64)
    changes = form.accepting[form.src] != form.accepting[form.dst]
    return np.unique(form.label[changes])


def _pieces(per_state: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of states with not much more than `_AT_ONCE` to look at."""
    place = np.cumsum(per_state) // _AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), len(per_state)]
    yield from pairwise(bounds)


def _look(graph: _Graph, begin: int, end: int, found: np.ndarray) -> Job[None]:
    """Note in bool[n_labels ** 2] the labels that depend on each other in some states.

    The number of a pair of labels is that of the lower one times n_labels, plus the
    higher one; the states are those from `begin` up to `end`.
    """
    form, first, later = graph
    own = np.arange(first[begin], first[end])
    middle = form.dst[own]
    step, second = _each(own, first[middle], first[middle + 1])
    yield factoring(len(step) * _PATH_WORK, len(step) * _PATH_BYTES)
    low, high = form.label[step], form.label[second]
    pair = np.minimum(low, high) * form.n_labels + np.maximum(low, high)
    key = (form.src[step] - begin) * len(found) + pair
    key = key * form.n_states + form.dst[second]  # where, which labels, and where to

    upward, downward = low < high, low > high
    up, up_step = _by_key(key[upward], step[upward])
    down, down_step = _by_key(key[downward], step[downward])
    place, in_both = _places(up, down)
    _, in_up = _places(down, up)
    for wrong in (_repeated(up), _repeated(down), up[~in_both], down[~in_up]):
        found[wrong // form.n_states % len(found)] = True

    # What is left of both are squares, with their first steps either way.
    left, right = up_step[in_both], down_step[place[in_both]]
    yield factoring(len(left) * _PATH_WORK, len(step) * _PATH_BYTES)
    if form.accepting is not None:
        accepts = form.accepting
        corners = accepts[form.src[left]] & accepts[up[in_both] % form.n_states]
        between = accepts[form.dst[left]] & accepts[form.dst[right]]
        _note(form, left, right, corners != between, found)
    square, left = _by_key(left * form.n_transitions + right, left)
    right = square % form.n_transitions
    _note(form, left[1:], right[1:], square[1:] == square[:-1], found)
    one, other = _each(own, later[own], first[form.src[own] + 1])
    _, closed = _places(one * form.n_transitions + other, square)
    _note(form, one, other, ~closed, found)


def _note(
    form: MinimalForm,
    one: np.ndarray,
    other: np.ndarray,
    where: np.ndarray,
    found: np.ndarray,
) -> None:
    """Note the labels of pairs of transitions, the lower label first."""
    found[form.label[one[where]] * form.n_labels + form.label[other[where]]] = True


def _each(
    owners: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return all (owner, number) with begin <= number < end of the owner."""
    count = end - begin
    before = np.cumsum(count) - count
    shift = np.repeat(begin - before, count)
    return np.repeat(owners, count), np.arange(len(shift)) + shift


def _by_key(key: np.ndarray, *beside: np.ndarray) -> tuple[np.ndarray, ...]:
    order = np.argsort(key, kind="stable")
    return tuple(column[order] for column in (key, *beside))


def _repeated(key: np.ndarray) -> np.ndarray:
    """Return the sorted keys that stand more than once."""
    return np.asarray(key[1:][key[1:] == key[:-1]])


def _places(key: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where keys stand among sorted ones, and whether they do."""
    place = np.searchsorted(known, key)
    if not len(known):
        return place, np.zeros(len(key), dtype=np.bool_)
    nearest = known[np.minimum(place, len(known) - 1)]
    return place, np.asarray(nearest == key)
