"""`ltlpipe solve`: folders of problems to a result table."""

from __future__ import annotations

import json
import signal
import time

import pandas as pd
import pytest

from ltlpipe import results
from ltlpipe.batch.store import status
from ltlpipe.batch.table import DTYPES
from ltlpipe.cli.options import TaskWatcher
from tests.cli.command_line import RING, OnTerminal
from tests.processes import SOON


@pytest.fixture
def problems(tmp_path):
    """Two problems; the formulas of the second do not all parse."""
    for name, formulas in {"1": "# two\nG(a -> F b)\nG a\n", "2": "F b\n"}.items():
        folder = tmp_path / "problems" / name
        folder.mkdir(parents=True)
        (folder / "system.aut").write_text(RING)
        (folder / "f.ltl").write_text(formulas)
    return tmp_path / "problems"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_and_a_summary(suffix, run, problems, tmp_path):
    """One row per formula in the file; on standard output how many came to what."""
    out = tmp_path / f"r{suffix}"

    outcome = run("solve", problems, "--out", out, "--seed", 3)

    frame = results(out)
    assert {c: str(t) for c, t in frame.dtypes.items()} == DTYPES
    assert frame["system"].tolist() == [
        f"{problems}/{k}/system.aut" for k in ("1", "1", "2")
    ]
    assert frame["formula_id"].tolist() == ["1", "2", "1"]
    assert frame["verdict"].tolist() == ["holds", "violated", "holds"]
    assert frame["seed"].tolist() == [3, 3, 3]
    assert frame["lasso_cycle"].tolist() == [pd.NA, '["a", "b"]', pd.NA]
    assert (outcome.code, outcome.err) == (1, "")
    summary = [line.split() for line in outcome.out.splitlines()]
    assert ["│", "holds", "│", "│", "2", "│"] in summary
    assert ["│", "violated", "│", "│", "1", "│"] in summary
    assert outcome.out.splitlines()[-1].startswith(f"3 rows written to {out} in ")


def test_quiet(run, problems, tmp_path):
    """No summary; the exit code says the rest."""
    outcome = run("solve", problems, "--out", tmp_path / "r.csv", "--quiet")

    assert outcome == (1, "", "")


@pytest.mark.parametrize(
    ("formulas", "flags", "code"),
    [
        ("F a\n", [], 0),
        ("F a\nG a\n", [], 1),
        ("F a\nG a\nG(\n", [], 2),
        ("F a\nG(a -> F b)\n", ["--max-states", "1"], 3),
    ],
    ids=["holds", "violated", "input error", "unknown"],
)
def test_exit_codes(formulas, flags, code, run, problems, tmp_path):
    """Those of `check`, and 2 if some input cannot be read."""
    (problems / "1" / "f.ltl").write_text(formulas)

    assert run("solve", problems, "--out", tmp_path / "r.csv", *flags).code == code


