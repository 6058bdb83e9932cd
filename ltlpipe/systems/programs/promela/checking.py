"""Expressions of Promela: from the tree as it is written to the checked one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs import program
from ltlpipe.systems.programs.program import wrapped
from ltlpipe.systems.programs.promela.syntax import (
    CHAN,
    Argument,
    Binary,
    Call,
    Conditional,
    Measure,
    Number,
    Poll,
    Reference,
    RemoteLabel,
    RemoteVariable,
    Run,
    Special,
    Unary,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.scopes import Scope, Symbol, Table
    from ltlpipe.systems.programs.promela.syntax import Expression, Place

MAX_DEPTH = 200
"""Operators inside each other in one expression."""

_TRUTHS = {"true": 1, "skip": 1, "false": 0}
_TEMPORAL = {"[]", "<>", "X", "next", "always", "eventually"}
_TEMPORAL |= {"U", "V", "W", "R", "until", "stronguntil", "weakuntil", "release"}
_TEMPORAL |= {"<->", "implies", "equivalent"}
_C = {"/\\": "&&", "\\/": "||"}


class Expressions:
    """Checks expressions in a scope."""

    def __init__(
        self, scope: Scope, remotes: list[RemoteLabel | RemoteVariable]
    ) -> None:
        self.scope = scope
        self.table: Table = scope.table
        self.remotes = remotes  # what is looked up when all proctypes are known
        self.depth = 0

    def expression(self, node: Node) -> Expression:
        """Return a checked expression.

        Raises
        ------
        InputError
            A name means nothing, or something else than is expected.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} operators inside each other"
            raise input_error(message, node.place)
        found: Expression = getattr(self, node.kind)(node)
        self.depth -= 1
        return found

    def several(self, nodes: Iterable[Node | None]) -> tuple[Expression, ...]:
        """Return checked expressions of those nodes that are there."""
        return tuple(self.expression(node) for node in nodes if node is not None)

    def flat(self, nodes: Iterable[Node]) -> tuple[Expression, ...]:
        """Return the values of messages and arguments; a record has one per field."""
        values: list[Expression] = []
        for node in nodes:
            if node.kind == "reference":
                values += self.leaves(node)
            else:
                values.append(self.expression(node))
        return tuple(values)

    # What the rules of the grammar mean.

    def number(self, node: Node) -> Number:
        """Return a constant; it is as wide as ``int``."""
        (text,) = node.parts
        if text in _TRUTHS:
            return Number(node.place, _TRUTHS[text])
        value = int(text) if len(text) < 12 else 1 << 40
        if value >= 1 << 32:
            raise input_error(f"{text} has more than 32 bits", node.place)
        return Number(node.place, wrapped(value))

    def negative(self, node: Node) -> Number:
        """Return a negative constant."""
        number = self.number(node._replace(parts=node.parts[1:]))
        return Number(node.place, wrapped(-number.value))

    def unary(self, node: Node) -> Expression:
        """Return what an operator of one operand means."""
        op, operand = node.parts
        self._refuse_temporal(op, node)
        return Unary(node.place, op, self.expression(operand))

    def binary(self, node: Node) -> Expression:
        """Return what an operator of two operands means."""
        left, op, right = node.parts
        self._refuse_temporal(op, node)
        sides = self.expression(left), self.expression(right)
        return Binary(node.place, _C.get(op, op), *sides)

    def _refuse_temporal(self, op: str, node: Node) -> None:
        if op in _TEMPORAL or op == "->":
            message = f"{op!r} within an expression: parentheses are missing"
            raise input_error(message, node.place)

    def conditional(self, node: Node) -> Conditional:
        """Return ``(a -> b : c)``."""
        condition, yes, no = self.several(node.parts)
        return Conditional(node.place, condition, yes, no)

    def special(self, node: Node) -> Special:
        """Return ``timeout`` or ``np_``."""
        name = "np_" if node.parts[0] == "np_" else "timeout"
        if name == "timeout" and (self.scope.owner or ":").startswith(":"):
            raise input_error("'timeout' outside of a proctype", node.place)
        self.table.mentions.add(name)
        return Special(node.place, name)

    def run(self, node: Node) -> Run:
        """Return the start of a process."""
        _, name, *values, priority = node.parts
        if self.scope.owner is None:
            raise input_error("'run' outside of a proctype", node.place)
        if priority is not None:
            self.table.mentions.add("priority")
        known = self.table.proctypes
        if name not in known or name == "init":
            raise input_error(f"no proctype is called {name!r}", node.place)
        arguments = self.flat(value for value in values if value is not None)
        found = Run(node.place, name, arguments, priority_of(priority))
        self.table.runs.append(found)
        return found

    def measure(self, node: Node) -> Measure:
        """Return ``len(q)`` or a test such as ``full(q)``."""
        name, reference = node.parts
        return Measure(node.place, name, self.channel(reference))

    def call(self, node: Node) -> Call:
        """Return ``enabled(p)``, ``pc_value(p)`` or ``get_priority(p)``."""
        name, argument = node.parts
        self.table.mentions.add("priority" if name == "get_priority" else name)
        return Call(node.place, name, (self.expression(argument),))

    def poll(self, node: Node) -> Poll:
        """Return ``q?[arguments]``."""
        reference, mark, arguments = node.parts
        channel = self.channel(reference)
        found = self.arguments(arguments)
        self.check_fields(channel, len(found), node.place)
        return Poll(node.place, channel, mark == "??", found)

    def remote_label(self, node: Node) -> RemoteLabel:
        """Return ``P[pid]@label``."""
        name, pid, _, label = node.parts
        number = None if pid is None else self.expression(pid)
        found = RemoteLabel(node.place, name, number, label)
        self.remotes.append(found)
        return found

    def remote_variable(self, node: Node) -> RemoteVariable:
        """Return ``P[pid]:x``, whose reference is put in when `P` is known."""
        name, pid, variable, index = node.parts
        number = None if pid is None else self.expression(pid)
        reference = self.remote_reference(name, variable, index, node.place)
        return RemoteVariable(node.place, name, number, reference)

    def remote_reference(
        self, proctype: str, variable: str, index: Node | None, place: Place
    ) -> Reference:
        """Return a variable of another proctype."""
        symbols = self.table.locals.get(proctype, {})
        symbol = symbols.get(variable)
        if symbol is None or () not in symbol.leaves:
            message = f"proctype {proctype} has no variable {variable!r}"
            raise input_error(message, place)
        return self._reference(symbol, [(variable, index)], place)

    # Variables.

    def reference(self, node: Node) -> Expression:
        """Return a variable, an element or a field; or a constant or special name."""
        if len(node.parts) == 2 and node.parts[1] is None:
            name = node.parts[0]
            if name in self.table.constants:
                return Number(node.place, self.table.constants[name], name)
            if name == "_":
                raise input_error("the value of '_' is not known", node.place)
            if name == "_priority":
                self.table.mentions.add("priority")
                pid = Special(node.place, "_pid")
                return Call(node.place, "get_priority", (pid,))
            if name in ("_pid", "_nr_pr", "_last"):
                if name == "_pid" and self.scope.owner is None:
                    raise input_error("'_pid' outside of a proctype", node.place)
                self.table.mentions.add(name)
                return Special(node.place, name)
        return self.variable(node)

    def variable(self, node: Node) -> Reference:
        """Return a reference to a variable; refuse constants and whole records."""
        path = list(zip(node.parts[::2], node.parts[1::2], strict=True))
        name = path[0][0]
        if name in self.table.constants:
            message = f"{name!r} is a constant, expected a variable"
            raise input_error(message, node.place)
        symbol = self.scope.find(name, node.place)
        return self._reference(symbol, path, node.place)

    def _reference(
        self, symbol: Symbol, path: list[tuple[str, Node | None]], place: Place
    ) -> Reference:
        names = tuple(name for name, _ in path[1:])
        if names in symbol.leaves:
            return self._cells(symbol, names, path, place)[0]
        self._refuse_field(symbol, names, place)
        whole = ".".join((symbol.name, *names))
        fields = [n[len(names)] for n in symbol.leaves if n[: len(names)] == names]
        message = f"{whole!r} is a record, expected one of its fields, {fields[0]}"
        raise input_error(message, place)

    def _refuse_field(
        self, symbol: Symbol, names: tuple[str, ...], place: Place
    ) -> None:
        """Raise `InputError` if a record has no such field."""
        if any(leaf[: len(names)] == names for leaf in symbol.leaves):
            return
        known = sorted({leaf[0] for leaf in symbol.leaves if leaf})
        what = (
            f"{symbol.name!r} is no record"
            if not known
            else (
                f"{symbol.name!r} has no field {'.'.join(names)!r}, "
                f"expected {' or '.join(known)}"
            )
        )
        raise input_error(what, place)

    def leaves(self, node: Node) -> Sequence[Expression]:
        """Return the basic variables that a reference names, one by one."""
        path = list(zip(node.parts[::2], node.parts[1::2], strict=True))
        symbol = self.scope.known.get(path[0][0])
        names = tuple(name for name, _ in path[1:])
        if symbol is None or names in symbol.leaves:
            return [self.expression(node)]
        self._refuse_field(symbol, names, node.place)
        found: list[Expression] = []
        for leaf in symbol.leaves:
            if leaf[: len(names)] == names:
                found += self._cells(symbol, leaf, path, node.place)
        return found

    def _cells(
        self,
        symbol: Symbol,
        leaf: tuple[str, ...],
        path: list[tuple[str, Node | None]],
        place: Place,
    ) -> list[Reference]:
        """Return the elements of a leaf of a record that has the indices of a path."""
        variable = symbol.leaves[leaf]
        parts = variable.form.split(".")
        given = [*path, *((name, None) for name in leaf[len(path) - 1 :])]
        indices: list[Expression] = []
        open_: list[int] = []  # the sizes of arrays that have no index
        sizes = list(variable.dimensions)
        for number, ((name, index), part) in enumerate(zip(given, parts, strict=True)):
            if not part.endswith("[{}]"):
                if index is not None:
                    raise input_error(f"{name!r} is no array", place)
                continue
            size = sizes.pop(0)
            if index is not None:
                indices.append(self.expression(index))
            elif number == len(parts) - 1 and number >= len(path):
                open_.append(size)
            elif number >= len(path):
                message = f"{symbol.name!r} has an array of records in a message"
                raise input_error(message, place)
            else:
                message = f"{name!r} is an array, expected an index: {name}[0]"
                raise input_error(message, place)
        if not open_:
            return [Reference(place, variable, tuple(indices))]
        return [
            Reference(place, variable, (*indices, Number(place, k)))
            for k in range(open_[0])
        ]

    # Channels.

    def channel(self, node: Node) -> Expression:
        """Return a reference to a channel."""
        reference = self.variable(node)
        if reference.variable.type != CHAN:
            name = node.parts[0]
            message = f"{name!r} is no channel, but a {reference.variable.type.name}"
            raise input_error(message, node.place)
        return reference

    def arguments(self, node: Node) -> tuple[Argument, ...]:
        """Return what a receive does with the fields of a message."""
        found: list[Argument] = []
        for part in node.parts:
            if part.kind == "eval":
                value = self.expression(part.parts[1])
                found.append(Argument(part.place, "match", value))
            elif part.kind == "reference" and part.parts == ("_", None):
                found.append(Argument(part.place, "any"))
            elif part.kind == "reference":
                for value in self.leaves(part):
                    stored = isinstance(value, Reference)
                    if not stored and not isinstance(value, Number):
                        name = part.parts[0]
                        message = f"cannot receive into {name!r}, only eval({name})"
                        raise input_error(message, part.place)
                    kind = "store" if stored else "match"
                    found.append(Argument(part.place, kind, value))
            else:
                found.append(Argument(part.place, "match", self.expression(part)))
        return tuple(found)

    def check_fields(self, channel: Expression, given: int, place: Place) -> None:
        """Refuse more fields than a channel has, where its declaration tells."""
        fields = fields_of(channel)
        if fields is not None and given > fields:
            message = f"{given} fields, but messages of the channel have {fields}"
            raise input_error(message, place)


def fields_of(channel: Expression) -> int | None:
    """Return how many fields the messages of a channel have, if that is known."""
    if isinstance(channel, Reference):
        initial = channel.variable.initial
        if hasattr(initial, "fields"):
            return len(initial.fields)  # type: ignore[union-attr]
    return None


def priority_of(node: Node | None) -> int | None:
    """Return the number behind ``priority``."""
    return None if node is None else int(node.parts[1].parts[0])


def constant(expression: Expression) -> int | None:
    """Return the value of a constant expression, else None."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Unary):
        value = constant(expression.operand)
        if value is None:
            return None
        return wrapped({"-": -value, "~": ~value, "!": int(not value)}[expression.op])
    if not isinstance(expression, Binary):
        return None
    left, right = constant(expression.left), constant(expression.right)
    if left is None or right is None:
        return None
    return _combined(expression.op, left, right)


def _combined(op: str, left: int, right: int) -> int | None:
    operation = program.Binary(op, program.Number(left), program.Number(right))
    try:
        return program.evaluate(operation, ())
    except program.EvaluationError:
        return None
