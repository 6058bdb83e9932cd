"""Lassos as steps of a system, for a run to follow.

A file names actions, components and states; which steps these are is found by going
through the system along them.  Where names leave a choice, all of them are followed,
until the cycle closes.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.simulation.walkers import MOST_EXAMINED
from ltlpipe.verdict.lasso import STUTTER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.simulation.records import Record, ToldStep
    from ltlpipe.simulation.walkers import Taken, Walker
    from ltlpipe.verdict.verdict import Lasso

FOLLOWING = "finding the lasso"
"""The phase of all that is done here."""

_MOST_ALIKE = 1_000  # states that the same names may lead to
_STEP_WORK = 30.0  # units per step that is examined

_Layer = dict[Any, "tuple[Any, Taken | None]"]
"""States that are reached after some steps: from where, and how."""


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
    finder = _Finder(walker, record, stutters=stutters)
    k, n = record.first, len(record.steps)
    start: _Layer = {walker.initial(): (None, None)}
    prefix = yield from finder.layers(start, 0, k)
    if not record.has_cycle:
        return Track(_path(prefix, next(iter(prefix[-1]))), k)
    failed: InputError | None = None
    for state in prefix[-1]:
        try:
            cycle = yield from finder.layers({state: (None, None)}, k, n)
        except InputError as error:
            failed = error
            continue
        if state in cycle[-1]:
            return Track(_path(prefix, state) + _path(cycle, state), k)
    raise failed or InputError(
        "the cycle of the lasso does not close", file=record.file
    )


class _Finder:
    """Looks for the steps of a record."""

    def __init__(self, walker: Walker, record: Record, *, stutters: bool) -> None:
        self._walker, self._record, self._stutters = walker, record, stutters
        self._ticks = Ticks(FOLLOWING, _STEP_WORK)

    def layers(self, start: _Layer, begin: int, end: int) -> Job[list[_Layer]]:
        """Return the states before each of some steps, and after the last one."""
        found = [start]
        for k in range(begin, end):
            told, layer = self._record.steps[k], _Layer()
            for state in found[-1]:
                for taken in self._like(state, told):
                    if self._ticks.over():
                        yield self._ticks.progress
                    layer.setdefault(taken.state, (state, taken))
            if not 0 < len(layer) <= _MOST_ALIKE:
                raise self._refusal(k, told, too_many=bool(layer))
            found.append(layer)
        return found

    def _like(self, state: Any, told: ToldStep) -> Iterator[Taken]:
        """Yield the steps out of a state that are like one of a record."""
        walker = self._walker
        action, moves, before = told
        steps = walker.each_step(state, None if action is None else action.__eq__)
        if self._stutters and next(walker.each_step(state), None) is None:
            names = (action or STUTTER_NAME, STUTTER_NAME)
            repeated = walker.repeated(state)
            steps = (t for t in repeated if walker.action_name(state, t) in names)
        for taken in islice(steps, MOST_EXAMINED):
            if walker.fits(state, taken, moves, before):
                yield taken

    def _refusal(self, k: int, told: ToldStep, *, too_many: bool) -> InputError:
        named = "" if told.action is None else f", {told.action!r},"
        what = (
            "could be too many steps"
            if too_many
            else "is not a step of the system there"
        )
        message = f"step {k + 1} of the lasso{named} {what}"
        return InputError(message, file=self._record.file)


def _path(layers: Sequence[_Layer], state: Any) -> tuple[Taken, ...]:
    """Return the steps that lead to a state of the last layer."""
    steps = []
    for layer in reversed(layers[1:]):
        state, taken = layer[state]
        assert taken is not None  # only the first layer has nothing before it
        steps.append(taken)
    return tuple(reversed(steps))
