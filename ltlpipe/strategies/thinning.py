"""Thinning of counterexamples: parts of a run are left out by trial.

Parts of the run are left out, large ones first, and with them whatever is not enabled
then.  What is left is kept if it still closes a cycle and violates the property.

Runs of nets are taken again by a kernel, which takes a step in some nanoseconds.  So
are those of networks: a local state is a place, and what moves a transition, which
leads from the local states of those who take part to others.  Other models take their
steps in plain Python.

Source: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", IEEE Transactions on Software Engineering 28(2), 2002, Sec. 3.

Differences from the source: steps that are no longer enabled are left out along with a
part, as they would make most trials fail; a part alone is not tried; parts become
smaller after one sweep over the run, and never larger; the prefix comes first, then the
cycle; all trials together have a budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.slicing import (
    PHASE,
    Trials,
    blocks_of,
    can_be_sliced,
    letters_of,
    part_of,
)
from ltlpipe.systems.kinds import is_net
from ltlpipe.systems.propositions.letters import Letters
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.slicing import Block
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.structure import Arcs

_OF_MODELS, _OF_NETS = 200_000.0, 300_000.0
"""Units of work of all trials: some tenths of a second."""

_PER_PROPOSITION, _PER_STEP = 2.0, 10.0
_PER_FIRING, _PER_TRIAL = 0.06, 30.0
"""Units of work: for a proposition of a letter and a step of a network in plain Python,
and for a step and a run by a kernel.
"""

_MOST = (1 << 63) - 1
"""The largest value in a state of a model's run."""

MOST_VALUES = 4_000_000
"""Values in all states of a run that is tried."""

_PER_VALUE, _VALUE_BYTES = 0.05, 40.0
"""Units of work, and bytes, of one as a number in Python."""


class _Steps(NamedTuple):
    """What is left of a run of a net or a network."""

    places: np.ndarray  # int64[n], of the steps in the run
    length: int  # of the prefix

    def end(self, *, of_cycle: bool) -> int:
        """Return the place behind the prefix or the cycle."""
        return len(self.places) if of_cycle else self.length


class _Left(NamedTuple):
    """What is left of a run of another model."""

    actions: list[int]
    length: int  # of the prefix
    states: list[Valuation]  # before each step and after the last

    def end(self, *, of_cycle: bool) -> int:
        """Return the place behind the prefix or the cycle."""
        return len(self.actions) if of_cycle else self.length


_Some = TypeVar("_Some", _Steps, _Left)


class _Thinner(ABC, Generic[_Some]):
    """Tries which steps of a run a violation needs."""

    _trials: Trials

    def _shortest(self, given: _Some) -> Job[_Some]:
        """Return the least that has been found to be left of a run."""
        best = long = yield from self._with_less(given, of_cycle=False)
        best = yield from self._with_less(best, of_cycle=True)
        if best is not long:  # what only the longer cycle needed is left out
            best = yield from self._with_less(best, of_cycle=False)
        return best

    def _with_less(self, best: _Some, *, of_cycle: bool) -> Job[_Some]:
        """Leave out parts of the prefix, or of the cycle: all of it, halves, ..."""
        first = best.length if of_cycle else 0
        size = best.end(of_cycle=of_cycle) - first
        if of_cycle:
            size //= 2  # something has to be left
        while size > 0:
            at = first
            while at < (end := best.end(of_cycle=of_cycle)) and self._trials.left > 0:
                fewer = yield from self._without(best, at, min(at + size, end))
                if fewer is None:
                    at += size
                else:
                    best = fewer
            size //= 2
        return best

    @abstractmethod
    def _without(self, steps: _Some, at: int, end: int) -> Job[_Some | None]:
        """Return what is left without some steps, if it violates the property."""


def thinned(question: ModelQuestion, run: Run, trace: Trace) -> Job[Run]:
    """Return a run of a model without steps that the violation does not need.

    With fairness, which looks at all steps, the run is returned unchanged.
    """
    if question.fairness is not None or run.states.size > MOST_VALUES:
        return run
    table = None
    if not question.property.is_trivial:
        table = yield from question.automaton(question.given, trace)
    if is_net(question.system):
        replay = yield from _of_net(question, run)
        return (yield from _KernelThinner(replay, table).best())
    return (yield from _ModelThinner(question, table).best(run))


def thinned_network(question: NetworkQuestion, run: Run, trace: Trace) -> Job[Run]:
    """Return a run of a network without steps that the violation does not need.

    It is as it was where it cannot be sliced, either.
    """
    if not can_be_sliced(question, run) or run.states.size > MOST_VALUES:
        return run
    table = None
    if not question.property.is_trivial:
        table = yield from question.automaton(question.given, question.actions, trace)
    replay = yield from _of_network(question, run)
    return (yield from _KernelThinner(replay, table).best())


