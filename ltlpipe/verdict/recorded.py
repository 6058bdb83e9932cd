"""Recorded runs: what files and result tables say of one, and its steps in the system.

A record names actions, and maybe moves and valuations; which steps these are is found
by going through the system along them.  Where names leave a choice, all of them are
followed, until the cycle closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.plain_steps import STUTTER_NAME

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.systems.plain_steps import Move
    from ltlpipe.verdict.walkers import Taken, Walker

GIVEN = "lasso"
"""What messages call a lasso that comes from no file."""

MOST_ALIKE = 1_000
"""States that the same names may lead to."""

FOLLOWING = "finding the lasso"
"""The phase of finding the steps."""

_STEP_WORK = 30.0  # units per step that is examined


class UndecidedError(Exception):
    """There are too many runs with these names."""


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
                    if self._ticks.over():
                        yield self._ticks.progress
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
        for taken in walker.each_step(state, None if action is None else action.__eq__):
            is_dead = False
            if walker.fits(state, taken, moves, before):
                yield taken
        if is_dead and walker.is_dead(state):
            for taken in walker.repeated(state):
                names = None, STUTTER_NAME, walker.action_name(state, taken)
                if action in names and walker.fits(state, taken, moves, before):
                    yield taken


def _paths(layers: list[_Layer], end: Any) -> Iterator[Path]:
    """Yield each path through layers to a state of the last."""
    n = len(layers) - 1
    if not n:
        yield []
        return
    taken: Path = []  # backwards
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
