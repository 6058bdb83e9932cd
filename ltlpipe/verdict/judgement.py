"""From a run that a strategy has found to a lasso that has been replayed.

A lasso is written down in the shortest way: that of a product may go several times
round a cycle of the system, once for each state of the property automaton on the way.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import STRONG
from ltlpipe.automata.lettering import holding_in
from ltlpipe.automata.words import every_continuation_violates, violates
from ltlpipe.logic.propositions.syntax import Number, uses_step
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.network import with_components
from ltlpipe.question.property import Property, fair_sets
from ltlpipe.runtime.errors import ReplayError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.graph import SpotGraph, unlabelled
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import named_steps_of
from ltlpipe.systems.runs import compressed
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
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.graph import Transitions
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.lasso import Spelling

_REPLAYING = Progress(REPLAYING)
"""Yielded between the parts."""

_PER_STATE, _PER_VALUE = 50.0, 0.05
"""Units of work: for the enabled actions of a state, and for a value that is shown."""

_VALUE_BYTES = 60.0
"""Of a value in a state of a model's run, as a number and as it is shown."""


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
        lasso = yield from lasso_of(system, run)
    yield _REPLAYING
    network = with_components(question)
    together = network is None or not network.accepts_apart
    stutters = question.stutters
    yield from run_replayed(system, lasso, stutters=stutters, together=together)
    if not isinstance(question, GraphQuestion):
        yield _REPLAYING
        yield from check_fairness(system, lasso, question.options)
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
    run = spelt = yield from finite_run(system, actions, states)
    yield from run_replayed(system, run, stutters=stutters, accepting=False)
    if network is not None:
        never = {name for name in asked.propositions if name not in system.action_index}
    else:
        meanings: dict[str, Any] = question.written  # type: ignore[attr-defined]
        never = {name for name, means in meanings.items() if means == Number(0)}
        if not sees_steps(question):  # the state after the last step has a letter, too
            last = tuple(states[-1].tolist())
            is_dead = next(system.each_step(last), None) is None
            spelt = yield from finite_run(
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


def spelt_for(
    system: System, asked: Property, options: Options, lasso: Lasso
) -> Job[Spelling]:
    """Return the word of a run, which has been replayed, for another property."""
    yield _REPLAYING
    if isinstance(system, Network):
        return spelling_of_actions(lasso, system, asked.propositions)
    if isinstance(system, SpotGraph):
        return spelling_of_valuations(lasso, asked.propositions)
    with silenced():
        meanings = bound_propositions(lasso.system, asked, options)  # type: ignore[arg-type]
    return (yield from spelling_of_states(meanings, lasso))


def as_witness(
    system: System, asked: Formula, options: Options, lasso: Lasso
) -> Job[Lasso]:
    """Spell a run, which has been replayed, for a formula that it satisfies.

    Raises
    ------
    ReplayError
        Spot says that it does not: a bug.
    """
    spelling = yield from spelt_for(system, Property(asked), options, lasso)
    if (yield from violates(asked, *spelling[1:], len(lasso.prefix))):
        raise ReplayError("Spot says that the word of the witness is a violation")
    return replace(lasso, spelling=spelling, bad_prefix=None)


def check_fairness(
    system: Network | Model, lasso: Lasso, options: Options
) -> Job[None]:
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
    enabled, ticks = [], Ticks(REPLAYING, _PER_STATE)
    for state in lasso.states[first:-1]:
        enabled.append(enabled_actions(system, state.tolist()))
        yield from ticks.worked()
    for name, actions in sets:
        if taken & actions:
            continue
        often = [bool(now & actions) for now in enabled]
        if any(often) if options.fairness == STRONG else all(often):
            raise ReplayError(f"the lasso is not fair to {name}")


def lasso_of(system: System, run: Run) -> Job[Lasso]:
    """Return a run of a system as a lasso.

    Of a graph the actions are those of `ltlpipe.systems.graph.unlabelled`, and the
    letters are some that the edges allow.
    """
    if isinstance(system, SpotGraph):
        return _way_through(system, run)
    actions, states, k = compressed(run)
    shown, names = yield from _named(system, actions, states)
    return Lasso(shown[:k], shown[k:], actions, states, names, system=system)


def finite_run(
    system: Network | Model, actions: np.ndarray, states: np.ndarray
) -> Job[FiniteRun]:
    """Return a finite run: the actions of k steps, and k + 1 states around them."""
    shown, names = yield from _named(system, actions, states)
    return FiniteRun(shown, [], actions, states, names, system=system)


def _named(
    system: Network | Model, actions: np.ndarray, states: np.ndarray
) -> Job[tuple[list[Any], list[str] | None]]:
    """Return what prefix and cycle show of steps, and the names of actions apart."""
    steps = named_steps_of(system)
    names = list(map(steps.action_name, actions.tolist()))
    if isinstance(system, Network):
        return names, None
    width, shown = states.shape[1], []
    ticks = Ticks(REPLAYING, 1.0 + _PER_VALUE * width)
    for state in states[:-1]:
        shown.append(steps.shown(tuple(state.tolist())))
        if ticks.over():
            ticks.memory_bytes = _VALUE_BYTES * width * len(shown)
            yield ticks.progress
    return shown, names


def graph_run(question: GraphQuestion, run: Run) -> Lasso:
    """Return a run, whose actions are transitions of the product, as a lasso."""
    system, found, asked = question.system, question.found, question.property

    def holding(place: int, marks: int, letter: int) -> list[str]:
        return found.lettering.holding(system.conditions[place], marks, letter)

    told = system.propositions if asked.is_trivial else asked.propositions
    return _of_edges(system, found.steps, run, holding, told)


def _way_through(system: SpotGraph, run: Run) -> Lasso:
    """Return the way to a deadlock, whose step repeats itself; its letter is arbitrary.

    The actions are those of `unlabelled`.
    """

    def holding(place: int, *_: int) -> list[str]:
        return [] if place < 0 else holding_in(system.graph, system.conditions[place])

    return _of_edges(system, unlabelled(system), run, holding, system.propositions)


def _of_edges(
    system: SpotGraph,
    steps: Transitions,
    run: Run,
    holding: Callable[[int, int, int], list[str]],
    told: Sequence[str],
) -> Lasso:
    """Return a run, whose actions are some `steps` of a graph, as a lasso.

    `holding` returns the propositions of the graph that hold with a condition, by its
    number, marks, and a letter; the word is over the propositions that are `told`.
    """
    actions, states, length = compressed(run)
    # The last entry, for -1, is that of a state that repeats itself.
    edges = np.append(steps.edge, -1)[actions]
    if system.state_label is None:
        label = np.append(system.label, -1)[edges]
    else:
        label = system.state_label[states[:-1, 0]]
    marks = np.append(system.marks, 0)[edges]
    letters = np.append(steps.letter, 0)[actions]
    known = cache(holding)
    names = list(map(known, label.tolist(), marks.tolist(), letters.tolist()))
    shown = [{p: p in names_now for p in system.propositions} for names_now in names]
    return Lasso(
        shown[:length],
        shown[length:],
        np.append(system.number, -1)[edges].astype(np.int32),
        states,
        [f"{a} -> {b}" for a, b in pairwise(states[:, 0].tolist())],
        spelling=spelling_of(tuple(told), names),
        system=system,
    )
