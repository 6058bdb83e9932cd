"""Recorded runs: what files and result tables say of one, and its steps in the system.

A record names actions, and maybe moves and valuations; which steps these are is found
by going through the system along them.  Where names leave a choice, all of them are
followed, until the cycle closes.

The steps (`Walker`), by the names that people and files know, are those of
`ltlpipe.systems.plain_steps`, and for graphs the valuations of edges; they are listed
one by one, since one state may have very many.

Runs of the system with these names are enumerated from the initial state, and each is
checked by the independent replay (`ltlpipe.verdict.judgement`), with the requested
acceptance and fairness, and by Spot.  So a lasso that is confirmed is one, whatever has
found its steps.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.lettering import valuations_in
from ltlpipe.logic.history import PLAIN
from ltlpipe.question.given_options import RUN_OPTIONS
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.network import NetworkQuestion
from ltlpipe.question.options import DEADLOCK_ERROR, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.graph import unlabelled
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import STUTTER_NAME, ModelSteps, Move, NetworkSteps
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.finite_runs import derived, judged_end, remembering
from ltlpipe.verdict.inquiry import (
    question_of,
    with_fair_steps,
    without_fairness,
)
from ltlpipe.verdict.judgement import finite_run, judged, judged_prefix
from ltlpipe.verdict.lasso import FINITE_KINDS, MAXIMAL
from ltlpipe.verdict.replay import run_replayed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from ltlpipe.logic.history import Dialect
    from ltlpipe.question.question import Question
    from ltlpipe.systems.plain_steps import NamedSteps, Wanted

    Holding = Callable[[int], tuple[str, ...]]
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.lasso import Lasso


class Taken(NamedTuple):
    """One step out of a state."""

    action: int  # its number; of a graph Spot's of the edge; -1 repeats the state
    state: Any  # its target
    holds: tuple[str, ...]  # the propositions of the formula that hold
    letter: tuple[str, ...] = ()  # of a graph: all of its propositions that hold


class Walker:
    """Enumerates the steps of a network or model.

    `holding` returns the propositions of the formula that hold with a letter.
    """

    def __init__(self, steps: NamedSteps, holding: Holding) -> None:
        self._steps, self._holding = steps, holding
        self.values = steps.values  # what the entries of `shown` are called

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._steps.initial()

    def each_step(
        self,
        state: Any,
        wanted: Wanted = None,
        moves: Sequence[Move] | None = None,
    ) -> Iterator[Taken]:
        """Yield the steps of a state, some of them twice.

        `wanted` filters actions by their names; of steps with other `moves` some may
        be left out.
        """
        for step in self._steps.each_step(state, wanted, moves):
            yield Taken(step.action, step.state, self._holding(step.letter))

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the steps in which a state without others repeats itself."""
        yield self.along(state, -1, state)

    def array(self, states: Sequence[Any]) -> np.ndarray:
        """Return states as those of a `ltlpipe.systems.runs.Run`."""
        return self._steps.array(states)

    def is_dead(self, state: Any) -> bool:
        """Whether a state has no steps."""
        return next(self.each_step(state), None) is None

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return the name of a step out of a state."""
        del state
        return self._steps.action_name(taken.action)

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with their states, or the variables with values."""
        return self._steps.shown(state)

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return the changes of a step out of a state."""
        return self._steps.moves(state, taken.action, taken.state)

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the step of a run between two states."""
        letter = self._steps.letter(state, action)
        return Taken(action, target, self._holding(letter))

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return the letter of a step in prefix and cycle of a lasso."""
        if isinstance(self._steps, NetworkSteps):
            return self.action_name(state, taken)
        return self.shown(state)

    def fits(
        self,
        state: Any,
        taken: Taken,
        moves: tuple[Move, ...] | None,
        before: Mapping[str, Any] | None,
    ) -> bool:
        """Whether a step is one that a file tells of; None is anything."""
        if before is not None and self.shown(state) != before:
            return False
        return moves is None or self.moves(state, taken) == moves

    def accepting(self, state: Any) -> tuple[str, ...]:
        """Return the components that accept in a state, if some can."""
        steps = self._steps
        return steps.accepting(state) if isinstance(steps, NetworkSteps) else ()


class GraphWalker(Walker):
    """A graph of Spot; its states are those of the graph.

    An edge is a step for each way in which the formula's propositions can hold.
    """

    def __init__(self, question: GraphQuestion) -> None:
        self.values = "graph"
        self._graph = question.system
        self._edges = unlabelled(question.system)
        self._known = question.known

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._graph.initial

    def each_step(
        self,
        state: Any,
        wanted: Wanted = None,
        moves: Sequence[Move] | None = None,
    ) -> Iterator[Taken]:
        """Yield the steps of a state, whatever their moves are."""
        del moves
        graph, steps = self._graph, self._edges
        first, end = steps.first[state : state + 2].tolist()
        for edge, target in zip(
            steps.edge[first:end].tolist(), steps.dst[first:end].tolist(), strict=True
        ):
            if wanted is None or wanted(_edge_name(state, target)):
                number, place = int(graph.number[edge]), graph.label[edge]
                yield from self._letters(number, target, place)

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the steps by the valuations of a state, of a Kripke structure."""
        labels = self._graph.state_label
        if labels is not None and labels[state] >= 0:
            yield from self._letters(-1, state, labels[state])

    def _letters(self, number: int, target: int, place: int) -> Iterator[Taken]:
        graph, known = self._graph, self._known
        for names in valuations_in(graph.graph, graph.conditions[place], known):
            holds = tuple(name for name in known if name in names)
            yield Taken(number, target, holds, tuple(names))

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return both states."""
        return _edge_name(state, taken.state)

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the number of the state."""
        return {"state": str(state)}

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return both states."""
        return (Move("state", str(state), str(taken.state)),)

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the first step with these states."""
        steps = self.repeated(state) if action < 0 else self.each_step(state)
        return next(t for t in steps if (t.action, t.state) == (action, target))

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return which propositions of the graph hold."""
        del state
        return {name: name in taken.letter for name in self._graph.propositions}

    def fits(
        self,
        state: Any,
        taken: Taken,
        moves: tuple[Move, ...] | None,
        before: Mapping[str, Any] | None,
    ) -> bool:
        """Return whether the formula's propositions hold as a file records."""
        del state, moves
        if before is None:
            return True
        return all(bool(before.get(p)) == (p in taken.holds) for p in self._known)

    def accepting(self, state: Any) -> tuple[str, ...]:
        """Return no component: a graph has none."""
        del state
        return ()


