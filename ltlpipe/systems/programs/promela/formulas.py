"""Formulas of Promela: ``ltl`` blocks, and names of propositions in other formulas.

A block becomes a formula in the syntax of all formulas.  What these cannot say, such as
``x & 3``, becomes a name there: its text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions import syntax as propositions
from ltlpipe.logic.propositions.syntax import escaped
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
    nodes_in,
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
    return parse_proposition(_text(expression))


def _text(part: Any) -> str:
    """Return an expression in the syntax of formulas, operands in brackets."""
    if isinstance(part, Number):
        return escaped(part.name) if part.name else str(part.value)
    if isinstance(part, Special):
        return str(part.name)
    if isinstance(part, Reference):
        form = re.sub(r"^\w+", lambda name: escaped(name[0]), part.variable.form)
        return form.format(*map(_text, part.indices))
    if isinstance(part, Unary):
        return f"{part.op}({_text(part.operand)})"
    if isinstance(part, Binary):
        return f"({_text(part.left)}) {part.op} ({_text(part.right)})"
    if isinstance(part, Measure):
        return f"{part.name}({_text(part.channel)})"
    if isinstance(part, Call):
        return f"{part.name}({','.join(map(_text, part.arguments))})"
    process = escaped(part.proctype)
    process += "" if part.pid is None else f"[{_text(part.pid)}]"
    if isinstance(part, RemoteLabel):
        return f"{process}@{escaped(part.label)}"
    return f"{process}:{_text(part.reference)}"
