"""The ways to an answer, one after the other: short ones first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.verdict.interruptible import Decision
from ltlpipe.verdict.options import COMPONENTS, Options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.verdict.limits import Limits
    from ltlpipe.verdict.obstacles import Obstacles

SHORT_STATES = 20_000
"""States of a search that comes before components are reduced."""

SHORTEST = 2_000
"""States of a search that comes before a decoupled one of a system as it is."""

SHORT = "a short search was enough"

COMPOSED_BYTES = 1024
"""What a state of a composition takes at most: 64 transitions, and 64 members."""

SMALL_CAP = 10_000
SOME_STATES = 500_000
"""Limits of compositions, and of the search behind them, in a second attempt."""


FEW_SETS = 10_000
"""Sets of states that are searched before other ways are tried, unless asked for."""

SHORT_SECONDS = 2.0
"""What these other ways may take, or what the sets have taken if that is more."""


class Attempt(NamedTuple):
    """One way to an answer, which may end too early.

    Parameters
    ----------
    limits : Limits
        Of translation, reduction and search.
    components : Decision, optional
        Why components are left as they are; None if they are reduced.
    cap_states : int
        States that a composition may have.
    coupled : str, optional
        Why the search is not a decoupled one; None if it may be.
    """

    limits: Limits
    components: Decision | None
    cap_states: int = 0
    coupled: str | None = None


def attempts(
    options: Options, obstacles: Obstacles, named: str | None, limits: Limits
) -> Iterator[Attempt]:
    """Yield what is tried, until one attempt comes to an end; the last is whole.

    Most questions are answered before a reduction has begun, and many of the
    others before it has done all that it could.

    Parameters
    ----------
    options : Options
        What the user asks for.
    obstacles : Obstacles
        What is out of the question.
    named : str or None
        The emptiness check, if it is settled.
    limits : Limits
        Of the whole.

    Raises
    ------
    UnsupportedError
        What is asked for is out of the question.
    """
    obstacle = obstacles.to_components()
    coupled = obstacles.to_decoupling(named)
    few = at_most(SHORT_STATES, limits)
    cap = options.cap_states
    if limits.memory_mib is not None:
        cap = min(cap, max(1, int(limits.memory_bytes / COMPOSED_BYTES)))
    if obstacles.must_decouple and not options.insists_on(COMPONENTS):
        why = obstacle or "a decoupled search is asked for"
        yield Attempt(limits, Decision(False, why), coupled=coupled)
    elif obstacles.must_decouple:
        why_not = None if obstacle is None else Decision(False, obstacle)
        yield Attempt(limits, why_not, cap, coupled)
    elif obstacle is not None:
        as_they_are = Decision(False, obstacle)
        if coupled is None and obstacles.may_decouple():
            fewest = at_most(SHORTEST, limits)
            yield Attempt(fewest, as_they_are, coupled=SHORT)
        yield Attempt(limits, as_they_are, coupled=coupled)
    else:
        if not options.insists_on(COMPONENTS):
            yield Attempt(few, Decision(False, SHORT), coupled=SHORT)
        if cap > SMALL_CAP:
            yield Attempt(at_most(SOME_STATES, limits), None, SMALL_CAP, SHORT)
        yield Attempt(limits, None, cap, coupled)


def side_attempts(
    options: Options, obstacles: Obstacles, limits: Limits
) -> Iterator[Attempt]:
    """Yield what is tried while a search of sets, which is getting long, waits.

    Where components hide nearly all that they do, a search of sets goes through
    what a reduction would have left out: some short attempts tell.

    Parameters
    ----------
    options : Options
        What the user asks for; nothing but the property decides on reductions.
    obstacles : Obstacles
        What is out of the question.
    limits : Limits
        Of all attempts together.
    """
    small = replace(options, cap_states=min(options.cap_states, SMALL_CAP))
    yield from attempts(small, obstacles, None, at_most(SOME_STATES, limits))


def at_most(n_states: int, limits: Limits) -> Limits:
    """Return limits of an attempt that visits so many states."""
    return replace(limits, max_states=min(n_states, limits.max_states or n_states))
