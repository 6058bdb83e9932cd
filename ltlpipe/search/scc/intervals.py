"""Dead intervals of DFS numbers: SCCs that are complete, without their states.

The intervals ascend; between two of them lies the number of a live state.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.registers import Reg


@inlined
def is_live(dead_first, dead_last, n_dead, number):
    """Whether a DFS number belongs to a state of an SCC that is not complete."""
    high = n_dead
    if high == 0 or number > dead_last[high - 1]:
        return True
    low = 0  # the interval that begins last at or before the number is in low..high
    while low < high:
        middle = (low + high) >> 1
        if dead_first[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low == 0 or number > dead_last[low - 1]


@inlined
def bury(registers, arrays, number):
    """Note that all numbers from `number` to COUNT are dead."""
    dead_first, dead_last = arrays.dead_first, arrays.dead_last
    n_dead = registers[Reg.N_DEAD]
    while n_dead > 0 and dead_last[n_dead - 1] >= number - 1:
        n_dead -= 1
        number = min(number, np.int64(dead_first[n_dead]))
    dead_first[n_dead] = number
    dead_last[n_dead] = registers[Reg.COUNT]
    registers[Reg.N_DEAD] = n_dead + 1
