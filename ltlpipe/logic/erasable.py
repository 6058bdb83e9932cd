"""Erasable formulas: those whose violations survive erasing other actions.

Let V be the words that violate a formula, and call the actions that it does not name
*invisible*.  The formula is *erasable* iff a word of V stays in V when

1. invisible actions are replaced by finitely many of them, at any places, and when
2. invisible actions are deleted, but for infinitely many if there are so many.

Interruptible formulas are erasable.  So are others, such as ``G(a -> X !a)``: they
forbid that actions follow each other directly, or that nothing more happens.  Component
reduction needs no more (docs/erasable.md).

Source: decided on automata in the way of S. F. Siegel and Y. Yan, "Action-Based Model
Checking: Logic, Automata, and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Theorem 1.

Differences from the source: another closure of the words (`erasure_closure`), and of
the violations only, as the class is not closed under negation.  The closure is not
compared with V: it contains V, so it is asked whether it meets the words of the
formula.  A word in which it does is half of a witness; the violation of which it is an
erasure is looked for after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.actions import bit_names, names_in, refuse_psl, tree_of
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.erasure_closure import closed, originals
from ltlpipe.logic.formulas import Formula, FormulaLike, from_spot_text, spot_text
from ltlpipe.logic.witnesses import automata_of, numbers_of, spelled
from ltlpipe.logic.words import Word, satisfies
from ltlpipe.runtime import workers
from ltlpipe.runtime.arguments import NUMBER, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job


@dataclass(frozen=True)
class Erasure:
    """Why a formula is not erasable: a violation, and an erasure that is none."""

    violating: Word
    satisfying: Word  # `violating` with invisible actions repeated, or deleted


def is_erasable(formula: FormulaLike, *, timeout: float | None = None) -> bool:
    """Decide whether violations survive erasing actions that a formula does not name.

    They survive if invisible actions may be deleted (but for infinitely many if there
    are so many) and repeated: then component reduction may count how many of them
    follow each other no more (docs/erasable.md).

    Parameters
    ----------
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.
    timeout : float, optional
        Seconds, which large formulas may need more than; None is no limit.

    Raises
    ------
    FormulaError
        The formula does not parse.
    UnsupportedError
        An operator of PSL, or a formula too large for Spot, or for the time.

    Examples
    --------
    >>> is_erasable("G(a -> F b)"), is_erasable("G(a -> X !a)")
    (True, True)
    >>> is_erasable("G(a -> X b)")
    False
    """
    expect(NUMBER.or_none, timeout=timeout)
    tree = tree_of(formula)
    refuse_psl(tree)
    if "intrpt" in syntactic_class(tree):  # only visible actions matter
        return True
    return complete(erasable_formula(Formula(str(tree), tree)), timeout)


def erasable_formula(formula: Formula) -> Job[bool]:
    """Decide in a worker process whether a formula is erasable."""
    answer: bool = yield from workers.call(
        "erasable formula",
        phase="deciding erasability",
        formula=spot_text(formula.spot),
    )
    return answer


def is_erasable_text(formula: str) -> bool:
    """Do the work of `erasable_formula`."""
    tree = from_spot_text(formula)
    return "intrpt" in syntactic_class(tree) or erasure(tree) is None


def erasure(formula: FormulaLike) -> Erasure | None:
    """Return two words that show that a formula is not erasable; None if it is.

    The words have been evaluated directly, not by the automata that found them.

    Raises
    ------
    FormulaError, UnsupportedError
        As for `is_erasable`.
    """
    tree = tree_of(formula)
    refuse_psl(tree)
    actions = names_in([tree])
    if not actions:
        return None
    try:
        found = _found(tree, actions)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot build the automaton: {reason}") from error
    if found is not None and (
        satisfies(tree, found.violating) or not satisfies(tree, found.satisfying)
    ):
        raise AssertionError(f"{found} does not show that {tree} is not erasable")
    return found


def _found(tree: Any, actions: list[str]) -> Erasure | None:
    """Look for a word of the formula among the erasures of its violations."""
    import spot

    # isort: split
    import buddy

    both = automata_of(tree, actions)
    if both is None:
        return None
    holds, fails = both[0], spot.degeneralize_tba(both[1])
    for name in bit_names(len(actions)):
        fails.register_ap(name)
    numbers = numbers_of(fails, len(actions))
    word = closed(fails, numbers[0], buddy.bddtrue).intersecting_word(holds)
    if word is None:
        return None
    erased = spelled(word, numbers, actions)
    prefix, cycle = (_as_numbers(w, actions) for w in (erased.prefix, erased.cycle))
    before = originals(prefix, cycle, numbers, fails).intersecting_word(fails)
    if before is None:
        raise AssertionError(f"{erased} is no erasure of a violation of {tree}")
    return Erasure(spelled(before, numbers, actions), erased)


def _as_numbers(word: Sequence[str], actions: Sequence[str]) -> list[int]:
    return [actions.index(a) + 1 if a in actions else 0 for a in word]
