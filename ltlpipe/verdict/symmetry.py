"""Search in the symbolic product on the way to a verdict: the search, its run."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.reduction.alphabet import letters_of
from ltlpipe.runtime.jobs import MIB
from ltlpipe.search.catalogue import AEC_CLOSED
from ltlpipe.search.powerset.runs import SetRuns
from ltlpipe.search.powerset.searching import PowersetSearch
from ltlpipe.search.registers import Reg
from ltlpipe.search.symmetric.concretise import Underlying, run_through
from ltlpipe.search.symmetric.tables import symbolic_product
from ltlpipe.systems.packing import pack
from ltlpipe.verdict.limits import drive, finished

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.search.driver import Outcome
    from ltlpipe.search.symmetric.concretise import Run
    from ltlpipe.verdict.limits import Limits, Progress
    from ltlpipe.verdict.options import Options


class AskedOfSets(NamedTuple):
    """What a search in the symbolic product is for.

    Parameters
    ----------
    symmetry : Symmetry
        Of the network that is searched.
    table : PropertyAutomaton
        What is searched for.
    actions : list of str
        Those that its letters stand for, from letter 1 on.
    """

    symmetry: Symmetry
    table: PropertyAutomaton
    actions: list[str]


class SymmetricRun:
    """A search in the symbolic product that answers a question.

    Parameters
    ----------
    asked : AskedOfSets
        The question.
    name : str
        One of `ltlpipe.search.catalogue.POWERSET`.
    options : Options
        The seed that shuffles steps, and what a deadlock does.
    limits : Limits, optional
        Those of the tables of the product.
    interrupt : Interrupt, optional
        Ends the work when pressed.

    Raises
    ------
    StoppedError
        A limit is hit.

    Attributes
    ----------
    search : PowersetSearch
        Advanced by `drive`.
    packed : PackedNetwork
        Of which the first words of a row are a state.
    """

    def __init__(
        self,
        asked: AskedOfSets,
        name: str,
        options: Options,
        limits: Limits | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        symmetry, table = asked.symmetry, asked.table
        letters = letters_of(symmetry.network, asked.actions)
        packed = pack(
            symmetry.network, letters, extra_values=table.n_states, seed=options.seed
        )
        stutter = options.stutters
        closes = name == AEC_CLOSED
        job = symbolic_product(
            symmetry, packed, table, letters, stutter=stutter, closes=closes
        )
        automaton = finished(job, limits, interrupt)
        self.search = PowersetSearch(automaton, name)
        self.packed = packed
        self._seconds = 0.0
        self._underlying = partial(
            Underlying, symmetry, packed, table, letters, stutter=stutter
        )
        self._extraction_bytes = 0

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
        search, registers = self.search, self.search.registers
        states = int(registers[Reg.VISITED])
        return {
            "states": states,
            "transitions": int(registers[Reg.TRANSITIONS]),
            "max_depth": int(registers[Reg.MAX_DEPTH]),
            "search_seconds": self._seconds,
            "memory_mib": (search.memory_bytes + self._extraction_bytes) / MIB,
            "bytes_per_state": search.memory_bytes / states if states else None,
            "colour_bytes_per_state": search.bytes_per_state,
            "details": search.statistics(),
        }

    def lasso(self, limits: Limits, interrupt: Interrupt) -> Run:
        """Return the run that was found; a limit may end that.

        Raises
        ------
        StoppedError
            `interrupt` was pressed, or memory does not suffice.
        """
        limits = replace(limits, deadline=None)  # it was found in time
        runs = SetRuns(self.search)
        sets = finished(runs.accepting(), limits, interrupt)
        self._extraction_bytes = runs.extraction_bytes
        job = run_through(self._underlying(), self.search, sets)
        return finished(job, limits, interrupt)
