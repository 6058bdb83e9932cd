"""Emptiness check for any acceptance condition (``--emptiness tela``).

Decides whether a product has a reachable cycle whose marks satisfy a condition: any
positive Boolean formula over Inf and Fin, without a normal form.

The product is taken apart into SCCs.  As soon as the marks inside a partial SCC
satisfy the condition, a cycle through all of it does.  A complete SCC whose marks do
not satisfy the condition, but whose cycles may (those that avoid some of the marks),
is *taken apart*: marks are chosen that an accepting cycle has to avoid, and the SCC's
states are searched again without the transitions that carry these.  Where there is a
choice, one alternative is searched after the other.

Source: C. Baier, F. Blahoudek, A. Duret-Lutz, J. Klein, D. Müller and J. Strejček,
"Generic Emptiness Check for Fun and Profit", ATVA 2019, LNCS 11781, pp. 445-461.

Differences from the source:

- The source works on a stored automaton.  Here the states of an SCC are stored, and
  the transitions between them are generated again.
- The recursion is a stack of *levels*.  Level 0 is the search of the product; level
  l + 1 takes apart an SCC that level l has just completed.  All levels share the stack
  of the search, the roots and Current; a level leaves the parts below its own alone.
- Marks that every accepting run avoids are avoided from the beginning, and the states
  behind such transitions are searched later, as Bloemen et al. (STTT 2019, Algorithm
  3) do it: for one generalised Rabin pair this is `ltlpipe.search.scc.rabin`.
- Where a condition does not hold of all its marks together, two alternatives of it are
  searched first, each in a pass of its own, as if they were Rabin pairs.  So a
  cycle that avoids some marks is found before the SCC around it is complete, which
  can be the whole product.  With n pairs there are at most n + 1 passes then, if n > 3,
  and n otherwise; and what rabin finds in its k-th pair is found in pass k, if k < 3,
  or pass k + 1 (where both take the pairs in the same order).
- Partial SCCs are judged, too, which finds cycles before an SCC is complete.
- How a condition is split: see `ltlpipe.search.acceptance`.

The number of a state is its place in Current, counted from 1, while its SCC is not
complete; the states of an SCC that is taken apart stay where they are in Current,
and the searches inside put theirs behind.  A state that waits for a search on level
l >= 1 has the number ``WAITING - l``.

Invariants, asserted by `assert_consistent`: the number of a state in Current, above
the part that is taken apart, is its place; roots ascend; every level lies within
Current, behind the level before.

Cost: four bytes per state; four in Current per state of an SCC that is not complete,
on each level; stack and roots as in couvreur99.  Each level avoids a mark that its SCC
has, so there are at most 32.  One look at every transition, and one more for each
alternative that is searched in an SCC.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe._jit import inlined, njit
from ltlpipe.automata.conditions import Op, generalised_buchi
from ltlpipe.search.acceptance import (
    Formula,
    holds,
    implied_clause,
    judge,
    passes_of,
    split,
    tabulate,
)
from ltlpipe.search.emptiness import FIRST_ENTRIES, Search
from ltlpipe.search.marks import mark_bits, mark_words, read_marks, write_marks
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import MAX_MARKS, at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import REMOVED
from ltlpipe.search.scc.fstates import NOTED, note
from ltlpipe.search.scc.later import begin_later, next_start, useful_states

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.search.driver import Interrupt
    from ltlpipe.search.paths import ProductLasso

WAITING = -2
"""On level l, ``WAITING - l`` is the number of a state that has not been entered."""

_FIRST_ROWS = 8
_BLIND = 2  # alternatives that are searched before SCCs say whether it is needed


class Level(IntEnum):
    """What is known of a level: an SCC that is taken apart; level 0 is the product."""

    BEGIN = 0  # the SCC's states are those of Current from here
    END = 1  # up to here
    CURSOR = 2  # and from here on they may still have to be entered
    MARKS = 3  # inside the SCC
    AVOIDED = 4  # marks of transitions that are not taken
    STACK_BASE = 5  # entries of the stack that belong to the levels below
    ROW_BASE = 6  # alternatives that belong to them


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots, c in Current."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 place in Current, or a constant
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    current: np.ndarray  # int32[c], the state
    fstates: np.ndarray  # int32[f], a stack
    levels: np.ndarray  # int64[MAX_MARKS + 2, len(Level)]
    rows: np.ndarray  # uint8[a, m], alternatives: the nodes struck out of the formula
    formula: Formula  # of m nodes, the condition of this pass
    goal: Formula  # the whole condition


@inlined
def merge(registers, arrays, number, marks):
    """Close a cycle to the live state `number`; FOUND if its SCC is accepting."""
    top = registers[Reg.N_ROOTS] - 1
    while arrays.roots[top] > number:
        marks |= arrays.root_marks[top] | arrays.entry_marks[top]
        top -= 1
    before = arrays.root_marks[top]
    marks |= before
    arrays.root_marks[top] = marks
    registers[Reg.N_ROOTS] = top + 1
    # Marks that have been judged are not judged again.
    if (marks != before or (marks == 0 and registers[Reg.EMPTY_ACCEPTS] != 0)) and (
        holds(arrays.goal, marks)
    ):
        return Status.FOUND
    return Status.RUNNING


@inlined
def is_unknown(number, level):
    """Whether a state with this number is still to be entered on a level."""
    if level > 0:
        return number == WAITING - level
    return number == 0 or number == NOTED


@inlined
def put_in_current(registers, arrays, state, marks):
    """Make a state the last one in Current, and a root."""
    number = registers[Reg.N_CURRENT] + 1
    registers[Reg.N_CURRENT] = number
    registers[Reg.MAX_CURRENT] = max(registers[Reg.MAX_CURRENT], number)
    arrays.current[number - 1] = state
    arrays.numbers[state] = number
    root = registers[Reg.N_ROOTS]
    arrays.roots[root] = number
    arrays.root_marks[root] = 0
    arrays.entry_marks[root] = marks
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.MAX_ROOTS] = max(registers[Reg.MAX_ROOTS], root + 1)


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter a state over a transition with `marks`."""
    level = registers[Reg.LEVEL]
    again = level > 0 or registers[Reg.IS_LATER] != 0
    registers[Reg.VISITED] += not again
    registers[Reg.REENTERED] += again
    put_in_current(registers, arrays, state, marks)
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    avoided = np.uint32(arrays.levels[level, Level.AVOIDED])
    below = arrays.levels[level, Level.END]  # higher numbers are this level's
    bits = registers[Reg.MARK_BITS]
    top = registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = np.int64(arrays.numbers[product.ids[i]])
        if product.marks[i] & avoided != 0:
            if level == 0:
                note(registers, arrays, product.ids[i])
        elif number > below:
            status = merge(registers, arrays, number, product.marks[i])
            if status == Status.FOUND:
                break
        elif is_unknown(number, level):
            arrays.stack[top] = product.ids[i]
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return status


