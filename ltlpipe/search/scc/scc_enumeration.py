"""The maximal SCCs of a system, with neither lowlinks nor a stack of states.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 4.4: Fig. 5 without the test
for acceptance.

Differences from the source: ``remove`` is not called.  The numbers of an SCC that
is complete are an interval that ends with the highest number in use, but for
those that are dead already, and it is noted as dead; so the number of its states is
known without looking at them.  The transitions inside an SCC are counted with its
roots: a transition to a live state closes a cycle, and one to an unknown state lies
inside iff its root is merged with the one before.  The kernel is that of
`ltlpipe.search.scc.couvreur99` with the rule `Tally`.

Cost: four bytes per state for its number; four bytes of stack per state on the path
and per waiting successor; 21 bytes per root, 8 per dead interval, and 17 per SCC for
the table; one look at every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.runtime.arguments import NUMBER, WHOLE, expect
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, Progress, StoppedError, run
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.search.driver import SEARCHING, advance
from ltlpipe.search.growth import INT64, UINT8
from ltlpipe.search.problem import buffer_bytes, make_problem
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.couvreur99 import Couvreur99
from ltlpipe.search.scc.rules import Tally
from ltlpipe.systems.networks.lts import require_network
from ltlpipe.systems.networks.packing import pack_network

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.reading import SystemLike


class SCCs(Couvreur99):
    """The search for SCCs of Schwoon & Esparza 2005, Sec. 4.4, in progress."""

    name = "sccs"
    counts: ClassVar = {"max_roots": Reg.MAX_ROOTS, "sccs": Reg.N_SCCS}

    def _layout(self) -> Layout:
        layout = super()._layout()
        layout[Reg.N_ROOTS] |= {"tally.inner": INT64, "tally.leaves": UINT8}
        layout[Reg.N_SCCS] = {
            "tally.sizes": INT64,
            "tally.transitions": INT64,
            "tally.exits": UINT8,
        }
        return layout

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        return {**super()._rules(parts), "tally": Tally(**parts["tally"])}

    def _clauses(self) -> list[int]:
        return []  # no cycle ends the search

    def _sweep(self) -> Iterator[None]:
        return iter(())  # all transitions are counted

    def table(self) -> dict[str, np.ndarray]:
        """Return the columns of `sccs`, after EMPTY."""
        n, tally = int(self.registers[Reg.N_SCCS]), self.arrays.tally
        assert tally is not None
        return {
            "scc": np.arange(n, dtype=np.int64),
            "states": tally.sizes[:n].copy(),
            "transitions": tally.transitions[:n].copy(),
            "bottom": tally.exits[:n] == 0,
        }


def sccs(
    system: SystemLike,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
) -> pd.DataFrame:
    """Find the maximal strongly connected components of a system.

    Parameters
    ----------
    system : Network, path or paths
        A network, whose reachable states are taken apart, or its files.
    timeout, memory, max_states : optional
        Limits, as for `check`.

    Returns
    -------
    DataFrame
        One row per SCC, in the order in which they are complete: no transition
        leads from an SCC to a later one.  Columns: `scc`, its number from 0;
        `states`, its size; `transitions`, those inside it, so that it is trivial
        iff there are none; `bottom`, whether no transition leaves it.

    Raises
    ------
    LtlpipeError
        A limit was hit before all SCCs were complete.
    UnsupportedError
        `system` is no network, or a limit makes no sense.
    KeyboardInterrupt
        Ctrl-C was pressed.

    References
    ----------
    .. [1] S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
       Algorithms", TACAS 2005, Sec. 4.4.

    Examples
    --------
    >>> import ltlpipe
    >>> parts = [(0, "a", 1), (1, "b", 1), (1, "c", 2), (2, "d", 1)]
    >>> network = ltlpipe.Network([ltlpipe.LTS.from_transitions(parts)])
    >>> ltlpipe.sccs(network)
       scc  states  transitions  bottom
    0    0       2            3    True
    1    1       1            0   False
    """
    from ltlpipe.systems.reading import system_job  # not needed by kernels

    expect(NUMBER.or_none, timeout=timeout, memory=memory)
    expect(WHOLE.or_none, max_states=max_states)
    if memory is None:
        memory = default_memory_mib()
    limits = Limits(timeout, memory, max_states)
    try:
        network: Any = run(system_job(system), limits)
        require_network(network, "enumerating SCCs")
        return run(scc_table(network, max_states=max_states), limits)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise LtlpipeError(f"sccs: {stopped.reason} limit hit") from None


def scc_table(system: Network, *, max_states: int | None = None) -> Job[pd.DataFrame]:
    """Return the table of `sccs`; raises `LtlpipeError` if a limit is hit."""
    import pandas as pd

    automaton = universal()
    letters = np.zeros(len(system.actions), dtype=np.int32)
    packed = yield from pack_network(system, letters)
    needed = buffer_bytes(packed, automaton)
    grant = yield Progress(SEARCHING)
    if needed > grant.memory_bytes:
        raise LtlpipeError("sccs: memory limit hit before the first state")
    search = SCCs(make_problem(packed, automaton))
    outcome = yield from advance(search, max_states=max_states)
    if outcome.reason is not None:
        entered = int(search.registers[Reg.VISITED])
        raise LtlpipeError(f"sccs: {outcome.reason} limit hit at {entered:,} states")
    return pd.DataFrame(search.table())
