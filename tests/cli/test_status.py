"""`ltlpipe status`: how a run is getting on, from another terminal."""

from __future__ import annotations

import json
import sqlite3
import time

import pytest

from ltlpipe import LTS, Network, solve
from ltlpipe.batch import store as store_module
from ltlpipe.batch.store import Store
from ltlpipe.batch.tasks import Task
from tests.batch.test_store import begin

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "run.sqlite"


def plain(outcome):
    """Return the lines without frames, as words with one blank between."""
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.replace("│", " ").splitlines()
    return [" ".join(line.split()) for line in lines]


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_run_goes_on(run, store, tmp_path):
    """What it is at, what it has done, and how long the rest takes."""
    process = begin(store, tmp_path / "log", 8, jobs=2, seconds=1)
    for _ in range(3):
        process.stdout.readline()

    lines = plain(run("status", store))
    (told,) = run("status", store, "--json").records
    process.kill()
    process.communicate()

    assert lines[0].startswith("run 1 goes on: began at 20")
    assert any(line.startswith("at ring X X X") for line in lines)
    assert lines[-1].startswith(("3 of 8 tasks done, the rest in", "4 of 8"))
    (known,) = told["runs"]
    assert (known["run"], known["state"], told["tasks"]) == (1, "goes on", 8)
    assert 1 <= len(known["at_work"]) <= 2
    assert known["solved"] == told["done"] >= 3
    assert {o["verdict"] for o in told["outcomes"]} == {"holds", "violated"}
    assert 0 < told["seconds_left"] < 60

    lines = plain(run("status", store))  # of a run that was killed
    assert lines[0].startswith("run 1 died: began at")
    assert not any(line.startswith("at ring") for line in lines)
    assert lines[-1].endswith("of 8 tasks done")


def test_a_run_that_has_ended(run, store):
    """The last one; what earlier ones have solved counts."""
    tasks = [Task(RING, "G a"), Task(RING, "G(a -> F b)"), Task(RING, "G(")]
    solve(tasks[:1], store=store)
    solve(tasks, store=store)

    lines = plain(run("status", store))

    assert lines[0].startswith("run 2 ended at 20")
    assert "2 tasks solved in" in lines[0]
    assert {"holds 1", "violated 1", "unknown input-error 1"} <= set(lines)
    assert lines[-1] == "3 of 3 tasks done"
    assert not any(line.startswith("run 1") for line in lines)


def test_two_runs(run, store):
    """Both that go on are told of."""
    one, two = Store(store), Store(store)
    try:
        (told,) = run("status", store, "--json").records
    finally:
        one.__exit__(None)
        two.__exit__(None)
    assert [known["run"] for known in told["runs"]] == [1, 2]
    assert {known["state"] for known in told["runs"]} == {"goes on"}


def test_it_only_reads(run, store):
    """A file without any run, and one that nobody may write to."""
    Store(store).__exit__(None)
    db = sqlite3.connect(store)
    db.execute("DELETE FROM runs")
    db.commit()
    db.close()
    before = store.read_bytes()
    assert json.loads(run("status", store, "--json").out) == {
        "runs": [],
        "tasks": 0,
        "done": 0,
        "outcomes": [],
        "seconds_left": None,
    }
    assert store.read_bytes() == before


def test_elsewhere(run, store, monkeypatch):
    """A run of another machine goes on as long as it gives signs of life."""
    (one := Store(store)).__exit__(None)
    db = sqlite3.connect(store)
    db.execute("UPDATE runs SET ended_at = NULL, place = 'elsewhere'")
    db.execute("UPDATE runs SET alive_at = ?", [time.time()])
    db.commit()
    assert run("status", store).out.startswith(f"run {one.run} goes on")
    db.execute("UPDATE runs SET alive_at = alive_at - ?", [store_module.LEASE_SECONDS])
    db.commit()
    db.close()
    assert run("status", store).out.startswith(f"run {one.run} died")


NEWER = (
    f"made by a newer ltlpipe (schema {store_module.SCHEMA + 1}; this version knows "
    f"{store_module.SCHEMA})"
)


@pytest.mark.parametrize("command", ["status", "results", "solve"])
@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("text", "this is not a result store"),
        ("foreign", "this SQLite file is not a result store"),
        ("newer", NEWER),
        ("torn", "run.sqlite: "),
    ],
)
def test_what_is_no_store(command, damage, complaint, run, store, tmp_path):
    """It is said which file and why, and the file is left as it is."""
    if damage == "text":
        store.write_text("precious, and longer than a header of SQLite would be " * 9)
    elif damage == "foreign":
        db = sqlite3.connect(store)
        db.execute("CREATE TABLE precious (x)")
        db.commit()
        db.close()
    else:
        solve([(RING, "X " * k + "a") for k in range(30)], store=store)
    if damage == "newer":
        db = sqlite3.connect(store)
        db.execute(f"PRAGMA user_version = {store_module.SCHEMA + 1}")
        db.close()
    if damage == "torn":
        data = bytearray(store.read_bytes())
        data[4096 * 2 :] = b"\xff" * (len(data) - 4096 * 2)
        store.write_bytes(data)
    before = store.read_bytes()
    arguments = [command, store]
    if command == "solve":
        (tmp_path / "tasks.csv").write_text("system,formula\nring.aut,G a\n")
        (tmp_path / "ring.aut").write_text('des (0, 1, 1)\n(0, "a", 0)\n')
        out = tmp_path / "r.csv"
        arguments = [command, tmp_path / "tasks.csv", "--out", out, "--store", store]

    outcome = run(*arguments)

    assert outcome.code == 2
    assert complaint in outcome.complaint
    assert "bug" not in outcome.complaint
    if damage != "torn":
        assert store.read_bytes() == before


def test_nothing_there(run, tmp_path):
    outcome = run("status", tmp_path / "nothing.sqlite")
    assert outcome.code == 2
    assert "the store does not exist" in outcome.complaint
    assert not list(tmp_path.iterdir())
