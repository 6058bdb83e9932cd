"""Reading a DVE model: from text to a checked `Program`.

Names of states have a scope of their own in each process, as in DiVinE: a state may be
called like a variable.  Values that do not fit their type are taken modulo the number
of its values, as assignments do, with a warning.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import LtlpipeWarning, UnsupportedError
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.systems.dve import syntax
from ltlpipe.systems.dve.expressions import Binary
from ltlpipe.systems.dve.grammar import parse
from ltlpipe.systems.dve.messages import MessageReader, declared_channel
from ltlpipe.systems.dve.names import (
    ChannelName,
    Constant,
    ProcessName,
    Scalar,
    Scope,
    unknown,
)
from ltlpipe.systems.dve.program import (
    BOUNDS,
    ERROR,
    Array,
    Channel,
    Effect,
    Process,
    Program,
    Transition,
    Variable,
)
from ltlpipe.systems.dve.resolving import Resolver

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.dve.expressions import Expression

_PART_BYTES = 1000  # of a declaration or a transition

MAX_VARIABLES = 1 << 12
"""Entries of a state beyond which a model is refused."""


def read_dve(text: str, file: str) -> Program:
    """Read a model from its text, without limits.

    Parameters
    ----------
    text : str
        What the file holds.
    file : str
        Its name, for messages.

    Raises
    ------
    InputError
        `text` is no model, a name is unknown or stands for something else than it
        has to, a constant is declared by itself; names file, line and column.
    UnsupportedError
        The model has a property process, or more than `MAX_VARIABLES` variables.
    """
    return complete(checked(parse(text, file), file))


def checked(tree: syntax.File, file: str) -> Job[Program]:
    """Return the job that looks names up, and checks what `read_dve` promises."""
    return (yield from _Reader(tree, file).program())


class _Reader:
    """Everything that is known while a file is read."""

    def __init__(self, tree: syntax.File, file: str) -> None:
        self.tree = tree
        self.file = file
        self.variables: list[Variable] = []
        self.arrays: list[Array] = []
        self.channels: list[Channel] = []
        self.processes: list[Process] = []
        self.states: list[int] = []
        self.locals: list[tuple[int, ...]] = []
        self.scopes: list[Scope] = []
        self.assertions: list[tuple[int, int, Expression]] = []
        self.scope = Scope(file)
        self.resolver = Resolver(file, self.variables, self.states, self.scopes)
        self.messages = MessageReader(self.resolver, self.channels)
        self.held = 0
        self.numbers: list[dict[str, int]] = []  # for each process those of its states

    def program(self) -> Job[Program]:
        tree = self.tree
        if tree.property is not None:
            raise UnsupportedError(
                f"{self.file}:{tree.property.place.line}: the property process "
                f"{tree.property.name!r}: give the property as a formula instead"
            )
        self.scope.later = {d.name: d.place for d in reversed(tree.declared)}
        for declared in tree.declared:
            if isinstance(declared, syntax.DeclaredChannel):
                self._declare_channel(declared)
            else:
                self._declare(declared, self.scope, "")
            yield self._progress()
        for number, process in enumerate(tree.processes):
            self.scope.declare(process.name, ProcessName(number), process.place)
        for process in tree.processes:
            yield from self._declare_process(process)
        for number, process in enumerate(tree.processes):
            self.processes.append((yield from self._process(number, process)))
        name = "error"
        while self.scope.find(name):
            name += "_"
        self.variables.append(Variable(name, ERROR, (0, 1), 0))
        return Program(
            self.file,
            tuple(self.variables),
            tuple(self.arrays),
            tuple(self.channels),
            tuple(self.processes),
            tree.synchronous,
            tuple(self.assertions),
        )

    def _progress(self, work: float = 20) -> Progress:
        """Say that a declaration or a transition has been read."""
        self.held += _PART_BYTES
        return Progress("reading", work, self.held)

    def _add(self, variables: list[Variable], place: syntax.Place) -> int:
        """Append variables; return the number of the first."""
        first = len(self.variables)
        if first + len(variables) > MAX_VARIABLES:
            raise UnsupportedError(
                f"{self.file}:{place.line}: more than {MAX_VARIABLES} variables and "
                "elements of arrays"
            )
        self.variables.extend(variables)
        return first

    def _size(
        self, tree: syntax.Expression, scope: Scope, what: str, least: int
    ) -> int:
        """Return the size of an array or a channel."""
        size = self.resolver.constant(tree, scope, f"the size of {what}")
        if size < least:
            message = f"the size of {what} is {size}, expected {least} or more"
            raise self.resolver.error(message, tree.place)
        if size > MAX_VARIABLES:
            raise UnsupportedError(
                f"{self.file}:{tree.place.line}: {what} has {size} elements; the limit "
                f"is {MAX_VARIABLES}"
            )
        return size

    def _declare(self, declared: syntax.Declared, scope: Scope, prefix: str) -> None:
        """Declare a variable, a constant or an array of them."""
        name, size = declared.name, None
        if declared.size is not None:
            size = self._size(declared.size, scope, repr(name), 1)
        values = self._initial(declared, scope, size)
        if declared.constant:
            if declared.initial is None:
                message = f"the constant {name!r} has no value"
                raise self.resolver.error(message, declared.place)
            meaning = Constant(tuple(values), size is not None)
            scope.declare(name, meaning, declared.place)
            return
        full, kind = prefix + name, declared.kind
        if size is None:
            entries = [Variable(full, kind, BOUNDS[kind], values[0])]
            first = self._add(entries, declared.place)
            scope.declare(name, Scalar(first), declared.place)
            return
        entries = [
            Variable(f"{full}[{i}]", kind, BOUNDS[kind], value)
            for i, value in enumerate(values)
        ]
        array = Array(full, self._add(entries, declared.place), size)
        self.arrays.append(array)
        scope.declare(name, array, declared.place)

    def _initial(
        self, declared: syntax.Declared, scope: Scope, size: int | None
    ) -> list[int]:
        """Return the values that a declaration gives, 0 where it gives none."""
        given = declared.initial or ()
        name = declared.name
        if declared.initial is not None and declared.braces != (size is not None):
            expected = "one value" if size is None else "values in braces"
            message = f"expected {expected} for {name!r}"
            raise self.resolver.error(message, declared.place)
        if len(given) > (size or 1):
            message = f"{len(given)} values for the {size} elements of {name!r}"
            raise self.resolver.error(message, declared.place)
        values = []
        for tree in given:
            value = self.resolver.constant(tree, scope, f"the value of {name!r}")
            low, high = BOUNDS[declared.kind]
            if not low <= value <= high:
                wrapped = low + (value - low) % (high - low + 1)
                warnings.warn(
                    f"{self.file}:{tree.place.line}: {value} is not in the range of "
                    f"{declared.kind}, {low} to {high}: {wrapped} is taken for it",
                    LtlpipeWarning,
                    stacklevel=2,
                )
                value = wrapped
            values.append(value)
        return values + [0] * ((size or 1) - len(values))

    def _declare_channel(self, declared: syntax.DeclaredChannel) -> None:
        name = declared.name
        capacity = 0
        if declared.size is not None:
            capacity = self._size(declared.size, self.scope, repr(name), 0)
        channel, variables, arrays = declared_channel(
            declared, capacity, len(self.variables)
        )
        self._add(variables, declared.place)
        self.arrays += arrays
        self.scope.declare(name, ChannelName(len(self.channels)), declared.place)
        self.channels.append(channel)

    def _declare_process(self, process: syntax.Process) -> Job[None]:
        """Make the states and variables of a process known."""
        names: dict[str, int] = {}
        for state in process.states:
            if state.name in names:
                message = f"the state {state.name!r} is declared a second time"
                raise self.resolver.error(message, state.place)
            names[state.name] = len(names)
        self.numbers.append(names)
        yield self._progress(1 + len(names))
        initial = self._states_of(process, names, "init")
        if len(initial) != 1:
            message = f"{process.name!r} has {len(initial)} initial states, expected 1"
            raise self.resolver.error(message, process.place)
        states = tuple(names)
        variable = Variable(
            process.name, "state", (0, len(states) - 1), initial[0], states
        )
        self.states.append(self._add([variable], process.place))
        scope = Scope(self.file, self.scope)
        scope.later = {d.name: d.place for d in reversed(process.declared)}
        self.scopes.append(scope)
        first = len(self.variables)
        for declared in process.declared:
            self._declare(declared, scope, f"{process.name}.")
            yield self._progress()
        self.locals.append(tuple(range(first, len(self.variables))))

    def _states_of(
        self, process: syntax.Process, names: dict[str, int], kind: str
    ) -> list[int]:
        """Return the states that the parts of a kind name."""
        numbers = []
        for section in process.sections:
            if isinstance(section, syntax.Section) and section.kind == kind:
                for label in section.states:
                    numbers.append(self._state(label, names, process.name))
        return numbers

    def _state(self, label: syntax.Label, names: dict[str, int], process: str) -> int:
        number = names.get(label.name)
        if number is None:
            what = f"state of {process}"
            raise unknown(what, label.name, names, label.place, self.file)
        return number

    def _process(self, number: int, tree: syntax.Process) -> Job[Process]:
        names = self.numbers[number]
        scope = self.scopes[number]
        for section in tree.sections:
            if isinstance(section, syntax.Assertions):
                for assertion in section.assertions:
                    state = self._state(assertion.state, names, tree.name)
                    condition = self.resolver.expression(assertion.condition, scope)
                    self.assertions.append((number, state, condition))
                    yield self._progress()
        transitions: list[Transition] = []
        for transition in tree.transitions:
            previous = transitions[-1].source if transitions else None
            transitions.append(
                self._transition(number, transition, names, scope, previous)
            )
            yield self._progress(20 + 10 * len(transition.effects))
        return Process(
            tree.name,
            self.states[number],
            frozenset(self._states_of(tree, names, "commit")),
            frozenset(self._states_of(tree, names, "accept")),
            tuple(transitions),
            self.locals[number],
        )

    def _transition(
        self,
        process: int,
        tree: syntax.Transition,
        names: dict[str, int],
        scope: Scope,
        previous: int | None,
    ) -> Transition:
        name = self.tree.processes[process].name
        if tree.source is not None:
            source = self._state(tree.source, names, name)
        elif previous is not None:
            source = previous
        else:
            raise self.resolver.error(
                "the first transition of a process has no source, expected a state",
                tree.place,
            )
        guard: Expression | None = None
        for condition in tree.guards:
            resolved = self.resolver.expression(condition, scope)
            guard = resolved if guard is None else Binary("&&", guard, resolved)
        message = None
        if tree.sync is not None:
            if self.tree.synchronous:
                raise UnsupportedError(
                    f"{self.file}:{tree.sync.place.line}: a channel in a synchronous "
                    "system, whose processes all move at once anyway: use variables"
                )
            message = self.messages.message(tree.sync, scope)
        effects = tuple(
            Effect(
                self.resolver.target(effect.target, scope),
                self.resolver.expression(effect.value, scope),
            )
            for effect in tree.effects
        )
        return Transition(
            process,
            source,
            self._state(tree.target, names, name),
            guard,
            message,
            effects,
            tree.place.line,
        )
