"""In which order the components of a lasso go round.

Each component comes back to where it was after some turns of the cycle that a decoupled
search has found.  In lockstep all come back after the least common multiple of their
numbers of turns, a product if these are coprime.  Components that share no label of the
cycle need no lockstep: one *group* after the other goes round as often as its own
components need, while the others stay where they are; so the numbers add up.  Groups
without which the run is accepted stay where they are for ever.

Whether a run is accepted depends on the monitor, which has seen the labels in another
order; so it is run on the new one.  Without a monitor a run is accepted if all
components accept again and again, as they do where a turn begins.  If no order that has
fewer turns is accepted, the components go round in lockstep.

Source: none.

Cost: for each group the length of the cycle times the number of its turns, for each
state of the monitor that it gets to.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.decoupled.local_runs import LocalSteps, Orbit
    from ltlpipe.search.decoupled.tables import DecoupledNetwork

_MOST_LABELS = 1_000_000
"""Labels that a monitor is asked about."""

Watched = frozenset[tuple[int, int]]
"""States of a monitor with the marks that it has seen on the way."""


class Round(NamedTuple):
    """Turns of some components while the others stay where they are.

    Parameters
    ----------
    labels : list of int
        Of one turn.
    n_times : int
        Turns.
    moving : list of int
        The components.
    """

    labels: list[int]
    n_times: int
    moving: list[int]

    @property
    def n_actions(self) -> int:
        """Global labels that are actions, of all turns."""
        return self.n_times * sum(label >= 0 for label in self.labels)


def rounds(
    decoupled: DecoupledNetwork,
    steps: Sequence[LocalSteps],
    orbits: Sequence[Orbit],
    cycle: list[int],
    watching: Sequence[int],
) -> Job[list[Round]]:
    """Return turns, as few as are known, after which all components are back.

    Parameters
    ----------
    decoupled : DecoupledNetwork
        What was searched.
    steps : sequence of LocalSteps
        Of its components.
    orbits : sequence of Orbit
        How each component goes round.
    cycle : list of int
        The labels of a turn.
    watching : sequence of int
        The state of the monitor, if there is one.
    """
    everyone = list(range(len(orbits)))
    lockstep = Round(cycle, _n_turns(orbits, everyone), everyone)
    acceptor = [] if watching else [-1]  # where a turn begins, everybody accepts
    groups = _groups(steps, [label for label in cycle if label not in acceptor])
    apart = [
        Round(
            [label for label in cycle if label in labels or label in acceptor],
            _n_turns(orbits, group),
            group,
        )
        for group, labels in groups
    ]
    order = sorted(apart, key=lambda one: one.n_actions)
    n_labels = sum(len(one.labels) * one.n_times for one in apart)
    if lockstep.n_times == 1 or n_labels > _MOST_LABELS:
        return [lockstep]
    judge = _Judge(decoupled, watching)
    for one in order:
        if one.n_actions and (yield from judge.accepts([one])):
            return [one]
    if sum(one.n_actions for one in order) >= lockstep.n_actions:
        return [lockstep]
    for chosen in (order, order[::-1], apart):
        if (yield from judge.accepts(chosen)):
            return (yield from _without_idle(chosen, judge))
    return [lockstep]


def _without_idle(chosen: Sequence[Round], judge: _Judge) -> Job[list[Round]]:
    """Leave out groups that are not needed, the longest ones first."""
    left = list(chosen)
    for one in sorted(chosen, key=lambda one: -one.n_actions):
        fewer = [other for other in left if other is not one]
        if any(other.n_actions for other in fewer) and (
            yield from judge.accepts(fewer)
        ):
            left = fewer
    return left


def _n_turns(orbits: Sequence[Orbit], components: Iterable[int]) -> int:
    """Return the turns after which components are back at the same time."""
    return math.lcm(*(len(orbits[i].round) for i in components))


def _groups(
    steps: Sequence[LocalSteps], cycle: Iterable[int]
) -> list[tuple[list[int], set[int]]]:
    """Return the components that labels tie together, and these labels.

    Components without any label are in no group.
    """
    groups: list[tuple[list[int], set[int]]] = []
    used = set(cycle)
    for i, own in enumerate(steps):
        labels = used & own.alphabet
        if not labels:
            continue
        apart, members = [], [i]
        for group in groups:
            if group[1] & labels:
                members += group[0]
                labels |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (sorted(members), labels)]
    return groups


class _Judge:
    """Tells which turns a monitor accepts if they are repeated for ever.

    Parameters
    ----------
    decoupled : DecoupledNetwork
        It has the monitor.
    watching : sequence of int
        The monitor's state before each repetition; without one everything is accepted.
    """

    def __init__(self, decoupled: DecoupledNetwork, watching: Sequence[int]) -> None:
        self._decoupled = decoupled
        self._watching = watching
        self._full = (1 << decoupled.n_marks) - 1
        self._moves: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._ticks = Ticks(EXTRACTING)

    def accepts(self, turns: Sequence[Round]) -> Job[bool]:
        """Return whether the monitor can come back with all marks."""
        if not self._watching:
            return True
        (start,) = self._watching
        current: Watched = frozenset([(start, 0)])
        for one in turns:
            current = yield from self._after(one, current)
        return (start, self._full) in current

    def _after(self, one: Round, current: Watched) -> Job[Watched]:
        """Return where the monitor is after some turns."""
        for _ in range(one.n_times):
            before = current
            for label in one.labels:
                current = frozenset(
                    (dst, seen | marks)
                    for state, seen in current
                    for dst, marks in self._from(state, label)
                )
                if self._ticks.over(1 + len(current)):
                    yield self._ticks.progress
            if current == before:
                break
        return current

    def _from(self, state: int, label: int) -> list[tuple[int, int]]:
        """Return where a label takes the monitor, with the marks on the way."""
        if (state, label) not in self._moves:
            self._moves[state, label] = self._decoupled.watched(state, label)
        return self._moves[state, label]