@inlined
def copy_row(rows, src, dst):
    """Copy one row to another, without the buffer that an assignment would need."""
    for i in range(rows.shape[1]):
        rows[dst, i] = rows[src, i]


@inlined
def begin_level(registers, arrays, begin, marks):
    """Take apart the SCC of the states from place `begin` of Current on."""
    level = registers[Reg.LEVEL] + 1
    registers[Reg.LEVEL] = level
    registers[Reg.MAX_LEVEL] = max(registers[Reg.MAX_LEVEL], level)
    fields = arrays.levels[level]
    fields[Level.BEGIN] = begin
    fields[Level.END] = registers[Reg.N_CURRENT]
    fields[Level.MARKS] = marks
    fields[Level.STACK_BASE] = registers[Reg.TOP]
    row = registers[Reg.N_ROWS]
    fields[Level.ROW_BASE] = row
    copy_row(arrays.rows, row - 1, row)
    registers[Reg.N_ROWS] = row + 1
    registers[Reg.IS_CHOOSING] = 1


@inlined
def complete(registers, arrays, begin, marks):
    """End an SCC that is not accepting as a whole: remove it, or take it apart."""
    row = arrays.rows[registers[Reg.N_ROWS] - 1]
    if marks != 0 and judge(arrays.formula, np.uint32(marks), row):
        begin_level(registers, arrays, begin, marks)
        return
    numbers, current = arrays.numbers, arrays.current
    for i in range(begin, registers[Reg.N_CURRENT]):
        numbers[current[i]] = REMOVED
    registers[Reg.N_CURRENT] = begin


