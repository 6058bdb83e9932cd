"""Inequalities that all markings satisfy and a solution of a linear program does not.

An initially marked trap always has a token; two places that are never marked together,
and have one token at most, have one token together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.linear.constraints import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.linear.net_arrays import Structure

_MOST_PAIRS = 10
"""Pairs of places that are excluded at once."""


def empty_trap(net: Structure, marking: np.ndarray) -> list[int] | None:
    """Return an initially marked trap without tokens in a marking, if there is one.

    It is the largest trap of the places without tokens.
    """
    (taking, taken), (putting, put) = net.arcs
    inside = marking < TOLERANCE
    while True:
        gains = np.bincount(
            putting[inside[put]], minlength=net.n_transitions
        )  # the places inside to which each puts
        lost = taken[gains[taking] == 0]
        if not inside[lost].any():
            break
        inside[lost] = False
    trap: list[int] = np.flatnonzero(inside).tolist()
    return trap if any(net.initial[p] for p in trap) else None


def trap_row(trap: Iterable[int]) -> Constraint:
    """Return the constraint that some places have a token."""
    return ["row", [[place, -1] for place in sorted(trap)], 1]


def pair_rows(net: Structure, marking: np.ndarray) -> list[Constraint]:
    """Return constraints of pairs of places that a marking violates most."""
    if net.exclusive_pairs is None:
        return []
    marked = np.flatnonzero(marking > TOLERANCE)
    pairs = net.exclusive_pairs[np.ix_(marked, marked)]
    own = marking[marked]
    excess = np.triu(np.where(pairs, own + own[:, None] - 1.0, 0.0))
    worst = np.argsort(excess, axis=None)[: -1 - _MOST_PAIRS : -1]
    worst = worst[excess.ravel()[worst] > TOLERANCE]
    found = np.column_stack(np.unravel_index(worst, excess.shape))
    return [["row", [[p, 1], [q, 1]], -1] for p, q in marked[found].tolist()]
