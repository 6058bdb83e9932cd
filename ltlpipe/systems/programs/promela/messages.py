"""Execution of statements about channels, and executability of all statements.

A channel with a buffer is a length and cells, which a message changes at once.  One
that sorts puts a message in front of the first that is not smaller; one that receives
anywhere takes the oldest message that fits.  Without a buffer, who sends and who
receives are paired later (`ltlpipe.systems.programs.program.Program.actions`).

A ``trace`` or ``notrace`` is an automaton that follows what channels are used for.  Its
place is a variable of the program.  A message that is sent or received, over a channel
that the trace names in that direction, moves it along the statement that fits.  If none
fits, that is a failure of a ``trace``, and the end of a ``notrace``, which fails where
it comes to its end by statements that fit.

Whether statements can be executed (``else``, ``unless``, ``provided``, priorities) are
conditions about what else is possible, in the state that a step leaves.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.systems.programs.program import (
    D_STEP,
    IN_D_STEP,
    NO_CHANNEL,
    TRACE,
    Assignment,
    Binary,
    Conditional,
    Element,
    Lookup,
    Message,
    Number,
    Read,
    Transition,
    buffered,
    fitting,
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Edge, Flow, Node, escaping, leaving
from ltlpipe.systems.programs.promela.storage import GLOBAL
from ltlpipe.systems.programs.promela.syntax import nodes_in
from ltlpipe.systems.programs.promela.tokens import input_error
from ltlpipe.systems.programs.promela.translation import (
    Translator,
    all_of,
    any_of,
    equal,
    fitted,
    negated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.systems.programs.program import Expression
    from ltlpipe.systems.programs.promela.storage import Frame, Storage


class Tracing:
    """The automaton of a trace."""

    def __init__(self, lowering: Translator, claim: syntax.Claim) -> None:
        self.lowering = lowering
        self.is_negated = claim.kind == "notrace"
        self.flow = Flow(claim.body)
        self.event = lowering.storage.event
        self._scope = {
            (channel, node.sends)
            for node in nodes_in(claim.body)
            if isinstance(node, syntax.Event)
            for _, channel in lowering.channels(node.channel, GLOBAL)
        }

    def steps(
        self, channel: int, values: Sequence[Expression], *, sends: bool
    ) -> list[Assignment]:
        """Return what a message does to the automaton: assignments, at once."""
        if (channel, sends) not in self._scope:
            return []
        lowering = self.lowering
        end = self.flow.end.number if self.flow.end.number > 0 else 0
        target: Expression = Number(end)
        fits, ends, doubts = [], [], []
        for node in reversed(self.flow.nodes):
            others: list[Expression] = []
            for edge in reversed(list(leaving(node))):
                for condition in self._fitting(edge.step, channel, values, sends=sends):
                    here = all_of(
                        [equal(Read(self.event), Number(node.number)), condition]
                    )
                    fits.append(here)
                    if edge.target is self.flow.end:
                        ends.append(here)
                    doubts += [all_of([here, other]) for other in others]
                    others.append(condition)
                    target = Conditional(here, Number(edge.target.number), target)
        allowed = negated(any_of(ends)) if self.is_negated else any_of(fits)
        allowed = all_of([allowed, negated(any_of(doubts))])
        bounds = lowering.storage.variables[self.event].bounds
        moved = Assignment(Read(self.event), target, bounds)
        return [lowering.check(allowed, TRACE), moved]

    def _fitting(
        self,
        step: syntax.Step,
        channel: int,
        values: Sequence[Expression],
        *,
        sends: bool,
    ) -> Iterator[Expression]:
        """Yield when a statement of the trace fits a message."""
        if not isinstance(step, syntax.Event) or step.sends != sends:
            return
        for condition, number in self.lowering.channels(step.channel, GLOBAL):
            if number == channel:
                yield all_of([condition, *self._matches(step.arguments, values)])

    def _matches(
        self, parts: Sequence[syntax.Argument], values: Sequence[Expression]
    ) -> Iterator[Expression]:
        for part, value in zip(parts, values, strict=False):
            match = self.lowering.match(part, GLOBAL)
            if match is not None:
                yield Binary("==", value, match)


class Alternative(NamedTuple):
    """One of the ways in which a statement can be executed."""

    conditions: tuple[Expression, ...] = ()
    exchange: tuple[Assignment, ...] = ()  # at once
    effects: tuple[Assignment, ...] = ()  # one after the other
    message: Message | None = None  # over a channel without buffer
    start: Transition | None = None


class Messages(Translator):
    """Translates statements about channels, and what statements need."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        traces = [Tracing(self, c) for c in storage.model.claims if c.kind != "never"]
        self.trace = traces[0] if traces else None
        self._being_asked: list[Frame] = []
        """For which ``enabled`` is being translated, outermost first."""
        self._levels = _priorities(storage.model)
        self._could: dict[Frame, Expression] = {}
        self._barring: dict[tuple[Frame, ...], Expression] = {}
        self._may: dict[Frame, list[Expression]] = {}
        """Whether processes could move, and may: one tree for all that look at it."""

    def _failing(self, fault: int) -> Assignment:
        return self._set(Read(self.storage.error), Number(fault))

    def _sent(self, step: syntax.Send, frame: Frame, level: int) -> list[Alternative]:
        """Return the ways of sending a message."""
        ways = []
        n_fields = len(step.values)
        for condition, number in self._usable(
            step.channel, n_fields, frame, sends=True
        ):
            channel = self.storage.channels[number]
            site_fields = self.storage.fields[number]
            values = tuple(
                fitted(self.value(tree, frame), kind.bounds, self.storage)
                for tree, kind in zip(step.values, site_fields, strict=True)
            )
            message = Message(number, True, values)
            if not channel.capacity and level == D_STEP:  # whoever waits for it
                failing = self._failing(IN_D_STEP)
                ways.append(Alternative((condition,), effects=(failing,)))
            elif not channel.capacity:
                effects = [
                    assignment
                    for sends in (True, False)  # of both that move, here
                    for assignment in self._traced(number, values, sends=sends)
                ]
                way = Alternative((condition,), (), tuple(effects), message)
                ways.append(way)
            elif step.sorted:
                ways += self._sorted(condition, number, values)
            else:
                room, exchange = buffered(channel, message, self.storage.variables)
                exchange += (*self._traced(number, values, sends=True),)
                ways.append(Alternative((condition, room), exchange))
        return [*ways, *self._unusable(step.channel, n_fields, frame, sends=True)]

    def _traced(
        self, channel: int, values: Sequence[Expression], *, sends: bool
    ) -> list[Assignment]:
        """Return what a message does to the place of a trace."""
        if self.trace is None:
            return []
        return self.trace.steps(channel, values, sends=sends)

    def _usable(
        self, tree: syntax.Expression, n_fields: int, frame: Frame, *, sends: bool
    ) -> list[tuple[Expression, int]]:
        """Return the channels with some number of fields that `tree` can stand for."""
        found = self.channels(tree, frame, sends=sends)
        return [(c, n) for c, n in found if len(self.storage.fields[n]) == n_fields]

    def _unusable(
        self, tree: syntax.Expression, n_fields: int, frame: Frame, *, sends: bool
    ) -> list[Alternative]:
        """Return the way that is an error: a variable that stands for none of them."""
        usable = self._usable(tree, n_fields, frame, sends=sends)
        value = self.value(tree, frame)
        if isinstance(value, Lookup) and len(usable) == value.size:
            return []
        none = negated(any_of(condition for condition, _ in usable))
        if isinstance(none, Number) and not none.value:
            return []
        return [Alternative((none,), effects=(self._failing(NO_CHANNEL),))]

    def _sorted(
        self, condition: Expression, number: int, values: tuple[Expression, ...]
    ) -> Iterator[Alternative]:
        """Yield for each place of a channel the way to put a message there.

        It is the place of the first message that is not smaller.
        """
        channel = self.storage.channels[number]
        for place in range(channel.capacity):
            conditions = [
                condition,
                Binary("<", self.length(number), Number(channel.capacity)),
                Binary(">=", self.length(number), Number(place)),
            ]
            conditions += [self._smaller(number, p, values) for p in range(place)]
            last = equal(self.length(number), Number(place))
            rest = negated(self._smaller(number, place, values))
            conditions.append(any_of([last, rest]))
            exchange = []
            for cell, value in zip(channel.cells, values, strict=True):
                exchange.append(self._set(Read(cell + place), value))
                for k in range(place + 1, channel.capacity):
                    exchange.append(self._set(Read(cell + k), Read(cell + k - 1)))
            longer = Binary("+", Read(channel.length), Number(1))
            exchange.append(self._set(Read(channel.length), longer))
            exchange += self._traced(number, values, sends=True)
            yield Alternative(tuple(conditions), tuple(exchange))

    def _smaller(
        self, number: int, place: int, values: tuple[Expression, ...]
    ) -> Expression:
        """Return whether the message at a place is smaller than another one."""
        cells = self.storage.channels[number].cells
        result: Expression = Number(0)
        for cell, value in reversed(list(zip(cells, values, strict=True))):
            less = Binary("<", Read(cell + place), value)
            same = Binary("==", Read(cell + place), value)
            result = any_of([less, all_of([same, result])])
        return result

    def _received(self, step: syntax.Receive, frame: Frame) -> list[Alternative]:
        """Return the ways of receiving a message."""
        ways = []
        n_fields = len(step.arguments)
        for condition, number in self._usable(
            step.channel, n_fields, frame, sends=False
        ):
            channel = self.storage.channels[number]
            if not channel.capacity:
                matches = tuple(self.match(a, frame) for a in step.arguments)
                targets = tuple(self._stored(a, frame) for a in step.arguments)
                message = Message(number, False, targets, matches)
                ways.append(Alternative((condition,), message=message))
                continue
            before: list[Expression] = []
            for place in range(channel.capacity if step.anywhere else 1):
                fits = self.received(step.arguments, number, place, frame)
                conditions = (condition, *before, fits)
                exchange = self._taken(step, number, place, frame)
                ways.append(Alternative(conditions, tuple(exchange)))
                again = self.received(step.arguments, number, place, frame)
                before.append(negated(again))
        return [*ways, *self._unusable(step.channel, n_fields, frame, sends=False)]

    def _stored(self, argument: syntax.Argument, frame: Frame) -> Read | Element | None:
        if argument.kind != "store":
            return None
        assert isinstance(argument.value, syntax.Reference)
        return self.target(argument.value, frame)

    def _taken(
        self, step: syntax.Receive, number: int, place: int, frame: Frame
    ) -> Iterator[Assignment]:
        """Yield what taking the message at a place of a channel does."""
        channel = self.storage.channels[number]
        if not step.stays:
            values = [Read(cell + place) for cell in channel.cells]
            yield from self._traced(number, values, sends=False)
        targets = tuple(self._stored(a, frame) for a in step.arguments)
        message = Message(number, False, targets)
        variables = self.storage.variables
        yield from buffered(channel, message, variables, place, stays=step.stays)[1]

    # Executability

    @abstractmethod
    def _ways(self, frame: Frame, node: Node, edge: Edge) -> list[Alternative]:
        """Return in what ways a statement can be executed."""

    @abstractmethod
    def _ended(self, frame: Frame) -> Alternative:
        """Return how a process ends."""

    def _allowed(self, frame: Frame) -> list[Expression]:
        """Return when the process of a slot may move at all."""
        if frame in self._may:
            return self._may[frame]
        allowed, first = list(self._provided(frame)), self.storage.priorities
        above = []
        for other in self.higher(frame):
            if self._levels[other.proctype][0] > self._levels[frame.proctype][1]:
                above.append(other)
                continue
            higher = Binary(">", Read(first + other.slot), Read(first + frame.slot))
            allowed.append(negated(all_of([higher, self._could_move(other)])))
        if above:  # the same for all that these are above
            if (key := tuple(above)) not in self._barring:
                self._barring[key] = negated(any_of(map(self._could_move, above)))
            allowed.append(self._barring[key])
        return self._may.setdefault(frame, allowed)

    def _could_move(self, frame: Frame) -> Expression:
        if frame not in self._could:
            could = all_of([*self._provided(frame), self._enabled(frame)])
            self._could[frame] = could
        return self._could[frame]

    def higher(self, frame: Frame) -> list[Frame]:
        """Return who might have a higher priority than the process of a slot."""
        if self.storage.priorities < 0:
            return []
        low, _ = self._levels[frame.proctype]
        return [
            other
            for other in self.storage.offsets
            if other.slot != frame.slot and self._levels[other.proctype][1] > low
        ]

    def _provided(self, frame: Frame) -> list[Expression]:
        provided = self.model.proctypes[frame.proctype].provided
        return [] if provided is None else [self.value(provided, frame)]

    def _enabled(self, frame: Frame) -> Expression:
        """Return whether a slot's process could move by itself, as Spin tests it.

        A message without buffer can be sent then, whoever waits for it.
        """
        storage = self.storage
        flow, offset = storage.flows[frame.proctype], storage.offsets[frame]
        state, ways = storage.states[frame.slot], []
        for node in flow.nodes:
            found = [
                all_of([*self._unescaped(frame, edge), *way.conditions])
                for edge in leaving(node)
                for way in self._ways(frame, node, edge)
                if way.message is None or way.message.sends
            ]
            if node is flow.end:
                found.append(all_of(self._ended(frame).conditions))
            here = equal(Read(state), Number(offset + node.number))
            ways.append(all_of([here, any_of(found)]))
        return any_of(ways)

    def called(self, tree: syntax.Call, frame: Frame) -> Expression:
        """Return the value of a function of processes."""
        storage = self.storage
        pid = self.value(tree.arguments[0], frame)
        if tree.name == "get_priority":
            if storage.priorities < 0:
                return Number(1)
            n_slots = len(storage.states)
            priority = Element(storage.priorities, n_slots, pid)
            return Conditional(self._is_slot(tree, frame), priority, Number(0))
        if tree.name == "set_priority":
            return Number(1)
        values: list[tuple[Expression, Expression]] = []
        for other, offset in storage.offsets.items():
            here = equal(self.value(tree.arguments[0], frame), Number(other.slot))
            if isinstance(here, Number) and not here.value:
                continue
            if tree.name == "enabled":
                # As in Spin, a process that asks for itself is an error.
                none = Binary("/", Number(0), Number(0))
                values.append(
                    (here, none if other == frame else self._asked(tree, other))
                )
            else:
                place = Binary("-", Read(storage.states[other.slot]), Number(offset))
                values.append((all_of([here, self.alive(other)]), place))
        if tree.name == "enabled":
            return any_of(all_of(pair) for pair in values)
        return self._chosen(values)

    def _asked(self, tree: syntax.Call, frame: Frame) -> Expression:
        """Return ``enabled(p)``, unless that depends on itself."""
        if frame in self._being_asked:
            message = "whether the process is enabled depends on this 'enabled' itself"
            raise input_error(message, tree.place)
        self._being_asked.append(frame)
        try:
            return self._enabled(frame)
        finally:
            self._being_asked.pop()

    def _is_slot(self, tree: syntax.Call, frame: Frame) -> Expression:
        pid, again = (self.value(tree.arguments[0], frame) for _ in range(2))
        n_slots = Number(len(self.storage.states))
        return all_of([Binary(">=", pid, Number(0)), Binary("<", again, n_slots)])

    def _reset(self, tree: syntax.Expression, frame: Frame) -> list[Assignment]:
        """Return the assignments that ``set_priority`` is."""
        calls = [
            node
            for node in nodes_in(tree)
            if isinstance(node, syntax.Call) and node.name == "set_priority"
        ]
        effects = []
        for call in calls:
            for slot, state in enumerate(self.storage.states):
                pid, value = (self.value(a, frame) for a in call.arguments)
                here = all_of(
                    [equal(pid, Number(slot)), Binary("!=", Read(state), Number(0))]
                )
                target = Read(self.storage.priorities + slot)
                chosen = Conditional(here, value, Read(target.variable))
                effects.append(self._set(target, chosen))
        return effects

    def _unescaped(self, frame: Frame, edge: Edge) -> list[Expression]:
        """Return that no escape from a statement can be executed."""
        return [negated(self._can_leave(frame, begin)) for begin in escaping([edge])]

    def _taking(
        self, frame: Frame, edge: Edge, message: Message
    ) -> tuple[tuple[Expression, tuple[Expression | None, ...]], ...]:
        """Return when escapes take a message in place of a statement, and which."""
        return tuple(
            (all_of(way.conditions), way.message.matches)
            for begin in escaping([edge])
            for other in begin.edges
            if isinstance(other.step, syntax.Receive)
            for way in self._received(other.step, frame)
            if way.message is not None and way.message.channel == message.channel
        )

    def _preferred(self, frame: Frame, node: Node, edge: Edge) -> list[Expression]:
        """Return that no statement can be executed that comes before this one."""
        if not edge.rivals or isinstance(edge.step, syntax.Else):
            return []
        return [negated(self._can_leave(frame, node, edge.rivals))]

    def _can_leave(
        self, frame: Frame, node: Node, edges: Sequence[Edge] | None = None
    ) -> Expression:
        """Return whether a statement at a place, or one of some, can be executed."""
        some = node.edges if edges is None else edges
        return any_of(self._executable(frame, node, edge) for edge in some)

    def _executable(self, frame: Frame, node: Node, edge: Edge) -> Expression:
        if edge.starts and self.storage.plan.ending:  # others end before
            return Number(1)
        return any_of(
            all_of([*way.conditions, self._paired(frame, way.message)])
            for way in self._ways(frame, node, edge)
        )

    def _paired(self, frame: Frame, message: Message | None) -> Expression:
        """Return whether another process waits for a message that is sent."""
        if message is None:
            return Number(1)
        if not message.sends:
            return Number(0)
        ready = []
        for other, offset in self.storage.offsets.items():
            if other.slot == frame.slot:
                continue
            flow = self.storage.flows[other.proctype]
            state = self.storage.states[other.slot]
            for node in flow.nodes:
                for edge in leaving(node):
                    if not isinstance(edge.step, syntax.Receive):
                        continue
                    here = equal(Read(state), Number(offset + node.number))
                    for way in self._received(edge.step, other):
                        checks = fitting(message, way.message)
                        if checks is not None:
                            some = (*self._allowed(other), *way.conditions, *checks)
                            ready.append(all_of([here, *some]))
        return any_of(ready)


def _priorities(model: syntax.Model) -> list[tuple[int, int]]:
    """Return the least and the highest priority of each proctype's processes."""
    nodes = list(nodes_in(model.proctypes))
    if any(isinstance(n, syntax.Call) and n.name == "set_priority" for n in nodes):
        return [(0, 255)] * len(model.proctypes)
    levels = {p.name: {p.priority or 1} if p.active else set() for p in model.proctypes}
    for node in nodes:
        if isinstance(node, syntax.Run):
            levels[node.proctype].add(node.priority or 1)
    return [(min(found, default=1), max(found, default=1)) for found in levels.values()]
