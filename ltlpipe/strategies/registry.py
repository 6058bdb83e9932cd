"""The strategies, in the order in which the portfolio begins them.

A new strategy is a job, a line here, and its rows among the conditions.
`instant` ends by itself.  `decoupled` is next: where it helps it needs some
milliseconds, where it cannot be used it costs less than `explicit` does to begin.  The
others come in the order in which they are worth their price: `subset`, whose first
check of few components takes milliseconds, before orbits.  `walks` begin when
`explicit` or `ample` has had a turn, and before much is composed; about large nets,
where they store nothing, before all that stores states (`in_order`).  Those that cannot
be used drop out soon.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import (
    AMPLE,
    AMPLE_SETS,
    AUTOMORPHISMS,
    COMPONENTS,
    COMPOSITION,
    DECOUPLING,
    EXPLICIT,
    FEW,
    INSTANT,
    ISOLATED,
    LINEAR,
    SUBSET,
    SYMMETRY,
    WALKS,
    obstacle,
)
from ltlpipe.systems.kinds import is_net, is_symmetric_net

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job


@dataclass(eq=False)
class Strategy:
    """One way to an answer.

    Parameters
    ----------
    name : str
        What --explain, the table and --reduce call it.
    job : callable
        Returns the job that answers a question, and keeps a trace up to date.  The job
        raises `NotApplicableError` if it turns out on the way that the strategy cannot
        be used, and UnsupportedError if the question is beyond it: tables too large, an
        acceptance that its search does not take.
    columns : tuple of str
        The conditions that apply to it (`ltlpipe.question.conditions`).
    supersedes : str, optional
        The strategy that it makes superfluous once its search has begun.
    needs_kernels : bool
        Whether it runs compiled kernels, which have to be loaded, or even compiled.
    takes_colours : bool
        Whether it reads a symmetric net as it is; the others see it unfolded.
    share : float
        How much longer its turns are than those of others: more where the work that is
        left is bounded, and not as large as the product may be.
    is_extra : bool
        Whether it begins beside as many as may be open, and takes no other's place.
    """

    name: str
    job: Callable[[Question, Trace], Job[Answer]]
    columns: tuple[str, ...]
    supersedes: str | None = None
    needs_kernels: bool = True
    takes_colours: bool = False
    share: float = 1.0
    is_extra: bool = False

    def is_named(self, options: Options) -> bool:
        """Whether the options ask for it by name, so that it must not be left out."""
        return options.asks_for(self.name)

    def obstacle(self, question: Question) -> str | None:
        """Return why it cannot be used, as far as that costs nothing to know."""
        return obstacle(question, *self.columns)


def job_in(
    module: str, function: str = "job"
) -> Callable[[Question, Trace], Job[Answer]]:
    """Return the job of a module of this package.

    The module is imported when it is asked: most questions need few strategies.
    """

    def job(question: Question, trace: Trace) -> Job[Answer]:
        found = getattr(import_module(f"ltlpipe.strategies.{module}"), function)
        answer: Job[Answer] = found(question, trace)
        return answer

    return job


STRATEGIES: tuple[Strategy, ...] = (
    Strategy(INSTANT, job_in("instant"), (INSTANT,), needs_kernels=False),
    Strategy(LINEAR, job_in("linear"), (LINEAR,), takes_colours=True),
    Strategy(DECOUPLING, job_in("decoupled"), (DECOUPLING,)),
    Strategy(EXPLICIT, job_in("explicit"), (EXPLICIT,)),
    Strategy(
        AMPLE,
        job_in("explicit", "job_with_ample_sets"),
        (AMPLE, AMPLE_SETS),
        supersedes=EXPLICIT,
    ),
    Strategy(
        SUBSET,
        job_in("subset"),
        (SUBSET, FEW, COMPOSITION),
        share=2.0,
        is_extra=True,
    ),
    Strategy(SYMMETRY, job_in("symmetry"), (SYMMETRY,), takes_colours=True),
    Strategy(WALKS, job_in("explicit", "job_of_walks"), (WALKS,)),
    Strategy(COMPONENTS, job_in("components"), (COMPONENTS, COMPOSITION), share=3.0),
    Strategy(
        AUTOMORPHISMS, job_in("symmetry", "job_of_automorphisms"), (AUTOMORPHISMS,)
    ),
    Strategy(
        ISOLATED,
        job_in("isolated"),
        (ISOLATED, FEW, COMPOSITION),
        share=2.0,
        is_extra=True,
    ),
)

_MANY_PLACES = 100
"""Of a net that walks begin with at once; of smaller ones much is stored soon."""


def in_order(strategies: Sequence[Strategy], question: Question) -> list[Strategy]:
    """Return strategies in the order in which they begin for a question."""
    if not is_of_places(question):
        return [*strategies]
    system: Any = question.system  # type: ignore[attr-defined]
    small = is_net(system) and len(system.places) < _MANY_PLACES
    soon = (INSTANT, EXPLICIT, LINEAR, *(() if small else (WALKS,)))
    last = len(soon)
    places = {name: place for place, name in enumerate(soon)}
    return sorted(strategies, key=lambda own: places.get(own.name, last))


def is_of_places(question: Question) -> bool:
    """Whether a question is about a net, maybe with colours."""
    system = getattr(question, "system", None)
    return is_net(system) or is_symmetric_net(system)


BY_NAME = {strategy.name: strategy for strategy in STRATEGIES}
