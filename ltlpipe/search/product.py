"""The product of a system and a property automaton, generated state by state.

A product state is a row of the system in which the field `extra` holds the
state of the property automaton.  Each step of the system carries a letter; the
property automaton is a table from (its state, letter) to its transitions.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.por.component_sets import meets
from ltlpipe.runtime.kernels.jit import inlined, specialised
from ltlpipe.search.interning import intern, lacks_room, lookup, row_of
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import copy_row
from ltlpipe.systems.networks.packing_kernels import Select

MAX_MARKS = 32
"""Bits of a set of marks; also Spot's limit."""


class Setting(IntEnum):
    """Places in the product's `settings`."""

    N_LETTERS = 0
    WORD = 1  # the field of the property's state
    SHIFT = 2
    MASK = 3
    STUTTER = 4  # whether a state without successors repeats itself
    SYSTEM_SHIFT = 5  # the property's marks; the system's follow
    SYSTEM_MARKS = 6  # number of the system's marks among the product's
    FULL = 7  # all marks; without a condition an accepting cycle sees each of them
    LETTER_SHIFT = 8  # number of the system's marks that letters tell
    FAIR_SHIFT = 9  # the system's own marks; those of fairness follow
    FAIR_ENABLED = 10  # marks of a state in which nothing fair is enabled
    ALONE = 11  # whether `is_alone` holds, and there are letters for a batch of steps


class Product(NamedTuple):
    """Tables and buffers; s and p bound the successors in system and product."""

    ints: np.ndarray  # int64[...], the system's tables
    words: np.ndarray  # uint64[...], the system's tables
    settings: np.ndarray  # int64[len(Setting)]
    first_edge: np.ndarray  # int32[n_states * n_letters + 1]
    edge_dst: np.ndarray  # int32[n_edges], state of the property
    edge_marks: np.ndarray  # uint32[n_edges]
    system_rows: np.ndarray  # uint64[s, n_words]
    letters: np.ndarray  # int32[s]
    actions: np.ndarray  # int32[s]
    system_marks: np.ndarray  # uint32[s]
    row: np.ndarray  # uint64[n_words], of the state that is looked at
    rows: np.ndarray  # uint64[p, n_words]
    marks: np.ndarray  # uint32[p]
    row_actions: np.ndarray  # int32[p]
    ids: np.ndarray  # int32[p]
    hashes: np.ndarray  # uint64[p]
    fair_enabled: np.ndarray  # uint32[n_actions], marks that change if it is enabled
    fair_taken: np.ndarray  # uint32[n_actions], marks that come if it is taken
    ends: np.ndarray  # bool[n_states] of the property, or empty; see `system_steps`


@inlined
def property_state(product, row):
    """Return the state of the property automaton in a product row."""
    word = row[product.settings[Setting.WORD]]
    shift = np.uint64(product.settings[Setting.SHIFT])
    return np.int64((word >> shift) & np.uint64(product.settings[Setting.MASK]))


@inlined
def successors(expand, product, row):
    """Write the successors of a product row to ``product.rows[:n]``; return n.

    Their marks are in ``product.marks[:n]``, the actions that lead to them in
    ``product.row_actions[:n]``.
    """
    return compose(product, row, system_steps(expand, product, row), None, -1, 0)


@inlined
def successors_behind(expand, product, row, n):
    """Write the successors of a product row behind `n` others; return how many in all.

    The steps of the system need a place of their own then, or become those of the
    product where they are written: see `is_alone`.
    """
    if product.settings[Setting.ALONE] != 0:
        return steps_behind(expand, product, row, n)
    n_steps = system_steps(expand, product, row)
    return compose(product, row, n_steps, None, -1, n)


@inlined
def system_steps(expand, product, row):
    """Write the steps of the system to ``product.system_rows[:n]``; return n.

    Where the property is in one of its `ends` the system's state repeats itself, as a
    deadlock does: whatever follows is accepted.
    """
    ends = product.ends.shape[0] > 0 and product.ends[property_state(product, row)]
    n_steps = 0
    if not ends:
        n_steps = expanded(expand, product, row, Select.ALL)
    if n_steps == 0 and (ends or product.settings[Setting.STUTTER] != 0):
        n_steps = expanded(expand, product, row, Select.STUTTER)
    if product.fair_taken.shape[0] > 0:
        add_fair_marks(product, n_steps)
    return n_steps


@inlined
def steps_behind(expand, product, row, n):
    """Write the steps of a system alone behind `n` others; return how many in all."""
    rows, letters = product.rows[n:], product.letters[n:]
    actions, marks = product.row_actions[n:], product.marks[n:]
    ints, words = product.ints, product.words
    found = expand(ints, words, row, Select.ALL, rows, letters, actions, marks)
    if found == 0 and product.settings[Setting.STUTTER] != 0:
        found = expand(ints, words, row, Select.STUTTER, rows, letters, actions, marks)
    return n + found


def is_alone(product: Product) -> bool:
    """Whether the property has one state, takes all steps, and nothing is marked.

    Then the steps of the system are those of the product.
    """
    settings = product.settings
    n_letters = int(settings[Setting.N_LETTERS]) << int(settings[Setting.LETTER_SHIFT])
    return (
        np.array_equal(product.first_edge, np.arange(n_letters + 1))
        and not product.edge_dst.any()
        and not product.edge_marks.any()
        and not settings[Setting.SYSTEM_MARKS]
        and not len(product.fair_taken)
        and not len(product.ends)
    )


