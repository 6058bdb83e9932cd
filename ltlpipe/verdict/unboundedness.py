"""Searches of unbounded nets end: the product may be infinite.

A search that has worked for a while is held up now and then, for walks that look for a
run which can be repeated with more tokens each time (`ltlpipe.systems.nets.growth`).
Where there is one, the search goes on for some seconds, in which it may find a
violation, or find the product finite.  Then it ends, and people are told of that run.
With ``--max-states`` it goes on to that limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ltlpipe.runtime.errors import SystemWarning, UnsupportedError, warn
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.objects import Beside
from ltlpipe.systems.kinds import is_net, is_symmetric_net
from ltlpipe.verdict.verdict import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Grant, Job

Result = TypeVar("Result")

PATIENCE = 2e6
"""Units of work of a search after its net is known to be unbounded."""

_FIRST, _LEAST, _MOST = 100_000.0, 30_000.0, 1e6  # units before and of a look
_SHARE = 0.05  # of the work so far, of a look
_SOON = 20_000  # moves of a symmetric net that is unfolded for this


class _Known:
    """What is known of a net."""

    growth: str | None = None  # what to tell people of a run that can be repeated
    looks: int = 0


_KNOWN: Beside[_Known] = Beside(_Known)


def watched(
    job: Job[Result],
    system: Any,
    max_states: int | None,
    has_found: Callable[[], bool] = lambda: False,
) -> Job[Result]:
    """Advance the search of a system; end it if that is a net that is unbounded.

    Parameters
    ----------
    job : Job
        It is closed, whatever happens.
    system : Model, Network or SpotGraph
        What is searched.
    max_states : int, optional
        Where the search ends anyway.
    has_found : callable, optional
        Whether there is a violation, whose run is being extracted.

    Raises
    ------
    StoppedError
        It has ended so.
    """
    if max_states is not None or not (is_net(system) or is_symmetric_net(system)):
        return (yield from job)
    known = _KNOWN.of(system)
    work, due, left = 0.0, _FIRST, PATIENCE
    try:
        progress = next(job)
        while True:
            work += progress.work
            if known.growth is None and work >= due:
                allowed = min(max(_SHARE * work, _LEAST), _MOST)
                yield from _look(system, known, allowed)
                due = 2 * work
            elif known.growth is not None:
                left -= progress.work
                if left <= 0 and not has_found():
                    warn(known.growth, SystemWarning)
                    raise StoppedError(UNBOUNDED)
            grant: Grant = yield progress
            progress = job.send(grant)
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        job.close()


def _look(system: Any, known: _Known, work: float) -> Job[None]:
    """Walk through a net, otherwise than before."""
    if is_symmetric_net(system):
        if not (system.is_unfolded or system.n_actions <= _SOON):
            return
        try:
            net: Any = yield from system.unfolding()
        except UnsupportedError:
            return
    else:
        net = system
    yield from net.prepared()
    if None not in net.bounds.tokens:
        return
    from ltlpipe.systems.nets.growth import growth_of

    known.looks += 1
    found = yield from growth_of(net, work, seed=known.looks)
    known.growth = None if found is None else found.told(net)
