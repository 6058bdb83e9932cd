"""What a run survives, with the program as people call it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ltlpipe import results
from ltlpipe.batch.store import status
from tests.cli.command_line import HARD, MANY, PROGRAM, RING
from tests.processes import SOON, children

pytestmark = pytest.mark.thorough("kills processes, and fills disks and memory")

ROOT = Path(__file__).parents[2]
N_TASKS = 120


@pytest.fixture
def table(tmp_path):
    """Many tasks, half of which hold."""
    (tmp_path / "ring.aut").write_text(RING)
    lines = [f"ring.aut,{'X ' * k}b" for k in range(N_TASKS)]
    path = tmp_path / "tasks.csv"
    path.write_text("\n".join(["system,formula", *lines, ""]))
    return path


def command(table, *flags):
    out, store = table.with_name("r.csv"), table.with_name("run.sqlite")
    return [
        *(*PROGRAM, "solve", str(table), "--out", str(out)),
        *("--store", str(store), "--jobs", "2", *flags),
    ]


def complete(table):
    """Run what is left, and return the results of the store."""
    done = subprocess.run(
        command(table), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    frame = results(table.with_name("run.sqlite"))
    assert len(frame) == N_TASKS
    assert frame["verdict"].value_counts().to_dict() == {
        "holds": N_TASKS // 2,
        "violated": N_TASKS // 2,
        "unknown": 0,
    }
    rows = pd.read_csv(table.with_name("r.csv"))
    assert len(rows) == N_TASKS
    return frame


def test_a_full_disk(table):
    """No file may grow beyond some KiB: what was kept is kept, the rest is resumed."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (260_000, 260_000))

    done = subprocess.run(
        command(table),
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert done.returncode == 2
    assert "run.sqlite: the store cannot be used: " in done.stderr
    assert "Traceback" not in done.stderr
    kept = results(table.with_name("run.sqlite"))
    assert 0 < len(kept) < N_TASKS

    frame = complete(table)

    known = kept.set_index("task")["finished_at"]
    assert (frame.set_index("task")["finished_at"][known.index] == known).all()


def test_a_driver_is_killed(table):
    """Whatever it had finished is there."""
    path = table.with_name("run.sqlite")
    run = subprocess.Popen(command(table, "--log"), cwd=ROOT, stderr=subprocess.PIPE)
    for _ in range(20):
        run.stderr.readline()
    run.kill()
    run.communicate()
    kept = results(path)
    assert len(kept) >= 20
    assert status(path).runs[-1].state == "died"

    frame = complete(table)

    assert set(frame["attempts"]) == {1}
    assert (frame["run"] == 2).all()


def test_workers_are_killed(table):
    """Each costs the task that it is at, which --retry crash has anew.

    One that is killed between two tasks costs none: more are killed until tasks crash.
    """
    path = table.with_name("run.sqlite")
    run = subprocess.Popen(
        command(table, "--log"), cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    killed = told = 0
    for line in run.stderr:
        told += "unknown (crash)" in line
        if f"/{N_TASKS} " in line and told < 3:
            for pid in children(run.pid)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
    run.communicate()
    assert run.returncode == 1
    frame = results(path)
    assert len(frame) == N_TASKS
    crashed = frame[frame["reason"] == "crash"]
    assert 1 <= len(crashed) <= killed
    assert set(crashed["signal"]) == {"SIGKILL"}

    again = subprocess.run(command(table, "--retry", "crash"), cwd=ROOT, check=False)

    assert again.returncode == 1
    frame = results(path)
    assert frame["verdict"].value_counts()["unknown"] == 0
    assert frame["attempts"].value_counts().to_dict() == {
        1: N_TASKS - len(crashed),
        2: len(crashed),
    }


def test_a_translation_that_never_ends(table):
    """Spot works on 2**18 states within one call, and looks at no clock."""
    table.with_name("many.aut").write_text(MANY)
    lines = ["system,formula,timeout", "ring.aut,G a,", f"many.aut,{HARD},1"]
    table.write_text("\n".join([*lines, "ring.aut,X b,", ""]))

    done = subprocess.run(command(table), cwd=ROOT, check=False)

    assert done.returncode == 1
    frame = results(table.with_name("run.sqlite"))
    assert frame["verdict"].tolist() == ["violated", "unknown", "holds"]
    assert frame["reason"][1] == "timeout"
    assert 1 <= frame["seconds"][1] < SOON


def test_a_task_that_eats_memory(table):
    """It alone is unknown, for this reason."""
    from ltlpipe import save
    from ltlpipe.families.networks import philosophers

    save(philosophers(12), str(table.with_name("big.hoa")))
    lines = ["system,formula,reduce", "ring.aut,G a,", "big.hoa,0,none"]
    table.write_text("\n".join([*lines, "ring.aut,X b,", ""]))

    done = subprocess.run(command(table, "--memory", "60"), cwd=ROOT, check=False)

    assert done.returncode == 1
    frame = results(table.with_name("run.sqlite"))
    assert frame["verdict"].tolist() == ["violated", "unknown", "holds"]
    assert frame["reason"][1] == "memory"
    assert frame["memory_mib"][1] <= 60
