"""The steps of ``make bench``: every table is one's, and old rows are measured anew."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest

from benchmarks import everything, record
from benchmarks.everything import STEPS, Step
from benchmarks.measured_code import MEASURED, code_of

ROOT = Path(__file__).parents[2]


def test_every_table_is_written_by_one_step():
    tables = [name for step in STEPS for name in step.tables.split()]
    assert len(tables) == len(set(tables))
    assert {p.stem for p in (ROOT / "results").glob("*.csv")} <= {*tables}
    assert {*MEASURED} <= {*tables}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_commands_are_those_of_scripts(step):
    _, dash_m, module, *_ = step.arguments(ROOT, "folder")
    assert dash_m == "-m"
    assert hasattr(importlib.import_module(module), "main") or module == "ltlpipe"


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Give the steps a folder of their own, with a page."""
    monkeypatch.setattr(everything, "RESULTS", tmp_path)
    monkeypatch.setattr(everything, "DURATIONS", tmp_path / "durations.csv")
    monkeypatch.setattr(everything, "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text("# Page\n\n| tables in `results/` | to come\n")
    return tmp_path


def rows_of(path):
    with path.open() as stream:
        return [row["n"] for row in csv.DictReader(stream)]


def test_rows_of_other_code_are_forgotten(results):
    path = results / "por.csv"
    record.append(path, {"n": "today's"})
    text = path.read_text()
    path.write_text(
        text + text.splitlines()[1].replace(code_of("por"), "0" * 12) + "\n"
    )
    assert len(rows_of(path)) == 2
    everything.forget_old_rows(path)
    assert rows_of(path) == ["today's"]
    path.write_text(path.read_text().replace(code_of("por"), "0" * 12))
    everything.forget_old_rows(path)
    assert not path.exists()
    everything.forget_old_rows(path)  # nor is a missing one an error


def test_steps_that_are_done_are_left_out(results, monkeypatch, capsys):
    """What fails is named, and is run again the next time."""
    script = "analyze --formulas"
    steps = Step("ltlpipe analyze {folder}/missing", "por"), Step(script, "explore")
    monkeypatch.setattr(everything, "STEPS", steps)
    record.append(results / "explore.csv", {"n": 1})
    assert everything.main(["--list"]) == 0
    assert capsys.readouterr().out == "por: ltlpipe analyze {folder}/missing\n"
    assert everything.main([]) == 1
    assert capsys.readouterr().out.endswith("failed: por\n")
    assert not (results / "durations.csv").exists()


def test_durations_are_told_on_the_page(results, monkeypatch):
    """Each step has a line; what has not been measured has none of its own."""
    steps = Step("por", "por"), Step("explore", "explore flatness")
    monkeypatch.setattr(everything, "STEPS", steps)
    everything.note_duration(steps[1], 90)
    everything.note_duration(steps[1], 150)
    *_, first, second = (results / "README.md").read_text().splitlines()
    assert first == "| por | `por` | ? |  |"
    assert second.startswith("| explore, flatness | `explore` | 2.5 | 20")
