"""Successors in the decoupled composition, and what the searches in it share.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3.

Differences from the source: none; successors are in the order of the labels.

Cost: one look at the participants of a label, and one union of sets for each local
state that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.decoupled.dominance import VisitedSets
from ltlpipe.runtime.kernels.jit import inlined, trailing_zeros
from ltlpipe.search.driver import Resumable
from ltlpipe.search.growth import FIRST_ENTRIES
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.decoupled.tables import DecoupledNetwork

_ONE = np.uint64(1)
_UNION_WORK = 0.002  # microseconds per word of a set that is united with others


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
    """Write to ``out[j]`` where an enabled label leads from ``rows[i]`` (Def. 3).

    Returns the number of words of the sets that have been united.
    """
    united = 0
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
                place = image[first_image + 64 * w + trailing_zeros(states)]
                states &= states - _ONE
                for v in range(n_words):
                    out[j, first + v] |= sets[place + v]
                united += n_words
    return united


class Path(NamedTuple):
    """The stack of a depth-first search, d entries, and room for a new row."""

    states: np.ndarray  # int32[d], the visited states on the path
    cursor: np.ndarray  # int32[d], the next label of each
    fresh: np.ndarray  # uint64[1, n_words], the successor that is looked at


def new_path(n_words: int) -> Path:
    """Return an empty stack."""
    return Path(
        states=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        cursor=np.zeros(FIRST_ENTRIES, dtype=np.int32),
        fresh=np.zeros((1, n_words), dtype=np.uint64),
    )


class DecoupledSearch(Resumable):
    """A search of decoupled states, whose steps are labels followed from them.

    `visited` has the decoupled states so far; it begins in `start` (uint64[n_words]),
    or in the initial state.
    """

    unit_work = 0.5

    def __init__(
        self, network: DecoupledNetwork, start: np.ndarray | None = None
    ) -> None:
        super().__init__()
        self.network = network
        self.registers[Reg.VISITED] = 1
        self.visited = VisitedSets(len(network.initial))
        self.visited.add_first(network.initial if start is None else start)

    @property
    def work_per_step(self) -> float:
        """Microseconds that a label takes, roughly, by those followed so far."""
        known = self.visited.registers
        united = int(self.registers[Reg.UNITED]) + int(known[Reg.UNITED])
        return super().work_per_step + united / max(self.n_steps, 1) * _UNION_WORK

    def step(self, budget: int) -> Status:
        """Follow at most `budget` labels."""
        transitions = int(self.registers[Reg.TRANSITIONS])
        status = super().step(budget)
        # A call that spends its budget has looked at as many labels; one that ends
        # sooner has looked at those that led somewhere, at least.
        taken = int(self.registers[Reg.TRANSITIONS]) - transitions
        spent = status == Status.RUNNING
        self.registers[Reg.EXPANSIONS] += budget if spent else taken
        return status
