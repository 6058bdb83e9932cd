"""The result store: an SQLite file that a run grows and any number of runs share.

Tables: `runs`, one row per run; `tasks`, what they list; `results`, one row per
answered task; `claims`, the tasks being solved; `set_aside`, rows that are not
believed.  A result is one transaction in write-ahead mode: a process that is killed
has written a result whole or not at all.  (After a power failure the last results may
be missing; the file is whole.)

Results and tasks have constraints and a checksum (`ltlpipe.batch.stored_rows`).  An
invalid result is set aside when a run reads it, with a warning, and its task is solved
again; the others stay.

Claims.  A task is claimed for the run in one transaction before it starts, and the
claim is deleted with the result.  A claim holds while its run is alive.  On the machine
and in the process namespace of the run that is a look at the process table: a process
with its number and its start time; so the claims of a killed run are free at once. Who
cannot look there, such as another container, goes by a time stamp that the run renews:
after a minute without news the run is taken for dead.  If it is still alive after all,
a task is merely answered twice: a verdict is never replaced.

A store of ltlpipe 0.2 is made one of today by the next run, in one transaction.

Progress of a run, from its store alone: also from another terminal.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.stored_rows import (
    APPLICATION,
    BUSY_SECONDS,
    DEFINITIONS,
    RESULT_DTYPES,
    SCHEMA,
    StoredRow,
    connect,
    insertion,
    is_empty,
    reading,
    rejections,
    schema_of,
    sealed,
    stored_rows,
    translated,
)
from ltlpipe.batch.tasks import now
from ltlpipe.runtime.errors import LtlpipeError, warn
from ltlpipe.runtime.worker_process import process
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.files import StrPath

LEASE_SECONDS = 60.0
_RENEW_SECONDS = 15.0

_REVISION = "SELECT coalesce(max(revision), 0) FROM results"
_TABLES = """
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
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    run INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE set_aside (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    origin TEXT NOT NULL,       -- the table
    why TEXT NOT NULL,
    said TEXT NOT NULL          -- JSON: columns and values
);
"""


class Store:
    """A result store; use it in a with statement.

    Parameters
    ----------
    path : path
        The file; it is made if there is none.
    retry : sequence of str
        "unknown", or reasons: results that a run computes again.
    """

    def __init__(self, path: StrPath, retry: Sequence[str] = ()) -> None:
        self.path = os.fspath(path)
        self._retry = frozenset(retry)
        self._renewed = 0.0
        self._faulty: list[StoredRow] = []  # set aside, not reported yet
        self.run = 0
        with translated(self.path):
            self._db = connect(self.path)
        self._file = Path(self.path).absolute()
        self._identity = self._file_identity()
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
                self._faulty.clear()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        if self._file_identity() != self._identity:
            raise LtlpipeError(
                f"{self.path}: the store was deleted or replaced while this run was "
                "using it: what was solved since then is lost; run it again"
            )
        self._say()

    def _file_identity(self) -> tuple[int, int] | None:
        """Return what tells the file from another one of its name; None if it is gone.

        SQLite goes on writing to a file that has been deleted.
        """
        with suppress(OSError):
            found = self._file.stat()
            return found.st_dev, found.st_ino
        return None

    def _prepare(self) -> None:
        """Make the tables if the file is new, and note this run."""
        if not is_empty(self._db):
            schema_of(self._db, self.path)  # before anything is changed
        with self._transaction():
            if is_empty(self._db):
                for statement in (*_TABLES.split(";\n")[:-1], *DEFINITIONS):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
            if schema_of(self._db, self.path) < SCHEMA:
                self._migrate()
            tables = "SELECT sql FROM sqlite_master WHERE name IN ('results', 'tasks')"
            if {sql for (sql,) in self._db.execute(tables)} != {*DEFINITIONS}:
                raise LtlpipeError(f"{self.path}: ltlpipe has not made these tables")
            known = process(os.getpid())
            about = {
                "command": json.dumps(sys.argv),
                "began_at": now(),
                "place": _place(),
                "pid": os.getpid(),
                "process_started": None if known is None else known.started,
                "alive_at": time.time(),
            }
            self.run = self._value(insertion("runs", about) + " RETURNING run", about)
            self._before = self._value(_REVISION)
        # After the tables: a run that is ended here leaves a store or an empty file.
        self._write_ahead()

    def _value(self, query: str, values: Any = ()) -> Any:
        """Return the one value that a query gives."""
        return self._db.execute(query, values).fetchone()[0]

    def _migrate(self) -> None:
        """Make a store of an earlier version one of today.

        A running process of that version could not continue.
        """
        for run, *signs in self._db.execute(
            "SELECT run, place, pid, process_started, alive_at FROM runs "
            "WHERE ended_at IS NULL"
        ):
            if lives(*signs):
                raise LtlpipeError(
                    f"{self.path}: run {run}, of an earlier ltlpipe, has not ended; "
                    "wait for its end, or use another file"
                )
        for table, made in zip(("results", "tasks"), DEFINITIONS, strict=True):
            rows = list(stored_rows(self._db, table))
            self._db.execute(f"DROP TABLE {table}")
            self._db.execute(made)
            self._put(table, (row.said for row in rows if row.objection is None))
            self._set_aside([row for row in rows if row.objection is not None], table)
        self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _put(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows with their checksums, in the place of those before."""
        for row in rows:
            stored = sealed(table, row)
            self._db.execute(insertion(table, stored), stored)

    def _say(self) -> None:
        """Warn of results that have been set aside."""
        faulty, self._faulty = self._faulty, []
        if faulty:
            warn(
                f"{self.path}: {len(faulty)} results set aside, and their tasks solved "
                f"again: {rejections(faulty)}"
            )

    def _write_ahead(self) -> None:
        """Switch to write-ahead mode, for which SQLite does not wait by itself."""
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

    def list_tasks(self, tasks: Iterable[Row]) -> None:
        """Record the tasks of this run, which have the columns of the table.

        What earlier runs have listed in the same place is superseded: its inputs have
        changed.  A `former` place, of version 0.3.0, does not say in which file the
        formula is.
        """
        rows = [
            {"former": None, **task, "run": self.run, "number": n}
            for n, task in enumerate(tasks)
        ]
        superseded = (
            "DELETE FROM tasks WHERE run < :run "
            "AND (place = :place OR place = :former AND formula IS :formula)"
        )
        with self._transaction():
            self._db.executemany(superseded, rows)
            self._put("tasks", rows)

    def finished(self) -> dict[str, Row]:
        """Return the results of listed tasks that are not retried, by key.

        Those that are not believed are set aside.
        """
        listed = "(SELECT key FROM tasks WHERE run = ?)"
        with translated(self.path):
            rows = list(self._results(listed, self.run))
        faulty = [row for row in rows if row.objection is not None]
        if faulty:
            with self._transaction():
                self._set_aside(faulty)
        return {
            row.said["key"]: _columns(row)
            for row in rows
            if row.objection is None and not self._is_wanted_anew(row.said)
        }

    def _results(self, keys: str, value: Any) -> Iterator[StoredRow]:
        """Yield results; `keys` is the SQL that says which, about a value."""
        return stored_rows(self._db, "results", f"WHERE key IN {keys}", [value])

    def _set_aside(self, rows: list[StoredRow], table: str = "results") -> None:
        """Take rows that are not believed out of the way, within a transaction."""
        self._db.executemany(
            "INSERT INTO set_aside (at, origin, why, said) VALUES (?, ?, ?, ?)",
            [
                (now(), table, row.objection, json.dumps(row.said, default=repr))
                for row in rows
            ],
        )
        if table == "results":
            self._faulty += rows
            keys = [(row.said["key"],) for row in rows]
            self._db.executemany("DELETE FROM results WHERE key = ?", keys)

    def _is_wanted_anew(self, said: Mapping[str, Any]) -> bool:
        if said["verdict"] != UNKNOWN or said["revision"] > self._before:
            return False
        return UNKNOWN in self._retry or said["reason"] in self._retry

    def _kept(self, key: str) -> StoredRow | None:
        """Return the result of a task, within a transaction; None without one.

        One that is not believed is set aside.
        """
        row = next(self._results("(?)", key), None)
        if row is None or row.objection is None:
            return row
        self._set_aside([row])
        return None

    def claim(self, key: str) -> Row | bool:
        """Take a task; True if this run has it now, False if another run does.

        If it is done, its result is returned.
        """
        with self._transaction():
            found = self._kept(key)
            if found is not None and not self._is_wanted_anew(found.said):
                return _columns(found)
            holder = self._db.execute(
                "SELECT run, place, pid, process_started, alive_at, ended_at "
                "FROM claims JOIN runs USING (run) WHERE key = ?",
                [key],
            ).fetchone()
            if holder is not None and (
                holder[0] == self.run or (holder[5] is None and lives(*holder[1:5]))
            ):
                return False
            claim = {"key": key, "run": self.run}
            self._db.execute(insertion("claims", claim), claim)
            return True

    def record(self, key: str, row: Row | None) -> None:
        """Keep the result of a task that was claimed; it is safe on return.

        An existing verdict is kept.  Without a result the task is given back.
        """
        with self._transaction():
            before = self._kept(key)
            if row and (before is None or before.said["verdict"] == UNKNOWN):
                about = {
                    "key": key,
                    "revision": self._value(_REVISION) + 1,
                    "run": self.run,
                    "attempts": 1 if before is None else before.said["attempts"] + 1,
                    "finished_at": row.get("finished_at") or now(),
                }
                self._put("results", [{**row, **about}])
            release = "DELETE FROM claims WHERE key = ? AND run = ?"
            self._db.execute(release, [key, self.run])

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


