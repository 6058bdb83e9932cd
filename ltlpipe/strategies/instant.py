"""The product in plain Python: for questions too small to load, or compile, kernels.

The product of a system and a property automaton is built breadth first, over
dictionaries and tuples, up to some thousand states.  Whenever the part that has been
expanded has doubled, its SCCs are searched for an accepting cycle
(`ltlpipe.strategies.instant_graph`): what is found in a part is true of the whole, so a
violation near the initial state is found without the rest.  If there are too many
states, a violation far away is looked for by a dive, which always expands the state
that was met last.

It shares no code with the kernels, nor does it import Numba: it is also a second
opinion in tests.  Its semantics are theirs (`ltlpipe.search.product`): a step of the
system carries a letter and marks, those of the state that it leaves; the marks of the
property come first, and the system's follow; acceptance is the conjunction of the
property's and the system's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer
from ltlpipe.question.conditions import INSTANT
from ltlpipe.question.question import NotApplicableError, kind_of, why_fair
from ltlpipe.runtime.jobs import MAX_STATES
from ltlpipe.strategies.instant_graph import (
    Graph,
    Meter,
    accepting_part,
    shorter_lasso,
)
from ltlpipe.systems.plain_steps import TooLargeError
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.instant_graph import Edge
    from ltlpipe.systems.plain_steps import PlainSteps

MOST_STATES = 5_000
"""States of the product that are searched: about a quarter of a second."""

_WHY = (
    f"{INSTANT}, because a small product is searched in plain Python, without kernels"
)


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    try:
        system, table = yield from question.plain_steps(question.given, trace)
    except TooLargeError:
        raise NotApplicableError("the system is too large for plain Python") from None
    plan = question.given
    reasons = [_WHY, *plan.reasons]
    if question.fairness is not None:
        reasons.append(why_fair(question, question.fairness))
    kind = kind_of(plan, question.options, table)
    trace.plan = replace(plan, automaton=kind, reasons=tuple(reasons))
    limit = question.options.max_states
    most = MOST_STATES if limit is None else min(limit, MOST_STATES)
    question.explored = moves = Moves(system, table, stutter=question.stutters)
    search = search_of(question, moves, most)
    try:
        outcome = yield from trace.timed("search_seconds", search)
    except OverflowError:  # of the run that is found
        raise NotApplicableError("numbers beyond 64 bits") from None
    trace.note(
        states=outcome.states,
        transitions=outcome.transitions,
        max_depth=outcome.max_depth,
    )
    if outcome.status == TOO_MANY:
        if most == limit:
            return Answer(INCONCLUSIVE, MAX_STATES)
        raise NotApplicableError(f"more than {most:,} states")
    if outcome.status == EMPTY:
        return Answer(EMPTY)
    trace.has_found = True
    if not question.options.lasso:
        return Answer(FOUND)
    return Answer(FOUND, run=outcome.run, is_shortest=outcome.is_shortest)


def search_of(
    question: Question, moves: Moves, most_states: int, starts: Sequence[int] = ()
) -> Job[InstantOutcome]:
    """Return the search of a question's product; see `search`."""
    ends = None
    if question.stutters and not starts:
        ends = question.ends(moves.table)
    return search(moves, max_states=most_states, starts=starts, ends=ends)


TOO_MANY = "too-many"

_FIRST_CHECK = 32  # states that are expanded before SCCs are looked at
_DIVE = 1024  # states that a dive expands
_SOME, _GROWS, _WAIT = 1024, 1.5, 0.1
"""If the states that wait grow by such a factor while these and as many before are
expanded, and are not few beside them, most of the product is still to come: kernels are
worth their loading."""

# Units of work, about a microsecond each, and bytes: measured.
_PER_STATE, _PER_EDGE, _PER_STEP = 3.0, 0.9, 2.2
_STATE_BYTES, _EDGE_BYTES, _SYSTEM_STATE_BYTES, _STEP_BYTES = 400, 110, 450, 120


class InstantOutcome(NamedTuple):
    """How a search ended.

    Parameters
    ----------
    status : str
        "empty", "found", or "too-many" if the product has more states than it may.
    states, transitions : int
        States of the product that were stored, and transitions between them that were
        generated; of the dive alone if that has found the run.
    max_depth : int
        States on the longest of the shortest paths to states, or on a path of the dive.
    run : Run, optional
        Of "found".
    is_shortest : bool
        Whether no lasso of the product has fewer steps.
    """

    status: str
    states: int
    transitions: int
    max_depth: int
    run: Run | None = None
    is_shortest: bool = False


