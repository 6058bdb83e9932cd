"""The result table on disk: what is written is what is read, whatever happens."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ltlpipe import LTS, LtlpipeError, Network, UnsupportedError, check, results
from ltlpipe.batch import table_files as module
from ltlpipe.batch.table import (
    CATEGORY,
    COMPARISON_DTYPES,
    DTYPES,
    REASONS,
    TIME,
    VERDICTS,
    from_frame,
    row_of,
    to_frame,
)
from ltlpipe.batch.table_files import CsvWriter, open_table
from ltlpipe.verdict.lasso import FINITE_KINDS

FULL = {
    "system": "é.dot",
    "formula_id": "f.ltl:1",
    "formula": 'G "a,b"',
    "verdict": "violated",
    "reason": None,
    "automaton": "BA",
    "acceptance": "tgba",
    "translator": "ltl3ba -f %f",
    "automaton_states": 2,
    "emptiness": "se05",
    "reductions": "none",
    "states": 2**53 + 1,
    "transitions": 0,
    "max_depth": 1,
    "seconds": 0.1,
    "memory_mib": 0.001,
    "lasso_prefix": '["a"]',
    "lasso_cycle": '["\\n"]',
    "seed": 0,
    "ltlpipe_version": "0.1.0",
    "spot_version": "2.13",
    "host_cores": 2,
    "started_at": "2026-01-01T00:00:00+00:00",
    "strategy": "explicit",
    "workers": 1,
    "compile_seconds": 0.0,
    "load_seconds": 0.5,
    "search_seconds": 0.05,
    "cpu_seconds": 0.07,
    "warnings": "[]",
    "configuration": "--deadlock stutter",
    "message": "no",
    "vacuous": False,
    "vacuous_part": "F b",
    "expected": "violated",
    "title": "no a",
    "coverage": 0.25,
    "sample": "{}",
    "finite_run": "bad-prefix",
    "deadlock": "reachable",
    "condition": "Inf(0)",
    "timeout": 60.0,
    "cpu_time": 0.5,
    "memory_limit_mib": 500.0,
    "max_states": 7,
    "n_components": 2,
    "wall_seconds": 0.7,
    "signal": "SIGKILL",
    "finished_at": "2026-01-01T00:00:01+00:00",
}
COLUMNS = list(FULL)  # those of the contract, in its order
EMPTY = {"system": "s.aut", "verdict": "unknown", "reason": "input-error"}
SUFFIXES = [".csv", ".parquet"]

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1,
    max_size=8,
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        column: {
            "string": TEXTS,
            CATEGORY: TEXTS,
            TIME: st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(
                lambda time: time.replace(microsecond=0).isoformat() + "+00:00"
            ),
            "Int64": st.integers(0, 2**63 - 1),
            "Float64": st.floats(0, allow_infinity=False),
            "boolean": st.booleans(),
        }[dtype]
        for column, dtype in DTYPES.items()
    }
    | {column: st.sampled_from(VERDICTS) for column in ("verdict", "expected")}
    | {"lasso_prefix": st.lists(TEXTS, max_size=3).map(json.dumps)}
    | {"lasso_cycle": st.lists(TEXTS, min_size=1, max_size=3).map(json.dumps)}
    | {"reason": st.sampled_from(REASONS)}
    | {"finite_run": st.sampled_from(FINITE_KINDS)},
)


def write(path, rows):
    with open_table(path) as table:
        write_all(table, rows)


def write_all(table, rows):
    for row in rows:
        table.write(row)


def test_columns_of_the_contract():
    """Their names and order are fixed: other people's scripts read them."""
    assert list(DTYPES) == COLUMNS


def test_types_without_any_row():
    """A run over nothing has the columns of any other."""
    frame = to_frame([])

    assert {c: str(t) for c, t in frame.dtypes.items()} == DTYPES
    assert frame.empty


def test_missing_is_na_and_zero_is_zero():
    """A number that is not known is no 0, and 0 is not missing."""
    frame = to_frame([FULL, EMPTY])

    assert frame["transitions"].tolist() == [0, pd.NA]
    assert frame["states"].tolist() == [2**53 + 1, pd.NA]  # exact beyond floats
    assert frame.loc[1].isna().sum() == len(COLUMNS) - len(EMPTY)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=st.lists(ROWS, max_size=4))
