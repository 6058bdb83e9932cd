"""Walks through a place/transition net, one successor at a time.

A *goal* is a conjunction of inequalities.  A state of the property's automaton has
goals for the letters by which it comes nearer to acceptance, or by which it has a mark:
these letters are written as conjunctions of propositions and their negations, and of
each disjunction in them one part is chosen, in several ways.
"""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.linear.constraints import constraint_of, is_exact, key_of, rows_in
from ltlpipe.question.model import ModelQuestion
from ltlpipe.runtime.arrays import begins, group_begins, ranges
from ltlpipe.runtime.jobs import (
    MAX_STATES,
    StoppedError,
    TooMuchWorkError,
    bounded,
    reserved,
)
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.guidance import aims
from ltlpipe.search.net_firing import Frame
from ltlpipe.search.net_walks import Goals, NetWalks
from ltlpipe.strategies.linear import SECONDS, arrays_of, is_too_large
from ltlpipe.strategies.state_search import ends_of, searched
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Outcome
    from ltlpipe.systems.nets.structure import Entries

_MOST_CUBES = 8
"""Conjunctions for the letters of one goal."""

_VARIANTS = 3
"""Choices of parts of disjunctions for each, by chance."""

_MOST_ROWS = 1 << 18
"""Inequalities of all goals, roughly."""

_PER_THING = 0.5  # microseconds, roughly, of an arc or a part of an inequality
_STATE_THINGS = 100  # as many of which a state of the automaton takes at least

Cube = tuple[tuple[int, bool], ...]
Goal = tuple[int, tuple[int, ...]]


def waited_for(
    table: PropertyAutomaton, state: int, far: np.ndarray
) -> list[tuple[int, Cube]]:
    """Return marks and conjunctions that bring the property nearer from a state."""
    n_letters = table.n_letters
    first = table.first_edge[n_letters * state : n_letters * (state + 1) + 1]
    letter = np.repeat(np.arange(n_letters), np.diff(first))
    edges = slice(first[0], first[-1])
    there, here = far[table.edge_dst[edges]], far[state]
    wanted = [(0, there < here)]
    for mark in range(table.n_marks if here == 0 else 0):
        has = (table.edge_marks[edges] >> np.uint32(mark)) & np.uint32(1) == 1
        wanted.append((1 << mark, (there == 0) & has))
    found: list[tuple[int, Cube]] = []
    for marks, chosen_edges in wanted:
        letters = np.zeros(n_letters, dtype=np.bool_)
        letters[letter[chosen_edges]] = True
        if letters.any() and not letters.all():
            found += [(marks, cube) for cube in cubes(letters)]
    return found


def cubes(letters: np.ndarray) -> list[Cube]:
    """Return conjunctions that together have some letters, bool[2 ** n], or many."""
    n = len(letters).bit_length() - 1
    grid = letters.reshape((2,) * n)
    left = grid.copy()
    found: list[Cube] = []
    while left.any() and len(found) < _MOST_CUBES:
        where: list[Any] = [int(k) for k in np.argwhere(left)[0]]
        for axis in range(n):
            wider = [*where[:axis], slice(None), *where[axis + 1 :]]
            if grid[tuple(wider)].all():
                where = wider
        left[tuple(where)] = False
        bits = [(n - 1 - k, bool(w)) for k, w in enumerate(where) if isinstance(w, int)]
        found.append(tuple(bits))
    return found


class _Rows:
    """Inequalities by numbers, in the order in which they are met."""

    def __init__(self) -> None:
        self.rows: list[Constraint] = []
        self._numbers: dict[Any, int] = {}

    def number(self, row: Constraint) -> int:
        """Return the number of an inequality."""
        found = self._numbers.setdefault(key_of(row), len(self.rows))
        if found == len(self.rows):
            self.rows.append(row)
        return found


def chosen(
    constraint: Constraint, gap: Any, rng: random.Random | None
) -> list[Constraint]:
    """Return rows that satisfy a constraint: of disjunctions one part.

    That with the smallest gap, or by chance.
    """
    if constraint[0] == "row":
        return [constraint]
    if constraint[0] == "and":
        return [row for part in constraint[1] for row in chosen(part, gap, rng)]
    if not constraint[1]:
        return []
    if rng is not None:
        return chosen(rng.choice(constraint[1]), gap, rng)
    ways = [chosen(part, gap, rng) for part in constraint[1]]
    return min(ways, key=lambda rows: sum(map(gap, rows)))


