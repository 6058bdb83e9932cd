"""Sending and receiving: the ways in which a statement about a channel is executed.

A channel with a buffer is a length and cells, which a message changes at once.  One
that sorts puts a message in front of the first that is not smaller; one that receives
anywhere takes the oldest message that fits.  Without a buffer, who sends and who
receives are paired later (`ltlpipe.systems.programs.program.Program.actions`).

A ``trace`` or ``notrace`` is an automaton that follows what channels are used for.  Its
place is a variable of the program.  A message that is sent or received, over a channel
that the trace names in that direction, moves it along the statement that fits.  If none
fits, that is a failure of a ``trace``, and the end of a ``notrace``, which fails where
it comes to its end by statements that fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.systems.programs.program import (
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
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Flow, leaving
from ltlpipe.systems.programs.promela.storage import GLOBAL
from ltlpipe.systems.programs.promela.syntax import nodes_in
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
        fits, ends = [], []
        for node in reversed(self.flow.nodes):
            for edge in reversed(list(leaving(node))):
                for condition in self._fitting(edge.step, channel, values, sends=sends):
                    here = all_of(
                        [equal(Read(self.event), Number(node.number)), condition]
                    )
                    fits.append(here)
                    if edge.target is self.flow.end:
                        ends.append(here)
                    target = Conditional(here, Number(edge.target.number), target)
        allowed = negated(any_of(ends)) if self.is_negated else any_of(fits)
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
    """Translates statements about channels."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        traces = [Tracing(self, c) for c in storage.model.claims if c.kind != "never"]
        self.trace = traces[0] if traces else None

    def _failing(self, fault: int) -> Assignment:
        return self._set(Read(self.storage.error), Number(fault))

    def _sent(self, step: syntax.Send, frame: Frame) -> list[Alternative]:
        """Return the ways of sending a message."""
        ways = []
        n_fields = len(step.values)
        for condition, number in self._usable(step.channel, n_fields, frame):
            channel = self.storage.channels[number]
            site_fields = self._fields(number)
            values = tuple(
                fitted(self.value(tree, frame), kind.bounds, self.storage)
                for tree, kind in zip(step.values, site_fields, strict=True)
            )
            message = Message(number, True, values)
            if not channel.capacity:
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
        return [*ways, *self._unusable(step.channel, n_fields, frame)]

    def _traced(
        self, channel: int, values: Sequence[Expression], *, sends: bool
    ) -> list[Assignment]:
        """Return what a message does to the place of a trace."""
        if self.trace is None:
            return []
        return self.trace.steps(channel, values, sends=sends)

    def _fields(self, channel: int) -> tuple[syntax.Type, ...]:
        for (_, site), own in self.storage.made.items():
            if channel in own:
                assert isinstance(site.initial, syntax.NewChannel)
                return site.initial.fields
        raise AssertionError

    def _usable(
        self, tree: syntax.Expression, n_fields: int, frame: Frame
    ) -> list[tuple[Expression, int]]:
        """Return the channels with some number of fields that `tree` can stand for."""
        found = self.channels(tree, frame)
        return [(c, n) for c, n in found if len(self._fields(n)) == n_fields]

    def _unusable(
        self, tree: syntax.Expression, n_fields: int, frame: Frame
    ) -> list[Alternative]:
        """Return the way that is an error: a variable that stands for none of them."""
        usable = self._usable(tree, n_fields, frame)
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
        for condition, number in self._usable(step.channel, n_fields, frame):
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
        return [*ways, *self._unusable(step.channel, n_fields, frame)]

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
