"""Writing result tables row by row, as they come."""

from __future__ import annotations

import csv
import io
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.table import DTYPES, Row, to_frame
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ltlpipe.runtime.files import StrPath


_PARQUET_SECONDS = 10.0  # how often a growing parquet file is replaced


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table beside a file, then put it in its place."""
    beside = path.with_name(f".{path.name}.partial")
    try:
        with beside.open("wb") as stream:
            frame.to_parquet(stream, index=False)
        beside.replace(path)
    except OSError:
        with suppress(OSError):  # also for the reason that the other error has
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
            The file cannot be written; what it held before is still there.
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
        try:
            self._stream = self.path.open("wb", buffering=0)
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
        csv.writer(line, lineterminator="\r\n").writerow(cells)
        before = self._stream.tell()
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
        """Add one row."""
        try:
            self._put([row.get(column) for column in self.dtypes])
        except OSError as error:
            raise self._failure(error) from error
        self.n_rows += 1

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ParquetWriter(TableWriter):
    """Replaces a parquet file as the table grows."""

    def __init__(self, path: StrPath, dtypes: Mapping[str, str] = DTYPES) -> None:
        super().__init__(path, dtypes)
        self._rows: list[Row] = []
        self._replace()

    def _replace(self) -> None:
        try:
            write_parquet(to_frame(self._rows, self.dtypes), self.path)
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

    What the file held before is gone.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return CsvWriter(path, dtypes)
    if suffix == ".parquet":
        return ParquetWriter(path, dtypes)
    raise UnsupportedError(f"{path}: expected a file that ends in .csv or .parquet")
