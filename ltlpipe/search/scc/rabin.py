"""Emptiness check for generalised Rabin acceptance (``--emptiness rabin``).

Decides whether a product has a reachable cycle that satisfies one of several pairs:
it sees every Inf mark of the pair and no Fin mark.  The pairs are searched one after
another; each search takes the product apart into the SCCs that there are without
the pair's Fin transitions, and stops as soon as one has all Inf marks.  The kernel is
that of `ltlpipe.search.scc.couvreur99` with the rule `Fin`.

With ``--emptiness rabin-parallel`` every Fin set has a search of its own, and they are
side by side (`RabinParallel`).

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Algorithms 1 to 3; Sec.
3.3.1 for all pairs at once.

Differences from the source:

- The map from a state to the states and marks of its partial SCC, a union-find
  structure in the source, is the stack of roots of `ltlpipe.search.scc.couvreur99`.
  Without other workers the states of a partial SCC are those whose DFS numbers lie
  between two roots, so uniting two is taking a root off the stack.
- Nothing is marked dead state by state; complete SCCs are dead intervals of numbers.
- Transitions to states that are dead or on the stack are taken when their source is
  expanded ("known states first"), the others wait.
- Pairs with the same Fin marks are searched together.
- Fstates is a stack, not a cyclic list; that one is for several workers on the same
  pair.  An unknown state that is put there gets the number NOTED, so it is put there
  once; it stays when it is reached without Fin, and is passed over in the end.
- Pairs without Fin leave nothing of the algorithm but couvreur99.
- Side by side, there is one worker at most for each pair.

The pairs of a problem without a condition are one, all marks and no Fin.

The states are stored once: when the first pair has ended without a cycle, all states
that can be reached are stored.  The other pairs need no Fstates then: they start from
every stored state that they have not met; and they leave out the states whose property
state lies on no cycle of the property automaton that satisfies the pair.
`Reg.VISITED` counts the states that the first pair has entered, which are all, and
`Reg.REENTERED` those that the others enter once more.

Invariants, asserted by `tests.invariants`: those of couvreur99; states that have been
noted are on the list.

Cost: as couvreur99, and four bytes per state on Fstates; per pair at most one look at
every transition.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import Clause
from ltlpipe.search.acceptance import states_on_cycles
from ltlpipe.search.growth import INT32, OutOfMemoryError
from ltlpipe.search.interning import rows_of
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import Product, Setting
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.couvreur99 import Couvreur99
from ltlpipe.search.scc.rules import NOTED, REMOVED, Fin, SccReg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso, Search
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

_OF_ONE_PAIR = [Reg.COUNT, Reg.N_ROOTS, SccReg.N_DEAD, Reg.N_FSTATES, Reg.DEPTH]

_CHUNK = 1 << 16  # states whose numbers are set at a time

_SUMS = [Reg.TRANSITIONS, Reg.EXPANSIONS]

TURN = 1 << 14
"""Expansions of a search before the next one's turn."""


def pairs_of(problem: Problem) -> list[Clause]:
    """Return the pairs of a problem, those with the same Fin marks in a row."""
    return [pair for group in by_fin(problem.clauses()) for pair in group]


def by_fin(pairs: Sequence[Clause]) -> list[list[Clause]]:
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


def begin_later(search: Search, of_use: np.ndarray) -> None:
    """Prepare `search`, whose pass has ended, for the next one.

    That is about the property states `of_use`, bool[n_property_states].  The numbers of
    states are set, and CURSOR and IS_LATER.
    """
    settings = search.problem.product.settings
    shift = np.uint64(settings[Setting.SHIFT])
    mask = np.uint64(settings[Setting.MASK])
    numbers = search.arrays.numbers
    of_state = np.where(of_use, 0, REMOVED).astype(np.int32)
    for begin in range(0, search.n_stored, _CHUNK):
        ids = np.arange(begin, min(begin + _CHUNK, search.n_stored))
        words = rows_of(search.store, ids)[:, settings[Setting.WORD]]
        states = ((words >> shift) & mask).astype(np.int64)
        numbers[ids] = of_state[states]
    search.registers[SccReg.CURSOR] = 0
    search.registers[Reg.IS_LATER] = 1


