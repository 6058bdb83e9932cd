"""Where machine code is kept: private folders, and what happens where there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ltlpipe import LtlpipeWarning
from ltlpipe.batch import pool
from ltlpipe.batch.pool import TaskJob
from ltlpipe.runtime import folders as cache
from ltlpipe.runtime import worker_process
from ltlpipe.runtime.jobs import TIMEOUT
from ltlpipe.runtime.worker_process import descendants
from ltlpipe.runtime.workers import close_idle
from tests.processes import SOON

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

KERNEL = """
import json, os, signal, sys
import numpy as np
from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import Clock, Limits, StoppedError, run
from ltlpipe.runtime.kernels import compilation
from ltlpipe.runtime.folders import cache_folder
from ltlpipe.symmetry.sets.inclusion_checks import Index, rehash

def few(kind):
    return np.zeros(4, kind)

index = Index(few(np.int64), few(np.int32), few(np.int32))
arguments = (index, few(np.int32), few(np.int32), 2, 4)
clock, phases = Clock(), []

def observe(progress):
    phases.append(progress.phase)

def ask(observer=observe, **limits):
    job = compilation.ready(rehash, *arguments)
    try:
        run(job, Limits(**limits), clock=clock, observer=observer)
    except StoppedError as stopped:
        return stopped.reason
    return "ready"
"""

READY = """
print(json.dumps({
    "ended": ask(),
    "folder": str(cache_folder()),
    "stored": compilation._is_stored(
        rehash._cache, tuple(map(rehash.typeof_pyval, arguments)), rehash.targetctx
    ),
    "phases": sorted(set(phases)),
    "seconds": clock.seconds,
    "compile_seconds": clock.compile_seconds,
}))
"""


def told(work, **environment):
    """Run a new Python; return what it has printed, once it has ended."""
    done = subprocess.run(
        [sys.executable, "-c", KERNEL + work],
        stdout=subprocess.PIPE,
        env=os.environ | {key: str(value) for key, value in environment.items()},
        timeout=20 * SOON,
        check=True,
    )
    return json.loads(done.stdout)


# --- which folder ------------------------------------------------------------


@pytest.fixture
def unset(monkeypatch, tmp_path):
    """A process that has not chosen its folder, with a home of its own."""
    monkeypatch.setattr(cache, "_folders", [])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o722])
@pytest.mark.parametrize("name", [".", "kernels"])
def test_a_folder_that_others_can_write_to(mode, name, unset, tmp_path, monkeypatch):
    """Numba unpickles what is there, whoever has written it."""
    place = tmp_path / "given"
    (place / name).mkdir(parents=True)
    (place / name).chmod(mode)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    with pytest.warns(LtlpipeWarning, match="is not used .*: other users can write"):
        assert cache.cache_folder() == tmp_path / "home" / "ltlpipe" / "kernels"
    assert list((place / name).iterdir()) == []


def test_a_private_folder(unset, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "given"))
    assert cache.cache_folder() == tmp_path / "new" / "given" / "kernels"
    assert cache.cache_folder().stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made(unset, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(LtlpipeWarning, match="is not used for kernels: File exists"):
        assert cache.cache_folder() == tmp_path / "home" / "ltlpipe" / "kernels"


@pytest.mark.thorough("starts, watches or kills other processes")
def test_no_usable_folder(tmp_path):
    """One folder is made, for the workers, too; then it is removed."""
    (tmp_path / "file").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / f"ltlpipe-{os.getuid()}").symlink_to(tmp_path / "missing")
    before = set(temporary.iterdir())
    found = told(
        READY,
        NUMBA_CACHE_DIR="",
        XDG_CACHE_HOME=tmp_path / "file",
        TMPDIR=temporary,
    )
    assert found["ended"] == "ready"
    assert found["folder"].startswith(f"{temporary}/ltlpipe-run-")
    assert found["stored"]
    assert "compiling rehash (once per version)" in found["phases"]
    assert found["compile_seconds"] > found["seconds"]
    assert set(temporary.iterdir()) == before


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_folder_that_takes_no_files(tmp_path):
    """As on a full disk: what a worker has compiled goes elsewhere."""
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    (folder / "symmetry.sets.inclusion_checks").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    found = told(READY, NUMBA_CACHE_DIR=folder.parent, TMPDIR=temporary)
    assert found["ended"] == "ready"
    assert found["folder"].startswith(f"{temporary}/ltlpipe-run-")
    assert found["stored"]
    assert found["compile_seconds"] > found["seconds"]
    assert list(temporary.iterdir()) == []


# --- who waits for whom ------------------------------------------------------

HOLD = """
import sys, time
from ltlpipe.runtime.worker_process import turn
with turn("ltlpipe.symmetry.sets.inclusion_checks:rehash") as held:
    print(held, flush=True)
    time.sleep(10_000)
"""


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_lock_of_a_suspended_process(tmp_path):
    """It is said whose lock it is; then a worker compiles without it."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.PIPE,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    ) as holder:
        assert holder.stdout.readline() == b"True\n"
        holder.send_signal(signal.SIGSTOP)
        found = told(READY, NUMBA_CACHE_DIR=tmp_path)
        holder.kill()
    phase = f"compiling rehash (once per version), after process {holder.pid}"
    assert phase in found["phases"]
    assert found["ended"] == "ready"
    assert found["stored"]
    assert found["compile_seconds"] > found["seconds"]


def test_a_lock_of_a_process_at_work(unset, tmp_path, monkeypatch):
    """It is waited for."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    monkeypatch.setattr(worker_process, "IDLE_SECONDS", 0.2)
    held, seen = [], []

    def wait():
        with worker_process.turn("a", seen.append) as mine:
            held.append(mine)

    with worker_process.turn("a") as mine:
        waiting = threading.Thread(target=wait)
        waiting.start()
        end = time.monotonic() + 1
        while time.monotonic() < end:  # this process is at work
            pass
        assert mine
        assert held == []
    waiting.join()
    assert held == [True]
    assert seen == [os.getpid()]


STOPPED = """
compilation.IDLE_SECONDS = 0.2

def stop(progress):
    observe(progress)
    for worker in workers._workers.alive:
        if worker.cpu_seconds:
            os.kill(worker.pid, signal.SIGSTOP)

print(json.dumps([ask(stop, timeout=0.5), phases[-1]]))
"""


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_worker_that_is_suspended_while_it_compiles(tmp_path):
    """The time is the question's, then: its limit holds."""
    ended, phase = told(STOPPED, NUMBA_CACHE_DIR=tmp_path)
    assert ended == "timeout"
    assert phase.endswith("which does nothing")


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("phase", ["start", "read", "compile"])
def test_a_worker_that_is_suspended_in_solve(phase, monkeypatch):
    """In whatever phase it is, the task ends with its limit."""
    monkeypatch.setattr(pool, "_IDLE_SECONDS", 0.3)
    close_idle()  # a new worker is stopped before it can answer
    order = {
        "task": {},
        "options": {"timeout": 0.1},
        "expected": None,
        "run": "r",
    }
    job = TaskJob(0, order, None)
    os.kill(job.pid, signal.SIGSTOP)
    if phase != "start":
        job._parts.append({"states": 0, "depth": 0})
    if phase == "compile":
        job._parts += [{"began": 0}, {"compiling": True}]
    answer = None
    while answer is None:
        answer = job.advance() or job.end_overrun(descendants([job.pid])[job.pid])
        time.sleep(0.05)
    assert answer["row"]["reason"] == TIMEOUT