@inlined
def leave(registers, arrays, state):
    """End the frame of a state whose successors are done."""
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    number = np.int64(arrays.numbers[state])
    root = registers[Reg.N_ROOTS] - 1
    if arrays.roots[root] == number:
        registers[Reg.N_ROOTS] = root
        complete(registers, arrays, number - 1, arrays.root_marks[root])


@inlined
def choose(registers, arrays):
    """Choose what to avoid in the SCC of this level, for the last alternative.

    Either two alternatives take its place, or the search without its marks begins.
    """
    level = registers[Reg.LEVEL]
    fields = arrays.levels[level]
    rows, formula = arrays.rows, arrays.formula
    row = registers[Reg.N_ROWS] - 1
    judge(formula, np.uint32(fields[Level.MARKS]), rows[row])
    needs = formula.needs[formula.needs.shape[0] - 1]
    if needs == 0:
        copy_row(rows, row, row + 1)
        split(formula, rows[row], rows[row + 1])
        registers[Reg.N_ROWS] = row + 2
        return
    fields[Level.AVOIDED] = arrays.levels[level - 1, Level.AVOIDED] | needs
    fields[Level.CURSOR] = fields[Level.BEGIN]
    numbers, current = arrays.numbers, arrays.current
    for i in range(fields[Level.BEGIN], fields[Level.END]):
        numbers[current[i]] = WAITING - level
    registers[Reg.IS_CHOOSING] = 0
    registers[Reg.N_SPLITS] += 1


@inlined
def next_state(registers, arrays):
    """Return a state to enter when all is done that the last one led to, or -1."""
    level = registers[Reg.LEVEL]
    if level == 0:
        return next_start(registers, arrays)
    fields = arrays.levels[level]
    numbers, current = arrays.numbers, arrays.current
    at = fields[Level.CURSOR]
    while at < fields[Level.END] and numbers[current[at]] != WAITING - level:
        at += 1
    fields[Level.CURSOR] = at
    return np.int64(current[at]) if at < fields[Level.END] else np.int64(-1)


@inlined
def end_search(registers, arrays):
    """End the search for one alternative of a level: go on with the next, if any."""
    level = registers[Reg.LEVEL]
    fields = arrays.levels[level]
    registers[Reg.N_ROWS] -= 1
    if registers[Reg.N_ROWS] > fields[Level.ROW_BASE]:
        registers[Reg.IS_CHOOSING] = 1
    else:  # all states of the SCC have been removed
        registers[Reg.N_CURRENT] = fields[Level.BEGIN]
        registers[Reg.LEVEL] = level - 1


@inlined
def is_short(registers, arrays, n):
    """Whether a stack lacks room for a state with `n` successors; its own apart."""
    return (
        registers[Reg.N_ROOTS] == arrays.roots.shape[0]
        or registers[Reg.N_CURRENT] == arrays.current.shape[0]
        or registers[Reg.N_FSTATES] + n > arrays.fstates.shape[0]
        or registers[Reg.N_ROWS] + 1 >= arrays.rows.shape[0]
    )


