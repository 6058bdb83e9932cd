"""Simple depth-first search for weak automata (``--emptiness dfs-weak``).

Decides whether a product with a weak property automaton has a reachable
accepting cycle, without a second search: all states of a cycle accept or none
does, so a cycle is accepting iff one of its states is, and every cycle is closed
on the stack before the search leaves it.

Also, with the same kernel, ``--emptiness reach-terminal``: in a terminal
automaton an accepting state accepts every infinite run of the system, so the
first one that is reached decides.  The product sees to that for all searches, which
is why only the check that the automaton is terminal is left of it: where the state
of the property is one of its ``ends``, the state repeats itself
(`ltlpipe.search.product.system_steps`).

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 5.1 (Fig. 3 without the red
search), after I. Cerna and R. Pelanek, "Relating Hierarchy of Temporal Properties
to Model Checking", MFCS 2003.

Differences from the source: the order of ``post`` is "known states first"
(`ltlpipe.search.nested.frames`).

Invariants, asserted by `assert_consistent`: a state is cyan iff it has a marker
on the stack.

Cost: two bits per state; four bytes of stack per state on the path and per
state that waits (`ltlpipe.search.sweeping`); one look at every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.nested.frames import marker, pop_frame, push_frame, push_waiting
from ltlpipe.search.nested.se05 import SE05
from ltlpipe.search.packed import Colour, colour_of, set_colour
from ltlpipe.search.product import at_limit, is_full, leaves_accepting
from ltlpipe.search.reduced import visit_first
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from ltlpipe.search.problem import Problem


@inlined
def enter(expand, product, store, registers, arrays, state):
    """Enter a white state (Fig. 3, lines 4-9) and stack its white successors."""
    set_colour(arrays.colours, state, Colour.CYAN)
    n = visit_first(
        expand, product, store, registers, state, arrays.colours, arrays.reduction
    )
    accepting = leaves_accepting(product, n)
    registers[Reg.VISITED] += 1
    push_frame(registers, arrays, marker(state, 0))
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        colour = colour_of(arrays.colours, dst)
        if colour == Colour.WHITE:
            push_waiting(registers, arrays, dst)
        elif accepting and colour == Colour.CYAN:
            registers[Reg.CLOSING] = dst
            status = Status.FOUND
    return status


@njit
def dfs_weak_step(expand, product, store, registers, arrays, budget):
    """Advance the simple DFS of Schwoon & Esparza 2005, Sec. 5.1.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the state of it to which the last one has a transition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if top > room or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            set_colour(arrays.colours, (-1 - entry) >> 1, Colour.BLUE)
            pop_frame(registers)
            continue
        white = colour_of(arrays.colours, entry) == Colour.WHITE
        if white and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if white:
            budget -= 1
            status = enter(expand, product, store, registers, arrays, entry)
            if status != Status.RUNNING:
                return status
    return Status.RUNNING


class DFSWeak(SE05):
    """The search of Schwoon & Esparza 2005, Sec. 5.1, in progress."""

    name = "dfs-weak"
    kernel = staticmethod(dfs_weak_step)

    @property
    def _stores_seeds(self) -> bool:
        return False  # no red search asks

    def __init__(self, problem: Problem) -> None:
        if not problem.weak:
            raise UnsupportedError(
                f"{self.name} takes weak automata, and this one is not weak: "
                "use --emptiness=couvreur99"
            )
        super().__init__(problem)


class ReachTerminal(DFSWeak):
    """Reachability of a universally accepting state, in progress."""

    name = "reach-terminal"

    def __init__(self, problem: Problem) -> None:
        if not problem.terminal:
            raise UnsupportedError(
                f"{self.name} takes terminal automata, and this one is not "
                "terminal: use --emptiness=couvreur99"
            )
        super().__init__(problem)
