"""Texts of expressions, and formulas of Promela: ``ltl`` blocks and their propositions.

A block becomes a formula in the syntax of all formulas.  What these cannot say, such as
``x & 3``, becomes a name there: its text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions import syntax as propositions
from ltlpipe.logic.propositions.syntax import escaped
from ltlpipe.systems.programs.promela.syntax import (
    Argument,
    Binary,
    Call,
    Conditional,
    Expression,
    Formula,
    Measure,
    Number,
    Poll,
    Reference,
    RemoteLabel,
    RemoteVariable,
    Run,
    Special,
    Unary,
    nodes_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.systems.programs.promela.checking import Expressions
    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.syntax import Place

_LEVELS = {
    operator: level
    for level, operators in enumerate(
        (
            *(("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=")),
            *(("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%")),
        )
    )
    for operator in operators
}
_SIGNED = 1 + max(_LEVELS.values())
_PRIMARY = 1 + _SIGNED


def written(expression: Expression, *, generic: bool = False) -> str:
    """Return the text of an expression, with the parentheses that it needs.

    With `generic`, in the syntax of all formulas: these group otherwise, so operands
    are in parentheses.
    """
    name = escaped if generic else str

    def again(inner: Any, level: int = 0) -> str:
        text, own = written(inner, generic=generic), _level(inner)
        return f"({text})" if own < (_PRIMARY if level and generic else level) else text

    if isinstance(expression, Number):
        return name(expression.name) if expression.name else str(expression.value)
    if isinstance(expression, Special):
        return expression.name
    if isinstance(expression, Unary):
        return expression.op + again(expression.operand, _SIGNED)
    if isinstance(expression, Binary):
        level = _LEVELS[expression.op]
        left, right = again(expression.left, level), again(expression.right, level + 1)
        return f"{left} {expression.op} {right}"
    if isinstance(expression, Conditional):
        parts = expression.condition, expression.yes, expression.no
        return "({} -> {} : {})".format(*map(again, parts))
    return _of_names(expression, again, name)


def _of_names(
    expression: Any, again: Callable[[Any], str], name: Callable[[str], str]
) -> str:
    """Return the text of a variable, or of what is about channels or processes."""
    if isinstance(expression, Reference):
        variable = expression.variable
        form = variable.form or variable.name.partition("@")[0]
        form = re.sub(r"^\w+", lambda first: name(first[0]), form)
        return form.format(*map(again, expression.indices))
    if isinstance(expression, Measure):
        return f"{expression.name}({again(expression.channel)})"
    if isinstance(expression, Poll):
        mark = "??" if expression.anywhere else "?"
        arguments = ",".join(map(_argument, expression.arguments))
        return f"{again(expression.channel)}{mark}[{arguments}]"
    if isinstance(expression, (Call, Run)):
        called = expression.name if isinstance(expression, Call) else "run "
        called += expression.proctype if isinstance(expression, Run) else ""
        return f"{called}({','.join(map(again, expression.arguments))})"
    pid = "" if expression.pid is None else f"[{again(expression.pid)}]"
    if isinstance(expression, RemoteLabel):
        return f"{name(expression.proctype)}{pid}@{name(expression.label)}"
    return f"{name(expression.proctype)}{pid}:{again(expression.reference)}"


def _argument(argument: Argument) -> str:
    if argument.value is None:
        return "_"
    text = written(argument.value)
    constant = isinstance(argument.value, Number)
    return text if argument.kind == "store" or constant else f"eval({text})"


def _level(expression: Expression) -> int:
    if isinstance(expression, Binary):
        return _LEVELS[expression.op]
    return _SIGNED if isinstance(expression, Unary) else _PRIMARY


_UNARY = {"always": "[]", "eventually": "<>", "next": "X", "[]": "[]", "<>": "<>"}
_UNARY |= {"X": "X", "!": "!"}
_BINARY = {"until": "U", "stronguntil": "U", "U": "U", "weakuntil": "W", "W": "W"}
_BINARY |= {"release": "R", "V": "R", "R": "R", "implies": "->", "->": "->"}
_BINARY |= {"equivalent": "<->", "<->": "<->", "&&": "&&", "/\\": "&&"}
_BINARY |= {"||": "||", "\\/": "||"}
_OPERATORS = frozenset(("!", "+", "-", "*", "/", "%", "&&", "||"))
_OPERATORS |= {"==", "!=", "<", "<=", ">", ">="}
_KNOWN = (
    *(Number, Special, Reference, Unary, Binary, Measure, Call),
    *(RemoteLabel, RemoteVariable),
)
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
    # Imported here: models without formulas need no parser.
    from ltlpipe.logic.propositions.parsing import parse_proposition

    for node in nodes_in(expression):
        if not isinstance(node, _KNOWN) or getattr(node, "op", "!") not in _OPERATORS:
            return None
    return parse_proposition(written(expression, generic=True))