def test_input_errors(run, problems, tmp_path):
    """Said on standard error, a broken system once; the others are solved."""
    (problems / "1" / "system.aut").write_text("nonsense\n")
    (problems / "2" / "f.ltl").write_text("G(\nF b\n")

    outcome = run("solve", problems, "--out", tmp_path / "r.csv")

    frame = results(tmp_path / "r.csv")
    assert frame["verdict"].tolist() == 3 * ["unknown"] + ["holds"]
    assert frame["reason"].isna().tolist() == [False, False, False, True]
    assert outcome.code == 2
    errors = [line for line in outcome.err.splitlines() if line.startswith("error")]
    assert len(errors) == 2
    assert errors[0].startswith(f"error: {problems}/1/system.aut:1: expected 'des ")
    assert errors[1].startswith(f"error: {problems}/2/f.ltl:1: syntax error")
    assert ["│", "unknown", "│", "input-error", "│", "3", "│"] in [
        line.split() for line in outcome.out.splitlines()
    ]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--emptiness", "nonsense"], "expected one of auto, cvwy92"),
        (["--reduce", "symmetries"], "expected one of alphabet"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_options_are_looked_at_first(flags, complaint, run, problems, tmp_path):
    """A typing error does not cost the table of the last run."""
    (tmp_path / "r.csv").write_text("precious")

    outcome = run("solve", problems, "--out", tmp_path / "r.csv", *flags)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert (tmp_path / "r.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("out", "complaint"),
    [
        ("r.txt", "expected a file that ends in .csv or .parquet"),
        ("nothing/r.csv", "cannot be written: No such file or directory"),
        ("nothing/r.parquet", "cannot be written: No such file or directory"),
    ],
)
def test_a_table_that_cannot_be_written(out, complaint, run, problems, tmp_path):
    """Said before any task is solved."""
    outcome = run("solve", problems, "--out", tmp_path / out)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {tmp_path / out}: {complaint}\n"


def test_where_no_problem_is(run, problems, tmp_path):
    """Usage errors and folders without problems."""
    assert "missing argument 'PATH'" in run("solve").complaint
    complaint = run("solve", problems).complaint
    assert "expected a place for the results: --out or --store" in complaint
    outcome = run("solve", tmp_path / "nothing", "--out", tmp_path / "r.csv")
    assert outcome.code == 2
    assert "expected a folder of problems" in outcome.err
    outcome = run("solve", problems / "1" / "system.aut", "--out", tmp_path / "r.csv")
    assert "expected a folder of problems" in outcome.err


def test_ctrl_c_between_two_tasks(run, problems, tmp_path, monkeypatch):
    """As in a search: the rows so far stay, and the verdict of the rest is unknown."""
    begin = TaskWatcher.begin

    def interrupted(self, task, number, total):
        if number == 2:
            raise KeyboardInterrupt
        begin(self, task, number, total)

    monkeypatch.setattr(TaskWatcher, "begin", interrupted)

    outcome = run("solve", problems, "--out", tmp_path / "r.csv")

    assert results(tmp_path / "r.csv")["verdict"].tolist() == ["holds"]
    assert outcome.code == 3
    assert "(not solved) │ interrupted │     2" in outcome.out


def test_json_and_explain(run, problems, tmp_path):
    """One object per formula on standard output, the plan on standard error."""
    out = tmp_path / "r.csv"
    outcome = run("solve", problems, "--out", out, "--json", "--explain")

    verdicts = [record["verdict"] for record in outcome.records]
    assert verdicts == results(out)["verdict"].tolist()
    assert all("plan" in record and "lasso" in record for record in outcome.records)
    assert outcome.err.startswith("plan:")


def test_workers_and_a_store(run, problems, tmp_path):
    """The same command goes on, with the same table and exit code."""
    out, store = tmp_path / "r.csv", tmp_path / "run.sqlite"
    (problems / "1" / "f.ltl").write_text("G(a -> F b)\nG a\nG(\n")
    command = ["solve", problems, "--out", out, "--store", store, "--jobs", "2"]

    first = run(*command)
    table = results(out).sort_values(["system", "formula_id"], ignore_index=True)
    second = run(*command)

    assert (first.code, second.code) == (2, 2)
    assert "f.ltl:3: syntax error" in first.err
    assert second.err == ""
    again = results(out).sort_values(["system", "formula_id"], ignore_index=True)
    pd.testing.assert_frame_equal(again, table)
    assert again["verdict"].tolist() == ["holds", "violated", "unknown", "holds"]
    assert "4 rows written" in second.out

    (problems / "1" / "f.ltl").write_text("G(a -> F b)\n")
    assert run(*command, "--retry", "unknown", "--quiet") == (0, "", "")
    outcome = run(*command, "--retry", "nonsense")
    assert "--retry nonsense: expected some of unknown" in outcome.complaint


@pytest.mark.parametrize("flags", [[], ["--jobs", "1"], ["--jobs", "1", "--quiet"]])
def test_a_log(flags, run, problems, tmp_path):
    """A line on standard error for each task that is done, also in a pipe."""
    out = tmp_path / "r.csv"

    outcome = run("solve", problems, "--out", out, "--log", "--max-states", 1, *flags)

    lines = outcome.err.splitlines()
    assert len(lines) == 3
    for number, (line, row) in enumerate(
        zip(lines, results(out).to_dict("records"), strict=True), start=1
    ):
        assert line.startswith(f"{number}/3 {row['verdict']} ")
        assert line.endswith(f"{row['system']} {row['formula_id']}")
    assert "unknown (max-states)" in outcome.err


@pytest.mark.thorough("watches searches that run into a limit")
def test_a_line_for_each_worker(problems, big, tmp_path):
    """On a terminal: what it is at, states, rate and memory; then nothing is left."""
    (tmp_path / "tasks.csv").write_text(
        "system,formula,reduce,seed\n"
        + "".join(f"{big},0,none,{seed}\n" for seed in range(3))
    )
    command = ["solve", tmp_path / "tasks.csv", "--out", tmp_path / "r.csv"]
    with OnTerminal(*command, "--jobs", "2", "--timeout", "4", "--log") as shown:
        shown.wait_for("0 of 3 tasks")
        effort = r"[\d,]+ states, [\d,]+ per second, [\d,]+ MiB"
        shown.wait_for(f"big.hoa tasks.csv:2.* {effort}")
        shown.wait_for(f"big.hoa tasks.csv:3.* {effort}")
        shown.wait_for(r"1/3 unknown \(timeout\) \d+\.")
        outcome = shown.end()
    assert outcome.code == 3
    assert "3 rows written" in outcome.out
    assert len(results(tmp_path / "r.csv")) == 3


@pytest.mark.thorough("sends a signal to a program at work")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_with_workers(presses, big, tmp_path):
    """Once: what runs comes to its end; twice: at once.  The summary is printed."""
    store, n_tasks = tmp_path / "run.sqlite", 4
    (tmp_path / "tasks.csv").write_text(
        "system,formula,reduce,seed\n"
        + "".join(f"{big},0,none,{seed}\n" for seed in range(n_tasks))
    )
    command = ["solve", tmp_path / "tasks.csv", "--out", tmp_path / "r.csv"]
    timeout = 5 if presses == 1 else 3 * SOON  # one press waits for it, two do not
    command += ["--store", store, "--jobs", "2", "--timeout", timeout]
    with OnTerminal(*command) as shown:
        shown.wait_for(r"[\d,]+ per second")
        for _ in range(presses):
            began = time.monotonic()
            shown.process.send_signal(signal.SIGINT)
            shown.wait_for("interrupted: finishing 2 running tasks")
        outcome = shown.end()
    if presses == 2:
        assert time.monotonic() - began < SOON
    done = 2 if presses == 1 else 0
    assert outcome.code == 3
    assert f"(not solved) │ interrupted │     {n_tasks - done}" in outcome.out
    assert f"{done} rows written" in outcome.out
    frame = results(store)
    assert frame["reason"].tolist() == done * ["timeout"]
    assert not status(store).runs[-1].at_work


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--engine", "slurm"], "--engine slurm: expected one of local, dask"),
        (["--engine", "dask"], "--engine dask goes with --scheduler ADDRESS"),
        (["--scheduler", "tcp://x:1"], "--scheduler goes with --engine dask"),
        (["--attempts", "0"], "--attempts"),
        (["--attempts", "2"], "--attempts goes with --engine dask"),
    ],
)
def test_engines_that_cannot_be(flags, complaint, run, problems, tmp_path):
    outcome = run("solve", problems, "--out", tmp_path / "r.csv", *flags)

    assert outcome.code == 2
    assert complaint in outcome.complaint


