"""Many tasks: one row each, whatever becomes of the others."""

from __future__ import annotations

import os
import signal

import pandas as pd
import pytest

from ltlpipe import (
    LTS,
    InputError,
    LtlpipeError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    results,
    solve,
)
from ltlpipe.batch import tasks as tasks_module
from ltlpipe.batch.pool import TaskJob
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.table import DTYPES, to_frame
from ltlpipe.batch.task_sources import as_tasks, find_problems, tasks_of
from ltlpipe.batch.tasks import Task
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.systems.reading import load_job
from tests.systems.test_limits import HOA

RING = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'
TWO = ("G a", "F b")
NETWORK = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")


def problem(folder, system=RING, formulas="G(a -> F b)\nG a\n"):
    """Return a folder with a system and formulas."""
    folder.mkdir(parents=True)
    (folder / "system.aut").write_text(system)
    (folder / "f.ltl").write_text(formulas)
    return folder


def outcomes(frame):
    return list(
        zip(
            frame["formula_id"],
            frame["verdict"],
            frame["reason"].astype("string"),
            strict=True,
        )
    )


class Watcher:
    """Notes what it is told."""

    def __init__(self):
        self.begun = []
        self.failures = []

    def begin(self, task, number, total):
        self.begun.append((number, total))

    def progress(self, progress):
        pass

    def working(self, activities):
        pass

    def solved(self, task, plan):
        pass

    def failed(self, task, error):
        self.failures.append(error)


@pytest.mark.parametrize("as_list", [False, True])
def test_folders(as_list, tmp_path):
    """One row per formula, in the order of folders and lines."""
    problem(tmp_path / "10")
    problem(tmp_path / "2")

    frame = solve([str(tmp_path)] if as_list else tmp_path)

    assert {c: str(t) for c, t in frame.dtypes.items()} == DTYPES
    assert frame["system"].tolist() == [
        f"{tmp_path}/{k}/system.aut" for k in (2, 2, 10, 10)
    ]
    assert outcomes(frame) == 2 * [
        ("1", "holds", pd.NA),
        ("2", "violated", pd.NA),
    ]


def test_pairs(tmp_path):
    """A system is a network, a file, or the files of its components."""
    path = problem(tmp_path / "p") / "system.aut"

    frame = solve(
        [
            (NETWORK, "F a"),
            (NETWORK, parse("G b")),
            (path, "F b"),
            ([path, str(path)], parse("F b | F a", file="x/f.ltl", line=3)),
        ],
        seed=1,
    )

    assert frame["system"].tolist() == [
        "ring",
        "ring",
        str(path),
        f"{path} {path}",
    ]
    assert frame["formula"].tolist() == ["F a", "G b", "F b", "F b | F a"]
    assert frame["formula_id"].tolist() == ["F a", "G b", "F b", "f.ltl:3"]
    assert frame["verdict"].tolist() == ["holds", "violated", "holds", "holds"]
    assert set(frame["seed"]) == {1}
    assert frame["lasso_cycle"].isna().tolist() == [True, False, True, True]


@pytest.mark.parametrize("tasks", [[], ()])
def test_nothing_to_do(tasks):
    """An empty table with the columns of any other."""
    frame = solve(tasks)

    assert frame.empty
    assert list(frame) == list(DTYPES)


def test_input_errors_stand_among_the_others(tmp_path):
    """A broken system, formula or file of formulas costs its own rows only."""
    problem(tmp_path / "1", formulas="G a\nG(\n")
    problem(tmp_path / "2", system="des (0, 1, 1)\n")
    problem(tmp_path / "3", formulas="# none\n")
    problem(tmp_path / "4")
    watcher = Watcher()

    rows = list(solve_rows(tasks_of(find_problems([tmp_path])), watcher=watcher))
    frame = solve(tmp_path)

    assert outcomes(frame) == [
        ("1", "violated", pd.NA),
        ("2", "unknown", "input-error"),
        ("1", "unknown", "input-error"),
        ("2", "unknown", "input-error"),
        ("f.ltl", "unknown", "input-error"),
        ("1", "holds", pd.NA),
        ("2", "violated", pd.NA),
    ]
    assert frame["formula"].tolist()[1:5] == ["G(", "G(a -> F b)", "G a", pd.NA]
    failed = frame[frame["reason"] == "input-error"]
    assert failed[["states", "seconds", "automaton"]].isna().all(axis=None)
    assert failed["started_at"].notna().all()
    assert failed["spot_version"].notna().all()
    assert [row["verdict"] for row in rows] == frame["verdict"].tolist()
    assert watcher.begun == [(k, 7) for k in range(1, 8)]
    assert [str(e).split("\n")[0] for e in watcher.failures] == [
        f"{tmp_path}/1/f.ltl:2: syntax error, unexpected end of formula",
        *2 * [f"{tmp_path}/2/system.aut:1: {watcher.failures[1].message}"],
        f"{tmp_path}/3/f.ltl: no formula found; expected one per line",
    ]


