"""Which permutations a property does not see: the phases of its states.

The transitions of the property from q to q' with the same marks are one transition, for
a set of actions.  Two members are alike to it if their swap takes that set to itself;
that is an equivalence, and all permutations within its classes leave the set as it is.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12 (the isotropy group of the
label of a transition of the property).

Differences from the source: the label is the set of actions that the transition allows;
the group is the largest Young subgroup of its isotropy group.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry

_ENTRIES = 1 << 22
"""Entries of a table that are looked at at a time."""

_ENTRIES_PER_UNIT = 500
"""That take about a microsecond."""


class Edge(NamedTuple):
    """A transition of the property for some letters."""

    letters: tuple[int, ...]
    dst: int
    marks: int


class Phase(NamedTuple):
    """Transitions that leave a state and see the same differences between members."""

    blocks: tuple[int, ...]  # for each member the first one that is alike
    edges: list[Edge]


def phases_of(
    symmetry: Symmetry, automaton: PropertyAutomaton, letters: np.ndarray
) -> Job[list[list[Phase]]]:
    """Return the phases of each state of a property automaton.

    letters is int32[n_actions]; with letters that tell marks of the system, that of an
    action is the letter without them.
    """
    known: dict[frozenset[int], tuple[int, ...]] = {}
    ticks = Ticks(TABULATING)
    phases = []
    for state in range(automaton.n_states):
        by_blocks: dict[tuple[int, ...], list[Edge]] = defaultdict(list)
        for edge in edges_of(automaton, state):
            # The marks of the system are the same for all that can be exchanged.
            parts = _by_marks(edge.letters, automaton.system_marks)
            for part in parts:
                if part not in known:
                    allowed = np.isin(letters, list(part))
                    known[part] = yield from _alike(symmetry, allowed, ticks)
            blocks = common_blocks([known[part] for part in parts])
            by_blocks[blocks].append(edge)
            if ticks.over(10 * len(edge.letters) + symmetry.n_members):
                yield ticks.progress
        phases.append([Phase(*item) for item in by_blocks.items()])
        if ticks.over(automaton.n_letters):
            yield ticks.progress
    return phases


def edges_of(automaton: PropertyAutomaton, state: int) -> list[Edge]:
    """Return the transitions of a state, those with one target and marks as one."""
    letters: dict[tuple[int, int], list[int]] = defaultdict(list)
    base = state * automaton.n_letters
    for letter in range(automaton.n_letters):
        first, last = automaton.first_edge[base + letter : base + letter + 2].tolist()
        for dst, marks in zip(
            automaton.edge_dst[first:last].tolist(),
            automaton.edge_marks[first:last].tolist(),
            strict=True,
        ):
            letters[dst, marks].append(letter)
    return [Edge(tuple(told), *ends) for ends, told in letters.items()]


def _by_marks(letters: tuple[int, ...], system_marks: int) -> list[frozenset[int]]:
    """Return, for each set of marks that letters tell, the letters without them."""
    parts: dict[int, set[int]] = defaultdict(set)
    for letter in letters:
        parts[letter & ((1 << system_marks) - 1)].add(letter >> system_marks)
    return [frozenset(part) for part in parts.values()]


def _alike(
    symmetry: Symmetry, allowed: np.ndarray, ticks: Ticks
) -> Job[tuple[int, ...]]:
    """Return, for each member, the first whose swap leaves a set of actions as it is.

    `allowed` is bool[n_actions].
    """
    swaps = symmetry.action_swaps
    kept = np.zeros(len(swaps), dtype=np.bool_)
    n_rows = max(_ENTRIES // max(swaps.shape[1], 1), 1)
    for begin in range(0, len(swaps), n_rows):
        part = swaps[begin : begin + n_rows]
        kept[begin : begin + n_rows] = (allowed[part] == allowed).all(axis=1)
        if ticks.over(part.size / _ENTRIES_PER_UNIT):
            yield ticks.progress
    blocks: list[int] = []
    for member in range(symmetry.n_members):
        first = member
        for earlier in range(member):
            swap = symmetry.swap_of[earlier, member]
            if swap >= 0 and kept[swap]:
                first = earlier
                break
        blocks.append(first)
        if ticks.over(member / 4):
            yield ticks.progress
    return tuple(blocks)


def unseen(symmetry: Symmetry, phases: list[list[Phase]]) -> tuple[int, ...]:
    """Return, for each member, the first of its block: those never told apart.

    `phases` are those of all states of the property.
    """
    classes: list[int] = symmetry.class_of.tolist()
    partitions = {phase.blocks for own in phases for phase in own}
    return common_blocks([tuple(map(classes.index, classes)), *partitions])


def common_blocks(partitions: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the coarsest partition that is as fine as each of some."""
    if len(partitions) == 1:
        return partitions[0]
    first: dict[tuple[int, ...], int] = {}
    rows = zip(*partitions, strict=True)
    return tuple(first.setdefault(row, member) for member, row in enumerate(rows))
