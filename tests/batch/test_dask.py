"""The same tasks on a Dask cluster, whose workers die in the middle of a run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from ltlpipe import (
    LTS,
    LtlpipeError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    results,
    solve,
)
from ltlpipe.batch import dask_engine
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.store import status
from ltlpipe.batch.tasks import AutomatonFile, Task
from ltlpipe.families.networks import philosophers
from tests.batch.cluster import ROOT, running
from tests.batch.test_pool import SAME, plant
from tests.cli.command_line import HARD, MANY, program
from tests.cli.command_line import RING as RING_TEXT
from tests.processes import SOON

pytestmark = [
    pytest.mark.thorough("starts a cluster, and kills parts of it"),
    pytest.mark.skipif(
        find_spec("distributed") is None, reason="the extra cluster is missing"
    ),
]

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")
AUTOMATON = """HOA: v1
States: 1
Start: 0
AP: 1 "a"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: state-acc
--BODY--
State: 0 {0}
[!0] 0
--END--
"""
SEARCH = {"reduce": "none", "emptiness": "couvreur99"}  # a second for philosophers(9)


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes; a first task has the kernels compiled."""
    with running(2) as found:
        tasks = [(philosophers(3), "0")] * 2
        solve(tasks, engine="dask", scheduler=found.address, **SEARCH)
        yield found


def begin(cluster, path, tasks, **options):
    """Return the rows of a run on the cluster, in the order of the tasks."""
    rows = solve_rows(
        tasks, engine="dask", scheduler=cluster.address, store=path, **options
    )
    return sorted(rows, key=lambda row: row["task"])


@contextmanager
def meanwhile(path, action):
    """Do something in another thread once tasks of the run are being answered."""
    over = threading.Event()

    def wait():
        while not over.is_set():
            if path.exists() and n_at_work(path):
                time.sleep(0.5)  # into the middle of a search
                action(over)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def n_at_work(path):
    try:
        return sum(len(run.at_work) for run in status(path).runs)
    except LtlpipeError:  # it is being made
        return 0


