"""How long lassos are, by several searches, beside shortest ones.

Questions with the verdict "violated" out of `benchmarks.portfolio_questions`, and about
the network of RERS 2020, are answered by the automatic choice (``auto``), by some
searches by name, and with ``shortest``, with the same limits. ``lassos.csv`` has a row
for each: the lengths of prefix and cycle, whether the lasso is proved shortest, and
what the parts took. It grows with each question that is done, and a run that was
interrupted goes on where it was.

``lassos_summary.csv`` has for each kind and way the steps of all lassos together beside
the least that are known, the median and the worst ratio of a question (aims for
``auto``: 1.15, and at most 2), the median of the seconds that lassos took relative to
the search's, and the same for searches of at least a tenth of a second (aim: below 1),
and that of ``auto`` with ``shortest`` to ``auto`` alone (aim: 3). The kind "safety" are
the questions whose formula is a safety formula by its syntax: there ``breadth_first``
is the median of the seconds that breadth-first search alone takes, which is how
``shortest`` looks for a lasso, relative to those that the search and its lasso took.

    python -m benchmarks.lassos [--timeout 10] [--budget SECONDS] [--summary]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.portfolio_questions import Question, contest_of_2020, questions
from ltlpipe import LtlpipeError, check

if TYPE_CHECKING:
    from collections.abc import Iterable

AUTO, SHORTEST = "auto", "shortest"
ALL, SAFETY = "all", "safety"

LONG = 0.1
"""Seconds of a search whose lasso may be expected to take less."""

WAYS: dict[str, dict[str, Any]] = {
    AUTO: {},
    "se05": {"emptiness": "se05"},
    "couvreur99": {"emptiness": "couvreur99"},
    "decoupled": {"reduce": "alphabet,decoupled"},
    SHORTEST: {"shortest": True},
}

Row = dict[str, Any]


def measured(question: Question, way: str, timeout: float) -> Row:
    """Return the row of a question and a way to answer it."""
    row: Row = {"kind": question.kind, "question": question.name, "way": way}
    row |= dict.fromkeys(
        ("verdict", "strategy", "prefix", "cycle", "shortest", "seconds")
    )
    row |= dict.fromkeys(("search_seconds", "lasso_seconds", "states", "safety"))
    try:
        for _ in range(2):  # the second time kernels are there
            found = check(
                question.make(),
                question.formula,
                empty=question.formula is None,
                timeout=timeout,
                **question.options | WAYS[way],
            )
            if found.stats.seconds > 1.0 and not found.stats.compile_seconds:
                break
    except LtlpipeError:
        return row | {"verdict": "unsupported"}
    stats, lasso = found.stats, found.lasso
    row["verdict"], row["strategy"] = found.verdict, found.plan.strategy
    if lasso is not None:
        row["prefix"], row["cycle"] = len(lasso.prefix), len(lasso.cycle)
        row["shortest"] = lasso.shortest
        row["safety"] = lasso.bad_prefix is not None
    for name in ("seconds", "search_seconds", "lasso_seconds", "states"):
        row[name] = getattr(stats, name)
    return row


def summarised(rows: Iterable[dict[str, str]]) -> Iterable[Row]:
    """Yield how ways compare, for each kind and for all."""
    of_question: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(dict)
    for row in rows:
        if row["prefix"]:
            of_question[row["kind"], row["question"]][row["way"]] = row
    kinds = sorted({kind for kind, _ in of_question})
    for kind in (ALL, SAFETY, *kinds):
        chosen = [
            of_way
            for (own_kind, _), of_way in of_question.items()
            if kind in (ALL, own_kind)
            or (kind == SAFETY and of_way[AUTO]["safety"] == "True")
        ]
        for way in WAYS:
            yield {"kind": kind, "way": way} | _compared(chosen, way)


def _compared(chosen: list[dict[str, dict[str, str]]], way: str) -> Row:
    """Return how one way compares on the questions that it has lassos for."""
    both = [(o[way], o) for o in chosen if way in o]
    steps = sum(_length(row) for row, _ in both)
    least = sum(min(map(_length, o.values())) for _, o in both)
    timed = [row for row, _ in both if row["lasso_seconds"] and row["search_seconds"]]
    costs = [_lasso(row) / _search(row) for row in timed]
    long = [_lasso(row) / _search(row) for row in timed if _search(row) >= LONG]
    breadth_first = [
        _lasso(o[SHORTEST]) / (_search(row) + _lasso(row))
        for row, o in both
        if row in timed and o.get(SHORTEST, {}).get("lasso_seconds")
    ]
    ratios = [_length(row) / min(map(_length, o.values())) for row, o in both]
    times = [
        float(row["seconds"]) / float(o[AUTO]["seconds"])
        for row, o in both
        if AUTO in o
    ]
    return {
        "questions": len(both),
        "steps": steps,
        "least_known": least,
        "ratio": round(steps / least, 3) if least else None,
        "median": _median(ratios),
        "worst": max(ratios, default=None),
        "proved": sum(row["shortest"] == "True" for row, _ in both),
        "lasso_to_search": _median(costs),
        "long_searches": len(long),
        "lasso_to_long_search": _median(long),
        "seconds_to_auto": _median(times),
        "breadth_first": _median(breadth_first),
    }


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 3) if values else None


def _search(row: dict[str, str]) -> float:
    return float(row["search_seconds"])


def _lasso(row: dict[str, str]) -> float:
    return float(row["lasso_seconds"])


def _length(row: dict[str, str]) -> int:
    return int(row["prefix"]) + int(row["cycle"])


def main() -> None:
    """Measure what is not in the table yet, and write the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--quick", action="store_true")
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    table = arguments.out / "lassos.csv"
    rows: list[dict[str, Any]] = list(record.resume(table))
    done = {row["question"] for row in rows}
    end = time.monotonic() + arguments.budget
    if not arguments.summary:
        asked = questions(data, quick=arguments.quick, thorough=True)
        further = iter(()) if arguments.quick else contest_of_2020(data)
        for question in chain(asked, further):
            if question.name in done or question.expected == "holds":
                continue
            if time.monotonic() > end:
                break
            _measure(question, arguments.timeout, table)
    rows = record.resume(table)
    record.write(arguments.out / "lassos_summary.csv", summarised(rows), of=rows)


def _measure(question: Question, timeout: float, table: Path) -> None:
    """Write the rows of one question, if it is violated."""
    first = measured(question, AUTO, timeout)
    print(question.name, first["verdict"], first["prefix"], first["cycle"], flush=True)
    record.append(table, first)
    if first["verdict"] != "violated":
        return
    for way in WAYS:
        if way != AUTO:
            record.append(table, measured(question, way, timeout))


if __name__ == "__main__":
    main()
