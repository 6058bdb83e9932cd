"""Walking through Spot's formulas without recursion.

Spot shares equal subformulas; each is looked at once, so that a formula that
doubles itself on paper costs what it costs in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

_CONNECTIVES = ("Not", "And", "Or", "Implies", "Equiv", "Xor")
LTL = frozenset(("tt", "ff", "ap", "X", "strong_X", *"FGUWRM", *_CONNECTIVES))
"""The operators of LTL, as Spot's ``kindstr`` calls them."""


def kind_of(node: Any) -> str:
    """Return the operator of a formula; over infinite words both X are one.

    Raises
    ------
    UnsupportedError
        The operator is one of PSL and not of LTL.
    """
    kind = str(node.kindstr())
    if kind not in LTL:
        raise UnsupportedError(
            f"{node} is PSL; only formulas of LTL can be looked at as to actions"
        )
    return "X" if kind == "strong_X" else kind


def fold(formula: Any, combine: Callable[[Any, str, list[Value]], Value]) -> Value:
    """Compute a value for a formula from those of its operands, bottom up.

    Parameters
    ----------
    formula : spot.formula
        LTL.
    combine : callable
        Takes a subformula, its operator (see `LTL`) and the values of its
        operands, and returns its value.

    Raises
    ------
    UnsupportedError
        An operator of PSL.
    """
    values: dict[int, Value] = {}
    stack: list[tuple[Any, list[Any] | None]] = [(formula, None)]
    while stack:
        node, operands = stack.pop()
        if node.id() in values:
            continue
        if operands is None:
            operands = list(node)
            if operands:
                stack.append((node, operands))
                stack.extend((operand, None) for operand in operands)
                continue
        below = [values[operand.id()] for operand in operands]
        values[node.id()] = combine(node, kind_of(node), below)
    return values[formula.id()]
