"""Expressions of Promela as expressions of a program, for one process of a slot."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import reduce
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs.program import (
    Assignment,
    Binary,
    Conditional,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
    folded,
)
from ltlpipe.systems.programs.promela import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.systems.programs.program import Expression
    from ltlpipe.systems.programs.promela.storage import Frame, Storage


_CHAIN = 16
"""Conditions beyond which what joins them is a balanced tree, not a deep one."""


def all_of(conditions: Iterable[Expression]) -> Expression:
    """Return the conjunction of conditions."""
    return _joined("&&", conditions, 1)


def any_of(conditions: Iterable[Expression]) -> Expression:
    """Return the disjunction of conditions."""
    return _joined("||", conditions, 0)


def _joined(op: str, conditions: Iterable[Expression], neutral: int) -> Expression:
    found = [c for c in conditions if not _is_number(c, neutral)]
    if not found:
        return Number(neutral)
    if len(found) > _CHAIN:
        half = len(found) // 2
        found = [_joined(op, part, neutral) for part in (found[:half], found[half:])]
    return reduce(lambda a, b: folded(Binary(op, a, b)), found)


def _is_number(expression: Expression, truth: int) -> bool:
    return isinstance(expression, Number) and bool(expression.value) == bool(truth)


def negated(condition: Expression) -> Expression:
    """Return the opposite of a condition."""
    return folded(Unary("not", condition))


def equal(left: Expression, right: Expression) -> Expression:
    """Return whether two values are equal."""
    return folded(Binary("==", left, right))


def fitted(value: Expression, bounds: tuple[int, int], storage: Storage) -> Expression:
    """Return a value as a field with some bounds holds it."""
    low, high = bounds
    if isinstance(value, Number):
        return Number(low + (value.value - low) % (high - low + 1))
    if isinstance(value, (Read, Element)):
        first, last = storage.variables[value.first].bounds
        if low <= first and last <= high:
            return value
    if high - low >= (1 << 32) - 1:
        return value
    if not low:
        return Binary("&", value, Number(high))
    shifted = Binary("&", Binary("-", value, Number(low)), Number(high - low))
    return Binary("+", shifted, Number(low))


class Translator(ABC):
    """Translates expressions, whose names are those of a `Storage`.

    In them `run` has the value that the caller says.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage, self.model = storage, storage.model

    def value(
        self, tree: syntax.Expression, frame: Frame, started: int = 0
    ) -> Expression:
        """Return an expression for a process; `started` is what ``run`` is."""
        again = self.value
        if isinstance(tree, syntax.Number):
            return Number(tree.value)
        if isinstance(tree, syntax.Reference):
            return self._reference(tree, frame)
        if isinstance(tree, syntax.Special):
            return self._special(tree, frame)
        if isinstance(tree, syntax.Unary):
            op = "not" if tree.op == "!" else tree.op
            return folded(Unary(op, again(tree.operand, frame, started)))
        if isinstance(tree, syntax.Binary):
            left = again(tree.left, frame, started)
            return folded(Binary(tree.op, left, again(tree.right, frame, started)))
        if isinstance(tree, syntax.Conditional):
            test = again(tree.condition, frame, started)
            yes, no = again(tree.yes, frame, started), again(tree.no, frame, started)
            return folded(Conditional(test, yes, no))
        if isinstance(tree, syntax.Run):
            return Number(started)
        if isinstance(tree, syntax.RemoteLabel):
            return self._at(tree, frame)
        if isinstance(tree, syntax.RemoteVariable):
            return self._remote(tree, frame)
        if isinstance(tree, syntax.Call):
            return self.called(tree, frame)
        choices = []
        sends = isinstance(tree, syntax.Measure) and tree.name in ("full", "nfull")
        for condition, channel in self.channels(tree.channel, frame, sends=sends):
            if isinstance(tree, syntax.Measure):
                choices.append((condition, self._measured(tree.name, channel)))
            else:
                choices.append((condition, self._polled(tree, channel, frame)))
        # As in Spin, a channel that has not been initialised is an error.
        none: Expression = Binary("/", Number(0), Number(0))
        if isinstance(self.value(tree.channel, frame), Lookup):
            none = Number(0)  # an index out of range has failed before
        return self._chosen(choices, none)

    @abstractmethod
    def called(self, tree: syntax.Call, frame: Frame) -> Expression:
        """Return the value of a function of processes."""

    def _set(self, target: Read | Element, value: Expression) -> Assignment:
        return Assignment(target, value, self.storage.variables[target.first].bounds)

    def check(self, condition: Expression, fault: int) -> Assignment:
        """Return what makes a step fail unless a condition holds."""
        error = self.storage.error
        before = Read(error)
        value = Conditional(condition, Read(error), Number(fault))
        both = Conditional(before, Read(error), value)
        return Assignment(Read(error), both, self.storage.variables[error].bounds)

    def target(self, tree: syntax.Reference, frame: Frame) -> Read | Element | None:
        """Return what a statement writes to; None if nothing ever reads it."""
        variable = tree.variable
        if variable.hidden and variable not in self.storage.read:
            return None
        found = self._reference(tree, frame)
        if not isinstance(found, (Read, Element)):
            raise UnsupportedError(f"{tree.place}: {variable.name} cannot be set here")
        return found

    def _reference(
        self, tree: syntax.Reference, frame: Frame, owner: Frame | None = None
    ) -> Expression:
        """Return what is read; of another process the variable, not the indices."""
        storage, variable = self.storage, tree.variable
        owner = owner or frame
        indices = [self.value(index, frame) for index in tree.indices]
        constant = storage.constant(variable, owner)
        index = _flat(indices, variable.dimensions)
        if constant is not None:
            if index is None:
                return Number(constant[0])
            return folded(Lookup(constant, index))
        first = storage.address(variable, owner)
        if index is None:
            return Read(first)
        return folded(Element(first, variable.size, index))

    def _special(self, tree: syntax.Special, frame: Frame) -> Expression:
        storage = self.storage
        if tree.name == "_pid" and frame.slot >= 0:
            return Number(frame.slot)
        if tree.name == "_nr_pr":
            number: Expression = Number(0)
            for state in storage.states:
                number = Binary("+", number, Binary("!=", Read(state), Number(0)))
            return number
        if tree.name == "timeout" and storage.timeout >= 0:
            return Read(storage.timeout)
        if tree.name == "_last" and storage.last >= 0:
            return Read(storage.last)
        if tree.name == "np_":
            return negated(any_of(self.at_labels("progress")))
        raise UnsupportedError(f"{tree.place}: {tree.name} has no value here")

    def at_labels(self, prefix: str) -> Iterator[Expression]:
        """Yield for each place with a label of a kind whether a process is there."""
        for frame, offset in self.storage.offsets.items():
            flow = self.storage.flows[frame.proctype]
            nodes = {n for name, n in flow.labels.items() if name.startswith(prefix)}
            numbers = sorted(n.number for n in nodes if n.number > 0)
            for number in numbers:
                state = Read(self.storage.states[frame.slot])
                yield equal(state, Number(offset + number))

    def _frames(self, proctype: str) -> Iterator[Frame]:
        for frame in self.storage.offsets:
            if self.storage.model.proctypes[frame.proctype].name == proctype:
                yield frame

    def alive(self, frame: Frame) -> Expression:
        """Return whether a slot has a process of a proctype."""
        state, offset = self.storage.states[frame.slot], self.storage.offsets[frame]
        n_nodes = len(self.storage.flows[frame.proctype].nodes)
        if len(self.storage.plan.slots[frame.slot]) == 1:
            return Binary("!=", Read(state), Number(0))
        after = Binary(">", Read(state), Number(offset))
        return Binary("&&", after, Binary("<=", Read(state), Number(offset + n_nodes)))

    def _at(self, tree: syntax.RemoteLabel, frame: Frame) -> Expression:
        choices: list[Expression] = []
        older: list[Expression] = []
        for other in self._frames(tree.proctype):
            node = self.storage.flows[other.proctype].labels.get(tree.label)
            if node is None or node.number < 0:
                return Number(0)
            number = self.storage.offsets[other] + node.number
            state = Read(self.storage.states[other.slot])
            here = equal(state, Number(number))
            if tree.pid is not None:
                pid = self.value(tree.pid, frame)
                here = all_of([equal(pid, Number(other.slot)), here])
            else:  # as in Spin, that of the first that there is
                here = all_of([*older, here])
                older.append(negated(self.alive(other)))
            choices.append(here)
        return any_of(choices)

    def _remote(self, tree: syntax.RemoteVariable, frame: Frame) -> Expression:
        value: Expression = Number(0)
        for other in reversed(list(self._frames(tree.proctype))):
            here = self._reference(tree.reference, frame, other)
            tests: list[Expression] = []
            if tree.pid is not None:
                pid = self.value(tree.pid, frame)
                tests.append(equal(pid, Number(other.slot)))
            if tree.pid is None or isinstance(here, (Number, Lookup)):
                tests.append(self.alive(other))
            test = all_of(tests)
            value = folded(Conditional(test, here, value))
        return value

    def channels(
        self, tree: syntax.Expression, frame: Frame, *, sends: bool = False
    ) -> list[tuple[Expression, int]]:
        """Return the channels that an expression can name, and when it does.

        A condition fails if an index is out of range.  As in Spin, nobody `sends` over
        a channel of a process that has ended, which is empty to all others.
        """
        value = self.value(tree, frame)
        found = self.storage.channels_of(self.storage.sites.of(tree))
        if isinstance(value, Number):
            only = value.value - 1
            there = self._lasting(only, frame) if sends else Number(1)
            return [(there, only)] if only in found else []
        if isinstance(value, Lookup):
            identity = Lookup(tuple(range(value.size)), value.index)
            return [
                (Binary("==", identity, Number(i)), channel - 1)
                for i, channel in enumerate(value.values)
            ]
        # Every place has a node of its own.
        choices = []
        for channel in found:
            here = equal(self.value(tree, frame), Number(channel + 1))
            there = self._lasting(channel, frame) if sends else Number(1)
            choices.append((all_of([here, there]), channel))
        return choices

    def _lasting(self, channel: int, frame: Frame) -> Expression:
        """Return whether a channel is there; those of older processes are."""
        slot, site, _ = self.storage.origins[channel]
        if not 0 <= frame.slot < slot:
            return Number(1)
        assert site.proctype is not None
        return any_of(
            self.alive(f) for f in self._frames(site.proctype) if f.slot == slot
        )

    def _chosen(
        self,
        choices: Sequence[tuple[Expression, Expression]],
        none: Expression = Number(0),  # noqa: B008
    ) -> Expression:
        """Return the value whose condition holds; `none` if there is none."""
        value = none
        for condition, choice in reversed(choices):
            value = folded(Conditional(condition, choice, value))
        return value

    def _measured(self, name: str, channel: int) -> Expression:
        length, capacity = self.length(channel), self.storage.channels[channel].capacity
        if name == "len":
            return length
        # One without buffer is never full, as in Spin's manual and verifier.
        limit = (capacity or 1) if name in ("full", "nfull") else 0
        op = "==" if name in ("full", "empty") else "!="
        return folded(Binary(op, length, Number(limit)))

    def length(self, channel: int) -> Expression:
        """Return the number of messages in a channel."""
        made = self.storage.channels[channel]
        return Read(made.length) if made.capacity else Number(0)

    def _polled(self, tree: syntax.Poll, channel: int, frame: Frame) -> Expression:
        capacity = self.storage.channels[channel].capacity
        places = range(capacity if tree.anywhere else min(capacity, 1))
        return any_of(
            self.received(tree.arguments, channel, place, frame) for place in places
        )

    def received(
        self,
        arguments: Sequence[syntax.Argument],
        channel: int,
        place: int,
        frame: Frame,
    ) -> Expression:
        """Return whether a channel has a message at a place that fits arguments."""
        made = self.storage.channels[channel]
        conditions: list[Expression] = [
            folded(Binary(">", self.length(channel), Number(place)))
        ]
        for cell, argument in zip(made.cells, arguments, strict=False):
            match = self.match(argument, frame)
            if match is not None:
                conditions.append(Binary("==", Read(cell + place), match))
        return all_of(conditions)

    def match(self, argument: syntax.Argument, frame: Frame) -> Expression | None:
        """Return the value that a field must have; None if any will do."""
        if argument.kind != "match":
            return None
        assert argument.value is not None
        return self.value(argument.value, frame)


def _flat(
    indices: Sequence[Expression], dimensions: tuple[int, ...]
) -> Expression | None:
    """Return the number of an element; evaluating it fails out of range.

    That of an array of one dimension is tested by who uses it.
    """
    if not dimensions:
        return None
    if len(dimensions) == 1:
        return indices[0]
    terms: list[Expression] = []
    stride = math.prod(dimensions)
    for index, size in zip(indices, dimensions, strict=True):
        stride //= size
        values = tuple(i * stride for i in range(size))
        terms.append(folded(Lookup(values, index)))
    return reduce(lambda a, b: folded(Binary("+", a, b)), terms)
