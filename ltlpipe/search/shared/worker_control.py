"""Parts of the kernels of all searches by several workers."""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.atomics import compare_and_swap, load, store
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.registers import Reg
from ltlpipe.search.shared.table import Own

_SHARE = 128
_MOST_PERMITS = 1 << 12


@inlined
def stopped(registers, status):
    """Have all workers return; return `status`."""
    store(registers, Reg.STOP, 1)
    return status


@inlined
def is_at_limit(registers, own):
    """Whether the worker may enter no more states.

    It takes permits for as many as it can without leaving the others too few, so that
    workers seldom count in the same place; those that are left when a call ends are
    given back (`SharedSearch.step`).
    """
    while own[Own.PERMITS] == 0 and registers[Reg.IS_LATER] == 0:
        left = load(registers, Reg.PERMITS)
        if left <= 0:
            return True
        taken = min(left // _SHARE + 1, _MOST_PERMITS)
        if compare_and_swap(registers, Reg.PERMITS, left, left - taken):
            own[Own.PERMITS] = taken
    return False


@inlined
def is_at_work(registers, own):
    """Whether workers are to go on, and may expand more states in this call."""
    if load(registers, Reg.STOP) != 0:
        return False
    return own[Own.BUDGET] > 0 or load(registers, Reg.BUDGET) > 0


@inlined
def count_expansion(registers, own):
    """Take an expansion off what all workers together may make in this call.

    Who has more to do takes more, by some at a time like permits.
    """
    while own[Own.BUDGET] == 0:
        left = load(registers, Reg.BUDGET)
        if left <= 0:
            return  # another worker has taken the last; one more does not matter
        taken = min(left // _SHARE + 1, _MOST_PERMITS)
        if compare_and_swap(registers, Reg.BUDGET, left, left - taken):
            own[Own.BUDGET] = taken
    own[Own.BUDGET] -= 1


@inlined
def count_entry(registers, own):
    """Count a state that no worker had entered."""
    if registers[Reg.IS_LATER] != 0:
        own[Own.REENTERED] += 1
    else:
        own[Own.VISITED] += 1
        own[Own.PERMITS] -= 1


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
