"""What a property tells of the steps of a symmetric net.

Propositions about steps exclude each other mostly: a step is of one transition, under
one binding.  Each transition that the property names is a *kind* of its own; all
others, and a marking that repeats itself, are kind 0.  A letter of the symbolic product
is a letter of the property, with the kind of the step in the bits above.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.logic.propositions.syntax import Taken, ranges_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.coloured.cells import Moves


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

    def letter(self, step: Step, letters: np.ndarray) -> np.ndarray:
        """Return letters of the property as those of the product."""
        return letters | (step.kind << self.n_propositions)


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
