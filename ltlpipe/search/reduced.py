"""Expanding a state by its ample set.

Each function takes the place of `ltlpipe.search.product.visit_successors`.  They
are calls, not inlined: a search without reduction should not pay for their code.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2; for red searches also S. Schwoon and J. Esparza,
"A Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 6.
"""

from __future__ import annotations

from ltlpipe._jit import inlined, njit
from ltlpipe.search.ample import Inner, close_seed, find_candidates, smallest
from ltlpipe.search.nested.colours import (
    COLOUR_SHIFT,
    PLANE_SHIFT,
    Colour,
    colour_of,
    has_flag,
)
from ltlpipe.search.product import Setting, compose, find_all, system_steps, visit_known
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import intern, lookup


@inlined
def candidates(product, row, n_steps):
    """Find the ample sets that a state may have, the stack apart; return how many."""
    if n_steps < 2:
        return 0
    return find_candidates(product.ample, row, product.actions, n_steps)


@inlined
def look_up(product, store, registers, n, companion, shift):
    """Write the ids of `n` successors, -1 where they are not stored."""
    lookup(
        store,
        registers,
        product.rows,
        n,
        product.ids,
        product.hashes,
        companion,
        shift,
    )


@inlined
def settle(product, store, registers, n, best, companion, shift):
    """Store and count the successors that are taken."""
    intern(
        store,
        registers,
        product.rows,
        n,
        product.ids,
        product.hashes,
        companion,
        shift,
    )
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    registers[Reg.REDUCED] += best >= 0


@njit
def visit_ample_cyan(expand, product, store, registers, state, colours, seeds):
    """Expand a state whose colour is cyan; cyan states are those of the stack.

    `seeds` uint16[n] takes the component whose closure was taken, plus 1, or 0
    where all steps are; it may be empty.  Returns n as `visit_successors` does.
    """
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    n_candidates = candidates(product, row, n_steps)
    ids = product.ids
    while True:
        best = smallest(product.ample, n_candidates)
        n = compose(product, row, n_steps, best)
        if best < 0:
            break
        look_up(product, store, registers, n, colours, COLOUR_SHIFT)
        closes = False
        for i in range(n):
            if ids[i] >= 0 and colour_of(colours, ids[i]) == Colour.CYAN:
                closes = True
                break
        if not closes:
            break
        product.ample.sizes[best] = 0
    if seeds.shape[0] > 0:
        seeds[state] = 0 if best < 0 else product.ample.seeds[best] + 1
    settle(product, store, registers, n, best, colours, COLOUR_SHIFT)
    return n


@njit
def visit_ample_path(expand, product, store, registers, state, numbers, path):
    """Expand a state that is flagged in `path`, as all states of the stack are.

    path uint32[n / 32, 1]; numbers int32[n] is what the caller looks at next.
    Returns n as `visit_successors` does.
    """
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    n_candidates = candidates(product, row, n_steps)
    ids = product.ids
    while True:
        best = smallest(product.ample, n_candidates)
        n = compose(product, row, n_steps, best)
        if best < 0:
            break
        look_up(product, store, registers, n, path, PLANE_SHIFT)
        closes = False
        for i in range(n):
            if ids[i] >= 0 and has_flag(path, ids[i], 0):
                closes = True
                break
        if not closes:
            break
        product.ample.sizes[best] = 0
    settle(product, store, registers, n, best, numbers, 0)
    return n


@njit
def visit_again(expand, product, store, registers, state, colours, seeds):
    """Expand a state in the red search; -1 for states that are not stored."""
    if product.settings[Setting.AMPLE] == Inner.FULL:
        return visit_known(
            expand, product, store, registers, state, colours, COLOUR_SHIFT
        )
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    closure = -1
    if seeds[state] > 0:
        close_seed(product.ample, row, seeds[state] - 1)
        closure = 0
    n = compose(product, row, n_steps, closure)
    find_all(product, store, registers, n, colours, COLOUR_SHIFT)
    return n