def test_a_task_table_and_a_grid(run, problems, tmp_path):
    """Further parts of a grid look like paths to the parser."""
    tasks = tmp_path / "tasks.csv"
    tasks.write_text("system,formula\nproblems/1/system.aut,G(a -> F b)\n")
    out = tmp_path / "r.csv"
    grid = ["--grid", "emptiness=se05,couvreur99", "reduce=none,alphabet"]

    outcome = run("solve", tasks, "--out", out, *grid)

    assert outcome.code == 0
    frame = results(out)
    assert frame["emptiness"].tolist() == 2 * ["se05"] + 2 * ["couvreur99"]
    assert set(frame["formula_id"]) == {"tasks.csv:2"}
    outcome = run("solve", "--out", out, *grid)
    assert "no folder and no task table is named" in outcome.complaint
    outcome = run("solve", tasks, "--out", out, "--grid", "emptiness=nonsense")
    assert (outcome.code, "expected one of auto" in outcome.complaint) == (2, True)
    tasks.write_text("system,formula\nproblems/1/none.aut,F a\n")
    outcome = run("solve", tasks, "--out", out)
    assert outcome.code == 2
    assert f"error: {tasks}:2: " in outcome.err


@pytest.mark.parametrize("flags", [["--jobs", "2"], ["--store", "run.sqlite"]])
def test_rers_in_any_order(flags, run, problems, tmp_path, monkeypatch):
    """Answers are those of their tasks, whoever is done first."""
    monkeypatch.chdir(tmp_path)
    answers = tmp_path / "rers.csv"
    flags = ["--out", tmp_path / "r.csv", "--rers", answers, *flags]
    for _ in range(2):
        assert run("solve", problems, *flags).code == 1
        found = sorted(answers.read_text().splitlines())
        assert found == ["1,0,true", "1,1,false", "2,0,true"]


