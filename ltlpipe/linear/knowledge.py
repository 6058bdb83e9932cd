"""Formulas that are simpler, and say the same of all runs of a net.

Known are conjunctions of two literals that no marking has, by linear programs, and the
letters of the first markings, step by step (`ltlpipe.automata.pruning`): ``X F
a`` becomes ``F a`` if a is false at first.  So most operators X of the Model Checking
Contest's formulas go, and what is left is stutter-invariant.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.pruning import (
    depth_of_next,
    is_small,
    simpler_formula,
)
from ltlpipe.linear.constraints import is_satisfied
from ltlpipe.linear.cycles import Meaning, meaning_of
from ltlpipe.linear.equation import TooLongError
from ltlpipe.linear.proof import PHASE, constant_clauses, equation_of
from ltlpipe.logic.folding import with_constants
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ltlpipe.linear.equation import StateEquation
    from ltlpipe.logic.formulas import Formula

    Cube = dict[str, bool]

_DEEPEST = 8
"""Steps at the beginning whose letters are looked at."""

_MOST_LETTERS = 16
"""Letters of one such step; nothing is known of a step with more."""

_WORK = 2_000_000
"""Arcs that are looked at for these letters."""


@remote(PHASE)
def simpler(
    arrays: list[Any],
    asked: Formula,
    meanings: dict[str, Any],
    seconds: float,
    *,
    steps: bool = True,
) -> Formula | None:
    """Return a formula that says the same of all runs of a net; None if there is none.

    Parameters
    ----------
    arrays : list of int64 arrays
        The initial marking, and three arrays each of the arcs that take and put.
    asked : Formula
        What is to be simplified.
    meanings : dict
        For each proposition the fields of a `Meaning`.
    seconds : float
        After which nothing else is tried.
    steps : bool
        Whether the net takes just the steps that it is asked about, not others, too.
    """
    equation = equation_of(arrays)
    equation.deadline = time.process_time() + seconds
    own = {name: Meaning(*fields) for name, fields in meanings.items()}
    values = {
        name: not holds
        for clause in constant_clauses(equation, own)
        for name, holds in clause["cube"].items()
    }
    try:
        formula = with_constants(asked.spot, values)
    except UnsupportedError:  # PSL
        return None
    if is_small(formula):
        names = replace(asked, spot=formula).propositions
        left = {name: own[name] for name in names}
        impossible = list(_impossible_pairs(equation, left))
        depth = depth_of_next(formula) if steps else 0
        first = _first_letters(equation, left, depth)
        formula = simpler_formula(formula, impossible, first, equation.deadline)
    return None if formula == asked.spot else replace(asked, spot=formula)


def _impossible_pairs(
    equation: StateEquation, meanings: Mapping[str, Meaning]
) -> Iterator[Cube]:
    """Yield pairs of literals that no marking has."""
    for names in combinations(meanings, 2):
        for values in product((True, False), repeat=2):
            pair = dict(zip(names, values, strict=True))
            try:
                found = equation.refutation([meaning_of(pair, meanings)])
            except TooLongError:
                return
            if found is not None:
                yield pair


def _first_letters(
    equation: StateEquation, meanings: Mapping[str, Meaning], depth: int
) -> Iterator[list[Cube] | None]:
    """Yield the letters of the first markings of runs; None if they are many.

    A marking without successors is taken to repeat itself.
    """
    net = equation.net
    markings = {tuple(net.initial)}
    left = _WORK
    for _ in range(min(depth, _DEEPEST) + 1):
        left -= len(markings) * (len(net.pre.place) + net.n_transitions)
        if left < 0:
            return
        letters = {_letter(marking, meanings) for marking in markings}
        few = len(letters) <= _MOST_LETTERS
        yield [dict(letter) for letter in letters] if few else None
        markings = {then for own in markings for then in _successors(equation, own)}


def _letter(
    marking: tuple[int, ...], meanings: Mapping[str, Meaning]
) -> frozenset[tuple[str, bool]]:
    """Return the literals that a marking is known to have."""
    return frozenset(
        (name, holds)
        for name, meaning in meanings.items()
        for holds, other in ((True, meaning.false), (False, meaning.true))
        if not is_satisfied(other, marking)
    )


def _successors(
    equation: StateEquation, marking: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    net, (taking, place) = equation.net, equation.net.arcs[0]
    lacking = taking[np.array(marking)[place] < net.pre.weight]
    enabled = np.bincount(lacking, minlength=net.n_transitions) == 0
    if not enabled.any():
        yield marking
    for t in np.flatnonzero(enabled).tolist():
        then = list(marking)
        for own, change in net.effects[t].items():
            then[own] += change
        yield tuple(then)
