"""The replay of fairness: whether a lasso is fair to what it has to be fair to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.fairness import STRONG
from ltlpipe.question.fairness import FairSet, fair_sets, model_fair_sets
from ltlpipe.verdict.replay import ReplayError

if TYPE_CHECKING:
    from ltlpipe.question.options import Options
    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.models import Model
    from ltlpipe.verdict.verdict import Lasso


def check_fairness(network: Network, lasso: Lasso, options: Options) -> None:
    """Check that a lasso is fair, by its states and the components' transitions.

    Raises
    ------
    ReplayError
        It is not.
    """
    sets = fair_sets(network, options)
    if not sets:
        return
    cycle = lasso.states[len(lasso.prefix) : -1].tolist()
    _check(sets, lasso, [_enabled(network, state) for state in cycle], options)


def check_model_fairness(model: Model, lasso: Lasso, options: Options) -> None:
    """Check that a lasso of a model is fair, by its interpreter.

    Raises
    ------
    ReplayError
        It is not.
    """
    sets = model_fair_sets(model, options)
    if not sets:
        return
    cycle = lasso.states[len(lasso.prefix) : -1].tolist()
    enabled = [{s.action for s in model.each_step(tuple(state))} for state in cycle]
    _check(sets, lasso, enabled, options)


def _check(
    sets: list[FairSet], lasso: Lasso, enabled: list[set[int]], options: Options
) -> None:
    """Check that a cycle, in whose states some actions are enabled, is fair."""
    taken = set(lasso.actions[len(lasso.prefix) :].tolist())
    for name, actions in sets:
        if taken & actions:
            continue
        often = [bool(now & actions) for now in enabled]
        if any(often) if options.fairness == STRONG else all(often):
            raise ReplayError(f"the lasso is not fair to {name}")


def _enabled(network: Network, state: list[int]) -> set[int]:
    """Return the actions that are enabled in a composed state."""
    offered = [
        {component.labels[a] for a in component.label[component.src == local].tolist()}
        for component, local in zip(network.components, state, strict=True)
    ]
    return {
        number
        for number, action in enumerate(network.actions)
        if all(action.name in offered[i] for i in action.participants)
    }
