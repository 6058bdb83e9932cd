"""From a run that a strategy has found to a lasso that has been replayed.

A lasso is written down in the shortest way: that of a product may go several times
round a cycle of the system, once for each state of the property automaton on the way.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import STRONG
from ltlpipe.automata.lettering import holding_in
from ltlpipe.automata.words import every_continuation_violates, violates
from ltlpipe.logic.propositions.syntax import Number, uses_step
from ltlpipe.question.fairness import fair_sets
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.network import with_components
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.graph import SpotGraph, unlabelled
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import named_steps_of
from ltlpipe.systems.runs import compressed, shortest_form
from ltlpipe.verdict.lasso import FiniteRun, Lasso, spelling_of
from ltlpipe.verdict.replay import (
    REPLAYING,
    enabled_actions,
    run_replayed,
    spelling_of_actions,
    spelling_of_states,
    spelling_of_valuations,
    word_replayed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.lasso import Spelling

_REPLAYING = Progress(REPLAYING)
"""Yielded between the parts."""


def judged(question: Question, run: Run) -> Job[Lasso]:
    """Write a run down as a lasso, and replay it.

    Raises
    ------
    ReplayError
        It is not a violation: a bug.
    """
    yield _REPLAYING
    system: Any = question.system  # type: ignore[attr-defined]
    if isinstance(question, GraphQuestion):
        lasso = graph_run(question, run)
    else:
        lasso = lasso_of(system, run)
    yield _REPLAYING
    network = with_components(question)
    together = network is None or not network.accepts_apart
    stutters = question.stutters
    yield from run_replayed(system, lasso, stutters=stutters, together=together)
    if not isinstance(question, GraphQuestion):
        yield _REPLAYING
        check_fairness(system, lasso, question.options)
        lasso = replace(lasso, spelling=(yield from _spelling(question, lasso)))
    asked = question.property
    if not asked.is_trivial:
        assert lasso.spelling is not None
        subject = asked.formula or asked.violations
        yield from word_replayed(subject, lasso.spelling, len(lasso.prefix))
    return lasso


def _spelling(question: Question, lasso: Lasso) -> Job[Spelling]:
    """Return the word of a run of a network or model."""
    network = with_components(question)
    if network is None:
        meanings: dict[str, Any] = question.written  # type: ignore[attr-defined]
        return (yield from spelling_of_states(meanings, lasso))
    return spelling_of_actions(lasso, network.system, question.property.propositions)


def sees_steps(question: Question) -> bool:
    """Whether propositions tell the steps of a state apart."""
    meanings = getattr(question, "written", None)  # of a model
    return meanings is None or any(map(uses_step, meanings.values()))


def judged_prefix(
    question: Question, actions: np.ndarray, states: np.ndarray
) -> Job[FiniteRun | None]:
    """Write a finite run down, and replay it; None if it can continue harmlessly.

    Parameters
    ----------
    question : NetworkQuestion or ModelQuestion
        The question.
    actions : int32[k]
        Its steps.
    states : int32[k + 1, n] or int64[k + 1, n]
        Before each of them, and after the last one.

    Raises
    ------
    ReplayError
        It is not a run of the system: a bug.
    """
    yield _REPLAYING
    asked, stutters = question.property, question.stutters
    if asked.is_trivial or question.system_marks or question.fairness is not None:
        return None  # not every continuation counts
    network = with_components(question)
    system: Any = question.system  # type: ignore[attr-defined]
    run = spelt = finite_run(system, actions, states)
    yield from run_replayed(system, run, stutters=stutters, accepting=False)
    if network is not None:
        never = {name for name in asked.propositions if name not in system.action_index}
    else:
        meanings: dict[str, Any] = question.written  # type: ignore[attr-defined]
        never = {name for name, means in meanings.items() if means == Number(0)}
        if not sees_steps(question):  # the state after the last step has a letter, too
            last = tuple(states[-1].tolist())
            is_dead = next(system.each_step(last), None) is None
            spelt = finite_run(
                system,
                np.append(actions, -1 if is_dead else 0),
                np.concatenate([states, states[-1:]]),
            )
    spelling = yield from _spelling(question, spelt)
    is_lost = yield from every_continuation_violates(
        asked.formula or asked.violations,
        *spelling[1:3],
        never=never,
        one_at_a_time=network is not None,
    )
    return replace(run, spelling=spelling) if is_lost and stutters else None


def has_actions(system: System) -> bool:
    """Whether propositions are actions, of which exactly one happens at each step."""
    return isinstance(system, Network)


def as_witness(
    system: System, asked: Formula, options: Options, lasso: Lasso
) -> Job[Lasso]:
    """Spell a run, which has been replayed, for a formula that it satisfies.

    Raises
    ------
    ReplayError
        Spot says that it does not: a bug.
    """
    yield _REPLAYING
    spelling = lasso.spelling
    assert spelling is not None
    if isinstance(system, Network):
        spelling = spelling._replace(propositions=asked.propositions)
    elif isinstance(system, SpotGraph):
        spelling = spelling_of_valuations(lasso, asked.propositions)
    else:
        with silenced():
            meanings = bound_propositions(lasso.system, Property(asked), options)  # type: ignore[arg-type]
        spelling = yield from spelling_of_states(meanings, lasso)
    if (yield from violates(asked, *spelling[1:], len(lasso.prefix))):
        raise ReplayError("Spot says that the word of the witness is a violation")
    return replace(lasso, spelling=spelling, bad_prefix=None)


def check_fairness(system: Network | Model, lasso: Lasso, options: Options) -> None:
    """Check that a lasso is fair, by its states and their enabled actions.

    Raises
    ------
    ReplayError
        It is not.
    """
    sets = fair_sets(system, options)
    if not sets:
        return
    first = len(lasso.prefix)
    taken = set(lasso.actions[first:].tolist())
    enabled = [
        enabled_actions(system, state) for state in lasso.states[first:-1].tolist()
    ]
    for name, actions in sets:
        if taken & actions:
            continue
        often = [bool(now & actions) for now in enabled]
        if any(often) if options.fairness == STRONG else all(often):
            raise ReplayError(f"the lasso is not fair to {name}")


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
    steps = named_steps_of(system)
    names = list(map(steps.action_name, actions.tolist()))
    if isinstance(system, Network):
        return names, None
    return [steps.shown(tuple(state)) for state in states[:-1].tolist()], names


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
