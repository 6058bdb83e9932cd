"""Single measurements in processes of their own, with limits.

A task is a question and a way to answer it: options of `ltlpipe.check`, Spin, or Cunf.
Its process is a copy of this one, so what has been compiled here is there, and it
lives on from task to task until one crashes or does not end.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import cunf, spin
from benchmarks.copies import bounded_map
from ltlpipe import Network, UnsupportedError, check
from ltlpipe.runtime.jobs import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Options = dict[str, str]
SPIN: Options = {}  # in place of the options of ltlpipe
CUNF: Options = {}

TOO_LATE = "budget"  # why a task was not begun
GRACE = 120.0  # seconds beyond the limit: Spin's compiler, or extracting a lasso
SPARE_MIB = 8192  # address space beside the limit: libraries, and Spin's hash table
STACK_SHARE = 4096  # frames of Spin's stack per MiB of the limit: a fifth of it
MIB = 1 << 20

MEASURED = [
    "verdict",
    "reason",
    "states",
    "transitions",
    "seconds",
    "search_seconds",
    "lasso_seconds",
    "process_seconds",
    "compile_seconds",
    "memory_mib",
    "emptiness",
    "reductions",
    "timeout",
    "limit_mib",
]
"""Columns of a measurement."""


class Limits(NamedTuple):
    """What a task may take."""

    timeout: float  # seconds, without Spin's compiler
    memory_mib: int


class Task(NamedTuple):
    """A question, and how to answer it."""

    make: Callable[[], Network]  # anew: answers about one object share knowledge
    formula: str | None  # None: has the network an accepting run?
    options: Options
    limits: Limits
    expected: float | None = None  # states, by which Spin's hash table is made
    begin_before: float | None = None  # of `time.monotonic`


def answers(
    tasks: Sequence[Task], jobs: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of a task and its measurement, as they are done."""
    if not tasks:
        return
    hard = max(task.limits.timeout for task in tasks) + GRACE
    for outcome in bounded_map(_answer, tasks, timeout=hard, jobs=jobs):
        task = tasks[outcome.number]
        if outcome.error is None:
            (row,) = outcome.parts
        else:
            row = {
                "verdict": "unknown",
                "reason": _why(outcome.error),
                "seconds": significant(outcome.seconds),
            }
        row |= {"timeout": task.limits.timeout, "limit_mib": task.limits.memory_mib}
        yield outcome.number, {column: row.get(column) for column in MEASURED}


def medians(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the last of several measurements of one task, with median times."""
    row = dict(rows[-1])
    for column, last in row.items():
        if column.endswith("seconds") and last is not None:
            row[column] = statistics.median(row[column] for row in rows)
    return row | {"runs": len(rows)}


def significant(seconds: Any) -> float | None:
    """Round to four digits."""
    return None if seconds is None else float(f"{seconds:.4g}")


def _why(error: Exception) -> str:
    if isinstance(error, StoppedError):
        return error.reason
    if isinstance(error, UnsupportedError):  # or a crash of the process
        return str(error)
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _answer(task: Task) -> Iterator[dict[str, Any]]:
    """Measure in a worker, where taking too much ends no more than the task."""
    if task.begin_before is not None and time.monotonic() > task.begin_before:
        raise StoppedError(TOO_LATE)
    most = (2 * task.limits.memory_mib + SPARE_MIB) * MIB
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    if task.options is SPIN:
        yield _spins(task)
    else:
        yield _cunfs(task) if task.options is CUNF else ours(task)


def ours(task: Task) -> dict[str, Any]:
    """Answer with ltlpipe; `seconds` is the whole question, lasso and replay in it."""
    found = check(
        task.make(),
        task.formula,
        empty=task.formula is None,
        timeout=task.limits.timeout,
        memory=task.limits.memory_mib,
        **task.options,  # type: ignore[arg-type]
    )
    stats = found.stats
    memory = stats.memory_mib
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "states": stats.states,
        "transitions": stats.transitions,
        "seconds": significant(stats.seconds),
        "search_seconds": significant(stats.search_seconds),
        "lasso_seconds": significant(stats.lasso_seconds),
        "memory_mib": None if memory is None else round(memory, 3),
        "emptiness": found.plan.emptiness,
        "reductions": " ".join(found.plan.reductions),
    }


def _spins(task: Task) -> dict[str, Any]:
    """Answer with Spin.

    Its states are those stored.  `seconds` is by the verifier's own clock, which does
    not count how long it takes to get memory, if it came to tell; `process_seconds`
    is its whole life, and the compiler's time comes on top.
    """
    most = STACK_SHARE * task.limits.memory_mib
    size = {"depth": most}
    if task.expected is not None:
        size["depth"] = min(most, max(round(10 * task.expected), 10_000))
        size["hash_bits"] = min(24, round(2 * task.expected).bit_length())
    with tempfile.TemporaryDirectory() as folder:
        run = spin.run_spin(
            task.make(),
            reduce=True,
            workdir=Path(folder),
            memory_mib=task.limits.memory_mib,
            timeout=task.limits.timeout,
            **size,  # type: ignore[arg-type]
        )
    row = {
        column: run.get(column)
        for column in ("verdict", "reason", "states", "transitions")
    }
    memory = run.get("memory_mib")
    return row | {
        "seconds": run.get("pan_seconds", significant(run["seconds"])),
        "memory_mib": None if memory is None else round(float(str(memory)), 3),
        "process_seconds": significant(run["seconds"]),
        "compile_seconds": significant(run["compile_seconds"]),
        "emptiness": "spin",
    }


def _cunfs(task: Task) -> dict[str, Any]:
    """Have Cunf unfold the network; `states` are the events of the prefix."""
    limits = task.limits
    with tempfile.TemporaryDirectory() as folder:
        row = cunf.unfold(
            task.make(),
            workdir=Path(folder),
            memory_mib=limits.memory_mib,
            timeout=limits.timeout,
        )
    seconds = significant(row["seconds"])
    return row | {"seconds": seconds, "states": row["events"], "emptiness": "cunf"}