def entered(search: Search) -> np.ndarray:
    """Return bool[n_stored]: the states that the passes have expanded."""
    if search.registers[Reg.IS_LATER]:
        return np.ones(search.n_stored, dtype=np.bool_)
    numbers = search.arrays.numbers[: search.n_stored]
    return np.asarray((numbers != 0) & (numbers != NOTED))


def useful_states(
    product: Product, avoided: int, may_accept: Callable[[int], bool]
) -> np.ndarray:
    """Return bool[n_property_states]: the states on cycles that may be accepting.

    `avoided` are the marks that an accepting cycle avoids, as bits; `may_accept` tells
    whether a cycle in an SCC with some marks may be accepting.
    """
    settings = product.settings
    system = (1 << int(settings[Setting.SYSTEM_MARKS])) - 1
    others = (system << int(settings[Setting.SYSTEM_SHIFT])) & ~avoided
    n_letters = int(settings[Setting.N_LETTERS])
    return states_on_cycles(
        product, n_letters, lambda seen: may_accept(seen | others), avoided
    )


class Rabin(Couvreur99):
    """The searches of Bloemen et al. 2019, Algorithm 1, for `pairs` in progress."""

    name = "rabin"
    emerson_lei = True

    def __init__(
        self,
        problem: Problem,
        *,
        known: Search | None = None,
        pairs: list[Clause] | None = None,
    ) -> None:
        self.pairs = pairs_of(problem) if pairs is None else pairs
        self._rounds = rounds_of(self.pairs)
        self.n_rounds = len(self._rounds)
        super().__init__(problem, known=known)

    def _layout(self) -> Layout:
        layout = super()._layout()
        if any(pair.fin for pair in self.pairs):
            layout[Reg.N_FSTATES] = {"fin.states": INT32}
        return layout

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        rules = super()._rules(parts)
        if "fin" in parts:
            rules["fin"] = Fin(np.zeros(1, dtype=np.uint32), **parts["fin"])
        return rules

    def _sweep(self) -> Iterator[None]:
        return super()._sweep() if self.arrays.fin is None else iter(())

    def _clauses(self) -> list[int]:
        if len(self.pairs) == self.n_rounds:  # one pair at a time
            return [pair.inf for pair in self.pairs[:1]]
        return [pair.inf for pair in self.pairs]

    def _begin(self) -> None:
        super()._begin()
        if self._rounds:
            self._begin_round()
        else:
            self.registers[Reg.TOP] = 0

    def _begin_round(self) -> tuple[int, list[int]]:
        """Begin the search for the next pairs; return their Fin and Inf marks."""
        fin, infs = self._rounds.pop(0)
        if self.arrays.fin is not None:
            self.arrays.fin.marks[0] = fin
            self.arrays.full[0] = infs[0]
            if self.arrays.clauses is not None:
                clauses = np.array(infs, dtype=np.uint32)
                self.arrays = self.arrays._replace(clauses=clauses)
        return fin, infs

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states."""
        status = super().step(budget)
        if status == Status.EMPTY and self._rounds:
            self.registers[_OF_ONE_PAIR] = 0
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
        fin = self.arrays.fin
        if fin is None:
            return (yield from super().lasso())
        marks = int(self.arrays.root_marks[self.registers[Reg.N_ROOTS] - 1])
        full, clauses = self.arrays.full, self.arrays.clauses
        infs = full if clauses is None else clauses
        clause = least_seen(int(fin.marks[0]), infs.tolist(), marks)
        return (yield from PathFinder(self).lasso_in(self.accepting_scc(), clause))

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        return {
            **super().statistics(),
            "searches": self.n_rounds - len(self._rounds),
            "reentered": int(self.registers[Reg.REENTERED]),
        }


class RabinParallel(Rabin):
    """All searches of Bloemen et al. 2019, Algorithm 1, in progress side by side.

    Every Fin set has a search of its own.  They take turns of `TURN` expansions, as
    many at a time as there are `workers`, each in a thread of its own: kernels release
    the interpreter's lock.  One worker needs no thread.  The first accepting pair wins,
    the first one in order if there are several in the same turn; so neither threads nor
    budgets decide which one it is.

    The first search is this object itself; when another one finds a run, this object
    takes over its arrays, as if the search had been its own.

    No two threads write to one array: each search has a store, and buffers for
    successors, of its own.  So nothing that one pair has stored helps another, and n
    pairs need n times the memory (Bloemen et al. say the same).  The limit on memory
    holds for all together, that on states for each.
    """

    name = "rabin-parallel"
    takes_workers = True

    def __init__(self, problem: Problem, *, workers: int = 1) -> None:
        first, *others = by_fin(pairs_of(problem)) or [[]]
        self._others: list[Rabin] = []
        self._workers = workers
        super().__init__(problem, pairs=first)
        self._others = [Rabin(problem.with_own_buffers(), pairs=p) for p in others]
        self._waiting: list[Rabin] = [self, *self._others]
        self._left: dict[Rabin, int] = {}  # expansions of the turns that are running
        self._found: list[Rabin] = []
        self._short: list[Rabin] = []
        self._is_summed = False

    @property
    def n_steps(self) -> int:
        """Expansions of all searches so far."""
        if self._is_summed:
            return super().n_steps
        return super().n_steps + sum(other.n_steps for other in self._others)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays of all searches, room to grow included."""
        return super().memory_bytes + sum(other.memory_bytes for other in self._others)

    def grow(self, limit_bytes: float) -> Iterator[None]:
        """Make room wherever the next expansion of any search may lack it."""
        for search in self._short:
            try:
                if search is self:
                    yield from super().grow(limit_bytes)
                else:
                    others_bytes = self.memory_bytes - search.memory_bytes
                    yield from search.grow(limit_bytes - others_bytes)
            except OutOfMemoryError:
                if not self._found:
                    raise
                del self._left[search]  # the run of another one is the answer

    def step(self, budget: int) -> Status:
        """Expand at most `budget` states in every search whose turn it is."""
        while not self._left:
            if self._found:
                self._take_over(min(self._found, key=[self, *self._others].index))
                return Status.FOUND
            if not self._waiting:
                self._sum_up()
                return Status.EMPTY
            self._left = dict.fromkeys(self._waiting[: self._workers], TURN)
            del self._waiting[: self._workers]
        status = self._advance_all(budget)
        self._short = [s for s in status if status[s] == Status.GROW]
        for search, answer in status.items():
            if answer == Status.FOUND:
                self._found.append(search)
            ended = answer in (Status.FOUND, Status.EMPTY)
            if ended or (answer == Status.RUNNING and self._left[search] <= 0):
                del self._left[search]
            if answer == Status.RUNNING and search not in self._left:
                self._waiting.append(search)
        if self._found:  # their run is the answer: who is at a limit stops there
            for search in (s for s in status if status[s] == Status.LIMIT):
                del self._left[search]
        for answer in (Status.GROW, Status.LIMIT):
            if any(
                status[search] == answer for search in self._left if search in status
            ):
                return answer
        return Status.RUNNING

    def _advance_all(self, budget: int) -> dict[Rabin, Status]:
        """Advance the searches whose turn it is; return what they answer."""
        running = list(self._left)

        def advance(search: Rabin) -> Status:
            before = int(search.registers[Reg.EXPANSIONS])
            search.registers[Reg.MAX_STATES] = self.registers[Reg.MAX_STATES]
            status = Rabin.step(search, min(budget, self._left[search]))
            self._left[search] -= int(search.registers[Reg.EXPANSIONS]) - before
            return status

        if len(running) == 1:
            return {running[0]: advance(running[0])}
        with ThreadPoolExecutor(len(running)) as threads:
            return dict(zip(running, threads.map(advance, running), strict=True))

    def _sum_up(self) -> None:
        """Add what the other searches have counted, once."""
        if self._is_summed:
            return
        self._is_summed = True
        for other in self._others:
            self.registers[_SUMS] += other.registers[_SUMS]
        self.n_rounds += sum(other.n_rounds for other in self._others)

    def _take_over(self, winner: Rabin) -> None:
        """Go on as if the search that has found a run had been this one."""
        self._sum_up()
        if winner is self:
            return
        sums = self.registers[_SUMS]
        self.registers[:] = winner.registers
        self.registers[_SUMS] = sums
        self.problem, self.store = winner.problem, winner.store
        self.arrays = winner.arrays
