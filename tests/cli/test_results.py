"""`ltlpipe results`: tables out of a store."""

from __future__ import annotations

import io
import json
import sqlite3

import pandas as pd
import pytest

from ltlpipe import solve
from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.tasks import Task
from ltlpipe.systems.lts import LTS, Network

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
    assert sum("emptiness=se05" in line for line in lines) == 1
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
        ("emptiness=couvreur99", 1),
        ("emptiness=se05", 1),
    ]
    flags = ["--group", "formula", "--pivot", "emptiness", "--value", "verdict"]
    outcome = run("results", store, *flags, "--to", "csv")
    assert outcome.out.splitlines() == [
        "formula,couvreur99,se05",
        "G a,violated,violated",
        "G(a -> F b),holds,holds",
    ]


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
    assert outcome == (2, "", f"error: {tmp_path}/no.sqlite: there is no such store\n")
    sqlite3.connect(tmp_path / "other.sqlite").close()
    (tmp_path / "text.sqlite").write_text("text " * 100)
    for name in ("other", "text"):
        outcome = run("results", tmp_path / f"{name}.sqlite")
        assert outcome.code == 2
        assert "is no result store" in outcome.err
