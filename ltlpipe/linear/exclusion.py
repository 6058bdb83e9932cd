"""Sets of places that never have two tokens together, proved by induction.

The places of a unit of a nested-unit net, and those of the units around it, are such
sets if the units are safe.  Nothing of this is taken on trust.  Initially the places of
a set have one token at most; a step that adds k to their sum needs a marking in which
that sum is at least 2 - k, if it is to be too large behind it; and linear programs
refute that the transition is enabled there, given that no set had two tokens before.
Sets for which they do not are left out, and the others proved again.

Source: H. Garavel, "Nested-Unit Petri Nets", Journal of Logical and Algebraic Methods
in Programming 104, 2019, pp. 60-85, Sec. 3 (unit-safeness).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ltlpipe.linear.cycles import enabled
from ltlpipe.linear.equation import TooLongError, premises_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.linear.equation import StateEquation
    from ltlpipe.linear.net_arrays import Structure

SECONDS = 2.0
"""CPU time after which nothing is known of such sets."""


def at_most_one(places: Collection[int]) -> Constraint:
    """Return the constraint that some places have one token at most."""
    return ["row", [[place, 1] for place in sorted(places)], -1]


def prove_exclusive(equation: StateEquation) -> list[dict[str, Any]]:
    """Let a state equation know which sets of its net have one token at most.

    Sets whose sum no transition increases are left out: it knows of these anyway.

    Returns
    -------
    list of dict
        The `places` of each set, and `steps`, lists of a transition that adds to it and
        the refutation of a step that adds too much.
    """
    found = _increasing(equation.net)
    deadline = equation.deadline
    equation.deadline = min(deadline, time.process_time() + SECONDS)
    try:
        while _has_lost(equation, found):
            pass
    except TooLongError:
        found = {}
        equation.know([])
    finally:
        equation.deadline = deadline
    return [
        {"places": sorted(places), "steps": [[t, own[1]] for t, own in steps.items()]}
        for places, steps in found.items()
    ]


def _increasing(net: Structure) -> dict[frozenset[int], dict[int, list[Any]]]:
    """Return, for sets that it is to be proved of, who adds to them and how much."""
    candidates = [
        own
        for own in dict.fromkeys(map(frozenset, net.exclusive))
        if sum(net.initial[place] for place in own) <= 1
    ]
    around: dict[int, list[frozenset[int]]] = {}
    for own in candidates:
        for place in own:
            around.setdefault(place, []).append(own)
    found: dict[frozenset[int], dict[int, list[Any]]] = {}
    for t, effect in enumerate(net.effects):
        gains: dict[frozenset[int], int] = {}
        for place, change in effect.items():
            for own in around.get(place, ()):
                gains[own] = gains.get(own, 0) + change
        for own, gain in gains.items():
            if gain > 0:
                found.setdefault(own, {})[t] = [gain, None]
    return found


def _has_lost(
    equation: StateEquation, found: dict[frozenset[int], dict[int, list[Any]]]
) -> bool:
    """Prove of sets what is not proved; return whether some were left out."""
    equation.know([at_most_one(own) for own in found])
    lost: list[frozenset[int]] = []
    for own, steps in found.items():
        for t, step in steps.items():
            if step[1] is None:
                before = ["row", [[place, -1] for place in sorted(own)], 2 - step[0]]
                said = [enabled(equation.net, t), before]
                step[1] = equation.refutation(said)
            if step[1] is None:
                lost.append(own)
                break
    for own in lost:
        del found[own]
    gone = [at_most_one(own) for own in lost]
    for step in [step for steps in found.values() for step in steps.values()]:
        if any(row in gone for row in premises_of(step[1])):
            step[1] = None
    return bool(lost)
