"""Vacuity of a formula that holds, and a run that shows that it is not vacuous.

Source: O. Kupferman and M. Y. Vardi, "Vacuity Detection in Temporal Model Checking",
STTT 4 (2003), pp. 224-233, who generalise I. Beer, S. Ben-David, C. Eisner and
Y. Rodeh, "Efficient Detection of Vacuity in ACTL Formulas", CAV 1997.  A subformula
does not affect a formula in a system if the formula holds whatever takes its place;
since the formula is monotone or antitone in each occurrence, that is so iff it holds
with the strongest replacement, false or true (`ltlpipe.logic.occurrences`).  The
formula holds vacuously if there is such a subformula.

An occurrence that can be replaced contains propositions that can: the formula with the
strongest replacement of the whole occurrence implies the formula with that of one
proposition in it.  So it suffices to try single propositions, and an occurrence with a
proposition that matters matters, too.  What is reported is the largest occurrence, by
the operators and propositions in it.

Differences from the source:

* Occurrences are replaced one at a time, not all of a subformula at once.
* A replacement that gives an equivalent formula is no finding about the system, and
  does not count; for a network equivalence is that over words of actions.  If a formula
  is satisfied by all words, the part that can be replaced is the formula, by true; if
  the system has no run that counts, it is the formula, by false.
* One run may show that several propositions matter.  It is searched first, as a
  violation of the disjunction of all strengthened formulas: one such run answers all at
  once. After that, strengthened formulas that are violated by a run found for another
  one need no check.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.words import violates
from ltlpipe.logic.actions import equivalent
from ltlpipe.logic.formulas import rebuilt
from ltlpipe.logic.occurrences import (
    Occurrence,
    constant,
    occurrences,
    written,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import TIMEOUT, TooMuchWorkError, bounded
from ltlpipe.verdict.verdict import (
    HOLDS,
    UNKNOWN,
    UNSUPPORTED,
    VIOLATED,
    Vacuity,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.verdict.lasso import Lasso
    from ltlpipe.verdict.verdict import Verdict

EQUIVALENT = "equivalent"
"""Besides verdicts: the strengthened formula holds because it is equivalent to the
formula."""

_COMPARING = 2e6
"""Microseconds of Spot for one comparison; without an answer formulas differ."""

_TOGETHER = 5e6
"""Units of work for the disjunction; afterwards its parts are checked one by one."""


class _Shown(NamedTuple):
    """A run of the system, and which formulas it violates."""

    lasso: Lasso
    violated: set[Any]


class VacuityDetection:
    """Decides whether a formula, which is known to hold, holds vacuously.

    Parameters
    ----------
    asked : Formula
        What holds.
    ask : callable
        Returns the job that asks the same system whether another formula holds.
    as_witness : callable
        Returns the job that spells a lasso over the propositions of `asked`.
    one_at_a_time : bool
        Whether propositions are actions, of which exactly one happens at each step.

    Attributes
    ----------
    known : Vacuity
        What has been found out so far.
    """

    def __init__(
        self,
        asked: Formula,
        ask: Callable[[Formula], Job[Verdict]],
        as_witness: Callable[[Lasso], Job[Lasso]],
        *,
        one_at_a_time: bool,
    ) -> None:
        self._asked = asked
        self._ask, self._as_witness = ask, as_witness
        self._one_at_a_time = one_at_a_time
        self._answers: dict[Any, str] = {}  # by strengthened formula
        self._reason: str | None = None  # why one of them is unknown
        self._shown: list[_Shown] = []
        self.known = Vacuity()

    def job(self) -> Job[None]:
        """Return the job that decides it; it updates `known`."""
        try:
            yield from self._detected()
        except UnsupportedError:  # PSL, too many occurrences, more than Spot can do
            if self.known.vacuous is None:
                self.known = Vacuity(reason=UNSUPPORTED)

    def _detected(self) -> Job[None]:
        places = occurrences(self._asked.spot)
        if (yield from self._is_equivalent(constant(True))):
            self._note_whole(value=True)
            return
        leaves = [place for place in places if place.is_leaf]
        if not leaves:  # false holds: there is no run
            self._note_whole(value=False)
            return
        if not (yield from self._all_at_once(leaves)):
            for leaf in leaves:
                if (yield from self._answer(leaf.stronger)) == HOLDS:
                    self._note_replaceable(leaf)
            yield from self._largest(places, leaves)
        if self.known.vacuous is None:
            self._conclude(leaves)

    # --- questions ----------------------------------------------------------

    def _all_at_once(self, leaves: list[Occurrence]) -> Job[bool]:
        """Search for one run to which all propositions matter."""
        left = list(dict.fromkeys(leaf.stronger for leaf in leaves))
        together = rebuilt("Or", left)
        if len(left) == 1 or (yield from self._is_equivalent(together)):
            return False
        try:
            verdict = yield from bounded(self._ask(self._formula(together)), _TOGETHER)
        except (TooMuchWorkError, UnsupportedError):
            return False
        if verdict.verdict != VIOLATED:
            return False
        self._answers.update(dict.fromkeys(left, VIOLATED))
        if verdict.lasso is not None:
            yield from self._show(verdict.lasso, set(left))
        return True

    def _answer(self, left: Any) -> Job[str]:
        """Decide whether a strengthened formula holds."""
        if left not in self._answers:
            self._answers[left] = yield from self._new_answer(left)
        return self._answers[left]

    def _new_answer(self, left: Any) -> Job[str]:
        if left == self._asked.spot:
            return EQUIVALENT
        formula = self._formula(left)
        for shown in self._shown:
            assert shown.lasso.spelling is not None
            _, letters, word = shown.lasso.spelling
            start = len(shown.lasso.prefix)
            if (yield from violates(formula, letters, word, start)):
                shown.violated.add(left)
                return VIOLATED
        try:
            verdict = yield from self._ask(formula)
        except UnsupportedError:
            self._reason = UNSUPPORTED
            return UNKNOWN
        if verdict.verdict == UNKNOWN:
            self._reason = verdict.reason
        elif verdict.verdict == VIOLATED and verdict.lasso is not None:
            yield from self._show(verdict.lasso, {left})
        if verdict.verdict != HOLDS or left.is_ff():
            return verdict.verdict
        is_same = yield from self._is_equivalent(left)
        if is_same is None:  # it holds, but may be no stronger
            self._reason = TIMEOUT
            return UNKNOWN
        return EQUIVALENT if is_same else HOLDS

    def _show(self, lasso: Lasso, violated: set[Any]) -> Job[None]:
        lasso = yield from self._as_witness(lasso)
        self._shown.append(_Shown(lasso, violated))

    def _is_equivalent(self, other: Any) -> Job[bool | None]:
        """Whether the same words satisfy the formula; None if that takes too long."""
        job = equivalent(self._asked.spot, other, one_at_a_time=self._one_at_a_time)
        try:
            return (yield from bounded(job, _COMPARING))
        except (TooMuchWorkError, UnsupportedError, RuntimeError):  # Spot's limits
            return None

    def _formula(self, left: Any) -> Formula:
        """Return a strengthened formula with the same origin."""
        return replace(self._asked, text=str(left), spot=left)

    # --- answers ------------------------------------------------------------

    def _largest(self, places: list[Occurrence], leaves: list[Occurrence]) -> Job[None]:
        """Look for the largest occurrence that can be replaced."""
        holding = {
            number
            for number, leaf in enumerate(leaves)
            if self._answers[leaf.stronger] in (HOLDS, EQUIVALENT)
        }
        candidates = [place for place in places if holding.issuperset(place.leaves)]
        for place in sorted(candidates, key=lambda place: -place.size):
            if (yield from self._answer(place.stronger)) == HOLDS:
                self._note_replaceable(place)
                return

    def _note_replaceable(self, place: Occurrence) -> None:
        if place.stronger.is_ff():  # holds: there is no run
            self._note_whole(value=False)
            return
        part = written(place.formula, self._asked)
        self.known = Vacuity(True, part, not place.positive, str(place.stronger))

    def _note_whole(self, *, value: bool) -> None:
        self.known = Vacuity(True, self._asked.text, value, "1" if value else "0")

    def _conclude(self, leaves: list[Occurrence]) -> None:
        """Record that no part can be replaced, or that this is undecided."""
        if UNKNOWN in self._answers.values():
            self.known = Vacuity(reason=self._reason)
            return
        self.known = Vacuity(False)
        if not self._shown:
            return
        best = max(self._shown, key=lambda shown: len(shown.violated))
        names = [
            written(leaf.formula, self._asked)
            for leaf in leaves
            if leaf.stronger in best.violated
        ]
        part = ", ".join(dict.fromkeys(names)) or self._asked.text
        self.known = Vacuity(False, witness=best.lasso, witness_part=part)
