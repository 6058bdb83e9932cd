"""The decoupled composition, explored depth first with dominance pruning.

Visits decoupled states until every decoupled state that the initial one reaches is
dominated by a visited one; their members are then exactly the reachable states of the
composition (Theorem 1).

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3 and the DFS of Fig. 7
without its lines on acceptance.

Differences from the source: none; successors are in the order of the labels.

Invariants, asserted by `assert_consistent`: those of `dominance`; each state on the
stack is below its successor by the label before its cursor, or is the last.

Cost: two stack entries of 4 bytes per state on the path; see `tables` and `dominance`
for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe._jit import inlined, njit
from ltlpipe.search.decoupled.dominance import (
    VisitedSets,
    add_row,
    find_dominating,
    has_room,
)
from ltlpipe.search.emptiness import (
    FIRST_ENTRIES,
    MAX_STATES,
    OutOfMemoryError,
    total_bytes,
)
from ltlpipe.search.product import at_limit
from ltlpipe.search.registers import N_REGISTERS, Reg, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.search.decoupled.tables import DecoupledNetwork
    from ltlpipe.search.driver import Limits

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_U58 = np.uint64(58)
_ONE = np.uint64(1)


def _places_of_bits() -> np.ndarray:
    """Return int64[64]: from the top six bits of 2**k times the constant to k."""
    places = np.zeros(64, dtype=np.int64)
    for k in range(64):
        places[(int(_DE_BRUIJN) << k) % (1 << 64) >> 58] = k
    return places


_PLACES = _places_of_bits()


@inlined
def lowest_bit(word):
    """Return the place of the lowest bit of a word that is not 0."""
    return _PLACES[np.int64(((word & (~word + _ONE)) * _DE_BRUIJN) >> _U58)]


@inlined
def is_enabled(tables, rows, i, label):
    """Whether every participant has, in ``rows[i]``, a state with the label."""
    for part in range(tables.first_part[label], tables.first_part[label + 1]):
        component = tables.component[part]
        first = tables.first_word[component]
        first_source = tables.first_source[part]
        some = False
        for w in range(tables.n_words[component]):
            if rows[i, first + w] & tables.sources[first_source + w] != 0:
                some = True
                break
        if not some:
            return False
    return True


@inlined
def write_successor(tables, rows, i, label, out, j):
    """Write to ``out[j]`` where an enabled label leads from ``rows[i]`` (Def. 3)."""
    for w in range(rows.shape[1]):
        out[j, w] = rows[i, w]
    sets = tables.sets
    image = tables.image
    for part in range(tables.first_part[label], tables.first_part[label + 1]):
        component = tables.component[part]
        first = tables.first_word[component]
        n_words = tables.n_words[component]
        first_source = tables.first_source[part]
        first_image = tables.first_image[part]
        keep = ~tables.mask[component]
        for w in range(n_words):
            out[j, first + w] &= keep
        for w in range(n_words):
            states = rows[i, first + w] & tables.sources[first_source + w]
            while states != 0:
                place = image[first_image + 64 * w + lowest_bit(states)]
                states &= states - _ONE
                for v in range(n_words):
                    out[j, first + v] |= sets[place + v]


class Path(NamedTuple):
    """The stack of a depth-first search, d entries, and room for a new row."""

    states: np.ndarray  # int32[d], the visited states on the path
    cursor: np.ndarray  # int32[d], the next label of each
    fresh: np.ndarray  # uint64[1, n_words], the successor that is looked at


def lengthen(stacks: Sequence[np.ndarray], depth: int, free_bytes: float) -> None:
    """Make stacks of equal length longer by half if `depth` entries fill them.

    Raises
    ------
    OutOfMemoryError
        That takes more than `free_bytes`.
    """
    length = stacks[0].shape[0]
    if depth < length:
        return
    added = length // 2
    if added * sum(array.itemsize for array in stacks) > free_bytes:
        raise OutOfMemoryError
    for array in stacks:
        array.resize(length + added, refcheck=False)


@njit
def explore_step(tables, visited, known, registers, path, budget):
    """Advance the search by at most `budget` >= 1 labels.

    visited (Visited) with its registers `known`, `registers` of the search and `path`
    are changed in place.  Returns a Status, EMPTY when all has been explored.
    """
    n_labels = tables.first_part.shape[0] - 1
    rows = visited.store.rows
    states = path.states
    cursor = path.cursor
    fresh = path.fresh
    while budget > 0:
        depth = registers[Reg.DEPTH]
        if depth == 0:
            return Status.EMPTY
        if depth == states.shape[0] or not has_room(visited, known):
            return Status.GROW  # before any write: the call can be repeated
        src = np.int64(states[depth - 1])
        label = np.int64(cursor[depth - 1])
        if label == n_labels:
            registers[Reg.DEPTH] = depth - 1
            continue
        budget -= 1
        if not is_enabled(tables, rows, src, label):
            cursor[depth - 1] = label + 1
            continue
        write_successor(tables, rows, src, label, fresh, 0)
        if find_dominating(visited, known, fresh, 0) < 0:
            if at_limit(registers):
                return Status.LIMIT
            dst = add_row(visited, known, fresh, 0)
            registers[Reg.VISITED] += 1
            states[depth] = dst
            cursor[depth] = 0
            registers[Reg.DEPTH] = depth + 1
            registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], depth + 1)
        registers[Reg.TRANSITIONS] += 1
        cursor[depth - 1] = label + 1
    return Status.RUNNING


@njit
def add_first(visited, known, rows):
    """Add ``rows[0]`` to visited states that are none so far."""
    add_row(visited, known, rows, 0)


class Exploration:
    """The decoupled states of a network, as `ltlpipe.search.driver.drive` takes it.

    Parameters
    ----------
    network : DecoupledNetwork
        It is not changed.

    Attributes
    ----------
    registers : int64[N_REGISTERS]
        See `ltlpipe.search.registers.Reg`.
    visited : VisitedSets
        The decoupled states that have been visited, in this order.
    """

    def __init__(self, network: DecoupledNetwork) -> None:
        n_words = len(network.initial)
        self.network = network
        self.limits: Limits | None = None
        self.registers = np.zeros(N_REGISTERS, dtype=np.int64)
        self.registers[Reg.MAX_STATES] = MAX_STATES
        self.visited = VisitedSets(n_words)
        self.path = Path(
            states=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            fresh=network.initial[np.newaxis].copy(),
        )
        add_first(self.visited.arrays, self.visited.registers, self.path.fresh)
        for register in (Reg.DEPTH, Reg.MAX_DEPTH, Reg.VISITED):
            self.registers[register] = 1

    def step(self, budget: int) -> Status:
        """Look at the successors by at most `budget` labels."""
        return Status(
            explore_step(
                self.network.tables,
                self.visited.arrays,
                self.visited.registers,
                self.registers,
                self.path,
                budget,
            )
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of the search, room to grow included."""
        other = total_bytes((self.path, self.network.tables))
        return other + self.visited.memory_bytes

    def grow(self, limit_bytes: float) -> None:
        """Make room wherever the next state may lack it.

        Raises
        ------
        OutOfMemoryError
            The arrays would need more than `limit_bytes`, or the system refuses
            to give more.
        """
        try:
            depth = self.registers[Reg.DEPTH]
            lengthen(self.path[:2], depth, limit_bytes - self.memory_bytes)
            self.visited.grow(limit_bytes - self.memory_bytes)
        except MemoryError as error:
            raise OutOfMemoryError from error

    def statistics(self) -> dict[str, int]:
        """Return what was visited and what was pruned, and how it was found."""
        return {
            "decoupled_states": int(self.registers[Reg.VISITED]),
            "decoupled_transitions": int(self.registers[Reg.TRANSITIONS]),
            **self.visited.statistics(),
        }
