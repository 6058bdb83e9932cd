"""Parts of the kernels of all searches by several workers."""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.atomics import load, store
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.registers import Reg
from ltlpipe.search.shared.table import Own


@inlined
def stopped(registers, status):
    """Have all workers return; return `status`."""
    store(registers, Reg.STOP, 1)
    return status


@inlined
def is_at_limit(registers):
    """Whether as many states have been entered as may be."""
    if registers[Reg.IS_LATER] != 0:
        return False
    return load(registers, Reg.VISITED) >= registers[Reg.MAX_STATES]


@inlined
def shuffle(own, product, n):
    """Put the successors of a state into an order of the worker's own."""
    bits = np.uint64(own[Own.SHUFFLE])
    for i in range(n - 1, 0, -1):
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        j = np.int64((bits >> np.uint64(33)) % np.uint64(i + 1))
        product.ids[i], product.ids[j] = product.ids[j], product.ids[i]
        product.marks[i], product.marks[j] = product.marks[j], product.marks[i]
    own[Own.SHUFFLE] = np.int64(bits)
