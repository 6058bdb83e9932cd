"""Several questions about one system, answered one after the other.

Invariants among a model's own questions are answered together first (`joint`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import INSTANT
from ltlpipe.question.given_options import understood
from ltlpipe.runtime.errors import (
    FormulaError,
    ReplayError,
    UnsupportedError,
    noting,
)
from ltlpipe.runtime.jobs import INTERRUPTED
from ltlpipe.verdict.inquiry import Inquiry
from ltlpipe.verdict.joint import STRATEGIES_OF_JOINT, Joint, joint_verdicts
from ltlpipe.verdict.portfolio import PRELUDE, PRELUDE_ALONE
from ltlpipe.verdict.verdict import CRASH, misread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job, Limits, Progress
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict


@dataclass(eq=False)
class Questions:
    """Questions about one system.

    Parameters
    ----------
    system : System
        What they are about.
    asked : sequence of Property or FormulaError
        An error is a formula that cannot be read.
    options : mapping
        As they are given: limits of each question depend on the memory that is free
        when it begins.
    constraint : automaton, optional
        Of the only runs that count.
    files : sequence of str
        From which the system has been read, for certificates.
    are_own : bool
        The model itself asks.
    is_single : bool
        There is only one: an error in it is raised, and not its verdict.
    begin : callable
        Called with the text of each formula before a search.
    read : callable
        Runs a job within the limits; what it raises after Ctrl-C ends all.
    progress : callable
        As for `ltlpipe.check`.
    """

    system: System
    asked: Sequence[Property | FormulaError]
    options: Mapping[str, Any]
    constraint: Any
    files: Sequence[str]
    are_own: bool
    is_single: bool
    begin: Callable[[str], object]
    read: Callable[[Job[Any]], Any]
    progress: Callable[[Progress], None]
    _may_have_kernels: bool = field(init=False, default=False)

    def verdicts(self) -> Iterator[tuple[Property | FormulaError, Verdict]]:
        """Yield each question with its verdict, as soon as it is known.

        After Ctrl-C all that is known is told, and one verdict that says so; the
        other questions are left out.

        Raises
        ------
        FormulaError, ReplayError, UnsupportedError
            There is a single question, and it does not fit the system, or what has been
            found fails its replay.
        """
        joint = self._jointly()
        is_stopped = False
        for place, asked in enumerate(self.asked):
            verdict: Verdict | None
            if isinstance(asked, FormulaError):
                verdict = misread(self.system.name, asked)
            elif is_stopped or joint.was_interrupted:
                verdict = joint.known(place, is_stopped=is_stopped)
            elif (verdict := joint.verdicts.get(place)) is None:
                verdict = self._alone(asked)
            if verdict is not None:
                is_stopped = is_stopped or verdict.reason == INTERRUPTED
                yield asked, joint.at_least(place, verdict)

    def _jointly(self) -> Joint:
        """Ask the invariants among the model's own questions together."""
        own = self.asked if self.are_own else ()
        options, _ = understood(self.options)
        return joint_verdicts(self.system, own, options, self._for_joint, self.read)

    def _for_joint(self, asked: Property) -> Verdict | None:
        with suppress(FormulaError, UnsupportedError), noting() as said:
            inquiry, limits = self._posed(asked, strategies=STRATEGIES_OF_JOINT)
            return self._answer(inquiry, limits, said)
        return None

    def _alone(self, asked: Property) -> Verdict:
        """Ask one question; what is wrong with one of several is its verdict."""
        with noting() as said:
            try:
                inquiry, limits = self._posed(asked)
            except FormulaError as error:  # it names what there is not
                if self.is_single:
                    raise
                found = misread(self.system.name, error)
                if (formula := asked.formula) is None:
                    return found
                own = formula.identifier
                return replace(found, formula=formula.text, formula_id=own)
            try:
                return self._answer(inquiry, limits, said)
            except (ReplayError, UnsupportedError) as error:
                if self.is_single:
                    raise
                refused = replace(inquiry.refused(error), warnings=tuple(said))
                if isinstance(error, ReplayError):
                    refused = replace(refused, reason=CRASH)
                return refused

    def _posed(self, asked: Property, **beside: Any) -> tuple[Inquiry, Limits]:
        """Return the inquiry that answers a question, and its limits."""
        text = "accepting run" if asked.formula is None else asked.formula.text
        self.begin(text[:60])
        options, limits = understood(self.options)  # with the memory that is free now
        # Questions of a model's own are few, and worth no kernel if they are easy.
        are_few = self.are_own or self.is_single
        alone = are_few and not self._may_have_kernels
        inquiry = Inquiry(
            self.system,
            asked,
            options,
            self.constraint,
            prelude=PRELUDE_ALONE if alone else PRELUDE,
            files=self.files,
            **beside,
        )
        return inquiry, limits

    def _answer(
        self, inquiry: Inquiry, limits: Limits, said: Mapping[str, None]
    ) -> Verdict:
        verdict = inquiry.verdict(limits, self.progress)
        if verdict.plan.strategy not in (None, INSTANT):
            self._may_have_kernels = True
        return replace(verdict, warnings=tuple(said))