def test_pairs_with_errors(tmp_path):
    """The row is the same, be it the system or the formula."""
    frame = solve([(tmp_path / "nothing.aut", "G a"), (NETWORK, "G(")])

    assert outcomes(frame) == [
        ("G a", "unknown", "input-error"),
        ("G(", "unknown", "input-error"),
    ]


def test_a_system_name_that_is_no_text(tmp_path):
    """File names may hold any bytes; a table holds text."""
    folder = problem(tmp_path / "p\udcff")

    frame = solve(folder)

    assert frame["system"].tolist() == 2 * [f"{tmp_path}/p\\udcff/system.aut"]
    assert frame["verdict"].tolist() == ["holds", "violated"]


def test_options_reach_every_task():
    """Limits, the search and what is unknown are those of `check`."""
    table = philosophers(6)

    frame = solve([(table, "0")] * 2, max_states=10, seed=5)
    assert outcomes(frame) == 2 * [("0", "unknown", "max-states")]
    assert frame["seed"].tolist() == [5, 5]
    assert frame["states"].tolist() == [10, 10]

    assert solve([(table, "0")], timeout=0)["reason"].tolist() == ["timeout"]
    assert solve([(table, "0")], memory=0)["reason"].tolist() == ["memory"]
    assert solve([(NETWORK, "G a")], emptiness="se05")["automaton"].tolist() == ["BA"]
    assert solve([(NETWORK, "G c")])["reason"].tolist() == ["input-error"]
    with pytest.warns(LtlpipeWarning, match="called 'c'"):
        frame = solve([(NETWORK, "G c")], unknown="never")
    assert frame["verdict"].tolist() == ["violated"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"emptiness": "nonsense"}, UnsupportedError, "expected one of auto"),
        ({"acceptance": "tela+"}, UnsupportedError, "expected one of auto"),
        ({"reduce": "symmetries"}, UnsupportedError, "expected one of alphabet"),
        ({"semantics": "letters"}, UnsupportedError, "expected one of action"),
        ({"emptiness": "gv04", "bitstate": 1.0}, UnsupportedError, "for se05"),
        ({"colour": "red"}, TypeError, "'colour'"),
    ],
    ids=lambda value: (
        "-".join(map(str, value.values())) if isinstance(value, dict) else ""
    ),
)
def test_options_that_cannot_be_met(options, error, message):
    """Said once and at once, not for every task."""
    with pytest.raises(error, match=message):
        solve_rows([], **options)
    with pytest.raises(error, match=message):
        solve([(NETWORK, "G a")], **options)


@pytest.mark.parametrize("with_store", [False, True])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"foo": 1}, "'foo'"),
        ({"seed": 1.5}, "seed=1.5: expected a whole number"),
        ({"seed": 2**70}, "seed="),
        ({"timeout": "5x"}, "timeout='5x': expected a number"),
    ],
)
def test_options_of_a_task_that_cannot_be_met(options, message, with_store, tmp_path):
    """Its row says so, and the other tasks are solved."""
    tasks = [Task(NETWORK, "F a", options=options), Task(NETWORK, "F a")]
    store = tmp_path / "run.sqlite" if with_store else None
    rows = sorted(solve_rows(tasks, store=store), key=lambda row: row["task"])
    assert [row["verdict"] for row in rows] == ["unknown", "holds"]
    assert message in rows[0]["message"]
    assert to_frame(rows)["seed"].isna().all()


def test_what_only_one_task_cannot_do():
    """dfs-weak takes no system with acceptance of its own: the others are solved."""
    frame = solve([(philosophers(3), "G eat0"), (NETWORK, "G a")], emptiness="dfs-weak")

    assert frame["verdict"].tolist() == ["unknown", "violated"]


