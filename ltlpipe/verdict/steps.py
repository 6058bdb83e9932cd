"""The steps of a lasso as people read them: who moves, and from where to where."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.systems.lts import Network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Move(NamedTuple):
    """What a component, or a variable, does in a step."""

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
        The components of a network that take part; or the variables that change.
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


def steps_of(lasso: Any) -> list[LassoStep]:
    """Return the steps of a `ltlpipe.verdict.verdict.Lasso`."""
    holds = _holding(lasso)
    if isinstance(lasso.system, Network):
        moves = _moves_of_components(lasso, lasso.system)
    elif not lasso.has_valuations:  # nobody knows whose run it is
        moves = _moves_by_number(lasso)
    else:
        moves = [moves_of_values(changes) for changes in lasso.changes()]
    return [
        LassoStep(*about)
        for about in zip(lasso.action_names, moves, holds, strict=True)
    ]


def _holding(lasso: Any) -> list[tuple[str, ...]]:
    """Return the propositions that hold at each step."""
    spelling = lasso.spelling
    if spelling is None:
        return [()] * len(lasso.actions)
    known = set(spelling.propositions)
    letters = [tuple(n for n in names if n in known) for names in spelling.letters]
    return [letters[k] for k in spelling.steps.tolist()]


def _moves_of_components(lasso: Any, network: Network) -> list[tuple[Move, ...]]:
    """Return who takes part in each step, with the names of its states."""
    names = component_names(network)
    states = lasso.states.tolist()
    return [
        moves_of_components(network, names, action, before, after)
        for action, before, after in zip(
            lasso.actions.tolist(), states, states[1:], strict=False
        )
    ]


def moves_of_components(
    network: Network,
    names: Sequence[str],
    action: int,
    before: Sequence[int],
    after: Sequence[int],
) -> tuple[Move, ...]:
    """Return who takes part in a step; `names` are those of `component_names`.

    Nobody does where a state repeats itself, by the action -1.
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


def changed_values(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the variables that differ, with both values; what is not there is 0."""
    return {
        name: (old.get(name, 0), new.get(name, 0))
        for name in {**old, **new}
        if old.get(name, 0) != new.get(name, 0)
    }


def moves_of_values(changes: Mapping[str, tuple[Any, Any]]) -> tuple[Move, ...]:
    """Return what `changed_values` has found as moves."""
    return tuple(Move(name, *values) for name, values in changes.items())


def _moves_by_number(lasso: Any) -> list[tuple[Move, ...]]:
    """Return which components move in each step."""
    states = lasso.states.tolist()
    return [
        tuple(
            Move(f"component {i}", str(old), str(new))
            for i, (old, new) in enumerate(zip(before, after, strict=True), start=1)
            if old != new
        )
        for before, after in pairwise(states)
    ]


def component_names(network: Network) -> list[str]:
    """Return what the components are called; numbers tell apart who share a name."""
    given = [component.name for component in network.components]
    times = Counter(given)
    numbered = [f"{name or 'component'} {n}" for n, name in enumerate(given, start=1)]
    names = [
        name if name and times[name] == 1 else other
        for name, other in zip(given, numbered, strict=True)
    ]
    # One may be called as another one is numbered.
    return names if len({*names}) == len(names) else numbered
