"""Guides: every command in them is run, and prints what they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import ltlpipe

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "fairness.md"
GUIDES = {GUIDE: 15, ROOT / "docs" / "vacuity.md": 3}
"""How many commands they have, at least."""

_COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:[^$`].*\n)*)", re.M
)
_SECONDS = re.compile(r"(, |after )[\d.]+ s\b")


def commands(guide):
    """Each command of a guide with the output that stands below it."""
    for found in _COMMAND.finditer(guide.read_text()):
        arguments = shlex.split(found["command"].replace("\\\n", " "))
        assert arguments[0] == "ltlpipe"
        yield pytest.param(arguments[1:], found["output"], id=" ".join(arguments[1:]))


def without_seconds(text):
    return _SECONDS.sub(r"\1... s", text)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_the_guide_has_commands(guide):
    """As many as there are lines that begin with a dollar sign."""
    lines = guide.read_text().splitlines()
    n_commands = sum(line.startswith("$ ") for line in lines)
    assert len(list(commands(guide))) == n_commands > GUIDES[guide]


@pytest.mark.parametrize(
    ("arguments", "output"), [each for guide in GUIDES for each in commands(guide)]
)
def test_what_the_guide_says(arguments, output, run, monkeypatch):
    """The verdicts, the lassos and the plan, word for word."""
    monkeypatch.chdir(ROOT)
    outcome = run(*arguments)
    assert outcome.err == ""
    assert without_seconds(outcome.out) == without_seconds(output)
    assert outcome.code == int("violated" in output)


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
