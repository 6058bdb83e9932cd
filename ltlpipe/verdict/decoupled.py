"""Decoupled search on the way to a verdict: which one, its answer, its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.reduction.alphabet import letters_of
from ltlpipe.search.catalogue import DECOUPLED
from ltlpipe.search.decoupled.decoupled_ndfs import DecoupledNDFS
from ltlpipe.search.decoupled.decoupled_scc import DecoupledSCC
from ltlpipe.search.decoupled.lassos import lasso
from ltlpipe.search.decoupled.monitors import counted, monitor_of
from ltlpipe.search.decoupled.tables import decouple
from ltlpipe.search.driver import MIB, Outcome, drive
from ltlpipe.search.emptiness import Interrupted
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.reduction.alphabet import Trimmed
    from ltlpipe.search.decoupled.lassos import NetworkLasso
    from ltlpipe.search.decoupled.monitors import Monitor
    from ltlpipe.search.driver import Interrupt, Limits, Progress

SCC, NDFS = DECOUPLED


class Asked(NamedTuple):
    """What a decoupled search is for.

    Parameters
    ----------
    trimmed : Trimmed
        Network, automaton, and the actions that its letters stand for.
    visible : list of int
        The letters that matter to the automaton.
    trivial : bool
        Whether only the acceptance of the components counts.
    together : bool
        Whether they accept in the same state.
    """

    trimmed: Trimmed
    visible: list[int]
    trivial: bool
    together: bool


class DecoupledRun:
    """One or two decoupled searches that answer a question.

    Parameters
    ----------
    asked : Asked
        The question.
    name : str
        One of `ltlpipe.search.catalogue.DECOUPLED`.
    seed : int, optional
        Shuffles the order of labels.

    Attributes
    ----------
    search : DecoupledSCC or DecoupledNDFS
        The last that has begun.
    """

    def __init__(self, asked: Asked, name: str, seed: int | None) -> None:
        self.network = asked.trimmed.network
        self.search: DecoupledSCC | DecoupledNDFS
        self._before: list[_Figures] = []  # of searches that could not decide
        self._asked = asked
        self._name = name
        self._seed = seed

    def drive(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Outcome:
        """Search until there is an answer, or a limit is hit."""
        outcome = Outcome(Status.RUNNING)
        left = limits
        for search in self._in_turn():
            self.search = search
            outcome = drive(search, left, interrupt=interrupt, progress=progress)
            doubts = isinstance(search, DecoupledSCC) and search.in_doubt
            if outcome.status != Status.EMPTY or not doubts:
                break
            left = limits.less(int(search.registers[Reg.VISITED]))
            self._before.append(_figures(search))
        return outcome

    def _in_turn(self) -> Iterator[DecoupledSCC | DecoupledNDFS]:
        """Yield the search, and the one that decides if it cannot."""
        if self._asked.trivial and self._asked.together and self._name == NDFS:
            yield DecoupledNDFS(decouple(self.network, seed=self._seed))
            return
        monitor = self._monitor()
        if self._name == SCC:
            yield DecoupledSCC(decouple(self.network, monitor, seed=self._seed))
        yield DecoupledNDFS(decouple(self.network, counted(monitor), seed=self._seed))

    def _monitor(self) -> Monitor:
        trimmed = self._asked.trimmed
        return monitor_of(
            trimmed.network,
            trimmed.table,
            letters_of(trimmed.network, trimmed.actions).tolist(),
            self._asked.visible,
            together=self._asked.together,
        )

    def statistics(self) -> dict[str, Any]:
        """Return what `Statistics` holds of all searches.

        One is over when the other begins, so that memory does not add up.
        """
        every = [*self._before, _figures(self.search)]
        details: dict[str, int] = {}
        for figures in every:
            for name, number in figures.details.items():
                details[name] = details.get(name, 0) + number
        return {
            "states": sum(figures.states for figures in every),
            "transitions": sum(figures.transitions for figures in every),
            "max_depth": max(figures.max_depth for figures in every),
            "memory_mib": max(figures.memory_mib for figures in every),
            "details": details,
        }

    def lasso(self, interrupt: Interrupt) -> NetworkLasso:
        """Return the run that was found.

        Raises
        ------
        Interrupted
            `interrupt` was pressed, or the run is too long to be written down.
        """

        def stop_in_time() -> None:
            if interrupt.pressed:
                raise Interrupted

        search = self.search
        return lasso(self.network, search.trace(), search.network, stop_in_time)


class _Figures(NamedTuple):
    """What one search has cost."""

    states: int
    transitions: int
    max_depth: int
    memory_mib: float
    details: dict[str, int]


def _figures(search: DecoupledSCC | DecoupledNDFS) -> _Figures:
    registers = search.registers
    return _Figures(
        states=int(registers[Reg.VISITED]),
        transitions=int(registers[Reg.TRANSITIONS]),
        max_depth=int(registers[Reg.MAX_DEPTH]),
        memory_mib=search.memory_bytes / MIB,
        details=search.statistics(),
    )
