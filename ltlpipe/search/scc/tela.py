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
  can be the whole product.  The passes take turns, so a cycle that is near to where the
  search begins is found soon by whichever pass can find it.  With n pairs there are at
  most n + 1 passes then, if n > 3, and n otherwise; and what rabin finds in its k-th
  pair is found in pass k, if k < 3, or pass k + 1 (where both take the pairs in the
  same order).
- Partial SCCs are judged, too, which finds cycles before an SCC is complete.
- How a condition is split: see `ltlpipe.search.acceptance`.

Passes that take turns: each goes on where it was stopped, with arrays and registers of
its own, so nothing is done twice; the store is common.  The first pass may do twice the
work of each of the others: where it finds a cycle, each of the others has cost half of
its work, at most.  A pass begins beside another one only if there is memory for its
arrays.  When one has ended without a cycle, all that can be reached is stored, and
passes that begin only then are later ones (`ltlpipe.search.scc.rabin`).

The number of a state is its place in Current, counted from 1, while its SCC is not
complete; the states of an SCC that is taken apart stay where they are in Current,
and the searches inside put theirs behind.  A state that waits for a search on level
l >= 1 has the number ``WAITING - l``.

Invariants, asserted by `tests.invariants`: the number of a state in Current, above
the part that is taken apart, is its place; roots ascend; every level lies within
Current, behind the level before.

Cost: four bytes per state, for each pass that has begun before one has ended; four in
Current per state of an SCC that is not complete, on each level; stack and roots as in
couvreur99.  Each level avoids a mark that its SCC has, so there are at most 32.  One
look at every transition, and one more for each alternative that is searched in an SCC.

The kernels of `tela`: levels, Current, and what is avoided.

Source, differences, invariants and cost: see `ltlpipe.search.scc.tela`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Op
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.acceptance import (
    Formula,
    holds,
    implied_clause,
    judge,
    passes_of,
    split,
    tabulate,
)
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT32, total_bytes
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import MAX_MARKS, at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import push_root
from ltlpipe.search.scc.rabin import begin_later, entered, useful_states
from ltlpipe.search.scc.rules import NOTED, REMOVED, SccReg, next_start, note
from ltlpipe.search.stacks import read_marks, sets_of, write_marks
from ltlpipe.search.store import copy_row

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

WAITING = -2
"""On level l, ``WAITING - l`` is the number of a state that has not been entered."""


class TelaReg(IntEnum):
    """Places in the registers of this search, behind those of `SccReg`."""

    N_CURRENT = max(SccReg) + 1  # states in Current
    MAX_CURRENT = N_CURRENT + 1  # its largest value
    LEVEL = N_CURRENT + 2  # SCCs that are being taken apart, each in the one before
    MAX_LEVEL = N_CURRENT + 3  # its largest value
    IS_CHOOSING = N_CURRENT + 4  # whether the next step chooses what to avoid
    N_ROWS = N_CURRENT + 5  # alternatives that are left
    N_SPLITS = N_CURRENT + 6  # searches inside an SCC so far


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
    number = registers[TelaReg.N_CURRENT] + 1
    registers[TelaReg.N_CURRENT] = number
    registers[TelaReg.MAX_CURRENT] = max(registers[TelaReg.MAX_CURRENT], number)
    arrays.current[number - 1] = state
    arrays.numbers[state] = number
    push_root(registers, arrays, number, marks)


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter a state over a transition with `marks`."""
    level = registers[TelaReg.LEVEL]
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
                note(registers, arrays.numbers, arrays.fstates, product.ids[i])
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
def begin_level(registers, arrays, begin, marks):
    """Take apart the SCC of the states from place `begin` of Current on."""
    level = registers[TelaReg.LEVEL] + 1
    registers[TelaReg.LEVEL] = level
    registers[TelaReg.MAX_LEVEL] = max(registers[TelaReg.MAX_LEVEL], level)
    fields = arrays.levels[level]
    fields[Level.BEGIN] = begin
    fields[Level.END] = registers[TelaReg.N_CURRENT]
    fields[Level.MARKS] = marks
    fields[Level.STACK_BASE] = registers[Reg.TOP]
    row = registers[TelaReg.N_ROWS]
    fields[Level.ROW_BASE] = row
    copy_row(arrays.rows, row - 1, arrays.rows, row)
    registers[TelaReg.N_ROWS] = row + 1
    registers[TelaReg.IS_CHOOSING] = 1


@inlined
def complete(registers, arrays, begin, marks):
    """End an SCC that is not accepting as a whole: remove it, or take it apart."""
    row = arrays.rows[registers[TelaReg.N_ROWS] - 1]
    if marks != 0 and judge(arrays.formula, np.uint32(marks), row):
        begin_level(registers, arrays, begin, marks)
        return
    numbers, current = arrays.numbers, arrays.current
    for i in range(begin, registers[TelaReg.N_CURRENT]):
        numbers[current[i]] = REMOVED
    registers[TelaReg.N_CURRENT] = begin


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
    level = registers[TelaReg.LEVEL]
    fields = arrays.levels[level]
    rows, formula = arrays.rows, arrays.formula
    row = registers[TelaReg.N_ROWS] - 1
    judge(formula, np.uint32(fields[Level.MARKS]), rows[row])
    needs = formula.needs[formula.needs.shape[0] - 1]
    if needs == 0:
        copy_row(rows, row, rows, row + 1)
        split(formula, rows[row], rows[row + 1])
        registers[TelaReg.N_ROWS] = row + 2
        return
    fields[Level.AVOIDED] = arrays.levels[level - 1, Level.AVOIDED] | needs
    fields[Level.CURSOR] = fields[Level.BEGIN]
    numbers, current = arrays.numbers, arrays.current
    for i in range(fields[Level.BEGIN], fields[Level.END]):
        numbers[current[i]] = WAITING - level
    registers[TelaReg.IS_CHOOSING] = 0
    registers[TelaReg.N_SPLITS] += 1


@inlined
def next_state(registers, arrays):
    """Return a state to enter when all is done that the last one led to, or -1."""
    level = registers[TelaReg.LEVEL]
    if level == 0:
        return next_start(registers, arrays.numbers, arrays.fstates)
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
    level = registers[TelaReg.LEVEL]
    fields = arrays.levels[level]
    registers[TelaReg.N_ROWS] -= 1
    if registers[TelaReg.N_ROWS] > fields[Level.ROW_BASE]:
        registers[TelaReg.IS_CHOOSING] = 1
    else:  # all states of the SCC have been removed
        registers[TelaReg.N_CURRENT] = fields[Level.BEGIN]
        registers[TelaReg.LEVEL] = level - 1


@inlined
def is_short(registers, arrays, n):
    """Whether a stack lacks room for a state with `n` successors; its own apart."""
    return (
        registers[Reg.N_ROOTS] == arrays.roots.shape[0]
        or registers[TelaReg.N_CURRENT] == arrays.current.shape[0]
        or registers[Reg.N_FSTATES] + n > arrays.fstates.shape[0]
        or registers[TelaReg.N_ROWS] + 1 >= arrays.rows.shape[0]
    )


@njit
def tela_step(expand, product, store, registers, arrays, budget):
    """Advance the search after Baier et al. 2019.

    After FOUND the states of Current from the last root on are strongly connected by
    transitions whose marks are those of the root, and these satisfy the condition.
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
        if registers[TelaReg.IS_CHOOSING] != 0:
            choose(registers, arrays)
            continue
        level = registers[TelaReg.LEVEL]
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


