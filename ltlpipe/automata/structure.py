"""The structure of property automata, weak and terminal ones, and their tables.

Spot finds the SCCs and says which of them have both accepting and rejecting
cycles.  The automaton is the one that searches see, over letters.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 5.1.

Differences from the source: an automaton counts as weak if it is inherently
weak, that is if no SCC has both kinds of cycles, wherever its marks are; and as
terminal if the states of its accepting SCCs accept every word, which is what the
use of such automata needs (the paper asks only that no transition leaves them,
and leaves it to the product that each state has a successor).
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import and_, or_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import (
    FALSE,
    TRUE,
    Condition,
    Op,
    Shape,
    bits_of,
    has_shape,
    marks_in,
)
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.logic.spot_graphs import automaton_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Cell = list[tuple[int, int]]
"""The transitions from one state on one letter: targets and marks."""


class Draft(NamedTuple):
    """An automaton as lists, before its structure is known.

    The transitions of state q on letter a are ``cells[q * n_letters + a]``; the rest is
    as in `PropertyAutomaton`.
    """

    cells: Sequence[Cell]
    n_letters: int
    initial: int
    n_marks: int
    condition: Condition | None = None  # over marks below n_marks
    system_marks: int = 0

    @property
    def n_states(self) -> int:
        """States are 0 to ``n_states - 1``."""
        return len(self.cells) // self.n_letters


def table_of(draft: Draft) -> PropertyAutomaton:
    """Return the table of an automaton, with its structure.

    A weak automaton carries its mark on states, as `PropertyAutomaton` says.  A
    condition is simplified, and left out if each mark infinitely often is what
    remains.
    """
    n_letters, condition = draft.n_letters, draft.condition
    cells = [_undominated(cell, condition) for cell in draft.cells]
    n_marks = draft.n_marks
    if condition is not None:
        cells, n_marks, condition = _simplified(cells, condition)
        cells = [_undominated(cell, condition) for cell in cells]
    weak, terminal, accepting = structure_of(
        draft._replace(cells=cells, n_marks=n_marks, condition=condition)
    )
    elsewhere = any(
        cell and at // n_letters not in accepting for at, cell in enumerate(cells)
    )
    # Without marks every state counts as accepting, those on no cycle included.
    if weak and (n_marks > 0 or elsewhere):
        n_marks, condition = 1, None
        cells = _marked_by_state(cells, n_letters, accepting)
    return PropertyAutomaton(
        n_states=draft.n_states,
        initial=draft.initial,
        n_letters=n_letters,
        **columns_of(cells),
        n_marks=n_marks,
        state_based=_is_state_based(cells, n_letters),
        weak=weak,
        terminal=terminal,
        system_marks=draft.system_marks,
        condition=condition,
    )


def columns_of(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the transitions of a table as its columns."""
    flat = np.array([edge for cell in cells for edge in cell], dtype=np.int64)
    dst, marks = flat.reshape(-1, 2).T
    return {
        "first_edge": np.cumsum([0, *map(len, cells)]).astype(np.int32),
        "edge_dst": dst.astype(np.int32),
        "edge_marks": marks.astype(np.uint32),
    }


def draft_of(table: PropertyAutomaton) -> Draft:
    """Return the lists of a table."""
    return Draft(
        cells_of(table),
        table.n_letters,
        table.initial,
        table.n_marks,
        table.condition,
        table.system_marks,
    )


