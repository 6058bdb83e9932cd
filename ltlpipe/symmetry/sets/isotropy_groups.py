"""Isotropy groups: the permutations of colours that a property does not see.

Propositions about steps exclude each other mostly: a step is of one transition, under
one binding.  Each transition that the property names is a *kind* of its own; all
others, and a marking that repeats itself, are kind 0.  A letter of the symbolic product
is a letter of the property, with the kind of the step in the bits above.

The transitions of the property from q to q' with the same marks are one transition, for
a set of letters.  Of these, each kind of step of the net has those whose propositions
about steps are as that kind makes them: a constraint on `serve` tells nobody apart
where `ask` is taken.
A permutation leaves such a part as it is if it takes the steps of the kind to
themselves, the propositions about markings on which the part depends to each other, and
the part to itself.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Def. 12 (the isotropy group of the
label of a transition of the property).

Differences from the source: the label is such a part, not one valuation; the group is
that which exchanges of two colours generate.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ltlpipe.logic.propositions.syntax import Taken, ranges_in
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import TABULATING
from ltlpipe.symmetry.colours import Forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours import ColourGroup
    from ltlpipe.systems.nets.coloured.cells import Moves
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


class Mention(NamedTuple):
    """What a property says of a transition: propositions, as bits.

    All of its moves make `always` true; `named` has what else some of them do, by their
    numbers in the transition.
    """

    kind: int
    always: int
    named: dict[int, int]


class Step(NamedTuple):
    """Steps of one kind that make the same propositions true.

    `taken` are these, as bits.  `about` tells which steps they are, by their moves:
    these, or where they are those that are not named, all others; None if they are all
    steps of the kind.  `number` counts those that tell something; others have -1.
    """

    kind: int
    taken: int
    about: Taken | None
    number: int


class Kinds(NamedTuple):
    """The kinds of steps, and what the property says of each transition."""

    n_propositions: int
    about_steps: int  # the propositions about steps, as bits
    mentions: list[Mention]
    steps: list[Step]

    @property
    def n_letters(self) -> int:
        """The number of letters of the product."""
        most = max((own.kind for own in self.mentions), default=0)
        return (1 + most) << self.n_propositions


Isotropy: TypeAlias = tuple[int, ...]
"""A group: for each member the first one alike."""


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


def kinds_of(moves: Moves, propositions: Sequence[Expression]) -> Kinds:
    """Return the kinds of steps that propositions, bound to a net, tell apart."""
    about_steps = sum(
        1 << bit for bit, part in enumerate(propositions) if isinstance(part, Taken)
    )
    steps = [Step(0, 0, None, -1)]
    kind, n_about = 0, 0
    found = []
    for transition, (always, named) in enumerate(_mentions(moves, propositions)):
        if not always and not named:
            found.append(Mention(0, 0, {}))
            continue
        kind += 1
        found.append(Mention(kind, always, named))
        first = moves.first[transition]
        parts = defaultdict(list)
        for move, bits in named.items():
            parts[bits].append(first + move)
            parts[0].append(first + move)  # the others are those that are not these
        if not named:
            steps.append(Step(kind, always, None, -1))
        for bits, own in parts.items():
            about = Taken(frozenset(own))
            steps.append(Step(kind, always | bits, about, n_about))
            n_about += 1
    return Kinds(len(propositions), about_steps, found, steps)


def _mentions(
    moves: Moves, propositions: Sequence[Expression]
) -> list[tuple[int, dict[int, int]]]:
    """Return what all moves of each transition make true, and what some of them do."""
    n = len(moves.variables)
    always = [0] * n
    named: list[dict[int, int]] = [defaultdict(int) for _ in range(n)]
    for bit, proposition in enumerate(propositions):
        if not isinstance(proposition, Taken):
            continue
        for part in ranges_in(proposition.actions):
            transition, _ = moves.split(part.start)
            if part == moves.range_of(transition):
                always[transition] |= 1 << bit
                continue
            for move in part:
                named[transition][move - moves.first[transition]] |= 1 << bit
    return list(zip(always, named, strict=True))


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
        self._images: dict[tuple[object, ...], list[int]] = {}
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

    def parts(self, read: list[int]) -> Iterator[tuple[Step, np.ndarray, _Letters]]:
        """Yield the steps that letters allow, with those letters of the product."""
        allowed = np.zeros(1 << self._n, dtype=np.bool_)
        allowed[read] = True
        for step in self._kinds.steps:
            letters = self._markings | step.taken
            own = allowed[letters]
            if own.any():
                told = letters[own] | (step.kind << self._n)
                yield step, told, self._minimal(own)

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
                    swap = {(sort, other): colour, (sort, colour): other}
                    if (yield from self._keeps(swap, letters, about)):
                        first = earlier
                        break
                blocks.append(first)
        found = self._known[letters, about] = tuple(blocks)
        return found

    def _keeps(
        self,
        permutation: dict[tuple[int, int], int],
        letters: _Letters,
        about: int,
    ) -> Job[bool]:
        """Whether a permutation takes letters and steps to themselves."""
        if not letters.needed and about < 0:
            return True
        key = tuple(permutation.items())
        if key not in self._images:
            self._images[key] = self._forms.images(permutation)
            yield from self._ticks.worked(self._forms.size)
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
        yield from self._ticks.worked(len(allowed) * len(moved) / 100)
        return bool((allowed[taken] == allowed).all())


def isotropy_groups(
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
        for (dst, marks), read in edges_of(automaton, state).items():
            for step, letters, told in finder.parts(read):
                found = yield from finder.isotropy(told, step.number)
                by_group[found].append(PhaseEdge(letters, dst, marks))
                yield from ticks.worked(automaton.n_letters / 100)
        phases.append([Phase(*item) for item in by_group.items()])
        yield from ticks.worked(automaton.n_letters)
    return phases


def edges_of(
    automaton: PropertyAutomaton, state: int
) -> dict[tuple[int, int], list[int]]:
    """Return the letters of the transitions of a state, by target and marks."""
    letters: dict[tuple[int, int], list[int]] = defaultdict(list)
    base = state * automaton.n_letters
    for letter in range(automaton.n_letters):
        first, last = automaton.first_edge[base + letter : base + letter + 2].tolist()
        for edge in range(first, last):
            ends = int(automaton.edge_dst[edge]), int(automaton.edge_marks[edge])
            letters[ends].append(letter)
    return letters


def common_blocks(partitions: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the coarsest partition that is as fine as each of some."""
    if len(partitions) == 1:
        return partitions[0]
    first: dict[tuple[int, ...], int] = {}
    rows = zip(*partitions, strict=True)
    return tuple(first.setdefault(row, member) for member, row in enumerate(rows))
