"""Progress bars: on standard error, and only if that is a terminal."""

from __future__ import annotations

import sys
import time
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import LtlpipeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Progress

_REFRESH_SECONDS = 0.2


class SearchProgress:
    """Shows how a job is getting on: its phase, and of searches states, rate, depth.

    `bar` is a `rich.progress.Progress`, or None to show nothing.
    """

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task: Any = None
        self._lines: list[Any] = []  # of workers
        self._labels: dict[Any, str] = {}
        self._started = self._shown = time.monotonic()

    def begin(self, label: str, total: int | None = None, done: int = 0) -> None:
        """Start to show another search."""
        self._started = self._shown = time.monotonic()
        if self._bar is None:
            return
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(label, total=total, completed=done, rate="")
        self._bar.start()
        self._bar.refresh()

    def show_workers(self, total: int, done: int, lines: list[tuple[str, str]]) -> None:
        """Show a run over many tasks, and a line for each of its workers.

        A line is what a worker is at, and how it gets on.
        """
        now = time.monotonic()
        if self._bar is None or now - self._shown < _REFRESH_SECONDS:
            return
        self._shown = now
        if self._task is None:
            self._task = self._bar.add_task("tasks", rate="")
        self._bar.update(
            self._task, total=total, completed=done, rate=f"{done:,} of {total:,} tasks"
        )
        while len(self._lines) > len(lines):
            self._bar.remove_task(self._lines.pop())
        while len(self._lines) < len(lines):
            self._lines.append(self._bar.add_task("", total=None, rate=""))
        for line, (label, rate) in zip(self._lines, lines, strict=True):
            if self._labels.get(line) != label:  # its clock begins anew
                self._bar.reset(line, total=None)
            self._labels[line] = label
            self._bar.update(line, description=f"  {label}", rate=rate)
        self._bar.start()
        self._bar.refresh()

    def hide(self) -> None:
        """Leave the terminal to others until the next search begins."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Take how far a job is."""
        now = time.monotonic()
        if self._bar is None or now - self._shown < _REFRESH_SECONDS:
            return
        self._shown = now
        text = progress.phase
        if progress.states is not None:
            rate = progress.states / max(now - self._started, 1e-9)
            text += f": {progress.states:,} states, {rate:,.0f} per second"
        if progress.depth:
            text += f", depth {progress.depth:,}"
        self._bar.update(self._task, rate=text)
        self._bar.refresh()


class RunWatcher:
    """Shows the searches of a run over many tasks on one bar, and says what fails."""

    def __init__(self, progress: SearchProgress) -> None:
        self.progress: SearchProgress = progress
        self._said = ""

    def complain(self, error: Exception) -> None:
        """Print an error; the same one in a row is printed once."""
        message = f"error: {error}"
        if not isinstance(error, LtlpipeError):
            traceback.print_exception(error)
            print("error: this is a bug of ltlpipe; please report it", file=sys.stderr)
        elif message != self._said:
            print(message, file=sys.stderr)
        self._said = message


@contextmanager
def search_progress(*, quiet: bool) -> Iterator[SearchProgress]:
    """Show progress while the block runs, if there is somebody to see it."""
    if quiet or not sys.stderr.isatty():
        yield SearchProgress(None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    # Refreshed by the search itself: a thread would be one more to fork around.
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,  # it would end on standard error
    ) as bar:
        yield SearchProgress(bar)
