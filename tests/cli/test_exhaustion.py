"""What runs out is named: memory, room on a disk, permissions; never a verdict."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from ltlpipe import LtlpipeError, results
from ltlpipe.batch import stored_rows
from ltlpipe.batch.store import Store
from ltlpipe.batch.stored_rows import translated
from ltlpipe.runtime import memory
from ltlpipe.runtime.memory import is_out_of_memory, lack_of_room
from tests.cli.command_line import PROGRAM, RING

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


def limited(mib, *args):
    """Run the program with so much virtual memory."""
    return subprocess.run(
        [*PROGRAM, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB,) * 2),
    )


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("mib", [60, 180, 240, 290])
def test_little_memory(mib, ring, tmp_path):
    """Libraries that cannot be mapped are want of memory, and no bug; nor a verdict."""
    for flags in (["--emptiness", "se05"], []):
        done = limited(mib, "check", ring, "-f", "GF a", "-f", "G a", *flags)
        said = done.stdout + done.stderr
        assert "cannot be written" not in said
        assert "bug of ltlpipe" not in said, said
        assert "violated: GF a" not in said
        assert "holds: G a" not in said
        assert done.returncode in (1, 2, 3), said
        assert done.returncode != 1 or "violated: G a" in said, said
        assert done.returncode != 2 or "out of memory" in said, said
    done = limited(mib, "solve", "--out", tmp_path / "r.csv", *task_table(ring))
    assert done.returncode in (0, 2, 3), done.stderr
    assert "bug of ltlpipe" not in done.stderr


def task_table(ring):
    path = ring.with_name("tasks.csv")
    path.write_text("system,formula,emptiness\nring.aut,GF a,se05\nring.aut,F b,\n")
    return [path, "--jobs", "2"]


def test_what_is_out_of_memory(monkeypatch):
    """By the error itself, and for a loader's under a limit."""
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(OSError(12, "Cannot allocate memory"))
    text = "libspot.so.0: failed to map segment from shared object"
    assert is_out_of_memory(ImportError(text))
    monkeypatch.setattr(memory, "address_space_mib", lambda: None)
    unsaid = OSError("Could not find/load shared object file 'libllvmlite.so'")
    assert not is_out_of_memory(unsaid)
    monkeypatch.setattr(memory, "address_space_mib", lambda: 300.0)
    assert is_out_of_memory(unsaid)
    for other in (ImportError("no module"), OSError(28, "full"), ValueError(text)):
        assert not is_out_of_memory(other)


# --- stores -----------------------------------------------------------------


def complaint(path, error):
    with pytest.raises(LtlpipeError) as caught, translated(str(path)):
        raise sqlite3.OperationalError(error)
    return str(caught.value)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    """SQLite speaks of input and output."""
    path = tmp_path / "run.sqlite"
    path.touch()
    assert complaint(path, "disk I/O error").endswith("be used: disk I/O error")
    full = os.statvfs_result((4096, 4096, 1000, 0, 0, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert "no space left on the disk (disk I/O error)" in complaint(
        path, "disk I/O error"
    )


def test_a_limit_of_files_is_named(tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    path.write_bytes(bytes(150_000))
    assert lack_of_room(path) is None
    monkeypatch.setattr(resource, "getrlimit", lambda _: (150_000, 150_000))
    assert "no file may have more than 146 KiB here (ulimit -f)" in complaint(
        path, "disk I/O error"
    )


def test_where_no_store_can_be_made(tmp_path):
    with pytest.raises(LtlpipeError, match="the folder does not exist"):
        Store(tmp_path / "nothing" / "run.sqlite")
    with pytest.raises(LtlpipeError, match="it is a folder"):
        Store(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do anything")
def test_permissions(tmp_path):
    Store(tmp_path / "run.sqlite").__exit__(None)
    (tmp_path / "run.sqlite").chmod(0o400)
    with pytest.raises(LtlpipeError, match=r"may not be written to|permission denied"):
        Store(tmp_path / "run.sqlite")
    tmp_path.chmod(0o500)
    with pytest.raises(LtlpipeError, match="permission denied"):
        Store(tmp_path / "other.sqlite")
    tmp_path.chmod(0o700)


def test_a_run_that_never_lets_go(tmp_path, monkeypatch):
    """Another program holds the file: that is said, after a while."""
    path = tmp_path / "run.sqlite"
    Store(path).__exit__(None)
    monkeypatch.setattr(stored_rows, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr("ltlpipe.batch.store.BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LtlpipeError, match="another run has been writing"):
            Store(path)


# --- Ctrl-C -----------------------------------------------------------------

CODES = (0, 1, 3, 130)
"""0 where the run was over, 3 where tasks are left, 130 outside of a search."""


def interrupted(tmp_path, seconds, times=1):
    """Press Ctrl-C so long after a run has begun to import; return how it ended."""
    (tmp_path / "ring.aut").write_text(RING)
    lines = [f"ring.aut,{'X ' * (2 * k + 1)}b" for k in range(60)]
    (tmp_path / "tasks.csv").write_text("\n".join(["system,formula", *lines, ""]))
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from ltlpipe.cli import program\n"
        "sys.argv[0] = 'ltlpipe'; print('ready', flush=True); program()"
    )
    flags = ["--out", "r.csv", "--store", "run.sqlite", "--jobs", "2"]
    run = subprocess.Popen(
        [PROGRAM[0], "-c", code, "solve", "tasks.csv", *flags],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert run.stdout.readline() == "ready\n"
    for _ in range(times):
        time.sleep(seconds)
        run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=120)
    return run.returncode, err


def check_interrupts(tmp_path, chance, n):
    for k in range(n):
        folder = tmp_path / str(k)
        folder.mkdir()
        code, err = interrupted(
            folder, chance.uniform(0, 1.5), chance.choice([1, 1, 2])
        )
        assert code in CODES, (code, err)
        assert "Traceback" not in err, err
        if (folder / "run.sqlite").exists():
            try:
                kept = results(folder / "run.sqlite")
            except LtlpipeError as error:  # ended before it had tables
                if "it is empty" not in str(error):
                    raise
                continue
            assert set(kept["verdict"]) <= {"holds"}


@pytest.mark.thorough("starts, watches or kills other processes")
def test_ctrl_c_at_random_moments(tmp_path):
    """A code of ours, no traceback, no raw death by the signal."""
    check_interrupts(tmp_path, random.Random(1), 6)


@pytest.mark.slow
def test_ctrl_c_at_hundreds_of_moments(tmp_path):
    check_interrupts(tmp_path, random.Random(2), 200)
