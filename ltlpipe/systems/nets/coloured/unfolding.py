"""Unfolding a symmetric net into a place/transition net.

1. The bindings of each transition are listed (`ltlpipe.systems.nets.coloured.bindings`)
   and counted: where they are too many, nothing has been made of them.
2. Starting with the colours of the initial marking, transitions whose places have been
   marked mark others.  What is never reached so is left out: it is never taken, for
   tokens are not even counted here.
3. What is left becomes places and transitions, in the order of the coloured net, and
   of colours and bindings by their numbers.

A difference of multisets has to be one: where a binding subtracts what is not there,
and the transition might be taken under it, the net is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.bindings import bindings, narrowed
from ltlpipe.systems.nets.coloured.cells import Cells, Moves, counted, most_counted
from ltlpipe.systems.nets.coloured.net import DOT
from ltlpipe.systems.nets.coloured.vocabulary import Coloured, Names
from ltlpipe.systems.nets.net import PetriNet, any_of, enabling_condition
from ltlpipe.systems.nets.structure import MAX_TOKENS, Place, Transition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.bindings import Admits
    from ltlpipe.systems.nets.coloured.cells import Tuples
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Multiset,
    )
    from ltlpipe.systems.nets.structure import Node


class UnfoldedNet(Coloured, PetriNet):
    """A symmetric net, unfolded.

    Colours that a place never has, and bindings under which a transition is never
    taken, have no place and no transition here; their names mean 0 and never.

    Attributes
    ----------
    coloured : ColouredNet
        What it has been made of.
    kept_cells, kept_moves : list of int
        The numbers of the cells that have places, in order, and of the moves that are
        transitions; those of one transition of the coloured net follow each other.
    """

    coloured: ColouredNet
    kept_cells: list[int]
    kept_moves: list[int]

    @property
    def about(self) -> tuple[str, ...]:  # type: ignore[override]
        """How large the net is, before and after unfolding."""
        (line,) = super().about
        after = f"{len(self.places):,} and {len(self.transitions):,}"
        return (f"{line}, unfolded into {after}",)

    @cached_property
    def _variables(self) -> dict[int, int]:
        return {cell: k for k, cell in enumerate(self.kept_cells)}

    @cached_property
    def _actions_of_moves(self) -> dict[int, int]:
        return {move: k for k, move in enumerate(self.kept_moves)}

    def variable_of(self, cell: int) -> int | None:
        """Return the place that a cell is, if it has one."""
        return self._variables.get(cell)

    def variables_of(self, place: int) -> range:
        """Return the places for a place of the coloured net."""
        return _among(self.kept_cells, self.cells, place)

    def action_of(self, move: int) -> int | None:
        """Return the transition that a move is, if it is ever taken."""
        return self._actions_of_moves.get(move)

    def actions_of(self, transition: int) -> range:
        """Return the transitions for a transition of the coloured net."""
        return _among(self.kept_moves, self.moves, transition)

    def can_act(self, action: int) -> Expression:
        """Return the proposition that each place has what a transition takes."""
        return enabling_condition(self.transitions[action])

    def can_fire(self, transition: int) -> Expression:
        """Return the proposition that some transition of those for one is enabled."""
        return any_of(map(self.can_act, self.actions_of(transition)))


def _among(numbers: list[int], tuples: Tuples, node: int) -> range:
    """Return which of some numbers are of a node."""
    first, end = tuples.first[node : node + 2]
    return range(bisect_left(numbers, first), bisect_left(numbers, end))


class TooLargeNetError(UnsupportedError):
    """A symmetric net has too many transitions or arcs when it is unfolded."""


MAX_TRANSITIONS = 1_000_000
"""Transitions of an unfolded net, those that are left out later among them."""

MAX_ARCS = 10_000_000
"""Arcs of these transitions, and tuples of the initial marking."""

_PHASE = "unfolding"
_BINDING_BYTES = 120
_ARC_BYTES = 150
_PER_ARC = 2.0  # microseconds, roughly, of all that is done to an arc


def unfolded(net: ColouredNet) -> UnfoldedNet:
    """Unfold a symmetric net.

    Parameters
    ----------
    net : ColouredNet
        It is not changed.

    Returns
    -------
    UnfoldedNet
        Its markings are those of the coloured net, its steps those under the bindings.

    Raises
    ------
    UnsupportedError
        There are more than `MAX_TRANSITIONS` bindings or `MAX_ARCS` arcs; names of
        colours make one name of two nodes; or a binding subtracts what is not there.
    """
    return complete(unfolding(net, net.name))


def unfolding(net: ColouredNet, file: str) -> Job[UnfoldedNet]:
    """Return the job that `unfolded` does; messages name `file`."""
    return (yield from Unfolding(net, file).job())


class Unfolding:
    """The work on one net, whose cells and moves are known by their numbers.

    Attributes
    ----------
    initial : dict of int to int
        Tokens of cells in the beginning.
    listed : list of int
        Moves, transition by transition: those that the guard admits.
    pre, post : list of dict of int to int
        The tokens of cells that each of these takes and puts.
    wrong : dict of int to int
        The places where some of these subtract what is not there.
    """

    admits: Admits | None = None
    """A further condition on bindings."""

    def __init__(self, net: ColouredNet, file: str) -> None:
        self.net = net
        self.file = file
        self.cells, self.moves = Cells(net), Moves(net)
        self.ticks = Ticks(_PHASE)
        self.n_arcs = 0
        self.initial: dict[int, int] = {}
        self.listed: list[int] = []
        self.pre: list[dict[int, int]] = []
        self.post: list[dict[int, int]] = []
        self.wrong: dict[int, int] = {}

    def job(self) -> Job[UnfoldedNet]:
        """Unfold the net."""
        taken, marked = yield from self.reached()
        return (yield from self._built(self._differing(taken), marked))

    def reached(self) -> Job[tuple[list[int], list[int]]]:
        """Return the listed moves and the cells that can be reached, in order.

        Tokens are not counted.  Raises UnsupportedError if such a move subtracts what
        is not there.
        """
        yield self.ticks.progress
        self._count(place.marking for place in self.net.places)
        self.initial = self._checked(self.cells.initial(self.file))
        yield from self._list()
        yield from self._weigh()
        taken, marked = yield from self._reached()
        for k in taken:
            if k in self.wrong:
                about = self.moves.split(self.listed[k])
                message = self.moves.refusal(self.file, *about, self.wrong[k])
                raise UnsupportedError(message)
        return taken, marked

    def _list(self) -> Job[None]:
        """List the moves that guards and places which never change leave."""
        net, ticks = self.net, self.ticks
        known = yield from narrowed(net, ticks)
        growing = {
            place
            for transition, colours in zip(net.transitions, known, strict=True)
            if colours is not None
            for place, what in transition.post
            if dict(transition.pre).get(place) != what
        }
        unchanged = {
            number: held
            for number in range(len(net.places))
            if number not in growing and (held := self._held(number)) is not None
        }
        for number, inside in enumerate(known):
            if inside is None:
                continue
            transition = net.transitions[number]
            inside = self._colours(transition, inside)
            for colours in bindings(net, transition, inside, unchanged, self.admits):
                if colours is not None:
                    self.listed.append(self.moves.number(number, colours))
                    if len(self.listed) > self.most_moves():
                        self._refuse(f"{self.most_moves():,} transitions")
                if ticks.over(4):
                    ticks.memory_bytes = _BINDING_BYTES * len(self.listed)
                    yield ticks.progress

    def most_moves(self) -> int:
        """Return how many moves may be listed."""
        return MAX_TRANSITIONS

    def _colours(
        self, transition: ColouredTransition, inside: dict[int, list[int]]
    ) -> dict[int, list[int]]:
        """Return the colours under which a transition is looked at."""
        del transition
        return inside

    def _held(self, place: int) -> Collection[Colour] | None:
        """Return the tuples that a place has in the beginning, if that is told."""
        return counted(self.net.places[place].marking, [])

    def _weigh(self) -> Job[None]:
        """Count what the listed moves take and put."""
        for k, move in enumerate(self.listed):
            number, colours = self.moves.split(move)
            transition = self.net.transitions[number]
            binding = self.moves.binding(number, colours)
            for arcs, side in (
                (transition.pre, self.pre),
                (transition.post, self.post),
            ):
                self._count(what for _, what in arcs)
                tokens, wrong = self.cells.counted(arcs, binding)
                side.append(self._checked(tokens))
                for place in wrong:
                    self.wrong[k] = place
            if self.ticks.over(_PER_ARC * (6 + len(self.pre[k]) + len(self.post[k]))):
                memory = _BINDING_BYTES * len(self.listed) + _ARC_BYTES * self.n_arcs
                self.ticks.memory_bytes = memory
                yield self.ticks.progress

    def _count(self, what: Iterable[Multiset]) -> None:
        """Count arcs before they are made."""
        self.n_arcs += sum(map(most_counted, what))
        if self.n_arcs > MAX_ARCS:
            self._refuse(f"{MAX_ARCS:,} arcs")

    def _refuse(self, limit: str) -> None:
        raise TooLargeNetError(
            f"{self.file}: the symmetric net unfolds into more than {limit}"
        )

    def _checked(self, tokens: dict[int, int]) -> dict[int, int]:
        if max(tokens.values(), default=0) > MAX_TOKENS:
            raise UnsupportedError(
                f"{self.file}: more than {MAX_TOKENS} tokens of a colour at once"
            )
        return tokens

    def _reached(self) -> Job[tuple[list[int], list[int]]]:
        """Do what `reached` says with the moves that have been weighed."""
        missing = list(map(len, self.pre))
        takers: dict[int, list[int]] = defaultdict(list)
        for k, weights in enumerate(self.pre):
            for cell in weights:
                takers[cell].append(k)
            yield from self.ticks.worked(1 + len(weights))
        taken = [k for k, n in enumerate(missing) if n == 0]
        put = (cell for k in taken for cell in self.post[k])
        marked = dict.fromkeys([*self.initial, *put])
        waiting = list(marked)
        for cell in waiting:  # grows while it is read
            for k in takers[cell]:
                missing[k] -= 1
                if missing[k] == 0:
                    taken.append(k)
                    waiting += [cell for cell in self.post[k] if cell not in marked]
                    marked.update(dict.fromkeys(self.post[k]))
            yield from self.ticks.worked(1 + len(takers[cell]))
        return sorted(taken), sorted(marked)

    def _differing(self, taken: list[int]) -> list[int]:
        """Return the moves that become transitions, in order."""
        return taken

    def _built(self, taken: list[int], marked: list[int]) -> Job[UnfoldedNet]:
        """Return the net of what can be reached."""
        net, ticks = self.net, self.ticks
        moves = [self.listed[k] for k in taken]
        names = Names(net, net.places, self.cells)
        places: list[Place] = []
        for cell in marked:
            places.append(Place(*names.id_and_name(cell), self.initial.get(cell, 0)))
            yield from ticks.worked(3)
        number = {cell: k for k, cell in enumerate(marked)}
        names = Names(net, net.transitions, self.moves)
        transitions: list[Transition] = []
        for k, move in zip(taken, moves, strict=True):
            pre, post = (
                {number[cell]: weight for cell, weight in side[k].items()}
                for side in (self.pre, self.post)
            )
            transitions.append(Transition(*names.id_and_name(move), pre, post))
            yield from ticks.worked(5 + _PER_ARC * (len(pre) + len(post)))
        self._check_ids([*places, *transitions])
        result = UnfoldedNet.__new__(UnfoldedNet)
        yield from result.fill(places, transitions, net.name)
        result.coloured, result.kept_cells, result.kept_moves = net, marked, moves
        return result

    def _check_ids(self, nodes: list[Node]) -> None:
        """Refuse ids with colours that stand for two nodes, here or in the net."""
        # A coloured node is one of its own, unless it has no colours.
        every: list[Any] = [*self.net.places, *self.net.transitions]
        domains = (*self.cells.domains, *self.moves.domains)
        coloured = [
            node.id
            for node, domain in zip(every, domains, strict=True)
            if any(self.net.sorts[sort].kind != DOT for sort in domain)
        ]
        for own, count in Counter([*(node.id for node in nodes), *coloured]).items():
            if count > 1:
                raise UnsupportedError(
                    f"{self.file}: with the names of colours, {own!r} is the id of "
                    "several places or transitions"
                )