class _ModelThinner(_Thinner[_Left]):
    """Takes the steps of a model in plain Python."""

    def __init__(
        self, question: ModelQuestion, table: PropertyAutomaton | None
    ) -> None:
        self._system = question.system
        self._letters = Letters(list(question.propositions.values()))
        self._per_step = self._system.step_work
        self._per_letter = _PER_PROPOSITION * (1 + len(question.propositions))
        self._trials = Trials(table, _OF_MODELS)

    def best(self, run: Run) -> Job[Run]:
        """Return the shortest run that has been found."""
        width, states = run.states.shape[1], []
        ticks = Ticks(PHASE, 1.0 + _PER_VALUE * width)
        for state in run.states:
            states.append(tuple(state.tolist()))
            if ticks.over():
                ticks.memory_bytes = _VALUE_BYTES * width * len(states)
                yield ticks.progress
        given = _Left(run.actions.tolist(), run.length, states)
        best = yield from self._shortest(given)
        if best is given:
            return run
        actions = np.array(best.actions, dtype=run.actions.dtype)
        return Run(actions, np.array(best.states, dtype=run.states.dtype), best.length)

    def _without(self, steps: _Left, at: int, end: int) -> Job[_Left | None]:
        actions, states = steps.actions[:at], steps.states[: at + 1]
        length = min(steps.length, at)
        for place in range(end, len(steps.actions)):
            if place == steps.length:
                length = len(actions)
            yield from self._trials.spent(self._per_step)
            if self._trials.left <= 0:
                return None
            action = steps.actions[place]
            state = self._after(states[-1], action)
            if state is not None:
                actions.append(action)
                states.append(state)
        if length == len(actions) or states[length] != states[-1]:
            return None
        fewer = _Left(actions, length, states)
        return fewer if (yield from self._violates(fewer)) else None

    def _after(self, state: Valuation, action: int) -> Valuation | None:
        """Return where an action leads; None if not enabled, or beyond 64 bits."""
        if action < 0:
            is_dead = next(self._system.each_step(state), None) is None
            return state if is_dead else None
        for step in self._system.steps_by(state, action):
            if step.action == action:
                return step.state if max(step.state, default=0) <= _MOST else None
        return None

    def _violates(self, steps: _Left) -> Job[bool]:
        """Whether the automaton accepts the word of some steps."""
        if self._trials.table is None:
            return True
        letters = []
        for state, action in zip(steps.states, steps.actions, strict=False):
            yield from self._trials.spent(self._per_letter)
            letters.append(self._letters.of(state, action))
        prefix, cycle = letters[: steps.length], letters[steps.length :]
        return (yield from self._trials.violates(blocks_of(prefix), blocks_of(cycle)))


class _Replay(NamedTuple):
    """A run whose steps are transitions of a net."""

    run: Run
    rules: tuple[Arcs, Arcs, Arcs, Arcs]  # as `ltlpipe.search.net_firing.Rules`
    initial: np.ndarray  # int64[n_places]
    watched: np.ndarray  # int64[w], the places that letters depend on
    moves: np.ndarray  # int64[n], the steps
    letter: Callable[[Sequence[int], int], int]  # of tokens in these, and a move
    sees_moves: bool  # whether letters depend on moves
    again: Callable[[np.ndarray, int], Job[Run]]  # the run of some steps


class _KernelThinner(_Thinner[_Steps]):
    """Takes the steps of a run by a kernel."""

    def __init__(self, replay: _Replay, table: PropertyAutomaton | None) -> None:
        from ltlpipe.search.net_firing import Refiring, Rules

        n, n_watched = len(replay.moves), len(replay.watched)
        self._replay, self._trials = replay, Trials(table, _OF_NETS)
        self._rules = Rules(*replay.rules)
        self._arrays = Refiring(
            initial=replay.initial,
            watched=replay.watched,
            moves=np.empty(n, dtype=np.int64),
            is_kept=np.zeros(n, dtype=np.bool_),
            seen=np.empty((n, n_watched), dtype=np.int64),
            marking=np.empty_like(replay.initial),
            begun=np.empty_like(replay.initial),
        )
        self._loaded: _Steps | None = None
        self._known: dict[bytes, int] = {}

    def best(self) -> Job[Run]:
        """Return the shortest run that has been found."""
        run = self._replay.run
        given = _Steps(np.arange(len(run.actions)), run.length)
        best = yield from self._shortest(given)
        if best is given:
            return run
        return (yield from self._replay.again(best.places, best.length))

    def _without(self, steps: _Steps, at: int, end: int) -> Job[_Steps | None]:
        from ltlpipe.search.net_firing import refire

        arrays, n = self._arrays, len(steps.places)
        if self._loaded is not steps:
            arrays.moves[:n] = self._replay.moves[steps.places]
            self._loaded = steps
        yield from self._trials.spent(_PER_TRIAL + _PER_FIRING * n)
        given = arrays, n, steps.length, at, end
        length = yield from called(refire, self._rules, *given)
        if length < 0:
            return None
        kept = arrays.is_kept[:n]
        fewer = _Steps(steps.places[kept], length)
        return fewer if (yield from self._violates(fewer)) else None

    def _violates(self, steps: _Steps) -> Job[bool]:
        """Whether the automaton accepts the word of steps that have been taken."""
        if self._trials.table is None:
            return True
        moves = self._replay.moves[steps.places]
        told = moves if self._replay.sees_moves else np.minimum(moves, 0)
        seen = np.column_stack([self._arrays.seen[: len(moves)], told])
        yield from self._trials.spent(_PER_FIRING * seen.size)
        prefix, cycle = seen[: steps.length], seen[steps.length :]
        words = self._blocks(prefix), self._blocks(cycle)
        return (yield from self._trials.violates(*words))

    def _blocks(self, seen: np.ndarray) -> list[Block]:
        """Return the word of what letters depend on, step by step."""
        begins = np.flatnonzero((seen[1:] != seen[:-1]).any(axis=1)) + 1
        begins = np.concatenate([[0], begins])[: len(seen)]
        counts = np.diff(begins, append=len(seen)).tolist()
        return [
            (self._letter(row), count)
            for row, count in zip(seen[begins], counts, strict=True)
        ]

    def _letter(self, row: np.ndarray) -> int:
        key = row.tobytes()
        known = self._known.get(key)
        if known is None:
            *tokens, move = row.tolist()
            known = self._known[key] = self._replay.letter(tokens, move)
        return known


