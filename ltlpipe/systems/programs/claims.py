"""Expressions of a model as propositions, and property processes as automata.

A property process says how a run violates the property: it takes one of its transitions
at every step, each guard is evaluated in the state that the step leaves, and the run is
a violation iff the process is in accepting states infinitely often.  That is a Büchi
automaton over the comparisons in its guards.

Propositions are computed with numbers of 64 bits and without failures: an expression
that could leave 32 bits is refused, as are shifts and the operators of bits, which
propositions do not have.  An index out of range and a division by zero give 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.logic.propositions.syntax import (
    Element,
    Indexed,
    Name,
    Number,
    Operation,
    Text,
    Variable,
    compared,
    negative,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs import program as model
from ltlpipe.systems.programs.ranges import Environment, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

_LARGEST = (1 << 31) - 1
_UNKNOWN = frozenset({"~", "&", "|", "^", "<<", ">>"})
_OPERATORS = frozenset(("==", "<", "<=", "+", "*", "/", "%", "&&", "||"))
_OPERATORS |= {"&", "|", "^", "<<", ">>"}
_MAX_ATOMS = 20
"""Comparisons beyond which whole guards are propositions: letters are sets of them."""


class Edge(NamedTuple):
    """A transition of a property process; no guard is one that always holds."""

    source: int
    target: int
    guard: model.Expression | None


def as_truth(
    expression: model.Expression,
    variables: Sequence[model.Variable],
    arrays: Sequence[model.Array],
) -> Expression:
    """Return the proposition that an expression of a model is not 0.

    Raises
    ------
    UnsupportedError
        It has an operator that propositions do not have, or a value that may not fit
        into 32 bits.
    """
    bounds = {k: Interval(*variable.bounds) for k, variable in enumerate(variables)}
    known = Environment(bounds, range(len(variables)), {}, set())
    known.evaluate(expression)
    for node in model.nodes_in(expression):
        if isinstance(node, model.Lookup):
            raise UnsupportedError("an array of constants with an index that varies")
        operator = getattr(node, "op", "")
        if operator in _UNKNOWN:
            raise UnsupportedError(f"the operator {operator}")
        values = known.nodes.get(node)
        if operator and values and max(-values.low, values.high) > _LARGEST:
            raise UnsupportedError("a value that may not fit into 32 bits")
    return _Names(variables, arrays).of(bound(_with_truths(expression, True)))


def _with_truths(node: model.Expression, wanted: bool = False) -> model.Expression:
    """Return an expression in which what connectives join are truths."""
    found = node
    if isinstance(node, model.Binary):
        joins = node.op in model.LOGICAL
        left, right = _with_truths(node.left, joins), _with_truths(node.right, joins)
        found = model.Binary(node.op, left, right)
        if node.op == "imply":
            found = model.Binary("||", model.Unary("not", left), right)
    elif isinstance(node, model.Unary):
        found = model.Unary(node.op, _with_truths(node.operand, node.op == "not"))
    elif isinstance(node, model.Element):
        found = model.Element(node.first, node.size, _with_truths(node.index))
    if wanted and not (model.is_truth(found) or isinstance(found, model.Number)):
        return model.Binary("!=", found, model.Number(0))
    return found


class _Names(NamedTuple):
    """Puts names of the model in the place of variables."""

    variables: Sequence[model.Variable]
    arrays: Sequence[model.Array]

    def of(self, part: Expression) -> Expression:
        """Return a bound expression with names."""
        if isinstance(part, Variable):
            for array in self.arrays:
                if array.first <= part.number < array.first + array.size:
                    return Element(array.name, Number(part.number - array.first))
            return Name(self.variables[part.number].name)
        if isinstance(part, Indexed):
            array = next(a for a in self.arrays if a.first == part.first)
            return Element(array.name, self.of(part.index))
        if not isinstance(part, Operation):
            return part
        first, last = part.operands[0], part.operands[-1]
        if part.operator == "==" and isinstance(first, Variable):
            variable = self.variables[first.number]
            if variable.states and isinstance(last, Number):  # a state by its name
                state = Text(variable.states[last.value])
                return compared("==", Name(variable.name), state)
        return Operation(part.operator, tuple(map(self.of, part.operands)))


def bound(expression: model.Expression) -> Expression:
    """Return an expression of a program as a proposition.

    Raises
    ------
    UnsupportedError
        It has an operator that propositions do not have.
    """
    if isinstance(expression, model.Number):
        return Number(expression.value)
    if isinstance(expression, model.Read):
        return Variable(expression.variable)
    if isinstance(expression, model.Element):
        index = bound(expression.index)
        return Indexed(expression.first, expression.size, index)
    parts = tuple(bound(part) for part in model.parts(expression))
    if isinstance(expression, model.Lookup):
        terms = [
            Operation("*", (Operation("==", (parts[0], Number(i))), value))
            for i, number in enumerate(expression.values)
            for value in (Number(number),)
            if number
        ]
        return Operation("+", tuple(terms)) if terms else Number(0)
    if isinstance(expression, model.Conditional):
        test, yes, no = parts
        truth = Operation("!", (Operation("!", (test,)),))
        return Operation(
            "+",
            (
                Operation("*", (truth, yes)),
                Operation("*", (Operation("!", (test,)), no)),
            ),
        )
    if isinstance(expression, model.Unary):
        if expression.op == "~":
            return Operation("+", (negative(parts[0]), Number(-1)))
        return Operation("!", parts) if expression.op == "not" else negative(parts[0])
    if expression.op == "-":
        return Operation("+", (parts[0], negative(parts[1])))
    if expression.op in (">", ">="):
        return Operation("<" if expression.op == ">" else "<=", parts[::-1])
    if expression.op == "!=":
        return Operation("!", (Operation("==", parts),))
    if expression.op in _OPERATORS:
        return Operation(expression.op, parts)
    raise UnsupportedError(f"the operator {expression.op!r} in a proposition")


# --- property processes -----------------------------------------------------


def automaton(
    n_states: int,
    initial: int,
    accepting: frozenset[int],
    edges: Sequence[Edge],
    truth: Callable[[model.Expression], Expression],
) -> str:
    """Return the Büchi automaton, in HOA, of a process with guards.

    `truth` returns the proposition that a guard holds; errors are its own.
    """
    guards = [None if edge.guard is None else truth(edge.guard) for edge in edges]
    held = [guard for guard in guards if guard is not None]
    atoms = list(dict.fromkeys(str(a) for guard in held for a in _atoms(guard)))
    whole = len(atoms) > _MAX_ATOMS
    if whole:
        atoms = list(dict.fromkeys(map(str, held)))
    numbers = {atom: number for number, atom in enumerate(atoms)}
    states: list[list[tuple[str, int]]] = [[] for _ in range(n_states)]
    for edge, guard in zip(edges, guards, strict=True):
        label = "t" if guard is None else _label(guard, numbers, whole=whole)
        states[edge.source].append((label, edge.target))
    return buchi_automaton(atoms, initial, accepting, states)


def buchi_automaton(
    propositions: Sequence[str],
    initial: int,
    accepting: Collection[int],
    states: Sequence[Sequence[tuple[str, int]]],
) -> str:
    """Return an automaton in HOA; of each state its edges, labels and targets."""
    quoted = ['"' + re.sub(r'[\\"]', r"\\\g<0>", text) + '"' for text in propositions]
    lines = [
        "HOA: v1",
        f"States: {len(states)}",
        f"Start: {initial}",
        " ".join([f"AP: {len(quoted)}", *quoted]),
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        "properties: trans-labels explicit-labels state-acc",
        "--BODY--",
    ]
    for state, edges in enumerate(states):
        lines.append(f"State: {state}" + " {0}" * (state in accepting))
        lines += [f"[{label}] {target}" for label, target in edges]
    return "\n".join([*lines, "--END--", ""])


def _is_connective(part: Expression) -> bool:
    return isinstance(part, Operation) and part.operator in ("!", "&&", "||")


def _atoms(guard: Expression) -> list[Expression]:
    """Return the parts of a guard without Boolean connectives."""
    if isinstance(guard, Operation) and _is_connective(guard):
        return [atom for part in guard.operands for atom in _atoms(part)]
    return [] if isinstance(guard, Number) else [guard]


def _label(guard: Expression, numbers: dict[str, int], *, whole: bool) -> str:
    if whole and str(guard) in numbers:
        return str(numbers[str(guard)])
    if isinstance(guard, Number):
        return "t" if guard.value else "f"
    if not isinstance(guard, Operation) or not _is_connective(guard):
        return str(numbers[str(guard)])
    parts = [f"({_label(part, numbers, whole=whole)})" for part in guard.operands]
    if guard.operator == "!":
        return "!" + parts[0]
    return {"&&": "&", "||": "|"}[guard.operator].join(parts)
