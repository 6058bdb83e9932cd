"""Guides: their lines of Python run; textbook examples have known answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ltlpipe
from tests.cli.test_sessions import sessions, steps

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "fairness.md"
CHARTS = ROOT / "docs" / "counterexamples.md"


def test_charts_in_python(monkeypatch, capsys):
    """The chart of the first command, and in ASCII."""
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", CHARTS.read_text("utf-8"), re.S)
    names = {"ltlpipe": ltlpipe}
    exec(code, names)
    lines = capsys.readouterr().out.splitlines()
    found = [
        step for each in sessions("docs/counterexamples.md") for step in steps(each)
    ]
    printed = next(printed for words, printed in found if "--chart" in words)
    shown = printed.splitlines()[1:]
    assert [f"  {line}" for line in lines[: len(shown)]] == shown
    assert "".join(lines[len(shown) :]).isascii()
    assert names["picture"].startswith("<svg")


def test_the_guide_in_python(monkeypatch):
    """The lines of Python run, and come to the verdict of the command."""
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    names = {"ltlpipe": ltlpipe}
    exec(code, names)
    assert names["verdict"].verdict == "violated"
    cycle = names["verdict"].lasso.cycle
    assert {"aside_1", "aside_2"} == set(cycle)


@pytest.mark.parametrize(
    ("system", "formula", "answers"),
    [
        ("semaphore", "G(ask_1 -> F enter_1)", "violated violated holds"),
        ("queue", "G(ask_1 -> F enter_1)", "violated holds holds"),
        ("peterson", "G(ask_1 -> F(free_1 | turn_1))", "violated holds holds"),
        ("philosophers", "G(hungry_1 -> F eat_1)", "violated violated holds"),
        ("philosophers", "G(hungry_3 -> F eat_3)", "violated violated holds"),
        ("corridor", "GF(pass_left | pass_right)", "violated violated violated"),
    ],
)
@pytest.mark.parametrize("way", [{}, {"acceptance": "tgra", "emptiness": "rabin"}])
def test_textbook_examples(system, formula, answers, way):
    """Known answers without fairness, with weak and with strong fairness."""
    network = ltlpipe.load(ROOT / "examples" / "fairness" / f"{system}.dot")
    found = [
        ltlpipe.check(network, formula, fairness=kind, **way).verdict
        for kind in (None, "weak", "strong")
    ]
    assert " ".join(found) == answers


def test_the_guide_to_witnesses(monkeypatch):
    """One run violates three formulas."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "vacuity.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    names = {}
    exec(code, names)
    assert (names["frame"]["verdict"] == "violated").sum() == 5
    assert names["found"]["n_formulas"].tolist() == [1, 3, 1]
    assert names["found"]["lasso_cycle"][1] == '["drive"]'
