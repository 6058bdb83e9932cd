"""Inequalities that hold in all markings, proved by induction over steps.

Candidates are inequalities of the propositions that hold initially; that a place keeps
one token at most, or what it has initially; and that the places of a unit of a
nested-unit net and of the units around it have one token at most, which is so if units
are safe.  Nothing of this is taken on trust.  A step that increases ``w m`` by k > 0
needs a marking with ``w m + c > -k`` if ``w m + c <= 0`` is not to hold behind it; and
linear programs refute that its transition is enabled there, given that all candidates
hold before.  Those for which they do not are left out, and the others proved again.

Sources: H. Garavel, "Nested-Unit Petri Nets", Journal of Logical and Algebraic Methods
in Programming 104, 2019, pp. 60-85, Sec. 3 (unit-safeness); C. Flanagan and K. R. M.
Leino, "Houdini, an Annotation Assistant for ESC/Java", FME 2001, LNCS 2021, pp.
500-517 (candidates that refute each other).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltlpipe.linear.constraints import is_satisfied, key_of, rows_in
from ltlpipe.linear.cycles import enabled
from ltlpipe.linear.equation import TooLongError, premises_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.linear.cycles import Meaning
    from ltlpipe.linear.equation import StateEquation
    from ltlpipe.linear.net_arrays import Structure

SECONDS = 2.0
"""CPU time after which no candidate is proved."""

_MOST_STEPS = 2_000
"""Arcs to places whose tokens are candidates."""


@dataclass
class _Candidate:
    row: Constraint
    gains: dict[int, int]  # of transitions that increase the sum
    steps: dict[int, Any] = field(default_factory=dict)  # their refutations


def prove_rows(equation: StateEquation, meanings: Mapping[str, Meaning]) -> bool:
    """Let a state equation know more rows of its net; return whether it does.

    They and their proofs are noted in `equation.inductive`: the `row`, and `steps`,
    lists of a transition that increases the sum and the refutation of a step by it that
    increases it too much.
    """
    new = [row for row in _rows(equation.net, meanings) if equation.is_new(row)]
    candidates = _increasing(equation.net, new)
    before, deadline = list(equation.known), equation.deadline
    equation.deadline = min(deadline, time.process_time() + SECONDS)
    try:
        while _has_lost(equation, candidates, before):
            pass
    except TooLongError:
        candidates = []
        equation.know(before)
    finally:
        equation.deadline = deadline
    equation.inductive += [
        {"row": own.row, "steps": [list(step) for step in own.steps.items()]}
        for own in candidates
    ]
    return bool(candidates)


def _rows(net: Structure, meanings: Mapping[str, Meaning]) -> Iterator[Constraint]:
    """Yield the candidates that hold initially."""
    every = [rows_in(side) for own in meanings.values() for side in own[:2]]
    for row in (row for rows in every for row in rows):
        if is_satisfied(row, net.initial):
            yield row
    for own in net.exclusive:
        if sum(net.initial[place] for place in own) <= 1:
            yield ["row", [[place, 1] for place in sorted(own)], -1]
    if len(net.post.place) <= _MOST_STEPS:
        for place, tokens in enumerate(net.initial):
            yield ["row", [[place, 1]], -max(tokens, 1)]


def _increasing(net: Structure, rows: Iterable[Constraint]) -> list[_Candidate]:
    """Return candidates with those who increase their sums; others are known."""
    found = [_Candidate(row, {}) for row in rows]
    around: dict[int, list[tuple[int, _Candidate]]] = {}
    for own in found:
        for place, weight in own.row[1]:
            around.setdefault(place, []).append((weight, own))
    for t, effect in enumerate(net.effects):
        for place, change in effect.items():
            for weight, own in around.get(place, ()):
                own.gains[t] = own.gains.get(t, 0) + weight * change
    for own in found:
        own.gains = {t: gain for t, gain in own.gains.items() if gain > 0}
    return [own for own in found if own.gains]


def _has_lost(
    equation: StateEquation, candidates: list[_Candidate], before: list[Constraint]
) -> bool:
    """Prove of candidates what is not proved; return whether some were left out."""
    equation.know([*before, *(own.row for own in candidates)])
    lost = [own for own in candidates if not _is_kept(equation, own)]
    for own in lost:
        candidates.remove(own)
    gone = {key_of(own.row) for own in lost}
    for own in candidates:
        own.steps = {
            t: refutation
            for t, refutation in own.steps.items()
            if gone.isdisjoint(map(key_of, premises_of(refutation)))
        }
    return bool(lost)


def _is_kept(equation: StateEquation, own: _Candidate) -> bool:
    _, weights, constant = own.row
    opposite = [[place, -weight] for place, weight in weights]
    for t, gain in own.gains.items():
        if t not in own.steps:
            broken = ["row", opposite, 1 - constant - gain]
            found = equation.refutation([enabled(equation.net, t), broken])
            if found is None:
                return False
            own.steps[t] = found
    return True
