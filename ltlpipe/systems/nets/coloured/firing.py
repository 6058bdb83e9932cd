"""Firing the transitions of a symmetric net, forwards and backwards.

A move is a transition under a binding; nothing is unfolded: bindings are found from
the tokens of a marking (`ltlpipe.systems.nets.coloured.bindings`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.models import Step
from ltlpipe.systems.nets.coloured.bindings import (
    SubtractionError,
    bindings,
    conjuncts,
    counted,
    holds,
    surely_taken,
)
from ltlpipe.systems.nets.coloured.cells import Cells, Moves
from ltlpipe.systems.nets.coloured.net import Bound, variables_of
from ltlpipe.systems.nets.coloured.unfolding import subtraction_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.coloured.bindings import Admits
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Multiset,
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

    def guard_holds(self, move: int) -> bool:
        """Whether the guard of a transition holds under the binding of a move."""
        number, colours = self.moves.split(move)
        guard = self.coloured.transitions[number].guard
        return holds(guard, self.moves.binding(number, colours))

    def each_step_onto(
        self, state: Valuation, admits: Admits | None = None
    ) -> Iterator[Step | None]:
        """Yield the steps that lead to a marking, with the markings before them.

        None is yielded where a colour has been tried in vain; `admits` is that of
        `ltlpipe.systems.nets.coloured.bindings.bindings`.
        """
        marked = self._supports(state)
        for number, transition in enumerate(self.coloured.transitions):
            turned = transition._replace(pre=transition.post, post=transition.pre)
            yield from self._steps(number, turned, state, marked, admits)

    def is_dead(self, state: Sequence[int]) -> bool:
        """Whether no transition can be taken."""
        return not any(
            self.can_fire(number, state) for number in range(len(self.moves.variables))
        )

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
        return subtraction_message(self.coloured, self._file, number, colours, place)

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
