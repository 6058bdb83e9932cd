"""The steps of a marking, by transitions of the symmetric net as it is.

The variables of a transition are bound one after the other.  Of each dynamic subclass
(twins that the search may exchange) only the first colour that no variable before has
is tried, beside those that variables before have: the others lead to the same sets.
Guards, and tokens that are surely taken, are looked at as soon as their variables are
bound.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic firing).

Differences from the source: subclasses are not split, since a variable is bound to the
first colour that is left of one.
"""

from __future__ import annotations

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.symmetry.sets.markings import (
    CONSTANT,
    EVERY,
    TERM,
    Cell,
    Entry,
    Guard,
    Head,
    Move,
    Named,
    PlaceAt,
    Relation,
    Row,
    Slot,
    Token,
    cell_at,
    copy,
    put_tokens,
    tokens_in,
)

_SLOT = len(Slot)
_ENTRY = len(Entry)
_TOKEN = len(Token)
_PLACE = len(PlaceAt)
_MOVE = len(Move)
COMPARED = 2 + 2 * TERM
"""Entries of a comparison in a guard."""


@inlined
def token_size(ints):
    """Return how many entries tokens take."""
    return _TOKEN + _ENTRY * ints[Head.ARITY]


@inlined
def move_at(ints, number):
    """Return the place of a transition."""
    return ints[Head.TRANSITION_CELLS] + _MOVE * number


@called
def value_of(ints, at, binding):
    """Return the colour of a term, or the number of its element of a partition."""
    slot, value = ints[at + Entry.SLOT], ints[at + Entry.VALUE]
    if slot >= 0:
        value = (binding[slot] + value) % ints[at + Entry.SIZE]
    if ints[at + TERM - 1] >= 0:
        value = ints[ints[at + TERM - 1] + value]
    return value


@inlined
def relates(relation, left, right):
    """Whether a relation holds of two numbers."""
    if relation == Relation.EQUAL:
        return left == right
    if relation == Relation.DIFFERENT:
        return left != right
    if relation == Relation.LESS:
        return left < right
    return left <= right


@called
def guard_holds(ints, at, binding, stack):
    """Whether the guard at ``ints[at]`` is true."""
    top = np.int64(0)
    while ints[at] != Guard.END:
        if ints[at] == Guard.COMPARE:
            left = value_of(ints, at + 2, binding)
            right = value_of(ints, at + 2 + TERM, binding)
            stack[top] = np.int64(relates(ints[at + 1], left, right))
            top += 1
            at += COMPARED
            continue
        n = ints[at + 1]
        true = np.int64(0)
        for k in range(top - n, top):
            true += stack[k]
        top -= n
        needed = n if ints[at] == Guard.ALL else min(n, np.int64(1))
        holds = true >= needed and (n > 0 or ints[at] == Guard.ALL)
        stack[top] = np.int64(holds)
        top += 1
        at += 2
    return stack[0] != 0


@called
def guards_hold(ints, at, scratch):
    """Whether all guards listed at ``ints[at]`` are true."""
    for k in range(ints[at]):
        guard = ints[at + 1 + k]
        if not guard_holds(ints, guard, scratch[Row.BINDING], scratch[Row.STACK]):
            return False
    return True


@called
def first_cell(ints, at, binding):
    """Return the cell of tokens; of those with every colour, the first one."""
    place = ints[Head.PLACES] + ints[at + Token.PLACE] * (_PLACE + ints[Head.ARITY])
    cell = ints[place + PlaceAt.OF_COLOURS]
    for k in range(ints[Head.ARITY]):
        entry = at + _TOKEN + _ENTRY * k
        slot = ints[entry + Entry.SLOT]
        stride = ints[place + _PLACE + k]
        if slot >= 0:
            colour = binding[slot] + ints[entry + Entry.VALUE]
            cell += stride * (colour % ints[entry + Entry.SIZE])
        elif slot == CONSTANT:
            cell += stride * ints[entry + Entry.VALUE]
    return cell


@called
def tokens_there(ints, at, scratch, row):
    """Whether all tokens listed at ``ints[at]`` are in a marking."""
    for k in range(ints[at]):
        token = at + 1 + k * token_size(ints)
        cell = first_cell(ints, token, scratch[Row.BINDING])
        if tokens_in(ints, row, cell) < ints[token + Token.WEIGHT]:
            return False
    return True


@called
def is_spare(ints, move, scratch, level, element):
    """Whether an element of the same dynamic subclass stands for this one."""
    other = scratch[Row.EARLIER, element]
    while other >= 0:
        if not is_bound(ints, move, scratch, level, other):
            return True
        other = scratch[Row.EARLIER, other]
    return False


@called
def is_bound(ints, move, scratch, level, element):
    """Whether a variable before has an element already."""
    binding = scratch[Row.BINDING]
    for k in range(level):
        slot = ints[move + Move.SLOT_CELLS] + _SLOT * k
        if ints[slot + Slot.FIRST] + binding[k] == element:
            return True
    return False


