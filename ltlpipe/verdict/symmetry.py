"""Search in the symbolic product on the way to a verdict: the search, its run."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.reduction.alphabet import letters_of
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search.catalogue import AEC_CLOSED
from ltlpipe.search.driver import MIB, drive
from ltlpipe.search.powerset.runs import SetRuns
from ltlpipe.search.powerset.searching import PowersetSearch
from ltlpipe.search.registers import Reg
from ltlpipe.search.symmetric.sizes import product_bytes
from ltlpipe.search.symmetric.tables import symbolic_product
from ltlpipe.search.symmetric.underlying import Underlying, run_through
from ltlpipe.systems.packing import pack

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.search.driver import Interrupt, Limits, Outcome, Progress
    from ltlpipe.search.symmetric.underlying import Run
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
    memory_bytes : float
        What the tables of the product may take.

    Raises
    ------
    StoppedError
        They would take more; they have not been made.

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
        memory_bytes: float = math.inf,
    ) -> None:
        symmetry, table = asked.symmetry, asked.table
        letters = letters_of(symmetry.network, asked.actions)
        packed = pack(
            symmetry.network, letters, extra_values=table.n_states, seed=options.seed
        )
        if product_bytes(symmetry, packed, table) > memory_bytes:
            raise StoppedError("memory")
        stutter = options.stutters
        automaton = symbolic_product(
            symmetry, packed, table, letters, stutter=stutter, closes=name == AEC_CLOSED
        )
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

    def lasso(self, interrupt: Interrupt, memory_bytes: float) -> Run:
        """Return the run that was found; arrays and run may take so much memory.

        Raises
        ------
        Interrupted
            `interrupt` was pressed, or memory does not suffice.
        """
        runs = SetRuns(self.search, interrupt, memory_bytes)
        sets = runs.accepting()
        self._extraction_bytes = runs.extraction_bytes
        return run_through(
            self._underlying(), self.search, sets, interrupt, memory_bytes
        )
