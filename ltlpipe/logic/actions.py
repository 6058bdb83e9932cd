"""Action semantics: exactly one action happens at a time.

A formula over n actions is turned into one over the bits of the number of the
action that happens, 0 for every action that the formula does not name.  Two
actions at once can then not even be said, and a translator enumerates n + 1
numbers instead of 2**n sets of actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.folding import fold

if TYPE_CHECKING:
    from collections.abc import Sequence


def bit_names(n_actions: int) -> list[str]:
    """Return the propositions that hold the number of one of n actions or none."""
    return [f"bit{i}" for i in range(n_actions.bit_length())]


def numbered(formula: Any, actions: Sequence[str]) -> Any:
    """Return a formula with actions replaced by their numbers.

    Parameters
    ----------
    formula : spot.formula
        Over actions.
    actions : sequence of str
        Number i + 1 is ``actions[i]``.  Other propositions never hold.

    Returns
    -------
    spot.formula
        Over `bit_names` of the number of actions, bit 0 the lowest.  A number
        above that of the last action behaves like 0.
    """
    import spot

    bits = [spot.formula_ap(name) for name in bit_names(len(actions))]

    def number(value: int) -> Any:
        return spot.formula_And(
            [
                bit if value >> i & 1 else spot.formula_Not(bit)
                for i, bit in enumerate(bits)
            ]
        )

    meaning = spot.relabeling_map()
    for proposition in spot.atomic_prop_collect(formula):
        meaning[proposition] = spot.formula_ff()
    for i, name in enumerate(actions, start=1):
        meaning[spot.formula_ap(name)] = number(i)
    return spot.relabel_apply(formula, meaning)


def anonymous(formula: Any) -> Any:
    """Return a formula with its actions renamed in the order of their occurrence.

    Formulas that differ in the names of their actions alone become the same one,
    unless Spot keeps the operands of a conjunction or disjunction in other orders.

    Parameters
    ----------
    formula : spot.formula
        LTL.

    Returns
    -------
    spot.formula
        Over propositions whose order by name is that of their occurrence.
    """
    import spot

    meaning = spot.relabeling_map()
    n_known = 0

    def combine(node: Any, kind: str, _below: list[None]) -> None:
        nonlocal n_known
        if kind == "ap":
            meaning[node] = spot.formula_ap(f"p{n_known:06d}")
            n_known += 1

    fold(formula, combine)
    return spot.relabel_apply(formula, meaning)