@called
def next_binding(ints, move, scratch, row, started):
    """Write the next binding of a transition to BINDING; return whether there is one.

    It satisfies the guard; tokens may still be missing.
    """
    binding = scratch[Row.BINDING]
    n = ints[move + Move.SLOTS]
    if not started and not guards_hold(ints, ints[move + Move.CONDITIONS], scratch):
        return False
    if n == 0:
        return not started
    level = n - 1 if started else np.int64(0)
    if not started:
        binding[0] = -1
    while level >= 0:
        slot = ints[move + Move.SLOT_CELLS] + _SLOT * level
        binding[level] += 1
        if binding[level] == ints[slot + Slot.SIZE]:
            level -= 1
            continue
        element = ints[slot + Slot.FIRST] + binding[level]
        if (
            scratch[Row.EARLIER, element] >= 0
            and not is_bound(ints, move, scratch, level, element)
            and is_spare(ints, move, scratch, level, element)
        ):
            continue
        if not tokens_there(ints, ints[slot + Slot.TESTS], scratch, row):
            continue
        if not guards_hold(ints, ints[slot + Slot.CONDITIONS], scratch):
            continue
        level += 1
        if level == n:
            return True
        binding[level] = -1
    return False


@called
def count_tokens(ints, at, scratch, amounts, n):
    """Add the tokens listed at ``ints[at]`` to `amounts`; return the new `n`.

    ``TOUCHED[:n]`` are the cells that have been met (SEEN).
    """
    touched, seen = scratch[Row.TOUCHED], scratch[Row.SEEN]
    for k in range(ints[at]):
        token = at + 1 + k * token_size(ints)
        place = ints[token + Token.PLACE] * (_PLACE + ints[Head.ARITY])
        place += ints[Head.PLACES]
        first = first_cell(ints, token, scratch[Row.BINDING])
        n_tuples = np.int64(1)
        for i in range(ints[Head.ARITY]):
            entry = token + _TOKEN + _ENTRY * i
            if ints[entry + Entry.SLOT] == EVERY:
                n_tuples *= ints[entry + Entry.SIZE]
        for number in range(n_tuples):
            cell, rest = first, np.int64(number)
            for i in range(ints[Head.ARITY]):
                entry = token + _TOKEN + _ENTRY * i
                if ints[entry + Entry.SLOT] == EVERY:
                    size = ints[entry + Entry.SIZE]
                    cell += ints[place + _PLACE + i] * (rest % size)
                    rest //= size
            amounts[cell] += ints[token + Token.WEIGHT]
            if seen[cell] == 0:
                seen[cell] = 1
                touched[n] = cell
                n += 1
    return n


@called
def effects(ints, move, scratch, row):
    """Write what a binding changes: the cells (TOUCHED) and the tokens (CHANGES).

    Returns how many cells, or -1 if a marking lacks what the binding takes.
    """
    needed, put = scratch[Row.NEEDED], scratch[Row.PUT]
    taken, given = ints[move + Move.PRE], ints[move + Move.POST]
    n = count_tokens(ints, taken, scratch, needed, np.int64(0))
    n = count_tokens(ints, given, scratch, put, n)
    enabled = True
    for k in range(n):
        cell = scratch[Row.TOUCHED, k]
        held = tokens_in(ints, row, cell)
        if needed[cell] < 0 or put[cell] < 0 or held < needed[cell]:
            enabled = False
        scratch[Row.CHANGES, k] = put[cell] - needed[cell]
        needed[cell] = put[cell] = scratch[Row.SEEN, cell] = 0
    return n if enabled else np.int64(-1)


@called
def is_enabled(ints, move, scratch, row):
    """Whether a transition can be taken under some binding.

    Of each dynamic subclass (EARLIER) the first colours are tried.
    """
    started = False
    while next_binding(ints, move, scratch, row, started):
        started = True
        if effects(ints, move, scratch, row) >= 0:
            return True
    return False


@called
def answer_asked(ints, scratch, row):
    """Write behind a marking which transitions can be taken that are asked of."""
    n = ints[Head.ASKED]
    for k in range(n):
        word = ints[Head.WORDS] + k // 64
        if k % 64 == 0:
            row[word] = 0
        move = move_at(ints, ints[ints[Head.ASKED_CELLS] + k])
        if is_enabled(ints, move, scratch, row):
            row[word] |= np.uint64(1) << np.uint64(k % 64)


@called
def fire(ints, move, scratch, row, out):
    """Write the marking that a binding leads to; return whether it can be taken.

    Where a field is too narrow, the step is left out and OVERFLOW says so.
    """
    n = effects(ints, move, scratch, row)
    copy(row, out, ints[Head.WORDS])
    for k in range(n):
        change = scratch[Row.CHANGES, k]
        if change == 0:
            continue
        cell = scratch[Row.TOUCHED, k]
        at = cell_at(ints, cell)
        tokens = tokens_in(ints, row, cell) + change
        mask = np.uint64(ints[at + Cell.MASK])
        if tokens < 0 or np.uint64(tokens) > mask:
            ints[Head.OVERFLOW] = 1
            ints[ints[Head.NOTED] + cell] = 1
            return False
        out[ints[at + Cell.WORD]] &= ~(mask << np.uint64(ints[at + Cell.SHIFT]))
        put_tokens(ints, out, cell, tokens)
    return n >= 0


@inlined
def letter_bits(ints, move, scratch):
    """Return the bits of the letter that tell which transition is taken."""
    at = ints[move + Move.LETTERS]
    if at < 0:
        return np.int64(0)
    number = np.int64(0)
    for k in range(ints[move + Move.SLOTS]):
        slot = ints[move + Move.SLOT_CELLS] + _SLOT * k
        number += ints[slot + Slot.STRIDE] * scratch[Row.BINDING, k]
    bits = ints[at + Named.BITS]
    for k in range(ints[at + Named.COUNT]):
        own = at + Named.BINDINGS + 2 * k
        if ints[own] == number:
            bits |= ints[own + 1]
    return bits
