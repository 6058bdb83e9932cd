"""Invariants of one model that one search answers.

Assertions, end states and formulas ``G p`` ask the same states.  Their conjunction
holds iff each of them does; where it is violated, the run tells which are to be asked
alone, and the others are asked together again.  What that run shows is kept: a search
of one invariant may end at a limit before it finds a run of its own.

A shortest lasso of the product that violates an invariant before its cycle begins is a
shortest one for that invariant, too: it needs no search of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.words import first_bad_prefix, violates
from ltlpipe.logic.folding import MOST_NAMED
from ltlpipe.logic.formulas import Formula, rebuilt
from ltlpipe.logic.history import PLAIN
from ltlpipe.question.conditions import WALKS
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import INTERRUPTED, StoppedError
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.verdict.judgement import spelt_for
from ltlpipe.verdict.verdict import CRASH, HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict

STRATEGIES_OF_JOINT = tuple(
    replace(own, share=0.25) if own.name == WALKS else own for own in STRATEGIES
)
"""Invariants mostly hold, which walks cannot tell; they are to refute the others soon,
but only where a search takes long."""

TOGETHER = "together"
"""The detail of `Statistics` that names all that a search has answered."""


class Joint(NamedTuple):
    """What searches of several invariants have shown, by the places of the questions.

    Parameters
    ----------
    verdicts : dict
        Nothing is left to be asked: they hold, or no run is shorter.
    violations : dict
        By a run that was found for others, too; a search alone may find a better one.
    """

    verdicts: dict[int, Verdict]
    violations: dict[int, Verdict]

    @property
    def was_interrupted(self) -> bool:
        """Whether the last of the searches was."""
        return any(v.reason == INTERRUPTED for v in self.verdicts.values())

    def known(self, place: int, *, is_stopped: bool) -> Verdict | None:
        """Return what is to be told of a question that is not asked any more.

        That the searches were interrupted is told once: before all `is_stopped`.
        """
        if place in self.verdicts and not (is_stopped and self.was_interrupted):
            return self.verdicts[place]
        return self.violations.get(place)

    def at_least(self, place: int, alone: Verdict) -> Verdict:
        """Return the answer to a question that has been asked alone."""
        lost = alone.verdict == UNKNOWN and alone.reason != CRASH
        return self.violations.get(place, alone) if lost else alone


def joint_verdicts(
    system: System,
    questions: Sequence[object],
    options: Options,
    ask: Callable[[Property], Verdict | None],
    run: Callable[[Job[Any]], Any],
) -> Joint:
    """Ask the invariants among some questions together.

    Parameters
    ----------
    system : System
        What is asked about.
    questions : sequence
        About one model, each a `Property` or an error.
    options : Options
        Where they say more than how to search, nothing is asked together.
    ask : callable
        Asks one question; None if it is refused.
    run : callable
        Runs a job to its end.
    """
    given, found = options, Joint({}, {})
    if given.certificate or given.vacuity or given.constraint or given.omitting:
        return found
    if given.fairness or given.finite or given.deadlock not in (None, "stutter"):
        return found
    left: dict[int, Formula] = {}
    for place, asked in enumerate(questions):
        formula = asked.formula if isinstance(asked, Property) else None
        if formula is not None and is_invariant(formula):
            left[place] = formula
    while len(left) > 1:
        both = joined(list(left.values()))
        verdict = None if both is None else ask(Property(both))
        if both is None or verdict is None:
            break
        if verdict.verdict == HOLDS or verdict.reason == INTERRUPTED:
            told = {place: _about(verdict, f, left) for place, f in left.items()}
            found.verdicts.update(told)
            break
        try:
            violated = {p: f for p, f in left.items() if run(_is_violated(f, verdict))}
            for place, formula in violated.items():
                about = _about(verdict, formula, left)
                spelt = run(_spelt(system, formula, options, about))
                if options.shortest or not _is_best(spelt, violated.values()):
                    found.violations[place] = spelt
                else:
                    found.verdicts[place] = _as_of(system, spelt, formula, both)
                del left[place]
        except StoppedError:  # each is asked alone
            break
        if not violated:
            break
    return found


def _is_violated(formula: Formula, verdict: Verdict) -> Job[bool]:
    """Whether the run of a verdict violates an invariant."""
    shown = verdict.lasso or verdict.finite_run
    if verdict.verdict != VIOLATED or shown is None or shown.spelling is None:
        return False
    _, letters, word = shown.spelling
    # An invariant that a finite run violates is violated by the same letters for ever.
    start = len(shown.prefix) if verdict.lasso else len(word) - 1
    return (yield from violates(formula, letters, word, start))


def _spelt(
    system: System, formula: Formula, options: Options, verdict: Verdict
) -> Job[Verdict]:
    """Spell the run of a verdict about several invariants for one of them."""
    shown: Any = verdict.lasso or verdict.finite_run
    spelling = yield from spelt_for(system, Property(formula), options, shown)
    shown = replace(shown, spelling=spelling, formula=formula.text)
    if verdict.lasso is None:
        return replace(verdict, finite_run=shown)
    steps = yield from first_bad_prefix(
        formula, *spelling[1:], len(shown.prefix), one_at_a_time=False
    )
    return replace(verdict, lasso=replace(shown, bad_prefix=steps))


def _is_best(verdict: Verdict, violated: Iterable[Formula]) -> bool:
    """Whether the run of a joint verdict, spelt for one invariant, is a best one.

    Where runs end, a question alone tells more: an end or a fault, not a lasso.
    """
    lasso = verdict.lasso
    if lasso is None or lasso.shortest_of is None or lasso.bad_prefix is None:
        return False
    names = " ".join(formula.text for formula in violated)
    is_about_ends = any(name in names for name in ("deadlock", "_fault", "_valid_end"))
    return lasso.bad_prefix <= len(lasso.prefix) and not is_about_ends


def _as_of(system: System, verdict: Verdict, own: Formula, both: Formula) -> Verdict:
    """Return a verdict as that of one invariant alone.

    If that is about another model, in which assertions do not fail, say, there may be
    shorter runs.
    """
    ask = getattr(system, "for_question", None)
    texts = Property(own).propositions, Property(both).propositions
    if ask is None or verdict.lasso is None or ask(texts[0]) is ask(texts[1]):
        return verdict
    return replace(verdict, lasso=replace(verdict.lasso, shortest_of=None))


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
