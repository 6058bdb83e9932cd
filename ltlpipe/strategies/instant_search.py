"""A search in plain Python, for questions too small to start kernels for.

The product of a system and a property automaton is built breadth first, over
dictionaries and tuples, up to some thousand states.  Whenever the part that has been
expanded has doubled, its SCCs are searched for an accepting cycle
(`ltlpipe.strategies.instant_graph`): what is found in a part is true of the whole, so a
violation near the initial state is found without the rest.

It shares no code with the kernels, nor does it import Numba: it is also a second
opinion in tests.  Its semantics are theirs (`ltlpipe.search.product`): a step of the
system carries a letter and marks, those of the state that it leaves; the marks of the
property come first, and the system's follow; acceptance is the conjunction of the
property's and the system's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.strategies.instant_graph import (
    Graph,
    Meter,
    accepting_part,
    cycle_in,
)
from ltlpipe.systems.plain import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.instant_graph import Edge
    from ltlpipe.systems.plain import PlainStep

EMPTY, FOUND, TOO_MANY = "empty", "found", "too-many"

_FIRST_CHECK = 32  # states that are expanded before SCCs are looked at

# Units of work, about a microsecond each, and bytes: measured.
_PER_STATE, _PER_EDGE, _PER_STEP = 4.0, 1.2, 3.0
_STATE_BYTES, _EDGE_BYTES, _SYSTEM_STATE_BYTES, _STEP_BYTES = 400, 110, 450, 120


class PlainSystem(Protocol):
    """What the search sees of a system, whatever its kind."""

    @property
    def cost(self) -> float:
        """Units of work that the steps of one state take, whatever comes of them."""

    def initial(self) -> Hashable:
        """Return the state in which runs begin."""

    def steps(self, state: Hashable) -> list[PlainStep]:
        """Return the steps of a state; raise TooLargeError if they are too many."""

    def repeated(self, state: Hashable) -> PlainStep:
        """Return the step, with action -1, in which a deadlock repeats itself."""


class PlainLasso(NamedTuple):
    """A run ``prefix cycle cycle ...`` of the system.

    Parameters
    ----------
    prefix, cycle : list of int
        The actions; the cycle has at least one.
    states : list
        Those of the system before each step and after the last one.
    """

    prefix: list[int]
    cycle: list[int]
    states: list[Hashable]


class InstantOutcome(NamedTuple):
    """How a search ended.

    Parameters
    ----------
    status : str
        "empty", "found", or "too-many" if the product has more states than it may.
    states, transitions : int
        States of the product that were stored, and transitions between them that were
        generated.
    max_depth : int
        States on the longest of the shortest paths to states.
    lasso : PlainLasso, optional
        Of "found".
    """

    status: str
    states: int
    transitions: int
    max_depth: int
    lasso: PlainLasso | None = None


def search(
    system: PlainSystem,
    table: PropertyAutomaton,
    *,
    system_marks: int = 0,
    condition: Condition | None = None,
    stutter: bool = False,
    max_states: int = 5000,
) -> Job[InstantOutcome]:
    """Search a product for an accepting run.

    Parameters
    ----------
    system : PlainSystem
        Its letters are those of `table`.
    table : PropertyAutomaton
        What is searched for, that is the negated property.
    system_marks : int
        Marks that the system's steps carry.
    condition : Condition, optional
        What the runs of the system have to satisfy, over these marks; None is each of
        them infinitely often.  If letters of `table` tell marks of the system, they
        are its affair, and there is no condition.
    stutter : bool
        Whether a state without successors repeats itself for ever.
    max_states : int
        Product states to store, at least 1.

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks.

    Notes
    -----
    The prefix of a lasso is a shortest one to the SCC that its cycle lies in.  Where a
    job is cut changes nothing.
    """
    product = _Product(system, table, stutter=stutter, max_states=max_states)
    goal = _goal(table, system_marks, condition)
    graph, meter = product.graph, product.meter
    n_expanded = _FIRST_CHECK
    while True:
        status = yield from product.grow(n_expanded)
        part = yield from accepting_part(graph, goal, meter)
        if part is not None:
            cycle = yield from cycle_in(graph, part, meter)
            lasso = _lasso(graph, graph.path_to(min(part.states)), cycle)
            return product.outcome(FOUND, lasso)
        if status is not None:
            return product.outcome(status)
        n_expanded *= 2


def _goal(
    table: PropertyAutomaton, system_marks: int, condition: Condition | None
) -> Condition:
    """Return the acceptance of the product."""
    goal = table.condition
    if goal is None:
        goal = generalised_buchi(table.n_marks)
    if table.system_marks:
        if condition is not None:
            raise ValueError("letters tell marks of the system, but no condition")
        return goal
    if condition is None:
        condition = generalised_buchi(system_marks)
    return goal & condition.renumbered(lambda mark: mark + table.n_marks)


def _lasso(
    graph: Graph, prefix: list[tuple[int, int]], cycle: list[tuple[int, int]]
) -> PlainLasso:
    """Return a lasso of the system; of each step the action and where it leads."""
    states = [0, *(state for _, state in prefix + cycle)]
    return PlainLasso(
        [action for action, _ in prefix],
        [action for action, _ in cycle],
        [graph.states[state] for state in states],
    )


_Step = tuple[int, int, int, int]  # letter of the table, product's marks, action, state


class _Product:
    """The product as far as it has been built; states of both sides are numbered."""

    def __init__(
        self,
        system: PlainSystem,
        table: PropertyAutomaton,
        *,
        stutter: bool,
        max_states: int,
    ) -> None:
        self.graph = Graph()
        self.meter = Meter()
        self._system, self._table = system, table
        self._stutter, self._max_states = stutter, max_states
        self._system_states: list[Hashable] = []
        self._system_index: dict[Hashable, int] = {}
        self._steps: dict[int, list[_Step]] = {}
        self._cells: dict[int, list[tuple[int, int]]] = {}
        self._index: dict[int, int] = {}
        self._keys: list[int] = []
        self._depths: list[int] = []
        self._n_expanded = 0
        start = self._numbered(system.initial()) * table.n_states + table.initial
        self._enter(start, (0, -1), 1)

    def grow(self, n_expanded: int) -> Job[str | None]:
        """Expand states until there are so many that have been.

        Returns
        -------
        str or None
            EMPTY if there are no others, TOO_MANY if there are more states than may
            be; None if there are some left to expand.
        """
        meter = self.meter
        while self._n_expanded < n_expanded:
            if self._n_expanded == len(self._keys):
                return EMPTY
            try:
                has_room = self._expand(self._n_expanded)
            except TooLargeError:
                return TOO_MANY
            if not has_room:
                return TOO_MANY
            self._n_expanded += 1
            if meter.work > meter.limit:
                yield from meter.report()
        return None

    def outcome(self, status: str, lasso: PlainLasso | None = None) -> InstantOutcome:
        """Return how the search ended, with its figures."""
        depth = self._depths[-1]  # no later state is nearer
        return InstantOutcome(status, len(self._keys), self.graph.n_edges, depth, lasso)

    def _expand(self, number: int) -> bool:
        """Generate the successors of a state; return whether there was room."""
        graph, meter, n_states = self.graph, self.meter, self._table.n_states
        local, src = divmod(self._keys[number], n_states)
        base = src * self._table.n_letters
        followers: list[Edge] = graph.followers[number]
        depth = self._depths[number] + 1
        cells, index = self._cells, self._index
        has_room = True
        for letter, own, action, target in self._steps_of(local):
            cell = cells.get(base + letter)
            if cell is None:
                cell = cells[base + letter] = self._cell(base + letter)
            for dst, marks in cell:
                key = target * n_states + dst
                found = index.get(key)
                if found is None:
                    found = len(index)
                    if found >= self._max_states:
                        has_room = False
                        continue
                    self._enter(key, (number, action), depth)
                marks |= own
                graph.marks |= marks
                followers.append((found, marks, action))
        n_edges = len(followers)
        graph.n_edges += n_edges
        meter.work += _PER_STATE + _PER_EDGE * n_edges
        meter.memory_bytes += _EDGE_BYTES * n_edges
        return has_room

    def _enter(self, key: int, parent: tuple[int, int], depth: int) -> None:
        """Store a new state of the product."""
        self._index[key] = len(self._keys)
        self._keys.append(key)
        self._depths.append(depth)
        self.graph.states.append(self._system_states[key // self._table.n_states])
        self.graph.followers.append([])
        self.graph.parents.append(parent)
        self.meter.states, self.meter.depth = len(self._keys), depth
        self.meter.memory_bytes += _STATE_BYTES

    def _numbered(self, state: Hashable) -> int:
        """Return the number of a state of the system, new or not."""
        number = self._system_index.setdefault(state, len(self._system_states))
        if number == len(self._system_states):
            self._system_states.append(state)
            self.meter.memory_bytes += _SYSTEM_STATE_BYTES
        return number

    def _steps_of(self, number: int) -> list[_Step]:
        """Return the steps of a state of the system."""
        known = self._steps.get(number)
        if known is not None:
            return known
        state = self._system_states[number]
        steps = self._system.steps(state)
        if not steps and self._stutter:
            steps = [self._system.repeated(state)]
        shift, told = self._table.system_marks, (1 << self._table.system_marks) - 1
        behind = self._table.n_marks
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
        self.meter.work += self._system.cost + _PER_STEP * len(made)
        self.meter.memory_bytes += _STEP_BYTES * len(made)
        return made

    def _cell(self, at: int) -> list[tuple[int, int]]:
        """Return the property's transitions from one state on one letter."""
        table = self._table
        edges = slice(int(table.first_edge[at]), int(table.first_edge[at + 1]))
        targets, marks = table.edge_dst[edges].tolist(), table.edge_marks[edges]
        return list(zip(targets, marks.tolist(), strict=True))
