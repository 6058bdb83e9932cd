"""One product searched by several workers, beside the sequential search.

BEEM tasks with large products (published sizes), and violated ones, some of each
model; and questions of `benchmarks.portfolio_questions` whose product has many states,
or whose violation takes long to be found.  They are searched whole, without
reductions, by
``couvreur99`` and by ``ufscc`` with 1, 2 and more workers, in turn, several times.
``workers.csv`` has a row for each search: wall-clock and CPU time of the search,
states, expansions per state, bytes per state.  ``workers_summary.csv`` has the medians
of each question, and for each kind of question the medians of their ratios:
``to_sequential`` and ``to_one`` say how many times as fast as ``couvreur99`` and as one
worker (aims for two workers on BEEM: 1.35 and 1.7).  ``workers.svg`` draws them.

``workers_scaling.csv`` has one product with more workers than cores, too, and what a
model says (`modelled`): a share of the work is serial, the rest divided by the workers;
the share follows from one and two workers.  More workers than cores show that nothing
breaks, not how fast more cores would be.

    python -m benchmarks.workers [--workers 1,2] [--least 500000] [--timeout 60]
                                 [--kinds beem,net]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks import record
from benchmarks.portfolio_questions import Question, questions
from ltlpipe import LtlpipeError, check, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEQUENTIAL = 0
"""Stands for ``couvreur99`` among numbers of workers."""

SCALE = (1, 2, 4, 8)
"""Numbers of workers for one product."""

LONG = 0.05
"""Seconds that the sequential search for a violation takes, at least."""

TABLES = ("tasks", "published")
MOST = 8_000_000
"""States of the largest BEEM products."""

OF_MODEL = 3
"""BEEM tasks of each model, of those that hold and of those that do not."""

KINDS = ("beem", "mcc", "net", "philosophers", "ring", "random", "dispatcher")

Row = dict[str, Any]


def searched(question: Question, workers: int, timeout: float) -> Row | None:
    """Return the row of one search; None if it is not for this search, or too long."""
    row: Row = {"kind": question.kind, "question": question.name, "workers": workers}
    search = "couvreur99" if workers == SEQUENTIAL else "ufscc"
    try:
        found = check(
            question.make(),
            question.formula,
            empty=question.formula is None,
            emptiness=search,
            reduce="none",
            acceptance="tgba",
            workers=max(workers, 1),
            timeout=timeout,
            lasso=False,
            **question.options,
        )
    except LtlpipeError:
        return None
    if found.verdict == "unknown":
        return None
    stats = found.stats
    details = stats.details
    return row | {
        "verdict": found.verdict,
        "states": stats.states,
        "seconds": stats.search_seconds,
        "cpu_seconds": stats.cpu_seconds,
        "expansions": details.get("expansions", stats.states),
        "bytes_per_state": stats.bytes_per_state,
        "sccs": details.get("sccs"),
    }


def beem(data: Path, least: int) -> list[Question]:
    """Return some large BEEM tasks of each model, the smaller ones of them first."""
    folder = data / "beem"
    if not folder.is_dir():
        print(f"beem: skipped, there is no {folder}", flush=True)
        return []
    tables = [pd.read_csv(folder / f"{n}.csv", dtype={"index": str}) for n in TABLES]
    tasks = tables[0].merge(tables[1], on=["model", "index"], suffixes=("", "_seen"))
    tasks = tasks[tasks.translator == "tgba"].rename(columns={"index": "number"})
    holding = tasks.unique_states.between(least, MOST)
    violated = tasks.verdict == "violated"
    found = []
    for rows in (tasks[holding], tasks[violated]):
        for model, group in rows.groupby("model"):
            step = -(-len(group) // OF_MODEL)
            for row in group.sort_values(["unique_states", "number"])[
                ::step
            ].itertuples():
                make = partial(load, str(folder / "models" / f"{model}.dve"))
                name = f"beem {model}, {row.number}"
                found.append(Question("beem", name, make, row.formula, row.verdict))
    return found


def chosen(
    data: Path, kinds: set[str], least: int, timeout: float
) -> Iterator[tuple[Question, Row]]:
    """Yield questions that are large enough, with their sequential search."""
    of_beem = beem(data, least) if "beem" in kinds else []
    others = (q for q in questions(data) if q.kind in kinds - {"beem"})
    for question in (*of_beem, *others):
        row = searched(question, SEQUENTIAL, timeout)
        if row is None:
            continue
        if row["verdict"] == "holds" and row["states"] < least:
            continue
        if row["verdict"] == "violated" and row["seconds"] < LONG:
            continue
        yield question, row


def measured(
    question: Question, first: Row, workers: list[int], runs: int, timeout: float
) -> Iterator[Row]:
    """Yield the rows of a question, all numbers of workers in turn."""
    for run in range(runs):
        for number in (SEQUENTIAL, *workers):
            row = searched(question, number, timeout)
            if row is None:
                continue
            assert row["verdict"] == first["verdict"], row
            if row["verdict"] == "holds":
                assert row["states"] == first["states"], row
            yield row | {"run": run}


def summarised(rows: Iterable[dict[str, str]]) -> Iterator[Row]:
    """Yield medians of questions, and then of kinds."""
    times: dict[tuple[str, ...], dict[int, list[dict[str, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        key = row["kind"], row["verdict"], row["question"]
        times[key][int(row["workers"])].append(row)
    of_kind: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for (kind, verdict, name), by_workers in times.items():
        medians = {
            number: statistics.median(float(r["seconds"]) for r in found)
            for number, found in by_workers.items()
        }
        for number, found in sorted(by_workers.items()):
            line = {"kind": kind, "verdict": verdict, "question": name}
            line |= _medians(found, number, medians)
            of_kind[kind, verdict, number].append(line)
            yield line
    for (kind, verdict, number), lines in sorted(of_kind.items()):
        yield {
            "kind": kind,
            "verdict": verdict,
            "question": f"median of {len(lines)}",
            "workers": number,
        } | {
            name: _median(line[name] for line in lines)
            for name in ("expansions_per_state", "to_sequential", "to_one")
        }


def _medians(
    found: list[dict[str, str]], workers: int, medians: dict[int, float]
) -> Row:
    """Return the medians of one question's searches by so many workers."""
    seconds = medians[workers]
    return {
        "workers": workers,
        "states": statistics.median_low(int(r["states"]) for r in found),
        "seconds": round(seconds, 3),
        "cpu_seconds": _median(float(r["cpu_seconds"]) for r in found),
        "expansions_per_state": _median(
            int(r["expansions"]) / int(r["states"]) for r in found
        ),
        "bytes_per_state": _median(float(r["bytes_per_state"]) for r in found),
        "to_sequential": _ratio(medians.get(SEQUENTIAL), seconds),
        "to_one": _ratio(medians.get(1), seconds),
    }


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 3) if known else None


