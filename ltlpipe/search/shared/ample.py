"""Expanding a state by an ample set, with several workers.

The conditions on steps are those of `ltlpipe.por.component_sets`.  That not all states
of a cycle put the same steps off cannot be read off a stack, as there are several,
which change meanwhile.  Instead each product state that a reduced state leads to has to
be
*dead* (in a complete SCC), or one that no worker has entered yet.  A state that is
expanded by `choice_on_cycles` counts below as one that takes all steps.

Why each cycle has a state that is expanded by all steps.  Of each state the expansion
counts by whose worker it became a tombstone.  Suppose that all states of a cycle of
such expansions are reduced.  No step of it leads to a state that was dead when it was
looked at: from dead sets steps lead to dead sets, so the cycle's source would have been
dead, and it became a tombstone only later.  So each led to a state that no worker had
entered, and its source had been: the first entries ascend all around the cycle.

Source of the conditions: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
Automata, and Reduction", CAV 2020, Sec. 4.2.  A. Laarman and A. Wijs, "Partial-Order
Reduction for Multi-Core LTL Model Checking", HVC 2014, LNCS 8855, pp. 267-283, have
provisos for nested searches of several workers.
"""

from __future__ import annotations

from ltlpipe.por.choosing import (
    choice_on_cycles,
    effort_of_choices,
    first_choices,
    more_choices,
)
from ltlpipe.por.component_sets import smallest
from ltlpipe.runtime.kernels.atomics import load
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.product import compose, successors, system_steps, takes
from ltlpipe.search.reduced import is_worthwhile, keep_only
from ltlpipe.search.shared.sharing import is_new
from ltlpipe.search.shared.table import Own, intern_shared
from ltlpipe.search.shared.union_find import HIGH, find, parent_at


@specialised
def visit(expand, product, store, arrays, state, tables):
    """Generate, count and store the successors of a state; return how many.

    tables : AmpleTables or None
        None: by all of its steps.
    """
    if tables is None:
        n = successors(expand, product, store.rows[state])
        intern_all(product, store, arrays, n)
    else:
        n = visit_ample(expand, product, store, arrays, state, tables)
    arrays.own[Own.EXPANSIONS] += 1
    arrays.own[Own.TRANSITIONS] += n
    return n


@inlined
def intern_all(product, store, arrays, n):
    """Store the first `n` successors."""
    own, rows, ids = arrays.own, product.rows, product.ids
    intern_shared(store, own, rows, n, ids, product.hashes, arrays.words)


@njit
def visit_ample(expand, product, store, arrays, state, tables):
    """Generate and store successors by an ample set, if there is one."""
    own = arrays.own
    row = store.rows[state]
    n_steps = system_steps(expand, product, row)
    stubborn, actions = tables.stubborn, product.actions
    left, best, free = 0, -1, True
    if n_steps >= 2 and is_worthwhile(
        own[Own.ATTEMPTS],
        own[Own.REDUCED],
        own[Own.EXAMINED],
        own[Own.EXPANSIONS],
        own[Own.TRANSITIONS],
    ):
        own[Own.ATTEMPTS] += 1
        left = first_choices(tables, stubborn, row, actions, n_steps)
        best = smallest(tables, left)
        free = best < 0  # whether it may lead to whatever states
        if free:
            best = choice_on_cycles(tables, stubborn, actions, n_steps)
    taken = best
    again = True
    while again:  # twice at most; a loop, so that it is compiled once
        n = compose(product, row, n_steps, tables, taken)
        intern_all(product, store, arrays, n)
        again = (
            not free and taken >= 0 and not may_reduce(product, tables, arrays, n, -1)
        )
        if again:  # look at all steps once, for the other candidates
            taken = -1
    if taken != best:  # the successors at hand are those of all steps
        left = more_choices(tables, stubborn, actions, n_steps, left)
        while best >= 0 and not may_reduce(product, tables, arrays, n, best):
            tables.sizes[best] = 0
            best = smallest(tables, left)
        if best < 0:
            best = choice_on_cycles(tables, stubborn, actions, n_steps)
        if best >= 0:
            n = keep_only(product, tables, n, best)
    own[Own.REDUCED] += best >= 0
    own[Own.EXAMINED] += effort_of_choices(stubborn)
    return n


@inlined
def may_reduce(product, tables, arrays, n, closure):
    """Whether steps of a closure, or all, lead to states that are dead or not entered.

    `closure` is negative for all of the `n` successors at hand.
    """
    nodes = arrays.nodes
    for i in range(n):
        target = product.ids[i]
        if takes(tables, closure, product.row_actions[i]) and not is_new(
            arrays, target
        ):
            root = find(nodes, target)
            if load(nodes, parent_at(root)) & HIGH == 0:
                return False
    return True
