"""Pairs of places of a net that may be marked together: an over-approximation.

A relation holds of all pairs of places that some reachable marking marks, and of each
place that one marks, with itself; and a set has all places that ever have several
tokens.  Both are the least that the initial marking and the transitions ask for: a
transition may fire if its inputs are related to each other, and in the set where it
takes several tokens.  Behind it its outputs are related to each other, and to all
places that were related to all inputs; inputs only if they may have had several tokens.
An output that was such a place, or gets several tokens, may have several.  So whatever
a run marks is related, by induction over its steps.

Source: A. Kovalyov, "Concurrency Relations and the Safety Problem for Petri Nets",
Application and Theory of Petri Nets 1992, LNCS 616, pp. 299-309.

Differences from the source: nets need not be safe.

Cost: a transition is looked at again if something new is known of its inputs; this
takes the number of places, for each input and output.  In the order in which tokens
reach them that is a quarter as often as in that of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    Weights = Mapping[int, int]

MOST_PLACES = 3_000
"""Places of the largest net about which this is asked."""

MOST_WORK = 1.5e6
"""Microseconds after which it is given up."""

_PER_TRANSITION, _PER_ENTRY = 15.0, 0.001  # microseconds


class Concurrency(NamedTuple):
    """What may be marked together, of n places."""

    related: np.ndarray  # bool[n, n], symmetric
    several: np.ndarray  # bool[n], places that may have several tokens

    def allows(self, inputs: Weights) -> bool:
        """Whether places may have so many tokens together."""
        places = sorted(inputs)
        return bool(self.related[np.ix_(places, places)].all()) and all(
            self.several[place] for place, weight in inputs.items() if weight > 1
        )

    def exclusive(self) -> np.ndarray:
        """Return bool[n, n]: pairs of places that have one token at most together."""
        found: np.ndarray = ~self.related & ~self.several & ~self.several[:, None]
        np.fill_diagonal(found, val=False)
        return found


def concurrency(
    tokens: Sequence[int], transitions: Sequence[tuple[Weights, Weights]]
) -> Generator[float, None, Concurrency | None]:
    """Find what may be marked together; yield the work, in microseconds.

    None is returned if it is too much.

    Parameters
    ----------
    tokens : sequence of int
        The initial marking.
    transitions : sequence of tuple
        What each takes from places, and what it puts there.
    """
    held = np.array([min(n, 2) for n in tokens], dtype=np.int64)
    found = Concurrency(np.outer(held > 0, held > 0), held > 1)
    related, several = found
    news = np.zeros(len(tokens), dtype=np.int64)  # when a row or `several` changed
    seen = [-1] * len(transitions)
    now, last, left = 0, -1, MOST_WORK
    order = _order(held, transitions)
    while last < now:
        last = now
        for t in order:
            inputs, outputs = transitions[t]
            taken, put = list(inputs), sorted(outputs)
            newest = news[taken].max() if taken else news.max(initial=0)
            if newest <= seen[t] or not put:
                continue
            work = _PER_TRANSITION + _PER_ENTRY * len(tokens) * (len(taken) + len(put))
            yield work
            left -= work
            if left < 0:
                return None
            seen[t] = now
            if not found.allows(inputs):
                continue
            kept = np.array(related[taken].all(axis=0) if taken else related.diagonal())
            kept[[p for p in taken if not several[p]]] = False
            more = [p for p in put if (outputs[p] > 1 or kept[p]) and not several[p]]
            kept[put] = True
            new = kept & ~related[put]
            if more or new.any():
                now += 1
                several[more] = True
                related[put] |= kept
                related[:, put] |= kept[:, None]
                news[more] = now
                news[np.r_[np.flatnonzero(new.any(axis=0)), put]] = now
    return found


def _order(held: np.ndarray, moves: Sequence[tuple[Weights, Weights]]) -> list[int]:
    """Return the transitions that may fire, in the order in which tokens reach them."""
    missing = [len(inputs) for inputs, _ in moves]
    takers: dict[int, list[int]] = {}
    for t, (inputs, _) in enumerate(moves):
        for place in inputs:
            takers.setdefault(place, []).append(t)
    order = [t for t, n in enumerate(missing) if not n]
    reached: set[int] = set()
    waiting = np.flatnonzero(held).tolist()
    begun = 0
    while waiting or begun < len(order):
        for place in waiting:
            if place not in reached:
                reached.add(place)
                for t in takers.get(place, ()):
                    missing[t] -= 1
                    if not missing[t]:
                        order.append(t)
        waiting = list(moves[order[begun]][1]) if begun < len(order) else []
        begun += 1
    return order


def ended(finding: Generator[float, None, Concurrency | None]) -> Concurrency | None:
    """Return what is found, without pauses."""
    while True:
        try:
            next(finding)
        except StopIteration as end:
            found: Concurrency | None = end.value
            return found
