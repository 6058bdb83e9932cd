"""Progress that components still need before an awaited action can happen.

An action happens where each of its participants offers it.  A participant that does not
has a shortest way of its own to a state that does.  The first action on it that is in
common with others has participants, too, and these have ways to that action.  What all
these ways take together is an estimate of how far an action is; walks prefer successors
that are less far.

Sources: S. Edelkamp, A. Lluch Lafuente and S. Leue, "Directed Explicit Model Checking
with HSF-SPIN", SPIN 2001, LNCS 2057, pp. 57-79, for distances in each process alone,
added up; M. Helmert, "A Planning Heuristic Based on Causal Graph Analysis", ICAPS 2004,
for what a way needs of others.

Ways do without actions that the property would be set back by.

Differences from the sources: others are asked for the first action in common only, and
do not ask in turn (a third round finds no more on random networks); goals are those of
the property's state, and not an error state of each process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.systems.networks.packing_tables import transitions_between

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.networks.packing import PackedSystem

MOST_NEEDED = 1 << 11
"""Steps beyond which all estimates are the same."""

COMMON = 3
"""Steps that one in common with other components counts as."""

MOST_ENTRIES = 1 << 22
"""Of the tables; without them walks are guided by the automaton alone."""

_LATER = -2  # the first action in common is that of the state behind


class Needs(NamedTuple):
    """Goals of the property's states, and ways of components to actions.

    A part is an action and one of its participants.  Without goals nothing is needed.
    """

    first_goal: np.ndarray  # int64[n_states of the property + 1], or no entries
    goal_action: np.ndarray  # int64[...], that the property waits for
    goal_marks: np.ndarray  # uint32[...], which it has then; 0: it comes nearer
    base: np.ndarray  # int64[n_states of the property], place of ways without setbacks
    first_part: np.ndarray  # int64[n_actions + 1]
    component: np.ndarray  # int64[n_parts]
    cells: np.ndarray  # int64[n_parts, 4]: word, shift, mask, place of the ways
    steps: np.ndarray  # int32[...], of the way from each local state
    common: np.ndarray  # int32[...], its first action in common with others, or -1


def no_needs() -> Needs:
    """Return tables that say nothing."""
    ints, marks = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    cells, flat = np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Needs(ints, ints, marks, ints, ints, ints, cells, flat, flat)


@inlined
def place_of(needs, row, part):
    """Return the place of the way of a part, from where its component is."""
    cells = needs.cells
    bits = row[cells[part, 0]] >> np.uint64(cells[part, 1])
    return cells[part, 3] + np.int64(bits & np.uint64(cells[part, 2]))


@inlined
def steps_of_others(needs, row, action, component, base):
    """Return the steps to an action of its participants but one."""
    total = np.int64(0)
    for part in range(needs.first_part[action], needs.first_part[action + 1]):
        if needs.component[part] != component:
            total += needs.steps[base + place_of(needs, row, part)]
    return total


@inlined
def steps_to(needs, row, action, base):
    """Return the steps to an action, with those of others that ways need."""
    total = np.int64(0)
    for part in range(needs.first_part[action], needs.first_part[action + 1]):
        at = base + place_of(needs, row, part)
        total += needs.steps[at]
        common = needs.common[at]
        if common >= 0:
            who = needs.component[part]
            total += steps_of_others(needs, row, common, who, base)
    return total


@inlined
def needed(needs, row, state, wanted):
    """Return the steps to the nearest goal, with the property in `state`.

    Goals for marks count if these are `wanted`.
    """
    least, has_goal = np.int64(MOST_NEEDED), False
    for goal in range(needs.first_goal[state], needs.first_goal[state + 1]):
        marks = needs.goal_marks[goal]
        if marks == 0 or marks & wanted != 0:
            action, base = needs.goal_action[goal], needs.base[state]
            least = min(least, steps_to(needs, row, action, base))
            has_goal = True
    return least if has_goal else np.int64(0)


def goals_of(
    automaton: PropertyAutomaton, far: np.ndarray
) -> list[list[tuple[int, int]]]:
    """Return for each state the letters that it waits for, with their marks.

    Those that lead nearer to an accepting SCC, as `far` says, have no marks; in one,
    letters are waited for that have marks.  What `OTHER` does is not waited for.
    """
    found: list[list[tuple[int, int]]] = []
    first, n_letters = automaton.first_edge, automaton.n_letters
    for state in range(automaton.n_states):
        goals, free, is_free = set(), 0, False
        for letter in range(n_letters):
            cell = state * n_letters + letter
            for edge in range(first[cell], first[cell + 1]):
                there, marks = far[automaton.edge_dst[edge]], automaton.edge_marks[edge]
                nearer = bool(there < far[state])
                if letter == OTHER:
                    free, is_free = free | int(marks), is_free or nearer
                elif nearer or (there == 0 and marks & ~np.uint32(free)):
                    goals.add((letter, 0 if nearer else int(marks)))
        found.append([] if is_free else sorted(goals))
    return found


def setbacks_of(automaton: PropertyAutomaton, far: np.ndarray) -> list[frozenset[int]]:
    """Return for each state the letters that lead farther from an accepting SCC."""
    found = []
    first, dst = automaton.first_edge, automaton.edge_dst
    for state in range(automaton.n_states):
        cells = range(state * automaton.n_letters, (state + 1) * automaton.n_letters)
        reached = [far[dst[first[cell] : first[cell + 1]]] for cell in cells]
        bad = (k for k, some in enumerate(reached) if (some > far[state]).all())
        found.append(frozenset(bad) - {OTHER})
    return found


def needs_of(
    network: Network,
    packed: PackedSystem,
    letters: np.ndarray,
    automaton: PropertyAutomaton,
    far: np.ndarray,
    ticks: Ticks,
) -> Job[Needs]:
    """Return the tables for a packed network, whose actions have these letters.

    The property's states are numbered anew for each aim: `far`, int32[n_aims, n_states]
    (`ltlpipe.search.guidance.aims`).
    """
    goals = [some for steps in far for some in goals_of(automaton, steps)]
    setbacks = [some for steps in far for some in setbacks_of(automaton, steps)]
    of_letter = {letter: action for action, letter in enumerate(letters.tolist())}
    listed = [[(of_letter[a], m) for a, m in g if a in of_letter] for g in goals]
    flat = [goal for some in listed for goal in some]
    actions, sought = network.actions, {action for action, _ in flat}
    asked = [len(a.participants) > 1 or k in sought for k, a in enumerate(actions)]
    n_entries = sum(
        lts.n_transitions * sum(asked[a] for a in own)
        for lts, own in zip(network.components, network.label_actions, strict=True)
    )
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(setbacks))}
    if not flat or n_entries * len(kinds) > MOST_ENTRIES:
        return no_needs()
    parts = [(k, p) for k, a in enumerate(actions) if asked[k] for p in a.participants]
    flats: list[np.ndarray] = []
    for kind in kinds:
        ways: dict[tuple[int, int], np.ndarray] = {}
        for p, states in enumerate(packed.local_states):
            own = [action for action in network.label_actions[p] if asked[action]]
            usable = ~np.isin(letters[list(network.label_actions[p])], list(kind))
            both = yield from _ways(network, p, states, own, usable, ticks)
            ways |= {(a, p): both[:, k] for k, a in enumerate(own)}
        flats.append(np.concatenate([ways[part] for part in parts], axis=1))
    fields = [packed.fields[p] for _, p in parts]
    sizes = [len(packed.local_states[p]) for _, p in parts]
    places = np.cumsum([0, *sizes])[:-1].tolist()
    cells = [
        (f.word, f.shift, f.mask, at) for f, at in zip(fields, places, strict=True)
    ]
    counts = [len(a.participants) * asked[k] for k, a in enumerate(actions)]
    return Needs(
        np.cumsum([0, *map(len, listed)], dtype=np.int64),
        np.array([action for action, _ in flat], dtype=np.int64),
        np.array([marks for _, marks in flat], dtype=np.uint32),
        np.array([kinds[kind] * sum(sizes) for kind in setbacks], dtype=np.int64),
        np.cumsum([0, *counts], dtype=np.int64),
        np.array([p for _, p in parts], dtype=np.int64),
        np.array(cells, dtype=np.int64),
        np.concatenate([steps for steps, _ in flats]),
        np.concatenate([common for _, common in flats]),
    )


def _ways(
    network: Network,
    p: int,
    states: np.ndarray,
    asked: list[int],
    usable: np.ndarray,
    ticks: Ticks,
) -> Job[np.ndarray]:
    """Return a component's ways to some actions, int32[2, n_asked, n_states].

    Their steps, and their first actions in common with others, or -1.  On the way are
    labels that are `usable`, bool[n_labels].
    """
    own = np.array(network.label_actions[p], dtype=np.int32)
    is_common = np.array([len(network.actions[a].participants) > 1 for a in own])
    src, label, dst = transitions_between(network.components[p], states)
    order = np.argsort(src, kind="stable")
    src, label, dst = src[order], label[order], dst[order]
    steps = np.full((len(asked), len(states)), MOST_NEEDED, dtype=np.int32)
    common = np.full_like(steps, -1)
    for k, action in enumerate(asked):
        steps[k, src[own[label] == action]] = 0
    src, label, dst = (column[usable[label]] for column in (src, label, dst))
    if not steps.size or not len(src):
        return np.stack([steps, common])
    begins = np.flatnonzero(np.r_[True, src[1:] != src[:-1]])
    left, weight = src[begins], np.where(is_common[label], COMMON, 1)
    while True:
        over = np.minimum(steps[:, dst] + weight, MOST_NEEDED)
        best = np.minimum(steps[:, left], np.minimum.reduceat(over, begins, axis=1))
        if (best == steps[:, left]).all():
            break
        steps[:, left] = best
        yield from ticks.worked(over.size)
    on_way = (steps[:, src] == over) & (steps[:, src] > 0) & (over < MOST_NEEDED)
    rows, taken = np.nonzero(on_way)
    after, place = np.zeros_like(steps), (rows, src[taken])
    after[place] = dst[taken]  # of several ways the last
    common[place] = np.where(is_common[label[taken]], own[label[taken]], _LATER)
    while (common == _LATER).any():
        behind = np.take_along_axis(common, after, axis=1)
        common = np.where(common == _LATER, behind, common)
        yield from ticks.worked(common.size)
    return np.stack([steps, common])
