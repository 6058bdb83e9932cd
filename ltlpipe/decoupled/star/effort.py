"""What may be spent on finding a star."""

from __future__ import annotations

from ltlpipe.components.progress import STATIC
from ltlpipe.runtime.ticks import Ticks

_LOOK_WORK = 15.0  # microseconds


class SpentError(Exception):
    """All effort is spent; says how much."""


class Effort:
    """What may still be spent on a model, and when to yield.

    Parameters
    ----------
    looks : int
        Looks at actions in local states.
    """

    def __init__(self, looks: int) -> None:
        self.ticks = Ticks(STATIC, _LOOK_WORK)
        self._most = looks
        self._left: float = looks

    def over(self, looks: float = 1) -> bool:
        """Count looks; return whether it is time to yield."""
        self._left -= looks
        return self.ticks.over(looks)

    def check(self) -> None:
        """Raise `SpentError` if all is spent."""
        if self._left < 0:
            raise SpentError(f"{self._most:,} looks at actions have shown no star")
