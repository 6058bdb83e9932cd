"""The maximal SCCs of a system, with neither lowlinks nor a stack of states.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 4.4: Fig. 5 without the test
for acceptance.

Differences from the source: ``remove`` is not called.  The numbers of an SCC that
is complete are an interval that ends with the highest number in use, but for
those that are dead already, and it is noted as dead
(`ltlpipe.search.scc.couvreur99`); so the number of its states is known without
looking at them.  The transitions inside an SCC are counted with its roots: a
transition to a live state closes a cycle, and one to an unknown state lies inside
iff its root is merged with the one before.

Cost: four bytes per state for its number; four bytes of stack per state on the path
and per waiting successor; 13 bytes per root, 8 per dead interval, and 17 per SCC for
the table; one look at every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.runtime.arguments import NUMBER, WHOLE, expect
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, Progress, StoppedError, run
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.search.driver import SEARCHING, advance
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, INT64, UINT8
from ltlpipe.search.problem import buffer_bytes, make_problem
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import REMOVED, bury, is_live_in
from ltlpipe.systems.networks.lts import require_network
from ltlpipe.systems.networks.packing import pack_network

if TYPE_CHECKING:
    import pandas as pd

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.growth import Layout
    from ltlpipe.systems.networks.lts import Network


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots, c SCCs."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 live or dead, or REMOVED
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    roots: np.ndarray  # int32[r], DFS number of the root
    inner: np.ndarray  # int64[r], transitions inside its SCC
    leaves: np.ndarray  # uint8[r], whether a transition leaves its SCC
    dead_first: np.ndarray  # int32[d], dead intervals of numbers, ascending
    dead_last: np.ndarray  # int32[d]
    sizes: np.ndarray  # int64[c], states of each complete SCC
    transitions: np.ndarray  # int64[c], transitions inside it
    exits: np.ndarray  # uint8[c], whether a transition leaves it


@inlined
def see(registers, arrays, number):
    """Note a transition to a known state (Fig. 5, lines 15-20)."""
    top = registers[Reg.N_ROOTS] - 1
    if number < 0 or not is_live_in(registers, arrays, number):
        arrays.leaves[top] = 1
        return
    inner = np.int64(1)
    leaves = np.uint8(0)
    while arrays.roots[top] > number:
        inner += arrays.inner[top] + 1  # and the transition that leads to it
        leaves |= arrays.leaves[top]
        top -= 1
    arrays.inner[top] += inner
    arrays.leaves[top] |= leaves
    registers[Reg.N_ROOTS] = top + 1


@inlined
def enter(expand, product, store, registers, arrays, state):
    """Enter an unknown state (Fig. 5, lines 9-12)."""
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    registers[Reg.VISITED] += 1
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    root = registers[Reg.N_ROOTS]
    arrays.roots[root] = registers[Reg.COUNT]
    arrays.inner[root] = 0
    arrays.leaves[root] = 0
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.MAX_ROOTS] = max(registers[Reg.MAX_ROOTS], root + 1)
    top = registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = np.int64(arrays.numbers[product.ids[i]])
        if number == 0:
            arrays.stack[top] = product.ids[i]
            top += 1
        else:
            see(registers, arrays, number)
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])


@inlined
def count_live(registers, arrays, number):
    """Return how many of the numbers from `number` to COUNT are live."""
    live = registers[Reg.COUNT] - number + 1
    at = registers[Reg.N_DEAD] - 1
    while at >= 0 and arrays.dead_first[at] >= number:
        live -= arrays.dead_last[at] - arrays.dead_first[at] + 1
        at -= 1
    return live


@inlined
def leave(registers, arrays, state):
    """End the frame of a state (Fig. 5, lines 21-23); a root completes its SCC."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    number = np.int64(arrays.numbers[state])
    root = registers[Reg.N_ROOTS] - 1
    if arrays.roots[root] != number:
        return
    scc = registers[Reg.N_SCCS]
    arrays.transitions[scc] = arrays.inner[root]
    arrays.exits[scc] = arrays.leaves[root]
    registers[Reg.N_SCCS] = scc + 1
    registers[Reg.N_ROOTS] = root
    if root > 0:  # the transition that led here leaves the SCC of the root before
        arrays.leaves[root - 1] = 1
    if registers[Reg.COUNT] == number:  # it is alone
        arrays.sizes[scc] = 1
        arrays.numbers[state] = REMOVED
        registers[Reg.COUNT] = number - 1
    else:
        arrays.sizes[scc] = count_live(registers, arrays, number)
        bury(registers, arrays, number)


@njit
def components_step(expand, product, store, registers, arrays, budget):
    """Advance the search for SCCs of Schwoon & Esparza 2005, Sec. 4.4.

    EMPTY when all SCCs are complete.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or registers[Reg.N_DEAD] == arrays.dead_first.shape[0]
            or registers[Reg.N_SCCS] == arrays.sizes.shape[0]
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        number = np.int64(arrays.numbers[entry])
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if number == 0:
            enter(expand, product, store, registers, arrays, entry)
            budget -= 1
        else:
            see(registers, arrays, number)
    return Status.RUNNING


class SCCs(Search):
    """The search for SCCs of Schwoon & Esparza 2005, Sec. 4.4, in progress."""

    name = "sccs"
    generalised = True
    counts: ClassVar = {"max_roots": Reg.MAX_ROOTS, "sccs": Reg.N_SCCS}
    kernel = staticmethod(components_step)

    array_type = Arrays
    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32},
            Reg.N_ROOTS: {"roots": INT32, "inner": INT64, "leaves": UINT8},
            Reg.N_DEAD: {"dead_first": INT32, "dead_last": INT32},
            Reg.N_SCCS: {"sizes": INT64, "transitions": INT64, "exits": UINT8},
        }

    def assert_consistent(self) -> None:
        """Check that every state entered is live or counted in a complete SCC."""
        complete = self.arrays.sizes[: self.registers[Reg.N_SCCS]].sum()
        n_dead = self.registers[Reg.N_DEAD]
        first, last = self.arrays.dead_first[:n_dead], self.arrays.dead_last[:n_dead]
        live = self.registers[Reg.COUNT] - (last - first + 1).sum()
        assert complete + live == self.registers[Reg.VISITED]


def sccs(
    system: Network,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
) -> pd.DataFrame:
    """Find the maximal strongly connected components of a system.

    Parameters
    ----------
    system : Network
        Its reachable states are taken apart.
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
    require_network(system, "enumerating SCCs")
    expect(NUMBER.or_none, timeout=timeout, memory=memory)
    expect(WHOLE.or_none, max_states=max_states)
    if memory is None:
        memory = default_memory_mib()
    job = scc_table(system, max_states=max_states)
    try:
        return run(job, Limits(timeout, memory, max_states))
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
    n = int(search.registers[Reg.N_SCCS])
    arrays = search.arrays
    return pd.DataFrame(
        {
            "scc": np.arange(n, dtype=np.int64),
            "states": arrays.sizes[:n].copy(),
            "transitions": arrays.transitions[:n].copy(),
            "bottom": arrays.exits[:n] == 0,
        }
    )
