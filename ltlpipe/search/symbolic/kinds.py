"""What a property tells of the steps of a symmetric net.

Propositions about steps exclude each other mostly: a step is of one transition, under
one binding.  Each transition that the property names is a *kind* of its own; all
others, and a marking that repeats itself, are kind 0.  A letter of the symbolic product
is a letter of the property, with the kind of the step in the bits above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import Taken
from ltlpipe.systems.propositions.tables import taken_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.pnml.coloured.unfolded import UnfoldedNet


class Step(NamedTuple):
    """Steps of one kind that make the same propositions true.

    `taken` are these, as bits.  `about` tells which steps they are: these, or where
    they make nothing true, all others of the kind; None of kind 0.  `number` counts
    those that tell something, -1 is kind 0.
    """

    kind: int
    taken: int
    about: Taken | None
    number: int


class Kinds(NamedTuple):
    """The kinds of steps; `of_transition` has that of each coloured transition."""

    n_propositions: int
    about_steps: int  # the propositions about steps, as bits
    of_transition: list[int]
    steps: list[Step]

    @property
    def n_letters(self) -> int:
        """The number of letters of the product."""
        return (1 + max(self.of_transition, default=0)) << self.n_propositions

    def letter(self, step: Step, letters: np.ndarray) -> np.ndarray:
        """Return letters of the property as those of the product."""
        return letters | (step.kind << self.n_propositions)


def kinds_of(net: UnfoldedNet, propositions: Sequence[Expression]) -> Kinds:
    """Return the kinds of steps that propositions, bound to the net, tell apart."""
    bits = taken_bits(propositions, len(net.transitions))
    about_steps = sum(
        1 << bit for bit, part in enumerate(propositions) if isinstance(part, Taken)
    )
    steps = [Step(0, 0, None, -1)]
    of_transition = []
    kind = 0
    for own in net.transition_ranges:
        told = bits[own.start : own.stop]
        if not told.any():
            of_transition.append(0)
            continue
        kind += 1
        of_transition.append(kind)
        for taken in sorted({0, *told.tolist()}):
            which = told == taken if taken else told != 0
            actions = (own.start + np.flatnonzero(which)).tolist()
            about = Taken(frozenset(actions))
            steps.append(Step(kind, taken, about, len(steps) - 1))
    return Kinds(len(propositions), about_steps, of_transition, steps)
