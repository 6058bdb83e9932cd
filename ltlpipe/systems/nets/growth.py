"""Nets whose places have no bound: a run that can be repeated, with more tokens.

A marking *covers* another one if no place has fewer tokens.  If a run leads from a
marking to one that covers it and is not the same, the run can be taken again from
there, and again: the net is unbounded.  In nets with inhibitor and reset arcs that is
true if places in which transitions of the run have limits have as many tokens as
before, and a place that the run does not reset has more: what a place has more, it
keeps from step to step until it is reset.

Walks look for such a run: each marking is compared with those before it on the walk.
What they find is confirmed by the interpreter (`Growth`).  They do not show that a net
is bounded.

Source: R. M. Karp and R. E. Miller, "Parallel Program Schemata", Journal of Computer
and System Sciences 3(2), 1969, pp. 147-195, Sec. 4.

Differences from the source: walks, half of which prefer transitions that add most,
instead of the tree; so no marking has "as many as you like" tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.names import counted, quoted_name
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.net import NetModel

_PHASE = "looking for places without bounds"

_LONGEST = 2_000  # steps of a walk
_MOST_NUMBERS = 1 << 21  # tokens of all markings of a walk
_MOST_TOKENS = 1 << 60  # with more of them a walk ends

# Units of work: of a step, of an arc, and of a number that is compared.
_PER_STEP, _PER_ARC, _PER_NUMBER = 60.0, 0.01, 0.002
_SHOWN = 6  # names in a message


class Growth(NamedTuple):
    """A run that can be repeated for ever, each time with more tokens in some places.

    `prefix` leads from the initial marking to where it begins, `cycle` is the run; both
    are numbers of transitions, and `places` are numbers of places.
    """

    prefix: tuple[int, ...]
    cycle: tuple[int, ...]
    places: tuple[int, ...]

    def told(self, net: NetModel) -> str:
        """Return what to tell people."""
        steps = [quoted_name(net.actions[t]) for t in self.cycle[:_SHOWN]]
        more = f" ... ({len(self.cycle)} steps)" if len(self.cycle) > _SHOWN else ""
        places = [quoted_name(net.variables[p]) for p in self.places[:_SHOWN]]
        cut = ", ..." if len(self.places) > _SHOWN else ""
        after = f", after {counted(len(self.prefix), 'step')}" if self.prefix else ""
        return (
            f"the net is unbounded: {' '.join(steps)}{more} can be repeated without "
            f"end{after}, each time with more tokens in {', '.join(places)}{cut}"
        )


def growth_of(net: NetModel, work: float, seed: int = 0) -> Job[Growth | None]:
    """Walk with so many units of work; return a run that can be repeated, if found."""
    length = min(_LONGEST, _MOST_NUMBERS // max(len(net.places), 1))
    rng = np.random.default_rng(seed)
    ticks = Ticks(_PHASE, memory_bytes=8.0 * length * len(net.places))
    walk = _Walk(net, rng, length)
    greedy = True
    while work > 0:
        walk.begin(greedy=greedy)
        greedy = not greedy
        while True:
            spent = walk.step()
            work -= spent
            yield from ticks.worked(spent)
            if walk.found is not None:
                yield ticks.progress
                return walk.found
            if walk.has_ended or work <= 0:
                break
    yield ticks.progress
    return None


class _Walk:
    """A walk, and whether it has met a marking that covers an earlier one."""

    def __init__(self, net: NetModel, rng: np.random.Generator, length: int) -> None:
        self._net = net
        self._rng = rng
        self._path = np.zeros((length, len(net.places)), dtype=np.int64)
        n_transitions = len(net.transitions)
        every = np.arange(n_transitions)
        self._needs = net.needs.of(every)
        self._limits = net.limits.of(every)
        owner, _, change = net.effects(every)
        self._gain = np.bincount(owner, weights=change, minlength=n_transitions)
        self._work = _PER_STEP + _PER_ARC * len(self._needs[0])

    def begin(self, *, greedy: bool) -> None:
        """Begin at the initial marking; a `greedy` walk takes what adds most."""
        self._greedy = greedy
        self._taken: list[int] = []
        self.found: Growth | None = None
        initial = np.array(self._net.initial(), dtype=np.uint64)
        self.has_ended = not len(self._path) or bool((initial > _MOST_TOKENS).any())
        if not self.has_ended:
            self._path[0] = initial.astype(np.int64)

    def step(self) -> float:
        """Take a step, and compare; return the units of work."""
        k = len(self._taken)
        if self.has_ended or k + 1 == len(self._path):
            self.has_ended = True
            return _PER_STEP
        enabled = self._enabled(self._path[k])
        if not len(enabled):
            self.has_ended = True
            return self._work
        if self._greedy:
            gain = self._gain[enabled]
            enabled = enabled[gain == gain.max()]
        transition = int(self._rng.choice(enabled))
        self._taken.append(transition)
        self._path[k + 1] = self._after(self._path[k], transition)
        reached = self._path[k + 1]  # negative where a sum was too large for 63 bits
        self.has_ended = bool(((reached > _MOST_TOKENS) | (reached < 0)).any())
        self._compare(k + 1)
        return self._work + _PER_NUMBER * (k + 1) * self._path.shape[1]

    def _enabled(self, marking: np.ndarray) -> np.ndarray:
        owner, place, least = self._needs
        disabled = np.zeros(len(self._net.transitions), dtype=np.bool_)
        disabled[owner[marking[place] < least]] = True
        owner, place, most = self._limits
        disabled[owner[marking[place] > most]] = True
        return np.flatnonzero(~disabled)

    def _after(self, marking: np.ndarray, transition: int) -> np.ndarray:
        one = np.array([transition])
        target = marking.copy()
        target[self._net.resets.of(one)[1]] = 0
        _, place, change = self._net.effects(one)
        target[place] += change
        return target

    def _compare(self, k: int) -> None:
        """Look for a marking before the k-th one that it covers."""
        path, last = self._path[:k], self._path[k]
        covered = (path <= last).all(axis=1) & (path < last).any(axis=1)
        for begin in np.flatnonzero(covered)[::-1].tolist():
            growth = self._growth(begin)
            if growth is not None and is_confirmed(self._net, growth):
                self.found = growth
                return

    def _growth(self, begin: int) -> Growth | None:
        """Return the run from a marking that is covered, if it can be repeated."""
        cycle = np.array(self._taken[begin:])
        first, last = self._path[begin], self._path[len(self._taken)]
        limited = self._net.limits.of(cycle)[1]
        if (first[limited] != last[limited]).any():
            return None
        more = first < last
        more[self._net.resets.of(cycle)[1]] = False
        places = tuple(np.flatnonzero(more).tolist())
        if not places:
            return None
        return Growth(tuple(self._taken[:begin]), tuple(cycle.tolist()), places)


def is_confirmed(net: NetModel, growth: Growth) -> bool:
    """Whether the interpreter takes the run, and it satisfies what is required of it.

    Plain Python, transition by transition; it shares nothing with the walks.
    """
    state, markings = net.initial(), []
    for action in (*growth.prefix, *growth.cycle):
        markings.append(state)
        step = next(net.steps_by(state, action), None)
        if step is None:
            return False
        state = step.state
    first = markings[len(growth.prefix)]
    taken = [net.transitions[action] for action in growth.cycle]
    limited = {place for transition in taken for place in transition.limits}
    reset = {place for transition in taken for place in transition.resets}
    covers = all(a <= b for a, b in zip(first, state, strict=True))
    same = all(first[p] == state[p] for p in limited)
    grown = all(first[p] < state[p] and p not in reset for p in growth.places)
    return covers and same and grown and bool(growth.places)
