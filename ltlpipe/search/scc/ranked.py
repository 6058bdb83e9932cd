"""An SCC-based emptiness check that leaves a certificate behind: a rank per state.

It searches as `ltlpipe.search.scc.couvreur99` does, for a cycle that sees every mark.
Where there is none, each state has the rank that `ltlpipe.search.ranks` would give it,
without a second look at the transitions: an SCC is complete when all to which it leads
is, so its rank follows from what was noted while its transitions were generated.

Sources: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification Algorithms",
TACAS 2005, LNCS 3440, pp. 174-190, Fig. 5; for ranks see `ltlpipe.search.ranks`.

Differences from the source:

- A root carries, beside the marks inside its SCC, the highest rank to which its SCC
  leads, and the marks of transitions to states of that rank.
- The states of incomplete SCCs are on a stack, in the order of their numbers, so that a
  complete one can be given its rank; numbers are used again.
- States that wait on a full stack are taken off as for `couvreur99`.  The transition of
  such a state t, from s, is not noted.  As t is known, it was found from s, over a
  successor c of s.  If c is in the SCC of s, or has the rank of t, what t would add is
  noted with c: marks that are taken off are those of all transitions from s, or none.
  Else t has a lower rank than c and adds nothing.

Invariants, asserted by `assert_consistent`: the numbers of live states are 1 to COUNT,
as the stack has them; roots ascend.

Cost: eight bytes per state; twenty bytes per root, and stacks as those of `couvreur99`.
A complete SCC gets its ranks in pieces, so that a call stays short.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause, from_clauses, marks_in
from ltlpipe.automata.normal_form import normal_form
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT32
from ltlpipe.search.packed import mark_bits, read_marks, sets_of, write_marks
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.ranks import least_rank
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.sweeping import close_marked_gaps, forget_numbered, swept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_PIECE = 1 << 12  # states of an SCC that get their rank at a time
_PIECE_BUDGET = 1 << 8  # what that counts as


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots, l live states."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 live, or -1 - rank
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], DFS number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    below: np.ndarray  # int32[r], the highest rank to which it leads, or -1
    exits: np.ndarray  # uint32[r], marks of transitions to that rank
    live: np.ndarray  # int32[l], states of incomplete SCCs by number - 1
    lacks: np.ndarray  # uint32[c], the marks of which a rank lacks one


@inlined
def note_exit(arrays, root, rank, marks):
    """Note that the SCC of a root leads to a state of a rank."""
    if rank > arrays.below[root]:
        arrays.below[root] = rank
        arrays.exits[root] = marks
    elif rank == arrays.below[root]:
        arrays.exits[root] |= marks


@inlined
def merge_roots(registers, arrays, number, marks, full):
    """Close a cycle to the live state `number`; FOUND if it sees all marks."""
    top = registers[Reg.N_ROOTS] - 1
    while arrays.roots[top] > number:
        marks |= arrays.root_marks[top] | arrays.entry_marks[top]
        note_exit(arrays, top - 1, arrays.below[top], arrays.exits[top])
        top -= 1
    arrays.root_marks[top] |= marks
    registers[Reg.N_ROOTS] = top + 1
    if arrays.root_marks[top] & full == full:
        return Status.FOUND
    return Status.RUNNING


@inlined
def follow(registers, arrays, number, marks, full):
    """Take a transition to a state that has a number, live or ranked."""
    status = Status.RUNNING
    if number > 0:
        status = merge_roots(registers, arrays, number, marks, full)
    else:
        note_exit(arrays, registers[Reg.N_ROOTS] - 1, -1 - number, marks)
    return status


@inlined
def enter_ranked(expand, product, store, registers, arrays, state, marks, full):
    """Enter an unknown state; unknown successors wait, the others are taken."""
    registers[Reg.VISITED] += 1
    arrays.live[registers[Reg.COUNT]] = state
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    root = registers[Reg.N_ROOTS]
    arrays.roots[root] = registers[Reg.COUNT]
    arrays.root_marks[root] = 0
    arrays.entry_marks[root] = marks
    arrays.below[root] = -1
    arrays.exits[root] = 0
    registers[Reg.N_ROOTS] = root + 1
    registers[Reg.MAX_ROOTS] = max(registers[Reg.MAX_ROOTS], root + 1)
    bits, top = registers[Reg.MARK_BITS], registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = np.int64(arrays.numbers[product.ids[i]])
        if number == 0:
            arrays.stack[top] = product.ids[i]
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
            continue
        status = follow(registers, arrays, number, product.marks[i], full)
        if status == Status.FOUND:
            break
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return status


@inlined
def leave_ranked(registers, arrays, state):
    """End the frame of a state; if it is a root, its SCC gets a rank.

    Returns whether it has ended: a large SCC gets its rank piece by piece.
    """
    number = np.int64(arrays.numbers[state])
    root = registers[Reg.N_ROOTS] - 1
    if arrays.roots[root] == number:
        below = np.int64(arrays.below[root])
        inside, exits = arrays.root_marks[root], arrays.exits[root]
        rank = least_rank(arrays.lacks, below, inside, exits, False)
        count = registers[Reg.COUNT]
        first = max(number - 1, count - _PIECE)
        if first >= number:  # the root itself is the last one
            for place in range(first, count):
                arrays.numbers[arrays.live[place]] = -1 - rank
            registers[Reg.COUNT] = first
            return False
        for place in range(number - 1, count):
            arrays.numbers[arrays.live[place]] = -1 - rank
        registers[Reg.COUNT] = number - 1
        registers[Reg.N_ROOTS] = root
        if root > 0:
            note_exit(arrays, root - 1, rank, arrays.entry_marks[root])
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    return True


@njit
def ranked_step(expand, product, store, registers, arrays, budget):
    """Advance the search by at most `budget` states; see the module."""
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    full = np.uint32(0)
    for k in range(arrays.lacks.shape[0]):
        full |= arrays.lacks[k]
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or registers[Reg.COUNT] == arrays.live.shape[0]
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            if not leave_ranked(registers, arrays, ~entry):
                budget -= _PIECE_BUDGET
            continue
        marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
        number = np.int64(arrays.numbers[entry])
        if number == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if number == 0:
            status = enter_ranked(
                expand, product, store, registers, arrays, entry, marks, full
            )
            budget -= 1
        else:
            status = follow(registers, arrays, number, marks, full)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class RankedSearch(Search):
    """A search in progress that gives each state a rank.

    Raises
    ------
    UnsupportedError
        The acceptance condition is more than one conjunction of Inf.
    """

    name = "couvreur99"
    generalised = True
    fin_less = True
    counts: ClassVar = {"max_roots": Reg.MAX_ROOTS}
    kernel = staticmethod(ranked_step)
    array_type: ClassVar[type[Any]] = Arrays

    arrays: Arrays

    @staticmethod
    def simplified(problem: Problem) -> Problem | None:
        """Return a problem with its condition as one conjunction of Inf.

        None if the condition is no such conjunction, however it is written.
        """
        clause = clause_of(problem)
        if clause is None or problem.ample is not None:
            return None
        if problem.condition is None:
            return problem
        return replace(problem, condition=from_clauses([clause]))

    def _layout(self) -> Layout:
        return {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self._mark_bits())},
            Reg.N_ROOTS: {
                "roots": INT32,
                "root_marks": UINT32,
                "entry_marks": UINT32,
                "below": INT32,
                "exits": UINT32,
            },
            Reg.COUNT: {"live": INT32},
        }

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        clause = clause_of(self.problem)
        assert clause is not None  # by `simplified`
        marks = [1 << mark for mark in marks_in(clause.inf)]
        return Arrays(**made, lacks=np.array(marks, dtype=np.uint32))

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
        # All transitions of a state have the same marks then.
        telling = 0 if self.problem.state_based else bits
        return swept(
            self.registers,
            lambda seen, _, *where: forget_numbered(
                stack, marks, telling, numbers, seen, *where
            ),
            lambda *where: int(close_marked_gaps(stack, marks, bits, *where)),
        )

    @property
    def n_transitions(self) -> int:
        """Transitions of the product."""
        return int(self.registers[Reg.TRANSITIONS])

    def ranks(self) -> np.ndarray:
        """Return the rank of each state, int32[n_stored], after EMPTY."""
        numbers = self.arrays.numbers[: self.n_stored]
        assert numbers.max() < 0  # else it has not ended
        return np.asarray(-1 - numbers)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        from ltlpipe.search.scc.couvreur99 import Couvreur99

        return (yield from Couvreur99.retrace(self))

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        count = int(self.registers[Reg.COUNT])
        numbers = self.arrays.numbers[: self.n_stored]
        live = self.arrays.live[:count]
        assert numbers[live].tolist() == list(range(1, count + 1))
        assert (numbers > 0).sum() == count
        roots = self.arrays.roots[: self.registers[Reg.N_ROOTS]]
        assert (np.diff(roots) > 0).all()


def clause_of(problem: Problem) -> Clause | None:
    """Return the clause of a condition that is one conjunction of Inf, else None."""
    if problem.condition is None:
        return Clause(0, (1 << problem.n_marks) - 1)
    clauses = normal_form(problem.condition)
    if len(clauses) != 1 or clauses[0].fin:
        return None
    return clauses[0]
