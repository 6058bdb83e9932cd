"""Guides: every command in them is run, and prints what they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import ltlpipe

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "fairness.md"
CHARTS = ROOT / "docs" / "charts.md"

_COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:[^$`].*\n)*)", re.M
)
_SECONDS = re.compile(r"(, |after )[\d.]+ s\b")


def commands(guide):
    """Each command of a guide with the output that stands below it."""
    for found in _COMMAND.finditer(guide.read_text(encoding="utf-8")):
        arguments = shlex.split(found["command"].replace("\\\n", " "))
        assert arguments[0] == "ltlpipe"
        yield pytest.param(arguments[1:], found["output"], id=" ".join(arguments[1:]))


def without_seconds(text):
    return _SECONDS.sub(r"\1... s", text)


@pytest.mark.parametrize(("guide", "least"), [(GUIDE, 15), (CHARTS, 3)])
def test_guides_have_commands(guide, least):
    """As many as there are lines that begin with a dollar sign."""
    lines = guide.read_text(encoding="utf-8").splitlines()
    n_commands = sum(line.startswith("$ ") for line in lines)
    assert len(list(commands(guide))) == n_commands >= least


@pytest.mark.parametrize(("arguments", "output"), [*commands(GUIDE), *commands(CHARTS)])
def test_what_guides_say(arguments, output, run, monkeypatch):
    """The verdicts, the lassos and the plan, word for word."""
    monkeypatch.chdir(ROOT)
    outcome = run(*arguments)
    assert outcome.err == ""
    assert without_seconds(outcome.out) == without_seconds(output)
    assert outcome.code == int("violated" in output)


def test_charts_in_python(monkeypatch, capsys):
    """The chart of the first command, and in ASCII."""
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", CHARTS.read_text("utf-8"), re.S)
    names = {"ltlpipe": ltlpipe}
    exec(code, names)
    lines = capsys.readouterr().out.splitlines()
    shown = next(commands(CHARTS)).values[1].splitlines()[1:]
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
