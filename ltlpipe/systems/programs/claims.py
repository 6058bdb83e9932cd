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
    Name,
    Number,
    Operation,
    Text,
    compared,
    negative,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs import program as model
from ltlpipe.systems.programs.ranges import Interval, combined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

_LARGEST = (1 << 31) - 1
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
    """Return the proposition, with names, that an expression of a model is not 0.

    Raises
    ------
    UnsupportedError
        No proposition says the same.
    """
    return _Translator(variables, arrays).truth(expression)


class _Translator:
    """Makes propositions, and bounds their values: ``(proposition, low, high)``."""

    def __init__(
        self, variables: Sequence[model.Variable], arrays: Sequence[model.Array]
    ) -> None:
        self.variables, self.arrays = variables, arrays

    def translated(self, node: model.Expression) -> tuple[Expression, int, int]:
        if isinstance(node, model.Number):
            return Number(node.value), node.value, node.value
        if isinstance(node, model.Read):
            return self._named(node.variable), *self.variables[node.variable].bounds
        if isinstance(node, model.Element):
            array = next(a for a in self.arrays if a.first == node.first)
            index, _, _ = self.translated(node.index)
            return Element(array.name, index), *self.variables[node.first].bounds
        if isinstance(node, model.Lookup):
            raise UnsupportedError("an array of constants with an index that varies")
        if isinstance(node, model.Unary):
            return self._unary(node)
        assert isinstance(node, model.Binary)
        return self._binary(node)

    def _named(self, variable: int) -> Expression:
        for array in self.arrays:
            if array.first <= variable < array.first + array.size:
                return Element(array.name, Number(variable - array.first))
        return Name(self.variables[variable].name)

    def _unary(self, node: model.Unary) -> tuple[Expression, int, int]:
        operand, low, high = self.translated(node.operand)
        if node.op == "not":
            return Operation("!", (self.truth(node.operand),)), 0, 1
        if node.op == "-":
            return negative(operand), -high, -low
        raise UnsupportedError(f"the operator {node.op}")

    def truth(self, node: model.Expression) -> Expression:
        """Return the proposition that an expression is not 0."""
        if isinstance(node, model.Number) or model.is_truth(node):
            return self.translated(node)[0]
        return compared("!=", self.translated(node)[0], Number(0))

    def _binary(self, node: model.Binary) -> tuple[Expression, int, int]:
        if node.op in model.LOGICAL:
            left, right = self.truth(node.left), self.truth(node.right)
            if node.op == "imply":
                return Operation("||", (Operation("!", (left,)), right)), 0, 1
            return Operation(node.op, (left, right)), 0, 1
        state = self._state_test(node)
        if state is not None:
            return state, 0, 1
        left, *first = self.translated(node.left)
        right, *second = self.translated(node.right)
        if node.op in model.COMPARISONS:
            return compared(node.op, left, right), 0, 1
        if node.op not in ("+", "-", "*", "/", "%"):
            raise UnsupportedError(f"the operator {node.op}")
        low, high = combined(node.op, Interval(*first), Interval(*second))
        if max(abs(low), abs(high)) > _LARGEST:
            raise UnsupportedError("a value that may not fit into 32 bits")
        if node.op == "-":
            return Operation("+", (left, negative(right))), low, high
        return Operation(node.op, (left, right)), low, high

    def _state_test(self, node: model.Binary) -> Expression | None:
        """Return the test of a process's state, by the state's name."""
        variable, value = node.left, node.right
        if not isinstance(variable, model.Read) or not isinstance(value, model.Number):
            return None
        states = self.variables[variable.variable].states
        if not states or node.op not in ("==", "!="):
            return None
        name = Name(self.variables[variable.variable].name)
        return compared(node.op, name, Text(states[value.value]))


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
