"""Progress bars: on standard error of a terminal, or below the cell of a notebook.

The bars are rich's.  On a terminal rich shows them, too; in a notebook it would need
ipywidgets, so there the display is updated here.  A bar is gone when its job has ended.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.arguments import TRUTH, expect, wrong_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 1.0
"""What takes less shows no bar, unless one was asked for."""

_REFRESH_SECONDS = 0.2


class SearchProgress:
    """Shows the progress of a job: its phase, and of searches states, rate, depth.

    `make` makes a `rich.progress.Progress` or a `_NotebookBar` when there is something
    to show, not before `patience` seconds; None shows nothing.
    """

    def __init__(
        self, make: Callable[[], Any] | None = None, patience: float = 0.0
    ) -> None:
        self._make = make
        self._bar: Any = None
        self._task: Any = None
        self._begun: tuple[str, int | None, int] = ("", None, 0)
        self._lines: list[Any] = []  # of workers
        self._labels: dict[Any, str] = {}
        self._hidden = False
        self._started = self._shown = time.monotonic()
        self._first = self._started + patience

    @property
    def is_wanted(self) -> bool:
        """Whether somebody can see it."""
        return self._make is not None

    def begin(self, label: str, total: int | None = None, done: int = 0) -> None:
        """Start to show another search."""
        self._started = time.monotonic()
        self._begun = (label, total, done)
        self._hidden = False
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        if self.is_wanted and self._started >= self._first:
            self._show(self._started)

    def show_workers(self, total: int, done: int, lines: list[tuple[str, str]]) -> None:
        """Show a run over many tasks, and a line for each of its workers.

        A line has the worker's task and its progress.
        """
        now = time.monotonic()
        if not self._is_due(now):
            return
        self._begun = ("tasks", total, done)
        bar = self._ready()
        rate = f"{done:,} of {total:,} tasks"
        bar.update(self._task, total=total, completed=done, rate=rate)
        while len(self._lines) > len(lines):
            bar.remove_task(self._lines.pop())
        while len(self._lines) < len(lines):
            self._lines.append(bar.add_task("", total=None, rate=""))
        for line, (label, rate) in zip(self._lines, lines, strict=True):
            if self._labels.get(line) != label:  # its clock begins anew
                bar.reset(line, total=None)
            self._labels[line] = label
            bar.update(line, description=f"  {label}", rate=rate)
        self._hidden = False
        self._show(now)

    def hide(self) -> None:
        """Hide the bar until the next search begins."""
        self._hidden = True
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Any) -> None:
        """Take how far a job is: a `ltlpipe.runtime.jobs.Progress`."""
        now = time.monotonic()
        if self._hidden or not self._is_due(now):
            return
        text = progress.phase
        if progress.states is not None:
            rate = progress.states / max(now - self._started, 1e-9)
            text += f": {progress.states:,} states, {rate:,.0f} per second"
        if progress.depth:
            text += f", depth {progress.depth:,}"
        self._ready().update(self._task, rate=text)
        self._show(now)

    def _is_due(self, now: float) -> bool:
        """Whether it is time to show something else than is there."""
        late = now - self._shown >= _REFRESH_SECONDS
        return self.is_wanted and late and now >= self._first

    def _ready(self) -> Any:
        """Return the bar, with a line for what has begun."""
        if self._bar is None:
            assert self._make is not None
            self._bar = self._make()
        if self._task is None:
            label, total, done = self._begun
            self._task = self._bar.add_task(label, total=total, completed=done, rate="")
        return self._bar

    def _show(self, now: float) -> None:
        self._shown = now
        bar = self._ready()
        bar.start()
        bar.refresh()


class _NotebookBar:
    """Shows a `rich.progress.Progress` below the cell that is being run."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._place: Any = None  # IPython's handle of what is displayed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bar, name)  # its tasks

    def start(self) -> None:
        """Do nothing: `refresh` shows the bar."""

    def refresh(self) -> None:
        from IPython import display as shown

        display: Any = shown

        if self._place is None:
            self._place = display.display(self._bar, display_id=True)
        else:
            self._place.update(self._bar)

    def stop(self) -> None:
        """Take the bar away."""
        if self._place is not None:
            self._place.update({"text/plain": "", "text/html": ""}, raw=True)


def _in_notebook() -> bool:
    """Whether the code runs in a kernel of Jupyter; IPython is not loaded for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Shown(threading.local):
    """Whether a bar is shown in this thread, or was refused: then no other is."""

    busy = False


_shown = _Shown()


@contextmanager
def search_bar(wanted: bool | None) -> Iterator[SearchProgress]:
    """Show progress while the block runs, if asked to and if the stream is a terminal.

    None is for callers who have not said whether they want it: a notebook shows it once
    it has taken `PATIENCE_SECONDS`, unless a bar is there already.
    """
    expect(TRUTH.or_none, progress=wanted)
    before, notebook = _shown.busy, _in_notebook()
    make = None
    if notebook and (wanted or (wanted is None and not before)):
        make = lambda: _NotebookBar(_rich_bar())  # noqa: E731
    elif wanted and sys.stderr is not None and sys.stderr.isatty():
        make = _rich_bar
    progress = SearchProgress(make, PATIENCE_SECONDS if wanted is None else 0.0)
    _shown.busy = before or wanted is not None or progress.is_wanted
    try:
        yield progress
    finally:
        _shown.busy = before
        progress.hide()


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    # Refreshed by the search itself: a thread would be one more to fork around.
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,  # it would end on standard error
    )


@contextmanager
def observing(
    progress: Callable[[Any], None] | bool | None,
) -> Iterator[Callable[[Any], None] | None]:
    """Give the observer that a parameter `progress` asks for.

    A callable is one; otherwise see `search_bar`.  None if nothing is to be shown.
    """
    if callable(progress):
        yield progress
        return
    if not TRUTH.or_none.fits(progress):
        raise wrong_kind("progress", "a callable, True, False or None", progress)
    with search_bar(progress) as bar:
        yield bar if bar.is_wanted else None
