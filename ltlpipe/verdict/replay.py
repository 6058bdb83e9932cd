"""The independent replay of a lasso.

It shares no code with the searches: the run is stepped through the components
of the network as they were read, by their labels, and Spot is asked whether the
word of its actions violates the formula.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe._version import __version__
from ltlpipe.automata.translation import spot_version
from ltlpipe.automata.words import violates
from ltlpipe.question.option import flag_of
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.verdict.verdict import FiniteRun, Spelling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.verdict.verdict import Lasso


REPLAYING = "replaying"
"""The phase of all that is done here."""

STEPS_AT_ONCE = 1000
"""Steps that are replayed between two checks of the limits."""

_STEP_WORK = 10.0  # units per step


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
    network: Network,
    lasso: Lasso,
    *,
    stutters: bool = False,
    together: bool = True,
    accepting: bool = True,
) -> Job[None]:
    """Step a lasso through the components.

    Parameters
    ----------
    network : Network
        As it was read.
    lasso : Lasso
        With the local states before each step and after the last one.
    stutters : bool
        Whether a state without successors may repeat itself.
    together : bool
        Whether components that accept have to do so in the same state.
    accepting : bool
        Whether the run has to be accepting.

    Raises
    ------
    ReplayError
        The lasso is not an accepting run of the network.
    """
    check_form(lasso, [c.initial for c in network.components])
    states, actions = lasso.states, lasso.actions
    steps = _steps_taken(network, states)
    alphabets = [frozenset(c.labels) - c.internal for c in network.components]
    names = lasso.action_names
    for first in range(0, len(actions), STEPS_AT_ONCE):
        yield Progress(REPLAYING, STEPS_AT_ONCE * _STEP_WORK)
        near = states[first : first + STEPS_AT_ONCE + 1].tolist()
        for i, action in enumerate(actions[first : first + STEPS_AT_ONCE].tolist()):
            k, src, dst = first + i, near[i], near[i + 1]
            if action >= 0:
                step = _Step(k, action, names[k], src, dst)
                _check_step(network, steps, alphabets, step)
                continue
            if not stutters or src != dst:
                raise ReplayError(f"step {k} repeats a state but may not")
            _check_deadlock(network, steps, src, k)
    if accepting:
        cycle = states[len(lasso.prefix) + 1 :]
        _check_acceptance(network.components, cycle, together=together)


def check_form(lasso: Lasso, initial: Sequence[int]) -> None:
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


class _Step(NamedTuple):
    """One step of a lasso: its place, action and name, and two composed states."""

    k: int
    action: int
    name: str
    src: list[int]
    dst: list[int]


def _steps_taken(
    network: Network, states: np.ndarray
) -> list[set[tuple[int, str, int]]]:
    """Return, per component, the transitions that leave a state of the lasso."""
    steps = []
    for component, local in zip(network.components, states.T, strict=True):
        near = np.flatnonzero(np.isin(component.src, local))
        src, label, dst = (
            column[near].tolist()
            for column in (component.src, component.label, component.dst)
        )
        names = component.labels
        steps.append(
            {(s, names[a], d) for s, a, d in zip(src, label, dst, strict=True)}
        )
    return steps


def _check_step(
    network: Network,
    steps: list[set[tuple[int, str, int]]],
    alphabets: list[frozenset[str]],
    step: _Step,
) -> None:
    """Check that exactly the components that have the action take it."""
    k, name = step.k, step.name
    known = network.actions[step.action]
    if known.name != name:
        raise ReplayError(f"step {k} is called {name!r} but is {known.name!r}")
    for i, (src, dst) in enumerate(zip(step.src, step.dst, strict=True)):
        if known.internal:
            takes_part = i == known.participants[0]
        else:
            takes_part = name in alphabets[i]
        if takes_part and (src, name, dst) not in steps[i]:
            raise ReplayError(f"step {k}: component {i} has no {src} -{name}-> {dst}")
        if not takes_part and src != dst:
            raise ReplayError(f"step {k}: component {i} moves without {name!r}")


def _check_deadlock(
    network: Network,
    steps: list[set[tuple[int, str, int]]],
    state: list[int],
    k: int,
) -> None:
    """Check that no action is enabled in a state that repeats itself."""
    offered = [
        {label for src, label, _ in steps[i] if src == local}
        for i, local in enumerate(state)
    ]
    for action in network.actions:
        if all(action.name in offered[i] for i in action.participants):
            raise ReplayError(f"step {k} repeats a state that {action.name!r} leaves")


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
