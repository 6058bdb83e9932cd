"""Walks through a net that generate one successor at a time, and store none.

A walk changes one marking, in place: firing a transition costs what its arcs and those
of the places that it changes cost, however many places the net has.  The transitions
that are enabled, the values of the inequalities that propositions are made of, and a
hash of the marking are kept up to date.  A step is taken back by firing in reverse.

A walk is steered by *goals* (`ltlpipe.search.net_goals`): inequalities that bring the
property's automaton nearer to acceptance, or to a mark that is wanted.  Of the enabled
transitions the best is tried first: one that a goal's *plan* has left, then one that
brings the goal's inequalities nearer, then by chance.  One after which the property has
no way on is taken back, and the next one tried.  Where none is left the walk goes some
steps back.

It has found a run where the property accepts every word, if any continuation counts,
or where marking and state of the property are those of an earlier step and the
steps between have all marks of a clause.

Sources: J. F. Jensen, T. Nielsen, L. K. Oestergaard and J. Srba, "TAPAAL and
Reachability Analysis of P/T Nets", ToPNoC XI, LNCS 9930, 2016, pp. 307-318 (distances
of markings to propositions); K. Schmidt, "Narrowing Petri Net State Spaces Using the
State Equation", Fundamenta Informaticae 47, 2001 (plans: Parikh vectors); lengths as in
`ltlpipe.search.scc.couvreur99`.

Differences from the sources: best first by one path that goes back at random, not by a
queue of markings, which long rows leave no room for.

Invariants, asserted by `assert_consistent`: what is kept up to date is what the marking
says, and the marking what the steps lead to.

Cost: a few numbers per place, transition and arc, 24 bytes per step of the longest walk.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import normal_form
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.driver import Resumable
from ltlpipe.search.guidance import FAR, Manner, draw, mixed
from ltlpipe.search.paths import popcount
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.search.net_goals import Goals

SHORTEST = 512
"""Steps of the shortest walks."""

LONGEST = 1 << 17
"""Steps of the longest."""

_N_MANNERS = 8
_N_ORDERS = len(Manner)
_MOST_TRIED = 1 << 10  # enabled transitions that are compared
_MOST_TAKEN_BACK = 8  # of the steps from one marking
_MOST_STUCK = 64  # times that a walk goes back
_MOST_ATTEMPTS = 8  # for each step, those taken back counted
_MOST_GAIN = 1 << 10
_PROBES = 4
_EXAMINED_WORK = 0.005  # microseconds, of an arc or an enabled transition
_U44, _U32, _U1 = np.uint64(44), np.uint64(32), np.uint64(1)
_GOLD = np.uint64(0x9E3779B97F4A7C15)
_REST = -1  # the action of a marking that repeats itself


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


class Table(NamedTuple):
    """The property's automaton."""

    first_edge: np.ndarray  # int64[n_states * n_letters + 1]
    dst: np.ndarray  # int64[m]
    marks: np.ndarray  # uint32[m]
    distances: np.ndarray  # int64[n_aims, n_states], see `guidance.aims`
    ends: np.ndarray  # bool[n_states]: every continuation is accepted and counts
    clauses: np.ndarray  # uint32[c]: marks of an accepting cycle
    n_letters: np.ndarray  # int64[1]


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
    actions: np.ndarray  # int32[LONGEST]
    states: np.ndarray  # int32[LONGEST + 1], of the property
    marks: np.ndarray  # uint32[LONGEST]
    latest: np.ndarray  # int64[n_marks], steps in which each mark has been seen last
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
def begin(frame, table, goals, walk):
    """Begin a walk in the initial marking; return the work."""
    at, chance = walk.at, walk.chance
    at[At.WALKS] += 1
    number = at[At.WALKS]
    length, turn = np.int64(SHORTEST), number // (2 * _N_MANNERS)
    while turn > 0 and turn & 1 == 0 and length < LONGEST:
        turn >>= 1
        length *= 4
    at[At.LENGTH] = min(length, LONGEST)
    at[At.STEPS] = at[At.STUCK] = 0
    at[At.MANNER] = (number >> 1) % _N_MANNERS
    at[At.WANTED] = at[At.FULL]
    at[At.STATE] = walk.states[0]
    chance[1] = draw(chance)
    chance[2] = 0
    at[At.AIM] = np.int64(draw(chance) >> _U32) % table.distances.shape[0]
    copy(frame.initial, walk.marking)
    copy(frame.lacking, walk.lacking)
    copy(frame.values, walk.values)
    copy(frame.held, walk.held)
    for transition in range(walk.left.shape[0]):
        walk.place_of[transition] = -1
        walk.left[transition] = 0
    for row in range(walk.is_goal.shape[0]):
        walk.is_goal[row] = False
    at[At.GOAL] = at[At.GOAL_OF] = -1
    at[At.LETTER] = frame.letter[0]
    at[At.N_ENABLED] = 0
    for transition in range(frame.lacking.shape[0]):
        if frame.lacking[transition] == 0:
            enable(walk, transition)
    note_key(walk, 0)
    return 2 * (frame.initial.shape[0] + frame.lacking.shape[0])


