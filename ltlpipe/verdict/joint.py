"""Invariants of one model that one search answers.

Assertions, end states and formulas ``G p`` ask the same states.  Their conjunction
holds iff each of them does; where it is violated, the run tells which are to be asked
alone, and the others are asked together again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.automata.words import violates
from ltlpipe.logic.folding import MOST_NAMED
from ltlpipe.logic.formulas import Formula, rebuilt
from ltlpipe.logic.history import PLAIN
from ltlpipe.question.conditions import WALKS
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import INTERRUPTED
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.verdict.verdict import Verdict

STRATEGIES_OF_JOINT = tuple(
    replace(own, share=0.25) if own.name == WALKS else own for own in STRATEGIES
)
"""Invariants mostly hold, which walks cannot tell; they are to refute the others soon,
but only where a search takes long."""

TOGETHER = "together"
"""The detail of `Statistics` that names all that a search has answered."""


def joint_verdicts(
    questions: Sequence[object],
    options: Options,
    ask: Callable[[Property], Verdict | None],
    run: Callable[[Job[bool]], bool],
) -> dict[int, Verdict]:
    """Return the verdicts that one search gives, by the places of their questions.

    Parameters
    ----------
    questions : sequence
        About one model, each a `Property` or an error.
    options : Options
        Where they say more than how to search, nothing is asked together.
    ask : callable
        Asks one question; None if it is refused.
    run : callable
        Runs a job to its end.
    """
    given = options
    if given.certificate or given.vacuity or given.constraint or given.omitting:
        return {}
    if given.fairness or given.finite or given.deadlock not in (None, "stutter"):
        return {}
    left: dict[int, Formula] = {}
    for place, asked in enumerate(questions):
        formula = asked.formula if isinstance(asked, Property) else None
        if formula is not None and is_invariant(formula):
            left[place] = formula
    while len(left) > 1:
        both = joined(list(left.values()))
        verdict = None if both is None else ask(Property(both))
        if verdict is None:
            break
        if verdict.verdict == HOLDS or verdict.reason == INTERRUPTED:
            return {place: _about(verdict, f, left) for place, f in left.items()}
        if verdict.verdict != VIOLATED or verdict.lasso is None:
            break
        spelling = verdict.lasso.spelling
        if spelling is None:
            break
        word = spelling.letters, spelling.steps, len(verdict.lasso.prefix)
        kept = {p: f for p, f in left.items() if not run(violates(f, *word))}
        if len(kept) == len(left):
            break
        left = kept
    return {}


def is_invariant(formula: Formula) -> bool:
    """Whether a formula is ``G p`` with Boolean `p`."""
    node, is_plain = formula.spot, formula.dialect == PLAIN
    return is_plain and node.kindstr() == "G" and bool(node[0].is_boolean())


def joined(formulas: Sequence[Formula]) -> Formula | None:
    """Return the conjunction of invariants; None if it has too many propositions."""
    whole = rebuilt("G", [rebuilt("And", [formula.spot[0] for formula in formulas])])
    text = " && ".join(f"({formula.text})" for formula in formulas)
    both = Formula(text, whole, name=" and ".join(f.identifier for f in formulas))
    return both if len(both.propositions) <= MOST_NAMED else None


def _about(verdict: Verdict, own: Formula, left: dict[int, Formula]) -> Verdict:
    """Return the verdict of a conjunction as that of one of its formulas."""
    names = [formula.identifier for formula in left.values()]
    said = f"one search answers {', '.join(names)}: they are invariants"
    plan = replace(verdict.plan, reasons=(said, *verdict.plan.reasons))
    details = verdict.stats.details | {TOGETHER: names}
    return replace(
        verdict,
        formula=own.text,
        formula_id=own.identifier,
        plan=plan,
        stats=replace(verdict.stats, details=details),
    )
