"""Results out of stores and tables: read, filtered, aggregated, and their inputs.

The store records the paths of a task's files and, in its identity, their contents.
Together they determine whether a system can be read again.

Rows of bitstate searches have a sample of the states that their search has seen, so
searches can be spread over processes and machines, a task each, and are compared
afterwards (`joint_coverage`).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.stored_rows import (
    is_store,
    reading,
    rejections,
    results_in,
    stored_rows,
)
from ltlpipe.batch.table import (
    CATEGORY,
    COMPARISON_DTYPES,
    DTYPES,
    VERDICTS,
    from_frame,
    to_frame,
    typed,
)
from ltlpipe.batch.table_files import TABLE_SUFFIXES, read_table
from ltlpipe.batch.tasks import (
    Digests,
    configuration_in,
    key_of,
    settings_of,
)
from ltlpipe.runtime.arguments import PATH, expect, is_frame, wrong_kind
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, warn
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.names import listed, nearest
from ltlpipe.search.nested.coverage import decoded, together
from ltlpipe.systems.networks.lts import Network
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.search.nested.coverage import Member
    from ltlpipe.systems.models import System

ALL = "all"

AGGREGATES = ("mean", "median", "sum", "min", "max", "count", ALL)
"""What a cell of a pivoted table can be of the values that fall into it."""

RESULTS_DTYPES = DTYPES | {"attempts": "Int64", "run": "Int64", "task": "string"}
"""The columns of `results` and their types: a store has three more than a table."""


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
        Of a table its columns.  Of a store those of the result table, and `attempts`,
        `run`, the last one that lists the task, and `task`, its key.  Integers are
        nullable, times have time zones, and what repeats itself is categorical: see
        `ltlpipe.batch.table.DTYPES`.

    Raises
    ------
    InputError
        A table cannot be read, or a column does not hold what its name says.
    LtlpipeError
        The store does not exist, is damaged, or belongs to a newer ltlpipe.
    UnsupportedError
        It is neither a store nor such a table.
    """
    expect(PATH, path=path)
    name = os.fspath(path)
    if name.lower().endswith(TABLE_SUFFIXES) and not is_store(name):
        return _modern(read_table(name, RESULTS_DTYPES | COMPARISON_DTYPES))
    if Path(name).is_file() and not is_store(name, or_empty=True):
        raise UnsupportedError(
            f"{name}: this is not a result store, and its name does not end in "
            f"{listed(TABLE_SUFFIXES)}"
        )
    pairs, faulty = results_in(name)
    if faulty:
        warn(f"{name}: {len(faulty)} rows left out: {rejections(faulty)}")
    settings = cache(lambda text: settings_of(json.loads(text)))  # few are different
    rows = (
        result
        | {column: task[column] for column in _OF_TASK}
        | settings(task["options"])
        | {"task": task["key"]}
        for task, result in pairs
    )
    return to_frame(rows, RESULTS_DTYPES)


