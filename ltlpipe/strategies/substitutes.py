"""Questions that take the place of another, and whose runs are led back.

- A symmetric net whose colours are merged: all strategies that would have the net
  unfolded are given it; its runs get colours back.
- A program whose processes forget the values that nobody reads any more: all strategies
  with kernels are given it; its runs are led back by their actions.
- A program whose processes pass by what nobody else can see: searches state by state
  are given it; its runs are led back to single statements.
- A net that structural reductions have made smaller: all strategies but `instant` are
  given it.  Rules that leave steps out are for properties that are stutter-invariant.
- A network whose components are replaced by their factors: all strategies with kernels
  see these, and of the other reductions only trimming comes before
  (``--reduce factoring``).  The search in plain Python does not see them: factors have
  as many states together, and it must not wait.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Enabled,
    Indexed,
    Taken,
    mentions,
    renumbered,
    variables_in,
)
from ltlpipe.question.answer import Trace
from ltlpipe.question.conditions import (
    ALPHABET,
    EACH,
    FACTORING,
    STATEMENTS,
    STRUCTURAL,
    VARIABLES,
    obstacle,
)
from ltlpipe.question.model import ModelQuestion, Substitute
from ltlpipe.question.network import NetworkQuestion, with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded
from ltlpipe.search.driver import OVERFLOW
from ltlpipe.strategies.slicing import sliced
from ltlpipe.systems.kinds import is_program, is_symmetric_net

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.components.factors import Factored
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.structural.reduction import Reduction
    from ltlpipe.systems.nets.coloured.merging import MergedNet
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.programs.liveness import Forgetting
    from ltlpipe.systems.programs.model import ProgramModel
    from ltlpipe.systems.runs import Run


class MergedQuestion(Substitute):
    """The same question about a net of merged colours."""

    system: MergedNet
    lost = "a run of merged colours repeats no marking soon"

    def __init__(self, original: ModelQuestion, net: MergedNet) -> None:
        reason = (
            f"the net does not tell all colours apart: {len(net.places)} places and "
            f"{len(net.transitions)} transitions do the same (Bilgram et al. 2022; "
            "docs/reductions.md)"
        )
        super().__init__(original.about(net, unknown="error"), STRUCTURAL, reason)

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the symmetric net, if it soon repeats a marking."""
        return self.system.coloured_run(run)


def with_places(question: Question) -> Job[Question]:
    """Return a question about a net with a place for each colour, merged or not.

    Raises
    ------
    UnsupportedError
        It is too large.
    """
    merged = yield from with_merged_colours(question)
    return merged or (yield from question.unfolded())


def with_merged_colours(question: Question) -> Job[MergedQuestion | None]:
    """Return a question about merged colours; None if none may be, or can be."""
    if not isinstance(question, ModelQuestion) or obstacle(question, STRUCTURAL):
        return None
    asked = question.whole or question
    return (yield from asked.fact("merged", lambda: _of_merged_colours(asked)))


def _of_merged_colours(question: ModelQuestion) -> Job[MergedQuestion | None]:
    net = question.system
    if not is_symmetric_net(net):
        return None
    try:
        merged = yield from net.merging()
        return None if merged is None else MergedQuestion(question, merged)
    except (UnsupportedError, FormulaError):  # it names colours
        return None


def _about_program(
    question: Question,
    reduction: str,
    make: Callable[[ModelQuestion], Job[ModelQuestion]],
) -> Job[Question]:
    """Return what is made, once, of a question about a program; else itself."""
    if not isinstance(question, ModelQuestion) or obstacle(question, reduction):
        return question
    if not is_program(question.system):
        return question
    return (yield from question.fact(reduction, partial(make, question)))


