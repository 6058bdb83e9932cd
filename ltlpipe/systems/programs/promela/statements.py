"""Statements of Promela: from the tree as it is written to the checked one.

``for`` and ``select`` become loops as in Spin: what comes before the loop stands before
its label and before its ``unless``.  A ``select`` of constants is a choice.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ltlpipe.systems.programs.promela.checking import (
    Expressions,
    constant,
    fields_of,
)
from ltlpipe.systems.programs.promela.declarations import declared
from ltlpipe.systems.programs.promela.formulas import written
from ltlpipe.systems.programs.promela.scopes import Labels
from ltlpipe.systems.programs.promela.syntax import (
    BYTE,
    Argument,
    Assert,
    Assign,
    Atomic,
    Binary,
    Break,
    Call,
    Choice,
    Condition,
    Declare,
    Else,
    Event,
    Goto,
    Labelled,
    Measure,
    NewChannel,
    Number,
    Print,
    Receive,
    Reference,
    Run,
    Send,
    Sequence,
    Special,
    Unless,
    Variable,
    nodes_in,
    with_statements,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.scopes import Scope
    from ltlpipe.systems.programs.promela.syntax import (
        Expression,
        Place,
        RemoteLabel,
        RemoteVariable,
        Statement,
    )

_ALTERNATIVES = (
    32  # values of a ``select`` that are alternatives, at most, and one more
)
_DEEPEST = 100  # statements inside each other
_SPECIAL = ("accept", "end", "progress")  # what labels with a meaning begin with


class Statements:
    """Checks the body of a proctype or of a claim."""

    def __init__(
        self,
        scope: Scope,
        remotes: list[RemoteLabel | RemoteVariable],
        kind: str = "proctype",
    ) -> None:
        self.scope = scope
        self.expressions = Expressions(scope, remotes)
        self.labels = Labels()
        self.kind = kind  # or "never" or "trace"
        self.loops: list[bool] = []  # of each around, whether it is in the same d_step
        self.depth = 0

    def body(self, node: Node) -> Sequence:
        """Return the checked body."""
        (sequence,) = node.parts
        self.scope.enter()
        self.scope.at_birth = True
        found = self.sequence(sequence)
        self.scope.leave()
        resolved = self.labels.resolved(found)
        return with_places(resolved, lambda label: label.startswith(_SPECIAL))  # type: ignore[no-any-return]

    def sequence(self, node: Node) -> Sequence:
        """Return checked statements, with those that declarations are."""
        self.depth += 1
        if self.depth > _DEEPEST:
            message = f"more than {_DEEPEST} statements inside each other"
            raise input_error(message, node.place)
        found: list[Statement] = []
        for part in node.parts:
            found += self.statements(part)
        self.depth -= 1
        return Sequence(node.place, tuple(found))

    def statements(self, node: Node) -> list[Statement]:
        """Return what a statement is: one, with what comes before it."""
        if node.kind == "declaration":
            return self.declaration(node)
        if node.kind == "exclusive":
            for part in node.parts[1:]:
                self.expressions.channel(part)
            return []
        if self.kind != "proctype":
            self._check_claim(node)
        found = getattr(self, f"_on_{node.kind}")(node)
        self.scope.at_birth = False
        return found if isinstance(found, list) else [found]

    def declaration(self, node: Node) -> list[Statement]:
        """Declare variables; return the steps that set them, if they are steps."""
        found: list[Statement] = []
        for symbol, part in declared(node, self.scope, self.expressions):
            if self.scope.at_birth:
                continue
            leaves = tuple(symbol.leaves.values())
            if any(isinstance(leaf.initial, NewChannel) for leaf in leaves):
                message = f"channel {symbol.name!r} is declared behind a statement or "
                message += "in a block, expected it at the beginning of the proctype"
                raise input_error(message, symbol.place)
            own = symbol.leaves.get(())  # none of a record
            if own is not None and isinstance(own.initial, tuple):
                message = f"values of array {symbol.name!r}, declared behind a "
                message += "statement, expected at the beginning of the proctype"
                raise input_error(message, symbol.place)
            found.append(Declare(part.place, leaves, part.text))
        return found

    def block(self, node: Node) -> Sequence:
        """Return the statements of a node with one sequence, in a block of its own."""
        found = self._scoped(node.parts[-1])
        if found.statements:
            self._refuse_label(found.statements[0], "a block")
        return found

    def _scoped(self, sequence: Node) -> Sequence:
        self.scope.enter()
        found = self.sequence(sequence)
        self.scope.leave()
        return found

    def _refuse_label(self, first: Statement, where: str) -> None:
        if isinstance(first, Labelled):
            message = (
                f"label {self.labels.written(first.label)!r} at the beginning of "
                f"{where}, expected it in front"
            )
            raise input_error(message, first.place)

    # What the rules of the grammar mean.

    _on_block = block

    def _on_assign(self, node: Node) -> Statement:
        target, value = node.parts
        if target.parts == ("_", None):
            return Print(node.place, "", (self.value(value),), node.text)
        if target.parts == ("_priority", None):
            self.scope.table.mentions.add("priority")
            pid = Special(node.place, "_pid")
            call = Call(node.place, "set_priority", (pid, self.value(value)))
            return Condition(node.place, call, node.text)
        if value.kind == "reference":
            self.expressions.leaves(value)  # for its messages
        return Assign(node.place, self.target(target), self.value(value), node.text)

    def target(self, node: Node) -> Reference:
        """Return a variable that is assigned to."""
        if node.parts[0] in ("_pid", "_nr_pr", "_last"):
            raise input_error(f"{node.parts[0]!r} cannot be assigned to", node.place)
        return self.expressions.variable(node)

    def value(self, node: Node) -> Expression:
        """Return the value of an assignment; a process can be run in it."""
        return self.expressions.expression(node)

    def _on_increment(self, node: Node) -> Assign:
        target, mark = node.parts
        return self._added(node.place, self.target(target), mark[0], node.text)

    def _added(
        self, place: Place, target: Reference, op: str = "+", text: str = ""
    ) -> Assign:
        value = Binary(place, op, target, Number(place, 1))
        return Assign(place, target, value, text or f"{written(target)}++")

    def _on_send(self, node: Node) -> Statement:
        reference, mark, messages = node.parts
        channel = self.expressions.channel(reference)
        if self.kind == "trace":
            return self._event(node, channel, sends=True)
        values = self.expressions.flat(messages.parts)
        self.expressions.check_fields(channel, len(values), node.place)
        return Send(node.place, channel, mark == "!!", values, node.text)

    def _on_receive(self, node: Node) -> Statement:
        reference, mark, *rest = node.parts
        channel = self.expressions.channel(reference)
        if self.kind == "trace":
            return self._event(node, channel, sends=False)
        found = self.expressions.arguments(rest[len(rest) // 2])
        self.expressions.check_fields(channel, len(found), node.place)
        stays = len(rest) > 1
        return Receive(node.place, channel, mark == "??", stays, found, node.text)

    def _event(self, node: Node, channel: Expression, *, sends: bool) -> Event:
        found = self.expressions.arguments(node.parts[-1])
        for argument in found:
            if argument.kind == "store":
                message = "expected a constant or '_' in a trace"
                raise input_error(message, argument.place)
        self.expressions.check_fields(channel, len(found), node.place)
        return Event(node.place, channel, sends, found, node.text)

    def _on_for(self, node: Node) -> list[Statement]:
        _, counter, low, high, sequence = node.parts
        target = self._counter(counter)
        begin, end = self.value(low), self.value(high)
        return self._loop(node, target, begin, "<=", end, sequence)

    def _counter(self, node: Node) -> Reference:
        target = self.target(node)
        if target.indices or target.variable.type.name == "chan":
            raise input_error("expected a variable that counts", node.place)
        return target

    def _on_for_in(self, node: Node) -> list[Statement]:
        _, item, container, sequence = node.parts
        symbol = self.scope.known.get(item.parts[0])
        path = tuple(item.parts[2::2])
        if symbol is not None and path not in symbol.leaves:
            return self._channel_loop(node, item, container, sequence)
        name, *_, is_indexed = container.parts
        array = self.scope.find(name, container.place)
        path = tuple(container.parts[2::2])
        leaf = next(
            (v for k, v in array.leaves.items() if k[: len(path)] == path), None
        )
        parts = leaf.form.split(".")[: 1 + len(path)] if leaf is not None else [name]
        is_array = [part.endswith("[{}]") for part in parts]
        if leaf is None or is_indexed is not None or not is_array[-1]:
            raise input_error("expected the name of an array", container.place)
        size = leaf.dimensions[sum(is_array) - 1]
        zero, last = (Number(node.place, n) for n in (0, size - 1))
        return self._loop(node, self._counter(item), zero, "<=", last, sequence)

    def _channel_loop(
        self, node: Node, item: Node, container: Node, sequence: Node
    ) -> list[Statement]:
        """Return the loop over the messages of a channel, which are rotated."""
        place = node.place
        source = self.expressions.channel(container)
        fields = self.expressions.leaves(item)
        known = fields_of(source)
        if known is None or known != len(fields):
            message = "expected a channel whose messages are records of this type"
            raise input_error(message, container.place)
        counter = Variable(
            place,
            self.scope.unique("_f0r", place),
            BYTE,
            proctype=self.scope.owner,
        )
        self.scope.variables.append(counter)
        stored = tuple(Argument(place, "store", value) for value in fields)
        name, text = written(source), ",".join(map(written, fields))
        rotation: list[Statement] = [
            Receive(place, source, False, False, stored, f"{name}?{text}"),
            Send(place, source, False, tuple(fields), f"{name}!{text}"),
        ]
        target = Reference(place, counter)
        zero, end = Number(place, 0), Measure(place, "len", source)
        return self._loop(node, target, zero, "<", end, sequence, rotation)

    def _loop(
        self,
        node: Node,
        target: Reference,
        begin: Expression,
        op: str,
        end: Expression,
        sequence: Node,
        before: list[Statement] | None = None,
    ) -> list[Statement]:
        place = node.place
        within = self._within_loop(lambda: self._scoped(sequence))
        body = (
            self._condition(Binary(place, op, target, end)),
            *(before or ()),
            *within.statements,
            self._added(place, target),
        )
        leave = Sequence(place, (Else(place), Break(place)))
        loop = Choice(place, True, (Sequence(place, body), leave))
        return [self._set(target, begin), loop]

    def _set(self, target: Reference, value: Expression) -> Assign:
        text = f"{written(target)} = {written(value)}"
        return Assign(value.place, target, value, text)

    def _condition(self, expression: Expression) -> Condition:
        return Condition(expression.place, expression, written(expression))

    def _within_loop(self, body: Any) -> Any:
        self.loops.append(True)
        found = body()
        self.loops.pop()
        return found

    def _on_select(self, node: Node) -> list[Statement]:
        _, counter, low, high = node.parts
        place = node.place
        target = self._counter(counter)
        begin, end = self.value(low), self.value(high)
        least, most = constant(begin), constant(end)
        if least is not None and most is not None and least > most:
            raise input_error(f"no value from {least} to {most}", place)
        at_once = node.kind == "choose"
        if at_once and most - least <= _ALTERNATIVES:  # type: ignore[operator]
            values = range(least, most + 1)  # type: ignore[arg-type,operator]
            options = (self._set(target, Number(place, value)) for value in values)
            sequences = tuple(Sequence(place, (option,)) for option in options)
            return [Choice(place, False, sequences)]
        step = Sequence(
            place,
            (
                self._condition(Binary(place, "<", target, end)),
                self._added(place, target),
            ),
        )
        leave = Sequence(place, (Break(place),))
        options_ = (step, leave) if at_once else (leave, step)
        return [self._set(target, begin), Choice(place, True, options_)]

    _on_choose = _on_select

    def _on_if(self, node: Node) -> Choice:
        options = [self.option(part) for part in node.parts[1:-1]]
        return self._choice(node, options, repeats=False)

    def _on_do(self, node: Node) -> Choice:
        options = self._within_loop(
            lambda: [self.option(part) for part in node.parts[1:-1]]
        )
        return self._choice(node, options, repeats=True)

    def option(self, node: Node) -> Sequence:
        """Return one alternative; it is no block of its own."""
        self.scope.at_birth = False
        found = self.sequence(node.parts[0])
        if not found.statements:
            raise input_error("expected a statement", node.place)
        self._refuse_label(found.statements[0], "an alternative")
        statements = found.statements
        if self.kind == "proctype":
            statements = _without_skips(statements)
        return Sequence(node.place, statements)

    def _choice(self, node: Node, options: list[Sequence], *, repeats: bool) -> Choice:
        firsts = [option.statements[0] for option in options]
        elses = [first for first in firsts if isinstance(first, Else)]
        if len(elses) > 1:
            raise input_error("a second 'else'", elses[1].place)
        if elses and any(map(_tests_messages, firsts)):
            raise input_error(
                "'else' beside a send, a receive or a test such as full(q), "
                "expected tests such as len(q) > 0",
                elses[0].place,
            )
        for option in options:
            self._refuse_else(option.statements[1:])
        return Choice(node.place, repeats, tuple(options))

    @staticmethod
    def _refuse_else(statements: Any) -> None:
        for statement in statements:
            if isinstance(statement, Else):
                message = "'else' can only begin an alternative of 'if' or 'do'"
                raise input_error(message, statement.place)

    def _on_break(self, node: Node) -> Break:
        if not self.loops:
            raise input_error("'break' outside of a loop", node.place)
        if not self.loops[-1]:
            raise input_error("'break' out of a d_step", node.place)
        return Break(node.place)

    def _on_goto(self, node: Node) -> Goto:
        label = self.labels.used(node.parts[1], self.scope.block, node.place)
        return Goto(node.place, label, node.text)

    def _on_labelled(self, node: Node) -> list[Statement]:
        name, *inner = node.parts
        if name in self.scope.known or name in self.scope.table.constants:
            message = f"label {name!r} is called like a variable or constant"
            raise input_error(message, node.place)
        label = self.labels.declared(name, self.scope.block, node.place)
        if not inner:
            skip = Condition(node.place, Number(node.place, 1), "skip")
            return [Labelled(node.place, label, skip)]
        *before, statement = self.statements(inner[0])
        return [*before, Labelled(node.place, label, statement)]

    def _on_set_priority(self, node: Node) -> Condition:
        _, pid, priority = node.parts
        self.scope.table.mentions.add("priority")
        values = self.value(pid), self.value(priority)
        return Condition(
            node.place, Call(node.place, "set_priority", values), node.text
        )

    def _on_print(self, node: Node) -> Print:
        _, text, *values = node.parts
        found = self.expressions.several(values)
        return Print(node.place, text, found, node.text)

    def _on_print_mtype(self, node: Node) -> Print:
        value = self.value(node.parts[1])
        return Print(node.place, '"%e"', (value,), node.text)

    def _on_assert(self, node: Node) -> Assert:
        return Assert(node.place, self.value(node.parts[1]), node.text)

    def _on_condition(self, node: Node) -> Condition:
        expression = self.value(node.parts[0])
        if not isinstance(expression, Run) and _runs(expression):
            message = "'run' within an expression, expected it alone"
            raise input_error(message, node.place)
        return Condition(node.place, expression, node.text)

    def _on_else(self, node: Node) -> Else:
        return Else(node.place)

    def _on_atomic(self, node: Node) -> Atomic:
        return Atomic(node.place, False, self.block(node))

    def _on_d_step(self, node: Node) -> Atomic:
        if self.labels.step:
            return Atomic(node.place, True, self.block(node))
        self.loops.append(False)
        self.labels.enter_step()
        found = self.block(node)
        self.labels.step = 0
        self.loops.pop()
        for inner in nodes_in(found):
            if isinstance(inner, Run):
                raise input_error("'run' in a d_step", inner.place)
        return Atomic(node.place, True, found)

    def _on_unless(self, node: Node) -> list[Statement]:
        body, _, escape = node.parts
        if self.labels.step:
            raise input_error("'unless' in a d_step", node.place)
        *before, first = self.statements(body)
        *setting, last = self.statements(escape)
        before += setting
        label = None
        if isinstance(first, Labelled):
            if not isinstance(first.statement, (Sequence, Atomic)):
                self._refuse_label(first, "'unless'")
            label, first = first, first.statement
        self._refuse_label(last, "an escape")
        found: Statement = Unless(node.place, _sequence(first), _sequence(last))
        if label is not None:
            found = Labelled(label.place, label.label, found)
        return [*before, found]

    # Claims.

    def _check_claim(self, node: Node) -> None:
        allowed = {"labelled", "if", "do", "break", "goto", "else", "block", "unless"}
        if self.kind == "trace":
            allowed |= {"send", "receive"}
        else:
            allowed |= {"condition", "assert", "atomic", "d_step", "print"}
        if node.kind not in allowed:
            expected = "sends and receives" if self.kind == "trace" else "tests"
            message = f"expected {expected} only in a {self.kind} claim"
            raise input_error(message, node.place)


def with_places(statement: Any, spoken_of: Callable[[str], bool]) -> Any:
    """Return a body in which labels that are `spoken_of` are places of their own.

    Where such a label, or one beside it, is that of a jump, it gets a ``skip``.
    """
    if not isinstance(statement, Sequence):
        return with_statements(statement, lambda inner: with_places(inner, spoken_of))
    parts: list[Statement] = []
    for part in statement.statements:
        labelled, inner = [], part
        while isinstance(inner, Labelled):
            labelled.append(inner)
            inner = inner.statement
        if isinstance(inner, (Goto, Break)) and any(
            spoken_of(outer.label) for outer in labelled
        ):
            skip: Statement = Condition(part.place, Number(part.place, 1), "skip")
            for outer in reversed(labelled):
                skip = replace(outer, statement=skip)
            parts += [skip, inner]
        else:
            parts.append(with_places(part, spoken_of))
    return replace(statement, statements=tuple(parts))


def _sequence(statement: Statement) -> Sequence:
    if isinstance(statement, Sequence):
        return statement
    return Sequence(statement.place, (statement,))


def _runs(expression: Any) -> bool:
    return any(isinstance(part, Run) for part in nodes_in(expression))


def _without_skips(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Leave out what Spin leaves out of an alternative.

    It is ``skip`` behind another one or a `Print`, unless it is the last statement.
    """
    kept = list(statements[:1])
    for before, statement in pairwise(statements[:-1]):
        if not (
            _is_skip(statement) and (isinstance(before, Print) or _is_skip(before))
        ):
            kept.append(statement)
    return (*kept, *statements[1:][-1:])


def _is_skip(statement: Statement) -> bool:
    return (
        isinstance(statement, Condition)
        and isinstance(statement.expression, Number)
        and statement.expression.value == 1
    )


def _tests_messages(statement: Statement) -> bool:
    """Whether a statement is a send or a receive, or tests a channel otherwise."""
    if isinstance(statement, (Send, Receive, Event)):
        return True
    if not isinstance(statement, (Condition, Assign, Assert)):
        return False
    return any(
        isinstance(part, Measure) and part.name != "len" for part in nodes_in(statement)
    )
