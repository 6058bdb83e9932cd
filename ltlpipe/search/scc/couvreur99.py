"""SCC-based emptiness check with a stack of roots (``--emptiness couvreur99``).

Decides whether a product with marks on transitions has a reachable cycle that
sees every mark; it stops as soon as the transitions of such a cycle have been
generated.  With a condition without Fin, a disjunction of such sets of marks, the
cycle sees every mark of one of them (the TFLA check of Bloemen et al. 2019).
``--emptiness couvreur99-fig5`` is the same with ``remove`` as the paper has it, so that
the two can be compared: it generates every transition of a removed SCC once more.

There is one kernel for this search and those that differ from it by rules
(`ltlpipe.search.scc.rules`): its arrays' type says which it is.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Fig. 5, and Sec. 5.2 for more
than one mark; they follow J.-M. Couvreur, "On-the-fly Verification of Linear
Temporal Logic", FM 1999, LNCS 1708, pp. 253-271.  For several sets V. Bloemen, A.
Duret-Lutz and J. van de Pol, "Model checking with generalized Rabin and Fin-less
automata", STTT 21 (2019), pp. 307-324, Sec. 2, after Prop. 1.

Differences from the source:

- Marks lie on transitions, as in Couvreur's own version.  A root carries the marks
  inside its SCC and those of the tree transition that led to it.
- ``post(s)`` is computed once per visit; transitions to known states are taken at once
  and only unknown successors wait on the stack, so that the order of ``post`` is "known
  states first".
- With the rule `Dead`, nothing is traversed a second time to remove an SCC (line 7),
  nor is there a stack of its states.  When a root with number r is done, the states
  that are removed are those with a number of at least r: so the numbers from r to COUNT
  are noted as dead.  Dead intervals that touch or contain one another are made one,
  hence between two of them lies the number of a state that is still live.
- A root with the highest number is an SCC of one state.  It becomes REMOVED and its
  number is free again, so trivial SCCs leave no interval.
- With the rule `Lazy`, where rows are long, a frame notes how many of its transitions
  have been looked at.  Its state is expanded again where it is left, and the next few
  successors are stored and looked at.
- With the rule `twice`, ``remove`` shares the stack with the search.  A state is marked
  as removed when it is put there, so it is put there once.

Invariants, asserted by `tests.invariants`: each number from 1 to COUNT is either
dead or that of exactly one live state; roots and dead intervals ascend.  Of
couvreur99-fig5: while nothing is being removed, the states with a positive number are
those whose SCC is not complete, and roots ascend.

Cost: four bytes per state for its number; four bytes of stack, and a bit per mark
(rounded up to a power of two), per state on the path, per state that waits
(`ltlpipe.search.stacks`) and per waiting successor by a transition with marks;
twelve bytes per root and eight per dead interval; two bits per state with ample sets;
one look at every transition (couvreur99-fig5: two, and no dead intervals), and a search
among the dead intervals for those that lead to a known state.

Walks: short searches one after another, each in an order of its own.

Looks for an accepting run of a product without the aim to see all of it.  A walk
begins in the initial state, goes on to the best successor (`ltlpipe.search.guidance`)
and, where there is none that is new, back: it is a depth-first search that recognises
SCCs, and finds an accepting cycle as soon as its transitions have been generated,
whether or not the walk has closed it in one go.  After a number of states it is given
up, what it has stored is forgotten, and the next begins, in another order.  Most walks
are short, as most violations are near for some order; after k short ones there is a
longer one.

Source: the search of `ltlpipe.search.scc.couvreur99`; restarts with lengths that are
long the more seldom after M. Luby, A. Sinclair and D. Zuckerman, "Optimal Speedup of
Las Vegas Algorithms", Information Processing Letters 47 (1993), pp. 173-180.

Differences from the source: lengths grow by 4 where the sequence of Luby et al. grows
by 2, and each length is tried in every `Manner` before the next of the sequence; a walk
also ends when it has stored `MOST_STORED` states.

It answers EMPTY iff a walk has ended by itself that has left out no successor: then it
has seen all of the product from which an accepting run may be left.

Invariants: those of `couvreur99`, of the walk that is being taken.

Cost: that of `couvreur99`, for the states of one walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.por.component_sets import Reduction
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.search.acceptance import implied_clause
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, UINT32, total_bytes
from ltlpipe.search.guidance import Place, make_guidance
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc.rules import (
    YES,
    Dead,
    Lazy,
    Path,
    SccReg,
    begin_notes,
    begin_removal,
    bury,
    count_scc,
    has_ended,
    is_cut,
    is_left,
    is_live,
    is_put_off,
    is_ranked_on,
    is_removing,
    is_unknown,
    is_walked,
    lack_room,
    leave_path,
    merge_notes,
    note_cycle,
    note_exit,
    remove,
    restart,
    visit,
    visit_next,
)
from ltlpipe.search.stacks import (
    COLOURS,
    close_marked_gaps,
    forget_numbered,
    read_marks,
    sets_of,
    swept,
    write_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.guidance import Guidance
    from ltlpipe.search.needs import Needs
    from ltlpipe.search.problem import Problem
    from ltlpipe.search.scc.rules import Fin, Ranks, Tally

LONG_ROW = 32
"""Words of a row from which on successors are stored a few at a time."""

BATCH_WORDS = 1 << 11
"""Words of the successors that are stored at once: 16 KiB."""

_PIECE_BUDGET = 1 << 8  # what ranking a piece of an SCC counts as


class Arrays(NamedTuple):
    """The arrays of one search: n states, k stack entries, r roots; its rules."""

    numbers: np.ndarray  # int32[n], 0 unknown, > 0 live or dead, or see the rules
    stack: np.ndarray  # int32[k], a waiting state s, or ~s for a frame
    stack_marks: np.ndarray  # uint32[...], packed: marks of the transition to it
    roots: np.ndarray  # int32[r], DFS number of the root
    root_marks: np.ndarray  # uint32[r], marks inside its SCC
    entry_marks: np.ndarray  # uint32[r], marks of the tree transition to it
    full: np.ndarray  # uint32[1]: cycles with all of these marks are accepting
    clauses: np.ndarray | None = None  # uint32[c], or with all marks of one of these
    dead: Dead | None = None
    twice: np.ndarray | None = None  # remove SCCs by a second traversal
    path: Path | None = None
    fin: Fin | None = None
    ranks: Ranks | None = None
    tally: Tally | None = None
    guidance: Guidance | None = None
    lazy: Lazy | None = None


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
def follow(registers, arrays, number, marks, full):
    """Take a transition to a known state; FOUND if it closes an accepting cycle.

    A live state makes one SCC of all roots above it (lines 16-20).
    """
    top = registers[Reg.N_ROOTS] - 1
    if number < 0 or not is_live(arrays.dead, registers, number):
        note_exit(arrays.ranks, arrays.tally, top, number, marks)
        return Status.RUNNING
    while arrays.roots[top] > number:
        marks |= arrays.root_marks[top] | arrays.entry_marks[top]
        merge_notes(arrays.ranks, arrays.tally, top)
        top -= 1
    arrays.root_marks[top] |= marks
    note_cycle(arrays.tally, top)
    registers[Reg.N_ROOTS] = top + 1
    if covers(arrays.clauses, arrays.root_marks[top], full):
        return Status.FOUND
    return Status.RUNNING


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
def enter(expand, product, store, registers, arrays, state, marks, full):
    """Enter a state over a transition with `marks` (lines 9-12); its successors.

    Unknown ones wait, transitions to others are taken.
    """
    is_later = registers[Reg.IS_LATER]
    registers[Reg.VISITED] += 1 - is_later
    registers[Reg.REENTERED] += is_later
    registers[Reg.COUNT] += 1
    arrays.numbers[state] = registers[Reg.COUNT]
    n = visit(
        arrays.path,
        arrays.guidance,
        arrays.lazy,
        expand,
        product,
        store,
        registers,
        arrays,
        state,
        marks,
    )
    begin_notes(arrays.ranks, arrays.tally, registers, registers[Reg.N_ROOTS], state)
    push_root(registers, arrays, registers[Reg.COUNT], marks)
    arrays.stack[registers[Reg.TOP]] = ~state
    registers[Reg.TOP] += 1
    registers[Reg.DEPTH] += 1
    registers[Reg.MAX_DEPTH] = max(registers[Reg.MAX_DEPTH], registers[Reg.DEPTH])
    return take_all(product, registers, arrays, n, full)


@inlined
def take_all(product, registers, arrays, n, full):
    """Take the transitions to `n` successors, or let these wait."""
    numbers, fin = arrays.numbers, arrays.fin
    bits, top = registers[Reg.MARK_BITS], registers[Reg.TOP]
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        number = np.int64(numbers[dst])
        if is_put_off(fin, registers, numbers, dst, product.marks[i]):
            continue
        if is_unknown(fin, number):
            arrays.stack[top] = dst
            write_marks(arrays.stack_marks, bits, top, product.marks[i])
            top += 1
        else:
            status = follow(registers, arrays, number, product.marks[i], full)
            if status == Status.FOUND:
                break
    registers[Reg.TOP] = top
    return status


@specialised
def resume(lazy, expand, product, store, registers, arrays, state, full):
    """Take the next transitions of a state on the path."""
    if lazy is None:
        return Status.RUNNING
    n = visit_next(lazy, expand, product, store, registers, arrays, state)
    return take_all(product, registers, arrays, n, full)


@inlined
def leave(registers, arrays, state):
    """End the frame of a state whose successors are done (lines 21-23).

    Returns whether it has ended: a root ranks a large SCC in several turns.
    """
    number = np.int64(arrays.numbers[state])
    is_root = arrays.roots[registers[Reg.N_ROOTS] - 1] == number
    if is_root and is_ranked_on(arrays.ranks, registers, arrays, number):
        return False
    registers[Reg.TOP] -= 1
    registers[Reg.DEPTH] -= 1
    leave_path(arrays.path, state)
    if is_root:
        registers[Reg.N_ROOTS] -= 1
        count_scc(arrays.tally, registers, arrays.dead, number)
        bury(arrays.dead, registers, arrays.numbers, state, number)
        begin_removal(arrays.twice, registers, arrays, state)
    return True


@njit
def couvreur99_step(expand, product, store, registers, arrays, budget):
    """Advance the search of Schwoon & Esparza 2005, Fig. 5, by the arrays' rules.

    After FOUND the live states whose number is at least that of the last root are
    strongly connected, by transitions that carry every mark of a clause.  EMPTY with
    guidance says that a walk has come to an end before its length.
    """
    branching, full = product.ids.shape[0], arrays.full[0]
    room = arrays.stack.shape[0] - branching - 1
    dead, fin, ranks, tally = arrays.dead, arrays.fin, arrays.ranks, arrays.tally
    while budget > 0:
        if is_walked(arrays.guidance, registers):
            if at_limit(registers):
                return Status.LIMIT
            restart(arrays.guidance, product, store, registers, arrays)
        top = registers[Reg.TOP]
        if top == 0:
            if has_ended(fin, registers, arrays) and not is_cut(arrays.guidance):
                return Status.EMPTY
            continue
        if (
            top > room
            or registers[Reg.N_ROOTS] == arrays.roots.shape[0]
            or lack_room(dead, fin, ranks, tally, registers, branching)
            or is_full(product, store, registers)
        ):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        if is_removing(arrays.twice, registers):
            registers[Reg.TOP] = top - 1
            remove(arrays.twice, expand, product, store, registers, arrays, entry)
            budget -= 1
            continue
        if entry < 0 and is_left(arrays.lazy, registers):
            budget -= 1
            status = resume(
                arrays.lazy, expand, product, store, registers, arrays, ~entry, full
            )
            if status != Status.RUNNING:
                return status
            continue
        if entry < 0:
            if not leave(registers, arrays, ~entry):
                budget -= _PIECE_BUDGET
            continue
        number = np.int64(arrays.numbers[entry])
        unknown = is_unknown(fin, number)
        if unknown and registers[Reg.IS_LATER] == 0 and at_limit(registers):
            return Status.LIMIT
        marks = read_marks(arrays.stack_marks, registers[Reg.MARK_BITS], top - 1)
        registers[Reg.TOP] = top - 1
        if unknown:
            status = enter(
                expand, product, store, registers, arrays, entry, marks, full
            )
            budget -= 1
        else:
            status = follow(registers, arrays, number, marks, full)
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


class Couvreur99(Search):
    """The search of Schwoon & Esparza 2005, Fig. 5, in progress.

    A subclass has other rules: the arrays "rule.field" that it declares are those of a
    NamedTuple in `Arrays`, which `_rules` makes.
    """

    name = "couvreur99"
    generalised = True
    fin_less = True
    counts: ClassVar = {"max_roots": Reg.MAX_ROOTS}
    kernel = staticmethod(couvreur99_step)

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
        layout: Layout = {
            Reg.STORED: {"numbers": INT32},
            Reg.TOP: {"stack": INT32, "stack_marks": sets_of(self.problem.mark_bits)},
            Reg.N_ROOTS: {"roots": INT32, "root_marks": UINT32, "entry_marks": UINT32},
            SccReg.N_DEAD: {"dead.first": INT32, "dead.last": INT32},
        }
        if self.problem.ample is not None:
            layout[Reg.STORED]["path.colours"] = COLOURS
        if self._is_lazy:
            layout[Reg.TOP]["lazy.next"] = INT32
        return layout

    @property
    def _is_lazy(self) -> bool:
        """Whether successors are stored a few at a time; ample sets are small."""
        is_long = len(self.problem.initial) >= LONG_ROW
        return is_long and self.problem.ample is None and type(self) is Couvreur99

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        parts: dict[str, dict[str, Any]] = {}
        for name, array in made.items():
            part, _, field = name.rpartition(".")
            parts.setdefault(part, {})[field] = array
        clauses = np.array(self._clauses(), dtype=np.uint32)
        return Arrays(
            **parts.pop(""),
            full=np.resize(clauses, 1),
            clauses=None if len(clauses) == 1 else clauses,
            **self._rules(parts),
        )

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        """Return the rules that this search has, by their names."""
        rules: dict[str, Any] = {}
        if "dead" in parts:
            rules["dead"] = Dead(**parts["dead"])
        if self.problem.ample is not None and "path" in parts:
            no_seeds = np.zeros(0, dtype=np.uint16)
            reduction = Reduction(self.problem.ample, no_seeds)
            rules["path"] = Path(**parts["path"], reduction=reduction)
        if "lazy" in parts:
            batch = max(BATCH_WORDS // len(self.problem.initial), 1)
            rules["lazy"] = Lazy(**parts["lazy"], batch=np.array([batch]))
        return rules

    def _clauses(self) -> list[int]:
        """Return the marks of each clause, as bits."""
        return [clause.inf for clause in self.problem.clauses()]

    def _begin(self) -> None:
        super()._begin()
        self.registers[Reg.MARK_BITS] = self.problem.mark_bits

    def _sweep(self) -> Iterator[None]:
        if self._is_lazy:
            return iter(())  # few wait, and frames know their places
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
        dead = self.arrays.dead
        if dead is None:
            return np.zeros(len(numbers), dtype=np.bool_)
        n_dead = self.registers[SccReg.N_DEAD]
        last = np.append(dead.last[:n_dead], -1)  # of interval -1
        interval = np.searchsorted(dead.first[:n_dead], numbers, "right") - 1
        return np.asarray(numbers <= last[interval])

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND."""
        return (yield from self._run())

    def _run(self, held_bytes: float = 0) -> Job[ProductLasso]:
        """Return a short accepting run while others hold so many bytes."""
        root = self.registers[Reg.N_ROOTS] - 1
        clause = implied_clause(self.problem, int(self.arrays.root_marks[root]))
        finder = PathFinder(self, held_bytes)
        return (yield from finder.lasso_in(self.accepting_scc(), clause))


