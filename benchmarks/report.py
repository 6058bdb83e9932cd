"""How long the report of a long run takes, how large it is, and how it feels.

The run is made up: nothing is solved, but the store, its systems and the lassos are
real, so that everything a report does is done.  Every question is asked under two
configurations; four tasks in ten have a lasso of up to 118 steps, all different.

python -m benchmarks.report
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import browser, record
from ltlpipe.batch.solving import listed
from ltlpipe.batch.store import Store
from ltlpipe.batch.table import host_columns
from ltlpipe.batch.tasks import Digests, Task
from ltlpipe.report.page import write_report
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.writing import save

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

N_COMPONENTS, N_ACTIONS = 30, 120
ACTIONS = [f"c{k % N_COMPONENTS}_action_{k}" for k in range(N_ACTIONS)]
LONGEST = 60
"""Steps of the longest prefix and the longest cycle."""

CONFIGURATIONS = [{"emptiness": "se05"}, {"emptiness": "couvreur99"}]


def system(seed: int) -> Network:
    """Return components that can do their own four actions, and share one of them."""
    components = []
    for i in range(N_COMPONENTS):
        own = [ACTIONS[i + N_COMPONENTS * k] for k in range(4)]
        shared = ACTIONS[(i + 1 + seed) % N_COMPONENTS]
        steps = [(0, action, 0) for action in dict.fromkeys([*own, shared])]
        components.append(LTS.from_transitions(steps, name=f"component_{i}"))
    return Network(components, f"system {seed}")


def results(n_rows: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield rows as workers return them."""
    draw = np.random.default_rng(seed)
    n_questions = -(-n_rows // len(CONFIGURATIONS))
    verdicts = draw.choice(
        ["holds", "violated", "unknown"], n_questions, p=[0.5, 0.4, 0.1]
    )
    hosts = host_columns()
    for verdict in np.repeat(verdicts, len(CONFIGURATIONS))[:n_rows]:
        states = int(draw.integers(10, 10**7))
        row = {
            "verdict": str(verdict),
            "automaton": "BA",
            "acceptance": "Inf(0)",
            "automaton_states": 3,
            "emptiness": "se05",
            "reductions": "none",
            "states": states,
            "transitions": 3 * states,
            "max_depth": states // 10,
            "seconds": float(draw.exponential()),
            "memory_mib": float(draw.exponential(50)),
            "started_at": "2026-01-02T03:04:05.678901+00:00",
        }
        if verdict == "violated":
            for name, length in zip(
                ("lasso_prefix", "lasso_cycle"),
                draw.integers(1, LONGEST, size=2),
                strict=True,
            ):
                steps = draw.integers(N_ACTIONS, size=length)
                row[name] = json.dumps([ACTIONS[a] for a in steps])
        if verdict == "unknown":
            row["reason"] = str(draw.choice(["timeout", "memory"]))
        yield row | hosts


def formula(number: int) -> str:
    """Return one of many formulas."""
    draw = np.random.default_rng(number)
    pairs = draw.integers(N_ACTIONS, size=(3, 2))
    return " & ".join(f"G({ACTIONS[a]} -> F {ACTIONS[b]})" for a, b in pairs)


def tasks(n_rows: int, files: list[str]) -> Iterator[Task]:
    """Yield tasks: each formula under each configuration, on a system in turn."""
    for k in range(n_rows):
        question, way = divmod(k, len(CONFIGURATIONS))
        file = files[question % len(files)]
        yield Task((file,), formula(question), options=CONFIGURATIONS[way])


def fill(path: Path, asked: Iterable[Task], answers: Iterable[dict[str, Any]]) -> None:
    """Write a store as a run would have left it."""
    digests = Digests()
    tasks, rows = [], []
    for task, row in zip(asked, answers, strict=True):
        about = listed(task, task.options, digests.identity(task, task.options))
        own = {n: about[n] for n in ("system", "formula_id", "formula")}
        tasks.append(about)
        rows.append((about["key"], row | own))
    with Store(path) as store:
        store.list_tasks(tasks)
        for key, row in rows:
            store.record(key, row)


def report_of_rows(n_rows: int, n_systems: int = 200) -> dict[str, Any]:
    """Measure the report of a store with this many results."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = [str(place / f"problem_{k:03}.dot") for k in range(n_systems)]
        for k, file in enumerate(files):
            save(system(k), file)
        store, page = place / "run.sqlite", place / "report.html"
        fill(store, tasks(n_rows, files), results(n_rows))
        started, worked = time.perf_counter(), time.process_time()
        write_report(store, page)
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - worked
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "rows": n_rows,
            "systems": n_systems,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu_seconds, 2),
            "size_mb": round(page.stat().st_size / 1e6, 3),
            "peak_mib": round(peak),
        } | in_browser(page, place / "profile")


_CLICK = """
const begin = performance.now();
document.querySelector(arguments[0]).click();
document.body.getBoundingClientRect();  // the layout, too
return performance.now() - begin;
"""
_CHANGE = """
const [field, value, event] = arguments;
const begin = performance.now();
document.querySelector(field).value = value;
document.querySelector(field).dispatchEvent(new Event(event));
document.body.getBoundingClientRect();
return performance.now() - begin;
"""
_SEARCH = """
const done = arguments[arguments.length - 1];
const field = document.getElementById("search");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
let last = performance.now();
const begin = last;
let longest = 0;
const timer = setInterval(() => {  // the longest time without an answer
  const now = performance.now();
  longest = Math.max(longest, now - last);
  last = now;
  if (now - begin > 1500) { clearInterval(timer); done(longest); }
}, 4);
"""


def in_browser(page: Path, profile: Path) -> dict[str, Any]:
    """Return milliseconds until the page is ready, and for which it is busy then."""
    names = ("open_ms", "sort_ms", "filter_ms", "search_ms", "task_ms")
    if browser.missing():
        return dict.fromkeys(names)
    with browser.chromium(profile) as driver:
        started = time.perf_counter()
        browser.opened(driver, page)
        opening = 1000 * (time.perf_counter() - started)
        sorting = max(
            driver.execute_script(_CLICK, f'th[data-name="{name}"] button')
            for name in ("formula", "states", "system", "states")
        )
        filtering = driver.execute_script(_CHANGE, "#filter-verdict", "1", "change")
        searching = driver.execute_async_script(_SEARCH, "action_1 states>10000")
        following = driver.execute_script(_CLICK, "#table tbody a")
        times = (opening, sorting, filtering, searching, following)
    return dict(zip(names, map(round, times), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    rows = [report_of_rows(n, chosen.systems) for n in sorted(chosen.rows)]
    for row in rows:
        print(row)
    record.write(chosen.out / "report.csv", rows)


if __name__ == "__main__":
    main()
