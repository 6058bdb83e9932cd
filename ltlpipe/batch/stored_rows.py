"""The rows of a result store: valid values, and their checksum.

A row is valid if each value is in the domain of its column, if its values are
consistent, and if its checksum matches all values, the key of its task included. The
checksum reveals damage and edits; it is not a signature, since every writer of the file
can compute it.  `ltlpipe.batch.verifying` confirms results.

How the file of a result store is opened: to grow it, and to read it.

Readers change nothing.  One that comes between the first byte of a new store and its
tables, which are one transaction, waits for them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import stat
import time
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ltlpipe.batch.table import CATEGORY, DTYPES, TIME, VOCABULARIES, modern
from ltlpipe.batch.tasks import LIMIT_COLUMNS
from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.runtime.files import open_regular
from ltlpipe.runtime.memory import lack_of_room
from ltlpipe.verdict.verdict import LASSO_LIMIT, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ltlpipe.runtime.files import StrPath

SCHEMA = 7
"""The version of the tables of a store; a file of a newer one is refused.

Version 3 is that of ltlpipe 0.2.
Version 4 has the coverage and the samples of bitstate searches.
Version 5 has the seconds of loading, and finite runs.
Version 6 has translators, deadlocks, and the class of acceptance in `acceptance`.
Version 7 has titles of formulas, and the reason "unbounded".
"""

_FIRST_SCHEMA = 3  # rows of earlier ones have no checksums

APPLICATION = 0x4C544C70
"""The application id of stores: "LTLp"."""

BUSY_SECONDS = 60.0
"""How long another run may write before we give up."""

_NEW_SECONDS = 2.0  # how long a run may take to make its tables
_MAGIC = b"SQLite format 3\0"


def is_store(path: StrPath, *, or_empty: bool = False) -> bool:
    """Return whether a file has the header of a store, or may still get it.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    try:
        with open_regular(path) as file:
            found = file.read(len(_MAGIC))
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot be read: {reason}", file=os.fspath(path)) from None
    return found == _MAGIC or (or_empty and not found)


@contextmanager
def reading(path: StrPath) -> Iterator[sqlite3.Connection]:
    """Open a store to read it, all of it at one moment.

    A file that does not exist, is not a store, or belongs to a newer ltlpipe is
    refused.
    """
    name = os.fspath(path)
    try:
        mode = Path(name).stat().st_mode
    except FileNotFoundError:
        raise LtlpipeError(f"{name}: the store does not exist") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LtlpipeError(f"{name}: cannot be read: {reason}") from None
    if not stat.S_ISREG(mode):
        raise LtlpipeError(f"{name}: is not a regular file")
    with translated(name):
        db = connect(name, to_read=True)
        try:
            deadline = time.monotonic() + _NEW_SECONDS
            while is_empty(db) and time.monotonic() < deadline:
                time.sleep(0.01)  # a run that has just created the file fills it
            schema_of(db, name)
            db.execute("BEGIN")
            yield db
        finally:
            db.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite into ours.

    It does not distinguish a full disk or a limit from other errors of output.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        why = _reason(path, str(error))
        raise LtlpipeError(f"{path}: the store cannot be used: {why}") from error
    except UnicodeEncodeError as error:  # a lone surrogate
        raise LtlpipeError(f"{path!r}: no name of a file: {error}") from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise LtlpipeError(
            f"{path}: this is not a result store, or it is damaged: {error}"
        ) from error


def _reason(path: str, said: str) -> str:
    """Return the error for one of SQLite, with its message."""
    meant = None
    if "disk" in said or "full" in said:
        meant = lack_of_room(path)
    elif "readonly" in said:
        meant = "it, or its folder, may not be written to"
    elif "unable to open" in said:
        meant = _obstacle(path)
    elif "locked" in said:
        meant = f"another run has been writing to it for {BUSY_SECONDS:.0f} seconds"
    return said if meant is None else f"{meant} ({said})"


