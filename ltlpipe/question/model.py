"""A question about a model, which is judged by its states: a DVE model, a Petri net."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.translation import stutter_invariant
from ltlpipe.logic.folding import MOST_NAMED, folded
from ltlpipe.logic.formulas import seen_at_ends
from ltlpipe.logic.history import PLAIN
from ltlpipe.logic.propositions.syntax import Deadlock, Number, Taken, mentions
from ltlpipe.question.conditions import COLOURED, MODEL, refuse
from ltlpipe.question.options import NEVER
from ltlpipe.question.property import (
    FOLLOWING,
    MEANT,
    Decision,
    decision_of,
    fairness_of,
    refuse_unknown,
)
from ltlpipe.question.question import NotApplicableError, Product, Question
from ltlpipe.runtime.errors import (
    FormulaError,
    UnknownNameError,
    UnsupportedError,
    silenced,
)
from ltlpipe.systems.kinds import is_net
from ltlpipe.systems.plain_steps import ModelSteps
from ltlpipe.systems.propositions.letters import refuse_too_many
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.por.groups import Groups
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.networks.packing import PackedSystem

_SOON = 20_000
"""Moves of a symmetric net that is unfolded just to make a run shorter."""

_LONG = 8_000
"""Places of a net whose rows are long (`ltlpipe.search.scc.couvreur99`)."""

_NOTHING = Number(0)
"""What a name means that nothing has, if that is allowed."""

_SECONDS = 2.0
"""CPU time for `decide_stuttering`; a property without an answer is not reduced."""


@dataclass
class ModelProduct(Product):
    """The product of a model and an automaton."""

    question: ModelQuestion
    table: PropertyAutomaton  # of the violations
    plan: Plan  # with the kind of automaton that this is
    ample: np.ndarray | None = None  # the table of ample sets (`Model.packing`)
    reductions: tuple[str, ...] | None = None

    def with_table(self, table: PropertyAutomaton) -> ModelProduct:
        """Return the product with another automaton over the same letters."""
        return replace(self, table=table)

    def packed(self) -> Job[PackedSystem]:
        """Return the packed model."""
        yield from self.question.prepared()
        packed = yield from self.question.system.packing(
            list(self.question.propositions.values()),
            extra_values=self.table.n_states,
            seed=self.question.options.seed,
            ample=self.ample,
        )
        return packed


class ModelQuestion(Question):
    """One question about a model, which is not changed; see `Question`.

    Raises
    ------
    FormulaError
        A proposition names something that the model does not have.
    UnsupportedError
        An option or combination is not supported.

    Attributes
    ----------
    written : dict of str to Expression
        What the propositions of the property mean, by their texts.
    propositions : dict of str to Expression
        What letters are sets of: these, or, if they are many, Boolean combinations.
    whole : ModelQuestion or None
        About a symmetric net: the question of which this one is a simpler form.
    """

    whole: ModelQuestion | None = None

    def __init__(self, system: Model, asked: Property, options: Options) -> None:
        self.kind = COLOURED if system.has_colours else MODEL
        refuse(self.kind, options)
        fairness = fairness_of(system, options)
        super().__init__(system.name, asked, options, fairness=fairness)
        self.part = "process" if system.processes else "transition"
        self.system = system
        reasons = (*self.given.reasons, *system.about)
        self.given = replace(self.given, reasons=reasons)
        self.written = bound_propositions(system, asked, options)
        self.propositions = self.written
        if fairness is not None:
            self._refuse_telling("--fairness is not supported")
        if any(mentions(own, Taken) for own in self.written.values()):
            self._refuse_telling("propositions about steps are not supported")
        formula = asked.formula
        is_plain = formula is not None and formula.dialect == PLAIN
        if formula is not None and is_plain and len(self.written) > MOST_NAMED:
            self._fold(formula)

    def _refuse_telling(self, what: str) -> None:
        """Refuse what can tell that the model leaves runs out, if it does."""
        if self.system.only_stuttering:
            raise UnsupportedError(f"{self.system.only_stuttering}; so {what}")

    def _fold(self, formula: Formula) -> None:
        """Make the largest parts without temporal operators propositions."""
        from ltlpipe.logic.propositions.parsing import parse_proposition

        parsed = {text: parse_proposition(text) for text in self.written}
        known = self.written.items()
        said = {text: parsed[text] for text, own in known if own is not _NOTHING}
        of_steps = {text for text, own in known if isinstance(own, Taken)}
        try:
            found, new = folded(formula.spot, said, of_steps)
        except UnsupportedError:  # PSL
            return
        fewer = replace(formula, spot=found)
        if len(fewer.propositions) >= len(self.written):
            return
        self.translated = fewer
        with silenced():
            bound = {text: self.system.bound(own, text) for text, own in new.items()}
        meaning = self.written | bound
        self.propositions = {text: meaning[text] for text in fewer.propositions}

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""
        return self.options.deadlock in (None, "stutter")

    @property
    def has_long_rows(self) -> bool:
        """Whether states take so much room that their successors are not all stored."""
        net = self.system
        return is_net(net) and len(net.places) >= _LONG

    def prepared(self) -> Job[None]:
        """Compute the facts for packing, once, on first use."""
        yield from self.fact("ranged", self.system.ranged)
        yield from self.fact("prepared", self.system.prepared)

    def unfolded(self) -> Job[ModelQuestion]:
        """Return the question about the model that is searched state by state.

        It shares what is known of the property.
        """
        asked = self.whole or self  # so that nothing is unfolded twice
        return (yield from asked.fact("unfolded", asked._unfold))

    def _unfold(self) -> Job[ModelQuestion]:
        system = yield from self.system.unfolding()
        if system is self.system:
            return self
        unfolded = self.about(system)
        unfolded._facts = self._facts
        return unfolded

    def about(self, system: Model, **options: Any) -> ModelQuestion:
        """Return the same question about another model, with some other options.

        Raises
        ------
        FormulaError
            It does not have what the property names.
        """
        with silenced():
            changed = replace(self.options, **options)
            other = ModelQuestion(system, self.property, changed)
        other.options, other.takes_ends = self.options, self.takes_ends
        other.simplifies = self.simplifies
        return other

    def unfolded_run(self, run: Run, *, force: bool) -> Job[Run | None]:
        """Return a run of a symmetric net as one of the unfolded net."""
        system: Any = self.system
        if not (force or system.is_unfolded or system.n_actions <= _SOON):
            return None
        try:
            unfolded = yield from self.unfolded()
        except UnsupportedError:
            return None
        if unfolded is self:
            return run
        actions, states = system.unfolded_run(unfolded.system, run.actions, run.states)
        return Run(actions, states, run.length)

    def refolded(self, run: Run, unfolded: Question) -> Run:
        """Return a run of the unfolded net as one of the symmetric net."""
        if unfolded is self:
            return run
        system: Any = self.system
        actions, states = system.refolded(unfolded.system, run.actions, run.states)  # type: ignore[attr-defined]
        return Run(actions, states, run.length)

    def automaton(self, plan: Plan, trace: Trace) -> Job[PropertyAutomaton]:
        """Return the automaton of the violations over sets of propositions."""
        propositions = list(self.propositions)
        if not self.property.is_trivial:
            refuse_too_many(len(propositions))
        if self.system.only_stuttering:
            decision = yield from self.stuttering()
            if not decision.allowed:
                self._refuse_telling(
                    f"stutter-invariance is required: {decision.reason}"
                )
        return (yield from self.table(plan, propositions, trace, over_states=True))

    def product(self, plan: Plan, trace: Trace) -> Job[ModelProduct]:
        """Return the product with all steps of the model."""
        table = yield from self.automaton(plan, trace)
        return ModelProduct(self, table, plan)

    def ample_product(self, plan: Plan, trace: Trace) -> Job[tuple[ModelProduct, str]]:
        """Return the product with ample sets, and why they may be used.

        Those of plain nets follow the automaton (docs/stubborn.md), where they can.

        Raises
        ------
        NotApplicableError
            They may not.
        """
        self.require_ample()
        if is_net(self.system):
            from ltlpipe.por.net_sets import table_of

            table = yield from self.automaton(plan, trace)
            yield from self.prepared()
            known, stutters = list(self.propositions.values()), self.stutters
            sets = yield from table_of(self.system, known, table, stutters=stutters)
            if sets is not None:
                return ModelProduct(self, table, plan, sets), FOLLOWING
        return (yield from self.grouped_product(plan, trace))

    def grouped_product(
        self, plan: Plan, trace: Trace
    ) -> Job[tuple[ModelProduct, str]]:
        """Return the product with ample sets by groups, and why they may be used.

        They preserve stutter-invariant properties (docs/models-por.md): those that do
        not change when letters are repeated or repetitions deleted.

        Raises
        ------
        NotApplicableError
            They may not.
        """
        groups = yield from self.groups()
        if groups.codes is None:
            raise NotApplicableError(groups.reason)
        decision = yield from self.stuttering()
        if not decision.allowed:
            raise NotApplicableError(decision.reason)
        table = yield from self.automaton(plan, trace)
        reason = f"{decision.reason}, and {groups.reason}"
        return ModelProduct(self, table, plan, groups.codes), reason

    def groups(self) -> Job[Groups]:
        """Find, once, which steps may be taken before all others."""
        return self.fact("groups", self._grouped)

    def _grouped(self) -> Job[Groups]:
        from ltlpipe.por.groups import find_groups

        yield from self.fact("ranged", self.system.ranged)  # some steps can fail
        known, formula = self.propositions, self.translated
        ends = {text for text, own in known.items() if isinstance(own, Deadlock)}
        hidden = None if formula is None else seen_at_ends(formula, ends)
        late = set() if hidden is None else hidden | ends
        at_ends = [own for text, own in known.items() if text in late]
        seen = [own for text, own in known.items() if text not in late]
        return (yield from find_groups(self.system, seen, at_ends))

    def stuttering(self) -> Job[Decision]:
        """Decide, once, whether the property is stutter-invariant."""
        make = partial(decide_stuttering, self.property, self.translated)
        decision = yield from self.fact("stuttering", make, of_property=True)
        return decision

    def plain_steps(
        self, plan: Plan, trace: Trace
    ) -> Job[tuple[ModelSteps, PropertyAutomaton]]:
        """Return the model in plain Python, and the automaton over its letters."""
        propositions = list(self.propositions.values())
        steps = ModelSteps(self.system, propositions, fairness=self.fairness)
        table = yield from self.automaton(plan, trace)
        return steps, table


class Substitute(ModelQuestion):
    """The same question about a model that takes the place of another.

    Parameters
    ----------
    question : ModelQuestion
        Whose attributes it has, until they are changed.  The options are not checked
        again: warnings have been given already.
    reduction : str
        What has made the model.
    reason : str
        Why.
    """

    lost = "a run of what is searched is none of the model"

    def __init__(self, question: ModelQuestion, reduction: str, reason: str) -> None:
        self.__dict__.update(vars(question))
        said = f"{reduction}, because {reason}"
        self.given = self.given.reduced_by(reduction, said)

    @abstractmethod
    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run as one of the model itself; None if there is none."""

    def restored(self, answer: Answer) -> Job[Answer]:
        """Return an answer with a run of the model itself.

        Raises
        ------
        NotApplicableError
            There is none.
        """
        if answer.run is None:
            return answer
        run = yield from self.original_run(answer.run)
        if run is None:
            raise NotApplicableError(self.lost)
        return answer._replace(run=run, is_shortest=False)