@inlined
def add_fair_marks(product, n_steps):
    """Mark the steps of one state by what is enabled in it, and what each takes."""
    marks = np.uint32(product.settings[Setting.FAIR_ENABLED])
    shift = np.uint32(product.settings[Setting.FAIR_SHIFT])
    enabled = np.uint32(0)
    for step in range(n_steps):
        action = product.actions[step]
        if action >= 0:
            enabled |= product.fair_enabled[action]
    marks ^= enabled
    for step in range(n_steps):
        action = product.actions[step]
        taken = np.uint32(0)
        if action >= 0:
            taken = product.fair_taken[action]
        product.system_marks[step] |= (marks | taken) << shift


@specialised
def compose(product, row, n_steps, tables, closure, n):
    """Combine the system's steps with the property's; see `successors_behind`.

    With `tables` (AmpleTables, else None) and `closure` not negative, only the
    steps that involve components of ``tables.closures[closure]`` are taken.
    """
    settings = product.settings
    src = property_state(product, row)
    word = settings[Setting.WORD]
    shift = np.uint64(settings[Setting.SHIFT])
    system_shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
    base = src * settings[Setting.N_LETTERS]
    letter_shift = settings[Setting.LETTER_SHIFT]
    told = (np.int64(1) << letter_shift) - 1
    kept = np.uint32(0xFFFFFFFF) if letter_shift == 0 else np.uint32(0)
    # Taking an array out of a tuple costs a reference count: not in a loop.
    first_edge, edge_dst = product.first_edge, product.edge_dst
    edge_marks, letters = product.edge_marks, product.letters
    actions, system_marks = product.actions, product.system_marks
    system_rows, rows = product.system_rows, product.rows
    marks, row_actions = product.marks, product.row_actions
    for step in range(n_steps):
        # Compiled without `tables`, this branch is not there at all.
        if tables is not None and not takes(tables, closure, actions[step]):
            continue
        at = base + (np.int64(letters[step]) << letter_shift)
        at += np.int64(system_marks[step]) & told
        own_marks = (system_marks[step] << system_shift) & kept
        for edge in range(first_edge[at], first_edge[at + 1]):
            copy_row(system_rows, step, rows, n)
            rows[n, word] ^= np.uint64(src ^ edge_dst[edge]) << shift
            marks[n] = edge_marks[edge] | own_marks
            row_actions[n] = actions[step]
            n += 1
    return n


@inlined
def takes(tables, closure, action):
    """Whether an action involves a closure, or all are taken (`closure` < 0)."""
    return closure < 0 or meets(tables.participants, action, tables.closures, closure)


@inlined
def expanded(expand, product, row, select):
    """Write the steps of the system that are selected; return how many."""
    return expand(
        product.ints,
        product.words,
        row,
        select,
        product.system_rows,
        product.letters,
        product.actions,
        product.system_marks,
    )


@inlined
def visit_successors(expand, product, store, registers, state, companion, shift):
    """Generate, count and store the successors of a stored state.

    The caller is going to look at ``companion[id >> shift]`` for each of them.

    Returns n; their ids are in ``product.ids[:n]``, their marks in
    ``product.marks[:n]``.
    """
    n = successors(expand, product, row_of(product, store, state))
    rows, ids, hashes = product.rows, product.ids, product.hashes
    intern(store, registers, rows, n, ids, hashes, companion, shift)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    return n


@specialised
def visit(expand, product, store, registers, state, companion, shift):
    """Do what `visit_successors` does, in kernels that do it in several places.

    They compile in a third of the time; in those of one place the copy that
    `visit_successors` is would be a few percent faster.
    """
    return visit_successors(expand, product, store, registers, state, companion, shift)


@inlined
def visit_known(expand, product, store, registers, state, companion, shift):
    """Generate and count all successors of a state; -1 for those not stored.

    See `visit_successors`; nothing is added to the store.
    """
    n = successors(expand, product, row_of(product, store, state))
    find_all(product, store, registers, n, companion, shift)
    return n


@inlined
def find_all(product, store, registers, n, companion, shift):
    """Count `n` successors and look them up."""
    rows, ids, hashes = product.rows, product.ids, product.hashes
    lookup(store, registers, rows, n, ids, hashes, companion, shift)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1


@inlined
def leaves_accepting(product, n):
    """Whether the `n` transitions just generated leave an accepting state.

    A state without successors lies on no cycle: its acceptance is irrelevant.
    """
    full = np.uint32(product.settings[Setting.FULL])
    return n > 0 and product.marks[0] & full == full


@inlined
def at_limit(registers):
    """Whether the limit of entered states is reached."""
    return registers[Reg.VISITED] >= registers[Reg.MAX_STATES]


@inlined
def is_full(product, store, registers):
    """Whether the store lacks room for the successors of one more state."""
    needed = registers[Reg.STORED] + product.ids.shape[0]
    return (
        needed > store.rows.shape[0]
        or 4 * needed > 3 * store.slots.shape[0]
        or lacks_room(store.tree, product.ids.shape[0])
    )