@inlined
def note_key(walk, step):
    """Enter a step by its marking and state; return an earlier one with these, or -1."""
    key = mixed(walk.chance[2] + np.uint64(walk.at[At.STATE] + 1) * _GOLD)
    walk.keys[step] = key
    mask = np.int64(4 * walk.at[At.LENGTH] - 1)
    slot = np.int64(key & np.uint64(mask))
    free = slot
    for probe in range(_PROBES):
        here = (slot + probe) & mask
        other = np.int64(walk.slots[here])
        if other >= step:
            free = here
        elif walk.keys[other] == key:
            return other
        elif (here - np.int64(walk.keys[other] & np.uint64(mask))) & mask >= _PROBES:
            free = here  # what it was there for is gone
    walk.slots[free] = step
    return np.int64(-1)


@specialised
def choose_edge(table, walk):
    """Return the best transition of the automaton on the marking's letter, or -1."""
    at = walk.at
    state, wanted = at[At.STATE], np.uint32(at[At.WANTED])
    cell = state * table.n_letters[0] + at[At.LETTER]
    aim = at[At.AIM]
    here = table.distances[aim, state]
    # A guess that comes too early ends in a state that has no way on.
    hurries = at[At.MANNER] & 1 == 0 or draw(walk.chance) >> np.uint64(60) == 0
    best, best_key = np.int64(-1), np.int64(-1)
    for edge in range(table.first_edge[cell], table.first_edge[cell + 1]):
        there = table.distances[aim, table.dst[edge]]
        if there >= FAR:
            continue
        good = popcount(table.marks[edge] & wanted) + np.int64(64)
        if hurries:
            good += here - there
        elif there >= here:
            good += 64
        key = (max(good, 0) << 20) + np.int64(draw(walk.chance) >> _U44)
        if key > best_key:
            best, best_key = edge, key
    return best


@inlined
def has_way(table, walk, state):
    """Whether the property has a way on from a state with the marking's letter."""
    cell = state * table.n_letters[0] + walk.at[At.LETTER]
    for edge in range(table.first_edge[cell], table.first_edge[cell + 1]):
        if table.distances[walk.at[At.AIM], table.dst[edge]] < FAR:
            return True
    return False


@specialised
def set_goal(goals, walk, cell, wanted):
    """Choose a goal of those of a state and an aim, by chance; return the work."""
    at = walk.at
    work = np.int64(1)
    if at[At.GOAL] >= 0:
        old = at[At.GOAL]
        for k in range(goals.row_first[old], goals.row_first[old + 1]):
            walk.is_goal[goals.row[k]] = False
        for k in range(goals.plan_first[old], goals.plan_first[old + 1]):
            walk.left[goals.plan[k]] = 0
        work += goals.plan_first[old + 1] - goals.plan_first[old]
    at[At.GOAL], at[At.GOAL_OF] = -1, cell
    n = np.uint64(0)
    for goal in range(goals.first[cell], goals.first[cell + 1]):
        marks = goals.marks[goal]
        if marks != 0 and marks & wanted == 0:
            continue
        n += _U1
        if draw(walk.chance) % n == 0:
            at[At.GOAL] = goal
    goal = at[At.GOAL]
    if goal >= 0:
        for k in range(goals.row_first[goal], goals.row_first[goal + 1]):
            walk.is_goal[goals.row[k]] = True
        for k in range(goals.plan_first[goal], goals.plan_first[goal + 1]):
            walk.left[goals.plan[k]] = goals.plan_count[k]
        work += goals.plan_first[goal + 1] - goals.plan_first[goal]
    return work


