"""The steps of a lasso as people read them: who moves, and from where to where."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.systems.lts import Network
from ltlpipe.systems.models import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Move(NamedTuple):
    """What a component, a process or a variable does in a step."""

    name: str
    before: Any  # the name of a state, or a value
    after: Any


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

    Of a model the values of its variables.  Behind the last step it is the situation
    in which the cycle begins.
    """
    if isinstance(lasso.system, Network):
        components = lasso.system.components
        states = [
            lts.state_name(state)
            for lts, state in zip(components, lasso.states[step].tolist(), strict=True)
        ]
        return dict(zip(component_names(lasso.system), states, strict=True))
    if lasso.has_valuations:
        return lasso.valuation(step)  # type: ignore[no-any-return]
    row = lasso.states[step].tolist()
    return {f"component {i}": str(state) for i, state in enumerate(row, start=1)}


def _holding(lasso: Any) -> Callable[[int], tuple[str, ...]]:
    """Return what says which propositions hold at a step."""
    spelling = lasso.spelling
    if spelling is None:
        return lambda _: ()
    known = set(spelling.propositions)
    letters = [tuple(n for n in names if n in known) for names in spelling.letters]
    steps = spelling.steps.tolist()
    return lambda step: letters[steps[step]]


def _movers_of(lasso: Any) -> Callable[[int], tuple[Move, ...]]:
    """Return what says who moves in a step."""
    if isinstance(lasso.system, Network):
        return partial(_component_moves, lasso, component_names(lasso.system))
    if lasso.has_valuations:
        return partial(_variable_moves, lasso)
    return partial(_moves_by_number, lasso)  # nobody knows whose run it is


def _component_moves(lasso: Any, names: Sequence[str], step: int) -> tuple[Move, ...]:
    """Return who takes part in a step, with the names of its states."""
    action = int(lasso.actions[step])
    if action < 0:
        return ()
    components = lasso.system.components
    before, after = lasso.states[step], lasso.states[step + 1]
    return tuple(
        Move(
            names[i],
            components[i].state_name(int(before[i])),
            components[i].state_name(int(after[i])),
        )
        for i in lasso.system.actions[action].participants
    )


def _variable_moves(lasso: Any, step: int) -> tuple[Move, ...]:
    """Return the processes that move in a step, and the other variables it changes."""
    changes = lasso.change(step)
    action = int(lasso.actions[step])
    if isinstance(lasso.system, Model) and action >= 0:
        now = lasso.valuation(step)
        stay = {p: (now[p], now[p]) for p in lasso.system.movers(action)}
        changes = stay | changes
    return tuple(Move(name, *values) for name, values in changes.items())


def _moves_by_number(lasso: Any, step: int) -> tuple[Move, ...]:
    """Return which components move in a step."""
    before, after = lasso.states[step : step + 2].tolist()
    return tuple(
        Move(f"component {i}", str(old), str(new))
        for i, (old, new) in enumerate(zip(before, after, strict=True), start=1)
        if old != new
    )


def component_names(network: Network) -> list[str]:
    """Return what the components are called; numbers tell apart who share a name."""
    given = [component.name for component in network.components]
    times = Counter(given)
    taken = {name for name in given if times[name] == 1}
    names = []
    for number, name in enumerate(given, start=1):
        if not name or times[name] > 1:
            name = f"{name or 'component'} {number}"
            while name in taken:  # another is called so
                name += "'"
            taken.add(name)
        names.append(name)
    return names
