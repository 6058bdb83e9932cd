"""Action semantics: exactly one action happens at a time.

A formula over n actions is turned into one over the bits of the number of the
action that happens, 0 for every action that the formula does not name.  Two
actions at once can then not even be said, and a translator enumerates n + 1
numbers instead of 2**n sets of actions.

Source of action equivalence: S. F. Siegel and Y. Yan, "Action-Based Model Checking:
Logic, Automata, and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Prop. 1: f and g are
action equivalent iff f & h and g & h are equivalent, where h says that at most one
action happens at each step.

Differences from the source: instead of h, both formulas are written over the bits of
the number of the action that happens, 0 for all actions that neither names.  A
valuation of the bits is then the number of an action, or one that behaves like 0, and
every action has a number.  So each word over valuations satisfies a formula over bits
iff the word of the actions with these numbers satisfies the formula, every word of
actions is had in this way, and equivalence over the bits is action equivalence.  For 20
actions these are 5 propositions instead of 20 and an h of 400 literals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import (
    FormulaLike,
    fold,
    formula_of,
)
from ltlpipe.logic.spot_graphs import conjunction, cube, relabelled
from ltlpipe.runtime.arguments import NUMBER, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def bit_names(n_actions: int) -> list[str]:
    """Return the propositions that hold the number of one of n actions or none."""
    return [f"bit{i}" for i in range(n_actions.bit_length())]


def cube_of(number: int, variables: Sequence[int]) -> Any:
    """Return the assignment of a number to BDD variables, the lowest bit first."""
    return cube((v, number >> i & 1) for i, v in enumerate(variables))


def numbered(formula: Any, actions: Sequence[str]) -> Any:
    """Return a formula with actions replaced by their numbers.

    Number i + 1 is ``actions[i]``; other propositions never hold.  The result is over
    `bit_names` of the number of actions, bit 0 the lowest.  A number above that of the
    last action behaves like 0.
    """
    import spot

    bits = bit_names(len(actions))
    never = [p.ap_name() for p in spot.atomic_prop_collect(formula)]
    meaning = dict.fromkeys(never, spot.formula_ff())
    for number, name in enumerate(actions, start=1):
        meaning[name] = conjunction({b: number >> i & 1 for i, b in enumerate(bits)})
    return relabelled(formula, meaning)


def anonymous(formula: Any) -> Any:
    """Return a formula with its actions renamed.

    The order of the new names is that of their occurrence.  Formulas that differ in the
    names of their actions alone become the same one, unless Spot keeps the operands of
    a conjunction or disjunction in other orders.
    """
    import spot

    names = new_names(formula).items()
    return relabelled(formula, {name: spot.formula_ap(new) for name, new in names})


def new_names(formula: Any) -> dict[str, str]:
    """Return what actions are called in the `anonymous` form of a formula."""
    names: dict[str, str] = {}
    n_known = 0

    def combine(node: Any, kind: str, _below: list[None]) -> None:
        nonlocal n_known
        if kind == "ap":
            names[node.ap_name()] = f"p{n_known:06d}"
            n_known += 1

    fold(formula, combine)
    return names


def tree_of(formula: FormulaLike, parameter: str = "formula") -> Any:
    """Return Spot's tree of a formula of LTL, given in any way; see `formula_of`.

    Raises
    ------
    FormulaError
        A text that does not parse.
    UnsupportedError
        It has operators of PSL.
    """
    tree = formula_of(formula, parameter).spot
    refuse_psl(tree)
    return tree


def names_in(formulas: Iterable[Any]) -> list[str]:
    """Return the actions that formulas of Spot name, sorted."""
    import spot

    found = {p.ap_name() for f in formulas for p in spot.atomic_prop_collect(f)}
    return sorted(found)


def refuse_psl(formula: Any) -> None:
    """Refuse a formula with operators of PSL.

    Raises
    ------
    UnsupportedError
        There is one.
    """
    fold(formula, lambda node, kind, below: None)  # noqa: ARG005


def is_ltl(formula: Any) -> bool:
    """Whether a formula has no operators of PSL."""
    try:
        refuse_psl(formula)
    except UnsupportedError:
        return False
    return True


def action_equivalent(
    f: FormulaLike, g: FormulaLike, *, timeout: float | None = None
) -> bool:
    """Decide whether the same words of actions satisfy two formulas.

    Exactly one action happens at each step of a word, and there are more
    actions than the formulas name.

    Parameters
    ----------
    f, g : str, Formula or spot.formula
        LTL in Spot's syntax.
    timeout : float, optional
        Seconds, which large formulas may need more than; None is no limit.

    Raises
    ------
    FormulaError
        A formula does not parse.
    UnsupportedError
        A formula has an operator of PSL, or is too large for Spot, or for the time.

    Examples
    --------
    >>> action_equivalent("a & b", "0")
    True
    >>> action_equivalent("G a", "G(a & !b)"), action_equivalent("a", "!b")
    (True, False)

    References
    ----------
    .. [1] S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
       Automata, and Reduction", CAV 2020, Prop. 1.
    """
    expect(NUMBER.or_none, timeout=timeout)
    job = equivalent(tree_of(f, "f"), tree_of(g, "g"), one_at_a_time=True)
    return complete(job, timeout)


@remote("comparing formulas")
def equivalent(f: Any, g: Any, *, one_at_a_time: bool) -> bool:
    """Decide whether the same words satisfy two formulas of Spot.

    The words are those of `action_equivalent` if `one_at_a_time`, else any.
    """
    import spot

    if one_at_a_time:
        actions = names_in([f, g])
        f, g = numbered(f, actions), numbered(g, actions)
    return f == g or bool(spot.are_equivalent(f, g))
