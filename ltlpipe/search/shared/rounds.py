"""Emptiness check for any acceptance condition by several workers.

``--emptiness tela --workers P``.  The product is taken apart as by
`ltlpipe.search.scc.tela`, but round by round: in each round all workers together search
either the whole product or the inside of all SCCs that the round before has found and
that may have accepting cycles although they are not accepting as a whole.

Sources: C. Baier, F. Blahoudek, A. Duret-Lutz, J. Klein, D. Müller and J. Strejček,
"Generic Emptiness Check for Fun and Profit", ATVA 2019, LNCS 11781, pp. 445-461; and
those of `ltlpipe.search.shared.ufscc`, which each round is.

Differences from the sources:

- The source takes one SCC after the other, each recursively.  Here the SCCs of a round
  are *parts* of the product with a label each: transitions between parts, and those
  with marks that a part avoids, are not taken.  All their states are states to begin
  with (Fstates), each worker begins elsewhere, and who finds none that is new helps in
  an SCC in which others are: so small SCCs are searched side by side, and large ones by
  several workers.
- Where a part has alternatives of what to avoid, they are searched in rounds one after
  the other, the SCCs inside before the next alternative.
- The alternatives that `tela` searches in passes that take turns are searched here in
  passes one after the other.
- What to avoid is decided between rounds, for each set of marks that an SCC has, by
  `ltlpipe.search.acceptance.passes_of`; workers judge marks as they join them.

Why it is complete: a cycle in a part that accepts lies in one SCC of it; either that
SCC's marks satisfy the condition, or the cycle avoids what one of the alternatives
avoids, and lies inside this SCC in a later round.  Each alternative avoids a mark that
its SCC has, so at most 32 rounds are nested.

Cost: as ufscc, and 8 bytes per state; 8 more per state of SCCs that wait to be taken
apart.

Emptiness check for generalised Rabin acceptance by several workers.

``--emptiness rabin --workers P``.  The pairs are searched one after the other, each by
all workers: `ltlpipe.search.shared.ufscc` without the pair's Fin transitions, whose
targets are states to begin with later (*Fstates*).

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Algorithm 3 and Sec. 3.3.

Differences from the source: Fstates is an array to which each state is appended once,
by an atomic addition; a worker takes the next entry whose set is not dead, from a place
of its own, and helps those who are at work there.  No entry is removed.  Pairs with the
same Fin marks are searched together.  States are stored once for all pairs.

Why the search is complete when all entries are dead and no new one has come: a state
is appended before the source of the transition can become a tombstone, so before the
set of the source can die.

Searches that go through a product in rounds (`Rounds`), each by all workers on the same
stored states, are also those of `ltlpipe.search.shared.rounds`.

Cost: as ufscc, and 4 bytes per state.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.search.acceptance import implied_clause, passes_of, tabulate
from ltlpipe.search.growth import UINT32, total_bytes
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.rabin import Rabin, least_seen, pairs_of, rounds_of
from ltlpipe.search.shared.ufscc import UFSCC
from ltlpipe.search.store import Worker
from ltlpipe.search.union_find import HIGH, LOW, MARKS_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.conditions import Clause, Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.acceptance import Formula
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Column
    from ltlpipe.search.problem import Problem

BLOCK = 1 << 18
"""States that are looked at between two rounds without a pause."""

_OF_ONE_ROUND = [
    Reg.TOP,
    Reg.N_ROOTS,
    Reg.DEPTH,
    Worker.N_SCCS,
    Worker.IS_WAITING,
    Worker.TRIES,
    Worker.OFFERED,
]


class Rounds(UFSCC):
    """A search in rounds; the columns that it adds to `UFSCC` have `fstates`.

    It passes over the whole product for each of its `passes`.
    """

    emerson_lei = True
    _is_over = False  # a round, and what follows is not yet prepared

    def __init__(self, problem: Problem, passes: list[Any], **options: int) -> None:
        self._passes = passes
        self.n_passes = 0
        self._has_ended = not passes  # all rounds, without a run
        super().__init__(problem, **options)

    def _clauses(self) -> np.ndarray:
        return np.zeros(0, dtype=np.uint32)

    def _begin(self) -> None:
        super()._begin()
        if self._passes:
            self._begin_pass()

    def _begin_pass(self) -> None:
        self.n_passes += 1
        self._set_pass(self._passes.pop(0))

    @abstractmethod
    def _set_pass(self, what: Any) -> None:
        """Have workers search for what an entry of the passes says."""

    def step(self, budget: int) -> Status:
        """Expand about `budget` states, by all workers together.

        GROW when a round is over, too: the next one is prepared with pauses.
        """
        if self._has_ended:
            return Status.EMPTY
        if self._is_over:
            return Status.GROW
        status = super().step(budget)
        if status != Status.EMPTY:
            return status
        self._is_over = True
        return Status.GROW

    def _grow(self, limit_bytes: float) -> Iterator[None]:
        if not self._is_over:
            yield from super()._grow(limit_bytes)
            return
        yield from self._next_round()
        self._is_over = False

    def _next_round(self) -> Iterator[None]:
        """Begin the next round, with pauses; set `_has_ended` if there is none."""
        if not self._passes:
            self._has_ended = True
            return
        yield from self._forget()
        self._begin_pass()

    def _forget(self) -> Iterator[None]:
        """Begin again with the initial state, knowing nothing of sets of states."""
        arrays = self.arrays
        for begin in range(0, self.n_stored, BLOCK):
            arrays.words[begin : begin + BLOCK] = 0
            arrays.fstates[begin : begin + BLOCK] = 0
            yield
        arrays.fstates[0] = 1
        self._begin_anew(1)

    def _begin_anew(self, n: int) -> None:
        """Search from `n` states that Fstates has."""
        registers = self.registers
        registers[Worker.N_FSTATES], registers[Worker.IS_LATER] = n, 1
        self.arrays.mail[:] = 0
        for number, own in enumerate(self._owns):
            own[_OF_ONE_ROUND] = 0
            own[Worker.CURSOR] = n * number // self.n_workers  # each begins elsewhere


class SharedRabin(Rounds):
    """The searches of Bloemen et al. 2019, Algorithm 1, each by all workers."""

    name = "rabin"
    _listed: ClassVar[dict[str, Column]] = {"fstates": UINT32}

    def __init__(self, problem: Problem, *, workers: int = 1, seed: int = 0) -> None:
        passes = rounds_of(pairs_of(problem))
        super().__init__(problem, passes, workers=workers, seed=seed)

    def _set_pass(self, what: tuple[int, list[int]]) -> None:
        fin, infs = what
        self.arrays.avoided[0] = fin
        self._update(clauses=np.array(infs, dtype=np.uint32))
        self.registers[Worker.EMPTY_ACCEPTS] = 0 in infs

    def _seen_clause(self, marks: int) -> Clause:
        fin, infs = int(self.arrays.avoided[0]), self.arrays.clauses.tolist()
        return least_seen(fin, infs, marks)

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return {
            **super().statistics(),
            "searches": self.n_passes,
            "reentered": int(self.registers[Worker.REENTERED]),
        }


_BLIND = 2  # alternatives that are searched before SCCs say whether it is needed

Alternative = tuple[int, "Condition"]
"""Marks to avoid, as bits, and the condition that is left."""


@dataclass
class Batch:
    """SCCs that are to be taken apart."""

    members: np.ndarray  # int32[m], their states
    labels: np.ndarray  # uint32[m], the number of each one's SCC, from 1
    kinds: np.ndarray  # int32[SCCs + 1], what is searched in each, [0] of no meaning
    alternatives: list[list[Alternative]]  # of each kind
    turn: int = 0  # which alternative is the next


def alternatives_of(condition: Condition, marks: int) -> list[Alternative]:
    """Return what cycles may avoid inside an SCC with some marks that is not accepting.

    Each avoids at least one of the marks; none if no cycle inside can accept.
    """
    found: list[Alternative] = []
    for avoided, left in passes_of(condition.within(marks), marks.bit_count() + 1):
        if avoided:
            found.append((avoided, left))
        else:  # a part of a disjunction, to be split itself
            found += alternatives_of(left, marks)
    return found


class SharedTela(Rounds):
    """The search after Baier et al. 2019, by several workers, in progress."""

    name = "tela"
    _listed: ClassVar[dict[str, Column]] = {"fstates": UINT32, "labels": UINT32}

    def __init__(self, problem: Problem, *, workers: int = 1, seed: int = 0) -> None:
        self._condition = problem.acceptance
        self._batches: list[Batch] = []
        self._kinds = np.zeros(1, dtype=np.int32)  # of the parts of this round
        self._left: list[Alternative] = []  # what is searched in parts of each kind
        self._members: np.ndarray | None = None  # those of this round; None: all states
        self._is_whole = False  # the product has been searched once
        self.n_splits = 0
        passes = passes_of(self._condition, _BLIND)
        super().__init__(problem, passes, workers=workers, seed=seed)

    def _goal(self) -> Formula:
        return tabulate(self._condition)

    def _set_pass(self, what: Alternative) -> None:
        self.registers[Worker.EMPTY_ACCEPTS] = self._condition.satisfied_by(0)
        self._left = [what]
        self._kinds = np.zeros(1, dtype=np.int32)
        self._members = None
        self._update(avoided=np.array([what[0]], dtype=np.uint32))

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, those of SCCs that wait included."""
        waiting = sum(b.members.nbytes + b.labels.nbytes for b in self._batches)
        return super().memory_bytes + waiting

    def _next_round(self) -> Iterator[None]:
        self._is_whole = True
        yield from self._take_apart()
        if self._batches:
            yield from self._begin_parts()
            return
        yield from self._clear_labels()
        yield from super()._next_round()

    def _clear_labels(self) -> Iterator[None]:
        for states in self._blocks():
            self.arrays.labels[states] = 0
            yield

    def _blocks(self) -> Iterator[np.ndarray]:
        """Yield the states of this round, int64[...] each time."""
        if self._members is None:
            for begin in range(0, self.n_stored, BLOCK):
                yield np.arange(begin, min(begin + BLOCK, self.n_stored))
        else:
            for begin in range(0, len(self._members), BLOCK):
                yield self._members[begin : begin + BLOCK].astype(np.int64)

    def _take_apart(self) -> Iterator[None]:
        """Make a batch of those SCCs of the round that may have accepting cycles."""
        words, labels = self.arrays.words, self.arrays.labels
        kinds: dict[int, int] = {}
        alternatives: list[list[Alternative]] = []
        of_sccs: list[np.ndarray] = [np.zeros(1, dtype=np.int32)]
        n_sccs = 0
        for states in self._blocks():
            roots = states[self._words(0)[states] == HIGH]
            marks = (words[roots, 1] >> MARKS_SHIFT).astype(np.int64)
            parts = self._kinds[labels[roots]].astype(np.int64)
            keys, places = np.unique(parts << 32 | marks, return_inverse=True)
            for key in set(keys.tolist()) - kinds.keys():
                found = self._alternatives(key >> 32, key & 0xFFFFFFFF)
                kinds[key] = len(alternatives) if found else -1
                alternatives += [found] if found else []
            of_keys = np.array([kinds[key] for key in keys.tolist()], dtype=np.int32)
            of_roots = of_keys[places]
            is_open = of_roots >= 0
            numbers = (n_sccs + np.cumsum(is_open)) * is_open
            words[roots, 1] = numbers  # its marks are not needed any more
            of_sccs.append(of_roots[is_open])
            n_sccs += int(is_open.sum())
            yield
        if n_sccs == 0:
            return
        members, numbers_of = [], []
        for states in self._blocks():
            numbers = words[self._roots_of(states), 1]
            members.append(states[numbers > 0].astype(np.int32))
            numbers_of.append(numbers[numbers > 0].astype(np.uint32))
            yield
        self._batches.append(
            Batch(
                np.concatenate(members),
                np.concatenate(numbers_of),
                np.concatenate(of_sccs),
                alternatives,
            )
        )

    def _alternatives(self, kind: int, marks: int) -> list[Alternative]:
        """Return what may be avoided besides, in an SCC of a part of some kind."""
        avoided, condition = self._left[kind]
        found = alternatives_of(condition, marks) if marks else []
        return [(avoided | more, left) for more, left in found]

    def _roots_of(self, states: np.ndarray) -> np.ndarray:
        """Return int64[k], the roots of the sets of some states."""
        parents = self._words(0)
        roots = states
        while True:
            above = (parents[roots] & LOW).astype(np.int64)
            if not above.any():
                return roots
            roots = np.where(above == 0, roots, above - 1)

    def _begin_parts(self) -> Iterator[None]:
        """Begin a round that searches inside the SCCs of the last batch."""
        batch = self._batches.pop()
        many = np.array([len(found) for found in batch.alternatives])
        has_turn = many[batch.kinds] > batch.turn
        if (many > batch.turn + 1).any():
            self._batches.append(replace(batch, turn=batch.turn + 1))
        yield from self._clear_labels()
        last = [found[min(batch.turn, len(found) - 1)] for found in batch.alternatives]
        self._left, self._kinds = last, batch.kinds
        avoided = np.array([marks for marks, _ in last], dtype=np.uint32)[batch.kinds]
        avoided[0] = 0
        self._update(avoided=avoided)
        chosen = has_turn[batch.labels]
        self._members = batch.members[chosen]
        n = len(self._members)
        labels = batch.labels[chosen]
        arrays = self.arrays
        for begin in range(0, n, BLOCK):
            end = min(begin + BLOCK, n)
            states = self._members[begin:end]
            arrays.labels[states] = labels[begin:end]
            arrays.words[states] = 0
            arrays.fstates[begin:end] = states + 1
            yield
        self.n_splits += len(np.unique(labels))
        self._begin_anew(n)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been entered."""
        if self._is_whole:
            return self._is_stored()
        return super().visited()

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        closing = int(self.registers[Reg.CLOSING])
        roots = yield from self.roots()
        root, labels = roots[closing], self.arrays.labels[: self.n_stored]
        marks = int(self.registers[Worker.CLOSING_MARKS])
        clause = implied_clause(self.problem, marks)
        if clause is None or clause.satisfied_by(int(self.sets()[root] >> MARKS_SHIFT)):
            inside = (roots == root) & (labels == labels[closing])
            return (yield from PathFinder(self).lasso_in(inside, clause))
        # Another worker has joined marks to the set before it saw that it had to stop.
        search = Rabin(self.problem, known=self, pairs=[clause])
        search.registers[Reg.MAX_STATES] = self.registers[Reg.MAX_STATES]
        yield from search.run_on(self.memory_bytes)
        self.store = search.store  # which may have grown
        self.extraction_bytes = total_bytes(search.arrays)
        return (yield from search.lasso())

    def _of_round(self) -> np.ndarray:
        entered = super()._of_round()
        if self._members is not None:
            entered &= self.arrays.labels[: self.n_stored] != 0
        return entered

    def statistics(self) -> dict[str, Any]:
        """Return what only this algorithm counts."""
        return {
            **super().statistics(),
            "passes": self.n_passes,
            "splits": self.n_splits,
            "reentered": int(self.registers[Worker.REENTERED]),
        }
