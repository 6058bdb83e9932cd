"""Walks through a net that generate one successor at a time, and store none.

A walk changes one marking, in place (`ltlpipe.search.net_firing`).  It is steered by
*goals* (`ltlpipe.strategies.net_walks`): inequalities that bring the
property's automaton nearer to acceptance, or to a mark that is wanted.  Of the enabled
transitions the best is tried first: one that a goal's *plan* has left, then one that
brings the goal's inequalities nearer, then by chance; before all others one that closes
an accepting cycle, which the hash of the marking behind it tells.  One after which the
property has no way on is taken back, and the next one tried.  Where none is left the
walk goes some steps back.

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

Invariants, asserted by `tests.invariants`: what is kept up to date is what the marking
says, and the marking what the steps lead to.

Cost: beside the tables of the net some 36 bytes per step of the longest walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import normal_form
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.driver import Resumable
from ltlpipe.search.guidance import FAR, Manner, chosen, draw, mixed
from ltlpipe.search.net_firing import (
    LONGEST,
    REST,
    At,
    Frame,
    Walk,
    fire,
    repeats,
    rewind,
)
from ltlpipe.search.paths import popcount
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton

SHORTEST = 512
"""Steps of the shortest walks."""

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
_NONE = -2  # no step can be taken


class Goals(NamedTuple):
    """What the property's states wait for; a cell is an aim and a state."""

    distances: np.ndarray  # int64[n_aims, n_states], see `guidance.aims`
    first: np.ndarray  # int64[n_cells + 1]
    marks: np.ndarray  # uint32[n_goals], which it has then; 0: it comes nearer
    row_first: np.ndarray  # int64[n_goals + 1]
    row: np.ndarray  # int64[...], the inequalities of each goal
    plan_first: np.ndarray  # int64[n_goals + 1]
    plan: np.ndarray  # int64[...], the transitions of each plan
    plan_count: np.ndarray  # int64[...], how often

    def planned(self, plans: Sequence[Sequence[Sequence[int]]]) -> Goals:
        """Return goals of which the first ones have plans: transitions, how often."""
        sizes = np.zeros(len(self.marks) + 1, dtype=np.int64)
        sizes[1 : len(plans) + 1] = [len(plan[0]) for plan in plans]
        taken, counts = (
            np.array([n for plan in plans for n in plan[k]], dtype=np.int64)
            for k in (0, 1)
        )
        return self._replace(plan_first=np.cumsum(sizes), plan=taken, plan_count=counts)


class Table(NamedTuple):
    """The property's automaton."""

    first_edge: np.ndarray  # int64[n_states * n_letters + 1]
    dst: np.ndarray  # int64[m]
    marks: np.ndarray  # uint32[m]
    distances: np.ndarray  # int64[n_aims, n_states], see `guidance.aims`
    ends: np.ndarray  # bool[n_states]: every continuation is accepted and counts
    clauses: np.ndarray  # uint32[c]: marks of an accepting cycle
    n_letters: np.ndarray  # int64[1]


@specialised
def begin(frame, table, walk):
    """Begin a walk in the initial marking; return the work."""
    at, chance = walk.at, walk.chance
    at[At.WALKS] += 1
    number = at[At.WALKS]
    length, turn = np.int64(SHORTEST), number // (2 * _N_MANNERS)
    while turn > 0 and turn & 1 == 0 and length < LONGEST:
        turn >>= 1
        length *= 4
    at[At.LENGTH] = min(length, LONGEST)
    at[At.STUCK] = 0
    at[At.MANNER] = (number >> 1) % _N_MANNERS
    at[At.WANTED] = at[At.FULL]
    at[At.STATE] = walk.states[0]
    chance[1] = draw(chance)
    at[At.AIM] = np.int64(draw(chance) >> _U32) % table.distances.shape[0]
    for transition in range(walk.left.shape[0]):
        walk.left[transition] = 0
    for row in range(walk.is_goal.shape[0]):
        walk.is_goal[row] = False
    for mark in range(walk.latest.shape[0]):
        walk.latest[mark] = -1
    at[At.GOAL] = at[At.GOAL_OF] = -1
    work = rewind(frame, walk)
    note_key(walk, 0)
    return work


@inlined
def key_of(walk, change, state):
    """Return the key of the marking after a change of its hash, and of a state."""
    return mixed(walk.chance[2] + change + np.uint64(state + 1) * _GOLD)


@inlined
def step_with(walk, key, end):
    """Return a step before `end` that has a key, or -1."""
    mask = np.uint64(4 * walk.at[At.LENGTH] - 1)
    for probe in range(_PROBES):
        step = np.int64(walk.slots[np.int64(key + np.uint64(probe) & mask)])
        if step < end and walk.keys[step] == key:
            return step
    return np.int64(-1)


