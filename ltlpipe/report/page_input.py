"""What a report is made of: the rows of a store or of a result file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe._errors import InputError, LtlpipeError, UnsupportedError
from ltlpipe.batch.results import RESULTS_DTYPES, VERDICTS, results
from ltlpipe.batch.table import COMPARISON_DTYPES

if TYPE_CHECKING:
    import pandas as pd

    from ltlpipe._files import StrPath
    from ltlpipe.batch.origins import Origins, RunOfStore
    from ltlpipe.systems.lts import Network

STORE_SUFFIXES = (".sqlite", ".sqlite3", ".db")
TABLE_SUFFIXES = (".csv", ".parquet")

NEEDED = ("system", "formula", "verdict")
"""Columns without which a table is no result table."""

LOADING_SECONDS = 8.0
"""How long systems are loaded for the pictures of lassos."""

_DTYPES = COMPARISON_DTYPES | RESULTS_DTYPES


class Source(NamedTuple):
    """What is reported on.

    Parameters
    ----------
    name : str
        The file's.
    frame : DataFrame
        One row per task, with the columns of `ltlpipe.results`, those that there are.
    runs : list of RunOfStore
        None of a file that is no store.
    origins : Origins or None
        The same.
    """

    name: str
    frame: pd.DataFrame
    runs: list[RunOfStore]
    origins: Origins | None


def read_source(path: StrPath) -> Source:
    """Read a store, or a table that ``solve`` or ``compare`` has written.

    Raises
    ------
    InputError
        The file holds no result table.
    LtlpipeError
        It is no store, or there is none.
    UnsupportedError
        Its suffix says that it is neither.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return Source(file.name, _configured(_typed(_read(file), file)), [], None)
    if suffix not in STORE_SUFFIXES and not _is_sqlite(file):
        expected = ", ".join((*STORE_SUFFIXES[:1], *TABLE_SUFFIXES))
        raise UnsupportedError(f"{path}: expected one of {expected}")
    from ltlpipe.batch.origins import Origins

    frame = results(path)
    origins = Origins(path)
    return Source(file.name, frame, origins.runs, origins)


def _is_sqlite(file: Path) -> bool:
    """Whether a file begins as SQLite files do; a store can have any name."""
    try:
        with file.open("rb") as stream:
            return stream.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _read(file: Path) -> pd.DataFrame:
    """Read a table, with texts where a CSV file has them."""
    import pandas as pd

    try:
        if file.suffix.lower() == ".parquet":
            return pd.read_parquet(file)
        return pd.read_csv(file, dtype="string", keep_default_na=False, na_values=[""])
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", file=str(file)) from None
    except Exception as error:  # what pyarrow and pandas raise for other files
        raise InputError(f"no result table: {error}", file=str(file)) from None


def _typed(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    """Give the columns that are known their types."""
    for name in NEEDED:
        if name not in frame.columns:
            raise InputError(f"expected a column {name!r}", file=str(file))
    typed = frame.copy()
    for name in map(str, frame.columns):
        kind = _DTYPES.get(name, "string")
        try:
            typed[name] = _converted(frame[name], kind)
        except (ValueError, TypeError) as error:
            message = f"column {name!r}: {error}"
            raise InputError(message, file=str(file)) from None
    unknown = set(typed["verdict"].dropna()) - set(VERDICTS)
    if unknown or typed["verdict"].isna().any():
        found = repr(min(unknown)) if unknown else "nothing"
        expected = ", ".join(VERDICTS)
        message = f"column 'verdict': {found}, expected one of {expected}"
        raise InputError(message, file=str(file))
    return typed.astype({"verdict": _verdicts()})


def _verdicts() -> Any:
    import pandas as pd

    return pd.CategoricalDtype(list(VERDICTS))


def _converted(values: Any, kind: str) -> Any:
    """Return a column as `ltlpipe.results` has it; the verdict as text."""
    import pandas as pd

    if kind.startswith("datetime"):
        return pd.to_datetime(values, utc=True, format="ISO8601").astype(kind)
    if kind in ("Int64", "Float64"):
        return pd.to_numeric(values).astype(kind)
    if kind == "boolean" and values.dtype == "string":
        return values.str.lower().map({"true": True, "false": False}).astype("boolean")
    if kind == "category":
        return values.astype("string")
    return values.astype(kind)


def _configured(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the column `configuration`, where some question was asked more than once."""
    if "configuration" in frame:
        return frame
    asked = [name for name in (*NEEDED[:2], "formula_id") if name in frame]
    if "emptiness" not in frame or not frame.duplicated(asked).any():
        return frame.assign(configuration="default")
    ways = [name for name in ("emptiness", "automaton") if name in frame]
    text = frame[ways[0]].fillna("")
    for name in ways[1:]:
        text = text + " (" + frame[name].fillna("no automaton") + ")"
    return frame.assign(configuration=text.str.strip())


class Loader:
    """Finds the systems of rows, within some seconds in all."""

    def __init__(self, source: Source, seconds: float = LOADING_SECONDS) -> None:
        self._origins = source.origins
        self._deadline = time.monotonic() + seconds
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