def _obstacle(path: str) -> str | None:
    """Return why a file cannot be opened, or made."""
    place = Path(path)
    if place.is_dir():
        return "it is a folder"
    if not place.parent.is_dir():
        return "the folder does not exist"
    wanted = place if place.exists() else place.parent
    return None if os.access(wanted, os.R_OK | os.W_OK) else "permission denied"


def connect(path: str, *, to_read: bool = False) -> sqlite3.Connection:
    """Open an SQLite file; transactions are begun by hand."""
    if "\0" in path:
        raise LtlpipeError(f"{path!r}: no name of a file: a NUL byte")
    text = path.encode(errors="surrogateescape")
    mode = "?mode=ro" if to_read else "?mode=rwc"
    uri = "file:" + quote(os.path.abspath(text)) + mode  # noqa: PTH100
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    # A byte that is no UTF-8 spoils its own row, whose checksum does not fit then.
    db.text_factory = partial(str, encoding="utf-8", errors="backslashreplace")
    return db


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether an SQLite file has no tables."""
    (count,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(count == 0)


def schema_of(db: sqlite3.Connection, path: str) -> int:
    """Return the version of the tables of a store.

    A file is refused that is not a store, has an unknown schema, or SQL of its own.

    Triggers and views would run it, and so may indices and virtual tables.
    """
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        empty = ": it is empty" if is_empty(db) else ""
        raise LtlpipeError(f"{path}: this SQLite file is not a result store{empty}")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version < _FIRST_SCHEMA:
        raise LtlpipeError(
            f"{path}: the store was made by an ltlpipe before 0.2 (schema {version}); "
            "use another file"
        )
    if version > SCHEMA:
        raise LtlpipeError(
            f"{path}: the store was made by a newer ltlpipe (schema {version}; this "
            f"version knows {SCHEMA}); use that, or another file"
        )
    for kind, name in db.execute(
        "SELECT type, name FROM sqlite_master WHERE NOT "
        "(type = 'table' AND rootpage > 0 OR type = 'index' AND sql IS NULL)"
    ):
        raise LtlpipeError(
            f"{path}: the store has a {kind} {name!r}, which ltlpipe has not made and "
            "which may change results"
        )
    return int(version)


RESULT_DTYPES = {
    name: dtype
    for name, dtype in DTYPES.items()
    if name not in ("configuration", *LIMIT_COLUMNS.values())
}
"""The columns of a stored result; those of its options are those of its tasks."""

_OF_RESULT = {
    "key": "string",
    "revision": "Int64",
    "run": "Int64",
    "attempts": "Int64",
} | RESULT_DTYPES

_OF_TASK = {
    "place": "string",  # JSON: files, question, options, file of the question if any
    "key": "string",
    "run": "Int64",  # the last one that lists it
    "number": "Int64",  # in that run, from 0
    "system": "string",
    "formula_id": "string",
    "formula": "string",
    "options": "string",  # JSON, those that are not the default
    "expected": CATEGORY,  # the published verdict
    "title": "string",  # of the formula, by its file
    "identity": "string",  # JSON: digests of the system, question, options by contents
    "inputs": "string",  # JSON: where its files are
}

_NEEDED = {
    "results": ("key", "revision", "run", "attempts", "verdict"),
    "tasks": ("place", "key", "run", "number", "system", "options"),
}
_DTYPES = {"results": _OF_RESULT, "tasks": _OF_TASK}


class _Kind(NamedTuple):
    """How the values of a column are kept."""

    sql: str
    allowed: str  # the constraint, with {0} for the column
    python: Any  # the type in Python
    expected: str  # in messages
    most: float = math.inf


_TEXT = _Kind("TEXT", "typeof({0}) = 'text'", str, "a text")
_KINDS = {
    "Int64": _Kind(
        "INTEGER", "typeof({0}) = 'integer' AND {0} >= 0", int, "a whole number"
    ),
    "Float64": _Kind("REAL", "typeof({0}) = 'real' AND {0} >= 0", float, "a number"),
    "boolean": _Kind("INTEGER", "{0} IN (0, 1)", int, "0 or 1", 1),
}
_COLUMNS = {
    table: [(column, _KINDS.get(dtype, _TEXT)) for column, dtype in dtypes.items()]
    for table, dtypes in _DTYPES.items()
}
_TIMES = {c for dtypes in _DTYPES.values() for c, d in dtypes.items() if d == TIME}
_SHOWN = 3  # rows in a message
_WIDTH = 60  # characters of a value in a message


class StoredRow(NamedTuple):
    """A row as it is in a store."""

    said: dict[str, Any]  # by column
    objection: str | None  # why it is not believed

    @property
    def name(self) -> str:
        """What messages call it."""
        parts = (self.said.get(column) for column in ("system", "formula_id"))
        return " ".join(str(part)[:_WIDTH] for part in parts if part is not None)


# --- tables -----------------------------------------------------------------


def definition(table: str, ends: str) -> str:
    """Return the SQL that makes a table; `ends` are the constraints of the whole."""
    parts = [_column(table, name) for name in _DTYPES[table]]
    seal = "checksum TEXT NOT NULL CHECK (length(checksum) = 64)"
    return (
        f"CREATE TABLE {table} (\n    " + ",\n    ".join([*parts, seal, ends]) + "\n)"
    )


_RESULTS = """
    PRIMARY KEY (key),
    UNIQUE (revision),
    CHECK ((lasso_prefix IS NULL) = (coalesce(lasso_cycle, finite_run) IS NULL)),
    CHECK (lasso_cycle IS NULL OR finite_run IS NULL),
    CHECK (lasso_prefix IS NULL OR verdict = 'violated' AND reason IS NULL),
    CHECK (verdict = 'unknown' OR reason IS NULL
        OR verdict = 'violated' AND reason = 'lasso-limit')
