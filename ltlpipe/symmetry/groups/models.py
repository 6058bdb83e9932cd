"""The groups of models with propositions, and of place/transition nets.

Expressions become trees in a coloured graph.  A permutation of letters leaves an
automaton as it is if each of its states goes by a letter where it goes by the image of
that, with the same marks.  Then a permutation of the system that takes steps to steps
with the image of their letter is an automorphism of the product.

The automorphisms of a place/transition net take places to places and transitions to
transitions that take and put as much.  The initial marking may be taken to another one:
a run of the quotient that begins in its orbit is one that begins in it.  The graph has
a vertex for each place, two for each transition (what it takes, what it puts), and one
for each arc whose weight is not 1.

Source: K. Schmidt, "How to Calculate Symmetries of Petri Nets", Acta Informatica 36,
2000, pp. 545-590.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import (
    COMMUTATIVE,
    Deadlock,
    Indexed,
    Number,
    Operation,
    Taken,
    Variable,
    uses_step,
)
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.group import PHASE, ColouredGraph, Space, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.nets.structure import Net


def letter_classes(automaton: PropertyAutomaton) -> Job[np.ndarray]:
    """Return, for each letter, the first one that the automaton cannot tell from it.

    int64[n]; of letters that tell marks of the system, without the marks.
    """
    ticks = Ticks(PHASE)
    own = automaton.system_marks
    n_letters = automaton.n_letters >> own
    first = automaton.first_edge.tolist()
    targets, marks = automaton.edge_dst.tolist(), automaton.edge_marks.tolist()
    signatures: list[list[object]] = [[] for _ in range(n_letters)]
    for state in range(automaton.n_states):
        for letter in range(automaton.n_letters):
            at = state * automaton.n_letters + letter
            begin, end = first[at], first[at + 1]
            edges = zip(targets[begin:end], marks[begin:end], strict=True)
            signatures[letter >> own].append(frozenset(edges))
            yield from ticks.worked()
    known: dict[tuple[object, ...], int] = {}
    classes = [known.setdefault(tuple(s), k) for k, s in enumerate(signatures)]
    return np.array(classes, dtype=np.int64)


def is_kept(classes: np.ndarray, images: Sequence[int]) -> bool:
    """Whether a permutation of propositions leaves an automaton as it is.

    Parameters
    ----------
    classes : int64[2**n]
        What `letter_classes` says of letters that are sets of n propositions, as bits.
    images : sequence of int
        Where each proposition is taken.
    """
    letters = np.arange(len(classes))
    moved = np.zeros(len(classes), dtype=np.int64)
    for proposition, image in enumerate(images):
        moved |= (letters >> proposition & 1) << image
    return bool((classes[moved] == classes).all())


class Propositions(NamedTuple):
    """The propositions of a property, and what its automaton tells apart of them."""

    meanings: Sequence[Expression]  # bound
    classes: np.ndarray  # int64[2**n], by `letter_classes`

    def add_points(self, graph: ColouredGraph, *, fixed: bool) -> int:
        """Add a vertex for each; return the first one.

        Unless they are `fixed`, automorphisms may take those about states to each
        other.
        """
        first = len(graph.colours)
        for number, meaning in enumerate(self.meanings):
            apart = fixed or uses_step(meaning)
            graph.add(("proposition", number if apart else None))
        return first


def group_of(
    space: Space,
    propositions: Propositions,
    draw: Callable[..., Job[ColouredGraph]],
    *,
    moves_initial: bool,
) -> Job[Group]:
    """Return the group of a model and a property.

    Propositions are taken to each other only if the automaton of the property is the
    same afterwards, for all generators; else each stays as it is.

    Parameters
    ----------
    space : Space
        Its points are the first vertices of the graph; propositions follow.
    propositions : Propositions
        Those of the property.
    draw : callable
        Returns the job that draws the graph; ``fixed=True`` fixes propositions,
        ``keeps_initial=True`` the initial state.
    moves_initial : bool
        Whether elements may take the initial state to another one.
    """
    n_points = space.n_points

    def generators(*, keeps_initial: bool) -> Job[np.ndarray]:
        """Return generators of what a graph lets the property have."""
        for fixed in (False, True):
            graph = yield from draw(fixed=fixed, keeps_initial=keeps_initial)
            found = yield from graph.automorphisms(
                n_points + len(propositions.meanings)
            )
            images = found[:, n_points:] - n_points
            if all(is_kept(propositions.classes, own) for own in images.tolist()):
                break
        own = found[:, :n_points]
        moving: np.ndarray = own[(own != np.arange(n_points)).any(axis=1)]
        return moving

    # What keeps the initial state generates a part of the group, often with elements
    # that move little: they are the better ones to try.
    found = yield from generators(keeps_initial=True)
    if moves_initial:
        more = yield from generators(keeps_initial=False)
        found = np.concatenate([found, more])
    return (yield from grouped(space, found))


def draw_propositions(
    graph: ColouredGraph,
    propositions: Propositions,
    first: int,
    variables: Sequence[int],
    actions: Sequence[int],
) -> None:
    """Add what propositions mean below the vertices that `add_points` has added.

    Parameters
    ----------
    propositions : Propositions
        Those of the property.
    first : int
        The vertex of the first one.
    variables, actions : sequence of int
        The vertices of variables, and those of actions.
    """

    def draw(expression: Expression) -> int:
        """Add the vertex of an expression, below which its parts are."""
        if isinstance(expression, Number):
            return graph.add(("number", expression.value))
        if isinstance(expression, Variable):
            return graph.add("variable read", variables[expression.number])
        if isinstance(expression, Deadlock):
            return graph.add("deadlock")
        if isinstance(expression, Taken):
            return graph.add("taken", *(actions[a] for a in sorted(expression.actions)))
        if isinstance(expression, Indexed):
            own = variables[expression.first : expression.first + expression.size]
            return draw_ordered(graph, "indexed", [draw(expression.index), *own])
        assert isinstance(expression, Operation)  # others are not bound
        operands = [draw(operand) for operand in expression.operands]
        commutes = expression.operator in COMMUTATIVE
        return draw_operation(graph, expression.operator, operands, commutes=commutes)

    for number, proposition in enumerate(propositions.meanings):
        graph.join(first + number, draw(proposition))


def draw_operation(
    graph: ColouredGraph, operator: str, operands: list[int], *, commutes: bool
) -> int:
    """Add the vertex of an operator, above those of its operands.

    If it `commutes`, these may change places.
    """
    if commutes and len(set(operands)) == len(operands):
        return graph.add(("operator", operator), *operands)
    return draw_ordered(graph, ("operator", operator), operands)


def draw_ordered(graph: ColouredGraph, colour: Any, parts: list[int]) -> int:
    """Add a vertex above others whose order counts."""
    links = [graph.add(("part", k), part) for k, part in enumerate(parts)]
    return graph.add((colour, len(parts)), *links)


def group_of_net(net: Net, propositions: Propositions) -> Job[Group]:
    """Return the group of a net and a property; it moves places."""
    space = Space.of_variables(len(net.places))
    draw = partial(_drawn_net, net, propositions)
    return group_of(space, propositions, draw, moves_initial=True)


def _drawn_net(
    net: Net, propositions: Propositions, *, fixed: bool, keeps_initial: bool
) -> Job[ColouredGraph]:
    """Return the graph of a net and a property."""
    ticks = Ticks(PHASE)
    graph = ColouredGraph()
    places = []
    for tokens in net.initial():
        places.append(graph.add(("place", tokens if keeps_initial else None)))
        yield from ticks.worked()
    first = propositions.add_points(graph, fixed=fixed)
    transitions = []
    for transition in net.transitions:
        taken = graph.add("takes")
        put = graph.add("puts", taken)
        transitions.append(taken)
        needs, puts = transition.needs, transition.puts
        _draw_arcs(graph, taken, needs, places)
        _draw_arcs(graph, put, puts, places)
        for place, most in transition.limits.items():
            graph.add(("limit", most), taken, places[place])
        for place in transition.resets:
            graph.add("reset", taken, places[place])
        yield from ticks.worked(1 + len(needs) + len(puts))
    draw_propositions(graph, propositions, first, places, transitions)
    return graph


def _draw_arcs(
    graph: ColouredGraph, vertex: int, arcs: Mapping[int, int], places: list[int]
) -> None:
    for place, weight in arcs.items():
        if weight == 1:
            graph.join(vertex, places[place])
        else:
            graph.add(("weight", weight), vertex, places[place])
