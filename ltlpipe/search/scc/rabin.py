"""Emptiness check for generalised Rabin acceptance (``--emptiness rabin``).

Decides whether a product has a reachable cycle that satisfies one of several pairs:
it sees every Inf mark of the pair and no Fin mark.  The pairs are searched one after
another; each search takes the product apart into the SCCs that there are without
the pair's Fin transitions, and stops as soon as one has all Inf marks.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Algorithms 1 to 3.

Differences from the source:

- The map from a state to the states and marks of its partial SCC, a union-find
  structure in the source, is the stack of roots of `ltlpipe.search.scc.couvreur99`.
  Without other workers the states of a partial SCC are those whose DFS numbers lie
  between two roots, so uniting two is taking a root off the stack.
- Nothing is marked dead state by state; complete SCCs are dead intervals of numbers.
- Transitions to states that are dead or on the stack are taken when their source is
  expanded ("known states first"), the others wait.
- Pairs with the same Fin marks are searched together.
- A state on Fstates is not taken off when it is reached without Fin, but passed over.
- Pairs without Fin leave nothing of the algorithm but couvreur99, whose kernel and
  arrays do that search.

The pairs of a problem without a condition are one, all marks and no Fin.

The states are stored once: when the first pair has ended without a cycle, all states
that can be reached are stored.  The other pairs need no Fstates then: they start from
every stored state that they have not met; and they leave out the states whose property
state lies on no cycle of the property automaton that satisfies the pair.
`Reg.VISITED` counts the states that the first pair has entered, which are all, and
`Reg.REENTERED` those that the others enter once more.

Invariants, asserted by `assert_consistent`: those of couvreur99; states that have been
noted are on the list.

Cost: as couvreur99, and four bytes per state on Fstates; per pair at most one look at
every transition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause
from ltlpipe.automata.normal_form import normal_form
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.growth import INT32
from ltlpipe.search.packed import read_marks, write_marks
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full, visit_successors
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import Arrays as PlainArrays
from ltlpipe.search.scc.couvreur99 import (
    Couvreur99,
    couvreur99_step,
    is_live_in,
    leave,
    merge,
    push_root,
)
from ltlpipe.search.scc.restarts import (
    NOTED,
    begin_later,
    entered,
    next_start,
    note,
    useful_states,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso, Search
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_OF_ONE_PAIR = (
    Reg.COUNT,
    Reg.N_ROOTS,
    Reg.N_DEAD,
    Reg.N_FSTATES,
    Reg.DEPTH,
)


class Arrays(NamedTuple):
    """The arrays of `couvreur99`, and f entries of Fstates."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 live or dead, REMOVED or NOTED
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], DFS number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    dead_first: np.ndarray  # int32[d], dead intervals of numbers, ascending
    dead_last: np.ndarray  # int32[d]
    path: None
    clauses: np.ndarray | None  # uint32[c], Inf marks of the pairs that are searched
    pair: np.ndarray  # uint32[2], their Fin marks, and the Inf marks if it is one pair
    fstates: np.ndarray  # int32[f], a stack


@inlined
def enter(expand, product, store, registers, arrays, state, marks):
    """Enter an unknown state over a transition with `marks` (lines 12-27)."""
    is_later = registers[Reg.IS_LATER]
    registers[Reg.VISITED] += 1 - is_later
    registers[Reg.REENTERED] += is_later
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    n = visit_successors(expand, product, store, registers, state, arrays.numbers, 0)
    fin, inf = arrays.pair[0], arrays.pair[1]
    push_root(registers, arrays, registers[Reg.COUNT], marks)
    bits = registers[Reg.MARK_BITS]
    top = registers[Reg.TOP]
    arrays.stack[top] = ~state
    top += 1
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        number = arrays.numbers[product.ids[i]]
        if product.marks[i] & fin != 0:
            note(registers, arrays, product.ids[i])
        elif number == 0 or number == NOTED:
            arrays.stack[top] = product.ids[i]
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
        elif number > 0 and is_live_in(registers, arrays, number):
            status = merge(registers, arrays, number, product.marks[i], inf)
            if status == Status.FOUND:
                break
    registers[Reg.TOP] = top
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return status


@inlined
def is_short(registers, arrays, n):
    """Whether a stack lacks room for a state with `n` successors; its own apart."""
    return (
        registers[Reg.N_ROOTS] == arrays.roots.shape[0]
        or registers[Reg.N_DEAD] == arrays.dead_first.shape[0]
        or registers[Reg.N_FSTATES] + n > arrays.fstates.shape[0]
    )


