"""Result tables as plots and reports read them: stores, CSV and parquet files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from ltlpipe.runtime.files import StrPath

_TIMES = ("started_at", "finished_at")
_STORE = b"SQLite format 3\0"


def read_results(path: StrPath) -> pd.DataFrame:
    """Return the result table in a file.

    Parameters
    ----------
    path : path
        A store, by whatever name, or what ``solve``, ``compare`` or ``results`` have
        written: ``.csv`` (also ``.csv.gz``) or ``.parquet``.

    Returns
    -------
    DataFrame
        The columns of the file, with nullable integers, and times with time zones.
        Texts stay texts where `ltlpipe.results` has categories.

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
        from ltlpipe.batch.results import results

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

    try:
        return pd.read_parquet(name)
    except (OSError, ValueError) as error:  # errors of Arrow are values
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", file=name) from None


def _csv(name: str) -> pd.DataFrame:
    import io

    import pandas as pd

    from ltlpipe.runtime.files import read_text

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
    from ltlpipe.batch.results import RESULTS_DTYPES
    from ltlpipe.batch.table import COMPARISON_DTYPES

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
