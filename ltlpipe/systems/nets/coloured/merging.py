"""Colours that a symmetric net does not tell apart, and the net in which they are one.

Colours at one position of a place's tuples are *alike* if it does not matter which of
them a token has there.  They are told apart where a transition takes the one but not
the other: a constant or ``all`` is taken, a variable that a guard compares, one that is
taken twice, or one whose token is put to where the colours are told apart.  What is
left, by refinement, is a bisimulation between the symmetric net and the unfolded net of
one place for each class of tuples: markings with as many tokens in each class do the
same, as far as tokens of places and transitions without colours are concerned.

Source: A. Bilgram, P. G. Jensen, T. Pedersen, J. Srba and P. H. Taankvist, "Methods for
Efficient Unfolding of Colored Petri Nets", Fundamenta Informaticae 189(3-4), 2022
(color quotienting).

Differences from the source: partitions are those of the positions of tuples; guards of
two variables tell all their colours apart.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.cells import Cells, holds
from ltlpipe.systems.nets.coloured.net import (
    Bound,
    Comparison,
    Constant,
    Every,
    signed_tokens,
    variables_of,
)
from ltlpipe.systems.nets.coloured.skeleton import has_difference, is_valid, multisets
from ltlpipe.systems.nets.coloured.unfolding import UnfoldedNet, Unfolding
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import (
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Sequence,
    )

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.cells import Binding
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Guard,
        Multiset,
    )

Position: TypeAlias = tuple[int, int]
"""A place and a position in its tuples."""

_PHASE = "merging colours"
_LEADING_BACK = "giving a run its colours"
_MOST_STEPS = 10_000
"""Steps of a run that gets its colours back."""

_MOST_NUMBERS = 50_000_000
"""Tokens in the markings of such a run, zeros among them."""


class Classes:
    """Which colours of a symmetric net are alike.

    Attributes
    ----------
    first : dict of (int, int) to list of int
        For each position, and each colour there, the first that is like it.
    """

    def __init__(self, net: ColouredNet) -> None:
        self.net = net
        self.first: dict[Position, list[int]] = {
            (number, k): [0] * net.size(sort)
            for number, place in enumerate(net.places)
            for k, sort in enumerate(place.domain)
        }
        self._changed: set[int] = set()

    def refined(self, ticks: Ticks) -> Job[None]:
        """Tell colours apart until all that are told apart are."""
        net = self.net
        takers: dict[int, set[int]] = {}
        for number, transition in enumerate(net.transitions):
            self._tell_constants(transition)
            for place, _ in (*transition.pre, *transition.post):
                takers.setdefault(place, set()).add(number)
        waiting = dict.fromkeys(range(len(net.transitions)))
        while waiting:
            number, _ = waiting.popitem()
            transition = net.transitions[number]
            self._changed.clear()
            for variable in transition.variables:
                keys = self.keys(transition, variable)
                for position, entry in entries_of(transition.pre, variable):
                    n = len(keys)
                    shifted = [keys[(c - entry.shift) % n] for c in range(n)]
                    self._tell(position, shifted)
                yield from ticks.worked(len(keys))
            for place in self._changed:
                waiting.update(dict.fromkeys(takers[place]))

    def keys(self, transition: ColouredTransition, variable: int) -> list[Hashable]:
        """Return for each colour of a variable what tells it apart from others."""
        size = self.net.size(self.net.variables[variable].sort)
        taken = [*entries_of(transition.pre, variable)]
        heavy = any(
            weight != 1 or has_difference(what) or any(map(_is_many, tokens.entries))
            for _, what in transition.pre
            for weight, tokens in signed_tokens(what, 1)
            if variable in variables_of(tokens)
        )
        atoms = [
            own for own in _atoms(transition.guard) if variable in variables_of(own)
        ]
        if heavy or len(taken) > 1 or any(len({*variables_of(a)}) > 1 for a in atoms):
            return list(range(size))
        said = [self._holding(atom, variable, size) for atom in atoms]
        for position, entry in (*taken, *entries_of(transition.post, variable)):
            own = self.first[position]
            said.append([own[(c + entry.shift) % size] for c in range(size)])
        return list(zip(*said, strict=True)) if said else [0] * size

    def _holding(self, atom: Comparison, variable: int, size: int) -> list[int]:
        binding = [0] * len(self.net.variables)
        found = []
        for colour in range(size):
            binding[variable] = colour
            found.append(int(holds(atom, binding)))
        return found

    def _tell_constants(self, transition: ColouredTransition) -> None:
        """Tell the constants that a transition takes from other colours."""
        for place, what in transition.pre:
            for _, tokens in signed_tokens(what, 1):
                for k, entry in enumerate(tokens.entries):
                    n = len(self.first[place, k])
                    if isinstance(entry, Constant):
                        self._tell((place, k), [c == entry.colour for c in range(n)])
                    elif not isinstance(entry, Bound):
                        self._tell((place, k), range(n))

    def _tell(self, position: Position, keys: Iterable[Hashable]) -> None:
        """Tell colours with different keys apart."""
        known: dict[Any, int] = {}
        both = zip(self.first[position], keys, strict=True)
        finer = [known.setdefault(own, c) for c, own in enumerate(both)]
        if finer != self.first[position]:
            self.first[position] = finer
            self._changed.add(position[0])

    @property
    def merge_some(self) -> bool:
        """Whether some colours are alike."""
        return any(own != list(range(len(own))) for own in self.first.values())

    def is_merged(self, place: int) -> bool:
        """Whether some colours of a place are alike."""
        sizes = self.net.sizes(place)
        return any(self.first[place, k] != [*range(n)] for k, n in enumerate(sizes))

    def of(self, place: int, colours: Colour) -> Colour:
        """Return the first tuple of a class."""
        return tuple([self.first[place, k][c] for k, c in enumerate(colours)])


def _is_many(entry: Any) -> bool:
    return isinstance(entry, Every) and entry.size > 1


def _atoms(guard: Guard) -> Iterator[Comparison]:
    if isinstance(guard, Comparison):
        yield guard
    else:
        for part in guard.parts:
            yield from _atoms(part)


def entries_of(
    side: Sequence[tuple[int, Multiset]], variable: int
) -> Iterator[tuple[Position, Bound]]:
    """Yield the entries of tuples that a variable is in, with their positions."""
    for place, what in side:
        for _, tokens in signed_tokens(what, 1):
            for k, entry in enumerate(tokens.entries):
                if isinstance(entry, Bound) and entry.variable == variable:
                    yield (place, k), entry


class ClassCells(Cells):
    """The numbers of the first cells of classes."""

    def __init__(self, classes: Classes) -> None:
        super().__init__(classes.net)
        self.classes = classes

    def number(self, node: int, colours: Colour) -> int:
        """Return the number of the first cell that is like one."""
        return super().number(node, self.classes.of(node, colours))


class MergedNet(UnfoldedNet):
    """A symmetric net, unfolded into classes of colours that are alike.

    Names with colours mean nothing here.

    Attributes
    ----------
    classes : Classes
        Of colours.
    """

    classes: Classes

    @cached_property
    def class_cells(self) -> ClassCells:
        """The numbers of cells that have places."""
        return ClassCells(self.classes)

    @property
    def about(self) -> tuple[str, ...]:  # type: ignore[override]
        """How large the net is."""
        (line,) = super().about
        return (f"{line}, where colours are merged that it does not tell apart",)

    def _variable(self, text: str) -> int | None:
        return super()._variable(text) if text in self.place_names.known else None

    def _tokens(self, text: str) -> Expression | None:
        return super()._tokens(text) if text in self.place_names.known else None

    def _with_colours(self, text: str) -> list[int] | None:
        del text
        return None

    def coloured_run(self, run: Run) -> Job[Run | None]:
        """Return a run of the symmetric net that a run here stands for.

        Its cycle goes on until a marking comes again; None if that takes too long.
        """
        trail = _Trail(self)
        ticks = Ticks(_LEADING_BACK, 5.0 + 0.01 * len(trail.cells))
        actions = run.actions.tolist()
        for action in actions[: run.length]:
            trail.take(action)
            yield from ticks.worked(1 + len(trail.marking))
        begins: dict[frozenset[tuple[int, int]], int] = {}
        while (now := frozenset(trail.marking.items())) not in begins:
            begins[now] = len(trail.actions)
            for action in actions[run.length :]:
                if trail.is_long:
                    return None
                trail.take(action)
                yield from ticks.worked(1 + len(trail.marking))
        return trail.run(begins[now])


class _Trail:
    """A run of a symmetric net in the making: markings by cells, and moves."""

    def __init__(self, merged: MergedNet) -> None:
        net = merged.coloured
        self._net, self._merged, self._moves = net, merged, merged.moves
        self.cells = merged.cells
        self.marking = self.cells.initial(net.name)
        self.actions: list[int] = []
        self._markings = [self.marking]

    @property
    def is_long(self) -> bool:
        """Whether the run gets too long."""
        n = len(self.actions)
        return n > _MOST_STEPS or n * len(self.cells) > _MOST_NUMBERS

    def take(self, action: int) -> None:
        """Take a transition, with colours that tokens have; -1 repeats the marking."""
        move = -1
        if action >= 0:
            number, colours = self._moves.split(self._merged.kept_moves[action])
            transition = self._net.transitions[number]
            binding = self._moves.binding(number, colours)
            self._bind(transition, binding)
            own = tuple(binding[v] for v in self._moves.variables[number])
            move = self._moves.number(number, own)
            after = dict(self.marking)
            for sign, side in ((-1, transition.pre), (1, transition.post)):
                for cell, count in self.cells.counted(side, binding)[0].items():
                    after[cell] = after.get(cell, 0) + sign * count
                    assert after[cell] >= 0  # by bisimilarity
            self.marking = {cell: count for cell, count in after.items() if count}
        self.actions.append(move)
        self._markings.append(self.marking)

    def _bind(self, transition: ColouredTransition, binding: Binding) -> None:
        """Give variables colours of tokens, in the classes of those that they have."""
        classes = self._merged.class_cells
        left = dict(self.marking)
        for place, what in transition.pre:
            if not classes.classes.is_merged(place) or has_difference(what):
                continue  # a difference has colours that are told apart
            for _, tokens in signed_tokens(what, 1):
                if any(map(_is_many, tokens.entries)):
                    continue  # with colours that are told apart
                ((wanted, count),) = classes.counted([(place, tokens)], binding)[
                    0
                ].items()
                found = next(
                    cell
                    for cell in sorted(set(left) & {*self.cells.range_of(place)})
                    if left[cell] >= count
                    and classes.number(*self.cells.split(cell)) == wanted
                )
                left[found] -= count
                _, colours = self.cells.split(found)
                for entry, colour in zip(tokens.entries, colours, strict=True):
                    if isinstance(entry, Bound):
                        binding[entry.variable] = (colour - entry.shift) % entry.size

    def run(self, length: int) -> Run:
        """Return the run, whose cycle begins after so many steps."""
        states = np.zeros((len(self._markings), len(self.cells)), dtype=np.int64)
        for k, marking in enumerate(self._markings):
            states[k, [*marking]] = [*marking.values()]
        return Run(np.array(self.actions, dtype=np.int64), states, length)


class _Merging(Unfolding):
    """Unfolding into classes of colours."""

    def __init__(self, classes: Classes, file: str) -> None:
        super().__init__(classes.net, file)
        self._classes = classes
        self.cells = ClassCells(classes)

    def _colours(
        self, transition: ColouredTransition, inside: dict[int, list[int]]
    ) -> dict[int, list[int]]:
        """Return one colour of each class of those that each variable can have."""
        found = {}
        for variable, colours in inside.items():
            keys = self._classes.keys(transition, variable)
            first: dict[Hashable, int] = {}
            for colour in colours:
                first.setdefault(keys[colour], colour)
            found[variable] = [*first.values()]
        return found

    def _held(self, place: int) -> Collection[Colour] | None:
        return None if self._classes.is_merged(place) else super()._held(place)

    def _differing(self, taken: Collection[int]) -> list[int]:
        """Return the moves that do different things, the first of each kind."""
        found: dict[Hashable, int] = {}
        for k in taken:
            number, _ = self.moves.split(self.listed[k])
            effects = (frozenset(side[k].items()) for side in (self.pre, self.post))
            found.setdefault((number, *effects), k)
        return [*found.values()]


def merging(net: ColouredNet, file: str) -> Job[MergedNet | None]:
    """Return the net in which colours that are alike are one; None if none are.

    Raises
    ------
    UnsupportedError
        It is too large even so.
    """
    ticks = Ticks(_PHASE)
    if not all(map(is_valid, multisets(net))):
        return None
    classes = Classes(net)
    yield from classes.refined(ticks)
    if not classes.merge_some:
        return None
    found = yield from _Merging(classes, file).job()
    result = MergedNet.__new__(MergedNet)
    vars(result).update(vars(found))
    result.classes = classes
    return result