def test_ctrl_c_ends_the_run():
    """The row of the task that was interrupted is the last one."""

    class Impatient(Watcher):
        def progress(self, progress):
            if len(self.begun) == 2 and progress.states:
                os.kill(os.getpid(), signal.SIGINT)

    watcher = Impatient()
    tasks = as_tasks([(NETWORK, "G a"), (philosophers(9), "0"), (NETWORK, "G b")])
    options = {"reduce": "none", "emptiness": "couvreur99"}
    first, second = solve_rows(tasks, watcher=watcher, **options)

    assert (first["verdict"], first["reason"]) == ("violated", None)
    assert (second["verdict"], second["reason"]) == ("unknown", "interrupted")
    assert second["states"] > 0
    assert watcher.begun == [(1, 3), (2, 3)]


@pytest.mark.parametrize("jobs", [None, 1])
def test_reading_is_limited(jobs, tmp_path):
    """What cannot be read in time costs its own tasks a verdict, not the run."""
    (tmp_path / "long.hoa").write_text(HOA)
    system = str(problem(tmp_path / "p") / "system.aut")
    tasks = [
        *(
            Task((str(tmp_path / "long.hoa"),), f, options={"timeout": 0.5})
            for f in TWO
        ),
        *(Task((system,), formula) for formula in TWO),
    ]

    rows = list(solve_rows(tasks, jobs=jobs))

    by_task = {row["task"]: row for row in rows}
    told = [(by_task[k]["verdict"], by_task[k]["reason"]) for k in range(4)]
    assert told == [("unknown", "timeout")] * 2 + [("violated", None), ("holds", None)]
    assert "was not read within the limits" in by_task[0]["message"]
    assert by_task[0]["formula"] == "G a"


def test_reading_is_tried_again_with_other_limits_only(tmp_path, monkeypatch):
    """A system that was not read in time has been tried once for all tasks."""
    tried = []

    def noted(files, **manner):
        tried.append(files)
        return load_job(files, **manner)

    monkeypatch.setattr(tasks_module, "load_job", noted)
    path = tmp_path / "long.hoa"
    path.write_text(HOA)
    limits = [{"timeout": timeout} for timeout in (0.2, 0.2, 0.3)]
    tasks = [Task((str(path),), "G a", options=options) for options in limits]

    reasons = [row["reason"] for row in solve_rows(tasks)]

    assert reasons == ["timeout"] * 3
    assert len(tried) == 2


def test_no_folder(tmp_path):
    """What is no folder of problems is an error of ltlpipe."""
    with pytest.raises(InputError, match="expected a folder"):
        solve(tmp_path / "nothing")
    with pytest.raises(LtlpipeError, match="no problem found"):
        solve([tmp_path])


def test_a_limit_that_is_none_is_the_workers_to_refuse():
    """Whoever looks at the limits from outside leaves it alone."""
    order = {"options": {"timeout": "5x", "cpu_time": 2, "memory": True}}
    assert TaskJob(0, order, None)._limits == {"cpu_time": 2.0}


def test_vacuity(tmp_path):
    """An option of each task, columns of the table and of a store."""
    formulas = ["G(a -> X b)", "G(b -> F a)", "G a"]
    tasks = [
        Task(NETWORK, formula, options={"vacuity": asked})
        for formula in formulas
        for asked in (False, True)
    ]
    path = tmp_path / "run.sqlite"
    for frame in (solve(tasks, store=path), results(path), solve(tasks)):
        assert str(frame.dtypes["vacuous"]) == "boolean"
        assert frame["vacuous"].isna().tolist() == [
            True,
            False,
            True,
            False,
            True,
            True,
        ]
        assert frame["vacuous"].dropna().tolist() == [False, True]
        assert frame["vacuous_part"].dropna().to_dict() == {3: "b"}


def test_vacuity_in_a_task_table_and_a_grid(tmp_path):
    """As any option."""
    (tmp_path / "ring.aut").write_text(RING)
    table = tmp_path / "tasks.csv"
    table.write_text("system,formula,vacuity\nring.aut,G(b -> F a),true\n")
    assert solve(table)["vacuous_part"].tolist() == ["b"]
    pair = (tmp_path / "ring.aut", "G(b -> F a)")
    frame = solve([pair], grid={"vacuity": [False, True]})
    assert frame["vacuous"].isna().tolist() == [True, False]
