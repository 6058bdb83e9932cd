"""Lassos given by names only: whether the system has them as violations.

A result table, and the JSON of `check`, name the actions of a lasso.  Runs of the
system with these names are enumerated from the initial state, and each is checked by
the independent replay (`ltlpipe.verdict.judgement`), with the requested acceptance and
fairness, and by Spot.  So a lasso that is confirmed is one, whatever has found its
steps.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ltlpipe.question.given_options import RUN_OPTIONS
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, UnsupportedError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.runs import Run
from ltlpipe.systems.views import NetworkView
from ltlpipe.verdict.judgement import judged, judged_prefix
from ltlpipe.verdict.lasso import STUTTER_NAME
from ltlpipe.verdict.questions import question_of, with_fair_steps
from ltlpipe.verdict.verdict import BAD_PREFIX

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Lasso

MOST_ALIKE = 1_000
"""States that the same names may lead to."""

MOST_RUNS = 100
"""Runs of the same names that are replayed until one is a violation."""

CONFIRMING = "finding the lasso"
"""The phase of finding the steps."""

_STEP_WORK = 30.0  # units per step that is examined

_State = tuple[int, ...]
_Layer = dict[_State, "dict[tuple[_State, int], None]"]
"""States after some steps: each with the steps, source and action, that lead to it."""


class UndecidedError(Exception):
    """There are too many runs with these names."""


class RecordedLasso(NamedTuple):
    """A lasso as recorded in a file."""

    prefix: tuple[str, ...]  # actions
    cycle: tuple[str, ...]
    before: tuple[Mapping[str, Any], ...] | None = None  # valuations, if recorded
    kind: str | None = None  # of a finite run, which has no cycle

    @property
    def names(self) -> tuple[str, ...]:
        """The actions of prefix and cycle."""
        return (*self.prefix, *self.cycle)


def run_options(given: Mapping[str, Any]) -> Options:
    """Return the options of a question, of which those about runs alone are taken.

    So nothing named by a file is executed: it may name a translator.
    """
    known = {each.name for each in fields(Options)} & set(RUN_OPTIONS)
    return Options(**{name: given[name] for name in known & set(given)})


def confirmed(
    system: System,
    asked: Property,
    told: RecordedLasso,
    options: Options,
    constraint: Any = None,
) -> Job[Lasso]:
    """Replay a recorded lasso.

    Parameters
    ----------
    system : Network or Model
        The system with the run.
    asked : Property
        The violated property.
    told : RecordedLasso
        Its steps.
    options : Options
        Those of `run_options`.
    constraint : spot.twa_graph, optional
        Only runs that it accepts count.

    Raises
    ------
    ReplayError
        The system has no such run, or it is not a violation.
    UndecidedError
        There are too many such runs.
    FormulaError, UnsupportedError
        The property does not fit this system.
    """
    if not isinstance(system, (Network, Model)):
        raise UnsupportedError(
            "the actions of a lasso do not determine a run of a graph of Spot"
        )
    if told.kind not in (None, BAD_PREFIX) or (told.kind is None) != bool(told.cycle):
        raise ReplayError("the lasso has no cycle, and is no bad prefix")
    system = yield from with_fair_steps(system, options)
    with silenced():
        questions = [question_of(system, asked, options)]
        if constraint is not None:
            kept = Property(violations=constraint)
            questions.append(question_of(system, kept, options))
    asked_of = questions[0].system  # type: ignore[attr-defined]
    finder = _Finder(_steps_of(asked_of), told, stutters=questions[0].stutters)
    failed: ReplayError | None = None
    n_runs = 0
    try:
        for found in finder.ways():
            if isinstance(found, Progress):
                yield found
                continue
            n_runs += 1
            if n_runs > MOST_RUNS:
                raise UndecidedError(f"more than {MOST_RUNS} runs have these names")
            try:
                return (yield from _replayed(questions, found, told))
            except ReplayError as error:
                failed = failed or error
    finally:
        for question in questions:
            question.close()
    raise failed or ReplayError(finder.why)


def _replayed(
    questions: Sequence[Question], way: _Way, told: RecordedLasso
) -> Job[Lasso]:
    """Replay a run for each of some questions; a finite one for the only question."""
    states = questions[0].state_array(way.states)
    actions = np.array(way.actions, dtype=np.int64)
    if told.kind is None:
        run = Run(actions, states, len(told.prefix))
        lassos = []
        for question in questions:
            lassos.append((yield from judged(question, run)))
        return lassos[0]
    if len(questions) > 1:
        raise UndecidedError("a finite run under a constraint is not judged")
    found = yield from judged_prefix(questions[0], actions, states)
    if found is None:
        raise ReplayError("some continuation of the finite run may be no violation")
    return found


class _Way(NamedTuple):
    """A run with the recorded names."""

    actions: list[int]
    states: list[_State]  # before each step, and after the last one


class _Finder:
    """Enumerates the runs with the recorded names."""

    def __init__(self, steps: _Steps, told: RecordedLasso, *, stutters: bool) -> None:
        self._steps, self._told, self._stutters = steps, told, stutters
        self._names = told.names
        self._ticks = Ticks(CONFIRMING, _STEP_WORK)
        self.why = "the cycle does not close"  # if there is no way

    def ways(self) -> Iterator[Progress | _Way]:
        """Yield each run that closes, and how far the search is."""
        k, n = len(self._told.prefix), len(self._names)
        prefix = yield from self._layers(self._steps.initial(), 0, k)
        for state in prefix[-1]:
            if self._told.kind is not None:
                for path in _paths(prefix, state):
                    states = [*(src for src, _ in path), state]
                    yield _Way([action for _, action in path], states)
                continue
            cycle = yield from self._layers(state, k, n)
            if state not in cycle[-1]:
                continue
            for before in _paths(prefix, state):
                for again in _paths(cycle, state):
                    path = [*before, *again]
                    actions = [action for _, action in path]
                    yield _Way(actions, [*(src for src, _ in path), state])

    def _layers(
        self, start: _State, begin: int, end: int
    ) -> Generator[Progress, None, list[_Layer]]:
        """Return the states before each of some steps, and after the last one."""
        found: list[_Layer] = [{start: {}}]
        for k in range(begin, end):
            layer: _Layer = {}
            for state in found[-1]:
                if not self._fits(state, k):
                    continue
                for action, target in self._taken(state, self._names[k]):
                    if self._ticks.over():
                        yield self._ticks.progress
                    layer.setdefault(target, {})[state, action] = None
                    if len(layer) > MOST_ALIKE:
                        raise UndecidedError(
                            f"step {k + 1} can lead to more than {MOST_ALIKE} states"
                        )
            if found[-1] and not layer:
                name = self._names[k]
                self.why = f"step {k + 1}, {name!r}, is not a step of the system there"
            found.append(layer)
        return found

    def _fits(self, state: _State, k: int) -> bool:
        """Return whether a state has the valuation recorded before a step, if any."""
        before = self._told.before
        return before is None or self._steps.shown(state) == before[k]

    def _taken(self, state: _State, name: str) -> Iterator[tuple[int, _State]]:
        """Yield the steps of a state by a name: actions and targets."""
        yield from self._steps.called(state, name)
        if name == STUTTER_NAME and self._stutters and self._steps.is_dead(state):
            yield -1, state


def _paths(layers: list[_Layer], end: _State) -> Iterator[list[tuple[_State, int]]]:
    """Yield each path through layers to a state of the last, as sources and actions."""
    n = len(layers) - 1
    if not n:
        yield []
        return
    taken: list[tuple[_State, int]] = []  # backwards
    choices = [iter(layers[n][end])]
    while choices:
        step = next(choices[-1], None)
        del taken[len(choices) - 1 :]
        if step is None:
            choices.pop()
            continue
        taken.append(step)
        if len(taken) == n:
            yield taken[::-1]
        else:
            choices.append(iter(layers[n - len(taken)][step[0]]))


class _Steps(Protocol):
    """The steps of a system, by their names."""

    def initial(self) -> _State:
        """Return the initial state."""

    def called(self, state: _State, name: str) -> Iterator[tuple[int, _State]]:
        """Yield the steps of a state by a name: actions and targets."""

    def is_dead(self, state: _State) -> bool:
        """Whether a state has no steps."""

    def shown(self, state: _State) -> Mapping[str, Any]:
        """Return the valuation of a state."""


def _steps_of(system: Network | Model) -> _Steps:
    return _NetworkSteps(system) if isinstance(system, Network) else _ModelSteps(system)


class _NetworkSteps:
    """The steps of a network; its states are tuples of local states."""

    def __init__(self, network: Network) -> None:
        self._view = NetworkView(network, limited=False)
        self._called: dict[str, set[int]] = {}
        for number, action in enumerate(network.actions):
            self._called.setdefault(action.name, set()).add(number)

    def initial(self) -> _State:
        return self._view.initial()  # type: ignore[return-value]

    def called(self, state: _State, name: str) -> Iterator[tuple[int, _State]]:
        actions = self._called.get(name)
        if actions is not None:
            for step in self._view.each_step(state, actions):
                yield step.action, step.state  # type: ignore[misc]

    def is_dead(self, state: _State) -> bool:
        return next(self._view.each_step(state), None) is None

    def shown(self, state: _State) -> Mapping[str, Any]:
        del state
        return {}  # a network has no valuations


class _ModelSteps:
    """The steps of a model; its states are valuations."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def initial(self) -> _State:
        return tuple(self._model.initial())

    def called(self, state: _State, name: str) -> Iterator[tuple[int, _State]]:
        names = self._model.actions
        for step in self._model.each_step(state):
            if names[step.action] == name:
                yield step.action, tuple(step.state)

    def is_dead(self, state: _State) -> bool:
        return next(self._model.each_step(state), None) is None

    def shown(self, state: _State) -> Mapping[str, Any]:
        return self._model.shown(state)
