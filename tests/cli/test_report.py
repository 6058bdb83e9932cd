"""`ltlpipe report`, and `solve --report`: from a folder to a page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.report.handmade_stores import SYSTEM, make_store, some_tasks
from tests.report.test_page import Page

EXAMPLES = Path(__file__).parents[2] / "examples" / "problems"


@pytest.fixture
def store(tmp_path):
    (tmp_path / "system.dot").write_text(SYSTEM)
    return make_store(tmp_path / "run.sqlite", some_tasks(tmp_path / "system.dot"))


def test_a_page(run, store, tmp_path):
    """Of all rows, or of some, under a title."""
    out = tmp_path / "report.html"
    outcome = run("report", store, "--out", out)
    assert outcome == (0, f"report of 5 tasks written to {out}\n", "")
    assert Page(out).data["rows"] == 5

    flags = ["--title", "a < b", "--where", "verdict == 'unknown'", "-o", out]
    outcome = run("report", store, *flags)
    assert outcome == (0, f"report of 2 tasks written to {out}\n", "")
    assert Page(out).texts["h1"] == ["a < b"]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--out", "r.pdf"], "r.pdf: expected a file that ends in .html"),
        (["--out", "no/r.html"], "no/r.html: cannot be written: no such folder"),
        (["--out", "r.html", "--where", "colour"], "--where colour"),
    ],
)
def test_bad_requests(flags, complaint, run, store, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    outcome = run("report", store, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert not (tmp_path / "r.html").exists()


def test_no_results(run, tmp_path):
    outcome = run("report", tmp_path / "no.sqlite", "-o", tmp_path / "r.html")
    assert (outcome.code, outcome.out) == (2, "")
    assert "no.sqlite" in outcome.err


def test_from_a_folder_to_a_page(run, tmp_path):
    """The command of the README; again, it is the same page of the same results."""
    problems = tmp_path / "problems"
    shutil.copytree(EXAMPLES / "mutex", problems / "mutex")
    store, page = tmp_path / "run.sqlite", tmp_path / "report.html"
    command = ["solve", problems, "--store", store, "--report", page]
    outcome = run(*command)
    assert (outcome.code, outcome.err) == (1, "")
    assert f"rows written to {store}" in outcome.out
    assert outcome.out.endswith(f" tasks written to {page}\n")
    first = Page(page).data
    pictures = first["lassos"]["pictures"]
    assert pictures
    assert all(system is not None for *_, system in pictures)
    (system,) = first["lassos"]["systems"]
    assert system["parts"]
    assert run(*command).code == 1
    again = Page(page).data
    for data in (again, first):  # the last run that lists a task is another one
        data["columns"] = [c for c in data["columns"] if c["name"] != "run"]
    assert again == first


def test_without_a_store(run, tmp_path):
    """The page is about the table."""
    table, page = tmp_path / "r.csv", tmp_path / "r.html"
    flags = ["--out", table, "--report", page, "--quiet"]
    outcome = run("solve", EXAMPLES / "mutex", *flags)
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "")
    data = Page(page).data
    assert data["rows"] == len(table.read_text().splitlines()) - 1
    assert data["lassos"]["systems"] == []


def test_a_page_that_cannot_be_made(run, tmp_path):
    """Said before anything is solved."""
    outcome = run("solve", EXAMPLES, "--store", tmp_path / "s", "--report", "no/r.html")
    assert (outcome.code, outcome.out) == (2, "")
    assert "no/r.html: cannot be written: no such folder" in outcome.err
    assert not (tmp_path / "s").exists()
