"""Other acceptance conditions for Spot automata, with their labels.

For HOA: searches take tables (`ltlpipe.automata.translation`).
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import MAX_MARKS, Condition, from_code, marks_in
from ltlpipe.automata.fin_removal import remove_fin
from ltlpipe.automata.normal_form import merged_fin, normal_form
from ltlpipe.automata.sccs import Step

if TYPE_CHECKING:
    from collections.abc import Sequence


def condition_of(automaton: Any) -> Condition:
    """Return the acceptance condition of a Spot automaton."""
    return from_code(automaton.get_acceptance())


def marks_of(edge: Any) -> int:
    """Return the marks of an edge of a Spot automaton, as bits."""
    return reduce(or_, (1 << mark for mark in edge.acc.sets()), 0)


def generalised_rabin(automaton: Any) -> Any:
    """Return a Spot automaton with pairs of one Fin set each, and the same edges.

    Source: Bloemen et al. 2019, Sec. 2.

    Raises
    ------
    UnsupportedError
        There would be too many pairs or marks.
    """
    merged = merged_fin(normal_form(condition_of(automaton)))
    edges = []
    for edge in automaton.edges():
        old = marks_of(edge)
        new = [i for i, union in enumerate(merged.unions) if old & union]
        edges.append((edge.src, edge.dst, edge.cond, new))
    return _automaton(automaton, automaton.num_states(), edges, merged.condition)


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
    import spot

    made = spot.make_twa_graph(like.get_dict())
    made.copy_ap_of(like)
    made.set_acceptance(condition.n_marks, spot.acc_code(str(condition)))
    made.new_states(n_states)
    made.set_init_state(like.get_init_state_number())
    for src, dst, label, marks in edges:
        made.new_edge(src, dst, label, marks)
    made.merge_edges()
    made.purge_dead_states()
    return made


assert MAX_MARKS == 32  # as many as Spot's automata have
