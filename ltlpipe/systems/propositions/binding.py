"""Meaning of the names in a proposition in one system."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import (
    Call,
    Deadlock,
    Element,
    Indexed,
    Name,
    Number,
    Operation,
    Path,
    Ranges,
    Remote,
    Taken,
    Text,
    Variable,
    any_taken,
    name_of,
    uses_step,
)
from ltlpipe.runtime.errors import FormulaError, UnknownNameError, warn
from ltlpipe.runtime.names import listed, nearest

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Iterable,
        Mapping,
        Sequence,
    )

    from ltlpipe.logic.propositions.syntax import Expression

DEADLOCK = "deadlock"
ACTION = "action"
FIREABLE = "fireable"
_NEAREST = 3  # names that a message offers


def _called_otherwise(_: str) -> Sequence[str]:
    """Return no ids: names are those of the vocabulary (found by name in a pickle)."""
    return ()


@dataclass(frozen=True)
class Vocabulary:
    """The names of a system."""

    variables: Mapping[str, int]
    """Numbers of variables by their names; elements of arrays may be among them, as
    ``t[1]``."""
    arrays: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """First variable and size of each array."""
    texts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """The values by their names, for variables whose values have names, such as the
    state of a process."""
    facts: Mapping[str, Expression] = field(default_factory=dict)
    """Other names and what they stand for, over names above (``P_0.CS``)."""
    fireable: Mapping[str, Expression] = field(default_factory=dict)
    """When each action can be taken, for ``fireable(a)``."""
    actions: Mapping[str, Collection[int]] = field(default_factory=dict)
    """The actions that each name means, for ``action=="a"``: any that is called so."""
    invisible: Container[str] = ()
    """The names of actions that no formula can see: steps without a name."""
    variables_called: Callable[[str], Sequence[str]] = _called_otherwise
    """Returns the ids of the variables that have a text for their name or id."""
    actions_called: Callable[[str], Sequence[str]] = _called_otherwise
    """The same of actions."""
    counts: bool = False
    """Whether values are numbers of tokens, so that a name alone is no proposition."""


def bind(expression: Expression, known: Vocabulary, text: str) -> Expression:
    """Return a proposition, written as `text`, with what its names mean in their place.

    Raises
    ------
    FormulaError
        A name means nothing; offers the nearest known ones.
    """
    if known.counts and expression == Name(DEADLOCK):  # whatever has this name
        return Deadlock()
    bound = _Binder(known, text).bound(expression)
    if uses_step(bound) and not isinstance(bound, Taken):
        raise FormulaError(
            f"{ACTION} is about a step, the rest about a state: "
            "write them as propositions of their own",
            formula=text,
        )
    return bound


class _Binder:
    def __init__(self, known: Vocabulary, text: str) -> None:
        self.known = known
        self.refusal = partial(refusal_in, text)

    def bound(self, expression: Expression) -> Expression:
        if not isinstance(expression, Operation):
            return self.leaf(expression)
        operands = expression.operands
        if expression.operator == "==":
            for some, other in (operands, operands[::-1]):
                if isinstance(some, Text):
                    return self.named_value(other, some.value)
                if isinstance(some, Name) and self.has_value(other, some.text):
                    return self.named_value(other, some.text)
        parts = [self.bound(operand) for operand in operands]
        steps = [part for part in parts if isinstance(part, Taken)]
        if expression.operator == "||" and len(steps) == len(parts):
            return any_taken(steps)
        return replace(expression, operands=tuple(parts))

    def leaf(self, expression: Expression) -> Expression:
        if isinstance(expression, Name):
            return self.named(expression.text)
        if isinstance(expression, Element):
            return self.element(expression)
        if isinstance(expression, Call):
            return self.called(expression)
        if isinstance(expression, Path) and name_of(expression) in self.known.variables:
            return Variable(self.known.variables[name_of(expression)])
        if isinstance(expression, (Path, Remote)):
            raise self.unknown("nothing", str(expression), self.known.variables)
        if isinstance(expression, Text):
            raise self.refusal(f"{expression} can only be compared with == or !=")
        return expression

    def named(self, name: str) -> Expression:
        known = self.known
        ids = known.variables_called(name)
        self.note_namesakes("place", name, ids)
        if name in known.variables:
            return Variable(known.variables[name])
        if name in known.facts:
            return self.bound(known.facts[name])
        if name == DEADLOCK:
            return Deadlock()
        if ids:
            some = listed(list(map(repr, ids[:_NEAREST])))
            message = f"several places are called {name!r}: say which by its id, {some}"
            raise self.refusal(message, name)
        if name in known.arrays:
            raise self.refusal(f"{name} is an array: say which element, {name}[0]")
        if name in known.actions:
            own = f'{ACTION}=="{name}"'
            can = f"fireable({name}) or " if name in known.fireable else ""
            message = f"{name!r} is an action: write {can}{own}"
            raise self.refusal(message, name, UnknownNameError)
        everything = [*known.variables, *known.facts, *known.arrays, DEADLOCK]
        raise self.unknown("nothing in the system", name, everything)

    def element(self, element: Element) -> Expression:
        array = self.known.arrays.get(element.array)
        if array is None:
            name = name_of(element)
            if name in self.known.variables:
                return Variable(self.known.variables[name])
            raise self.unknown("no array", element.array, self.known.arrays)
        first, size = array
        index = self.bound(element.index)
        if not isinstance(index, Number):
            return Indexed(first, size, index)
        if not 0 <= index.value < size:
            raise self.refusal(
                f"{element}: {element.array} has the elements 0 to {size - 1}"
            )
        return Variable(first + index.value)

    def called(self, call: Call) -> Expression:
        if call.function != FIREABLE:
            raise self.refusal(f"no function is called {call.function!r}")
        if not self.known.fireable:
            raise self.refusal(f"actions of this system have no names for {FIREABLE}")
        conditions = []
        for argument in call.arguments:
            if not isinstance(argument, (Name, Element, Path)):
                raise self.refusal(f"{FIREABLE} is about names, not {argument}")
            name = name_of(argument)
            if name not in self.known.fireable:
                raise self.unknown("no action", name, self.known.fireable)
            self.note_namesakes("transition", name, self.known.actions_called(name))
            conditions.append(self.bound(self.known.fireable[name]))
        some = Operation("||", tuple(conditions))
        return conditions[0] if len(conditions) == 1 else some

    def named_value(self, subject: Expression, value: str) -> Expression:
        known = self.known
        if subject == Name(ACTION) and (known.counts or ACTION not in known.variables):
            return Taken(self.actions_called(value))
        bound = self.bound(subject)
        values = None
        if isinstance(bound, Variable):
            values = self.known.texts.get(bound.number)
        if values is None:
            raise self.refusal(f"the values of {subject} are numbers, not {value!r}")
        if value not in values:
            raise self.unknown(f"no value of {subject}", value, values)
        return Operation("==", (bound, Number(values[value])))

    def actions_called(self, name: str) -> Collection[int]:
        """Return the actions that a name stands for."""
        known = self.known
        if name not in known.actions:
            if name in known.invisible:
                raise self.refusal(
                    f"{name!r} is invisible: no formula can see it; {FIREABLE}({name}) "
                    "is true where it can be taken",
                    name,
                )
            raise self.unknown("no action", name, known.actions)
        self.note_namesakes("transition", name, known.actions_called(name))
        found = known.actions[name]
        return found if isinstance(found, range | Ranges) else frozenset(found)

    def note_namesakes(self, kind: str, name: str, ids: Sequence[str]) -> None:
        """Warn of an id that is the name of others, too: it means its own node."""
        others = [repr(other) for other in ids if other != name]
        if others and name in ids:
            warn(
                f"{name!r} is the id of one {kind} and the name of "
                f"{listed(others[:_NEAREST])}: here it means the one with this id"
            )

    def has_value(self, subject: Expression, name: str) -> bool:
        """Whether a bare name compared with `subject` is one of its values.

        It is so for a process and its states, whatever else is called so; a name
        that is nothing else either is taken for a mistyped state.
        """
        number = None
        if isinstance(subject, Name):
            number = self.known.variables.get(subject.text)
        if number is None or number not in self.known.texts:
            return False
        known = self.known
        elsewhere = (known.variables, known.facts, known.arrays, (DEADLOCK,))
        return name in known.texts[number] or not any(name in e for e in elsewhere)

    def unknown(self, what: str, name: str, candidates: Iterable[str]) -> FormulaError:
        message = f"{what} is called {name!r}{nearest(name, candidates)}"
        return self.refusal(message, name, UnknownNameError)


def refusal_in(
    text: str,
    message: str,
    name: str | None = None,
    kind: type[FormulaError] = FormulaError,
) -> FormulaError:
    """Return an error about a text, at the place of a name if that is given."""
    place = text.find(name) if name else -1
    return kind(message, formula=text, position=place if place >= 0 else None)
