"""Labels of Spot's automata, evaluated at letters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.fin_removal import condition_of, marks_of
from ltlpipe.automata.structure import Draft, table_of
from ltlpipe.logic.actions import cube_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.automata.structure import Cell


def cubes_of(automaton: Any, letters: Sequence[set[str]]) -> list[Any]:
    """Return the assignment of all propositions for each letter, as a BDD.

    A letter is the set of the propositions that hold.
    """
    names = [p.ap_name() for p in automaton.ap()]
    variables = [automaton.register_ap(name) for name in names]
    return [
        cube_of(sum(1 << i for i, n in enumerate(names) if n in holding), variables)
        for holding in letters
    ]


def draft_over(
    automaton: Any, letters: Sequence[set[str]], system_marks: int = 0
) -> Draft:
    """Return the transitions of an automaton, each label evaluated at each letter."""
    import buddy

    cubes = cubes_of(automaton, letters)
    cells: list[Cell] = [[] for _ in range(automaton.num_states() * len(letters))]
    for edge in automaton.edges():
        marks = marks_of(edge)
        for i, cube in enumerate(cubes):
            if edge.cond & cube != buddy.bddfalse:
                cells[edge.src * len(letters) + i].append((edge.dst, marks))
    return Draft(
        cells,
        len(letters),
        automaton.get_init_state_number(),
        automaton.num_sets(),
        condition_of(automaton),
        system_marks,
    )


def table_over_sets(automaton: Any, propositions: Sequence[str]) -> PropertyAutomaton:
    """Return the table over all sets of propositions, bit k of a letter for the k-th.

    A state tells few of them apart: those that satisfy the same of its labels are one
    letter until the structure of the automaton is known.
    """
    numbers = np.arange(1 << len(propositions))
    bits = {automaton.register_ap(p): k for k, p in enumerate(propositions)}
    classes, by_state = [], []
    for state in range(automaton.num_states()):
        edges = list(automaton.out(state))
        held = [_holding(edge.cond, numbers, bits) for edge in edges]
        own = np.zeros(len(numbers), dtype=np.int64)
        for told in np.packbits(np.array([numbers >= 0, *held]), axis=0):
            both = own << 8 | told
            _, first, own = np.unique(both, return_index=True, return_inverse=True)
        classes.append(own)
        taken = [[e for e, at in zip(edges, held, strict=True) if at[k]] for k in first]
        by_state.append([[(e.dst, marks_of(e)) for e in some] for some in taken])
    n_classes = max(map(len, by_state))
    cells = [c for own in by_state for c in own + own[:1] * (n_classes - len(own))]
    draft = draft_over(automaton, [])._replace(cells=cells, n_letters=n_classes)
    table = table_of(draft)
    rows = np.concatenate([own + k * n_classes for k, own in enumerate(classes)])
    counts = np.diff(table.first_edge)[rows]
    first = np.cumsum([0, *counts], dtype=np.int32)
    edge = np.repeat(table.first_edge[rows] - first[:-1], counts) + np.arange(first[-1])
    found = {"edge_dst": table.edge_dst[edge], "edge_marks": table.edge_marks[edge]}
    return replace(table, n_letters=len(numbers), first_edge=first, **found)


def _holding(label: Any, numbers: np.ndarray, bits: Mapping[int, int]) -> np.ndarray:
    """Return the sets of propositions, as bits, that satisfy a label: bool[n]."""
    import buddy

    known = {buddy.bddtrue.id(): numbers >= 0, buddy.bddfalse.id(): numbers < 0}

    def holding(node: Any) -> np.ndarray:
        if node.id() not in known:
            low, high = holding(buddy.bdd_low(node)), holding(buddy.bdd_high(node))
            holds = numbers >> bits[buddy.bdd_var(node)] & 1
            known[node.id()] = np.where(holds, high, low)
        return known[node.id()]

    return holding(label)
