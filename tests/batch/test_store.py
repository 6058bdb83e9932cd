"""Runs that stop at any moment and go on; runs that share a store."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from ltlpipe import InputError, LtlpipeError, UnsupportedError, load, results, solve
from ltlpipe.batch import store, stored_rows
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.store import Store
from ltlpipe.batch.tasks import Task
from ltlpipe.runtime.worker_process import descendants
from tests.batch import faults
from tests.batch.faults import FORMULA, RING
from tests.cli.command_line import RING as RING_TEXT
from tests.processes import SOON, is_running

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@pytest.fixture
def problem(tmp_path):
    """A folder with a system and two formulas."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "system.aut").write_text(RING_TEXT)
    (folder / "f.ltl").write_text("G(a -> F b)\nG a\n")
    return folder


@pytest.fixture
def log(tmp_path):
    return tmp_path / "checked"


@pytest.fixture
def checked(log):
    """What workers have checked so far: a function that returns it and forgets."""

    def take():
        found = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(found)

    with faults.in_workers(f"faults.install({str(log)!r}, faulty=False)"):
        yield take


def begin(path, log, n_tasks, jobs=2, seconds=0.02):
    """Start a process that runs tasks on a store."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.batch.faults"),
            *(str(path), str(log), str(n_tasks), str(jobs)),
        ],
        cwd=ROOT,
        env=os.environ | {"SECONDS_PER_TASK": str(seconds)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_killed_at_any_moment(path, tmp_path):
    """kill -9, again and again: nothing finished is lost, nothing is done twice.

    A task that was being checked when its run was killed is checked again; there is
    at most one of them per worker and kill.
    """
    n_tasks, jobs, log = 60, 2, tmp_path / "log"
    kills, said = 0, Counter()
    while True:
        run = begin(path, log, n_tasks, jobs)
        if kills < 3:
            for line in run.stdout:
                said[line] += 1
                if sum(said.values()) > 15 * (kills + 1):
                    break
            run.kill()
            kills += 1
            run.communicate()
            if kills == 1:  # what has been said is there
                assert len(results(path)) >= 10
            continue
        out, _ = run.communicate(timeout=20 * SOON)
        assert run.returncode == 0
        break

    assert len(out.splitlines()) == n_tasks
    frame = results(path)
    assert len(frame) == n_tasks
    assert frame["formula"].nunique() == n_tasks
    assert frame["verdict"].tolist() == 30 * ["violated", "holds"]
    assert set(frame["attempts"]) == {1}
    checks = Counter(log.read_text().splitlines())
    assert len(checks) == n_tasks
    assert sum(checks.values()) <= n_tasks + kills * jobs
    table = results(f"{log}.{run.pid}.csv")
    assert len(table) == n_tasks


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_workers_end_with_their_driver(path, tmp_path):
    """No process of a run that was killed goes on."""
    run = begin(path, tmp_path / "log", 50, seconds=0.2)
    run.stdout.readline()
    while len(started := started_by(run.pid)) < 4:  # Spot has processes of its own
        time.sleep(0.05)
    run.kill()
    run.communicate()
    deadline = time.monotonic() + SOON
    while any(is_running(pid) for pid in started):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started_by(pid):
    """Return the processes that one has started, and those that these have."""
    found = {p.pid for p in descendants([pid])[pid]} - {pid}
    return {p for p in found if is_running(p)}


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_two_runs_at_once(path, tmp_path):
    """Each task is checked once, by one of them, and both have all rows."""
    n_tasks, log = 60, tmp_path / "log"
    runs = [begin(path, log, n_tasks, jobs=1) for _ in range(2)]

    said = [run.communicate(timeout=20 * SOON)[0].splitlines() for run in runs]

    assert [run.returncode for run in runs] == [0, 0]
    assert [len(lines) for lines in said] == [n_tasks, n_tasks]
    assert sorted(said[0]) == sorted(said[1])
    checks = Counter(log.read_text().splitlines())
    assert set(checks.values()) == {1}
    assert len(checks) == n_tasks
    with sqlite3.connect(path) as db:
        shares = dict(db.execute("SELECT run, count(*) FROM results GROUP BY run"))
        assert db.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    db.close()
    assert sum(shares.values()) == n_tasks
    assert len(shares) == 2


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_a_dead_run_holds_nothing(path, tmp_path):
    """What a killed run was at is free for one that goes on at the same time."""
    first = begin(path, tmp_path / "1", 40, jobs=1, seconds=0.3)
    second = begin(path, tmp_path / "2", 40, jobs=1, seconds=0.02)
    first.stdout.readline()
    first.kill()
    first.communicate()

    out, _ = second.communicate(timeout=20 * SOON)

    assert len(out.splitlines()) == 40
    assert len(results(path)) == 40


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_ctrl_c(path, tmp_path):
    """Once: what runs comes to its end, and the rest waits for the next run."""
    run = begin(path, tmp_path / "log", 50, seconds=0.5)
    run.stdout.readline()
    run.send_signal(signal.SIGINT)
    rest = run.stdout.readlines()
    run.communicate(timeout=20 * SOON)

    assert run.returncode == 0
    done = len(results(path))
    assert 1 <= done < 10
    assert done == 1 + len(rest)
    assert len((tmp_path / "log").read_text().splitlines()) == done


@pytest.mark.thorough("starts runs and kills them, or presses Ctrl-C")
def test_ctrl_c_twice(path, tmp_path):
    """At once; the store is whole and holds no claims."""
    run = begin(path, tmp_path / "log", 50, seconds=4 * SOON)
    while not (tmp_path / "log").exists():
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)  # two signals at once would be one
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=SOON)

    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    db.close()


def test_the_same_again(path, problem, checked):
    """Nothing is solved twice, and the table is the same."""
    first = solve(problem, store=path)
    assert checked() == ["G a", "G(a -> F b)"]

    again = solve(problem, store=path, jobs=2)

    assert checked() == []
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.thorough("starts, watches or kills other processes")
def test_changed_inputs(path, problem, checked):
    """Another formula, system or option is another question; another name is none."""
    solve(problem, store=path)
    checked()
    (problem / "f.ltl").write_text("G(a -> F b)\nF a\n")
    assert solve(problem, store=path)["verdict"].tolist() == ["holds", "holds"]
    assert checked() == ["F a"]
    assert results(path)["formula"].tolist() == ["G(a -> F b)", "F a"]

    (problem / "system.aut").write_text('des (0, 2, 1)\n(0, "a", 0)\n(0, "b", 0)\n')
    frame = solve(problem, store=path, seed=1)
    assert frame["verdict"].tolist() == ["violated", "violated"]
    assert checked() == ["F a", "G(a -> F b)"]

    moved = problem.rename(problem.with_name("q"))
    again = solve(moved, store=path, seed=1)
    assert checked() == []
    assert set(again["system"]) == {f"{moved}/system.aut"}
    solve(moved, store=path, seed=1, timeout=60)
    assert checked() == ["F a", "G(a -> F b)"]
    solve(moved, store=path, seed=1, timeout=60.0, emptiness="auto", jobs=3)
    assert checked() == []


@pytest.mark.thorough("starts, watches or kills other processes")
def test_versions(path, problem, log, monkeypatch):
    """What another version has answered is asked again."""
    solve(problem, store=path)
    monkeypatch.setattr("ltlpipe._version.__version__", "99")
    code = f"faults.install({str(log)!r})\nimport ltlpipe._version as v"
    with faults.in_workers(f"{code}\nv.__version__ = '99'"):
        solve(problem, store=path)
    assert len(log.read_text().splitlines()) == 2
    assert set(results(path)["ltlpipe_version"]) == {"99"}


def test_the_same_twice_in_a_run(path, checked):
    """Two tasks of the same contents are one check and two rows."""
    frame = solve([(RING, "G a"), (RING, "F a"), (RING, "G a")], store=path, jobs=2)

    assert frame["verdict"].tolist() == ["violated", "holds", "violated"]
    assert checked() == ["F a", "G a"]


def test_networks_of_one_name(path):
    """Contents decide, not names."""
    other = load(["examples/problems/mutex/system.dot"])
    pairs = [(RING, "F a"), (type(RING)(other.components, "ring"), "F a")]
    with pytest.warns(UserWarning, match="called 'a'"):
        frame = solve(pairs, store=path, unknown="never")
    assert frame["verdict"].tolist() == ["holds", "violated"]
    assert results(path)["verdict"].tolist() == ["holds", "violated"]


def test_an_input_that_changes_under_way(path, problem, monkeypatch):
    """The new contents are not taken for the old ones."""
    tasks, claim = answering_tasks(problem), Store.claim

    def changing(self, key):
        Path(tasks[0].system[0]).write_text('des (0, 1, 1)\n(0, "b", 0)\n')
        return claim(self, key)

    monkeypatch.setattr(Store, "claim", changing)
    found = list(solve_rows(tasks, store=path, jobs=1))

    assert [row["reason"] for row in found] == 2 * ["input-error"]
    assert "changed after the run had begun" in found[0]["message"]


def answering_tasks(folder):
    from ltlpipe.batch.task_sources import find_tasks

    return find_tasks([folder])


@pytest.mark.thorough("starts, watches or kills other processes")
def test_retry(path, log, checked):
    """Reasons, or all that are unknown; verdicts never; what is new stays."""
    crash, bug = FORMULA[faults.segfault], FORMULA[faults.bug]
    tasks = [(RING, "F a"), (RING, crash), (RING, bug), (RING, "X G a")]
    with faults.in_workers(f"faults.install({str(log)!r})"):
        reasons = solve(tasks, store=path)["reason"].astype("string")
        assert reasons.tolist() == [pd.NA, "crash", "error", pd.NA]
        assert len(checked()) == 4

        solve(tasks, store=path)
        assert checked() == []
        solve(tasks, store=path, retry="crash")
        assert checked() == [crash]
        solve(tasks, store=path, retry=["unknown"])
        assert checked() == sorted([crash, bug])
        assert results(path)["attempts"].tolist() == [1, 3, 2, 1]

    frame = solve(tasks, store=path, retry="error,crash", jobs=2)
    assert frame["verdict"].tolist() == ["holds", *3 * ["violated"]]
    assert results(path)["signal"].isna().all()
    checked()
    solve(tasks, store=path, retry="unknown")
    assert checked() == []


def test_what_cannot_be_retried(path):
    with pytest.raises(UnsupportedError, match="retry= goes with store="):
        solve_rows([], retry="unknown")
    with pytest.raises(UnsupportedError, match="expected some of unknown, crash"):
        solve_rows([], store=path, retry="holds")
    with pytest.raises(UnsupportedError, match="jobs=0"):
        solve_rows([], jobs=0)


def test_a_verdict_is_never_replaced(path):
    """Not even by a run that was taken for dead and was not."""
    row = {"verdict": "holds", "reason": None, "states": 3}
    with Store(path) as one, Store(path) as two:
        assert one.claim("k") is True
        one.record("k", row)
        two.record("k", {"verdict": "unknown", "reason": "timeout"})
        assert one.claim("k")["verdict"] == "holds"
        assert two.claim("k")["states"] == 3


def test_claims(path, monkeypatch):
    """Of a run that lives nobody takes anything; of one that died, at once."""
    one, two = Store(path), Store(path)
    assert one.claim("k") is True
    assert one.claim("k") is two.claim("k") is False
    one.record("k", None)
    assert two.claim("k") is True
    monkeypatch.setattr(store, "process", lambda pid: None)
    assert one.claim("k") is True
    monkeypatch.undo()
    two.__exit__(None)
    one.__exit__(None)


def test_the_lease(path, monkeypatch):
    """Where processes cannot be looked at, a minute without news decides."""
    places = iter(["here"])
    monkeypatch.setattr(store, "_place", lambda: next(places, "there"))
    one, two = Store(path), Store(path)
    assert one.claim("k") is True
    monkeypatch.setattr(store, "process", lambda pid: None)
    assert two.claim("k") is False
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 59)
    assert two.claim("k") is False
    one.renew()
    monkeypatch.setattr(time, "time", lambda: moment + 59 + 59)
    assert two.claim("k") is False
    monkeypatch.setattr(time, "time", lambda: moment + 59 + 61)
    assert two.claim("k") is True
    one.__exit__(None)
    two.__exit__(None)


def test_a_dead_run_from_the_future(path, monkeypatch):
    """Its clock was wrong, or somebody wrote it: it does not hold a task for ever."""
    places = iter(["here"])
    monkeypatch.setattr(store, "_place", lambda: next(places, "there"))
    with closing(sqlite3.connect(path)) as db:
        one = Store(path)
        assert one.claim("k") is True
        one._db.close()
        db.execute("UPDATE runs SET alive_at = ?", [time.time() + 1e9])
        db.commit()
    with Store(path) as two:
        assert two.claim("k") is True


@pytest.mark.parametrize("away", ["deleted", "moved", "replaced"])
def test_a_store_that_goes_away_is_noticed(path, away):
    """SQLite writes on into a file that has no name any more."""
    run = Store(path)
    assert run.claim("k") is True
    if away == "moved":
        path.rename(path.with_suffix(".moved"))
    else:
        path.unlink()
    if away == "replaced":
        path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        with Store(path):
            pass
    with pytest.raises(LtlpipeError, match="deleted or replaced"):
        run.record("k", {"verdict": "holds"})
    with pytest.raises(LtlpipeError, match="deleted or replaced"):
        run.__exit__(None)


OWN_SQL = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON claims BEGIN DELETE FROM tasks; END",
    "view": "CREATE VIEW v AS SELECT * FROM results",
    "index": "CREATE UNIQUE INDEX i ON results (verdict)",
    "table": "CREATE VIRTUAL TABLE t USING fts5(a)",
}


@pytest.mark.parametrize("kind", OWN_SQL)
def test_sql_of_others_is_refused(path, kind):
    """It would run whenever a row is written or read."""
    with Store(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.execute(OWN_SQL[kind])
        db.commit()
    for use in (Store, results):
        with pytest.raises(LtlpipeError, match=f"a {kind} '.*not made"):
            use(path)


def test_tables_of_others_are_refused(path):
    """A row that takes the place of all others, by a constraint of their own."""
    with Store(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        (made,) = db.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'results'"
        ).fetchone()
        db.execute("DROP TABLE results")
        db.execute(made.replace("UNIQUE (revision)", "UNIQUE (revision, run)"))
        db.commit()
    with pytest.raises(LtlpipeError, match="has not made these tables"):
        Store(path)


def test_files_that_are_no_stores(path, tmp_path):
    """Each is named, said what it is, and left as it was."""
    path.write_text("precious, and longer than a header of SQLite would be " * 9)
    before = path.read_bytes()
    for function in (Store, results):
        with pytest.raises(
            LtlpipeError, match=r"run\.sqlite: this is not a result store"
        ):
            function(path)
    assert path.read_bytes() == before

    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE precious (x)")
    db.commit()
    db.close()
    before = other.read_bytes()
    for function in (Store, results):
        with pytest.raises(
            LtlpipeError, match="this SQLite file is not a result store"
        ):
            function(other)
    assert other.read_bytes() == before

    with pytest.raises(LtlpipeError, match="cannot be read: Not a directory"):
        results(other / "store")
    with pytest.raises(LtlpipeError, match="the store does not exist"):
        results(tmp_path / "nothing.sqlite")
    with pytest.raises(LtlpipeError, match="cannot be used: the folder does not exist"):
        Store(tmp_path / "nothing" / "run.sqlite")


@pytest.mark.parametrize("made", ["empty", "without tables"])
def test_read_while_it_is_made(path, made):
    """Between the file and its tables there is a moment; a reader waits."""
    path.touch()
    if made == "without tables":
        with closing(stored_rows.connect(str(path))) as db:
            db.execute("PRAGMA journal_mode = WAL")
    late = threading.Timer(0.3, lambda: Store(path).__exit__(None))
    late.start()
    assert len(results(path)) == 0
    late.join()


def test_never_made(path, monkeypatch):
    """What killed the run in that moment has left no store."""
    monkeypatch.setattr(stored_rows, "_NEW_SECONDS", 0.05)
    path.touch()
    with pytest.raises(
        LtlpipeError, match="this SQLite file is not a result store: it is"
    ):
        results(path)


def test_a_newer_schema(path):
    Store(path).__exit__(None)
    db = sqlite3.connect(path)
    newer = stored_rows.SCHEMA + 1
    db.execute(f"PRAGMA user_version = {newer}")
    db.close()
    for function in (Store, results):
        with pytest.raises(LtlpipeError, match=rf"newer ltlpipe \(schema {newer};"):
            function(path)


def test_a_damaged_store(path):
    """It is said, with the name of the file."""
    solve([(RING, "X " * k + "a") for k in range(30)], store=path)
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xff" * (len(data) - 4096 * 2)
    path.write_bytes(data)
    with pytest.raises(LtlpipeError, match=r"run\.sqlite: .*(damaged|cannot be used)"):
        results(path)
    with pytest.raises(LtlpipeError, match=r"run\.sqlite: .*(damaged|cannot be used)"):
        solve([(RING, "F a")], store=path)


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_full_disk(path):
    """What was kept is there; the error names the store."""
    tasks = [Task(RING, "X " * k + "a") for k in range(100)]
    rows = []
    run = solve_rows(tasks, store=path)
    rows.append(next(run))
    pages = run.gi_frame.f_locals["kept"]._db
    (count,) = pages.execute("PRAGMA page_count").fetchone()
    pages.execute(f"PRAGMA max_page_count = {count + 2}")
    with pytest.raises(LtlpipeError, match=r"run\.sqlite: .*full"):
        rows.extend(run)
    assert 1 < len(rows) < 100
    assert len(results(path)) == len(rows)
    assert len(solve(tasks, store=path)) == 100


def test_any_name_of_a_file(tmp_path):
    """What means something in addresses, and what is no text."""
    for name in ("a?b#c%d e.sqlite", "ü\udcff.sqlite", "-x"):
        solve([(RING, "F a")], store=tmp_path / name)
        assert (tmp_path / name).exists()
        assert len(results(tmp_path / name)) == 1


def test_errors_are_results_too(path, problem):
    """Until the file can be read."""
    (problem / "system.aut").write_text("nonsense")
    (problem / "f.ltl").write_text("G(\nF a\n")
    frame = solve(problem, store=path)
    assert frame["reason"].tolist() == ["input-error", "input-error"]
    assert "expected 'des" in results(path)["message"][1]
    (problem / "system.aut").write_text(RING_TEXT)
    assert solve(problem, store=path)["verdict"].tolist() == ["unknown", "holds"]
    with pytest.raises(InputError):
        solve(problem / "nothing", store=path)