@inlined
def gain_of(frame, walk, transition):
    """Return by how much a transition brings the goal's inequalities nearer."""
    gain = np.int64(0)
    for k in range(frame.row_first[transition], frame.row_first[transition + 1]):
        row = frame.row[k]
        if walk.is_goal[row]:
            value = walk.values[row]
            gain += max(value, 0) - max(value + frame.row_change[k], 0)
    return min(max(gain, -_MOST_GAIN), _MOST_GAIN)


@inlined
def chance_of(walk, transition):
    """Return what chance gives a transition, 20 bits; see `guidance.Manner`."""
    manner = (walk.at[At.MANNER] >> 1) % _N_ORDERS
    bits = mixed(walk.chance[1] + np.uint64(transition + 2) * _GOLD)
    if manner != Manner.RANKS:
        drawn = draw(walk.chance)
        if manner == Manner.DICE or (drawn >> _U32) & np.uint64(15) == 0:
            bits = drawn
    return np.int64(bits >> _U44)


@specialised
def best_of(frame, walk, attempt):
    """Return the best enabled transition not taken back in this attempt, or -1."""
    n = walk.at[At.N_ENABLED]
    best, best_key = np.int64(-1), np.int64(-1 << 62)
    if n == 0:
        return best
    steers = walk.at[At.GOAL] >= 0 and walk.at[At.MANNER] != _N_MANNERS - 1
    plans = walk.at[At.WALKS] & 1 == 0  # in every other walk
    first = np.int64(0)
    if n > _MOST_TRIED:
        bits = draw(walk.chance)
        if walk.at[At.STUCK] == 0 and bits & np.uint64(15) != 0:
            bits = walk.chance[1]  # some of them, as long as they lead on
        first = np.int64((bits >> _U32) % np.uint64(n))
    for k in range(min(n, _MOST_TRIED)):
        at = first + k
        if at >= n:
            at -= n
        transition = walk.enabled[at]
        if walk.tried[transition] == attempt:
            continue
        key = chance_of(walk, transition)
        if steers:
            key += gain_of(frame, walk, transition) << 20
            if plans and walk.left[transition] > 0:
                key += np.int64(1) << 40
        if key > best_key:
            best, best_key = transition, key
    return best


@specialised
def go_back(frame, walk):
    """Take back some steps of a walk that is stuck; return the work."""
    at = walk.at
    at[At.STUCK] += 1
    n_back = np.int64(1) << min(at[At.STUCK] >> 2, 16)
    n_back = 1 + np.int64((draw(walk.chance) >> _U32) % np.uint64(n_back))
    work = np.int64(0)
    for _ in range(min(n_back, at[At.STEPS])):
        at[At.STEPS] -= 1
        action = np.int64(walk.actions[at[At.STEPS]])
        if action != _REST:
            work += fire(frame, walk, action, -1)
    at[At.STATE] = walk.states[at[At.STEPS]]
    walk.chance[1] = draw(walk.chance)
    return work


@specialised
def closes(frame, table, walk, first, last):
    """Whether the steps from one to before another make an accepting cycle."""
    marks, accepted = np.uint32(0), False
    for mark in range(walk.latest.shape[0]):  # of steps taken back, too: at least all
        if walk.latest[mark] >= first:
            marks |= np.uint32(1) << np.uint32(mark)
    for k in range(table.clauses.shape[0]):
        accepted |= marks & table.clauses[k] == table.clauses[k]
    if not accepted:
        return False
    marks, accepted = np.uint32(0), False
    for step in range(first, last):
        marks |= walk.marks[step]
    for k in range(table.clauses.shape[0]):
        accepted |= marks & table.clauses[k] == table.clauses[k]
    if not accepted:
        return False
    # The hash tells that the marking is the same; this makes certain.
    change = walk.change  # all 0
    for step in range(first, last):
        action = np.int64(walk.actions[step])
        if action != _REST:
            for k in range(frame.change_first[action], frame.change_first[action + 1]):
                change[frame.change_place[k]] += frame.change[k]
    is_same = True
    for place in range(change.shape[0]):
        is_same &= change[place] == 0
        change[place] = 0
    return is_same


