"""The result of `check`, and how it reads as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.history import PLAIN
from ltlpipe.question.answer import Plan, Statistics
from ltlpipe.question.given_options import dialect_in
from ltlpipe.runtime.names import counted
from ltlpipe.runtime.objects import ByValue, Displayed

if TYPE_CHECKING:
    from ltlpipe.certificates.writing import Certificate
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.errors import FormulaError
    from ltlpipe.verdict.lasso import FiniteRun, Lasso

HOLDS = "holds"
VIOLATED = "violated"
UNKNOWN = "unknown"

UNSUPPORTED = "unsupported"
"""The reason of a question for which an option cannot be used."""

INPUT_ERROR = "input-error"
"""The reason of a question whose formula, or system, cannot be read."""

CRASH = "crash"
"""The reason of a task whose worker died, or whose run fails its replay."""

LASSO_LIMIT = "lasso-limit"
"""The reason of a violation whose lasso could not be extracted within the limits."""

UNBOUNDED = "unbounded"
"""Why there is no answer about a net whose search would not end."""


@dataclass(frozen=True, eq=False)
class Vacuity(ByValue):
    """The result of a check for vacuity.

    Parameters
    ----------
    vacuous : bool or None
        Whether a part of the formula can be replaced by false or true, so that the
        result is stronger and holds, too.  None if that was not decided.
    part : str or None
        The largest such part, as it is written in the formula; the formula itself if it
        is satisfied by all words, or if the system has no run that counts.
    value : bool or None
        The replacement: true where the part counts as negated.
    stronger : str or None
        The strengthened formula, which holds.
    witness : Lasso or None
        If it does not hold vacuously: a run of the system that violates the formula
        strengthened at `witness_part`.
    witness_part : str or None
        The propositions, each at one place of the formula, that the witness shows to
        matter, separated by commas.
    reason : str or None
        Why it was not decided: a limit, or "unsupported".
    """

    vacuous: bool | None = None
    part: str | None = None
    value: bool | None = None
    stronger: str | None = None
    witness: Lasso | None = None
    witness_part: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of ``--json`` besides `vacuous` and `vacuous_part`."""
        sometimes = {
            "vacuous_value": self.value,
            "stronger_formula": self.stronger,
            "witness": None if self.witness is None else self.witness.to_dict(),
            "witness_part": self.witness_part,
            "vacuity_reason": self.reason,
        }
        return {name: v for name, v in sometimes.items() if v is not None}


