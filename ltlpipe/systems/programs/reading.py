"""Reading a DVE model: from text to a checked `Program`.

Names of states have a scope of their own in each process, as in DiVinE: a state may be
called like a variable.  Values that do not fit their type are taken modulo the number
of its values, as assignments do, with a warning.

Names and expressions, from the syntax tree to checked ones; constants are folded.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError, warn
from ltlpipe.runtime.memory import collection_paused
from ltlpipe.runtime.names import counted, nearest
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs import claims, syntax
from ltlpipe.systems.programs.claims import Edge, as_truth
from ltlpipe.systems.programs.parsing import tree_of
from ltlpipe.systems.programs.program import (
    BOUNDS,
    ERROR,
    Array,
    Assignment,
    Binary,
    Channel,
    Element,
    EvaluationError,
    Lookup,
    Message,
    Number,
    Process,
    Program,
    Read,
    Transition,
    Unary,
    Variable,
    buffered,
    converted,
    evaluate,
    folded,
)
from ltlpipe.systems.programs.syntax import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import Expression
    from ltlpipe.systems.programs.syntax import Place

MAX_DEPTH = 200
"""Operators inside each other in one expression."""

_BITWISE = frozenset({"&", "^", "|"})
_LARGEST = (1 << 31) - 1
_COMPARED = 1000  # names among which the nearest is looked for: that takes long
_LONG = 100  # characters of a name beyond which it takes much longer


CONSTANT, VARIABLE = "a constant", "a variable"
CONSTANTS, ARRAY = "an array of constants", "an array"
CHANNEL, PROCESS = "a channel", "a process"
"""Kinds of meanings, as messages have them."""


class Meaning(NamedTuple):
    """What a name stands for."""

    kind: str
    value: Any  # an expression, values or an `Array`; the number of what has no value


class Scope:
    """Names that are known in a file, or in one of its processes and around it."""

    def __init__(
        self, file: str, outer: Scope | None = None, process: str = ""
    ) -> None:
        self.file = file  # for messages
        self.process = process  # whose variables they are
        self.states: dict[str, int] = {}  # of the process
        self.known: ChainMap[str, Meaning] = ChainMap({})
        self.later: ChainMap[str, Place] = ChainMap({})
        """The places of all names that are declared, sooner or later."""
        if outer is not None:
            self.known = outer.known.new_child()
            self.later = outer.later.new_child()

    def declare(self, name: str, kind: str, value: Any, place: Place) -> None:
        """Make a name known; raise `InputError` if it is already."""
        if name in self.known.maps[0]:
            line = self.later[name].line
            message = f"{name!r} is declared a second time, first in line {line}"
            raise input_error(message, place, self.file)
        self.known[name] = Meaning(kind, value)
        self.later.maps[0].setdefault(name, place)

    def look_up(self, name: str, place: Place) -> Meaning:
        """Return what a name means; raise `InputError` if nothing."""
        for own in self.known.maps:  # faster than the chain itself
            if name in own:
                return own[name]
        if name not in self.later:
            names = (n for own in self.known.maps for n in own)
            raise unknown("name", name, names, place, self.file)
        declared = self.later[name]
        what = "is used before it is declared"
        if declared.line == place.line and declared <= place:
            what = "is declared by itself"
        raise input_error(f"{name!r} {what} (line {declared.line})", place, self.file)


def unknown(
    what: str, name: str, names: Iterable[str], place: Place, file: str
) -> Exception:
    """Return an error about a name that nothing has, with the names most like it."""
    known = [n for n in islice(names, _COMPARED) if len(n) <= _LONG]
    hint = nearest(name, known) if len(name) <= _LONG else ""
    return input_error(f"unknown {what} {name!r}{hint}", place, file)


class Resolver:
    """Looks up the names in expressions of a file, once they have been declared."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.variables: list[Variable] = []
        self.states: list[int] = []  # for each process the variable of its state
        self.scopes: list[Scope] = []  # for each process its scope
        self._doubtful: dict[tuple[str, str, str], list[Place]] = {}

    def error(self, message: str, place: Place) -> InputError:
        """Return an error about a place of the file."""
        return input_error(message, place, self.file)

    def expected(
        self, what: str, name: str, meaning: Meaning, place: Place
    ) -> Exception:
        """Return an error about a name that means something else than it has to."""
        message = f"{name!r} is {meaning.kind}, expected {what}"
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
        meaning = scope.known.get(name.name)
        if meaning is not None and meaning.kind in (CONSTANT, CONSTANTS):
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
            return folded(Unary(tree.op, operand))
        self._look_at_levels(tree)
        left = self._resolved(tree.left, scope, depth - 1)
        right = self._resolved(tree.right, scope, depth - 1)
        return folded(Binary(tree.op, left, right))

    def _number(self, tree: syntax.Literal) -> Number:
        if tree.text in ("true", "false"):
            return Number(int(tree.text == "true"))
        digits = tree.text.lstrip("0") or "0"
        # Many digits would be slow to read, and are too large anyway.
        value = int(digits) if len(digits) <= len(str(_LARGEST)) else _LARGEST + 1
        if value > _LARGEST:
            raise self.error(f"a number beyond {_LARGEST}, the largest", tree.place)
        return Number(value)

    def _named(
        self, tree: syntax.Name, scope: Scope, index: Expression | None
    ) -> Expression:
        if tree.process is None:
            meaning = scope.look_up(tree.name, tree.place)
        else:
            inner = self.scopes[self._process_number(tree.process, scope, tree.place)]
            own = inner.known.maps[0]
            if tree.name not in own:
                what = f"variable of {tree.process}"
                raise unknown(what, tree.name, own, tree.place, self.file)
            meaning = own[tree.name]
        if meaning.kind in (CHANNEL, PROCESS):
            raise self.expected("a variable", tree.name, meaning, tree.place)
        value = meaning.value
        if meaning.kind in (CONSTANT, VARIABLE):
            if index is None:
                copied: Expression = replace(value)
                return copied  # every place has a node of its own
            message = f"{tree.name!r} is {meaning.kind} and has no elements"
            raise self.error(message, tree.place)
        if index is None:
            raise self.expected("an index", tree.name, meaning, tree.place)
        if meaning.kind == CONSTANTS:
            return folded(Lookup(value, index))
        return folded(Element(value.first, value.size, index))

    def _state_test(self, tree: syntax.StateOf, scope: Scope) -> Expression:
        variable = self.states[self._process_number(tree.process, scope, tree.place)]
        states = self.variables[variable].states
        if tree.state not in states:
            what = f"state of {tree.process}"
            raise unknown(what, tree.state, states, tree.place, self.file)
        return Binary("==", Read(variable), Number(states.index(tree.state)))

    def _process_number(self, name: str, scope: Scope, place: Place) -> int:
        meaning = scope.look_up(name, place)
        if meaning.kind != PROCESS:
            raise self.expected(PROCESS, name, meaning, place)
        number: int = meaning.value
        if number >= len(self.states):
            raise self.error(f"{name!r} is used before it is declared", place)
        return number

    def _look_at_levels(self, tree: syntax.Binary) -> None:
        """Note where DiVinE, which has fewer levels of operators, reads otherwise."""
        for inner, where in ((tree.left, "left"), (tree.right, "right")):
            if not isinstance(inner, syntax.Binary):
                continue
            pair = {tree.op, inner.op}
            if pair == {"||", "&&"} or (len(pair) == 2 and pair <= _BITWISE):
                key = inner.op, tree.op, where
                self._doubtful.setdefault(key, []).append(tree.place)

    def warn_of_levels(self) -> None:
        """Warn once of each way in which versions of DiVinE read otherwise."""
        for (inner, outer, where), places in self._doubtful.items():
            agrees, differs, first = _GROUPED[where]
            more = len(places) - 1
            others = f", and in {counted(more, 'more place')}" if more else ""
            warn(
                f"{self.file}:{places[0].line}: {inner!r} binds closer than {outer!r} "
                f"here{others}, as in C and {agrees}; {differs}, for which they are of "
                f"one level, groups what is {first}: use parentheses",
            )


