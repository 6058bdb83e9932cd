"""Text of checked expressions, as Promela is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs.promela.syntax import (
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

if TYPE_CHECKING:
    from ltlpipe.systems.programs.promela.syntax import Expression

LEVELS = {
    operator: level
    for level, operators in enumerate(
        (
            ("||",),
            ("&&",),
            ("|",),
            ("^",),
            ("&",),
            ("==", "!="),
            ("<", "<=", ">", ">="),
            ("<<", ">>"),
            ("+", "-"),
            ("*", "/", "%"),
        )
    )
    for operator in operators
}
_UNARY = 1 + max(LEVELS.values())
_PRIMARY = 1 + _UNARY


def written(expression: Expression) -> str:
    """Return the text of an expression, with the parentheses that it needs."""
    if isinstance(expression, Number):
        return expression.name or str(expression.value)
    if isinstance(expression, Reference):
        return element(expression)
    if isinstance(expression, Special):
        return expression.name
    if isinstance(expression, Unary):
        return expression.op + _inner(expression.operand, _UNARY)
    if isinstance(expression, Binary):
        level = LEVELS[expression.op]
        left = _inner(expression.left, level)
        right = _inner(expression.right, level + 1)
        return f"{left} {expression.op} {right}"
    if isinstance(expression, Conditional):
        parts = expression.condition, expression.yes, expression.no
        return "({} -> {} : {})".format(*map(written, parts))
    return _of_channel_or_process(expression)


def _of_channel_or_process(
    expression: Measure | Poll | Run | Call | RemoteLabel | RemoteVariable,
) -> str:
    if isinstance(expression, Measure):
        return f"{expression.name}({written(expression.channel)})"
    if isinstance(expression, Poll):
        mark = "??" if expression.anywhere else "?"
        arguments = ",".join(map(_argument, expression.arguments))
        return f"{written(expression.channel)}{mark}[{arguments}]"
    if isinstance(expression, Run):
        arguments = ",".join(map(written, expression.arguments))
        return f"run {expression.proctype}({arguments})"
    if isinstance(expression, Call):
        return f"{expression.name}({','.join(map(written, expression.arguments))})"
    pid = "" if expression.pid is None else f"[{written(expression.pid)}]"
    if isinstance(expression, RemoteLabel):
        return f"{expression.proctype}{pid}@{expression.label}"
    return f"{expression.proctype}{pid}:{written(expression.reference)}"


def element(reference: Reference) -> str:
    """Return the text of a variable with its indices."""
    variable = reference.variable
    if not reference.indices:
        return variable.name.partition("@")[0]
    return variable.form.format(*map(written, reference.indices))


def _argument(argument: Argument) -> str:
    if argument.value is None:
        return "_"
    text = written(argument.value)
    constant = isinstance(argument.value, Number)
    return text if argument.kind == "store" or constant else f"eval({text})"


def _inner(expression: Expression, level: int) -> str:
    text = written(expression)
    own = _PRIMARY
    if isinstance(expression, Binary):
        own = LEVELS[expression.op]
    elif isinstance(expression, Unary):
        own = _UNARY
    return f"({text})" if own < level else text
