"""Stubborn sets of a net's transitions, for each state of the product.

docs/stubborn.md, section 5, has the conditions and the proof; `ltlpipe.por.net_sets`
makes the table.  All steps of a marking are generated, and those of transitions outside
the set are dropped.  Which set is taken depends on the marking and on the property's
state alone, both of which are in the row, so every emptiness check searches the reduced
product as it is.

Nothing is allocated: the arrays for letters and marks have room for all transitions,
and hold the set while it is grown.  The letter is the same for all steps of a state,
and nets have no marks.

Cost: per state one look at each transition, and per trial the transitions of the set
with those around the places that are asked for.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined
from ltlpipe.systems.networks.packing_kernels import read_field


class Sets(IntEnum):
    """The first entries of a table, whose places are told from its beginning."""

    WORD = 0  # the field of the property's state
    SHIFT = 1
    MASK = 2
    N_LETTERS = 3
    N_TRANSITIONS = 4
    WATCH = 5  # place of `Watch`, per state and letter of the property
    TRANSITIONS = 6  # place of `Entry`, per transition, and per conjunction of a goal
    AROUND = 7  # place of `Around`, per place, with one more number behind
    GOALS = 8  # place of `Goal`, per side of each bit, with one more behind
    FIELDS = 9  # place of word, shift and mask of each place's field


class Watch(IntEnum):
    """What a set has to lead to, and what its steps must not do."""

    GOALS = 0  # bits of which the letter has to change one; -1: all steps are taken
    UP = 1  # bits that may not become true
    DOWN = 2  # bits that may not become false
    KEY = 3  # whether a transition of the set has to stay enabled


class Entry(IntEnum):
    """A transition."""

    UP = 0  # bits that it may make true
    DOWN = 1  # false
    ARCS = 2  # place of its arcs, which end where those of the next one begin


class Arc(IntEnum):
    """An arc of a transition."""

    PLACE = 0
    NEEDED = 1  # the tokens that it needs there
    FEWER = 2  # whether it leaves fewer


class Around(IntEnum):
    """Where lists of transitions begin; each ends where the next begins."""

    PRODUCERS = 0  # they leave more tokens in the place
    CONSUMERS = 1  # they need tokens there
    DECREASERS = 2  # they leave fewer


class Goal(IntEnum):
    """How a bit changes, to true or, in the next entry, to false."""

    LIST = 0  # place of the transitions that may do it by themselves
    FIRST = 1  # the first of some conjunctions, of which one has to become true


WATCH, ENTRY, ARC, AROUND, GOAL = map(len, (Watch, Entry, Arc, Around, Goal))
FIELD = 3
"""Numbers of a field: word, shift and mask."""

_ENABLED_COST = 100  # of an enabled transition in a set; others cost 1


@inlined
def include(flags, stack, n, trial, transition):
    """Put a transition into the set of a trial; return how many it has.

    A flag is twice the last trial that a transition was in, plus 1 if it is enabled.
    """
    flag = np.int64(flags[transition])
    if flag >> 1 != trial:
        flags[transition] = np.uint32(2 * trial | (flag & 1))
        stack[n] = transition
        n += 1
    return n


@called
def include_all(ints, first, end, flags, stack, n, trial):
    """Put the transitions listed at ``ints[first:end]`` into the set."""
    for k in range(first, end):
        n = include(flags, stack, n, trial, ints[k])
    return n


@called
def include_around(ints, at, place, side, flags, stack, n, trial):
    """Put the transitions on a side of a place into the set."""
    entry = at + ints[at + Sets.AROUND] + AROUND * place + side
    first, end = at + ints[entry], at + ints[entry + 1]
    return include_all(ints, first, end, flags, stack, n, trial)


@called
def cost_of(ints, at, place, flags, trial):
    """Return what it costs to put the producers of a place into the set."""
    entry = at + ints[at + Sets.AROUND] + AROUND * place + Around.PRODUCERS
    cost = 0
    for k in range(at + ints[entry], at + ints[entry + 1]):
        flag = np.int64(flags[ints[k]])
        if flag >> 1 != trial:
            cost += _ENABLED_COST if flag & 1 else 1
    return cost


@called
def include_helpers(ints, at, row, transition, flags, stack, n, trial):
    """Put in what a disabled transition waits for at the place where that costs least.

    These are all transitions that put tokens where too few are.
    """
    entry = at + ints[at + Sets.TRANSITIONS] + ENTRY * transition + Entry.ARCS
    fields = at + ints[at + Sets.FIELDS]
    best, least = np.int64(-1), np.int64(0)
    for arc in range(at + ints[entry], at + ints[entry + ENTRY], ARC):
        place = ints[arc + Arc.PLACE]
        held = read_field(ints, fields + FIELD * place, row)
        if held < ints[arc + Arc.NEEDED]:
            cost = cost_of(ints, at, place, flags, trial)
            if best < 0 or cost < least:
                best, least = place, cost
    if best < 0:  # it is enabled, but its successor has overflowed
        return n
    return include_around(ints, at, best, Around.PRODUCERS, flags, stack, n, trial)


@called
def include_rivals(ints, at, transition, side, flags, stack, n, trial):
    """Put in the transitions on a side of the places that one takes tokens from.

    For `Around.CONSUMERS` these are the places in which it leaves fewer.
    """
    entry = at + ints[at + Sets.TRANSITIONS] + ENTRY * transition + Entry.ARCS
    for arc in range(at + ints[entry], at + ints[entry + ENTRY], ARC):
        if side != Around.CONSUMERS or ints[arc + Arc.FEWER] != 0:
            place = ints[arc + Arc.PLACE]
            n = include_around(ints, at, place, side, flags, stack, n, trial)
    return n


@inlined
def is_forbidden(ints, at, watch, transition):
    """Whether a step of a transition may do what none of a set must do."""
    entry = at + ints[at + Sets.TRANSITIONS] + ENTRY * transition
    seen = ints[entry + Entry.UP] & ints[watch + Watch.UP]
    seen |= ints[entry + Entry.DOWN] & ints[watch + Watch.DOWN]
    return seen != 0


@called
def grow(ints, at, row, watch, flags, stack, n, trial, most):
    """Close the set on the stack; return how many enabled ones it has.

    That is -1 if one of them does what it must not, or they are more than `most`.
    """
    n_enabled = 0
    k = 0
    while k < n:
        t = np.int64(stack[k])
        k += 1
        if flags[t] & 1 == 0:
            n = include_helpers(ints, at, row, t, flags, stack, n, trial)
            continue
        n_enabled += 1
        if n_enabled > most or is_forbidden(ints, at, watch, t):
            return -1
        n = include_rivals(ints, at, t, Around.CONSUMERS, flags, stack, n, trial)
    return n_enabled


@called
def begin(ints, at, row, goals, letter, flags, stack, trial):
    """Put into a new set what can change some bits of a letter; return how many."""
    n = 0
    bit = 0
    while goals >> bit != 0:
        if (goals >> bit) & 1:
            side = 2 * bit + ((letter >> bit) & 1)
            entry = at + ints[at + Sets.GOALS] + GOAL * side
            first = at + ints[entry + Goal.LIST]
            end = at + ints[entry + GOAL + Goal.LIST]
            n = include_all(ints, first, end, flags, stack, n, trial)
            for k in range(ints[entry + Goal.FIRST], ints[entry + GOAL + Goal.FIRST]):
                n = include_helpers(ints, at, row, k, flags, stack, n, trial)
        bit += 1
    return n


@called
def set_of(ints, at, row, watch, letter, key, flags, stack, trial, most):
    """Grow the set of a trial; see `grow`.

    With a `key` that is not negative this transition is in it, and stays enabled.
    """
    goals = ints[watch + Watch.GOALS]
    n = begin(ints, at, row, goals, letter, flags, stack, trial)
    if key >= 0:
        n = include(flags, stack, n, trial, key)
        n = include_rivals(ints, at, key, Around.DECREASERS, flags, stack, n, trial)
    return grow(ints, at, row, watch, flags, stack, n, trial, most)


MOST_KEYS = 8
"""Transitions of a state that are tried as the one that stays enabled."""


@called
def find_set(ints, at, row, watch, letter, actions, flags, stack, count):
    """Find a set with fewer than all steps; return the trial that it is of, or -1."""
    flags[: ints[at + Sets.N_TRANSITIONS]] = 0
    for step in range(count):
        flags[actions[step]] = 1
    if ints[watch + Watch.KEY] == 0:
        found = set_of(ints, at, row, watch, letter, -1, flags, stack, 1, count - 1)
        return 1 if found >= 0 else -1
    best, most = np.int64(-1), count - 1
    trial = 1
    for step in range(count):
        key = np.int64(actions[step])
        if is_forbidden(ints, at, watch, key):
            continue
        found = set_of(ints, at, row, watch, letter, key, flags, stack, trial, most)
        trial += 1
        if found >= 0:
            best, most = key, found - 1
        if most == 0 or trial > MOST_KEYS:
            break
    if best < 0:
        return -1
    set_of(ints, at, row, watch, letter, best, flags, stack, trial, count)
    return trial


@called
def keep_stubborn(ints, at, row, outputs, count):
    """Drop the steps of a state that are not in its stubborn set.

    Parameters
    ----------
    ints : int64[...]
        From `at` on, a table of `ltlpipe.por.net_sets`.
    at : int64
        Where it begins.
    row : uint64[n_words]
        The marking, with the state of the property.
    outputs : tuple of arrays
        What successor functions write to: the steps, changed in place.
    count : int64
        How many there are.

    Returns
    -------
    int64
        How many are left, in the order that they had.
    """
    rows, letters, actions, marks = outputs
    if count == 0:
        return count
    letter = np.int64(letters[0])
    cell = ints[at + Sets.N_LETTERS] * read_field(ints, at, row) + letter
    watch = at + ints[at + Sets.WATCH] + WATCH * cell
    if ints[watch + Watch.GOALS] < 0:
        return count
    trial = find_set(ints, at, row, watch, letter, actions, marks, letters, count)
    kept = 0
    for step in range(count):
        if trial < 0 or np.int64(marks[actions[step]]) >> 1 == trial:
            actions[kept] = actions[step]
            for word in range(row.shape[0]):
                rows[kept, word] = rows[step, word]
            kept += 1
    letters[:kept] = letter
    marks[:kept] = 0
    return kept
