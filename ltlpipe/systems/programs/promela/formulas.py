"""Texts of expressions, formulas of Promela (``ltl`` blocks), and never claims.

A block becomes a formula in the syntax of all formulas.  What these cannot say, such as
``x & 3``, becomes a name there: its text.

A never claim becomes an automaton of the violations.  Its states are the places of the
claim; those with a label ``accept`` accept.  A claim moves first, from the state that
it reads.  One that reaches its end has found a violation, whatever comes: there is a
state for that, which accepts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions import syntax as propositions
from ltlpipe.logic.propositions.syntax import escaped
from ltlpipe.systems.programs.claims import buchi_automaton
from ltlpipe.systems.programs.program import converted
from ltlpipe.systems.programs.promela.checking import constant
from ltlpipe.systems.programs.promela.flow import Flow, escaping, leaving
from ltlpipe.systems.programs.promela.syntax import (
    Argument,
    Assert,
    Binary,
    Call,
    Condition,
    Conditional,
    Else,
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
    with_parts,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.systems.programs.promela import flow
    from ltlpipe.systems.programs.promela.checking import Expressions
    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.syntax import Claim, Expression, Place

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
    return parse_proposition(written(_as_condition(expression), generic=True))


def _as_condition(expression: Expression) -> Expression:
    """Return a condition with ``!= 0`` behind arithmetic, and with 1 for numbers."""
    if isinstance(expression, Number):
        return Number(expression.place, int(expression.value != 0))
    arithmetic = isinstance(expression, Binary) and expression.op in "+-*/%"
    if arithmetic or (isinstance(expression, Unary) and expression.op == "-"):
        none = Number(expression.place, 0)
        return Binary(expression.place, "!=", expression, none)
    connected = isinstance(expression, Binary) and expression.op in ("&&", "||")
    if connected or isinstance(expression, Unary):
        found: Expression = with_parts(expression, _as_condition)
        return found
    return expression


def automaton_of(claim: Claim, found: dict[str, Expression]) -> str:
    """Return the automaton of a claim in HOA; note what its propositions mean."""
    flow = Flow(claim.body)
    propositions = _Propositions(found)
    accepting = {n.number for name, n in flow.labels.items() if name[:6] == "accept"}
    accepting.add(flow.end.number)
    sink = len(flow.nodes) + 1
    if flow.end.number < 0:
        accepting.add(sink)
    end = flow.end.number if flow.end.number > 0 else sink
    states = []
    for node in flow.nodes:
        edges = [("t", end - 1)] if node is flow.end else []
        for label, target in _edges(node, propositions, end):
            edges.append((label, target - 1))
        states.append(edges)
    if end == sink:
        states.append([("t", sink - 1)])
    marked = {number - 1 for number in accepting}
    return buchi_automaton(list(propositions.numbers), 0, marked, states)


class _Propositions:
    """Numbers of the conditions of a claim."""

    def __init__(self, found: dict[str, Expression]) -> None:
        self.found = found
        self.numbers: dict[str, int] = {}

    def label(self, expression: Expression) -> str:
        """Return a condition as the label of an edge."""
        expression = _without_variables(expression)
        if isinstance(expression, Number):
            return "t" if expression.value else "f"
        text = named(expression, self.found)
        return str(self.numbers.setdefault(text, len(self.numbers)))


def _edges(
    node: flow.Node,
    propositions: _Propositions,
    end: int,
    before: tuple[flow.Node, ...] = (),
) -> list[tuple[str, int]]:
    """Return labels and targets of the moves from a place; a failed assertion ends.

    What is inside of ``atomic`` is one move, in the state in which it begins: `before`
    are the places that it has passed.  If it is blocked there is no move.
    """
    found = []
    guards: list[str] = []
    for edge in sorted(leaving(node), key=lambda edge: isinstance(edge.step, Else)):
        step = edge.step
        escapes = [_guard(e, propositions) for n in escaping([edge]) for e in n.edges]
        label = _guard(edge, propositions)
        if isinstance(step, Else):
            label = " & ".join(f"!({guard})" for guard in guards) or "t"
        elif isinstance(step, Assert):
            test = propositions.label(step.expression)
            found.append((_unless(f"!({test})", escapes), end))
        guards.append(_unless(label, escapes))
        label = _unless(test if isinstance(step, Assert) else label, escapes)
        if not edge.keeps:
            found.append((label, edge.target.number))
        elif edge.target not in (passed := (*before, node)):
            behind = _edges(edge.target, propositions, end, passed)
            found += [(f"({label}) & ({more})", target) for more, target in behind]
    return found


def _guard(edge: flow.Edge, propositions: _Propositions) -> str:
    """Return when a statement can be executed, the others of its place apart."""
    if isinstance(edge.step, Condition):
        return propositions.label(edge.step.expression)
    return "t"


def _unless(label: str, escapes: list[str]) -> str:
    """Return a label where no escape can be taken."""
    if not escapes:
        return label
    return " & ".join([f"({label})", *(f"!({escape})" for escape in escapes)])


def _without_variables(expression: Expression) -> Expression:
    """Return a condition with the values of the claim's variables, which stay."""
    if isinstance(expression, Reference):
        variable = expression.variable
        if (variable.proctype or "").startswith(":"):
            initial: Any = variable.initial
            number = 0 if initial is None else constant(initial)
            if number is None:
                message = f"the first value of {variable.name!r}: expected a constant"
                raise input_error(message, variable.place)
            number = converted(number, variable.type.bounds)
            return Number(expression.place, number)
    found: Expression = with_parts(expression, _without_variables)
    return found