def search(
    moves: Moves,
    *,
    max_states: int = 5000,
    starts: Sequence[int] = (),
    ends: np.ndarray | None = None,
) -> Job[InstantOutcome]:
    """Search a product for an accepting run.

    Parameters
    ----------
    moves : Moves
        Those of the system and of what is searched for, the negated property.
    max_states : int
        Product states to store, at least 1.
    starts : sequence of int
        The initial states of the property, if they are several: then the search goes on
        until its lasso is known to be a shortest one.
    ends : bool[n_states], optional
        States of the property in which a run may end, if no accepting run is found in
        so many states: its last state repeats itself, with the action -1.

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks.

    Notes
    -----
    A lasso is a shortest one in what has been explored, unless that takes too long.
    Where a job is cut changes nothing.
    """
    goal, meter = goal_of(moves.table, moves.system), moves.meter
    product = _Product(moves, max_states, starts)
    n_expanded, waiting = _FIRST_CHECK, 0
    while True:
        status = yield from product.grow(n_expanded)
        found = yield from _accepting_run(product, goal, meter)
        if found is not None and (status or found[1] or not starts):
            yield from meter.report()
            return product.outcome(FOUND, *found)
        if status is not None:
            break
        waited, waiting = waiting, product.n_waiting
        most = max(_GROWS * waited, n_expanded * _WAIT)
        if n_expanded >= _SOME and waiting > most:
            yield from meter.report(gives_way=True)
        n_expanded *= 2
    if status == TOO_MANY:
        dive = _Product(moves, max_states, starts, dives=True)
        yield from dive.grow(_DIVE)
        found = yield from _accepting_run(dive, goal, meter)
        if found is not None:
            return dive.outcome(FOUND, *found)
        for explored in (product, dive):
            if ends is not None and len(ends) and explored.stop_at(ends):
                found = yield from _accepting_run(explored, goal, meter)
                assert found is not None
                return explored.outcome(FOUND, *found)
    yield from meter.report()
    return product.outcome(status)


def _accepting_run(
    product: _Product, goal: Condition, meter: Meter
) -> Job[tuple[Run, bool] | None]:
    """Return an accepting run in what has been explored, and whether it is a shortest.

    None if there is none.
    """
    graph = product.graph
    part = yield from accepting_part(graph, goal, meter)
    if part is None:
        return None
    prefix, cycle, complete = yield from shorter_lasso(
        graph, goal, part, product.depths, meter
    )
    steps = prefix + cycle
    states = [graph.states[state] for state in (0, *(dst for dst, _, _ in steps))]
    actions = np.array([action for _, _, action in steps], dtype=np.int32)
    run = Run(actions, product.moves.system.array(states), len(prefix))
    return run, complete and product.has_all_within(len(steps) - 1)


def goal_of(table: PropertyAutomaton, system: PlainSteps) -> Condition:
    """Return the acceptance of the product."""
    goal = table.condition or generalised_buchi(table.n_marks)
    if table.system_marks:
        if system.condition is not None:
            raise ValueError("letters tell marks of the system, but no condition")
        return goal
    condition = system.condition or generalised_buchi(system.n_marks)
    return goal & condition.renumbered(lambda mark: mark + table.n_marks)


_Step = tuple[int, int, int, int]  # letter of the table, product's marks, action, state


class Moves:
    """The two sides of a product, looked up when they are first met.

    States of the system are numbered; one without successors repeats itself if runs
    `stutter`.  If the letters of the property tell marks of the system, they are its
    affair, and the system has no condition.
    """

    def __init__(
        self, system: PlainSteps, table: PropertyAutomaton, *, stutter: bool = False
    ) -> None:
        self.system, self.table, self.meter = system, table, Meter()
        self.states: list[Hashable] = []
        self._stutter = stutter
        self._index: dict[Hashable, int] = {}
        self._steps: dict[int, list[_Step]] = {}
        self._cells: dict[int, list[tuple[int, int]]] = {}

    def first(self) -> int:
        """Return the number of the system's initial state."""
        return self._numbered(self.system.initial())

    def _numbered(self, state: Hashable) -> int:
        """Return the number of a state of the system, new or not."""
        number = self._index.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self.meter.memory_bytes += _SYSTEM_STATE_BYTES + getsizeof(state)
        return number

    def steps(self, number: int) -> list[_Step]:
        """Return the steps of a state of the system."""
        known = self._steps.get(number)
        if known is not None:
            return known
        state = self.states[number]
        steps = self.system.steps(state)
        if not steps and self._stutter:
            steps = [self.system.repeated(state)]
        shift, told = self.table.system_marks, (1 << self.table.system_marks) - 1
        behind = self.table.n_marks
        made = [
            (
                step.letter << shift | step.marks & told,
                0 if shift else step.marks << behind,
                step.action,
                self._numbered(step.state),
            )
            for step in steps
        ]
        self._steps[number] = made
        self.meter.work += self.system.cost + _PER_STEP * len(made)
        self.meter.memory_bytes += _STEP_BYTES * len(made)
        return made

    def edges(self, at: int) -> list[tuple[int, int]]:
        """Return the property's targets and marks from one state on one letter."""
        known = self._cells.get(at)
        if known is not None:
            return known
        table = self.table
        edges = slice(int(table.first_edge[at]), int(table.first_edge[at + 1]))
        targets, marks = table.edge_dst[edges].tolist(), table.edge_marks[edges]
        made = self._cells[at] = list(zip(targets, marks.tolist(), strict=True))
        return made


