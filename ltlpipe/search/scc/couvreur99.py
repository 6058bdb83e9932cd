"""SCC-based emptiness check with a stack of roots (``--emptiness couvreur99``).

Decides whether a product with marks on transitions has a reachable cycle that
sees every mark; it stops as soon as the transitions of such a cycle have been
generated.  With a condition without Fin, a disjunction of such sets of marks, the
cycle sees every mark of one of them (the TFLA check of Bloemen et al. 2019).

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 5, and Sec. 5.2 for more
than one mark; they follow J.-M. Couvreur, "On-the-fly Verification of Linear
Temporal Logic", FM 1999, LNCS 1708, pp. 253-271.  For several sets V. Bloemen, A.
Duret-Lutz and J. van de Pol, "Model checking with generalized Rabin and Fin-less
automata", STTT 21 (2019), pp. 307-324, Sec. 2, after Prop. 1.

Differences from the source:

- Marks lie on transitions, as in Couvreur's own version.  A root carries the
  marks inside its SCC and those of the tree transition that led to it.
- ``post(s)`` is computed once per visit; transitions to known states are taken
  at once and only unknown successors wait on the stack, so that the order of
  ``post`` is "known states first".
- Nothing is traversed a second time to remove an SCC (line 7), nor is there a
  stack of its states.  When a root with number r is done, the states that are
  removed are those with a number of at least r: so the numbers from r to COUNT
  are noted as dead.  Dead intervals that touch or contain one another are made
  one, hence between two of them lies the number of a state that is still live.
- A root with the highest number is an SCC of one state.  It becomes REMOVED and
  its number is free again, so trivial SCCs leave no interval.

Invariants, asserted by `assert_consistent`: each number from 1 to COUNT is either
dead or that of exactly one live state; roots and dead intervals ascend.

Cost: four bytes per state for its number; four bytes of stack, and a bit per mark
(rounded up to a power of two), per state on the path, per state that waits
(`ltlpipe.search.sweeping`) and per waiting successor by a transition with marks;
twelve bytes per root and eight per dead interval; two bits per state with ample sets;
one look at every transition, and a search among the dead intervals for those that
lead to a known state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.normal_form import normal_form
from ltlpipe.por.component_sets import Reduction
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.acceptance import implied_clause
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT32, total_bytes
from ltlpipe.search.packed import (
    COLOURS,
    Colour,
    mark_bits,
    read_marks,
    set_colour,
    sets_of,
    write_marks,
)
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import Setting, at_limit, is_full, visit_successors
from ltlpipe.search.reduced import visit_ample
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.sweeping import close_marked_gaps, forget_numbered, swept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout

REMOVED = -1
"""The number of a state that was an SCC of its own."""


class Path(NamedTuple):
    """What ample sets need: the states on the path are cyan."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    reduction: Reduction


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots, d intervals."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 live or dead, or REMOVED
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], DFS number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    dead_first: np.ndarray  # int32[d], dead intervals of numbers, ascending
    dead_last: np.ndarray  # int32[d]
    path: Path | None  # for ample sets
    clauses: np.ndarray | None  # uint32[c], the marks of each; None if there is one


