"""The steps of a lasso as text: the moves, with sources and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import (
    ModelSteps,
    Move,
    NetworkSteps,
    moves_of_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class LassoStep(NamedTuple):
    """One step of a lasso.

    Parameters
    ----------
    action : str
        What happens: the action of a network, the transition of a model.
    moves : tuple of Move
        The components of a network that take part; of a model the processes that move,
        and the variables that change.
    holds : tuple of str
        The propositions of the property that hold at the step.
    """

    action: str
    moves: tuple[Move, ...]
    holds: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the step as ``--json`` has it."""
        moves = [
            {"name": name, "from": before, "to": after}
            for name, before, after in self.moves
        ]
        return {"action": self.action, "moves": moves, "holds": list(self.holds)}


def steps_of(lasso: Any, wanted: Iterable[int] | None = None) -> list[LassoStep]:
    """Return the steps of a `ltlpipe.verdict.verdict.Lasso`, or some of them."""
    numbers = range(len(lasso.actions)) if wanted is None else wanted
    names = lasso.action_names
    movers, holds = _movers_of(lasso), _holding(lasso)
    return [LassoStep(names[k], movers(k), holds(k)) for k in numbers]


def situation(lasso: Any, step: int) -> dict[str, Any]:
    """Return the states of all components before a step, from 0, by their names.

    Of a model the values of its variables.  After the last step it is the situation in
    which the cycle begins.
    """
    row = lasso.states[step].tolist()
    if isinstance(lasso.system, Network):
        return NetworkSteps(lasso.system, limited=False).shown(row)
    if lasso.has_valuations:
        return lasso.valuation(step)  # type: ignore[no-any-return]
    return {f"component {i}": str(state) for i, state in enumerate(row, start=1)}


def _holding(lasso: Any) -> Callable[[int], tuple[str, ...]]:
    """Return the function for the propositions that hold at a step."""
    spelling = lasso.spelling
    if spelling is None:
        return lambda _: ()
    known = set(spelling.propositions)
    letters = [tuple(n for n in names if n in known) for names in spelling.letters]
    steps = spelling.steps.tolist()
    return lambda step: letters[steps[step]]


def _movers_of(lasso: Any) -> Callable[[int], tuple[Move, ...]]:
    """Return the function for the moves of a step."""
    system, states, actions = lasso.system, lasso.states, lasso.actions
    if isinstance(system, Network):
        steps = NetworkSteps(system, limited=False)
        return lambda k: steps.moves(
            states[k].tolist(), int(actions[k]), states[k + 1].tolist()
        )
    if isinstance(system, Model):
        model = ModelSteps(system, limited=False)
        return lambda k: model.moves_between(
            int(actions[k]), lasso.valuation(k), lasso.valuation(k + 1)
        )
    if lasso.has_valuations:  # of a graph, or of a system that is unknown
        return lambda k: moves_of_values(lasso.change(k))
    return lambda k: moves_of_values(_changed_numbers(*states[k : k + 2].tolist()))


def _changed_numbers(before: Sequence[int], after: Sequence[int]) -> dict[str, Any]:
    """Return the states of the components that move, by numbers."""
    pairs = enumerate(zip(before, after, strict=True), start=1)
    return {
        f"component {i}": (str(old), str(new)) for i, (old, new) in pairs if old != new
    }
