"""What a property sees of the steps of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import uses_step
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.propositions.evaluating import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression

MAX_PROPOSITIONS = 20
"""Propositions of one property: every set of them is a letter."""


def refuse_too_many(n_propositions: int) -> None:
    """Raise UnsupportedError if a property has too many propositions."""
    if n_propositions > MAX_PROPOSITIONS:
        raise UnsupportedError(
            f"the property has {n_propositions} propositions about states, the largest "
            f"parts without temporal operators: the limit is {MAX_PROPOSITIONS}"
        )


class Letters:
    """What a property sees of a model: bit k is set where its proposition k holds."""

    def __init__(self, propositions: Sequence[Expression]) -> None:
        bits = [(1 << k, meaning) for k, meaning in enumerate(propositions)]
        self._of_steps = [(bit, p) for bit, p in bits if uses_step(p)]
        self._of_states = [(bit, p) for bit, p in bits if not uses_step(p)]

    def of_state(self, state: Sequence[int], *, dead: bool = False) -> int:
        """Return the bits that all steps of a valuation have."""
        return _holding(self._of_states, state, None, dead=dead)

    def of_step(self, state: Sequence[int], action: int) -> int:
        """Return the other bits of a step; the action is -1 for a repetition."""
        dead = action < 0
        taken = None if dead else action
        return _holding(self._of_steps, state, taken, dead=dead)

    def of(self, state: Sequence[int], action: int) -> int:
        """Return the letter of a step; the action is -1 for a repetition."""
        return self.of_state(state, dead=action < 0) | self.of_step(state, action)


def _holding(
    propositions: list[tuple[int, Expression]],
    state: Sequence[int],
    action: int | None,
    *,
    dead: bool,
) -> int:
    """Return the bits of the propositions that hold."""
    held = 0
    for bit, meaning in propositions:
        if evaluate(meaning, state, action=action, dead=dead):
            held |= bit
    return held
