"""Fairness as marks, as certificates have it.

Of the k-th set of actions: weak fairness has mark k on the steps that take it and on
those that leave a state in which it is not enabled, and asks for ``Inf(k)``; strong
fairness has mark 2k on the steps that leave a state in which it is enabled and mark
2k + 1 on those that take it, and asks for ``Fin(2k)|Inf(2k+1)``.  All of that behind
the marks of the automaton and of the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import TRUE, Condition, conjunction, fin, inf
from ltlpipe.certificates.checking.evidence import RefusedError
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.models import Model


class Fairness(NamedTuple):
    """The marks of fairness, from 0 on; sets of them are bits."""

    n_marks: int
    condition: Condition
    idle: int  # where nothing is enabled and nothing taken
    enabled: list[int]  # of each action: marks that change where it is enabled
    taken: list[int]  # marks of a step that takes it


def fairness_of(
    system: Network | Model, kind: str | None, named: Sequence[str]
) -> Fairness:
    """Return the marks of a kind of fairness, "weak", "strong" or None.

    Raises
    ------
    RefusedError
        A set names an action that there is not.
    """
    n_actions = len(system.actions)
    enabled, taken = [0] * n_actions, [0] * n_actions
    if kind is None:
        return Fairness(0, TRUE, 0, enabled, taken)
    sets = _sets(system, named)
    strong = kind == "strong"
    if len(sets) * (1 + strong) > 32:
        raise RefusedError("there are too many sets of fairness")
    conditions = []
    for k, actions in enumerate(sets):
        here, done = (2 * k, 2 * k + 1) if strong else (k, k)
        conditions.append(fin(here) | inf(done) if strong else inf(done))
        for action in actions:
            enabled[action] |= 1 << here
            taken[action] |= 1 << done
    n_marks = len(sets) * (1 + strong)
    idle = 0 if strong else (1 << n_marks) - 1
    return Fairness(n_marks, conjunction(conditions), idle, enabled, taken)


def _sets(system: Network | Model, named: Sequence[str]) -> list[set[int]]:
    if named:
        return [_members(system, text) for text in named]
    if not isinstance(system, Network):
        raise RefusedError("a model has no components to be fair to")
    return [
        {k for k, action in enumerate(system.actions) if i in action.participants}
        for i in range(len(system.components))
    ]


def _called(system: Network | Model, name: str) -> set[int] | None:
    """Return the actions that a name means; None if it is no name."""
    if isinstance(system, Network):
        named = enumerate(system.actions)
        return {k for k, a in named if a.name == name and not a.internal} or None
    called = system.vocabulary.actions
    return {*called[name]} if name in called else None


def _members(system: Network | Model, text: str) -> set[int]:
    found: set[int] = set()
    for part in map(str.strip, text.split(",")):
        own = _called(system, part)
        if own is None:
            raise RefusedError(f"fairness names an action {part!r} that is not")
        found |= own
    return found
