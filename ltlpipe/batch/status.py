"""Progress of a run, from its store alone: also from another terminal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.sqlite_file import reading
from ltlpipe.batch.store import lives
from ltlpipe.batch.stored_rows import stored_rows

if TYPE_CHECKING:
    import sqlite3

    from ltlpipe.runtime.files import StrPath

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
    with reading(path) as db:
        return _read(db)


def _read(db: sqlite3.Connection) -> Status:
    runs = db.execute(
        "SELECT run, began_at, ended_at, place, pid, process_started, alive_at "
        "FROM runs ORDER BY run"
    ).fetchall()
    if not runs:
        return Status((), 0, {})
    last = runs[-1][0]
    known = [_run(db, *row) for row in runs if row[2] is None or row[0] == last]
    keys = [key for (key,) in db.execute("SELECT key FROM tasks WHERE run = ?", [last])]
    listed = "WHERE key IN (SELECT key FROM tasks WHERE run = ?)"
    outcomes = {
        row.said["key"]: (row.said["verdict"], row.said["reason"])
        for row in stored_rows(db, "results", listed, [last])
        if row.objection is None
    }
    counted = Counter(outcomes[key] for key in keys if key in outcomes)
    return Status(
        tuple(run for run in known if run.state == GOES_ON or run.run == last),
        len(keys),
        dict(sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] or ""))),
    )


def _run(
    db: sqlite3.Connection,
    number: int,
    began_at: str,
    ended_at: str | None,
    *signs: Any,
) -> RunStatus:
    """Return the progress of a run; `signs` of life are what `lives` takes."""
    alive = lives(*signs)
    state = ENDED if ended_at is not None else GOES_ON if alive else DIED
    end = datetime.now(timezone.utc)
    if ended_at is not None:
        end = datetime.fromisoformat(ended_at)
    elif not alive:  # it gave a sign of life so often
        end = datetime.fromtimestamp(signs[-1], timezone.utc)
    seconds = (end - datetime.fromisoformat(began_at)).total_seconds()
    (solved,) = db.execute(
        "SELECT count(*) FROM results WHERE run = ?", [number]
    ).fetchone()
    at_work = db.execute(
        "SELECT min(system), min(coalesce(formula_id, '')) "
        "FROM claims JOIN tasks USING (key) WHERE claims.run = ? "
        "GROUP BY key ORDER BY 1, 2",
        [number],
    ).fetchall()
    return RunStatus(
        run=number,
        state=state,
        began_at=began_at,
        ended_at=ended_at,
        seconds=max(seconds, 0.0),
        solved=solved,
        at_work=tuple((system, formula) for system, formula in at_work)
        if state == GOES_ON
        else (),
    )
