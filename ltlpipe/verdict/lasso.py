"""Runs of the system, written down in the shortest way.

The lasso of a product may go several times round a cycle of the system, once
for each state of the property automaton on the way.  The run is the same if
the repetition is left to the cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import STUTTER_NAME
from ltlpipe.systems.runs import shortest_form
from ltlpipe.verdict.verdict import FiniteRun, Lasso

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.systems.models import Model


def network_lasso(
    system: Network, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a network; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    names = _names([action.name for action in system.actions], actions[: k + c])
    return Lasso(
        names[:k], names[k:], actions[: k + c], states[: k + c + 1], system=system
    )


def model_lasso(
    system: Model, actions: np.ndarray, states: np.ndarray, length: int
) -> Lasso:
    """Return a run of a model; the parameters are those of `shortest_form`."""
    k, c = shortest_form(actions, states, length)
    shown = [system.shown(tuple(state)) for state in states[: k + c].tolist()]
    moves = _names(system.actions, actions[: k + c])
    rows = states[: k + c + 1]
    return Lasso(shown[:k], shown[k:], actions[: k + c], rows, moves, system=system)


def finite_run(
    system: Network | Model, actions: np.ndarray, states: np.ndarray
) -> FiniteRun:
    """Return a finite run: the actions of k steps, and k + 1 states around them."""
    if isinstance(system, Network):
        names = _names([action.name for action in system.actions], actions)
        return FiniteRun(names, [], actions, states, system=system)
    shown = [system.shown(tuple(state)) for state in states[:-1].tolist()]
    moves = _names(system.actions, actions)
    return FiniteRun(shown, [], actions, states, moves, system=system)


def _names(known: Sequence[str], actions: np.ndarray) -> list[str]:
    return [known[a] if a >= 0 else STUTTER_NAME for a in actions.tolist()]
