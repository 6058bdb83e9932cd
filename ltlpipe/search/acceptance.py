"""Acceptance conditions as kernels evaluate them, node by node.

A condition is judged on the marks inside an SCC.  A node of its formula is

- *satisfied* if it holds of a run that sees exactly these marks;
- *possible* if it may hold of a run that sees some of them;
- in *need* of those marks, each of which a run has to avoid that stays in the SCC
  and of which the node holds.

Nodes can be struck out: then they do not hold.  Striking out parts of disjunctions
is how a condition is split without a normal form.

Source: C. Baier, F. Blahoudek, A. Duret-Lutz, J. Klein, D. Müller and J. Strejček,
"Generic Emptiness Check for Fun and Profit", ATVA 2019, LNCS 11781, pp. 445-461.

Differences from the source: "needed" generalises its unit clauses, Fin terms that
are conjuncts of the whole condition, to Fin terms that every possible way to hold
has in common.  Where there is none, the source fixes the value of a Fin term that it
chooses, outside of disjunctions; here a disjunction that is not satisfied is split, and
the parts that need the same mark stay together.  No Fin term is ever set to false.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import (
    Clause,
    Condition,
    Op,
    conjunction,
    disjunction,
    marks_in,
)
from ltlpipe.automata.fin_removal import Step, decompose
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.kernels.jit import inlined, specialised

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.search.problem import Problem
    from ltlpipe.search.product import Product


class Formula(NamedTuple):
    """A condition of n nodes, parts before wholes, the root last; and work space."""

    ops: np.ndarray  # uint8[n], an Op
    bits: np.ndarray  # uint32[n], of INF and FIN: the mark as a bit
    parents: np.ndarray  # int32[n], -1 for the root
    firsts: np.ndarray  # int32[n], the first node below: those up to n are below it
    satisfied: np.ndarray  # uint8[n]
    possible: np.ndarray  # uint8[n]
    needs: np.ndarray  # uint32[n]


def tabulate(condition: Condition) -> Formula:
    """Return a condition as a table."""
    rows: list[list[int]] = []

    def append(part: Condition) -> int:
        """Append the nodes of a part; return the place of its root."""
        first = len(rows)
        below = [append(own) for own in part.parts]
        for node in below:
            rows[node][2] = len(rows)
        rows.append([int(part.op), 1 << part.mark, -1, first])
        return len(rows) - 1

    append(condition)
    ops, bits, parents, firsts = np.array(rows, dtype=np.int64).T
    return Formula(
        ops=ops.astype(np.uint8),
        bits=bits.astype(np.uint32),
        parents=parents.astype(np.int32),
        firsts=firsts.astype(np.int32),
        satisfied=np.zeros(len(rows), dtype=np.uint8),
        possible=np.zeros(len(rows), dtype=np.uint8),
        needs=np.zeros(len(rows), dtype=np.uint32),
    )


def needed_fins(condition: Condition) -> int:
    """Return the marks that every run avoids of which a condition holds, as bits.

    Not all of them: those that can be seen from the Fin terms alone.
    """
    if condition.op == Op.FIN:
        return 1 << condition.mark
    needs = [needed_fins(part) for part in condition.parts]
    if condition.op == Op.AND:
        return int(np.bitwise_or.reduce(needs))
    return int(np.bitwise_and.reduce(needs)) if needs else 0


def forced(condition: Condition) -> tuple[int, Condition]:
    """Return what every accepting run avoids, and the condition that is left."""
    avoided = 0
    while needs := needed_fins(condition):
        avoided |= needs
        condition = condition.within(~avoided)
    return avoided, condition


def passes_of(condition: Condition, blind: int) -> list[tuple[int, Condition]]:
    """Split a condition into those of several searches of the whole product.

    A condition that has a Fin term in each of its alternatives need not be judged on
    SCCs to be split.  At most `blind` alternatives are taken out before the rest is
    left to be split where SCCs show that it is needed.  Returns, for each search, the
    marks to avoid, as bits, and the condition that is left.
    """
    passes: list[tuple[int, Condition]] = []
    while len(passes) < blind and not needed_fins(condition):
        parted = _parted(condition, condition.marks)
        if parted is None:
            break
        passes.append(forced(parted[0]))
        condition = parted[1]
    passes.append(forced(condition))
    return [found for found in passes if found[1].op != Op.FALSE]


def _parted(condition: Condition, marks: int) -> tuple[Condition, Condition] | None:
    """Split a condition as `split` does for an SCC with all marks; None if it holds."""
    if condition.satisfied_by(marks):
        return None
    parts = list(condition.parts)
    if condition.op == Op.AND:
        for i, part in enumerate(parts):
            found = _parted(part, marks)
            if found is not None:
                others = parts[:i] + parts[i + 1 :]
                return (
                    conjunction([*others, found[0]]),
                    conjunction([*others, found[1]]),
                )
        return None
    needs = [needed_fins(part) for part in parts]
    first = next((need for need in needs if need), 0)
    chosen = max(
        (1 << mark for mark in marks_in(first)),
        key=lambda bit: sum(need & bit != 0 for need in needs),
        default=0,
    )
    group = [
        part for part, need in zip(parts, needs, strict=True) if need & chosen
    ] or parts[:1]
    rest = [part for part in parts if part not in group]
    return (disjunction(group), disjunction(rest)) if rest else None


def implicant(condition: Condition, marks: int) -> Clause | None:
    """Return a clause that implies a condition and holds of exactly these marks.

    It has few Inf marks, so that a cycle that satisfies it can be short.  None if
    the condition does not hold of `marks`.
    """
    if not condition.parts:
        if not condition.satisfied_by(marks):
            return None
        bit = 1 << condition.mark
        fin = bit if condition.op == Op.FIN else 0
        return Clause(fin, bit if condition.op == Op.INF else 0)
    clauses = [implicant(part, marks) for part in condition.parts]
    known = [clause for clause in clauses if clause is not None]
    if condition.op == Op.OR:
        return min(known, key=_inf_marks, default=None)
    if len(known) < len(clauses):
        return None
    fins = np.bitwise_or.reduce([clause.fin for clause in known])
    infs = np.bitwise_or.reduce([clause.inf for clause in known])
    return Clause(int(fins), int(infs))


def _inf_marks(clause: Clause) -> int:
    return clause.inf.bit_count()


def states_on_cycles(
    edges: PropertyAutomaton | Product,
    n_letters: int,
    accepts: Callable[[int], bool],
    avoided: int = 0,
) -> np.ndarray:
    """Return bool[n_states], the states of an automaton in SCCs whose marks accept.

    Transitions with marks that are `avoided`, as bits, are left out.
    """
    n_states = (len(edges.first_edge) - 1) // n_letters
    per_state = np.diff(edges.first_edge[::n_letters])
    src = np.repeat(np.arange(n_states), per_state)
    keep = edges.edge_marks & np.uint32(avoided) == 0
    columns = src[keep], edges.edge_dst[keep], edges.edge_marks[keep]
    steps = [
        Step(*edge)
        for edge in sorted(set(zip(*(c.tolist() for c in columns), strict=True)))
    ]
    useful = np.zeros(n_states, dtype=np.bool_)
    for scc in decompose(steps, range(len(steps)), range(n_states)).inside:
        seen = reduce(or_, (steps[i].marks for i in scc))
        useful[[steps[i].src for i in scc]] = accepts(seen)
    return useful


def implied_clause(problem: Problem, marks: int) -> Clause | None:
    """Return why an SCC with these marks is accepting; None: it has all marks."""
    if problem.condition is None:
        return None
    clause = implicant(problem.condition, marks)
    if clause is None:
        raise ReplayError("the search reported an SCC that is not accepting")
    return clause


@specialised
def is_struck(struck, node):
    """Whether a node is struck out."""
    if struck is None:
        return False
    return struck[node] != 0


@inlined
def judge(formula, marks, struck):
    """Judge every node on the marks of an SCC; return whether the root is possible.

    struck is uint8[n], 1 for the nodes that are struck out, or None.
    """
    ops, bits, parents = formula.ops, formula.bits, formula.parents
    satisfied, possible, needs = formula.satisfied, formula.possible, formula.needs
    n = ops.shape[0]
    for i in range(n):
        whole = ops[i] == Op.AND or ops[i] == Op.TRUE
        satisfied[i] = whole
        possible[i] = whole or ops[i] == Op.FIN
        needs[i] = np.uint32(0xFFFFFFFF) if ops[i] == Op.OR else np.uint32(0)
    for i in range(n):
        if ops[i] == Op.INF:
            satisfied[i] = possible[i] = marks & bits[i] != 0
        elif ops[i] == Op.FIN:
            satisfied[i] = marks & bits[i] == 0
            needs[i] = marks & bits[i]
        if is_struck(struck, i):
            satisfied[i] = possible[i] = 0
        parent = parents[i]
        if parent < 0:
            continue
        if ops[parent] == Op.AND:
            satisfied[parent] &= satisfied[i]
            possible[parent] &= possible[i]
            needs[parent] |= needs[i]
        elif possible[i] != 0:  # what is impossible is no way to hold
            satisfied[parent] |= satisfied[i]
            possible[parent] = 1
            needs[parent] &= needs[i]
    return possible[n - 1] != 0


@inlined
def holds(formula, marks):
    """Whether the formula is satisfied by exactly these marks."""
    judge(formula, marks, None)
    return formula.satisfied[formula.ops.shape[0] - 1] != 0


@inlined
def open_disjunction(formula):
    """Return a disjunction to split; the root, judged, is possible and in no need.

    Neither is it satisfied.  The same is true of the node that is returned, and at
    least two of its parts are possible.
    """
    ops, firsts = formula.ops, formula.firsts
    satisfied, possible = formula.satisfied, formula.possible
    node = ops.shape[0] - 1
    while True:
        chosen = -1
        choices = 0
        part = node - 1
        while part >= firsts[node]:
            if possible[part] != 0 and satisfied[part] == 0:
                chosen = part
                choices += 1
            part = firsts[part] - 1
        if ops[node] == Op.OR and choices > 1:
            return node
        node = chosen


@inlined
def shared_need(formula, node):
    """Return a mark, as a bit, that possible parts of a node need; 0 if none does.

    Of the marks that the first such part needs it is one that most others need, too.
    """
    firsts, possible, needs = formula.firsts, formula.possible, formula.needs
    wanted = np.uint32(0)
    part = node - 1
    while part >= firsts[node]:
        if possible[part] != 0 and needs[part] != 0:
            wanted = needs[part]  # parts are met in reverse order
        part = firsts[part] - 1
    best = np.uint32(0)
    most = 0
    while wanted != 0:
        bit = np.uint32(wanted & (~wanted + np.uint32(1)))
        wanted = np.uint32(wanted & ~bit)
        count = 0
        part = node - 1
        while part >= firsts[node]:
            count += possible[part] != 0 and needs[part] & bit != 0
            part = firsts[part] - 1
        if count > most:
            best = bit
            most = count
    return best


@inlined
def split(formula, rest, group):
    """Split a formula that is possible, but neither satisfied nor in need.

    It has been judged with the nodes struck out that `rest` and `group`, each
    uint8[n], both say.  More are struck out in both: what holds in the formula holds
    in the one or in the other.  `group` keeps the parts of a disjunction that need
    one mark in common, or a single part, and `rest` the others.
    """
    firsts, possible, needs = formula.firsts, formula.possible, formula.needs
    node = open_disjunction(formula)
    bit = shared_need(formula, node)
    part = node - 1
    single = bit == 0
    while part >= firsts[node]:
        if possible[part] != 0:
            inside = single or needs[part] & bit != 0
            if bit == 0:
                single = False
            if inside:
                rest[part] = 1
            else:
                group[part] = 1
        part = firsts[part] - 1
