"""The independent replay of a run of a model.

It shares no code with the searches: the model's interpreter computes the steps of a
valuation, and propositions are evaluated on valuations.  Those of symmetric nets are
evaluated by the interpreter, from their texts: it shares no names with the searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.replay import REPLAYING, check_form
from ltlpipe.verdict.verdict import Spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model
    from ltlpipe.verdict.verdict import Lasso

_PER_LETTER = 5.0
"""Microseconds of each proposition of a letter, roughly."""


def model_run_replayed(model: Model, lasso: Lasso, *, stutters: bool) -> Job[None]:
    """Step a lasso through the interpreter; the parameters are as in `run_replayed`.

    Raises
    ------
    ReplayError
        The lasso is not a run of the model.
    """
    check_form(lasso, model.initial())
    states = [tuple(state) for state in lasso.states.tolist()]
    ticks = Ticks(REPLAYING, model.step_work)
    for k, action in enumerate(lasso.actions.tolist()):
        if ticks.over():
            yield ticks.progress
        if action < 0:
            is_dead = next(model.each_step(states[k]), None) is None
            if not stutters or not is_dead or states[k] != states[k + 1]:
                raise ReplayError(f"step {k} repeats a state but may not")
            continue
        is_step = False
        for step in model.steps_by(states[k], action):
            is_step |= step == (action, states[k + 1])
            if ticks.over():
                yield ticks.progress
        if not is_step:
            raise ReplayError(
                f"step {k}: {model.actions[action]} does not lead from "
                f"{model.shown(states[k])} to {model.shown(states[k + 1])}"
            )


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
    if isinstance(model, SymmetricNet):
        holds = model.interpreter.holding
        work += model.step_work
    numbers: dict[frozenset[str], int] = {}
    word = np.zeros(len(lasso.actions), dtype=np.int64)
    ticks = Ticks(REPLAYING, work)
    for k, (state, action) in enumerate(
        zip(lasso.states[:-1].tolist(), lasso.actions.tolist(), strict=True)
    ):
        if ticks.over():
            yield ticks.progress
        letter = frozenset(holds(propositions, state, action))
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
