"""Result tables out of CSV and parquet files, with the types that they had."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.batch.csv_cells import has_guarded, plain
from ltlpipe.batch.table import CATEGORY, TIME, read_parquet, typed
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")


def read_table(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    """Return the table in a file whose name ends in one of `TABLE_SUFFIXES`.

    `dtypes` are the types of columns as in `ltlpipe.batch.table.DTYPES`; others are as
    pandas finds them.

    Raises
    ------
    InputError
        The file cannot be read, or a column does not hold what its name says.
    """
    read = _parquet if name.lower().endswith(".parquet") else _csv
    simple = {c: "string" if t in (CATEGORY, TIME) else t for c, t in dtypes.items()}
    frame = read(name, simple)
    for column in frame.columns.intersection(
        [c for c in dtypes if simple[c] != dtypes[c]]
    ):
        try:
            frame[column] = typed(frame[column], column, dtypes[column])
        except (ValueError, TypeError) as error:
            message = f"no result table: {column}: {error}"
            raise InputError(message, file=name) from None
    return frame


def _parquet(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    frame = read_parquet(name).rename(columns=str)
    for column in frame.columns.intersection([*dtypes]):
        if pd.api.types.is_datetime64_any_dtype(frame[column]):
            continue  # it is no text
        try:
            frame[column] = _cast(frame[column], dtypes[column])
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


def _csv(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    text = read_text(name)
    try:
        header = pd.read_csv(io.StringIO(text), nrows=0).columns
        frame = pd.read_csv(
            io.StringIO(text),
            dtype={column: dtypes[column] for column in header if column in dtypes},
            keep_default_na=False,
            na_values=[""],
        )
    except (ValueError, TypeError) as error:  # errors of pandas' parser are values
        raise InputError(f"no result table: {error}", file=name) from None
    return _plain(frame) if has_guarded(text) else frame


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the apostrophes that mark texts for spreadsheets."""
    import pandas as pd

    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_string_dtype(values):
            dtype = values.dtype
            frame[column] = values.map(plain, na_action="ignore").astype(dtype)
    return frame.rename(columns=plain)
