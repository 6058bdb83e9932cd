"""What `check` returns, and how it reads as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.question.answer import Plan, Statistics
from ltlpipe.runtime.display import Displayed, renderer
from ltlpipe.runtime.values import ByValue
from ltlpipe.systems.plain_steps import changed_values
from ltlpipe.verdict.steps import LassoStep, steps_of

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.certificates.writing.certificate import Certificate
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.systems.models import System

HOLDS = "holds"
VIOLATED = "violated"
UNKNOWN = "unknown"

UNSUPPORTED = "unsupported"
"""The reason of a question for which an option cannot be used."""

MOST_STEPS = 1_000
"""The steps of longer lassos are omitted in JSON, which has their actions."""

LASSO_LIMIT = "lasso-limit"
"""The reason of a violation whose lasso could not be extracted within the limits."""


class Spelling(NamedTuple):
    """The word of a lasso: the propositions that hold in each step.

    Parameters
    ----------
    propositions : tuple of str
        What the word is over.
    letters : list of list of str
        Sets of those that hold together.
    steps : int64[k + c]
        The number of the letter of each step.
    """

    propositions: tuple[str, ...]
    letters: list[list[str]]
    steps: np.ndarray


@dataclass(frozen=True, eq=False)
class Lasso(ByValue, Displayed):
    """A run of the system that violates the property: ``prefix cycle cycle ...``.

    Parameters
    ----------
    prefix, cycle : list
        The cycle has at least one entry.  Of a network the actions, in order; of a
        model the valuations before each step, from names of variables to their values;
        of a graph of Spot the valuations of its steps, from propositions to whether
        they hold.
    actions : int32[k + c]
        The actions as indices into those of the system, of a graph Spot's numbers of
        edges; -1 is the step in which a state without successors repeats itself.
    states : int32[k + c + 1, n_components] or int64[k + c + 1, n_variables]
        Local states, or values, before each step and after the last one; of a graph its
        states, int32[k + c + 1, 1].
    moves : list of str, optional
        The actions of prefix and cycle, where these are valuations; of a graph the
        states of each step, such as "0 -> 1".
    shortest_of : str or None
        Among which no other is known to have fewer steps, prefix and cycle together:
        "system", the runs of the system that violate the property; "product", the
        lassos of the product of the system and the property's automaton, which may
        need more steps than the runs that they go with; None is not known.
    spelling : Spelling, optional
        The letters of `word`.
    system : Network, Model or SpotGraph, optional
        The system, which does not count where lassos are compared.
    bad_prefix : int, optional
        The steps after which no continuation satisfies the formula: later steps do not
        matter.  None if unknown, and for formulas that are not syntactically safe.
    """

    prefix: list[Any]
    cycle: list[Any]
    actions: np.ndarray = field(repr=False)
    states: np.ndarray = field(repr=False)
    moves: list[str] | None = field(default=None, repr=False)
    shortest_of: str | None = None
    spelling: Spelling | None = field(default=None, repr=False)
    system: System | None = field(default=None, repr=False, compare=False)
    bad_prefix: int | None = None

    @property
    def shortest(self) -> bool:
        """Whether it is known that no violation of the system has fewer steps."""
        return self.shortest_of == "system"

    @cached_property
    def steps(self) -> list[LassoStep]:
        """Each step: its action, its moves, and the propositions that hold."""
        return steps_of(self)

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each step, numbered from 1.

        Columns are `part` ("prefix" or "cycle"), `action`, `moves` (as text), and
        `holds` (the propositions of the formula that hold).
        """
        import pandas as pd

        parts = ["prefix"] * len(self.prefix) + ["cycle"] * len(self.cycle)
        rows = [
            (part, step.action, "; ".join(map(str, step.moves)), ", ".join(step.holds))
            for part, step in zip(parts, self.steps, strict=True)
        ]
        index = pd.RangeIndex(1, len(rows) + 1, name="step")
        return pd.DataFrame(rows, index, ["part", "action", "moves", "holds"])

    def chart(self, **limits: int) -> Any:
        """Return the run as a sequence chart, a `ltlpipe.Chart`.

        `limits` are those of the chart: `steps` and `lanes`.  Notebooks show it, and
        ``print`` prints it.
        """
        return renderer().Chart(self, **limits)

    @cached_property  # its letters live as long as it does
    def word(self) -> Any:
        """The word of the run, a ``spot.twa_word`` over the property's propositions.

        Of a network, exactly the proposition of the action holds at each step.
        Without a property it is over the propositions of a graph, else over none.  It
        shares the BDD dictionary of a graph, else Spot's own, that of
        ``spot.translate``.
        """
        from ltlpipe.automata.words import word_of

        spelling = self.spelling
        if spelling is None:
            spelling = Spelling((), [[]], self.actions * 0)
        graph = getattr(self.system, "graph", None)
        dictionary = None if graph is None else graph.get_dict()
        return word_of(*spelling, len(self.prefix), dictionary)

    @property
    def has_valuations(self) -> bool:
        """Whether it is a run of a model, and not of a network."""
        return isinstance(self.cycle[0], dict)

    @property
    def action_names(self) -> list[str]:
        """The actions of prefix and cycle."""
        return [*self.prefix, *self.cycle] if self.moves is None else self.moves

    @property
    def prefix_actions(self) -> list[str]:
        """The actions of the prefix."""
        return self.action_names[: len(self.prefix)]

    @property
    def cycle_actions(self) -> list[str]:
        """The actions of the cycle."""
        return self.action_names[len(self.prefix) :]

    def changes(self) -> list[dict[str, tuple[Any, Any]]]:
        """Return `change` of each step."""
        return [self.change(step) for step in range(len(self.prefix + self.cycle))]

    def change(self, step: int) -> dict[str, tuple[Any, Any]]:
        """Return the variables that change in a step of a model's run, from 0.

        From the name of each to its values before and after.
        """
        return changed_values(self.valuation(step), self.valuation(step + 1))

    def valuation(self, step: int) -> dict[str, Any]:
        """Return the valuation of a model before a step, from 0.

        The last step leads back to the first of the cycle.
        """
        in_cycle = step - len(self.prefix)
        known: dict[str, Any] = (
            self.prefix[step]
            if in_cycle < 0
            else self.cycle[in_cycle % len(self.cycle)]
        )
        return known

    def to_dict(self) -> dict[str, Any]:
        """Return prefix and cycle as plain lists; of a model the actions, too."""
        known: dict[str, Any] = {"prefix": self.prefix, "cycle": self.cycle}
        of_product = self.shortest_of if self.shortest_of == "product" else False
        known |= {"shortest": self.shortest or of_product}
        known["bad_prefix"] = self.bad_prefix
        if len(self.actions) <= MOST_STEPS:
            known["steps"] = [step.to_dict() for step in self.steps]
        if not self.has_valuations:
            return known
        return known | {
            "prefix_actions": self.prefix_actions,
            "cycle_actions": self.cycle_actions,
        }


