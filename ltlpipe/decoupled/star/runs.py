"""Runs of a star's network as runs of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.decoupled.star.footprints import Values
    from ltlpipe.decoupled.star.networks import Star
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

_EXTRACTING = "extracting the lasso"
_ACTION_WORK = 0.5


def model_run(
    star: Star, model: Model, actions: Sequence[int], states: np.ndarray, length: int
) -> Job[Run]:
    """Return the model's run.

    Parameters
    ----------
    star : Star
        The network.
    model : Model
        What it stands for.
    actions : int32[k + c]
        The actions of a run of the network, k steps and then c for ever.
    states : int32[k + c + 1, n]
        Its composed states.
    length : int
        k.
    """
    ticks = Ticks(_EXTRACTING, 1 + model.n_actions * _ACTION_WORK)
    rows: list[Values] = [star.valuation(states[0].tolist())]
    taken: list[int] = []
    for k, action in enumerate(actions):
        if int(action) in star.deadlocks:
            # What leaves still do in a network whose centre has halted, they do not do.
            return _arrays([*taken, -1], [*rows, rows[-1]], len(taken))
        target = star.valuation(states[k + 1].tolist())
        step = _action(model, rows[-1], target)
        if step is not None:
            taken.append(step)
            rows.append(target)
        if ticks.over():
            yield ticks.progress
    return _arrays(taken, rows, length)


def _action(model: Model, state: Values, target: Values) -> int | None:
    """Return an action that leads from a valuation to another; None in a deadlock."""
    is_dead = True
    for step in model.each_step(state):
        if step.state == target:
            return step.action
        is_dead = False
    if not is_dead:
        raise RuntimeError("the search reported a run that is not there")
    return None


def _arrays(actions: list[int], rows: list[Values], length: int) -> Run:
    states = np.array(rows, dtype=np.int64).reshape(len(rows), -1)
    return Run(np.array(actions, dtype=np.int32), states, length)
