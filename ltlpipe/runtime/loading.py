"""Loading modules and machine code: how long it takes, and one thread at a time.

Loading is not the question's work.  Each thread has a watch for it, which also counts
what Numba compiles there; `working_time` is a clock that stands still meanwhile.

Several threads may ask their first question at once.  None trusts a module that another
is still importing, and Numba is imported by one thread at a time (`ALONE`): its modules
import each other in circles, and LLVM's lock is lost if one of them is half there.

A process may be forked while other threads are at work.  A copy of a lock that one of
them holds would never be released, so a fork waits until each of them is between two
pieces of work (`busy`): steps of jobs, imports.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from functools import cache
from importlib.machinery import PathFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALONE = threading.RLock()
"""Held while Numba is imported, and never while a module of this package is."""

_MOST_WAIT = 60.0  # seconds that a fork waits for other threads


class _Watch(threading.local):
    """What a thread has spent on loading and on compiling, and what it is at."""

    loaded = compiled = 0.0  # seconds
    depth = compiling = 0
    compiling_since = 0.0
    busy = 0  # how deep it is in blocks of `busy`


_watch = _Watch()

hearers: list[Callable[[int], None]] = []
"""Told when this process begins (1) and ends (-1) to load or to compile."""


def _tell(change: int) -> None:
    for heard in hearers:
        heard(change)


@contextmanager
def loading() -> Iterator[None]:
    """Count the block as loading, without what is compiled in it."""
    if _watch.depth or _watch.compiling:
        yield
        return
    _watch.depth, began = 1, working_time()
    _tell(1)
    try:
        yield
    finally:
        _watch.loaded += working_time() - began
        _watch.depth = 0
        _tell(-1)


def note_compiler(change: int) -> None:
    """Note that Numba begins (1) or ends (-1) to compile, also within itself."""
    if change > 0 and not _watch.compiling:
        _watch.compiling_since = time.monotonic()
    _watch.compiling += change
    if not _watch.compiling:
        _watch.compiled += time.monotonic() - _watch.compiling_since
    _tell(change)


def spent() -> tuple[float, float]:
    """Return the seconds that this thread has loaded, and that it has compiled."""
    return _watch.loaded, _watch.compiled


def working_time() -> float:
    """Return the time of a clock that stops while this thread loads or compiles."""
    return time.monotonic() - _watch.loaded - _watch.compiled


def is_loaded(name: str) -> bool:
    """Whether a module has been imported to its end."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


# --- forks --------------------------------------------------------------------


class _Forks:
    """Threads at work, and threads that fork the process."""

    def __init__(self, n_busy: int = 0) -> None:
        self.changed = threading.Condition()
        self.n_busy = n_busy
        self.n_forking = self.n_busy_forking = 0


_forks = _Forks()


@contextmanager
def busy(*, waits: bool = True) -> Iterator[None]:
    """Let no other thread fork this process during the block.

    Whether it waits first for threads that want to fork: not where it holds a lock that
    others at work may need.
    """
    if not _watch.busy:
        with _forks.changed:
            if waits:
                _forks.changed.wait_for(lambda: not _forks.n_forking, _MOST_WAIT)
            _forks.n_busy += 1
    _watch.busy += 1
    try:
        yield
    finally:
        _watch.busy -= 1
        if not _watch.busy:
            with _forks.changed:
                _forks.n_busy -= 1
                _forks.changed.notify_all()


def _before_fork() -> None:
    _forks.changed.acquire()
    _forks.n_forking += 1
    _forks.n_busy_forking += bool(_watch.busy)
    _forks.changed.notify_all()
    _forks.changed.wait_for(lambda: _forks.n_busy <= _forks.n_busy_forking, _MOST_WAIT)


def _after_fork() -> None:
    _forks.n_forking -= 1
    _forks.n_busy_forking -= bool(_watch.busy)
    _forks.changed.notify_all()
    _forks.changed.release()


def _after_fork_in_child() -> None:
    global _forks
    _forks = _Forks(n_busy=int(bool(_watch.busy)))
    # A thread that is not here may have been looking for a module, not at work yet.
    bootstrap: Any = getattr(importlib, "_bootstrap", None)
    locks = getattr(bootstrap, "_module_locks", {})
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner not in (None, threading.get_ident()):
            locks.pop(name, None)
            if not is_loaded(name):
                sys.modules.pop(name, None)


@cache
def guard_forks() -> None:
    """Have each fork of this process wait for threads at work.

    Those that register last are called first: what takes a lock for the time of a fork
    has to be imported before, or a thread at work could wait for that lock.
    """
    for name in ("logging", "concurrent.futures.thread"):
        importlib.import_module(name)
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork,
        after_in_child=_after_fork_in_child,
    )


# --- modules of this package --------------------------------------------------


class _Finder:
    """Counts the import of modules of this package and Spot, with what they import."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] not in ("ltlpipe", "spot"):
            return None
        guard_forks()
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = None if spec is None else spec.loader
        if type(loader) is SourceFileLoader:
            run_module = loader.exec_module

            def run_counted(module: Any) -> None:
                with loading(), busy(waits=False):  # the module's lock is held
                    if name != "spot":
                        run_module(module)
                        return
                    with warnings.catch_warnings():  # SWIG's crash as errors
                        warnings.simplefilter("ignore")
                        run_module(module)

            vars(loader)["exec_module"] = run_counted
        return spec


def count_imports() -> None:
    """Count as loading what is imported of this package from now on."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