def _modern(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of an earlier version as one of today."""
    import pandas as pd

    if "acceptance" in frame and "condition" not in frame:
        frame = frame.rename(columns={"acceptance": "condition"})
        if "automaton" in frame:
            kinds = frame["automaton"].astype("string").str.lower()
            frame["acceptance"] = typed(kinds, "acceptance", CATEGORY)
    if "configuration" in frame:
        texts = frame["configuration"].astype("string")
        told = [None if pd.isna(t) else configuration_in(t) for t in texts]
        frame["configuration"] = typed(told, "configuration", CATEGORY)
    return frame


_OF_TASK = ("run", "system", "formula_id", "formula", "expected", "title")
"""The columns that a result has from the task that lists it."""


def filtered(frame: pd.DataFrame, where: str | None) -> pd.DataFrame:
    """Return the rows of `results` for which an expression is true; all without one.

    `where` is in the syntax of `pandas.DataFrame.query`; if it is missing because a
    value is, it counts as false.  Times are written without their zone, which is UTC.
    """
    import pandas as pd

    if where is None:
        return frame
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


def column_named(frame: pd.DataFrame, text: str) -> str:
    """Return the column that an option or a flag is about; else the text as it is."""
    name = text.strip().lstrip("-").replace("-", "_")
    name = {"memory": "memory_limit_mib", "reduce": "reductions"}.get(name, name)
    return text if text in frame or name not in frame else name


def columns_named(frame: pd.DataFrame, option: str, names: Sequence[str]) -> list[str]:
    """Return the columns of some names, each once; others are refused."""
    found = [column_named(frame, name) for name in names]
    for name, column in zip(names, found, strict=True):
        if column not in frame.columns:
            known = ", ".join(map(str, frame.columns))
            raise UnsupportedError(
                f"--{option}={name}: expected columns out of {known}"
                + nearest(name, map(str, frame.columns))
            )
    return list(dict.fromkeys(found))


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
    columns_named(frame, "group", ["verdict"])
    by = columns_named(frame, "group", by)
    counts = {v: (frame["verdict"] == v).astype("int64") for v in VERDICTS}
    costs = [c for c in ("seconds", "states") if c in frame and c not in by]
    sums = ["tasks", *VERDICTS, *costs]
    groups = frame.assign(tasks=1, **counts).groupby(
        list(by), observed=True, dropna=False
    )
    return groups[sums].sum().reset_index()


_ONLY = "first"  # of one


def _listed(values: pd.Series) -> str | None:
    """Return the values of a cell, in order, with how often each occurs."""
    counts = Counter(str(value) for value in values.dropna())
    texts = (f"{v} ({k})" if k > 1 else v for v, k in sorted(counts.items()))
    return ", ".join(texts) or None


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
        One of `AGGREGATES`; "all" lists the values of a cell.  By default "count"
        without `value`; with it there has to be one row for each cell.

    Raises
    ------
    UnsupportedError
        There is no such column or aggregate, values are no numbers, or several rows
        fall into a cell and it is not said what to make of them.
    """
    import pandas as pd

    by = columns_named(frame, "group", by)
    (columns,) = columns_named(frame, "pivot", [columns])
    if value is not None:
        (value,) = columns_named(frame, "value", [value])
    how = aggregate or ("count" if value is None else _ONLY)
    if aggregate is not None and aggregate not in AGGREGATES:
        known = ", ".join(AGGREGATES)
        raise UnsupportedError(f"--aggregate={how}: expected one of {known}")
    if columns in by:
        raise UnsupportedError(f"--pivot={columns}: it is in --group, too")
    plain = frame[[*by]].copy()
    plain["_column"] = frame[columns].astype("string").fillna("(none)")
    plain["_value"] = 1 if value is None else frame[value]
    if isinstance(plain["_value"].dtype, pd.CategoricalDtype):
        plain["_value"] = plain["_value"].astype("string")
    cells = plain.groupby([*by, "_column"], observed=True, dropna=False)["_value"]
    if how == _ONLY and (most := int(cells.size().max() if len(plain) else 0)) > 1:
        raise UnsupportedError(
            f"--pivot={columns}: up to {most} rows fall into a cell of {value}; "
            f"aggregate them (--aggregate={'|'.join(AGGREGATES)}), or name more "
            "columns in --group"
        )
    try:
        found = cells.agg(_listed) if how == ALL else cells.agg(how)
        table = found.unstack("_column")
    except TypeError:
        message = f"--aggregate={how}: the values of {value} are not numbers"
        raise UnsupportedError(message) from None
    if value is None:
        table = table.fillna(0).astype("int64")
    table.columns.name = None
    # In the order of the rows, which is that of the files.
    return plain[[*by]].drop_duplicates().merge(table.reset_index(), on=[*by])


_QUESTION = ("system", "formula_id", "formula")
_PRODUCT = ("automaton", "reductions", "ltlpipe_version")

JOINT_DTYPES = {
    "system": "string",
    "formula_id": "string",
    "formula": "string",
    "searches": "Int64",
    "states": "Int64",
    "coverage": "Float64",
}
"""The columns of `joint_coverage` and their types."""


def joint_coverage(frame: pd.DataFrame) -> pd.DataFrame:
    """Estimate what the bitstate searches of each question have seen together.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.solve` or `ltlpipe.results` returns, with the columns `system`,
        `formula` and `sample`.  Rows that searched the same product, with different
        seeds (``--grid seed=1,2,3``), are taken together.

    Returns
    -------
    DataFrame
        A row per product that two searches or more have seen a part of, unless its
        question is violated: `system`, `formula_id`, `formula`, the number of
        `searches`, the `states` that they have seen together, about, and `coverage`,
        the estimated share of the reachable states; missing where that cannot be told.

    Raises
    ------
    TypeError
        `frame` is something else.
    LtlpipeError
        A column is missing, or a sample is damaged.
    """
    if not is_frame(frame):
        raise wrong_kind("frame", "a DataFrame", frame)
    for column in ("system", "formula", "sample", "verdict"):
        if column not in frame:
            raise LtlpipeError(f"frame: expected a column {column!r}")
    columns = [*_QUESTION, *_PRODUCT, "verdict", "sample"]
    rows = from_frame(frame.reindex(columns=columns))
    return to_frame(joint_rows(rows), JOINT_DTYPES)


def joint_rows(rows: Iterable[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """Return the rows of `joint_coverage` for those of a result table."""
    seen: dict[tuple[Any, ...], list[Member]] = {}
    violated: set[tuple[Any, ...]] = set()
    for row in rows:
        question = tuple(row.get(column) for column in _QUESTION)
        if row["verdict"] == VIOLATED:
            violated.add(question)
        if row.get("sample") is not None:
            product, members = decoded(row["sample"])
            place = (*question, product, *(row.get(column) for column in _PRODUCT))
            seen.setdefault(place, []).extend(members)
    found = []
    for place, members in seen.items():
        question = place[: len(_QUESTION)]
        if len(members) > 1 and question not in violated:
            joint = together(members)
            figures = (len(members), joint.states, joint.coverage)
            found.append(dict(zip(JOINT_DTYPES, (*question, *figures), strict=True)))
    return found


class RunOfStore(NamedTuple):
    """A run of a store."""

    number: int
    command: tuple[str, ...]
    began_at: str
    ended_at: str | None  # None if it is running, or was killed
    n_tasks: int  # those that no later run lists


class Origins:
    """The runs of a store, and the inputs of its tasks."""

    def __init__(self, path: StrPath) -> None:
        self.runs: list[RunOfStore] = []
        self._of_task: dict[str, list[tuple[tuple[str, ...], str, Any]]] = {}
        self._digests = Digests()
        with reading(path) as db:
            for number, command, *others in db.execute(
                "SELECT runs.run, command, began_at, ended_at, count(key) "
                "FROM runs LEFT JOIN tasks USING (run) GROUP BY runs.run "
                "ORDER BY runs.run"
            ):
                words = _words(command)
                self.runs.append(RunOfStore(number, words, *others))
            for row in stored_rows(db, "tasks"):
                if row.objection is None:
                    files = tuple(json.loads(row.said["place"])[0])
                    inputs = json.loads(row.said["inputs"] or "{}")
                    origin = files, row.said["identity"], inputs.get("automaton")
                    self._of_task.setdefault(row.said["key"], []).append(origin)

    def files(self, key: str, versions: tuple[str, str]) -> tuple[str, ...] | None:
        """Return files that still hold the system of a task, by its key.

        The versions are those of the ltlpipe and the Spot that answered it.  None if
        the files have changed or do not exist, or that of an automaton has.
        """
        for files, identity, automaton in self._of_task.get(key, ()):
            system, (kind, asked), options = json.loads(identity)
            known = list(self._digests.system(files, options)) == system
            if kind == "automaton" and automaton is not None:
                told = self._digests.system((automaton,), {})
                known = known and told == (asked.partition(" ")[0],)
            elif kind != "formula":
                continue
            if known and key_of(identity, versions) == key:
                return files
        return None

    def system(self, files: tuple[str, ...], **manner: Any) -> System | None:
        """Load what `files` has returned; None if it has changed.

        The manner is that in which files are read; see `ltlpipe.load`.
        """
        return complete(self._digests.loaded(files, **manner))

    def network(self, files: tuple[str, ...], **manner: Any) -> Network | None:
        """Load what `files` has returned; None if it has changed, or is a model."""
        system = self.system(files, **manner)
        return system if isinstance(system, Network) else None


def _words(command: str) -> tuple[str, ...]:
    """Return a command line; that of a row that is damaged as it is."""
    try:
        return tuple(map(str, json.loads(command)))
    except (ValueError, TypeError, RecursionError):
        return (str(command),)