@inlined
def note_key(walk, step):
    """Enter a step by its marking and state; return one before with these, or -1."""
    key = key_of(walk, np.uint64(0), walk.at[At.STATE])
    earlier = step_with(walk, key, step)
    walk.keys[step] = key
    if earlier >= 0:
        return earlier
    mask = np.uint64(4 * walk.at[At.LENGTH] - 1)
    free = np.int64(key & mask)
    for probe in range(_PROBES):
        slot = key + np.uint64(probe) & mask
        other = np.int64(walk.slots[np.int64(slot)])
        # It is free if what it was there for is gone.
        if other >= step or (slot - walk.keys[other]) & mask >= np.uint64(_PROBES):
            free = np.int64(slot)
    walk.slots[free] = step
    return earlier


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
            best, best_key = np.int64(edge), key
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
    return chosen(bits, walk.chance, manner)


@inlined
def accepts(table, marks):
    """Whether these marks accept."""
    accepted = False
    for k in range(table.clauses.shape[0]):
        accepted |= marks & table.clauses[k] == table.clauses[k]
    return accepted


@inlined
def may_accept(table, walk, first, marks):
    """Whether `marks` and those known of the steps from one on accept."""
    for mark in range(walk.latest.shape[0]):
        if walk.latest[mark] >= first:
            marks |= np.uint32(1) << np.uint32(mark)
    return accepts(table, marks)


@specialised
def best_of(frame, table, walk, attempt, dst, marks):
    """Return the best enabled transition not taken back in this attempt, or -1.

    One that may close an accepting cycle is the best, if the property comes to `dst`
    with `marks`.
    """
    n = walk.at[At.N_ENABLED]
    best, best_key = np.int64(-1), np.int64(-1 << 62)
    if n == 0:
        return best
    steers = walk.at[At.GOAL] >= 0 and walk.at[At.MANNER] != _N_MANNERS - 1
    plans = walk.at[At.WALKS] & 1 == 0  # in every other walk
    may_close = table.distances[0, dst] == 0
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
        if may_close:
            after = key_of(walk, frame.hash_change[transition], dst)
            earlier = step_with(walk, after, walk.at[At.STEPS] + 1)
            if earlier >= 0 and may_accept(table, walk, earlier, marks):
                return transition
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
        if action != REST:
            work += fire(frame, walk, action, -1)
    at[At.STATE] = walk.states[at[At.STEPS]]
    for mark in range(walk.latest.shape[0]):
        if walk.latest[mark] >= at[At.STEPS]:
            walk.latest[mark] = -1
    walk.chance[1] = draw(walk.chance)
    return work


@specialised
def closes(frame, table, walk, first, last):
    """Whether the steps from one to before another make an accepting cycle."""
    marks = np.uint32(0)
    if not may_accept(table, walk, first, marks):
        return False  # without a look at many steps
    for step in range(first, last):
        marks |= walk.marks[step]
    # The hash tells that the marking is the same; this makes certain.
    return accepts(table, marks) and repeats(frame, walk, first, last)


@specialised
def take_step(frame, table, walk, registers, dst, marks):
    """Fire the best transition with a way on from the property's state `dst`.

    The property comes there with `marks`.  Returns the transition, or REST where a
    deadlock repeats itself, or _NONE.
    """
    at, attempt = walk.at, registers[Reg.EXPANSIONS]
    if at[At.N_ENABLED] == 0:
        rests = at[At.STUTTERS] != 0 and has_way(table, walk, dst)
        return np.int64(REST if rests else _NONE)
    for _ in range(_MOST_TAKEN_BACK):
        action = best_of(frame, table, walk, attempt, dst, marks)
        registers[Reg.EXAMINED] += min(at[At.N_ENABLED], _MOST_TRIED)
        if action < 0:
            break
        registers[Reg.TRANSITIONS] += 1
        registers[Reg.EXAMINED] += fire(frame, walk, action, 1)
        if has_way(table, walk, dst):
            walk.left[action] -= walk.left[action] > 0
            return action
        registers[Reg.EXAMINED] += fire(frame, walk, action, -1)
        walk.tried[action] = attempt
    return np.int64(_NONE)


