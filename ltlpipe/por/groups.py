"""Reduced sets of steps of a model, by groups of its actions.

The actions of a model are put into groups.  If one action of a group is enabled, then

- whatever the other actions do, until one of the group is taken, exactly the same
  actions of the group stay enabled, and
- they can be swapped with each step of the others.

So the enabled actions of a group fulfil C0 and C1.  Actions that change what a
proposition looks at, and some of each cycle, are blocked: a group with an enabled
blocked action is no ample set (C2, C3).

Groups of nets.  Transitions are in one *cluster* if they take from a common place, or
are joined by others that do.  The group of a cluster is all of it, if all its
transitions take the same tokens from the same places, and at least one: then they are
enabled together, and no other process can disable them (docs/models-por.md has the
proof).  A transition with a limit or a reset, or one that touches a place where some
transition has one, is in no group: neither is true of these.

Groups of DVE and Promela models: those of one process or two, in their states.  A
*place* is a process in one of its states.  One place, or two of different processes,
are *closed* if for each transition from them:

- no other process sends or receives with it over a channel without buffer;
- it writes only what no other process reads or writes, and reads only what no other
  process writes (the contents of channels with a buffer included);
- it cannot fail, starts no process, waits for no ``timeout`` and keeps no control;
- it does not lead into a committed state from one that is not.

Then the steps of closed places are a group (docs/models-por.md has the proof).  Two
places are looked at where a step over a channel without buffer joins them.

Sources: R. Kurshan, V. Levin, M. Minea, D. Peled and H. Yenigün, "Static Partial Order
Reduction", TACAS 1998, LNCS 1384, pp. 345-357.  Clusters whose transitions take the
same are those of free-choice nets (J. Desel and J. Esparza, "Free Choice Petri Nets",
Cambridge 1995, Sec. 4.1), here one by one.

Differences from the sources: the state of a process is not one variable, but one fact
for each of its states, as guards and propositions ask for single ones; two processes
that move together; committed states and failures.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import STATIC
from ltlpipe.logic.propositions import syntax
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.net import NetModel
from ltlpipe.systems.networks.packing import BLOCKED, LEADS, Entry
from ltlpipe.systems.programs.model import ProgramModel
from ltlpipe.systems.programs.program import (
    Binary,
    Element,
    Number,
    Read,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.programs.program import (
        Action,
        Expression,
        Program,
        Transition,
    )


def back_edges(successors: Sequence[Sequence[int]], first: int = 0) -> Job[set[int]]:
    """Find edges such that every cycle of a graph has one of them.

    They are numbered in the order of `successors`, and are those of a depth-first
    search from `first` that lead back to its own path: every cycle has one, for a graph
    is acyclic iff there is none.
    """
    offsets = [0]
    for targets in successors:
        offsets.append(offsets[-1] + len(targets))
    entered, left = set(), set()
    found = set()
    ticks = Ticks(STATIC)
    for root in (first, *range(len(successors))):
        path = [] if root in entered or root >= len(successors) else [(root, 0)]
        entered.add(root)
        while path:
            if ticks.over():
                yield ticks.progress
            vertex, cursor = path.pop()
            if cursor == len(successors[vertex]):
                left.add(vertex)
                continue
            path.append((vertex, cursor + 1))
            target = successors[vertex][cursor]
            if target not in entered:
                entered.add(target)
                path.append((target, 0))
            elif target not in left:
                found.add(offsets[vertex] + cursor)
    return found


def feedback_vertices(successors: Sequence[Sequence[int]]) -> Job[set[int]]:
    """Find vertices such that every cycle of a graph has one of them.

    All sources of `back_edges`, or all targets, whichever are fewer.
    """
    ends = [(v, target) for v, targets in enumerate(successors) for target in targets]
    edges = yield from back_edges(successors)
    chosen = [ends[edge] for edge in edges]
    sources = {source for source, _ in chosen}
    targets = {target for _, target in chosen}
    return min(sources, targets, key=len)


ANY = -1
_ACTION_WORK = 20  # units

Place = tuple[int, int]
"""A process and one of its states."""


def codes_of_processes(
    program: Program, failing: Set[Expression], atoms: Set[Atom]
) -> Job[np.ndarray]:
    """Find the entries of an asynchronous system's actions, int64[n_actions, 3].

    See `ltlpipe.systems.successor_kernels.Entry`.  `failing` are expressions that may
    fail by themselves, `atoms` what the property looks at.
    """
    system = _System(program, failing)
    ticks = Ticks(STATIC, _ACTION_WORK)
    for transition in program.transitions():
        system.note(transition)
        yield from ticks.worked()
    leads = []
    for action in program.actions:
        leads.append(system.is_closed(_places(action)))
        yield from ticks.worked()
    seen = {
        atom
        for variable, value in atoms
        for atom in atoms_of(program, variable)
        if value == ANY or atom.value in (ANY, value)
    }
    blocked = yield from _blocked(system, leads, seen)
    numbers: dict[Place, int] = {}
    codes = []
    for number, action in enumerate(program.actions):
        kind = LEADS * leads[number] + BLOCKED * (number in blocked)
        ends = [numbers.setdefault(p, len(numbers) + 1) for p in _places(action)]
        codes.append((kind, ends[0], ends[-1]))
    return np.array(codes, dtype=np.int64).reshape(-1, 3)


def _places(action: Action) -> tuple[Place, ...]:
    """Return the place of the leader, then that of its partner."""
    return tuple((t.process, t.source) for t in action.transitions)


def _blocked(system: _System, leads: Sequence[bool], seen: Set[Atom]) -> Job[set[int]]:
    """Find the actions that no ample set may have.

    Those that the property sees, and some of each cycle of the others: while a system
    goes round a cycle, each process that moves goes round one of its own states.
    """
    actions, ticks = system.program.actions, Ticks(STATIC)
    closed = {
        frozenset(part)
        for action, is_closed in zip(actions, leads, strict=True)
        if is_closed
        for places in [_places(action)]
        for part in (places, places[:1], places[1:])
    }
    blocked, rest = set(), []
    for number, action in enumerate(actions):
        if any(system.accesses[t].writes & seen for t in action.transitions):
            blocked.add(number)
        elif frozenset(_places(action)) in closed:
            rest.append(number)
        yield from ticks.worked()
    for process, own in enumerate(system.program.processes):
        moves = sorted(
            (transition.source, transition.target, number)
            for number in rest
            if number not in blocked
            for transition in actions[number].transitions
            if transition.process == process
        )
        states = system.program.variables[own.state]
        successors: list[list[int]] = [[] for _ in states.states]
        for source, target, _ in moves:
            successors[source].append(target)
        edges = yield from back_edges(successors, states.initial)
        blocked |= {moves[edge][2] for edge in edges}
        yield from ticks.worked(len(rest))
    return blocked


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

    def note(self, transition: Transition) -> None:
        """Take note of a transition."""
        number = transition.process
        self._leaving[number, transition.source].append(transition)
        self._note(transition, number)
        if transition.start is not None:
            # What begins belongs to nobody else as long as it has not ended.
            self._note(transition.start, number)
        message = transition.message
        if message is not None:
            self._users[message.channel, message.sends].add(number)

    def _note(self, transition: Transition, reader: int) -> None:
        """Take note of what a transition reads and writes, as whose step it is."""
        found = accesses(self.program, transition)
        self.accesses[transition] = found
        for atom in found.reads:
            self._readers[atom].add(reader)
        for atom in found.writes:
            self._writers[atom].add(transition.process)

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
        if transition.keeps or transition.start is not None:
            return False  # more moves follow, or another process begins
        found = self.accesses[transition]
        if Atom(self.program.error) in found.writes:
            return False
        if Atom(self.program.timeout) in found.reads:
            return False
        message = transition.message
        if message is not None and not self.program.channels[message.channel].capacity:
            others = self._users[message.channel, not message.sends]
            if not others - {transition.process} <= processes:
                return False
        reads, writes = found
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

    The state of a process is known by `atoms_of`, everything else by its
    variable.  That a transition needs its own source is no access.
    """

    reads: frozenset[Atom]
    writes: frozenset[Atom]


