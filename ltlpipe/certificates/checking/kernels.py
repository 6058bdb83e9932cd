"""The checks of a certificate for a network, compiled.

The steps of a composed state are found from the transitions of its components: an
action is enabled if each of its participants has a transition with it.

Each successor, with each transition of the automaton on its letter, has to be a state
of the certificate (a hash table over packed rows), and to have a rank that fits.

Steps of models are found elsewhere, and looked up here.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, njit, prefetch

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_SHIFT = np.uint64(31)
_AHEAD = 16  # rows whose slots are asked for before they are entered


class Fields(NamedTuple):
    """Where the n entries of a state lie in a row, and the automaton's state behind."""

    word: np.ndarray  # int64[n + 1]
    shift: np.ndarray  # uint64[n + 1]
    mask: np.ndarray  # uint64[n + 1]


class Net(NamedTuple):
    """A network and an automaton: n components, a actions."""

    fields: Fields
    offset: np.ndarray  # int64[n], number of a component's state 0 among all
    group_first: np.ndarray  # int64[states + 1], the groups of a local state
    group_action: np.ndarray  # int32[groups], ascending in each state
    target_first: np.ndarray  # int64[groups + 1]
    target: np.ndarray  # int32[transitions], local states
    part_first: np.ndarray  # int64[a + 1]
    part: np.ndarray  # int32[...], the participants of each action
    letter: np.ndarray  # int32[a]
    enabled: np.ndarray  # uint32[a], marks that change where it is enabled
    taken: np.ndarray  # uint32[a], marks of the step that takes it
    accepting: np.ndarray  # uint8[states]
    edge_first: np.ndarray  # int64[automaton states * letters + 1]
    edge_dst: np.ndarray  # int32[edges]
    edge_marks: np.ndarray  # uint32[edges]
    n_letters: int
    stutters: bool  # whether a state without steps repeats itself
    acceptance: np.uint32  # the mark of states in which all components accept
    idle: np.uint32  # marks of fairness of a state in which nothing is enabled


class Proof(NamedTuple):
    """What a certificate says: m states, c clauses."""

    rows: np.ndarray  # uint64[m, words]
    slots: np.ndarray  # int32[2 ** k], state + 1, or 0
    ranks: np.ndarray  # int32[m, c]
    fin: np.ndarray  # uint32[c], as a set of marks
    lacks_first: np.ndarray  # int64[c + 1]
    lacks: np.ndarray  # uint32[...], each as a set of its own


class Batch(NamedTuple):
    """Room for b successors of any states that have not been looked up."""

    rows: np.ndarray  # uint64[b, words]
    hashes: np.ndarray  # uint64[b]
    src: np.ndarray  # int64[b], the states whose successors they are
    marks: np.ndarray  # uint32[b]
    actions: np.ndarray  # int64[b], -1 where a state repeats itself


class Room(NamedTuple):
    """Room for one state."""

    local: np.ndarray  # int64[n + 1], its local states, and the automaton's
    found: np.ndarray  # int64[...], groups of the participants of enabled actions
    choice: np.ndarray  # int64[n], which of its targets each participant takes
    row: np.ndarray  # uint64[words], a successor


class At(IntEnum):
    """Places in the registers."""

    STATE = 0  # the steps of states below it have been found
    TRANSITIONS = 1
    WAITING = 2  # successors in the batch
    FAULT = 3  # the one that is no state, or whose rank does not fit; or -1


@inlined
def hash_of(rows, at):
    """Return 64 mixed bits of ``rows[at]``."""
    mixed = np.uint64(0)
    for w in range(rows.shape[1]):
        mixed = (mixed ^ rows[at, w]) * _FIRST
        mixed ^= mixed >> _SHIFT
    mixed *= _SECOND
    return mixed ^ (mixed >> _SHIFT)


