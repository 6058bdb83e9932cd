"""The form in which an LTS is reduced: steps in arrays, sorted by packed keys.

Visible labels are 0..n_labels-1, all silent steps carry `n_labels`.  A state can
carry a mark, which the reductions treat as a loop with a label of its own: it says
that the state accepts, or that it can run silently for ever.

Silent SCCs: states that reach each other silently become one.

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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ltlpipe.components.progress import ENTRY_WORK, MANY, reducing
from ltlpipe.runtime.arrays import begins
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.systems.networks.lts import LTS

_KEY_BITS = 63
_SPARSE = 4  # declared states per transition end beyond which only used ones count
_STEP_BYTES = 12
_SORTED_BYTES = 24  # of a step while it is sorted, the arrays beside it included


Arrays = TypeVar("Arrays", bound=Any)


_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
U32 = np.uint64(32)
"""Of a hash, the upper half is what tells the slot."""


@inlined
def scrambled(bits):
    """Return a hash of 64 bits."""
    bits *= _MULTIPLIER
    bits ^= bits >> U32
    bits *= _FINISHER
    return bits ^ (bits >> U32)


class Status(IntEnum):
    """How a call of a kernel ended."""

    RUNNING = 0  # the budget is spent
    GROW = 1  # an array is full; the call can be repeated
    DONE = 2
    LIMIT = 3  # as many subsets as allowed


class Steps(NamedTuple):
    """The steps of n states, m in number, each once and in any order."""

    n_states: int
    initial: int
    n_labels: int  # of visible labels
    src: np.ndarray  # int32[m]
    label: np.ndarray  # int32[m], `n_labels` if the step is silent
    dst: np.ndarray  # int32[m]
    marked: np.ndarray  # bool[n]

    @property
    def has_silent(self) -> bool:
        """Whether some step is silent."""
        return bool((self.label == self.n_labels).any())

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        return _STEP_BYTES * len(self.src) + self.n_states


class Graph(NamedTuple):
    """Steps of n states by source and by target; a mark is a loop."""

    first: np.ndarray  # int64[n + 1], where the steps of each state begin
    silent: np.ndarray  # int64[n], where its silent steps begin, behind the others
    label: np.ndarray  # int32[m], `n_labels` at the loop that stands for a mark
    dst: np.ndarray  # int32[m]
    in_first: np.ndarray  # int64[n + 1], where the steps to each state begin
    in_silent: np.ndarray  # int64[n], where the silent ones begin
    src: np.ndarray  # int32[m], of the steps by target


def with_steps(steps: Steps, src: np.ndarray, label: int, dst: np.ndarray) -> Steps:
    """Return the same with more steps, on one label."""
    labels = np.full(len(src), label, dtype=steps.label.dtype)
    return steps._replace(
        src=np.concatenate([steps.src, src]),
        label=np.concatenate([steps.label, labels]),
        dst=np.concatenate([steps.dst, dst]),
    )


def compact(lts: LTS) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Return initial state, sources and targets as numbers, and the state of each.

    If there are far more states than transitions, those on no transition have none.
    """
    m = lts.n_transitions
    if lts.n_states <= _SPARSE * (2 * m + 1):
        return lts.initial, lts.src, lts.dst, np.arange(lts.n_states)
    ends = np.concatenate([[lts.initial], lts.src, lts.dst])
    used, place = np.unique(ends, return_inverse=True)
    return int(place[0]), place[1 : m + 1], place[m + 1 :], used


def steps_of(
    lts: LTS, letters: np.ndarray, n_labels: int, marked: np.ndarray
) -> Job[Steps]:
    """Find the reachable part of a component, in breadth-first order.

    letters is int32[len(lts.labels)]: what each label becomes, a visible one or
    `n_labels` for a silent one; marked is bool[lts.n_states].
    """
    initial, src, dst, used = compact(lts)
    label, n = letters[lts.label], len(used)
    steps = Steps(n, initial, n_labels, src, label, dst, marked[used])
    return (yield from breadth_first(steps))


def breadth_first(steps: Steps) -> Job[Steps]:
    """Find the reachable part, numbered and sorted in breadth-first order.

    From each state labels are followed in order, silent steps last, and targets on
    one label in the order of their numbers.  Of two isomorphic deterministic inputs
    the outputs are identical, and an output is not changed by a second call.
    """
    n = steps.n_states
    src, label, dst = yield from sort_steps(
        n, steps.n_labels + 1, steps.src, steps.label, steps.dst
    )
    order = np.empty(n, dtype=np.int32)
    number = np.full(n, -1, dtype=np.int32)
    count = yield from called(
        _breadth_first, begins(src, n), dst, steps.initial, order, number
    )
    reached = order[:count]
    if len(src) > MANY:
        yield reducing(len(src) * ENTRY_WORK, _SORTED_BYTES * len(src))
    if count < n:
        kept = number[src] >= 0
        src, label, dst = src[kept], label[kept], dst[kept]
    if not np.array_equal(reached, np.arange(count, dtype=np.int32)):
        src, label, dst = yield from sort_steps(
            n, steps.n_labels + 1, number[src], label, number[dst]
        )
    return Steps(count, 0, steps.n_labels, src, label, dst, steps.marked[reached])


