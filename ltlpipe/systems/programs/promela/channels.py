"""Channels that a variable of type ``chan`` may stand for.

A channel comes from the declaration of a variable, its *site*.  Variables, parameters
and fields of messages hold channels of those sites that can flow into them, wherever
the statements are: the smallest solution of the inclusions that assignments,
messages and ``run`` are.

Source: L. O. Andersen, "Program Analysis and Specialization for the C Programming
Language", PhD thesis, DIKU, University of Copenhagen 1994, Ch. 4.  Differences from
the source: there are no pointers to variables.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.syntax import nodes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Site: TypeAlias = syntax.Variable


def written(model: syntax.Model) -> set[syntax.Variable]:
    """Return the variables that statements write to, `Declare` left out."""
    found = set()
    for proctype in model.proctypes:
        for node in nodes_in(proctype.body):
            if isinstance(node, syntax.Assign):
                found.add(node.target.variable)
            elif isinstance(node, syntax.Argument) and node.kind == "store":
                assert isinstance(node.value, syntax.Reference)
                found.add(node.value.variable)
    return found


def _first_values(variable: syntax.Variable) -> tuple[Any, ...]:
    """Return the expressions that a variable is initialised with."""
    initial = variable.initial
    if initial is None or isinstance(initial, syntax.NewChannel):
        return ()
    return initial if isinstance(initial, tuple) else (initial,)


def _fits(send: syntax.Send, receive: syntax.Receive) -> bool:
    """Whether constants, as they are written, allow that what is sent is received."""
    pairs = zip(send.values, receive.arguments, strict=False)
    return len(send.values) == len(receive.arguments) and not any(
        isinstance(value, syntax.Number)
        and isinstance(argument.value, syntax.Number)
        and value.value != argument.value.value
        for value, argument in pairs
    )


def _received(
    send: syntax.Send, receive: syntax.Receive
) -> Iterator[tuple[syntax.Variable, Any]]:
    """Yield the variables in which a message is stored, with its fields."""
    for value, argument in zip(send.values, receive.arguments, strict=False):
        if argument.kind == "store":
            assert isinstance(argument.value, syntax.Reference)
            yield argument.value.variable, value


class Sites:
    """The sites of the channels of variables and fields."""

    def __init__(self, model: syntax.Model) -> None:
        self._known: dict[syntax.Variable, set[Site]] = defaultdict(set)
        self._parameters = {p.name: p.parameters for p in model.proctypes}
        variables = [
            *model.variables,
            *(v for p in model.proctypes for v in p.variables),
        ]
        for variable in variables:
            if isinstance(variable.initial, syntax.NewChannel):
                self._known[variable].add(variable)
        self._first = [(v, value) for v in variables for value in _first_values(v)]
        self._nodes = [n for p in model.proctypes for n in nodes_in(p.body)]
        size = -1
        while size != self._size():
            size = self._size()
            for variable, value in self._stored(lambda *_: True):
                self._known[variable] |= self.of(value)
        for variable, value in self._stored(_fits):
            self._refuse(variable.type, value)

    def _size(self) -> int:
        return sum(map(len, self._known.values()))

    def of(self, expression: Any) -> set[Site]:
        """Return the sites of the channels that an expression can stand for."""
        if isinstance(expression, syntax.Conditional):
            return self.of(expression.yes) | self.of(expression.no)
        if isinstance(expression, syntax.RemoteVariable):
            expression = expression.reference
        if isinstance(expression, syntax.Reference):
            return self._known[expression.variable]
        return set()

    def of_variable(self, variable: syntax.Variable) -> set[Site]:
        """Return the sites of the channels that a variable can stand for."""
        return self._known[variable]

    def _refuse(self, type_: syntax.Type, value: Any) -> None:
        """Refuse a number as a channel: which one it is would be by chance."""
        if isinstance(value, syntax.Conditional):
            self._refuse(type_, value.yes)
            self._refuse(type_, value.no)
            return
        if isinstance(value, syntax.RemoteVariable):
            value = value.reference
        is_none = isinstance(value, syntax.Number) and not value.value
        if type_ != syntax.CHAN or is_none or self.of(value):
            return
        if not isinstance(value, syntax.Reference) or value.variable.type != type_:
            place = f"{value.place.file}:{value.place.line}"
            raise UnsupportedError(f"{place}: a number, expected a channel")

    def _stored(
        self, fits: Callable[[syntax.Send, syntax.Receive], bool]
    ) -> Iterator[tuple[syntax.Variable, Any]]:
        """Yield variables with the expressions that are stored in them.

        `fits` is whether a message can be received.
        """
        yield from self._first
        sends = [node for node in self._nodes if isinstance(node, syntax.Send)]
        for node in self._nodes:
            if isinstance(node, syntax.Assign):
                yield node.target.variable, node.value
            elif isinstance(node, syntax.Run):
                parameters = self._parameters[node.proctype]
                yield from zip(parameters, node.arguments, strict=False)
            elif isinstance(node, syntax.Receive):
                sites = self.of(node.channel)
                for send in sends:
                    if sites & self.of(send.channel) and fits(send, node):
                        yield from _received(send, node)