def walker_of(question: Question, most_examined: int | None = None) -> Walker:
    """Return the walker of a question's system.

    Of a state of a model no more steps are looked at than `most_examined`.
    """
    if isinstance(question, GraphQuestion):
        return GraphWalker(question)
    if isinstance(question, NetworkQuestion):
        named = [(), *((name,) for name in question.actions)]
        steps = NetworkSteps(question.system, question.actions, limited=False)
        return Walker(steps, named.__getitem__)
    model: Any = question
    meanings = list(model.written.values())
    return Walker(
        ModelSteps(model.system, meanings, limited=False, most_examined=most_examined),
        holding_of(list(model.written)),
    )


def holding_of(propositions: Sequence[str]) -> Holding:
    """Return the function for those of some propositions that a letter, bits, has."""
    bits = [(1 << k, name) for k, name in enumerate(propositions)]
    return lambda letter: tuple(name for bit, name in bits if letter & bit)


def _edge_name(src: int, dst: int) -> str:
    return f"{src} -> {dst}"


GIVEN = "lasso"
"""What messages call a lasso that comes from no file."""

MOST_ALIKE = 1_000
"""States that the same names may lead to."""

FOLLOWING = "finding the lasso"
"""The phase of finding the steps."""

_STEP_WORK = 30.0  # units per step that is examined


class UndecidedError(Exception):
    """There are too many runs with these names, or they do not tell which it is."""


class RecordedStep(NamedTuple):
    """The recorded data of one step; None is anything."""

    action: str | None
    moves: tuple[Move, ...] | None = None
    before: Mapping[str, Any] | None = None  # the valuation that it leaves


