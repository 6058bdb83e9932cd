"""Firing the transitions of a symmetric net, forwards and backwards.

A move is a transition under a binding; nothing is unfolded: bindings are found from
the tokens of a marking (`ltlpipe.systems.nets.coloured.bindings`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.models import Step
from ltlpipe.systems.nets.coloured.bindings import bindings, domains
from ltlpipe.systems.nets.coloured.cells import Cells, Moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.coloured.bindings import Admits
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
    )


class Firing:
    """What is enabled in the markings of a symmetric net.

    Parameters
    ----------
    coloured : ColouredNet
        The net.
    file : str
        What messages name.

    Attributes
    ----------
    cells, moves : Cells, Moves
        The entries of a marking, and what can be taken.
    """

    def __init__(self, coloured: ColouredNet, file: str) -> None:
        self.coloured = coloured
        self.cells = Cells(coloured)
        self.moves = Moves(coloured)
        self._file = file

    def each_step_onto(
        self, state: Valuation, admits: Admits | None = None
    ) -> Iterator[Step | None]:
        """Yield the steps that lead to a marking, with the markings before them.

        None is yielded where a colour has been tried in vain; `admits` is that of
        `ltlpipe.systems.nets.coloured.bindings.bindings`.
        """
        marked = self._marked(state)
        for number, transition in enumerate(self.coloured.transitions):
            turned = transition._replace(pre=transition.post, post=transition.pre)
            yield from self._steps(number, turned, state, marked, admits)

    def is_dead(self, state: Sequence[int]) -> bool:
        """Whether no transition can be taken."""
        return not any(
            self.can_fire(k, state) for k in range(len(self.moves.variables))
        )

    def can_fire(self, number: int, state: Sequence[int]) -> bool:
        """Whether a transition can be taken under some binding."""
        transition = self.coloured.transitions[number]
        steps = self._steps(number, transition, state, self._marked(state))
        return any(step is not None for step in steps)

    def _marked(self, state: Sequence[int]) -> dict[int, set[Colour]]:
        """Return the tuples that are in each place."""
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

        Parameters
        ----------
        number : int
            Of the transition in the net; `transition` may be turned round.
        marked : mapping
            The tuples in each place.

        Raises
        ------
        UnsupportedError
            A step subtracts what is not there.
        """
        support = {
            place: [set(colours) for colours in zip(*own, strict=True)]
            for place, own in marked.items()
            if own
        }
        known = domains(self.coloured, transition, support)
        if known is None:
            return
        for colours in bindings(self.coloured, transition, known, marked, admits):
            if colours is None:
                yield None
                continue
            binding = self.moves.binding(number, colours)
            pre, wrong = self.cells.counted(transition.pre, binding)
            if any(state[cell] < weight for cell, weight in pre.items()):
                yield None
                continue
            post, also_wrong = self.cells.counted(transition.post, binding)
            wrong += also_wrong
            if not wrong:
                tokens = list(state)
                for cell, weight in pre.items():
                    tokens[cell] -= weight
                for cell, weight in post.items():
                    tokens[cell] += weight
                yield Step(self.moves.number(number, colours), tuple(tokens))
            elif transition is self.coloured.transitions[number]:
                what = self.moves.refusal(self._file, number, colours, wrong[0])
                raise UnsupportedError(what)
            else:
                yield None  # backwards: it need not be reached