def tables_of(
    net: PetriNet,
    propositions: Sequence[Expression],
    automaton: PropertyAutomaton,
    seed: int,
) -> Job[tuple[Frame, Goals, list[list[Constraint]]]]:
    """Return the tables of a net, whose propositions are about markings and linear.

    The last are the rows of each goal.
    """
    ticks = Ticks("planning walks", _PER_THING)
    rows = _Rows()
    sides: tuple[list[Constraint], list[Constraint]] = ([], [])
    for own in propositions:
        for holds in (True, False):
            sides[holds].append(constraint_of(own, holds=holds))
        for row in rows_in(sides[True][-1]):
            rows.number(row)
            yield from ticks.worked(len(row[1]))
    far = aims(automaton)
    listed = yield from _goals_of(net, sides, rows, automaton, far, seed, ticks)
    flat = [goal for own in listed for goal in own]
    none = np.zeros(0, dtype=np.int64)
    goals = Goals(
        far.astype(np.int64),
        np.cumsum([0, *map(len, listed)]),
        np.array([marks for marks, _ in flat], dtype=np.uint32),
        np.cumsum([0, *(len(own) for _, own in flat)]),
        np.array([row for _, own in flat for row in own], dtype=np.int64),
        np.zeros(len(flat) + 1, dtype=np.int64),
        none,
        none,
    )
    wanted = [[rows.rows[row] for row in own] for _, own in flat]
    frame = yield from _frame_of(net, sides[True], rows, ticks)
    return frame, goals, wanted


def _goals_of(
    net: PetriNet,
    sides: tuple[list[Constraint], list[Constraint]],
    rows: _Rows,
    automaton: PropertyAutomaton,
    far: np.ndarray,
    seed: int,
    ticks: Ticks,
) -> Job[list[list[Goal]]]:
    """Return the goals of each aim and state; `sides` negated and not."""
    tokens = net.initial()

    def gap(row: Constraint) -> int:
        value: int = sum(w * tokens[p] for p, w in row[1]) + row[2]
        return max(value, 0)

    rng = random.Random(seed)
    listed: list[list[Goal]] = []
    left = _MOST_ROWS
    for aim, state in product(far, range(automaton.n_states)):
        goals: dict[Goal, None] = {}
        yield from ticks.worked(
            _STATE_THINGS + automaton.n_letters * automaton.n_marks / 16
        )
        for marks, cube in waited_for(automaton, state, aim):
            for by in (None, *[rng] * _VARIANTS) if left > 0 else ():
                own = {
                    rows.number(row)
                    for k, value in cube
                    for row in chosen(sides[value][k], gap, by)
                }
                goals[marks, tuple(sorted(own))] = None
                left -= len(own) + 1
                yield from ticks.worked(sum(len(rows.rows[row][1]) + 1 for row in own))
        listed.append([*goals])
    return listed


def _frame_of(
    net: PetriNet, roots: Sequence[Constraint], rows: _Rows, ticks: Ticks
) -> Job[Frame]:
    """Return the tables of a net and its propositions."""
    n_transitions, n_places = len(net.transitions), len(net.places)
    initial = np.array(net.initial(), dtype=np.int64)
    owner, place, change = yield from _by_pieces(net, net.effects, ticks)
    user, needed, needs = yield from _by_pieces(net, net.needs.of, ticks)
    by_place = np.argsort(needed, kind="stable")
    effects = owner, place, change
    row_first, row, row_change = _of_rows(rows.rows, effects, n_transitions, n_places)
    yield ticks.progress
    values = [r[2] + sum(w * int(initial[p]) for p, w in r[1]) for r in rows.rows]
    nodes = _Nodes(rows, values)
    bits = [nodes.enter_root(root, 1 << bit) for bit, root in enumerate(roots)]
    parents = [sorted(own) for own in nodes.parents]
    hashes = np.random.default_rng(1).integers(1, 1 << 63, n_places, dtype=np.uint64)
    hash_change = np.zeros(n_transitions, dtype=np.uint64)
    np.add.at(hash_change, owner, change.astype(np.uint64) * hashes[place])
    return Frame(
        initial,
        hashes,
        begins(owner, n_transitions),
        place,
        change,
        hash_change,
        begins(needed[by_place], n_places),
        user[by_place],
        needs[by_place],
        np.bincount(user[initial[needed] < needs], minlength=n_transitions),
        row_first,
        row,
        row_change,
        np.array(values, dtype=np.int64),
        np.cumsum([0, *map(len, parents)]),
        np.array([p for own in parents for p in own], dtype=np.int64),
        np.array(nodes.least, dtype=np.int64),
        np.array(nodes.held, dtype=np.int64),
        np.array(nodes.bits, dtype=np.int64),
        np.array([sum(bits)]),
    )


def _by_pieces(
    net: PetriNet, entries_of: Callable[[np.ndarray], Entries], ticks: Ticks
) -> Job[Entries]:
    """Return what transitions have, some thousand at a time."""
    parts = []
    for piece in net.pieces():
        owner, place, number = entries_of(piece)
        parts.append((piece[owner], place, number))
        yield from ticks.worked(len(piece) + len(owner))
    owner, place, number = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return owner, place, number