FIRST_TURN = 1 << 12
"""Expansions of the first pass before any other begins."""

_HANDICAP = 2  # by which the others' turns are shorter

OF_A_PASS = [
    Reg.VISITED,
    Reg.DEPTH,
    Reg.TOP,
    Reg.N_ROOTS,
    TelaReg.N_CURRENT,
    Reg.N_FSTATES,
    Reg.IS_LATER,
    SccReg.CURSOR,
    TelaReg.LEVEL,
    TelaReg.IS_CHOOSING,
    TelaReg.N_ROWS,
]
"""The registers that every pass has for itself."""

_FIRST_ROWS = 8
_BLIND = 2  # alternatives that are searched before SCCs say whether it is needed


@dataclass
class Pass:
    """One pass of a search, which avoids some marks (bits)."""

    avoided: int
    condition: Condition  # what it looks for without them
    arrays: Any = None  # those of the search, while it waits for its turn
    registers: np.ndarray | None = None  # OF_A_PASS, while it waits or has ended
    spent: int = 0  # expansions so far
    ended: bool = False  # without a cycle


def turn_of(number: int, round_number: int) -> int:
    """Return the expansions after which a pass has to wait, those of all its turns.

    Passes and rounds are counted from 0.
    """
    share = 1 if number == 0 else _HANDICAP
    return max((FIRST_TURN << round_number) // share, 1)


class Tela(Search):
    """The search after Baier et al. 2019 in progress."""

    name = "tela"
    generalised = True
    fin_less = True
    emerson_lei = True
    counts: ClassVar = {
        "max_roots": Reg.MAX_ROOTS,
        "max_current": TelaReg.MAX_CURRENT,
        "max_level": TelaReg.MAX_LEVEL,
        "splits": TelaReg.N_SPLITS,
        "reentered": Reg.REENTERED,
    }
    kernel = staticmethod(tela_step)

    arrays: Arrays

    def __init__(self, problem: Problem, *, known: Search | None = None) -> None:
        self._condition = problem.acceptance
        self.passes = [Pass(*found) for found in passes_of(self._condition, _BLIND)]
        self._number = 0  # of the pass that runs
        self._round = 0
        self._n_held = 1  # passes that hold arrays
        super().__init__(problem, known=known)

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self.problem.mark_bits)},
            Reg.N_ROOTS: {"roots": INT32, "root_marks": UINT32, "entry_marks": UINT32},
            TelaReg.N_CURRENT: {"current": INT32},
            Reg.N_FSTATES: {"fstates": INT32},
        }

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        goal = tabulate(self._condition)
        formula = goal
        levels = np.zeros((MAX_MARKS + 2, len(Level)), dtype=np.int64)
        if self.passes:
            running = self.passes[self._number]
            levels[0, Level.AVOIDED] = running.avoided
            formula = tabulate(running.condition)
        return Arrays(
            **made,
            levels=levels,
            rows=np.zeros((_FIRST_ROWS, len(formula.ops)), dtype=np.uint8),
            formula=formula,
            goal=goal,
        )

    def _begin(self) -> None:
        self.registers[Reg.MARK_BITS] = self.problem.mark_bits
        self.registers[Reg.EMPTY_ACCEPTS] = self._condition.satisfied_by(0)
        if self.passes:
            self._begin_pass()

    def _begin_pass(self) -> None:
        """Begin the pass whose arrays these are."""
        self.registers[TelaReg.N_ROWS] = 1
        if not any(other.ended for other in self.passes):
            self.arrays.stack[0] = 0
            self.registers[Reg.TOP] = 1
            return
        running = self.passes[self._number]
        useful = useful_states(
            self.problem.product,
            running.avoided,
            lambda marks: running.condition.within(marks).op != Op.FALSE,
        )
        begin_later(self, useful)

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""
        if not self.passes:
            return Status.EMPTY
        running = self.passes[self._number]
        turn = turn_of(self._number, self._round)
        if running.spent < turn and self._others():
            budget = min(budget, turn - running.spent)
        before = self.registers[Reg.EXPANSIONS]
        status = super().step(budget)
        running.spent += int(self.registers[Reg.EXPANSIONS] - before)
        if status == Status.EMPTY:
            running.ended = True
        over = running.ended or (status == Status.RUNNING and running.spent >= turn)
        if over and self._others():
            self._take_turns()
            return Status.RUNNING
        if status in (Status.EMPTY, Status.FOUND):
            self._sum_up()
        return status

    def _others(self) -> list[int]:
        """Return the numbers of the passes that wait or may begin, in turn."""
        n = len(self.passes)
        turns = [(self._number + i) % n for i in range(1, n)]
        may_begin = self.passes[self._number].ended or self._has_room()
        return [
            number
            for number in turns
            if not self.passes[number].ended
            and (may_begin or self.passes[number].registers is not None)
        ]

    def _has_room(self) -> bool:
        """Whether there is memory for the arrays of one pass more."""
        # Its stacks are not longer than those of the pass that runs.
        free = self.granted_bytes - self.memory_bytes
        return total_bytes(self.arrays) <= free

    def _take_turns(self) -> None:
        """Let the next pass run."""
        number = self._others()[0]
        stopped = self.passes[self._number]
        stopped.registers = self.registers[OF_A_PASS]
        if not stopped.ended:
            stopped.arrays = self.arrays
        self._round += number < self._number
        self._number = number
        running = self.passes[number]
        if running.registers is None:
            del self.arrays  # those of a pass that has ended make room
            self.registers[OF_A_PASS] = 0
            self.arrays = self._new_arrays(self.store.rows.shape[0])
            self._begin_pass()
        else:
            self.arrays, running.arrays = running.arrays, None
            self.registers[OF_A_PASS] = running.registers
        self._n_held = 1 + sum(other.arrays is not None for other in self.passes)

    def _entry_bytes(self, register: IntEnum) -> float:
        times = self._n_held if register == Reg.STORED else 1
        return times * super()._entry_bytes(register)

    def _sum_up(self) -> None:
        """Count the states of all passes, and forget those that wait.

        Passes that began before one had ended have entered the same states, by and
        large: those of the one that has entered most are the states that were entered.
        """
        self.passes[self._number].registers = self.registers[OF_A_PASS]
        entered = [
            int(one.registers[OF_A_PASS.index(Reg.VISITED)])
            for one in self.passes
            if one.registers is not None
        ]
        self.registers[Reg.VISITED] = max(entered)
        self.registers[Reg.REENTERED] += sum(entered) - max(entered)
        for one in self.passes:
            one.arrays = None

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, those of passes that wait included."""
        waiting = [one.arrays for one in self.passes if one.arrays is not None]
        return super().memory_bytes + total_bytes(waiting)

    def _follow(self) -> None:
        super()._follow()
        for one in self.passes:
            if one.arrays is not None:
                one.arrays.numbers.resize(self.store.rows.shape[0], refcheck=False)
        n_rows, n_nodes = self.arrays.rows.shape  # few and short
        if self.registers[TelaReg.N_ROWS] + 1 >= n_rows:
            self.arrays.rows.resize((2 * n_rows, n_nodes), refcheck=False)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return entered(self)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        root = self.registers[Reg.N_ROOTS] - 1
        begin = self.arrays.roots[root] - 1
        inside = np.zeros(self.n_stored, dtype=np.bool_)
        inside[self.arrays.current[begin : self.registers[TelaReg.N_CURRENT]]] = True
        clause = implied_clause(self.problem, int(self.arrays.root_marks[root]))
        return (yield from PathFinder(self).lasso_in(inside, clause))

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {**super().statistics(), "passes": self._begun()}

    def _begun(self) -> int:
        waiting = [one for one in self.passes if one.registers is not None]
        running = self.passes and self.passes[self._number].registers is None
        return len(waiting) + bool(running)
