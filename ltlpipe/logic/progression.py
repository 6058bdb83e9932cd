"""Residual of a formula after a step, and how long it can still be satisfied.

Source: F. Bacchus and F. Kabanza, "Using Temporal Logics to Express Search Control
Knowledge for Planning", Artificial Intelligence 116 (2000), pp. 123-191, Fig. 5.

Differences from the source: weak until, release and strong release, by their
expansions; and what has grown is written anew.  It is a Boolean combination of
subformulas of the formula, of which there are finitely many, but one that would grow
with each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import CONNECTIVES, fold, kind_of, rebuilt

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
        return rebuilt(kind, below)

    return fold(formula, combine)


_MOST_NODES = 100
"""Operators and propositions of what is left before it is written anew."""

_MOST_ATOMS = 12
"""Parts of which a sum of products is made: it may have 2^11 products."""


def residual(formula: Any, letter: Collection[str]) -> Any:
    """Return what is left of a formula after a step, in a form that does not grow.

    The parameters are those of `progressed`.
    """
    left = progressed(formula, letter)
    if _size(left) <= _MOST_NODES:
        return left
    written = _sum_of_products(left)
    if written is not None:
        return written
    kind = kind_of(left)
    if kind not in ("And", "Or"):
        return left
    parts = [
        part if _size(part) <= _MOST_NODES else _sum_of_products(part) or part
        for part in left
    ]
    return rebuilt(kind, parts)


def _size(formula: Any) -> int:
    """Return the number of operators and propositions, as often as they are written."""
    return fold(formula, lambda _node, _kind, below: 1 + sum(below))


def _sum_of_products(formula: Any) -> Any:
    """Return a Boolean combination as an irredundant sum of products.

    None if too many formulas are combined.
    """
    import spot

    make: Any = spot.formula
    atoms = _atoms(formula)
    if len(atoms) > _MOST_ATOMS:
        return None
    names = {atom.id(): make.ap(f"atom{k}") for k, atom in enumerate(atoms)}

    def named(node: Any, kind: str, below: list[Any]) -> Any:
        if node.id() in names:
            return names[node.id()]
        return rebuilt(kind, below) if kind in CONNECTIVES else node

    options = spot.tl_simplifier_options(False, False, False)
    options.boolean_to_isop = True
    written = spot.tl_simplifier(options).simplify(fold(formula, named))
    meant = {f"atom{k}": atom for k, atom in enumerate(atoms)}

    def atomic(node: Any, kind: str, below: list[Any]) -> Any:
        if kind == "ap":
            return meant[node.ap_name()]
        return rebuilt(kind, below) if kind in CONNECTIVES else node

    return fold(written, atomic)


def _atoms(formula: Any) -> list[Any]:
    """Return the formulas that a Boolean combination combines."""
    found: list[Any] = []
    seen, left = set(), [formula]
    while left:
        node = left.pop()
        if node.id() in seen:
            continue
        seen.add(node.id())
        kind = kind_of(node)
        if kind in CONNECTIVES:
            left.extend(node)
        elif kind not in ("tt", "ff"):
            found.append(node)
    return found


def residuals(formula: Any, letters: Iterable[Collection[str]]) -> list[Any]:
    """Return a formula and what is left of it after each of some steps."""
    left = [formula]
    for letter in letters:
        left.append(residual(left[-1], letter))
    return left
