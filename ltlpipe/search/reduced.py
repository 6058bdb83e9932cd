"""Expanding a state, by its ample set if the search uses them.

A search passes its `Reduction`, or None.  Kernels are compiled for each of the two
apart: one without ample sets holds none of their code.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2; for red searches also S. Schwoon and J. Esparza,
"A Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 6.

Difference from the source: with stubborn sets, a state whose ample sets all lead to the
stack need not take all of its steps (`choice_on_cycles`).

With several workers there are several stacks, which change meanwhile, so that not all
states of a cycle put the same steps off cannot be read off one.  Instead each product
state that a reduced state leads to has to be *dead* (in a complete SCC), or one that no
worker has entered yet.  A state that is expanded by `choice_on_cycles` counts below as
one that takes all steps.

Why each cycle has a state that is expanded by all steps.  Of each state the expansion
counts by whose worker it became a tombstone.  Suppose that all states of a cycle of
such expansions are reduced.  No step of it leads to a state that was dead when it was
looked at: from dead sets steps lead to dead sets, so the cycle's source would have been
dead, and it became a tombstone only later.  So each led to a state that no worker had
entered, and its source had been: the first entries ascend all around the cycle.  A.
Laarman and A. Wijs, "Partial-Order Reduction for Multi-Core LTL Model Checking", HVC
2014, LNCS 8855, pp. 267-283, have provisos for nested searches of several workers.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.por.component_sets import smallest
from ltlpipe.por.stubborn_sets import (
    choice_on_cycles,
    choose_again,
    effort_of_choices,
    first_choices,
    more_choices,
)
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.interning import intern, lookup, row_of, store_missing
from ltlpipe.search.product import (
    compose,
    find_all,
    system_steps,
    takes,
    visit_successors,
)
from ltlpipe.search.registers import EXAMINED_PER_TRANSITION, Reg
from ltlpipe.search.stacks import COLOUR_SHIFT, Colour, colour_of
from ltlpipe.search.store import copy_row
from ltlpipe.search.union_find import is_dead, is_new

_TRIAL = 1 << 10  # attempts before their success is looked at
TRIAL_EFFORT = 1 << 24  # actions that they look at, about 16 ms
_RARE = 32  # attempts per success from which on few are made


@inlined
def may_choose(registers, n_steps):
    """Whether to look for ample sets of a state, by the success so far.

    Any state may be expanded by all of its steps.  Where hardly any attempt
    succeeds, one state in eight is tried, to notice if that changes, and none while
    attempts have taken longer than generating the transitions.  Counts the attempts.
    """
    if n_steps < 2:
        return False
    attempts, examined = registers[Reg.ATTEMPTS], registers[Reg.EXAMINED]
    is_known = attempts >= _TRIAL or examined >= TRIAL_EFFORT
    if is_known and _RARE * registers[Reg.REDUCED] < attempts:
        most = EXAMINED_PER_TRANSITION * registers[Reg.TRANSITIONS]
        if registers[Reg.EXPANSIONS] & 7 != 0 or examined > most:
            return False
    registers[Reg.ATTEMPTS] += 1
    return True


@specialised
def look_up(others, product, store, registers, n, colours):
    """Write the ids of `n` successors, -1 where they are not stored.

    Several workers store them, as one cannot say otherwise whether others enter them.
    """
    rows, ids, hashes = product.rows, product.ids, product.hashes
    if others is None:
        lookup(store, registers, rows, n, ids, hashes, colours, COLOUR_SHIFT)
    else:
        intern(store, registers, rows, n, ids, hashes, others[0], 0)


@specialised
def settle(others, product, store, registers, n, best):
    """Store and count the successors that are taken; they have been looked up."""
    if others is None:
        rows, ids, hashes = product.rows, product.ids, product.hashes
        store_missing(store, registers, rows, n, ids, hashes)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    registers[Reg.REDUCED] += best >= 0
    return n


@inlined
def keep_only(product, tables, n, closure):
    """Move the successors by the steps of a closure to the front; return how many."""
    rows, ids, hashes = product.rows, product.ids, product.hashes
    kept = 0
    for i in range(n):
        if takes(tables, closure, product.row_actions[i]):
            if kept < i:
                copy_row(rows, i, rows, kept)
                product.marks[kept] = product.marks[i]
                product.row_actions[kept] = product.row_actions[i]
                ids[kept] = ids[i]
                hashes[kept] = hashes[i]
            kept += 1
    return kept


@specialised
def may_return(others, colours, state):
    """Whether a state, -1 if it is not stored, may lead back to the one expanded.

    It is on the blue stack; or, with several workers, it is neither in a complete SCC
    nor new.
    """
    if others is None:
        return state >= 0 and colour_of(colours, state) == Colour.CYAN
    _, nodes, sets = others
    return not is_new(nodes, sets, state) and not is_dead(nodes, state)


@inlined
def closes_cycle(others, product, tables, colours, n, closure):
    """Whether a step of a closure, or any if it is negative, may close a cycle."""
    for i in range(n):
        if takes(tables, closure, product.row_actions[i]) and may_return(
            others, colours, product.ids[i]
        ):
            return True
    return False


@njit
def visit_ample(expand, product, store, registers, state, colours, reduction):
    """Expand a state whose colour is cyan; cyan states are those of the stack.

    ``reduction.seeds`` takes the seed of the set that was taken, plus 1, or 0 where all
    steps are; it may be empty.  Returns n as `visit_successors` does.

    With ``reduction.others`` `registers` are a worker's, and colours are not looked at.
    """
    tables, seeds, others = reduction
    stubborn, actions = tables.stubborn, product.actions
    row = row_of(product, store, state)
    n_steps = system_steps(expand, product, row)
    left, best, free = 0, -1, True
    if may_choose(registers, n_steps):
        left = first_choices(tables, stubborn, row, actions, n_steps)
        best = smallest(tables, left)
        free = best < 0  # whether it may close cycles
        if free:
            best = choice_on_cycles(tables, stubborn, actions, n_steps)
    taken = best
    again = True
    while again:  # twice at most; a loop, so that it is compiled once
        n = compose(product, row, n_steps, tables, taken, 0)
        look_up(others, product, store, registers, n, colours)
        again = taken >= 0 and not free
        again = again and closes_cycle(others, product, tables, colours, n, -1)
        if again:  # look at all steps once, for the other candidates
            taken = -1
    if taken != best:  # the successors at hand are those of all steps
        left = more_choices(tables, stubborn, actions, n_steps, left)
        while best >= 0 and closes_cycle(others, product, tables, colours, n, best):
            tables.sizes[best] = 0
            best = smallest(tables, left)
        if best < 0:
            best = choice_on_cycles(tables, stubborn, actions, n_steps)
        if best >= 0:
            n = keep_only(product, tables, n, best)
    registers[Reg.EXAMINED] += effort_of_choices(stubborn)
    if seeds.shape[0] > 0:
        seeds[state] = 0 if best < 0 else tables.seeds[best] + 1
    return settle(others, product, store, registers, n, best)


@njit
def revisit_ample(expand, product, store, registers, state, colours, reduction):
    """Expand a state in the red search; -1 for states that are not stored."""
    tables, seeds, _ = reduction
    row = row_of(product, store, state)
    n_steps = system_steps(expand, product, row)
    closure = -1
    if seeds.shape[0] > 0 and seeds[state] > 0:  # else all steps are taken
        seed = np.int64(seeds[state]) - 1
        choose_again(tables, tables.stubborn, row, product.actions, n_steps, seed)
        closure = 0
    registers[Reg.EXAMINED] += effort_of_choices(tables.stubborn)
    n = compose(product, row, n_steps, tables, closure, 0)
    find_all(product, store, registers, n, colours, COLOUR_SHIFT)
    return n


@specialised
def visit_first(expand, product, store, registers, state, colours, reduction):
    """Generate the successors of a state that has just become cyan; return n.

    Those ids are in ``product.ids[:n]``, their marks in ``product.marks[:n]``.
    """
    if reduction is None:
        return visit_successors(
            expand, product, store, registers, state, colours, COLOUR_SHIFT
        )
    return visit_ample(expand, product, store, registers, state, colours, reduction)


@specialised
def visit_again(expand, product, store, registers, state, colours, reduction):
    """Generate the successors of a state in the red search; return n.

    With ample sets the id is -1 for those that the blue search left out.
    """
    if reduction is None:
        return visit_successors(
            expand, product, store, registers, state, colours, COLOUR_SHIFT
        )
    return revisit_ample(expand, product, store, registers, state, colours, reduction)
