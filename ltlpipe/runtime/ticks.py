"""Work meter: tells a loop in Python when to yield."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TURN = 20_000
"""Units of work (microseconds, roughly) after which a loop yields."""


class Ticks:
    """Counts the work of loops, so that they yield often enough and not too often.

    Use it as ``yield from ticks.worked()``; where an iteration takes less than a
    microsecond, or what the job holds is told, as ``if ticks.over(): yield
    ticks.progress``.

    Parameters
    ----------
    phase : str
        Of the progress.
    unit_work : float
        Microseconds of one iteration, roughly.
    memory_bytes : float
        What the job holds.
    """

    def __init__(
        self, phase: str, unit_work: float = 1.0, memory_bytes: float = 0
    ) -> None:
        self.phase = phase
        self.unit_work = unit_work
        self.memory_bytes = memory_bytes
        self._work = 0.0

    def worked(self, n: float = 1) -> Iterable[Progress]:
        """Count `n` iterations; return what to yield: the progress if it is time."""
        self._work += n * self.unit_work
        return self._pause() if self._work >= _TURN else ()

    def _pause(self) -> Iterator[Progress]:
        yield self.progress  # a generator, as jobs are sent what they are granted

    def over(self, n: float = 1) -> bool:
        """Count `n` iterations; return whether it is time to yield."""
        self._work += n * self.unit_work
        return self._work >= _TURN

    @property
    def progress(self) -> Progress:
        """What to yield; counting begins anew."""
        work, self._work = self._work, 0.0
        return Progress(self.phase, work=work, memory_bytes=self.memory_bytes)
