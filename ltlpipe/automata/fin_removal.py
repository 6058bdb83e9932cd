"""From generalised Rabin to Fin-less acceptance.

A run that a pair with Fin accepts stays, from some point on, in an SCC that is left
when the transitions of its Fin set are taken out.  Clones of these SCCs are added,
and transitions into them that guess the point.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Prop. 1.

Differences from the source:

- Only SCCs without Fin transitions that satisfy a pair are cloned: a run can stay
  in the original until it is there.  The source clones every state for each pair.
- Transitions of an SCC that are on no rejecting cycle get a mark of their own, which
  is enough to accept.  What is left are the SCCs of the other transitions: a run that
  does not stay in one of them for ever takes such a transition again and again.
- An SCC in which no transition has a Fin mark of a pair needs no clone for that pair:
  its Inf marks are put on the original.  So pairs without Fin never need one.
- Where a Fin mark of a pair rejects nothing in an SCC that other pairs do not
  accept, it is dropped there.  This and what rejecting cycles leave over ask for the
  pairs of the complement, and are left out where these are too many.
- Pairs that leave the same transitions of an SCC share the clone.
- Only transitions that close a cycle of a depth-first search lead into a
  clone; every run that stays in an SCC takes such transitions again and again.  The
  source guesses at every transition.
- A pair without Inf gets a mark on all transitions of its clones.  By the letter of
  the source its part of the condition would be an empty conjunction, and every run
  accepted: applied to a co-Büchi automaton of FG a, Prop. 1 would accept all words.

Cost: linear in the automaton for each pair, times its Fin marks and the pairs of the
complement.

SCCs are found as by R. E. Tarjan, "Depth-First Search and Linear Graph Algorithms",
SIAM Journal on Computing 1 (1972), pp. 146-160, with an explicit stack; the transitions
that close a cycle of the search are returned, too.
"""

from __future__ import annotations

from contextlib import suppress
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.conditions import (
    MAX_MARKS,
    Clause,
    Condition,
    bits_of,
    conjunction,
    disjunction,
    fin,
    from_clauses,
    from_code,
    inf,
    marks_in,
    merged_fin,
    normal_form,
)
from ltlpipe.automata.structure import cells_of, draft_of, table_of, useful_part
from ltlpipe.logic.spot_graphs import automaton_of
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton


class Step(NamedTuple):
    """A transition without its letter."""

    src: int
    dst: int
    marks: int


class Decomposition(NamedTuple):
    """The SCCs of a part of a graph; transitions are given by their indices."""

    inside: list[list[int]]  # the transitions of each SCC that has any, ascending
    back: frozenset[int]  # those that close a cycle of the search: all cycles have one


def decompose(
    steps: Sequence[Step], chosen: Iterable[int], starts: Iterable[int]
) -> Decomposition:
    """Decompose what some of all transitions, `chosen` by index, reach from states."""
    leaving: dict[int, list[int]] = {}
    for index in chosen:
        leaving.setdefault(steps[index].src, []).append(index)
    number: dict[int, int] = {}  # in the order of first visits
    lowlink: dict[int, int] = {}
    scc: dict[int, int] = {}  # of states whose SCC is complete
    live: list[int] = []  # states of SCCs that are not complete
    path: dict[int, Iterator[int]] = {}  # with the transitions to be looked at
    back: list[int] = []

    def enter(state: int) -> None:
        number[state] = lowlink[state] = len(number)
        live.append(state)
        path[state] = iter(leaving.get(state, ()))

    def leave(state: int) -> None:
        del path[state]
        if lowlink[state] == number[state]:
            own = len(scc)
            while state not in scc:
                scc[live.pop()] = own
        elif path:
            above = next(reversed(path))
            lowlink[above] = min(lowlink[above], lowlink[state])

    for start in starts:
        if start not in number:
            enter(start)
        while path:
            state = next(reversed(path))
            for index in path[state]:
                dst = steps[index].dst
                if dst not in number:
                    enter(dst)
                    break
                if dst in path:
                    back.append(index)
                if dst not in scc:
                    lowlink[state] = min(lowlink[state], number[dst])
            else:
                leave(state)
    inside: dict[int, list[int]] = {}
    for state, indices in leaving.items():
        for index in indices:
            if state in scc and scc[state] == scc[steps[index].dst]:
                inside.setdefault(scc[state], []).append(index)
    return Decomposition([sorted(inside[k]) for k in sorted(inside)], frozenset(back))


_MAX_REJECTING = 64  # pairs of the complement that are looked at


class Copy(NamedTuple):
    """A transition of the Fin-less automaton."""

    src: int
    dst: int
    marks: int
    origin: int  # index of the transition that it copies


class FinLess(NamedTuple):
    """A Fin-less automaton without its letters."""

    n_states: int  # the states of the original come first
    transitions: list[Copy]  # each has the letter of its origin
    condition: Condition  # a disjunction of conjunctions of Inf; FALSE accepts nothing


