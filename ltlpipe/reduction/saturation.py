"""What the components of a network can reach together, component by component.

A local state is *reached* and an action *happens* in the smallest sense such that
initial states are reached, an action happens once each participant offers it in
some reached state, and then all transitions with it from reached states reach
their targets.  Every run stays inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.reduction.progress import ENTRY_WORK, TRIMMING
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.lts import LTS, Network

_SPARSE = 4  # declared states per transition end beyond which only used ones count
_ACTIONS_AT_ONCE = 1 << 14  # until the next progress
_ACTION_BYTES = 200  # of an entry of a dictionary
_TRANSITION_BYTES = 64  # of all copies


class Flat(NamedTuple):
    """All transitions of a network of n local states, component by component."""

    initial: np.ndarray  # int64[n_components]
    src: np.ndarray  # int64[m]
    dst: np.ndarray  # int64[m]
    label: np.ndarray  # int64[m], an index into `action`
    action: np.ndarray  # int64[k], of each label of each component
    n_states: int


class Together(NamedTuple):
    """What can be reached and happen.

    Parameters
    ----------
    kept : bool[m]
        The transitions, component by component, that start in a reached state
        with an action that happens.
    happening : bool[n_actions]
        The actions that happen.
    """

    kept: np.ndarray
    happening: np.ndarray


def saturate(network: Network, barred: Collection[int] = ()) -> Job[Together]:
    """Find what the components can reach together.

    Parameters
    ----------
    network : Network
        It is not changed.
    barred : collection of int
        Actions that shall not happen.
    """
    flat = yield from _flatten(network)
    n_bytes = len(flat.src) * _TRANSITION_BYTES
    progress = Progress(TRIMMING, len(flat.src) * ENTRY_WORK, n_bytes)
    yield progress
    order = np.argsort(flat.src, kind="stable")
    yield progress
    first = np.searchsorted(flat.src[order], np.arange(flat.n_states + 1))
    missing = np.array([len(a.participants) for a in network.actions], dtype=np.int64)
    missing[list(barred)] += 1  # one participant more, which never offers it
    reached = np.zeros(flat.n_states, dtype=np.bool_)
    yield from called(
        _saturate,
        first.astype(np.int64),
        flat.dst[order],
        flat.label[order],
        flat.action,
        flat.initial,
        missing,
        reached,
        np.zeros(len(flat.action), dtype=np.bool_),
        np.zeros(flat.n_states, dtype=np.int64),
        np.full(len(missing), -1, dtype=np.int64),
        np.zeros(len(flat.src), dtype=np.int64),
    )
    yield progress
    happening = missing == 0
    return Together(reached[flat.src] & happening[flat.action[flat.label]], happening)


@njit
def _saturate(
    first, dst, label, action, initial, missing, reached, offered, stack, waiting, after
):
    """Reach states and let actions happen until nothing changes.

    n states, m transitions sorted by source, k labels of components:

    first int64[n + 1], dst int64[m], label int64[m], action int64[k], initial
    int64[c]
        The transitions from state s are ``first[s]`` up to the next entry.
    missing : int64[n_actions]
        Participants of each action that have not offered it.  Changed in place.
    reached : bool[n], offered : bool[k]
        False; changed in place.
    stack : int64[n], waiting : int64[n_actions], after : int64[m]
        Room; waiting holds -1.  The transitions that wait for an action are
        ``waiting[a]``, ``after`` of that and so on, up to -1.
    """
    depth = 0
    for state in initial:
        reached[state] = True
        stack[depth] = state
        depth += 1
    while depth > 0:
        depth -= 1
        state = stack[depth]
        for step in range(first[state], first[state + 1]):
            a = action[label[step]]
            after[step] = waiting[a]
            waiting[a] = step
            if not offered[label[step]]:
                offered[label[step]] = True
                missing[a] -= 1
            if missing[a] > 0:
                continue
            while waiting[a] >= 0:  # this one, and all that have waited
                target = dst[waiting[a]]
                waiting[a] = after[waiting[a]]
                if not reached[target]:
                    reached[target] = True
                    stack[depth] = target
                    depth += 1


def _flatten(network: Network) -> Job[Flat]:
    """Put all components into one, with numbers of their own for everything."""
    number: dict[tuple[int, str], int] = {}
    for k, action in enumerate(network.actions, start=1):
        for p in action.participants:
            number[p, action.name] = k - 1
        if k % _ACTIONS_AT_ONCE == 0:
            held = len(number) * _ACTION_BYTES
            yield Progress(TRIMMING, _ACTIONS_AT_ONCE, held)
    held = len(number) * _ACTION_BYTES
    actions: list[int] = []
    columns: list[tuple[np.ndarray, ...]] = []
    initial: list[int] = []
    n_states = 0
    for i, component in enumerate(network.components):
        start, src, dst, count = _compact(component)
        label = component.label.astype(np.int64) + len(actions)
        columns.append((src + n_states, dst + n_states, label))
        initial.append(start + n_states)
        actions += [number[i, name] for name in component.labels]
        n_states += count
        work = component.n_transitions * ENTRY_WORK + len(component.labels)
        held += component.n_transitions * _TRANSITION_BYTES
        yield Progress(TRIMMING, work, held)
    src, dst, label = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Flat(
        np.array(initial, dtype=np.int64),
        src,
        dst,
        label,
        np.array(actions, dtype=np.int64),
        n_states,
    )


def _compact(component: LTS) -> tuple[int, np.ndarray, np.ndarray, int]:
    """Return initial state, sources and targets in numbers below the last entry.

    A component may have far more states than transitions.
    """
    m = component.n_transitions
    if component.n_states <= _SPARSE * (2 * m + 1):
        src, dst = component.src.astype(np.int64), component.dst.astype(np.int64)
        return component.initial, src, dst, component.n_states
    ends = np.concatenate([[component.initial], component.src, component.dst])
    named, place = np.unique(ends, return_inverse=True)
    return int(place[0]), place[1 : m + 1], place[m + 1 :], len(named)
