"""Bounds of places from invariants of a net.

A *semiflow* gives each place a weight y >= 0 such that firing changes no weighted
sum of tokens.  So no marking that can be reached has more than ``floor(y m0 / y_p)``
tokens in a place p of positive weight.  The same is true where firing may make that sum
less, as transitions do that empty places: of what they reset only what they put counts.
The places of a unit and of those around it are tried as weights of 1.  A place also has
a bound if whatever adds to it has a limit there.

Source: J. Martinez and M. Silva, "A Simple and Fast Algorithm to Obtain All Invariants
of a Generalised Petri Net", Application and Theory of Petri Nets, Informatik-
Fachberichte 52, Springer 1982, pp. 301-310.

Differences from the source: only linearly independent transitions are looked at, in
the order that makes fewest combinations; where there are too many combinations those
with most places are dropped, and so are those with large weights.  What is left is
checked against all transitions: it is sound, if not all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.structure import Bounds

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.structure import Net

_PHASE = "finding invariants"
_PAIR_BYTES = 16  # of a place and a change

MAX_ROWS = 256
"""Combinations that are kept at a time, if there are not more places."""

_MAX_WEIGHT = 1 << 20
_PAIRS = 4  # combinations that are looked at, for each that is kept
_MAX_EFFORT = 1 << 28  # numbers to be looked at, after which there are no bounds
_PER_ARC = 300  # numbers that take as long to be looked at as one arc
_PRIME = (1 << 31) - 1


def place_bounds(net: Net) -> Job[Bounds]:
    """Return what the semiflows that are found say about the places of `net`."""
    n_places = len(net.places)
    tokens: list[int | None] = [None] * n_places
    share = np.full(n_places, 0.5)
    initial = net.initial()
    ticks = Ticks(_PHASE)
    if len(net.limits.place):
        tokens = _bounds_by_limits(net)
    flows = (yield from semiflows(net)).tolist()
    every = [{p: own for p, own in enumerate(flow) if own} for flow in flows]
    for support in [*every, *(yield from _exclusive(net, ticks))]:
        total = sum(own * initial[p] for p, own in support.items())
        for p, own in support.items():
            bound = total // own
            known = tokens[p]
            tokens[p] = bound if known is None else min(bound, known)
            share[p] = min(share[p], total / len(support))
        yield from ticks.worked(len(support))
    return Bounds(tokens, share)


def _exclusive(net: Net, ticks: Ticks) -> Job[list[dict[int, int]]]:
    """Return weights 1 of places in units of which no step increases the sum."""
    sets = net.notes.exclusive
    if len(sets) * len(net.needs.place) > _MAX_EFFORT:
        return []
    owner, place, change = net.effects(np.arange(len(net.transitions)))
    if np.abs(change).max(initial=0) > _MAX_WEIGHT:  # floating-point sums are exact
        return []
    found = []
    for own in sets:
        inside = np.zeros(len(net.places), dtype=np.bool_)
        inside[own] = True
        gains = np.bincount(owner, weights=inside[place] * change)
        if gains.max(initial=0) <= 0:
            found.append(dict.fromkeys(own, 1))
        yield from ticks.worked(2 * len(owner))
    return found


def _bounds_by_limits(net: Net) -> list[int | None]:
    """Return the most that transitions leave in places, where all have limits."""
    tokens: list[int | None] = list(net.initial())
    for transition in net.transitions:
        for place, added in transition.differences().items():
            if place not in transition.resets:
                if added <= 0:
                    continue
                limit = transition.limits.get(place)
                added = None if limit is None else added + limit
            known = tokens[place]
            both = known is not None and added is not None
            tokens[place] = max(known, added) if both else None
    return tokens


def semiflows(net: Net, max_rows: int = MAX_ROWS) -> Job[np.ndarray]:
    """Return semiflows, int64[k, n_places]; all minimal ones if they are few."""
    n_places = len(net.places)
    none = np.zeros((0, n_places), dtype=np.int64)
    ticks = Ticks(_PHASE, 1e-3)  # per number that is looked at
    yield ticks.progress
    effect = yield from _different_effects(net, ticks)
    if effect is None or np.abs(effect).max(initial=0) > _MAX_WEIGHT:
        return none
    yield ticks.progress
    columns = effect[:, (yield from _independent(effect, ticks))]
    rows = np.hstack([columns, np.eye(n_places, dtype=np.int64)])
    n_columns = columns.shape[1]
    max_rows = max(max_rows, n_places)
    left = np.ones(n_columns, dtype=np.bool_)
    effort = 0
    while left.any() and len(rows):
        gains = (rows[:, :n_columns] > 0).sum(axis=0)
        losses = (rows[:, :n_columns] < 0).sum(axis=0)
        pairs = np.where(left, gains * losses - gains - losses, len(rows) ** 2)
        column = int(pairs.argmin())
        n_pairs = min(int(gains[column] * losses[column]), _PAIRS * max_rows)
        work = (len(rows) + n_pairs) ** 2 * n_places // 64
        effort += work
        if effort > _MAX_EFFORT:
            return none
        yield from ticks.worked(work + rows.size)
        rows = _without(rows, column, n_columns, max_rows)
        left[column] = False
    flows = rows[:, n_columns:]
    sound = np.zeros(len(flows), dtype=np.bool_)
    for k, flow in enumerate(flows):
        # No sum can overflow: weights and effects are small.
        sound[k] = not (flow @ effect).any()
        yield from ticks.worked(effect.size)
    return np.asarray(flows[sound])


def _different_effects(net: Net, ticks: Ticks) -> Job[np.ndarray | None]:
    """Return int64[n_places, k]: what transitions change, those with few places first.

    None if there are too many different effects for a matrix to be eliminated.  That is
    decided before there is one, which would take gigabytes for a net of some thousand
    places.
    """
    most = _MAX_EFFORT // max(len(net.places), 1) ** 2
    different: dict[bytes, None] = {}  # pairs of place and change
    for piece in net.pieces():
        owner, place, change = net.effects(piece)
        data = np.column_stack([place, change]).tobytes()
        counts = np.bincount(owner, minlength=len(piece))
        begin = 0
        for end in (_PAIR_BYTES * np.cumsum(counts)).tolist():
            if end > begin:
                different[data[begin:end]] = None
            begin = end
        if len(different) > most:
            return None
        yield from ticks.worked(_PER_ARC * (len(piece) + len(owner)))
    texts = sorted(different, key=len)
    pairs = np.frombuffer(b"".join(texts), dtype=np.int64).reshape(-1, 2)
    effect = np.zeros((len(net.places), len(texts)), dtype=np.int64)
    column = np.repeat(np.arange(len(texts)), [len(t) // _PAIR_BYTES for t in texts])
    effect[pairs[:, 0], column] = pairs[:, 1]
    return effect


def _independent(effect: np.ndarray, ticks: Ticks) -> Job[list[int]]:
    """Return linearly independent columns, sparse ones first.

    They are found modulo a prime: some may be missing, which is noticed later.
    """
    reduced = effect % _PRIME
    chosen: list[int] = []
    row = 0
    for column in range(effect.shape[1]):
        below = np.flatnonzero(reduced[row:, column])
        if not len(below):
            continue
        reduced[[row, row + below[0]]] = reduced[[row + below[0], row]]
        inverse = pow(int(reduced[row, column]), -1, _PRIME)
        reduced[row] = reduced[row] * inverse % _PRIME
        others = row + 1 + np.flatnonzero(reduced[row + 1 :, column])
        factor = reduced[others, column][:, None]
        reduced[others] = (reduced[others] - factor * reduced[row] % _PRIME) % _PRIME
        chosen.append(column)
        row += 1
        yield from ticks.worked(10 * (len(others) + 1) * effect.shape[1])
        if row == effect.shape[0]:
            break
    return chosen


def _without(
    rows: np.ndarray, column: int, n_columns: int, max_rows: int
) -> np.ndarray:
    """Combine rows in pairs so that `column` becomes zero; drop the others."""
    values = rows[:, column]
    kept = rows[values == 0]
    plus = _smallest(rows[values > 0], n_columns, max_rows)
    minus = _smallest(
        rows[values < 0], n_columns, _PAIRS * max_rows // max(len(plus), 1)
    )
    joint = (
        plus[:, None, :] * -minus[None, :, column, None]
        + minus[None, :, :] * plus[:, None, column, None]
    ).reshape(-1, rows.shape[1])
    if len(joint):
        joint //= np.gcd.reduce(joint, axis=1)[:, None]
        joint = joint[np.abs(joint).max(axis=1) <= _MAX_WEIGHT]
    every = np.concatenate([kept, joint])
    if len(every) > max(len(rows), max_rows // 4):
        every = _minimal(every, n_columns)
    return _smallest(every, n_columns, max_rows)


def _minimal(rows: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the rows whose set of places includes no other one's."""
    places = _words(rows[:, n_columns:] != 0)
    _, first = np.unique(places, axis=0, return_index=True)
    places, rows = places[first], rows[first]
    included = np.ones((len(rows), len(rows)), dtype=np.bool_)  # [i, j]: i in j
    for word in places.T:
        included &= word[:, None] & ~word[None, :] == 0
    np.fill_diagonal(included, False)
    return np.asarray(rows[~included.any(axis=0)])


def _words(bits: np.ndarray) -> np.ndarray:
    """Return bool[n, m] as uint64[n, k], 64 bits to a word."""
    packed = np.packbits(bits, axis=1)
    whole = np.zeros((len(bits), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view(np.uint64)


def _smallest(rows: np.ndarray, n_columns: int, max_rows: int) -> np.ndarray:
    """Return at most `max_rows` rows, those with fewest places."""
    if len(rows) <= max_rows:
        return rows
    size = np.count_nonzero(rows[:, n_columns:], axis=1)
    return rows[np.argsort(size, kind="stable")[:max_rows]]
