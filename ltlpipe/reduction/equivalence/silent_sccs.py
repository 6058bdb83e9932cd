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

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.equivalence.transition_arrays import Steps, by_least_member
from ltlpipe.reduction.progress import ENTRY_WORK, MANY, reducing
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job


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
    scc = np.empty(n, dtype=np.int32)
    count = yield from called(
        number_sccs,
        first,
        steps.dst[silent][order],
        scc,
        np.zeros(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        first[:-1].copy(),
    )
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


@njit
def number_sccs(first, dst, scc, number, lowlink, current, path, cursor):
    """Write the SCC of each of n states (Tarjan 1972, Sec. 4); return how many.

    first int64[n + 1], dst int32[m]
        The successors of state s are ``dst[first[s] : first[s + 1]]``.
    scc : int32[n]
        The SCC of each state; successors of an SCC have lower numbers.  Written.
    number : int32[n]
        Zeros; DFS numbers from 1 on.  Changed in place.
    lowlink, current, path : int32[n], cursor : int64[n]
        Room; current are the states of incomplete SCCs, path those of the search,
        and cursor holds ``first[s]``: the next step of each state.
    """
    n = number.shape[0]
    count = 0
    n_seen = 0
    n_current = 0
    for root in range(n):
        if number[root] > 0:
            continue
        path[0] = root
        depth = 1
        while depth > 0:
            state = path[depth - 1]
            if number[state] == 0:
                n_seen += 1
                number[state] = n_seen
                lowlink[state] = n_seen
                current[n_current] = state
                n_current += 1
            if cursor[state] < first[state + 1]:
                target = dst[cursor[state]]
                if number[target] == 0:
                    path[depth] = target  # its lowlink is seen when it is done
                    depth += 1
                    continue
                cursor[state] += 1
                lowlink[state] = min(lowlink[state], lowlink[target])
                continue
            depth -= 1
            if lowlink[state] < number[state]:
                continue
            while True:
                n_current -= 1
                member = current[n_current]
                scc[member] = count
                lowlink[member] = n + 1
                if member == state:
                    break
            count += 1
    return count