def _ratio(before: float | None, now: float) -> float | None:
    return round(before / now, 3) if before is not None else None


def scaling(question: Question, runs: int, timeout: float) -> Iterator[Row]:
    """Yield times of one question for more and more workers, beside the model."""
    found = [
        (number, searched(question, number, timeout))
        for _ in range(runs)
        for number in SCALE
    ]
    seconds = {
        number: statistics.median(
            row["seconds"] for n, row in found if row and n == number
        )
        for number in SCALE
    }
    serial = min(max(2 * seconds[2] / seconds[1] - 1, 0), 1)
    for number in SCALE:
        yield {
            "question": question.name,
            "workers": number,
            "seconds": round(seconds[number], 3),
            "serial_share": round(serial, 3),
            "modelled": round(modelled(seconds[1], serial, number), 3),
            "host_cores": os.cpu_count(),
        }


def modelled(one: float, serial: float, workers: int) -> float:
    """Return the seconds of some workers by Amdahl's law, from those of one."""
    return one * (serial + (1 - serial) / workers)


def draw(rows: list[Row], scaled: list[dict[str, str]], path: Path) -> None:
    """Plot how many times as fast as the sequential search workers are."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "workers"
    import matplotlib.pyplot as plt

    lines: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for row in rows:
        single = not row["question"].startswith("median")
        if single and row["workers"] > 0 and row["to_sequential"]:
            key = row["kind"], row["question"]
            lines[key].append((row["workers"], row["to_sequential"]))
    figure, (axes, beside) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colours = {kind: f"C{k}" for k, kind in enumerate(sorted({k for k, _ in lines}))}
    for (kind, _), points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), ".-", color=colours[kind], lw=0.8)
    for kind, colour in colours.items():
        axes.plot([], [], ".-", color=colour, label=kind)
    axes.axhline(1, color="grey", linestyle=":")
    axes.set(xlabel="workers", ylabel="times as fast as couvreur99")
    axes.legend(fontsize="small")
    for name, label, style in (
        ("seconds", "measured", "."),
        ("modelled", "model", "-"),
    ):
        points = [(int(row["workers"]), float(row[name])) for row in scaled]
        if points:
            beside.plot(*zip(*points, strict=True), style, label=label)
    if scaled:
        cores = scaled[0]["host_cores"]
        beside.set(title=f"{scaled[0]['question']} on {cores} cores")
        beside.legend(fontsize="small")
    beside.set(xlabel="workers", ylabel="seconds", ylim=(0, None))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, and write both tables and the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--least", type=int, default=500_000, metavar="STATES")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    arguments = parser.parse_args()
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    workers = [int(number) for number in arguments.workers.split(",")]
    table = arguments.out / "workers.csv"
    arguments.out.mkdir(parents=True, exist_ok=True)
    done = {row["question"] for row in record.resume(table)}
    end = time.monotonic() + arguments.budget
    kinds = set(arguments.kinds.split(","))
    for question, first in chosen(data, kinds, arguments.least, arguments.timeout):
        if question.name in done:
            continue
        if time.monotonic() > end:
            break
        print(question.name, first["verdict"], first["states"], flush=True)
        rows = measured(question, first, workers, arguments.runs, arguments.timeout)
        for row in rows:
            record.append(table, row)
    scaled = arguments.out / "workers_scaling.csv"
    if not scaled.exists():
        states = {r["question"]: int(r["states"]) for r in record.resume(table)}
        of_beem = beem(data, arguments.least)
        large = [q for q in of_beem if q.expected == "holds" and q.name in states]
        if large:
            question = max(large, key=lambda q: states[q.name])
            rows = scaling(question, arguments.runs, arguments.timeout)
            record.write(scaled, [*rows])
    rows = record.resume(table)
    summary = [*summarised(rows)]
    record.write(arguments.out / "workers_summary.csv", summary, of=rows)
    draw(summary, record.resume(scaled), arguments.out / "workers.svg")


if __name__ == "__main__":
    main()
