"""The finest exact split of a component.

There is one: two exact splits have an exact common refinement (docs/factoring.md,
Theorem 3).  Labels that depend on each other share a factor; of a minimal component
without acceptance the groups that this makes are exact (Theorem 2).  With acceptance
they need not be: then groups whose labels change whether a state accepts are joined,
and unions of them tried, the smaller first.

Labels that change no state, and those that no transition has, restrict nothing that
another factor does.  They make no factor of their own but go to the largest: a
component of one state would only be one more to look at.

*Exactness.*  The coordinate of a state in a part is its class among the states that the
other parts' labels connect, in whatever direction.  The component is the composition of
the parts iff no two states agree in all coordinates, there are as many states as the
numbers of coordinates multiply to, as many transitions as the parts' make with all
states of the others, and as many accepting states as the parts' accepting coordinates
multiply to (docs/factoring.md, Theorem 1).  That is counted.

*Independence.*  Labels a, b are independent if their steps span unique squares: for
s -a-> x -b-> w there is exactly one z with s -b-> z -a-> w, the same with a and b
exchanged, and for s -a-> x and s -b-> z there is exactly one w with x -b-> w and
z -a-> w.  Then neither enables or disables the other, and they commute.  Labels of
different factors of a product are independent, so labels that are not belong to one
factor.  Everything is looked at state by state: the paths of two steps and the pairs of
steps that leave it are written as numbers, sorted and compared.

Cost: O(m log n) for each part, m transitions; O(p log p) for p paths of two steps and
pairs.

What is factored of a component: its quotient by strong bisimilarity.

Of a minimal component the exact splits are those into isomorphic copies
(docs/factoring.md, Theorem 1), which counting decides.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import ENTRY_WORK, factoring
from ltlpipe.runtime.arrays import distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS

MOST_PLAIN = 4_096
"""Transitions of a component that is refined in plain Python."""

MOST_LOOKS = 20_000
"""Looks at states in all rounds of that: about ten milliseconds."""

_REACHING_WORK = 0.25
_FIXED = 100

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


class MinimalForm(NamedTuple):
    """The quotient of the reachable part of a component: n states, m transitions.

    The initial state is 0; transitions are sorted, each once.
    """

    n_states: int
    n_labels: int  # of the whole alphabet
    src: np.ndarray  # int64[m]
    label: np.ndarray  # int64[m], as the component numbers labels
    dst: np.ndarray  # int64[m]
    accepting: np.ndarray | None  # bool[n]
    state_of: np.ndarray  # int64[component.n_states], -1 where not reachable

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.src)


def minimal_form(component: LTS) -> Job[MinimalForm]:
    """Find the quotient of a component; internal labels are labels like others.

    Small components are refined in plain Python: most networks have no others, and
    kernels would have to be compiled, or loaded, for what takes a millisecond.
    """
    n, n_labels = component.n_states, len(component.labels)
    whole = (component.src, component.label, component.dst)
    src, label, dst = _unique(n, n_labels, *(c.astype(np.int64) for c in whole))
    first, ends = np.searchsorted(src, np.arange(n + 1)).tolist(), dst.tolist()
    reached = [component.initial]
    number = {component.initial: 0}
    for state in reached:  # grows while it is read
        for target in ends[first[state] : first[state + 1]]:
            if target not in number:
                number[target] = len(reached)
                reached.append(target)
    place = np.full(n, -1, dtype=np.int64)
    place[reached] = np.arange(len(reached))
    inside = place[src] >= 0
    columns = place[src[inside]], label[inside], place[dst[inside]]
    flags = None if component.accepting is None else component.accepting[reached]
    classes, work = None, _REACHING_WORK
    if component.n_transitions <= MOST_PLAIN:
        classes, work = _plain_classes(len(reached), n_labels, columns, flags), 1
    yield factoring(work * (component.n_transitions + _FIXED))
    if classes is None:
        classes = yield from _compiled_classes(len(reached), n_labels, columns, flags)
    count, block = classes
    src, label, dst = columns
    columns = _unique(count, n_labels, block[src], label, block[dst])
    accepting = None
    if flags is not None:
        accepting = np.zeros(count, dtype=np.bool_)
        accepting[block[flags]] = True
    state_of = np.append(block, -1)[place]
    return MinimalForm(count, n_labels, *columns, accepting, state_of)


def _plain_classes(
    n: int, n_labels: int, columns: Columns, flags: np.ndarray | None
) -> tuple[int, np.ndarray] | None:
    """Refine by signatures, all states in each round: the classes, and whose.

    A signature is the class so far, and the labels with the classes that they lead to.
    """
    src, label, dst = columns
    block = np.zeros(n, dtype=np.int64) if flags is None else flags.astype(np.int64)
    count, span = len(np.unique(block)), n * max(n_labels, 1)
    for _ in range(max(2, MOST_LOOKS // n)):
        keys = distinct(src * span + label * n + block[dst])
        bounds = np.searchsorted(keys, np.arange(n + 1) * span) * keys.itemsize
        offers = (keys % span).tobytes()
        known: dict[tuple[int, bytes], int] = {}
        ends = bounds.tolist()
        block = np.array(
            [
                known.setdefault((own, offers[begin:end]), len(known))
                for own, begin, end in zip(
                    block.tolist(), ends[:-1], ends[1:], strict=True
                )
            ],
            dtype=np.int64,
        )
        if len(known) == count:
            return count, block
        count = len(known)
    return None


def _unique(
    n: int, n_labels: int, src: np.ndarray, label: np.ndarray, dst: np.ndarray
) -> Columns:
    """Sort transitions, each once."""
    rest, dst = np.divmod(distinct((src * n_labels + label) * n + dst), n)
    src, label = np.divmod(rest, max(n_labels, 1))
    return src, label, dst


def _compiled_classes(
    n: int, n_labels: int, columns: Columns, flags: np.ndarray | None
) -> Job[tuple[int, np.ndarray]]:
    """Do `_plain_classes` with the kernel of component reduction."""
    from ltlpipe.components.refinement import classes
    from ltlpipe.components.transition_arrays import Steps, by_least_member

    marked = np.zeros(n, dtype=np.bool_) if flags is None else flags
    src, label, dst = (column.astype(np.int32) for column in columns)
    # One label more than there are, so that no step is silent.
    count, block = yield from classes(
        Steps(n, 0, n_labels + 1, src, label, dst, marked)
    )
    return count, by_least_member(count, block).astype(np.int64)


MOST_UNITED = 8
"""Groups of labels that change acceptance whose unions are tried."""

MOST_COUNTED = 1 << 21
"""Transitions that are looked at for that, in all unions together."""

Groups = list[np.ndarray]

_STATE_BYTES = 40
_AT_ONCE = 1 << 16  # paths and pairs that are sorted between two yields
_PATH_WORK = 0.1
_PATH_BYTES = 100


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
    _, own = _classes(form.n_labels, *np.nonzero(dependent))
    return [np.flatnonzero(own == k) for k in dict.fromkeys(own[moving].tolist())]


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
    return distinct(np.concatenate(groups))


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
        steps = len(local_steps(form, split, number)[0])
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


def local_steps(form: MinimalForm, split: Split, number: int) -> Columns:
    """Return sources, labels and targets of a factor, sorted, each transition once."""
    size, own = split.sizes[number], split.coordinates[number]
    taken = np.isin(form.label, split.groups[number])
    src, label, dst = form.src[taken], form.label[taken], form.dst[taken]
    return _unique(size, form.n_labels, own[src], label, own[dst])


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


class _Graph(NamedTuple):
    """A component with what is looked up of its transitions again and again."""

    form: MinimalForm
    first: np.ndarray  # int64[n + 1], where the transitions of each state begin
    later: np.ndarray  # int64[m], where those with a later label begin, same source


def _outgoing(form: MinimalForm) -> np.ndarray:
    return np.searchsorted(form.src, np.arange(form.n_states + 1))


def effort(form: MinimalForm) -> np.ndarray:
    """Count the paths and pairs that `dependent_labels` looks at, float64[n] by state.

    They begin there.
    """
    degree = np.diff(_outgoing(form)).astype(np.float64)
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
    for begin, end in _pieces(effort(form)):
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
