"""Writing result tables row by row, as they come.

Rows with the number of their task are in the order of tasks when the table is closed,
so that tables can be compared.  Until then they are in a file beside the table's place,
``.NAME.XXXXXXXX.partial``: whole rows in the order of completion, also after a crash.
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
from ltlpipe.runtime.output import Output, rewriting, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ltlpipe.runtime.files import StrPath


_PARQUET_SECONDS = 10.0  # how often a growing parquet file is replaced


def write_parquet(frame: pd.DataFrame, path: StrPath) -> None:
    """Write a table to a file, which is replaced as a whole."""
    write_bytes(path, frame.to_parquet(index=False))


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
        self._places: list[_Place] = []  # of the rows, as written in the file
        self._held: dict[int, Row] = {}  # which come too early for a pipe, by task
        self._stream = self._output.stream
        self._is_file = stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode)
        if not header:
            return
        try:
            self._put(list(self.dtypes))
        except OSError as error:
            self._output.discard()
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

    def _finish(self) -> None:
        """Have the rows in the order of tasks."""
        for number in sorted(self._held):
            self._write(self._held.pop(number))
        numbers = [place.number for place in self._places]
        if self._is_file and any(a > b for a, b in pairwise(numbers)):
            try:
                self._sort()
            except OSError as error:
                reason = error.strerror or error
                warn(f"{self.path}: rows are in the order of their ends: {reason}")

    def _sort(self) -> None:
        """Write the rows again, in order."""
        data = self.place.read_bytes()
        with rewriting(self.place) as stream:
            stream.write(data[: min(place.begin for place in self._places)])
            for place in sorted(self._places):
                stream.write(data[place.begin : place.end])


class _Place(NamedTuple):
    """The position of a row in a file."""

    number: int  # of its task
    begin: int
    end: int


class ParquetWriter(TableWriter):
    """Writes the parquet file anew as the table grows."""

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        super().__init__(path, dtypes)
        self._rows: list[Row] = []
        self._written_at = time.monotonic()

    def _replace(self) -> None:
        rows = sorted(self._rows, key=lambda row: row.get("task", 0))
        data = to_frame(rows, self.dtypes).to_parquet(index=False)
        with rewriting(self.place) as stream:
            stream.write(data)
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
            self._replace()
        except OSError as error:
            raise self._failure(error) from error

    def _finish(self) -> None:
        self._replace()


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
