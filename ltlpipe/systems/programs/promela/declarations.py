"""Declarations of Promela: variables, typedefs and sets of constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs.promela.checking import constant
from ltlpipe.systems.programs.promela.scopes import BASIC, Field, Symbol
from ltlpipe.systems.programs.promela.syntax import (
    BIT,
    BOOL,
    BYTE,
    CHAN,
    MTYPE,
    NewChannel,
    Number,
    Type,
    Variable,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.programs.promela.checking import Expressions
    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.scopes import Initial, Scope, Table

MOST_ELEMENTS = 1 << 20
MOST_CONSTANTS = 255  # of a set
_MOST_MESSAGES = 255  # of a channel


def declared(
    node: Node, scope: Scope, expressions: Expressions
) -> Iterator[tuple[Symbol, Node]]:
    """Declare the variables of a declaration; yield each with its part of the text.

    None of them is known within the declaration, as in Spin.
    """
    visibility, kind, variables = node.parts
    hidden = visibility is not None and visibility.parts[0] == "hidden"
    found = []
    for part in variables.parts:
        name = part.parts[0]
        type_, size, initial = _parts(part, kind, expressions)
        scope.refuse_redeclaration(name, part.place)

        def make(
            name: str,
            form: str,
            basic: Type,
            dimensions: tuple[int, ...],
            initial: Initial,
            place: Node = part,
        ) -> Variable:
            return Variable(
                place.place,
                scope.unique(name, place.place),
                basic,
                dimensions,
                initial,
                scope.owner,
                hidden,
                scope.at_birth,
                form,
            )

        leaves = scope.table.leaves(name, type_, size, make, initial)
        found.append((Symbol(part.place, name, type_, size is not None, leaves), part))
    for symbol, part in found:
        scope.declare(symbol)
        yield symbol, part


def fields_of_typedef(node: Node, table: Table, expressions: Expressions) -> None:
    """Declare a typedef.

    Raises
    ------
    InputError
        It is declared twice, or has a field twice or of its own type.
    """
    _, name, declarations = node.parts
    if name in table.typedefs:
        raise input_error(f"redeclaration of typedef {name!r}", node.place)
    fields: dict[str, Field] = {}
    for declaration in declarations.parts:
        _, kind, variables = declaration.parts
        for part in variables.parts:
            type_, size, initial = _parts(part, kind, expressions)
            own = part.parts[0]
            if own in fields:
                raise input_error(f"typedef {name} has two fields {own!r}", part.place)
            fields[own] = Field(own, type_, size, initial)
    table.typedefs[name] = tuple(fields.values())


def set_of_constants(node: Node, scope: Scope) -> None:
    """Declare the constants of an ``mtype``; they count down within a declaration.

    Raises
    ------
    InputError
        A name has a meaning, or there are too many.
    """
    _, kind, set_name, *names = node.parts
    table = scope.table
    if kind != "mtype":
        raise input_error(f"a list of names of type {kind}, expected mtype", node.place)
    known = table.sets.setdefault(set_name or "", {})
    if len(known) + len(names) > MOST_CONSTANTS:
        message = f"more than {MOST_CONSTANTS} constants of an mtype"
        raise input_error(message, node.place)
    for value, name in enumerate(reversed(names), start=1 + len(known)):
        scope.refuse_redeclaration(name, node.place)
        known[name] = table.constants[name] = value


def type_of(kind: Node | str) -> Type | str:
    """Return the type that a node or the name of a typedef is."""
    if isinstance(kind, str):
        return kind
    name, subset = kind.parts
    if subset is not None:
        if name != "mtype":
            raise input_error(f"{name}:{subset}, expected mtype", kind.place)
        # As in Spin, its constants can be declared later, or nowhere.
        return MTYPE._replace(names=subset)
    return Type("unsigned", 0) if name == "unsigned" else BASIC[name]


def _parts(
    part: Node, kind: Node | str, expressions: Expressions
) -> tuple[Type | str, int | None, Initial]:
    """Return type, size and initial value of one variable or field."""
    name, width, size, initial = part.parts
    type_ = type_of(kind)
    if isinstance(type_, Type) and type_.name == "unsigned":
        bits = int(width.parts[0]) if width is not None else 0
        if not 0 < bits < 32:
            message = f"{name!r}: expected 'unsigned {name} : BITS', 1 to 31 bits"
            raise input_error(message, part.place)
        type_ = type_._replace(bits=bits)
    elif width is not None:
        raise input_error("only 'unsigned' has a number of bits", width.place)
    extent = None
    if size is not None:
        extent = constant_of(size.parts[0], expressions, "the size of an array")
        if not 0 < extent <= MOST_ELEMENTS:
            message = f"{name!r} has {extent} elements, expected 1 to {MOST_ELEMENTS}"
            raise input_error(message, size.place)
        if type_ in (BIT, BOOL):
            type_ = BYTE  # so Spin keeps elements
    value = None
    if initial is not None:
        value = _initial(initial, type_, extent, name, expressions)
    return type_, extent, value


def constant_of(node: Node, expressions: Expressions, what: str) -> int:
    """Return the value of a constant expression; a variable stands for its initial.

    Raises
    ------
    InputError
        It is not constant.
    """
    expression = expressions.expression(node)
    value = constant(expression)
    if value is None:
        first = getattr(getattr(expression, "variable", None), "initial", None)
        if isinstance(first, Number):
            return first.value
        raise input_error(f"expected a constant for {what}", node.place)
    return value


def _initial(
    node: Node,
    type_: Type | str,
    extent: int | None,
    name: str,
    expressions: Expressions,
) -> Initial:
    if isinstance(type_, str):
        message = f"{name!r} is a record and cannot have an initial value"
        raise input_error(message, node.place)
    if node.kind == "channel":
        if type_ != CHAN:
            raise input_error(f"{name!r} is no channel, but a {type_.name}", node.place)
        return _channel(node, expressions)
    if node.kind == "values":
        if extent is None:
            raise input_error(f"{name!r} is no array", node.place)
        values = expressions.several(node.parts)
        if len(values) > extent:
            message = f"{len(values)} values for the {extent} elements of {name!r}"
            raise input_error(message, node.place)
        return values
    return expressions.expression(node)


def _channel(node: Node, expressions: Expressions) -> NewChannel:
    size, *kinds = node.parts
    capacity = constant_of(size, expressions, "the size of a channel")
    if not 0 <= capacity <= _MOST_MESSAGES:
        message = f"a channel for {capacity} messages, expected 0 to {_MOST_MESSAGES}"
        raise input_error(message, size.place)
    fields: list[Type] = []
    table = expressions.table
    for kind in kinds:
        type_ = type_of(kind)
        if isinstance(type_, Type) and type_.name == "unsigned":
            raise input_error("fields of messages cannot be 'unsigned'", node.place)
        fields += message_fields(type_, table)
    if len(fields) == 1 and fields[0] in (BIT, BOOL):
        fields = [BYTE]  # so Spin keeps them, unless there are several
    return NewChannel(node.place, capacity, tuple(fields))


def message_fields(type_: Type | str, table: Table) -> list[Type]:
    """Return the basic fields of a type in a message."""
    if isinstance(type_, Type):
        return [type_]
    found: list[Type] = []
    for part in table.typedefs[type_]:
        found += message_fields(part.type, table) * (part.size or 1)
    return found
