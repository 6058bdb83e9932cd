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
acceptance other than Büchi is taken apart for the rounds only.  Rounds which cannot
come back to themselves are left out, those that do the same are one.

Cost: at most m! times the choices of m states, for all m up to their number; formulas
of practice have few tens.  There is a limit.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import Clause, fin, inf, marks_in
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.automata.normal_form import normal_form
from ltlpipe.automata.sccs import Step, decompose
from ltlpipe.automata.structure import cells_of
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.structure import Cell
    from ltlpipe.runtime.jobs import Job

MOST_ROUNDS = 4_000
"""States of rounds, before those that do the same are one."""

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


_Moves = list[list[list[tuple[int, bool]]]]
"""By state and letter: the next states, and whether the transition accepts."""


class _Buchi(NamedTuple):
    """A Büchi automaton for the rounds."""

    origin: list[int]  # the state of the given automaton of each
    moves: _Moves
    reach: list[set[int]]  # by one step or more

    def same_scc(self, one: int, other: int) -> bool:
        """Whether each of two states leads to the other."""
        return one in self.reach[other] and other in self.reach[one]


def tight(table: PropertyAutomaton) -> Job[Tight | None]:
    """Return a tight automaton for the same words; None if it would be too large."""
    n, cells = table.n_letters, cells_of(table)
    alike: dict[tuple[tuple[tuple[int, int], ...], ...], list[int]] = {}
    for letter in range(n):
        alike.setdefault(tuple(map(tuple, cells[letter::n])), []).append(letter)
    columns = [[list(cell) for cell in column] for column in alike]
    buchi = _buchi(table, columns)
    begun = list(islice(_begun(buchi), MOST_ROUNDS + 1))
    states = {rounds: number for number, rounds in enumerate(begun)}
    steps: list[Step] = []
    letters: list[int] = []
    ticks = Ticks("translating", _PER_CHOICE)
    for src, rounds in enumerate(begun):  # grows while it is read
        if len(begun) > MOST_ROUNDS:
            return None
        for letter in range(len(columns)):
            for following, marked in _next(buchi, rounds, letter):
                dst = states.setdefault(following, len(begun))
                if dst == len(begun):
                    begun.append(following)
                steps.append(Step(src, dst, marked))
                letters.append(letter)
                if ticks.over():
                    yield ticks.progress
    inside = decompose(steps, range(len(steps)), range(len(begun))).inside
    kept = [scc for scc in inside if any(steps[at].marks for at in scc)]
    edges = {(*steps[at], letters[at]) for scc in kept for at in scc}
    if not edges:
        return Tight(table, (table.initial,))
    origins = {k: buchi.origin[rounds.states[0]] for k, rounds in enumerate(begun)}
    return _joined(table, cells, list(alike.values()), _merged(edges), origins)


def _buchi(table: PropertyAutomaton, columns: Sequence[Sequence[Cell]]) -> _Buchi:
    """Take an acceptance apart: for each way to accept a copy, which counts marks.

    With Fin there is another, which accepts nothing and leads to the others.
    """
    ways = [Clause(0, (1 << table.n_marks) - 1)]
    if table.condition is not None:
        ways = list(normal_form(table.condition))
    marks = [marks_in(way.inf) for way in ways]
    keys = [
        (state, way, level)
        for state in range(table.n_states)
        for way in range(-1 if any(way.fin for way in ways) else 0, len(ways))
        for level in range(max(len(marks[way]), 1) if way >= 0 else 1)
    ]
    number = {key: k for k, key in enumerate(keys)}

    def moves(key: tuple[int, int, int], cell: Cell) -> Iterator[tuple[int, bool]]:
        _, way, level = key
        for dst, seen in cell:
            if way < 0:
                yield number[dst, way, 0], False
                yield from ((number[dst, k, 0], False) for k in range(len(ways)))
            elif not seen & ways[way].fin:
                at = level
                while at < len(marks[way]) and seen >> marks[way][at] & 1:
                    at += 1
                accepts = at == len(marks[way])
                yield number[dst, way, 0 if accepts else at], accepts

    made = [[list(moves(key, column[key[0]])) for column in columns] for key in keys]
    return _Buchi([key[0] for key in keys], made, _reach(made))


def _reach(moves: _Moves) -> list[set[int]]:
    """Return which states each leads to."""
    followers = [{dst for cell in row for dst, _ in cell} for row in moves]
    found = []
    for direct in followers:
        todo, seen = list(direct), set(direct)
        while todo:
            more = followers[todo.pop()] - seen
            seen |= more
            todo += more
        found.append(seen)
    return found


