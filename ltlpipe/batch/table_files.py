"""Result tables in CSV and parquet files: read with their types, written as they come.

A table that is being written can be read at any moment, whatever happens: CSV grows by
whole rows, and a row that the disk had no room for is taken back; parquet files are
replaced as a whole.  What is missing is an empty cell in CSV and null in parquet.

Rows with the number of their task are in the order of tasks when the table is closed,
so that tables can be compared.  Until then they are in a file beside the table's place,
``.NAME.XXXXXXXX.partial``: whole rows in the order of completion, also after a crash.

A cell of a CSV file that begins with one of ``= + - @``, their wide forms, a tab or a
line break is executed by spreadsheets when the file is opened. An apostrophe before it
marks a text; an existing apostrophe is doubled, so that `plain` restores the original.
Numbers are left alone.  Source: OWASP, "CSV Injection" (community page).
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import stat
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.batch.table import (
    CATEGORY,
    DTYPES,
    TIME,
    Row,
    actions_in,
    to_frame,
    typed,
)
from ltlpipe.runtime.errors import InputError, LtlpipeError, UnsupportedError, warn
from ltlpipe.runtime.files import (
    Output,
    check_titles,
    csv_rows,
    open_regular,
    read_text,
    rewriting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from ltlpipe.runtime.files import StrPath

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")

_LASSOS = ("lasso_prefix", "lasso_cycle")
_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_RISKY = re.compile(f"'*{_FORMULA}")
_GUARDED = re.compile(f"'+{_FORMULA}")

_PARQUET_SECONDS = 10.0  # how often a growing parquet file is replaced


def read_table(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    """Return the table in a file whose name ends in one of `TABLE_SUFFIXES`.

    `dtypes` are the types of columns as in `ltlpipe.batch.table.DTYPES`; others are as
    pandas finds them.

    Raises
    ------
    InputError
        The file cannot be read, or a column does not hold what its name says.
    """
    simple = {c: "string" if t in (CATEGORY, TIME) else t for c, t in dtypes.items()}
    if name.lower().endswith(".parquet"):
        frame = read_parquet(name).rename(columns=str)
    else:
        frame = _csv(name, simple)
    for column in frame.columns.intersection([*dtypes]):
        try:
            values = _cast(frame[column], simple[column])
            if simple[column] != dtypes[column]:
                values = typed(values, column, dtypes[column])
            if column in _LASSOS:
                _check_lassos(values)
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"no result table: {column}: {error}", file=name) from None
        frame[column] = values
    return frame


def _check_lassos(values: pd.Series) -> None:
    """Raise ValueError if a cell is no prefix or cycle."""
    for row, cell in enumerate(values, start=1):
        if isinstance(cell, str):
            try:
                is_right = bool(actions_in(cell)) or values.name == _LASSOS[0]
            except LtlpipeError as error:
                raise ValueError(f"row {row}: {error}") from None
            if not is_right:
                raise ValueError(f"row {row}: the cycle of a lasso is empty")


def _cast(values: pd.Series, dtype: Any) -> pd.Series:
    """Return a column with the type that it has out of a CSV file, or times."""
    import pandas as pd

    kinds = pd.api.types
    if kinds.is_datetime64_any_dtype(values):
        return values
    if (
        dtype == "string"
        and kinds.is_object_dtype(values)
        and values.map(kinds.is_list_like).any()
    ):
        raise ValueError("expected texts, found lists")  # of which texts can be made
    with np.errstate(invalid="ignore"):  # of numbers beyond int64, which are refused
        return values.astype(dtype)


def _csv(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    text = read_text(name)
    for line, titles in islice(csv_rows(text, name), 1):
        check_titles(titles, name, line)
    try:
        kinds: Any = dtypes
        with np.errstate(invalid="ignore"):
            frame = pd.read_csv(
                io.StringIO(text), dtype=kinds, keep_default_na=False, na_values=[""]
            )
    except (ValueError, TypeError, OverflowError) as error:  # those of pandas, too
        found = _wrong_cell(text, dtypes) or error
        raise InputError(f"no result table: {found}", file=name) from None
    return _plain(frame) if _GUARDED.search(text) else frame


def _is_number(cell: str) -> bool:
    return math.isfinite(float(cell)) or not cell.strip("+-").isdigit()


def _is_whole(cell: str) -> bool:
    return float(cell).is_integer() and abs(float(cell)) < 1 << 63


_CELLS: dict[str, tuple[str, Callable[[str], object]]] = {
    "Int64": ("a whole number of 64 bits", _is_whole),
    "Float64": ("a number of 64 bits", _is_number),
    "boolean": ("True or False", re.compile("true|false|[01](.0)?").fullmatch),
}
"""By types of columns: what a cell is, and whether one is; or ValueError."""


def _wrong_cell(text: str, dtypes: Mapping[str, str]) -> str | None:
    """Return what is wrong with the first cell of a table that is none of its type."""
    import pandas as pd

    with suppress(ValueError):  # it is not even a table
        cells = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
        for column in cells.columns.intersection([*dtypes]):
            expected, fits = _CELLS.get(dtypes[column], ("", lambda _: True))
            for row, cell in enumerate(map(str.strip, cells[column]), start=1):
                is_right = not cell
                with suppress(ValueError):
                    is_right = is_right or fits(cell.lower())
                if not is_right:
                    return f"{column}, row {row}: {cell[:40]!r}, expected {expected}"
    return None


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the apostrophes that mark texts for spreadsheets."""
    import pandas as pd

    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_string_dtype(values):
            dtype = values.dtype
            frame[column] = values.map(plain, na_action="ignore").astype(dtype)
    return frame.rename(columns=plain)