@example(rows=[FULL, EMPTY, {"formula": "NA"}, {"formula": "a &\r b\r\n| c\nd"}])
def test_what_is_written_is_read(suffix, rows):
    """Values and types, in both formats, missing values and odd texts included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r" + suffix)
        write(path, rows)

        assert_frame_equal(results(path), to_frame(rows))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_other_columns(suffix, tmp_path):
    """A table has the columns and types that it was opened with, and no others."""
    rows = [
        FULL | {"weak": False, "max_roots": 0, "search_seconds": 0.5, "more": 1},
        EMPTY | {"weak": True},
    ]
    path = tmp_path / f"r{suffix}"
    with open_table(path, COMPARISON_DTYPES) as table:
        write_all(table, rows)

    frame = to_frame(rows, COMPARISON_DTYPES)
    assert {c: str(t) for c, t in frame.dtypes.items()} == COMPARISON_DTYPES
    assert list(COMPARISON_DTYPES)[: len(COLUMNS)] == COLUMNS
    assert_frame_equal(results(path), frame)
    assert frame["weak"].tolist() == [False, True]
    assert frame["max_roots"].tolist() == [0, pd.NA]


@given(st.lists(ROWS, max_size=4))
@example(rows=[FULL, EMPTY])
def test_rows_of_a_frame(rows):
    """They are those that it was made from, None where nothing is known."""
    nothing = dict.fromkeys(COLUMNS)

    assert from_frame(to_frame(rows)) == [nothing | row for row in rows]


def test_csv_of_one_row(tmp_path):
    """One line per row, numbers as Python prints them, nothing where NA is."""
    write(tmp_path / "r.csv", [FULL, EMPTY])

    header, full, empty = (tmp_path / "r.csv").read_text().splitlines()
    assert header == ",".join(COLUMNS)
    assert full == (
        'é.dot,f.ltl:1,"G ""a,b""",violated,,BA,tgba,ltl3ba -f %f,2,se05,none,'
        '9007199254740993,0,1,0.1,0.001,"[""a""]","[""\\n""]",0,0.1.0,2.13,2,2026-01-01T00:00:00+00:00,'
        "explicit,1,0.0,0.5,0.05,0.07,[],'--deadlock stutter,no,False,F b,violated,"
        "no a,0.25,{},bad-prefix,reachable,Inf(0),60.0,0.5,500.0,7,2,0.7,SIGKILL,"
        "2026-01-01T00:00:01+00:00"
    )
    assert empty == "s.aut,,,unknown,input-error" + "," * (len(COLUMNS) - 5)


def test_row_of_a_verdict():
    """Everything that the verdict knows; the lasso as JSON lists."""
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "é", 1)])], "s.aut")
    verdict = check(network, "G a", emptiness="se05")

    row = row_of(verdict)

    assert (row["system"], row["formula"], row["formula_id"]) == ("s.aut", "G a", "G a")
    assert (row["verdict"], row["reason"]) == ("violated", None)
    assert (row["automaton"], row["emptiness"]) == ("BA", "se05")
    assert row["strategy"] == verdict.plan.strategy
    assert row["cpu_seconds"] == verdict.stats.cpu_seconds
    assert row["reductions"] == "none"
    assert (row["states"], row["seconds"]) == (
        verdict.stats.states,
        verdict.stats.seconds,
    )
    assert json.loads(row["lasso_prefix"]) == ["a"]
    assert json.loads(row["lasso_cycle"]) == ["é"]


@pytest.mark.parametrize("name", ["r", "r.txt", "r.csv.gz", ".csv"])
def test_unknown_suffix(name, tmp_path):
    """The suffix names the format; nothing is written to another."""
    with pytest.raises(UnsupportedError, match=r"ends in \.csv or \.parquet"):
        open_table(tmp_path / name)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".CSV"])
@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("nothing", "No such file or directory"),
        ("file", "Not a directory"),
        ("x" * 300, "File name too long"),
    ],
    ids=["missing", "file", "long"],
)
def test_where_nothing_can_be_written(folder, reason, suffix, tmp_path):
    """An error when the table is opened: before any task is solved."""
    (tmp_path / "file").touch()
    path = tmp_path / folder / f"r{suffix}"

    with pytest.raises(LtlpipeError) as caught:
        open_table(path)

    assert str(caught.value) == f"{path}: cannot be written: {reason}"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_of_that_name(suffix, tmp_path):
    """It stays; nothing is left beside it."""
    path = tmp_path / f"r{suffix}"
    path.mkdir()

    with pytest.raises(LtlpipeError, match="cannot be written: Is a directory"):
        open_table(path)
    assert list(tmp_path.iterdir()) == [path]


class NearlyFull:
    """A file on a disk that has room for some bytes more."""

    def __init__(self, stream, room):
        self.stream = stream
        self.room = room

    def write(self, data):
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self.stream.write(bytes(data)[: self.room])
        self.room -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self.stream, name)