@njit
def net_walks_step(frame, table, goals, walk, registers, budget):
    """Take at most `budget` >= 1 steps, of one walk after the other.

    Returns a Status: RUNNING, FOUND, when the steps of the walk are an accepting run
    that closes at step ``Reg.CLOSING``, LIMIT, or EMPTY, when no run can begin.
    """
    at = walk.at
    full = np.uint32(at[At.FULL])
    while budget > 0:
        budget -= 1
        registers[Reg.EXPANSIONS] += 1
        attempt = registers[Reg.EXPANSIONS]
        most, step = registers[Reg.MAX_STATES], at[At.STEPS]
        if registers[Reg.VISITED] >= most or attempt > _MOST_ATTEMPTS * most:
            return Status.LIMIT
        if step >= at[At.LENGTH] or at[At.STUCK] > _MOST_STUCK:
            registers[Reg.EXAMINED] += begin(frame, table, goals, walk)
            step = 0
        if table.ends[at[At.STATE]]:
            walk.actions[step] = _REST
            at[At.STEPS] = step + 1
            registers[Reg.CLOSING] = step
            return Status.FOUND
        edge = choose_edge(table, walk)
        if edge < 0:
            if step == 0 and at[At.AIM] == 0:
                return Status.EMPTY
            registers[Reg.EXAMINED] += go_back(frame, walk)
            continue
        dst, marks = table.dst[edge], table.marks[edge]
        wanted = np.uint32(at[At.WANTED]) & ~marks
        cell = at[At.AIM] * table.distances.shape[1] + dst
        if cell != at[At.GOAL_OF] or marks & np.uint32(at[At.WANTED]) != 0:
            registers[Reg.EXAMINED] += set_goal(
                goals, walk, cell, wanted if wanted != 0 else full
            )
        action, found, tries = np.int64(_REST), False, 0
        while tries < _MOST_TAKEN_BACK:
            tries += 1
            action = best_of(frame, walk, attempt)
            registers[Reg.EXAMINED] += min(at[At.N_ENABLED], _MOST_TRIED)
            if action < 0:
                break
            registers[Reg.EXAMINED] += fire(frame, walk, action, 1)
            if has_way(table, walk, dst):
                found = True
                break
            registers[Reg.EXAMINED] += fire(frame, walk, action, -1)
            walk.tried[action] = attempt
        if not found:
            rests = at[At.N_ENABLED] == 0 and at[At.STUTTERS] != 0
            if not (rests and has_way(table, walk, dst)):
                registers[Reg.EXAMINED] += go_back(frame, walk)
                continue
            action = _REST
        elif walk.left[action] > 0:
            walk.left[action] -= 1
        at[At.WANTED] = wanted if wanted != 0 else full
        walk.actions[step] = action
        walk.marks[step] = marks
        for mark in range(walk.latest.shape[0]):
            if marks >> np.uint32(mark) & np.uint32(1) != 0:
                walk.latest[mark] = step
        walk.states[step + 1] = dst
        at[At.STATE] = dst
        at[At.STEPS] = step + 1
        registers[Reg.VISITED] += 1
        registers[Reg.TRANSITIONS] += tries
        registers[Reg.DEPTH] = step + 1
        registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], step + 1)
        if step + 1 == at[At.LENGTH]:
            continue
        earlier = note_key(walk, step + 1)
        if earlier >= 0:
            if closes(frame, table, walk, earlier, step + 1):
                registers[Reg.CLOSING] = earlier
                return Status.FOUND
            if action == _REST:
                registers[Reg.EXAMINED] += go_back(frame, walk)
            else:
                walk.chance[1] = draw(walk.chance)
    return Status.RUNNING


