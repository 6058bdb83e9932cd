"""All transitions of a product, recorded: a graph over the states of a store.

A search that has found nothing has stored every state that can be reached.  One pass
over them generates the successors once more, looks them up and writes them down.

Cost: a look at every transition, 8 bytes for each and 8 for each state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, INT64, UINT32, Layout
from ltlpipe.search.product import is_full, visit_successors
from ltlpipe.search.registers import Reg, Status


class Arrays(NamedTuple):
    """The arrays of a recording: n states, m transitions."""

    ends: np.ndarray  # int64[n], where the transitions of each state end
    dst: np.ndarray  # int32[m], where they lead
    marks: np.ndarray  # uint32[m]


@njit
def recording_step(expand, product, store, registers, arrays, budget):
    """Record the transitions of at most `budget` >= 1 states, in their order.

    `registers` (int64[N_REGISTERS]; TOP counts the transitions) and the arrays are
    changed in place.  Returns a Status, EMPTY when all states have been expanded.
    """
    most = product.ids.shape[0]
    while budget > 0:
        state = registers[Reg.VISITED]
        if state == registers[Reg.STORED]:
            return Status.EMPTY
        at = registers[Reg.TOP]
        if at + most > arrays.dst.shape[0] or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        n = visit_successors(expand, product, store, registers, state, arrays.ends, 0)
        for i in range(n):
            arrays.dst[at + i] = product.ids[i]
            arrays.marks[at + i] = product.marks[i]
        arrays.ends[state] = at + n
        registers[Reg.TOP] = at + n
        registers[Reg.VISITED] = state + 1
        budget -= 1
    return Status.RUNNING


class Recording(Search):
    """A recording of a product in progress; it looks for no run."""

    name = "recording"
    generalised = True
    emerson_lei = True
    kernel = staticmethod(recording_step)

    array_type = Arrays
    arrays: Arrays

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"ends": INT64},
            Reg.TOP: {"dst": INT32, "marks": UINT32},
        }

    def _begin(self) -> None:
        """Do nothing: all that is stored waits."""

    @property
    def n_transitions(self) -> int:
        """Transitions recorded so far."""
        return int(self.registers[Reg.TOP])

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(np.arange(self.n_stored) < self.registers[Reg.VISITED])

    def assert_consistent(self) -> None:
        """Check that the ends ascend, and that transitions lead to stored states."""
        ends = self.arrays.ends[: self.registers[Reg.VISITED]]
        assert (np.diff(ends) >= 0).all()
        assert not len(ends) or ends[-1] == self.n_transitions
        dst = self.arrays.dst[: self.n_transitions]
        assert not len(dst) or 0 <= dst.min() <= dst.max() < self.n_stored