class Couvreur99Fig5(Couvreur99):
    """The search of Schwoon & Esparza 2005, Fig. 5, to the letter, in progress."""

    name = "couvreur99-fig5"

    def _layout(self) -> Layout:
        layout = super()._layout()
        del layout[SccReg.N_DEAD]
        return layout

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        return {**super()._rules(parts), "twice": YES}

    def _sweep(self) -> Iterator[None]:
        return iter(())  # states may be given up and come back


SHORTEST = 256
"""States of the shortest walks."""


class Walks(Couvreur99):
    """Walks in progress.

    Parameters
    ----------
    problem : Problem
        The product; it is not reduced by ample sets.
    automaton : PropertyAutomaton
        That of the product, which guides.
    seed : int
        Other walks for another seed.
    shortest : int
        States of the shortest walks.

    Raises
    ------
    UnsupportedError
        The product's condition has Fin: an SCC does not show by its marks that a cycle
        of it is accepting.
    """

    name = "walks"

    def __init__(
        self,
        problem: Problem,
        automaton: PropertyAutomaton,
        seed: int = 0,
        shortest: int = SHORTEST,
        needs: Needs | None = None,
    ) -> None:
        self._needs = needs
        if problem.ample is not None:
            raise ValueError("walks take all steps")
        self._automaton, self._seed, self._shortest = automaton, seed, shortest
        super().__init__(problem)

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        guidance = make_guidance(
            self._automaton,
            self._branching,
            self._seed,
            self._shortest,
            self._needs,
        )
        return {**super()._rules(parts), "guidance": guidance}

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        guidance = self.arrays.guidance
        assert guidance is not None
        return {"walks": int(guidance.registers[Place.WALKS])}
