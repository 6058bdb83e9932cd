"""Is there a cycle with all marks in a graph whose transitions are stored already?

States are numbers, so nothing is packed, generated or looked up.

Source: J.-M. Couvreur, "On-the-Fly Verification of Linear Temporal Logic", FM 1999,
LNCS 1708, as `ltlpipe.search.scc.couvreur99`.

Differences from the source: none.

Invariants: roots ascend; a root carries the marks inside its SCC, and those of the
transition by which it was entered.

Cost: 32 bytes per state, those that cannot be reached included.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

BYTES_PER_STATE = 32

_BUDGET = 1 << 20  # transitions that one call of the kernel looks at
_STEP_WORK = 0.03  # microseconds of one


class At(IntEnum):
    """Places in the registers of `stored_step`."""

    DEPTH = 0  # states on the path
    MAX_DEPTH = 1  # its largest value
    COUNT = 2  # states that have been entered
    N_LIVE = 3  # those of incomplete SCCs
    N_ROOTS = 4
    STEPS = 5  # transitions that have been looked at
    FOUND = 6  # whether there is such a cycle


class Outcome(NamedTuple):
    """How a search ended."""

    found: bool
    states: int
    transitions: int
    max_depth: int


@njit
def enter(state, marks, first, arrays, at):
    """Enter a state by a transition with some marks."""
    number, cursor, path, live, root, inside, arc = arrays
    at[At.COUNT] += 1
    number[state] = at[At.COUNT]
    cursor[state] = first[state]
    path[at[At.DEPTH]] = state
    at[At.DEPTH] += 1
    at[At.MAX_DEPTH] = max(at[At.MAX_DEPTH], at[At.DEPTH])
    live[at[At.N_LIVE]] = state
    at[At.N_LIVE] += 1
    root[at[At.N_ROOTS]] = at[At.COUNT]
    inside[at[At.N_ROOTS]] = 0
    arc[at[At.N_ROOTS]] = marks
    at[At.N_ROOTS] += 1


@njit
def stored_step(first, dst, marks, full, arrays, at, budget):
    """Search on by at most `budget` transitions.

    Returns whether the search has ended; otherwise it is to be called again.

    first int64[n + 1], dst int32[m], marks uint32[m]
        The transitions of state s are those from ``first[s]`` to before
        ``first[s + 1]``; where each leads, and what it carries.
    full : uint32
        All marks.
    arrays : tuple
        Of n entries each: the number of each state, 0 before it is entered and -1 when
        its SCC is complete; its next transition; the states on the path; those of
        incomplete SCCs; the number of each root, and the two sets of marks it carries.
    at : int64[len(At)]
        Registers; see `At`.
    """
    number, cursor, path, live, root, inside, arc = arrays
    while at[At.DEPTH] > 0:
        if budget <= 0:
            return False
        state = path[at[At.DEPTH] - 1]
        edge = cursor[state]
        if edge < first[state + 1]:
            budget -= 1
            cursor[state] = edge + 1
            at[At.STEPS] += 1
            target = dst[edge]
            if number[target] == 0:
                enter(target, marks[edge], first, arrays, at)
            elif number[target] > 0:
                seen, last = marks[edge], at[At.N_ROOTS] - 1
                while root[last] > number[target]:
                    seen |= inside[last] | arc[last]
                    last -= 1
                inside[last] |= seen
                at[At.N_ROOTS] = last + 1
                if inside[last] == full:
                    at[At.FOUND] = 1
                    return True
            continue
        at[At.DEPTH] -= 1
        if root[at[At.N_ROOTS] - 1] == number[state]:
            at[At.N_ROOTS] -= 1
            member = np.int32(-1)
            while member != state:
                at[At.N_LIVE] -= 1
                member = live[at[At.N_LIVE]]
                number[member] = -1
    return True


def search_graph(
    first: np.ndarray, dst: np.ndarray, marks: np.ndarray, initial: int, n_marks: int
) -> Job[Outcome]:
    """Look for a reachable cycle that carries all marks.

    Parameters
    ----------
    first : int64[n + 1], dst : int32[m], marks : uint32[m]
        See `stored_step`.
    initial : int
        Where runs begin.
    n_marks : int
        At most 32.

    Raises
    ------
    StoppedError
        There is too little memory.
    """
    n = len(first) - 1
    progress = Progress("searching", memory_bytes=BYTES_PER_STATE * n)
    grant = yield progress
    if progress.memory_bytes > grant.memory_bytes:
        raise StoppedError("memory")
    kinds: tuple[type, ...] = (np.int32, np.int64, np.int32, np.int32, np.int32)
    arrays: Any = tuple(
        np.zeros(n, dtype=kind) for kind in (*kinds, np.uint32, np.uint32)
    )
    at = np.zeros(len(At), dtype=np.int64)
    yield from called(enter, np.int32(initial), np.uint32(0), first, arrays, at)
    graph = first, dst, marks, np.uint32((1 << n_marks) - 1), arrays
    while not (yield from called(stored_step, *graph, at, _BUDGET)):
        yield progress._replace(work=_BUDGET * _STEP_WORK, states=int(at[At.COUNT]))
    return Outcome(
        found=bool(at[At.FOUND]),
        states=int(at[At.COUNT]),
        transitions=int(at[At.STEPS]),
        max_depth=int(at[At.MAX_DEPTH]),
    )