class Record(NamedTuple):
    """A lasso, or a finite run, as it is recorded."""

    steps: tuple[RecordedStep, ...]
    first: int  # where the cycle begins: after all steps if there is none
    kind: Any = None  # of a finite run
    formula: str | None = None
    file: str = GIVEN
    repeats: bool = False  # a state without successors repeats itself
    own: Lasso | None = None  # of the system itself: it has the steps
    dialect: Dialect = PLAIN  # of the formula
    alphabet: tuple[str, ...] | None = None  # that the file of the formula declares

    def fitted(self, system: System) -> System:
        """Return the system whose states have the names of the recorded ones."""
        before = self.steps[0].before if self.steps else None
        if before is None or not isinstance(system, Model):
            return system
        return system.telling(before.keys())

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself in it."""
        return self.repeats or STUTTER_NAME in self.names

    @property
    def has_cycle(self) -> bool:
        """Whether it is a lasso, and not a finite run."""
        return self.first < len(self.steps)

    @property
    def names(self) -> tuple[Any, ...]:
        """The actions of prefix and cycle, as far as they are recorded."""
        return tuple(step.action for step in self.steps)

    @property
    def prefix(self) -> tuple[Any, ...]:
        """The actions of the prefix."""
        return self.names[: self.first]

    @property
    def cycle(self) -> tuple[Any, ...]:
        """The actions of the cycle."""
        return self.names[self.first :]


def recorded(prefix: Sequence[str], cycle: Sequence[str], kind: Any = None) -> Record:
    """Return the record of a run of which only actions are known."""
    return Record(tuple(map(RecordedStep, (*prefix, *cycle))), len(prefix), kind)


Path = list[tuple[Any, "Taken"]]
"""Steps, each with the state that it leaves."""

_Layer = dict[Any, "dict[tuple[Any, Taken], None]"]
"""States after some steps: each with the steps, and their sources, that lead to it."""


class RunFinder:
    """Enumerates the runs of a system that are like a record."""

    def __init__(self, walker: Walker, record: Record, *, stutters: bool) -> None:
        self._walker, self._record, self._stutters = walker, record, stutters
        self._ticks = Ticks(FOLLOWING, _STEP_WORK)
        self.missing: int | None = None  # the step that the system did not have

    def runs(self) -> Iterator[Progress | Path]:
        """Yield each run that closes, and how far the search is.

        Raises
        ------
        UndecidedError
            There are too many states that it can lead to.
        """
        k, n = self._record.first, len(self._record.steps)
        prefix = yield from self._layers(self._walker.initial(), 0, k)
        for state in prefix[-1]:
            if not self._record.has_cycle:
                yield from _paths(prefix, state)
                continue
            cycle = yield from self._layers(state, k, n)
            if state not in cycle[-1]:
                continue
            for before in _paths(prefix, state):
                for again in _paths(cycle, state):
                    yield [*before, *again]

    def _layers(
        self, start: Any, begin: int, end: int
    ) -> Generator[Progress, None, list[_Layer]]:
        """Return the states before each of some steps, and after the last one."""
        found: list[_Layer] = [{start: {}}]
        for k in range(begin, end):
            layer: _Layer = {}
            for state in found[-1]:
                for taken in self._like(state, self._record.steps[k]):
                    yield from self._ticks.worked()
                    layer.setdefault(taken.state, {})[state, taken] = None
                    if len(layer) > MOST_ALIKE:
                        self.missing = k
                        raise UndecidedError(
                            f"step {k + 1} can lead to more than {MOST_ALIKE} states"
                        )
            if found[-1] and not layer:
                self.missing = k
            found.append(layer)
        return found

    def _like(self, state: Any, told: RecordedStep) -> Iterator[Taken]:
        """Yield the steps out of a state that are like one of the record."""
        walker = self._walker
        action, moves, before = told
        is_dead = self._stutters  # as far as that is known
        for taken in walker.each_step(state, _called(action), moves):
            is_dead = False
            if walker.fits(state, taken, moves, before):
                yield taken
        if is_dead and walker.is_dead(state):
            for taken in walker.repeated(state):
                names = None, STUTTER_NAME, walker.action_name(state, taken)
                if action in names and walker.fits(state, taken, moves, before):
                    yield taken


_NUMBER = re.compile(r" #[0-9]+(?= \||$)")
"""What tells transitions of a process apart that would be called the same."""


def _called(action: str | None) -> Callable[[str], bool] | None:
    """Return whether a step has a recorded name; until version 0.2 without numbers."""
    if action is None:
        return None
    return lambda name: name == action or _NUMBER.sub("", name) == action


def _paths(layers: list[_Layer], end: Any) -> Iterator[Path]:
    """Yield each path through layers to a state of the last."""
    left: list[tuple[int, Any, Any]] = [(len(layers) - 1, end, None)]
    while left:
        k, state, path = left.pop()
        for step in reversed(layers[k][state]):
            left.append((k - 1, step[0], (step, path)))
        if k == 0:
            found: Path = []
            while path is not None:
                step, path = path
                found.append(step)
            yield found


MOST_RUNS = 100
"""Runs of the same names that are replayed until one is a violation."""


def run_options(given: Mapping[str, Any]) -> Options:
    """Return the options of a question, of which those about runs alone are taken.

    So nothing named by a file is executed: it may name a translator.
    """
    return Options(**{name: given[name] for name in RUN_OPTIONS if name in given})


def confirmed(
    system: System,
    asked: Property,
    told: Record,
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
    told : Record
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
        There are too many such runs, or the system is a graph of Spot.
    FormulaError, UnsupportedError
        The property does not fit this system.
    """
    if not isinstance(system, (Network, Model)):
        raise UndecidedError(
            "the actions of a lasso do not determine a run of a graph of Spot"
        )
    if told.kind not in (None, *FINITE_KINDS) or (told.kind is None) != told.has_cycle:
        raise ReplayError("the lasso has no cycle, and is no finite run")
    net: Any = told.fitted(system)
    system = yield from with_fair_steps(net, options)
    formula = asked.formula
    looks_back = formula is not None and formula.history and not options.finite
    if looks_back:
        system, asked = yield from derived(system, asked, options)
    with silenced():
        questions = [question_of(system, asked, options)]
        if constraint is not None:
            kept = Property(violations=constraint)
            questions.append(question_of(system, kept, options))
        walked = questions[0]
        if system is not net:  # the run is one of the net that was not unfolded
            walked = without_fairness(net, asked, options)
    walker = walker_of(walked)
    finder = RunFinder(walker, told, stutters=questions[0].stutters)
    failed: ReplayError | None = None
    n_runs = 0
    try:
        for found in finder.runs():
            if isinstance(found, Progress):
                yield found
                continue
            n_runs += 1
            if n_runs > MOST_RUNS:
                raise UndecidedError(f"more than {MOST_RUNS} runs have these names")
            rows = [walker.initial(), *(taken.state for _, taken in found)]
            actions = np.array([taken.action for _, taken in found], dtype=np.int32)
            states = walker.array(rows)
            if system is not net:
                actions, states = net.unfolded_run(system, actions, states)
            way = Run(actions, states, told.first)
            try:
                if options.finite and told.kind is None:
                    raise ReplayError("a lasso is no finite run")
                if options.finite:
                    return (yield from _judged_end(system, asked, options, way))
                if told.kind == MAXIMAL:
                    is_dead = walker.is_dead(rows[-1])
                    return (yield from _ended(questions[0], way, is_dead=is_dead))
                found_run = yield from _replayed(questions, way, told)
                if looks_back and told.kind is None:
                    about: Any = formula
                    judging = remembering(system, about, options, found_run)
                    found_run = yield from judging
                return found_run
            except ReplayError as error:
                failed = failed or error
    finally:
        for question in (*questions, walked):
            question.close()
    if failed is None and (k := finder.missing) is not None:
        failed = ReplayError(
            f"step {k + 1}, {told.names[k]!r}, is not a step of the system there"
        )
    raise failed or ReplayError("the cycle does not close")