class NetWalks(Resumable):
    """Walks through a net in progress.

    Parameters
    ----------
    frame : Frame
        A net, and what its steps change; see `ltlpipe.search.net_goals.frame_of`.
    automaton : PropertyAutomaton
        Of the violations, without Fin.
    goals : Goals
        What the automaton waits for.
    ends : bool[n_states]
        The states in which every continuation is accepted and counts.
    stutters : bool
        Whether markings without successors repeat themselves.
    seed : int
        Other walks for another seed.
    """

    unit_work = 0.05

    def __init__(
        self,
        frame: Frame,
        automaton: PropertyAutomaton,
        goals: Goals,
        ends: np.ndarray,
        *,
        stutters: bool,
        seed: int = 0,
    ) -> None:
        super().__init__()
        full = (1 << automaton.n_marks) - 1
        clauses = [full]
        if automaton.condition is not None:
            clauses = [clause.inf for clause in normal_form(automaton.condition)]
        self.frame, self.goals = frame, goals
        self.table = Table(
            automaton.first_edge.astype(np.int64),
            automaton.edge_dst.astype(np.int64),
            automaton.edge_marks,
            goals.distances,
            np.resize(ends, automaton.n_states)
            if len(ends)
            else np.zeros(automaton.n_states, dtype=np.bool_),
            np.array(clauses, dtype=np.uint32),
            np.array([automaton.n_letters]),
        )
        n_transitions, n_rows = len(frame.lacking), len(frame.values)
        counts = np.zeros((4, n_transitions), dtype=np.int64)
        self.walk = Walk(
            np.zeros(len(At), dtype=np.int64),
            np.array([seed, 0, 0], dtype=np.uint64),
            frame.initial.copy(),
            np.zeros_like(frame.initial),
            *counts[:3],
            frame.values.copy(),
            frame.held.copy(),
            np.zeros(len(frame.held) + 1, dtype=np.int64),
            np.zeros(n_rows, dtype=np.bool_),
            counts[3],
            np.zeros(n_transitions, dtype=np.int64),
            np.zeros(LONGEST, dtype=np.int32),
            np.full(LONGEST + 1, automaton.initial, dtype=np.int32),
            np.zeros(LONGEST, dtype=np.uint32),
            np.zeros(automaton.n_marks, dtype=np.int64),
            np.zeros(LONGEST + 1, dtype=np.uint64),
            np.zeros(4 * LONGEST, dtype=np.int32),
        )
        self.walk.at[At.FULL], self.walk.at[At.STUTTERS] = full, stutters

    @property
    def work_per_step(self) -> float:
        """Microseconds that a step takes, roughly, by those taken so far."""
        work = _EXAMINED_WORK * int(self.registers[Reg.EXAMINED])
        return max(self.unit_work, work / max(self.n_steps, 1))

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        parts = (self.frame, self.table, self.goals, self.walk)
        return sum(array.nbytes for part in parts for array in part)

    def kernel_call(self, budget: int) -> tuple[Any, tuple[Any, ...]]:
        """Return the kernel and its arguments."""
        return net_walks_step, (
            self.frame, self.table, self.goals, self.walk, self.registers, budget,
        )  # fmt: skip

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        """Do nothing: arrays are as long as they will ever be."""
        yield from ()

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {"walks": int(self.walk.at[At.WALKS])}

    def coverage(self) -> float | None:
        """Return None: walks do not count what they have seen."""
        return None

    def run(self) -> tuple[np.ndarray, int]:
        """Return the actions of the run that was found, int32[n], and its prefix."""
        actions = self.walk.actions[: self.walk.at[At.STEPS]].copy()
        return actions, int(self.registers[Reg.CLOSING])

    def assert_consistent(self) -> None:
        """Check the invariants that the module states, and that tables agree."""
        frame, walk = self.frame, self.walk
        steps = int(walk.at[At.STEPS])
        if not walk.at[At.WALKS]:
            return
        marking = frame.initial.copy()
        values = frame.values.copy()
        for action in walk.actions[:steps].tolist():
            if action >= 0:
                own = slice(frame.change_first[action], frame.change_first[action + 1])
                marking[frame.change_place[own]] += frame.change[own]
                own = slice(frame.row_first[action], frame.row_first[action + 1])
                values[frame.row[own]] += frame.row_change[own]
        assert walk.marking.tolist() == marking.tolist()
        assert walk.values.tolist() == values.tolist()
        users = np.repeat(np.arange(len(marking)), np.diff(frame.user_first))
        lacks = frame.user[marking[users] < frame.user_needs]
        lacking = np.bincount(lacks, minlength=len(walk.lacking))
        assert walk.lacking.tolist() == lacking.tolist()
        enabled = walk.enabled[: walk.at[At.N_ENABLED]]
        assert sorted(enabled.tolist()) == np.flatnonzero(lacking == 0).tolist()
        holds = np.r_[
            values <= 0, walk.held[len(values) :] >= frame.least[len(values) :]
        ]
        nodes = np.repeat(np.arange(len(holds)), np.diff(frame.parent_first))
        held = np.bincount(frame.parent[holds[nodes]], minlength=len(holds))
        assert walk.held.tolist() == held.tolist()
