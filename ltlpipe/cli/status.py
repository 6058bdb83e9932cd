"""``ltlpipe status``: the progress of a run, from another terminal."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.tables import Store, print_outcomes

if TYPE_CHECKING:
    from ltlpipe.batch.store import RunStatus, Status


def status(
    store: Store,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Print the progress of the runs on a store: done, running, left.

    This does not disturb the runs.  The exit code is 0 whatever the verdicts are.
    """
    from ltlpipe.batch.store import status as status_of

    found = status_of(store)
    if as_json:
        print(json.dumps(_plain(found), ensure_ascii=False))
        return
    for run in found.runs:
        _print_run(run)
    _print_tasks(found)


def _plain(found: Status) -> dict[str, object]:
    """Return what ``--json`` prints."""
    outcomes = [
        {"verdict": verdict, "reason": reason, "tasks": count}
        for (verdict, reason), count in found.outcomes.items()
    ]
    more = {"done": found.done, "seconds_left": found.seconds_left}
    return asdict(found) | {"outcomes": outcomes} | more


def _print_run(run: RunStatus) -> None:
    state = run.state if run.ended_at is None else f"{run.state} at {run.ended_at}"
    print(
        f"run {run.run} {state}: began at {run.began_at}, "
        f"{run.solved:,} tasks solved in {duration(run.seconds)}"
    )
    for system, formula in run.at_work:
        print(f"  at {system} {' '.join(formula.split())}".rstrip())


def _print_tasks(found: Status) -> None:
    left = found.tasks - found.done
    print_outcomes(found.outcomes, left)
    text = f"{found.done:,} of {found.tasks:,} tasks done"
    if left and found.seconds_left is not None:
        text += f", the rest in about {duration(found.seconds_left)}"
    print(text)


def duration(seconds: float) -> str:
    """Return a formatted time span.

    Examples
    --------
    >>> duration(59.4), duration(60), duration(7384), duration(200_000)
    ('59 s', '1 min 0 s', '2 h 3 min', '2 d 7 h')
    """
    whole = round(seconds)
    for small, large, factor, size in (
        ("h", "d", 3600, 24),
        ("min", "h", 60, 60),
        ("s", "min", 1, 60),
    ):
        count = whole // factor
        if count >= size:
            return f"{count // size} {large} {count % size} {small}"
    return f"{whole} s"
