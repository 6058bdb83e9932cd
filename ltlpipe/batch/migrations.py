"""Result stores of earlier versions, made those of today in one transaction.

Rows of schema 1 and 2 have no checksums.  Those with valid values are kept and get one:
later changes are noticed, earlier ones cannot be.  The others are set aside, and so are
later rows whose checksum does not match.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ltlpipe.batch.sqlite_file import SCHEMA
from ltlpipe.batch.stored_rows import (
    DEFINITIONS,
    StoredRow,
    insertion,
    sealed,
    stored_rows,
)
from ltlpipe.batch.task_job import now

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

SET_ASIDE = """
CREATE TABLE IF NOT EXISTS set_aside (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    origin TEXT NOT NULL,       -- the table
    why TEXT NOT NULL,
    said TEXT NOT NULL          -- JSON: columns and values
)
"""
"""The table of rejected rows, for inspection."""


def migrate(db: sqlite3.Connection) -> dict[str, list[StoredRow]]:
    """Make a store of an earlier schema one of today, within a transaction.

    Returns the rows that are set aside, by table.
    """
    faulty: dict[str, list[StoredRow]] = {}
    db.execute(SET_ASIDE)
    for table, made in zip(("results", "tasks"), DEFINITIONS, strict=True):
        rows = list(stored_rows(db, table))
        faulty[table] = [row for row in rows if row.objection is not None]
        db.execute(f"DROP TABLE {table}")
        db.execute(made)
        whole = (sealed(table, row.said) for row in rows if row.objection is None)
        db.executemany(insertion(table), whole)
        set_aside(db, table, faulty[table])
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    return faulty


def set_aside(db: sqlite3.Connection, table: str, rows: Iterable[StoredRow]) -> None:
    """Record rejected rows, which were removed from their table."""
    db.executemany(
        "INSERT INTO set_aside (at, origin, why, said) VALUES (?, ?, ?, ?)",
        [
            (now(), table, row.objection, json.dumps(row.said, default=repr))
            for row in rows
        ],
    )