@inlined
def is_live(dead_first, dead_last, n_dead, number):
    """Whether a DFS number lies in no dead interval."""
    high = n_dead
    if high == 0 or number > dead_last[high - 1]:
        return True
    low = 0  # the interval that begins last at or before the number is in low..high
    while low < high:
        middle = (low + high) >> 1
        if dead_first[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low == 0 or number > dead_last[low - 1]


@inlined
def bury(registers, arrays, number):
    """Note that all numbers from `number` to COUNT are dead."""
    dead_first, dead_last = arrays.dead_first, arrays.dead_last
    n_dead = registers[Reg.N_DEAD]
    while n_dead > 0 and dead_last[n_dead - 1] >= number - 1:
        n_dead -= 1
        number = min(number, np.int64(dead_first[n_dead]))
    dead_first[n_dead] = number
    dead_last[n_dead] = registers[Reg.COUNT]
    registers[Reg.N_DEAD] = n_dead + 1


@inlined
def is_live_in(registers, arrays, number):
    """Whether a DFS number belongs to a state of an SCC that is not complete."""
    return is_live(arrays.dead_first, arrays.dead_last, registers[Reg.N_DEAD], number)


@specialised
def covers(clauses, marks, full):
    """Whether `marks` hold all of one clause; without clauses, all of `full`."""
    if clauses is None:
        return marks & full == full
    for i in range(clauses.shape[0]):  # noqa: SIM110 (a kernel has no `any`)
        if marks & clauses[i] == clauses[i]:
            return True
    return False


@inlined
def merge(registers, arrays, number, marks, full):
    """Close a cycle to the live state `number` (lines 16-20); FOUND if accepting."""
    top = registers[Reg.N_ROOTS] - 1
    while arrays.roots[top] > number:
        marks |= arrays.root_marks[top] | arrays.entry_marks[top]
        top -= 1
    arrays.root_marks[top] |= marks
    registers[Reg.N_ROOTS] = top + 1
    if covers(arrays.clauses, arrays.root_marks[top], full):
        return Status.FOUND
    return Status.RUNNING


@specialised
def visit(expand, product, store, registers, state, numbers, path):
    """Generate the successors of a state that is new on the path; return n."""
    if path is None:
        return visit_successors(expand, product, store, registers, state, numbers, 0)
    set_colour(path.colours, state, Colour.CYAN)
    return visit_ample(
        expand, product, store, registers, state, path.colours, path.reduction
    )


@specialised
def leave_path(path, state):
    """Note that the frame of a state has ended, where that is asked for."""
    if path is not None:
        set_colour(path.colours, state, Colour.WHITE)


@inlined
def push_root(registers, arrays, number, marks):
    """Make a state the root of an SCC of its own, entered with `marks`."""
    root = registers[Reg.N_ROOTS]
    arrays.roots[root] = number
    arrays.root_marks[root] = 0
    arrays.entry_marks[root] = marks
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.MAX_ROOTS] = max(registers[Reg.MAX_ROOTS], root + 1)


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter an unknown state over a transition with `marks` (lines 9-12)."""
    registers[Reg.VISITED] += 1
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    n = visit(expand, product, store, registers, state, arrays.numbers, arrays.path)
    return begin_frame(product, registers, arrays, state, marks, n)


@inlined
def begin_frame(product, registers, arrays, state, marks, n):
    """Look at the `n` successors of a state just entered; unknown ones wait."""
    full = np.uint32(product.settings[Setting.FULL])
    push_root(registers, arrays, registers[Reg.COUNT], marks)
    bits = registers[Reg.MARK_BITS]
    top = registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = arrays.numbers[product.ids[i]]
        if number == 0:
            arrays.stack[top] = product.ids[i]
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
        elif number > 0 and is_live_in(registers, arrays, number):
            status = merge(registers, arrays, number, product.marks[i], full)
            if status == Status.FOUND:
                break
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return status


@inlined
def leave(registers, arrays, state):
    """End the frame of a state whose successors are done (lines 21-23)."""
    top = registers[Reg.TOP] - 1
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] -= 1
    leave_path(arrays.path, state)
    number = arrays.numbers[state]
    if arrays.roots[registers[Reg.N_ROOTS] - 1] != number:
        return
    registers[Reg.N_ROOTS] -= 1
    if registers[Reg.COUNT] == number:  # it is alone
        arrays.numbers[state] = REMOVED
        registers[Reg.COUNT] = number - 1
    else:
        bury(registers, arrays, number)


@njit
def couvreur99_step(expand, product, store, registers, arrays, budget):
    """Advance the search of Schwoon & Esparza 2005, Fig. 5.

    After FOUND the live states whose number is at least that of the last root are
    strongly connected and their transitions carry every mark.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    full = np.uint32(product.settings[Setting.FULL])
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or registers[Reg.N_DEAD] == arrays.dead_first.shape[0]
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        bits = registers[Reg.MARK_BITS]
        marks = read_marks(arrays.stack_marks, bits, top - 1)
        number = arrays.numbers[entry]
        status = Status.RUNNING
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if number == 0:
            status = enter(expand, product, store, registers, arrays, entry, marks)
            budget -= 1
        elif number > 0 and is_live_in(registers, arrays, number):
            status = merge(registers, arrays, number, marks, full)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Couvreur99(Search):
    """The search of Schwoon & Esparza 2005, Fig. 5, in progress."""

    name = "couvreur99"
    generalised = True
    fin_less = True
    counts: ClassVar = {"max_roots": Reg.MAX_ROOTS}
    kernel = staticmethod(couvreur99_step)
    array_type: ClassVar[type[Any]] = Arrays

    arrays: Arrays

    @classmethod
    def retrace(cls, known: Search) -> Job[ProductLasso]:
        """Return an accepting run where another search has found that there is one.

        Its store is used.  Raises `StoppedError` if memory does not suffice, or the
        limit of states is hit.
        """
        search = cls(known.problem, known=known)
        search.registers[Reg.MAX_STATES] = known.registers[Reg.MAX_STATES]
        held_bytes = total_bytes(known.arrays)
        yield from search.run_on(held_bytes)
        known.extraction_bytes = total_bytes(search.arrays)
        return (yield from search._run(held_bytes))

    def _layout(self) -> Layout:
        of_states = {"numbers": INT32}
        if self._has_path:
            of_states["path.colours"] = COLOURS
        return {
            Reg.STORED: of_states,
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self._mark_bits())},
            Reg.N_ROOTS: {"roots": INT32, "root_marks": UINT32, "entry_marks": UINT32},
            Reg.N_DEAD: {"dead_first": INT32, "dead_last": INT32},
        }

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Any:
        path, tables = None, self.problem.ample
        if self._has_path and tables is not None:
            no_seeds = np.zeros(0, dtype=np.uint16)
            path = Path(made.pop("path.colours"), Reduction(tables, no_seeds))
        return self.array_type(**made, path=path, clauses=self._clauses())

    @property
    def _has_path(self) -> bool:
        """Whether ample sets need to know the states on the path."""
        return self.problem.ample is not None

    def _clauses(self) -> np.ndarray | None:
        """Return uint32[c], the marks of each clause; None for all marks at once."""
        condition = self.problem.condition
        if condition is None:
            return None
        return np.array(
            [clause.inf for clause in normal_form(condition)], dtype=np.uint32
        )

    def _begin(self) -> None:
        super()._begin()
        self.registers[Reg.MARK_BITS] = self._mark_bits()

    def _mark_bits(self) -> int:
        return mark_bits(self.problem.n_marks)

    def _sweep(self) -> Iterator[None]:
        stack, marks, numbers = (
            self.arrays.stack,
            self.arrays.stack_marks,
            self.arrays.numbers,
        )
        bits = int(self.registers[Reg.MARK_BITS])
        # Marks of a transition inside an SCC are those of its others from that state.
        telling = 0 if self.problem.state_based else bits
        return swept(
            self.registers,
            lambda seen, _, *where: forget_numbered(
                stack, marks, telling, numbers, seen, *where
            ),
            lambda *where: int(close_marked_gaps(stack, marks, bits, *where)),
        )

    def accepting_scc(self) -> np.ndarray:
        """Return bool[n_stored]: the SCC that was found to be accepting."""
        numbers = self.arrays.numbers[: self.n_stored]
        root = self.arrays.roots[self.registers[Reg.N_ROOTS] - 1]
        return np.asarray((numbers >= root) & ~self._dead(numbers))

    def _dead(self, numbers: np.ndarray) -> np.ndarray:
        """Return which of the numbers lie in a dead interval."""
        n_dead = self.registers[Reg.N_DEAD]
        first = self.arrays.dead_first[:n_dead]
        last = np.append(self.arrays.dead_last[:n_dead], -1)  # of interval -1
        return np.asarray(numbers <= last[np.searchsorted(first, numbers, "right") - 1])

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        return (yield from self._run())

    def _run(self, held_bytes: float = 0) -> Job[ProductLasso]:
        """Return a short accepting run while others hold so many bytes."""
        root = self.registers[Reg.N_ROOTS] - 1
        clause = implied_clause(self.problem, int(self.arrays.root_marks[root]))
        finder = PathFinder(self, held_bytes)
        return (yield from finder.lasso_in(self.accepting_scc(), clause))

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        numbers = self.arrays.numbers[: self.n_stored]
        count = int(self.registers[Reg.COUNT])
        every = np.arange(1, count + 1)
        live = np.sort(numbers[(numbers > 0) & ~self._dead(numbers)])
        assert live.tolist() == every[~self._dead(every)].tolist()
        roots = self.arrays.roots[: self.registers[Reg.N_ROOTS]]
        assert (np.diff(roots) > 0).all()
        n_dead = self.registers[Reg.N_DEAD]
        first, last = self.arrays.dead_first[:n_dead], self.arrays.dead_last[:n_dead]
        assert (first <= last).all()
        assert (first[1:] > last[:-1] + 1).all()
