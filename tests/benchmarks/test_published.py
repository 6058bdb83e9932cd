"""Folders of experiments: what is tried, what is compared, what is refused."""

from __future__ import annotations

import gzip

import pytest

from benchmarks.experiment_data import EXPERIMENT_DTYPES, Experiments
from benchmarks.experiment_tables import agreement, as_comparison, means
from benchmarks.experiments import main
from ltlpipe import InputError, UnsupportedError
from ltlpipe.batch.results import results
from ltlpipe.batch.table import to_frame
from tests.cli.test_models import ring

AUTOMATA = """HOA: v1
name: "ring_000 tgba"
States: 1
Start: 0
AP: 1 "p0 == 1"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 0 {0}
[0] 0
--END--
HOA: v1
name: "ring_001 tgba"
States: 2
Start: 0
AP: 1 "p1 == 1"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[!0] 1
State: 1
[!0] 1 {0}
--END--
HOA: v1
name: "ring_001 rabin"
States: 1
Start: 0
AP: 1 "p1 == 1"
acc-name: Rabin 2
Acceptance: 4 (Fin(0) & Inf(1)) | (Fin(2) & Inf(3))
--BODY--
State: 0
[0] 0 {0 2}
[!0] 0 {1 3}
--END--
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "automata").mkdir()
    (tmp_path / "models" / "ring.pnml").write_text(ring(5))
    (tmp_path / "tasks.csv").write_text(
        "model,index,formula,verdict\n"
        'ring,000,"F G (p0 == 1)",violated\n'
        'ring,001,"G F (p1 == 1)",holds\n'
    )
    with gzip.open(tmp_path / "automata" / "ring.hoa.gz", "wt") as stream:
        stream.write(AUTOMATA)
    (tmp_path / "published.csv").write_text(
        "model,index,translator,algorithm,verdict,unique_states,unique_transitions,"
        "seconds_16_cores\n"
        "ring,000,tgba,ufscc,violated,,,0.01\n"
        "ring,001,tgba,ufscc,holds,9,18,0.5\n"
        "model,index,translator,algorithm,verdict,unique_states,unique_transitions,"
        "seconds_16_cores\n"
        "ring,001,rabin,favoid,holds,10,10,2.0\n"
    )
    return tmp_path


def rows_of(out):
    import pandas as pd

    return pd.read_csv(out, dtype={"task": str})


def test_verdicts_and_sizes_are_compared(folder, tmp_path):
    out = tmp_path / "out.csv"
    plots = tmp_path / "plots"
    command = ["beem", "--data", str(folder), "--out", str(out)]
    command += ["--translators", "tgba,rabin,own-tgba", "--plots", str(plots)]
    assert main(command) == 0
    rows = rows_of(out).set_index(["task", "translator"])
    assert rows["same_verdict"].all()
    assert rows.loc[("001", "tgba"), "states"] == 9
    assert rows.loc[("001", "tgba"), "same_states"]
    assert rows.loc[("001", "rabin"), "same_states"]
    assert rows.loc[("001", "rabin"), "emptiness"] == "rabin"
    assert rows.loc[("001", "rabin"), "states"] == 5  # published once for each pair
    assert rows["states"].notna().all()
    assert len(rows) == 5  # of task 000 there is no automaton by rabin
    assert sorted(path.name for path in plots.iterdir()) == [
        "tgba-own-tgba-pairs.svg",
        "tgba-own-tgba.svg",
        "tgba-rabin-pairs.svg",
        "tgba-rabin.svg",
    ]
    stored = results(tmp_path / "out.sqlite")
    assert len(stored) == 5


def test_what_is_wrong_is_counted(folder, tmp_path):
    published = folder / "published.csv"
    published.write_text(published.read_text().replace("holds,9,18", "holds,10,18"))
    tasks = folder / "tasks.csv"
    tasks.write_text(tasks.read_text().replace(",violated", ",holds"))
    out = tmp_path / "out.csv"
    assert main(["mcc", "--data", str(folder), "--out", str(out)]) == 1
    rows = rows_of(out)
    assert (rows["same_verdict"] == False).sum() == 1  # noqa: E712
    assert (rows["same_states"] == False).sum() == 1  # noqa: E712


def test_the_same_command_goes_on(folder, tmp_path):
    out = tmp_path / "out.csv"
    command = ["beem", "--data", str(folder), "--out", str(out)]
    assert main([*command, "--tasks", "1"]) == 0
    first = rows_of(out)
    assert main(command) == 0
    again = rows_of(out)
    assert len(first) == 1
    assert len(again) == 3
    assert again["started_at"].tolist()[0] == first["started_at"].tolist()[0]


def test_means_are_over_what_all_decided():
    rows = [
        {"model": "m", "task": str(task), "translator": name, "verdict": verdict}
        | {"search_seconds": seconds, "states": 100}
        for task, name, verdict, seconds in (
            (0, "a", "holds", 1.0),
            (0, "b", "holds", 4.0),
            (1, "a", "holds", 4.0),
            (1, "b", "holds", 16.0),
            (2, "a", "violated", 100.0),
            (2, "b", "unknown", None),
        )
    ]
    columns = {"model": "string", "task": "string", "translator": "string"}
    columns |= {"verdict": "string", "search_seconds": "Float64", "states": "Int64"}
    columns |= {"automaton_states": "Int64", "transitions": "Int64"}
    table = means(to_frame(rows, columns)).set_index(["verdict", "translator"])
    assert table.loc[("all", "a"), "search_seconds"] == pytest.approx(2.0)
    assert table.loc[("all", "b"), "search_seconds"] == pytest.approx(8.0)
    assert table.loc[("all", "a"), "tasks"] == 2
    assert table.loc[("all", "a"), "decided"] == 3
    assert table.loc[("violated", "a"), "tasks"] == 0


def test_agreement_looks_at_large_and_long_runs(folder):
    rows = [
        {"model": "m", "verdict": "holds", "same_verdict": True, "same_states": True}
        | {"states": states, "states_per_second": speed, "published_seconds": long}
        | {"seconds_to_published": ratio, "acceptance": "Inf(0)|Inf(1)"}
        for states, speed, long, ratio in (
            (20_000, 1e6, 4.0, 0.5),
            (20_000, 3e6, 2.0, 3.0),
            (10, 5.0, 0.1, 50.0),
        )
    ]
    frame = to_frame(rows, EXPERIMENT_DTYPES)
    total = agreement(frame).set_index("model").loc["all"]
    assert total["right"] == 3
    assert total["states_per_second"] == 2e6
    assert total["long_runs"] == 2
    assert total["faster"] == 0.5
    assert as_comparison(frame)["pairs"].tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: (f / "tasks.csv").unlink(), "tasks.csv: cannot be read"),
        (lambda f: (f / "tasks.csv").write_text("model,index\n"), "tasks.csv:1"),
        (
            lambda f: (f / "tasks.csv").write_text(
                "model,index,formula,verdict\nrung,0,p0,holds\n"
            ),
            "no such model",
        ),
        (lambda f: (f / "models" / "ring.pnml").unlink(), "expected models"),
        (
            lambda f: (f / "automata" / "ring.hoa.gz").write_bytes(b"\x1f\x8bx"),
            "ring.hoa.gz: cannot be read",
        ),
    ],
)
def test_bad_folders(folder, change, message):
    change(folder)
    with pytest.raises(InputError, match=message):
        Experiments("beem", folder)


def test_bad_input_is_told(folder, tmp_path, capsys):
    """Exit code 2, and a message without a traceback."""
    (folder / "tasks.csv").unlink()
    out = tmp_path / "out.csv"
    assert main(["beem", "--data", str(folder), "--out", str(out)]) == 2
    assert "error: " in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["beem", "--data", str(folder), "--out", str(out), "--jobs", "0"])


def test_unknown_names(folder):
    experiments = Experiments("beem", folder)
    with pytest.raises(
        UnsupportedError, match=r"no translator 'x'; there are rabin, tgba"
    ):
        experiments.trials(["x"], [], None)
    with pytest.raises(UnsupportedError, match="no model 'rung'; there are ring"):
        experiments.trials(["tgba"], ["rung"], None)
