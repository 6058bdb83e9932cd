"""Markings of a net that are changed in place, one transition at a time.

Kept up to date are the transitions that are enabled, the values of the inequalities
that propositions are made of, the propositions' letter, and a hash of the marking.
Firing costs what the arcs of a transition cost and those of the places that it changes,
however many places the net has; it is taken back by firing in reverse.

Propositions are trees over inequalities.  A node counts how many of its parts hold, and
holds if these are at least some number: all for a conjunction, one for a disjunction.

Cost: a few numbers per place, transition and arc.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.systems.nets.structure import MAX_TOKENS, Arcs

LONGEST = 1 << 17
"""Steps of the longest walks."""

REST = -1
"""The action of a marking that repeats itself."""


class At(IntEnum):
    """Places in the registers of a walk."""

    STEPS = 0  # taken so far
    LENGTH = 1  # steps after which it is given up; 0: none has begun
    STATE = 2  # of the property
    LETTER = 3
    N_ENABLED = 4
    GOAL = 5  # or -1
    GOAL_OF = 6  # the cell of `Goals.first` that it was chosen from
    WALKS = 7
    WANTED = 8  # marks not seen since all have been, as bits
    AIM = 9
    STUCK = 10
    MANNER = 11
    STUTTERS = 12  # whether markings without successors repeat themselves
    FULL = 13  # all marks


class Frame(NamedTuple):
    """A net, and how its transitions change what is kept up to date."""

    initial: np.ndarray  # int64[n_places]
    hashes: np.ndarray  # uint64[n_places]
    change_first: np.ndarray  # int64[n_transitions + 1]
    change_place: np.ndarray  # int64[...]
    change: np.ndarray  # int64[...], what is added
    hash_change: np.ndarray  # uint64[n_transitions], of the marking's hash
    user_first: np.ndarray  # int64[n_places + 1]
    user: np.ndarray  # int64[...], transitions that need tokens of a place
    user_needs: np.ndarray  # int64[...], how many
    lacking: np.ndarray  # int64[n_transitions], places that lack tokens initially
    row_first: np.ndarray  # int64[n_transitions + 1]
    row: np.ndarray  # int64[...], inequalities whose values it changes
    row_change: np.ndarray  # int64[...], by how much
    values: np.ndarray  # int64[n_rows], initially; one holds if that is at most 0
    parent_first: np.ndarray  # int64[n_nodes + 1]; the first nodes are the rows
    parent: np.ndarray  # int64[...]
    least: np.ndarray  # int64[n_nodes], parts that hold for it to hold
    held: np.ndarray  # int64[n_nodes], how many do initially
    bits: np.ndarray  # int64[n_nodes], of the letter
    letter: np.ndarray  # int64[1], the initial one


class Walk(NamedTuple):
    """The walk that is being taken."""

    at: np.ndarray  # int64[len(At)]
    chance: np.ndarray  # uint64[3]: the generator, the walk's ranks, the marking's hash
    marking: np.ndarray  # int64[n_places]
    change: np.ndarray  # int64[n_places], work space
    lacking: np.ndarray  # int64[n_transitions]
    enabled: np.ndarray  # int64[n_transitions]
    place_of: np.ndarray  # int64[n_transitions], in `enabled`, or -1
    values: np.ndarray  # int64[n_rows]
    held: np.ndarray  # int64[n_nodes]
    pending: np.ndarray  # int64[n_nodes], work space
    is_goal: np.ndarray  # bool[n_rows]
    left: np.ndarray  # int64[n_transitions], of the plan
    tried: np.ndarray  # int64[n_transitions], the attempt that took it back
    actions: np.ndarray  # int32[LONGEST + 1]
    states: np.ndarray  # int32[LONGEST + 2], of the property
    marks: np.ndarray  # uint32[LONGEST + 1]
    latest: np.ndarray  # int64[n_marks], a step with each mark, or -1: none is known
    keys: np.ndarray  # uint64[LONGEST + 1]
    slots: np.ndarray  # int32[4 * LONGEST], steps


@inlined
def enable(walk, transition):
    """Add a transition to the enabled ones."""
    n = walk.at[At.N_ENABLED]
    walk.enabled[n] = transition
    walk.place_of[transition] = n
    walk.at[At.N_ENABLED] = n + 1


@inlined
def disable(walk, transition):
    """Take a transition out of the enabled ones."""
    n = walk.at[At.N_ENABLED] - 1
    at, last = walk.place_of[transition], walk.enabled[n]
    walk.enabled[at] = last
    walk.place_of[last] = at
    walk.place_of[transition] = -1
    walk.at[At.N_ENABLED] = n


@inlined
def note(frame, walk, row, holds):
    """Note that an inequality has begun to hold, or ceased to."""
    walk.pending[0] = row
    n = 1
    while n > 0:
        n -= 1
        node = walk.pending[n]
        walk.at[At.LETTER] ^= frame.bits[node]
        for k in range(frame.parent_first[node], frame.parent_first[node + 1]):
            above = frame.parent[k]
            if holds:
                walk.held[above] += 1
                toggles = walk.held[above] == frame.least[above]
            else:
                toggles = walk.held[above] == frame.least[above]
                walk.held[above] -= 1
            if toggles:
                walk.pending[n] = above
                n += 1


@specialised
def fire(frame, walk, transition, sign):
    """Fire a transition, or with the sign -1 take that back; return the work."""
    work = np.int64(4)
    for k in range(frame.change_first[transition], frame.change_first[transition + 1]):
        place, change = frame.change_place[k], sign * frame.change[k]
        before = walk.marking[place]
        after = before + change
        walk.marking[place] = after
        walk.chance[2] += np.uint64(change) * frame.hashes[place]
        first, end = frame.user_first[place], frame.user_first[place + 1]
        work += end - first + 2
        for use in range(first, end):
            needs, user = frame.user_needs[use], frame.user[use]
            if before < needs <= after:
                walk.lacking[user] -= 1
                if walk.lacking[user] == 0:
                    enable(walk, user)
            elif after < needs <= before:
                if walk.lacking[user] == 0:
                    disable(walk, user)
                walk.lacking[user] += 1
    for k in range(frame.row_first[transition], frame.row_first[transition + 1]):
        row = frame.row[k]
        before = walk.values[row]
        after = before + sign * frame.row_change[k]
        walk.values[row] = after
        work += 2
        if (before <= 0) != (after <= 0):
            note(frame, walk, row, after <= 0)
            work += 4
    return work


@inlined
def copy(source, target):
    """Copy an array."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@specialised
