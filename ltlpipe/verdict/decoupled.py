"""Decoupled search on the way to a verdict: which one, its answer, its run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.reduction.alphabet import letters_of
from ltlpipe.runtime.jobs import MIB
from ltlpipe.search.catalogue import DECOUPLED_SCC
from ltlpipe.search.decoupled.construction import decouple
from ltlpipe.search.decoupled.decoupled_ndfs import DecoupledNDFS
from ltlpipe.search.decoupled.decoupled_scc import DecoupledSCC
from ltlpipe.search.decoupled.lassos import lasso
from ltlpipe.search.decoupled.monitors import counted, monitor_of
from ltlpipe.search.registers import Reg
from ltlpipe.verdict.limits import drive, finished

if TYPE_CHECKING:
    from ltlpipe.reduction.decoupling import Asked
    from ltlpipe.runtime.jobs import Interrupt, Job
    from ltlpipe.search.decoupled.lassos import NetworkLasso
    from ltlpipe.search.decoupled.monitors import Monitor
    from ltlpipe.search.decoupled.tables import DecoupledNetwork
    from ltlpipe.search.driver import Outcome
    from ltlpipe.verdict.limits import Limits, Progress
    from ltlpipe.verdict.options import Options


class DecoupledRun:
    """A decoupled search that answers a question.

    Parameters
    ----------
    asked : Asked
        The question.
    name : str
        One of `ltlpipe.search.catalogue.DECOUPLED`.
    options : Options
        The seed that shuffles labels, and whether the stack is looked at.
    limits : Limits
        Those of the tables.
    interrupt : Interrupt
        Ends the work when pressed.

    Attributes
    ----------
    search : DecoupledSCC or DecoupledNDFS
        Advanced by `drive`.
    """

    def __init__(
        self,
        asked: Asked,
        name: str,
        options: Options,
        limits: Limits,
        interrupt: Interrupt,
    ) -> None:
        self._seconds = 0.0
        stack_test = options.stack_test
        self.network = asked.trimmed.network

        def tables_of(monitor: Monitor | None = None) -> DecoupledNetwork:
            job = decouple(self.network, monitor, seed=options.seed)
            return finished(job, limits, interrupt)

        self.search: DecoupledSCC | DecoupledNDFS
        if name == DECOUPLED_SCC:
            self.search = DecoupledSCC(tables_of(_monitor(asked)))
        elif asked.trivial and asked.together:
            self.search = DecoupledNDFS(tables_of(), stack_test=stack_test)
        else:
            tables = tables_of(counted(_monitor(asked)))
            self.search = DecoupledNDFS(tables, stack_test=stack_test)

    def drive(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Outcome:
        """Search until there is an answer, or a limit is hit; then it can go on."""
        began = time.monotonic()
        outcome = drive(self.search, limits, interrupt=interrupt, progress=progress)
        self._seconds += time.monotonic() - began
        return outcome

    def statistics(self) -> dict[str, Any]:
        """Return what `Statistics` holds of the search."""
        registers = self.search.registers
        return {
            "states": int(registers[Reg.VISITED]),
            "transitions": int(registers[Reg.TRANSITIONS]),
            "max_depth": int(registers[Reg.MAX_DEPTH]),
            "search_seconds": self._seconds,
            "memory_mib": self.search.memory_bytes / MIB,
            "bytes_per_state": None,  # nor those of a search that came before
            "colour_bytes_per_state": None,
            "details": self.search.statistics(),
        }

    def lasso(self, limits: Limits, interrupt: Interrupt) -> NetworkLasso:
        """Return the run that was found, within limits.

        Raises
        ------
        StoppedError
            `interrupt` was pressed, or the run is too long to be written down.
        """
        limits = replace(limits, deadline=None)  # it was found in time
        search = self.search

        def extraction() -> Job[NetworkLasso]:
            trace = yield from search.trace()
            return (yield from lasso(self.network, trace, search.network))

        return finished(extraction(), limits, interrupt)


def _monitor(asked: Asked) -> Monitor:
    trimmed = asked.trimmed
    return monitor_of(
        trimmed.network,
        trimmed.table,
        letters_of(trimmed.network, trimmed.actions).tolist(),
        asked.visible,
        together=asked.together,
    )
