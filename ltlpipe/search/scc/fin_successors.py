"""The states behind Fin transitions, from which a search goes on later.

They are the set *Fstates* of V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model
checking with generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324,
Algorithm 3.  A search that has `numbers` for states gives the number NOTED to an
unknown state that is put on the list, so it is put there once; it stays on the list
when it is entered after all, and is passed over in the end.

Difference from the source: the list is a stack, not a cyclic list; that one is for
several workers on the same pair.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.registers import Reg

NOTED = -2
"""The number of a state that is on the list and has not been entered."""


@inlined
def note(registers, arrays, state):
    """Put an unknown state on the list; a later pass meets all states without."""
    if arrays.numbers[state] == 0 and registers[Reg.IS_LATER] == 0:
        arrays.numbers[state] = NOTED
        arrays.fstates[registers[Reg.N_FSTATES]] = state
        registers[Reg.N_FSTATES] += 1


@inlined
def pick(registers, arrays):
    """Take a state off the list that has not been entered; -1 if there is none."""
    numbers, fstates = arrays.numbers, arrays.fstates
    n = registers[Reg.N_FSTATES]
    state = np.int64(-1)
    while n > 0 and state < 0:
        n -= 1
        if numbers[fstates[n]] == NOTED:
            state = np.int64(fstates[n])
    registers[Reg.N_FSTATES] = n
    return state
