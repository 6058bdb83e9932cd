"""`ltlpipe results`: tables out of a store."""

from __future__ import annotations

import io
import json
import sqlite3

import pandas as pd
import pytest

from ltlpipe import solve
from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.shared_runs import WITNESS_DTYPES
from ltlpipe.batch.tasks import Task
from ltlpipe.systems.networks.lts import LTS, Network
from tests.report.handmade_stores import EVIL as EVIL_NAMES
from tests.report.handmade_stores import make_store, result

EVIL = "<b>&|_\\"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two formulas under two configurations, on a system whose name is markup."""
    path = tmp_path_factory.mktemp("results") / "run.sqlite"
    ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], EVIL)
    tasks = [
        Task(ring, formula, options={"emptiness": name})
        for formula in ("G(a -> F b)", "G a")
        for name in ("se05", "couvreur99")
    ]
    solve(tasks, store=path)
    return path


def test_text(run, store):
    """A few columns for people, and how many rows there are."""
    outcome = run("results", store, "--where", "verdict == 'violated'")

    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[-1] == "2 rows"
    titles = lines[1].replace("┃", " ").split()
    assert titles[:5] == ["system", "formula_id", "configuration", "verdict", "reason"]
    assert sum("--emptiness se05" in line for line in lines) == 1
    assert EVIL in outcome.out


def test_all_columns(run, store, tmp_path):
    """CSV, JSON and parquet have them all; --columns says which."""
    table = pd.read_csv(io.StringIO(run("results", store, "--to", "csv").out))
    assert list(table) == list(RESULTS_DTYPES)
    assert len(table) == 4
    records = run("results", store, "--to", "json").records
    assert [record["verdict"] for record in records] == [
        *("holds", "holds", "violated", "violated")
    ]
    assert records[0]["reason"] is None
    assert json.loads(records[2]["lasso_cycle"]) == ["a", "b"]
    assert run("results", store, "-o", tmp_path / "r.parquet") == (0, "", "")
    frame = pd.read_parquet(tmp_path / "r.parquet")
    assert str(frame.dtypes["started_at"]) == "datetime64[us, UTC]"
    assert str(frame.dtypes["verdict"]) == "category"
    outcome = run("results", store, "--columns", "verdict,formula", "--to", "csv")
    assert outcome.out.splitlines()[:2] == ["verdict,formula", "holds,G(a -> F b)"]


def test_groups_and_pivots(run, store):
    outcome = run("results", store, "--group", "configuration", "--to", "json")
    assert [(r["configuration"], r["violated"]) for r in outcome.records] == [
        ("--emptiness couvreur99", 1),
        ("--emptiness se05", 1),
    ]
    flags = ["--group", "formula", "--pivot", "emptiness", "--value", "verdict"]
    outcome = run("results", store, *flags, "--to", "csv")
    assert outcome.out.splitlines() == [
        "formula,couvreur99,se05",
        "G(a -> F b),holds,holds",
        "G a,violated,violated",
    ]


def test_pivots_do_not_hide_rows(run, store):
    """Several rows of a cell are refused; numbers are on the right, in LaTeX, too."""
    flags = ["--group", "system", "--pivot", "emptiness", "--value", "states"]
    outcome = run("results", store, *flags)
    assert outcome.code == 2
    assert "up to 2 rows fall into a cell of states" in outcome.complaint
    assert "--aggregate mean|median|sum|min|max|count|all" in outcome.complaint
    outcome = run("results", store, *flags, "--aggregate", "median", "--to", "latex")
    assert outcome.out.startswith(r"\begin{tabular}{lrr}")
    flags[1] = "formula"
    assert r"{lrr}" in run("results", store, *flags, "--to", "latex").out
    assert run("results", store, *flags, "--aggregate", "first").code == 2


@pytest.mark.parametrize(
    ("form", "escaped"),
    [
        ("html", "&lt;b&gt;&amp;|_\\"),
        ("latex", r"\textless{}b\textgreater{}\&\textbar{}\_\textbackslash{}"),
        ("md", r"\<b\>\&\|\_\\"),
    ],
)
def test_layouts(form, escaped, run, store):
    """What comes from input files is escaped."""
    out = run("results", store, "--to", form).out

    assert out.count(escaped) == 4
    assert EVIL not in out


@pytest.mark.parametrize(
    ("suffix", "begin"),
    [
        ("txt", "┏"),
        ("csv", "system,"),
        ("json", "{"),
        ("tex", r"\begin{tabular}"),
        ("html", "<!DOCTYPE html>"),
        ("md", "| system |"),
    ],
)
def test_files(suffix, begin, run, store, tmp_path):
    """The suffix names the format."""
    out = tmp_path / f"r.{suffix}"
    assert run("results", store, "--out", out) == (0, "", "")
    assert out.read_text().startswith(begin)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--where", "colour == 1"], "--where 'colour == 1': name 'colour'"),
        (["--columns", "colour"], "--columns colour: expected columns out of system"),
        (["--group", "colour"], "--group colour: expected"),
        (["--pivot", "verdict"], "--pivot goes with --group"),
        (["--group", "verdict", "--value", "states"], "go with --pivot"),
        (["--to", "colour"], "--to colour: expected one of text, csv"),
        (["--out", "r.colour"], "--out r.colour: expected one of text"),
        (["--to", "parquet"], "--to parquet needs --out FILE"),
        (["--out", "no/r.csv"], "no/r.csv: cannot be written"),
        (["--out", "no/r.parquet"], "no/r.parquet: cannot be written"),
    ],
)
def test_bad_requests(flags, complaint, run, store):
    outcome = run("results", store, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_no_store(run, tmp_path):
    """A file that is none, or not there."""
    outcome = run("results", tmp_path / "no.sqlite")
    assert outcome == (
        2,
        "",
        f"error: {tmp_path}/no.sqlite: the store does not exist\n",
    )
    sqlite3.connect(tmp_path / "other.sqlite").close()
    (tmp_path / "text.sqlite").write_text("text " * 100)
    for name in ("other", "text"):
        outcome = run("results", tmp_path / f"{name}.sqlite")
        assert outcome.code == 2
        assert "is not a result store" in outcome.err


# --- --witnesses ------------------------------------------------------------

#: a and b at any time, and c once, after which there is only d.
FREE = Network(
    [LTS.from_transitions([(0, "a", 0), (0, "b", 0), (0, "c", 1), (1, "d", 1)])], "m"
)


def test_witnesses(run, tmp_path):
    """The formats of `results`; --where and --columns; warnings beside the table."""
    store = tmp_path / "r.sqlite"
    solve([(FREE, f) for f in ("G a", "G(a | c)", "F d")], store=store)
    outcome = run("results", store, "--witnesses")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1] == "1 rows"
    assert "lasso_cycle" in outcome.out
    (record,) = run("results", store, "--witnesses", "--to", "json").records
    assert list(record) == list(WITNESS_DTYPES)
    assert json.loads(record["formulas"]) == ["G a", "G(a | c)", "F d"]
    outcome = run("results", store, "--witnesses", "--to", "csv", "--columns", "steps")
    assert outcome.out.splitlines()[0] == "steps"
    flags = ["--where", "formula == 'G a'", "--to", "json"]
    (record,) = run("results", store, "--witnesses", *flags).records
    assert record["n_formulas"] == 1
    outcome = run("results", store, "--witnesses", "--group", "system")
    assert outcome.code == 2
    assert "--witnesses does not go with --group" in outcome.complaint
    frame = pd.read_parquet(_written(run, store, tmp_path / "w.parquet"))
    assert list(frame) == list(WITNESS_DTYPES)
    frame = solve([(FREE, "G a"), (FREE, "F d")]).drop(columns="n_components")
    frame.assign(lasso_cycle=['["b"]', '["a"]']).to_csv(tmp_path / "r.csv", index=False)
    outcome = run("results", tmp_path / "r.csv", "--witnesses", "--to", "csv")
    assert outcome.err.startswith("warning: m: 2 of 2 lassos not compared with other")


def _written(run, store, path):
    assert run("results", store, "--witnesses", "-o", path) == (0, "", "")
    return path


@pytest.mark.parametrize("evil", EVIL_NAMES)
def test_hostile_names_of_witnesses(run, evil, tmp_path):
    """Names of systems and actions are data in every format."""
    system = Network([LTS.from_transitions([(0, evil, 0)])], evil)
    rows = [
        (Task(system, f), result("violated", [], [evil], n_components=1))
        for f in ("0", "F 0")
    ]
    store = make_store(tmp_path / "run.sqlite", rows)
    outcome = run("results", store, "--witnesses", "--to", "html")
    assert outcome.code == 0
    assert "<script" not in outcome.out.replace("</script", "")
    assert "<img" not in outcome.out
    record = json.loads(run("results", store, "--witnesses", "--to", "json").out)
    assert json.loads(record["lasso_cycle"]) == [evil]
    assert record["n_formulas"] == 2
