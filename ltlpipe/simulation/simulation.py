"""A run of a system, step by step: the model behind both interfaces of ``simulate``.

A point of the run is a state, the residual formula, and whether that can still be
satisfied.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.words import monitor_of
from ltlpipe.logic.formulas import FormulaLike, formula_of, parse
from ltlpipe.logic.history import PLAIN
from ltlpipe.logic.progression import residual
from ltlpipe.question.options import FINITE, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import PATH, TEXT, WHOLE, Kind, expect
from ltlpipe.runtime.errors import InputError, RoomError, UnsupportedError
from ltlpipe.runtime.files import write_text
from ltlpipe.runtime.jobs import (
    MEMORY,
    Limits,
    Progress,
    StoppedError,
    TooMuchWorkError,
    bounded,
    complete,
    run,
)
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.names import counted, nearest
from ltlpipe.runtime.objects import Displayed
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.simulation.records import given_lasso
from ltlpipe.systems.networks.lts import LABEL, Network
from ltlpipe.systems.reading import USED, system_job
from ltlpipe.verdict.deadlocks import refuse_if_lacking
from ltlpipe.verdict.inquiry import question_of
from ltlpipe.verdict.lasso import FINAL, Lasso, LassoStep
from ltlpipe.verdict.recorded import (
    Record,
    RunFinder,
    Taken,
    UndecidedError,
    walker_of,
)
from ltlpipe.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Sized

    from ltlpipe.automata.words import Monitor
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike
    from ltlpipe.verdict.recorded import Walker

_MONITOR_WORK = 3e6  # CPU time of its translation, in microseconds


class Track(NamedTuple):
    """A lasso, or a run, in steps of the system."""

    steps: tuple[Taken, ...]
    first: int  # where the cycle begins: after all steps if there is none

    def next_place(self, place: int) -> int:
        """Return the index of the next step."""
        after = place + 1
        return self.first if after == len(self.steps) else after


def track_of(walker: Walker, record: Record, *, stutters: bool) -> Job[Track]:
    """Return a recorded lasso as a track.

    Raises
    ------
    InputError
        It is not a run of the system; names the first wrong step.
    """
    if record.own is not None:
        states = [tuple(state) for state in record.own.states.tolist()]
        steps = map(walker.along, states, record.own.actions.tolist(), states[1:])
        return Track(tuple(steps), record.first)
    finder = RunFinder(walker, record, stutters=stutters)
    what = "is not a step of the system there"
    try:
        for found in finder.runs():
            if not isinstance(found, Progress):
                return Track(tuple(taken for _, taken in found), record.first)
            yield found
    except UndecidedError:
        what = "could be too many steps"
    message = "the cycle of the lasso does not close"
    if finder.missing is not None:
        name = record.names[finder.missing]
        named = "" if name is None else f", {name!r},"
        message = f"step {finder.missing + 1} of the lasso{named} {what}"
    raise InputError(message, file=record.file)


class Point(NamedTuple):
    """A point of a run, and the step that led to it."""

    state: Any
    taken: Taken | None  # the step that has led there; None in the beginning
    left: Any  # of the formula
    alive: frozenset[int] | None  # the states of the monitor
    bad_prefix: int | None
    place: int | None  # of the next step on the lasso; None beside it


def monitor_job(formula: Formula | None, *, one_at_a_time: bool) -> Job[Monitor | None]:
    """Return the monitor of a formula; None if it takes too long."""
    if formula is None:
        return None
    try:
        job = monitor_of(formula, one_at_a_time=one_at_a_time)
        return (yield from bounded(job, _MONITOR_WORK))
    except (TooMuchWorkError, UnsupportedError, RuntimeError):
        return None


MOST_SEARCHED = 50_000
"""Limit on the states that are explored."""

MOST_DRAWN = 10_000
"""Limit on the steps of a state, for random walks and searches."""

STEP_WORK = 20.0
"""Units of work per step."""

_STATE_BYTES, _VALUE_BYTES = 400.0, 16.0

MOST_EXAMINED = 100_000
"""Limit on the steps of one state of a model."""

MOST_ENABLED = 300
"""Enabled steps of a state that are listed; a filter finds others."""


_LASSO = Kind(
    "a lasso, a verdict, what check --json prints, or a file of it",
    lambda value: isinstance(value, (Lasso, Verdict, dict)) or PATH.fits(value),
)


class _Enabled(NamedTuple):
    """The steps that a state has, the first of them."""

    taken: list[Taken]
    steps: list[LassoStep]
    has_more: bool


def _formula_of(record: Record) -> Formula | None:
    """Return the formula of a recorded run; None if it is one of another dialect."""
    if record.formula is None or record.dialect != PLAIN:
        return None
    return replace(parse(record.formula), alphabet=record.alphabet)


class Simulation(Displayed):
    """A run of a system that is made step by step.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        As for `ltlpipe.check`.
    formula : str, Formula or spot.formula, optional
        The formula whose residual is computed after each step; by default that of the
        lasso.
    lasso : Lasso, Verdict, dict or path, optional
        A run to follow: a counterexample, the output of ``check --json`` (or a file of
        it), or a file written by `save`.
    seed : int, optional
        Of random walks.
    deadlock : str, optional
        "ignore" or "stutter", as for `ltlpipe.check`; by default as the lasso has it.
    semantics : str, optional
        "action" or "state", as for `ltlpipe.check`.
    unknown : str
        "never" allows propositions that name nothing, as for `ltlpipe.check`.
    format : str, optional
        What files are, whatever they are called, as for `ltlpipe.load`.
    alphabet, initial, mealy : str, optional
        How files are read, as for `ltlpipe.load`.

    Raises
    ------
    InputError
        A file cannot be read, or the lasso is not a run of the system.
    FormulaError
        `formula` does not parse, or a proposition names nothing of the system.
    UnsupportedError
        The options ask for what cannot be done.

    Examples
    --------
    >>> from ltlpipe import LTS
    >>> ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="ring")])
    >>> simulation = Simulation(ring, "G(a -> X b)")
    >>> simulation.state, [step.action for step in simulation.enabled]
    ({'ring': '0'}, ['a'])
    >>> simulation.step("a").state
    {'ring': '1'}
    >>> str(simulation.residual)
    'b & G(a -> Xb)'
    """

    def __init__(
        self,
        system: SystemLike,
        formula: FormulaLike | None = None,
        *,
        lasso: Lasso | Verdict | Mapping[str, Any] | StrPath | None = None,
        seed: int | None = None,
        deadlock: str | None = None,
        semantics: str | None = None,
        unknown: str = "error",
        format: str | None = None,
        alphabet: str = USED,
        initial: str | None = None,
        mealy: str = LABEL,
    ) -> None:
        expect(_LASSO.or_none, lasso=lasso)
        expect(WHOLE.or_none, seed=seed)
        expect(TEXT.or_none, semantics=semantics)
        manner: dict[str, Any] = {"format": format, "alphabet": alphabet}
        manner |= {"initial": initial, "mealy": mealy, "semantics": semantics}
        given = complete(system_job(system, **manner))
        asked = None if formula is None else formula_of(formula)
        found = complete(given_lasso(lasso, given, asked))
        finite = semantics == FINITE
        if found is not None:
            given = found.fitted(given)
            finite = finite or found.dialect.finite or found.kind == FINAL
        if finite and asked is not None:
            raise UnsupportedError(
                "--semantics=finite: what is left of a formula of finite runs is not "
                "shown: leave the formula out"
            )
        if asked is None and found is not None and not finite:
            asked = _formula_of(found)
        if deadlock is None and found is not None and found.stutters:
            deadlock = "stutter"
        self._formula = asked
        self._options = Options(deadlock=deadlock, semantics=semantics, unknown=unknown)
        self._pose(given)
        if self._stutters:
            refuse_if_lacking(given)
        self._random = random.Random(None if seed is None else int(seed))
        self._filter = ""
        self._enabled: _Enabled | None = None
        self._ahead: list[Point] = []
        self._track: Track | None = None
        while found is not None and self._track is None:
            job = track_of(self._walker, found, stutters=self._stutters)
            try:
                self._track = complete(job)
            except RoomError as error:
                self._pose(error.roomier())
        one_at_a_time = isinstance(given, Network)
        self._monitor = complete(monitor_job(asked, one_at_a_time=one_at_a_time))
        left = None if asked is None else asked.spot
        if asked is not None:
            residual(left, ())  # refuses PSL
        alive = None if self._monitor is None else self._monitor.initial
        place = None if self._track is None else 0
        first = self._walker.initial()
        self._points = [Point(first, None, left, alive, None, place)]

    def _pose(self, system: System) -> None:
        """Make a system the one whose steps are taken."""
        question = question_of(system, Property(self._formula), self._options)
        self.system = system
        self._stutters = question.stutters
        self._walker = walker_of(question, MOST_EXAMINED)

    def _make_room(self, error: RoomError) -> None:
        """Go on in a system with more room, with the same run and lasso."""
        before = self._walker
        self._pose(error.roomier())
        if self._track is not None:
            steps = same_steps(before, self._walker, self._track.steps)
            self._track = self._track._replace(steps=tuple(steps))
        points = [*self._points, *reversed(self._ahead)]
        taken = [point.taken for point in points if point.taken is not None]
        every = [points[0]._replace(state=self._walker.initial())]
        same = same_steps(before, self._walker, taken)
        for point, step in zip(points[1:], same, strict=True):
            every.append(point._replace(state=step.state, taken=step))
        self._split(every, self.n_steps)

    def __repr__(self) -> str:
        name = self.system.name or "a system"
        steps = counted(self.n_steps, "step")
        parts = [f"{key}={value}" for key, value in islice(self.state.items(), 6)]
        more = " ..." if len(self.state) > 6 else ""
        return f"<Simulation of {name} after {steps}: {' '.join(parts)}{more}>"

    @property
    def formula(self) -> str | None:
        """The text of the formula."""
        return None if self._formula is None else self._formula.text

    @property
    def state(self) -> dict[str, Any]:
        """The components with the names of their states; or variables with values."""
        return self._walker.shown(self._now.state)

    @property
    def accepting(self) -> tuple[str, ...]:
        """The components that accept in the state, of those that are Büchi automata."""
        return self._walker.accepting(self._now.state)

    @property
    def residual(self) -> Any:
        """The residual formula, a formula of Spot; None without a formula."""
        return self._now.left

    @property
    def bad_prefix(self) -> int | None:
        """The steps after which no continuation satisfies the formula.

        None as long as one may, and where that takes too long to find out.
        """
        return self._now.bad_prefix

    @property
    def history(self) -> list[LassoStep]:
        """The steps up to here."""
        return self._told(self._points)

    def history_step(self, number: int) -> LassoStep:
        """Return one step of the history, from 0."""
        return self._told(self._points[number : number + 2])[0]

    @property
    def n_steps(self) -> int:
        """How many steps there are up to here."""
        return len(self._points) - 1

    @property
    def n_undone(self) -> int:
        """How many steps `redo` can take again."""
        return len(self._ahead)

    @property
    def name_filter(self) -> str:
        """A part of the names of those actions that `enabled` lists; empty for all.

        Case does not matter.
        """
        return self._filter

    @name_filter.setter
    def name_filter(self, text: str) -> None:
        expect(TEXT, name_filter=text)
        self._filter = text
        self._enabled = None

    @property
    def enabled(self) -> list[LassoStep]:
        """The steps that the state has: the first 300 that `name_filter` allows.

        A state without successors has none, or the step in which it repeats itself.
        """
        return list(self._listed().steps)

    @property
    def has_more(self) -> bool:
        """Whether the state has more steps than `enabled` lists."""
        return self._listed().has_more

    @property
    def is_deadlock(self) -> bool:
        """Whether the state has no successors, except itself by stuttering."""
        return not any(taken.action >= 0 for taken in self._steps(1))

    @property
    def on_lasso(self) -> bool:
        """Whether all steps up to here are those of the lasso."""
        return self._now.place is not None

    @property
    def n_on_lasso(self) -> int:
        """How many steps are those of the lasso, before the run has left it."""
        return sum(point.place is not None for point in self._points) - 1

    @property
    def lasso_length(self) -> tuple[int, int] | None:
        """The lengths of prefix and cycle of the lasso, if there is one."""
        if self._track is None:
            return None
        return self._track.first, len(self._track.steps) - self._track.first

    @cached_property
    def lasso_bad_prefix(self) -> int | None:
        """The steps of the lasso after which no continuation satisfies the formula.

        None if one always may, and where that takes too long to find out.
        """
        if self._track is None or self._monitor is None:
            return None
        letters = [taken.holds for taken in self._track.steps]
        return self._monitor.first_bad_prefix(letters, self._track.first)

    def lasso_ahead(self, n: int) -> list[LassoStep]:
        """Return the next steps on the lasso, at most `n`, without taking them."""
        track, place, state = self._track, self._now.place, self._now.state
        found: list[LassoStep] = []
        if track is None or place is None:
            return found
        while len(found) < n and place < len(track.steps):
            found.append(self._described(state, track.steps[place]))
            state, place = track.steps[place].state, track.next_place(place)
        return found

    def undone(self, n: int) -> list[LassoStep]:
        """Return the next steps that `redo` takes, at most `n`."""
        return self._told([self._now, *self._ahead[: -n - 1 : -1]])

    @property
    def next_on_lasso(self) -> LassoStep | None:
        """The step that `follow` takes; None off the lasso, or at its end."""
        taken = self._next()
        return None if taken is None else self._described(self._now.state, taken)

    def step(self, which: int | str | LassoStep) -> Simulation:
        """Take an enabled step.

        Parameters
        ----------
        which : int, str or LassoStep
            Its index in `enabled`, or its action if only one step has that, or one of
            `enabled`.

        Raises
        ------
        UnsupportedError
            There is no such step, or several.
        """
        if isinstance(which, str):
            self._take(self._step_called(which))
            return self
        if isinstance(which, LassoStep):
            wanted = which
            which = next((k for k, s in enumerate(self.enabled) if s == wanted), -1)
            if which < 0:
                raise UnsupportedError(f"{wanted.action!r} is not an enabled step")
        expect(WHOLE, which=which)
        steps = self._listed().taken
        if not 0 <= which < len(steps):
            some = "one" if len(steps) == 1 else f"{len(steps)}"
            raise UnsupportedError(
                f"there is no enabled step with the index {which}: there "
                f"{'is' if len(steps) == 1 else 'are'} {some or 'none'}"
            )
        self._take(steps[which])
        return self

    def follow(self, n: int = 1) -> Simulation:
        """Take the next steps of the lasso; after its cycle it repeats.

        Raises
        ------
        UnsupportedError
            There is no lasso, or the run has left it, or it ends here.
        """
        expect(WHOLE, n=n)
        if n < 0:
            raise UnsupportedError(f"{n} steps cannot be taken")
        for _ in range(n):
            taken = self._next()
            if taken is None:
                raise UnsupportedError(self._no_next())
            self._take(taken)
        return self

    def rejoin(self) -> Simulation:
        """Go back to the point where the run left the lasso.

        Raises
        ------
        UnsupportedError
            There is no lasso.
        """
        if self._track is None:
            raise UnsupportedError(self._no_next())
        return self.goto(self.n_on_lasso)

    def undo(self, n: int = 1) -> Simulation:
        """Take back the last steps.

        Raises
        ------
        UnsupportedError
            There are not so many.
        """
        expect(WHOLE, n=n)
        if not 0 <= n <= self.n_steps:
            raise UnsupportedError(
                f"{n} steps cannot be undone: there are {self.n_steps}"
            )
        return self.goto(self.n_steps - n)

    def redo(self, n: int = 1) -> Simulation:
        """Take steps again that have been undone.

        Raises
        ------
        UnsupportedError
            There are not so many.
        """
        expect(WHOLE, n=n)
        if not 0 <= n <= self.n_undone:
            raise UnsupportedError(
                f"{n} steps cannot be taken again: {self.n_undone} have been undone"
            )
        return self.goto(self.n_steps + n)

    def goto(self, where: int | Mapping[str, Any]) -> Simulation:
        """Go to another state of the run, or to the nearest state with given values.

        Parameters
        ----------
        where : int or dict
            The number of steps before it, those that were undone included; or names of
            components or variables with their states or values.  Then it is the
            nearest state that can be reached from here, itself included.

        Raises
        ------
        UnsupportedError
            There is no such state, or it is too far away.
        """
        if not isinstance(where, int):
            self._within_memory(self.goto_job(where))
            return self
        expect(WHOLE, where=where)
        every = [*self._points, *reversed(self._ahead)]
        if not 0 <= where < len(every):
            raise UnsupportedError(
                f"there is no state after {where} steps: the run has {len(every) - 1}"
            )
        self._split(every, where)
        return self

    def _split(self, every: list[Point], where: int) -> None:
        """Be after so many steps; those behind have been undone."""
        self._points, self._ahead = every[: where + 1], every[:where:-1]
        self._enabled = None

    def goto_job(self, values: Mapping[str, Any]) -> Job[int]:
        """Do `goto`, by values; return the number of steps that this takes."""
        wanted = {str(name): str(value) for name, value in values.items()}
        known = self.state
        for name in wanted:
            if name not in known:
                raise UnsupportedError(
                    f"there is no {self._walker.values} {name!r}" + nearest(name, known)
                )
        while True:
            try:
                steps = yield from nearest_way(
                    self._walker,
                    self._now.state,
                    lambda state: self._is_like(state, wanted),
                )
                break
            except RoomError as error:
                self._make_room(error)
        for taken in steps:
            self._take(taken)
        return len(steps)

    def random(self, n: int = 1, *, seed: int | None = None) -> int:
        """Take steps at random, each enabled one as likely as another.

        Parameters
        ----------
        n : int
            How many.
        seed : int, optional
            The same walk for the same seed, from the same state.

        Returns
        -------
        int
            How many steps were taken: fewer than `n` if there was a deadlock.
        """
        return self._within_memory(self.random_job(n, seed=seed))

    def random_job(self, n: int = 1, *, seed: int | None = None) -> Job[int]:
        """Do `random` as a job."""
        expect(WHOLE, n=n)
        expect(WHOLE.or_none, seed=seed)
        if n < 0:
            raise UnsupportedError(f"{n} steps cannot be taken")
        if seed is not None:
            self._random = random.Random(int(seed))
        per_step = state_bytes(self.state)
        ticks = Ticks("walking", STEP_WORK)
        for k in range(n):
            steps = self._steps(MOST_DRAWN)
            if not steps:
                return k
            self._take(self._random.choice(steps))
            if ticks.over(1 + len(steps)):
                ticks.memory_bytes = per_step * len(self._points)
                yield ticks.progress
        return n

    def to_dict(self) -> dict[str, Any]:
        """Return the run as ``simulate --lasso`` reads it.

        Keys are those of ``check --json``; the cycle of the lasso is empty.
        """
        states = [point.state for point in self._points]
        taken: list[Any] = [point.taken for point in self._points[1:]]
        pairs = list(zip(states, taken, strict=False))
        lasso: dict[str, Any] = {
            "prefix": [self._walker.lasso_letter(*pair) for pair in pairs],
            "cycle": [],
            "bad_prefix": self.bad_prefix,
            "steps": [step.to_dict() for step in self.history],
        }
        if not isinstance(self.system, Network):
            names = [self._walker.action_name(*pair) for pair in pairs]
            lasso |= {"prefix_actions": names, "cycle_actions": []}
        return {"system": self.system.name, "formula": self.formula, "lasso": lasso}

    def save(self, path: StrPath) -> None:
        """Write `to_dict` into a file, as JSON in one line.

        Raises
        ------
        LtlpipeError
            It cannot be written.
        """
        expect(PATH, path=path)
        write_text(os.fspath(path), json.dumps(self.to_dict()) + "\n")

    @property
    def _now(self) -> Point:
        return self._points[-1]

    def _told(self, points: Sequence[Point]) -> list[LassoStep]:
        return [
            self._described(before.state, after.taken)
            for before, after in pairwise(points)
            if after.taken is not None  # only the initial state has none
        ]

    def _described(self, state: Any, taken: Taken) -> LassoStep:
        walker = self._walker
        name = walker.action_name(state, taken)
        return LassoStep(name, walker.moves(state, taken), taken.holds)

    def _distinct(self, wanted: Callable[[str], bool] | None) -> Iterator[Taken]:
        """Yield the different steps of the state, or how it repeats itself."""
        state = self._now.state
        seen = set()
        for taken in self._walker.each_step(state, wanted):
            if taken not in seen:
                seen.add(taken)
                yield taken
        if self._stutters and not seen and self._walker.is_dead(state):
            yield from self._walker.repeated(state)

    def _steps(
        self, most: int, wanted: Callable[[str], bool] | None = None
    ) -> list[Taken]:
        """Return different steps of the state, with more room if they need it."""
        while True:
            try:
                return list(islice(self._distinct(wanted), most))
            except RoomError as error:
                self._make_room(error)

    def _listed(self) -> _Enabled:
        """Return the steps that `enabled` lists."""
        if self._enabled is None:
            text = self._filter.casefold()
            wanted = (lambda name: text in name.casefold()) if text else None
            found = self._steps(MOST_ENABLED + 1, wanted)
            taken = found[:MOST_ENABLED]
            steps = [self._described(self._now.state, step) for step in taken]
            self._enabled = _Enabled(taken, steps, len(found) > MOST_ENABLED)
        return self._enabled

    def _step_called(self, name: str) -> Taken:
        """Return the enabled step with an action."""
        found = self._steps(2, name.__eq__)
        state = self._now.state
        found = [t for t in found if self._walker.action_name(state, t) == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnsupportedError(
                f"several enabled steps are called {name!r}: choose one by its number"
            )
        names = {step.action for step in self.enabled}
        raise UnsupportedError(
            f"no enabled step is called {name!r}" + nearest(name, names)
        )

    def _take(self, taken: Taken) -> None:
        """Take a step; undone steps are kept if it is the first of them."""
        again = self._ahead.pop() if self._ahead else None
        if again is None or again.taken != taken:
            self._ahead.clear()
            again = self._after(taken)
        self._points.append(again)
        self._enabled = None

    def _after(self, taken: Taken) -> Point:
        """Return the point after a step from this one."""
        _, _, left, alive, lost, place = self._now
        if left is not None:
            left = residual(left, taken.holds)
        if self._monitor is not None and alive is not None:
            alive = self._monitor.after(alive, taken.holds)
        is_lost = alive == frozenset() or (left is not None and left.is_ff())
        if lost is None and is_lost:
            lost = len(self._points)
        following, track = self._next(), self._track
        # Letters of graphs may differ in propositions that the formula does not name.
        along = following is not None and following[:3] == taken[:3]
        if track is not None and place is not None:
            place = track.next_place(place) if along else None
        return Point(taken.state, taken, left, alive, lost, place)

    def _next(self) -> Taken | None:
        """Return the next step of the lasso; None off it or at its end."""
        track, place = self._track, self._now.place
        if track is None or place is None or place == len(track.steps):
            return None
        return track.steps[place]

    def _no_next(self) -> str:
        """Say why the lasso cannot be followed."""
        if self._track is None:
            return "there is no lasso to follow: add one with --lasso"
        if self._now.place is not None:
            return f"the lasso ends here, after {self.n_steps} steps: it has no cycle"
        return (
            f"the run has left the lasso after step {self.n_on_lasso}: "
            "'rejoin' goes back there"
        )

    def _is_like(self, state: Any, wanted: Mapping[str, str]) -> bool:
        shown = self._walker.shown(state)
        return all(str(shown.get(name)) == value for name, value in wanted.items())

    @cached_property
    def _limits(self) -> Limits:
        return Limits(memory_mib=default_memory_mib())

    def _within_memory(self, job: Job[int]) -> int:
        try:
            return run(job, self._limits)
        except StoppedError as stopped:
            if stopped.reason == MEMORY:
                raise UnsupportedError(
                    "there is no memory left for more steps"
                ) from None
            raise KeyboardInterrupt from None


def same_steps(
    before: Walker, after: Walker, steps: Sequence[Taken]
) -> Iterator[Taken]:
    """Yield steps of a system, from its first state on, in one with more room.

    Both have the same steps in the same order in each state, with other numbers.
    """
    state, other = before.initial(), after.initial()
    for taken in steps:
        if taken.action < 0:
            same = next(after.repeated(other))
        else:
            every = enumerate(before.each_step(state))
            k = next(k for k, step in every if step[:2] == taken[:2])
            same = next(islice(after.each_step(other), k, None))
        yield same
        state, other = taken.state, same.state


def state_bytes(values: Sized) -> float:
    """Return the bytes of a state and of the step that reached it."""
    return _STATE_BYTES + _VALUE_BYTES * len(values)


def nearest_way(
    walker: Walker, start: Any, is_wanted: Callable[[Any], bool]
) -> Job[list[Taken]]:
    """Return the steps of a shortest path to a matching state.

    Raises
    ------
    UnsupportedError
        There is none, or not among the nearest states.
    """
    if is_wanted(start):
        return []
    before: dict[Any, tuple[Any, Taken] | None] = {start: None}
    queue = [start]
    ticks, per_state = Ticks("searching", STEP_WORK), state_bytes(walker.shown(start))
    for state in queue:  # it grows
        for taken in islice(walker.each_step(state), MOST_DRAWN):
            if ticks.over():
                ticks.memory_bytes = per_state * len(queue)
                yield ticks.progress
            if taken.state in before:
                continue
            before[taken.state] = state, taken
            if is_wanted(taken.state):
                return _way(before, taken.state)
            queue.append(taken.state)
        if len(queue) > MOST_SEARCHED:
            raise UnsupportedError(
                f"no such state is among the nearest {MOST_SEARCHED:,}"
            )
    raise UnsupportedError("no such state can be reached from here")


def _way(before: Mapping[Any, tuple[Any, Taken] | None], state: Any) -> list[Taken]:
    """Return the steps that lead to a state."""
    steps = []
    while (last := before[state]) is not None:
        state, taken = last
        steps.append(taken)
    return steps[::-1]
