"""The steps of a lasso as text: the moves, with sources and targets."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Move(NamedTuple):
    """What a component, a process or a variable does in a step."""

    name: str
    before: Any  # the name of a state, or a value
    after: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"


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
    if isinstance(lasso.system, Network):
        return partial(_component_moves, lasso, component_names(lasso.system))
    if lasso.has_valuations:
        return partial(_variable_moves, lasso)
    return partial(_moves_by_number, lasso)  # the system is unknown


def _component_moves(lasso: Any, names: Sequence[str], step: int) -> tuple[Move, ...]:
    """Return the moves of a step of a network, with names of states."""
    before, after = lasso.states[step : step + 2].tolist()
    action = int(lasso.actions[step])
    return moves_of_components(lasso.system, names, action, before, after)


def moves_of_components(
    network: Network,
    names: Sequence[str],
    action: int,
    before: Sequence[int],
    after: Sequence[int],
) -> tuple[Move, ...]:
    """Return the components that take part in a step; `names` are those of
    `component_names`.

    None does in a stuttering step, the action -1.
    """
    components = network.components
    who: Sequence[int] = network.actions[action].participants if action >= 0 else ()
    return tuple(
        Move(
            names[i],
            components[i].state_name(before[i]),
            components[i].state_name(after[i]),
        )
        for i in who
    )


def _variable_moves(lasso: Any, step: int) -> tuple[Move, ...]:
    """Return the moves of a step of a model, or the change of state of a graph."""
    old, new = lasso.valuation(step), lasso.valuation(step + 1)
    model = lasso.system if isinstance(lasso.system, Model) else None
    return moves_of_values(model, int(lasso.actions[step]), old, new)


def moves_of_values(
    model: Model | None, action: int, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Move, ...]:
    """Return the processes of a model that move, and the other variables that change.

    Without a model the variables that change.
    """
    changes = changed_values(old, new)
    if model is not None and action >= 0:
        stay = {
            process: (old[process], old[process]) for process in model.movers(action)
        }
        changes = stay | changes
    return tuple(Move(name, *values) for name, values in changes.items())


def changed_values(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the variables that differ, with both values; missing ones are 0."""
    return {
        name: (old.get(name, 0), new.get(name, 0))
        for name in {**old, **new}
        if old.get(name, 0) != new.get(name, 0)
    }


def _moves_by_number(lasso: Any, step: int) -> tuple[Move, ...]:
    """Return which components move in a step."""
    before, after = lasso.states[step : step + 2].tolist()
    return tuple(
        Move(f"component {i}", str(old), str(new))
        for i, (old, new) in enumerate(zip(before, after, strict=True), start=1)
        if old != new
    )


def component_names(network: Network) -> list[str]:
    """Return the names of the components; numbers distinguish equal names."""
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
