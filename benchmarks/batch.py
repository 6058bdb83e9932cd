"""What a run over many tasks costs beside the tasks.

Four parts, each some rows of one table, ``results/batch.csv``:

- overhead: 1,000 tasks of a few milliseconds with two workers, without and with a
  store.  Overhead is what the workers' time (wall-clock time of the run, times two) has
  beyond the time that they were at tasks, per task; starting the workers is part of it,
  and stands apart, too.  The CPU time of the process that hands out tasks and keeps
  results is the part of it that does not depend on what else the machine does.
- scaling: tasks of half a second that do nothing but search, with one worker and with
  two.
- store: 100,000 rows written one by one, as a run does; the size of the file; reading
  them, and the command `results`; a run that has nothing left to do.
- dask: the first part on a Dask cluster of two processes on this machine.

Times of runs are the best of several: whatever else the machine does makes them longer.
`load` is its load (processes that want to run) when a line was written; `cpu_seconds`,
where it is known, does not depend on it.

    python -m benchmarks.batch
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import record
from ltlpipe import LTS, Network
from ltlpipe.batch.results import results
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.store import Store
from ltlpipe.batch.tasks import Task, options_text
from ltlpipe.families.networks import philosophers

if TYPE_CHECKING:
    from collections.abc import Iterator

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")
JOBS = 2


def row(
    part: str, case: str, n: int, unit: str, value: float, cpu: float | None = None
) -> dict[str, Any]:
    """Return one line of the table, and print it."""
    found = {"part": part, "case": case, "n": n, "unit": unit, "value": round(value, 4)}
    found["cpu_seconds"] = None if cpu is None else round(cpu, 3)
    found["load"] = round(os.getloadavg()[0], 1)
    print(found, flush=True)
    return found


class Clock:
    """Wall-clock and CPU time since it was made, of programs that have ended, too."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), sum(os.times()[:4])

    def row(self, part: str, case: str, n: int) -> dict[str, Any]:
        """Return a line that says how long something has taken."""
        wall, cpu = time.perf_counter(), sum(os.times()[:4])
        began, used = self._began
        return row(part, case, n, "seconds", wall - began, cpu - used)


def small_tasks(n: int) -> list[Task]:
    """Return tasks of a few milliseconds; no two are alike."""
    return [
        Task(RING, f"G(a -> {'X ' * (k % 4)}F b)", options={"seed": k})
        for k in range(n)
    ]


class Spent(NamedTuple):
    """What a run has cost, in seconds."""

    wall: float
    busy: float  # of the workers, at tasks
    driver: float  # CPU time


def spent_on(tasks: list[Task], **options: Any) -> Spent:
    """Return what a run costs, all of whose tasks have to come to a verdict."""
    began, cpu = time.perf_counter(), time.process_time()
    rows = list(solve_rows(tasks, **options))
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    if any(found["verdict"] == "unknown" for found in rows) or len(rows) != len(tasks):
        raise RuntimeError("a task has no verdict")
    return Spent(wall, sum(found["wall_seconds"] for found in rows), cpu)


def best(runs: int, tasks: list[Task], folder: Path, **options: Any) -> Spent:
    """Return the fastest of several runs, each with a store of its own if any."""
    found = []
    for k in range(runs):
        if "store" in options:
            options["store"] = folder / f"{options['jobs']}-{len(tasks)}-{k}.sqlite"
            options["store"].unlink(missing_ok=True)
        found.append(spent_on(tasks, **options))
    return min(found)