@given(st.lists(ROWS, min_size=1, max_size=4), st.data())
def test_a_disk_that_fills_up(rows, data):
    """The file stays; beside it are whole rows: those before the error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        write(path, rows)
        header = len(",".join(COLUMNS)) + 1
        room = data.draw(st.integers(0, path.stat().st_size - header - 1))
        with CsvWriter(path) as table:
            table._stream = NearlyFull(table._stream, room)

            with pytest.raises(LtlpipeError, match="No space left on device") as caught:
                write_all(table, rows)
            table._stream = table._stream.stream

        assert_frame_equal(results(path), to_frame(rows))
        n_rows = table.n_rows
        assert n_rows < len(rows)
        said = f"; {table.place} holds the first {n_rows} rows"
        assert str(caught.value).endswith(said if n_rows else "device")
        assert table.place.exists() == bool(n_rows)
        if n_rows:
            frame = results(table.place.rename(path))
            assert_frame_equal(frame, to_frame(rows[:n_rows]))


def test_interrupted_in_the_middle_of_a_row(tmp_path):
    """Ctrl-C leaves whole rows, too."""

    class Interrupted(NearlyFull):
        def write(self, data):
            super().write(data[:5])
            raise KeyboardInterrupt

    with CsvWriter(tmp_path / "r.csv") as table:
        table.write(FULL)
        stream = table._stream
        table._stream = Interrupted(stream, 100)
        with pytest.raises(KeyboardInterrupt):
            table.write(EMPTY)

    assert_frame_equal(results(tmp_path / "r.csv"), to_frame([FULL]))


def test_a_device_that_is_full(tmp_path):
    """The reason is that of the device, not that nothing can be taken back."""
    (tmp_path / "r.csv").symlink_to("/dev/full")

    with pytest.raises(LtlpipeError) as caught:
        open_table(tmp_path / "r.csv")

    assert str(caught.value).endswith("cannot be written: No space left on device")


LIMITED = """
import json, resource, sys
from ltlpipe import LtlpipeError
from ltlpipe.batch import table_files as module
from ltlpipe.batch.table_files import open_table

path, size = sys.argv[1], int(sys.argv[2])
module._PARQUET_SECONDS = -1.0  # replaced with every row
try:
    with open_table(path) as table:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        for k in range(1000):
            table.write({"system": f"s{k}", "formula": f"G a{k}" * 50, "states": k})
except LtlpipeError as error:
    print(json.dumps([table.n_rows, str(error)]))
"""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_limit_of_the_system_on_file_size(suffix, tmp_path):
    """The real thing: the file stays, the rows so far are beside it."""
    path = tmp_path / f"r{suffix}"
    few = [
        {"system": f"s{k}", "formula": f"G a{k}" * 50, "states": k} for k in range(9)
    ]
    write(path, few)
    command = [sys.executable, "-c", LIMITED, path, str(path.stat().st_size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    n_rows, message = json.loads(done.stdout)
    assert 0 < n_rows < 1000
    assert_frame_equal(results(path), to_frame(few))
    (beside,) = tmp_path.glob(".r.*.partial")
    assert f"cannot be written: File too large; {beside} holds the first" in message
    frame = results(beside.rename(path))
    assert frame["states"].tolist() == list(range(n_rows))
    assert frame["system"].tolist() == [f"s{k}" for k in range(n_rows)]
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, sys
from ltlpipe.batch import table_files as module

module._PARQUET_SECONDS = -1.0
with module.open_table(sys.argv[1]) as table:
    table.write({"system": "s"})
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_a_killed_run_leaves(suffix, tmp_path, monkeypatch):
    """The next run that ends takes it away, and what others are writing to stays."""
    monkeypatch.setattr(module, "_PARQUET_SECONDS", -1.0)
    path = tmp_path / f"r[1]{suffix}"
    command = [sys.executable, "-c", KILLED, path]
    assert subprocess.run(command, check=False).returncode == -9
    (left,) = tmp_path.iterdir()
    os.utime(left, (1, 1))
    other = tmp_path / ".r.12345678.partial"
    other.touch()
    with open_table(path) as running:
        running.write(FULL)
        os.utime(running.place, (1, 1))
        write(path, [EMPTY, EMPTY])
        assert {*tmp_path.iterdir()} == {path, other, running.place}
        assert len(results(path)) == 2
    assert len(results(path)) == 1
    assert {*tmp_path.iterdir()} == {path, other}


def test_parquet_can_be_read_at_any_time(tmp_path, monkeypatch):
    """Not only after the last row; the former table stays until then."""
    monkeypatch.setattr(module, "_PARQUET_SECONDS", -1.0)
    path = tmp_path / "r.parquet"
    write(path, [FULL])

    with open_table(path) as table:
        for k in range(4):
            table.write({"states": k})
            so_far = pd.read_parquet(table.place)
            assert so_far["states"].tolist() == list(range(k + 1))
            assert_frame_equal(results(path), to_frame([FULL]))
    assert results(path)["states"].tolist() == list(range(4))


def test_parquet_is_not_rewritten_for_every_row(tmp_path):
    """Between replacements rows wait in memory; the last ones are never lost."""
    path = tmp_path / "r.parquet"

    with open_table(path) as table:
        table.write(FULL)
        assert table.place.stat().st_size == 0
    assert_frame_equal(results(path), to_frame([FULL]))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_solved_before_an_error_is_kept(suffix, tmp_path):
    """Whatever ends the with statement."""
    path = tmp_path / f"r{suffix}"

    def interrupted():
        with open_table(path) as table:
            table.write(FULL)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert_frame_equal(results(path), to_frame([FULL]))