def decide_stuttering(asked: Property, translated: Formula | None) -> Job[Decision]:
    """Decide whether a property is stutter-invariant.

    So it is if what is `translated` is, over combinations of its propositions; not the
    other way round, for these may imply each other.
    """
    if asked.is_trivial:
        return Decision(True, "there is no property")
    formula = asked.formula
    if formula is not None and formula.spot.is_syntactic_stutter_invariant():
        return Decision(True, "the formula is stutter-invariant by its syntax")
    what = "automaton" if formula is None else "formula"
    subjects = dict.fromkeys([translated, formula])
    jobs = (stutter_invariant(subject or asked.violations) for subject in subjects)
    return (yield from decision_of(jobs, what, "stutter-invariant", _SECONDS))


def bound_propositions(
    system: Model, asked: Property, options: Options | None = None
) -> dict[str, Expression]:
    """Return the meaning of a property's propositions in a model, by their texts.

    Raises
    ------
    FormulaError
        A proposition does not parse, or names something that the model does not have
        (unless ``options.unknown`` is "never").
    """
    meanings: dict[str, Expression] = {}
    formula = asked.formula
    if formula is not None and (place := formula.equals_sign) is not None:
        raise FormulaError(
            "values are compared by ==",
            formula=formula.text,
            position=place,
            file=formula.file,
            line=formula.line,
            name=formula.name,
        )
    for text in asked.propositions:
        try:
            meanings[text] = system.meaning(text)
        except UnknownNameError as error:
            if options is None or options.unknown != NEVER:
                error.message += MEANT
                raise _placed(error, text, asked) from None
            refuse_unknown(error.message, text, (), asked, options)
            meanings[text] = _NOTHING
        except FormulaError as error:
            raise _placed(error, text, asked) from None
    return meanings


def _placed(error: FormulaError, text: str, asked: Property) -> FormulaError:
    """Return the error of a proposition as one of the whole formula."""
    formula = asked.formula
    if formula is None:
        return error
    named = "" if formula.name is None else f"{formula.name}: "
    return type(error)(
        named + error.message,
        formula=formula.text,
        position=_place_of(text, error, formula.text),
        file=formula.file,
        line=formula.line,
    )


def _place_of(text: str, error: FormulaError, formula: str) -> int | None:
    """Return the position of the wrong part of a proposition in a formula."""
    wrong = text[error.position :].split("=")[0] if error.position is not None else text
    names = [wrong, *wrong.replace("'", " ").split()]
    places = [formula.find(name) for name in names]
    return next((place for place in places if place >= 0), None)
