"""The points of a run, and the lasso that it may follow, as steps of the system.

A point is a state, the residual formula, and whether that can still be satisfied.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.bad_prefixes import monitor_of
from ltlpipe.logic.progression import residual
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import Progress, TooMuchWorkError, bounded
from ltlpipe.verdict.recorded import RunFinder, UndecidedError

if TYPE_CHECKING:
    from ltlpipe.automata.bad_prefixes import Monitor
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.verdict.lasso import Lasso
    from ltlpipe.verdict.recorded import Record, Taken, Walker

_MONITOR_WORK = 3e6  # CPU time of its translation, in microseconds


class Track(NamedTuple):
    """A lasso, or a run, in steps of the system."""

    steps: tuple[Taken, ...]
    first: int  # where the cycle begins: after all steps if there is none

    def next_place(self, place: int) -> int:
        """Return the index of the next step."""
        after = place + 1
        return self.first if after == len(self.steps) else after


def track_of_lasso(walker: Walker, lasso: Lasso) -> Track:
    """Return a lasso of the same network or model as a track."""
    states = [tuple(state) for state in lasso.states.tolist()]
    steps = [
        walker.along(states[k], action, states[k + 1])
        for k, action in enumerate(lasso.actions.tolist())
    ]
    return Track(tuple(steps), len(lasso.prefix))


def track_of_record(walker: Walker, record: Record, *, stutters: bool) -> Job[Track]:
    """Return the lasso of a file as a track.

    Raises
    ------
    InputError
        It is not a run of the system; names the first wrong step.
    """
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


class Points:
    """Builds the points of a run.

    Parameters
    ----------
    formula : Formula, optional
        What should hold.
    monitor : Monitor, optional
        Says when it cannot hold any more; without it that is known where nothing is
        left of the formula.
    track : Track, optional
        The lasso that the run may follow.

    Raises
    ------
    UnsupportedError
        The formula is none of LTL.
    """

    def __init__(
        self, formula: Formula | None, monitor: Monitor | None, track: Track | None
    ) -> None:
        self._formula = None if formula is None else formula.spot
        self._monitor, self._track = monitor, track
        if formula is not None:
            residual(formula.spot, ())  # refuses PSL

    def initial(self, state: Any) -> Point:
        """Return the initial point."""
        alive = None if self._monitor is None else self._monitor.initial
        place = None if self._track is None else 0
        return Point(state, None, self._formula, alive, None, place)

    def after(self, point: Point, taken: Taken, n_steps: int) -> Point:
        """Return the point after a step; its number is `n_steps`."""
        _, _, left, alive, lost, place = point
        if left is not None:
            left = residual(left, taken.holds)
        if self._monitor is not None and alive is not None:
            alive = self._monitor.after(alive, taken.holds)
        is_lost = alive == frozenset() or (left is not None and left.is_ff())
        if lost is None and is_lost:
            lost = n_steps
        following = self.following(point)
        # Letters of graphs may differ in propositions that the formula does not name.
        if following is not None and following[:3] == taken[:3]:
            assert self._track is not None
            assert place is not None
            place = self._track.next_place(place)
        else:
            place = None
        return Point(taken.state, taken, left, alive, lost, place)

    def following(self, point: Point) -> Taken | None:
        """Return the next step of the lasso; None off it or at its end."""
        track, place = self._track, point.place
        if track is None or place is None or place == len(track.steps):
            return None
        return track.steps[place]

    @cached_property
    def lasso_bad_prefix(self) -> int | None:
        """The length of the shortest bad prefix of the lasso, if it is known."""
        if self._track is None or self._monitor is None:
            return None
        letters = [taken.holds for taken in self._track.steps]
        return self._monitor.first_bad_prefix(letters, self._track.first)


def monitor_job(formula: Formula | None, *, one_at_a_time: bool) -> Job[Monitor | None]:
    """Return the monitor of a formula; None if it takes too long."""
    if formula is None:
        return None
    try:
        job = monitor_of(formula, one_at_a_time=one_at_a_time)
        return (yield from bounded(job, _MONITOR_WORK))
    except (TooMuchWorkError, UnsupportedError, RuntimeError):
        return None
