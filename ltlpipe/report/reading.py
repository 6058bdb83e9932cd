"""What plots and reports are made of: the rows of stores, CSV and parquet files."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.batch.results import results
from ltlpipe.batch.stored_rows import is_store
from ltlpipe.batch.table import VERDICTS
from ltlpipe.report.plots.configurations import configured
from ltlpipe.runtime.errors import InputError, LtlpipeError

if TYPE_CHECKING:
    import pandas as pd

    from ltlpipe.batch.results import Origins, RunOfStore
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.networks.lts import Network

NEEDED = ("system", "formula", "verdict")
"""Columns that a result table needs for a report."""

LOADING_SECONDS = 8.0
"""How long systems are loaded for the pictures of lassos."""


class Source(NamedTuple):
    """What is reported on."""

    name: str  # the file's
    frame: pd.DataFrame  # a row per task, from 0, with columns of `ltlpipe.results`
    runs: list[RunOfStore]  # none for a file that is not a store
    origins: Origins | None  # the same
    says_options: bool = True  # whether `configuration` has the options of each row


def read_source(path: StrPath) -> Source:
    """Read a store, or a table that ``solve``, ``compare`` or ``results`` has written.

    Raises
    ------
    LtlpipeError
        As `ltlpipe.results`, or it holds no result table.
    """
    name = Path(path).name
    frame = results(path)
    if is_store(path):
        from ltlpipe.batch.results import Origins

        origins = Origins(path)
        return Source(name, frame, origins.runs, origins)
    said = frame.get("configuration")
    says_options = said is not None and bool(said.notna().any())
    if said is not None and not says_options:
        frame = frame.drop(columns="configuration")
    return Source(name, _checked(frame, os.fspath(path)), [], None, says_options)


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return a table with the columns of a store, as far as they are known."""
    import pandas as pd

    for name in NEEDED:
        if name not in frame.columns:
            raise InputError(f"expected a column {name!r}", file=file)
    if frame["verdict"].isna().any():
        expected = ", ".join(VERDICTS)
        message = f"column 'verdict': a value is missing, expected one of {expected}"
        raise InputError(message, file=file)
    plain = frame.reset_index(drop=True)
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
