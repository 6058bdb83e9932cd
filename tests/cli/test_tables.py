"""Tables on terminals of any width, and in pipes."""

from __future__ import annotations

import re

import pytest
from rich.table import Table

from ltlpipe.cli.tables import drawn, fitted

TITLES = ("system", "formula_id", "configuration", "verdict", "reason", "memory_mib")
ROW = ("a/very/long/path/of/a/system.dot", "formulas.ltl:12", "default", "violated")


def table():
    made = Table()
    for title in TITLES[:-1]:
        made.add_column(title, overflow="fold")
    made.add_column(TITLES[-1], justify="right")
    made.add_row(*ROW, "-", "12345.678")
    return made


@pytest.mark.parametrize("width", range(20, 140, 7))
def test_headings_and_verdicts_are_whole(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    *lines, note = drawn(table()).splitlines()
    if not note.startswith("not shown"):
        lines, note = [*lines, note], ""
    shown = re.findall(r"[a-z_]+", lines[1])
    assert shown == [title for title in TITLES if title in shown]
    assert set(re.findall(r"[a-z_]+", note.partition(":")[2])) == {*TITLES} - {*shown}
    assert "violated" in lines[3]
    assert max(map(len, lines)) <= width
    assert len({len(line) for line in lines}) == 1  # no border is cut


def test_a_pipe_has_everything(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    text = drawn(table())
    assert all(cell in text for cell in (*TITLES, *ROW))
    assert "not shown" not in text


def test_short_columns_stay_where_long_ones_go():
    narrowed, left = fitted(table(), 30)
    assert [str(column.header) for column in narrowed.columns] == ["system", "verdict"]
    assert left == ["formula_id", "configuration", "reason", "memory_mib"]


@pytest.mark.parametrize("width", [80, 100])
def test_commands(run, width, monkeypatch, tmp_path):
    ring = tmp_path / "ring.aut"
    ring.write_text('des (0,2,2)\n(0,"a",1)\n(1,"b",0)\n')
    (tmp_path / "f.ltl").write_text("G a\nGF a\n")
    monkeypatch.setenv("COLUMNS", str(width))
    ways = "se05,couvreur99"
    compared = run("compare", ring, "-f", "G a", "--emptiness", ways).out
    analysed = run("analyze", tmp_path / "f.ltl").out
    runs, _, ways = compared.partition("┃ way")
    for text in (runs, "┃ way" + ways, analysed):
        rows = [line for line in text.splitlines() if line.startswith(("│", "┃"))]
        assert len({*map(len, rows)}) == 1
        assert "…" not in text
    assert runs.count("violated") == 2