def solvers(pid):
    """Return the processes that answer tasks for a worker of Dask."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except (OSError, NotADirectoryError):
            continue
        if int(fields[1]) == pid and b"from ltlpipe.worker import" in command:
            found.append(int(folder.name))
    return found


def all_solvers(cluster):
    return [pid for worker in cluster.pids for pid in solvers(worker)]


def test_the_rows_are_those_of_one_process(cluster, tmp_path):
    """Of files with errors, automata, networks in memory, and options of one task."""
    folder = tmp_path / "p"
    folder.mkdir()
    system = folder / "system.aut"
    system.write_text(RING_TEXT)
    (folder / "wrong.aut").write_text("nonsense")
    (folder / "a.hoa").write_text(AUTOMATON)
    tasks = [
        *(Task((str(system),), f) for f in ("G a", "G(a -> F b)", "G(a -> X b)")),
        Task((str(system),), AutomatonFile(str(folder / "a.hoa"))),
        Task((str(folder / "wrong.aut"),), "G a"),
        Task((str(folder / "missing.aut"),), "G a"),
        Task((str(system), str(system)), "F b"),
        Task((str(system),), "G("),
        Task(RING, "G a", options={"seed": 7}),
        Task(philosophers(3), "0", options={"emptiness": "se05"}),
    ]
    # Which reduction is the first to answer depends on whether a translator is there.
    options = {"seed": 3, "reduce": "none"}
    alone = list(solve_rows(tasks, **options))

    rows = begin(cluster, tmp_path / "run.sqlite", tasks, **options)

    columns = [*SAME, "n_components", "message"]
    left, right = (
        pd.DataFrame([{c: r.get(c) for c in columns} for r in found])
        for found in (rows, alone)
    )
    pd.testing.assert_frame_equal(left, right)
    assert "wrong.aut:1:" in rows[4]["message"]
    assert len(results(tmp_path / "run.sqlite")) == len(tasks)


def test_files_that_know_each_other(cluster, tmp_path, monkeypatch):
    """Models include files, and components have the names of theirs."""
    monkeypatch.chdir(tmp_path)
    for folder in ("m/own", "far"):
        (tmp_path / folder).mkdir(parents=True)
    Path("m/own/f.h").write_text("#define STEP 1\n#define WRONG\n")
    Path("far/g.h").write_text('#include "deep.h"\n')
    Path("far/deep.h").write_text("byte y = ;\n")
    head = '#include "own/f.h"\nbyte x;\n'
    body = "active proctype P() { do :: x = (x + STEP) % N od }\n"
    Path("m/model.pml").write_text(head + body)
    Path("m/wrong.pml").write_text('#include "g.h"\n' + head + body)
    Path("left.aut").write_text(RING_TEXT)
    Path("right.aut").write_text(RING_TEXT.replace('"b"', '"c"'))
    read = {"define": ["N=3"], "include": ["far"]}
    fair = {"fairness": "weak", "fair_sets": ["left.aut"]}
    tasks = [
        *(Task(("m/model.pml",), f, options=read) for f in ("G(x <= 2)", "G(x <= 1)")),
        Task(("m/wrong.pml",), "G(x <= 2)", options=read),
        Task(("left.aut", "right.aut"), "GF a", options=fair),
    ]
    alone = list(solve_rows(tasks, seed=3))
    rows = begin(cluster, tmp_path / "run.sqlite", tasks, seed=3)
    for column in ("verdict", "reason", "message", "configuration"):
        assert [r.get(column) for r in rows] == [r.get(column) for r in alone]
    assert [r["verdict"] for r in rows] == ["holds", "violated", "unknown", "holds"]
    assert "far/deep.h:1" in rows[2]["message"]


def test_warnings_travel(cluster, tmp_path):
    """With the names that the user knows."""
    tasks = [Task(RING, "F c | F a")]
    with pytest.warns(LtlpipeWarning, match="called 'c'"):
        begin(cluster, tmp_path / "run.sqlite", tasks, unknown="never")


def test_nothing_is_imported_from_the_working_directory(tmp_path):
    """Not where Dask workers have been started, nor by what they start."""
    plant(tmp_path, "spot", "numba")
    with running(1, tmp_path) as own:
        tasks = [Task(RING, "G(a -> F b)"), Task(philosophers(3), "0")]
        rows = begin(own, tmp_path / "run.sqlite", tasks, **SEARCH)
    assert [row["verdict"] for row in rows] == ["holds", "holds"]
    assert not (tmp_path / "imported").exists()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates")
def test_a_cluster_with_certificates(tmp_path):
    """As docs/batch.md has it; who has none is not let in, and is told why."""
    for command in (
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=runs",
        "req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=machine",
        "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -days 2 -out own.pem",
    ):
        words = ["openssl", *command.split()]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    place = "DASK_DISTRIBUTED__COMM__TLS__"
    settings = {f"{place}CA_FILE": str(tmp_path / "ca.pem")}
    settings["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] = "true"
    for who in ("SCHEDULER", "WORKER", "CLIENT"):
        settings[f"{place}{who}__CERT"] = str(tmp_path / "own.pem")
        settings[f"{place}{who}__KEY"] = str(tmp_path / "own.key")
    (tmp_path / "ring.aut").write_text(RING_TEXT)
    table = tmp_path / "tasks.csv"
    table.write_text("system,formula\nring.aut,G(a -> F b)\n")
    with running(1, **settings) as own:
        assert own.address.startswith("tls://")
        command = ["solve", table, "--out", tmp_path / "r.csv", "--engine", "dask"]
        for address, env, code in (
            (own.address, settings, 0),
            (own.address, {}, 2),
            (own.address.replace("tls", "tcp"), {}, 2),
        ):
            flags = ["--scheduler", address]
            outcome = program(*command, *flags, env=os.environ | env)
            assert outcome.code == code, outcome.err
            if env != settings and "tls" in address:
                assert "Dask has no certificates for this address" in outcome.err
            assert "Traceback" not in outcome.err


def test_inputs_travel_once_per_worker(cluster, tmp_path, monkeypatch):
    """Not once per task, and under the name of their contents."""
    sent = []
    import distributed  # a second, in quick runs, too, if it were above

    scatter = distributed.Client.scatter

    def noted(self, data, *, workers, **options):
        sent.append((data.name, *workers))
        return scatter(self, data, workers=workers, **options)

    monkeypatch.setattr(distributed.Client, "scatter", noted)
    for name in ("one.aut", "copy.aut"):
        (tmp_path / name).write_text(RING_TEXT)
    systems = ((str(tmp_path / "one.aut"),), (str(tmp_path / "copy.aut"),), RING)
    tasks = [Task(system, "X " * k + "a") for k in range(10) for system in systems]
    rows = begin(cluster, tmp_path / "run.sqlite", tasks)

    assert [row["system"] for row in rows] == [task.system_name for task in tasks]
    assert {row["verdict"] for row in rows} == {"holds", "violated"}
    assert 2 <= len(sent) <= 4
    assert len(set(sent)) == len(sent)
    assert len({name for name, _ in sent}) == 2


def test_a_worker_is_killed(cluster, tmp_path):
    """Its task is begun again elsewhere; every task has its verdict once."""
    path = tmp_path / "run.sqlite"
    tasks = [Task(philosophers(9), "0", options={"seed": k}) for k in range(6)]
    before = cluster.pids

    with meanwhile(path, lambda _: os.kill(before[0], signal.SIGKILL)):
        rows = begin(cluster, path, tasks, **SEARCH)

    assert before[0] not in cluster.pids
    assert [row["verdict"] for row in rows] == 6 * ["holds"]
    assert {row["states"] for row in rows} == {rows[0]["states"]}
    assert set(results(path)["attempts"]) == {1}


def test_workers_that_die_again_and_again(cluster, tmp_path):
    """After so many attempts the task is a crash, and the next run has it anew."""
    path = tmp_path / "run.sqlite"

    def murder(over):
        while not over.is_set():
            # A nanny does not replace a worker that dies while it starts.
            at_work = [pid for pid in cluster.pids if solvers(pid)]
            time.sleep(0.5)  # into the middle of a search
            for pid in at_work:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    with meanwhile(path, murder):
        (row,) = begin(
            cluster, path, [Task(philosophers(11), "0")], attempts=2, **SEARCH
        )
    assert (row["verdict"], row["reason"]) == ("unknown", "crash")
    assert "attempt 2 of 2" in row["message"]
    assert row["seconds"] > 0.5
    (kept,) = results(path)["reason"]
    assert kept == "crash"


def test_a_solver_dies(cluster, tmp_path):
    """As on one machine: one task's reason is "crash", with the signal."""
    path = tmp_path / "run.sqlite"
    tasks = [Task(philosophers(10), "0"), Task(RING, "G a")]
    killed = []

    def kill(over):
        while not killed and not over.is_set():
            killed.extend(all_solvers(cluster))
        time.sleep(0.5)  # into the middle of a search
        for pid in killed:
            os.kill(pid, signal.SIGSEGV)

    with meanwhile(path, kill):
        rows = begin(cluster, path, tasks, jobs=1, **SEARCH)
    assert killed
    assert (rows[0]["reason"], rows[0]["signal"]) == ("crash", "SIGSEGV")
    assert rows[1]["verdict"] == "violated"


