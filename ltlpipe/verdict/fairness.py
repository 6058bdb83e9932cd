"""Fairness: which sets of actions a run has to be fair to, and whether a lasso is.

The sets are the actions of each component, or those that the user names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.fairness import STRONG, Fairness, fairness_to
from ltlpipe.search.product import MAX_MARKS
from ltlpipe.verdict.replay import ReplayError

if TYPE_CHECKING:
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.verdict import Lasso


class FairSet(NamedTuple):
    """Actions that a run is fair to.

    Parameters
    ----------
    name : str
        For people.
    actions : frozenset of int
        By ``network.actions``.
    """

    name: str
    actions: frozenset[int]


def fair_sets(network: Network, options: Options) -> list[FairSet]:
    """Return what a run of a network has to be fair to; nothing if not asked for.

    Raises
    ------
    UnsupportedError
        An action does not exist, or there are more sets than marks.
    """
    if options.fairness is None:
        return []
    if options.fair_sets:
        sets = [_named(network, names) for names in options.fair_sets]
    else:
        sets = [
            FairSet(
                f"component {i + 1}",
                frozenset(
                    k for k, a in enumerate(network.actions) if i in a.participants
                ),
            )
            for i in range(len(network.components))
        ]
    most = MAX_MARKS // 2 if options.fairness == STRONG else MAX_MARKS
    if len(sets) > most:
        raise UnsupportedError(
            f"--fairness {options.fairness} takes at most {most} sets, here are "
            f"{len(sets)}: name some with --fair A,B"
        )
    return sets


def _named(network: Network, names: str) -> FairSet:
    index = network.action_index
    actions = []
    for name in (part.strip() for part in names.split(",")):
        if name not in index:
            raise UnsupportedError(
                f"--fair {names}: no action of the system is called {name!r}"
            )
        actions.append(index[name])
    return FairSet(names, frozenset(actions))


def fairness_of(network: Network, options: Options) -> Fairness | None:
    """Return the marks of fairness, or None if it is not asked for.

    Raises
    ------
    UnsupportedError
        As `fair_sets`.
    """
    sets = fair_sets(network, options)
    if not sets:
        return None
    strong = options.fairness == STRONG
    return fairness_to([s.actions for s in sets], len(network.actions), strong=strong)


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
    k = len(lasso.prefix)
    cycle = lasso.states[k:-1].tolist()
    taken = set(lasso.actions[k:].tolist())
    enabled = [_enabled(network, state) for state in cycle]
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
