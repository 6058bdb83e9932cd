"""Plans: how often transitions fire on the way to a marking, by linear programs.

A plan is a solution of the state equation with the fewest firings in all, rounded up.
It is a hint: no run need follow it.

Source: K. Schmidt, "Narrowing Petri Net State Spaces Using the State Equation",
Fundamenta Informaticae 47, 2001, pp. 325-335.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ltlpipe.linear.equation import TooLongError
from ltlpipe.linear.proof import PHASE, equation_of
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from ltlpipe.linear.constraints import Constraint

Plan = list[list[int]]


@remote(PHASE)
def plans(
    arrays: list[Any], goals: list[list[Constraint]], seconds: float
) -> list[Plan]:
    """Return for each conjunction of rows the transitions of a plan, and how often.

    Both lists are empty where there is none, or after so many seconds of CPU time.
    `arrays` are those of `ltlpipe.linear.proof.prove`.
    """
    equation = equation_of(arrays)
    equation.deadline = time.process_time() + seconds
    alike: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for transition, effect in enumerate(equation.net.effects):
        alike.setdefault(tuple(sorted(effect.items())), []).append(transition)
    found: list[Plan] = []
    for rows in goals:
        try:
            counts = equation.fewest_firings(rows)
        except TooLongError:
            counts = {}
        pairs = [(t, n) for effect, n in counts.items() for t in alike[effect]]
        found.append([list(column) for column in zip(*pairs, strict=True)] or [[], []])
    return found
