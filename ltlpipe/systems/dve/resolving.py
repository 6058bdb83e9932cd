"""Expressions: from the syntax tree to checked ones, with constants folded."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import LtlpipeWarning
from ltlpipe.systems.dve import syntax
from ltlpipe.systems.dve.expressions import (
    LOGICAL,
    Binary,
    Element,
    EvaluationError,
    Lookup,
    Number,
    Read,
    Unary,
    evaluate,
    wrapped,
)
from ltlpipe.systems.dve.grammar import input_error
from ltlpipe.systems.dve.names import (
    Constant,
    ProcessName,
    Scalar,
    Scope,
    kind_of,
    unknown,
)
from ltlpipe.systems.dve.program import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.names import Meaning
    from ltlpipe.systems.dve.program import Variable
    from ltlpipe.systems.dve.syntax import Place

MAX_DEPTH = 200
"""Operators inside each other in one expression."""

_BITWISE = frozenset({"&", "^", "|"})
_LARGEST = (1 << 31) - 1


class Resolver:
    """Looks up the names of expressions.

    Parameters
    ----------
    file : str
        For messages.
    variables : sequence of Variable
        All that have been declared so far; it may grow.
    states : sequence of int
        For each process the variable of its state.
    scopes : sequence of Scope
        For each process its scope; it may grow.
    """

    def __init__(
        self,
        file: str,
        variables: Sequence[Variable],
        states: Sequence[int],
        scopes: Sequence[Scope],
    ) -> None:
        self.file = file
        self.variables = variables
        self.states = states
        self.scopes = scopes

    def error(self, message: str, place: Place) -> InputError:
        """Return an error about a place of the file."""
        return input_error(message, place, self.file)

    def expression(self, tree: syntax.Expression, scope: Scope) -> Expression:
        """Return a checked expression.

        Raises
        ------
        InputError
            A name is unknown or means something that has no value; operators are
            nested too deeply, or a number is too large.
        """
        return self._resolved(tree, scope, MAX_DEPTH)

    def constant(self, tree: syntax.Expression, scope: Scope, what: str) -> int:
        """Return the value of an expression that has to be constant."""
        expression = self.expression(tree, scope)
        if isinstance(expression, Number):
            return expression.value
        try:
            evaluate(expression, ())
        except EvaluationError as error:
            raise self.error(f"{error} in {what}", tree.place) from None
        except IndexError:
            pass
        raise self.error(f"{what} is not constant", tree.place)

    def target(self, tree: syntax.Expression, scope: Scope) -> Read | Element:
        """Return what an assignment or a receiver writes to."""
        if not isinstance(tree, syntax.Name):
            raise self.error("expected a variable", tree.place)
        if tree.process is not None:
            message = "a process cannot assign to a variable of another one"
            raise self.error(message, tree.place)
        if isinstance(scope.find(tree.name), Constant):
            raise self.error(f"{tree.name!r} is a constant", tree.place)
        resolved = self.expression(tree, scope)
        assert isinstance(resolved, (Read, Element))
        return resolved

    def _resolved(
        self, tree: syntax.Expression, scope: Scope, depth: int
    ) -> Expression:
        if not depth:
            message = f"more than {MAX_DEPTH} operators inside each other"
            raise self.error(message, tree.place)
        if isinstance(tree, syntax.Literal):
            if tree.value > _LARGEST:
                message = f"a number beyond {_LARGEST}, the largest"
                raise self.error(message, tree.place)
            return Number(tree.value)
        if isinstance(tree, syntax.StateOf):
            return self._state_test(tree, scope)
        if isinstance(tree, syntax.Name):
            index = None
            if tree.index is not None:
                index = self._resolved(tree.index, scope, depth - 1)
            return self._named(tree, scope, index)
        if isinstance(tree, syntax.Unary):
            operand = self._resolved(tree.operand, scope, depth - 1)
            return _folded(Unary(tree.op, operand))
        self._warn(tree)
        left = self._resolved(tree.left, scope, depth - 1)
        right = self._resolved(tree.right, scope, depth - 1)
        return _folded(Binary(tree.op, left, right))

    def _named(
        self, tree: syntax.Name, scope: Scope, index: Expression | None
    ) -> Expression:
        meaning: Meaning
        if tree.process is None:
            meaning = scope.look_up(tree.name, tree.place)
        else:
            process = self._process(tree.process, scope, tree.place)
            inner = self.scopes[process]
            found = inner.known.get(tree.name)
            if found is None:
                what = f"variable of {tree.process}"
                raise unknown(what, tree.name, inner.known, tree.place, self.file)
            meaning = found
        is_array = isinstance(meaning, Array) or (
            isinstance(meaning, Constant) and meaning.is_array
        )
        if not isinstance(meaning, (Constant, Scalar, Array)):
            message = f"{tree.name!r} is {kind_of(meaning)}, expected a variable"
            raise self.error(message, tree.place)
        if is_array and index is None:
            message = f"{tree.name!r} is {kind_of(meaning)}, expected an index"
            raise self.error(message, tree.place)
        if not is_array and index is not None:
            message = f"{tree.name!r} is {kind_of(meaning)} and has no elements"
            raise self.error(message, tree.place)
        if isinstance(meaning, Scalar):
            return Read(meaning.variable)
        if isinstance(meaning, Constant):
            if index is None:
                return Number(meaning.values[0])
            return _folded(Lookup(meaning.values, index))
        assert index is not None
        return _folded(Element(meaning.first, meaning.size, index))

    def _state_test(self, tree: syntax.StateOf, scope: Scope) -> Expression:
        process = self._process(tree.process, scope, tree.place)
        variable = self.states[process]
        states = self.variables[variable].states
        if tree.state not in states:
            what = f"state of {tree.process}"
            raise unknown(what, tree.state, states, tree.place, self.file)
        return Binary("==", Read(variable), Number(states.index(tree.state)))

    def _process(self, name: str, scope: Scope, place: Place) -> int:
        meaning = scope.look_up(name, place)
        if not isinstance(meaning, ProcessName):
            message = f"{name!r} is {kind_of(meaning)}, expected a process"
            raise self.error(message, place)
        return meaning.process

    def _warn(self, tree: syntax.Binary) -> None:
        """Warn where DiVinE, which has fewer levels of operators, reads otherwise."""
        inner = tree.right
        if not isinstance(inner, syntax.Binary) or inner.closed:
            return
        pair = {tree.op, inner.op}
        if pair == {"||", "&&"} or (len(pair) == 2 and pair <= _BITWISE):
            warnings.warn(
                f"{self.file}:{tree.place.line}: {inner.op!r} binds closer than "
                f"{tree.op!r} here, as in C, but not in DiVinE: use parentheses",
                LtlpipeWarning,
                stacklevel=2,
            )


def _folded(expression: Expression) -> Expression:
    """Replace what is constant by its value; what must fail is left to do so."""
    if isinstance(expression, Element):
        index = expression.index
        if isinstance(index, Number) and 0 <= index.value < expression.size:
            return Read(expression.first + index.value)
        return expression
    if isinstance(expression, Lookup):
        is_constant = isinstance(expression.index, Number)
    elif isinstance(expression, Unary):
        is_constant = isinstance(expression.operand, Number)
    elif isinstance(expression, Binary):
        left, right = expression.left, expression.right
        decided = isinstance(left, Number) and bool(left.value) == (
            expression.op == "||"
        )
        if expression.op in LOGICAL and decided:
            return Number(int(expression.op != "&&"))
        is_constant = isinstance(left, Number) and isinstance(right, Number)
    else:
        return expression
    if not is_constant:
        return expression
    try:
        return Number(wrapped(evaluate(expression, ())))
    except EvaluationError:
        return expression