class LiveVariables(Substitute):
    """The same question about a program that forgets dead values."""

    system: ProgramModel
    lost = "what is forgotten does not come back soon"

    def __init__(
        self, question: ModelQuestion, model: ProgramModel, rule: Forgetting
    ) -> None:
        reason = (
            "the values of some variables are not read any more in some places, or "
            "never (docs/models-por.md)"
        )
        super().__init__(question, VARIABLES, reason)
        self._facts_of = VARIABLES
        self._original: Any = question.system
        self._rule = rule
        self.system = model

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the program itself."""
        from ltlpipe.systems.programs.liveness import run_remembered

        return run_remembered(self._original, self._rule, run)


def with_live_variables(question: Question) -> Job[Question]:
    """Return a question about a program that forgets; itself if there is none."""
    return _about_program(question, VARIABLES, _of_live_variables)


def _of_live_variables(question: ModelQuestion) -> Job[ModelQuestion]:
    system: Any = question.system
    read = [*question.written.values(), *question.propositions.values()]
    found = yield from system.forgetting(read)
    return question if found is None else LiveVariables(question, *found)


class MergedStatements(Substitute):
    """The same question about a program with merged statements."""

    system: ProgramModel

    def __init__(self, question: ModelQuestion, reason: str) -> None:
        super().__init__(question, STATEMENTS, reason)
        self._before = question

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the program itself."""
        from ltlpipe.por.statements import run_in_single_moves

        found = yield from run_in_single_moves(self.system, run)
        if isinstance(self._before, Substitute):
            return (yield from self._before.original_run(found))
        return found


def with_merged_statements(question: Question) -> Job[Question]:
    """Return a question about merged statements; itself if none may be, or can be."""
    return _about_program(question, STATEMENTS, _of_merged_statements)


def _of_merged_statements(question: ModelQuestion) -> Job[ModelQuestion]:
    from ltlpipe.por.statements import passed_places

    groups = yield from question.groups()
    if groups.codes is None:
        return question
    decision = yield from question.stuttering()
    system: Any = question.system
    places = passed_places(system.program, groups.codes)
    if not decision.allowed or not places:
        return question
    reason = (
        f"{decision.reason}, and in {len(places)} places of processes only they know "
        "what happens next (docs/models-por.md)"
    )
    merged = MergedStatements(question, reason)
    merged.system = system.passing(places)
    return merged


class SmallerNetQuestion(Substitute):
    """The same question about a reduced net.

    Attributes
    ----------
    reduction : Reduction
        What has become of the net.
    """

    lost = "a run of the reduced net repeats no marking"

    def __init__(self, original: ModelQuestion, reduction: Reduction) -> None:
        told = ", ".join(f"{n} {rule}" for rule, n in reduction.applied.items())
        before, after = reduction.net, reduction.reduced
        reason = (
            f"a net of {len(after.places)} places and {len(after.transitions)} "
            f"transitions, not {len(before.places)} and {len(before.transitions)}, "
            f"does the same: {told} (docs/reductions.md)"
        )
        super().__init__(original, STRUCTURAL, reason)
        self._facts = {}
        self.reduction, self.system = reduction, reduction.reduced
        self.propositions = {
            text: renumbered(own, reduction.places)
            for text, own in original.propositions.items()
        }

    def original_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the net itself.

        Raises
        ------
        StoppedError
            A place that is gone has more tokens than 63 bits hold.
        """
        try:
            return (yield from self.reduction.restored(run))
        except OverflowError:
            raise StoppedError(OVERFLOW) from None


_MOST_DECIDING = 500_000
"""Units of work that a net waits for, until it is known what its property can tell."""


def about_smaller_net(question: Question) -> Job[Question]:
    """Return a question about a reduced net; itself if nothing can be reduced."""
    if not isinstance(question, ModelQuestion) or obstacle(question, STRUCTURAL):
        return question
    from ltlpipe.systems.nets.net import PetriNet

    if not isinstance(question.system, PetriNet):
        return question
    if not all(map(is_of_markings, question.propositions.values())):
        return question
    asked = question
    return (yield from question.fact(STRUCTURAL, lambda: _reduced(asked)))


def _reduced(question: ModelQuestion) -> Job[ModelQuestion]:
    from ltlpipe.structural.reduction import MOST_NODES, reduced_net

    net: Any = question.system
    if len(net.places) + len(net.transitions) > MOST_NODES:
        return question
    said = question.propositions.values()
    observed = {place for meaning in said for place in variables_in(meaning)}
    stuttering = False
    with suppress(TooMuchWorkError):  # then what is right in any case has to do
        decision = yield from bounded(question.stuttering(), _MOST_DECIDING)
        stuttering = decision.allowed
    found = yield from reduced_net(net, observed, stuttering=stuttering)
    return question if found is None else SmallerNetQuestion(question, found)


def is_of_markings(expression: Expression) -> bool:
    """Whether a bound expression depends on nothing but the marking's numbers."""
    return not mentions(expression, Deadlock, Taken, Indexed, Enabled)


