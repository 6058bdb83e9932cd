"""The three jobs of `docs/jobs.md` end to end: a notebook, a terminal, a browser."""

from __future__ import annotations

import doctest
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks.browser import chromium
from tests.cli.command_line import OnTerminal, program
from tests.cli.test_sessions import blocks
from tests.report.chromium import messages, needs_chromium, wait_for

ROOT = Path(__file__).parents[1]
PAGE = "docs/jobs.md"

pytestmark = pytest.mark.thorough("runs a notebook, a terminal and a browser")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page, and the examples."""
    for name, text in blocks(PAGE):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_requirements_in_a_notebook(folder, monkeypatch):
    """The page's Python, then the verdict and why it is what it is, as they show."""
    for variable in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "TMPDIR"):
        (folder / variable).mkdir()
        monkeypatch.setenv(variable, str(folder / variable))
    python = [text for name, text in blocks(PAGE) if text.startswith(">>> ")]
    parse = doctest.DocTestParser().get_examples
    cells = ["".join(part.source for part in parse(text)) for text in python]
    cells += [
        'verdict = ltlpipe.check("lift.dot", "G(call_0 -> F open_0)")\nverdict',
        "verdict.lasso.why()",
    ]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    shown = [
        output["data"]
        for cell in client.execute().cells
        for output in cell.outputs
        if "data" in output
    ]
    assert "Why it is violated" in shown[-2]["text/html"]
    assert "<svg" in shown[-2]["text/html"]
    assert "Fopen_0" in shown[-1]["text/html"]


def test_a_table_on_a_terminal(folder):
    """Requirements of one system, on a terminal of 80 columns."""
    with OnTerminal("check", "lift.dot", "-F", "lift.ltl", "--out", "t.csv") as run:
        outcome = run.end()
    assert outcome.code == 1
    assert "4 formulas: 2 holds, 2 violated" in outcome.out
    with OnTerminal("results", "t.csv", columns=80) as run:
        outcome = run.end()
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("violated" in line for line in lines) == 2
    assert any(line.startswith("not shown, for lack of room") for line in lines)


@needs_chromium
def test_a_report_in_a_browser(folder, tmp_path_factory):
    words = "solve examples/problems --out t.csv --report report.html"
    done = program(*words.split())
    assert done.code == 1, done.err
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        browser.get((folder / "report.html").as_uri())
        wait_for(
            lambda: browser.execute_script(
                "return document.documentElement.dataset.ready"
            )
        )
        totals = browser.find_element("css selector", "#totals").text
        assert "13 holds, 5 violated" in totals
        assert messages(browser) == []
