"""Ample sets for networks: which of a state's steps are enough.

A set C of components is closed at a state if a component of C enables, locally,
only labels all of whose participants are in C.  As long as none of the enabled
actions of C happens, no action that involves C can; so the steps of C may be taken
first, and the others left for later, provided that they are invisible and that not
every state of a cycle puts the same steps off.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2, conditions 1-4.  The property automaton has to be
in interrupt normal form (`ltlpipe.automata.interrupts`), by their Theorem 3.

Differences from the source:

- The SCCs of the relation R_q are not computed.  A component C0 of the source, with
  all SCCs that it reaches, is the closure of any of its members; conditions 1 and 3
  say that the enabled actions of the closure are those of C0.  So the candidates
  are the closures of the participants of each enabled invisible action: the
  smallest eligible one is the source's choice.
- Closing stops as soon as a participant of an enabled visible action is met
  (condition 2), which makes most failures cheap.
- Sizes are counted in steps, not in actions: a nondeterministic action is as many
  steps as it has targets.
- Condition 4 asks for states of the depth-first stack.  Nested searches know them by
  their colour; `couvreur99` keeps two bits per state for them.

The relation is a table over local states, made once per network
(`ltlpipe.por.tables`): closing is a few operations on bit sets.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import inlined, specialised, trailing_zeros

if TYPE_CHECKING:
    from ltlpipe.por.tables import Enabling, Relation
    from ltlpipe.systems.networks.packing import PackedSystem

_WORD_BITS = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Inner(IntEnum):
    """How a red search finds the steps that the blue one took."""

    FULL = 1  # it takes all steps, and leaves out states that blue never saw
    STORED = 2  # a number per state says which component was closed


MAX_SEED = (1 << 16) - 2
"""The highest seed that `Inner.STORED` can note."""


class StubbornTables(NamedTuple):
    """What stubborn sets are made of (`ltlpipe.por.stubborn_sets`)."""

    enabling: Enabling
    shown: np.ndarray  # int32[v], the visible actions
    local: np.ndarray  # int64[c], the row of each component in the state at hand
    inside: np.ndarray  # int64[n_actions], number of the last set that it was in
    when: np.ndarray  # int64[n_actions], number of the last state that enabled it
    failed: np.ndarray  # int64[n_actions], last state in which its set failed
    steps: np.ndarray  # int32[n_actions], its steps in that state
    enabled: np.ndarray  # int32[n_actions], a stack
    disabled: np.ndarray  # int32[n_actions], another
    counts: np.ndarray  # int64[len(stubborn.Count)]


class AmpleTables(NamedTuple):
    """What ample sets are made of: b words hold a bit per component."""

    components: np.ndarray  # int64[n, 4]: word, shift, mask, first row of `relation`
    relation: np.ndarray  # uint64[r, b], per local state: who shares what it enables
    participants: np.ndarray  # uint64[n_actions, b]
    visible: np.ndarray  # uint8[n_actions]
    closures: np.ndarray  # uint64[c + 2, b], candidates; the last two are buffers
    sizes: np.ndarray  # int32[c], steps of each candidate, 0 once it has failed
    seeds: np.ndarray  # int32[c], a component, or action, whose closure it is
    stubborn: StubbornTables | None = None  # for sets of actions, not of components


class Reduction(NamedTuple):
    """What a search with ample sets works on."""

    tables: AmpleTables
    seeds: np.ndarray  # uint16[n], see `Inner.STORED`; else empty
    others: Any = None  # of several workers `words`, `nodes` and `sets`


def new_tables(relation: Relation, visible: np.ndarray, max_steps: int) -> AmpleTables:
    """Return tables with buffers for states of at most `max_steps` steps."""
    # Candidates begin with components that no earlier one began with.
    return with_buffers(relation, visible, min(max_steps, len(relation.components)))


def with_buffers(relation: Relation, visible: np.ndarray, room: int) -> AmpleTables:
    """Return tables with buffers for at most `room` candidates."""
    n_words = relation.participants.shape[1]
    return AmpleTables(
        components=relation.components,
        relation=relation.related,
        participants=relation.participants,
        visible=visible.astype(np.uint8),
        closures=np.zeros((room + 2, n_words), dtype=np.uint64),
        sizes=np.zeros(room, dtype=np.int32),
        seeds=np.zeros(room, dtype=np.int32),
    )


def highest_seed(tables: AmpleTables) -> int:
    """Return the highest number that `seeds` can hold."""
    n_sets = tables.components if tables.stubborn is None else tables.visible
    return len(n_sets)


def ample_bytes(system: PackedSystem, n_actions: int) -> int:
    """Return the bytes of the tables for a packed network, before they are made."""
    n_components = len(system.fields)
    n_words = -(-n_components // _WORD_BITS)
    room = min(system.max_successors, n_components) + 2
    rows = sum(map(len, system.local_states)) + n_actions + room
    return 8 * n_words * rows + (32 + 8) * n_components


@specialised
def meets(one, i, other, j):
    """Whether the sets ``one[i]`` and ``other[j]`` have a component in common."""
    for w in range(one.shape[1]):  # noqa: SIM110 (a kernel has no `any`)
        if one[i, w] & other[j, w] != _ZERO:
            return True
    return False


@specialised
def close(tables, row, at, forbidden):
    """Close the set ``closures[at]`` at a state; False if it meets a forbidden one.

    `forbidden` is the place of a set in `closures`.
    """
    closures, relation = tables.closures, tables.relation
    components = tables.components
    n_words = closures.shape[1]
    word = 0
    looked = _ZERO
    while word < n_words:
        left = closures[at, word] & ~looked
        if left == _ZERO:
            word += 1
            looked = _ZERO
            continue
        bit = trailing_zeros(left)
        looked |= _ONE << np.uint64(bit)
        who = 64 * word + bit
        value = row[components[who, 0]] >> np.uint64(components[who, 1])
        local = components[who, 3] + np.int64(value & np.uint64(components[who, 2]))
        earlier = False
        for w in range(n_words):
            added = relation[local, w] & ~closures[at, w]
            if added != _ZERO:
                closures[at, w] |= added
                if w < word:
                    earlier = True
        if meets(closures, at, closures, forbidden):
            return False
        if earlier:  # go back: a component of an earlier word is new
            word = 0
            looked = _ZERO
    return True


@inlined
def steps_of(tables, actions, n_steps, at):
    """Return how many of the steps involve components of ``closures[at]``."""
    count = 0
    for step in range(n_steps):
        count += meets(tables.participants, actions[step], tables.closures, at)
    return count


@specialised
def find_candidates(tables, row, actions, n_steps):
    """Fill `closures`, `sizes` and `seeds` (conditions 1-3); return how many.

    `actions` are those of the state's steps, int32[n_steps].  The closure of an
    action's participants is that of any one of them, so each component is a seed
    once at most.
    """
    closures, participants = tables.closures, tables.participants
    visible = tables.visible
    n_words = closures.shape[1]
    forbidden = closures.shape[0] - 1
    seeded = forbidden - 1
    for w in range(n_words):
        closures[forbidden, w] = _ZERO
        closures[seeded, w] = _ZERO
    n_visible = 0
    for step in range(n_steps):
        action = actions[step]
        if visible[action]:
            n_visible += 1
            for w in range(n_words):
                closures[forbidden, w] |= participants[action, w]
    n = 0
    if n_visible == n_steps:
        return n
    for step in range(n_steps):
        action = actions[step]
        if (
            visible[action]
            or meets(participants, action, closures, seeded)
            or meets(participants, action, closures, forbidden)
        ):
            continue
        for w in range(n_words):
            closures[n, w] = participants[action, w]
            closures[seeded, w] |= participants[action, w]
        if not close(tables, row, n, forbidden) or is_known(closures, n):
            continue
        size = steps_of(tables, actions, n_steps, n)
        if size < n_steps:
            tables.sizes[n] = size
            tables.seeds[n] = first_of(participants, action)
            n += 1
            if size == 1:  # nothing is smaller
                break
    return n


@inlined
def is_known(closures, n):
    """Whether the set ``closures[n]`` is one of those before it."""
    for i in range(n):
        same = True
        for w in range(closures.shape[1]):
            if closures[i, w] != closures[n, w]:
                same = False
                break
        if same:
            return True
    return False


@inlined
def first_of(sets, i):
    """Return the lowest component of a set that is not empty."""
    word = 0
    while sets[i, word] == _ZERO:
        word += 1
    return 64 * word + trailing_zeros(sets[i, word])


@inlined
def smallest(tables, n):
    """Return the smallest candidate that has not failed, or -1."""
    best = -1
    for i in range(n):
        if tables.sizes[i] > 0 and (best < 0 or tables.sizes[i] < tables.sizes[best]):
            best = i
    return best


@inlined
def close_seed(tables, row, seed):
    """Close the set of one component into ``closures[0]`` again."""
    closures = tables.closures
    forbidden = closures.shape[0] - 1
    for w in range(closures.shape[1]):
        closures[0, w] = _ZERO
        closures[forbidden, w] = _ZERO
    closures[0, seed >> 6] = _ONE << np.uint64(seed & 63)
    close(tables, row, 0, forbidden)
