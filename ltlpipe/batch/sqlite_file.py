"""How the file of a result store is opened: to grow it, and to read it.

Readers change nothing.  One that comes between the first byte of a new store and its
tables, which are one transaction, waits for them.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.runtime.exhaustion import lack_of_room
from ltlpipe.runtime.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.files import StrPath

SCHEMA = 5
"""The version of the tables of a store; a file of a newer one is refused.

Version 3 is that of ltlpipe 0.2.
Version 4 has the coverage and the samples of searches over bits.
Version 5 has the seconds of loading, and finite runs.
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
    if not os.path.isfile(name):  # noqa: PTH113
        is_there = os.path.exists(name)  # noqa: PTH110
        why = "is not a regular file" if is_there else "the store does not exist"
        raise LtlpipeError(f"{name}: {why}")
    with translated(name):
        db = connect(name, to_read=True)
        try:
            _await_tables(db)
            schema_of(db, name)
            db.execute("BEGIN")
            yield db
        finally:
            db.close()


def _await_tables(db: sqlite3.Connection) -> None:
    """Wait for a run that has just created the file to fill it."""
    deadline = time.monotonic() + _NEW_SECONDS
    while is_empty(db) and time.monotonic() < deadline:
        time.sleep(0.01)


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
    text = path.encode(errors="surrogateescape")
    mode = "?mode=ro" if to_read else "?mode=rwc"
    uri = "file:" + quote(os.path.abspath(text)) + mode  # noqa: PTH100
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    # A byte that is no UTF-8 spoils its own row, whose checksum does not fit then.
    db.text_factory = lambda data: data.decode(errors="backslashreplace")
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


def columns_in(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns that a table of a store has; an older one lacks some."""
    return {row[1].lower() for row in db.execute(f"PRAGMA table_info({table})")}