def _replayed(questions: Sequence[Question], run: Run, told: Record) -> Job[Lasso]:
    """Replay a run for each of some questions; a finite one for the only question."""
    if told.kind is None:
        lassos = []
        for question in questions:
            lassos.append((yield from judged(question, run)))
        return lassos[0]
    if len(questions) > 1:
        raise UndecidedError("a finite run under a constraint is not judged")
    found = yield from judged_prefix(questions[0], run.actions, run.states)
    if found is None:
        raise ReplayError("some continuation of the finite run may be no violation")
    return found


def _judged_end(
    system: System, asked: Property, options: Options, run: Run
) -> Job[Lasso]:
    """Replay a finite run, of whose words a formula says something."""
    if asked.formula is None:
        raise ReplayError("finite runs violate formulas only")
    return (yield from judged_end(system, asked.formula, options, run))


def _ended(question: Question, run: Run, *, is_dead: bool) -> Job[Lasso]:
    """Replay a run that ends, which is a violation by ``--deadlock error``."""
    if question.options.deadlock != DEADLOCK_ERROR:
        raise ReplayError("a run that ends is no violation without --deadlock=error")
    system: Any = question.system  # type: ignore[attr-defined]
    found = yield from finite_run(system, run.actions, run.states)
    yield from run_replayed(system, found, stutters=False, accepting=False)
    if not is_dead:
        raise ReplayError("the run does not end in a deadlock")
    return replace(found, kind=MAXIMAL)
