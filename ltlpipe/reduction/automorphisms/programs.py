"""The automorphisms of a DVE model that leave a property as it is.

They take variables to variables with the same kind, bounds, initial value and place in
a row, states of a process to the states with the same numbers in another one, and
transitions to transitions with the same guards, messages and effects.  The initial
state has to stay as it is: generated code leaves out checks that no reachable state
needs.  Numbers stay as they are: a process that is known by its number, in a variable
or as an index, is not taken to another one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.reduction.automorphisms.expressions import (
    draw_operation,
    draw_ordered,
    draw_propositions,
    group_of,
)
from ltlpipe.reduction.automorphisms.graph import PHASE, ColouredGraph
from ltlpipe.reduction.automorphisms.group import Space
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.dve.expressions import (
    COMMUTATIVE,
    Binary,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
)

if TYPE_CHECKING:
    from ltlpipe.reduction.automorphisms.expressions import Propositions
    from ltlpipe.reduction.automorphisms.group import Group
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.dve import expressions
    from ltlpipe.systems.dve.model import DveModel
    from ltlpipe.systems.dve.program import Message, Program, Transition


def group_of_program(model: DveModel, propositions: Propositions) -> Job[Group]:
    """Return the group of a prepared DVE model and a property; it moves variables."""
    space = Space(len(model.program.variables))
    draw = partial(_drawn, model, propositions)
    return group_of(space, propositions, draw, moves_initial=False)


def _drawn(
    model: DveModel, propositions: Propositions, *, fixed: bool, keeps_initial: bool
) -> Job[ColouredGraph]:
    """Return the graph of a model and a property."""
    assert keeps_initial
    program = model.program
    ticks = Ticks(PHASE)
    drawing = _Drawing(model)
    first = propositions.add_points(drawing.graph, fixed=fixed)
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
    variables = range(len(program.variables))
    draw_propositions(drawing.graph, propositions, first, variables, actions)
    return drawing.graph


class _Drawing:
    """The graph of a program; its first vertices are the variables."""

    def __init__(self, model: DveModel) -> None:
        self.program: Program = model.program
        self.graph = ColouredGraph()
        for variable, place in zip(
            self.program.variables, model.layout.places, strict=True
        ):
            shape = variable.kind, variable.bounds, variable.initial
            # A field holds the values of another one only if it has the same form.
            self.graph.add((shape, len(variable.states), place.bits, place.low))
        self.channels: list[int] = []
        self.processes: list[int] = []
        self.transitions: dict[Transition, int] = {}

    def draw_channels(self) -> None:
        """Add the channels above the variables that hold their messages."""
        self.channels += [
            draw_ordered(
                self.graph,
                ("channel", channel.types, channel.capacity),
                [] if channel.length < 0 else [channel.length],
            )
            for channel in self.program.channels
        ]
        for channel, vertex in zip(self.program.channels, self.channels, strict=True):
            for part, first in enumerate(channel.cells):
                for message in range(channel.capacity):
                    self.graph.add(("cell", part, message), vertex, first + message)

    def draw_process(self, number: int) -> None:
        """Add a process, its states, variables and transitions."""
        process = self.program.processes[number]
        colour = (
            "process",
            tuple(sorted(process.committed)),
            tuple(sorted(process.accepting)),
        )
        self.processes.append(self.graph.add(colour, process.state))
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

    def drawn(self, expression: expressions.Expression) -> int:
        """Add the vertex of an expression, below which its parts are."""
        if isinstance(expression, Number):
            return self.graph.add(("number", expression.value))
        if isinstance(expression, Read):
            return self.graph.add("variable read", expression.variable)
        if isinstance(expression, Element):
            own = range(expression.first, expression.first + expression.size)
            index = self.drawn(expression.index)
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
