"""Result tables from stores and files, and their aggregation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.identity import LIMIT_COLUMNS, settings_of
from ltlpipe.batch.sqlite_file import reading
from ltlpipe.batch.stored_rows import RESULT_DTYPES, rejections, stored_rows
from ltlpipe.batch.table import COMPARISON_DTYPES, DTYPES, VERDICTS, typed
from ltlpipe.batch.table_files import TABLE_SUFFIXES, read_table
from ltlpipe.runtime.arguments import PATH, expect
from ltlpipe.runtime.errors import InputError, UnsupportedError, listed, warn
from ltlpipe.runtime.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ltlpipe.runtime.files import StrPath

AGGREGATES = ("count", "sum", "mean", "median", "min", "max", "first")
"""What a cell of a pivoted table can be of the values that fall into it."""

_STORE = b"SQLite format 3\0"
RESULTS_DTYPES = (
    DTYPES
    | RESULT_DTYPES
    | dict.fromkeys(LIMIT_COLUMNS.values(), "Float64")
    | {"max_states": "Int64", "attempts": "Int64", "run": "Int64", "task": "string"}
)
"""The columns of `results` and their types."""


def results(path: StrPath) -> pd.DataFrame:
    """Return the results in a store or a file, one row per task that has one.

    Parameters
    ----------
    path : path
        A store written by ``solve --store``, with any name, also during a run.  Rows
        that are damaged are left out, with a warning.  Or a table that ``solve``,
        ``compare`` or ``results`` has written: ``.csv``, ``.csv.gz`` or ``.parquet``.

    Returns
    -------
    DataFrame
        Of a table its columns.  Of a store those of the result table, and:
        `n_components`; `wall_seconds`, all in;
        `signal`, from which the process of a task died;
        `message`, why a task failed; `finished_at`; `configuration`, the options of
        the task as ``acceptance=ba emptiness=se05`` or "default"; its limits `timeout`,
        `cpu_time`, `memory_limit_mib`, `max_states`; `attempts`; `run`, the last one
        that lists the task; `task`, its key.  Integers are nullable, times have time
        zones, and what repeats itself is categorical: see `ltlpipe.batch.table.DTYPES`.

    Raises
    ------
    InputError
        A table cannot be read, or a column does not hold what its name says.
    LtlpipeError
        The store does not exist, is damaged, or belongs to a newer ltlpipe.
    UnsupportedError
        It is neither a store nor such a table.
    """
    import pandas as pd

    expect(PATH, path=path)
    name = os.fspath(path)
    if name.lower().endswith(TABLE_SUFFIXES) and not is_store(name):
        return read_table(name, RESULTS_DTYPES | COMPARISON_DTYPES)
    if Path(name).is_file() and Path(name).stat().st_size and not is_store(name):
        raise UnsupportedError(
            f"{name}: this is not a result store, and its name does not end in "
            f"{listed(TABLE_SUFFIXES)}"
        )
    known = _columns(name)
    columns = {c: typed(known[c], c, dtype) for c, dtype in RESULTS_DTYPES.items()}
    return pd.DataFrame(columns)


def is_store(path: StrPath) -> bool:
    """Return whether a file has the header of a store.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    try:
        with open_regular(path) as stream:
            return stream.read(len(_STORE)) == _STORE
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot be read: {reason}", file=os.fspath(path)) from None


def _columns(path: str) -> dict[str, list[Any]]:
    """Return the values of each column, all from one moment.

    Invalid rows are left out, with a warning.
    """
    own = ("system", "formula_id", "formula", "expected")  # of the task, not its result
    kept = ["attempts", *(column for column in RESULT_DTYPES if column not in own)]
    with reading(path) as db:
        tasks = list(stored_rows(db, "tasks", "ORDER BY run, number"))
        found = list(stored_rows(db, "results"))
    faulty = [row for row in (*tasks, *found) if row.objection is not None]
    if faulty:
        warn(f"{path}: {len(faulty)} rows left out: {rejections(faulty)}")
    results = {row.said["key"]: row.said for row in found if row.objection is None}
    pairs = [
        (task.said, results[task.said["key"]])
        for task in tasks
        if task.objection is None and task.said["key"] in results
    ]
    columns = {c: [task[c] for task, _ in pairs] for c in ("run", *own)}
    columns |= {c: [result[c] for _, result in pairs] for c in kept}
    columns["task"] = [task["key"] for task, _ in pairs]
    options = [task["options"] for task, _ in pairs]
    settings = {text: settings_of(json.loads(text)) for text in set(options)}
    for column in ("configuration", *LIMIT_COLUMNS.values()):
        columns[column] = [settings[text][column] for text in options]
    return columns