def test_limits(cluster, tmp_path):
    """Time within a translation, and memory; they hold there as here."""
    many = tmp_path / "many.aut"
    many.write_text(MANY)
    tasks = [
        Task((str(many),), HARD, options={"timeout": 1}),
        Task(philosophers(12), "0", options={"memory": 50}),
    ]
    rows = begin(cluster, tmp_path / "run.sqlite", tasks, **SEARCH)

    assert [row["reason"] for row in rows] == ["timeout", "memory"]
    assert 1 <= rows[0]["seconds"] < SOON


def test_the_driver_is_killed(cluster, tmp_path):
    """Its tasks do not go on, and the same run elsewhere ends what it began."""
    path, name = tmp_path / "run.sqlite", "philosophers.hoa"
    from ltlpipe import save

    save(philosophers(12), str(tmp_path / name))
    save(philosophers(9), str(tmp_path / f"small.{name}"))
    table = tmp_path / "tasks.csv"
    options = "reduce,emptiness,seed"
    lines = [f"small.{name},0,none,couvreur99,{k}" for k in range(2)]
    lines += [f"{name},0,none,couvreur99,{k}" for k in range(2)]
    table.write_text("\n".join([f"system,formula,{options}", *lines, ""]))
    command = [
        *(sys.executable, "-m", "ltlpipe", "solve", str(table)),
        *("--out", str(tmp_path / "r.csv"), "--store", str(path)),
        *("--engine", "dask", "--scheduler", cluster.address, "--timeout", "20"),
    ]
    deadline = time.monotonic() + 60
    with subprocess.Popen(command, cwd=ROOT) as run:
        try:
            while not path.exists() or len(results(path)) < 2 or n_at_work(path) < 2:
                assert time.monotonic() < deadline
                assert run.poll() is None
                time.sleep(0.1)
            assert len(all_solvers(cluster)) == 2
        finally:
            run.kill()

    while all_solvers(cluster):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert results(path)["verdict"].tolist() == ["holds", "holds"]
    text = table.read_text().replace(f"\n{name},", f"\nsmall.{name},")
    table.write_text(text.replace(",0\n", ",5\n", 1))
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert set(results(path)["verdict"]) == {"holds"}


