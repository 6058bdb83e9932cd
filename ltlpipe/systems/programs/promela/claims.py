"""Never claims as automata of the violations.

The states of the automaton are the places of the claim; those with a label ``accept``
accept.  A claim moves first, from the state that it reads.  One that reaches its end
has found a violation, whatever comes: there is a state for that, which accepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs.claims import buchi_automaton
from ltlpipe.systems.programs.promela.flow import Flow, leaving
from ltlpipe.systems.programs.promela.formulas import named
from ltlpipe.systems.programs.promela.syntax import (
    Assert,
    Condition,
    Else,
    Number,
    Reference,
    with_parts,
)

if TYPE_CHECKING:
    from ltlpipe.systems.programs.promela.flow import Edge, Node
    from ltlpipe.systems.programs.promela.syntax import Claim, Expression


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


def _edges(node: Node, propositions: _Propositions, end: int) -> list[tuple[str, int]]:
    """Return labels and targets of the edges of a place; a failed assertion ends."""
    found = []
    guards: list[str] = []
    others: list[Edge] = []
    for edge in leaving(node):
        step = edge.step
        if isinstance(step, Else):
            others.append(edge)
            continue
        label = "t"
        if isinstance(step, (Condition, Assert)):
            label = propositions.label(step.expression)
        found.append((label, edge.target.number))
        if isinstance(step, Assert):
            found.append((f"!({label})", end))
            label = "t"
        guards.append(label)
    rest = " & ".join(f"!({guard})" for guard in guards) or "t"
    return found + [(rest, edge.target.number) for edge in others]


def _without_variables(expression: Expression) -> Expression:
    """Return a condition with the values of the claim's variables, which stay."""
    if isinstance(expression, Reference):
        variable = expression.variable
        if (variable.proctype or "").startswith(":"):
            value = variable.initial
            number = value.value if isinstance(value, Number) else 0
            return Number(expression.place, number)
    found: Expression = with_parts(expression, _without_variables)
    return found
