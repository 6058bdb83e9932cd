"""Names and expressions, from the syntax tree to checked ones; constants are folded."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.runtime.errors import warn
from ltlpipe.systems.programs import syntax
from ltlpipe.systems.programs.expressions import (
    LOGICAL,
    Binary,
    Element,
    EvaluationError,
    Lookup,
    Number,
    Read,
    Unary,
    evaluate,
    parts,
)
from ltlpipe.systems.programs.grammar import input_error
from ltlpipe.systems.programs.program import Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.systems.programs.expressions import Expression
    from ltlpipe.systems.programs.program import Variable
    from ltlpipe.systems.programs.syntax import Place

MAX_DEPTH = 200
"""Operators inside each other in one expression."""

_BITWISE = frozenset({"&", "^", "|"})
_LARGEST = (1 << 31) - 1
_COMPARED = 1000  # names among which the nearest is looked for: that takes long
_LONG = 100  # characters of a name beyond which it takes much longer


class Constants(NamedTuple):
    """An array of constants."""

    values: tuple[int, ...]


class ChannelName(NamedTuple):
    """The number of a channel."""

    channel: int


class ProcessName(NamedTuple):
    """The number of a process."""

    process: int


Meaning: TypeAlias = Number | Read | Constants | Array | ChannelName | ProcessName

_KINDS = {
    Number: "a constant",
    Read: "a variable",
    Constants: "an array of constants",
    Array: "an array",
    ChannelName: "a channel",
    ProcessName: "a process",
}


@dataclass
class Scope:
    """Names that are known in a file or in one of its processes."""

    file: str  # for messages
    outer: Scope | None = None  # where names are looked up that are not known here
    later: dict[str, Place] = field(default_factory=dict)
    """The places of all names that are declared here, sooner or later."""
    known: dict[str, Meaning] = field(default_factory=dict)
    process: str = ""  # whose variables they are
    states: dict[str, int] = field(default_factory=dict)  # of the process

    def declare(self, name: str, meaning: Meaning, place: Place) -> None:
        """Make a name known; raise `InputError` if it is already."""
        if name in self.known:
            line = self.later[name].line
            message = f"{name!r} is declared a second time, first in line {line}"
            raise input_error(message, place, self.file)
        self.known[name] = meaning
        self.later.setdefault(name, place)

    def _outwards(self) -> Iterator[Scope]:
        """Yield this and the scopes around it."""
        yield self
        if self.outer is not None:
            yield from self.outer._outwards()

    def find(self, name: str) -> Meaning | None:
        """Return what a name means here, or None."""
        known = (s.known[name] for s in self._outwards() if name in s.known)
        return next(known, None)

    def look_up(self, name: str, place: Place) -> Meaning:
        """Return what a name means; raise `InputError` if nothing."""
        meaning = self.find(name)
        if meaning is not None:
            return meaning
        later = (s.later[name] for s in self._outwards() if name in s.later)
        declared = next(later, None)
        if declared is None:
            names = (n for scope in self._outwards() for n in scope.known)
            raise unknown("name", name, names, place, self.file)
        what = "is used before it is declared"
        if declared.line == place.line and declared <= place:
            what = "is declared by itself"
        message = f"{name!r} {what} (line {declared.line})"
        raise input_error(message, place, self.file)


def unknown(
    what: str, name: str, names: Iterable[str], place: Place, file: str
) -> Exception:
    """Return an error about a name that nothing has, with the names most like it."""
    known = list(islice(names, _COMPARED))
    close = [n for n in known if n.lower() == name.lower()]
    if not close and len(name) <= _LONG:
        known = [n for n in known if len(n) <= _LONG]
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    return input_error(f"unknown {what} {name!r}{hint}", place, file)


class Resolver:
    """Looks up the names in expressions of a file, once they have been declared."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.variables: list[Variable] = []
        self.states: list[int] = []  # for each process the variable of its state
        self.scopes: list[Scope] = []  # for each process its scope

    def error(self, message: str, place: Place) -> InputError:
        """Return an error about a place of the file."""
        return input_error(message, place, self.file)

    def expected(
        self, what: str, name: str, meaning: Meaning, place: Place
    ) -> Exception:
        """Return an error about a name that means something else than it has to."""
        message = f"{name!r} is {_KINDS[type(meaning)]}, expected {what}"
        return self.error(message, place)

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
        place = _opened(tree).place
        try:
            evaluate(expression, ())
        except EvaluationError as error:
            raise self.error(f"{error} in {what}", place) from None
        except IndexError:
            pass
        raise self.error(f"{what} is not constant", place)

    def target(self, tree: syntax.Expression, scope: Scope) -> Read | Element:
        """Return what an assignment or a receiver writes to."""
        name = _opened(tree)
        if not isinstance(name, syntax.Name):
            raise self.error("expected a variable", name.place)
        if name.process is not None:
            message = "a process cannot assign to a variable of another one"
            raise self.error(message, name.place)
        if isinstance(scope.find(name.name), (Number, Constants)):
            raise self.error(f"{name.name!r} is a constant", name.place)
        resolved = self.expression(tree, scope)
        assert isinstance(resolved, (Read, Element))
        return resolved

    def _resolved(
        self, expression: syntax.Expression, scope: Scope, depth: int
    ) -> Expression:
        tree = _opened(expression)
        if not depth:
            message = f"more than {MAX_DEPTH} operators inside each other"
            raise self.error(message, tree.place)
        if isinstance(tree, syntax.Literal):
            return self._number(tree)
        if isinstance(tree, syntax.StateOf):
            return self._state_test(tree, scope)
        if isinstance(tree, syntax.Name):
            index = None
            if tree.subscript is not None:
                index = self._resolved(tree.subscript, scope, depth - 1)
            return self._named(tree, scope, index)
        if isinstance(tree, syntax.Unary):
            operand = self._resolved(tree.operand, scope, depth - 1)
            return _folded(Unary(tree.op, operand))
        self._warn(tree)
        left = self._resolved(tree.left, scope, depth - 1)
        right = self._resolved(tree.right, scope, depth - 1)
        return _folded(Binary(tree.op, left, right))

    def _number(self, tree: syntax.Literal) -> Number:
        if tree.text in ("true", "false"):
            return Number(int(tree.text == "true"))
        digits = tree.text.lstrip("0") or "0"
        # Many digits would be slow to read, and are too large anyway.
        value = int(digits) if len(digits) <= len(str(_LARGEST)) else _LARGEST + 1
        if value > _LARGEST:
            message = f"a number beyond {_LARGEST}, the largest"
            raise self.error(message, tree.place)
        return Number(value)

    def _named(
        self, tree: syntax.Name, scope: Scope, index: Expression | None
    ) -> Expression:
        if tree.process is None:
            meaning = scope.look_up(tree.name, tree.place)
        else:
            inner = self.scopes[self._process_number(tree.process, scope, tree.place)]
            found = inner.known.get(tree.name)
            if found is None:
                what = f"variable of {tree.process}"
                raise unknown(what, tree.name, inner.known, tree.place, self.file)
            meaning = found
        if isinstance(meaning, (ChannelName, ProcessName)):
            raise self.expected("a variable", tree.name, meaning, tree.place)
        if isinstance(meaning, (Number, Read)):
            if index is None:
                return replace(meaning)  # every place has a node of its own
            message = f"{tree.name!r} is {_KINDS[type(meaning)]} and has no elements"
            raise self.error(message, tree.place)
        if index is None:
            raise self.expected("an index", tree.name, meaning, tree.place)
        if isinstance(meaning, Constants):
            return _folded(Lookup(meaning.values, index))
        return _folded(Element(meaning.first, meaning.size, index))

    def _state_test(self, tree: syntax.StateOf, scope: Scope) -> Expression:
        variable = self.states[self._process_number(tree.process, scope, tree.place)]
        states = self.variables[variable].states
        if tree.state not in states:
            what = f"state of {tree.process}"
            raise unknown(what, tree.state, states, tree.place, self.file)
        return Binary("==", Read(variable), Number(states.index(tree.state)))

    def _process_number(self, name: str, scope: Scope, place: Place) -> int:
        meaning = scope.look_up(name, place)
        if not isinstance(meaning, ProcessName):
            raise self.expected("a process", name, meaning, place)
        if meaning.process >= len(self.states):
            raise self.error(f"{name!r} is used before it is declared", place)
        return meaning.process

    def _warn(self, tree: syntax.Binary) -> None:
        """Warn where DiVinE, which has fewer levels of operators, reads otherwise."""
        inner = tree.right
        if not isinstance(inner, syntax.Binary):
            return
        pair = {tree.op, inner.op}
        if pair == {"||", "&&"} or (len(pair) == 2 and pair <= _BITWISE):
            warn(
                f"{self.file}:{tree.place.line}: {inner.op!r} binds closer than "
                f"{tree.op!r} here, as in C, but not in DiVinE: use parentheses",
            )


def _opened(tree: syntax.Expression) -> syntax.Opened:
    """Return an expression without the parentheses around it."""
    while isinstance(tree, syntax.Closed):
        tree = tree.inner
    return tree


def _folded(expression: Element | Lookup | Unary | Binary) -> Expression:
    """Replace what is constant by its value; what must fail is left to do so."""
    if isinstance(expression, Element):
        index = expression.index
        if isinstance(index, Number) and 0 <= index.value < expression.size:
            return Read(expression.first + index.value)
        return expression
    if isinstance(expression, Binary) and expression.op in LOGICAL:
        left = expression.left
        if isinstance(left, Number) and bool(left.value) == (expression.op == "||"):
            return Number(int(expression.op != "&&"))
    if not all(isinstance(part, Number) for part in parts(expression)):
        return expression
    try:
        return Number(evaluate(expression, ()))
    except EvaluationError:
        return expression