def accesses(program: Program, transition: Transition) -> Accesses:
    """Return what a transition reads and writes, its message included."""
    values = list(transition.conditions)
    targets = []
    for target, value, _ in (*transition.exchange, *transition.effects):
        targets.append(target)
        values.append(value)
    message = transition.message
    if message is not None and not transition.exchange:
        known = [value for value in message.values if value is not None]
        (values if message.sends else targets).extend(known)
        values += [check for check in message.checks if check is not None]
    values += [index for target in targets for index in parts(target)]
    reads = {atom for value in values for atom in _read(program, value)}
    writes = {atom for target in targets for atom in _elements(target)}
    if transition.source != transition.target:
        state = program.processes[transition.process].state
        writes |= {Atom(state, transition.source), Atom(state, transition.target)}
    return Accesses(frozenset(reads), frozenset(writes))


def atoms_of(program: Program, variable: int) -> set[Atom]:
    """Return the atoms of a variable: if it is a process's state, one for each."""
    n_states = len(program.variables[variable].states)
    states = {Atom(variable, state) for state in range(n_states)}
    return states or {Atom(variable)}


def _read(program: Program, expression: Expression) -> set[Atom]:
    """Return what the value of an expression depends on."""
    operands = parts(expression)
    if isinstance(expression, Binary) and expression.op in ("==", "!="):
        for some, other in (operands, operands[::-1]):
            if (
                isinstance(some, Read)
                and isinstance(other, Number)
                and program.variables[some.variable].states
            ):
                return {Atom(some.variable, other.value)}
    if isinstance(expression, Read):
        return atoms_of(program, expression.variable)
    found = _elements(expression) if isinstance(expression, Element) else set()
    return found.union(*(_read(program, part) for part in operands))


