"""Slicing of counterexamples: steps that the violation does not need are left out.

Which steps the property needs is found by trial: whether its automaton accepts the word
of what is left.

A step of a network that no later one depends on, and that the property does not need to
see, can be left out: what is left is a run of the network.  Two steps depend on each
other if some component takes part in both.  The cycle falls into parts that share no
component, each of which is a cycle of its own.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.automata.letters import OTHER
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.instant_graph import Graph, Meter, accepting_part
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.runtime.jobs import Job

PHASE = "extracting the lasso"

_OF_NETWORKS = 100_000.0
"""Units of work of all trials: some tenths of a second."""

_PER_STEP, _PER_LETTER, _PER_PATH = 0.7, 0.2, 4.0
"""Units of work of a trial: for each step of the run of a network, for each letter of a
word, and for each path of the automaton that goes on by a letter for the first time.
"""

_PER_COPY = 10.0  # for a step of a run of a network, in plain Python

_MOST_PATHS = 5_000
"""Paths by which a word leads between states of the automaton."""

_Path = tuple[int, int, int]  # from where, to where, and the marks, as bits
_Value = TypeVar("_Value")

Block = tuple[int, int]  # a letter, and how often it is repeated


def blocks_of(letters: Iterable[int]) -> list[Block]:
    """Return a word as blocks."""
    return [(letter, len(list(same))) for letter, same in groupby(letters)]


_LONGEST = 20_000
"""Steps of a run of a network that is sliced."""


def least_joined(n_parts: int, events: Iterable[Collection[int]]) -> list[int]:
    """Return the least part that each has to go on with: they share events."""
    joined = list(range(n_parts))
    for event in events:
        first, *others = sorted({joined[part] for part in event})
        if others:
            joined = [first if least in others else least for least in joined]
    return joined


class Trials:
    """Tries whether words are violations, with a budget for all of them.

    A word is given as blocks, each a letter and how often it is repeated.  What the
    automaton makes of a set of states, or of a cycle so far, and the next letter is
    remembered: most trials are much like the ones before.

    `left` is what is left of the units of work; without an automaton each word is one.
    """

    def __init__(self, table: PropertyAutomaton | None, most_work: float) -> None:
        self.left = most_work
        self.table, self._ticks = table, Ticks(PHASE)
        self._known: dict[Any, frozenset[Any]] = {}
        self._answers: dict[frozenset[_Path], bool] = {}

    def spent(self, work: float) -> Job[None]:
        """Count work, and yield if it is time to."""
        self.left -= work
        yield from self._ticks.worked(work)

    def violates(self, prefix: Iterable[Block], cycle: Collection[Block]) -> Job[bool]:
        """Whether the automaton accepts a word; without work left, it does not."""
        if self.table is None:
            return True
        starts = yield from self.reached(prefix, frozenset([self.table.initial]))
        while self.left > 0:
            stay = frozenset((state, state, 0) for state in starts)
            paths = yield from self._through(cycle, stay, self._longer)
            ends = {end for _, end, _ in paths}
            if ends <= starts:
                if paths not in self._answers:
                    self._answers[paths] = yield from self._accepts(paths)
                return self._answers[paths]
            starts |= ends
        return False

    def reached(
        self, word: Iterable[Block], states: frozenset[int]
    ) -> Job[frozenset[int]]:
        """Return the states that a word leads to from some states."""
        return (yield from self._through(word, states, self._targets))

    def _through(
        self,
        blocks: Iterable[Block],
        value: frozenset[_Value],
        step: Callable[[frozenset[_Value], int], frozenset[_Value]],
    ) -> Job[frozenset[_Value]]:
        """Return what steps by all letters make of a value."""
        known = self._known
        n_steps = 0
        for letter, times in blocks:
            for _ in range(times):
                n_steps += 1
                following = known.get((value, letter))
                if following is None:
                    made = step(value, letter)
                    following = known.setdefault(made, made)  # equal ones are the same
                    known[value, letter] = following
                    yield from self.spent(_PER_PATH * len(value))
                    if len(following) > _MOST_PATHS:
                        self.left = 0.0
                        return frozenset()
                if following is value:
                    break
                value = following
        yield from self.spent(_PER_LETTER * n_steps)
        return value

    def _targets(self, states: frozenset[int], letter: int) -> frozenset[int]:
        """Return where a letter leads from some states."""
        return frozenset(dst for q in states for dst, _ in self._edges(q, letter))

    def _longer(self, paths: frozenset[_Path], letter: int) -> frozenset[_Path]:
        """Return paths that go on by a letter."""
        return frozenset(
            (src, dst, marks | more)
            for src, q, marks in paths
            for dst, more in self._edges(q, letter)
        )

    def _edges(self, state: int, letter: int) -> Iterator[tuple[int, int]]:
        """Return targets and marks of one state's transitions by a letter."""
        table = self.table
        assert table is not None
        at = state * table.n_letters + (letter << table.system_marks)
        edges = slice(int(table.first_edge[at]), int(table.first_edge[at + 1]))
        targets, marks = table.edge_dst[edges].tolist(), table.edge_marks[edges]
        return zip(targets, marks.tolist(), strict=True)

    def _accepts(self, paths: Collection[_Path]) -> Job[bool]:
        """Whether a word with these paths is accepted, repeated for ever."""
        assert self.table is not None
        graph = Graph()
        graph.followers = [[] for _ in range(self.table.n_states)]
        for src, dst, marks in paths:
            graph.followers[src].append((dst, marks, 0))
            graph.marks |= marks
        yield from self.spent(_PER_PATH * len(paths))
        goal = self.table.condition or generalised_buchi(self.table.n_marks)
        part = yield from accepting_part(graph, goal, Meter())
        return part is not None


