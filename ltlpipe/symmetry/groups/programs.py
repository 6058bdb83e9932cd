"""The automorphisms of a DVE model that leave a property as it is.

They take variables to variables with the same kind, bounds, initial value and place in
a row, states of a process to the states with the same numbers in another one, and
transitions to transitions with the same guards, messages and effects.  The initial
state has to stay as it is: generated code leaves out checks that no reachable state
needs.  Numbers stay as they are, but for the values of variables that only name things
(`ltlpipe.symmetry.groups.naming`): these are renamed along with the constants
that they meet, and with the elements of the arrays that they index.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.expressions import (
    draw_operation,
    draw_ordered,
    draw_propositions,
    group_of,
)
from ltlpipe.symmetry.groups.graph import PHASE, ColouredGraph
from ltlpipe.symmetry.groups.group import Space
from ltlpipe.symmetry.groups.naming import Naming, Namings, namings_of
from ltlpipe.systems.programs.program import (
    COMMUTATIVE,
    Binary,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.expressions import Propositions
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.programs import program
    from ltlpipe.systems.programs.model import DveModel
    from ltlpipe.systems.programs.program import Message, Program, Transition


def group_of_program(model: DveModel, propositions: Propositions) -> Job[Group]:
    """Return the group of a prepared DVE model and a property; it moves variables."""
    namings = yield from namings_of(model, propositions.meanings)
    space = _space(model, namings)
    draw = partial(_drawn, model, namings, propositions)
    return (yield from group_of(space, propositions, draw, moves_initial=False))


def _space(model: DveModel, namings: Namings) -> Space:
    """Return what the group acts on: variables, and the names that they may have."""
    values: list[list[int]] = []
    named = []
    for number in range(len(model.program.variables)):
        naming = namings.of_variable(number)
        named.append(naming is not None)
        values.append([0] if naming is None else sorted(naming.values))
    if not any(named):
        return Space(len(values))
    return Space(
        len(values),
        np.cumsum([0, *map(len, values)]),
        values=np.concatenate(values),
        named=np.array(named),
    )


def _drawn(
    model: DveModel,
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
    for action in program.actions:
        moves = [drawing.transitions[transition] for transition in action.transitions]
        actions.append(draw_ordered(drawing.graph, "action", moves))
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


class _Drawing:
    """The graph of a program.

    Its first vertices are the variables that are plain numbers, and of the others their
    names.
    """

    def __init__(self, model: DveModel, namings: Namings) -> None:
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
            naming = namings.of_variable(number)
            if naming is None:
                vertex = self.graph.add(("variable", shape, variable.initial))
                self.variables.append(vertex)
                continue
            self.variables.append(-1)  # until `draw_names`
            for value in sorted(naming.values):
                self._points[number, value] = self.graph.add("name of a variable")
        self.channels: list[int] = []
        self.processes: list[int] = []
        self.transitions: dict[Transition, int] = {}

    def draw_names(self) -> None:
        """Add the variables that have names, above these; one is the initial value."""
        for number, variable in enumerate(self.program.variables):
            naming = self.namings.of_variable(number)
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
        naming = self.namings.of_constant(place)
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
        """Add the channels above the variables that hold their messages."""
        self.channels += [
            draw_ordered(
                self.graph,
                ("channel", channel.types, channel.capacity),
                [] if channel.length < 0 else [self.variables[channel.length]],
            )
            for channel in self.program.channels
        ]
        for channel, vertex in zip(self.program.channels, self.channels, strict=True):
            for part, first in enumerate(channel.cells):
                for message in range(channel.capacity):
                    variable = self.variables[first + message]
                    self.graph.add(("cell", part, message), vertex, variable)

    def draw_process(self, number: int) -> None:
        """Add a process, its states, variables and transitions."""
        process = self.program.processes[number]
        colour = (
            "process",
            tuple(sorted(process.committed)),
            tuple(sorted(process.accepting)),
        )
        self.processes.append(self.graph.add(colour, self.variables[process.state]))
        for transition in process.transitions:
            self.transitions[transition] = self._draw(transition)

    def _draw(self, transition: Transition) -> int:
        guard, message = transition.guard, transition.message
        parts = [
            self.processes[transition.process],
            self.graph.add("none") if guard is None else self.drawn(guard),
            self.graph.add("none") if message is None else self._sent(message),
        ]
        for effect in transition.effects:
            parts += [self.drawn(effect.target), self.drawn(effect.value)]
        ends = "transition", transition.source, transition.target
        return draw_ordered(self.graph, ends, parts)

    def _sent(self, message: Message) -> int:
        values = [self.drawn(value) for value in message.values]
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
            naming = self.namings.of_indices(expression.first)
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
        assert isinstance(expression, Binary)
        operands = [self.drawn(expression.left), self.drawn(expression.right)]
        commutes = expression.op in COMMUTATIVE
        return draw_operation(self.graph, expression.op, operands, commutes=commutes)