def filtered(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the rows of `results` for which an expression is true.

    `where` is in the syntax of `pandas.DataFrame.query`; if it is missing because a
    value is, it counts as false.  Times are written without their zone, which is UTC.
    """
    import pandas as pd

    # Expressions of pandas compare texts with times without a zone only.
    zoned = frame.select_dtypes("datetimetz")
    times = {str(c): zoned[c].dt.tz_localize(None) for c in zoned}
    plain = frame.assign(**times)
    try:
        found = plain.eval(where, engine="python", local_dict={}, global_dict={})
    except Exception as error:  # whatever Python code can raise
        raise UnsupportedError(f"--where={where!r}: {error}") from None
    if not isinstance(found, pd.Series) or not pd.api.types.is_bool_dtype(found.dtype):
        raise UnsupportedError(
            f"--where={where!r}: expected a condition on the columns"
        )
    return frame[found.fillna(False).astype(bool)].reset_index(drop=True)


def refuse_unknown(frame: pd.DataFrame, option: str, names: Sequence[str]) -> None:
    """Refuse names that are not columns; the message lists the columns."""
    for name in names:
        if name not in frame.columns:
            known = ", ".join(map(str, frame.columns))
            raise UnsupportedError(
                f"--{option}={name}: expected columns out of {known}"
            )


def grouped(frame: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return one row per group: how many tasks came to what, at what cost.

    Parameters
    ----------
    frame : DataFrame
        What `results` returned.
    by : sequence of str
        Columns; missing values form a group, too.

    Returns
    -------
    DataFrame
        Columns `by`, `tasks`, a column per verdict, and the sums `seconds` and `states`
        of known values.
    """
    refuse_unknown(frame, "group", [*by, "verdict"])
    counts = {v: (frame["verdict"] == v).astype("int64") for v in VERDICTS}
    costs = [c for c in ("seconds", "states") if c in frame and c not in by]
    sums = ["tasks", *VERDICTS, *costs]
    groups = frame.assign(tasks=1, **counts).groupby(
        list(by), observed=True, dropna=False
    )
    return groups[sums].sum().reset_index()


def pivoted(
    frame: pd.DataFrame,
    by: Sequence[str],
    columns: str,
    value: str | None = None,
    aggregate: str | None = None,
) -> pd.DataFrame:
    """Return one row per group, with a column for each value of another column.

    Parameters
    ----------
    frame : DataFrame
        What `results` returned.
    by : sequence of str
        The columns that make the groups.
    columns : str
        The column whose values become columns.
    value : str, optional
        The column from which the cells come; by default tasks are counted.
    aggregate : str, optional
        One of `AGGREGATES`; by default "first", or "count" without `value`.
    """
    refuse_unknown(frame, "group", by)
    refuse_unknown(frame, "pivot", [columns])
    refuse_unknown(frame, "value", [] if value is None else [value])
    how = aggregate or ("count" if value is None else "first")
    if how not in AGGREGATES:
        known = ", ".join(AGGREGATES)
        raise UnsupportedError(f"--aggregate={how}: expected one of {known}")
    if columns in by:
        raise UnsupportedError(f"--pivot={columns}: it is in --group, too")
    plain = frame[[*by]].copy()
    plain["_column"] = frame[columns].astype("string").fillna("(none)")
    plain["_value"] = 1 if value is None else frame[value]
    if value is not None and how == "first":
        plain["_value"] = plain["_value"].astype(object)
    try:
        cells = plain.groupby([*by, "_column"], observed=True, dropna=False)["_value"]
        table = cells.agg(how).unstack("_column")
    except TypeError:
        message = f"--aggregate={how}: the values of {value} are not numbers"
        raise UnsupportedError(message) from None
    if value is None:
        table = table.fillna(0).astype("int64")
    table.columns.name = None
    return table.reset_index()
