"""Expanding a state by its ample set.

Each function takes the place of `ltlpipe.search.product.visit_successors`.  They
are calls, not inlined: a search without reduction should not pay for their code.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2; for red searches also S. Schwoon and J. Esparza,
"A Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 6.
"""

from __future__ import annotations

from ltlpipe._jit import inlined, njit
from ltlpipe.search.ample import (
    Inner,
    close_seed,
    find_candidates,
    meets,
    smallest,
)
from ltlpipe.search.nested.colours import (
    COLOUR_SHIFT,
    PLANE_SHIFT,
    Colour,
    colour_of,
    has_flag,
)
from ltlpipe.search.product import Setting, compose, find_all, system_steps, visit_known
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import lookup, store_missing

_TRIAL = 1 << 10  # attempts before their success is looked at
_RARE = 32  # attempts per success from which on few are made


@inlined
def is_worth_it(registers):
    """Whether an ample set shall be looked for.

    Any state may be expanded by all of its steps.  Where hardly any attempt
    succeeds, one state in eight is enough to notice if that changes.
    """
    attempts = registers[Reg.ATTEMPTS]
    return (
        attempts < _TRIAL
        or _RARE * registers[Reg.REDUCED] >= attempts
        or registers[Reg.EXPANSIONS] & 7 == 0
    )


@inlined
def candidates(product, registers, row, n_steps):
    """Find the ample sets that a state may have, the stack apart; return how many."""
    if n_steps < 2 or not is_worth_it(registers):
        return 0
    registers[Reg.ATTEMPTS] += 1
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
def settle(product, store, registers, n, best):
    """Store and count the successors that are taken; they have been looked up."""
    store_missing(store, registers, product.rows, n, product.ids, product.hashes)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    registers[Reg.REDUCED] += best >= 0
    return n


@inlined
def keep_only(product, n, closure):
    """Move the successors by the steps of a closure to the front; return how many."""
    tables = product.ample
    rows, ids, hashes = product.rows, product.ids, product.hashes
    kept = 0
    for i in range(n):
        if meets(tables.participants, product.row_actions[i], tables.closures, closure):
            if kept < i:
                for w in range(rows.shape[1]):
                    rows[kept, w] = rows[i, w]
                product.marks[kept] = product.marks[i]
                product.row_actions[kept] = product.row_actions[i]
                ids[kept] = ids[i]
                hashes[kept] = hashes[i]
            kept += 1
    return kept


@inlined
def is_cyan(colours, state):
    """Whether a state, -1 if it is not stored, is on the blue stack."""
    return state >= 0 and colour_of(colours, state) == Colour.CYAN


@inlined
def is_on_path(path, state):
    """Whether a state, -1 if it is not stored, is on the stack."""
    return state >= 0 and has_flag(path, state, 0)


@njit
def visit_ample_cyan(expand, product, store, registers, state, colours, seeds):
    """Expand a state whose colour is cyan; cyan states are those of the stack.

    `seeds` uint16[n] takes the component whose closure was taken, plus 1, or 0
    where all steps are; it may be empty.  Returns n as `visit_successors` does.
    """
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    left = candidates(product, registers, row, n_steps)
    tables, ids = product.ample, product.ids
    best = smallest(tables, left)
    n = compose(product, row, n_steps, best)
    look_up(product, store, registers, n, colours, COLOUR_SHIFT)
    clear = best >= 0
    for i in range(n if clear else 0):
        clear &= not is_cyan(colours, ids[i])
    if best >= 0 and not clear:  # look at all steps once, for the other candidates
        n = compose(product, row, n_steps, -1)
        look_up(product, store, registers, n, colours, COLOUR_SHIFT)
        while best >= 0 and not clear:
            tables.sizes[best] = 0
            best = smallest(tables, left)
            clear = best >= 0
            for i in range(n if clear else 0):
                if is_cyan(colours, ids[i]) and meets(
                    tables.participants, product.row_actions[i], tables.closures, best
                ):
                    clear = False
                    break
        if best >= 0:
            n = keep_only(product, n, best)
    if seeds.shape[0] > 0:
        seeds[state] = 0 if best < 0 else tables.seeds[best] + 1
    return settle(product, store, registers, n, best)


@njit
def visit_ample_path(expand, product, store, registers, state, path):
    """Expand a state that is flagged in `path`, as all states of the stack are.

    path uint32[n / 32, 1].  Returns n as `visit_successors` does.
    """
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    left = candidates(product, registers, row, n_steps)
    tables, ids = product.ample, product.ids
    best = smallest(tables, left)
    n = compose(product, row, n_steps, best)
    look_up(product, store, registers, n, path, PLANE_SHIFT)
    clear = best >= 0
    for i in range(n if clear else 0):
        clear &= not is_on_path(path, ids[i])
    if best >= 0 and not clear:  # look at all steps once, for the other candidates
        n = compose(product, row, n_steps, -1)
        look_up(product, store, registers, n, path, PLANE_SHIFT)
        while best >= 0 and not clear:
            tables.sizes[best] = 0
            best = smallest(tables, left)
            clear = best >= 0
            for i in range(n if clear else 0):
                if is_on_path(path, ids[i]) and meets(
                    tables.participants, product.row_actions[i], tables.closures, best
                ):
                    clear = False
                    break
        if best >= 0:
            n = keep_only(product, n, best)
    return settle(product, store, registers, n, best)


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
