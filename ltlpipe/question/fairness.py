"""Fairness: which sets of actions a run has to be fair to.

The sets are the actions of each component, or those that the user names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import MAX_MARKS, STRONG, Fairness, fairness_to
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ltlpipe.question.options import Options
    from ltlpipe.systems.models import Model


class FairSet(NamedTuple):
    """Actions that a run is fair to."""

    name: str  # for people
    actions: frozenset[int]  # as indices into those of the system


def fair_sets(system: Network | Model, options: Options) -> list[FairSet]:
    """Return the sets that a run has to be fair to; none without ``--fairness``.

    Raises
    ------
    UnsupportedError
        An action does not exist, there are more sets than marks, or no sets are named
        for a model.
    """
    if options.fairness is None:
        return []
    if options.fair_sets:
        numbers = _numbers(system, options.fair_sets)
        sets = [_named(numbers, names) for names in options.fair_sets]
    elif isinstance(system, Network):
        sets = [
            FairSet(
                f"component {i + 1}",
                frozenset(
                    k for k, a in enumerate(system.actions) if i in a.participants
                ),
            )
            for i in range(len(system.components))
        ]
    else:
        raise UnsupportedError(
            f"--fairness={options.fairness} of a model requires --fair-sets=A,B: it "
            "has no components to be fair to"
        )
    most = MAX_MARKS // 2 if options.fairness == STRONG else MAX_MARKS
    if len(sets) > most:
        raise UnsupportedError(
            f"--fairness={options.fairness} takes at most {most} sets, here are "
            f"{len(sets)}: name some with --fair-sets=A,B"
        )
    return sets


def _numbers(
    system: Network | Model, asked: Sequence[str]
) -> Mapping[str, Collection[int]]:
    """Return the actions by their names, which several of a model may share.

    Of a model those that are `asked`.
    """
    if isinstance(system, Network):
        return {name: [number] for name, number in system.action_index.items()}
    known = system.vocabulary.actions
    names = {part.strip() for names in asked for part in names.split(",")}
    return {name: known[name] for name in names if name in known}


def _named(numbers: Mapping[str, Collection[int]], names: str) -> FairSet:
    parts = [part.strip() for part in names.split(",")]
    for name in parts:
        if name not in numbers:
            raise UnsupportedError(
                f"--fair-sets={names!r}: no action of the system is called {name!r}"
            )
    return FairSet(names, frozenset(k for name in parts for k in numbers[name]))


def fairness_of(system: Network | Model, options: Options) -> Fairness | None:
    """Return the marks of fairness, or None without ``--fairness``.

    Raises
    ------
    UnsupportedError
        As `fair_sets`.
    """
    sets = fair_sets(system, options)
    if not sets:
        return None
    strong = options.fairness == STRONG
    return fairness_to([s.actions for s in sets], len(system.actions), strong=strong)
