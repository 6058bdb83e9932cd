"""Which orbits of cells of a symmetric net are ever marked, if tokens are not counted.

What `ltlpipe.systems.nets.coloured.unfolding` does for cells and moves is done here for
their orbits under the group of the net.  Of each orbit of moves one is looked at: the
colours of a class come in the order in which variables are bound, and the first
variable of a sort that is rotated has one of its first colours.  All cells of an orbit
count as marked where one is.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic firing).

Differences from the source: tokens are not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.components.progress import SYMMETRY
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.bindings import (
    bindings,
    conjuncts,
    first_alike,
    holds,
)
from ltlpipe.systems.nets.coloured.net import variables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours.group import ColourGroup
    from ltlpipe.systems.nets.coloured.bindings import Condition
    from ltlpipe.systems.nets.coloured.net import Colour
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

MOST_TRIED = 4_000_000
"""Colours that are tried for variables, of all transitions together."""

_TRIAL = 4  # microseconds


def reached_orbits(
    net: SymmetricNet, group: ColourGroup, orbits: Sequence[int]
) -> Job[dict[int, int]]:
    """Return the orbits that may be marked.

    Parameters
    ----------
    net : SymmetricNet
        It is not changed.
    group : ColourGroup
        Its group.
    orbits : sequence of int
        The orbit of each cell under the group.

    Returns
    -------
    dict of int to int
        For each such orbit the most tokens that one of its cells has in the beginning,
        or gets at once.

    Raises
    ------
    UnsupportedError
        There are too many orbits of moves; or a transition that might be taken
        subtracts more than there is.
    """
    return (yield from _Reaching(net, group, orbits).job())


class _Held:
    """The tuples of a place whose orbits may be marked."""

    def __init__(self, reaching: _Reaching, place: int) -> None:
        self._reaching = reaching
        self._place = place

    def __contains__(self, colours: object) -> bool:
        own: Any = colours
        return self._reaching.orbit(self._place, own) in self._reaching.found


class _Reaching:
    """Looks for what may be marked."""

    def __init__(
        self, net: SymmetricNet, group: ColourGroup, orbits: Sequence[int]
    ) -> None:
        self.net = net
        self.orbits = orbits
        self.found: dict[int, int] = {}
        alike = {
            (sort, colour): colours
            for sort, colours in group.classes
            for colour in colours
        }
        self._in_order = first_alike(net.coloured, alike)
        self._least = dict(group.rotations)
        self._sorts = [variable.sort for variable in net.coloured.variables]
        self._held = {p: _Held(self, p) for p in range(len(net.coloured.places))}
        self._ticks = Ticks(SYMMETRY, _TRIAL)
        self._tried = 0

    def orbit(self, place: int, colours: Colour) -> int:
        """Return the orbit of a cell."""
        return self.orbits[self.net.cells.number(place, colours)]

    def job(self) -> Job[dict[int, int]]:
        """Look at transitions until nothing more is marked."""
        for cell, tokens in enumerate(self.net.initial()):
            if tokens:
                self._put(self.orbits[cell], tokens)
        transitions = self.net.coloured.transitions
        grown = set(range(len(self.net.coloured.places)))
        is_first = True
        while grown:
            before, grown = grown, set[int]()
            for number, transition in enumerate(transitions):
                if is_first or any(place in before for place, _ in transition.pre):
                    grown |= yield from self._taken(number)
            is_first = False
        return self.found

    def _put(self, orbit: int, tokens: int) -> bool:
        """Mark an orbit; return whether it was not marked before."""
        is_new = orbit not in self.found
        self.found[orbit] = max(self.found.get(orbit, 0), tokens)
        return is_new

    def _taken(self, number: int) -> Job[set[int]]:
        """Take a transition under each binding; return the places that have grown."""
        net, grown = self.net.coloured, set[int]()
        transition = net.transitions[number]
        nothing = [0] * len(net.variables)
        for part in conjuncts(transition.guard):
            if next(variables_of(part), None) is None and not holds(part, nothing):
                return grown
        pairs = zip(
            self.net.moves.variables[number],
            self.net.moves.sizes[number],
            strict=True,
        )
        domains = {variable: range(size) for variable, size in pairs}
        ways = bindings(net, transition, domains, self._held, self._admits)
        for colours in ways:
            if colours is not None:
                grown |= self._move(number, colours)
            self._tried += 1
            if self._tried > MOST_TRIED:
                raise UnsupportedError(
                    f"more than {MOST_TRIED:,} colours of variables are to be tried: "
                    "leave symmetry out of --reduce"
                )
            if self._ticks.over():
                yield self._ticks.progress
        return grown

    def _admits(self, before: Sequence[int], variable: int) -> Condition:
        """Return whether a variable has a colour that no other one stands for.

        Of a sort that is rotated the first variable has one of the first colours.
        """
        sort = self._sorts[variable]
        least = self._least.get(sort)
        if least is None or any(self._sorts[other] == sort for other in before):
            return self._in_order(before, variable)
        return lambda binding: binding[variable] < least

    def _move(self, number: int, colours: Colour) -> set[int]:
        """Take a transition under a binding; return the places that have grown."""
        transition = self.net.coloured.transitions[number]
        binding = self.net.moves.binding(number, colours)
        pre, wrong = self.net.firing.counted(transition.pre, binding)
        if any(self.orbits[cell] not in self.found for cell in pre):
            return set()
        post, also_wrong = self.net.firing.counted(transition.post, binding)
        for place in (*wrong, *also_wrong):
            raise UnsupportedError(self.net.firing.refusal(number, colours, place))
        return {
            self.net.cells.split(cell)[0]
            for cell, tokens in post.items()
            if self._put(self.orbits[cell], tokens - pre.get(cell, 0))
        }