def test_the_scheduler_goes(tmp_path, monkeypatch):
    """It is said, and what is done is in the store."""
    monkeypatch.setattr(dask_engine, "_CONNECT_SECONDS", 5)  # for coming back, too
    path = tmp_path / "run.sqlite"
    tasks = [Task(RING, "G a"), *(Task(philosophers(11), "0") for _ in range(2))]

    def kill(over):
        while not over.is_set() and not len(results(path)):
            time.sleep(0.1)
        own.program.kill()

    with (
        running(1) as own,
        meanwhile(path, kill),
        pytest.raises(LtlpipeError, match="the connection is lost"),
    ):
        begin(own, path, tasks, **SEARCH)
    assert results(path)["verdict"].tolist() == ["violated"]


def test_no_worker(tmp_path, monkeypatch):
    """The run waits, and says that it does."""
    monkeypatch.setattr(dask_engine, "_PATIENCE_SECONDS", 0.5)
    with running(0) as own:
        run = solve_rows([Task(RING, "G a")], engine="dask", scheduler=own.address)
        threading.Timer(2, lambda: own.told("grow")).start()
        with pytest.warns(LtlpipeWarning, match="no worker there; waiting"):
            rows = list(run)
    assert [row["verdict"] for row in rows] == ["violated"]


def test_nobody_there(monkeypatch):
    """It is tried for a while."""
    monkeypatch.setattr(dask_engine, "_CONNECT_SECONDS", 1)
    with pytest.raises(LtlpipeError, match="no Dask scheduler answers there"):
        solve([(RING, "G a")], engine="dask", scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "slurm"}, "engine='slurm': expected one of local, dask"),
        ({"engine": "dask"}, "engine='dask' goes with scheduler='ADDRESS'"),
        ({"scheduler": "tcp://x:1"}, "scheduler= goes with engine='dask'"),
        ({"attempts": 0}, "attempts=0: expected 1 or more"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(UnsupportedError, match=message):
        solve([(RING, "G a")], **options)


def test_without_dask(monkeypatch):
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'ltlpipe\[cluster\]'"):
        solve([(RING, "G a")], engine="dask", scheduler="tcp://127.0.0.1:1")
