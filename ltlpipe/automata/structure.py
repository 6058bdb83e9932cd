"""The structure of property automata: weak and terminal ones.

Spot finds the SCCs and says which of them have both accepting and rejecting
cycles.  What is asked is the automaton as the search sees it, over letters.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 5.1.

Differences from the source: an automaton counts as weak if it is inherently
weak, that is if no SCC has both kinds of cycles, wherever its marks are; and as
terminal if the states of its accepting SCCs accept every word, which is what the
use of such automata needs (the paper asks only that no transition leaves them,
and leaves it to the product that each state has a successor).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Cell = list[tuple[int, int]]
"""The transitions from one state on one letter: targets and marks."""


@dataclass(frozen=True)
class Structure:
    """What is known of an automaton as a whole.

    Parameters
    ----------
    weak, terminal : bool
        See `PropertyAutomaton`.
    accepting : frozenset of int
        The reachable states of SCCs that have an accepting cycle.
    """

    weak: bool
    terminal: bool
    accepting: frozenset[int]


def structure_of(
    cells: Sequence[Cell], *, n_letters: int, initial: int, n_marks: int
) -> Structure:
    """Find the structure of a generalised Büchi automaton.

    Parameters
    ----------
    cells : sequence of list
        The transitions of state q on letter a are ``cells[q * n_letters + a]``.
    n_letters, initial, n_marks : int
        As in `PropertyAutomaton`.
    """
    import spot

    graph = _graph(cells, n_letters, initial, n_marks)
    components = spot.scc_info(graph)
    n_states = graph.num_states()
    accepting = frozenset(
        state
        for state in range(n_states)
        if components.reachable_state(state)
        and components.is_accepting_scc(components.scc_of(state))
    )
    weak = bool(spot.is_inherently_weak_automaton(graph, components))
    terminal = weak and accepting == _universal(cells, n_letters, accepting)
    return Structure(weak, terminal, accepting)


def _graph(cells: Sequence[Cell], n_letters: int, initial: int, n_marks: int) -> Any:
    """Return a Spot automaton with these transitions and without labels."""
    import buddy
    import spot

    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.set_generalized_buchi(n_marks)
    graph.new_states(len(cells) // n_letters)
    graph.set_init_state(initial)
    edges = {
        (at // n_letters, dst, marks)
        for at, cell in enumerate(cells)
        for dst, marks in cell
    }
    for src, dst, marks in sorted(edges):
        seen = [mark for mark in range(n_marks) if marks >> mark & 1]
        graph.new_edge(src, dst, buddy.bddtrue, seen)
    return graph


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
