"""The stack that a blue and a red search share, and what is read off it.

It holds, from the bottom, for each state on the path a frame marker, followed
by those of its successors that still wait; a red search lies above
`Reg.RED_BASE`.  ``post(s)`` is computed once per visit.  Successors of which the
search need not know more than it does now are judged at once, and only those
that may have to be entered wait: the order of ``post`` is "known states first".
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import FIRST_ENTRIES
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import Setting, property_state, stutter
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso


@inlined
def marker(state, accepting):
    """Return the stack entry (negative) of the frame of a state."""
    return -1 - (2 * state + accepting)


@inlined
def push_frame(registers, arrays, entry):
    """Put a frame marker on the stack."""
    arrays.stack[registers[Reg.TOP]] = entry
    registers[Reg.TOP] += 1
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])


@inlined
def push_waiting(registers, arrays, state):
    """Let a successor wait for its turn."""
    arrays.stack[registers[Reg.TOP]] = state
    registers[Reg.TOP] += 1


@inlined
def pop_frame(registers):
    """Take a frame marker off the stack."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1


@inlined
def is_accepting(expand, product, row):
    """Decide whether the transitions that leave `row` carry all marks."""
    settings = product.settings
    full = np.uint32(settings[Setting.FULL])
    first = property_state(product, row) * settings[Setting.N_LETTERS]
    marks = product.edge_marks[product.first_edge[first]]
    if settings[Setting.SYSTEM_MARKS] > 0:
        stutter(expand, product, row)
        shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
        marks |= product.system_marks[0] << shift
    return marks & full == full


@njit
def accepts_row(expand, product, row):
    """Decide what `is_accepting` does, for callers outside of kernels."""
    return is_accepting(expand, product, row)


def new_stack(n_entries: int) -> np.ndarray:
    """Return int32[...], an empty stack with room for more than `n_entries`."""
    return np.zeros(n_entries + FIRST_ENTRIES, dtype=np.int32)


def stack_frames(stack: np.ndarray) -> np.ndarray:
    """Return int32[...], the states that have a frame marker, from the bottom."""
    return np.asarray((-1 - stack[stack < 0]) >> 1)


class PathSearch(Search):
    """A search that finds an accepting cycle closed at the top of its stack.

    Its `arrays` have a `stack` as the module describes it; after FOUND the
    frames are the path and ``registers[Reg.CLOSING]`` is the state of it to
    which the last one has a transition.
    """

    generalised = False

    def _begin(self) -> None:
        self.arrays.stack[0] = 0
        self.registers[Reg.TOP] = 1

    def _stacks(self) -> dict[str, tuple[int, float]]:
        return {"stack": (self._stack_room(), 4)}

    def _new_stack(self) -> np.ndarray:
        return new_stack(self._stack_room())

    @abstractmethod
    def _on_blue_stack(self) -> np.ndarray | None:
        """Return bool[n_stored], the states that say so; None if none does."""

    def frames(self, base: int | None = None) -> np.ndarray:
        """Return int32[depth], the states on the path, red ones last.

        With `base` only those below this stack entry.
        """
        top = self.registers[Reg.TOP] if base is None else base
        return stack_frames(self.arrays.stack[:top])

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND.

        The cycle is a shortest one through an accepting state of the cycle on
        the stack.
        """
        path = self.frames()
        start = int(np.flatnonzero(path == self.registers[Reg.CLOSING])[0])
        accepting = next(int(s) for s in path[start:] if self._accepts(int(s)))
        return (yield from PathFinder(self).lasso_through(accepting))

    def _accepts(self, state: int) -> bool:
        problem = self.problem
        row = self.store.rows[state]
        return bool(accepts_row(problem.expand, problem.product, row))

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {}

    def assert_consistent(self) -> None:
        """Check that exactly the states with a blue frame say so."""
        marked = self._on_blue_stack()
        if marked is None:
            return
        blue = self.frames(int(self.registers[Reg.RED_BASE]) or None)
        assert sorted(blue.tolist()) == np.flatnonzero(marked).tolist()
