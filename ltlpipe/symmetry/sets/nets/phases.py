"""Which permutations of colours a property does not see: the phases of its states.

The transitions of the property from q to q' with the same marks are one transition, for
a set of letters.  Of these, each kind of step of the net
(`ltlpipe.symmetry.sets.nets.kinds`) has those whose propositions about steps are as
that kind makes them: a constraint on `serve` tells nobody apart where `ask` is taken.
A permutation leaves such a part as it is if it takes the steps of the kind to
themselves, the propositions about markings on which the part depends to each other, and
the part to itself.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12 (the isotropy group of the
label of a transition of the property).

Differences from the source: the label is such a part, not one valuation; the group is
that which exchanges of two colours and rotations of one sort generate.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.symmetry.colours.images import Forms
from ltlpipe.symmetry.sets.networks.phases import edges_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours.group import ColourGroup
    from ltlpipe.symmetry.sets.nets.kinds import Kinds, Step
    from ltlpipe.symmetry.sets.networks.phases import Edge
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


class Isotropy(NamedTuple):
    """A group: for each member the first one alike, and the steps of rotations."""

    blocks: tuple[int, ...]
    steps: tuple[int, ...]


class PhaseEdge(NamedTuple):
    """A transition of the property for some letters of the product, int64[m]."""

    letters: np.ndarray
    dst: int
    marks: int


class Phase(NamedTuple):
    """Transitions that leave a state and see the same differences."""

    group: Isotropy
    edges: list[PhaseEdge]


class _Letters(NamedTuple):
    """A set of letters, as far as they are about markings.

    `allowed` is bool[2**k] for the k propositions on which the set depends.
    """

    needed: tuple[int, ...]
    allowed: bytes


class _Finder:
    """Finds the isotropy of sets of letters that a kind of step has."""

    def __init__(
        self,
        group: ColourGroup,
        net: SymmetricNet,
        propositions: Sequence[Expression],
        kinds: Kinds,
        ticks: Ticks,
    ) -> None:
        self._group = group
        self._n = len(propositions)
        about = [step.about for step in kinds.steps if step.about is not None]
        self._forms = Forms(net, [*propositions, *about])
        self._ticks = ticks
        self._unmoved = self._forms.images({})
        self._images: dict[tuple[int, int, int], list[int]] = {}
        self._known: dict[tuple[_Letters, int], Isotropy] = {}
        self._kinds = kinds
        # Propositions about markings, and the letters in which equal ones agree.
        equal = {
            p: self._unmoved[p]
            for p in range(self._n)
            if not kinds.about_steps >> p & 1
        }
        self._free = sorted({*equal.values()})
        numbers = np.arange(1 << len(self._free))
        self._markings = np.zeros(len(numbers), dtype=np.int64)
        for p, first in equal.items():
            self._markings |= (numbers >> self._free.index(first) & 1) << p

    def parts(self, edge: Edge) -> Iterator[tuple[Step, np.ndarray, _Letters]]:
        """Yield the steps that an edge allows, with its letters of the product."""
        allowed = np.zeros(1 << self._n, dtype=np.bool_)
        allowed[list(edge.letters)] = True
        for step in self._kinds.steps:
            letters = self._markings | step.taken
            own = allowed[letters]
            if own.any():
                yield step, self._kinds.letter(step, letters[own]), self._minimal(own)

    def _minimal(self, own: np.ndarray) -> _Letters:
        """Return a set of letters in terms of the propositions on which it depends.

        own is bool[2**m] for the m propositions about markings.
        """
        own = own.reshape([2] * len(self._free))
        needed = []
        for axis, p in enumerate(self._free):
            low, high = (own.take([value], -1 - axis) for value in (0, 1))
            if (low == high).all():
                own = low
            else:
                needed.append(p)
        return _Letters(tuple(needed), own.tobytes())

    def isotropy(self, letters: _Letters, about: int) -> Job[Isotropy]:
        """Return the group that keeps letters, and the steps that have them.

        `about` is the number of the steps among those that tell something, or -1.
        """
        if (letters, about) in self._known:
            return self._known[letters, about]
        blocks: list[int] = []
        for sort, colours in self._group.classes:
            start = len(blocks)
            for at, colour in enumerate(colours):
                first = start + at
                for earlier in sorted({*blocks[start:]}):
                    other = colours[earlier - start]
                    key = (sort, other, colour)
                    swap = {(sort, other): colour, (sort, colour): other}
                    if (yield from self._keeps(key, swap, letters, about)):
                        first = earlier
                        break
                blocks.append(first)
        steps = yield from self._steps(letters, about)
        found = Isotropy(tuple(blocks), steps)
        self._known[letters, about] = found
        return found

    def _steps(self, letters: _Letters, about: int) -> Job[tuple[int, ...]]:
        steps = []
        for sort, least in self._group.rotations:
            size = self._group.net.size(sort)
            step = least
            while step < size:
                if size % step == 0:
                    turned = {(sort, c): (c + step) % size for c in range(size)}
                    key = (sort, -1, step)
                    if (yield from self._keeps(key, turned, letters, about)):
                        break
                step += least
            steps.append(step)
        return tuple(steps)

    def _keeps(
        self,
        key: tuple[int, int, int],
        permutation: dict[tuple[int, int], int],
        letters: _Letters,
        about: int,
    ) -> Job[bool]:
        """Whether a permutation takes letters and steps to themselves."""
        if not letters.needed and about < 0:
            return True
        if key not in self._images:
            self._images[key] = self._forms.images(permutation)
            if self._ticks.over(self._forms.size):
                yield self._ticks.progress
        images = self._images[key]
        at = self._n + about
        if about >= 0 and images[at] != self._unmoved[at]:
            return False
        moved = tuple(images[p] for p in letters.needed)
        if moved == letters.needed:
            return True
        if {*moved} != {*letters.needed}:
            return False
        place = {p: bit for bit, p in enumerate(letters.needed)}
        allowed = np.frombuffer(letters.allowed, dtype=np.bool_)
        numbers = np.arange(len(allowed))
        taken = np.zeros(len(allowed), dtype=np.int64)
        for bit, image in enumerate(moved):
            taken |= (numbers >> place[image] & 1) << bit
        if self._ticks.over(len(allowed) * len(moved) / 100):
            yield self._ticks.progress
        return bool((allowed[taken] == allowed).all())


def phases_of(
    group: ColourGroup,
    net: SymmetricNet,
    propositions: Sequence[Expression],
    automaton: PropertyAutomaton,
    kinds: Kinds,
) -> Job[list[list[Phase]]]:
    """Return the phases of each state of a property automaton."""
    ticks = Ticks(TABULATING)
    finder = _Finder(group, net, propositions, kinds, ticks)
    phases = []
    for state in range(automaton.n_states):
        by_group: dict[Isotropy, list[PhaseEdge]] = defaultdict(list)
        for edge in edges_of(automaton, state):
            for step, letters, told in finder.parts(edge):
                found = yield from finder.isotropy(told, step.number)
                by_group[found].append(PhaseEdge(letters, edge.dst, edge.marks))
                if ticks.over(automaton.n_letters / 100):
                    yield ticks.progress
        phases.append([Phase(*item) for item in by_group.items()])
        if ticks.over(automaton.n_letters):
            yield ticks.progress
    return phases
