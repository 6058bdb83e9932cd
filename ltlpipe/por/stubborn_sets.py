"""Stubborn sets of actions for networks: ample sets that are finer than components.

A set T of actions is *stubborn* in a state s if

- for each b of T that is enabled in s, and each participant i: T has all actions that i
  enables in its local state, or only those that can change it if b cannot;
- for each b of T that is disabled in s there is a participant i that does not enable b
  in its local state q, and T has all actions that may lead i from q to where it enables
  b, that is those with which i can leave q for the last time before.

Then no sequence of actions outside T enables or disables one of T, and each b of T that
is enabled can be taken first (docs/stubborn.md has the proofs).  Two kinds are chosen:

- sets whose enabled actions are all invisible, one of them at least.  They must not
  close a cycle, as all ample sets;
- sets of all visible actions, enabled or not, and an enabled invisible one if there is
  any.  They stand where otherwise all steps would be taken: on every cycle there has to
  be one of these.

Sources: A. Valmari, "The State Explosion Problem", Lectures on Petri Nets I, LNCS 1491,
1998, pp. 429-528; the conditions on visible actions are his V, I and L.  S. Siegel and
Y. Yan, "Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020,
Def. 11, for the property automaton.

Differences from the sources: a disabled action waits for the participant that costs the
least when it is looked at; nothing is revised.

Cost: per set, each action in it once, with the actions of its participants' local
states.

Searches ask for sets of either kind, of components (`ltlpipe.por.component_sets`) or
of actions; kernels are compiled for each of the two apart (``tables.stubborn`` is None
for the first).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.por.component_sets import (
    AmpleTables,
    StubbornTables,
    close_seed,
    find_candidates,
    is_known,
    with_buffers,
)
from ltlpipe.por.tables import Relation, enabling_bytes
from ltlpipe.runtime.kernels.jit import called, inlined, specialised

if TYPE_CHECKING:
    from ltlpipe.por.tables import Enabling
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.networks.packing import PackedSystem

MAX_CANDIDATES = 64
"""Sets that are kept of one state."""

_WORD_BITS = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Count(IntEnum):
    """Places in `counts`: scalars of the set that grows, and of its state."""

    SET = 0  # the number of the set: its actions carry it
    STATE = 1  # the number of the state: its enabled actions carry it
    ENABLED = 2  # actions of the set on the stack `enabled`
    DISABLED = 3  # and on `disabled`
    SIZE = 4  # steps of the set's enabled actions
    NEXT = 5  # the step from which on no set has begun yet
    EXAMINED = (
        6  # actions of participants that were looked at, since `effort_of_choices`
    )


def stubborn_tables(
    enabling: Enabling, visible: np.ndarray, max_steps: int
) -> AmpleTables:
    """Return tables with buffers for states of at most `max_steps` steps.

    ``participants`` and ``closures`` hold a bit per enabled action of the state.
    """
    n_actions = len(visible)
    n_words = _slot_words(n_actions, max_steps)
    of_actions = 3 * [np.int64] + 3 * [np.int32]
    buffers = [
        np.zeros(len(enabling.components), dtype=np.int64),
        *(np.zeros(n_actions, dtype) for dtype in of_actions),
        np.zeros(len(Count), dtype=np.int64),
    ]
    relation = Relation(
        enabling.components,
        related=np.zeros((0, n_words), dtype=np.uint64),
        participants=np.zeros((n_actions, n_words), dtype=np.uint64),
    )
    room = min(max_steps, n_actions, MAX_CANDIDATES)
    return with_buffers(relation, visible, room)._replace(
        stubborn=StubbornTables(
            enabling, np.flatnonzero(visible).astype(np.int32), *buffers
        )
    )


def _slot_words(n_actions: int, max_steps: int) -> int:
    return max(1, -(-min(n_actions, max_steps) // _WORD_BITS))


def with_own_buffers(tables: AmpleTables) -> AmpleTables:
    """Return tables for one more worker: what searches write to is copied."""
    written = ["closures", "sizes", "seeds"]
    stubborn = tables.stubborn
    if stubborn is not None:
        written.append("participants")
        enabling, shown, *buffers = stubborn
        stubborn = StubbornTables(enabling, shown, *map(np.zeros_like, buffers))
    own = {name: getattr(tables, name).copy() for name in written}
    return tables._replace(**own, stubborn=stubborn)


def stubborn_bytes(network: Network, packed: PackedSystem) -> int:
    """Return the bytes of the tables for a packed network, before they are made."""
    n_actions = len(network.actions)
    n_words = _slot_words(n_actions, packed.max_successors)
    room = min(packed.max_successors, n_actions, MAX_CANDIDATES)
    buffers = 8 * n_words * (n_actions + room + 2) + 8 * room
    of_actions = (1 + 4 + 8 + 8 + 8 + 4 + 4 + 4) * n_actions
    of_components = 8 * len(network.components)
    return enabling_bytes(network, packed) + buffers + of_actions + of_components


@inlined
def has_bit(sets, row, place):
    """Whether ``sets[row]`` has the bit at `place`."""
    return (sets[row, place >> 6] >> np.uint64(place & 63)) & _ONE != _ZERO


@called
def look_at(tables, stubborn, row, actions, n_steps):
    """Note a state: its local states, and the slot of each enabled action."""
    components, local = tables.components, stubborn.local
    counts, when, steps = stubborn.counts, stubborn.when, stubborn.steps
    participants = tables.participants
    for who in range(components.shape[0]):
        value = row[components[who, 0]] >> np.uint64(components[who, 1])
        masked = value & np.uint64(components[who, 2])
        local[who] = components[who, 3] + np.int64(masked)
    counts[Count.STATE] += 1
    counts[Count.NEXT] = 0
    state = counts[Count.STATE]
    slot = 0
    for step in range(n_steps):
        action = actions[step]
        if when[action] != state:
            when[action] = state
            steps[action] = 0
            for w in range(participants.shape[1]):
                participants[action, w] = _ZERO
            participants[action, slot >> 6] = _ONE << np.uint64(slot & 63)
            slot += 1
        steps[action] += 1


@inlined
def begin_set(stubborn):
    """Begin with an empty set."""
    counts = stubborn.counts
    counts[Count.SET] += 1
    counts[Count.ENABLED] = 0
    counts[Count.DISABLED] = 0
    counts[Count.SIZE] = 0


@inlined
def insert(stubborn, action):
    """Put an action into the set that grows."""
    counts, inside = stubborn.counts, stubborn.inside
    if inside[action] != counts[Count.SET]:
        inside[action] = counts[Count.SET]
        if stubborn.when[action] == counts[Count.STATE]:
            stubborn.enabled[counts[Count.ENABLED]] = action
            counts[Count.ENABLED] += 1
            counts[Count.SIZE] += stubborn.steps[action]
        else:
            stubborn.disabled[counts[Count.DISABLED]] = action
            counts[Count.DISABLED] += 1


@inlined
def insert_rivals(stubborn, action):
    """Put in what could disable an enabled action."""
    enabling, local = stubborn.enabling, stubborn.local
    first, moves = enabling.first, enabling.moves
    for part in range(enabling.first_part[action], enabling.first_part[action + 1]):
        at = local[enabling.parts[part, 0]]
        stays = has_bit(enabling.stays, at, enabling.parts[part, 1])
        stubborn.counts[Count.EXAMINED] += first[at + 1] - first[at]
        for pair in range(first[at], first[at + 1]):
            if moves[pair] or not stays:
                insert(stubborn, enabling.actions[pair])


@inlined
def price(tables, stubborn, action):
    """Return what an action costs that would come into the set."""
    if stubborn.inside[action] == stubborn.counts[Count.SET]:
        return 0
    if stubborn.when[action] != stubborn.counts[Count.STATE]:
        return 1
    return 10_000 if tables.visible[action] else 100


@inlined
def insert_enablers(tables, stubborn, action):
    """Put in what one participant needs for a disabled action: the cheapest one."""
    enabling, local = stubborn.enabling, stubborn.local
    first, moves, leads = enabling.first, enabling.moves, enabling.leads
    chosen, least = -1, 0
    for part in range(enabling.first_part[action], enabling.first_part[action + 1]):
        at, bit = local[enabling.parts[part, 0]], enabling.parts[part, 1]
        if has_bit(enabling.enables, at, bit):
            continue
        cost = 0
        stubborn.counts[Count.EXAMINED] += first[at + 1] - first[at]
        for pair in range(first[at], first[at + 1]):
            if moves[pair] and has_bit(leads, pair, bit):
                cost += price(tables, stubborn, enabling.actions[pair])
        if chosen < 0 or cost < least:
            chosen, least = part, cost
            if cost == 0:
                return
    at, bit = local[enabling.parts[chosen, 0]], enabling.parts[chosen, 1]
    for pair in range(first[at], first[at + 1]):
        if moves[pair] and has_bit(leads, pair, bit):
            insert(stubborn, enabling.actions[pair])


@called
def grow(tables, stubborn, limit, shows):
    """Make a set stubborn; False if it comes to have `limit` steps.

    Also if one of them is visible, or its own set has failed (as a rule this one would,
    too), unless the set `shows` all visible actions.
    """
    counts, visible, failed = stubborn.counts, tables.visible, stubborn.failed
    while counts[Count.SIZE] < limit:
        if counts[Count.ENABLED] > 0:
            counts[Count.ENABLED] -= 1
            action = stubborn.enabled[counts[Count.ENABLED]]
            if not shows and (visible[action] or failed[action] == counts[Count.STATE]):
                return False
            insert_rivals(stubborn, action)
        elif counts[Count.DISABLED] > 0:
            counts[Count.DISABLED] -= 1
            insert_enablers(tables, stubborn, stubborn.disabled[counts[Count.DISABLED]])
        else:
            return True
    return False


@inlined
def keep_set(tables, stubborn, actions, n_steps, at):
    """Write the enabled actions of the set to ``closures[at]``."""
    closures, participants = tables.closures, tables.participants
    for w in range(closures.shape[1]):
        closures[at, w] = _ZERO
    for step in range(n_steps):
        action = actions[step]
        if stubborn.inside[action] == stubborn.counts[Count.SET]:
            for w in range(closures.shape[1]):
                closures[at, w] |= participants[action, w]


@called
def find_stubborn(tables, stubborn, actions, n_steps, n):
    """Find sets of invisible steps, behind the first `n`; return how many there are.

    One after the other, until one has a single step.  Called again it goes on.
    """
    counts = stubborn.counts
    first = counts[Count.NEXT]
    for step in range(first, n_steps):
        action = actions[step]
        counts[Count.NEXT] = step + 1
        if n == tables.sizes.shape[0]:
            break
        if tables.visible[action] or (step > 0 and actions[step - 1] == action):
            continue
        begin_set(stubborn)
        insert(stubborn, action)
        if not grow(tables, stubborn, n_steps, False):
            stubborn.failed[action] = counts[Count.STATE]
            continue
        keep_set(tables, stubborn, actions, n_steps, n)
        if is_known(tables.closures, n):
            continue
        tables.sizes[n] = counts[Count.SIZE]
        tables.seeds[n] = action
        n += 1
        if tables.sizes[n - 1] == 1:  # nothing is smaller
            break
    return n


@called
def show_all(tables, stubborn, actions, n_steps):
    """Make ``closures[0]`` a set with all visible actions; 0, or -1 if it is all steps.

    It depends on the state alone.
    """
    begin_set(stubborn)
    for k in range(stubborn.shown.shape[0]):
        insert(stubborn, stubborn.shown[k])
    if not grow(tables, stubborn, n_steps, True):
        return -1
    candidate = -1  # an invisible step, in the set or not
    for step in range(n_steps):
        action = actions[step]
        if not tables.visible[action]:
            candidate = action
            if stubborn.inside[action] == stubborn.counts[Count.SET]:
                break
    if candidate >= 0:
        insert(stubborn, candidate)
        if not grow(tables, stubborn, n_steps, True):
            return -1
    keep_set(tables, stubborn, actions, n_steps, 0)
    tables.seeds[0] = tables.visible.shape[0]
    return 0


@called
def stubborn_again(tables, stubborn, actions, n_steps, seed):
    """Write the set of a seed that was noted to ``closures[0]`` again."""
    if seed == tables.visible.shape[0]:
        show_all(tables, stubborn, actions, n_steps)
    else:
        begin_set(stubborn)
        insert(stubborn, seed)
        grow(tables, stubborn, n_steps, False)
        keep_set(tables, stubborn, actions, n_steps, 0)


@specialised
def first_choices(tables, stubborn, row, actions, n_steps):
    """Find sets of invisible steps, in `closures` and so on; return how many.

    `actions` are those of the state's steps, int32[n_steps].  After a set of one step
    no other is looked for.
    """
    if stubborn is None:
        return find_candidates(tables, row, actions, n_steps)
    look_at(tables, stubborn, row, actions, n_steps)
    return find_stubborn(tables, stubborn, actions, n_steps, 0)


@specialised
def more_choices(tables, stubborn, actions, n_steps, n):
    """Add those sets that have not been looked for behind the first `n`."""
    if stubborn is None:
        return n
    before = -1
    while before < n:
        before = n
        n = find_stubborn(tables, stubborn, actions, n_steps, n)
    return n


@specialised
def choice_on_cycles(tables, stubborn, actions, n_steps):
    """Write a set that may stand for all steps to ``closures[0]``: 0, or -1 for none.

    The sets that were there are lost.
    """
    if stubborn is None:
        return -1
    return show_all(tables, stubborn, actions, n_steps)


@specialised
def choose_again(tables, stubborn, row, actions, n_steps, seed):
    """Write the set of a seed that was noted to ``closures[0]`` again."""
    if stubborn is None:
        close_seed(tables, row, seed)
    else:
        look_at(tables, stubborn, row, actions, n_steps)
        stubborn_again(tables, stubborn, actions, n_steps, seed)


@specialised
def effort_of_choices(stubborn):
    """Return how many actions were looked at to choose since the last call.

    Closed sets of components take no longer than the transitions: none are counted.
    """
    if stubborn is None:
        return 0
    effort = stubborn.counts[Count.EXAMINED]
    stubborn.counts[Count.EXAMINED] = 0
    return effort