def test_rers(run, problems, tmp_path):
    """Answers to decided tasks, and what each problem has cost."""
    answers = tmp_path / "rers.csv"
    flags = ["--out", tmp_path / "r.csv", "--rers", answers]
    (problems / "1" / "f.ltl").write_text("4: G(a -> F b)\n5: G a\nG(\n")

    outcome = run("solve", problems, *flags)

    assert answers.read_text() == "1,4,true\n1,5,false\n2,0,true\n"
    lines = [line.replace("│", " ").split() for line in outcome.out.splitlines()]
    heading = next(line for line in lines if "problem" in line)
    assert heading[1::2] == ["problem", "components", "seconds", "decided"]
    rows = [line for line in lines if len(line) == 4 and "/" in line[3]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("1", "1", "2/3"),
        ("2", "1", "1/1"),
    ]
    assert outcome.out.splitlines()[-1] == f"3 answers written to {answers}"


def test_rers_is_quiet(run, problems, tmp_path):
    """As the rest of the summary."""
    answers = tmp_path / "rers.csv"
    flags = ["--out", tmp_path / "r.csv", "--rers", answers, "--quiet"]
    assert run("solve", problems, *flags) == (1, "", "")
    assert answers.read_text() == "1,0,true\n1,1,false\n2,0,true\n"


def test_rers_refuses_before_it_writes(run, problems, tmp_path):
    """Names without numbers, and one file for both tables."""
    out = tmp_path / "r.csv"
    out.write_text("precious")
    outcome = run("solve", problems, "--out", out, "--rers", out)
    assert outcome.code == 2
    assert "is the file of --out" in outcome.complaint
    (problems / "1").rename(problems / "one")
    outcome = run("solve", problems, "--out", out, "--rers", tmp_path / "rers.csv")
    assert outcome.code == 2
    assert "--rers needs the number of the problem" in outcome.complaint
    assert out.read_text() == "precious"


@pytest.fixture
def published(tmp_path):
    """A problem as the challenge publishes it; the last solution is wrong."""
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "problem101.dot").write_text(
        "digraph G {\n  subgraph component0 {\n"
        '0->1 [label="" color=black ];\n1->1 [label="a" color=black ];\n  }\n}\n'
    )
    (folder / "problem101-properties-with-solution.txt").write_text(
        "#1: \t true\n( F(a) )\n\n#3: \t false (!)\n( (!a W !a) )\n\n"
        "#4:\n( G(a) )\n\n#8: \t false\n( G(F(a)) )\n"
    )
    return folder


def test_published_problems(run, published, tmp_path):
    """Answers that can be handed in, without another table, and how many agree."""
    answers = tmp_path / "answers.csv"

    outcome = run("solve", published, "--rers", answers)

    assert (outcome.code, outcome.err) == (1, "")
    assert answers.read_text() == "101,1,true\n101,3,false\n101,4,true\n101,8,true\n"
    lines = outcome.out.splitlines()
    assert lines[-3:] == [
        f"4 answers written to {answers}",
        "2 of 3 answers agree with the published solutions",
        "  problem101.dot, property 8: holds, published: violated",
    ]
    assert not any("rows written" in line for line in lines)
    cells = [line.replace("│", " ").replace("┃", " ").split() for line in lines]
    assert ["problem", "components", "seconds", "decided", "agree"] in cells
    (row,) = (line for line in cells if line[:2] == ["101", "1"])
    assert row[3:] == ["4/4", "2/3"]