BAD_PREFIX, MAXIMAL = "bad-prefix", "maximal"
FINITE_KINDS = (BAD_PREFIX, MAXIMAL)
"""The kinds of finite runs."""


@dataclass(frozen=True, eq=False)
class FiniteRun(Lasso):
    """A finite run of the system that violates the property; it has no cycle.

    Parameters
    ----------
    prefix : list
        The steps, as those of a lasso.
    cycle : list
        Nothing.
    actions : int32[k]
        As those of a lasso.
    states : int32[k + 1, n_components] or int64[k + 1, n_variables]
        Local states, or values, before each step and after the last one.
    kind : str
        "bad-prefix": each continuation violates the property, and there is one that
        counts.  "maximal": it has no continuation, and is a violation as it is.
    spelling : Spelling, optional
        The letters of the steps, and, if the steps alone do not violate the property
        whatever follows, of the state behind them.
    """

    kind: str = BAD_PREFIX

    @property
    def word(self) -> None:
        """Nothing: words of Spot are infinite."""

    @property
    def has_valuations(self) -> bool:
        """Whether it is a run of a model, and not of a network."""
        return self.moves is not None

    def valuation(self, step: int) -> dict[str, Any]:
        """Return the valuation of a model before a step, from 0, or after the last."""
        system: Any = self.system
        known: dict[str, Any] = system.shown(tuple(self.states[step].tolist()))
        return known

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the steps; of a model the valuations around them, too."""
        if len(self.actions) <= MOST_STEPS:
            steps = [step.to_dict() for step in self.steps]
        else:
            steps = [{"action": name} for name in self.action_names]
        known: dict[str, Any] = {"kind": self.kind, "steps": steps}
        if not self.has_valuations:
            return known
        return known | {"states": [self.valuation(k) for k in range(len(self.states))]}


@dataclass(frozen=True, eq=False)
class Vacuity(ByValue):
    """Whether a formula holds vacuously.

    Parameters
    ----------
    vacuous : bool or None
        Whether a part of it can be replaced by false or true, so that the result is
        stronger and holds, too.  None if that was not decided.
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
        "cpu-time", "interrupted"), "overflow" for values that no row can hold, or
        "bitstate" or "compact" for a search that may have missed states, "walks" for
        walks that met no violation, "unsupported" where an option cannot be used for
        one of several formulas.  "lasso-limit" where a violation was found whose lasso
        could not be extracted within the limits.
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
        Why it is unsupported.
    vacuity : Vacuity or None
        Whether it holds vacuously, if it holds and that was asked.
    certificate : Certificate or None
        What has been written to prove that it holds, if that was asked.
    deadlock : str or None
        Whether a deadlock is "reachable", "none" is, or that was "not looked for": if
        the formula holds, and finite runs do not count.
    finite_run : FiniteRun or None
        A finite run that violates the property, replayed, where no infinite
        continuation of it was found that closes.
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

        Formulas of Spot; nothing without a formula or a run.
        """
        run = self.lasso or self.finite_run
        if self.formula is None or run is None:
            return []
        from ltlpipe.logic.formulas import parse
        from ltlpipe.logic.progression import residuals

        letters = [step.holds for step in run.steps]
        return residuals(parse(self.formula).spot, letters)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints for this verdict.

        ``coverage``, ``omitted`` and ``omission_probability`` are there for searches
        that may miss states only, ``swarm`` for several of them, ``spilled_mib`` where
        the table went to files, ``message`` for the reason "unsupported" only,
        ``finite_run`` where that is the violation, the fields of `vacuity` if it is
        known, ``deadlock`` unless none is reachable.
        """
        stats = self.stats
        known: dict[str, Any] = {}
        if self.message is not None:
            known["message"] = self.message
        if stats.omitted is not None:
            known |= {
                "coverage": stats.coverage,
                "omitted": stats.omitted,
                "omission_probability": stats.omission_probability,
            }
        if "swarm" in stats.details:
            known["swarm"] = stats.details["swarm"]
        if "spilled_mib" in stats.details:
            known["spilled_mib"] = round(stats.details["spilled_mib"], 3)
        if self.vacuity is not None:
            known |= self.vacuity.to_dict()
        if self.deadlock in ("reachable", "not looked for"):
            known["deadlock"] = self.deadlock
        if self.finite_run is not None:
            known["finite_run"] = self.finite_run.to_dict()
        if self.certificate is not None:
            known["certificate"] = self.certificate.to_dict()
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
            **known,
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