def rewind(frame, walk):
    """Return to the initial marking; return the work."""
    copy(frame.initial, walk.marking)
    copy(frame.lacking, walk.lacking)
    copy(frame.values, walk.values)
    copy(frame.held, walk.held)
    walk.chance[2] = 0
    walk.at[At.STEPS] = walk.at[At.N_ENABLED] = 0
    walk.at[At.LETTER] = frame.letter[0]
    for transition in range(frame.lacking.shape[0]):
        walk.place_of[transition] = -1
        if frame.lacking[transition] == 0:
            enable(walk, transition)
    return 2 * (frame.initial.shape[0] + frame.lacking.shape[0])


@specialised
def repeats(frame, walk, first, last):
    """Whether the marking is the same after the steps from `first` to before `last`."""
    change, is_same = walk.change, True  # all 0
    for step in range(first, last):
        action = np.int64(walk.actions[step])
        if action != REST:
            for k in range(frame.change_first[action], frame.change_first[action + 1]):
                change[frame.change_place[k]] += frame.change[k]
    for place in range(change.shape[0]):
        is_same &= change[place] == 0
        change[place] = 0
    return is_same


class Rules(NamedTuple):
    """What transitions need, and what they do; limits are the most that may be."""

    needs: Arcs
    limits: Arcs
    resets: Arcs
    changes: Arcs  # what is added, after places have been emptied


class Refiring(NamedTuple):
    """A run of n steps that is taken once more, with fewer of them."""

    initial: np.ndarray  # int64[n_places]
    watched: np.ndarray  # int64[w], places
    moves: np.ndarray  # int64[n], transitions; REST where a marking repeats itself
    is_kept: np.ndarray  # bool[n], which steps have been taken
    seen: np.ndarray  # int64[n, w], tokens in watched places before each of these
    marking: np.ndarray  # int64[n_places], work space
    begun: np.ndarray  # int64[n_places], where the cycle begins


@inlined
def is_enabled(rules, marking, transition):
    """Whether a transition is enabled."""
    needs, limits = rules.needs, rules.limits
    for k in range(needs.first[transition], needs.first[transition + 1]):
        if marking[needs.place[k]] < needs.weight[k]:
            return False
    for k in range(limits.first[transition], limits.first[transition + 1]):
        if marking[limits.place[k]] > limits.weight[k]:
            return False
    return True


@inlined
def fits(changes, marking, transition):
    """Whether numbers stay below 2^63."""
    for k in range(changes.first[transition], changes.first[transition + 1]):
        if changes.weight[k] > MAX_TOKENS - marking[changes.place[k]]:
            return False
    return True


@inlined
def is_dead(rules, marking):
    """Whether no transition is enabled."""
    for transition in range(rules.needs.first.shape[0] - 1):
        if is_enabled(rules, marking, transition):
            return False
    return True


@njit
def refire(rules, refiring, n_moves, length, first, last):
    """Take the steps of a run that are still enabled, without some of them.

    Parameters
    ----------
    rules : Rules
        Of all transitions.
    refiring : Refiring
        The run; is told which steps have been taken.
    n_moves, length : int
        The run's steps, and those of its prefix.
    first, last : int
        Which steps are left out: from the first to before the last.

    Returns
    -------
    int
        The steps of the prefix that have been taken, or -1 if the others make no cycle.
    """
    marking, begun, moves = refiring.marking, refiring.begun, refiring.moves
    resets, changes = rules.resets, rules.changes
    copy(refiring.initial, marking)
    n_taken, n_before = 0, -1
    for step in range(n_moves):
        if step == length:
            copy(marking, begun)
            n_before = n_taken
        refiring.is_kept[step] = False
        if first <= step and step < last:
            continue
        move = moves[step]
        if move == REST:
            if not is_dead(rules, marking):
                continue
        elif not (
            is_enabled(rules, marking, move) and fits(rules.changes, marking, move)
        ):
            continue
        for w in range(refiring.watched.shape[0]):
            refiring.seen[n_taken, w] = marking[refiring.watched[w]]
        if move != REST:
            for k in range(resets.first[move], resets.first[move + 1]):
                marking[resets.place[k]] = 0
            for k in range(changes.first[move], changes.first[move + 1]):
                marking[changes.place[k]] += changes.weight[k]
        refiring.is_kept[step] = True
        n_taken += 1
    if n_taken == n_before:
        return -1
    for place in range(marking.shape[0]):
        if marking[place] != begun[place]:
            return -1
    return n_before
