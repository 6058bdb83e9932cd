"""Workers that live on, limits from outside, and what becomes of those that die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from ltlpipe import LtlpipeWarning, solve
from ltlpipe.batch import pool
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.table import DTYPES
from ltlpipe.batch.tasks import Task
from ltlpipe.runtime import workers
from tests.batch import faults
from tests.batch.faults import FORMULA, RING
from tests.processes import SOON

SAME = [
    c
    for c in DTYPES
    if not c.endswith("seconds")
    and c not in ("started_at", "finished_at", "memory_mib")
]


@pytest.fixture
def faulty(monkeypatch):
    """Formulas of `faults` do what they are for in workers."""
    monkeypatch.setattr(pool, "_SLACK_SECONDS", 0.1)
    with faults.in_workers("faults.install()"):
        yield


class Watcher:
    """Notes what it is told."""

    def __init__(self):
        self.begun, self.plans, self.errors = [], [], []

    def begin(self, task, number, total):
        self.begun.append((number, total))

    def progress(self, progress):
        pass

    def working(self, activities):
        pass

    def solved(self, task, plan):
        self.plans.append(plan)

    def failed(self, task, error):
        self.errors.append(error)

    def stopping(self, running):
        pass


def run(faults_in_order, watcher=None, **options):
    """Solve a good task before, between and behind bad ones."""
    good = (RING, "G(a -> F b)")
    pairs = [good]
    for fault in faults_in_order:
        pairs += [(RING, FORMULA[fault]), good]
    tasks = [Task(*pair) for pair in pairs]
    rows = list(solve_rows(tasks, watcher=watcher, **options))
    assert sorted(row["task"] for row in rows) == list(range(len(tasks)))
    rows.sort(key=lambda row: row["task"])
    assert {row["verdict"] for row in rows[::2]} == {"holds"}
    assert {row["verdict"] for row in rows[1::2]} <= {"unknown"}
    return rows[1::2]


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_rows_are_those_of_one_process(jobs, tmp_path):
    """Whoever solves a task, its row is the same, and so is the order of the frame."""
    (tmp_path / "system.aut").write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n')
    (tmp_path / "f.ltl").write_text("G a\nG(\nF b\nG(a -> X b)\n" + "X b\nF a\n" * 5)
    # Which reduction is the first to answer depends on whether a translator is there.
    alone = solve(tmp_path, seed=3, reduce="none")

    frame = solve(tmp_path, seed=3, reduce="none", jobs=jobs)

    pd.testing.assert_frame_equal(frame[SAME], alone[SAME])
    assert frame["seconds"].isna().tolist() == alone["seconds"].isna().tolist()


@pytest.mark.thorough("starts, watches or kills other processes")
def test_workers_live_on(tmp_path):
    """As many processes as asked for answer all tasks, and wait for the next run."""
    pairs = [(RING, "X " * k + "a") for k in range(20)]
    with faults.in_workers(f"faults.sign({str(tmp_path)!r})"):
        assert len(solve(pairs, jobs=2)) == 20
        assert len(solve(pairs, jobs=2)) == 20
        pids = {int(path.name) for path in tmp_path.iterdir()}
        assert len(pids) == 2
        assert os.getpid() not in pids
        assert pids == {worker.pid for worker in workers._of_this_process().idle}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_large_workers_do_not_wait():
    """What has grown in a run ends with it, as nobody may ever ask again."""
    pairs = [(RING, "G a"), (RING, "F a")]
    with faults.in_workers("faults.grow(100 * faults.MIB)"):
        assert solve(pairs, jobs=1)["verdict"].tolist() == ["violated", "holds"]
        assert workers._of_this_process().idle == []


def test_files_of_another_run(tmp_path):
    """A worker that lives on does not take a file for what it was."""
    path = tmp_path / "ring.aut"
    found = []
    for labels in ("ab", "ba"):
        lines = [f'({k}, "{a}", {1 - k})' for k, a in enumerate(labels)]
        path.write_text("\n".join(["des (0, 2, 2)", *lines, ""]))
        found += solve([(path, "a")], jobs=1)["verdict"].tolist()
    assert found == ["holds", "violated"]


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_crash_costs_one_task(jobs, faulty):
    """Its reason is "crash"; the signal and the exit code are known."""
    watcher = Watcher()

    rows = run([faults.segfault, faults.killed, faults.leave], watcher, jobs=jobs)

    assert [row["reason"] for row in rows] == 3 * ["crash"]
    assert [row["signal"] for row in rows] == ["SIGSEGV", "SIGKILL", None]
    assert "exit code 7" in rows[2]["message"]
    assert "out of memory" in rows[1]["message"]
    assert all(row["started_at"] and row["ltlpipe_version"] for row in rows)
    assert all("died" in str(error) for error in watcher.errors)
    assert len(watcher.errors) == 3
    assert [plan.strategy for plan in watcher.plans] == 4 * ["instant"]


@pytest.mark.thorough("waits until a limit of time or memory is noticed from outside")
@pytest.mark.parametrize("fault", [faults.sleep, faults.spin])
def test_time_from_outside(fault, faulty):
    """A task that does not look at the clock is ended a tenth after its time."""
    started = time.monotonic()

    (row,) = run([fault], jobs=1, timeout=2)

    assert row["reason"] == "timeout"
    assert 2.2 <= row["seconds"] < SOON
    assert time.monotonic() - started < SOON


@pytest.mark.thorough("waits until a limit of time or memory is noticed from outside")
@pytest.mark.parametrize("fault", [faults.spin, faults.spin_in_a_copy])
def test_cpu_time_from_outside(fault, faulty):
    """That of processes which the task has started counts, too."""
    (row,) = run([fault], jobs=1, cpu_time=1, timeout=50)

    assert row["reason"] == "cpu-time"
    assert 1.1 <= row["seconds"] < SOON
    assert row["cpu_seconds"] > 1


@pytest.mark.thorough("starts, watches or kills other processes")
def test_sleeping_costs_no_cpu_time(faulty, monkeypatch):
    """Wall-clock time is another limit."""
    (row,) = run([faults.sleep], jobs=1, cpu_time=1, timeout=3)

    assert row["reason"] == "timeout"


@pytest.mark.thorough("waits until a limit of time or memory is noticed from outside")
@pytest.mark.parametrize("fault", [faults.eat, faults.eat_in_a_copy])
def test_memory_from_outside(fault, faulty, monkeypatch):
    """What no search counts is noticed, too, be it in a copy of the worker."""
    monkeypatch.setattr(pool, "_SLACK_MIB", 100)

    (row,) = run([fault], jobs=1, memory=50, timeout=50)

    assert row["reason"] == "memory"


@pytest.mark.thorough("starts, watches or kills other processes")
def test_limits_of_single_tasks(faulty):
    """They go before those of the run."""
    tasks = [
        Task(RING, FORMULA[faults.sleep], options={"timeout": 0.2}),
        Task(RING, "G a", options={"seed": 5}),
    ]

    frame = solve(tasks, jobs=2, timeout=1000, seed=1)

    assert frame["reason"].isna().tolist() == [False, True]
    assert frame["seed"].tolist() == [1, 5]


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("options", [{}, {"jobs": 1}])
def test_cpu_time_from_inside(options):
    """A search that looks at the clock ends with what it knows."""
    from ltlpipe.families.networks import philosophers

    options |= {"reduce": "none", "emptiness": "couvreur99"}
    solve([(philosophers(3), "0")], **options)  # loads kernels
    frame = solve([(philosophers(12), "0")], cpu_time=0.2, **options)

    assert frame["reason"].tolist() == ["cpu-time"]
    assert frame["states"][0] > 0
    assert frame["emptiness"].notna().all()


def test_bugs_travel(faulty):
    """An error of ltlpipe comes with the traceback of its worker, whatever it is."""
    watcher = Watcher()

    rows = run([faults.bug, faults.strange], watcher, jobs=1)

    assert [row["reason"] for row in rows] == ["error", "error"]
    assert rows[0]["message"] == "a bug"
    bug, strange = map(str, watcher.errors)
    assert "in bug" in bug
    assert "ZeroDivisionError: a bug" in bug
    assert "StrangeError: strange" in strange


def test_warnings_travel():
    """What a worker warns of, the driver warns of."""
    with pytest.warns(LtlpipeWarning, match="called 'c'"):
        frame = solve([(RING, "F c | F a"), (RING, "F a")], jobs=1, unknown="never")
    assert frame["verdict"].tolist() == ["holds", "holds"]
    first, second = map(json.loads, frame["warnings"])
    assert first == ["no action of the system is called 'c': never true"]
    assert second == []


@pytest.mark.thorough("starts, watches or kills other processes")
def test_compiling_is_nobodys_time(monkeypatch):
    """A kernel that is compiled in the middle of a task takes none of its time."""
    monkeypatch.setattr(pool, "_SLACK_SECONDS", 0.1)
    with faults.in_workers("faults.compile_slowly(2)"):
        frame = solve([(RING, "F a")], jobs=1, timeout=1)
    assert frame["verdict"].tolist() == ["holds"]


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_worker_that_dies_at_leisure():
    """One that has nothing to do when it is killed costs nothing."""
    tasks = [Task(RING, "F a"), Task(RING, "F b")]
    verdicts = []
    with pool.Pool(tasks, {}, 1) as answered:
        for number in range(2):
            answered.begin(number)
            while answered.n_running:
                verdicts += [f.row["verdict"] for f in answered.wait(1)]
            for worker in workers._of_this_process().idle:
                os.kill(worker.pid, 9)
                worker._process.wait()
    assert verdicts == ["holds", "holds"]


@pytest.mark.thorough("starts, watches or kills other processes")
def test_nothing_is_imported_from_the_working_directory(tmp_path):
    """Not by the workers of tasks, nor by theirs."""
    plant(tmp_path, "spot", "numba", "numpy", "ltlpipe")
    (tmp_path / "ring.aut").write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n')
    (tmp_path / "tasks.csv").write_text(
        "system,formula,reduce,emptiness\n"
        "ring.aut,G(a -> F b),none,couvreur99\nring.aut,G a,none,se05\n"
    )
    program = Path(sys.executable).with_name("ltlpipe")
    done = subprocess.run(
        [program, "solve", "tasks.csv", "--out", "r.csv", "--jobs", "2"],
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    found = pd.read_csv(tmp_path / "r.csv")["verdict"]
    assert sorted(found) == ["holds", "violated"]  # in the order in which they end
    assert not (tmp_path / "imported").exists()


def plant(folder, *names):
    """Put modules into a folder that note when they are imported."""
    note = folder / "imported"
    for name in names:
        code = f"open({str(note)!r}, 'a').write({name!r})\nraise ImportError\n"
        (folder / f"{name}.py").write_text(code)