class _Steps(NamedTuple):
    """Steps of a run, by their places in it."""

    prefix: list[int]
    cycle: list[int]

    def __len__(self) -> int:
        return len(self.prefix) + len(self.cycle)


def letters_of(question: NetworkQuestion, run: Run) -> list[int]:
    """Return the letters of a run's steps."""
    letters = {n: k for k, n in enumerate(question.actions, start=OTHER + 1)}
    taken = [question.system.actions[a] for a in run.actions.tolist()]
    return [OTHER if a.internal else letters.get(a.name, OTHER) for a in taken]


def part_of(
    run: Run, who: Sequence[Collection[int]], kept: Sequence[int], length: int
) -> Job[Run]:
    """Return the run of some steps of one; who does not move stays where it is.

    `who` takes part in each step; `length` is that of the new prefix.
    """
    ticks = Ticks(PHASE, _PER_COPY)
    states = [run.states[0]]
    for place in kept:
        yield from ticks.worked()
        state, moving = states[-1].copy(), [*who[place]]
        state[moving] = run.states[place + 1, moving]
        states.append(state)
    return Run(run.actions[kept], np.array(states), length)


def can_be_sliced(question: NetworkQuestion, run: Run) -> bool:
    """Whether steps of a run may be left out: it is not too long for that.

    Acceptance of the system and fairness look at all steps, and the last state of a run
    without successors, which repeats itself, may get some.
    """
    depends = question.system.has_acceptance or question.fairness is not None
    return not (depends or len(run.actions) > _LONGEST or (run.actions < 0).any())


def sliced(question: NetworkQuestion, run: Run, trace: Trace) -> Job[Run]:
    """Return a run without steps that the violation does not need."""
    if not can_be_sliced(question, run):
        return run
    table = None
    if not question.property.is_trivial:
        table = yield from question.automaton(question.given, question.actions, trace)
    return (yield from _Slicer(question, run, table).best())


class _Slicer:
    """Tries which steps of a run a violation needs."""

    def __init__(
        self, question: NetworkQuestion, run: Run, table: PropertyAutomaton | None
    ) -> None:
        network = question.system
        self._run, self._n_components = run, len(network.components)
        names = [network.actions[a] for a in run.actions.tolist()]
        self._participants = [frozenset(action.participants) for action in names]
        self._letters = letters_of(question, run)
        self._trials = Trials(table, _OF_NETWORKS)

    def best(self) -> Job[Run]:
        """Return the shortest run that has been found."""
        places = range(len(self._run.actions))
        k = self._run.length
        best = _Steps(list(places[:k]), list(places[k:]))
        for cycle in self._cycles(best.cycle):
            needed = [p for p in best.prefix if self._letters[p] != OTHER]
            for kept in ([], needed):
                steps = yield from self._closed(cycle, kept)
                if len(steps) < len(best) and (yield from self._violates(steps)):
                    best = steps
            if self._trials.left <= 0:
                break
        best = yield from self._without_visible(best)
        kept = [*best.prefix, *best.cycle]
        return (yield from part_of(self._run, self._participants, kept, len(best[0])))

    def _cycles(self, places: list[int]) -> Iterator[list[int]]:
        """Yield the parts of a cycle that share no component, and then the whole."""
        first = least_joined(
            self._n_components, [self._participants[p] for p in places]
        )
        groups: dict[int, list[int]] = {}
        for place in places:
            groups.setdefault(first[min(self._participants[place])], []).append(place)
        if len(groups) > 1:
            yield from sorted(groups.values(), key=len)
        yield places

    def _closed(self, cycle: list[int], needed: Collection[int]) -> Job[_Steps]:
        """Return a cycle with the steps of the prefix that it, or others, depend on."""
        yield from self._trials.spent(_PER_STEP * len(self._letters))
        moving = frozenset[int]().union(*(self._participants[p] for p in cycle))
        prefix = []
        wanted = set(needed)
        for place in range(self._run.length - 1, -1, -1):
            if place in wanted or self._participants[place] & moving:
                moving |= self._participants[place]
                prefix.append(place)
        return _Steps(prefix[::-1], cycle)

    def _without_visible(self, steps: _Steps) -> Job[_Steps]:
        """Return steps of which the property needs to see each that it sees."""
        needed = [p for p in steps.prefix if self._letters[p] != OTHER]
        for place in list(needed):
            if self._trials.left <= 0:
                break
            fewer = [p for p in needed if p != place]
            trial = yield from self._closed(steps.cycle, fewer)
            if len(trial) < len(steps) and (yield from self._violates(trial)):
                steps, needed = trial, fewer
        return steps

    def _violates(self, steps: _Steps) -> Job[bool]:
        """Whether the automaton accepts the word of some steps."""
        prefix, cycle = (
            blocks_of(self._letters[p] for p in places) for places in steps
        )
        return (yield from self._trials.violates(prefix, cycle))
