"""Estimates of the share of the reachable states that a bitstate search has visited.

How many of the states that it met were taken for visited follows from the load of the
bits.  What lies behind those is known only by analogy: if most states are entered by
several others, little is hidden; where each is entered by one, as on a path or in a
tree, one omission can hide any number of states.  How often states are met is counted
in a sample: the states whose hash is small enough, so that searches of one product with
different hash functions of their bits have the same states in their samples.  It is
halved whenever it is full.

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

**Several searches of one product.**  What they have seen together is estimated from a
sample of states, the same for all: those with a small hash.
What none has seen is estimated from the states that one or two have seen (A. Chao,
"Estimating the population size for capture-recapture data with unequal catchability",
Biometrics 43, 1987), or from the estimate of each, whichever is more.

Searches on different machines tell each other by a text, which a row of a table has
room for: the figures of each and the smallest hashes of its sample.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import LtlpipeError

if TYPE_CHECKING:
    from collections.abc import Sequence

CERTAIN = 0.01
"""Expected omissions up to which all reachable states have been visited, surely."""

STEEPEST = 0.9
"""Unseen states behind an unseen one, on average, from which on nothing is said."""

_MOST_UNSEEN = 1.0  # states per seen one: the series is of no use beyond
_ROUNDS = 1000

MOST_HASHES = 512
"""Hashes of a sample that a text has, eight bytes each."""


@dataclass(frozen=True)
class Member:
    """What one search has seen."""

    states: int  # visited
    transitions: int
    coverage: float | None  # the estimated share of the reachable states
    omitted: float  # states met and taken for visited, probably
    sample: np.ndarray  # uint64[n], hashes of visited states up to `most`
    most: int


@dataclass(frozen=True)
class Joint:
    """What several searches have seen together, as far as that can be estimated."""

    states: int  # about so many
    coverage: float | None  # the share of the reachable states


def together(members: Sequence[Member]) -> Joint:
    """Estimate what searches of one product have seen together."""
    most = min(member.most for member in members)
    samples = [member.sample[member.sample <= most] for member in members]
    _, times = np.unique(np.concatenate(samples), return_counts=True)
    largest = max(member.states for member in members)
    n_sampled = sum(map(len, samples))
    shares = [member.coverage for member in members]
    known = [share for share in shares if share is not None]
    if n_sampled == 0:
        return Joint(largest, max(known) if len(known) == len(members) else None)
    scale = sum(member.states for member in members) / n_sampled
    states = max(largest, round(scale * len(times)))
    if len(known) < len(members):
        return Joint(states, None)
    totals = [m.states / share for m, share in zip(members, known, strict=True)]
    once, twice = int(np.sum(times == 1)), int(np.sum(times == 2))
    unseen = once * (once - 1) / (2 * (twice + 1)) * (len(members) - 1) / len(members)
    recaptured = len(times) / (len(times) + unseen)
    return Joint(states, min(1.0, recaptured, states / float(np.mean(totals))))


def encoded(product: str, members: Sequence[Member]) -> str:
    """Return the searches of a product as a JSON text; `product` is its name."""
    searches = []
    for member in map(_reduced, members):
        hashes = base64.b64encode(member.sample.astype("<u8").tobytes()).decode()
        figures = (member.states, member.transitions, member.coverage, member.omitted)
        searches.append([*figures, member.most, hashes])
    return json.dumps({"product": product, "searches": searches})


def decoded(text: str) -> tuple[str, list[Member]]:
    """Return the name of a product, and the searches of it, that a text tells.

    Raises
    ------
    LtlpipeError
        It is not what `encoded` returns.
    """
    try:
        told = json.loads(text)
        members = []
        for states, transitions, coverage, omitted, most, hashes in told["searches"]:
            kept = np.frombuffer(base64.b64decode(hashes, validate=True), dtype="<u8")
            share = None if coverage is None else float(coverage)
            figures = int(states), int(transitions), share, float(omitted)
            members.append(Member(*figures, kept.astype(np.uint64), int(most)))
        return str(told["product"]), members
    except (ValueError, TypeError, KeyError, RecursionError):
        raise LtlpipeError(
            f"sample {text[:60]!r}: expected what a bitstate search has written"
        ) from None


def _reduced(member: Member) -> Member:
    """Return a member with the smallest hashes of its sample only."""
    if len(member.sample) <= MOST_HASHES:
        return member
    least = np.sort(member.sample)[:MOST_HASHES]
    return replace(member, sample=least, most=int(least[-1]))


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
