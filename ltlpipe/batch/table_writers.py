"""Writing result tables row by row, as they come.

Rows with the number of their task are in the order of tasks when the table is closed,
so that tables can be compared.  After a crash the file has whole rows in the order of
completion.
"""

from __future__ import annotations

import csv
import io
import os
import stat
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.csv_cells import guarded
from ltlpipe.batch.table import DTYPES, Row, to_frame
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ltlpipe.runtime.files import StrPath


_PARQUET_SECONDS = 10.0  # how often a growing parquet file is replaced


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table to a temporary file, then replace the file."""
    beside = path.with_name(f".{path.name}.partial")
    try:
        with beside.open("wb") as stream:
            frame.to_parquet(stream, index=False)
        beside.replace(path)
    except OSError:
        with suppress(OSError):  # maybe for the same reason
            beside.unlink(missing_ok=True)
        raise


class TableWriter(ABC):
    """Writes a growing result table to a file; use it in a with statement.

    What a row holds besides the columns `dtypes` is not written.
    """

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        self.path = Path(path)
        self.dtypes = dtypes
        self.n_rows = 0

    @abstractmethod
    def write(self, row: Row) -> None:
        """Add one row.

        Raises
        ------
        LtlpipeError
            The file cannot be written; its previous contents are kept.
        """

    @abstractmethod
    def close(self) -> None:
        """Make sure that every row is in the file."""

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _failure(self, error: OSError) -> LtlpipeError:
        message = f"{self.path}: cannot be written: {error.strerror or error}"
        if self.n_rows:
            message += f"; the file holds the first {self.n_rows} rows"
        return LtlpipeError(message)


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
        self._places: list[_Place] = []  # of the rows, as written in the file
        self._held: dict[int, Row] = {}  # which come too early for a pipe, by task
        try:
            self._stream = self.path.open("wb", buffering=0)
            self._is_file = stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode)
        except OSError as error:
            raise self._failure(error) from error
        if not header:
            return
        try:
            self._put(list(self.dtypes))
        except OSError as error:
            self._stream.close()
            raise self._failure(error) from error

    def _put(self, cells: list[Any]) -> None:
        """Write one line, or nothing."""
        line = io.StringIO()
        # With this terminator either line break within a cell is quoted.
        csv.writer(line, lineterminator="\r\n").writerow(map(guarded, cells))
        before = self._stream.tell() if self._is_file else 0
        data = memoryview(line.getvalue().removesuffix("\r\n").encode() + b"\n")
        try:
            while data:  # a disk that is nearly full takes a part
                data = data[self._stream.write(data) :]
        except BaseException:
            with suppress(OSError):  # a device takes nothing back
                self._stream.truncate(before)
                self._stream.seek(before)
            raise

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
        begin = self._stream.tell() if self._is_file else 0
        try:
            self._put([row.get(column) for column in self.dtypes])
        except OSError as error:
            raise self._failure(error) from error
        end = self._stream.tell() if self._is_file else 0
        number = row.get("task")
        self._places.append(
            _Place(self.n_rows if number is None else number, begin, end)
        )
        self.n_rows += 1

    def close(self) -> None:
        """Close the file, with its rows in the order of tasks."""
        try:
            for number in sorted(self._held):
                self._write(self._held.pop(number))
        finally:
            self._stream.close()
        numbers = [place.number for place in self._places]
        if self._is_file and any(a > b for a, b in pairwise(numbers)):
            try:
                self._sort()
            except OSError as error:
                reason = error.strerror or error
                warn(f"{self.path}: rows are in the order of their ends: {reason}")

    def _sort(self) -> None:
        """Write the rows in order to a temporary file, and replace the file."""
        path = self.path.resolve()
        beside = path.with_name(f".{path.name}.partial")
        try:
            with path.open("rb") as source, beside.open("wb") as stream:
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
                stream.write(source.read(min(place.begin for place in self._places)))
                for place in sorted(self._places):
                    source.seek(place.begin)
                    stream.write(source.read(place.end - place.begin))
            beside.replace(path)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise


class _Place(NamedTuple):
    """The position of a row in a file."""

    number: int  # of its task
    begin: int
    end: int


class ParquetWriter(TableWriter):
    """Replaces a parquet file as the table grows."""

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        super().__init__(path, dtypes)
        self._rows: list[Row] = []
        self._replace()

    def _replace(self) -> None:
        try:
            rows = sorted(self._rows, key=lambda row: row.get("task", 0))
            write_parquet(to_frame(rows, self.dtypes), self.path)
        except OSError as error:
            raise self._failure(error) from error
        self.n_rows = len(self._rows)
        self._written_at = time.monotonic()

    def write(self, row: Row) -> None:
        """Add one row."""
        self._rows.append(row)
        if time.monotonic() - self._written_at > _PARQUET_SECONDS:
            self._replace()

    def close(self) -> None:
        """Make sure that every row is in the file."""
        if self.n_rows < len(self._rows):
            self._replace()


def open_table(path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> TableWriter:
    """Open a result file with columns of these types; the suffix names the format.

    The previous contents of the file are lost.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return CsvWriter(path, dtypes)
    if suffix == ".parquet":
        return ParquetWriter(path, dtypes)
    raise UnsupportedError(f"{path}: expected a file that ends in .csv or .parquet")
