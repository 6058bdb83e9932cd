"""Workers that live on, limits from outside, and what becomes of those that die."""

from __future__ import annotations

import os
import time

import pandas as pd
import pytest

from ltlpipe import LtlpipeWarning, solve
from ltlpipe.batch import answering, pool, slots
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.table import DTYPES
from ltlpipe.batch.tasks import Task
from tests.batch import faults
from tests.batch.faults import FORMULA, RING

SAME = [c for c in DTYPES if c not in ("seconds", "started_at")]


@pytest.fixture
def faulty(monkeypatch):
    """Formulas of `faults` do what they are for, in this process and in workers."""
    monkeypatch.setattr(answering, "check", faults.faulty_check)
    monkeypatch.setattr(slots, "_SLACK_SECONDS", 0.1)


class Watcher:
    """Notes what it is told."""

    def __init__(self):
        self.begun, self.verdicts, self.errors = [], [], []

    def begin(self, task, number, total):
        self.begun.append((number, total))

    def progress(self, states, depth):
        pass

    def working(self, activities):
        pass

    def solved(self, task, verdict):
        self.verdicts.append(verdict)

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


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_rows_are_those_of_one_process(jobs, tmp_path):
    """Whoever solves a task, its row is the same, and so is the order of the frame."""
    (tmp_path / "system.aut").write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n')
    (tmp_path / "f.ltl").write_text("G a\nG(\nF b\nG(a -> X b)\n" + "X b\nF a\n" * 5)
    alone = solve(tmp_path, seed=3)

    frame = solve(tmp_path, seed=3, jobs=jobs)

    pd.testing.assert_frame_equal(frame[SAME], alone[SAME])
    assert frame["seconds"].isna().tolist() == alone["seconds"].isna().tolist()


def test_workers_live_on(monkeypatch, tmp_path):
    """As many processes as asked for answer all tasks, and none is left behind."""
    check = answering.check

    def signed(*args, **options):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.01)
        return check(*args, **options)

    monkeypatch.setattr(answering, "check", signed)

    assert len(solve([(RING, "X " * k + "a") for k in range(20)], jobs=2)) == 20

    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 2
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


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
    assert len(watcher.verdicts) == 4
    assert sorted(watcher.begun) == [(k, 7) for k in range(1, 8)]


@pytest.mark.parametrize("fault", [faults.sleep, faults.spin])
def test_time_from_outside(fault, faulty):
    """A task that does not look at the clock is ended a tenth after its time."""
    started = time.monotonic()

    (row,) = run([fault], jobs=1, timeout=2)

    assert row["reason"] == "timeout"
    assert 2.2 <= row["seconds"] <= 5
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("fault", [faults.spin, faults.spin_in_a_copy])
def test_cpu_time_from_outside(fault, faulty):
    """That of processes which the task has started counts, too."""
    (row,) = run([fault], jobs=1, cpu_time=1, timeout=50)

    assert row["reason"] == "cpu-time"
    assert 1.1 <= row["seconds"] < 30


def test_sleeping_costs_no_cpu_time(faulty, monkeypatch):
    """Wall-clock time is another limit."""
    (row,) = run([faults.sleep], jobs=1, cpu_time=0.3, timeout=2)

    assert row["reason"] == "timeout"


@pytest.mark.parametrize("fault", [faults.eat, faults.eat_in_a_copy])
def test_memory_from_outside(fault, faulty, monkeypatch):
    """What no search counts is noticed, too, be it in a copy of the worker."""
    monkeypatch.setattr(slots, "_SLACK_MIB", 100)

    (row,) = run([fault], jobs=1, memory=50, timeout=50)

    assert row["reason"] == "memory"


def test_limits_of_single_tasks(faulty):
    """They go before those of the run."""
    tasks = [
        Task(RING, FORMULA[faults.sleep], options={"timeout": 0.2}),
        Task(RING, "G a", options={"seed": 5}),
    ]

    frame = solve(tasks, jobs=2, timeout=1000, seed=1)

    assert frame["reason"].tolist() == ["timeout", pd.NA]
    assert frame["seed"].tolist() == [1, 5]


@pytest.mark.parametrize("options", [{}, {"jobs": 1}])
def test_cpu_time_from_inside(options):
    """A search that looks at the clock ends with what it knows."""
    from ltlpipe.families.philosophers import philosophers

    frame = solve([(philosophers(12), "0")], cpu_time=0.2, reduce="none", **options)

    assert frame["reason"].tolist() == ["cpu-time"]
    assert frame["states"][0] > 0
    assert frame["emptiness"].notna().all()


def test_bugs_travel(faulty):
    """An error of ltlpipe comes with the traceback of its worker, whatever it is."""
    watcher = Watcher()

    rows = run([faults.bug, faults.strange], watcher, jobs=1)

    assert [row["reason"] for row in rows] == ["error", "error"]
    assert [type(error) for error in watcher.errors] == [
        ZeroDivisionError,
        RuntimeError,
    ]
    assert "in bug" in str(watcher.errors[0].__cause__)
    assert "StrangeError" in str(watcher.errors[1])


def test_warnings_travel():
    """What a worker warns of, the driver warns of."""
    with pytest.warns(LtlpipeWarning, match="called 'c'"):
        frame = solve([(RING, "F c | F a")], jobs=1)
    assert frame["verdict"].tolist() == ["holds"]


def test_compiling_is_nobodys_time(monkeypatch):
    """A kernel that is compiled in the middle of a task takes none of its time."""
    monkeypatch.setattr(slots, "_SLACK_SECONDS", 0.1)
    check = answering.check

    def slow(*args, **options):
        from numba.core import event

        event.start_event("numba:compile")
        time.sleep(2)
        event.end_event("numba:compile")
        return check(*args, **(options | {"timeout": None}))

    monkeypatch.setattr(answering, "check", slow)

    assert solve([(RING, "F a")], jobs=1, timeout=1)["verdict"].tolist() == ["holds"]


def test_a_worker_that_dies_at_leisure(monkeypatch):
    """One that has nothing to do when it is killed costs nothing."""
    tasks = [Task(RING, "F a"), Task(RING, "F b")]
    verdicts = []
    with pool.Pool(tasks, {}, 1) as workers:
        for number in range(2):
            workers.begin(number)
            while workers.n_running:
                verdicts += [f.row["verdict"] for f in workers.wait(1)]
            os.kill(workers._slots[0].pid, 9)
            workers._slots[0]._process.join()
    assert verdicts == ["holds", "holds"]
