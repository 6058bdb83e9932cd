"""Alphabet trimming (``--reduce alphabet``).

An action can only happen where all of its participants, and the property, take
part.  If one of them never offers it, the transitions of the others with it are
removed, then the states that can no longer be reached, and so on.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, Sec. 6.

Differences from the source:

- It removes what one side lacks "until nothing changes".  Inside the network we
  add what can happen instead, beginning with the initial states, until nothing
  changes: this removes more, for instance where
  two components wait for each other, and takes one look at each transition.
- The components trim each other, too, not only the system and the property.
- States keep their numbers and components their alphabets: a label that a
  component has no transition with any more still blocks the others, and lassos
  and formulas mean the network that was read.

Why it is sound: every run of the network stays inside what the components can
reach together, so the composition keeps its reachable states and transitions, and
its deadlocks.  What the property's automaton cannot follow is taken away besides;
that may leave states without successors, which changes nothing unless such a
state repeats itself: then it is left out.

A local state is *reached* and an action *happens* in the smallest sense such that
initial states are reached, an action happens once each participant offers it in
some reached state, and then all transitions with it from reached states reach
their targets.

Cost: linear in the transitions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.structure import without_letters
from ltlpipe.components.progress import ENTRY_WORK, TRIMMING
from ltlpipe.components.transition_arrays import compact
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.objects import Beside
from ltlpipe.systems.networks.lts import END, Network

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job


_ACTIONS_AT_ONCE = 1 << 14  # until the next progress
_BUDGET = 1 << 20  # transitions of a call
_ACTION_BYTES = 200  # of an entry of a dictionary
_TRANSITION_BYTES = 64  # of all copies


class Trimmed(NamedTuple):
    """A network, the automaton of a property, and the actions of its letters."""

    network: Network
    table: PropertyAutomaton
    actions: list[str]


def trim(network: Network, barred: Collection[int] = ()) -> Job[Network]:
    """Remove the transitions that no run can take.

    Actions `barred`, by their index in ``network.actions``, do not happen.  States,
    alphabets and actions stay; if there is nothing to remove, `network` itself is
    returned.  Where none is barred the result is the same object each time.

    Examples
    --------
    >>> from ltlpipe.runtime.jobs import run
    >>> from ltlpipe.systems.networks.lts import LTS
    >>> left = LTS.from_transitions([(0, "a", 1), (1, "b", 2), (0, "c", 0)])
    >>> right = LTS.from_transitions([(1, "a", 1), (0, "b", 1)])
    >>> [c.transitions() for c in run(trim(Network([left, right]))).components]
    [[(0, 'c', 0)], []]
    """
    smaller, _ = yield from _with_happening(network, barred)
    return smaller


_known: Beside[list[tuple[Network | None, np.ndarray]]] = Beside(list)
"""For each network its trim, None if that is itself, and which actions can happen."""


def trim_alone(
    network: Network, actions: Sequence[str]
) -> Job[tuple[Network, list[str]]]:
    """Return `trim` of a network, and those of some actions that can still happen.

    The end of finite runs is a letter, whether the action can happen or not.
    """
    smaller, happening = yield from _with_happening(network, ())
    return smaller, _among(network, actions, happening)


def _among(
    network: Network, actions: Sequence[str], happening: np.ndarray
) -> list[str]:
    index = network.action_index
    return [name for name in actions if name == END or happening[index[name]]]


def _with_happening(
    network: Network, barred: Collection[int]
) -> Job[tuple[Network, np.ndarray]]:
    """Return `trim` of a network, and bool[n_actions], whether each can happen."""
    known = _known.of(network)
    if not known or barred:
        found = yield from _trim(network, barred)
        if barred:
            known = [found]
        else:
            known.append(found)
    smaller, happening = known[0]
    return network if smaller is None else smaller, happening


def _trim(
    network: Network, barred: Collection[int]
) -> Job[tuple[Network | None, np.ndarray]]:
    """Do what `_with_happening` does, with None for a network that is its own trim."""
    kept, happening = yield from saturate(network, barred)
    if kept.all():
        return None, happening
    components = []
    begin = 0
    for component in network.components:
        own = kept[begin : begin + component.n_transitions]
        begin += component.n_transitions
        if not own.all():
            columns = {
                column: getattr(component, column)[own]
                for column in ("src", "label", "dst")
            }
            component = replace(component, **columns)
            work = component.n_transitions * ENTRY_WORK
            yield Progress(TRIMMING, work, 2 * kept.nbytes + 12 * begin)
        components.append(component)
    return Network(components, network.name), happening


def trim_with(
    network: Network, table: PropertyAutomaton, actions: Sequence[str]
) -> Job[Trimmed]:
    """Remove what network and property cannot do together, until nothing changes.

    Not for systems in which a state without successors repeats itself.  `network` and
    `actions` are what `trim_alone` returned; letter i + 1 of `table` (before the marks
    of the system are added) is ``actions[i]``, and the actions that can still happen
    are the letters of the new table.
    """
    left = list(actions)
    while lacking := (yield from _lacking(network, table, left)):
        network, happening = yield from _with_happening(network, lacking)
        now = _among(network, left, happening)
        known = set(now)
        gone = [i for i, name in enumerate(left, start=OTHER + 1) if name not in known]
        if gone:
            table, left = without_letters(table, gone), now
    return Trimmed(network, table, left)


def _lacking(
    network: Network, table: PropertyAutomaton, actions: Sequence[str]
) -> Job[list[int]]:
    """List the actions that have transitions but that the table has none on."""
    counts = np.diff(table.first_edge).reshape(table.n_states, -1).sum(axis=0)
    by_letter = counts.reshape(-1, 1 << table.system_marks).sum(axis=1)
    unread = by_letter[letters_of(network, actions)] == 0
    if not unread.any():
        return []
    used: list[set[str]] = []
    for c in network.components:
        counts = np.bincount(c.label, minlength=len(c.labels)).tolist()
        used.append({label for label, n in zip(c.labels, counts, strict=True) if n})
        yield Progress(TRIMMING, c.n_transitions * ENTRY_WORK + len(c.labels))
    lacking = []
    for n, number in enumerate(np.flatnonzero(unread).tolist(), start=1):
        action = network.actions[number]
        if any(action.name in used[p] for p in action.participants):
            lacking.append(number)
        if n % _ACTIONS_AT_ONCE == 0:
            yield Progress(TRIMMING, _ACTIONS_AT_ONCE)
    return lacking


def letters_of(network: Network, actions: Sequence[str]) -> np.ndarray:
    """Return the letter of each action, int32[n_actions] by ``network.actions``.

    Letter i + 1 is ``actions[i]``, and `OTHER` that of all others.
    """
    letters = np.full(len(network.actions), OTHER, dtype=np.int32)
    for letter, name in enumerate(actions, start=OTHER + 1):
        if name in network.action_index:
            letters[network.action_index[name]] = letter
    return letters


def saturate(
    network: Network, barred: Collection[int] = ()
) -> Job[tuple[np.ndarray, np.ndarray]]:
    """Find what the components can reach together without the actions `barred`.

    Returns bool[m], the transitions, component by component, that start in a reached
    state with an action that happens; and bool[n_actions], which actions happen.
    """
    src, dst, label, action, initial, n_states = yield from _flatten(network)
    work, n_bytes = len(src) * ENTRY_WORK, len(src) * _TRANSITION_BYTES
    progress = Progress(TRIMMING, work, n_bytes)
    yield progress
    if (src[1:] < src[:-1]).any():
        order = np.argsort(src, kind="stable")
        yield progress
        by_state = dst[order], label[order]
    else:
        by_state = dst, label
    yield progress
    first = np.zeros(n_states + 1, dtype=np.int64)
    np.cumsum(np.bincount(src, minlength=n_states), out=first[1:])
    yield Progress(TRIMMING, 0, n_bytes)
    missing = np.array([len(a.participants) for a in network.actions], dtype=np.int64)
    missing[list(barred)] += 1  # one participant more, which never offers it
    reached = np.zeros(n_states, dtype=np.bool_)
    room = np.zeros(n_states, np.int64), np.full_like(missing, -1), np.zeros_like(src)
    depth = len(initial)
    reached[initial], room[0][:depth] = True, initial
    offered = np.zeros(len(action), dtype=np.bool_)
    while depth:
        depth = yield from called(
            _saturate,
            (first, *by_state, action),
            *(missing, reached, offered, room, depth, _BUDGET),
        )
        yield Progress(TRIMMING, min(len(src), _BUDGET) * ENTRY_WORK, n_bytes)
    happening = missing == 0
    kept = reached[src]
    yield Progress(TRIMMING, 0, n_bytes)
    kept &= happening[action][label]
    return kept, happening


@njit
def _saturate(transitions, missing, reached, offered, room, depth, budget):
    """Reach states and let actions happen until nothing changes.

    n states, m transitions sorted by source, k labels of components:

    transitions : (int64[n + 1], int64[m], int64[m], int64[k])
        Where those of each state begin; targets; labels; the action of each label.
    missing : int64[n_actions]
        Participants of each action that have not offered it.  Changed in place.
    reached : bool[n], offered : bool[k]
        Initial states; False.  Changed in place.
    room : (int64[n], int64[n_actions], int64[m])
        A stack; -1 in the second.  The transitions that wait for an action are
        ``waiting[a]``, ``after`` of that and so on, up to -1.
    depth : int
        States on the stack: the initial ones, at first.
    budget : int
        Transitions that are looked at, about, before the call ends.

    Returns how many states are on the stack.
    """
    first, dst, label, action = transitions
    stack, waiting, after = room
    while depth > 0 and budget > 0:
        depth -= 1
        state = stack[depth]
        budget -= first[state + 1] - first[state]
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
    return depth


def _flatten(
    network: Network,
) -> Job[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]]:
    """Put all components into one, with numbers of their own for everything.

    Returns the sources, targets and labels of all transitions, the action of each label
    of each component, the initial states (all int64), and the number of states.
    """
    held = sum(map(len, network.label_actions)) * _ACTION_BYTES
    actions: list[int] = []
    columns: list[tuple[np.ndarray, ...]] = []
    initial: list[int] = []
    n_states = 0
    for i, component in enumerate(network.components):
        start, src, dst, used = compact(component)
        label = component.label.astype(np.int64) + len(actions)
        ends = (column.astype(np.int64) + n_states for column in (src, dst))
        columns.append((*ends, label))
        initial.append(start + n_states)
        actions += network.label_actions[i]
        n_states += len(used)
        work = component.n_transitions * ENTRY_WORK + len(component.labels)
        held += component.n_transitions * _TRANSITION_BYTES
        yield Progress(TRIMMING, work, held)
    src, dst, label = (np.concatenate(column) for column in zip(*columns, strict=True))
    of_labels, starts = (np.array(n, dtype=np.int64) for n in (actions, initial))
    return src, dst, label, of_labels, starts, n_states