@njit
def tela_step(expand, product, store, registers, arrays, budget):
    """Advance the search after Baier et al. 2019.

    `registers` (int64[N_REGISTERS]) and the arrays are changed in place; at
    most `budget` >= 1 states are expanded.  Returns a Status; after FOUND the
    states of Current from the last root on are strongly connected by transitions
    whose marks are those of the root, and these satisfy the condition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    while budget > 0:
        top = registers[Reg.TOP]
        if (
            top > room
            or is_short(registers, arrays, product.ids.shape[0])
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        if registers[Reg.IS_CHOOSING] != 0:
            choose(registers, arrays)
            continue
        level = registers[Reg.LEVEL]
        bits = registers[Reg.MARK_BITS]
        if top == arrays.levels[level, Level.STACK_BASE]:
            state = next_state(registers, arrays)
            if state >= 0:
                arrays.stack[top] = state
                write_marks(arrays.stack_marks, bits, top, np.uint32(0))
                registers[Reg.TOP] = top + 1
            elif level == 0:
                return Status.EMPTY
            else:
                end_search(registers, arrays)
            continue
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        marks = read_marks(arrays.stack_marks, bits, top - 1)
        number = np.int64(arrays.numbers[entry])
        unknown = is_unknown(number, level)
        status = Status.RUNNING
        if (
            unknown
            and level == 0
            and registers[Reg.IS_LATER] == 0
            and at_limit(registers)
        ):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if unknown:
            status = enter(expand, product, store, registers, arrays, entry, marks)
            budget -= 1
        elif number > arrays.levels[level, Level.END]:
            status = merge(registers, arrays, number, marks)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Tela(Search):
    """The search after Baier et al. 2019 in progress."""

    name = "tela"
    generalised = True
    fin_less = True
    emerson_lei = True
    bytes_per_state = 4.0
    kernel = staticmethod(tela_step)

    arrays: Arrays

    def _new_arrays(self, n_states: int) -> Arrays:
        entries = self._stack_room() + FIRST_ENTRIES
        given = self.problem.condition
        if given is None:
            given = generalised_buchi(self.problem.n_marks)
        self._condition = given
        self._passes = passes_of(given, _BLIND)
        self.n_passes = len(self._passes)
        formula = tabulate(given)
        n_noted = self.problem.product.ids.shape[0] + FIRST_ENTRIES
        return Arrays(
            numbers=np.zeros(n_states, dtype=np.int32),
            stack=np.zeros(entries, dtype=np.int32),
            stack_marks=np.zeros(self._mark_words(entries), dtype=np.uint32),
            roots=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            root_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            entry_marks=np.zeros(FIRST_ENTRIES, dtype=np.uint32),
            current=np.zeros(FIRST_ENTRIES, dtype=np.int32),
            fstates=np.zeros(n_noted, dtype=np.int32),
            levels=np.zeros((MAX_MARKS + 2, len(Level)), dtype=np.int64),
            rows=np.zeros((_FIRST_ROWS, len(formula.ops)), dtype=np.uint8),
            formula=formula,
            goal=formula,
        )

    def _begin(self) -> None:
        registers = self.registers
        registers[Reg.MARK_BITS] = self._mark_bits()
        registers[Reg.EMPTY_ACCEPTS] = self._condition.satisfied_by(0)
        if self._passes:
            self._begin_pass()
            self.arrays.stack[0] = 0
            registers[Reg.TOP] = 1

    def _begin_pass(self) -> tuple[int, Condition]:
        """Begin the next pass: the marks that it avoids, and its condition."""
        avoided, condition = self._passes.pop(0)
        formula = tabulate(condition)
        rows = np.zeros((_FIRST_ROWS, len(formula.ops)), dtype=np.uint8)
        self.arrays = self.arrays._replace(formula=formula, rows=rows)
        self.arrays.levels[0, Level.AVOIDED] = avoided
        self.registers[Reg.N_ROWS] = 1
        return avoided, condition

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""
        status = super().step(budget)
        if status == Status.EMPTY and self._passes:
            avoided, condition = self._begin_pass()
            useful = useful_states(
                self.problem.product,
                avoided,
                lambda marks: condition.within(marks).op != Op.FALSE,
            )
            begin_later(self, useful)
            return Status.RUNNING
        return status

    def _mark_bits(self) -> int:
        return mark_bits(self.problem.n_marks)

    def _mark_words(self, entries: int) -> int:
        return mark_words(entries, self._mark_bits())

    def _stacks(self) -> dict[str, tuple[int, float]]:
        registers = self.registers
        n_noted = self.problem.product.ids.shape[0] + int(registers[Reg.N_FSTATES])
        return {
            "stack": (self._stack_room(), 4 + self._mark_bits() / 8),
            "roots": (int(registers[Reg.N_ROOTS]) + 1, 12),
            "current": (int(registers[Reg.N_CURRENT]) + 1, 4),
            "fstates": (n_noted, 4),
        }

    def _follow(self) -> None:
        arrays = self.arrays
        arrays.numbers.resize(self.store.rows.shape[0], refcheck=False)
        n_words = self._mark_words(arrays.stack.shape[0])
        arrays.stack_marks.resize(n_words, refcheck=False)
        arrays.root_marks.resize(arrays.roots.shape[0], refcheck=False)
        arrays.entry_marks.resize(arrays.roots.shape[0], refcheck=False)
        n_rows, n_nodes = arrays.rows.shape  # few and short
        if self.registers[Reg.N_ROWS] + 1 >= n_rows:
            arrays.rows.resize((2 * n_rows, n_nodes), refcheck=False)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        numbers = self.arrays.numbers[: self.n_stored]
        if self.registers[Reg.IS_LATER]:
            return np.ones(self.n_stored, dtype=np.bool_)
        return np.asarray((numbers != 0) & (numbers != NOTED))

    def lasso(self, interrupt: Interrupt | None = None) -> ProductLasso:
        """Return a short accepting run; the search must have answered FOUND."""
        root = self.registers[Reg.N_ROOTS] - 1
        begin = self.arrays.roots[root] - 1
        inside = np.zeros(self.n_stored, dtype=np.bool_)
        inside[self.arrays.current[begin : self.registers[Reg.N_CURRENT]]] = True
        clause = implied_clause(self.problem, int(self.arrays.root_marks[root]))
        return PathFinder(self, interrupt).lasso_in(inside, clause)

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        registers = self.registers
        return {
            "max_roots": int(registers[Reg.MAX_ROOTS]),
            "max_current": int(registers[Reg.MAX_CURRENT]),
            "max_level": int(registers[Reg.MAX_LEVEL]),
            "passes": self.n_passes - len(self._passes),
            "splits": int(registers[Reg.N_SPLITS]),
            "reentered": int(registers[Reg.REENTERED]),
        }

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        registers, arrays = self.registers, self.arrays
        level, n_current = int(registers[Reg.LEVEL]), int(registers[Reg.N_CURRENT])
        numbers = arrays.numbers[: self.n_stored]
        roots = arrays.roots[: registers[Reg.N_ROOTS]]
        assert (np.diff(roots) > 0).all()
        live = np.zeros(n_current, dtype=np.bool_)
        live[:n_current] = True
        end = 0
        for fields in arrays.levels[1 : level + 1]:
            assert end <= fields[Level.BEGIN] < fields[Level.END] <= n_current
            end = int(fields[Level.END])
            if not registers[Reg.IS_CHOOSING] or end < n_current:
                live[fields[Level.BEGIN] : end] = False
        places = np.flatnonzero(live)
        if not registers[Reg.IS_CHOOSING]:
            assert (numbers[arrays.current[places]] == places + 1).all()
        assert sorted(set(roots.tolist())) == roots.tolist()
