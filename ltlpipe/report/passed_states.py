"""The local states that a run of a network passes, as far as its actions determine
them.

Result tables have the names of actions only.  A component is replayed by itself: the
set of the states in which it can be after each of its steps, first forwards, and then
backwards from the end, where the cycle closes: it ends in the state in which it began.
A state is known if the set has one element; for deterministic components all are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.systems.networks.lts import LTS, Network

States = frozenset[int]
Change = tuple[int | None, int | None]
"""A local state before a step and after it; None: the actions do not determine it."""


class Replay:
    """Replays the actions of runs on the components of a network."""

    def __init__(self, network: Network) -> None:
        self._components = [_Component(lts) for lts in network.components]

    def changes(
        self,
        actions: Sequence[str],
        first: int,
        takers: Mapping[str, tuple[tuple[int, ...], bool]],
    ) -> list[tuple[Change, ...]] | None:
        """Return what each step of a lasso changes, for each component that takes it.

        None if the network has no such run.

        Parameters
        ----------
        actions : sequence of str
            Prefix and cycle.
        first : int
            The index at which the cycle begins.
        takers : mapping
            The participants of an action: some components, all of them or one; a
            missing action has none.
        """
        own: dict[int, list[tuple[str, bool]]] = {}
        begins: dict[int, int] = {}  # the steps of a component before the cycle
        for step, action in enumerate(actions):
            components, all_move = takers.get(action, ((), True))
            for component in components:
                own.setdefault(component, []).append((action, all_move))
                if step < first:
                    begins[component] = begins.get(component, 0) + 1
        passed = {}
        for component, steps in own.items():
            begin = begins.get(component, 0)
            sets = self._components[component].passed(steps, begin)
            if sets is None:
                return None
            passed[component] = [_only(states) for states in sets]
        at = dict.fromkeys(own, 0)
        found = []
        for action in actions:
            components, _ = takers.get(action, ((), True))
            found.append(
                tuple((passed[c][at[c]], passed[c][at[c] + 1]) for c in components)
            )
            for component in components:
                at[component] += 1
        return found


def _only(states: States) -> int | None:
    """Return the one state of a set, if it has one."""
    return next(iter(states)) if len(states) == 1 else None


class _Component:
    """The transitions of a component, label by label."""

    def __init__(self, lts: LTS) -> None:
        self._lts = lts
        self._number = {label: k for k, label in enumerate(lts.labels)}
        self._steps: dict[str, dict[int, States]] = {}
        self._memo: dict[tuple[States, str, bool], States] = {}

    def passed(
        self, steps: Sequence[tuple[str, bool]], begin: int
    ) -> list[States] | None:
        """Return in which states it can be, before the first step and after each.

        Each step has a label, and whether it is certainly taken; after the last one the
        component is in its state before step `begin`.  None if there is no such run.
        """
        sets = [frozenset([self._lts.initial])]
        for label, is_certain in steps:
            sets.append(self._after(sets[-1], label, is_certain))
        sets[begin] = sets[-1] = sets[begin] & sets[-1]
        for k in range(len(steps) - 1, -1, -1):
            if len(sets[k]) > 1:
                sets[k] = self._leading(sets[k], steps[k], sets[k + 1])
        return sets if all(sets) else None

    def _after(self, states: States, label: str, is_certain: bool) -> States:
        key = (states, label, is_certain)
        if key not in self._memo:
            dst = self._by_label(label)
            found = states if not is_certain else frozenset()
            self._memo[key] = found.union(*(dst.get(state, ()) for state in states))
        return self._memo[key]

    def _leading(self, states: States, step: tuple[str, bool], into: States) -> States:
        """Return the states from which a step leads into some."""
        label, is_certain = step
        dst = self._by_label(label)
        return frozenset(
            state
            for state in states
            if dst.get(state, frozenset()) & into or (not is_certain and state in into)
        )

    def _by_label(self, label: str) -> dict[int, States]:
        """Return the targets of a label, for each state that has it."""
        if label not in self._steps:
            lts = self._lts
            chosen = np.flatnonzero(lts.label == self._number[label])
            found: dict[int, set[int]] = {}
            for src, dst in zip(
                lts.src[chosen].tolist(), lts.dst[chosen].tolist(), strict=True
            ):
                found.setdefault(src, set()).add(dst)
            self._steps[label] = {src: frozenset(d) for src, d in found.items()}
        return self._steps[label]
