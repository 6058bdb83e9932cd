"""What rules a reduction out, whatever the property turns out to be.

Each method answers with a reason for people, or None if nothing is in the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.reduction.decoupling import estimate
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import (
    DECOUPLED,
    DECOUPLED_NDFS,
    DECOUPLED_SCC,
    POWERSET,
)
from ltlpipe.verdict.options import (
    AMPLE,
    AMPLE_SEARCHES,
    COMPONENTS,
    DECOUPLING,
    EACH,
    SYMMETRY,
    Options,
)

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.property import Property

_UNFAIR = "fairness depends on what is enabled"


class Obstacles:
    """What a question and its options exclude.

    Parameters
    ----------
    system : Network
        What is asked; it is not changed.
    asked : Property
        What is asked of it.
    options : Options
        How it shall be answered.
    """

    def __init__(self, system: Network, asked: Property, options: Options) -> None:
        self.system = system
        self.property = asked
        self.options = options

    @property
    def accepts_apart(self) -> bool:
        """Whether several components accept, each for itself."""
        accepting = [c for c in self.system.components if c.accepting is not None]
        return self.options.accepting == EACH and len(accepting) > 1

    @property
    def must_decouple(self) -> bool:
        """Whether a search of another kind is no answer to what is asked."""
        return self.options.wants_decoupling or self.accepts_apart

    def may_decouple(self) -> bool:
        """Whether decoupled search promises something for the system as it is."""
        return estimate(self.system, self.property.propositions).pays

    def to_decoupling(self, named: str | None) -> str | None:
        """Return why the search is not a decoupled one, if it is not the property.

        Raises
        ------
        UnsupportedError
            It has to be one.
        """
        options = self.options
        reason = None
        if named is not None and named not in DECOUPLED:
            reason = f"{named} looks at one state at a time"
        elif named is None and not options.reduces(DECOUPLING):
            reason = "--reduce does not ask for it"
        elif options.fairness is not None:
            reason = _UNFAIR
        elif options.stutters:
            reason = "sets of states do not tell which of them are deadlocks"
        elif named == DECOUPLED_SCC and self.system.has_acceptance:
            reason = (
                f"{DECOUPLED_SCC} takes no components that accept: use {DECOUPLED_NDFS}"
            )
        if reason is not None:
            self.refuse_decoupling(reason)
        return reason

    def refuse_decoupling(self, reason: str) -> None:
        """Refuse to do without decoupled search if it has to be one."""
        if self.must_decouple:
            who = "--accepting each needs it, but " if self.accepts_apart else ""
            raise UnsupportedError(f"{who}decoupled search cannot be used: {reason}")

    def to_symmetry(self, named: str | None) -> str | None:
        """Return why no use is made of symmetry, if it is not the system.

        Raises
        ------
        UnsupportedError
            It is asked for.
        """
        options = self.options
        reason = None
        if named is not None and named not in POWERSET:
            reason = f"{named} looks at one state at a time"
        elif named is None and not options.reduces(SYMMETRY):
            reason = "--reduce does not ask for it"
        elif options.fairness is not None:
            reason = "fairness tells components apart"
        elif options.bitstate is not None:
            reason = "--bitstate looks at one state at a time"
        elif self.must_decouple:
            reason = "decoupled search, which is needed, has sets of another kind"
        elif options.insists_on(AMPLE):
            reason = "ample sets are chosen for states, not for sets: leave one out"
        if reason is not None:
            self.refuse_symmetry(reason)
        return reason

    def refuse_symmetry(self, reason: str) -> None:
        """Refuse to do without symmetry if it is asked for."""
        if self.options.wants_symmetry:
            raise UnsupportedError(f"symmetry cannot be used: {reason}")

    def to_ample(self, named: str | None) -> str | None:
        """Return why ample sets are not used, if it is not the property."""
        if not self.options.reduces(AMPLE):
            return "--reduce does not ask for them"
        if self.options.fairness is not None:
            return _UNFAIR
        if self.options.bitstate is not None:
            return "--bitstate takes all steps"
        if named is not None and named not in AMPLE_SEARCHES:
            return f"{named} takes all steps"
        if self.property.is_trivial or self.system.has_acceptance:
            return "acceptance of the system is about states"
        return None

    def to_components(self) -> str | None:
        """Return why components stay as they are, if it is not the property."""
        if not self.options.reduces(COMPONENTS):
            return "--reduce does not ask for it"
        if self.options.fairness is not None:
            return _UNFAIR
        if self.options.bitstate is not None:
            return "--bitstate is for systems as they are"
        if self.property.is_trivial or self.system.has_acceptance:
            return "acceptance of the system is about states"
        return None


def not_generalised(table: PropertyAutomaton) -> str:
    """Return why searches of sets of states do not take an automaton."""
    return (
        f"its automaton accepts by {table.acceptance} (--acceptance tgba makes it "
        "generalised Büchi)"
    )
