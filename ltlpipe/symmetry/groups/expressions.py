"""Expressions as trees in a coloured graph."""

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
from ltlpipe.symmetry.groups.factors import grouped
from ltlpipe.symmetry.groups.letters import is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.graph import ColouredGraph
    from ltlpipe.symmetry.groups.group import Group, Space


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
    # What keeps the initial state generates a part of the group, often with elements
    # that move little: they are the better ones to try.
    found = yield from _generators(space, propositions, draw, keeps_initial=True)
    if moves_initial:
        more = yield from _generators(space, propositions, draw, keeps_initial=False)
        found = np.concatenate([found, more])
    return (yield from grouped(space, found))


def _generators(
    space: Space,
    propositions: Propositions,
    draw: Callable[..., Job[ColouredGraph]],
    *,
    keeps_initial: bool,
) -> Job[np.ndarray]:
    """Return generators of what a graph lets a property have, int32[n, n_points]."""
    n_all = space.n_points + len(propositions.meanings)
    generators = np.zeros((0, n_all), dtype=np.int32)
    for fixed in (False, True):
        graph = yield from draw(fixed=fixed, keeps_initial=keeps_initial)
        generators = yield from graph.automorphisms(n_all)
        images = generators[:, space.n_points :] - space.n_points
        if all(is_kept(propositions.classes, own) for own in images.tolist()):
            break
    own = generators[:, : space.n_points]
    moving = (own != np.arange(space.n_points)).any(axis=1)
    found: np.ndarray = own[moving]
    return found


def draw_propositions(
    graph: ColouredGraph,
    propositions: Propositions,
    first: int,
    variables: Sequence[int],
    actions: Sequence[int],
    constant: Callable[[Number], int] | None = None,
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
    constant : callable, optional
        Adds the vertex of a constant; None is one for each number.
    """

    def of_number(number: Number) -> int:
        return graph.add(("number", number.value))

    draw = partial(_drawn, graph, variables, actions, constant or of_number)
    for number, proposition in enumerate(propositions.meanings):
        graph.join(first + number, draw(proposition))


def _drawn(
    graph: ColouredGraph,
    variables: Sequence[int],
    actions: Sequence[int],
    constant: Callable[[Number], int],
    expression: Expression,
) -> int:
    """Add the vertex of an expression, below which its parts are."""
    draw = partial(_drawn, graph, variables, actions, constant)
    if isinstance(expression, Number):
        return constant(expression)
    if isinstance(expression, Variable):
        return graph.add("variable read", variables[expression.number])
    if isinstance(expression, Deadlock):
        return graph.add("deadlock")
    if isinstance(expression, Taken):
        return graph.add("taken", *(actions[a] for a in sorted(expression.actions)))
    if isinstance(expression, Indexed):
        own = variables[expression.first : expression.first + expression.size]
        index = draw(expression.index)
        return draw_ordered(graph, "indexed", [index, *own])
    if isinstance(expression, Operation):
        operands = [draw(operand) for operand in expression.operands]
        commutes = expression.operator in COMMUTATIVE
        return draw_operation(graph, expression.operator, operands, commutes=commutes)
    raise TypeError(f"{expression} is not bound")


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
