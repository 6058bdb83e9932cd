"""What a worker process does for a batch run: it answers tasks (`answer_task`).

Systems stay loaded and kernels warm from task to task.  During a task, the worker
reports to `ltlpipe.batch.task_job`, which enforces the limits: when everything has been
read, when kernels are being compiled, the progress of a search.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.answering import Expected, Systems, answer
from ltlpipe.batch.task_data import answer_to_dict, task_from_dict
from ltlpipe.runtime.loading import hearers
from ltlpipe.runtime.shared_folder import SharedFolder, shared_through
from ltlpipe.runtime.worker_process import resident_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Progress

_TELL_SECONDS = 0.2  # how often progress is sent

_systems = Systems()


def answer_task(
    task: dict[str, Any],
    options: dict[str, Any],
    expected: list[Any] | None,
    run: str,
    folder: str | None = None,
    shared: list[Any] | None = None,
    *,
    tell: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Answer a task, for a worker.

    `task` and `expected` are as `ltlpipe.batch.task_data` writes them, `options` those
    of the run and of the task; between runs files may change.  Relative paths begin in
    `folder`, whatever the worker's own is: it may have been started for another run.
    `shared` is a folder of results that the processes of the run share, and how many
    bytes there may be.  `tell` accepts
    ``{"began": bytes held}``, ``{"compiling": bool}`` or ``{"states": int, "depth":
    int}``.
    """
    if folder is not None:
        with suppress(OSError):  # the paths will be missed
            os.chdir(folder)
    if run != _systems.run:
        _systems.run = run
        _systems.forget_digests()
    wanted = None
    if expected is not None:
        wanted = Expected(tuple(expected[0]), tuple(expected[1]))
    teller = _teller()
    teller.tell = tell
    place = None if shared is None else SharedFolder(*shared)
    try:
        with shared_through(place):
            found = answer(
                task_from_dict(task, _systems),
                _systems,
                options,
                expected=wanted,
                began=lambda: tell({"began": resident_bytes()}),
                progress=teller.progress,
            )
    finally:
        teller.tell = None
    return answer_to_dict(found)


class _Teller:
    """Tells how far the task is, and whether it waits for a compiler."""

    def __init__(self) -> None:
        self.tell: Callable[[dict[str, Any]], None] | None = None
        self._told = 0.0
        self._waits = False  # for kernels that another process compiles
        self._depth = 0  # of calls of Numba's compiler in this process

    def progress(self, progress: Progress) -> None:
        """Take how far the job is."""
        assert self.tell is not None
        waits = progress.compiling or progress.loading
        if waits != self._waits:
            self._note(self._depth, waits)
        if time.monotonic() - self._told >= _TELL_SECONDS:
            self._told = time.monotonic()
            self.tell({"states": progress.states or 0, "depth": progress.depth or 0})

    def step(self, change: int) -> None:
        """Receive that this process starts (1) or stops (-1) to compile or to load."""
        self._note(self._depth + change, self._waits)

    def _note(self, depth: int, waits: bool) -> None:
        before = bool(self._depth) or self._waits
        self._depth, self._waits = depth, waits
        after = bool(depth) or waits
        if after != before and self.tell is not None:
            self.tell({"compiling": after})


@cache
def _teller() -> _Teller:
    """Return the teller of this process, which hears of compiling and loading."""
    teller = _Teller()
    hearers.append(teller.step)
    return teller
