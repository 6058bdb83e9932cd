"""What is left of a formula after a step, and how long it can still be satisfied.

Source: F. Bacchus and F. Kabanza, "Using Temporal Logics to Express Search Control
Knowledge for Planning", Artificial Intelligence 116 (2000), pp. 123-191, Fig. 5.

Differences from the source: weak until, release and strong release, by their
expansions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def progressed(formula: Any, letter: Collection[str]) -> Any:
    """Return what has to hold after a step for a formula to hold before it.

    Parameters
    ----------
    formula : spot.formula
        A formula of LTL.
    letter : collection of str
        The propositions that hold at the step.

    Examples
    --------
    >>> import spot
    >>> str(progressed(spot.formula("G(a -> X b)"), {"a"}))
    'b & G(a -> Xb)'
    """
    import spot

    make: Any = spot.formula

    def combine(node: Any, kind: str, below: list[Any]) -> Any:
        if kind in ("tt", "ff"):
            return node
        if kind == "ap":
            return make.tt() if node.ap_name() in letter else make.ff()
        if kind == "X":
            return node[0]
        if kind == "F":
            return make.Or([*below, node])
        if kind == "G":
            return make.And([*below, node])
        if kind in ("U", "W"):
            return make.Or([below[1], make.And([below[0], node])])
        if kind in ("R", "M"):
            return make.And([below[1], make.Or([below[0], node])])
        if kind in ("And", "Or"):
            return getattr(make, kind)(below)
        return getattr(make, kind)(*below)  # Not, Implies, Equiv, Xor

    return fold(formula, combine)


def residuals(formula: Any, letters: Iterable[Collection[str]]) -> list[Any]:
    """Return a formula and what is left of it after each of some steps."""
    left = [formula]
    for letter in letters:
        left.append(progressed(left[-1], letter))
    return left