def read_parquet(name: str) -> pd.DataFrame:
    """Return the table in a parquet file; refuse other files."""
    import pandas as pd

    try:
        with open_regular(name) as stream:
            return pd.read_parquet(stream)
    except (OSError, ValueError) as error:  # errors of Arrow are values
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", file=name) from None


def guarded(cell: Any) -> Any:
    """Return a cell as it is written.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1"), guarded("'a' U b"), guarded(-1)
    ("'=1+1", "''=1", "'a' U b", -1)
    """
    return "'" + cell if isinstance(cell, str) and _RISKY.match(cell) else cell


def plain(cell: Any) -> Any:
    """Return what `guarded` was given."""
    return cell[1:] if isinstance(cell, str) and _GUARDED.match(cell) else cell


def guarded_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose titles and texts are as they are written."""
    import pandas as pd

    kinds = pd.api.types
    columns = {}
    for title, values in frame.items():
        if not (
            kinds.is_numeric_dtype(values) or kinds.is_datetime64_any_dtype(values)
        ):
            values = values.astype(object).map(guarded, na_action="ignore")
        columns[guarded(title)] = values
    return pd.DataFrame(columns)


class TableWriter(ABC):
    """Writes a growing result table to a file; use it in a with statement.

    What a row holds besides the columns `dtypes` is not written.  The table replaces
    the file when it is closed; after an error the file is as it was, and the rows so
    far are beside it (`place`).
    """

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        self.path = Path(path)
        self.dtypes = dtypes
        self.n_rows = 0
        self._failed = False
        try:
            self._output = Output(path, buffering=0)
        except OSError as error:
            raise self._failure(error) from error

    @property
    def place(self) -> Path:
        """Where the rows are until the table is closed."""
        return self._output.beside or self.path

    @abstractmethod
    def write(self, row: Row) -> None:
        """Add one row.

        Raises
        ------
        LtlpipeError
            The file cannot be written; its previous contents are kept.
        """

    @abstractmethod
    def _finish(self) -> None:
        """Write what is left; OSError if that cannot be."""

    def close(self) -> None:
        """Put the table in its place, unless a row could not be written."""
        try:
            if not self._failed:
                self._finish()
                self._output.complete()
        except OSError as error:
            raise self._failure(error) from error
        finally:
            self._abandon()

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._failed or kind is None or not issubclass(kind, Exception):
            self.close()  # Ctrl-C has ended the run, not the table
            return
        with suppress(OSError, LtlpipeError):
            self._finish()
        if self.n_rows and self._output.beside is not None:
            warn(f"{self.path}: not replaced; {self._rows_so_far()}")
        self._abandon()

    def _abandon(self) -> None:
        """Keep the rows so far, if there are some, beside the file."""
        if self.n_rows:
            self._output.stream.close()
        else:
            self._output.discard()

    def _failure(self, error: OSError) -> LtlpipeError:
        self._failed = True
        message = f"{self.path}: cannot be written: {error.strerror or error}"
        if self.n_rows and self.place.is_file():  # a pipe keeps nothing
            message += f"; {self._rows_so_far()}"
        return LtlpipeError(message)

    def _rows_so_far(self) -> str:
        return f"{self.place} holds the first {self.n_rows} rows"


class CsvWriter(TableWriter):
    """Appends rows to a CSV file, each in one piece, by default below a header."""

    def __init__(
        self,
        path: StrPath,
        dtypes: Mapping[str, str] = DTYPES,
        *,
        header: bool = True,
    ) -> None:
        super().__init__(path, dtypes)
        self._lines: list[tuple[int, bytes]] = []  # with the numbers of their tasks
        self._held: dict[int, Row] = {}  # which come too early for a pipe, by task
        self._stream = self._output.stream
        self._is_file = stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode)
        try:
            self._header = self._put(list(self.dtypes)) if header else b""
        except LtlpipeError:
            self._output.discard()
            raise

    def _put(self, cells: list[Any]) -> bytes:
        """Write one line, or nothing; return it."""
        line = io.StringIO()
        # With this terminator either line break within a cell is quoted.
        csv.writer(line, lineterminator="\r\n").writerow(map(guarded, cells))
        before = self._stream.tell() if self._is_file else 0
        whole = line.getvalue().removesuffix("\r\n").encode() + b"\n"
        try:
            data = memoryview(whole)
            while data:  # a disk that is nearly full takes a part
                data = data[self._stream.write(data) :]
        except BaseException as error:
            with suppress(OSError):  # a device takes nothing back
                self._stream.truncate(before)
                self._stream.seek(before)
            if isinstance(error, OSError):
                raise self._failure(error) from error
            raise
        return whole

    def write(self, row: Row) -> None:
        """Add one row.

        A pipe gets a row as soon as those of all earlier tasks are complete.
        """
        number = row.get("task")
        if self._is_file or number is None:
            self._write(row)
            return
        self._held[number] = row
        while (following := self._held.pop(self.n_rows, None)) is not None:
            self._write(following)

    def _write(self, row: Row) -> None:
        line = self._put([row.get(column) for column in self.dtypes])
        self._lines.append((row.get("task", self.n_rows), line))
        self.n_rows += 1

    def _finish(self) -> None:
        """Have the rows in the order of tasks."""
        for number in sorted(self._held):
            self._write(self._held.pop(number))
        ordered = sorted(self._lines, key=itemgetter(0))
        if not self._is_file or ordered == self._lines:
            return
        try:
            with rewriting(self.place) as stream:
                stream.writelines([self._header, *(line for _, line in ordered)])
        except OSError as error:
            reason = error.strerror or error
            warn(f"{self.path}: rows are in the order of their ends: {reason}")


class ParquetWriter(TableWriter):
    """Writes the parquet file anew as the table grows."""

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        super().__init__(path, dtypes)
        self._rows: list[Row] = []
        self._written_at = time.monotonic()

    def _finish(self) -> None:
        rows = sorted(self._rows, key=lambda row: row.get("task", 0))
        data = to_frame(rows, self.dtypes).to_parquet(index=False)
        with rewriting(self.place) as stream:
            stream.write(data)
        self._output.renew()
        self.n_rows = len(self._rows)
        self._written_at = time.monotonic()

    def write(self, row: Row) -> None:
        """Add one row."""
        self._rows.append(row)
        if time.monotonic() - self._written_at <= _PARQUET_SECONDS:
            return
        if self._output.beside is None:
            return  # a pipe gets the table once, when it is closed
        try:
            self._finish()
        except OSError as error:
            raise self._failure(error) from error


def open_table(path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> TableWriter:
    """Open a result file with columns of these types; the suffix names the format.

    The table replaces the file when it is closed.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return CsvWriter(path, dtypes)
    if suffix == ".parquet":
        return ParquetWriter(path, dtypes)
    raise UnsupportedError(f"{path}: expected a file that ends in .csv or .parquet")
