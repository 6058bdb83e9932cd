"""Reading a DVE model: from text to a checked `Program`.

Names of states have a scope of their own in each process, as in DiVinE: a state may be
called like a variable.  Values that do not fit their type are taken modulo the number
of its values, as assignments do, with a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError, warn
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.programs import syntax
from ltlpipe.systems.programs.expressions import Binary, Number, Read
from ltlpipe.systems.programs.grammar import tree_of
from ltlpipe.systems.programs.program import (
    BOUNDS,
    ERROR,
    Array,
    Channel,
    Effect,
    Message,
    Process,
    Program,
    Transition,
    Variable,
    converted,
)
from ltlpipe.systems.programs.resolving import (
    ChannelName,
    Constants,
    ProcessName,
    Resolver,
    Scope,
    unknown,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.expressions import Expression

_PART_BYTES = 1000  # of a declaration or a transition

MAX_VARIABLES = 1 << 12
"""Entries of a state beyond which a model is refused."""


def checked(plain: Plain, file: str) -> Job[Program]:
    """Return the job that checks what `parse_plain` has returned of a file.

    Raises
    ------
    InputError
        A name is unknown or stands for something else than it has to, a constant is
        declared by itself; names file, line and column.
    UnsupportedError
        The model has a property process, or more than `MAX_VARIABLES` variables.
    """
    tree = yield from tree_of(plain)
    return (yield from _Reader(tree, file).program())


class _Reader(Resolver):
    """Everything that is known while a file is read."""

    def __init__(self, tree: syntax.File, file: str) -> None:
        super().__init__(file)
        self.tree = tree
        self.arrays: list[Array] = []
        self.channels: list[Channel] = []
        self.processes: list[Process] = []
        self.locals: list[tuple[int, ...]] = []
        self.assertions: list[tuple[int, int, Expression]] = []
        self.scope = Scope(file)
        self.parts: dict[int, tuple[int, int]] = {}  # of untyped channels; the line
        self.held = 0

    def program(self) -> Job[Program]:
        tree = self.tree
        if tree.property is not None:
            raise UnsupportedError(
                f"{self.file}:{tree.property.place.line}: the property process "
                f"{tree.property.name!r}: give the property as a formula instead"
            )
        yield from self._declare_all(tree.declarations, self.scope, "")
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
            tree.mode == "sync",
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

    def _size(self, declared: syntax.Declared, scope: Scope, least: int) -> int | None:
        """Return the size of an array or a channel, None if it has none."""
        tree, what = declared.size, repr(declared.name)
        if tree is None:
            return None
        size = self.constant(tree, scope, f"the size of {what}")
        if size < least:
            message = f"the size of {what} is {size}, expected {least} or more"
            raise self.error(message, tree.place)
        if size > MAX_VARIABLES:
            raise UnsupportedError(
                f"{self.file}:{tree.place.line}: {what} has {size} elements; the limit "
                f"is {MAX_VARIABLES}"
            )
        return size

    def _declare_all(
        self,
        declarations: tuple[syntax.Variables | syntax.Channels, ...],
        scope: Scope,
        prefix: str,
    ) -> Job[None]:
        named = [d for part in declarations for d in part.declared]
        scope.later = {d.name: d.place for d in reversed(named)}
        for part in declarations:
            if isinstance(part, syntax.Channels):
                for channel in part.declared:
                    self._declare_channel(channel, part.types)
                    yield self._progress()
            else:
                for declared in part.declared:
                    self._declare(declared, part, scope, prefix)
                    yield self._progress()

    def _declare(
        self,
        declared: syntax.Declared,
        part: syntax.Variables,
        scope: Scope,
        prefix: str,
    ) -> None:
        """Declare a variable, a constant or an array of them."""
        name, kind, place = declared.name, part.kind, declared.place
        size = self._size(declared, scope, 1)
        values = self._initial(declared, kind, scope, size)
        if part.constant:
            if declared.initial is None:
                raise self.error(f"the constant {name!r} has no value", place)
            constant = Number(values[0]) if size is None else Constants(tuple(values))
            scope.declare(name, constant, place)
            return
        full = prefix + name
        names = [full] if size is None else [f"{full}[{i}]" for i in range(size)]
        entries = [
            Variable(entry, kind, BOUNDS[kind], value)
            for entry, value in zip(names, values, strict=True)
        ]
        first = self._add(entries, place)
        if size is None:
            scope.declare(name, Read(first), place)
            return
        self.arrays.append(Array(full, first, size))
        scope.declare(name, self.arrays[-1], place)

    def _initial(
        self, declared: syntax.Declared, kind: str, scope: Scope, size: int | None
    ) -> list[int]:
        """Return the values that a declaration gives, 0 where it gives none."""
        initial, name, place = declared.initial, declared.name, declared.place
        in_braces = isinstance(initial, syntax.Values)
        if initial is not None and in_braces != (size is not None):
            expected = "one value" if size is None else "values in braces"
            raise self.error(f"expected {expected} for {name!r}", place)
        given: tuple[syntax.Expression, ...] = ()
        if initial is not None:
            given = initial.values if isinstance(initial, syntax.Values) else (initial,)
        if len(given) > (size or 1):
            message = f"{len(given)} values for the {size} elements of {name!r}"
            raise self.error(message, place)
        values = []
        for tree in given:
            value = self.constant(tree, scope, f"the value of {name!r}")
            values.append(converted(value, kind))
            if values[-1] != value:
                low, high = BOUNDS[kind]
                warn(
                    f"{self.file}:{tree.place.line}: {value} is not in the range of "
                    f"{kind}, {low} to {high}: {values[-1]} is taken for it",
                )
        return values + [0] * ((size or 1) - len(values))

    def _declare_channel(
        self, declared: syntax.Declared, types: tuple[str, ...] | None
    ) -> None:
        """Declare a channel, and the arrays that hold its contents."""
        name = declared.name
        capacity = self._size(declared, self.scope, 0)
        channel = Channel(name, types, 0)
        if capacity:
            types = types or ()
            variables = [Variable(f"{name}.length", "length", (0, capacity), 0)]
            first = len(self.variables)
            cells = []
            for number, kind in enumerate(types):
                # A message of one part is what the channel holds, and has its name.
                part = name if len(types) == 1 else f"{name}.part{number}"
                cells.append(first + len(variables))
                self.arrays.append(Array(part, cells[-1], capacity))
                variables += [
                    Variable(f"{part}[{i}]", kind, BOUNDS[kind], 0)
                    for i in range(capacity)
                ]
            channel = Channel(name, types, capacity, first, tuple(cells))
            self._add(variables, declared.place)
        self.scope.declare(name, ChannelName(len(self.channels)), declared.place)
        self.channels.append(channel)

    def _declare_process(self, process: syntax.Process) -> Job[None]:
        """Make the states and variables of a process known."""
        scope = Scope(self.file, self.scope, process=process.name)
        self.scopes.append(scope)
        for state in process.states:
            if state.name in scope.states:
                message = f"the state {state.name!r} is declared a second time"
                raise self.error(message, state.place)
            scope.states[state.name] = len(scope.states)
        yield self._progress(1 + len(scope.states))
        initial = self._states_of(process, scope, "init")
        if len(initial) != 1:
            message = f"{process.name!r} has {len(initial)} initial states, expected 1"
            raise self.error(message, process.place)
        states = tuple(scope.states)
        bounds = (0, len(states) - 1)
        variable = Variable(process.name, "state", bounds, initial[0], states)
        self.states.append(self._add([variable], process.place))
        first = len(self.variables)
        yield from self._declare_all(process.declarations, scope, f"{process.name}.")
        self.locals.append(tuple(range(first, len(self.variables))))

    def _states_of(self, process: syntax.Process, scope: Scope, kind: str) -> list[int]:
        """Return the states that the parts of a kind name."""
        return [
            self._state(label, scope)
            for section in process.sections
            if section.kind == kind
            for label in section.entries
            if isinstance(label, syntax.Label)
        ]

    def _state(self, label: syntax.Label, scope: Scope) -> int:
        number = scope.states.get(label.name)
        if number is None:
            what = f"state of {scope.process}"
            raise unknown(what, label.name, scope.states, label.place, self.file)
        return number

    def _process(self, number: int, tree: syntax.Process) -> Job[Process]:
        scope = self.scopes[number]
        for section in tree.sections:
            for entry in section.entries:
                if isinstance(entry, syntax.Assertion):
                    state = self._state(entry.state, scope)
                    condition = self.expression(entry.condition, scope)
                    self.assertions.append((number, state, condition))
                    yield self._progress()
        transitions: list[Transition] = []
        for transition in tree.transitions or ():
            previous = transitions[-1].source if transitions else None
            transitions.append(self._transition(number, transition, scope, previous))
            yield self._progress(20 + 10 * len(transition.effects or ()))
        return Process(
            tree.name,
            self.states[number],
            frozenset(self._states_of(tree, scope, "commit")),
            frozenset(self._states_of(tree, scope, "accept")),
            tuple(transitions),
            self.locals[number],
        )

    def _transition(
        self,
        process: int,
        tree: syntax.Transition,
        scope: Scope,
        previous: int | None,
    ) -> Transition:
        if tree.source is not None:
            source = self._state(tree.source, scope)
        elif previous is not None:
            source = previous
        else:
            raise self.error(
                "the first transition of a process has no source, expected a state",
                tree.place,
            )
        guard: Expression | None = None
        for condition in tree.guards or ():
            resolved = self.expression(condition, scope)
            guard = resolved if guard is None else Binary("&&", guard, resolved)
        message = None if tree.sync is None else self._message(tree.sync, scope)
        effects = tuple(
            Effect(
                self.target(effect.target, scope),
                self.expression(effect.value, scope),
            )
            for effect in tree.effects or ()
        )
        target = self._state(tree.target, scope)
        return Transition(process, source, target, guard, message, effects)

    def _message(self, tree: syntax.Synchronisation, scope: Scope) -> Message:
        """Return what a transition sends or receives.

        Both ends of a channel have to agree about its parts.
        """
        if self.tree.mode == "sync":
            raise UnsupportedError(
                f"{self.file}:{tree.place.line}: a channel in a synchronous "
                "system, whose processes all move at once anyway: use variables"
            )
        meaning = scope.look_up(tree.channel, tree.place)
        if not isinstance(meaning, ChannelName):
            raise self.expected("a channel", tree.channel, meaning, tree.place)
        number, values = meaning.channel, tree.values or ()
        channel = self.channels[number]
        if channel.types is not None:
            expected, where = len(channel.types), "declared with"
        else:
            known = (len(values), tree.place.line)
            expected, line = self.parts.setdefault(number, known)
            where = f"used in line {line} with"
        if len(values) != expected:
            raise self.error(
                f"{len(values)} values for the channel {tree.channel!r}, "
                f"{where} {expected}",
                tree.place,
            )
        sends = tree.mark == "!"
        resolve = self.expression if sends else self.target
        return Message(number, sends, tuple(resolve(v, scope) for v in values))