def _of_rows(
    rows: Sequence[Constraint], effects: Entries, n_transitions: int, n_places: int
) -> Entries:
    """Return by how much transitions change inequalities, and where each begins."""
    owner, place, change = effects
    order = np.argsort(place, kind="stable")
    owner, place, change = owner[order], place[order], change[order]
    first = begins(place, n_places)
    sizes = [len(row[1]) for row in rows]
    which = np.repeat(np.arange(len(rows)), sizes)
    about = np.array([p for row in rows for p, _ in row[1]], dtype=np.int64)
    weight = np.array([w for row in rows for _, w in row[1]], dtype=np.int64)
    counts = first[about + 1] - first[about]
    entry = ranges(first[about], counts)
    which, total = np.repeat(which, counts), np.repeat(weight, counts) * change[entry]
    by = owner[entry]
    order = np.lexsort((which, by))
    by, which, total = by[order], which[order], total[order]
    groups = group_begins(by, which)
    sums = np.add.reduceat(total, groups) if len(total) else total
    by, which = by[groups], which[groups]
    kept = sums != 0
    return begins(by[kept], n_transitions), which[kept], sums[kept]


class _Nodes:
    """The nodes of propositions, rows first."""

    def __init__(self, rows: _Rows, values: list[int]) -> None:
        n = len(values)
        self._rows = rows
        self._holds = [value <= 0 for value in values]
        self.parents: list[set[int]] = [set() for _ in range(n)]
        self.least = [1] * n
        self.held = [0] * n
        self.bits = [0] * n

    def enter_root(self, constraint: Constraint, bit: int) -> int:
        """Enter a proposition with its bit of letters; return the bit if it holds."""
        if not constraint[1]:
            return bit if constraint[0] == "and" else 0
        node = self._enter(constraint)
        self.bits[node] ^= bit
        return bit if self._holds[node] else 0

    def _enter(self, constraint: Constraint) -> int:
        if constraint[0] == "row":
            return self._rows.number(constraint)
        below = {self._enter(part) for part in constraint[1]}
        node = len(self.least)
        for part in below:
            self.parents[part].add(node)
        self.parents.append(set())
        self.least.append(len(below) if constraint[0] == "and" else 1)
        self.held.append(sum(self._holds[part] for part in below))
        self.bits.append(0)
        self._holds.append(self.held[-1] >= self.least[-1])
        return node


UNPLANNED = 20_000
"""Steps of walks before plans are made."""

_MOST_PLANS = 32
_PLANNING = 2_000_000.0  # units of work

MOST_TOKENS = 1 << 24
"""Of a place initially, or of an arc: sums of walks fit into 64 bits."""


def can_walk(question: Question) -> bool:
    """Whether a question is about a net, and judges markings by linear inequalities."""
    if not isinstance(question, ModelQuestion) or question.fairness is not None:
        return False
    net = question.system
    if not isinstance(net, PetriNet):
        return False
    largest = max(
        max(net.initial(), default=0),
        int(net.pre.weight.max(initial=0)),
        int(net.post.weight.max(initial=0)),
    )
    return largest < MOST_TOKENS and all(map(is_exact, question.propositions.values()))


def walk_net(
    question: Question, product: Product, trace: Trace, most: int, work: float
) -> Job[Answer]:
    """Walk through the net of a question, by so many steps and units of work."""
    from ltlpipe.search.driver import advance

    assert isinstance(question, ModelQuestion)
    net, table = question.system, product.table
    assert isinstance(net, PetriNet)
    propositions = list(question.propositions.values())
    seed = question.options.seed or 0
    job = tables_of(net, propositions, table, seed)
    frame, goals, rows = yield from job
    ends = ends_of(question, table, trace)
    walks = NetWalks(frame, table, goals, ends, stutters=question.stutters, seed=seed)
    limit = question.options.max_states
    most = most if limit is None else min(most, limit)

    def advancing() -> Job[Outcome]:
        outcome = yield from advance(walks, max_states=min(most, UNPLANNED))
        left = int(min(most, work / walks.work_per_step))
        if outcome.reason == MAX_STATES and left > UNPLANNED:
            yield from _plan(walks, net, rows)
            outcome = yield from advance(walks, max_states=left)
        return outcome

    return (
        yield from searched(
            question.options, walks, trace, lambda: _run_of(walks), advancing()
        )
    )


def _plan(walks: NetWalks, net: PetriNet, goals: list[list[Constraint]]) -> Job[None]:
    """Make plans for the first goals."""
    from ltlpipe.linear.proof import plans

    if is_too_large(net):
        return
    job = plans(arrays_of(net), goals[:_MOST_PLANS], SECONDS)
    with suppress(TooMuchWorkError, StoppedError, RuntimeError):
        walks.goals = walks.goals.planned((yield from bounded(job, _PLANNING)))


def _run_of(walks: NetWalks) -> Job[Run]:
    """Return the run that walks have found."""
    actions, length = walks.run()
    frame = walks.frame
    states = np.empty((len(actions) + 1, len(frame.initial)), dtype=np.int64)
    yield from reserved("extracting", walks.memory_bytes + states.nbytes)
    ticks = Ticks("extracting", 0.001)
    states[0] = frame.initial
    for step, action in enumerate(actions.tolist()):
        states[step + 1] = states[step]
        if action >= 0:
            own = slice(frame.change_first[action], frame.change_first[action + 1])
            states[step + 1, frame.change_place[own]] += frame.change[own]
        yield from ticks.worked(len(frame.initial) + 1000)
    return Run(actions, states, length)
