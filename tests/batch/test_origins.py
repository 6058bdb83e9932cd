"""Where results come from: runs of a store, and files that still hold a system."""

from __future__ import annotations

import pytest

from ltlpipe import LtlpipeError, Network
from ltlpipe.batch.results import Origins, results
from ltlpipe.batch.tasks import AutomatonFile, Task
from ltlpipe.systems.networks.lts import LTS
from tests.cli.command_line import RING
from tests.report.handmade_stores import make_store, result


@pytest.fixture
def ring(tmp_path):
    path = tmp_path / "ring.aut"
    path.write_text(RING)
    return path


def files_of(store):
    """The files of each task of a store."""
    origins = Origins(store)
    frame = results(store)
    versions = zip(frame["ltlpipe_version"], frame["spot_version"], strict=True)
    pairs = zip(frame["task"], versions, strict=True)
    return [origins.files(task, of) for task, of in pairs]


def test_files_that_are_what_they_were(ring, tmp_path):
    """By the contents, with options and formulas of any kind."""
    file = (str(ring),)
    tasks = [
        Task(file, " G(a -> F b) ", options={"emptiness": "se05", "timeout": 60}),
        Task(file, "a U é", options={"fair_sets": ("a,b", "a"), "deterministic": True}),
        Task((str(ring), str(ring)), "G("),
    ]
    store = make_store(tmp_path / "run.sqlite", [(task, result()) for task in tasks])
    assert files_of(store) == [file, file, (*file, *file)]
    (network, pair) = (Origins(store).network(files) for files in (file, file * 2))
    assert [len(n.components) for n in (network, pair)] == [1, 2]


@pytest.mark.parametrize("change", ["other contents", "gone", "folder"])
def test_files_that_are_not(change, ring, tmp_path):
    """Nothing is loaded that is not what was solved."""
    store = make_store(tmp_path / "r.sqlite", [(Task((str(ring),), "G a"), result())])
    origins = Origins(store)
    ring.unlink()
    if change == "other contents":
        ring.write_text(RING.replace("a", "c"))
    elif change == "folder":
        ring.mkdir()
    assert files_of(store) == [None]
    # Digests were taken before the change: then the contents decide.
    assert origins.files(results(store)["task"][0], ("0", "0")) is None


def test_a_file_that_changes_in_between(ring, tmp_path):
    """It was the right one when it was looked at, and is not when it is loaded."""
    store = make_store(tmp_path / "r.sqlite", [(Task((str(ring),), "G a"), result())])
    origins = Origins(store)
    row = results(store).iloc[0]
    files = origins.files(row["task"], (row["ltlpipe_version"], row["spot_version"]))
    assert files == (str(ring),)
    ring.write_text(RING.replace("a", "c"))
    assert origins.network(files) is None
    ring.unlink()
    with pytest.raises(LtlpipeError, match="cannot be read"):
        origins.network(files)


def test_systems_without_files_and_automata(ring, tmp_path):
    """A network in memory has none; an automaton has to be what it was, too."""
    memory = Network([LTS.from_transitions([(0, "a", 0)])], str(ring))
    automaton = tmp_path / "never.hoa"
    automaton.write_text("HOA: v1")
    tasks = [
        (Task(memory, "G a"), result()),
        (Task((str(ring),), AutomatonFile(str(automaton))), result()),
    ]
    store = make_store(tmp_path / "run.sqlite", tasks)
    assert files_of(store) == [None, (str(ring),)]
    automaton.write_text("HOA: v1\n")
    assert files_of(store) == [None, None]


def test_equal_tasks_in_two_places(ring, tmp_path):
    """One of the places is enough."""
    copy = tmp_path / "copy.aut"
    copy.write_text(RING)
    tasks = [(Task((str(path),), "G a"), result()) for path in (ring, copy)]
    store = make_store(tmp_path / "run.sqlite", tasks)
    ring.unlink()
    assert files_of(store) == 2 * [(str(copy),)]


def test_runs(ring, tmp_path):
    """Their commands, and how many of their tasks no later run lists."""
    path = tmp_path / "run.sqlite"
    tasks = [(Task((str(ring),), f), result()) for f in ("G a", "F a")]
    make_store(path, tasks)
    make_store(path, tasks[:1])
    runs = Origins(path).runs
    assert [(run.number, run.n_tasks) for run in runs] == [(1, 1), (2, 1)]
    assert all(run.command and run.began_at <= run.ended_at for run in runs)


def test_what_is_no_store(tmp_path):
    (tmp_path / "text.sqlite").write_text("text " * 100)
    with pytest.raises(LtlpipeError, match="not a result store"):
        Origins(tmp_path / "text.sqlite")
