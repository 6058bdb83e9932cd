"""Tight automata: with their products a shortest lasso is one of the system.

A run of an automaton over the word u v v v ... need not come back to the state in which
it was when v began: it may take several rounds of v to close a cycle, or to begin one.
In the product each of these rounds counts.  A tight automaton has, for each word of
this form that it accepts, a run that is in the same state whenever v begins.

Its states are those of the given automaton, and *rounds*: where the first m rounds of
one run over v are, all at the same place of v.  Whenever v begins again, each round
takes the place of the next, the last one that of the first of the run's own cycle, and
what came before the first is guessed.  Rounds meet only where they close this cycle:
a run that comes back to a state at the same place of v can be cut.

Sources: O. Kupferman and M. Y. Vardi, "Model Checking of Safety Properties", Formal
Methods in System Design 19(3), 2001, pp. 291-314, for the word (of finite words); V.
Schuppan and A. Biere, "Shortest Counterexamples for Symbolic Model Checking of LTL with
Past", TACAS 2005, LNCS 3440, pp. 493-509, for infinite ones.

Differences from the sources: any automaton is made tight, not a formula translated; an
acceptance other than Büchi is taken apart for the rounds only.  Rounds that
cannot come back to themselves are left out.

Cost: at most m! times the choices of m states, for all m up to their number; formulas
of practice have few tens.  There is a limit.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import inf, marks_in, normal_form
from ltlpipe.automata.fin_removal import Step, decompose, without_fin
from ltlpipe.automata.structure import cells_of, columns_of
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.automata.structure import Cell
    from ltlpipe.runtime.jobs import Job

MOST_ROUNDS = 3_000
"""States of rounds."""

_MOST_STATES, _MOST_CELLS = 100, 100_000
"""States of an automaton, and pairs of a state and a letter."""

_MOST_COPIES, _MOST_EDGES = 1_000, 500_000
"""States of the Büchi automaton for the rounds, and transitions that are added."""

_MOST_CHOICES = 5_000
"""Ways in which some rounds can go on by one letter."""

_PER_CHOICE = 2.0  # microseconds for the next states of some rounds


class Tight(NamedTuple):
    """A tight automaton."""

    table: PropertyAutomaton
    starts: tuple[int, ...]  # its initial states


class _Rounds(NamedTuple):
    """Where several rounds of a run are."""

    first: int  # the first that belongs to the run's own cycle
    watched: int  # one of these, in which the run accepts
    accepted: bool  # whether it has, since v began
    states: tuple[int, ...]


class _Buchi(NamedTuple):
    """A Büchi automaton for the rounds."""

    origin: list[int]  # the state of the given automaton of each
    moves: list[list[Cell]]  # by state and letter; the mark is 1 or 0
    reach: list[int]  # the states that each leads to by one step or more, as bits

    def same_scc(self, one: int, other: int) -> bool:
        """Whether each of two states leads to the other."""
        return bool(self.reach[one] >> other & self.reach[other] >> one & 1)


_Edge = tuple[int, int, int, int]  # source, target, whether it is marked, letter


def is_tight(table: PropertyAutomaton) -> bool:
    """Whether an automaton follows each system step by step, from one state."""
    return table.n_states == 1 and bool((np.diff(table.first_edge) <= 1).all())


def tight(table: PropertyAutomaton, most: int = MOST_ROUNDS) -> Job[Tight | None]:
    """Return a tight automaton for the same words.

    None if it would have more than so many states of rounds.
    """
    if is_tight(table):
        return Tight(table, (table.initial,))
    table = without_fin(table)
    if table.n_states > _MOST_STATES or len(table.first_edge) > _MOST_CELLS:
        return None
    n, cells = table.n_letters, cells_of(table)
    alike: dict[str, list[int]] = {}
    for letter in range(n):
        alike.setdefault(str(cells[letter::n]), []).append(letter)
    letters = list(alike.values())
    buchi = _buchi(table, [cells[some[0] :: n] for some in letters])
    rounds = [] if buchi is None else list(islice(_begun(buchi), most + 1))
    if buchi is None or len(rounds) > most:
        return None
    number = {some: k for k, some in enumerate(rounds)}
    edges: list[_Edge] = []
    ticks = Ticks("translating", _PER_CHOICE)
    for src, some in enumerate(rounds):  # grows while it is read
        for column in range(len(letters)):
            choices = prod(len(buchi.moves[state][column]) for state in some.states)
            if choices > _MOST_CHOICES:
                return None
            yield from ticks.worked(choices)
            for following, marked in _next(buchi, some, column):
                dst = number.setdefault(following, len(rounds))
                if dst == len(rounds):
                    rounds.append(following)
                edges.append((src, dst, marked, column))
                if len(rounds) > most or len(edges) > _MOST_EDGES:
                    return None
    steps = [Step(*edge[:3]) for edge in edges]
    inside = decompose(steps, range(len(steps)), range(len(rounds))).inside
    kept = {
        edges[at] for scc in inside if any(steps[at].marks for at in scc) for at in scc
    }
    if not kept:
        return Tight(table, (table.initial,))
    origin = [buchi.origin[some.states[0]] for some in rounds]
    return _joined(table, letters, origin, kept)


def _buchi(
    table: PropertyAutomaton, columns: Sequence[Sequence[Cell]]
) -> _Buchi | None:
    """Take an acceptance apart: for each way to accept a copy, which counts marks.

    None if these are too many.
    """
    ways = [marks_in((1 << table.n_marks) - 1)]
    if table.condition is not None:
        ways = [marks_in(clause.inf) for clause in normal_form(table.condition)]
    keys = [
        (q, way, level)
        for q, way in product(range(table.n_states), range(len(ways)))
        for level in range(len(ways[way]) or 1)
    ]
    if len(keys) > _MOST_COPIES:
        return None
    number = {key: k for k, key in enumerate(keys)}

    def moves(way: int, level: int, cell: Cell) -> Iterator[tuple[int, int]]:
        for dst, seen in cell:
            at = level
            while at < len(ways[way]) and seen >> ways[way][at] & 1:
                at += 1
            accepts = at == len(ways[way])
            yield number[dst, way, 0 if accepts else at], int(accepts)

    made = [[list(moves(w, at, column[q])) for column in columns] for q, w, at in keys]
    reach = [sum({1 << dst for cell in row for dst, _ in cell}) for row in made]
    for k, src in product(range(len(keys)), repeat=2):
        if reach[src] >> k & 1:
            reach[src] |= reach[k]
    return _Buchi([q for q, *_ in keys], made, reach)


def _begun(buchi: _Buchi) -> Iterator[_Rounds]:
    """Yield the places of two rounds and more when v begins."""
    n, same = len(buchi.moves), buchi.same_scc
    inside = [
        (src, marked)
        for src, row in enumerate(buchi.moves)
        for cell in row
        for dst, marked in cell
        if same(src, dst)
    ]
    accepts = {q for src, marked in inside if marked for q in range(n) if same(q, src)}
    always = all(marked for src, marked in inside if src in accepts)
    goal = sum(1 << q for q in accepts)
    useful = [q for q in range(n) if (buchi.reach[q] | 1 << q) & goal]

    def places(
        chosen: tuple[int, ...], m: int, first: int
    ) -> Iterator[tuple[int, ...]]:
        if len(chosen) == m:
            yield chosen
            return
        for state in accepts if len(chosen) >= first else useful:
            if (
                state not in chosen
                and (not chosen or buchi.reach[chosen[-1]] >> state & 1)
                and (len(chosen) <= first or same(state, chosen[first]))
            ):
                yield from places((*chosen, state), m, first)

    for m in range(2, len(useful) + 1):
        for first in range(m):
            for states in places((), m, first):
                for watched in range(m - 1 if always else first, m):
                    yield _Rounds(first, watched, False, states)


def _next(buchi: _Buchi, rounds: _Rounds, letter: int) -> Iterator[tuple[_Rounds, int]]:
    """Yield where rounds are after a letter, and 1 if v begins again then."""
    first, watched, accepted, states = rounds
    before = first - 1  # the last round that does not belong to the cycle
    met = before >= 0 and states[before] == states[-1]
    for steps in product(*(buchi.moves[state][letter] for state in states)):
        if met and steps[before] != steps[-1]:
            continue
        following = tuple(state for state, _ in steps)
        accepts = accepted or steps[watched][1] == 1
        closes = before >= 0 and following[before] == following[-1]
        if len(set(following)) < len(following) - closes:
            continue  # others meet
        yield _Rounds(first, watched, accepts, following), 0
        if not accepts or (before >= 0 and not closes):
            continue
        shifted = following[:-1]
        for guess in following[-1:] if before < 0 else range(len(buchi.moves)):
            if guess not in shifted and buchi.reach[guess] >> shifted[0] & 1:
                yield _Rounds(first, watched, False, (guess, *shifted)), 1


def _joined(
    table: PropertyAutomaton,
    letters: Sequence[Sequence[int]],
    origin: Sequence[int],
    edges: set[_Edge],
) -> Tight | None:
    """Put an automaton and rounds, which begin in its states, together.

    None if that adds too many transitions.
    """
    n_letters, n, marks = table.n_letters, table.n_states, table.n_marks
    condition, accepting = table.condition, (1 << max(marks, 1)) - 1
    if condition is not None:
        condition, accepting = condition | inf(marks), 1 << marks
    own = 0 if marks else accepting
    number = {rounds: n + k for k, rounds in enumerate(sorted({e[0] for e in edges}))}
    begun: list[list[int]] = [[] for _ in range(n)]
    for rounds in sorted({dst for _, dst, marked, _ in edges if marked}):
        begun[origin[rounds]].append(number[rounds])
    added = sum(len(letters[column]) for *_, column in edges)
    added += sum(len(begun[dst]) for dst in table.edge_dst.tolist())
    if added > _MOST_EDGES:
        return None
    cells = [
        [(dst, seen | own) for dst, seen in cell]
        + [(rounds, 0) for dst, _ in cell for rounds in begun[dst]]
        for cell in cells_of(table)
    ]
    cells += [[] for _ in range(n_letters * len(number))]
    for src, dst, marked, column in sorted(edges):
        for letter in letters[column]:
            at = number[src] * n_letters + letter
            cells[at].append((number[dst], accepting * marked))
    made = replace(
        table,
        n_states=n + len(number),
        **columns_of(cells),
        n_marks=accepting.bit_length(),
        state_based=False,
        weak=False,
        terminal=False,
        condition=condition,
    )
    return Tight(made, (table.initial, *begun[table.initial]))
