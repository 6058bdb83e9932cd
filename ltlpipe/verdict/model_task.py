"""The way of one question about a model: propositions, translation, search, replay."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.bounded import call_bounded
from ltlpipe.automata.letters import universal
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.jobs import MIB, StoppedError
from ltlpipe.search.catalogue import DECOUPLED, POWERSET
from ltlpipe.search.driver import OVERFLOW
from ltlpipe.search.problem import buffer_bytes, make_problem
from ltlpipe.verdict.lasso import model_lasso
from ltlpipe.verdict.limits import extracted
from ltlpipe.verdict.model_replay import replay_model_run, replay_valuations
from ltlpipe.verdict.notes import note_ample
from ltlpipe.verdict.options import AMPLE, AUTO, TOGETHER
from ltlpipe.verdict.plan import make_plan, settle
from ltlpipe.verdict.question import (
    Question,
    explored,
)
from ltlpipe.verdict.stuttering import decide_reduction
from ltlpipe.verdict.verdict import UNKNOWN, VIOLATED, Statistics

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.search.emptiness import Search
    from ltlpipe.systems.models import Model, PackedModel
    from ltlpipe.verdict.limits import Limits, Progress
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property
    from ltlpipe.verdict.question import ProductSize
    from ltlpipe.verdict.verdict import Lasso, Plan, Verdict


class ModelTask(Question):
    """One question about a model on its way to a verdict.

    Parameters
    ----------
    system : Model
        What is asked; it is not changed.
    asked : Property
        What is asked of it.
    options : Options
        How it shall be answered.

    Raises
    ------
    FormulaError
        A proposition names what the model does not have.
    UnsupportedError
        The options ask for what cannot be done.
    """

    def __init__(self, system: Model, asked: Property, options: Options) -> None:
        super().__init__(system.name, asked, options)
        refuse_network_options(options)
        self.system = system
        self.propositions = bound_propositions(system, asked)
        self._plan = make_plan(
            options, has_property=not asked.is_trivial, has_fin=asked.has_fin
        )
        self._stats = Statistics()

    @property
    def plan(self) -> Plan:
        """How the question is answered, as far as it is known."""
        return self._plan

    @property
    def stats(self) -> Statistics:
        """What that has cost so far."""
        return self._stats

    def _note(self, **figures: Any) -> None:
        """Add to what is known."""
        self._stats = replace(self._stats, **figures)

    @property
    def _stutters(self) -> bool:
        return self.options.deadlock != "ignore"

    def run(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Verdict:
        """Answer the question; what the machine cannot give is a limit, too."""
        try:
            table = self._translated(limits, interrupt)
            self._plan = settle(self._plan, self.options, table, 0, reductions=None)
            ample = self._reduced(limits, interrupt)
            for packed in self._packed(table, ample).packings():
                verdict = self._search(packed, table, limits, interrupt, progress)
                if verdict.reason != OVERFLOW:
                    return verdict
            return self._verdict(UNKNOWN, OVERFLOW)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        except MemoryError:
            return self._verdict(UNKNOWN, "memory")

    def explore(self, limits: Limits, interrupt: Interrupt) -> ProductSize | None:
        """Return the size of the whole product, if it was explored in time."""
        try:
            table = self._translated(limits, interrupt)
            for packed in self._packed(table).packings():
                problem = make_problem(packed, table, stutter=self._stutters)
                size = explored(problem, limits, interrupt)
                if packed.overflowed() is None:
                    return size
        except (StoppedError, MemoryError):
            pass
        return None

    def _reduced(self, limits: Limits, interrupt: Interrupt) -> np.ndarray | None:
        """Return the table of ample sets, and say in the plan why, or why not."""
        codes, reason = decide_reduction(
            self.system,
            self.propositions.values(),
            self.property,
            self.options,
            limits,
            interrupt,
        )
        used = codes is not None
        self._plan = note_ample(self._plan, self.options, used=used, reason=reason)
        return codes

    def _packed(
        self, table: PropertyAutomaton, ample: np.ndarray | None = None
    ) -> PackedModel:
        return self.system.pack(
            list(self.propositions.values()),
            extra_values=table.n_states,
            seed=self.options.seed,
            ample=ample,
        )

    def _translated(self, limits: Limits, interrupt: Interrupt) -> PropertyAutomaton:
        if self.property.is_trivial:
            return universal()
        # No method: what is called may have to be pickled.
        table, seconds = call_bounded(
            partial(
                translated,
                self.property,
                (self._plan.automaton or "").lower(),
                list(self.propositions),
                as_it_is=self.options.acceptance == AUTO,
                deterministic=self.options.deterministic,
            ),
            deadline=limits.deadline,
            stopped=lambda: interrupt.pressed,
        )
        self._note(
            automaton_states=table.n_states,
            acceptance=table.acceptance,
            translation_seconds=seconds,
        )
        return table

    def _search(
        self,
        packed: PackedModel,
        table: PropertyAutomaton,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        needed = buffer_bytes(packed, table) + self._bits_mib * MIB
        if needed > limits.memory_bytes:
            return self._verdict(UNKNOWN, "memory")
        search = self._new_search(make_problem(packed, table, stutter=self._stutters))
        verdict = self._searched(search, limits, interrupt, progress, packed.overflowed)
        return verdict or self._with_lasso(search, packed, limits, interrupt)

    def _with_lasso(
        self,
        search: Search,
        packed: PackedModel,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Verdict:
        began = time.monotonic()
        try:
            lasso = self._extract(search, packed, limits, interrupt)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        if packed.overflowed() is not None:  # extraction may have searched on
            return self._verdict(UNKNOWN, OVERFLOW)
        used = (search.memory_bytes + search.extraction_bytes) / MIB
        replay_model_run(self.system, lasso, stutters=self._stutters)
        if not self.property.is_trivial:
            replay_valuations(self.property, self.propositions, lasso)
        self._note(memory_mib=used, lasso_seconds=time.monotonic() - began)
        return self._verdict(VIOLATED, lasso=lasso)

    def _extract(
        self,
        search: Search,
        packed: PackedModel,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Lasso:
        found = extracted(search, limits, interrupt)
        ids = np.concatenate([found.prefix, found.cycle[1:]])
        states = packed.unpack(search.store.rows[ids])
        actions = np.concatenate([found.prefix_actions, found.cycle_actions])
        return model_lasso(self.system, actions, states, len(found.prefix_actions))


def translated(
    asked: Property,
    kind: str,
    names: list[str],
    *,
    as_it_is: bool,
    deterministic: bool,
) -> tuple[PropertyAutomaton, float]:
    """Return the table of the violations of a property, and the seconds that it took.

    Parameters
    ----------
    asked : Property
        A formula or an automaton.
    kind : str
        Of acceptance.
    names : list of str
        The propositions; letters are sets of them.
    as_it_is : bool
        Whether an automaton may be taken as it is, if no Büchi automaton is needed.
    deterministic : bool
        Whether the automaton is to be deterministic.
    """
    from ltlpipe.automata.translation import (
        from_automaton_over_states,
        from_formula_over_states,
    )

    started = time.monotonic()
    if asked.formula is not None:
        table = from_formula_over_states(
            asked.formula, kind, names, deterministic=deterministic
        )
    else:
        given = as_it_is and not deterministic and kind != "ba"
        table = from_automaton_over_states(
            asked.violations,
            None if given else kind,
            names,
            deterministic=deterministic,
        )
    return table, time.monotonic() - started


def refuse_network_options(options: Options) -> None:
    """Raise UnsupportedError for options that are about networks of LTSs."""
    if options.semantics == "action":
        raise UnsupportedError(
            "--semantics action: propositions of a model are about its states; "
            'use state (an action is named by action=="...")'
        )
    for given, what in (
        (options.fairness is not None, f"--fairness {options.fairness}"),
        (options.visible is not None, "--visible"),
        (options.translator is not None, "--translator"),
        (bool(options.symmetric), "--symmetric"),
        (options.accepting != TOGETHER, f"--accepting {options.accepting}"),
        (
            options.emptiness in (*DECOUPLED, *POWERSET),
            f"--emptiness {options.emptiness}",
        ),
        (options.reduce not in (AUTO, "none", AMPLE), f"--reduce {options.reduce}"),
    ):
        if given:
            raise UnsupportedError(f"{what} is for networks of LTSs, not for models")


def bound_propositions(system: Model, asked: Property) -> dict[str, Expression]:
    """Return what the propositions of a property mean in a model, by their texts.

    Raises
    ------
    FormulaError
        A proposition does not parse, or names what the model does not have.
    """
    meanings = {}
    for text in asked.propositions:
        try:
            meanings[text] = system.bound(parse_proposition(text), text)
        except FormulaError as error:
            formula = asked.formula
            if formula is None:
                raise
            raise FormulaError(
                error.message,
                formula=formula.text,
                position=_place_of(text, error, formula.text),
                file=formula.file,
                line=formula.line,
            ) from None
    return meanings


def _place_of(text: str, error: FormulaError, formula: str) -> int | None:
    """Return where a formula has the part of a proposition that is wrong."""
    wrong = text[error.position :].split("=")[0] if error.position is not None else text
    names = [wrong, *wrong.replace("'", " ").split()]
    places = [formula.find(name) for name in names]
    return next((place for place in places if place >= 0), None)
