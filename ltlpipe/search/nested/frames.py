"""The stack that a blue and a red search share, and what is read off it.

It holds, from the bottom, for each state on the path a frame marker, followed
by those of its successors that still wait; a red search lies above
`Reg.RED_BASE`.  ``post(s)`` is computed once per visit.  Successors of which the
search need not know more than it does now are judged at once, and only those
that may have to be entered wait: the order of ``post`` is "known states first".
"""

from __future__ import annotations

from abc import abstractmethod
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32
from ltlpipe.search.interning import rows_of
from ltlpipe.search.packed import planes_of, unpacked_flag
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import Setting, property_state, system_steps
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout


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
    """Decide whether the transitions that leave `row`, at least one, carry all marks.

    The marks of a state are those of its steps, whatever the kind of system: the state
    is expanded once more, which overwrites the product's buffers (not its `ids`).
    """
    settings = product.settings
    full = np.uint32(settings[Setting.FULL])
    first = property_state(product, row) * settings[Setting.N_LETTERS]
    marks = product.edge_marks[product.first_edge[first]]
    if settings[Setting.SYSTEM_MARKS] > 0:
        system_steps(expand, product, row)
        shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
        marks |= product.system_marks[0] << shift
    return marks & full == full


@njit
def accepts_row(expand, product, row):
    """Decide what `is_accepting` does, for callers outside of kernels."""
    return is_accepting(expand, product, row)


def stack_frames(stack: np.ndarray) -> np.ndarray:
    """Return int32[...], the states that have a frame marker, from the bottom."""
    return np.asarray((-1 - stack[stack < 0]) >> 1)


_ACCEPTS_WORK = 5.0  # microseconds of a call from Python, roughly


class PathSearch(Search):
    """A search that finds an accepting cycle closed at the top of its stack.

    Its `arrays` have a `stack` as the module describes it; after FOUND the
    frames are the path and ``registers[Reg.CLOSING]`` is the state of it to
    which the last one has a transition.
    """

    generalised = False

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
        ticks = Ticks(EXTRACTING, _ACCEPTS_WORK)
        for state in path[start:].tolist():
            if self._accepts(state):
                return (yield from PathFinder(self).lasso_through(state))
            if ticks.over():
                yield ticks.progress
        raise ReplayError(f"no state of the cycle that {self.name} has found accepts")

    def _accepts(self, state: int) -> bool:
        problem = self.problem
        (row,) = rows_of(self.store, np.array([state]))
        return bool(accepts_row(problem.expand, problem.product, row))

    def assert_consistent(self) -> None:
        """Check that exactly the states with a blue frame say so."""
        marked = self._on_blue_stack()
        if marked is None:
            return
        blue = self.frames(int(self.registers[Reg.RED_BASE]) or None)
        assert sorted(blue.tolist()) == np.flatnonzero(marked).tolist()


class Flag(IntEnum):
    """The bits of a state."""

    BLUE = 0  # entered by the blue search
    RED = 1  # entered by a red search; black in gmz04
    STACK = 2  # its blue search has not ended


class FlagArrays(NamedTuple):
    """The arrays of one search: room for n states with f flags, k stack entries."""

    planes: np.ndarray  # uint32[n / 32, f], one bit per state and flag
    stack: np.ndarray  # int32[k]


class FlagSearch(PathSearch):
    """A nested search that keeps the first few bits of `Flag` per state."""

    flags: ClassVar[Sequence[Flag]]

    array_type = FlagArrays
    arrays: FlagArrays

    def _layout(self) -> Layout:
        planes = planes_of(len(self.flags))
        return {Reg.STORED: {"planes": planes}, Reg.TOP: {"stack": INT32}}

    def flagged(self, flag: Flag) -> np.ndarray:
        """Return bool[n_stored], the states that have a flag."""
        return unpacked_flag(self.arrays.planes, flag, self.n_stored)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.flagged(Flag.BLUE) | self.flagged(Flag.RED))

    def _on_blue_stack(self) -> np.ndarray | None:
        return self.flagged(Flag.STACK) if Flag.STACK in self.flags else None