_MEMORY = "that takes too much memory"


class FactoredQuestion(NetworkQuestion):
    """The same question about a network whose components were replaced.

    It shares the facts of the original, none of which is about components.

    Attributes
    ----------
    original : NetworkQuestion
        What was asked.
    before : Network
        Its network, maybe trimmed: the one that was factored.
    factored : Factored
        What has become of it.
    """

    def __init__(
        self, original: NetworkQuestion, before: Network, factored: Factored
    ) -> None:
        # The options are not checked again: warnings have been given already.
        self.__dict__.update(vars(original))
        assert factored.network is not None
        self.original, self.before, self.factored = original, before, factored
        self.system = factored.network
        self.system_marks = len(
            self.system.accepting_groups(together=not self.accepts_apart)
        )
        trimmed = () if before is original.system else (ALPHABET,)
        self.given = replace(
            original.given,
            reductions=(*trimmed, FACTORING),
            reasons=(
                *original.given.reasons,
                f"{FACTORING}, because {factored} (docs/factoring.md)",
            ),
        )


def factored_question(question: Question) -> Job[Question]:
    """Return a question about the factors of a network; itself if there are none.

    If factoring was skipped or forbidden, its plan says so.
    """
    network = with_components(question)
    if network is None or not question.options.reduces(FACTORING):
        return question
    if network.fairness is not None:  # whose plan says that nothing is reduced
        return question
    return (yield from question.fact(FACTORING, lambda: _asked(network)))


def _asked(question: NetworkQuestion) -> Job[NetworkQuestion]:
    from ltlpipe.components.alphabet import trim
    from ltlpipe.components.factors import factored, needed_bytes
    from ltlpipe.components.progress import factoring

    options, before = question.options, question.system
    grant = yield factoring(0)
    if grant.memory_bytes < needed_bytes(before):
        return _with_reason(question, _MEMORY)
    together = options.network_acceptance != EACH
    try:
        if options.reduces(ALPHABET):
            before = yield from trim(before)
        found = yield from factored(before, together=together, shares=options.share > 0)
    except MemoryError:  # which must not end all strategies
        return _with_reason(question, _MEMORY)
    if found.network is not None:
        return FactoredQuestion(question, before, found)
    return _with_reason(question, str(found)) if found.left else question


def _with_reason(question: NetworkQuestion, reason: str) -> NetworkQuestion:
    """Return a question whose plan has the reason why nothing is factored."""
    same = object.__new__(NetworkQuestion)
    same.__dict__.update(vars(question))
    reasons = (*question.given.reasons, f"no {FACTORING}, because {reason}")
    same.given = replace(question.given, reasons=reasons)
    return same


def answered(strategy: Strategy, question: Question, trace: Trace) -> Job[Answer]:
    """Return what a strategy answers; it looks at factors where there are some.

    If it cannot be used on them (symmetry that was not found again, say), it is used
    on the components.
    """
    asked = yield from factored_question(question)
    trace.plan = asked.given
    try:
        answer = yield from strategy.job(asked, trace)
    except NotApplicableError:
        if not isinstance(asked, FactoredQuestion):
            raise
        trace.plan = question.given
        return (yield from strategy.job(question, trace))
    if not isinstance(asked, FactoredQuestion) or answer.run is None:
        return answer
    back = _unfactored(asked, answer.run)
    run = yield from trace.timed("lasso_seconds", back)
    return answer._replace(run=run, is_shortest=False)


def _unfactored(question: FactoredQuestion, run: Run) -> Job[Run]:
    """Return the run of the components, without steps that can be left out.

    Steps are left out first: those of different factors depend less on each other.
    """
    from ltlpipe.components.factors import unfactored

    run = yield from sliced(question, run, Trace(question.given))
    return (yield from unfactored(question.before, question.factored, run))
