"""What plots and reports are made of: the rows of stores, CSV and parquet files."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.batch.results import RESULTS_DTYPES, VERDICTS, results
from ltlpipe.batch.table import COMPARISON_DTYPES, read_parquet
from ltlpipe.report.plots.configurations import configured
from ltlpipe.runtime.errors import InputError, LtlpipeError, UnsupportedError
from ltlpipe.runtime.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from ltlpipe.batch.origins import Origins, RunOfStore
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.lts import Network

NEEDED = ("system", "formula", "verdict")
"""Columns without which a table is no result table that can be reported on."""

LOADING_SECONDS = 8.0
"""How long systems are loaded for the pictures of lassos."""

_TIMES = ("started_at", "finished_at")
_STORE = b"SQLite format 3\0"


def read_results(path: StrPath) -> pd.DataFrame:
    """Return the result table in a file.

    The file is a store, by whatever name, or what ``solve``, ``compare`` or ``results``
    have written: ``.csv`` (also ``.csv.gz``) or ``.parquet``.  Integers are nullable,
    and times have time zones.  Texts stay texts where `ltlpipe.results` has categories.

    Raises
    ------
    InputError
        The file cannot be read, or a column does not hold what its name says.
    LtlpipeError
        It is a store of a newer ltlpipe, or a damaged one.
    UnsupportedError
        It is none of these kinds of files.
    """
    name = os.fspath(path)
    if is_store(path):
        return results(path)
    lower = name.lower()
    if lower.endswith(".parquet"):
        return _with_times(_parquet(name), name)
    if lower.endswith((".csv", ".csv.gz")):
        return _with_times(_csv(name), name)
    raise UnsupportedError(
        f"{name}: expected a result store, or a file that ends in .csv or .parquet"
    )


def is_store(path: StrPath) -> bool:
    """Whether a file begins as stores do.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(_STORE)) == _STORE
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot be read: {reason}", file=os.fspath(path)) from None


def _parquet(name: str) -> pd.DataFrame:
    import pandas as pd

    frame = read_parquet(name).rename(columns=str)
    for column, dtype in _types(frame.columns).items():
        if column in _TIMES and not pd.api.types.is_object_dtype(frame[column]):
            continue  # they are no texts
        try:
            frame[column] = _cast(frame[column], dtype)
        except (ValueError, TypeError, OverflowError) as error:
            message = f"no result table: {column}: {error}"
            raise InputError(message, file=name) from None
    return frame


def _cast(values: pd.Series, dtype: Any) -> pd.Series:
    """Return a column with the type that it has out of a CSV file."""
    import pandas as pd

    if (
        dtype == "string"
        and pd.api.types.is_object_dtype(values)
        and values.map(pd.api.types.is_list_like).any()
    ):
        raise ValueError("expected texts, found lists")  # of which texts can be made
    with np.errstate(invalid="ignore"):  # of numbers beyond int64, which are refused
        return values.astype(dtype)


def _csv(name: str) -> pd.DataFrame:
    import pandas as pd

    text = read_text(name)
    try:
        return pd.read_csv(
            io.StringIO(text),
            dtype=_types(pd.read_csv(io.StringIO(text), nrows=0).columns),
            keep_default_na=False,
            na_values=[""],
        )
    except (ValueError, TypeError) as error:  # errors of pandas' parser are values
        raise InputError(f"no result table: {error}", file=name) from None


def _types(columns: Iterable[str]) -> dict[str, str]:
    """Return the types of those columns that result tables have."""
    plain = ("string", "Int64", "Float64", "boolean")
    known = RESULTS_DTYPES | COMPARISON_DTYPES
    return {
        column: known[column] if known[column] in plain else "string"
        for column in columns
        if column in known
    }


def _with_times(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table whose times are no texts, as those out of a store are none."""
    import pandas as pd

    for column in _TIMES:
        if column not in frame:
            continue
        try:
            times = pd.to_datetime(frame[column], utc=True, format="ISO8601")
        except (ValueError, TypeError) as error:
            message = f"no result table: {column}: {error}"
            raise InputError(message, file=name) from None
        frame[column] = times.astype("datetime64[us, UTC]")
    return frame


class Source(NamedTuple):
    """What is reported on."""

    name: str  # the file's
    frame: pd.DataFrame  # a row per task, from 0, with columns of `ltlpipe.results`
    runs: list[RunOfStore]  # none of a file that is no store
    origins: Origins | None  # the same


def read_source(path: StrPath) -> Source:
    """Read a store, or a table that ``solve``, ``compare`` or ``results`` has written.

    Raises
    ------
    LtlpipeError
        As `read_results`, or it holds no result table.
    """
    name = Path(path).name
    frame = read_results(path)
    if is_store(path):
        from ltlpipe.batch.origins import Origins

        origins = Origins(path)
        return Source(name, frame, origins.runs, origins)
    return Source(name, _checked(frame, os.fspath(path)), [], None)


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return a table with what a store would have, as far as that is known."""
    import pandas as pd

    for name in NEEDED:
        if name not in frame.columns:
            raise InputError(f"expected a column {name!r}", file=file)
    verdicts = frame["verdict"].astype("string").fillna("nothing")
    for value in verdicts.unique():
        if value not in VERDICTS:
            expected = ", ".join(VERDICTS)
            message = f"column 'verdict': {value!r}, expected one of {expected}"
            raise InputError(message, file=file)
    plain = frame.reset_index(drop=True)
    plain = plain.astype({"verdict": pd.CategoricalDtype(list(VERDICTS))})
    if "configuration" not in plain:
        found = configured(plain)
        labels = found.labels if found.columns else "default"
        plain["configuration"] = pd.Series(labels, index=plain.index, dtype="string")
    return plain


class Loader:
    """Finds the systems of rows, within some seconds in all."""

    def __init__(self, source: Source) -> None:
        self._origins = source.origins
        self._deadline = time.monotonic() + LOADING_SECONDS
        self.ran_out = False  # there was no time for some

    def files(self, task: str, versions: tuple[str, str]) -> tuple[str, ...] | None:
        """Return the files of a task's system, if they are unchanged."""
        if self._origins is None or self._is_late():
            return None
        return self._origins.files(task, versions)

    def network(self, files: tuple[str, ...]) -> Network | None:
        """Load a system; None if that cannot be done, or not in time."""
        assert self._origins is not None  # otherwise there are no files
        if self._is_late():
            return None
        try:
            return self._origins.network(files)
        except LtlpipeError:  # it has just gone
            return None

    def _is_late(self) -> bool:
        self.ran_out = self.ran_out or time.monotonic() > self._deadline
        return self.ran_out