"""


def _column(table: str, name: str) -> str:
    """Return the SQL of a column, with its constraint."""
    kind = _KINDS.get(_DTYPES[table][name], _TEXT)
    sql, allowed = f"{name} {kind.sql}", kind.allowed.format(name)
    if name in VOCABULARIES:
        words = ", ".join(f"'{word}'" for word in VOCABULARIES[name])
        allowed = f"{name} IN ({words})"
    if name in _NEEDED[table]:
        return f"{sql} NOT NULL CHECK ({allowed})"
    return f"{sql} CHECK ({name} IS NULL OR {allowed})"


DEFINITIONS = (
    definition("results", _RESULTS.strip()),
    definition("tasks", "PRIMARY KEY (place, key)") + " WITHOUT ROWID",
)
"""The SQL that makes the tables whose rows have checksums."""


# --- writing ----------------------------------------------------------------


def sealed(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as it is stored, with its checksum; columns of others are left out.

    Raises
    ------
    ValueError, TypeError
        A value is not in the domain of its column.
    """
    said = dict.fromkeys(_DTYPES[table])
    for column, kind in _COLUMNS[table]:
        if (value := row.get(column)) is not None:
            said[column] = _stored(value, kind)
    return said | {"checksum": checksum(said)}


def insertion(table: str, columns: Collection[str]) -> str:
    """Return the SQL that puts a row in the place of that before."""
    places = ", ".join(f":{column}" for column in columns)
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({places})"


def _stored(value: Any, kind: _Kind) -> Any:
    """Return a value as SQLite gives it back."""
    stored = kind.python(value)
    return None if isinstance(stored, float) and math.isnan(stored) else stored


def checksum(said: Mapping[str, Any]) -> str:
    """Return the checksum over columns and values; missing values do not count.

    So a column that a later version adds does not change those of earlier rows.
    """
    known = {column: value for column, value in said.items() if value is not None}
    return hashlib.sha256(_AS_JSON(known).encode()).hexdigest()


_AS_JSON = json.JSONEncoder(sort_keys=True, default=repr).encode


# --- reading ----------------------------------------------------------------