_GROUPED = {
    "right": ("DiVinE 3", "DiVinE 2", "on the left first"),
    "left": ("DiVinE 2", "DiVinE 3", "on the right first"),
}
"""By the side on which the closer operator stands: who agrees, who differs, and how."""


def _opened(tree: syntax.Expression) -> syntax.Opened:
    """Return an expression without the parentheses around it."""
    while isinstance(tree, syntax.Closed):
        tree = tree.inner
    return tree


_PART_BYTES = 1000  # of a declaration or a transition

MAX_VARIABLES = 1 << 12
"""Entries of a state beyond which a model is refused."""


def read_program(text: str, file: str) -> Job[Program]:
    """Return the job that reads the text of a model and checks it.

    Raises
    ------
    InputError
        `text` is no model: names file, line and column, and what was expected; a name
        is unknown or stands for something else than it has to, or a constant is
        declared by itself.
    UnsupportedError
        The model has more than `MAX_VARIABLES` variables, or a property process that is
        no automaton over propositions; or a part of it is too long.
    """
    with collection_paused():
        return (yield from _Reader((yield from tree_of(text, file)), file).program())


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
        self._ticks = Ticks("reading")

    def program(self) -> Job[Program]:
        tree = self.tree
        claim = self._property_process()
        processes = [process for process in tree.processes if process is not claim]
        yield from self._declare_all(tree.declarations, self.scope, "")
        for number, process in enumerate(processes):
            self.scope.declare(process.name, PROCESS, number, process.place)
        for process in processes:
            yield from self._declare_process(process)
        for number, process in enumerate(processes):
            self.processes.append((yield from self._process(number, process)))
        violations = None if claim is None else (yield from self._claim(claim))
        self.warn_of_levels()
        name = "error"
        while name in self.scope.known:
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
            violations=violations,
        )

    def _property_process(self) -> syntax.Process | None:
        """Return the process that says what a violation is, if there is one."""
        label = self.tree.property
        if label is None:
            return None
        known = {process.name: process for process in self.tree.processes}
        if label.name not in known:
            raise unknown("process", label.name, known, label.place, self.file)
        if len(known) == 1:
            raise UnsupportedError(
                f"{self.file}:{label.place.line}: no process beside the property "
                f"process {label.name!r}"
            )
        return known[label.name]

    def _claim(self, tree: syntax.Process) -> Job[str]:
        """Return the automaton of the property process, in HOA."""
        scope = Scope(self.file, self.scope, tree.name)
        for state in tree.states:
            scope.states.setdefault(state.name, len(scope.states))
        for part in tree.declarations:
            if not part.constant:
                self._refuse_in_claim(tree, "variables", part.place)
        yield from self._declare_all(tree.declarations, scope, f"{tree.name}.")
        edges: list[Edge] = []
        places: dict[int, Place] = {}
        for transition in tree.transitions or ():
            if transition.sync is not None:
                self._refuse_in_claim(tree, "channels", transition.sync.place)
            if transition.effects:
                self._refuse_in_claim(tree, "effects", transition.effects[0].place)
            source = self._source(
                transition, scope, edges[-1].source if edges else None
            )
            guard = self._guard(transition, scope)
            edges.append(Edge(source, self._state(transition.target, scope), guard))
            places[id(guard)] = transition.place
            yield from self._worked()

        def truth(guard: Expression) -> Any:
            try:
                return as_truth(guard, self.variables, self.arrays)
            except UnsupportedError as error:
                line = places[id(guard)].line
                raise UnsupportedError(
                    f"{self.file}:{line}: a guard of the property process "
                    f"{tree.name!r} that no proposition can say: {error}"
                ) from None

        return claims.automaton(
            len(scope.states),
            self._initial_state(tree, scope),
            frozenset(self._states_of(tree, scope, "accept")),
            edges,
            truth,
        )

    def _refuse_in_claim(self, tree: syntax.Process, what: str, place: Place) -> None:
        raise UnsupportedError(
            f"{self.file}:{place.line}: {what} of the property process {tree.name!r}: "
            "only guards can be read as an automaton"
        )

    def _worked(self, work: float = 20) -> Job[None]:
        """Count a declaration or a transition that has been read."""
        self.held += _PART_BYTES
        if self._ticks.over(work):
            self._ticks.memory_bytes = self.held
            yield self._ticks.progress

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
        scope.later.maps[0].update({d.name: d.place for d in reversed(named)})
        for part in declarations:
            if isinstance(part, syntax.Channels):
                for channel in part.declared:
                    self._declare_channel(channel, part.types)
                    yield from self._worked()
            else:
                for declared in part.declared:
                    self._declare(declared, part, scope, prefix)
                    yield from self._worked()

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
            if size is None:
                scope.declare(name, CONSTANT, Number(values[0]), place)
            else:
                scope.declare(name, CONSTANTS, tuple(values), place)
            return
        full = prefix + name
        names = [full] if size is None else [f"{full}[{i}]" for i in range(size)]
        entries = [
            Variable(entry, kind, BOUNDS[kind], value)
            for entry, value in zip(names, values, strict=True)
        ]
        first = self._add(entries, place)
        if size is None:
            scope.declare(name, VARIABLE, Read(first), place)
            return
        self.arrays.append(Array(full, first, size))
        scope.declare(name, ARRAY, self.arrays[-1], place)

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
            warn(
                f"{self.file}:{place.line}: {len(given)} values for the {size} "
                f"elements of {name!r}: the first {size} are taken, as by DiVinE",
            )
            given = given[:size]
        values = []
        for tree in given:
            value = self.constant(tree, scope, f"the value of {name!r}")
            values.append(converted(value, BOUNDS[kind]))
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
        self.scope.declare(name, CHANNEL, len(self.channels), declared.place)
        self.channels.append(channel)

    def _declare_process(self, process: syntax.Process) -> Job[None]:
        """Make the states and variables of a process known."""
        scope = Scope(self.file, self.scope, process.name)
        self.scopes.append(scope)
        for state in process.states:
            if state.name in scope.states:
                message = f"the state {state.name!r} is declared a second time"
                raise self.error(message, state.place)
            scope.states[state.name] = len(scope.states)
        yield from self._worked(1 + len(scope.states))
        initial = self._initial_state(process, scope)
        states = tuple(scope.states)
        bounds = (0, len(states) - 1)
        variable = Variable(process.name, "state", bounds, initial, states)
        self.states.append(self._add([variable], process.place))
        first = len(self.variables)
        yield from self._declare_all(process.declarations, scope, f"{process.name}.")
        self.locals.append(tuple(range(first, len(self.variables))))

    def _initial_state(self, process: syntax.Process, scope: Scope) -> int:
        initial = self._states_of(process, scope, "init")
        if len(initial) != 1:
            message = f"{process.name!r} has {len(initial)} initial states, expected 1"
            raise self.error(message, process.place)
        return initial[0]

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
                    yield from self._worked()
        transitions: list[Transition] = []
        for transition in tree.transitions or ():
            previous = transitions[-1].source if transitions else None
            transitions.append(self._transition(number, transition, scope, previous))
            yield from self._worked(20 + 10 * len(transition.effects or ()))
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
        source = self._source(tree, scope, previous)
        guard = self._guard(tree, scope)
        message = None if tree.sync is None else self._message(tree.sync, scope)
        effects = tuple(
            Assignment.to(
                self.target(effect.target, scope),
                self.expression(effect.value, scope),
                self.variables,
            )
            for effect in tree.effects or ()
        )
        target = self._state(tree.target, scope)
        conditions: tuple[Expression, ...] = () if guard is None else (guard,)
        exchange: tuple[Assignment, ...] = ()
        if message is not None and self.channels[message.channel].capacity:
            channel = self.channels[message.channel]
            allowed, exchange = buffered(channel, message, self.variables)
            conditions += (allowed,)
        return Transition(
            process, source, target, guard, message, effects, conditions, exchange
        )

    def _source(
        self, tree: syntax.Transition, scope: Scope, previous: int | None
    ) -> int:
        """Return the state that a transition leaves, maybe that of the one before."""
        if tree.source is not None:
            return self._state(tree.source, scope)
        if previous is None:
            raise self.error(
                "the first transition of a process has no source, expected a state",
                tree.place,
            )
        return previous

    def _guard(self, tree: syntax.Transition, scope: Scope) -> Expression | None:
        guard: Expression | None = None
        for condition in tree.guards or ():
            resolved = self.expression(condition, scope)
            guard = resolved if guard is None else Binary("&&", guard, resolved)
        return guard

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
        if meaning.kind != CHANNEL:
            raise self.expected(CHANNEL, tree.channel, meaning, tree.place)
        number, values = meaning.value, tree.values or ()
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