def without_letters(
    table: PropertyAutomaton, letters: Collection[int]
) -> PropertyAutomaton:
    """Return the table of an automaton for words without some letters of actions.

    States that no such word leads to, or that accept none, are gone.  Letters that
    tell the marks of the system are dropped with all of these; those above a letter
    that is dropped move down.
    """
    draft = draft_of(table)
    told = 1 << table.system_marks
    left = [a for a in range(table.n_letters) if a // told not in letters]
    fewer = [
        draft.cells[state * table.n_letters + a]
        for state in range(table.n_states)
        for a in left
    ]
    return table_of(useful_part(draft._replace(cells=fewer, n_letters=len(left))))


def cells_of(table: PropertyAutomaton) -> list[Cell]:
    """Return the transitions of a table by state and letter."""
    first = table.first_edge.tolist()
    edges = list(zip(table.edge_dst.tolist(), table.edge_marks.tolist(), strict=True))
    return [edges[start:stop] for start, stop in pairwise(first)]


def useful_part(draft: Draft) -> Draft:
    """Drop the states that cannot be reached or accept nothing.

    The initial state stays, without transitions if it accepts nothing; the others are
    renumbered in their order.
    """
    useful = accepting_something(draft)
    kept = sorted(useful | {draft.initial})
    number = {state: i for i, state in enumerate(kept)}
    left = [
        [
            (number[dst], marks)
            for dst, marks in draft.cells[state * draft.n_letters + a]
            if dst in useful
        ]
        for state in kept
        for a in range(draft.n_letters)
    ]
    return draft._replace(cells=left, initial=number[draft.initial])


def accepting_something(draft: Draft) -> frozenset[int]:
    """Return the states that can be reached and accept some word."""
    components = _components(spot_graph(draft))
    return frozenset(
        state
        for state in range(draft.n_states)
        if components.reachable_state(state) and components.is_useful_state(state)
    )


def accepting_only_on(
    table: PropertyAutomaton, letters: Collection[int]
) -> frozenset[int]:
    """Return the states that accept some word over the given letters alone."""
    cells: list[Cell] = []
    by_letter = cells_of(table)
    for state in range(table.n_states):
        row = by_letter[state * table.n_letters : (state + 1) * table.n_letters]
        cells.append(sorted({edge for a in letters for edge in row[a]}))
    start = table.n_states
    cells.append([(state, 0) for state in range(start)])
    alone = Draft(cells, 1, start, table.n_marks, table.condition)
    return accepting_something(alone) - {start}


def _components(graph: Any) -> Any:
    """Return the SCCs of a Spot automaton, each known to accept something or not."""
    import spot

    components = spot.scc_info(graph)
    components.determine_unknown_acceptance()  # for conditions with Fin
    return components


def structure_of(draft: Draft) -> tuple[bool, bool, frozenset[int]]:
    """Return whether an automaton is weak, and terminal, and its accepting states.

    These are the reachable ones of SCCs with an accepting cycle.
    """
    import spot

    graph = spot_graph(draft)
    components = _components(graph)
    accepting = frozenset(
        state
        for state in range(draft.n_states)
        if components.reachable_state(state)
        and components.is_accepting_scc(components.scc_of(state))
    )
    weak = bool(spot.is_inherently_weak_automaton(graph, components))
    terminal = weak and accepting == _universal(draft.cells, draft.n_letters, accepting)
    return weak, terminal, accepting


def spot_graph(draft: Draft) -> Any:
    """Return a Spot automaton with these transitions and without labels."""
    import spot  # noqa: F401  (the first: it says where buddy is)

    # isort: split
    import buddy

    edges = {
        (at // draft.n_letters, dst, marks)
        for at, cell in enumerate(draft.cells)
        for dst, marks in cell
    }
    true, condition = buddy.bddtrue, draft.condition
    return automaton_of(
        draft.n_states,
        ((src, dst, true, marks_in(marks)) for src, dst, marks in sorted(edges)),
        initial=draft.initial,
        n_marks=draft.n_marks,
        acceptance=None if condition is None else str(condition),
    )


def _universal(
    cells: Sequence[Cell], n_letters: int, accepting: frozenset[int]
) -> frozenset[int]:
    """Return the largest part of `accepting` that every word can stay in."""
    states = set(accepting)
    while True:
        leaving = {
            state
            for state in states
            for cell in cells[state * n_letters : (state + 1) * n_letters]
            if not any(dst in states for dst, _ in cell)
        }
        if not leaving:
            return frozenset(states)
        states -= leaving


def _marked_by_state(
    cells: Sequence[Cell], n_letters: int, accepting: frozenset[int]
) -> list[Cell]:
    """Put one mark on all transitions that leave an accepting SCC's states.

    In a weak automaton this accepts the same runs, by one mark on states.
    """
    return [
        _undominated([(dst, int(at // n_letters in accepting)) for dst, _ in cell])
        for at, cell in enumerate(cells)
    ]


def _undominated(cell: Cell, condition: Condition | None = None) -> Cell:
    """Drop transitions that another one to the same state outdoes in marks.

    More of the marks that occur in Inf alone are better, and fewer of those that
    occur in Fin alone; marks that occur in both have to be the same.
    """
    bad = both = 0
    if condition is not None:
        bad = condition.fin_marks
        both = condition.inf_marks & bad

    def outdoes(more: int, marks: int) -> bool:
        better, worse = more ^ bad, marks ^ bad  # now every bit that is set is good
        return worse | better == better and (worse ^ better) & both == 0

    return [
        (dst, marks)
        for k, (dst, marks) in enumerate(cell)
        if not any(
            dst == other and outdoes(more, marks) and (marks != more or j < k)
            for j, (other, more) in enumerate(cell)
        )
    ]


def _simplified(
    cells: Sequence[Cell], condition: Condition
) -> tuple[list[Cell], int, Condition | None]:
    """Decide what all transitions agree on, and number the other marks from 0.

    If the condition cannot hold, no transition is left.  What needs the SCCs is left
    to Spot, which simplifies before tables are made, and to the searches.

    Returns the transitions, the number of marks, all of which occur in the condition,
    and the condition; None is generalised Büchi.
    """
    carried = {marks for cell in cells for _, marks in cell}
    left = decided(condition, carried)
    if left == FALSE:
        return [[] for _ in cells], 0, None
    used = marks_in(left.marks)
    number = {mark: i for i, mark in enumerate(used)}
    left = left.renumbered(number.__getitem__)
    new = {c: bits_of(number[m] for m in used if c >> m & 1) for c in carried}
    moved = [[(dst, new[marks]) for dst, marks in cell] for cell in cells]
    plain = has_shape(left, Shape.GENERALISED_BUCHI)
    return moved, len(used), None if plain else left


def decided(condition: Condition, carried: set[int]) -> Condition:
    """Replace marks that no transition has, or that all have, by constants."""
    somewhere = reduce(or_, carried, 0)
    everywhere = reduce(and_, carried) if carried else 0

    def leaf(op: Op, mark: int) -> Condition:
        if somewhere >> mark & 1 and not everywhere >> mark & 1:
            return Condition(op, mark)
        seen = bool(everywhere >> mark & 1)
        return TRUE if seen == (op == Op.INF) else FALSE

    return condition.mapped(leaf)


def _is_state_based(cells: Sequence[Cell], n_letters: int) -> bool:
    """Whether the transitions that leave a state all carry the same marks."""
    return all(
        len({marks for cell in cells[k : k + n_letters] for _, marks in cell}) <= 1
        for k in range(0, len(cells), n_letters)
    )
