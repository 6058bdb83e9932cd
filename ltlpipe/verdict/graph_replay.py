"""Runs of graphs of Spot: as lassos, and their independent replay.

The replay shares no code with the searches: it asks Spot's interface for the edges of
the graph, their conditions and marks, and Spot whether the word violates the property.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.graph_steps import Stepper
from ltlpipe.automata.lettering import holding_in
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.runs import shortest_form
from ltlpipe.verdict.replay import REPLAYING, check_form
from ltlpipe.verdict.verdict import Lasso, Spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.question.graph import GraphQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.graph import SpotGraph, Transitions
    from ltlpipe.systems.runs import Run

_STEP_WORK = 30.0  # units per step


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
    return lasso_of(system, edges, states, k, holding, told)


def path_of(
    system: SpotGraph,
    steps: Transitions,
    actions: np.ndarray,
    states: np.ndarray,
    length: int,
) -> Lasso:
    """Return the way to a deadlock, whose step repeats itself; its letter is arbitrary.

    The actions are transitions of `steps`; -1 repeats a state.
    """
    edges = np.where(actions < 0, -1, steps.edge[actions] if len(steps.edge) else -1)
    label = system.label[edges] if system.n_edges else np.full(len(edges), -1)
    if system.state_label is not None:
        label = system.state_label[states[:-1, 0]]
    elif actions[-1] < 0:
        label = np.where(edges < 0, -1, label)
    graph, conditions = system.graph, system.conditions
    known = {k: holding_in(graph, conditions[k]) for k in {*label.tolist()} - {-1}}
    holding = [known.get(k, []) for k in label.tolist()]
    return lasso_of(system, edges, states, length, holding)


def lasso_of(
    system: SpotGraph,
    edges: np.ndarray,
    states: np.ndarray,
    length: int,
    holding: Sequence[Sequence[str]],
    propositions: Sequence[str] | None = None,
) -> Lasso:
    """Return a lasso whose prefix has a length.

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
    spelling = _spelling(told, holding)
    return Lasso(
        shown[:length],
        shown[length:],
        actions.astype(np.int32),
        states,
        moves,
        spelling=spelling,
        system=system,
    )


def spelling_of_valuations(lasso: Lasso, propositions: Sequence[str]) -> Spelling:
    """Return the word of a run of a graph over other propositions of the graph."""
    holding = [
        [name for name, holds in valuation.items() if holds]
        for valuation in [*lasso.prefix, *lasso.cycle]
    ]
    return _spelling(tuple(propositions), holding)


def _spelling(told: tuple[str, ...], holding: Sequence[Sequence[str]]) -> Spelling:
    letters: dict[tuple[str, ...], int] = {}
    steps = [
        letters.setdefault(tuple(p for p in told if p in names), len(letters))
        for names in holding
    ]
    numbers = np.array(steps, dtype=np.int64)
    return Spelling(told, [list(letter) for letter in letters], numbers)


def graph_run_replayed(
    system: SpotGraph, lasso: Lasso, *, stutters: bool, accepting: bool = True
) -> Job[None]:
    """Step a lasso through a graph; the parameters are as in `run_replayed`.

    Raises
    ------
    ReplayError
        The lasso is not an accepting run of the graph.
    """
    check_form(lasso, [system.graph.get_init_state_number()])
    stepper, ticks = Stepper(system.graph), Ticks(REPLAYING, _STEP_WORK)
    states, seen = lasso.states[:, 0].tolist(), 0
    valuations = [*lasso.prefix, *lasso.cycle]
    for k, number in enumerate(lasso.actions.tolist()):
        src, dst = states[k], states[k + 1]
        holding = frozenset(name for name, holds in valuations[k].items() if holds)
        if number < 0:
            if not stutters or src != dst or not stepper.repeats(src, holding):
                raise ReplayError(f"step {k} repeats a state but may not")
        else:
            edge = stepper.edge_of_step(number, src, dst, holding)
            if edge is None:
                raise ReplayError(
                    f"step {k}: the graph has no such edge {src} -> {dst}"
                )
            if k >= len(lasso.prefix):
                seen |= stepper.marks_of(edge)
        if ticks.over():
            yield ticks.progress
    if accepting and not stepper.accepts(seen):
        raise ReplayError("the graph does not accept the run")
