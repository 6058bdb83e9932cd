"""Alphabet trimming (``--reduce alphabet``).

An action can only happen where all of its participants, and the property, take
part.  If one of them never offers it, the transitions of the others with it are
removed, then the states that can no longer be reached, and so on.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, Sec. 6.

Differences from the source:

- It removes what one side lacks "until nothing changes".  Inside the network we
  add what can happen instead, beginning with the initial states, until nothing
  changes (`ltlpipe.reduction.saturation`): this removes more, for instance where
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

Cost: linear in the transitions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.structure import without_letters
from ltlpipe.reduction.progress import ENTRY_WORK, TRIMMING
from ltlpipe.reduction.saturation import saturate
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.lts import Network

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job


_ACTIONS_AT_ONCE = 1 << 14  # until the next progress


class Trimmed(NamedTuple):
    """A network, the automaton of a property, and the actions of its letters."""

    network: Network
    table: PropertyAutomaton
    actions: list[str]


def trim(network: Network, barred: Collection[int] = ()) -> Job[Network]:
    """Remove the transitions that no run can take.

    Parameters
    ----------
    network : Network
        It is not changed.
    barred : collection of int
        Indices in ``network.actions`` of actions that shall not happen.

    Returns
    -------
    Network
        With the same states, alphabets and actions; `network` itself if there is
        nothing to remove.

    Examples
    --------
    >>> from ltlpipe.runtime.jobs import run
    >>> from ltlpipe.systems.lts import LTS
    >>> left = LTS.from_transitions([(0, "a", 1), (1, "b", 2), (0, "c", 0)])
    >>> right = LTS.from_transitions([(1, "a", 1), (0, "b", 1)])
    >>> [c.transitions() for c in run(trim(Network([left, right]))).components]
    [[(0, 'c', 0)], []]
    """
    smaller, _ = yield from _with_happening(network, barred)
    return smaller


def trim_alone(
    network: Network, actions: Sequence[str]
) -> Job[tuple[Network, list[str]]]:
    """Return `trim` of a network, and those of some actions that can still happen."""
    smaller, happening = yield from _with_happening(network, ())
    return smaller, _among(network, actions, happening)


def _among(
    network: Network, actions: Sequence[str], happening: np.ndarray
) -> list[str]:
    return [name for name in actions if happening[network.action_index[name]]]


def _with_happening(
    network: Network, barred: Collection[int]
) -> Job[tuple[Network, np.ndarray]]:
    """Return `trim` of a network, and bool[n_actions], whether each can happen."""
    kept, happening = yield from saturate(network, barred)
    if kept.all():
        return network, happening
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

    Not for systems in which a state without successors repeats itself.

    Parameters
    ----------
    network : Network
        What `trim_alone` returned; it is not changed.
    table : PropertyAutomaton
        Letter i + 1 (before the marks of the system are told) is ``actions[i]``.
    actions : sequence of str
        Those of `trim_alone`.

    Returns
    -------
    Trimmed
        The actions that can still happen are the letters of the new table.
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
        letters[network.action_index[name]] = letter
    return letters
