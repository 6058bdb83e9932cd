"""Answers of strategies, and the record of their work."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.jobs import MIB, guided, timed
from ltlpipe.runtime.names import spelled
from ltlpipe.runtime.objects import ByValue

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Clock, Grant, Job, Progress, Result
    from ltlpipe.systems.runs import Run

EMPTY, FOUND = "empty", "found"
NOT_APPLICABLE, INCONCLUSIVE = "not applicable", "inconclusive"
"""Kinds of answers."""


@dataclass(frozen=True)
class Plan:
    """The strategy, automaton, emptiness check and reductions behind a verdict.

    Parameters
    ----------
    automaton : str or None
        "BA", "TGBA", "TGRA", "TFLA" or "TELA"; None where no property is checked.
    emptiness : str or None
        Name of the emptiness check; None where the product was searched in plain
        Python, or before the automaton, on which the choice depends, is known.
    reductions : tuple of str
        In the order of their application.
    reasons : tuple of str
        One sentence per choice.
    weak : bool or None
        Whether the property automaton is weak and the system brings no
        acceptance; None while it is not known.
    merges : tuple of str
        Lines that draw how components were composed, for ``--explain``.
    strategy : str or None
        The strategy that answered, or that came furthest.
    tried : tuple of Tried
        The outcome of each strategy.
    """

    automaton: str | None
    emptiness: str | None
    reductions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = field(default=(), compare=False)
    weak: bool | None = None
    merges: tuple[str, ...] = field(default=(), compare=False, repr=False)
    strategy: str | None = None
    tried: tuple[Tried, ...] = field(default=(), compare=False, repr=False)

    def reduced_by(self, name: str, reason: str) -> Plan:
        """Return the plan with a further reduction, and the reason for it."""
        return replace(
            self, reductions=(*self.reductions, name), reasons=(*self.reasons, reason)
        )

    def searched_by(self, emptiness: str, why: str) -> Plan:
        """Return the plan with a search, unless the user has named one."""
        if self.emptiness is not None:
            return self
        reasons = f"{emptiness}, because {why}", *self.reasons
        return replace(self, emptiness=emptiness, reasons=reasons)

    def spelled(self) -> Plan:
        """Return the plan as its reader names parameters."""
        return replace(
            self,
            reasons=tuple(map(spelled, self.reasons)),
            tried=tuple(
                t if t.reason is None else t._replace(reason=spelled(t.reason))
                for t in self.tried
            ),
        )


class Tried(NamedTuple):
    """The outcome of one strategy.

    Parameters
    ----------
    strategy : str
        Its name.
    outcome : str
        "answered", "dropped out", "set aside" (it was still at work when another
        answered, or when a limit was hit), or "not tried".
    seconds : float
        How long it was at work.
    reason : str or None
        Why it dropped out, or why it was not tried.
    """

    strategy: str
    outcome: str
    seconds: float
    reason: str | None

    def __str__(self) -> str:
        """Return one line of text.

        Examples
        --------
        >>> print(Tried("instant", "dropped out", 0.123, "more than 5,000 states"))
        instant: dropped out after 0.12 s: more than 5,000 states
        """
        spent = "" if self.outcome == "not tried" else f" after {self.seconds:.2f} s"
        why = f": {self.reason}" if self.reason else ""
        return f"{self.strategy}: {self.outcome}{spent}{why}"


@dataclass(frozen=True, eq=False)
class Statistics(ByValue):
    """Time, memory and states of a check; None is unknown.

    Parameters
    ----------
    states : int
        Product states that the search has entered.
    transitions : int
        Transitions generated, those generated again counted again.
    max_depth : int
        Longest path on the search's stack, in states.
    seconds : float
        Wall-clock time of the whole check, without compiling and loading.
    compile_seconds : float
        Time in which nothing was left to do but to wait for kernels.
    load_seconds : float
        Time in which modules and machine code were loaded.
    cpu_seconds : float
        CPU time of this process and of its workers.
    memory_mib : float
        The most that was held at a time, in MiB.
    automaton_states : int
        States of the property automaton.
    acceptance : str
        Its acceptance condition.
    translation_seconds, search_seconds, lasso_seconds : float
        Parts of `seconds`.
    bytes_per_state : float
        Bytes of the search's arrays per entered state.
    colour_bytes_per_state : float
        What the emptiness check itself keeps for each state, in bytes: its bits
        of colour or its numbers, without the state's row, hash slot and stacks.
    coverage : float or None
        Estimated share of the reachable states that a bitstate search has visited;
        None where that cannot be estimated, and where states are stored.
    sample : str or None
        Of bitstate searches: what each has seen, for `ltlpipe.joint_coverage`.
    details : dict
        What only this emptiness check counts.  Of bitstate searches or fingerprints
        `omitted`, the states met that were taken for visited, probably, and `swarm`,
        the figures of each of several.  `spilled_mib` is what the table takes in files,
        which `memory_mib` and `bytes_per_state` leave out.
    """

    states: int | None = None
    transitions: int | None = None
    max_depth: int | None = None
    seconds: float = 0.0
    memory_mib: float | None = None
    automaton_states: int | None = None
    acceptance: str | None = None
    translation_seconds: float | None = None
    search_seconds: float | None = None
    lasso_seconds: float | None = None
    bytes_per_state: float | None = None
    colour_bytes_per_state: float | None = None
    coverage: float | None = None
    sample: str | None = field(default=None, repr=False)
    details: dict[str, Any] = field(default_factory=dict)
    compile_seconds: float = 0.0
    load_seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def omitted(self) -> float | None:
        """States that a search has taken for visited and was not, probably.

        None for searches that miss none.
        """
        omitted: float | None = self.details.get("omitted")
        return omitted

    @property
    def omission_probability(self) -> float | None:
        """The probability that a search that may miss states has missed any."""
        return None if self.omitted is None else -math.expm1(-self.omitted)

    def by(self, clock: Clock) -> Statistics:
        """Return these with the times of the whole check."""
        names = "seconds", "compile_seconds", "load_seconds", "cpu_seconds"
        times = {name: getattr(clock, name) for name in names}
        return replace(self, memory_mib=clock.peak_bytes / MIB, **times)


class Answer(NamedTuple):
    """The answer of a strategy."""

    kind: str  # `EMPTY`, `FOUND`, `NOT_APPLICABLE` or `INCONCLUSIVE`
    reason: str | None = None  # of the last two: a text; or the limit that was hit
    run: Run | None = None  # of the question's system, if found and wanted
    is_shortest: bool = False  # no lasso of the product has fewer steps
    unfolded: bool = False  # it is about the unfolded net of a symmetric one
    in_place: bool = False  # no product has been built for it


@dataclass
class Trace:
    """The record of a strategy so far, kept up to date by it."""

    plan: Plan  # as far as it is known
    stats: Statistics = field(default_factory=Statistics)  # those of its search
    has_found: bool = False  # a violation is known, maybe without its run
    is_certain: bool = True  # whether what its search finds is a violation
    share: float = 1.0  # of turns that it asks for: more once the work left is bounded

    def note(self, **figures: Any) -> None:
        """Add figures to the statistics."""
        self.stats = replace(self.stats, **figures)

    def timed(self, name: str, job: Job[Result]) -> Job[Result]:
        """Add the seconds of a job to those of a phase, such as "search_seconds"."""
        return timed(job, partial(self._add_seconds, name))

    def leading(self, job: Job[Result], share: float, most_work: float) -> Job[Result]:
        """Advance a job that asks for a share of turns until it has done some work."""
        left, self.share = most_work, share

        def turn(progress: Progress) -> Job[Grant]:
            nonlocal left
            left -= progress.work
            self.share = share if left > 0 else 1.0
            return (yield progress)

        return guided(job, turn)

    def _add_seconds(self, name: str, seconds: float) -> None:
        self.note(**{name: (getattr(self.stats, name) or 0.0) + seconds})