def test_published_solutions_without_rers(run, published, tmp_path):
    """The column `expected`, in JSON too; the exit code is that of the verdicts."""
    out = tmp_path / "r.csv"
    (published / "problem101-properties-with-solution.txt").write_text(
        "#1: true\n( F(a) )\n#2: false\n( G(a) )\n#3: true\n( G( )\n"
    )

    outcome = run("solve", published, "--out", out)

    assert outcome.code == 2
    assert "properties-with-solution.txt:6: " in outcome.complaint
    assert outcome.out.splitlines()[-2:] == [
        "1 of 2 answers agree with the published solutions; 1 more not decided",
        "  problem101.dot, property 2: holds, published: violated",
    ]
    frame = results(out)
    assert frame["formula_id"].tolist() == ["1", "2", "3"]
    assert frame["expected"].tolist() == ["holds", "violated", "holds"]
    assert run("solve", published, "--out", out, "--quiet").out == ""
    printed = run("solve", published, "--out", out, "--json").out.splitlines()
    told = [json.loads(line) for line in printed]
    assert [(t["formula_id"], t["expected"]) for t in told] == [
        ("1", "holds"),
        ("2", "violated"),
        ("3", "holds"),
    ]


def test_properties_of_a_list_with_check(run, published):
    """Property by property, by their numbers."""
    properties = published / "problem101-properties-with-solution.txt"
    outcome = run("check", published / "problem101.dot", "-F", properties)
    assert outcome.code == 1
    assert [line.split(":")[0] for line in outcome.out.splitlines()[:1]] == ["holds"]


def test_rers_alone_makes_no_report(run, published, tmp_path):
    """A page is about a table or a store."""
    flags = ["--rers", tmp_path / "a.csv", "--report", tmp_path / "r.html"]
    outcome = run("solve", published, *flags)
    assert outcome.code == 2
    assert "--out or --store" in outcome.err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_fairness(kind, run, tmp_path):
    """The options of fairness reach every task, and a set replaces the components'."""
    folder = tmp_path / "problem"
    folder.mkdir()
    (folder / "system.aut").write_text(
        'des (0, 4, 2)\n(0, "a", 1)\n(1, "b", 0)\n(0, "c", 0)\n(1, "d", 1)\n'
    )
    (folder / "f.ltl").write_text("GF b | FG c\n")
    out = tmp_path / "r.csv"
    flags = ["--fairness", kind, "--fair-sets", "b", "--fair-sets", "a"]
    outcome = run("solve", folder, "--out", out, "--quiet", *flags)
    assert (outcome.code, outcome.err) == (0, "")
    outcome = run("solve", folder, "--out", out, "--quiet", "--fairness", kind)
    assert (outcome.code, outcome.err) == (1, "")


def test_deadlocks_are_counted(run, tmp_path):
    """Systems in which one was found, whatever the formulas say."""
    for name, edge in (("1", "(1, b, 0)"), ("2", "(1, b, 2)")):
        folder = tmp_path / "problems" / name
        folder.mkdir(parents=True)
        text = f"des (0, 2, 3)\n(0, a, 1)\n{edge}\n"
        (folder / "system.aut").write_text(text)
        (folder / "f.ltl").write_text("F a\nGF a\n")
    flags = ["--out", tmp_path / "r.csv", "--json"]
    records = run("solve", tmp_path / "problems", *flags).records
    assert [r.get("deadlock") for r in records][2:] == ["reachable", "reachable"]
    outcome = run("solve", tmp_path / "problems", *flags[:2])
    assert "a deadlock was found in 1 of 2 systems" in outcome.out
    outcome = run("solve", tmp_path / "problems", *flags[:2], "--deadlock", "error")
    assert "a deadlock was found in 1 of 2 systems" in outcome.out