@njit
def rabin_step(expand, product, store, registers, arrays, budget):
    """Advance the search for one pair (Bloemen et al. 2019, Algorithm 3).

    EMPTY if no cycle satisfies the pair; after FOUND the live states whose number is at
    least that of the last root are strongly connected by transitions without Fin marks,
    and these carry every Inf mark of a pair.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    inf = arrays.pair[1]
    while budget > 0:
        top = registers[Reg.TOP]
        if (
            top > room
            or is_short(registers, arrays, product.ids.shape[0])
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        if top == 0:
            state = next_start(registers, arrays)
            if state < 0:
                return Status.EMPTY
            arrays.stack[0] = state
            write_marks(arrays.stack_marks, registers[Reg.MARK_BITS], 0, np.uint32(0))
            registers[Reg.TOP] = 1
            continue
        entry = np.int64(arrays.stack[top - 1])
        if entry < 0:
            leave(registers, arrays, ~entry)
            continue
        marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
        number = arrays.numbers[entry]
        is_unknown = number == 0 or number == NOTED
        status = Status.RUNNING
        if is_unknown and registers[Reg.IS_LATER] == 0 and at_limit(registers):
            return Status.LIMIT
        registers[Reg.TOP] = top - 1
        if is_unknown:
            status = enter(expand, product, store, registers, arrays, entry, marks)
            budget -= 1
        elif number > 0 and is_live_in(registers, arrays, number):
            status = merge(registers, arrays, number, marks, inf)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


def pairs_of(problem: Problem) -> list[Clause]:
    """Return the pairs of a problem, those with the same Fin marks in a row."""
    if problem.condition is None:
        return [Clause(0, (1 << problem.n_marks) - 1)]
    clauses = normal_form(problem.condition)
    order = list(dict.fromkeys(clause.fin for clause in clauses))
    return sorted(clauses, key=lambda clause: order.index(clause.fin))


def by_fin(pairs: list[Clause]) -> list[list[Clause]]:
    """Return the pairs with the same Fin marks together."""
    groups: dict[int, list[Clause]] = {}
    for pair in pairs:
        groups.setdefault(pair.fin, []).append(pair)
    return list(groups.values())


def rounds_of(pairs: list[Clause]) -> list[tuple[int, list[int]]]:
    """Return the Fin marks of each round, and the Inf marks of its pairs."""
    return [(group[0].fin, [p.inf for p in group]) for group in by_fin(pairs)]


def least_seen(fin: int, infs: list[int], marks: int) -> Clause:
    """Return the pair with fewest Inf marks of those that a set of marks satisfies."""
    seen = [inf for inf in infs if marks & inf == inf]
    return Clause(fin, min(seen, key=int.bit_count))


class Rabin(Couvreur99):
    """The searches of Bloemen et al. 2019, Algorithm 1, for `pairs` in progress."""

    name = "rabin"
    emerson_lei = True
    kernel = staticmethod(rabin_step)

    array_type: ClassVar[type[Any]] = Arrays
    arrays: Any

    def __init__(
        self,
        problem: Problem,
        *,
        known: Search | None = None,
        pairs: list[Clause] | None = None,
    ) -> None:
        self.pairs = pairs_of(problem) if pairs is None else pairs
        self._fin_less = not any(pair.fin for pair in self.pairs)
        if self._fin_less:
            self.kernel = couvreur99_step
            self.array_type = PlainArrays  # type: ignore[misc]
        super().__init__(problem, known=known)

    def _layout(self) -> Layout:
        if self._fin_less:
            return super()._layout()
        return {**super()._layout(), Reg.N_FSTATES: {"fstates": INT32}}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Any:
        if not self._fin_less:
            made["pair"] = np.zeros(2, dtype=np.uint32)
        return super()._as_arrays(made)

    def _sweep(self) -> Iterator[None]:
        return super()._sweep() if self._fin_less else iter(())

    @property
    def _has_path(self) -> bool:
        return super()._has_path and self._fin_less

    def _clauses(self) -> np.ndarray | None:
        full = (1 << self.problem.n_marks) - 1
        infs = [pair.inf for pair in self.pairs]
        if not self._fin_less or infs == [full]:
            return None
        return np.array(infs, dtype=np.uint32)

    def _begin(self) -> None:
        pairs = self.pairs
        self._rounds = rounds_of(pairs)
        self.n_rounds = len(self._rounds)
        self._is_single = len(pairs) == self.n_rounds  # one pair at a time
        self.registers[Reg.MARK_BITS] = self._mark_bits()
        if self._rounds:
            self._begin_round()
            self.arrays.stack[0] = 0
            self.registers[Reg.TOP] = 1

    def _begin_round(self) -> tuple[int, list[int]]:
        """Begin the search for the next pairs; return their Fin and Inf marks."""
        fin, infs = self._rounds.pop(0)
        if self._fin_less:
            return fin, infs
        self.arrays.pair[:] = fin, infs[0]
        if not self._is_single:
            clauses = np.array(infs, dtype=np.uint32)
            self.arrays = self.arrays._replace(clauses=clauses)
        return fin, infs

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""
        status = super().step(budget)
        if status == Status.EMPTY and self._rounds:
            for register in _OF_ONE_PAIR:
                self.registers[register] = 0
            fin, infs = self._begin_round()
            useful = useful_states(
                self.problem.product,
                fin,
                lambda marks: any(inf & ~marks == 0 for inf in infs),
            )
            begin_later(self, useful)
            return Status.RUNNING
        return status

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return entered(self)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        if self._fin_less:
            return (yield from super().lasso())
        marks = int(self.arrays.root_marks[self.registers[Reg.N_ROOTS] - 1])
        fin, inf = self.arrays.pair.tolist()
        clauses = self.arrays.clauses
        infs = [inf] if clauses is None else clauses.tolist()
        clause = least_seen(fin, infs, marks)
        return (yield from PathFinder(self).lasso_in(self.accepting_scc(), clause))

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {
            **super().statistics(),
            "searches": self.n_rounds - len(self._rounds),
            "reentered": int(self.registers[Reg.REENTERED]),
        }

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        super().assert_consistent()
        if self._fin_less:
            return
        numbers = self.arrays.numbers[: self.n_stored]
        listed = self.arrays.fstates[: self.registers[Reg.N_FSTATES]]
        assert len(np.unique(listed)) == len(listed)
        assert set(np.flatnonzero(numbers == NOTED)) <= set(listed.tolist())
