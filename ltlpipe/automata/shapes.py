"""The names of acceptance conditions.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Table 1.

Differences from the source: the forms are recognised up to the order of parts and
the numbers of marks, and the same mark may stand in several places, as the paper's
sets of transitions may.  A generalised Rabin pair may have no Fin (its set is
empty).  Generalised co-Büchi, trivial and unsatisfiable conditions have names
besides.  Forms are told by how a condition is written: ``Fin(0)|Inf(0)``
is a Streett condition although it always holds.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ltlpipe.automata.conditions import Op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.automata.conditions import Condition


class Shape(str, Enum):
    """Forms of conditions, the special before the general ones."""

    NONE = "unsatisfiable"  # f
    ALL = "trivial"  # t
    BUCHI = "Büchi"  # Inf
    CO_BUCHI = "co-Büchi"  # Fin
    GENERALISED_BUCHI = "generalised Büchi"  # Inf & Inf & ...
    GENERALISED_CO_BUCHI = "generalised co-Büchi"  # Fin | Fin | ...
    RABIN = "Rabin"  # (Fin & Inf) | (Fin & Inf) | ...
    STREETT = "Streett"  # (Fin | Inf) & (Fin | Inf) & ...
    PARITY = "parity"  # Inf(0) | (Fin(1) & (Inf(2) | ...)), and so on
    FIN_LESS = "Fin-less"  # Inf alone, in any combination
    GENERALISED_RABIN = "generalised Rabin"  # (Fin & Inf & ...) | ..., Fin at most once
    EMERSON_LEI = "Emerson-Lei"  # anything


def shape_of(condition: Condition) -> Shape:
    """Return the first name in the order of `Shape` that suits a condition."""
    return next(shape for shape in Shape if has_shape(condition, shape))


def has_shape(condition: Condition, shape: Shape) -> bool:
    """Whether a condition is written in a form."""
    match shape:
        case Shape.NONE | Shape.ALL:
            return condition.op == (Op.FALSE if shape == Shape.NONE else Op.TRUE)
        case Shape.BUCHI:
            return condition.op == Op.INF
        case Shape.CO_BUCHI:
            return condition.op == Op.FIN
        case Shape.GENERALISED_BUCHI:
            conjuncts = _split(Op.AND, condition)
            return condition.op == Op.TRUE or _all_are(Op.INF, conjuncts)
        case Shape.GENERALISED_CO_BUCHI:
            disjuncts = _split(Op.OR, condition)
            return condition.op == Op.FALSE or _all_are(Op.FIN, disjuncts)
        case Shape.RABIN:
            return _consists_of_pairs(condition, Op.OR, Op.AND)
        case Shape.STREETT:
            return _consists_of_pairs(condition, Op.AND, Op.OR)
        case Shape.PARITY:
            return _is_parity(condition)
        case Shape.FIN_LESS:
            return condition.fin_marks == 0
        case Shape.GENERALISED_RABIN:
            return all(map(_is_generalised_pair, _split(Op.OR, condition)))
    return True


def _split(op: Op, condition: Condition) -> tuple[Condition, ...]:
    """Return the parts that `op` joins; the whole is one if it joins nothing."""
    return condition.parts if condition.op == op else (condition,)


def _all_are(op: Op, parts: Iterable[Condition]) -> bool:
    return all(part.op == op for part in parts)


def _consists_of_pairs(condition: Condition, outer: Op, inner: Op) -> bool:
    """Whether `outer` joins pairs of one Fin and one Inf, joined by `inner`."""
    return all(
        pair.op == inner and sorted(part.op for part in pair.parts) == [Op.INF, Op.FIN]
        for pair in _split(outer, condition)
    )


def _is_generalised_pair(condition: Condition) -> bool:
    parts = _split(Op.AND, condition)
    n_fin = sum(part.op == Op.FIN for part in parts)
    simple = all(part.op in (Op.TRUE, Op.FALSE, Op.INF, Op.FIN) for part in parts)
    return simple and n_fin <= 1


def _is_parity(condition: Condition) -> bool:
    """Whether Inf and Fin of different marks take turns, one to each level."""
    marks = []
    rest = condition
    while rest.parts:
        leaf = Op.INF if rest.op == Op.OR else Op.FIN
        decisive = [part for part in rest.parts if part.op == leaf]
        others = [part for part in rest.parts if part.op != leaf]
        if len(decisive) != 1 or len(others) != 1:
            return False
        marks.append(decisive[0].mark)
        rest = others[0]
    marks.append(rest.mark)
    return rest.op in (Op.INF, Op.FIN) and len(set(marks)) == len(marks)
