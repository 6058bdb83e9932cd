"""What workers do in tests; `these_operations` makes them known."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ltlpipe.runtime import worker_process, workers

PLACE = "tests.runtime.worker_operations"


def known_to_workers(also=""):
    """Return the start of workers that know the functions of this module.

    Before they answer they do what `also` says.
    """
    folder = str(Path(__file__).parents[2])
    names = [name for name, value in globals().items() if callable(value)]
    return worker_process._START.replace(
        "main(int",
        f"sys.path.append({folder!r})\n"
        f"from ltlpipe.worker import OPERATIONS\n"
        f"OPERATIONS.update({{n: {PLACE + ':'!r} + n for n in {names!r}}})\n"
        f"{also}\n"
        "main(int",
    )


@contextmanager
def these_operations(also=""):
    """Have the workers of this block know the functions of this module."""
    workers.close_idle()
    start, worker_process._START = worker_process._START, known_to_workers(also)
    try:
        yield
    finally:
        workers.close_idle()
        worker_process._START = start


def echo(value):
    return value


def pid():
    return os.getpid()


def folder():
    return str(Path.cwd())


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def hold_lock():
    """Work in C for ever without giving up the interpreter's lock."""
    sum(range(10**18))


def with_child():
    """Yield the id of a child process, and wait for it for ever."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    yield child.pid
    child.wait()


def count(n, then="") -> Iterator[int]:
    yield from range(n)
    if then == "sleep":
        time.sleep(1000)
    if then == "fail":
        raise ValueError("no more")


def fail(kind):
    from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError

    if kind == "formula":
        raise FormulaError("bad", formula="a U", position=3, file="f.ltl", line=2)
    if kind == "input":
        raise InputError("bad", file="x.hoa", line=7)
    if kind == "unsupported":
        raise UnsupportedError("use something else")
    if kind == "memory":
        raise MemoryError
    return 1 // 0


def die(status):
    if status < 0:
        signal.raise_signal(-status)
    os._exit(status)


def hold(n_bytes, seconds=0.0):
    data = b"x" * n_bytes
    time.sleep(seconds)
    return len(data)


_KEPT = []


def keep(n_bytes):
    _KEPT.append(b"x" * n_bytes)


def file_of(module):
    return __import__(module).__file__


def is_imported(module):
    return module in sys.modules


def misbehave(item) -> Iterator[int]:
    """Count up to the item; negative ones misbehave after the first part."""
    from ltlpipe.runtime.errors import UnsupportedError

    yield os.getpid()
    if item == -1:
        time.sleep(60)
    if item == -2:
        raise UnsupportedError("no")
    if item == -3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == -4:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == -5:
        raise MemoryError
    yield from range(item)