@njit
def _breadth_first(first, dst, initial, order, number):
    """Write the reachable states in breadth-first order; return how many.

    first int64[n + 1], dst int32[m]
        The successors of state s are ``dst[first[s] : first[s + 1]]``.
    order, number : int32[n]
        States by number, and numbers by state (-1 before).  Changed in place.
    """
    order[0] = initial
    number[initial] = 0
    count = 1
    done = 0
    while done < count:
        state = order[done]
        done += 1
        for step in range(first[state], first[state + 1]):
            target = dst[step]
            if number[target] < 0:
                number[target] = count
                order[count] = target
                count += 1
    return count


def is_deterministic(steps: Steps) -> Job[bool]:
    """Whether no step is silent and no state has two targets on one label."""
    if steps.has_silent:
        return False
    if len(steps.src) > MANY:
        yield reducing(len(steps.src) * ENTRY_WORK, 2 * steps.memory_bytes)
    keys = steps.src.astype(np.int64) * max(steps.n_labels, 1) + steps.label
    keys.sort()
    return not bool((keys[1:] == keys[:-1]).any())


def graph_of(steps: Steps) -> Job[Graph]:
    """Sort the steps by source and by target, with a loop for each mark."""
    n, mark = steps.n_states, steps.n_labels
    loops = np.flatnonzero(steps.marked)
    # Behind the visible labels and before the silent one, which moves up.
    steps = steps._replace(label=steps.label + (steps.label == mark))
    steps = with_steps(steps, loops, mark, loops)
    columns = steps.src, steps.label, steps.dst
    src, label, dst = yield from sort_steps(n, mark + 2, *columns)
    first = begins(src, n)
    is_silent = label == mark + 1
    by_target, kind, sources = yield from sort_steps(n, 2, dst, is_silent, src)
    in_first = begins(by_target, n)
    if is_silent.any():
        silent = first[:-1] + np.bincount(src[~is_silent], minlength=n)
        in_silent = in_first[:-1] + np.bincount(by_target[kind == 0], minlength=n)
    else:
        silent, in_silent = first[1:].copy(), in_first[1:].copy()
    return Graph(first, silent, label, dst, in_first, in_silent, sources)


def by_least_member(count: int, number: np.ndarray) -> np.ndarray:
    """Return the same classes of states, in the order of their least members.

    number is int32[n], the class of each state, of `count`.  Numbers of states that
    stay alone do not change.
    """
    n = len(number)
    least = np.empty(count, dtype=np.int64)
    least[number[::-1]] = np.arange(n)[::-1]  # the last write counts
    is_least = np.zeros(n, dtype=np.int32)
    is_least[least] = 1
    renamed = np.cumsum(is_least, dtype=np.int32)[least] - 1
    result: np.ndarray = renamed[number]
    return result


def lengthened(arrays: Arrays, size: int, *names: str) -> Arrays:
    """Return a named tuple in which arrays have `size` entries, the old ones first."""
    longer = {}
    for name in names:
        array = getattr(arrays, name)
        longer[name] = np.zeros(size, dtype=array.dtype)
        longer[name][: len(array)] = array
    result: Arrays = arrays._replace(**longer)
    return result


def sort_steps(
    n_states: int, n_labels: int, src: np.ndarray, label: np.ndarray, dst: np.ndarray
) -> Job[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Sort the steps by source, label and target, each once: three int32[k].

    All numbers are below `n_states` and `n_labels`.
    """
    state_bits = max(n_states - 1, 1).bit_length()
    label_bits = max(n_labels - 1, 1).bit_length()
    n_steps = len(src)
    progress = reducing(n_steps * ENTRY_WORK, _SORTED_BYTES * n_steps)
    if n_steps > MANY:
        yield progress
    if 2 * state_bits + label_bits > _KEY_BITS:
        src, label, dst = np.unique(np.stack([src, label, dst]), axis=1)
        return src.astype(np.int32), label.astype(np.int32), dst.astype(np.int32)
    keys = src.astype(np.int64)
    keys <<= label_bits
    keys |= label
    keys <<= state_bits
    keys |= dst
    keys.sort()
    if n_steps > MANY:
        yield progress
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    dst = (keys & ((1 << state_bits) - 1)).astype(np.int32)
    keys >>= state_bits
    label = (keys & ((1 << label_bits) - 1)).astype(np.int32)
    keys >>= label_bits
    return keys.astype(np.int32), label, dst


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
    src, dst = steps.src[silent], steps.dst[silent]
    order = np.argsort(src, kind="stable")
    n_steps = len(steps.src)
    progress = reducing(n_steps * ENTRY_WORK, 2 * steps.memory_bytes)
    if n_steps > MANY:
        yield progress
    scc, count = yield from sccs_of(begins(src, n), dst[order], progress)
    if n_steps > MANY:
        yield progress
    return merged(steps, count, scc, marks_loops=True)


def merged(
    steps: Steps, count: int, number: np.ndarray, *, marks_loops: bool = False
) -> Steps:
    """Make the states of each class one, whose number `number` (int32[n]) has.

    Silent steps inside a class are left out; they may mark it.
    """
    number = by_least_member(count, number)
    src, dst = number[steps.src], number[steps.dst]
    inside = (steps.label == steps.n_labels) & (src == dst)
    marked = np.zeros(count, dtype=np.bool_)
    marked[number[steps.marked]] = True
    if marks_loops:
        marked[src[inside]] = True
    left = ~inside
    columns = src[left], steps.label[left], dst[left]
    return Steps(count, int(number[steps.initial]), steps.n_labels, *columns, marked)


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
