"""Groups of the steps of DVE models: those of one process or two, in their states.

A *place* is a process in one of its states.  One place, or two of different processes,
are *closed* if for each transition from them:

- no other process sends or receives with it over a channel without buffer;
- it writes only what no other process reads or writes, and reads only what no other
  process writes (the contents of channels with a buffer included);
- it cannot fail;
- it does not lead into a committed state from one that is not.

Then the steps of closed places are a group (docs/models-por.md has the proof).  Two
places are looked at where a step over a channel without buffer joins them.

Differences from the source (`ltlpipe.por.groups`): the state of a process is not
one variable, but one fact for each of its states, as guards and propositions ask for
single ones; two processes that move together; committed states and failures.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import ITEMS, counting
from ltlpipe.logic.propositions import syntax
from ltlpipe.por.cycles import back_edges
from ltlpipe.systems.ample_kernels import BLOCKED, LEADS
from ltlpipe.systems.programs.program import (
    Binary,
    Element,
    Number,
    Read,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import (
        Action,
        Expression,
        Process,
        Program,
        Transition,
    )

ANY = -1
_ACTIONS_AT_ONCE = 1 << 8
_ACTION_WORK = 20

Place = tuple[int, int]
"""A process and one of its states."""


def codes_of_processes(
    program: Program, failing: Set[Expression], atoms: Set[Atom]
) -> Job[np.ndarray]:
    """Find the entries of an asynchronous system's actions, int64[n_actions, 3].

    See `ltlpipe.systems.ample_kernels.Entry`.  `failing` are expressions that may fail
    by themselves, `atoms` what the property looks at.
    """
    system = _System(program, failing)
    for process in program.processes:
        yield from system.note(process)
    actions = program.actions
    numbers: dict[Place, int] = {}
    leads = []
    for number, action in enumerate(actions):
        leads.append(system.is_closed(_places(action)))
        if number % _ACTIONS_AT_ONCE == 0:
            yield counting(_ACTION_WORK * _ACTIONS_AT_ONCE)
    blocked = yield from _blocked(system, actions, leads, _expanded(program, atoms))
    codes = []
    for number, action in enumerate(actions):
        kind = LEADS * leads[number] + BLOCKED * (number in blocked)
        ends = [numbers.setdefault(p, len(numbers) + 1) for p in _places(action)]
        codes.append((kind, ends[0], ends[-1]))
    return np.array(codes, dtype=np.int64).reshape(-1, 3)


def _places(action: Action) -> tuple[Place, ...]:
    """Return the place of the leader, then that of its partner."""
    return tuple((t.process, t.source) for t in action if t is not None)


def _expanded(program: Program, atoms: Set[Atom]) -> set[Atom]:
    """Return what a property looks at, in the atoms of `accesses`."""
    expanded: set[Atom] = set()
    for variable, value in atoms:
        if not program.variables[variable].states:
            expanded.add(Atom(variable))
        elif value == ANY:
            expanded |= atoms_of_state(program, variable)
        else:
            expanded.add(Atom(variable, value))
    return expanded


def _blocked(
    system: _System, actions: Sequence[Action], leads: Sequence[bool], seen: Set[Atom]
) -> Job[set[int]]:
    """Find the actions that no ample set may have.

    Those that the property sees, and some of each cycle of the others: while a system
    goes round a cycle, each process that moves goes round one of its own states.
    """
    closed = {
        frozenset(part)
        for action, is_closed in zip(actions, leads, strict=True)
        if is_closed
        for places in [_places(action)]
        for part in (places, places[:1], places[1:])
    }
    blocked, rest = set(), []
    for number, action in enumerate(actions):
        if any(system.accesses[t].writes & seen for t in action if t is not None):
            blocked.add(number)
        elif frozenset(_places(action)) in closed:
            rest.append(number)
        if number % ITEMS == ITEMS - 1:
            yield counting(ITEMS)
    for process in range(len(system.program.processes)):
        moves = sorted(
            (transition.source, transition.target, number)
            for number in rest
            if number not in blocked
            for transition in actions[number]
            if transition is not None and transition.process == process
        )
        blocked |= yield from _of_cycles(system.program, process, moves)
        yield counting(len(rest))
    return blocked


def _of_cycles(
    program: Program, process: int, moves: Sequence[tuple[int, int, int]]
) -> Job[set[int]]:
    """Choose some action of each cycle of moves (source, target, action), sorted."""
    states = program.variables[program.processes[process].state]
    successors: list[list[int]] = [[] for _ in states.states]
    for source, target, _ in moves:
        successors[source].append(target)
    edges = yield from back_edges(successors, states.initial)
    return {moves[edge][2] for edge in edges}


class _System:
    """Who reads and writes what."""

    def __init__(self, program: Program, failing: Set[Expression]) -> None:
        self.program = program
        self.failing = failing
        self.accesses: dict[Transition, Accesses] = {}
        self._readers: dict[Atom, set[int]] = defaultdict(set)
        self._writers: dict[Atom, set[int]] = defaultdict(set)
        self._users: dict[tuple[int, bool], set[int]] = defaultdict(set)
        self._leaving: dict[Place, list[Transition]] = defaultdict(list)

    def note(self, process: Process) -> Job[None]:
        """Take note of the transitions of a process."""
        for number, transition in enumerate(process.transitions):
            self._note(transition)
            if number % _ACTIONS_AT_ONCE == 0:
                yield counting(_ACTION_WORK * _ACTIONS_AT_ONCE)

    def _note(self, transition: Transition) -> None:
        number = transition.process
        self._leaving[number, transition.source].append(transition)
        found = accesses(self.program, transition)
        self.accesses[transition] = found
        for atom in found.reads:
            self._readers[atom].add(number)
        for atom in found.writes:
            self._writers[atom].add(number)
        message = transition.message
        if message is not None:
            self._users[message.channel, message.sends].add(number)

    def is_closed(self, places: Sequence[Place]) -> bool:
        """Whether the steps of some places are a group."""
        processes = {process for process, _ in places}
        return all(
            self._is_closed(transition, processes)
            for place in places
            for transition in self._leaving[place]
        )

    def _is_closed(self, transition: Transition, processes: Set[int]) -> bool:
        """Whether a transition concerns no process but some, and cannot fail."""
        committed = self.program.processes[transition.process].committed
        if transition.target in committed and transition.source not in committed:
            return False
        if not self.failing.isdisjoint(transition.expressions()):
            return False
        message = transition.message
        if message is not None and not self.program.channels[message.channel].capacity:
            others = self._users[message.channel, not message.sends]
            if not others - {transition.process} <= processes:
                return False
        reads, writes = self.accesses[transition]
        return all(
            self._readers[atom] <= processes and self._writers[atom] <= processes
            for atom in writes
        ) and all(self._writers[atom] <= processes for atom in reads)


class Atom(NamedTuple):
    """A part of a state: a variable (`value` ANY), or whether it has a value."""

    variable: int
    value: int = ANY


def watched(expression: syntax.Expression) -> set[Atom]:
    """Return the atoms that tell the value of a bound expression."""
    if isinstance(expression, syntax.Variable):
        return {Atom(expression.number)}
    if isinstance(expression, syntax.Indexed):
        elements = range(expression.first, expression.first + expression.size)
        return watched(expression.index) | {Atom(number) for number in elements}
    if not isinstance(expression, syntax.Operation):
        return set()
    if expression.operator == "==":
        for some, other in (expression.operands, expression.operands[::-1]):
            if isinstance(some, syntax.Variable) and isinstance(other, syntax.Number):
                return {Atom(some.number, other.value)}
    return {atom for operand in expression.operands for atom in watched(operand)}


def names_steps(expression: syntax.Expression) -> bool:
    """Whether a bound expression tells steps apart, or states without steps."""
    if isinstance(expression, syntax.Operation):
        return any(map(names_steps, expression.operands))
    if isinstance(expression, syntax.Indexed):
        return names_steps(expression.index)
    return isinstance(expression, (syntax.Taken, syntax.Deadlock))


class Accesses(NamedTuple):
    """What a transition reads and writes.

    The state of a process is known by `atoms_of_state`, everything else by its
    variable.  That a transition needs its own source is no access.
    """

    reads: frozenset[Atom]
    writes: frozenset[Atom]


def accesses(program: Program, transition: Transition) -> Accesses:
    """Return what a transition reads and writes, its message included."""
    reads: set[Atom] = set()
    writes: set[Atom] = set()
    process = program.processes[transition.process]
    if transition.source != transition.target:
        writes.add(Atom(process.state, transition.source))
        writes.add(Atom(process.state, transition.target))
    for condition in transition.conditions:
        reads |= _read(program, condition)
    for target, value, _ in (*transition.exchange, *transition.effects):
        reads |= _read(program, value)
        _add_target(program, target, reads, writes)
    message = transition.message
    if message is not None and not transition.exchange:
        for value in message.values:
            if message.sends:
                reads |= _read(program, value)
            else:
                _add_target(program, value, reads, writes)
    return Accesses(frozenset(reads), frozenset(writes))


def atoms_of_state(program: Program, variable: int) -> set[Atom]:
    """Return the atoms of a process's state."""
    n_states = len(program.variables[variable].states)
    return {Atom(variable, state) for state in range(n_states)}


def _read(program: Program, expression: Expression) -> set[Atom]:
    """Return what the value of an expression depends on."""
    if isinstance(expression, Binary) and expression.op in ("==", "!="):
        for some, other in (
            (expression.left, expression.right),
            (expression.right, expression.left),
        ):
            if (
                isinstance(some, Read)
                and isinstance(other, Number)
                and program.variables[some.variable].states
            ):
                return {Atom(some.variable, other.value)}
    if isinstance(expression, Read):
        if program.variables[expression.variable].states:
            return atoms_of_state(program, expression.variable)
        return {Atom(expression.variable)}
    found: set[Atom] = set()
    if isinstance(expression, Element):
        found = _elements(expression)
    for part in parts(expression):
        found |= _read(program, part)
    return found


def _elements(element: Element) -> set[Atom]:
    return {Atom(element.first + i) for i in range(element.size)}


def _add_target(
    program: Program, target: Read | Element, reads: set[Atom], writes: set[Atom]
) -> None:
    """Add what an assignment writes to, and what its index reads."""
    if isinstance(target, Read):
        writes.add(Atom(target.variable))
        return
    writes |= _elements(target)
    reads |= _read(program, target.index)