def _elements(target: Read | Element) -> set[Atom]:
    size = 1 if isinstance(target, Read) else target.size
    return {Atom(target.first + i) for i in range(size)}


@dataclass(frozen=True)
class Groups:
    """The groups of a model's actions, for one property."""

    # int64[n_actions, 3], for `ltlpipe.systems.successor_kernels.keep_ample`; None if
    # no state would ever be reduced.
    codes: np.ndarray | None
    reason: str  # why, for people


def find_groups(
    model: Model,
    propositions: Sequence[syntax.Expression],
    at_ends: Sequence[syntax.Expression] = (),
) -> Job[Groups]:
    """Find the groups of a model's actions for propositions bound to it.

    Those that matter `at_ends` of runs only (`ltlpipe.logic.formulas.seen_at_ends`)
    may be whether a state has steps, and every step may change their values.
    """
    late = [p for p in at_ends if not isinstance(p, syntax.Deadlock)]
    if any(map(names_steps, [*propositions, *late])):
        # Invisible steps may move before a visible one, and then
        # the run begins with another letter.
        return Groups(None, "a proposition is about steps, not only about states")
    if isinstance(model, ProgramModel):
        propositions = [*propositions, *_seen_where_all_stop(model, late)]
    atoms: set[Atom] = {atom for p in propositions for atom in watched(p)}
    if isinstance(model, ProgramModel):
        if model.program.synchronous:
            return Groups(None, "all processes of a synchronous system move at once")
        codes = yield from codes_of_processes(
            model.program, model.ranges.failing, atoms
        )
    elif isinstance(model, NetModel):
        codes = yield from codes_of_clusters(model, atoms)
    else:
        return Groups(None, f"nothing is known of the steps of {model.name}")
    n_free = int(np.count_nonzero(codes[:, Entry.KIND] == LEADS))
    if not n_free:
        return Groups(None, "every step may matter to another one, or to the property")
    return Groups(
        codes, f"{n_free} of {len(codes)} actions can be taken before all others"
    )


