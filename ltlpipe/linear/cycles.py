"""Facts about what runs of a net do in the end, by weights that transitions lower.

A run whose letters are, from some step on, all of a set fires infinitely often none of
the transitions that cannot fire between two markings with such letters, and none that
lowers a weighted sum of tokens, with weights y >= 0, which the others do not increase.
What is left are the transitions in the supports of T-surinvariants (``C x >= 0``), by
duality.  A proposition about places that none of these changes is constant in the end;
if there are none left, the run ends in a deadlock, which repeats itself, or there is no
such run.

Source: T. Murata, "Petri Nets: Properties, Analysis and Applications", Proc. IEEE
77(4), 1989, Sec. V-B (repetitive nets, Theorem 32).

Differences from the source: the net has only the transitions that a component of the
property's automaton allows, and what is concluded is about letters.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.linear.constraints import (
    FALSE,
    TOLERANCE,
    both,
    either,
    row,
    shifted,
)
from ltlpipe.linear.equation import TooLongError
from ltlpipe.linear.net_arrays import flow_solver, rounded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence, Set

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.linear.equation import StateEquation
    from ltlpipe.linear.net_arrays import Structure

    Cube = dict[str, bool]
    Effect = tuple[tuple[int, int], ...]

_MOST_CONSTANT = 10
"""Propositions whose values in the end are told apart."""

_MOST_CASES = 200
"""Combinations of these values that are looked at."""


class Meaning(NamedTuple):
    """What a proposition says of markings."""

    true: Constraint  # of markings where it holds
    false: Constraint
    places: tuple[int, ...] | None  # that it depends on; None if on other things, too


def meaning_of(cube: Mapping[str, bool], meanings: Mapping[str, Meaning]) -> Constraint:
    """Return the constraint of a conjunction of literals."""
    return both(
        meanings[name].true if holds else meanings[name].false
        for name, holds in cube.items()
    )


def deadlocked(net: Structure, transitions: Iterable[int] | None = None) -> Constraint:
    """Return the constraint that no transition, or none of some, is enabled."""
    return both(
        either(row({p: 1}, 1 - weight) for p, weight in net.inputs[t].items())
        if net.inputs[t]
        else FALSE
        for t in (range(net.n_transitions) if transitions is None else transitions)
    )


def enabled(net: Structure, transition: int) -> Constraint:
    """Return the constraint that a transition is enabled."""
    inputs = net.inputs[transition].items()
    return both(row({place: -1}, weight) for place, weight in inputs)


def step_refutation(
    equation: StateEquation, transition: int, letters: Constraint, about: Set[int]
) -> Any:
    """Return a refutation of a step between two letters; None if none is found.

    `about` are the places that the letters are about.
    """
    net = equation.net
    effect, parts = net.effects[transition], [enabled(net, transition), letters]
    if about & effect.keys():
        parts.append(shifted(letters, effect))
    return equation.refutation(parts)


def by_effects(
    net: Structure, excluded: Collection[int] = ()
) -> dict[Effect, list[int]]:
    """Return transitions by their effects; there is a list of those without one."""
    found: dict[Effect, list[int]] = {(): []}
    for t, effect in enumerate(net.effects):
        if t not in excluded:
            found.setdefault(tuple(sorted(effect.items())), []).append(t)
    return found


class Flows:
    """T-surinvariants of a net that loses transitions.

    Attributes
    ----------
    transitions : dict
        Transitions by their effects.
    """

    def __init__(self, equation: StateEquation) -> None:
        self._equation = equation
        self.transitions = by_effects(equation.net)
        self._effects = [effect for effect in self.transitions if effect]
        self._numbers = {effect: k for k, effect in enumerate(self._effects)}
        self._solver = flow_solver(self._effects, len(equation.net.initial))

    def exclude(self, effect: Effect) -> None:
        """Leave out the transitions with an effect."""
        if effect:
            self._solver.changeColBounds(self._numbers[effect], 0.0, 0.0)

    def support(self, places: Collection[int] | None) -> list[Effect] | None:
        """Return the effects in the support of a T-surinvariant; None if none is left.

        It has one that changes some of the places, unless these are None.
        """
        import highspy

        wanted = [
            number
            for effect, number in self._numbers.items()
            if places is None or any(place in places for place, _ in effect)
        ]
        if not wanted:
            return None
        solver, n = self._solver, len(wanted)
        index, value = np.array(wanted, dtype=np.int32), np.ones(n)
        solver.addRow(1.0, highspy.kHighsInf, n, index, value)
        self._equation.limit(solver)
        solver.run()
        status = solver.getModelStatus()
        counts = np.array(solver.getSolution().col_value)
        solver.deleteRows(1, np.array([solver.getNumRow() - 1], dtype=np.int32))
        if status == highspy.HighsModelStatus.kOptimal:
            return [self._effects[k] for k in np.flatnonzero(counts > TOLERANCE)]
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        raise TooLongError


class Cycles:
    """What runs do in the end, by the state equation of a net.

    Parameters
    ----------
    equation : StateEquation
        Of the net; its deadline is that of all that is done here.
    meanings : mapping
        Of the propositions.
    stutters : bool
        Whether a deadlock repeats itself.
    dead : list, optional
        The constraint that no transition is enabled, if that is not all of the net.
    """

    def __init__(
        self,
        equation: StateEquation,
        meanings: Mapping[str, Meaning],
        *,
        stutters: bool,
        dead: Constraint | None = None,
    ) -> None:
        self._given_dead = dead
        self._equation, self._net = equation, equation.net
        self._meanings, self._stutters = meanings, stutters

    def fact(self, always: Sequence[Cube]) -> dict[str, Any] | None:
        """Return what holds in the end of runs whose letters are, then, in a set.

        Parameters
        ----------
        always : sequence of dict of str to bool
            The set of letters, as conjunctions of which one holds.

        Returns
        -------
        dict or None
            `always`, and `then`, a list of conjunctions: one of them holds for ever
            then; there is no such run if the list is empty.  `excluded` has
            transitions that cannot be fired, with refutations; `weights` are those
            that other transitions do not increase; `cases` are refuted conjunctions.
            None if nothing is found out.
        """
        letters = either(meaning_of(cube, self._meanings) for cube in always)
        about = {p for cube in always for name in cube for p in self._places(name)}
        try:
            excluded = self._excluded(letters, about)
        except TooLongError:
            return None
        found = None if excluded is None else self._lowered(excluded)
        if excluded is None or found is None:
            return None
        weights, left = found
        fact = self._concluded(always, letters, left)
        if fact is None:
            return None
        return fact | {
            "excluded": [[t, proof] for t, proof in sorted(excluded.items())],
            "weights": [[place, own] for place, own in sorted(weights.items())],
        }

    @cached_property
    def _dead(self) -> Constraint:
        return self._given_dead or deadlocked(self._net)

    def _places(self, name: str) -> tuple[int, ...]:
        return self._meanings[name].places or ()

    def _excluded(self, letters: Constraint, about: set[int]) -> dict[int, Any] | None:
        """Return transitions that cannot fire between such letters, with refutations.

        They are looked for in the supports of T-surinvariants, until none is left, or
        none that changes some proposition.  None if one is found that changes all
        propositions: nothing follows then.
        """
        flows = Flows(self._equation)
        constant = {n: m.places for n, m in self._meanings.items() if m.places}
        excluded: dict[int, Any] = {}
        possible: set[int] = set()

        def is_possible(effect: Effect) -> bool:
            for t in flows.transitions[effect]:
                if t not in possible and t not in excluded:
                    refuted = step_refutation(self._equation, t, letters, about)
                    if refuted is None:
                        possible.add(t)
                    else:
                        excluded[t] = refuted
                if t in possible:
                    return True
            return False

        stops = not is_possible(())  # whether no transition may be left
        while stops or constant:
            places = None if stops else {p for own in constant.values() for p in own}
            support = flows.support(places)
            if support is None:
                return excluded
            support.sort(key=lambda own: (all(p not in about for p, _ in own), own))
            impossible = next((own for own in support if not is_possible(own)), None)
            if impossible is not None:
                flows.exclude(impossible)
                continue
            stops = False
            changed = {place for own in support for place, _ in own}
            constant = {n: own for n, own in constant.items() if not changed & {*own}}
        return None

    def _concluded(
        self, always: Sequence[Cube], letters: Constraint, left: set[int]
    ) -> dict[str, Any] | None:
        """Return `then` and `cases` if only some transitions fire in the end."""
        if not left and not self._stutters:
            return {"always": list(always), "then": [], "cases": []}
        if left:
            changed = {place for t in left for place in self._net.effects[t]}
            constant = [
                name
                for name, meaning in self._meanings.items()
                if meaning.places is not None
                and not changed.intersection(meaning.places)
            ]
        else:
            constant = list(self._meanings)
        if not constant or len(constant) > _MOST_CONSTANT:
            return None
        said = [letters] if left else [letters, self._dead]
        then: list[Cube] = []
        cases: list[tuple[Cube, Any]] = []
        looked_at = 0
        for values in product((False, True), repeat=len(constant)):
            case = dict(zip(constant, values, strict=True))
            if not any(_agree(case, cube) for cube in always):
                continue
            if any(core.items() <= case.items() for core, _ in cases):
                continue
            looked_at += 1
            if looked_at > _MOST_CASES:
                return None
            try:
                refuted = self._equation.refutation(
                    [*said, meaning_of(case, self._meanings)]
                )
            except TooLongError:
                return None
            if refuted is None:
                then.append(case)
            else:
                cases.append((case, refuted))
        told = [[case, proof] for case, proof in cases]
        return {"always": list(always), "then": then, "cases": told}

    def _lowered(
        self, excluded: Mapping[int, Any]
    ) -> tuple[dict[int, int], set[int]] | None:
        """Return weights, and the transitions that do not lower the weighted sum.

        Those that are excluded do not count.  No other weights would be lowered by
        more transitions, but for what is lost when they are rounded.
        """
        effects = by_effects(self._net, excluded)
        columns = [column for column in effects if column]
        left = set(effects[()])
        if not columns:
            return {}, left
        numbers = self._largest(columns)
        if numbers is None:
            return None
        for whole in rounded(numbers):
            gains = [sum(whole[p] * change for p, change in own) for own in columns]
            if max(gains) <= 0:
                weights = {place: own for place, own in enumerate(whole) if own}
                for column, gain in zip(columns, gains, strict=True):
                    if not gain:
                        left.update(effects[column])
                return weights, left
        return {}, left.union(*(effects[column] for column in columns))

    def _largest(self, columns: Sequence[tuple[tuple[int, int], ...]]) -> Any:
        """Return weights that are lowered by as many effects as possible."""
        import highspy

        n_places, n = len(self._net.initial), len(columns)
        rows_of: list[list[tuple[int, int]]] = [[] for _ in range(n_places)]
        for k, column in enumerate(columns):
            for place, change in column:
                rows_of[place].append((k, change))
        rows_of += [[(k, 1)] for k in range(n)]
        solver, every = flow_solver(rows_of, n), np.arange(n_places + n, dtype=np.int32)
        solver.setOptionValue("presolve", "on")
        solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        solver.changeColsCost(n_places, every[:n_places], np.zeros(n_places))
        solver.changeColsBounds(n, every[n_places:], np.zeros(n), np.ones(n))
        solver.changeRowsBounds(n, every[:n], np.full(n, -np.inf), np.zeros(n))
        self._equation.limit(solver)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found: np.ndarray = np.array(solver.getSolution().col_value)[:n_places]
        return found


def _agree(case: Mapping[str, bool], cube: Mapping[str, bool]) -> bool:
    return all(case.get(name, holds) == holds for name, holds in cube.items())
