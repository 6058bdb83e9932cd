"""The progress reports of the jobs in this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.jobs import Progress, guided

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Grant, Job, Result

COMPONENTS = "reducing components"
FACTORING = "factoring components"
SYMMETRY = "finding symmetry"
TRIMMING = "trimming alphabets"
STATIC = "analysing the model"
"""Phases."""

MANY = 1 << 14
"""Array entries from which on a job yields between two operations on them."""

ENTRY_WORK = 1 / 16
"""Units of work of an array operation per entry; sorting takes no longer."""


_MEASURED = 0.2  # seconds of whole reductions by what their parts are said to take

ITEMS = 1 << 12
"""Items that a loop in Python looks at until the next progress."""


def reducing(work: float, memory_bytes: float = 0) -> Progress:
    """Return a progress in the phase of component reduction."""
    return Progress(COMPONENTS, work * _MEASURED, memory_bytes)


def factoring(work: float, memory_bytes: float = 0) -> Progress:
    """Return a progress in the phase in which components are factored."""
    return Progress(FACTORING, work, memory_bytes)


def counting(items: float) -> Progress:
    """Return a progress of the analysis of a model, after so many items in Python."""
    return Progress(STATIC, items)


def holding(job: Job[Result], n_bytes: float) -> Job[Result]:
    """Advance a job for a caller that holds `n_bytes` itself."""

    def turn(progress: Progress) -> Job[Grant]:
        held = progress.memory_bytes + n_bytes
        grant = yield progress._replace(memory_bytes=held)
        return grant._replace(memory_bytes=grant.memory_bytes - n_bytes)

    return guided(job, turn)
