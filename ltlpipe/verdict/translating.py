"""What Spot, or another program, makes of a property, and what it takes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.automata.letters import universal
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.finishing import finish
from ltlpipe.verdict.verdict import Statistics

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.search.driver import Interrupt, Limits
    from ltlpipe.verdict.options import Options
    from ltlpipe.verdict.property import Property


class Translation:
    """The automata of a property, made as often as their letters change.

    Parameters
    ----------
    asked : Property
        What is translated.
    options : Options
        By whom, and whether the automaton is deterministic.

    Attributes
    ----------
    stats : Statistics
        The time that all of it took, and the size of the last automaton.

    Raises
    ------
    UnsupportedError
        Another program is to translate what is no formula.
    """

    def __init__(self, asked: Property, options: Options) -> None:
        if options.translator is not None and asked.formula is None:
            raise UnsupportedError("--translator goes with a formula")
        self._property = asked
        self._options = options
        self._translated: Property | None = None  # by another program
        self.stats = Statistics()

    def table(
        self,
        acceptance: str,
        actions: list[str],
        marks: int,
        limits: Limits,
        interrupt: Interrupt,
    ) -> PropertyAutomaton:
        """Return the automaton of what violates the property.

        Parameters
        ----------
        acceptance : str
            The form that the plan has chosen.
        actions : list of str
            Those that its letters stand for, from letter 1 on.
        marks : int
            How many acceptance marks of the system the automaton sees to as well.
        limits : Limits
            Its deadline holds.
        interrupt : Interrupt
            May end the work.

        Raises
        ------
        StoppedError
            The time is up, or the user does not want to wait.
        """
        asked = self._asked(limits, interrupt)
        began = time.monotonic()
        if asked.is_trivial:
            automaton = universal()
        else:
            from ltlpipe.automata.translating import translated

            job = translated(
                asked.formula or asked.violations,
                acceptance.lower(),
                actions,
                system_marks=marks,
                deterministic=self._options.deterministic,
            )
            automaton = finish(job, limits, interrupt)
        self._spend(time.monotonic() - began)
        self.note(automaton)
        return automaton

    def note(self, automaton: PropertyAutomaton) -> None:
        """Keep the size of what is searched for."""
        self.stats = replace(
            self.stats,
            automaton_states=automaton.n_states,
            acceptance=automaton.acceptance,
        )

    def _spend(self, seconds: float) -> None:
        seconds += self.stats.translation_seconds or 0.0
        self.stats = replace(self.stats, translation_seconds=seconds)

    def _asked(self, limits: Limits, interrupt: Interrupt) -> Property:
        """Return the property, as an automaton if another program translates it."""
        formula, command = self._property.formula, self._options.translator
        if formula is None or command is None:
            return self._property
        if self._translated is None:
            from ltlpipe.automata.external import translate_externally

            began = time.monotonic()
            violations = finish(
                translate_externally(formula, command), limits, interrupt
            )
            self._translated = replace(
                self._property, formula=None, violations=violations
            )
            self._spend(time.monotonic() - began)
        return self._translated