@dataclass(frozen=True, eq=False)
class Verdict(ByValue, Displayed):
    """The answer to one question about one system.

    Parameters
    ----------
    verdict : str
        "holds", "violated" or "unknown".
    reason : str or None
        Why it is unknown: the limit that was hit ("timeout", "memory", "max-states",
        "cpu-time", "interrupted"), "overflow" for values that no row can hold,
        "unbounded" for a net that has infinitely many markings,
        "bitstate" or "compact" for a search that may have missed states, "walks" for
        walks that met no violation, "unsupported" where an option cannot be used for
        one of several formulas, "input-error" where one of them cannot be read or names
        what the system does not have.  "lasso-limit" where a violation was found whose
        lasso could not be extracted within the limits.
    system : str
        Name of the system.
    formula : str or None
        Its text; None for ``--empty`` and ``--automaton``.
    plan : Plan
        How the verdict was reached.
    stats : Statistics
        What it cost.
    lasso : Lasso or None
        A replayed counterexample if violated, unless disabled, or there is a
        `finite_run`.
    formula_id : str or None
        The origin of the formula.
    warnings : tuple of str
        The warnings of `check`.
    message : str or None
        Why it is unsupported, or what is wrong with the formula.
    vacuity : Vacuity or None
        Whether it holds vacuously, if it holds and that was asked.
    certificate : Certificate or None
        What has been written to prove that it holds, if that was asked.
    deadlock : str or None
        Whether a deadlock is "reachable", "none" is, or that was "not looked for": if
        the formula holds, and finite runs do not count.
    finite_run : FiniteRun or None
        A finite run that violates the property, replayed, where no infinite
        continuation of it was found that closes; with ``--deadlock error`` and
        ``--semantics finite`` a run that ends.
    configuration : str
        The options that were given, as the command line spells them, without limits;
        "default" for none.
    alphabet : tuple of str or None
        The actions that the file of the formula declares.
    """

    verdict: str
    reason: str | None
    system: str
    formula: str | None
    plan: Plan
    stats: Statistics
    lasso: Lasso | None = None
    formula_id: str | None = None
    warnings: tuple[str, ...] = ()
    message: str | None = None
    vacuity: Vacuity | None = None
    certificate: Certificate | None = None
    deadlock: str | None = None
    finite_run: FiniteRun | None = None
    configuration: str = "default"
    alphabet: tuple[str, ...] | None = None

    @property
    def vacuous(self) -> bool | None:
        """Whether it holds vacuously; None if unknown or not requested."""
        return None if self.vacuity is None else self.vacuity.vacuous

    @property
    def vacuous_part(self) -> str | None:
        """The largest part of the formula that can be replaced, if it is vacuous."""
        return None if self.vacuity is None else self.vacuity.part

    @property
    def witness(self) -> Lasso | None:
        """A run that shows that the formula does not hold vacuously."""
        return None if self.vacuity is None else self.vacuity.witness

    @property
    def witness_part(self) -> str | None:
        """The propositions of the formula that `witness` shows to matter."""
        return None if self.vacuity is None else self.vacuity.witness_part

    @property
    def holds(self) -> bool:
        """Whether the answer is that every run is as wanted; not if it is unknown."""
        return self.verdict == HOLDS

    def __str__(self) -> str:
        """Return the answer and its costs in two lines, and then the run."""
        about = [self.formula or "no formula", *([self.system] if self.system else [])]
        why = f" ({self.reason})" if self.reason else ""
        stats, found = self.stats, [f"{self.verdict}{why}: {' on '.join(about)}"]
        facts = [self.plan.strategy, self.plan.emptiness, *self.plan.reductions]
        if stats.states is not None:
            facts.append(counted(stats.states, "state"))
        told = dict.fromkeys(fact for fact in facts if fact)
        given = [] if self.configuration == "default" else [self.configuration]
        found.append(", ".join([*given, *told, f"{stats.seconds:.2f} s"]))
        run = self.lasso or self.finite_run
        return "\n".join(found if run is None else [*found, str(run)])

    def __bool__(self) -> bool:
        """Refuse to be taken for true or false: there are three verdicts.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            'a verdict is "holds", "violated" or "unknown": use .holds, or compare '
            ".verdict"
        )

    def residuals(self) -> list[Any]:
        """Return the obligations of the formula before each step, and after the last.

        Formulas of Spot; nothing without a formula or a run, and of formulas of finite
        runs or of the past.
        """
        run = self.lasso or self.finite_run
        is_plain = dialect_in(self.configuration) == PLAIN
        if self.formula is None or run is None or not is_plain:
            return []
        from ltlpipe.logic.formulas import parse
        from ltlpipe.logic.progression import residuals
        from ltlpipe.verdict.lasso import holding_at

        letters = map(holding_at(run), range(len(run.actions)))
        return residuals(parse(self.formula).spot, letters)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints for this verdict.

        ``coverage``, ``omitted`` and ``omission_probability`` are there for searches
        that may miss states only, ``swarm`` for several of them, ``together`` for what
        one search has answered, ``spilled_mib`` where the table went to files,
        ``message`` for "unsupported" and "input-error" only,
        ``finite_run`` where that is the violation, the fields of `vacuity` if it is
        known, ``deadlock`` unless none is reachable, ``alphabet`` if it is declared.
        """
        stats, details = self.stats, self.stats.details
        known: dict[str, Any] = {"message": self.message}
        if stats.omitted is not None:
            names = "coverage", "omitted", "omission_probability"
            known |= {name: getattr(stats, name) for name in names}
        known |= {
            "swarm": details.get("swarm"),
            "together": details.get("together"),
            "spilled_mib": _rounded(details.get("spilled_mib")),
            **({} if self.vacuity is None else self.vacuity.to_dict()),
            "deadlock": self.deadlock if self.deadlock != "none" else None,
            "finite_run": None
            if self.finite_run is None
            else self.finite_run.to_dict(),
            "certificate": self.certificate and self.certificate.to_dict(),
            "alphabet": None if self.alphabet is None else list(self.alphabet),
        }
        return {
            "system": self.system,
            "formula": self.formula,
            "verdict": self.verdict,
            "reason": self.reason,
            "plan": {
                "automaton": self.plan.automaton,
                "emptiness": self.plan.emptiness,
                "reductions": list(self.plan.reductions),
                "strategy": self.plan.strategy,
                "tried": [
                    t._asdict() | {"seconds": round(t.seconds, 6)}
                    for t in self.plan.tried
                ],
            },
            "states": stats.states,
            "transitions": stats.transitions,
            "max_depth": stats.max_depth,
            "seconds": round(stats.seconds, 6),
            "compile_seconds": round(stats.compile_seconds, 6),
            "load_seconds": round(stats.load_seconds, 6),
            "search_seconds": _rounded(stats.search_seconds),
            "cpu_seconds": _rounded(stats.cpu_seconds),
            "memory_mib": _rounded(stats.memory_mib),
            "lasso": None if self.lasso is None else self.lasso.to_dict(),
            "warnings": list(self.warnings),
            "vacuous": self.vacuous,
            "vacuous_part": self.vacuous_part,
            "configuration": self.configuration,
            "formula_id": self.formula_id,
            **{k: v for k, v in known.items() if v is not None or k == "coverage"},
        }


def not_read(name: str, reason: str, formula: Formula | None = None) -> Verdict:
    """Return the verdict about a system that could not be read within the limits."""
    return Verdict(
        verdict=UNKNOWN,
        reason=reason,
        system=name,
        formula=None if formula is None else formula.text,
        formula_id=None if formula is None else formula.identifier,
        plan=Plan(None, None, reasons=("the system was not read within the limits",)),
        stats=Statistics(),
    )


def misread(name: str, error: FormulaError) -> Verdict:
    """Return the verdict about a formula that is wrong, where others go on."""
    from ltlpipe.logic.formulas import identifier

    return Verdict(
        verdict=UNKNOWN,
        reason=INPUT_ERROR,
        system=name,
        formula=error.formula,
        formula_id=identifier(error),
        plan=Plan(None, None),
        stats=Statistics(),
        message=str(error),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
