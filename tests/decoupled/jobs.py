"""The jobs of decoupled searches, run to their ends."""

from __future__ import annotations

from ltlpipe.decoupled.construction import decouple
from ltlpipe.decoupled.lassos import lasso, shortest_trace
from ltlpipe.runtime.jobs import run


def decoupled_of(network, monitor=None, **options):
    """The tables of a network."""
    return run(decouple(network, monitor, **options))


def trace_of(decoupled, start, members):
    """A shortest trace to a composed state."""
    return run(shortest_trace(decoupled, start, members))


def extraction(network, search):
    """The job that extracts the run that a search has found."""
    trace = yield from search.trace()
    return (yield from lasso(network, trace, search.network))


def extracted(network, search):
    """The run that a search has found."""
    return run(extraction(network, search))
