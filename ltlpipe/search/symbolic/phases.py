"""Which permutations of colours a property does not see: the phases of its states.

The transitions of the property from q to q' with the same marks are one transition, for
a set of letters.  A permutation leaves it as it is if it takes the propositions on
which that set depends to propositions, and the set to itself.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12 (the isotropy group of the
label of a transition of the property).

Differences from the source: the label is the set of letters that the transition allows;
the group is that which exchanges of two colours and rotations of one sort generate.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.reduction.colours.images import Forms
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.search.symmetric.phases import edges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.reduction.colours.group import ColourGroup
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.symmetric.phases import Edge
    from ltlpipe.systems.pnml.coloured.symmetric import SymmetricNet


class Isotropy(NamedTuple):
    """A group: for each member the first one alike, and the steps of rotations."""

    blocks: tuple[int, ...]
    steps: tuple[int, ...]


class Phase(NamedTuple):
    """Transitions that leave a state and see the same differences."""

    group: Isotropy
    edges: list[Edge]


class _Finder:
    """Finds the isotropy of sets of letters."""

    def __init__(
        self, group: ColourGroup, forms: Forms, n_propositions: int, ticks: Ticks
    ) -> None:
        self._group = group
        self._forms = forms
        self._n = n_propositions
        self._ticks = ticks
        self._images: dict[tuple[int, int, int], list[int]] = {}
        self._letters = np.arange(1 << n_propositions)
        self._known: dict[tuple[int, ...], Isotropy] = {}

    def isotropy(self, letters: tuple[int, ...]) -> Job[Isotropy]:
        """Return the group that takes a set of letters to itself."""
        if letters in self._known:
            return self._known[letters]
        allowed = np.zeros(len(self._letters), dtype=np.bool_)
        allowed[list(letters)] = True
        needed = [
            p
            for p in range(self._n)
            if (allowed != allowed[self._letters ^ (1 << p)]).any()
        ]
        blocks: list[int] = []
        for sort, colours in self._group.classes:
            start = len(blocks)
            for at, colour in enumerate(colours):
                first = start + at
                for earlier in sorted({*blocks[start:]}):
                    other = colours[earlier - start]
                    key = (sort, other, colour)
                    swap = {(sort, other): colour, (sort, colour): other}
                    if (yield from self._keeps(key, swap, allowed, needed)):
                        first = earlier
                        break
                blocks.append(first)
        steps = yield from self._steps(allowed, needed)
        found = Isotropy(tuple(blocks), steps)
        self._known[letters] = found
        return found

    def _steps(self, allowed: np.ndarray, needed: list[int]) -> Job[tuple[int, ...]]:
        steps = []
        for sort, least in self._group.rotations:
            size = self._group.net.size(sort)
            step = least
            while step < size:
                if size % step == 0:
                    turned = {(sort, c): (c + step) % size for c in range(size)}
                    key = (sort, -1, step)
                    if (yield from self._keeps(key, turned, allowed, needed)):
                        break
                step += least
            steps.append(step)
        return tuple(steps)

    def _keeps(
        self,
        key: tuple[int, int, int],
        permutation: dict[tuple[int, int], int],
        allowed: np.ndarray,
        needed: list[int],
    ) -> Job[bool]:
        """Whether a permutation takes a set of letters to itself."""
        if not needed:
            return True
        if key not in self._images:
            self._images[key] = self._forms.images(permutation)
            if self._ticks.over(self._forms.size):
                yield self._ticks.progress
        images = self._images[key]
        if any(images[p] < 0 for p in needed):
            return False
        if all(images[p] == p for p in needed):
            return True
        moved = np.zeros(len(allowed), dtype=np.int64)
        for p in needed:
            moved |= (self._letters >> images[p] & 1) << p
        if self._ticks.over(len(allowed) * len(needed) / 100):
            yield self._ticks.progress
        return bool((allowed[moved] == allowed).all())


def phases_of(
    group: ColourGroup,
    net: SymmetricNet,
    propositions: Sequence[Expression],
    automaton: PropertyAutomaton,
) -> Job[list[list[Phase]]]:
    """Return the phases of each state of a property automaton."""
    ticks = Ticks(TABULATING)
    forms = Forms(net, propositions)
    finder = _Finder(group, forms, len(propositions), ticks)
    phases = []
    for state in range(automaton.n_states):
        by_group: dict[Isotropy, list[Edge]] = defaultdict(list)
        for edge in edges_of(automaton, state):
            found = yield from finder.isotropy(edge.letters)
            by_group[found].append(edge)
        phases.append([Phase(*item) for item in by_group.items()])
        if ticks.over(automaton.n_letters):
            yield ticks.progress
    return phases
