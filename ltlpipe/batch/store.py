"""The result store: an SQLite file that a run grows and any number of runs share.

Tables: `runs`, one row per run; `tasks`, what they list; `results`, one row per
answered task; `claims`, what is being worked on.  A result is one transaction in
write-ahead mode: whoever ends the process at any moment ends it between two of them.
(After a power failure the last results may be missing; the file is whole.)

Claims.  Before a task is begun it is claimed in one transaction, for the run, and the
claim goes with the result.  A claim holds while its run is alive.  On the machine and
in the process namespace of the run that is a look at the process table: a process with
its number and its start time; so what a killed run has left behind is free at once.
Who cannot look there, such as another container, goes by a time stamp that the run
renews: after a minute without news the run is taken for dead.  Should it then still
be alive, a task is answered twice, no more: a verdict that has been found is never
replaced.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.batch.procfs import process
from ltlpipe.batch.sqlite_file import (
    APPLICATION,
    BUSY_SECONDS,
    SCHEMA,
    add_columns,
    connect,
    is_empty,
    refuse_foreign,
    translated,
)
from ltlpipe.batch.table import CATEGORY, DTYPES, TIME
from ltlpipe.batch.task_job import now
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.files import StrPath

LEASE_SECONDS = 60.0
_RENEW_SECONDS = 15.0

EXTRA_DTYPES = {
    "n_components": "Int64",
    "wall_seconds": "Float64",
    "signal": CATEGORY,
    "message": "string",
    "finished_at": TIME,
}
"""The columns of a stored result that the result table does not have."""

RESULT_DTYPES = DTYPES | EXTRA_DTYPES

_SQL_TYPES = {"Int64": "INTEGER", "Float64": "REAL", "boolean": "INTEGER"}
_COLUMN_TYPES = {c: _SQL_TYPES.get(t, "TEXT") for c, t in RESULT_DTYPES.items()}
_COLUMNS = ", ".join(f"{c} {sql}" for c, sql in _COLUMN_TYPES.items())
_NAMES = ", ".join(RESULT_DTYPES)
_TASK_COLUMNS = {"expected": "TEXT"}  # which the tasks of older stores have not

_TABLES = f"""
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    command TEXT NOT NULL,      -- JSON, a list
    began_at TEXT NOT NULL,
    place TEXT NOT NULL,        -- where process numbers mean what they mean here
    pid INTEGER NOT NULL,
    process_started INTEGER,    -- clock ticks after the machine was started
    alive_at REAL NOT NULL,     -- seconds of the epoch
    ended_at TEXT
);
CREATE TABLE tasks (
    place TEXT NOT NULL,        -- JSON: files, question, options
    key TEXT NOT NULL,
    run INTEGER NOT NULL,       -- the last one that lists it
    number INTEGER NOT NULL,    -- in that run, from 0
    system TEXT NOT NULL,
    formula_id TEXT,
    formula TEXT,
    options TEXT NOT NULL,      -- JSON, those that are not the default
    expected TEXT,              -- the published verdict
    PRIMARY KEY (place, key)
) WITHOUT ROWID;
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    revision INTEGER NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    {_COLUMNS}
);
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    run INTEGER NOT NULL
) WITHOUT ROWID;
"""


class Listed(NamedTuple):
    """A task as a run lists it."""

    place: str
    key: str
    system: str
    formula_id: str | None
    formula: str | None
    options: str
    expected: str | None = None


class Store:
    """A result store; use it in a with statement.

    Parameters
    ----------
    path : path
        The file; it is made if there is none.
    retry : sequence of str
        "unknown", or reasons: results that a run has anew.
    """

    def __init__(self, path: StrPath, retry: Sequence[str] = ()) -> None:
        self.path = os.fspath(path)
        self._retry = frozenset(retry)
        self._renewed = 0.0
        self.run = 0
        with translated(self.path):
            self._db = connect(self.path)
        try:
            with translated(self.path):
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            with self._transaction():
                self._db.execute("DELETE FROM claims WHERE run = ?", [self.run])
                self._db.execute(
                    "UPDATE runs SET ended_at = ? WHERE run = ?", [now(), self.run]
                )
        except LtlpipeError:  # our claims end with this process anyway
            if kind is None:
                raise
        finally:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all of it or nothing; other runs wait."""
        with translated(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        """Make the tables if the file is new, and note this run."""
        if not is_empty(self._db):
            refuse_foreign(self._db, self.path)  # before anything is changed
        self._write_ahead()
        with self._transaction():
            if is_empty(self._db):
                for statement in _TABLES.split(";\n")[:-1]:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
            refuse_foreign(self._db, self.path)
            add_columns(self._db, "results", _COLUMN_TYPES)
            add_columns(self._db, "tasks", _TASK_COLUMNS)
            known = process(os.getpid())
            self.run = self._db.execute(
                "INSERT INTO runs (command, began_at, place, pid, process_started, "
                "alive_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING run",
                [
                    json.dumps(sys.argv),
                    now(),
                    _place(),
                    os.getpid(),
                    None if known is None else known.started,
                    time.time(),
                ],
            ).fetchone()[0]
            (self._before,) = self._db.execute(
                "SELECT coalesce(max(revision), 0) FROM results"
            ).fetchone()

    def _write_ahead(self) -> None:
        """Go over to write-ahead mode, for which SQLite does not wait by itself."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous = NORMAL")

    def list_tasks(self, tasks: Iterable[Listed]) -> None:
        """Note what this run is about.

        What earlier runs have listed in the same place is superseded: its inputs have
        changed.
        """
        rows = [
            {**task._asdict(), "run": self.run, "number": number}
            for number, task in enumerate(tasks)
        ]
        with self._transaction():
            self._db.executemany(
                "DELETE FROM tasks WHERE place = :place AND run < :run", rows
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO tasks (place, key, run, number, system, "
                "formula_id, formula, options, expected) VALUES (:place, :key, :run, "
                ":number, :system, :formula_id, :formula, :options, :expected)",
                rows,
            )

    def finished(self) -> dict[str, Row]:
        """Return the results of listed tasks that are not had anew, by key."""
        with translated(self.path):
            found = self._db.execute(
                f"SELECT key, revision, {_NAMES} FROM results "
                "WHERE key IN (SELECT key FROM tasks WHERE run = ?)",
                [self.run],
            )
            return {
                key: dict(zip(RESULT_DTYPES, cells, strict=True))
                for key, revision, *cells in found
                if not self._is_wanted_anew(revision, *cells[3:5])
            }

    def _is_wanted_anew(self, revision: int, verdict: str, reason: str | None) -> bool:
        if verdict != UNKNOWN or revision > self._before:
            return False
        return UNKNOWN in self._retry or reason in self._retry

    def claim(self, key: str) -> Row | bool:
        """Take a task; True if it is ours now, False if somebody works on it.

        If it is done, its result is returned.
        """
        with self._transaction():
            found = self._db.execute(
                f"SELECT revision, {_NAMES} FROM results WHERE key = ?", [key]
            ).fetchone()
            if found is not None and not self._is_wanted_anew(found[0], *found[4:6]):
                return dict(zip(RESULT_DTYPES, found[1:], strict=True))
            holder = self._db.execute(
                "SELECT run, place, pid, process_started, alive_at, ended_at "
                "FROM claims JOIN runs USING (run) WHERE key = ?",
                [key],
            ).fetchone()
            if holder is not None and (
                holder[0] == self.run or (holder[5] is None and lives(*holder[1:5]))
            ):
                return False
            self._db.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?)", [key, self.run]
            )
            return True

    def record(self, key: str, row: Row) -> None:
        """Keep the result of a task that was claimed; it is safe on return.

        A verdict that is there already stays.
        """
        values = {c: row.get(c) for c in RESULT_DTYPES} | {"finished_at": now()}
        places = ", ".join(f":{column}" for column in RESULT_DTYPES)
        updates = ", ".join(f"{c} = excluded.{c}" for c in ("run", *RESULT_DTYPES))
        with self._transaction():
            self._db.execute(
                f"INSERT INTO results (key, revision, run, attempts, {_NAMES}) "
                "VALUES (:key, "
                "(SELECT coalesce(max(revision), 0) + 1 FROM results), :run, 1, "
                f"{places}) ON CONFLICT (key) DO UPDATE SET {updates}, "
                "revision = excluded.revision, attempts = attempts + 1 "
                "WHERE verdict = :unknown",
                {**values, "key": key, "run": self.run, "unknown": UNKNOWN},
            )
            self._release(key)

    def _release(self, key: str) -> None:
        self._db.execute(
            "DELETE FROM claims WHERE key = ? AND run = ?", [key, self.run]
        )

    def release(self, key: str) -> None:
        """Give back a task that was claimed and has no result."""
        with self._transaction():
            self._release(key)

    def renew(self) -> None:
        """Say that this run is alive, if it is time to."""
        moment = time.monotonic()
        if self._renewed and moment - self._renewed < _RENEW_SECONDS:
            return
        self._renewed = moment
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET alive_at = ? WHERE run = ?", [time.time(), self.run]
            )


def _place() -> str:
    """Return where process numbers mean what they mean here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115
    except OSError:
        return f"unknown {os.getpid()}"  # equal to no other: the lease decides
    return f"{boot.strip()} {namespace}"


def lives(place: str, pid: int, process_started: int | None, alive_at: float) -> bool:
    """Whether the process of a run is still there."""
    if place == _place() and process_started is not None:
        known = process(pid)
        return known is not None and known.started == process_started
    return time.time() - alive_at < LEASE_SECONDS
