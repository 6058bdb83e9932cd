"""Which share of the reachable states has a search over bits visited?

How many of the states that it met were taken for visited follows from the load of the
bits.  What lies behind those is known only by analogy: if most states are entered by
several others, little is hidden; where each is entered by one, as on a path or in a
tree, one omission can hide any number of states.  How often states are met is counted
in a sample.

Let t be the number of unseen states per seen one.  A state is unseen if it is omitted,
or if none of its predecessors is seen.  If seen states are those that a random sample
of predecessors leads to, the states that were not met are, per one that was,

    g(t) = h1 t - h2 t^2 + h3 t^3 - ...

where hk is the share of the states met that were met from k others.  That is the
extrapolation of Good and Toulmin to a sample 1 + t times as large, the whole.  With the
omitted states per visited one, q, this gives the equation 1 + t = (1 + q) (1 + g(t)).
It has no small solution if h1 is near 1: then nothing can be said.

Source: I. J. Good and G. H. Toulmin, "The number of new species, and the increase in
population coverage, when a sample is increased", Biometrika 43, 1956.
"""

from __future__ import annotations

import numpy as np

CERTAIN = 0.01
"""Expected omissions up to which all reachable states have been visited, surely."""

STEEPEST = 0.9
"""Unseen states behind an unseen one, on average, from which on nothing is said."""

_MOST_UNSEEN = 1.0  # states per seen one: the series is of no use beyond
_ROUNDS = 1000


def reached_share(omitted: float, n_states: int, histogram: np.ndarray) -> float | None:
    """Return the share of the reachable states that was visited, if it can be told.

    Parameters
    ----------
    omitted : float
        States met and taken for visited.
    n_states : int
        States visited, at least one.
    histogram : float64[k]
        Share of the states met that were met from 0, 1, 2, ... others.
    """
    q = omitted / n_states
    if omitted <= CERTAIN:
        return 1 / (1 + q)
    times = np.arange(len(histogram))
    signs = np.where(times % 2 == 1, 1.0, -1.0)
    signs[0] = 0
    if len(histogram) < 2 or histogram[1] * (1 + q) >= STEEPEST:
        return None
    unseen = q
    for _ in range(_ROUNDS):
        unmet = float(np.sum(signs * histogram * unseen**times))
        following = (1 + q) * (1 + unmet) - 1
        if following > _MOST_UNSEEN:
            return None
        if abs(following - unseen) < 1e-9 * (1 + unseen):
            break
        unseen = following
    return 1 / (1 + unseen)
