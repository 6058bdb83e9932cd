"""From a run of a quotient back to one of the system.

A step of the quotient leads from a representative r to that of a successor s of r.  The
state of the system's run is what a permutation p makes of r; its next one is what p
makes of s, which is what p and the permutation from the next representative back to s
make of that.  When a state comes again at the beginning of the cycle, the system's
cycle is closed.

Steps are taken from the system, in plain Python, and not from its packed form.

Source: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods in
System Design 9, 1996, pp. 105-131, Sec. 3 (runs of the quotient are runs of the
system).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group

    Steps = Callable[[Sequence[int]], Iterable["SystemStep"]]

_STEP_WORK = 200  # microseconds for a successor that is looked at, roughly


class SystemStep(NamedTuple):
    """A step of the system."""

    action: int
    kind: int  # what the property sees of the action
    state: tuple[int, ...]


def lifted(
    acting: Group, steps: Steps, kind: Callable[[int], int], found: Run
) -> Job[Run]:
    """Return a run of the system for one of its quotient.

    Parameters
    ----------
    acting : Group
        By which the quotient is one.
    steps : callable
        Returns the steps of a state of the system.
    kind : callable
        Returns what the property sees of an action.
    found : Run
        Its states are representatives.

    Raises
    ------
    StoppedError
        The run has more steps than `most_steps` allows.
    """
    grant = yield Progress(EXTRACTING)
    most = most_steps(grant.memory_bytes, acting.space.n_fields)
    lifting = _Lifting(acting, steps, kind, found)
    yield from lifting.walk(0, found.length)
    turns: dict[bytes, int] = {}
    while True:
        start = lifting.state(found.length)
        if start.tobytes() in turns:
            break
        turns[start.tobytes()] = len(lifting.actions)
        if len(lifting.actions) > most:
            raise StoppedError(MEMORY)
        yield from lifting.walk(found.length, len(found.actions))
        # The last representative is that of the cycle's first state.
    states = np.array([*lifting.states, start], dtype=np.int64)
    actions = np.array(lifting.actions, dtype=np.int32)
    return Run(actions, states, turns[start.tobytes()])


class _Lifting:
    """The steps of the system's run, one after the other."""

    def __init__(
        self,
        acting: Group,
        steps: Steps,
        kind: Callable[[int], int],
        found: Run,
    ) -> None:
        self._acting, self._steps, self._kind = acting, steps, kind
        self._found = found
        self.actions: list[int] = []
        self.states: list[np.ndarray] = []  # before them
        self._permutation = np.arange(acting.space.n_points)
        self._taken: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._ticks = Ticks(EXTRACTING, _STEP_WORK)

    def state(self, k: int) -> np.ndarray:
        """Return the state of the run that the k-th representative stands for."""
        representative = self._found.states[k].astype(np.int64)
        return self._acting.space.image(self._permutation, representative)

    def walk(self, first: int, last: int) -> Job[None]:
        """Take the steps of the quotient's run from `first` up to `last`."""
        space = self._acting.space
        for k in range(first, last):
            state = self.state(k)
            self.states.append(state)
            action = int(self._found.actions[k])
            if action < 0:  # a deadlock repeats itself
                self.actions.append(action)
                continue
            if k not in self._taken:
                self._taken[k] = yield from self._step(k, self._kind(action))
            target, back = self._taken[k]
            goal = tuple(space.image(self._permutation, target).tolist())
            yield from self._take(state, goal, self._kind(action))
            self._permutation = self._permutation[back]

    def _step(self, k: int, kind: int) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return a successor of a representative with the next one as its own.

        And the permutation that takes this back to the successor.
        """
        goal = self._found.states[k + 1].astype(np.int64)
        for step in self._steps(tuple(self._found.states[k].tolist())):
            if self._ticks.over():
                yield self._ticks.progress
            if step.kind != kind:
                continue
            target = np.array(step.state, dtype=np.int64)
            representative, permutation = self._acting.normalised(target)
            if (representative == goal).all():
                return target, np.argsort(permutation)
        raise ReplayError("the search reported a step that is not there")

    def _take(self, state: np.ndarray, goal: tuple[int, ...], kind: int) -> Job[None]:
        """Take a step to a state, by an action of which the property sees the same."""
        for step in self._steps(tuple(state.tolist())):
            if self._ticks.over():
                yield self._ticks.progress
            if step.kind == kind and step.state == goal:
                self.actions.append(step.action)
                return
        raise ReplayError("a permutation took a step to none")