@inlined
def note_step(walk, registers, action, dst, marks):
    """Note a step that has been taken."""
    at = walk.at
    step = at[At.STEPS]
    walk.actions[step] = action
    walk.marks[step] = marks
    for mark in range(walk.latest.shape[0]):
        if marks >> np.uint32(mark) & np.uint32(1) != 0:
            walk.latest[mark] = step
    walk.states[step + 1] = dst
    at[At.STATE] = dst
    at[At.STEPS] = step + 1
    registers[Reg.VISITED] += 1
    registers[Reg.DEPTH] = step + 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], step + 1)


@njit
def net_walks_step(frame, table, goals, walk, registers, budget):
    """Take at most `budget` >= 1 steps, of one walk after the other.

    Returns a Status: RUNNING, FOUND, when the steps of the walk are an accepting run
    that closes at step ``Reg.CLOSING``, LIMIT, or EMPTY, when no run can begin.
    """
    at = walk.at
    full = np.uint32(at[At.FULL])
    for _ in range(budget):
        most = registers[Reg.MAX_STATES]
        if table.ends[at[At.STATE]]:
            note_step(walk, registers, REST, at[At.STATE], full)
            registers[Reg.CLOSING] = at[At.STEPS] - 1
            return Status.FOUND
        if (
            registers[Reg.VISITED] >= most
            or registers[Reg.EXPANSIONS] >= _MOST_ATTEMPTS * most
        ):
            return Status.LIMIT
        registers[Reg.EXPANSIONS] += 1
        if at[At.STEPS] >= at[At.LENGTH] or at[At.STUCK] > _MOST_STUCK:
            registers[Reg.EXAMINED] += begin(frame, table, walk)
        edge = choose_edge(table, walk)
        if edge < 0:
            if at[At.STEPS] == 0 and at[At.AIM] == 0:
                return Status.EMPTY
            registers[Reg.EXAMINED] += go_back(frame, walk)
            continue
        dst, marks = table.dst[edge], table.marks[edge]
        before = np.uint32(at[At.WANTED])
        wanted = before & ~marks
        wanted = wanted if wanted != 0 else full
        cell = at[At.AIM] * table.distances.shape[1] + dst
        if cell != at[At.GOAL_OF] or marks & before != 0:
            registers[Reg.EXAMINED] += set_goal(goals, walk, cell, wanted)
        action = take_step(frame, table, walk, registers, dst, marks)
        if action == _NONE:
            registers[Reg.EXAMINED] += go_back(frame, walk)
            continue
        at[At.WANTED] = wanted
        note_step(walk, registers, action, dst, marks)
        earlier = note_key(walk, at[At.STEPS])
        if earlier < 0:
            continue
        if closes(frame, table, walk, earlier, at[At.STEPS]):
            registers[Reg.CLOSING] = earlier
            return Status.FOUND
        if action == REST:
            registers[Reg.EXAMINED] += go_back(frame, walk)
        walk.chance[1] = draw(walk.chance)  # other ranks, not to come here again
    return Status.RUNNING


class NetWalks(Resumable):
    """Walks through a net in progress.

    Parameters
    ----------
    frame : Frame
        A net, and what its steps change; see `ltlpipe.strategies.net_walks._frame_of`.
    automaton : PropertyAutomaton
        Of the violations, without Fin.
    goals : Goals
        What the automaton waits for.
    ends : bool[n_states] or bool[0]
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
            ends if len(ends) else np.zeros(automaton.n_states, dtype=np.bool_),
            np.array(clauses, dtype=np.uint32),
            np.array([automaton.n_letters]),
        )
        n_transitions, n_rows = len(frame.lacking), len(frame.values)
        counts = [np.zeros(n_transitions, dtype=np.int64) for _ in range(5)]
        self.walk = Walk(
            np.zeros(len(At), dtype=np.int64),
            np.array([seed, 0, 0], dtype=np.uint64),
            frame.initial.copy(),
            np.zeros_like(frame.initial),
            counts[0],
            counts[1],
            counts[2],
            frame.values.copy(),
            frame.held.copy(),
            np.zeros(len(frame.held) + 1, dtype=np.int64),
            np.zeros(n_rows, dtype=np.bool_),
            counts[3],
            counts[4],
            np.zeros(LONGEST + 1, dtype=np.int32),
            np.full(LONGEST + 2, automaton.initial, dtype=np.int32),
            np.zeros(LONGEST + 1, dtype=np.uint32),
            np.zeros(automaton.n_marks, dtype=np.int64),
            np.zeros(LONGEST + 1, dtype=np.uint64),
            np.zeros(4 * LONGEST, dtype=np.int32),
        )
        self.walk.at[At.FULL], self.walk.at[At.STUTTERS] = full, stutters
        self.walk.at[At.STATE] = automaton.initial

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

    def _grow(self, _: float) -> Iterator[None]:
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