class _Region(NamedTuple):
    """Transitions of one SCC, and the pairs that accept what stays in it."""

    transitions: tuple[int, ...]
    back: frozenset[int]  # those that lead into the clone; empty in place
    pairs: list[int]


def without_fin(table: PropertyAutomaton) -> PropertyAutomaton:
    """Return the Fin-less table of a table with any condition.

    Raises
    ------
    UnsupportedError
        The condition has too many pairs, or more than 32 marks would be needed.
    """
    if table.condition is None or not table.condition.fin_marks:
        return table
    cells = cells_of(table)
    places = [(at, edge) for at, cell in enumerate(cells) for edge in cell]
    steps = [Step(at // table.n_letters, dst, marks) for at, (dst, marks) in places]
    made = remove_fin(
        steps, table.n_states, table.initial, normal_form(table.condition)
    )
    copied: list[list[tuple[int, int]]] = [
        [] for _ in range(made.n_states * table.n_letters)
    ]
    for src, dst, marks, origin in made.transitions:
        letter = places[origin][0] % table.n_letters
        copied[src * table.n_letters + letter].append((dst, marks))
    draft = draft_of(table)._replace(
        cells=copied, n_marks=made.condition.n_marks, condition=made.condition
    )
    return table_of(useful_part(draft))


def remove_fin(
    steps: Sequence[Step], n_states: int, initial: int, clauses: Sequence[Clause]
) -> FinLess:
    """Return an automaton with Inf alone for one that accepts by any clause.

    The original has states 0 to ``n_states - 1`` and the transitions `steps`.
    """
    regions = _regions(steps, initial, clauses)
    numbers, condition = _new_marks(regions, [*clauses, Clause(0, 0)])
    marks_of: dict[int, int] = {}  # of transitions of the original
    added: list[Copy] = []
    for region in regions:
        marks = {
            at: _marks_at(steps[at].marks, region.pairs, numbers)
            for at in region.transitions
        }
        if not region.back:
            for at, more in marks.items():
                marks_of[at] = marks_of.get(at, 0) | more
            continue
        clone: dict[int, int] = {}
        for at in region.transitions:
            clone.setdefault(steps[at].src, n_states + len(clone))
        n_states += len(clone)
        for at, own in marks.items():
            src, dst, _ = steps[at]
            added.append(Copy(clone[src], clone[dst], own, at))
            if at in region.back:
                added.append(Copy(src, clone[dst], 0, at))
    kept = [
        Copy(src, dst, marks_of.get(at, 0), at)
        for at, (src, dst, _) in enumerate(steps)
    ]
    return FinLess(n_states, kept + added, condition)


def _regions(
    steps: Sequence[Step], initial: int, clauses: Sequence[Clause]
) -> list[_Region]:
    """Find where each pair accepts, in place or after its Fin is taken out.

    The last pair, one more than there are, is for transitions that are on no
    rejecting cycle: a run that takes them infinitely often is
    accepted.
    """
    rejecting = _rejecting(clauses)
    found: dict[tuple[tuple[int, ...], bool], _Region] = {}

    def note(place: Sequence[int], back: frozenset[int], pair: int) -> None:
        key = tuple(place), bool(back)
        found.setdefault(key, _Region(key[0], back, [])).pairs.append(pair)

    for scc in decompose(steps, range(len(steps)), [initial]).inside:
        parts = [part for bad in rejecting for part, _ in _satisfying(steps, scc, bad)]
        risky = {at for part in parts for at in part}
        certain = [at for at in scc if at not in risky]
        if certain:
            note(certain, frozenset(), len(clauses))
        for inside in _decomposed(steps, risky).inside:
            for pair, clause in enumerate(clauses):
                relaxed = _relaxed(steps, inside, clause, rejecting)
                for place, back in _satisfying(steps, inside, relaxed):
                    whole = len(place) == len(inside)
                    note(place, frozenset() if whole else back, pair)
    return list(found.values())


def _decomposed(steps: Sequence[Step], chosen: Collection[int]) -> Decomposition:
    return decompose(steps, sorted(chosen), sorted({steps[at].src for at in chosen}))


def _satisfying(
    steps: Sequence[Step], scc: Sequence[int], clause: Clause
) -> list[tuple[list[int], frozenset[int]]]:
    """Return the SCCs left in one without a Fin that have every Inf.

    Each is given by its transitions and those of them that close a cycle of the
    search.
    """
    left = [at for at in scc if not steps[at].marks & clause.fin]
    parts = _decomposed(steps, left)
    seen = [reduce(or_, (steps[at].marks for at in part)) for part in parts.inside]
    return [
        (part, parts.back & frozenset(part))
        for part, marks in zip(parts.inside, seen, strict=True)
        if clause.satisfied_by(marks)
    ]


def _relaxed(
    steps: Sequence[Step],
    scc: Sequence[int],
    clause: Clause,
    rejecting: Sequence[Clause],
) -> Clause:
    """Drop the Fin marks of a pair without which nothing is accepted wrongly.

    A mark may go if each cycle of the SCC that has it and satisfies what else the
    pair asks is accepted by some pair.
    """
    fins = clause.fin
    for mark in marks_in(clause.fin):
        bit = 1 << mark
        wrong = (
            Clause(fins & ~bit | bad.fin, clause.inf | bad.inf | bit)
            for bad in rejecting
        )
        if not any(
            not new.fin & new.inf and _satisfying(steps, scc, new) for new in wrong
        ):
            fins &= ~bit
    return Clause(fins, clause.inf)


def _rejecting(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """Return the pairs of the complement; where they are many, one that allows all."""
    complement = conjunction(
        disjunction([*map(inf, marks_in(c.fin)), *map(fin, marks_in(c.inf))])
        for c in clauses
    )
    with suppress(UnsupportedError):  # too many even to be counted
        pairs = normal_form(complement) if len(clauses) <= _MAX_REJECTING else ()
        if 0 < len(pairs) <= _MAX_REJECTING:
            return pairs
    return [Clause(0, 0)]


def _new_marks(
    regions: Sequence[_Region], clauses: Sequence[Clause]
) -> tuple[dict[int, dict[int, int]], Condition]:
    """Give numbers to the marks of the pairs that accept anything.

    Returns them by pair, and in it by old mark, and the condition over the new marks.
    A pair without Inf has one new mark for the old mark -1, which all its transitions
    carry.
    """
    used = sorted({pair for region in regions for pair in region.pairs})
    numbers: dict[int, dict[int, int]] = {}
    n_marks = 0
    for pair in used:
        old = marks_in(clauses[pair].inf) or [-1]
        numbers[pair] = {mark: n_marks + i for i, mark in enumerate(old)}
        n_marks += len(old)
    if n_marks > MAX_MARKS:
        raise UnsupportedError(
            f"without Fin the automaton would need {n_marks} acceptance marks, and "
            f"the limit is {MAX_MARKS}: use --acceptance=tela, tgra or tgba"
        )
    pairs = [Clause(0, bits_of(new.values())) for new in numbers.values()]
    return numbers, from_clauses(pairs)


def _marks_at(
    marks: int, pairs: Sequence[int], numbers: dict[int, dict[int, int]]
) -> int:
    """Return the new marks for the old ones of a transition."""
    return bits_of(
        new
        for pair in pairs
        for old, new in numbers[pair].items()
        if old < 0 or marks >> old & 1
    )


# --- automata of Spot, with their labels: for HOA, searches take tables --------


def condition_of(automaton: Any) -> Condition:
    """Return the acceptance condition of a Spot automaton."""
    return from_code(automaton.get_acceptance())


def marks_of(edge: Any) -> int:
    """Return the marks of an edge of a Spot automaton, as bits."""
    return bits_of(edge.acc.sets())


def generalised_rabin(automaton: Any) -> Any:
    """Return a Spot automaton with pairs of one Fin set each, and the same edges.

    Source: Bloemen et al. 2019, Sec. 2.

    Raises
    ------
    UnsupportedError
        There would be too many pairs or marks.
    """
    condition, unions = merged_fin(normal_form(condition_of(automaton)))
    edges = []
    for edge in automaton.edges():
        old = marks_of(edge)
        new = [i for i, union in enumerate(unions) if old & union]
        edges.append((edge.src, edge.dst, edge.cond, new))
    return _automaton(automaton, automaton.num_states(), edges, condition)


def fin_less(automaton: Any) -> Any:
    """Return a Spot automaton whose condition has no Fin.

    Raises
    ------
    UnsupportedError
        There would be too many pairs or marks.
    """
    condition = condition_of(automaton)
    if not condition.fin_marks:
        return automaton
    steps = [Step(e.src, e.dst, marks_of(e)) for e in automaton.edges()]
    labels = [edge.cond for edge in automaton.edges()]
    initial = automaton.get_init_state_number()
    made = remove_fin(steps, automaton.num_states(), initial, normal_form(condition))
    edges = [
        (src, dst, labels[origin], marks_in(marks))
        for src, dst, marks, origin in made.transitions
    ]
    return _automaton(automaton, made.n_states, edges, made.condition)


def _automaton(
    like: Any,
    n_states: int,
    edges: Sequence[tuple[int, int, Any, list[int]]],
    condition: Condition,
) -> Any:
    """Return a Spot automaton without useless states."""
    made = automaton_of(
        n_states,
        edges,
        like=like,
        initial=like.get_init_state_number(),
        n_marks=condition.n_marks,
        acceptance=str(condition),
    )
    made.merge_edges()
    made.purge_dead_states()
    return made
