"""Fairness: which sets of actions a run has to be fair to.

The sets are the actions of each component, or those that the user names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import MAX_MARKS
from ltlpipe.automata.fairness import STRONG, Fairness, fairness_to
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from ltlpipe.question.options import Options
    from ltlpipe.systems.lts import Network
    from ltlpipe.systems.models import Model


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
    return _few_enough(sets, options)


def _few_enough(sets: list[FairSet], options: Options) -> list[FairSet]:
    """Refuse more sets than an automaton has marks for."""
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


def model_fair_sets(model: Model, options: Options) -> list[FairSet]:
    """Return what a run of a model has to be fair to; nothing if not asked for.

    Raises
    ------
    UnsupportedError
        No sets are named, an action does not exist, or there are more sets than marks.
    """
    if options.fairness is None:
        return []
    if not options.fair_sets:
        raise UnsupportedError(
            f"--fairness {options.fairness} of a model requires --fair A,B: it has no "
            "components to be fair to"
        )
    numbers: dict[str, list[int]] = {}
    for number, name in enumerate(model.actions):
        numbers.setdefault(name, []).append(number)
    sets = []
    for names in options.fair_sets:
        parts = [part.strip() for part in names.split(",")]
        for name in parts:
            if name not in numbers:
                raise UnsupportedError(
                    f"--fair {names}: no action of the system is called {name!r}"
                )
        actions = frozenset(number for name in parts for number in numbers[name])
        sets.append(FairSet(names, actions))
    return _few_enough(sets, options)


def model_fairness(model: Model, options: Options) -> Fairness | None:
    """Return the marks of fairness, or None if it is not asked for.

    Raises
    ------
    UnsupportedError
        As `model_fair_sets`.
    """
    sets = model_fair_sets(model, options)
    if not sets:
        return None
    strong = options.fairness == STRONG
    return fairness_to([s.actions for s in sets], len(model.actions), strong=strong)
