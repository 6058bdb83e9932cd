"""Ranks: numbers on the states of a product that prove that no run is accepted.

For a clause "no mark of F infinitely often, and every mark of I", with I = {m_0, ...,
m_(k-1)}, rank r *lacks* the mark m_(r mod k).  Along a transition without marks of F
ranks never increase, and where the rank r stays the same, the transition does not
carry the mark that r lacks; without any I ranks strictly decrease.  A run that meets F
finitely often has, from some point on, one rank, and never again sees the mark that
this rank lacks: it does not satisfy the clause.

The ranks are the least ones.  An SCC of the transitions without F takes the highest
rank r of the states to which it leads if it, and its transitions to rank r, lack m_(r
mod k); else the next rank whose mark its own transitions lack.  There is one, or the
SCC has a run that is accepted.

`RankedSearch` is the search of `ltlpipe.search.scc.couvreur99` for a cycle that sees
every mark.  Where there is none, each state has its rank, without a second look at the
transitions: an SCC is complete when all to which it leads is, so its rank follows from
what was noted while its transitions were generated.  `ranks_of` ranks the states of a
graph that is stored.

Source of the SCCs of a stored graph: R. Tarjan, "Depth-First Search and Linear Graph
Algorithms", SIAM Journal on Computing 1(2), 1972, pp. 146-160, Sec. 4; of those of the
search see `ltlpipe.search.scc.couvreur99`.  Source of the idea: S. Wimmer, F.
Herbreteau and J. van de Pol, "Certifying Emptiness of Timed Büchi Automata", FORMATS
2020, LNCS 12288, who certify that there is no accepting run by numbers of SCCs.

Differences from the sources: an explicit stack instead of recursion; a state whose SCC
is complete has a rank, instead of a flag that says whether it is on the stack; an SCC
is known by its rank only, so that SCCs that lack the same share it.  For the search
also:

- A root carries, beside the marks inside its SCC, the highest rank to which its SCC
  leads, and the marks of transitions to states of that rank.
- The states of incomplete SCCs are on a stack, in the order of their numbers, so that a
  complete one can be given its rank; numbers are used again.
- States that wait on a full stack are taken off as for `couvreur99`.  The transition of
  such a state t, from s, is not noted.  As t is known, it was found from s, over a
  successor c of s.  If c is in the SCC of s, or has the rank of t, what t would add is
  noted with c: marks that are taken off are those of all transitions from s, or none.
  Else t has a lower rank than c and adds nothing.

Invariants of the search, asserted by `assert_consistent`: the numbers of live states
are 1 to COUNT, as the stack has them; roots ascend.

Cost: linear in the transitions for each clause; 24 bytes per state.  Of the search:
eight bytes per state; twenty bytes per root, and stacks as those of `couvreur99`.  A
complete SCC gets its ranks in pieces, so that a call stays short.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause, from_clauses, marks_in, normal_form
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import inlined, njit
from ltlpipe.search.growth import INT32, UINT32
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.couvreur99 import Couvreur99
from ltlpipe.search.scc.rules import Ranks, SccReg, least_rank

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem

RANKING = "ranking"
"""The phase of the job."""

BYTES_PER_STATE = 24
"""What the ranks of one clause take while they are computed."""

_BUDGET = 1 << 20  # steps of one call of the kernel
_STEP_WORK = 0.03  # microseconds of one


class Ranking(NamedTuple):
    """The arrays of one computation: n states, k marks of which a rank lacks one."""

    lacks: np.ndarray  # uint32[k], each as a set of its own
    ranks: np.ndarray  # int32[n], -1 where not known yet
    number: np.ndarray  # int32[n], DFS numbers from 1 on, 0 where not visited
    lowlink: np.ndarray  # int32[n]
    current: np.ndarray  # int32[n], the states of incomplete SCCs
    path: np.ndarray  # int32[n], the states of the search
    taken: np.ndarray  # int32[n], transitions of each state that have been looked at


class At(IntEnum):
    """Places in the registers of `ranking_step`."""

    ROOT = 0  # states below it have been visited
    DEPTH = 1  # states on the path
    N_SEEN = 2
    N_CURRENT = 3  # states of incomplete SCCs
    ACCEPTING = 4  # whether there is an SCC that lacks nothing
    PHASE = 5  # of a complete SCC: a Phase
    BEGIN = 6  # where its states begin among the current ones
    PLACE = 7  # the next of them
    BELOW = 8  # the highest rank to which it leads, -1 if there is none
    EXITS = 9  # marks of transitions to that rank
    INSIDE = 10  # marks of its own transitions
    HAS_INSIDE = 11  # whether there are any
    RANK = 12


class Phase(IntEnum):
    """What is done with an SCC."""

    NONE = 0  # none is complete
    GATHER = 1  # its transitions are looked at
    ASSIGN = 2  # its states get their rank


@njit
def ranking_step(ends, dst, marks, avoid, ranking, at, budget):
    """Rank the states of a graph, in at most `budget` steps.

    Returns whether all have a rank; otherwise it is to be called again.

    ends int64[n], dst int32[m], marks uint32[m]
        The transitions of state s are those from ``ends[s - 1]`` (0 for the first
        state) to before ``ends[s]``; where each leads, and what it carries.
    avoid : uint32
        The marks F of the clause.
    ranking : Ranking
        Changed in place.
    at : int64[len(At)]
        Registers; see `At`.
    """
    ranks, number, lowlink = ranking.ranks, ranking.number, ranking.lowlink
    current, path, taken = ranking.current, ranking.path, ranking.taken
    n = number.shape[0]
    while at[At.ROOT] < n:
        if at[At.DEPTH] == 0:
            if number[at[At.ROOT]] > 0:
                at[At.ROOT] += 1
                continue
            path[0] = at[At.ROOT]
            at[At.DEPTH] = 1
        while at[At.DEPTH] > 0:
            if budget <= 0:
                return False
            budget -= 1
            if at[At.PHASE] != Phase.NONE:
                budget -= rank_states(ends, dst, marks, avoid, ranking, at)
                continue
            state = path[at[At.DEPTH] - 1]
            if number[state] == 0:
                at[At.N_SEEN] += 1
                number[state] = at[At.N_SEEN]
                lowlink[state] = at[At.N_SEEN]
                current[at[At.N_CURRENT]] = state
                at[At.N_CURRENT] += 1
            edge = first_of(ends, state) + taken[state]
            if edge < ends[state]:
                target = dst[edge]
                if marks[edge] & avoid == 0 and ranks[target] < 0:
                    if number[target] == 0:
                        path[at[At.DEPTH]] = target  # looked at again when it is done
                        at[At.DEPTH] += 1
                        continue
                    lowlink[state] = min(lowlink[state], lowlink[target])
                taken[state] += 1
                continue
            if lowlink[state] == number[state]:
                begin_scc(ranking, at, state)
            else:
                at[At.DEPTH] -= 1
    return True


@inlined
def first_of(ends, state):
    """Return the first transition of a state."""
    first = np.int64(0)
    if state > 0:
        first = ends[state - 1]
    return first


@inlined
def begin_scc(ranking, at, root):
    """Note that the SCC whose first state is `root` is complete."""
    begin = at[At.N_CURRENT] - 1
    while ranking.current[begin] != root:
        begin -= 1
    at[At.PHASE] = Phase.GATHER
    at[At.BEGIN] = begin
    at[At.PLACE] = begin
    at[At.BELOW] = -1
    at[At.EXITS] = 0
    at[At.INSIDE] = 0
    at[At.HAS_INSIDE] = 0


@inlined
def rank_states(ends, dst, marks, avoid, ranking, at):
    """Go on with the complete SCC by one state; return how many steps that took.

    Its frame is left when all of its states have their rank.
    """
    ranks, current = ranking.ranks, ranking.current
    state = current[at[At.PLACE]]
    at[At.PLACE] += 1
    is_last = at[At.PLACE] == at[At.N_CURRENT]
    if at[At.PHASE] == Phase.ASSIGN:
        ranks[state] = at[At.RANK]
        if is_last:
            at[At.N_CURRENT] = at[At.BEGIN]
            at[At.PHASE] = Phase.NONE
            at[At.DEPTH] -= 1
        return np.int64(0)
    first = first_of(ends, state)
    for edge in range(first, ends[state]):
        if marks[edge] & avoid != 0:
            continue
        rank, carried = np.int64(ranks[dst[edge]]), np.int64(marks[edge])
        if rank < 0:
            at[At.INSIDE] |= carried
            at[At.HAS_INSIDE] = 1
        elif rank > at[At.BELOW]:
            at[At.BELOW] = rank
            at[At.EXITS] = carried
        elif rank == at[At.BELOW]:
            at[At.EXITS] |= carried
    if is_last:
        inside, exits = np.uint32(at[At.INSIDE]), np.uint32(at[At.EXITS])
        has_inside = at[At.HAS_INSIDE] != 0
        found = least_rank(ranking.lacks, at[At.BELOW], inside, exits, has_inside)
        if found < 0:
            at[At.ACCEPTING] = 1
            found = np.int64(0)
        at[At.RANK] = found
        at[At.PLACE] = at[At.BEGIN]
        at[At.PHASE] = Phase.ASSIGN
    return ends[state] - first


def ranks_of(
    ends: np.ndarray,
    dst: np.ndarray,
    marks: np.ndarray,
    clause: Clause,
    lacks: list[int],
    held_bytes: float,
) -> Job[np.ndarray]:
    """Return the ranks of all states for one clause, int32[n].

    Parameters
    ----------
    ends, dst, marks
        The transitions; see `ranking_step`.
    clause : Clause
        For which they prove that no run is accepted.
    lacks : list of int
        The marks of ``clause.inf``: rank r lacks ``lacks[r % len(lacks)]``.
    held_bytes : float
        What others hold meanwhile.

    Raises
    ------
    RuntimeError
        A run of the graph satisfies the clause: the search was wrong.
    """
    n = len(ends)
    yield Progress(RANKING, memory_bytes=held_bytes + n * BYTES_PER_STATE)
    ranking = Ranking(
        np.array([1 << mark for mark in lacks], dtype=np.uint32),
        np.full(n, -1, dtype=np.int32),
        *(np.zeros(n, dtype=np.int32) for _ in range(5)),
    )
    at = np.zeros(len(At), dtype=np.int64)
    graph = ends, dst, marks, np.uint32(clause.fin)
    while not (yield from called(ranking_step, *graph, ranking, at, _BUDGET)):
        yield Progress(
            RANKING,
            work=_BUDGET * _STEP_WORK,
            memory_bytes=held_bytes + n * BYTES_PER_STATE,
        )
    if at[At.ACCEPTING]:
        raise RuntimeError("the search missed a run that is accepted: a bug of ltlpipe")
    return ranking.ranks


class RankedSearch(Couvreur99):
    """A search in progress that gives each state a rank.

    Raises
    ------
    UnsupportedError
        The acceptance condition is more than one conjunction of Inf.
    """

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
        layout = super()._layout()
        del layout[SccReg.N_DEAD]
        layout[Reg.N_ROOTS] |= {"ranks.below": INT32, "ranks.exits": UINT32}
        layout[Reg.COUNT] = {"ranks.live": INT32}
        return layout

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        clause = clause_of(self.problem)
        assert clause is not None  # by `simplified`
        lacks = np.array([1 << mark for mark in marks_in(clause.inf)], dtype=np.uint32)
        return {"ranks": Ranks(**parts["ranks"], lacks=lacks)}

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
        return (yield from Couvreur99.retrace(self))

    def assert_consistent(self) -> None:
        """Check the invariants that the module states."""
        super().assert_consistent()
        count = int(self.registers[Reg.COUNT])
        assert self.arrays.ranks is not None
        live = self.arrays.ranks.live[:count]
        assert self.arrays.numbers[live].tolist() == list(range(1, count + 1))
        assert (self.arrays.numbers[: self.n_stored] > 0).sum() == count


def clause_of(problem: Problem) -> Clause | None:
    """Return the clause of a condition that is one conjunction of Inf, else None."""
    if problem.condition is None:
        return Clause(0, (1 << problem.n_marks) - 1)
    clauses = normal_form(problem.condition)
    if len(clauses) != 1 or clauses[0].fin:
        return None
    return clauses[0]