def _begun(buchi: _Buchi) -> Iterator[_Rounds]:
    """Yield the places of two rounds and more when v begins."""
    inside = [
        (state, accepts)
        for state, row in enumerate(buchi.moves)
        for cell in row
        for dst, accepts in cell
        if buchi.same_scc(state, dst)
    ]
    some = {state for state, accepts in inside if accepts}
    n = len(buchi.moves)
    accepting = {q for q in range(n) if any(buchi.same_scc(q, p) for p in some)}
    always = all(accepts for state, accepts in inside if state in accepting)

    def places(
        chosen: tuple[int, ...], m: int, first: int
    ) -> Iterator[tuple[int, ...]]:
        if len(chosen) == m:
            yield chosen
            return
        follow = buchi.reach[chosen[-1]] if chosen else range(n)
        if len(chosen) >= first:
            follow = accepting.intersection(follow)
        for state in sorted(set(follow) - set(chosen)):
            if len(chosen) <= first or buchi.same_scc(state, chosen[first]):
                yield from places((*chosen, state), m, first)

    for m in range(2, n + 1):
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
        accepts = accepted or steps[watched][1]
        closes = before >= 0 and following[before] == following[-1]
        apart = len(set(following)) == len(following) - closes
        if apart:
            yield _Rounds(first, watched, accepts, following), 0
        if not accepts or not apart or (before >= 0 and not closes):
            continue
        shifted = following[:-1]
        guesses = following[-1:] if before < 0 else range(len(buchi.moves))
        for guess in guesses:
            if guess not in shifted and shifted[0] in buchi.reach[guess]:
                yield _Rounds(first, watched, False, (guess, *shifted)), 1


_Edge = tuple[int, int, int, int]  # source, target, whether it is marked, letter


def _merged(edges: set[_Edge]) -> tuple[dict[int, int], set[_Edge]]:
    """Make states one that do the same; return their new numbers, and the edges."""
    part = dict.fromkeys((src for src, *_ in edges), 0)
    n_parts = 0
    while n_parts < len(set(part.values())) or n_parts == 0:
        n_parts = len(set(part.values()))
        does: dict[int, set[tuple[int, int, int]]] = {state: set() for state in part}
        for src, dst, marked, letter in edges:
            does[src].add((part[dst], marked, letter))
        numbers: dict[object, int] = {}
        part = {
            state: numbers.setdefault((part[state], frozenset(done)), len(numbers))
            for state, done in does.items()
        }
    return part, {(part[src], part[dst], marked, a) for src, dst, marked, a in edges}


def _joined(
    table: PropertyAutomaton,
    cells: Sequence[Cell],
    letters: Sequence[Sequence[int]],
    rounds: tuple[dict[int, int], set[_Edge]],
    origins: dict[int, int],
) -> Tight:
    """Put an automaton and the rounds that begin in its states together."""
    part, edges = rounds
    n, n_letters, marks = table.n_states, table.n_letters, table.n_marks
    begins: dict[int, set[int]] = {}  # by state of the automaton
    starting = {dst for _, dst, marked, _ in edges if marked}
    for state, number in part.items():
        if number in starting:
            begins.setdefault(origins[state], set()).add(n + number)
    condition, accepting, inside = table.condition, (1 << max(marks, 1)) - 1, 0
    if condition is not None:  # one more mark for rounds, another where they accept
        condition = condition & fin(marks) | inf(marks + 1)
        accepting, inside = 3 << marks, 1 << marks
    own = accepting if marks == 0 else 0
    joined = [
        [(dst, seen | own) for dst, seen in cell]
        + [(more, 0) for dst, _ in cell for more in sorted(begins.get(dst, ()))]
        for cell in cells
    ]
    joined += [[] for _ in range(n_letters * (max(part.values()) + 1))]
    for src, dst, marked, column in sorted(edges):
        for letter in letters[column]:
            at = (n + src) * n_letters + letter
            joined[at].append((n + dst, accepting if marked else inside))
    return Tight(
        PropertyAutomaton(
            n_states=len(joined) // n_letters,
            initial=table.initial,
            n_letters=n_letters,
            first_edge=np.cumsum([0, *map(len, joined)]).astype(np.int32),
            edge_dst=np.array([d for c in joined for d, _ in c], dtype=np.int32),
            edge_marks=np.array([m for c in joined for _, m in c], dtype=np.uint32),
            n_marks=accepting.bit_length(),
            state_based=False,
            system_marks=table.system_marks,
            condition=condition,
        ),
        (table.initial, *sorted(begins.get(table.initial, ()))),
    )
