"""From the tree of a Promela model to a program of guarded commands.

Each slot's process has the control flow of all proctypes that can be there, place 0
being no process.  A statement becomes a transition, or several: one for each channel
that a variable may stand for, for each place of a message in a channel, and for each
slot that ``run`` may fill.  A process ends (``-end-``) when there is no younger one;
where a plan says so it does before another one is started.

``else``, ``unless`` and priorities are conditions: that others cannot move.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.program import (
    ASSERTION,
    D_STEP,
    FAILED,
    FULL,
    Assignment,
    Binary,
    EvaluationError,
    Message,
    Number,
    Process,
    Program,
    Read,
    Transition,
    converted,
    evaluate,
    may_fail,
    position,
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import (
    Edge,
    Flow,
    Node,
    escaping,
    fused,
    leaving,
)
from ltlpipe.systems.programs.promela.messages import Alternative, Messages
from ltlpipe.systems.programs.promela.storage import (
    FAULTS,
    GLOBAL,
    Frame,
    Plan,
    Storage,
    variables_in,
)
from ltlpipe.systems.programs.promela.syntax import nodes_in
from ltlpipe.systems.programs.promela.tokens import input_error
from ltlpipe.systems.programs.promela.translation import (
    all_of,
    any_of,
    equal,
    fitted,
    negated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import Expression

_STEP_WORK = 100  # units, of a transition
_PLACE_WORK = 60  # of a place of another process that it looks at
_BYTES = 12  # of what is made in a unit


@dataclass(frozen=True)
class Lowered:
    """A program with what its parts have been made of."""

    program: Program
    translator: Lowering
    steps: dict[Transition, tuple[Frame, Edge | None]]
    """What process makes a transition, by what statement; None is ``-end-``."""


def lower(
    model: syntax.Model, plan: Plan, *, assertions: bool, has_last: bool = True
) -> Job[Lowered]:
    """Return the job that makes a program of a model, with room as a plan says.

    Without `assertions`, ``assert`` is a step that has no effect.  Where only a
    property mentions ``_last``, states know of it only if they have to (`has_last`).
    """
    flows = [Flow(proctype.body) for proctype in model.proctypes]
    storage = Storage(model, plan, flows, has_last)
    return Lowering(storage, assertions=assertions).lowered()


class Lowering(Messages):
    """Everything that is known while a program is made."""

    def __init__(self, storage: Storage, *, assertions: bool) -> None:
        super().__init__(storage)
        storage.finish()
        self.plan = storage.plan
        model = self.model
        self.assertions = assertions
        self.is_limited = False  # whether a process may find no room
        self.numbers = {p.name: i for i, p in enumerate(model.proctypes)}
        self.steps: dict[Transition, tuple[Frame, Edge | None]] = {}

    def lowered(self) -> Job[Lowered]:
        """Make the program."""
        storage = self.storage
        processes = []
        ticks = Ticks("reading", _STEP_WORK)
        for slot, proctypes in enumerate(self.plan.slots):
            transitions: list[Transition] = []
            for number in proctypes:
                frame, made = Frame(slot, number), []
                # It looks at what all others can do that have a higher priority.
                higher = [other.proctype for other in self.higher(frame)]
                others = sum(len(storage.flows[other].nodes) for other in higher)
                ticks.memory_bytes += others * _PLACE_WORK * _BYTES
                yield from ticks.worked(others * _PLACE_WORK / _STEP_WORK)
                for transition in self._process(frame):
                    made.append(transition)
                    ticks.memory_bytes += ticks.unit_work * _BYTES
                    yield from ticks.worked()
                transitions += self._fused(frame, made)
            processes.append(
                Process(
                    storage.slot_name(slot),
                    storage.states[slot],
                    frozenset(),
                    frozenset(),
                    tuple(transitions),
                    tuple(storage.own[slot]),
                )
            )
        initial = self._initial()
        variables = [
            v._replace(initial=value)
            for v, value in zip(storage.variables, initial, strict=True)
        ]
        program = Program(
            self.model.file,
            tuple(variables),
            tuple(storage.arrays),
            tuple(storage.channels),
            tuple(processes),
            synchronous=False,
            assertions=(),
            timeout=storage.timeout,
            can_be_full=self.is_limited,
        )
        return Lowered(program, self, self.steps)

    def _initial(self) -> list[int]:
        """Return the first state."""
        storage = self.storage
        values = [v.initial for v in storage.variables]
        self._begin(self.model.variables, GLOBAL, values)
        slot = 0
        for number, proctype in enumerate(self.model.proctypes):
            for _ in range(proctype.active):
                frame = Frame(slot, number)
                entry = storage.flows[number].nodes[0].number
                values[storage.states[slot]] = storage.offsets[frame] + entry
                if storage.priorities >= 0:
                    values[storage.priorities + slot] = proctype.priority or 1
                slot += 1
        slot = 0
        for number, proctype in enumerate(self.model.proctypes):
            for _ in range(proctype.active):
                self._begin(_alive_at_birth(proctype), Frame(slot, number), values)
                slot += 1
        return values

    def _begin(
        self, variables: Sequence[syntax.Variable], frame: Frame, values: list[int]
    ) -> None:
        """Have variables begin in the first state."""
        for variable in variables:
            try:
                _assign(self._initialised(variable, frame), values)
            except EvaluationError:
                message = f"the first value of {variable.name!r} fails"
                message += f": {FAULTS[FAILED]}"
                raise input_error(message, variable.place) from None

    def _born(self, frame: Frame) -> list[Assignment]:
        """Return how the variables of a process begin."""
        return [
            assignment
            for variable in _alive_at_birth(self.model.proctypes[frame.proctype])
            for assignment in self._initialised(variable, frame)
        ]

    def _initialised(
        self, variable: syntax.Variable, frame: Frame, *, again: bool = False
    ) -> list[Assignment]:
        """Return the assignments that a declaration is, 0 too if it is made `again`."""
        storage = self.storage
        if storage.constant(variable, frame) is not None:
            return []
        if variable.hidden and variable not in storage.read:
            return []
        first, initial = storage.address(variable, frame), variable.initial
        size = variable.size
        values: list[Expression]
        if isinstance(initial, syntax.NewChannel):
            slot = -1 if variable.proctype is None else frame.slot
            values = [Number(n + 1) for n in storage.made[slot, variable]]
        elif isinstance(initial, tuple):
            own = variable.dimensions[-1]  # the last value is that of the rest
            trees = [initial[min(i % own, len(initial) - 1)] for i in range(size)]
            values = [self.value(tree, frame) for tree in trees]
        elif initial is not None:
            if any(isinstance(n, syntax.Run) for n in nodes_in(initial)):
                raise UnsupportedError(
                    f"{variable.place}: run as the first value of a variable: assign "
                    "it behind the declaration"
                )
            values = [self.value(initial, frame) for _ in range(size)]
        else:
            values = []
        values += [Number(0)] * (size - len(values) if again else 0)
        return [self._set(Read(first + i), value) for i, value in enumerate(values)]

    def _fused(
        self, frame: Frame, transitions: Sequence[Transition]
    ) -> Iterator[Transition]:
        """Yield the transitions of a proctype in a slot, those in control made one."""
        begin = self.storage.flows[frame.proctype].nodes[0].number
        begin += self.storage.offsets[frame]
        for made, first in fused(transitions, begin):
            self.steps[made] = self.steps[first]
            yield made

    def _process(self, frame: Frame) -> Iterator[Transition]:
        """Yield the transitions of a proctype in a slot."""
        storage = self.storage
        flow, offset = storage.flows[frame.proctype], storage.offsets[frame]
        for node in flow.nodes:
            for edge in leaving(node):
                yield from self._edge(frame, node, edge)
        if flow.end.number > 0:
            source = offset + flow.end.number
            end = self._ended(frame)
            conditions = (*self._allowed(frame), *end.conditions)
            name = f"{self._name(frame)}: -end-"
            made = Transition(
                frame.slot,
                source,
                0,
                None,
                None,
                end.effects,
                conditions,
                (),
                text=name,
            )
            self.steps[made] = frame, None
            yield made

    def _edge(self, frame: Frame, node: Node, edge: Edge) -> Iterator[Transition]:
        offset = self.storage.offsets[frame]
        for way in self._ways(frame, node, edge):
            message = way.message
            if message is not None and not message.sends:
                # As in Spin, nothing but another receiver escapes from one.
                message = message._replace(escapes=self._taking(frame, edge, message))
                unescaped = []
            else:
                unescaped = self._unescaped(frame, edge)
            goes_on = edge.level == D_STEP and edge.rivals is None  # asked at its begin
            conditions = (
                *(() if goes_on else self._allowed(frame)),
                *unescaped,
                *way.conditions,
                *self._preferred(frame, node, edge),
                *self._behind_ends(frame, node, edge, way.start),
            )
            conditions = tuple(c for c in conditions if not _holds(c))
            if any(isinstance(c, Number) and not c.value for c in conditions):
                continue
            place = edge.step.place
            where = f"{PurePath(place.file).name}:{place.line}"
            text = f"{self._name(frame)} {where}: {edge.step.text}"
            made = Transition(
                frame.slot,
                offset + node.number,
                offset + edge.target.number,
                None,
                message,
                (*way.effects, *self._last(frame, way.message)),
                conditions,
                way.exchange,
                edge.keeps,
                way.start,
                text,
            )
            self.steps[made] = frame, edge
            yield made

    def _name(self, frame: Frame) -> str:
        return f"{self.model.proctypes[frame.proctype].name}[{frame.slot}]"

    def _last(self, frame: Frame, message: Message | None) -> list[Assignment]:
        """Return the assignment to ``_last``: of two that move, the receiver's."""
        last = self.storage.last
        if last < 0 or (message is not None and message.sends):
            return []
        return [self._set(Read(last), Number(frame.slot))]

    def _ended(self, frame: Frame) -> Alternative:
        """Return how a process ends."""
        storage, slot = self.storage, frame.slot
        conditions: tuple[Expression, ...] = ()
        if slot + 1 < len(storage.states):
            conditions = (equal(Read(storage.states[slot + 1]), Number(0)),)
        effects = []
        if storage.priorities >= 0:
            effects.append(self._set(Read(storage.priorities + slot), Number(0)))
        for variable in storage.leaves(frame):
            first = storage.address(variable, frame)
            cells = range(first, first + variable.size)
            effects += [self._set(Read(cell), Number(0)) for cell in cells]
        proctype = self.model.proctypes[frame.proctype]
        for site in proctype.variables:
            for number in storage.made.get((slot, site), ()):
                channel = storage.channels[number]
                if channel.capacity:
                    held = [channel.length]
                    for cell in channel.cells:
                        held += range(cell, cell + channel.capacity)
                    effects += [self._set(Read(n), Number(0)) for n in held]
        return Alternative(conditions, effects=(*effects, *self._last(frame, None)))

    # Statements

    def _ways(self, frame: Frame, node: Node, edge: Edge) -> list[Alternative]:
        """Return in what ways a statement can be executed."""
        step = edge.step
        if isinstance(step, syntax.Send):
            return self._sent(step, frame, edge.level)
        if isinstance(step, syntax.Receive):
            return self._received(step, frame)
        if isinstance(step, syntax.Else):
            # As in Spin, whether any statement before it at the same place can move.
            before = edge.rivals
            if before is None:
                nodes = (node, *escaping(node.edges))
                own = next(n.edges for n in nodes if edge in n.edges)
                before = tuple(own[: own.index(edge)])
            if any(isinstance(other.step, syntax.Else) for other in before):
                return []
            return [Alternative((negated(self._can_leave(frame, node, before)),))]
        if isinstance(step, (syntax.Assign, syntax.Condition)):
            return self._evaluated(step, frame)
        effects: list[Assignment] = []
        if isinstance(step, syntax.Declare):
            # As in Spin, a record stays as it is, and of an array the first element is
            # set.
            for variable in step.variables:
                if not _is_field(variable):
                    effects += self._initialised(variable, frame, again=True)[:1]
        elif isinstance(step, syntax.Assert) and self.assertions:
            effects.append(self.check(self.value(step.expression, frame), ASSERTION))
        elif isinstance(step, syntax.Print):
            for tree in step.values:
                effects += self._tried(self.value(tree, frame))
        return [Alternative(effects=tuple(effects))]

    def _tried(self, value: Expression) -> list[Assignment]:
        """Return what evaluating an expression is, which may fail."""
        if not may_fail(value):
            return []
        return [self.check(Binary("||", value, Number(1)), FAILED)]

    def _evaluated(
        self, step: syntax.Assign | syntax.Condition, frame: Frame
    ) -> list[Alternative]:
        """Return the ways of an assignment or a condition, which may have a ``run``."""
        tree = step.value if isinstance(step, syntax.Assign) else step.expression
        runs = [n for n in nodes_in(tree) if isinstance(n, syntax.Run)]
        if not runs:
            return [self._with_value(step, frame, 0, Alternative())]
        if len(runs) > 1:
            raise UnsupportedError(f"{step.place}: more than one run in an expression")
        return [
            self._with_value(step, frame, slot, way)
            for slot, way in self._started(runs[0], frame)
        ]

    def _with_value(
        self,
        step: syntax.Assign | syntax.Condition,
        frame: Frame,
        started: int,
        way: Alternative,
    ) -> Alternative:
        if isinstance(step, syntax.Condition):
            value = self.value(step.expression, frame, started)
            effects = (*way.effects, *self._reset(step.expression, frame))
            return way._replace(conditions=(*way.conditions, value), effects=effects)
        target = self.target(step.target, frame)
        if target is None and step.target.variable in variables_in(step.value):
            return way
        value = self.value(step.value, frame, started)
        if target is None:
            return way._replace(effects=(*way.effects, *self._tried(value)))
        effect = self._set(target, value)
        return way._replace(effects=(*way.effects, effect))

    def _started(
        self, run: syntax.Run, frame: Frame
    ) -> Iterator[tuple[int, Alternative]]:
        """Yield the slots that a process may be started in, and how it is."""
        states, number = self.storage.states, self.numbers[run.proctype]
        known = self.plan.births
        room: list[Expression] = []
        # Processes end youngest first: all that there are lie before a free slot.
        for slot in range(frame.slot + 1, len(states)):
            if number not in self.plan.slots[slot]:
                continue
            parents = (-1, frame.slot)
            if known is None or any((run, parent, slot) in known for parent in parents):
                conditions = self._next(slot, frame)
                start, checks = self._birth(run, Frame(slot, number), frame)
                yield slot, Alternative(conditions, (), checks, None, start)
                room.append(all_of(self._next(slot, frame)))
        if not self.plan.is_complete:
            self.is_limited = True
            none = negated(any_of(room))
            yield len(states), Alternative((none,), effects=(self._failing(FULL),))

    def _next(self, slot: int, frame: Frame) -> tuple[Expression, ...]:
        """Return when a slot is the one that a process begins in."""
        states = self.storage.states
        conditions = [Binary("==", Read(states[slot]), Number(0))]
        if slot - 1 != frame.slot:
            conditions.append(Binary("!=", Read(states[slot - 1]), Number(0)))
        return tuple(conditions)

    def _behind_ends(
        self, frame: Frame, node: Node, edge: Edge, start: Transition | None
    ) -> list[Expression]:
        """Return that the youngest process need not end before another is started.

        Where control is kept nothing waits for that.
        """
        storage, ending = self.storage, self.plan.ending
        flow, found = storage.flows[frame.proctype], []
        if not ending or not edge.starts or node in flow.kept:
            return []
        last = len(storage.states) - 1
        youngest = range(frame.slot + 1, last + 1)  # any of these, if there is no room
        if start is not None:
            youngest = range(max(start.process - 1, frame.slot + 1), start.process)
        for slot in youngest:
            for number in ending.intersection(self.plan.slots[slot]):
                end = storage.flows[number].end.number
                place = Number(storage.offsets[Frame(slot, number)] + end)
                may_end = [equal(Read(storage.states[slot]), place)]
                if start is None and slot < last:
                    may_end.append(equal(Read(storage.states[slot + 1]), Number(0)))
                found += [negated(all_of(may_end))] if end > 0 else []
        return found

    def _birth(
        self, run: syntax.Run, born: Frame, frame: Frame
    ) -> tuple[Transition, tuple[Assignment, ...]]:
        """Return how a process begins, and what its parent checks."""
        storage = self.storage
        proctype = self.model.proctypes[born.proctype]
        effects, checks = [], []
        if storage.priorities >= 0:
            priority = run.priority or 1  # the proctype's is that of active instances
            target = Read(storage.priorities + born.slot)
            effects.append(self._set(target, Number(priority)))
        for parameter, tree in zip(proctype.parameters, run.arguments, strict=True):
            value = self.value(tree, frame)
            constant = storage.constant(parameter, born)
            if constant is None:
                effects.append(self._set(Read(storage.address(parameter, born)), value))
                continue
            is_same = equal(
                fitted(value, parameter.type.bounds, storage), Number(constant[0])
            )
            if not _holds(is_same) and not self.plan.is_complete:
                checks.append(self.check(is_same, FULL))
        effects += self._born(born)
        entry = storage.offsets[born] + storage.flows[born.proctype].nodes[0].number
        # The arguments are all evaluated before the first parameter is set, as
        # parameters belong to nobody yet.
        start = Transition(born.slot, 0, entry, None, None, tuple(effects), (), ())
        return start, tuple(checks)


