"""The independent replay of a lasso: whether it is a run, and a violation.

It shares no code with the searches.  A run of a network is stepped through its
components as they were read, by their labels; that of a model through its interpreter;
that of a graph through Spot's interface, which says its edges, their conditions and
marks.  Spot is asked whether the word of the run violates the formula.

Propositions of models are evaluated on valuations, those of symmetric nets by the
interpreter, from their texts: it shares no names with the searches.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe._version import __version__
from ltlpipe.automata.graphs import Stepper
from ltlpipe.automata.translation import spot_version
from ltlpipe.automata.words import violates
from ltlpipe.question.conditions import flag_of
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.kinds import is_eca, is_symmetric_net
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.lasso import FiniteRun, Spelling, spelling_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.programs.eca.system import EcaSystem
    from ltlpipe.verdict.lasso import Lasso


REPLAYING = "replaying"
"""The phase of all that is done here."""

_STEP_WORK, _EDGE_WORK = 10.0, 30.0  # units per step of a network, and of a graph

_PER_LETTER = 5.0
"""Microseconds of each proposition of a letter, roughly."""


@contextmanager
def bugs_reported(system: str, question: str, options: Options) -> Iterator[None]:
    """Have a failure to replay what a search has found say what reproduces it."""
    try:
        yield
    except ReplayError as error:
        given = options.differing()
        seed = given.pop("seed", None)
        named = [f"--{flag_of(name)}={value}" for name, value in given.items()]
        raise ReplayError(
            f"the run that was found is no violation: {error.args[0]}\n"
            "This is a bug of ltlpipe; please report it with\n"
            f"  version: ltlpipe {__version__}, Spot {spot_version()}\n"
            f"  system: {system}\n  question: {question}\n"
            f"  options: {' '.join(named) or 'none'}\n  seed: {seed}"
        ) from error


def run_replayed(
    system: System,
    lasso: Lasso,
    *,
    stutters: bool = False,
    together: bool = True,
    accepting: bool = True,
) -> Job[None]:
    """Step a lasso through the system.

    Parameters
    ----------
    system : Network, Model or SpotGraph
        As it was read.
    lasso : Lasso
        With the states before each step and after the last one.
    stutters : bool
        Whether a state without successors may repeat itself.
    together : bool
        Whether components that accept have to do so in the same state.
    accepting : bool
        Whether the run has to be accepting.

    Raises
    ------
    ReplayError
        The lasso is not an accepting run of the system.
    """
    if isinstance(system, Network):
        yield from _by_components(system, lasso, stutters=stutters)
        if is_eca(system):
            yield from _by_program(system, lasso)
        if accepting:
            cycle = lasso.states[len(lasso.prefix) + 1 :]
            _check_acceptance(system.components, cycle, together=together)
    elif isinstance(system, SpotGraph):
        yield from _by_edges(system, lasso, stutters=stutters, accepting=accepting)
    else:
        yield from _by_interpreter(system, lasso, stutters=stutters)


def _by_components(network: Network, lasso: Lasso, *, stutters: bool) -> Job[None]:
    """Step a lasso through the components of a network.

    Exactly the components that have an action take it.
    """
    _check_form(lasso, [c.initial for c in network.components])
    steps = _steps_taken(network, lasso.states)
    alphabets = [frozenset(c.labels) - c.internal for c in network.components]
    ticks = Ticks(REPLAYING, _STEP_WORK)
    named = zip(lasso.actions.tolist(), lasso.action_names, strict=True)
    moves = pairwise(map(np.ndarray.tolist, lasso.states))
    for k, ((action, name), (src, dst)) in enumerate(zip(named, moves, strict=True)):
        yield from ticks.worked()
        if action < 0:
            if not stutters or src != dst:
                raise ReplayError(f"step {k} repeats a state but may not")
            if enabled := enabled_actions(network, src):
                left = network.actions[min(enabled)].name
                raise ReplayError(f"step {k} repeats a state that {left!r} leaves")
            continue
        known = network.actions[action]
        if known.name != name:
            raise ReplayError(f"step {k} is called {name!r} but is {known.name!r}")
        for i, move in enumerate(zip(src, dst, strict=True)):
            takes_part = name in alphabets[i]
            if known.internal:
                takes_part = i == known.participants[0]
            if takes_part and (name, *move) not in steps[i]:
                said = f"{move[0]} -{name}-> {move[1]}"
                raise ReplayError(f"step {k}: component {i} has no {said}")
            if not takes_part and move[0] != move[1]:
                raise ReplayError(f"step {k}: component {i} moves without {name!r}")


def _by_program(system: EcaSystem, lasso: Lasso) -> Job[None]:
    """Step the inputs and outputs of a lasso through a program, round after round.

    Steps in which a state repeats itself are none of the program.
    """
    from ltlpipe.systems.programs.eca.program import RunEndedError

    actions = lasso.actions.tolist()
    word = [system.actions[action].name for action in actions if action >= 0]
    start = sum(action >= 0 for action in actions[: len(lasso.prefix)])
    try:
        yield from system.replayed(word, start)
    except RunEndedError as error:
        raise ReplayError(f"the program does not take the run: {error}") from None


def _by_interpreter(model: Model, lasso: Lasso, *, stutters: bool) -> Job[None]:
    """Step a lasso through the interpreter of a model."""
    _check_form(lasso, model.initial())
    ticks = Ticks(REPLAYING, model.step_work)
    moves = pairwise(tuple(state.tolist()) for state in lasso.states)
    taken = zip(lasso.actions.tolist(), moves, strict=True)
    for k, (action, (src, dst)) in enumerate(taken):
        yield from ticks.worked()
        if action < 0:
            is_dead = next(model.each_step(src), None) is None
            if not stutters or not is_dead or src != dst:
                raise ReplayError(f"step {k} repeats a state but may not")
            continue
        is_step = False
        for step in model.steps_by(src, action):
            is_step |= step == (action, dst)
            yield from ticks.worked()
        if not is_step:
            raise ReplayError(
                f"step {k}: {model.actions[action]} does not lead from "
                f"{model.shown(src)} to {model.shown(dst)}"
            )


def _by_edges(
    system: SpotGraph, lasso: Lasso, *, stutters: bool, accepting: bool
) -> Job[None]:
    """Step a lasso through the edges of a graph."""
    _check_form(lasso, [system.graph.get_init_state_number()])
    stepper, ticks = Stepper(system.graph), Ticks(REPLAYING, _EDGE_WORK)
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
        yield from ticks.worked()
    if accepting and not stepper.accepts(seen):
        raise ReplayError("the graph does not accept the run")


def _check_form(lasso: Lasso, initial: Sequence[int]) -> None:
    """Check the parts of a run, its initial state, and that a lasso closes."""
    states, length = lasso.states, len(lasso.prefix) + len(lasso.cycle)
    is_finite = isinstance(lasso, FiniteRun)
    if (
        is_finite == bool(lasso.cycle)
        or len(lasso.actions) != length
        or len(states) != length + 1
    ):
        raise ReplayError("the lasso's parts do not fit together")
    if states[0].tolist() != list(initial):
        raise ReplayError("the run does not begin in the initial state")
    if not is_finite and not np.array_equal(states[-1], states[len(lasso.prefix)]):
        raise ReplayError("the cycle does not close")


def _steps_taken(
    network: Network, states: np.ndarray
) -> list[set[tuple[str, int, int]]]:
    """Return, per component, the transitions that leave a state of the lasso."""
    steps = []
    for component, local in zip(network.components, states.T, strict=True):
        near = np.flatnonzero(np.isin(component.src, local))
        columns = component.label, component.src, component.dst
        label, src, dst = (column[near].tolist() for column in columns)
        names = [component.labels[a] for a in label]
        steps.append(set(zip(names, src, dst, strict=True)))
    return steps


def enabled_actions(system: Network | Model, state: list[int]) -> set[int]:
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


def _check_acceptance(
    components: Sequence[LTS], cycle: np.ndarray, *, together: bool
) -> None:
    """Check that all components accept in a state of the cycle, or each in one."""
    everywhere = np.ones(len(cycle), dtype=np.bool_)
    for i, component in enumerate(components):
        if component.accepting is None:
            continue
        own = component.accepting[cycle[:, i]]
        if not own.any():
            raise ReplayError(f"no state of the cycle is accepting in component {i}")
        everywhere &= own
    if together and not everywhere.any():
        raise ReplayError("no state of the cycle is accepting in all components")


def spelling_of_actions(
    lasso: Lasso, network: Network, propositions: Sequence[str]
) -> Spelling:
    """Return the word of a run of a network, whose actions hold one at a time.

    The network determines which actions no proposition can name.
    """
    known, word = np.unique(lasso.actions, return_inverse=True)
    letters = [
        [network.actions[action].name]
        if action >= 0 and not network.actions[action].internal
        else []
        for action in known.tolist()
    ]
    return Spelling(tuple(propositions), letters, word.astype(np.int64))


def spelling_of_states(
    propositions: Mapping[str, Expression], lasso: Lasso
) -> Job[Spelling]:
    """Return the word of a run of a model: the propositions in the state before each
    step.

    `propositions` has the meaning of each in the model.
    """
    model: Any = lasso.system
    holds: Callable[..., tuple[str, ...]] = holding
    work = _PER_LETTER * (1 + len(propositions))
    if is_symmetric_net(model):
        holds = model.interpreter.holding
        work += model.step_work
    numbers: dict[frozenset[str], int] = {}
    word = np.zeros(len(lasso.actions), dtype=np.int64)
    ticks = Ticks(REPLAYING, work)
    taken = zip(lasso.states[:-1], lasso.actions.tolist(), strict=True)
    for k, (state, action) in enumerate(taken):
        yield from ticks.worked()
        letter = frozenset(holds(propositions, state.tolist(), action))
        word[k] = numbers.setdefault(letter, len(numbers))
    return Spelling(tuple(propositions), [sorted(names) for names in numbers], word)


def holding(
    propositions: Mapping[str, Expression], state: Sequence[int], action: int
) -> tuple[str, ...]:
    """Return the propositions that hold where a step leaves a state.

    The action is -1 where a state without steps repeats itself.
    """
    dead = action < 0
    taken = None if dead else action
    return tuple(
        name
        for name, meaning in propositions.items()
        if evaluate(meaning, state, action=taken, dead=dead)
    )


def spelling_of_valuations(lasso: Lasso, propositions: Sequence[str]) -> Spelling:
    """Return the word of a run of a graph over other propositions of the graph."""
    holding = [
        [name for name, holds in valuation.items() if holds]
        for valuation in [*lasso.prefix, *lasso.cycle]
    ]
    return spelling_of(tuple(propositions), holding)


def word_replayed(asked: Formula | Any, spelling: Spelling, start: int) -> Job[None]:
    """Ask Spot whether the word of a lasso violates a property.

    Parameters
    ----------
    asked : Formula or spot.twa_graph
        A formula, or an automaton of the words that violate the property.
    spelling : Spelling
        The word.
    start : int
        The index at which it continues after its last letter.

    Raises
    ------
    ReplayError
        The word does not violate the property.
    """
    _, letters, word = spelling
    if not (yield from violates(asked, letters, word, start)):
        raise ReplayError("according to Spot, the word of the lasso is not a violation")