def _columns(row: StoredRow) -> Row:
    """Return the columns of a result, without those that are about its place."""
    return {column: row.said[column] for column in RESULT_DTYPES}


def _place() -> str:
    """Return the identity of this machine, boot and process namespace."""
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
    return abs(time.time() - alive_at) < LEASE_SECONDS  # no clock is that far ahead


GOES_ON, ENDED, DIED = "goes on", "ended", "died"
"""The state of a run; "died": it was killed, or its machine went down."""


@dataclass(frozen=True)
class RunStatus:
    """One run on a store."""

    run: int  # its number
    state: str  # `GOES_ON`, `ENDED` or `DIED`
    began_at: str  # UTC
    ended_at: str | None  # None if it has not ended by itself
    seconds: float  # its duration so far
    solved: int  # results of its own that are in the store
    at_work: tuple[tuple[str, str], ...]  # systems and formulas


@dataclass(frozen=True)
class Status:
    """A store."""

    runs: tuple[RunStatus, ...]  # the running ones, and the last one, in order
    tasks: int  # those that the last run lists
    outcomes: dict[tuple[str, str | None], int]  # tasks by verdict and reason

    @property
    def done(self) -> int:
        """How many of the tasks have a result."""
        return sum(self.outcomes.values())

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds for the rest; None if unknown."""
        rate = sum(
            run.solved / run.seconds
            for run in self.runs
            if run.state == GOES_ON and run.seconds
        )
        return (self.tasks - self.done) / rate if rate else None


def status(path: StrPath) -> Status:
    """Return the progress of the runs on a store."""
    signs = "place, pid, process_started, alive_at"
    with reading(path) as db:
        runs = db.execute(
            "SELECT run, (SELECT count(*) FROM results WHERE results.run = runs.run), "
            f"began_at, ended_at, {signs} FROM runs ORDER BY run"
        ).fetchall()
        if not runs:
            return Status((), 0, {})
        last = runs[-1][0]
        known = [_run(db, *row) for row in runs if row[3] is None or row[0] == last]
        listed = "SELECT key FROM tasks WHERE run = ?"
        keys = [key for (key,) in db.execute(listed, [last])]
        results = stored_rows(db, "results", f"WHERE key IN ({listed})", [last])
        said = {r.said["key"]: r.said for r in results if r.objection is None}
    found = [said[key] for key in keys if key in said]
    counted = Counter((row["verdict"], row["reason"]) for row in found)
    return Status(
        tuple(run for run in known if run.state == GOES_ON or run.run == last),
        len(keys),
        dict(sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] or ""))),
    )


def _run(
    db: sqlite3.Connection,
    run: int,
    solved: int,
    began: str,
    ended: str | None,
    *signs: Any,
) -> RunStatus:
    """Return the progress of a run; `signs` of life are what `lives` takes."""
    alive = lives(*signs)
    state = ENDED if ended is not None else GOES_ON if alive else DIED
    end = datetime.now(timezone.utc)
    if ended is not None:
        end = datetime.fromisoformat(ended)
    elif not alive:  # it gave a sign of life so often
        end = datetime.fromtimestamp(signs[-1], timezone.utc)
    seconds = (end - datetime.fromisoformat(began)).total_seconds()
    at_work = db.execute(
        "SELECT min(system), min(coalesce(formula_id, '')) "
        "FROM claims JOIN tasks USING (key) WHERE claims.run = ? "
        "GROUP BY key ORDER BY 1, 2",
        [run],
    ).fetchall()
    shown = tuple(at_work) if state == GOES_ON else ()
    return RunStatus(run, state, began, ended, max(seconds, 0.0), solved, shown)