def _seen_where_all_stop(
    model: ProgramModel, late: Sequence[syntax.Expression]
) -> Sequence[syntax.Expression]:
    """Return which propositions a run can end in that could have taken more steps.

    It ends so where a step fails, or where processes in committed states cannot move.
    What is true of all states in which a step has failed does not matter there.
    """
    program = model.program
    if any(process.committed for process in program.processes):
        return late
    if not model.layout.places[program.error].bits:  # none fails
        return []
    works = syntax.Operation("==", (syntax.Variable(program.error), syntax.Number(0)))
    fails = syntax.Operation("!", (works,))
    return [
        p
        for p in late
        if not (isinstance(p, syntax.Operation) and p.operator == "||")
        or fails not in p.operands
    ]


def codes_of_clusters(net: NetModel, atoms: Set[Atom]) -> Job[np.ndarray]:
    """Find the code of each transition, int64[n_transitions, 3]; see `keep_ample`.

    `atoms` are what the property looks at.  The place of a transition is the number of
    its group, from 1 on, or 0.  Groups that are an ample set nowhere are left out, so
    nothing is blocked.
    """
    visible = {atom.variable for atom in atoms}
    groups = []
    ticks = Ticks(STATIC)
    for group in (yield from _groups(net, ticks)):
        if not any(visible & net.transitions[t].differences().keys() for t in group):
            groups.append(group)
        yield from ticks.worked(len(group))
    feeds = yield from _feeds(net, groups, ticks)
    dropped = yield from feedback_vertices(feeds)
    codes = np.zeros((len(net.transitions), len(Entry)), dtype=np.int64)
    for number, group in enumerate(groups):
        if number not in dropped:
            codes[group] = (LEADS, number + 1, number + 1)
    return codes


def _groups(net: NetModel, ticks: Ticks) -> Job[list[list[int]]]:
    """List the clusters whose transitions all take the same."""
    consumers = yield from _by_place(
        ((t, transition.needs) for t, transition in enumerate(net.transitions)), ticks
    )
    special = {*net.limits.place.tolist(), *net.resets.place.tolist()}
    alike: dict[frozenset[tuple[int, int]], list[int]] = defaultdict(list)
    for number, transition in enumerate(net.transitions):
        touched = transition.needs.keys() | transition.differences().keys()
        if special.isdisjoint(touched | transition.limits.keys()):
            alike[frozenset(transition.needs.items())].append(number)
        yield from ticks.worked()
    # Who takes what the first takes, and none else takes from these places.
    return [
        group
        for needed, group in alike.items()
        if needed and all(consumers[place] == group for place, _ in needed)
    ]


def _feeds(
    net: NetModel, groups: list[list[int]], ticks: Ticks
) -> Job[list[list[int]]]:
    """List for each group those that take what it puts."""
    taken = ((k, net.transitions[g[0]].needs) for k, g in enumerate(groups))
    takers = yield from _by_place(taken, ticks)
    feeds = []
    for group in groups:
        fed: set[int] = set()
        for place in (p for t in group for p in net.transitions[t].puts):
            some = takers.get(place, [])
            fed.update(some)
            yield from ticks.worked(1 + len(some))
        feeds.append(sorted(fed))
    return feeds


def _by_place(
    taken: Iterable[tuple[int, Iterable[int]]], ticks: Ticks
) -> Job[dict[int, list[int]]]:
    """List the transitions that take from each place."""
    found: dict[int, list[int]] = {}
    for number, places in taken:
        for place in places:
            found.setdefault(place, []).append(number)
            if ticks.over():
                yield ticks.progress
    return found
