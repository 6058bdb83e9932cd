"""The group of a symmetric net: static subclasses of colours, and rotations.

Colours of a sort can be exchanged if the net never tells them apart: no constant, no
element of a partition and no comparison with a constant is true of one and not of the
other.  A sort whose colours have successors has rotations instead, by multiples of the
least number of colours by which nothing of that changes.  A sort that is compared by
order has no permutation.

All of it is read off the terms, so it is exact for the transitions; the initial marking
is not looked at, since the search begins with the permutations that leave that alone.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. II (basic color classes and their static
subclasses).

Differences from the source: static subclasses are found, not declared; an ordered class
with static subclasses keeps the rotations that respect them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.components.progress import SYMMETRY
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.cells import RELATIONS
from ltlpipe.systems.nets.coloured.net import (
    DOT,
    Bound,
    Comparison,
    Constant,
    Part,
    signed_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.net import ColouredNet, Every, Guard

_EQUATIONS = ("==", "!=")


class Rotation(NamedTuple):
    """Rotations of a sort, by multiples of a number of colours."""

    sort: int
    least: int  # divides the number of colours


class ColourGroup(NamedTuple):
    """The permutations of colours that leave a symmetric net as it is."""

    net: ColouredNet
    classes: list[tuple[int, tuple[int, ...]]]
    """Sorts and colours that can be exchanged, two or more each."""
    rotations: list[Rotation]
    refused: list[str]
    """Which sorts have no permutation, and why."""

    def names(self) -> list[list[str]]:
        """Return the names of the colours of each class."""
        sorts = self.net.sorts
        return [
            [f"{sorts[sort].name}.{sorts[sort].names[colour]}" for colour in colours]
            for sort, colours in self.classes
        ]

    def members(self) -> list[tuple[int, int]]:
        """Return the sorts and colours of all classes, one after the other."""
        return [(sort, c) for sort, colours in self.classes for c in colours]

    @property
    def is_trivial(self) -> bool:
        """Whether it has no permutation but the identity."""
        return not self.classes and not self.rotations


class _Uses:
    """What a net asks about the colours of each sort."""

    def __init__(self, net: ColouredNet) -> None:
        self.net = net
        self.told: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        self.successors: dict[int, str] = {}
        self.ordered: dict[int, str] = {}

    def note(self) -> Iterator[None]:
        """Look at all terms of the transitions."""
        for transition in self.net.transitions:
            where = f"guard of {transition.name}"
            self._guard(transition.guard, where)
            for place, what in (*transition.pre, *transition.post):
                of = self.net.places[place]
                where = f"the arc between {transition.name} and {of.name}"
                for _, tokens in signed_tokens(what, 1):
                    for entry, sort in zip(tokens.entries, of.domain, strict=True):
                        self._entry(entry, sort, where)
            yield

    def _guard(self, guard: Guard, where: str) -> None:
        if not isinstance(guard, Comparison):
            for part in guard.parts:
                self._guard(part, where)
            return
        left, right = guard.left, guard.right
        sides = [(left, right), (right, left)]
        for side, _ in sides:
            self._bound(side.of if isinstance(side, Part) else side, where)
        if isinstance(left, Bound) and isinstance(right, Bound):
            sorts = [self.net.variables[b.variable].sort for b in (left, right)]
            if guard.relation not in _EQUATIONS:
                self._refuse(sorts, f"compared by order in {where}")
            elif sorts[0] != sorts[1]:
                self._refuse(sorts, f"compared with another sort in {where}")
            return
        for side, other in sides:
            term = side.of if isinstance(side, Part) else side
            if not isinstance(term, Bound):
                continue
            sort = self.net.variables[term.variable].sort
            elements = side.elements if isinstance(side, Part) else range(term.size)
            told = [elements[(c + term.shift) % term.size] for c in range(term.size)]
            if isinstance(other, Constant):
                relates = RELATIONS[guard.relation]
                pairs = [(shown, other.colour) for shown in told]
                if side is right:
                    pairs = [pair[::-1] for pair in pairs]
                told = [int(relates(*pair)) for pair in pairs]
            self.told[sort].add(tuple(told))

    def _entry(self, entry: Bound | Constant | Every, sort: int, where: str) -> None:
        """Look at an entry of a tuple in a place."""
        if isinstance(entry, Constant):
            size = self.net.size(sort)
            self.told[sort].add(tuple(int(c == entry.colour) for c in range(size)))
        elif isinstance(entry, Bound):
            self._bound(entry, where)
            own = self.net.variables[entry.variable].sort
            if own != sort:
                self._refuse([own, sort], f"mixed with another sort at {where}")

    def _bound(self, term: Bound | Constant, where: str) -> None:
        if isinstance(term, Bound) and term.shift:
            sort = self.net.variables[term.variable].sort
            self.successors.setdefault(sort, f"colours have successors in {where}")

    def _refuse(self, sorts: list[int], why: str) -> None:
        for sort in sorts:
            self.ordered.setdefault(sort, why)


def group_of_colours(net: ColouredNet) -> Job[ColourGroup]:
    """Return the group of a symmetric net."""
    ticks = Ticks(SYMMETRY, 20)
    uses = _Uses(net)
    for _ in uses.note():
        if ticks.over():
            yield ticks.progress
    group = ColourGroup(net, [], [], [])
    for sort, about in enumerate(net.sorts):
        size = len(about.ids)
        if about.kind == DOT or size == 1:
            continue
        told = sorted(uses.told[sort])
        why = uses.ordered.get(sort)
        if why is None and sort in uses.successors:
            least = next(d for d in range(1, size + 1) if _turns(told, size, d))
            if least < size:
                group.rotations.append(Rotation(sort, least))
            else:
                why = f"{uses.successors[sort]}, and others have names of their own"
        elif why is None:
            alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
            for colour in range(size):
                alike[tuple(own[colour] for own in told)].append(colour)
            classes = [(sort, tuple(own)) for own in alike.values() if len(own) > 1]
            group.classes.extend(classes)
            if not classes:
                why = "the net names each colour"
        if why is not None:
            group.refused.append(f"sort {about.name}: {why}")
        if ticks.over(size):
            yield ticks.progress
    return group


def _turns(told: list[tuple[int, ...]], size: int, by: int) -> bool:
    """Whether a rotation leaves all that is told of colours as it is."""
    return size % by == 0 and all(own == own[by:] + own[:by] for own in told)
