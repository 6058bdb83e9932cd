"""Searches advanced to their end, as tests want it."""

from __future__ import annotations

from ltlpipe.runtime.jobs import Limits, StoppedError, complete, run
from ltlpipe.search.driver import Outcome, advance
from ltlpipe.search.registers import Reg, Status
from ltlpipe.verdict.replay import run_replayed

__all__ = ["Limits", "drive", "replay_run"]


def replay_run(network, lasso, **how):
    """Step a lasso through the components, without limits."""
    complete(run_replayed(network, lasso, **how))


def drive(search, limits=None, *, progress=None, **options):
    """Advance a search within limits; what stops it is the outcome's reason.

    `progress` is told the states and the depth after each call of the kernel.
    """
    limits = limits or Limits()

    def tell(_=None):
        if progress is not None:
            registers = search.registers
            progress(int(registers[Reg.VISITED]), int(registers[Reg.DEPTH]))

    job = advance(search, max_states=limits.max_states, **options)
    try:
        outcome = run(job, limits, observer=tell)
    except StoppedError as stopped:
        return Outcome(Status.RUNNING, stopped.reason)
    tell()
    return outcome
