"""Expressions as trees in a coloured graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.reduction.automorphisms.graph import ColouredGraph

COMMUTATIVE = frozenset({"+", "*", "==", "!=", "&", "|", "^"})
"""Operators whose operands may change places.

Those that may leave their second operand unevaluated are not among them.
"""


def draw_propositions(
    graph: ColouredGraph,
    propositions: Sequence[Expression],
    variables: Sequence[int],
    actions: Sequence[int],
) -> None:
    """Add propositions, each of which every automorphism leaves as it is.

    Parameters
    ----------
    propositions : sequence of Expression
        Bound.
    variables, actions : sequence of int
        The vertices of variables, and those of actions.
    """
    for number, proposition in enumerate(propositions):
        root = _drawn(graph, proposition, variables, actions)
        graph.add(("proposition", number), root)


def _drawn(
    graph: ColouredGraph,
    expression: Expression,
    variables: Sequence[int],
    actions: Sequence[int],
) -> int:
    """Add the vertex of an expression, below which its parts are."""
    if isinstance(expression, Number):
        return graph.add(("number", expression.value))
    if isinstance(expression, Variable):
        return graph.add("variable read", variables[expression.number])
    if isinstance(expression, Deadlock):
        return graph.add("deadlock")
    if isinstance(expression, Taken):
        return graph.add("taken", *(actions[a] for a in sorted(expression.actions)))
    if isinstance(expression, Indexed):
        own = variables[expression.first : expression.first + expression.size]
        index = _drawn(graph, expression.index, variables, actions)
        return draw_ordered(graph, "indexed", [index, *own])
    if isinstance(expression, Operation):
        operands = [_drawn(graph, o, variables, actions) for o in expression.operands]
        return draw_operation(graph, expression.operator, operands)
    raise TypeError(f"{expression} is not bound")


def draw_operation(graph: ColouredGraph, operator: str, operands: list[int]) -> int:
    """Add the vertex of an operator, above those of its operands."""
    if operator in COMMUTATIVE and len(set(operands)) == len(operands):
        return graph.add(("operator", operator), *operands)
    return draw_ordered(graph, ("operator", operator), operands)


def draw_ordered(graph: ColouredGraph, colour: Any, parts: list[int]) -> int:
    """Add a vertex above others whose order counts."""
    links = [graph.add(("part", k), part) for k, part in enumerate(parts)]
    return graph.add((colour, len(parts)), *links)
