"""A symmetric net as a model: markings of colours, and steps under bindings.

Nothing is unfolded: the variables are the cells (`ltlpipe.systems.pnml.coloured.cells`)
and the actions the moves, whose names and steps are made when they are asked for.
``p`` is the number of all tokens in p, and t can fire (``fireable(t)``) or is taken
(``action=="t"``) if it is under some binding.

Searches state by state take the place/transition net that `SymmetricNet.unfolding`
makes, once.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ltlpipe.logic.propositions.syntax import (
    Enabled,
    Expression,
    Number,
    Operation,
    Variable,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.models import Model, Step
from ltlpipe.systems.pnml.coloured.bindings import (
    SubtractionError,
    bindings,
    conjuncts,
    counted,
    holds,
    surely_taken,
)
from ltlpipe.systems.pnml.coloured.cells import Cells, Moves
from ltlpipe.systems.pnml.coloured.names import Names, OnDemand
from ltlpipe.systems.pnml.coloured.net import Bound, variables_of
from ltlpipe.systems.pnml.coloured.unfolding import subtraction_message, unfolding
from ltlpipe.systems.pnml.net import at_least
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.pnml.coloured.bindings import Admits
    from ltlpipe.systems.pnml.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Multiset,
    )
    from ltlpipe.systems.pnml.coloured.unfolded import UnfoldedNet

MOST_CELLS = 1 << 17
"""Cells of a net that need not be unfolded: entries of each marking."""

MOST_MOVES = 1 << 62
"""Moves of such a net: they have numbers of 64 bits."""

_OFFERED = 20_000
"""Names of moves that a message may offer."""


class SymmetricNet(Model):
    """A symmetric net.

    Parameters
    ----------
    coloured : ColouredNet
        Its places have at most `MOST_CELLS` tuples of colours.
    file : str, optional
        What messages name.

    Raises
    ------
    UnsupportedError
        The initial marking subtracts more than there is.

    Attributes
    ----------
    cells, moves : Cells, Moves
        What the variables and the actions are.
    """

    def __init__(self, coloured: ColouredNet, file: str | None = None) -> None:
        self.coloured = coloured
        self.name = coloured.name
        self.file = file or coloured.name
        self.cells = Cells(coloured)
        self.moves = Moves(coloured)
        self._initial = self._marked()
        self._unfolded: UnfoldedNet | UnsupportedError | None = None

    @property
    def about(self) -> tuple[str, ...]:
        """How large the net is."""
        net = self.coloured
        line = f"a symmetric net of {len(net.places):,} places and "
        return (line + f"{len(net.transitions):,} transitions",)

    @property
    def has_colours(self) -> bool:
        """Whether it is a symmetric net."""
        return True

    @cached_property
    def place_names(self) -> Names:
        """Ids and names of the cells."""
        return Names(self.coloured, self.coloured.places, self.cells)

    @cached_property
    def move_names(self) -> Names:
        """Ids and names of the moves."""
        return Names(self.coloured, self.coloured.transitions, self.moves)

    @cached_property
    def variables(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the cells."""
        return tuple(self.place_names)

    @property
    def actions(self) -> Sequence[str]:  # type: ignore[override]
        """The names of the moves."""
        return self.move_names  # type: ignore[return-value]

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Names of places and transitions, with colours and without."""
        places, moves = self.place_names, self.move_names
        return Vocabulary(
            OnDemand(self._offered_cells, places.number),
            facts=OnDemand(places.known.keys, self._tokens),
            fireable=OnDemand(self._offered_moves, self._fireable),
            actions=OnDemand(self._offered_moves, self._move),
            action_sets=OnDemand(moves.known.keys, self._taken),
        )

    def _offered_cells(self) -> Collection[str]:
        """Return the names of cells that a message may offer."""
        return [*self.place_names] if len(self.cells) <= _OFFERED else []

    def _offered_moves(self) -> Collection[str]:
        """Return the names of transitions, and of moves, that a message may offer."""
        names = self.move_names
        if len(names) > _OFFERED:
            return names.known.keys()
        may_happen = [k for k in range(len(names)) if self._guard_holds(k)]
        return [*(names[k] for k in may_happen), *names.known]

    def _guard_holds(self, move: int) -> bool:
        number, colours = self.moves.split(move)
        guard = self.coloured.transitions[number].guard
        return holds(guard, self.moves.binding(number, colours))

    def initial(self) -> Valuation:
        """Return the initial marking."""
        return self._initial

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the tokens by the names of their places."""
        return dict(zip(self.variables, state, strict=True))

    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a marking, transition by transition."""
        marked = self._supports(state)
        for number, transition in enumerate(self.coloured.transitions):
            for step in self._steps(number, transition, state, marked):
                if step is not None:
                    yield step

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield the step of a marking by a move, if it is enabled."""
        number, colours = self.moves.split(action)
        transition = self.coloured.transitions[number]
        if holds(transition.guard, self.moves.binding(number, colours)):
            step = self._step(number, colours, transition, state)
            if step is not None:
                yield step

    def each_step_onto(
        self, state: Valuation, admits: Admits | None = None
    ) -> Iterator[Step | None]:
        """Yield the steps that lead to a marking, with the markings before them.

        None is yielded where a colour has been tried in vain; `admits` is that of
        `ltlpipe.systems.pnml.coloured.bindings.bindings`.
        """
        marked = self._supports(state)
        for number, transition in enumerate(self.coloured.transitions):
            turned = transition._replace(pre=transition.post, post=transition.pre)
            yield from self._steps(number, turned, state, marked, admits)

    def can_fire(self, number: int, state: Sequence[int]) -> bool:
        """Whether a transition can be taken under some binding."""
        transition = self.coloured.transitions[number]
        steps = self._steps(number, transition, state, self._supports(state))
        return any(step is not None for step in steps)

    def counted(
        self, side: Sequence[tuple[int, Multiset]], binding: list[int]
    ) -> tuple[dict[int, int], list[int]]:
        """Return tokens on one side of a transition under a binding.

        By cells; and the places where more is subtracted than there is, whose tokens
        are left out.
        """
        tokens: dict[int, int] = {}
        wrong = []
        for place, what in side:
            try:
                known = counted(what, binding)
            except SubtractionError:
                wrong.append(place)
            else:
                for colours, count in known.items():
                    tokens[self.cells.number(place, colours)] = count
        return tokens, wrong

    def unfolding(self) -> Job[UnfoldedNet]:
        """Return the net unfolded, once.

        Raises
        ------
        UnsupportedError
            It is too large.
        """
        if self._unfolded is None:
            try:
                self._unfolded = yield from unfolding(self.coloured, self.file)
            except UnsupportedError as error:
                self._unfolded = error
        if isinstance(self._unfolded, UnsupportedError):
            raise self._unfolded
        return self._unfolded

    @property
    def is_unfolded(self) -> bool:
        """Whether `unfolding` has been tried."""
        return self._unfolded is not None

    def unfolded_run(
        self, unfolded: UnfoldedNet, actions: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return moves and markings as transitions and markings of the unfolded net.

        They can be reached, so it has them.
        """
        moves = self.moves.listed(unfolded.transition_ranges, unfolded.bindings)
        number = {move: k for k, move in enumerate(moves)} | {-1: -1}
        cells = self.cells.listed(unfolded.place_ranges, unfolded.colours)
        taken = [number[move] for move in actions.tolist()]
        return np.array(taken, dtype=np.int64), states[:, cells]

    def refolded(
        self, unfolded: UnfoldedNet, actions: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return transitions and markings of the unfolded net as moves and markings."""
        ranges, bindings = unfolded.transition_ranges, unfolded.bindings
        moves = [*self.moves.listed(ranges, bindings), -1]  # -1 repeats a marking
        cells = self.cells.listed(unfolded.place_ranges, unfolded.colours)
        tokens = np.zeros((len(states), len(self.cells)), dtype=np.int64)
        tokens[:, cells] = states
        return np.array(moves, dtype=np.int64)[actions], tokens

    def pack(self, *_: Any, **__: Any) -> NoReturn:
        """Fail: it is the unfolded net that is packed."""
        raise TypeError("a symmetric net is packed unfolded")

    def _marked(self) -> Valuation:
        """Return the initial marking."""
        tokens = [0] * len(self.cells)
        for number, place in enumerate(self.coloured.places):
            try:
                known = counted(place.marking, [])
            except SubtractionError:
                raise UnsupportedError(
                    f"{self.file}: the initial marking of the place {place.name!r} "
                    "subtracts more than there is"
                ) from None
            for colours, count in known.items():
                tokens[self.cells.number(number, colours)] = count
        return tuple(tokens)

    @cached_property
    def _may_hold(self) -> list[bool]:
        """Whether what the guard of each transition says of no variable is true."""
        nothing = [0] * len(self.coloured.variables)
        return [
            all(
                holds(part, nothing)
                for part in conjuncts(transition.guard)
                if next(variables_of(part), None) is None
            )
            for transition in self.coloured.transitions
        ]

    def _supports(self, state: Sequence[int]) -> dict[int, set[Colour]]:
        """Return the tuples that are marked in each place."""
        marked: dict[int, set[Colour]] = {
            place: set() for place in range(len(self.coloured.places))
        }
        for cell, count in enumerate(state):
            if count:
                place, colours = self.cells.split(cell)
                marked[place].add(colours)
        return marked

    def _steps(
        self,
        number: int,
        transition: ColouredTransition,
        state: Sequence[int],
        marked: Mapping[int, set[Colour]],
        admits: Admits | None = None,
    ) -> Iterator[Step | None]:
        """Yield the steps by a transition; None where a colour was tried in vain.

        `marked` are the tuples in each place.
        """
        domains = self._domains(number, transition, marked)
        if not self._may_hold[number] or not all(domains.values()):
            return
        for colours in bindings(self.coloured, transition, domains, marked, admits):
            if colours is None:
                yield None
            else:
                yield self._step(number, colours, transition, state)

    def _step(
        self,
        number: int,
        colours: Colour,
        transition: ColouredTransition,
        state: Sequence[int],
    ) -> Step | None:
        """Return the step by a move whose guard holds; None if it is not enabled.

        Raises
        ------
        UnsupportedError
            It subtracts what is not there.
        """
        binding = self.moves.binding(number, colours)
        pre, wrong = self.counted(transition.pre, binding)
        if any(state[cell] < weight for cell, weight in pre.items()):
            return None
        post, also_wrong = self.counted(transition.post, binding)
        for place in (*wrong, *also_wrong):
            if transition is not self.coloured.transitions[number]:
                return None  # backwards: it need not be reached
            raise UnsupportedError(self.refusal(number, colours, place))
        tokens = list(state)
        for cell, weight in pre.items():
            tokens[cell] -= weight
        for cell, weight in post.items():
            tokens[cell] += weight
        return Step(self.moves.number(number, colours), tuple(tokens))

    def refusal(self, number: int, colours: Colour, place: int) -> str:
        """Say that a move subtracts more than there is at a place."""
        return subtraction_message(self.coloured, self.file, number, colours, place)

    def _domains(
        self,
        number: int,
        transition: ColouredTransition,
        marked: Mapping[int, set[Colour]],
    ) -> dict[int, Sequence[int]]:
        """Return the colours that each variable of a transition can have.

        What is surely taken has to be marked.
        """
        pairs = zip(self.moves.variables[number], self.moves.sizes[number], strict=True)
        domains: dict[int, set[int]] = {v: set(range(size)) for v, size in pairs}
        for place, what in transition.pre:
            for tokens in surely_taken(what):
                for k, entry in enumerate(tokens.entries):
                    if isinstance(entry, Bound):
                        domains[entry.variable] &= {
                            (colours[k] - entry.shift) % entry.size
                            for colours in marked[place]
                        }
        return {variable: sorted(known) for variable, known in domains.items()}

    def _tokens(self, text: str) -> Expression | None:
        """Return the number of all tokens in a place."""
        place = self.place_names.known.get(text)
        if place is None:
            return None
        own = tuple(map(Variable, self.cells.range_of(place)))
        return own[0] if len(own) == 1 else Operation("+", own)

    def _move(self, text: str) -> int | None:
        """Return the move that a name means, if its guard holds."""
        move = self.move_names.number(text)
        return move if move is not None and self._guard_holds(move) else None

    def _taken(self, text: str) -> range | None:
        """Return the moves of a transition."""
        number = self.move_names.known.get(text)
        return None if number is None else self.moves.range_of(number)

    def _fireable(self, text: str) -> Expression | None:
        """Return when a transition, or a move, is enabled."""
        move = self._move(text)
        if move is not None:
            return self._condition(move)
        number = self.move_names.known.get(text)
        if number is None:
            return None
        if len(self.moves.range_of(number)) == 1:
            return Number(0)  # its guard does not hold
        return Enabled(number, partial(self.can_fire, number))

    def _condition(self, move: int) -> Expression:
        """Return the proposition that a move, whose guard holds, is enabled."""
        number, colours = self.moves.split(move)
        side = self.coloured.transitions[number].pre
        pre, wrong = self.counted(side, self.moves.binding(number, colours))
        return Number(0) if wrong else at_least(pre)


def symmetric_net(coloured: ColouredNet, file: str) -> Job[SymmetricNet | UnfoldedNet]:
    """Return the model of a symmetric net.

    It is unfolded here if its cells or moves are too many to have numbers.  With dots
    in ids, two nodes might have one id with colours: unfolding tells.

    Raises
    ------
    UnsupportedError
        It has to be unfolded, and is too large.
    """
    if len(Cells(coloured)) > MOST_CELLS or Moves(coloured).first[-1] > MOST_MOVES:
        return (yield from unfolding(coloured, file))
    net = SymmetricNet(coloured, file)
    if _ids_have_dots(coloured):
        yield from net.unfolding()
    return net


def _ids_have_dots(net: ColouredNet) -> bool:
    ids = [place.id for place in net.places]
    ids += [transition.id for transition in net.transitions]
    ids += [own for sort in net.sorts for own in sort.ids]
    return any("." in own for own in ids)
