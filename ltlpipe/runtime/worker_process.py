"""One worker process, and what Linux tells of processes (`ltlpipe.runtime.workers`).

What processes and their descendants use: CPU time and memory, from ``/proc``.

Without ``/proc`` all functions return None or nothing.

Locks of kernels, between processes: waiting for one has an end.

The number of the process that has a lock is in its file.  A process that is suspended
keeps its locks, so whoever waits looks at the CPU time of that process.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import open_standard_streams
from ltlpipe.runtime.folders import cache_folder
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.wire import Message, Receiver

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

MOST_GROWTH = 64 << 20
"""Bytes by which a worker may grow from its first answer on before it is replaced:
Spot's tables only ever grow."""

ENDING = (signal.SIGINT, signal.SIGTERM)
"""Signals that workers ignore: their parent decides."""

IDLE_SECONDS = 5.0
"""For so long a process may do nothing before it is not waited for."""

_PATIENCE = 5.0  # seconds that a process that has closed its socket may take to end
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_SHOWN = 4000  # characters of what a worker that could not start has printed

# The package is loaded from where this one is; nothing is looked for beside it unless
# it is nowhere else.
_START = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
package, descriptor, parent, *folders = sys.argv[1:]
sys.path += folders
spec = spec_from_file_location(
    "ltlpipe", package + "/__init__.py", submodule_search_locations=[package]
)
sys.modules["ltlpipe"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
from ltlpipe.worker import main
main(int(descriptor), int(parent))
"""


class WorkerDiedError(Exception):
    """A worker ended before it had answered.

    `status` is its exit status, -9 for SIGKILL, None if it is not known; `printed` is
    the end of what it has printed.
    """

    def __init__(self, status: int | None, printed: str) -> None:
        self.status, self.printed = status, printed
        super().__init__(f"a worker process ended (exit status {status})")

    def translated(self, subject: str) -> Exception:
        """Return what `call` raises if `subject` was at work."""
        if self.status in (None, 0, -signal.SIGKILL):  # so the system does, if full
            return StoppedError(MEMORY)
        if self.status == 1 and self.printed:
            return RuntimeError(f"a worker could not go on:\n{self.printed}")
        return UnsupportedError(
            f"{subject} crashed on this (exit status {self.status})"
        )


class Worker:
    """A process that answers one request at a time; use `call`."""

    def __init__(self) -> None:
        open_standard_streams()
        self._connection, self._theirs = socket.socketpair()
        self._connection.setblocking(False)
        self._receiver = Receiver(self._connection)
        self._started = threading.Event()
        self._error: OSError | None = None
        self._process: subprocess.Popen[bytes]
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115
        self._owner = os.getpid()
        self._cpu_seconds = 0.0
        self._first_bytes: int | None = None  # held after the first answer
        self._pauses = False
        self.told_seconds = 0.0  # CPU time that a job has told of as its work

    def start(self) -> None:
        """Start the process; `wait` says that it has been tried."""
        package = Path(__file__).parents[1]
        flags = ["-I", *["-O"] * sys.flags.optimize]  # they decide what a kernel is
        given = [str(package), str(self._theirs.fileno()), str(os.getpid())]
        try:
            with _held_back(ENDING):  # in the new process, too, until it ignores them
                self._process = subprocess.Popen(
                    [sys.executable, *flags, "-c", _START, *given, *_folders(package)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._printed,
                    env=os.environ | {"NUMBA_CACHE_DIR": str(cache_folder().parent)},
                    pass_fds=[self._theirs.fileno()],
                    start_new_session=True,  # what it starts can be killed with it
                )
        except OSError as error:
            self._error = error
        finally:
            self._theirs.close()
            self._started.set()

    def wait(self) -> None:
        """Wait until the process has been started; OSError if it could not be."""
        self._started.wait()
        if self._error is not None:
            raise self._error

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is news."""
        return self._connection.fileno()

    def pause(self) -> None:
        """Have the process do nothing until its job is advanced, or it is asked."""
        if self._started.is_set() and self._error is None and not self._pauses:
            self._pauses = True
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Have the process go on."""
        if self._pauses:
            self._pauses = False
            self._process.send_signal(signal.SIGCONT)

    def send(self, message: Message) -> None:
        """Send a request; `receive` finds out if the worker has ended."""
        self.resume()
        with suppress(ConnectionError):
            message.send(self._connection)

    def receive(self) -> tuple[list[dict[str, Any]], bool]:
        """Return the messages that have come, and whether there will be no more."""
        messages = []
        try:
            while (message := self._receiver.receive()) is not None:
                messages.append(message[0])
        except EOFError:
            return messages, True
        return messages, False

    @property
    def has_answered(self) -> bool:
        """Whether a call has come to its end before."""
        return self._first_bytes is not None

    @property
    def cpu_seconds(self) -> float:
        """CPU time that the process has used."""
        if self._started.is_set() and self._error is None:
            self._cpu_seconds = max(
                self._cpu_seconds, cpu_seconds_of(self._process.pid)
            )
        return self._cpu_seconds

    @property
    def resident_bytes(self) -> int:
        """Memory that the process holds; 0 where the system does not say."""
        return resident_bytes(self._process.pid)

    @property
    def pid(self) -> int:
        """The number of the process, which leads a process group."""
        return self._process.pid

    def has_grown(self, most: float = MOST_GROWTH) -> bool:
        """Whether the process holds so many bytes more than after its first answer."""
        held = self.resident_bytes
        if self._first_bytes is None:
            self._first_bytes = held
        return held - self._first_bytes > most

    def death(self) -> WorkerDiedError:
        """Return how the process ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self._printed.seek(0)
        printed = self._printed.read().decode(errors="replace")
        return WorkerDiedError(self._process.returncode, printed[-_SHOWN:])

    def close(self) -> None:
        """End the process and all that it has started, whatever they do."""
        self._receiver.close()
        self._printed.close()
        if self._owner != os.getpid():
            return  # this is a copy of the process that it belongs to
        self._started.wait()
        if self._error is None:
            with suppress(OSError):  # it has ended
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@contextmanager
def _held_back(signals: Collection[signal.Signals]) -> Iterator[None]:
    """Block signals in this thread, and in processes that it starts.

    A new process is in the session of its parent for a moment, and Ctrl-C reaches it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _folders(package: Path) -> list[str]:
    """Return where a worker may look for libraries besides Python's own folders.

    Isolated mode knows neither ``PYTHONPATH`` nor a user's own packages.
    """
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [folder for folder in known if Path(folder).is_absolute()]
    site: Any = sys.modules.get("site")
    own = getattr(site, "USER_SITE", None)
    if own in sys.path:
        folders.append(own)
    return [*folders, str(package.parent)]


# --- the workers of this process --------------------------------------------


def end_with_parent() -> None:
    """Ask the system to kill this process when the thread that started it has ended."""
    with suppress(AttributeError, OSError):  # other systems than Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# --- what the system knows of a process -------------------------------------


def cpu_seconds_of(process: int) -> float:
    """Return the CPU time of a running process; 0 where the system does not say."""
    try:
        return time.clock_gettime((~process << 3) | 2)  # its CPU clock, on Linux
    except (AttributeError, OSError, OverflowError):
        return 0.0


def resident_bytes(pid: int | None = None) -> int:
    """Return the memory that a process holds; 0 where the system does not say."""
    known = process(os.getpid() if pid is None else pid)
    return 0 if known is None else known.resident_bytes


_PROC = "/proc"
_MOST = 4096  # bytes of a line of ``/proc/PID/stat``


class Process(NamedTuple):
    """One process, from ``/proc/PID/stat`` (see proc(5))."""

    pid: int
    parent: int
    group: int
    cpu_seconds: float  # with those of children that it has waited for
    resident_bytes: int
    started: int  # clock ticks after the machine was started


def process(pid: int) -> Process | None:
    """Return the data of a process; None if there is none of this number."""
    try:
        # Ten times a second for each process of the machine: no Path, no text.
        number = os.open(f"{_PROC}/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(number, _MOST)
    except OSError:  # it has ended meanwhile
        return None
    finally:
        os.close(number)
    # The name stands in parentheses and may hold some of its own.
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 22 or fields[0] in b"ZX":  # dead, but still in the table
        return None
    ticks = sum(int(field) for field in fields[11:15])
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        cpu_seconds=ticks / os.sysconf("SC_CLK_TCK"),
        resident_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        started=int(fields[19]),
    )


def descendants(leaders: Collection[int]) -> dict[int, list[Process]]:
    """Return the processes of groups, with their leaders, by leader.

    These are the groups, and all descendants in other groups: workers of ltlpipe and
    external translators.
    """
    found: dict[int, list[Process]] = {leader: [] for leader in leaders}
    try:
        numbers = [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return found
    known = {p.pid: p for number in numbers if (p := process(number)) is not None}
    for each in known.values():
        at: Process | None = each
        while at is not None and at.pid not in found and at.group not in found:
            at = known.get(at.parent)
        if at is not None:
            found[at.pid if at.pid in found else at.group].append(each)
    return found


_LOOK_SECONDS = 0.05
_MOST_NUMBER = 20  # bytes


@contextmanager
def turn(name: str, tell: Callable[[int], None] | None = None) -> Iterator[bool]:
    """Hold a lock in a with statement; False where it cannot be had.

    Either the folder takes no files, or the process that has the lock does nothing.
    `tell` is given the number of the process that is waited for.
    """
    from hashlib import sha256  # OpenSSL takes two milliseconds

    try:
        locks = cache_folder() / "locks"
        locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = locks / sha256(name.encode()).hexdigest()[:24]
        lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        held = _awaited(lock, tell)
        if held:
            with suppress(OSError):  # the disk is full, and nobody is told
                os.ftruncate(lock, 0)
                os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield held
    finally:
        os.close(lock)  # which releases it


def _awaited(lock: int, tell: Callable[[int], None] | None) -> bool:
    """Wait for a lock as long as the process that has it is at work."""
    holder, used, since = 0, 0.0, time.monotonic()
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return True
        written = os.pread(lock, _MOST_NUMBER, 0)
        other = int(written) if written.isdigit() else 0
        if other != holder and tell is not None:
            tell(other)
        spent = cpu_seconds_of(other) if other else 0.0
        if (other, spent) != (holder, used):
            holder, used, since = other, spent, time.monotonic()
        if time.monotonic() - since > IDLE_SECONDS:
            return False
        time.sleep(_LOOK_SECONDS)