def _of_net(question: ModelQuestion, run: Run) -> Job[_Replay]:
    """Return a run of a net for the kernel."""
    from ltlpipe.systems.nets.structure import Arcs

    net: Any = question.system
    yield from net.prepared()
    letters = Letters(list(question.propositions.values()))
    watched = sorted(letters.reads)
    tokens = list(net.initial())

    def letter(seen: Sequence[int], move: int) -> int:
        for place, number in zip(watched, seen, strict=True):
            tokens[place] = number
        return letters.of(tokens, move)

    def again(places: np.ndarray, length: int) -> Job[Run]:
        ticks = Ticks(PHASE, net.step_work)
        actions, states = run.actions[places], [net.initial()]
        for action in actions.tolist():
            yield from ticks.worked()
            after = states[-1]
            if action >= 0:
                (step,) = net.steps_by(after, action)
                after = step.state
            states.append(after)
        return Run(actions, np.array(states, dtype=run.states.dtype), length)

    numbers = np.arange(net.n_actions)
    owner, place, change = net.effects(numbers)
    first = np.searchsorted(owner, np.arange(net.n_actions + 1))
    return _Replay(
        run=run,
        rules=(net.needs, net.limits, net.resets, Arcs(first, place, change)),
        initial=np.array(net.initial(), dtype=np.int64),
        watched=np.array(watched, dtype=np.int64),
        moves=run.actions.astype(np.int64),
        letter=letter,
        sees_moves=letters.see_steps,
        again=again,
    )


def _of_network(question: NetworkQuestion, run: Run) -> Job[_Replay]:
    """Return a run of a network for the kernel.

    Transitions are those that it takes, places the local states that are in it.
    """
    from ltlpipe.systems.nets.structure import arcs_of, changes

    network = question.system
    who = [list(network.actions[a].participants) for a in run.actions.tolist()]
    starts = run.states[0].tolist()
    places = {local: number for number, local in enumerate(enumerate(starts))}
    numbers: dict[tuple[Any, ...], int] = {}
    needs: list[dict[int, int]] = []
    effects: list[dict[int, int]] = []
    moves, letters = [], []

    def numbered(at: int, owners: list[int]) -> tuple[int, ...]:
        states = run.states[at, owners].tolist()
        local = zip(owners, states, strict=True)
        return tuple(places.setdefault(state, len(places)) for state in local)

    ticks = Ticks(PHASE, _PER_STEP)
    for k, letter in enumerate(letters_of(question, run)):
        yield from ticks.worked()
        before, after = numbered(k, who[k]), numbered(k + 1, who[k])
        move = int(run.actions[k]), before, after
        if numbers.setdefault(move, len(needs)) == len(needs):
            needs.append(dict.fromkeys(before, 1))
            effects.append(changes(needs[-1], dict.fromkeys(after, 1)))
            letters.append(letter)
        moves.append(numbers[move])

    initial = np.zeros(len(places), dtype=np.int64)
    initial[: len(starts)] = 1
    none = yield from arcs_of([{}] * len(needs))
    needed = yield from arcs_of(needs)
    changed = yield from arcs_of(effects)
    return _Replay(
        run=run,
        rules=(needed, none, none, changed),
        initial=initial,
        watched=none.place,
        moves=np.array(moves, dtype=np.int64),
        letter=lambda _, move: letters[move],
        sees_moves=True,
        again=lambda kept, length: part_of(run, who, kept.tolist(), length),
    )