def overhead(n: int, runs: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure what a task costs beside the work on it."""
    tasks = small_tasks(n)
    spent_on(small_tasks(2 * JOBS), jobs=JOBS)  # compiles
    start = best(runs, small_tasks(JOBS), folder, jobs=JOBS)
    yield row("overhead", "start of 2 workers", JOBS, "seconds", start.wall)
    for case, options in (("2 workers", {}), ("2 workers, store", {"store": None})):
        found = best(runs, tasks, folder, jobs=JOBS, **options)
        yield from beside("overhead", f"{case}: ", n, found)


def beside(part: str, case: str, n: int, found: Spent) -> Iterator[dict[str, Any]]:
    """Say what a run of two workers has cost beside its tasks, per task."""
    yield row(part, f"{case}run", n, "seconds", found.wall)
    yield row(part, f"{case}task", n, "milliseconds", 1e3 * found.busy / n)
    spent = 1e3 * (JOBS * found.wall - found.busy) / n
    yield row(part, f"{case}overhead", n, "milliseconds", spent)
    driver = 1e3 * found.driver / n
    yield row(part, f"{case}CPU time of the driver", n, "milliseconds", driver)


def scaling(n: int, size: int, runs: int) -> Iterator[dict[str, Any]]:
    """Measure how much faster two workers are than one."""
    system = philosophers(size)
    tasks = [Task(system, "0", options={"seed": k, "reduce": "none"}) for k in range(n)]
    options = {"network_acceptance": "together", "emptiness": "couvreur99"}
    times = {}
    for _ in range(runs):  # in turn: what else happens is then both's
        for jobs in (1, JOBS):
            wall = spent_on(tasks, jobs=jobs, **options).wall
            times[jobs] = min(wall, times.get(jobs, wall))
    for jobs, wall in times.items():
        yield row("scaling", f"{jobs} workers", n, "seconds", wall)
    yield row("scaling", "1 to 2 workers", n, "times", times[1] / times[JOBS])


def stored(n: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure a store of many rows: written, read, and gone through again."""
    path = folder / "large.sqlite"
    (answered,) = solve_rows([Task(RING, "G a")], jobs=1)
    listed = [
        {
            "place": f'["{folder}/problem-{k // 20}/system.dot", "f.ltl:{k % 20}"]',
            "key": f"{k:064x}",
            "system": f"{folder}/problem-{k // 20}/system.dot",
            "formula_id": f"f.ltl:{k % 20}",
            "formula": "G(a -> F b)",
            "options": options_text({"emptiness": "se05"}),
        }
        for k in range(n)
    ]
    with Store(path) as store:
        clock = Clock()
        store.list_tasks(listed)
        yield clock.row("store", "tasks listed", n)
        clock = Clock()
        for task in listed:
            store.claim(task["key"])
            store.record(task["key"], answered | {"states": 1})
        yield clock.row("store", "rows written", n)
    yield row("store", "size", n, "MiB", path.stat().st_size / (1 << 20))
    clock = Clock()
    assert len(results(path)) == n
    yield clock.row("store", "ltlpipe.results", n)
    for flags in (
        ["--group", "configuration"],
        ["--where", "verdict == 'unknown'"],
        ["--to", "csv", "--out", str(folder / "all.csv")],
        ["--to", "parquet", "--out", str(folder / "all.parquet")],
    ):
        yield command(
            "store", "results " + " ".join(flags[:2]), n, "results", path, flags
        )
    yield command("store", "status", n, "status", path, [])
    # The report of so many rows is measured here, too, once there is one.


def command(
    part: str, case: str, n: int, name: str, path: Path, flags: list[str]
) -> dict[str, Any]:
    """Measure a command of the program, all in."""
    clock = Clock()
    subprocess.run(
        [sys.executable, "-m", "ltlpipe", name, str(path), *flags],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return clock.row(part, case, n)


def resumed(n: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure a run whose tasks all have their results."""
    path = folder / "resumed.sqlite"
    tasks = [Task(RING, "G a", options={"seed": k}) for k in range(n)]
    (answered,) = solve_rows(tasks[:1], jobs=1)
    from ltlpipe.batch.tasks import Digests, key_of

    digests = Digests()
    with Store(path) as store:
        for task in tasks:
            store.record(key_of(digests.identity(task, task.options)), answered)
    clock = Clock()
    assert len(list(solve_rows(tasks, store=path))) == n
    yield clock.row("store", "a run with nothing left to do", n)


def on_dask(n: int, runs: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure the overhead on a cluster of two worker processes on this machine."""
    from distributed import LocalCluster

    tasks = small_tasks(n)
    with LocalCluster(
        n_workers=JOBS, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        options = {"engine": "dask", "scheduler": cluster.scheduler_address}
        spent_on(small_tasks(2 * JOBS), **options)
        start = best(runs, small_tasks(JOBS), folder, **options)
        yield row("dask", "start of 2 workers", JOBS, "seconds", start.wall)
        yield from beside("dask", "", n, best(runs, tasks, folder, **options))


PARTS = ("overhead", "scaling", "store", "dask")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--philosophers", type=int, default=9)
    parser.add_argument("--searches", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    wanted = chosen.part or PARTS
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "overhead" in wanted:
            rows += overhead(chosen.tasks, chosen.runs, folder)
        if "scaling" in wanted:
            rows += scaling(chosen.searches, chosen.philosophers, chosen.runs)
        if "store" in wanted:
            rows += stored(chosen.rows, folder)
            rows += resumed(chosen.rows, folder)
        if "dask" in wanted:
            rows += on_dask(chosen.tasks, chosen.runs, folder)
    record.write(chosen.out / "batch.csv", rows)


if __name__ == "__main__":
    main()
