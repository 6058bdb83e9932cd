"""Runs as people see them: lassos, in the shortest way to write them down.

The lasso of a product may go several times round a cycle of the system, once
for each state of the property automaton on the way.  The run is the same if
the repetition is left to the cycle.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.lettering import holding_in
from ltlpipe.systems.graph import SpotGraph, unlabelled
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import STUTTER_NAME
from ltlpipe.systems.runs import compressed, shortest_form
from ltlpipe.verdict.replay import spelling_of
from ltlpipe.verdict.verdict import FiniteRun, Lasso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.question.graph import GraphQuestion
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.runs import Run


def lasso_of(system: System, run: Run) -> Lasso:
    """Return a run of a system as a lasso.

    Of a graph the actions are those of `ltlpipe.systems.graph.unlabelled`, and the
    letters are some that the edges allow.
    """
    if isinstance(system, SpotGraph):
        return _way_through(system, run)
    actions, states, k = compressed(run)
    shown, names = _named(system, actions, states)
    return Lasso(shown[:k], shown[k:], actions, states, names, system=system)


def finite_run(
    system: Network | Model, actions: np.ndarray, states: np.ndarray
) -> FiniteRun:
    """Return a finite run: the actions of k steps, and k + 1 states around them."""
    shown, names = _named(system, actions, states)
    return FiniteRun(shown, [], actions, states, names, system=system)


def _named(
    system: Network | Model, actions: np.ndarray, states: np.ndarray
) -> tuple[list[Any], list[str] | None]:
    """Return what prefix and cycle show of steps, and the names of actions apart."""
    if isinstance(system, Network):
        known: Sequence[str] = [action.name for action in system.actions]
    else:
        known = system.actions
    names = [known[a] if a >= 0 else STUTTER_NAME for a in actions.tolist()]
    if isinstance(system, Network):
        return names, None
    return [system.shown(tuple(state)) for state in states[:-1].tolist()], names


def graph_run(question: GraphQuestion, run: Run) -> Lasso:
    """Return a run, whose actions are transitions of the product, as a lasso."""
    system, found = question.system, question.found
    k, c = shortest_form(*run)
    taken = run.actions[: k + c]
    edges, letters = found.steps.edge[taken], found.steps.letter[taken]
    states = run.states[: k + c + 1]
    if system.state_label is None:
        label, marks = system.label[edges], system.marks[edges]
    else:
        label = system.state_label[states[:-1, 0]]
        marks = np.zeros(len(label), dtype=np.uint32)
    known: dict[tuple[int, int, int], list[str]] = {}
    holding = []
    for step in zip(label.tolist(), marks.tolist(), letters.tolist(), strict=True):
        if step not in known:
            place, carried, letter = step
            condition = system.conditions[place]
            known[step] = found.lettering.holding(condition, carried, letter)
        holding.append(known[step])
    asked = question.property
    told = None if asked.is_trivial else asked.propositions
    return _of_edges(system, edges, states, k, holding, told)


def _way_through(system: SpotGraph, run: Run) -> Lasso:
    """Return the way to a deadlock, whose step repeats itself; its letter is arbitrary.

    The actions are those of `unlabelled`.
    """
    actions, states, length = run
    steps = unlabelled(system)
    edges = np.where(actions < 0, -1, steps.edge[actions] if len(steps.edge) else -1)
    label = system.label[edges] if system.n_edges else np.full(len(edges), -1)
    if system.state_label is not None:
        label = system.state_label[states[:-1, 0]]
    elif actions[-1] < 0:
        label = np.where(edges < 0, -1, label)
    graph, conditions = system.graph, system.conditions
    known = {k: holding_in(graph, conditions[k]) for k in {*label.tolist()} - {-1}}
    holding = [known.get(k, []) for k in label.tolist()]
    return _of_edges(system, edges, states, length, holding)


def _of_edges(
    system: SpotGraph,
    edges: np.ndarray,
    states: np.ndarray,
    length: int,
    holding: Sequence[Sequence[str]],
    propositions: Sequence[str] | None = None,
) -> Lasso:
    """Return a lasso of a graph.

    Parameters
    ----------
    system : SpotGraph
        The graph.
    edges : int32[k + c]
        As indices; -1 where a state repeats itself.
    states : int32[k + c + 1, 1]
        Before each step, and after the last one.
    length : int
        k, the length of the prefix.
    holding : sequence
        The propositions of the graph that hold in each step.
    propositions : sequence of str, optional
        Those of the word, if not all of the graph.
    """
    shown = [{p: p in names for p in system.propositions} for names in holding]
    told = system.propositions if propositions is None else tuple(propositions)
    ends = states[:, 0].tolist()
    moves = [f"{a} -> {b}" for a, b in pairwise(ends)]
    actions = edges
    if system.n_edges:
        actions = np.where(edges < 0, -1, system.number[edges])
    spelling = spelling_of(told, holding)
    return Lasso(
        shown[:length],
        shown[length:],
        actions.astype(np.int32),
        states,
        moves,
        spelling=spelling,
        system=system,
    )
