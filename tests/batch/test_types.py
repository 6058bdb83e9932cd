"""Columns have one type, wherever a table comes from."""

from __future__ import annotations

import pandas as pd
import pytest

from ltlpipe import LTS, Network, analyze, compare, results, solve
from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import COMPARISON_DTYPES, DTYPES, VERDICTS
from ltlpipe.batch.table_files import open_table

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")
FORMULAS = ["G(a -> F b)", "G a", "G("]  # a verdict of each kind
TASKS = [(RING, formula) for formula in FORMULAS]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same questions in every way, and each table written and read again."""
    folder = tmp_path_factory.mktemp("types")
    store = folder / "run.sqlite"
    made = {
        "solve": solve(TASKS),
        "jobs": solve(TASKS, jobs=2),
        "store": solve(TASKS, store=store),
        "known": solve(TASKS, store=store),
        "results": results(store),
        "compare": compare(RING, FORMULAS[:2], emptiness="se05"),
        "nothing": solve([]),
        "analyze": analyze(FORMULAS[:2]),
    }
    for name, frame in [*made.items()]:
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet", index=False)
        made[f"{name}.csv"] = results(folder / f"{name}.csv")
        made[f"{name}.parquet"] = results(folder / f"{name}.parquet")
    return made


KINDS = ["solve", "jobs", "store", "known", "results", "compare", "nothing", "analyze"]


@pytest.mark.parametrize("suffix", ["", ".csv", ".parquet"])
@pytest.mark.parametrize("name", KINDS)
def test_one_declaration(name, suffix, tables):
    """Each column that is shared has the type that is declared for it."""
    frame = tables[name + suffix]
    declared = RESULTS_DTYPES | COMPARISON_DTYPES
    shared = [column for column in frame if column in declared]

    assert [str(frame[c].dtype) for c in shared] == [declared[c] for c in shared]
    expected = ["formula", "seconds"] if name == "analyze" else [*DTYPES]
    assert {*expected} <= {*shared}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", KINDS)
def test_there_and_back(name, suffix, tables):
    """A table that is written and read is what it was; `analyze` has own columns."""
    frame, again = tables[name], tables[name + suffix]
    shared = [c for c in frame if c in RESULTS_DTYPES | COMPARISON_DTYPES]
    pd.testing.assert_frame_equal(again[shared], frame[shared])


def test_equal_columns_can_be_compared(tables):
    """The categories are those of the values, and of verdicts always all three."""
    first = tables["solve"]
    for name in ("jobs", "store", "known", "results"):
        for column in ("system", "verdict", "reason", "automaton", "strategy"):
            pd.testing.assert_series_equal(tables[name][column], first[column])
    for name in KINDS[:-1]:
        assert tables[name]["verdict"].cat.categories.tolist() == [*VERDICTS]
    assert (first["started_at"] <= pd.Timestamp.now("UTC")).all()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_the_command_line_writes(suffix, tables, tmp_path):
    """Rows that are written one by one come back as `solve` returns them."""
    from ltlpipe.batch.solving import solve_rows
    from ltlpipe.batch.task_sources import as_tasks

    path = tmp_path / f"r{suffix}"
    with open_table(path) as table:
        for row in solve_rows(as_tasks(TASKS)):
            table.write(row)

    types = {c: str(t) for c, t in results(path).dtypes.items()}
    assert types == {c: str(t) for c, t in tables["solve"].dtypes.items()}