class _Product:
    """The product as far as it has been built; its states are numbered.

    It is made from `moves`, which several may share.  One that `dives` expands the
    state that was met last first, and not last.
    """

    def __init__(
        self,
        moves: Moves,
        max_states: int,
        starts: Sequence[int] = (),
        *,
        dives: bool = False,
    ) -> None:
        self.moves, self.max_states = moves, max_states
        self.graph = Graph()
        self._dives = dives
        self._index: dict[int, int] = {}
        self._keys: list[int] = []
        self.depths: list[int] = []
        self._max_depth = 0
        self._waiting: deque[int] = deque()
        self._n_expanded = 0
        for start in starts or [moves.table.initial]:
            self._enter(moves.first() * moves.table.n_states + start, 1)
            self.graph.n_initial += 1

    def grow(self, n_expanded: int) -> Job[str | None]:
        """Expand states until there are so many that have been.

        Returns
        -------
        str or None
            EMPTY if there are no others, TOO_MANY if there are more states than may
            be; None if there are some left to expand.
        """
        meter = self.moves.meter
        while self._n_expanded < n_expanded:
            if not self._waiting:
                return EMPTY
            number = self._waiting.pop() if self._dives else self._waiting.popleft()
            try:
                is_whole = self._expand(number)
            except TooLargeError:
                is_whole = False
            if not is_whole:
                self._waiting.appendleft(number)
                return TOO_MANY
            self._n_expanded += 1
            if meter.work > meter.limit:
                yield from meter.report()
        return None if self._waiting else EMPTY

    @property
    def n_waiting(self) -> int:
        """How many states have not been expanded."""
        return len(self._waiting)

    def has_all_within(self, n_levels: int) -> bool:
        """Whether all states of the first levels have been expanded, breadth first."""
        return not self._waiting or (
            not self._dives and self.depths[self._waiting[0]] > n_levels
        )

    def stop_at(self, ends: np.ndarray) -> bool:
        """Let states repeat themselves whose property state is an end; if there are."""
        full = (1 << self.moves.table.n_marks) - 1
        graph, found = self.graph, False
        for number, key in enumerate(self._keys):
            if ends[key % self.moves.table.n_states]:
                graph.followers[number] = [(number, full, -1)]
                graph.marks |= full
                found = True
        return found

    def outcome(
        self, status: str, run: Run | None = None, is_shortest: bool = False
    ) -> InstantOutcome:
        """Return how the search ended, with its figures."""
        figures = len(self._keys), self.graph.n_edges, self._max_depth
        return InstantOutcome(status, *figures, run, is_shortest)

    def _expand(self, number: int) -> bool:
        """Generate the successors of a state; return whether there was room."""
        graph, moves, index = self.graph, self.moves, self._index
        n_states = moves.table.n_states
        local, src = divmod(self._keys[number], n_states)
        base = src * moves.table.n_letters
        followers: list[Edge] = graph.followers[number]
        depth = self.depths[number] + 1
        has_room = True
        for letter, own, action, target in moves.steps(local):
            for dst, marks in moves.edges(base + letter):
                key = target * n_states + dst
                found = index.get(key)
                if found is None:
                    found = len(index)
                    if found >= self.max_states:
                        has_room = False
                        continue
                    self._enter(key, depth)
                marks |= own
                graph.marks |= marks
                followers.append((found, marks, action))
        n_edges = len(followers)
        graph.n_edges += n_edges
        moves.meter.work += _PER_STATE + _PER_EDGE * n_edges
        moves.meter.memory_bytes += _EDGE_BYTES * n_edges
        return has_room

    def _enter(self, key: int, depth: int) -> None:
        """Store a new state of the product."""
        number = len(self._keys)
        self._index[key] = number
        self._keys.append(key)
        self.depths.append(depth)
        if depth > self._max_depth:
            self._max_depth = self.moves.meter.depth = depth
        self._waiting.append(number)
        self.graph.states.append(self.moves.states[key // self.moves.table.n_states])
        self.graph.followers.append([])
        meter = self.moves.meter
        meter.states += 1
        meter.memory_bytes += _STATE_BYTES
