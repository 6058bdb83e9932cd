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

SCCs of a stored graph are found by `ltlpipe.components.transition_arrays`; of
those of the search see `ltlpipe.search.scc.couvreur99`.  Source of the idea: S. Wimmer,
F. Herbreteau and J. van de Pol, "Certifying Emptiness of Timed Büchi Automata", FORMATS
2020, LNCS 12288, who certify that there is no accepting run by numbers of SCCs.

Differences from the sources: SCCs that lack the same mark share a rank.  For the search
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

Invariants of the search, asserted by `tests.invariants`: the numbers of live states
are 1 to COUNT, as the stack has them; roots ascend.

Cost: linear in the transitions for each clause; 40 bytes per state.  Of the search:
eight bytes per state; twenty bytes per root, and stacks as those of `couvreur99`.  A
complete SCC gets its ranks in pieces, so that a call stays short.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import Clause, from_clauses, marks_in
from ltlpipe.components.transition_arrays import sccs_of
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.kernels.jit import njit
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

BYTES_PER_STATE = 40
"""What the ranks of one clause take while they are computed."""

BYTES_PER_TRANSITION = 17
"""The same where those with some marks are left out."""

_BUDGET = 1 << 20  # transitions that one call of the kernel looks at
_STEP_WORK = 0.03  # microseconds of one


class At(IntEnum):
    """Places in the registers of `ranking_step`."""

    PLACE = 0  # of the next state in the order
    BELOW = 1  # the highest rank to which its SCC leads, -1 if there is none
    EXITS = 2  # marks of transitions to that rank
    INSIDE = 3  # marks of transitions inside the SCC
    HAS_INSIDE = 4  # whether there are any
    ACCEPTING = 5  # whether there is an SCC that lacks nothing


@njit
def ranking_step(first, dst, marks, scc, order, lacks, ranks, at, budget):
    """Rank SCCs, by at most `budget` transitions and those of one state more.

    Returns whether all have a rank; otherwise it is to be called again.

    first int64[n + 1], dst int32[m], marks uint32[m]
        The transitions of state s are those from ``first[s]`` to before
        ``first[s + 1]``; where each leads, and what it carries.
    scc : int32[n], order : int64[n]
        The SCC of each state; successors of an SCC have lower numbers.  The states by
        their SCCs.
    lacks : uint32[k]
        The marks of which a rank lacks one, each as a set of its own.
    ranks : int32[number of SCCs]
        Is written.
    at : int64[len(At)]
        Registers; see `At`.
    """
    n = order.shape[0]
    while at[At.PLACE] < n:
        if budget <= 0:
            return False
        state = order[at[At.PLACE]]
        number = scc[state]
        for edge in range(first[state], first[state + 1]):
            target, carried = scc[dst[edge]], np.int64(marks[edge])
            if target == number:
                at[At.INSIDE] |= carried
                at[At.HAS_INSIDE] = 1
            elif ranks[target] > at[At.BELOW]:
                at[At.BELOW] = ranks[target]
                at[At.EXITS] = carried
            elif ranks[target] == at[At.BELOW]:
                at[At.EXITS] |= carried
        budget -= 1 + first[state + 1] - first[state]
        at[At.PLACE] += 1
        if at[At.PLACE] == n or scc[order[at[At.PLACE]]] != number:
            inside, exits = np.uint32(at[At.INSIDE]), np.uint32(at[At.EXITS])
            has_inside = at[At.HAS_INSIDE] != 0
            rank = least_rank(lacks, at[At.BELOW], inside, exits, has_inside)
            at[At.ACCEPTING] |= rank < 0
            ranks[number] = rank
            at[At.BELOW] = -1
            at[At.EXITS] = at[At.INSIDE] = at[At.HAS_INSIDE] = 0
    return True


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
    ends : int64[n], dst : int32[m], marks : uint32[m]
        The transitions of state s are those from ``ends[s - 1]`` (0 for the first
        state) to before ``ends[s]``.
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
    needed = held_bytes + n * BYTES_PER_STATE
    if clause.fin:
        needed += len(dst) * BYTES_PER_TRANSITION
    progress = Progress(RANKING, memory_bytes=needed)
    yield progress
    first = np.concatenate([[0], ends])
    if clause.fin:
        taken = marks & np.uint32(clause.fin) == 0
        first = np.concatenate([[0], np.cumsum(taken)])[first]
        dst, marks = dst[taken], marks[taken]
    scc, count = yield from sccs_of(first, dst, progress)
    order = np.argsort(scc, kind="stable")
    alone = np.array([1 << mark for mark in lacks], dtype=np.uint32)
    ranks = np.empty(count, dtype=np.int32)
    at = np.zeros(len(At), dtype=np.int64)
    at[At.BELOW] = -1
    graph = first, dst, marks, scc, order, alone, ranks
    while not (yield from called(ranking_step, *graph, at, _BUDGET)):
        yield progress._replace(work=_BUDGET * _STEP_WORK)
    if at[At.ACCEPTING]:
        raise RuntimeError("the search missed a run that is accepted: a bug of ltlpipe")
    return np.asarray(ranks[scc])


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


def clause_of(problem: Problem) -> Clause | None:
    """Return the clause of a condition that is one conjunction of Inf, else None."""
    clauses = problem.clauses()
    if len(clauses) != 1 or clauses[0].fin:
        return None
    return clauses[0]
