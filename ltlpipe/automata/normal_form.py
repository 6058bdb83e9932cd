"""Disjunctive normal forms of acceptance conditions: generalised Rabin pairs.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 2.

Differences from the source: pairs that contradict themselves or imply another one
are left out at every step, so a small normal form is found where distributing
alone would explode; the paper keeps them, and calls equal or overlapping pairs a
missed opportunity (Sec. 3.1).  Marks that other pairs make superfluous are removed.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import (
    MAX_MARKS,
    Clause,
    Condition,
    Op,
    conjunction,
    disjunction,
    fin,
    inf,
    marks_in,
)
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CLAUSES = 4096
"""How many clauses a disjunctive normal form may have."""

_MAX_PRODUCT = 1 << 16  # clauses that are looked at for one conjunction
_MAX_SHARPENED = 256  # more clauses than this keep what marks they have

# A clause as one number, Fin marks above Inf marks: it implies another clause iff
# its bits contain the other's.
_FIN = MAX_MARKS


class MergedFin(NamedTuple):
    """A condition in the paper's form, at most one Fin in each clause."""

    condition: Condition  # over new marks
    unions: tuple[int, ...]  # mark i is where any of the old marks unions[i] is


def normal_form(condition: Condition) -> tuple[Clause, ...]:
    """Return the disjunctive normal form, the pairs of generalised Rabin.

    No pair contradicts itself, and none implies another one.  No pair is left for a
    condition that cannot hold; ``Clause(0, 0)`` always does.

    Raises
    ------
    UnsupportedError
        There would be more than `MAX_CLAUSES`.
    """
    return tuple(map(_clause, _sharpened(_distributed(condition))))


def merged_fin(clauses: Iterable[Clause]) -> MergedFin:
    """Return clauses in the paper's form, with one Fin set in each at most.

    Marks that no clause uses are dropped, and equal sets get the same mark.

    Raises
    ------
    UnsupportedError
        More than 32 marks would be needed.
    """
    pairs = list(clauses)
    unions = {c.fin for c in pairs if c.fin}
    unions |= {1 << mark for c in pairs for mark in marks_in(c.inf)}
    ordered = tuple(sorted(unions))
    number = {union: i for i, union in enumerate(ordered)}
    written = disjunction(
        conjunction(
            [
                *([fin(number[c.fin])] if c.fin else []),
                *(inf(number[1 << mark]) for mark in marks_in(c.inf)),
            ]
        )
        for c in pairs
    )
    return MergedFin(written, ordered)


def _clause(code: int) -> Clause:
    return Clause(code >> _FIN, code & ((1 << _FIN) - 1))


def _contradicts(code: int) -> bool:
    return code >> _FIN & code != 0


def _distributed(condition: Condition) -> list[int]:
    """Return the clauses of a condition, none of which implies another."""
    if condition.op == Op.OR:
        found = [code for part in condition.parts for code in _distributed(part)]
        return _absorbed(dict.fromkeys(found))
    if condition.op == Op.AND:
        codes = [0]
        for part in condition.parts:
            more = _distributed(part)
            if len(codes) * len(more) > _MAX_PRODUCT:
                raise _too_many(condition)
            pairs = (a | b for a, b in product(codes, more))
            codes = _absorbed(dict.fromkeys(c for c in pairs if not _contradicts(c)))
            if len(codes) > MAX_CLAUSES:
                raise _too_many(condition)
        return codes
    if condition.op == Op.INF:
        return [1 << condition.mark]
    if condition.op == Op.FIN:
        return [1 << condition.mark << _FIN]
    return [0] if condition.op == Op.TRUE else []


def _too_many(condition: Condition) -> UnsupportedError:
    shown = str(condition)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return UnsupportedError(
        f"the disjunctive normal form of {shown} has more than {MAX_CLAUSES} pairs; "
        "use --emptiness=tela, and --acceptance=tela, which need none, or tgba"
    )


def _absorbed(codes: Iterable[int]) -> list[int]:
    """Drop the clauses that imply another one; the others keep their order."""
    order = list(codes)
    if len(order) < 2:
        return order
    left = np.array(sorted(order, key=int.bit_count), dtype=np.uint64)
    kept = set()
    while len(left):
        smallest = left[0]  # nothing that is left is contained in it
        kept.add(int(smallest))
        left = left[left & smallest != smallest]
    return [code for code in order if code in kept]


def _sharpened(codes: list[int]) -> list[int]:
    """Drop the marks of clauses that other clauses make superfluous.

    ``(Fin(0)&A)|(Inf(0)&A&B)`` is ``(Fin(0)&A)|(A&B)``: where mark 0 is seen
    finitely often, A&B implies the first clause anyway.
    """
    changed = 1 < len(codes) <= _MAX_SHARPENED
    while changed:
        changed = False
        for i, code in enumerate(codes):
            for bit in (1 << at for at in marks_in(code)):
                opposite = bit << _FIN if bit < 1 << _FIN else bit >> _FIN
                rest = code ^ bit
                if any(c & opposite and c ^ opposite | rest == rest for c in codes):
                    codes = _absorbed(
                        dict.fromkeys([*codes[:i], rest, *codes[i + 1 :]])
                    )
                    changed = True
                    break
            if changed:
                break
    return codes
