"""The automorphisms of networks and of programs that leave a property as it is.

Those of a network take components to components, local states to local states, and
actions to actions that the property cannot tell from them: transitions to transitions,
accepting states to accepting ones.  Initial states may be taken to others: a run of the
quotient that begins in the orbit of the initial state is one that begins there.  But
what a component reaches from its initial state by its own transitions is taken to what
another one reaches, as only that is packed.

Those of a program take variables to variables with the same kind, bounds, initial value
and place in a row, states of a process to the states with the same numbers in another
one, and transitions to transitions with the same conditions, messages and effects, with
control kept alike, and with processes started alike.  Where the first of several moves
is taken (`D_STEP`), the order of a process's moves counts, too.  The initial state has
to stay as it is: generated code leaves out checks that no reachable state
needs.  Values stay as they are: a variable that holds the number of a process keeps
that process in its place.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.logic.propositions.syntax import uses_step
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.group import PHASE, ColouredGraph, Group, Space, grouped
from ltlpipe.symmetry.groups.models import (
    draw_operation,
    draw_ordered,
    draw_propositions,
    group_of,
)
from ltlpipe.systems.networks.packing import reachable_states
from ltlpipe.systems.programs.program import (
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
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.models import Propositions
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.programs import program
    from ltlpipe.systems.programs.model import ProgramModel
    from ltlpipe.systems.programs.program import (
        Action,
        Assignment,
        Message,
        Process,
        Program,
        Transition,
    )

MOST_DRAWN = 1 << 18
"""Local states and transitions of a network whose group is looked for unasked."""

_ROUNDS = 20
"""After which components that look alike are taken to be so."""


def group_of_network(network: Network, kinds: np.ndarray, least: int = 1) -> Job[Group]:
    """Return the group of a network; it moves components and their states.

    Parameters
    ----------
    network : Network
        As it is searched.
    kinds : int64[n_actions]
        What the property tells apart of actions.
    least : int
        If there is one, the group is trivial unless so many components cannot be told
        apart by their sizes and those of whom they meet, and the network is not large.
    """
    space = space_of(network)
    if least > 1:
        size = space.n_points + sum(c.n_transitions for c in network.components)
        if size > MOST_DRAWN or not (yield from _look_alike(network, kinds, least)):
            return Group(space, ())
    graph = yield from drawn(network, kinds, keeps_initial=False)
    generators = yield from graph.automorphisms(space.n_points)
    group = yield from grouped(space, generators)
    if group.exact:
        return group
    # What keeps the initial state generates a part of the group, often with elements
    # that move little: they are the better ones to try.
    graph = yield from drawn(network, kinds, keeps_initial=True)
    better = yield from graph.automorphisms(space.n_points)
    return (yield from grouped(space, np.concatenate([better, generators])))


def _look_alike(network: Network, kinds: np.ndarray, least: int) -> Job[bool]:
    """Whether so many components look alike.

    Colours of components and actions are refined by each other, without local states,
    in as many rounds as are worth it.
    """
    ticks = Ticks(PHASE)
    sizes = (
        (c.n_states, c.n_transitions, len(c.internal), c.accepting is None)
        for c in network.components
    )
    colours = yield from _numbered(sizes, ticks)
    if max(Counter(colours).values()) < least:
        return False  # as of most networks, before any action is looked at
    for _ in range(_ROUNDS):
        n_colours = len(set(colours))
        of_actions = (
            (kind, tuple(sorted([colours[p] for p in action.participants])))
            for action, kind in zip(network.actions, kinds.tolist(), strict=True)
        )
        met = yield from _numbered(of_actions, ticks)
        of_components = (
            (colour, tuple(sorted([met[a] for a in own])))
            for colour, own in zip(colours, network.label_actions, strict=True)
        )
        colours = yield from _numbered(of_components, ticks)
        if max(Counter(colours).values()) < least:
            return False
        if len(set(colours)) == n_colours:
            break
    return True


def _numbered(keys: Iterable[tuple[Any, ...]], ticks: Ticks) -> Job[list[int]]:
    """Return a number for each key, the same for equal ones."""
    known: dict[tuple[Any, ...], int] = {}
    numbers = []
    for key in keys:
        numbers.append(known.setdefault(key, len(known)))
        parts = key[-1]
        yield from ticks.worked(1 + (len(parts) if isinstance(parts, tuple) else 0))
    return numbers


def space_of(network: Network) -> Space:
    """Return what the group of a network acts on."""
    first = np.cumsum([0, *(c.n_states for c in network.components)])
    return Space(first)


def drawn(
    network: Network, kinds: np.ndarray, *, keeps_initial: bool
) -> Job[ColouredGraph]:
    """Return the graph of a network.

    The first vertices are the local states; kinds are those of `group_of_network`.
    """
    first = space_of(network).first
    ticks = Ticks(PHASE)
    graph = ColouredGraph()
    for component in network.components:
        reached = yield from reachable_states(component, ticks)
        is_reached = np.zeros(component.n_states, dtype=np.bool_)
        is_reached[reached] = True
        for state, known in enumerate(is_reached.tolist()):
            begins = keeps_initial and state == component.initial
            graph.add(("state", known, begins, _accepts(component, state)))
            yield from ticks.worked()
    components = []
    for number, component in enumerate(network.components):
        own = range(int(first[number]), int(first[number + 1]))
        colour = "component", component.accepting is None
        components.append(graph.add(colour, *own))
        yield from ticks.worked(len(own))
    actions = []
    for action, kind in zip(network.actions, kinds.tolist(), strict=True):
        # A component may take part and never move: then the action never happens.
        members = [components[c] for c in action.participants]
        actions.append(graph.add(("action", kind), *members))
        yield from ticks.worked(len(members))
    for number, component in enumerate(network.components):
        base, entries = int(first[number]), len(graph.colours)
        states = np.arange(base, base + component.n_states)
        graph.add_alike("entered", states[:, None])
        of_label = np.array([actions[k] for k in network.label_actions[number]], int)
        ends = base + component.src, entries + component.dst, of_label[component.label]
        graph.add_alike("transition", np.stack(ends, axis=1))
        yield from ticks.worked(component.n_states + component.n_transitions)
    return graph


def _accepts(component: LTS, state: int) -> bool:
    return component.accepting is None or bool(component.accepting[state])


def group_of_program(model: ProgramModel, propositions: Propositions) -> Job[Group]:
    """Return the group of a prepared program and a property; it moves variables."""
    space = Space.of_variables(len(model.program.variables))
    draw = partial(_drawn, model, propositions)
    return (yield from group_of(space, propositions, draw, moves_initial=False))


def _drawn(
    model: ProgramModel,
    propositions: Propositions,
    *,
    fixed: bool,
    keeps_initial: bool,
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
        yield from ticks.worked(20 * len(program.processes[process].transitions))
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
        yield from ticks.worked(4)
    draw_propositions(drawing.graph, propositions, first, drawing.variables, actions)
    return drawing.graph


def _moving(action: Action) -> tuple[Transition, ...]:
    """Return the transitions of an action that are drawn by themselves."""
    starts = action.leader.start is not None
    return (action.leader,) if starts else action.transitions


class _Drawing:
    """The graph of a program; its first vertices are the variables."""

    def __init__(self, model: ProgramModel) -> None:
        self.program: Program = model.program
        self.graph = ColouredGraph()
        self.variables: list[int] = []
        for variable, place in zip(
            self.program.variables, model.layout.places, strict=True
        ):
            # A field holds the values of another one only if it has the same form.
            shape = (
                *(variable.kind, variable.bounds, len(variable.states)),
                *(place.bits, place.low),
            )
            self.variables.append(self.graph.add(("variable", shape, variable.initial)))
        self.channels: list[int] = []
        self.processes = [-1] * len(self.program.processes)
        self.ranked = {  # places of processes at which the first move is taken
            (t.process, t.target)
            for t in self.program.transitions()
            if t.keeps == D_STEP
        }
        self.transitions: dict[Transition, int] = {}

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
            for value in (*message.values, *message.checks)
        ]
        colour = "message", message.sends
        return draw_ordered(
            self.graph, colour, [self.channels[message.channel], *values]
        )

    def drawn(self, expression: program.Expression) -> int:
        """Add the vertex of an expression, below which its parts are."""
        if isinstance(expression, Number):
            return self.graph.add(("number", expression.value))
        if isinstance(expression, Read):
            return self.graph.add("variable read", self.variables[expression.variable])
        if isinstance(expression, Element):
            index = self.drawn(expression.index)
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
