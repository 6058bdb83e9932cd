"""Silent SCCs: states that reach each other silently become one.

They can do the same after silent steps, and if a silent step stays inside, they can
run silently for ever: the state that stands for them is marked.

Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM Journal on
Computing 1(2), 1972, pp. 146-160, Sec. 4.

Differences from the source: an explicit stack instead of recursion; a state whose
SCC is complete has the lowlink n + 1, which no number reaches, instead of a flag that
says whether it is on the stack.

Cost: linear in the silent steps.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.equivalence.transition_arrays import Steps, by_least_member
from ltlpipe.components.progress import ENTRY_WORK, MANY, reducing
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job, Progress


_BUDGET = 1 << 20  # steps of one call of the kernel
_STEP_WORK = 0.02  # microseconds of one


def collapse(steps: Steps) -> Job[Steps]:
    """Make each silent SCC one state, marked if it can run silently for ever.

    Marks that are there already stay.  No silent step is left on a cycle.
    """
    silent = steps.label == steps.n_labels
    if not silent.any():
        return steps
    n = steps.n_states
    order = np.argsort(steps.src[silent], kind="stable")
    n_steps = len(steps.src)
    progress = reducing(n_steps * ENTRY_WORK, 2 * steps.memory_bytes)
    if n_steps > MANY:
        yield progress
    first = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(steps.src[silent], minlength=n), out=first[1:])
    scc, count = yield from sccs_of(first, steps.dst[silent][order], progress)
    if n_steps > MANY:
        yield progress
    scc = by_least_member(count, scc)
    src, dst = scc[steps.src], scc[steps.dst]
    inside = silent & (src == dst)
    marked = np.zeros(count, dtype=np.bool_)
    marked[scc[steps.marked]] = True
    marked[src[inside]] = True
    left = ~inside
    return Steps(
        count,
        int(scc[steps.initial]),
        steps.n_labels,
        src[left],
        steps.label[left],
        dst[left],
        marked,
    )


def sccs_of(
    first: np.ndarray, dst: np.ndarray, progress: Progress
) -> Job[tuple[np.ndarray, int]]:
    """Return the SCC of each of n states, int32[n], and how many there are.

    Parameters
    ----------
    first : int64[n + 1]
        The successors of state s are ``dst[first[s] : first[s + 1]]``.
    dst : int32[m]
        States.
    progress : Progress
        What to say between two calls of the kernel, but for the work.
    """
    n = len(first) - 1
    scc = np.empty(n, dtype=np.int32)
    number = np.zeros(n, dtype=np.int32)
    lowlink, current, path = (np.empty(n, dtype=np.int32) for _ in range(3))
    arrays = first, dst, scc, number, lowlink, current, path, first[:-1].copy()
    at = np.zeros(len(At), dtype=np.int64)
    while not (yield from called(number_sccs, *arrays, at, _BUDGET)):
        yield progress._replace(work=_BUDGET * _STEP_WORK)
    return scc, int(at[At.COUNT])


class At(IntEnum):
    """Places in the registers of `number_sccs`."""

    ROOT = 0  # states below it have been visited
    DEPTH = 1  # states on the path
    N_SEEN = 2
    N_CURRENT = 3  # states of incomplete SCCs
    COUNT = 4  # complete SCCs


@njit
def number_sccs(first, dst, scc, number, lowlink, current, path, cursor, at, budget):
    """Write the SCC of each of n states (Tarjan 1972, Sec. 4), at most `budget` steps.

    Returns whether all have been written; otherwise it is to be called again.

    first int64[n + 1], dst int32[m]
        The successors of state s are ``dst[first[s] : first[s + 1]]``.
    scc : int32[n]
        The SCC of each state; successors of an SCC have lower numbers.  Written.
    number : int32[n]
        Zeros; DFS numbers from 1 on.  Changed in place.
    lowlink, current, path : int32[n], cursor : int64[n]
        Room; current are the states of incomplete SCCs, path those of the search,
        and cursor holds ``first[s]``: the next step of each state.
    at : int64[5]
        Registers; see `At`.
    """
    n = number.shape[0]
    while at[At.ROOT] < n:
        if at[At.DEPTH] == 0:
            if number[at[At.ROOT]] > 0:
                at[At.ROOT] += 1
                continue
            path[0] = at[At.ROOT]
            at[At.DEPTH] = 1
        while at[At.DEPTH] > 0:
            if budget <= 0:
                return False
            budget -= 1
            state = path[at[At.DEPTH] - 1]
            if number[state] == 0:
                at[At.N_SEEN] += 1
                number[state] = at[At.N_SEEN]
                lowlink[state] = at[At.N_SEEN]
                current[at[At.N_CURRENT]] = state
                at[At.N_CURRENT] += 1
            if cursor[state] < first[state + 1]:
                target = dst[cursor[state]]
                if number[target] == 0:
                    path[at[At.DEPTH]] = target  # its lowlink is seen when it is done
                    at[At.DEPTH] += 1
                    continue
                cursor[state] += 1
                lowlink[state] = min(lowlink[state], lowlink[target])
                continue
            at[At.DEPTH] -= 1
            if lowlink[state] == number[state]:
                complete(scc, lowlink, current, at, state)
    return True


@inlined
def complete(scc, lowlink, current, at, root):
    """Write the SCC whose first state is `root`."""
    while True:
        at[At.N_CURRENT] -= 1
        member = current[at[At.N_CURRENT]]
        scc[member] = at[At.COUNT]
        lowlink[member] = scc.shape[0] + 1
        if member == root:
            break
    at[At.COUNT] += 1
