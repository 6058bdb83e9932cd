"""The order in which walks take transitions: by the property, then by chance.

A transition is the better, the nearer it brings the property automaton to an
accepting SCC, and the more marks it carries that have not been seen since all have been
seen the last time.  Next to that, in every other walk of a network, it is the better
the fewer steps are needed for what the property waits for (`ltlpipe.search.needs`).
Among equals chance decides, in one of the manners of `Manner`; steps that are needed
are equal if they differ by few.

The idea of ordering successors by an automaton's distance to acceptance is that of
S. Edelkamp, A. Lluch Lafuente and S. Leue, "Directed Explicit Model Checking with
HSF-SPIN", SPIN 2001, LNCS 2057, pp. 57-79; that of search orders drawn at random, many
of them, that of G. Holzmann, R. Joshi and A. Groce, "Swarm Verification Techniques",
IEEE TSE 37(6), 2011, pp. 845-857.

Differences from the sources: orders follow one another in one search, and each is drawn
for actions, not for states.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.runtime.kernels.jit import inlined
from ltlpipe.search.acceptance import states_on_cycles
from ltlpipe.search.interning import intern, row_of
from ltlpipe.search.needs import MOST_NEEDED, Needs, needed, no_needs
from ltlpipe.search.paths import popcount
from ltlpipe.search.product import Setting, property_state, successors
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import copy_row

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton

FAR = 1 << 20
"""The distance of a state of the property from which no run is accepted."""

MOST_EDGES = 50_000
"""Transitions of an automaton whose distances are worth finding: some 50 ms."""

LONGEST = 1 << 16
"""States of the longest walks."""

MOST_STORED = 1 << 20
"""States that a walk may store, entered or not."""

_FEW = 64  # successors that take one pass to be sorted
_STEPS = 19  # bits of chance below a step that is needed; worth two steps at most
_GOOD = 33  # bits below what counts most: chance, and `MOST_NEEDED` steps
_SELDOM = np.uint64(15)  # once in sixteen times
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U44 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(44)
_U32, _U63 = np.uint64(32), np.uint64(63)
_NOTHING = np.uint64(0)


class Manner(IntEnum):
    """How chance orders what is equally good."""

    DICE = 0  # anew at every state
    RANKS = 1  # by a rank of each action, drawn for the walk: few components move
    MIXED = 2  # by ranks, but once in sixteen times anew


N_MANNERS = len(Manner)


class Place(IntEnum):
    """Places in `Guidance.registers`."""

    MANNER = 0
    WANTED = 1  # the marks not seen since all have been, as bits
    WALKS = 2  # walks that have begun
    LEFT = 3  # states that the walk may still enter
    SHORTEST = 4  # states of the shortest walks
    PROJECTS = 5  # whether the walk heeds what components need
    AIM = 6  # what it aims at, of `aims`; others are left out


class Guidance(NamedTuple):
    """What the order of transitions depends on; p bounds the successors of a state."""

    distances: np.ndarray  # int32[n_aims, n_states of the property]; see `aims`
    registers: np.ndarray  # int64[len(Place)]
    chance: np.ndarray  # uint64[2], the generator's state; what ranks are made of
    keys: np.ndarray  # int64[p]
    needs: Needs


def make_guidance(
    automaton: PropertyAutomaton,
    n_successors: int,
    seed: int,
    shortest: int,
    needs: Needs | None = None,
) -> Guidance:
    """Return guidance by an automaton, for states of at most so many successors."""
    registers = np.zeros(len(Place), dtype=np.int64)
    registers[Place.SHORTEST] = shortest
    return Guidance(
        distances=aims(automaton),
        registers=registers,
        chance=np.array([seed, 0], dtype=np.uint64),
        keys=np.zeros(n_successors, dtype=np.int64),
        needs=no_needs() if needs is None else needs,
    )


def aims(automaton: PropertyAutomaton) -> np.ndarray:
    """Return the steps from each state of an automaton to an accepting SCC.

    The automaton's condition is without Fin.  Returns int32[n_aims, n_states], `FAR`
    where no accepting SCC can be reached; 0 for all states of an automaton that is
    large.  A second aim are the states that accept all words, if there are others that
    accept some: what leads there is a part of its own (Renault, Duret-Lutz, Kordon &
    Poitrenaud, "Strength-Based Decomposition of the Property Büchi Automaton for Faster
    Model Checking", TACAS 2013).
    """
    if len(automaton.edge_dst) > MOST_EDGES:
        return np.zeros((1, automaton.n_states), dtype=np.int32)
    condition = automaton.condition or generalised_buchi(automaton.n_marks)
    useful = states_on_cycles(automaton, automaton.n_letters, condition.satisfied_by)
    found = [steps_to(automaton, useful)]
    terminal = automaton.universal_states()
    if (useful & ~terminal).any():
        found.append(steps_to(automaton, terminal))
        if found[1][automaton.initial] == FAR:
            found.pop()
    return np.stack(found)


def steps_to(automaton: PropertyAutomaton, goals: np.ndarray) -> np.ndarray:
    """Return the steps from each state to one of the goals, bool[n_states]: int32."""
    found = np.where(goals, 0, FAR).astype(np.int32)
    per_state = np.diff(automaton.first_edge[:: automaton.n_letters])
    src, dst = np.repeat(np.arange(automaton.n_states), per_state), automaton.edge_dst
    while True:
        nearer = found.copy()
        np.minimum.at(nearer, src, np.minimum(found[dst] + 1, FAR))
        if (nearer == found).all():
            return found
        found = nearer


@inlined
def draw(chance):
    """Return the next 64 bits of the generator (Steele, Lea & Flood, OOPSLA 2014)."""
    chance[0] += _STEP
    return mixed(chance[0])


@inlined
def mixed(bits):
    """Return well-mixed bits."""
    bits = (bits ^ (bits >> _U30)) * _MIX_1
    bits = (bits ^ (bits >> _U27)) * _MIX_2
    return bits ^ (bits >> _U31)


@inlined
def chosen(bits, chance, manner):
    """Return 20 of some bits, or of others that are drawn, as the manner has it."""
    if manner != Manner.RANKS:
        drawn = draw(chance)
        if manner == Manner.DICE or (drawn >> _U32) & _SELDOM == _NOTHING:
            bits = drawn
    return np.int64(bits >> _U44)


@inlined
def chance_of(guidance, action):
    """Return what chance gives a transition, 20 bits."""
    bits = mixed(guidance.chance[1] + np.uint64(action + 2) * _STEP)
    return chosen(bits, guidance.chance, guidance.registers[Place.MANNER])


@inlined
def key_of(product, guidance, i, good, wanted):
    """Return how good successor `i` is: by the property, by needs, and by chance.

    Chance is worth as much as some steps that are needed.
    """
    key = (good << _GOOD) + chance_of(guidance, product.row_actions[i])
    if guidance.registers[Place.PROJECTS] == 0:
        return key
    row = product.rows[i]
    aim = guidance.registers[Place.AIM] * guidance.distances.shape[1]
    steps = needed(guidance.needs, row, aim + property_state(product, row), wanted)
    return key - (min(steps, MOST_NEEDED) << _STEPS)


@inlined
def arrange(product, n, src, guidance):
    """Put the best of `n` successors first, drop hopeless ones; return how many stay.

    They are those that `successors` has written for a state whose property's state is
    `src`; hopeless are those from which no run is accepted.  Sorted after D. L. Shell,
    "A High-Speed Sorting Procedure", CACM 2(7), 1959, pp. 30-32: a state may have
    millions of successors.
    """
    rows, marks, actions = product.rows, product.marks, product.row_actions
    keys, distances = guidance.keys, guidance.distances[guidance.registers[Place.AIM]]
    wanted = np.uint32(guidance.registers[Place.WANTED])
    here = np.int64(distances[src])
    kept = 0
    for i in range(n):
        there = np.int64(distances[property_state(product, rows[i])])
        if there >= FAR:
            continue
        good = here - there + popcount(marks[i] & wanted)
        key = key_of(product, guidance, i, good, wanted)
        copy_row(rows, i, rows, kept)
        marks[kept] = marks[i]
        actions[kept] = actions[i]
        keys[kept] = key
        kept += 1
    gap = 1
    while gap * _FEW < kept:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, kept):
            at = i
            while at >= gap and keys[at - gap] < keys[at]:
                exchange(product, keys, at - gap, at)
                at -= gap
        gap //= 3
    return kept


@inlined
def exchange(product, keys, i, j):
    """Let two successors change places."""
    rows, marks, actions = product.rows, product.marks, product.row_actions
    keys[i], keys[j] = keys[j], keys[i]
    for w in range(rows.shape[1]):
        rows[i, w], rows[j, w] = rows[j, w], rows[i, w]
    marks[i], marks[j] = marks[j], marks[i]
    actions[i], actions[j] = actions[j], actions[i]


@inlined
def note_marks(guidance, marks, full):
    """Note that a transition with these marks is taken."""
    wanted = np.uint32(guidance.registers[Place.WANTED]) & ~marks
    if wanted == 0:
        wanted = full
    guidance.registers[Place.WANTED] = wanted


@inlined
def length_of(number, shortest):
    """Return the states of walk `number`, counted from 1."""
    turn = number // N_MANNERS
    length = shortest
    while turn > 0 and turn & 1 == 0 and length < LONGEST:
        turn >>= 1
        length *= 4
    return length


@inlined
def begin_walk(guidance, full):
    """Begin a walk, the first with number 1: its length, its manner, and its ranks."""
    registers = guidance.registers
    registers[Place.WALKS] += 1
    number = registers[Place.WALKS]
    registers[Place.LEFT] = length_of(number, registers[Place.SHORTEST])
    registers[Place.MANNER] = number % N_MANNERS
    registers[Place.WANTED] = full
    guidance.chance[1] = draw(guidance.chance)
    registers[Place.AIM] = 0
    if guidance.distances.shape[0] > 1:
        registers[Place.AIM] = np.int64(draw(guidance.chance) >> _U63)
    registers[Place.PROJECTS] = 0
    if guidance.needs.first_goal.shape[0] > 0:
        registers[Place.PROJECTS] = np.int64(draw(guidance.chance) >> _U63)


@inlined
def store_rows(product, store, registers, numbers, n):
    """Store the first `n` rows of the product's buffer."""
    rows, ids, hashes = product.rows, product.ids, product.hashes
    intern(store, registers, rows, n, ids, hashes, numbers, 0)


@inlined
def visit_guided(expand, product, store, registers, guidance, numbers, state, marks):
    """Generate the successors of a state entered with `marks`, in order; return n.

    See `ltlpipe.search.product.visit_successors`.
    """
    guidance.registers[Place.LEFT] -= 1
    note_marks(guidance, marks, np.uint32(product.settings[Setting.FULL]))
    row = row_of(product, store, state)
    src = property_state(product, row)
    n = successors(expand, product, row)
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    n = arrange(product, n, src, guidance)
    store_rows(product, store, registers, numbers, n)
    return n
