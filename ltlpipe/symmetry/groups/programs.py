"""The automorphisms of a program that leave a property as it is.

They take variables to variables with the same kind, bounds, initial value and place in
a row, states of a process to the states with the same numbers in another one, and
transitions to transitions with the same conditions, messages and effects, with control
kept alike, and with processes started alike.  Where the first of several moves is
taken (`D_STEP`), the order of a process's moves counts, too.  The initial
state has to stay as it is: generated code leaves out checks that no reachable state
needs.  Numbers stay as they are, but for the values of variables that only name things,
as process numbers, turns and leaders: these are renamed along with the constants that
they meet, and with the elements of the arrays that they index.

Values of a *naming* are assigned to each other, compared for equality and used as
indices, and nothing else: a permutation of its values, together with the elements of
the arrays that they index, changes nothing that the model can see.  Variables,
constants and indices that meet in an assignment or a comparison are of one naming.
Whatever is calculated with, ordered, taken as a truth or sent in a message is a plain
number.

A naming that passes has values that are known beforehand: its constants, the initial
values of its variables, and the indices of its arrays.  No variable of it ever has
another one.

Source: C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", Formal Methods
in System Design 9, 1996, pp. 41-75 (scalarsets: the same conditions, declared).

Differences from the source: namings are found; constants of a naming are allowed, as an
automorphism has to take the places where they stand to each other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions import syntax
from ltlpipe.logic.propositions.syntax import uses_step
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.group import MOST_BITS, PHASE, ColouredGraph, Space
from ltlpipe.symmetry.groups.models import (
    draw_operation,
    draw_ordered,
    draw_propositions,
    group_of,
)
from ltlpipe.systems.programs.program import (
    BOUNDS,
    COMMUTATIVE,
    D_STEP,
    Binary,
    Conditional,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.groups.models import Propositions
    from ltlpipe.systems.programs import program
    from ltlpipe.systems.programs.model import ProgramModel
    from ltlpipe.systems.programs.program import (
        Action,
        Assignment,
        Expression,
        Message,
        Process,
        Program,
        Transition,
    )

MOST_VALUES = 64
"""Of a naming."""

_KINDS = frozenset({*BOUNDS, "pid", "short"})  # of variables that may hold names

_PLAIN = "plain"  # what everything is that is no name


@dataclass
class Naming:
    """Variables, constants and indices that are of one naming."""

    number: int
    values: set[int] = field(default_factory=set)
    variables: list[int] = field(default_factory=list)


def namings_of(
    model: ProgramModel, propositions: Sequence[syntax.Expression]
) -> Job[Namings]:
    """Return the namings of a model and of the propositions that are asked of it."""
    namings = Namings(model)
    program, ticks = model.program, Ticks(PHASE)
    for transition in program.transitions():
        namings.read(transition)
        if ticks.over(20 * (1 + len(transition.effects))):
            yield ticks.progress
    for _, _, truth in program.assertions:
        namings.plain(namings.seen(truth))
    for proposition in propositions:
        namings.plain(namings.asked(proposition))
    namings.find()
    return namings


class Namings:
    """What `namings_of` returns."""

    def __init__(self, model: ProgramModel) -> None:
        self._model = model
        self._parents: dict[Hashable, Hashable] = {}
        self._constants: list[tuple[Hashable, int]] = []
        self._arrays: dict[Hashable, int] = {}  # sizes of those that are indexed
        self._namings: dict[Hashable, Naming] = {}  # by the roots of their keys
        # Some variables are plain, whatever is done with them.
        for number, variable in enumerate(model.program.variables):
            if variable.kind not in _KINDS:
                self.plain(("variable", number))
        for channel in model.program.channels:
            for first in channel.cells:
                for message in range(channel.capacity):
                    self.plain(("variable", first + message))

    def of(self, what: str, number: int) -> Naming | None:
        """Return the naming of a "variable", None if it is a plain number.

        Or of the "indices" of the array that begins with a variable, or of a
        "constant", by the identity of its place.
        """
        return self._namings.get(self._root((what, number)))

    def _root(self, key: Hashable) -> Hashable:
        above = self._parents.get(key)
        while above is not None:
            higher = self._parents.get(above)
            if higher is not None:
                self._parents[key] = higher  # the path becomes half as long
            key, above = above, higher
        return key

    def _unite(self, one: Hashable, two: Hashable) -> None:
        one, two = self._root(one), self._root(two)
        if one != two:
            # What is plain stays so.
            one, two = (two, one) if one == _PLAIN else (one, two)
            self._parents[one] = two

    def plain(self, key: Hashable) -> None:
        """Note that what has a key is no name."""
        self._unite(key, _PLAIN)

    def read(self, transition: Transition) -> None:
        """Note what a transition does with variables."""
        for condition in transition.conditions:
            self.plain(self.seen(condition))
        if transition.message is not None:
            message = transition.message
            for value in (*message.values, *message.matches):
                if value is not None:
                    self.plain(self.seen(value))
        for effect in (*transition.exchange, *transition.effects):
            self._unite(self.seen(effect.target), self.seen(effect.value))
        if transition.start is not None:
            self.read(transition.start)

    def seen(self, expression: Expression) -> Hashable:
        """Return the key of an expression, whose parts are united as they meet."""
        if isinstance(expression, Number):
            return self._constant(expression, expression.value)
        if isinstance(expression, Read):
            return "variable", expression.variable
        if isinstance(expression, Element):
            indices = "indices", expression.first
            self._arrays[indices] = expression.size
            self._unite(self.seen(expression.index), indices)
            cell = "variable", expression.first
            for k in range(1, expression.size):
                self._unite(cell, ("variable", expression.first + k))
            return cell
        keys = [self.seen(part) for part in parts(expression)]
        if isinstance(expression, Conditional):
            test, yes, no = keys
            self.plain(test)
            self._unite(yes, no)
            return yes
        if isinstance(expression, Binary) and expression.op in ("==", "!="):
            self._unite(*keys)
        else:
            for key in keys:
                self.plain(key)
        return _PLAIN

    def asked(self, expression: syntax.Expression) -> Hashable:
        """Return the key of an expression of a proposition, as `seen` does."""
        if isinstance(expression, syntax.Number):
            return self._constant(expression, expression.value)
        if isinstance(expression, syntax.Variable):
            return "variable", expression.number
        if isinstance(expression, syntax.Operation):
            keys = [self.asked(operand) for operand in expression.operands]
            if expression.operator == "==" and len(keys) == 2:
                self._unite(*keys)
            else:
                for key in keys:
                    self.plain(key)
        if isinstance(expression, syntax.Indexed):
            # It is 0 where there is no such element.
            self.plain(self.asked(expression.index))
            self.plain(("indices", expression.first))
            for k in range(expression.size):
                self.plain(("variable", expression.first + k))
        return _PLAIN

    def _constant(self, place: object, value: int) -> Hashable:
        key = "constant", id(place)
        self._constants.append((key, value))
        return key

    def find(self) -> None:
        """Find the namings that pass, once all is read."""
        found: dict[Hashable, Naming] = {}

        def naming(key: Hashable) -> Naming:
            return found.setdefault(self._root(key), Naming(len(found)))

        variables = self._model.program.variables
        for number, variable in enumerate(variables):
            own = naming(("variable", number))
            own.variables.append(number)
            own.values.add(variable.initial)
        for key, value in self._constants:
            naming(key).values.add(value)
        for key, size in self._arrays.items():
            naming(key).values |= set(range(size))
        self._namings = {
            root: own
            for root, own in found.items()
            if root != _PLAIN and self._passes(own)
        }

    def _passes(self, naming: Naming) -> bool:
        """Whether all variables can have all values, and these are few."""
        variables = [self._model.program.variables[v] for v in naming.variables]
        places = [self._model.layout.places[v] for v in naming.variables]
        if not variables or len(naming.values) > MOST_VALUES:
            return False
        low = max(variable.bounds[0] for variable in variables)
        high = min(variable.bounds[1] for variable in variables)
        in_bounds = all(low <= value <= high for value in naming.values)
        return in_bounds and all(place.bits <= MOST_BITS for place in places)


def group_of_program(model: ProgramModel, propositions: Propositions) -> Job[Group]:
    """Return the group of a prepared program and a property; it moves variables."""
    namings = yield from namings_of(model, propositions.meanings)
    n_variables = len(model.program.variables)
    found = [namings.of("variable", number) for number in range(n_variables)]
    space = Space.of_variables([sorted(n.values) if n else [] for n in found])
    draw = partial(_drawn, model, namings, propositions)
    return (yield from group_of(space, propositions, draw, moves_initial=False))


def _drawn(
    model: ProgramModel,
    namings: Namings,
    propositions: Propositions,
    *,
    fixed: bool,
    keeps_initial: bool,
) -> Job[ColouredGraph]:
    """Return the graph of a model and a property."""
    assert keeps_initial
    program = model.program
    ticks = Ticks(PHASE)
    drawing = _Drawing(model, namings)
    first = propositions.add_points(drawing.graph, fixed=fixed)
    drawing.draw_names()
    drawing.draw_channels()
    for process in range(len(program.processes)):
        drawing.draw_process(process)
        if ticks.over(20 * len(program.processes[process].transitions)):
            yield ticks.progress
    for process, state, truth in program.assertions:
        colour = "assertion", state
        drawing.graph.add(colour, drawing.processes[process], drawing.drawn(truth))
    actions = []
    tells_steps = any(map(uses_step, propositions.meanings))
    for number, action in enumerate(program.actions):
        moves = [drawing.transitions[t] for t in _moving(action)]
        # Of moves of a process of which the first is taken, and where the one that a
        # step begins with stands for others, the numbers count.
        place = action.leader.process, action.leader.source
        is_first = place in drawing.ranked and action.partner is not None
        is_apart = is_first or (tells_steps and program.has_control)
        called = "action", number if is_apart else None
        actions.append(draw_ordered(drawing.graph, called, moves))
        if ticks.over(4):
            yield ticks.progress
    draw_propositions(
        drawing.graph,
        propositions,
        first,
        drawing.variables,
        actions,
        lambda number: drawing.constant(number, number.value),
    )
    return drawing.graph


def _moving(action: Action) -> tuple[Transition, ...]:
    """Return the transitions of an action that are drawn by themselves."""
    starts = action.leader.start is not None
    return (action.leader,) if starts else action.transitions


class _Drawing:
    """The graph of a program.

    Its first vertices are the variables that are plain numbers, and of the others their
    names.
    """

    def __init__(self, model: ProgramModel, namings: Namings) -> None:
        self.program: Program = model.program
        self.graph = ColouredGraph()
        self.namings = namings
        self.variables: list[int] = []
        self._shapes: list[Hashable] = []
        self._points: dict[tuple[int, int], int] = {}  # by variable and name
        self._names: dict[tuple[int, int], int] = {}  # by naming and name
        self._arrays: dict[int, int] = {}  # that names index
        for number, (variable, place) in enumerate(
            zip(self.program.variables, model.layout.places, strict=True)
        ):
            # A field holds the values of another one only if it has the same form.
            shape = (
                *(variable.kind, variable.bounds, len(variable.states)),
                *(place.bits, place.low),
            )
            self._shapes.append(shape)
            naming = namings.of("variable", number)
            if naming is None:
                vertex = self.graph.add(("variable", shape, variable.initial))
                self.variables.append(vertex)
                continue
            self.variables.append(-1)  # until `draw_names`
            for value in sorted(naming.values):
                self._points[number, value] = self.graph.add("name of a variable")
        self.channels: list[int] = []
        self.processes = [-1] * len(self.program.processes)
        self.ranked = {  # places of processes at which the first move is taken
            (t.process, t.target)
            for t in self.program.transitions()
            if t.keeps == D_STEP
        }
        self.transitions: dict[Transition, int] = {}

    def draw_names(self) -> None:
        """Add the variables that have names, above these; one is the initial value."""
        for number, variable in enumerate(self.program.variables):
            naming = self.namings.of("variable", number)
            if naming is None:
                continue
            vertex = self.graph.add(("variable", self._shapes[number]))
            self.variables[number] = vertex
            for value in sorted(naming.values):
                point = self._points[number, value]
                self.graph.join(point, vertex)
                self.graph.join(point, self._name(naming, value))
            self.graph.add("begins", self._points[number, variable.initial])

    def _name(self, naming: Naming, value: int) -> int:
        """Return the vertex of a value of a naming."""
        key = naming.number, value
        if key not in self._names:
            self._names[key] = self.graph.add("name")
        return self._names[key]

    def constant(self, place: object, value: int) -> int:
        """Add the vertex of a constant that stands at a place."""
        naming = self.namings.of("constant", id(place))
        if naming is None:
            return self.graph.add(("number", value))
        return self.graph.add("named", self._name(naming, value))

    def _array(self, element: Element, naming: Naming) -> int:
        """Return the vertex of an array whose indices are names."""
        first = element.first
        if first not in self._arrays:
            vertex = self._arrays[first] = self.graph.add(("array", element.size))
            for k in range(element.size):
                variable, name = self.variables[first + k], self._name(naming, k)
                self.graph.add("array cell", vertex, variable, name)
        return self._arrays[first]

    def draw_channels(self) -> None:
        """Add the channels; what messages do to buffers is said by assignments."""
        self.channels += [
            self.graph.add(("channel", channel.types, channel.capacity))
            for channel in self.program.channels
        ]
        for number, process in enumerate(self.program.processes):
            self._draw_own(number, process)

    def _draw_own(self, number: int, process: Process) -> None:
        colour = (
            "process",
            tuple(sorted(process.committed)),
            tuple(sorted(process.accepting)),
        )
        self.processes[number] = self.graph.add(colour, self.variables[process.state])

    def draw_process(self, number: int) -> None:
        """Add the transitions of a process."""
        ranks: Counter[int] = Counter()
        for transition in self.program.processes[number].transitions:
            place = number, transition.source
            self.transitions[transition] = self._draw(
                transition, ranks[transition.source] if place in self.ranked else -1
            )
            ranks[transition.source] += 1

    def _draw(self, transition: Transition, rank: int = -1) -> int:
        message, start = transition.message, transition.start
        conditions = [self.drawn(condition) for condition in transition.conditions]
        parts = [
            self.processes[transition.process],
            draw_ordered(self.graph, "conditions", conditions),
            self.graph.add("none") if message is None else self._sent(message),
            self.graph.add("none") if start is None else self._draw(start),
            self._assigned(transition.exchange),
            self._assigned(transition.effects),
        ]
        ends = transition.source, transition.target
        return draw_ordered(
            self.graph, ("transition", *ends, transition.keeps, rank), parts
        )

    def _assigned(self, assignments: Sequence[Assignment]) -> int:
        parts = [
            draw_ordered(
                self.graph, ("assignment", bounds), [self.drawn(target), self.drawn(v)]
            )
            for target, v, bounds in assignments
        ]
        return draw_ordered(self.graph, "assignments", parts)

    def _sent(self, message: Message) -> int:
        values = [
            self.graph.add("none") if value is None else self.drawn(value)
            for value in (*message.values, *message.matches)
        ]
        colour = "message", message.sends
        return draw_ordered(
            self.graph, colour, [self.channels[message.channel], *values]
        )

    def drawn(self, expression: program.Expression) -> int:
        """Add the vertex of an expression, below which its parts are."""
        if isinstance(expression, Number):
            return self.constant(expression, expression.value)
        if isinstance(expression, Read):
            return self.graph.add("variable read", self.variables[expression.variable])
        if isinstance(expression, Element):
            index = self.drawn(expression.index)
            naming = self.namings.of("indices", expression.first)
            if naming is not None:
                array = self._array(expression, naming)
                return self.graph.add("named element", index, array)
            own = self.variables[expression.first : expression.first + expression.size]
            return draw_ordered(self.graph, "element", [index, *own])
        if isinstance(expression, Lookup):
            colour = "lookup", expression.values
            return self.graph.add(colour, self.drawn(expression.index))
        if isinstance(expression, Unary):
            operand = self.drawn(expression.operand)
            return self.graph.add(("unary", expression.op), operand)
        if isinstance(expression, Conditional):
            operands = [self.drawn(part) for part in parts(expression)]
            return draw_ordered(self.graph, "conditional", operands)
        assert isinstance(expression, Binary)
        operands = [self.drawn(expression.left), self.drawn(expression.right)]
        commutes = expression.op in COMMUTATIVE
        return draw_operation(self.graph, expression.op, operands, commutes=commutes)