@inlined
def find(rows, slots, wanted, at, mixed):
    """Return the slot of ``wanted[at]`` among `rows`, and the state, -1 if none."""
    last = np.uint64(slots.shape[0] - 1)
    slot = np.int64(mixed & last)
    state = np.int64(slots[slot]) - 1
    while state >= 0:
        same = True
        for w in range(rows.shape[1]):
            if rows[state, w] != wanted[at, w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & np.int64(last)
        state = np.int64(slots[slot]) - 1
    return slot, state


@njit
def enter_rows(rows, slots, first, last):
    """Enter rows from `first` to before `last` into the table.

    Returns -1, or the number of a row that stands twice.
    """
    ahead = first  # whose slots have been asked for
    for state in range(first, last):
        while ahead < min(state + _AHEAD, last):
            home = np.int64(hash_of(rows, ahead) & np.uint64(slots.shape[0] - 1))
            prefetch(slots, home)
            ahead += 1
        slot, known = find(rows, slots, rows, state, hash_of(rows, state))
        if known >= 0:
            return state
        slots[slot] = state + 1
    return -1


@njit
def look_up(rows, slots, wanted):
    """Return the state that ``wanted[0]`` is, -1 if it is none."""
    _, state = find(rows, slots, wanted, 0, hash_of(wanted, 0))
    return state


@inlined
def group_with(net, i, local, action):
    """Return the group of a component's state with an action, -1 if there is none."""
    low = net.group_first[net.offset[i] + local]
    high = net.group_first[net.offset[i] + local + 1]
    while low < high:
        middle = (low + high) // 2
        if net.group_action[middle] < action:
            low = middle + 1
        else:
            high = middle
    end = net.group_first[net.offset[i] + local + 1]
    if low < end and net.group_action[low] == action:
        return low
    return np.int64(-1)


@inlined
def decode(fields, rows, state, local):
    """Write the local states, and that of the automaton, of a row."""
    for i in range(local.shape[0]):
        value = (rows[state, fields.word[i]] >> fields.shift[i]) & fields.mask[i]
        local[i] = np.int64(value)


@inlined
def enable(net, room):
    """Note the groups of the enabled actions of the state in `room.local`.

    `room.found` gets those of all participants of each action, one action after the
    other.  Returns how many there are, the marks of fairness, and whether all accept.
    """
    count = np.int64(0)
    marks = net.idle
    seen = np.uint32(0)
    accepting = True
    for i in range(net.offset.shape[0]):
        state = net.offset[i] + room.local[i]
        accepting = accepting and net.accepting[state] != 0
        for group in range(net.group_first[state], net.group_first[state + 1]):
            action = net.group_action[group]
            first, end = net.part_first[action], net.part_first[action + 1]
            if net.part[first] != i:
                continue
            room.found[count] = group
            offered = True
            for place in range(first + 1, end):
                other = net.part[place]
                found = group_with(net, other, room.local[other], action)
                if found < 0:
                    offered = False
                    break
                room.found[count + place - first] = found
            if offered:
                count += end - first
                seen |= net.enabled[action]
    return count, marks ^ seen, accepting


@inlined
def fits(proof, state, dst, marks):
    """Whether the ranks of two states fit to a step between them, for all clauses."""
    for c in range(proof.fin.shape[0]):
        if marks & proof.fin[c] != 0:
            continue
        here, there = proof.ranks[state, c], proof.ranks[dst, c]
        if there < here:
            continue
        first = proof.lacks_first[c]
        n_lacks = proof.lacks_first[c + 1] - first
        if there > here or n_lacks == 0:
            return False
        if marks & proof.lacks[first + here % n_lacks] != 0:
            return False
    return True


@njit
def settle(proof, batch, at):
    """Look up the successors that wait, and compare ranks; whether all is well."""
    last_slot = proof.slots.shape[0] - 1
    for k in range(at[At.WAITING]):
        batch.hashes[k] = hash_of(batch.rows, k)
        prefetch(proof.slots, np.int64(batch.hashes[k] & np.uint64(last_slot)))
    for k in range(at[At.WAITING]):
        home = np.int64(batch.hashes[k] & np.uint64(last_slot))
        prefetch(proof.rows, np.int64(proof.slots[home]) - 1)
        prefetch(proof.ranks, np.int64(proof.slots[home]) - 1)
    for k in range(at[At.WAITING]):
        _, dst = find(proof.rows, proof.slots, batch.rows, k, batch.hashes[k])
        if dst < 0 or not fits(proof, batch.src[k], dst, batch.marks[k]):
            at[At.FAULT] = k
            return False
    at[At.TRANSITIONS] += at[At.WAITING]
    at[At.WAITING] = 0
    return True


@inlined
def put(net, room, i, value):
    """Replace the local state of a component in `room.row`."""
    word, shift = net.fields.word[i], net.fields.shift[i]
    room.row[word] &= ~(net.fields.mask[i] << shift)
    room.row[word] |= np.uint64(value) << shift


@inlined
def next_choice(net, room, first, found, n):
    """Replace the targets of `n` participants by the next ones; whether there are."""
    k = n - 1
    while k >= 0:
        i = net.part[first + k]
        room.choice[k] += 1
        more = room.choice[k] < net.target_first[room.found[found + k] + 1]
        if not more:
            room.choice[k] = net.target_first[room.found[found + k]]
        put(net, room, i, net.target[room.choice[k]])
        if more:
            break
        k -= 1
    return k >= 0


@njit
def check_step(net, proof, room, batch, at, budget):
    """Check the steps of at most `budget` states from ``at[At.STATE]`` on.

    Returns whether to go on; ``at[At.FAULT]`` says why not, if it is not -1.
    """
    last = net.offset.shape[0]
    n_states, n_words = proof.rows.shape
    fields = net.fields
    own_word, own_shift = fields.word[last], fields.shift[last]
    while at[At.STATE] < n_states and budget > 0:
        budget -= 1
        state = at[At.STATE]
        decode(fields, proof.rows, state, room.local)
        for w in range(n_words):
            room.row[w] = proof.rows[state, w]
        room.row[own_word] &= ~(fields.mask[last] << own_shift)
        base = room.local[last] * net.n_letters
        count, of_state, accepting = enable(net, room)
        if accepting:
            of_state |= net.acceptance
        found = np.int64(0)
        repeats = count == 0 and net.stutters
        while found < count or repeats:
            action, entry, marks = np.int64(-1), base, of_state
            first, n = np.int64(0), np.int64(0)
            if not repeats:
                action = np.int64(net.group_action[room.found[found]])
                entry = base + net.letter[action]
                marks = of_state | net.taken[action]
                first = net.part_first[action]
                n = net.part_first[action + 1] - first
            for k in range(n):
                room.choice[k] = net.target_first[room.found[found + k]]
                put(net, room, net.part[first + k], net.target[room.choice[k]])
            more = True
            while more:
                for edge in range(net.edge_first[entry], net.edge_first[entry + 1]):
                    k = at[At.WAITING]
                    if k == batch.src.shape[0]:
                        if not settle(proof, batch, at):
                            return False
                        k = 0
                    for w in range(n_words):
                        batch.rows[k, w] = room.row[w]
                    own = np.uint64(net.edge_dst[edge])
                    batch.rows[k, own_word] |= own << own_shift
                    batch.src[k] = state
                    batch.marks[k] = net.edge_marks[edge] | marks
                    batch.actions[k] = action
                    at[At.WAITING] = k + 1
                more = next_choice(net, room, first, found, n)
            for k in range(n):
                i = net.part[first + k]
                put(net, room, i, room.local[i])
            found += n
            repeats = False
        at[At.STATE] = state + 1
    # Successors of many states are looked up together: memory takes its time.
    return settle(proof, batch, at) and at[At.STATE] < n_states
