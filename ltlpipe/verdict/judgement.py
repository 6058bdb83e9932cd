"""From a run that a strategy has found to a lasso that has been replayed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.bad_prefixes import every_continuation_violates
from ltlpipe.automata.fairness import STRONG
from ltlpipe.automata.words import violates
from ltlpipe.logic.propositions.syntax import Number, uses_step
from ltlpipe.question.fairness import fair_sets
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.network import with_components
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.networks.lts import Network
from ltlpipe.verdict.graph_replay import (
    graph_run,
    graph_run_replayed,
    spelling_of_valuations,
)
from ltlpipe.verdict.lasso import finite_run, model_lasso, network_lasso
from ltlpipe.verdict.model_replay import model_run_replayed, spelling_of_states
from ltlpipe.verdict.replay import (
    REPLAYING,
    run_replayed,
    spelling_of_actions,
    word_replayed,
)

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.verdict import FiniteRun, Lasso

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
    network = with_components(question)
    if network is not None:
        return (yield from _judged_by_components(network, run))
    if isinstance(question, GraphQuestion):
        return (yield from _judged_by_edges(question, run))
    return (yield from _judged_by_valuations(question, run))  # type: ignore[arg-type]


def _judged_by_components(question: NetworkQuestion, run: Run) -> Job[Lasso]:
    system, asked = question.system, question.property
    lasso = network_lasso(system, *run)
    yield _REPLAYING
    yield from run_replayed(
        system, lasso, stutters=question.stutters, together=not question.accepts_apart
    )
    yield _REPLAYING
    check_fairness(system, lasso, question.options)
    lasso = replace(
        lasso, spelling=spelling_of_actions(lasso, system, asked.propositions)
    )
    yield from _word_replayed(asked, lasso)
    return lasso


def _judged_by_valuations(question: ModelQuestion, run: Run) -> Job[Lasso]:
    system = question.system
    lasso = model_lasso(system, *run)
    yield _REPLAYING
    yield from model_run_replayed(system, lasso, stutters=question.stutters)
    yield _REPLAYING
    check_fairness(system, lasso, question.options)
    spelling = yield from spelling_of_states(question.written, lasso)
    lasso = replace(lasso, spelling=spelling)
    yield from _word_replayed(question.property, lasso)
    return lasso


def _judged_by_edges(question: GraphQuestion, run: Run) -> Job[Lasso]:
    lasso = graph_run(question, run)
    yield _REPLAYING
    yield from graph_run_replayed(question.system, lasso, stutters=question.stutters)
    yield from _word_replayed(question.property, lasso)
    return lasso


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
    run = finite_run(system, actions, states)
    if network is not None:
        yield from run_replayed(system, run, stutters=stutters, accepting=False)
        never = {name for name in asked.propositions if name not in system.action_index}
        spelling = spelling_of_actions(run, system, asked.propositions)
    else:
        yield from model_run_replayed(system, run, stutters=stutters)
        meanings: dict[str, Any] = question.written  # type: ignore[attr-defined]
        never = {name for name, means in meanings.items() if means == Number(0)}
        spelt = run
        if not sees_steps(question):  # the state after the last step has a letter, too
            last = tuple(states[-1].tolist())
            is_dead = next(system.each_step(last), None) is None
            spelt = finite_run(
                system,
                np.append(actions, -1 if is_dead else 0),
                np.concatenate([states, states[-1:]]),
            )
        spelling = yield from spelling_of_states(meanings, spelt)
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


def _word_replayed(asked: Property, lasso: Lasso) -> Job[None]:
    """Ask Spot whether the word of a lasso violates a property, if there is one."""
    if not asked.is_trivial:
        assert lasso.spelling is not None
        subject = asked.formula or asked.violations
        yield from word_replayed(subject, lasso.spelling, len(lasso.prefix))


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
    enabled = [_enabled(system, state) for state in lasso.states[first:-1].tolist()]
    for name, actions in sets:
        if taken & actions:
            continue
        often = [bool(now & actions) for now in enabled]
        if any(often) if options.fairness == STRONG else all(often):
            raise ReplayError(f"the lasso is not fair to {name}")


def _enabled(system: Network | Model, state: list[int]) -> set[int]:
    """Return the actions that are enabled in a state, by transitions or interpreter."""
    if not isinstance(system, Network):
        return {step.action for step in system.each_step(tuple(state))}
    offered = [
        {component.labels[a] for a in component.label[component.src == local].tolist()}
        for component, local in zip(system.components, state, strict=True)
    ]
    return {
        number
        for number, action in enumerate(system.actions)
        if all(action.name in offered[i] for i in action.participants)
    }