def stored_rows(
    db: sqlite3.Connection, table: str, end: str = "", values: Sequence[Any] = ()
) -> Iterator[StoredRow]:
    """Yield the rows of a table, each with its objection or None.

    `end` is the end of the query: which rows, in which order.
    """
    found = db.execute(f"SELECT * FROM {table} {end}", values)
    there = {name.lower(): place for place, (name, *_) in enumerate(found.description)}
    is_old = table == "results" and "condition" not in there
    # An older store lacks some.
    places = [(column, there.get(column)) for column in (*_DTYPES[table], "checksum")]
    for cells in found:
        said = {c: None if place is None else cells[place] for c, place in places}
        seal = said.pop("checksum")
        why = objection(table, said)
        if why is None and seal != checksum(said):
            why = "the checksum does not match the row"
        yield StoredRow(modern(said) if is_old else said, why)


def results_in(
    path: StrPath,
) -> tuple[list[tuple[dict[str, Any], dict[str, Any]]], list[StoredRow]]:
    """Return the tasks of a store with their results, and the rows with objections.

    Tasks come in the order in which runs list them, as pairs with their result; all is
    of one moment.
    """
    with reading(path) as db:
        tasks = list(stored_rows(db, "tasks", "ORDER BY run, number"))
        found = list(stored_rows(db, "results"))
    faulty = [row for row in (*tasks, *found) if row.objection is not None]
    results = {row.said["key"]: row.said for row in found if row.objection is None}
    pairs = [
        (task.said, results[task.said["key"]])
        for task in tasks
        if task.objection is None and task.said["key"] in results
    ]
    return pairs, faulty


def objection(table: str, said: Mapping[str, Any]) -> str | None:
    """Return why the values of a row cannot be believed, whatever its checksum is."""
    needed = _NEEDED[table]
    for column, kind in _COLUMNS[table]:
        value = said[column]
        if value is None and column not in needed:
            continue
        if (expected := _expected(column, kind, value)) is not None:
            return f"{column} is {str(value)[:_WIDTH]!r}, expected {expected}"
    return _mismatch(said) if table == "results" else _unreadable(said)


def _expected(column: str, kind: _Kind, value: Any) -> str | None:
    """Describe the expected value; None if it is that."""
    if column in VOCABULARIES:
        words = VOCABULARIES[column]
        return None if value in words else f"one of {', '.join(words)}"
    if not isinstance(value, kind.python):
        return kind.expected
    if kind is not _TEXT:
        return None if 0 <= value <= kind.most else kind.expected
    if column in _TIMES:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return "a time"
    return None


def _mismatch(said: Mapping[str, Any]) -> str | None:
    """Return the inconsistency of a result's verdict, reason and run, if any."""
    verdict, reason, cycle = (said[c] for c in ("verdict", "reason", "lasso_cycle"))
    steps, kind = said["lasso_prefix"], said["finite_run"]
    if kind is not None and cycle is not None:
        return "a finite run with a cycle"
    if (cycle is None and kind is None) != (steps is None):
        return "half of a lasso is missing"
    if steps is not None and (verdict != VIOLATED or reason is not None):
        return f"{verdict!r} with a lasso"
    is_allowed = verdict == UNKNOWN or (verdict, reason) == (VIOLATED, LASSO_LIMIT)
    if reason is None or is_allowed:
        return None
    return f"{verdict!r} for the reason {reason!r}"


def _unreadable(said: Mapping[str, Any]) -> str | None:
    """Return the part of a task that is not the JSON expected, if any."""
    kinds = {"place": list, "options": dict, "identity": list, "inputs": dict}
    for column, kind in kinds.items():
        if said[column] is None:
            continue
        try:
            found = json.loads(said[column])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            return f"{column} is not a JSON {'list' if kind is list else 'object'}"
    return None


def rejections(rows: Iterable[StoredRow]) -> str:
    """Return the rejected rows with their reasons, in a line."""
    listed = [f"{row.name or 'a row'}: {row.objection}" for row in rows]
    more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return "; ".join(listed[:_SHOWN]) + more