def _alive_at_birth(proctype: syntax.Proctype) -> list[syntax.Variable]:
    return [v for v in proctype.variables if v.at_birth or _is_field(v)]


def _is_field(variable: syntax.Variable) -> bool:
    """Whether a variable is a field of a record."""
    return "." in variable.name


def _holds(condition: Expression) -> bool:
    return isinstance(condition, Number) and bool(condition.value)


def _assign(assignments: Sequence[Assignment], values: list[int]) -> None:
    for target, value, bounds in assignments:
        values[position(target, values)] = converted(evaluate(value, values), bounds)


def general_plan(
    model: syntax.Model, n_slots: int, ending: frozenset[int] = frozenset()
) -> Plan:
    """Return the plan in which every slot has room for each process that is started.

    Those that are there at the beginning have their slots beside.
    """
    started = {
        node.proctype
        for proctype in model.proctypes
        for node in nodes_in(proctype.body)
        if isinstance(node, syntax.Run)
    }
    runnable = [i for i, p in enumerate(model.proctypes) if p.name in started]
    slots = [
        {number}
        for number, proctype in enumerate(model.proctypes)
        for _ in range(proctype.active)
    ]
    while len(slots) < n_slots and runnable:
        slots.append(set())
    for slot in slots[1:]:
        slot |= set(runnable)
    return Plan(tuple(tuple(sorted(slot)) for slot in slots), ending=ending)
