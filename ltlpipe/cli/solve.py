"""``ltlpipe solve``: folders of problems to a result table."""

from __future__ import annotations

import sys
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.batch.engines import ATTEMPTS, LOCAL
from ltlpipe.cli import options as shared
from ltlpipe.cli.options import PlanPrinter, TaskWatcher, search_progress
from ltlpipe.cli.report import refuse_page, write_page
from ltlpipe.cli.tables import print_outcomes, print_table
from ltlpipe.cli.verdicts import BUG, contest_line, exit_code, json_line
from ltlpipe.question.options import SOLVE
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import INTERRUPTED, ended_by_ctrl_c
from ltlpipe.runtime.names import counted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.batch.rers import RersWriter
    from ltlpipe.batch.table import Row
    from ltlpipe.batch.tasks import Task


@shared.takes(SOLVE)
def solve(
    paths: list[str] = typer.Argument(
        metavar="PATH",
        help="Folders with system.* beside *.ltl, problemNNN.dot beside "
        "problemNNN-properties*.txt, or NAME.c "
        "(or NAME.java) beside "
        "constraints-NAME.txt, at any depth; or task tables, .csv or "
        ".parquet with columns system, formula and options.",
    ),
    out: str | None = shared.table_file(
        "Result table, .csv or .parquet; or give --store or --rers."
    ),
    jobs: int | None = shared.run_option(
        None,
        metavar="N",
        min=1,
        help="Number of worker processes; limits are then enforced from outside, too.",
    ),
    store: str | None = shared.run_option(
        None,
        metavar="FILE",
        help="SQLite file that keeps each result; the same command resumes an "
        "interrupted run.",
    ),
    retry: str = shared.run_option(
        "",
        metavar="LIST",
        help="Solve tasks of --store again that ended so: unknown, crash, ...",
    ),
    engine: str = shared.run_option(
        LOCAL,
        metavar="NAME",
        help="local: processes of this machine; dask: the cluster of --scheduler.",
    ),
    scheduler: str | None = shared.run_option(
        None,
        metavar="ADDRESS",
        help="Address of the Dask scheduler, such as tcp://host:8786.",
    ),
    attempts: int = shared.run_option(
        ATTEMPTS,
        metavar="N",
        min=1,
        help="How often a task is started whose Dask workers die.",
    ),
    grid: list[str] | None = shared.search_option(
        None,
        metavar="OPTION=A,B [OPTION=C,D ...]",
        help="Solve each task with each of these values (A+B is a list).",
    ),
    allow_translators: list[str] | None = shared.expert_option(
        None,
        metavar="PROGRAM",
        help="Let task tables run this program, with any arguments, in their "
        "column translator; can be given again.",
    ),
    rers: str | None = shared.output_option(
        None,
        metavar="FILE",
        help="Answers as RERS wants them, problem,property,true|false; and a "
        "summary per problem.",
    ),
    report: str | None = shared.report_file(
        "Write an HTML report about the results, or the whole --store."
    ),
    as_json: shared.AsJson = False,
    explain: shared.Explain = False,
    log: bool = shared.output_option(
        False, "--log", help="Print a line per finished task on standard error."
    ),
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Solve many tasks and write one row for each.

    A task whose system or formula cannot be read is unknown with reason
    "input-error"; the other tasks are solved, and the exit code is 2.  Otherwise the
    exit code is that of `check`, or 70 after a bug of ltlpipe.  Ctrl-C ends the run
    (with --jobs or --store after the running tasks, at once when pressed again) and
    keeps the rows written so far.

    For formulas from property files of the Model Checking Contest the answers are
    printed as it wants them, FORMULA id TRUE TECHNIQUES ..., one line each.
    """
    from ltlpipe.batch.rers import RersWriter, names_of
    from ltlpipe.batch.solving import solve_rows
    from ltlpipe.batch.table import json_of
    from ltlpipe.batch.table_files import open_table
    from ltlpipe.batch.task_sources import find_tasks, multiplied
    from ltlpipe.batch.tasks import parse_grid
    from ltlpipe.runtime.files import refuse_overwriting

    place = out or store  # where the results are at the end
    if report is not None:
        refuse_page(report)
    paths, grid = split_grid(paths, grid or [])
    tasks = find_tasks(paths, allow_translators or [])
    tasks = multiplied(tasks, parse_grid(grid))
    in_lines = {k for k, task in enumerate(tasks) if _is_of_contest(task)}
    if place is None and (report is not None or not (rers or in_lines)):
        for task in tasks:
            if isinstance(task.formula, InputError):  # else there might be lines
                raise task.formula
        raise typer.BadParameter("expected a place for the results: --out or --store")
    files = {p for task in tasks for p in (*_system_files(task), task.file)}
    refuse_overwriting(
        {"--out": out, "--store": store, "--rers": rers, "--report": report},
        [*files.union(paths), chosen["constraint"]],
    )
    names = [] if rers is None else names_of(tasks)
    outcome = _Outcome(len(tasks), has_samples=chosen["bitstate"] is not None)
    with search_progress(quiet=quiet) as progress, ExitStack() as stack:
        plans = PlanPrinter(wanted=explain, as_json=as_json)
        watcher = TaskWatcher(progress, plans, tasks)
        rows = solve_rows(
            tasks,
            watcher=watcher,
            jobs=jobs,
            store=store,
            retry=retry,
            engine=engine,
            scheduler=scheduler,
            attempts=attempts,
            **chosen,
        )
        table = None if out is None else stack.enter_context(open_table(out))
        answers = None
        if rers is not None:
            answers = stack.enter_context(RersWriter(rers, names))
        writers = [writer for writer in (table, answers) if writer is not None]
        stack.enter_context(closing(rows))
        stack.enter_context(ended_by_ctrl_c())
        for row in rows:
            for writer in writers:
                writer.write(row)
            outcome.add(row)
            watcher.n_done += 1
            printed = row["task"] in in_lines and not as_json
            if as_json or log or printed:
                progress.hide()
            if printed:
                print(_contest_line(row, chosen["workers"]), flush=True)
            if as_json:
                print(json_line(json_of(row)), flush=True)
            if log:
                print(log_line(row, watcher.n_done, len(tasks)), file=sys.stderr)
    if not quiet and not as_json:
        outcome.print(place, rers, answers)
    outcome.print_interruption(out, store)
    if report is not None and place is not None:
        write_page(store or place, report, quiet=quiet or as_json)
    raise typer.Exit(BUG if watcher.found_bug else outcome.exit_code)


def _system_files(task: Task) -> tuple[str, ...]:
    return task.system if isinstance(task.system, tuple) else ()


def _is_of_contest(task: Task) -> bool:
    """Whether the formula of a task comes from a property file of the contest."""
    file: str | None = getattr(task.formula, "file", None)
    if isinstance(task.formula, InputError):  # of the whole file, which is no formula
        return False
    return file is not None and file.lower().endswith((".xml", ".xml.gz"))


def _contest_line(row: Row, workers: int) -> str:
    """Return a row as the Model Checking Contest takes it."""
    used = (row.get("strategy"), *(row.get("reductions") or "").split(","))
    return contest_line(row["verdict"], row["formula_id"], used, workers)


class _Outcome:
    """What came of the tasks of a run; `has_samples` if they are bitstate searches."""

    def __init__(self, n_tasks: int, *, has_samples: bool) -> None:
        from ltlpipe.batch.rers import Agreement

        self._started = time.monotonic()
        self._n_tasks, self._has_samples = n_tasks, has_samples
        self._counts: Counter[tuple[str, str | None]] = Counter()
        self._agreement = Agreement()
        self._sampled: list[Row] = []
        self._systems: set[str] = set()
        self._deadlocking: set[str] = set()

    def add(self, row: Row) -> None:
        """Take a row."""
        self._counts[row["verdict"], row["reason"]] += 1
        self._agreement.add(row, row["task"])
        self._systems.add(row["system"])
        if row.get("deadlock") == "reachable" or row.get("finite_run") == "maximal":
            self._deadlocking.add(row["system"])
        if self._has_samples or row.get("sample") is not None:
            self._sampled.append(row)

    @property
    def exit_code(self) -> int:
        """The exit code of the command; tasks that are left are unknown."""
        from ltlpipe.verdict.verdict import UNKNOWN

        verdicts = [verdict for verdict, _ in self._counts]
        if self._counts.total() < self._n_tasks:
            verdicts.append(UNKNOWN)
        return exit_code(verdicts, {reason for _, reason in self._counts})

    def print_interruption(self, out: str | None, store: str | None) -> None:
        """Say what is kept of a run that was interrupted, and how to go on."""
        n_rows = self._counts.total()
        n_cut = self._counts["unknown", INTERRUPTED]  # its row is there all the same
        if n_rows < self._n_tasks or n_cut:
            kept = _kept(n_rows - n_cut, out, store)
            print(f"interrupted: {kept}", file=sys.stderr)

    def print(
        self, place: str | None, rers: str | None, answers: RersWriter | None
    ) -> None:
        """Print the summary: verdicts, where the results are, and what they agree with.

        `answers` have been written to `rers`.
        """
        n_rows = self._counts.total()
        counts = dict(sorted(self._counts.items(), key=str))
        print_outcomes(counts, self._n_tasks - n_rows, "interrupted")
        if place is not None:
            seconds = time.monotonic() - self._started
            print(f"{counted(n_rows, 'row')} written to {place} in {seconds:.1f} s")
        if self._deadlocking:
            print(
                f"a deadlock was found in {len(self._deadlocking)} of "
                f"{counted(len(self._systems), 'system')}"
            )
        if answers is not None:
            _summarise_problems(answers)
            print(f"{counted(answers.n_answers, 'answer')} written to {rers}")
        if self._agreement.n_published:
            print(self._agreement)
            for differing in self._agreement.differing:
                print(f"  {differing}")
        _print_joint(self._sampled)


def _kept(n_rows: int, out: str | None, store: str | None) -> str:
    """Return where the rows of an interrupted run are, and how to go on."""
    done = counted(n_rows, "finished task")
    if store is not None:
        return f"{done} kept in {store}; run the same command again to go on"
    if out is not None:
        return f"{done} written to {out}; with --store FILE a later run can go on"
    return f"{done} printed, none kept; with --store FILE a later run can go on"


def split_grid(
    paths: list[str], grid: list[str], expected: str = "folder and no task table"
) -> tuple[list[str], list[str]]:
    """Return the paths, and the grid with those of its parts that stood among them.

    Behind ``--grid emptiness=se05`` a further ``acceptance=ba,tgba`` is an argument
    like any path for the parser of the command line.
    """
    from ltlpipe.batch.tasks import GRID_PART

    if not grid:
        return paths, grid
    parts = [p for p in paths if GRID_PART.match(p) and not Path(p).exists()]
    paths = [p for p in paths if p not in parts]
    if not paths:
        raise typer.BadParameter(f"--grid: no {expected} is named")
    return paths, grid + parts


def log_line(row: Row, done: int, total: int) -> str:
    """Return what ``--log`` prints for a row.

    Examples
    --------
    >>> row = {"verdict": "unknown", "reason": "timeout", "seconds": 60.01}
    >>> names = {"system": "ring.aut", "formula_id": "f.ltl:3", "states": None}
    >>> log_line(row | names, 17, 20)
    '17/20 unknown (timeout) 60.010 s, ring.aut f.ltl:3'
    """
    reason = "" if row["reason"] is None else f" ({row['reason']})"
    parts = [f"{row['seconds']:.3f} s"] if row.get("seconds") is not None else []
    if row.get("states") is not None:
        parts.append(f"{row['states']:,} states")
    parts.append(" ".join(str(row[name]).strip() for name in ("system", "formula_id")))
    text = f"{done}/{total} {row['verdict']}{reason} {', '.join(parts)}"
    return visible(" ".join(text.split()))  # a formula may have line breaks


def _summarise_problems(answers: RersWriter) -> None:
    """Print the cost of each problem."""
    compared = any(e.agreement.n_published for e in answers.efforts.values())
    titles = ("problem", "components", "seconds", "decided", "agree")
    rows = [
        (
            problem,
            effort.components,
            f"{effort.seconds:.1f}",
            f"{effort.decided}/{effort.total}",
            f"{effort.agreement.n_agreeing}/{effort.agreement.n_published}",
        )
        for problem, effort in answers.efforts.items()
    ]
    shown = len(titles) - (not compared)
    print_table(titles[:shown], [row[:shown] for row in rows], 0)


def _print_joint(rows: Sequence[Row]) -> None:
    """Print what bitstate searches of one product have seen together."""
    if not rows:
        return
    from ltlpipe.batch.results import joint_rows
    from ltlpipe.cli.verdicts import share_of

    for joint in joint_rows(rows):
        question = " ".join(str(joint[name]) for name in ("system", "formula_id"))
        share = share_of(joint["coverage"])
        print(
            f"{question}: {joint['searches']} searches have seen about "
            f"{joint['states']:,} states together, {share}"
        )
