"""Result tables from files."""

from __future__ import annotations

import gzip
import sqlite3

import pandas as pd
import pytest

from ltlpipe import InputError, LtlpipeError, UnsupportedError, results
from ltlpipe.batch.table import COMPARISON_DTYPES, DTYPES, to_frame
from ltlpipe.batch.table_files import open_table
from tests.report.handmade_tables import row, stored

ROWS = [
    row(
        "default",
        1.5,
        states=10**12,
        timeout=60.0,
        started_at="2026-11-21T20:00:00.25+00:00",
    ),
    row("NA", None, "", system="<b>"),
]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_solve_has_written(suffix, tmp_path):
    """Comes back as it was, types and all; times are times."""
    path = tmp_path / f"r{suffix}"
    with open_table(path) as table:
        for some in ROWS:
            table.write(some)
    frame = to_frame(ROWS, DTYPES)
    if suffix == ".csv":  # an empty cell is a missing one
        frame = frame.replace({"formula": {"": pd.NA}, "formula_id": {"": pd.NA}})
    pd.testing.assert_frame_equal(results(path), frame)


def test_what_results_has_written(tmp_path):
    """Numbers are numbers, times are times, categories are categories."""
    frame = stored(ROWS)
    frame.to_csv(tmp_path / "r.csv", index=False)
    data = (tmp_path / "r.csv").read_bytes()
    (tmp_path / "r.CSV.gz").write_bytes(gzip.compress(data))
    for name in ("r.csv", "r.CSV.gz"):
        found = results(tmp_path / name)
        assert [*found] == [*frame]
        assert found["states"].tolist() == [10**12, pd.NA]
        assert found["timeout"].tolist() == [60.0, pd.NA]
        assert found["configuration"].tolist() == ["default", "NA"]
        for column in ("system", "verdict", "started_at"):
            pd.testing.assert_series_equal(found[column], frame[column])
    frame.to_parquet(tmp_path / "r.parquet")
    found = results(tmp_path / "r.parquet")
    columns = ["system", "verdict", "states", "seconds", "started_at", "finished_at"]
    pd.testing.assert_frame_equal(found[columns], frame[columns])


def test_other_columns(tmp_path):
    """Those of a comparison, and of whoever has added some."""
    frame = to_frame([{"weak": True, "pairs": 3}], COMPARISON_DTYPES)
    frame.assign(own=[0.5]).to_csv(tmp_path / "r.csv", index=False)
    found = results(tmp_path / "r.csv")
    assert found["weak"].tolist() == [True]
    assert str(found["pairs"].dtype) == "Int64"
    assert found["own"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("r.csv", b"\nx,y,x\n1,2,3\n", "r.csv:2: two columns 'x'"),
        (
            "r.csv",
            b"verdict\tformula\n",
            "separator seems to be '.t', expected a comma",
        ),
        ("r.csv", b"states\n1\nmany\n", "states, row 2: 'many', expected a whole num"),
        ("r.csv", b"states\n1.5\n", "states, row 1: '1.5', expected a whole number"),
        ("r.csv", b"states\ninf\n", "states, row 1: 'inf', expected a whole number"),
        ("r.csv", b"states\n1e30\n", "states, row 1: '1e30', expected a whole number"),
        ("r.csv", b"states\n" + b"9" * 20, "'9+', expected a whole number of 64 bits"),
        ("r.csv", b"seconds\n0\nfast\n", "seconds, row 2: 'fast', expected a number"),
        pytest.param(
            *("r.csv", b"seconds\n1\n" + b"1" * 5_000, "seconds, row 2: '1{40}', exp"),
            id="digits",
        ),
        ("r.csv", b"vacuous\nTrue\nso\n", "vacuous, row 2: 'so', expected True or"),
        (
            "r.csv",
            b"started_at\nnoon\n",
            "no result table: started_at.* format",
        ),
        ("r.csv", b"lasso_prefix\n[]\n[a\n", "lasso_prefix: row 2: lasso '.a': expec"),
        ("r.csv", b"lasso_cycle\n[1]\n", "lasso_cycle: row 1: lasso '.1.': expected"),
        ("r.csv", b"lasso_cycle\n[]\n", "lasso_cycle: row 1: the cycle of a lasso"),
        ("r.csv", b"verdict\nyes\n", "verdict: 'yes', expected one of holds, violated"),
        ("r.csv", b"a,b\n1,2,3\n4,5,6,7\n", "no result table"),
        ("r.csv", b'a\n"b\n', "no result table"),
        ("r.csv", b"", "no result table"),
        ("r.csv", b"\xff", "expected text in UTF-8"),
        ("r.parquet", b"PAR1", "cannot be read"),
        ("r.parquet", b"", "cannot be read"),
    ],
)
def test_damaged_files(name, data, message, tmp_path):
    """The message names the file."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        results(path)
    assert error.value.file == str(path)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("seconds", ["a", "b"], "seconds: "),
        ("states", [1.5, 2.0], "states: cannot safely cast"),
        ("states", [2.0**70, 1.0], "states: "),
        ("lasso_cycle", [["a"], ["b", "c"]], "lasso_cycle: expected texts"),
        ("started_at", [["a"], None], "started_at: expected texts"),
        ("started_at", [True, False], "started_at: "),
    ],
)
def test_columns_of_a_parquet_table_that_are_something_else(
    column, values, message, tmp_path
):
    """They are refused as those of CSV are: the message names file and column."""
    path = tmp_path / "r.parquet"
    pd.DataFrame({"system": ["m", "n"], column: values}).to_parquet(path)
    with pytest.raises(InputError, match=f"no result table: {message}") as error:
        results(path)
    assert error.value.file == str(path)


def test_columns_of_a_parquet_table_have_the_types_of_csv(tmp_path):
    """Numbers are names, too, if the column holds names."""
    frame = pd.DataFrame({"system": [1, 2], "formula_id": [1, 2], "states": [1.0, 2]})
    frame.to_parquet(tmp_path / "r.parquet")
    frame.astype({"states": "Int64"}).to_csv(tmp_path / "r.csv", index=False)
    found = results(tmp_path / "r.parquet")
    pd.testing.assert_frame_equal(found, results(tmp_path / "r.csv"))


def test_other_files(tmp_path):
    """Those that are not there, other databases, and other kinds."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        results(tmp_path / "none.csv")
    with pytest.raises(LtlpipeError, match="is not a regular file"):
        results(tmp_path)
    (tmp_path / "r.txt").write_text("system")
    with pytest.raises(UnsupportedError, match="not a result store, and its name"):
        results(tmp_path / "r.txt")
    db = sqlite3.connect(tmp_path / "other")
    db.execute("CREATE TABLE t (c)")
    db.close()
    with pytest.raises(LtlpipeError, match="not a result store"):
        results(tmp_path / "other")
