"""Tables for walks through a net: propositions step by step, and what is aimed at.

A *goal* is a conjunction of inequalities.  A state of the property's automaton has
goals for the letters by which it comes nearer to acceptance, or by which it has a mark:
these letters are written as conjunctions of propositions and their negations, and of
each disjunction in them one part is chosen, in several ways.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.linear.constraints import constraint_of, key_of, rows_in
from ltlpipe.runtime.arrays import group_begins, ranges
from ltlpipe.search.guidance import aims
from ltlpipe.search.net_firing import Frame
from ltlpipe.search.net_walks import Goals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.net import PetriNet

_MOST_CUBES = 8
"""Conjunctions for the letters of one goal."""

_VARIANTS = 4
"""Choices of parts of disjunctions for each."""

_MOST_GOALS = 1 << 12

Cube = tuple[tuple[int, bool], ...]


def waited_for(
    table: PropertyAutomaton, far: np.ndarray
) -> list[list[tuple[int, Cube]]]:
    """Return for each state marks and conjunctions that bring the property nearer."""
    n_letters = table.n_letters
    sizes = np.diff(table.first_edge)
    cells = np.repeat(np.arange(len(sizes)), sizes)
    src, letter = cells // n_letters, cells % n_letters
    there, here = far[table.edge_dst], far[src]
    found: list[list[tuple[int, Cube]]] = []
    for state in range(table.n_states):
        own: list[tuple[int, Cube]] = []
        of_state = src == state
        wanted = [(0, of_state & (there < here))]
        for mark in range(table.n_marks):
            has = (table.edge_marks >> np.uint32(mark)) & np.uint32(1) == 1
            wanted.append((1 << mark, of_state & (there == 0) & (here == 0) & has))
        for marks, edges in wanted:
            letters = np.zeros(n_letters, dtype=np.bool_)
            letters[letter[edges]] = True
            if letters.any() and not letters.all():
                own += [(marks, cube) for cube in cubes(letters)]
        found.append(own)
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
) -> tuple[Frame, Goals, list[list[Constraint]]]:
    """Return the tables of a net, whose propositions are about markings and linear.

    The last are the rows of each goal.
    """
    tokens = net.initial()
    rows = _Rows()
    roots = [constraint_of(own, holds=True) for own in propositions]
    for root in roots:
        for row in rows_in(root):
            rows.number(row)
    sides = [constraint_of(own, holds=False) for own in propositions], roots

    def gap(row: Constraint) -> int:
        return max(sum(w * tokens[p] for p, w in row[1]) + row[2], 0)

    rng = random.Random(seed)
    far = aims(automaton)
    listed: list[list[tuple[int, tuple[int, ...]]]] = []
    n_goals = 0
    for aim in far:
        for own in waited_for(automaton, aim):
            goals: dict[tuple[int, tuple[int, ...]], None] = {}
            for marks, cube in own if n_goals < _MOST_GOALS else ():
                for variant in range(_VARIANTS):
                    by = rng if variant else None
                    parts = [
                        row
                        for k, value in cube
                        for row in chosen(sides[value][k], gap, by)
                    ]
                    goals[marks, tuple(sorted({rows.number(r) for r in parts}))] = None
            listed.append([*goals])
            n_goals += len(goals)
    flat = [goal for own in listed for goal in own]
    none = np.zeros(0, dtype=np.int64)
    goal_tables = Goals(
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
    return frame_of(net, roots, rows), goal_tables, wanted


def frame_of(net: PetriNet, roots: Sequence[Constraint], rows: _Rows) -> Frame:
    """Return the tables of a net and its propositions."""
    n_transitions = len(net.transitions)
    every = np.arange(n_transitions)
    initial = np.array(net.initial(), dtype=np.int64)
    owner, place, change = net.effects(every)
    needs_owner, needs_place, needs = net.needs.of(every)
    lacks = initial[needs_place] < needs
    users = np.argsort(needs_place, kind="stable")
    row_first, row, row_change = _of_rows(
        rows.rows, owner, place, change, n_transitions, len(initial)
    )
    values = [r[2] + sum(w * int(initial[p]) for p, w in r[1]) for r in rows.rows]
    nodes = _Nodes(rows, values)
    letter = 0
    for bit, root in enumerate(roots):
        letter |= nodes.enter_root(root, 1 << bit)
    parents = [sorted(own) for own in nodes.parents]
    return Frame(
        initial,
        np.random.default_rng(1).integers(1, 1 << 63, len(initial), dtype=np.uint64),
        _firsts(owner, n_transitions),
        place,
        change,
        _firsts(needs_place[users], len(initial)),
        needs_owner[users],
        needs[users],
        np.bincount(needs_owner[lacks], minlength=n_transitions),
        row_first,
        row,
        row_change,
        np.array(values, dtype=np.int64),
        np.cumsum([0, *map(len, parents)]),
        np.array([p for own in parents for p in own], dtype=np.int64),
        np.array(nodes.least, dtype=np.int64),
        np.array(nodes.held, dtype=np.int64),
        np.array(nodes.bits, dtype=np.int64),
        np.array([letter]),
    )


def _firsts(owner: np.ndarray, n: int) -> np.ndarray:
    """Return where the entries of each of n ascending owners begin, int64[n + 1]."""
    return np.searchsorted(owner, np.arange(n + 1))


def _of_rows(
    rows: Sequence[Constraint],
    owner: np.ndarray,
    place: np.ndarray,
    change: np.ndarray,
    n_transitions: int,
    n_places: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return by how much transitions change inequalities."""
    order = np.argsort(place, kind="stable")
    owner, place, change = owner[order], place[order], change[order]
    first = _firsts(place, n_places)
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
    begins = group_begins(by, which)
    sums = np.add.reduceat(total, begins) if len(total) else total
    by, which = by[begins], which[begins]
    kept = sums != 0
    return _firsts(by[kept], n_transitions), which[kept], sums[kept]


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
