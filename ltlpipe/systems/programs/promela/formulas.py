"""Formulas of Promela: ``ltl`` blocks, and names of propositions in other formulas.

A block becomes a formula in the syntax of all formulas.  What these cannot say, such as
``x & 3``, becomes a name there: its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.propositions import syntax as propositions
from ltlpipe.systems.programs.promela.printing import written
from ltlpipe.systems.programs.promela.syntax import (
    Binary,
    Call,
    Expression,
    Formula,
    Measure,
    Number,
    Reference,
    RemoteLabel,
    RemoteVariable,
    Special,
    Unary,
)

if TYPE_CHECKING:
    from ltlpipe.systems.programs.promela.checking import Expressions
    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.syntax import Place

_UNARY = {"always": "[]", "eventually": "<>", "next": "X", "[]": "[]", "<>": "<>"}
_UNARY |= {"X": "X", "!": "!"}
_BINARY = {"until": "U", "stronguntil": "U", "U": "U", "weakuntil": "W", "W": "W"}
_BINARY |= {"release": "R", "V": "R", "R": "R", "implies": "->", "->": "->"}
_BINARY |= {"equivalent": "<->", "<->": "<->", "&&": "&&", "/\\": "&&"}
_BINARY |= {"||": "||", "\\/": "||"}
_OPERATORS = frozenset(("+", "-", "*", "/", "%", "&&", "||"))
_OPERATORS |= {"==", "!=", "<", "<=", ">", ">="}
_LETTERS = frozenset("XFGUWRMV")  # which names of operators are made of


def formula_of(
    node: Node, expressions: Expressions, name: str, text: str, place: Place
) -> Formula:
    """Return the checked formula of an ``ltl`` block.

    Raises
    ------
    InputError
        A name means nothing, or a temporal operator stands in an expression.
    """
    found: dict[str, Expression] = {}
    formula = _formula(node, expressions, found)
    return Formula(place, name, formula, found, text)


def _formula(node: Node, expressions: Expressions, found: dict[str, Expression]) -> str:
    if node.kind == "unary" and node.parts[0] in _UNARY:
        operator, operand = node.parts
        return _UNARY[operator] + _within(operand, expressions, found)
    if node.kind == "binary" and node.parts[1] in _BINARY:
        left, operator, right = node.parts
        sides = (_within(side, expressions, found) for side in (left, right))
        return f" {_BINARY[operator]} ".join(sides)
    return named(expressions.expression(node), found)


def named(expression: Expression, found: dict[str, Expression]) -> str:
    """Return an expression as a proposition of a formula; note what it means."""
    generic = generic_of(expression)
    if generic is None:  # brackets cannot be part of a name
        text = written(expression).replace("[", "(").replace("]", ")")
        generic = propositions.Name(text)
    key = generic.text if isinstance(generic, propositions.Name) else str(generic)
    found[key] = expression
    return str(generic)


def _within(node: Node, expressions: Expressions, found: dict[str, Expression]) -> str:
    text = _formula(node, expressions, found)
    number = text.isdigit() or (node.kind == "reference" and text.isidentifier())
    return text if number and not _LETTERS.issuperset(text) else f"({text})"


def generic_of(expression: Expression) -> propositions.Expression | None:
    """Return an expression as formulas have it, with names; None if they cannot."""
    if isinstance(expression, Number):
        if expression.name:
            return propositions.Name(expression.name)
        return propositions.Number(expression.value)
    if isinstance(expression, Special):
        return propositions.Name(expression.name)
    if isinstance(expression, Reference):
        return _reference(expression)
    if isinstance(expression, Unary):
        return _unary(expression)
    if isinstance(expression, Binary):
        return _binary(expression)
    if isinstance(expression, Measure):
        channel = generic_of(expression.channel)
        return channel and propositions.Call(expression.name, (channel,))
    if isinstance(expression, Call):
        arguments = [generic_of(argument) for argument in expression.arguments]
        known = tuple(a for a in arguments if a is not None)
        whole = len(known) == len(arguments)
        return propositions.Call(expression.name, known) if whole else None
    if isinstance(expression, (RemoteLabel, RemoteVariable)):
        return _remote(expression)
    return None


def _reference(expression: Reference) -> propositions.Expression | None:
    indices = [generic_of(index) for index in expression.indices]
    if not indices:
        return propositions.Name(expression.variable.form)
    parts: list[tuple[str, propositions.Expression | None]] = []
    for part in expression.variable.form.split("."):
        name = part.removesuffix("[{}]")
        index = indices.pop(0) if name != part else None
        if name != part and index is None:
            return None
        parts.append((name, index))
    # Names in front of the first index are one.
    first = next(k for k, (_, index) in enumerate(parts) if index is not None)
    array = ".".join(name for name, _ in parts[: first + 1])
    index = parts[first][1]
    assert index is not None
    if first == len(parts) - 1:
        return propositions.Element(array, index)
    return propositions.Path(((array, index), *parts[first + 1 :]))


def _unary(expression: Unary) -> propositions.Expression | None:
    operand = generic_of(expression.operand)
    if operand is None or expression.op == "~":
        return None
    if expression.op == "-":
        return propositions.negative(operand)
    return propositions.Operation("!", (operand,))


def _binary(expression: Binary) -> propositions.Expression | None:
    left, right = generic_of(expression.left), generic_of(expression.right)
    op = expression.op
    if left is None or right is None or op not in _OPERATORS:
        return None
    if op == "-":
        return propositions.joined("+", left, propositions.negative(right))
    if op in ("+", "&&", "||"):
        return propositions.joined(op, left, right)
    if op in ("*", "/", "%"):
        return propositions.Operation(op, (left, right))
    return propositions.compared(op, left, right)


def _remote(
    expression: RemoteLabel | RemoteVariable,
) -> propositions.Expression | None:
    process: propositions.Name | propositions.Element
    process = propositions.Name(expression.proctype)
    if expression.pid is not None:
        pid = generic_of(expression.pid)
        if pid is None:
            return None
        process = propositions.Element(expression.proctype, pid)
    if isinstance(expression, RemoteLabel):
        label = propositions.Name(expression.label)
        return propositions.Remote(process, "@", label)
    variable = _reference(expression.reference)
    if not isinstance(variable, (propositions.Name, propositions.Element)):
        return None
    return propositions.Remote(process, ":", variable)
