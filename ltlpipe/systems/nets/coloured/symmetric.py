"""A symmetric net as a model: markings of colours, and steps under bindings.

Nothing is unfolded: the variables are the cells (`ltlpipe.systems.nets.coloured.cells`)
and the actions the moves, whose names and steps are made when they are asked for.
What propositions name is in `ltlpipe.systems.nets.coloured.vocabulary`.

Searches state by state take the place/transition net that `SymmetricNet.unfolding`
makes, once.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ltlpipe.logic.propositions.syntax import Enabled, Number
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.bindings import Firing
from ltlpipe.systems.nets.coloured.cells import Cells, Moves
from ltlpipe.systems.nets.coloured.interpreter import Interpreter
from ltlpipe.systems.nets.coloured.merging import merging
from ltlpipe.systems.nets.coloured.skeleton import BareNet, skeleton
from ltlpipe.systems.nets.coloured.unfolding import TooLargeNetError, unfolding
from ltlpipe.systems.nets.coloured.vocabulary import Coloured
from ltlpipe.systems.nets.net import at_least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Step, Valuation
    from ltlpipe.systems.nets.coloured.merging import MergedNet
    from ltlpipe.systems.nets.coloured.net import ColouredNet
    from ltlpipe.systems.nets.coloured.unfolding import UnfoldedNet

MOST_CELLS = 1 << 17
"""Cells of a net that need not be unfolded: entries of each marking."""

FEW = 10_000
"""Cells and moves of a net that is unfolded in passing."""

MOST_MOVES = 1 << 62
"""Moves of such a net: they have numbers of 64 bits."""


class SymmetricNet(Coloured):
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
    firing : Firing
        What is enabled, forwards and backwards, for the search of sets of markings.
    interpreter : Interpreter
        What is enabled, and which propositions hold, for everything else.
    """

    def __init__(self, coloured: ColouredNet, file: str | None = None) -> None:
        self.coloured = coloured
        self.name = coloured.name
        self.file = file or coloured.name
        self.firing = Firing(coloured, self.file)
        self.interpreter = Interpreter(coloured)
        marked = self.cells.initial(self.file)
        self._initial = tuple(marked.get(cell, 0) for cell in range(len(self.cells)))
        self._made: dict[Any, Any] = {}  # of it, or errors

    def _sizes(self) -> dict[str, int]:
        net = self.coloured
        return {"place": len(net.places), "transition": len(net.transitions)}

    @cached_property
    def variables(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the cells."""
        return tuple(self.place_names)

    @property
    def actions(self) -> Sequence[str]:  # type: ignore[override]
        """The names of the moves."""
        return self.move_names  # type: ignore[return-value]

    def can_act(self, action: int) -> Expression:
        """Return the proposition that a move, whose guard holds, is enabled."""
        number, colours = self.moves.split(action)
        binding = self.moves.binding(number, colours)
        side = self.coloured.transitions[number].pre
        pre, wrong = self.cells.counted(side, binding)
        return Number(0) if wrong else at_least(pre)

    def can_fire(self, transition: int) -> Expression:
        """Return the proposition that a transition is enabled under some binding."""
        if not self.moves.variables[transition]:
            (move,) = self.moves.range_of(transition)
            if self.moves.guard_holds(move):
                return self.can_act(move)
        return Enabled(transition, partial(self.firing.can_fire, transition))

    def initial(self) -> Valuation:
        """Return the initial marking."""
        return self._initial

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the tokens by the names of their places."""
        return dict(zip(self.variables, state, strict=True))

    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a marking, transition by transition."""
        return self.interpreter.each_step(state)

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield the step of a marking by a move, if it is enabled."""
        return self.interpreter.steps_by(state, action)

    @property
    def step_work(self) -> float:
        """Microseconds that the step by one move takes, roughly."""
        return 20.0 + 0.2 * len(self.cells)

    def unfolding(self) -> Job[UnfoldedNet]:
        """Return the net unfolded, once.

        Raises
        ------
        UnsupportedError
            It is too large.
        """
        found: UnfoldedNet = yield from self._once(unfolding)
        return found

    @property
    def is_small(self) -> bool:
        """Whether unfolding it takes little time."""
        return bool(self.cells.first[-1] + self.moves.first[-1] <= FEW)

    @property
    def is_unfolded(self) -> bool:  # type: ignore[override]
        """Whether `unfolding` has been tried."""
        return unfolding in self._made

    def merging(self) -> Job[MergedNet | None]:
        """Return the net with merged colours, once; None if it tells all of them apart.

        Raises
        ------
        UnsupportedError
            It is too large even so.
        """
        found: MergedNet | None = yield from self._once(merging)
        return found

    def _once(self, make: Callable[[ColouredNet, str], Job[Any]]) -> Job[Any]:
        """Return what is made of the net, or raise again what was raised."""
        if make not in self._made:
            try:
                self._made[make] = yield from make(self.coloured, self.file)
            except UnsupportedError as error:
                self._made[make] = error
        found = self._made[make]
        if isinstance(found, UnsupportedError):
            raise found
        return found

    def unfolded_run(
        self, unfolded: UnfoldedNet, actions: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return moves and markings as transitions and markings of the unfolded net.

        They can be reached, so it has them.
        """
        own = [-1 if k < 0 else unfolded.action_of(k) for k in actions.tolist()]
        return np.array(own, dtype=np.int64), states[:, unfolded.kept_cells]

    def refolded(
        self, unfolded: UnfoldedNet, actions: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return transitions and markings of the unfolded net as moves and markings."""
        moves = np.array([*unfolded.kept_moves, -1])  # -1 repeats a marking
        tokens = np.zeros((len(states), len(self.cells)), dtype=np.int64)
        tokens[:, unfolded.kept_cells] = states
        return moves[actions], tokens

    def pack(self, *_: Any, **__: Any) -> NoReturn:
        """Fail: it is the unfolded net that is packed."""
        raise TypeError("a symmetric net is packed unfolded")


def symmetric_net(
    coloured: ColouredNet, file: str
) -> Job[SymmetricNet | UnfoldedNet | BareNet]:
    """Return the model of a symmetric net.

    It is unfolded here if its cells or moves are too many to have numbers; where it is
    too large for that, the model is what is left without colours.  With dots in ids,
    two nodes might have one id with colours: unfolding tells.

    Raises
    ------
    UnsupportedError
        It has to be unfolded, and is too large.
    """
    if Cells(coloured).first[-1] > MOST_CELLS or Moves(coloured).first[-1] > MOST_MOVES:
        try:
            return (yield from unfolding(coloured, file))
        except TooLargeNetError as error:
            bare = yield from skeleton(coloured, Ticks("forgetting colours"))
            if bare is None:
                raise
            return BareNet(bare, error)
    net = SymmetricNet(coloured, file)
    if _ids_have_dots(coloured):
        yield from net.unfolding()
    return net


def _ids_have_dots(net: ColouredNet) -> bool:
    ids = [place.id for place in net.places]
    ids += [transition.id for transition in net.transitions]
    ids += [own for sort in net.sorts for own in sort.ids]
    return any("." in own for own in ids)
