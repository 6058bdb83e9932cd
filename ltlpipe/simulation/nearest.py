"""A shortest path from a state to the nearest state with given values."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sized

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.verdict.walkers import Taken, Walker

MOST_SEARCHED = 50_000
"""Limit on the states that are explored."""

MOST_DRAWN = 10_000
"""Limit on the steps of a state, for random walks and searches."""

STEP_WORK = 20.0
"""Units of work per step."""

_STATE_BYTES, _VALUE_BYTES = 400.0, 16.0


def state_bytes(values: Sized) -> float:
    """Return the bytes of a state and of the step that reached it."""
    return _STATE_BYTES + _VALUE_BYTES * len(values)


def nearest_way(
    walker: Walker, start: Any, is_wanted: Callable[[Any], bool]
) -> Job[list[Taken]]:
    """Return the steps of a shortest path to a matching state.

    Raises
    ------
    UnsupportedError
        There is none, or not among the nearest states.
    """
    if is_wanted(start):
        return []
    before: dict[Any, tuple[Any, Taken] | None] = {start: None}
    queue = [start]
    ticks, per_state = Ticks("searching", STEP_WORK), state_bytes(walker.shown(start))
    for state in queue:  # it grows
        for taken in islice(walker.each_step(state), MOST_DRAWN):
            if ticks.over():
                ticks.memory_bytes = per_state * len(queue)
                yield ticks.progress
            if taken.state in before:
                continue
            before[taken.state] = state, taken
            if is_wanted(taken.state):
                return _way(before, taken.state)
            queue.append(taken.state)
        if len(queue) > MOST_SEARCHED:
            raise UnsupportedError(
                f"no such state is among the nearest {MOST_SEARCHED:,}"
            )
    raise UnsupportedError("no such state can be reached from here")


def _way(before: Mapping[Any, tuple[Any, Taken] | None], state: Any) -> list[Taken]:
    """Return the steps that lead to a state."""
    steps = []
    while (last := before[state]) is not None:
        state, taken = last
        steps.append(taken)
    return steps[::-1]
