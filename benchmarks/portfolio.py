"""The automatic choice beside each strategy alone.

A question is answered by every strategy that can be used for it if asked by name, and
by the portfolio (``auto``), all with the same limits and in turn, each time about a
system made anew.  What takes less than three seconds, or has had to wait for kernels,
is asked again and the last time counts; of what takes less than a tenth of a second,
the median of five times does.  ``portfolio.csv`` grows with each question
that is done, and a run that was interrupted goes on where it was; delete the table to
begin anew.

``portfolio_summary.csv`` says for each kind of question how many one strategy decides
and ``auto`` does not (aim: none), and the ratio of the seconds of ``auto`` to those of
the fastest strategy: the median (aim: 1.3), and with half a second of grace the median
and the worst (aim: 4).  If two verdicts about a question differ, or one is not the
published one, the exit code is 1.

    python -m benchmarks.portfolio [--timeout 10] [--budget SECONDS] [--summary]
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.portfolio_questions import Question, questions
from ltlpipe import LtlpipeError, Network
from ltlpipe.logic.formulas import parse
from ltlpipe.question.conditions import REDUCTION_NAMES
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.verdict.inquiry import Inquiry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe import Verdict
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.systems.models import System

AUTO = "auto"
GRACE = 0.5
"""Seconds by which `auto` may be later, whatever the best strategy takes."""

REPEATED = 3.0
"""Seconds below which loading machine code matters."""

SHORT = 0.1
"""Seconds below which one measurement says little."""

SAMPLES = 5

AIMS = {"missed": 0, "median_ratio": 1.3, "worst_ratio": 4.0}

WAYS: dict[str, tuple[Strategy, ...]] = {
    **{strategy.name: (strategy,) for strategy in STRATEGIES},
    AUTO: STRATEGIES,
}

Row = dict[str, Any]


def answered(question: Question, way: str, limits: Limits) -> Verdict:
    """Answer a question about a system made anew.

    Raises
    ------
    LtlpipeError
        The strategy cannot answer it.
    """
    asked = Property(None if question.formula is None else parse(question.formula))
    system = question.make()
    options = Options(reduce=_named(way, system), **question.options)
    strategies = WAYS[way]
    inquiry = Inquiry(system, asked, options, strategies=strategies)
    return inquiry.verdict(limits)


def _named(way: str, system: System) -> str:
    """Return the reductions to ask for, so that a strategy does not decline."""
    if way not in REDUCTION_NAMES:
        return "auto"
    return f"alphabet,{way}" if isinstance(system, Network) else way


def measured(question: Question, way: str, limits: Limits) -> Row:
    """Return the row of a question and a way to answer it."""
    row: Row = {
        "kind": question.kind,
        "question": question.name,
        "strategy": way,
        "expected": question.expected,
        "timeout": limits.timeout,
        "limit_mib": limits.memory_mib,
        "verdict": "unknown",
    }
    try:
        found = answered(question, way, limits)
        for _ in range(2):
            stats = found.stats
            if stats.seconds >= REPEATED and not stats.compile_seconds:
                break
            gc.collect()
            found = answered(question, way, limits)
            if not found.stats.compile_seconds:
                break
        if found.stats.seconds < SHORT:
            found = _median_of([found, *_again(question, way, limits)])
    except LtlpipeError as error:
        return row | dict.fromkeys(FIGURES) | {"reason": f"not applicable: {error}"}
    gc.collect()
    memory = found.stats.memory_mib
    return row | {
        "verdict": found.verdict,
        "reason": found.reason,
        "seconds": round(found.stats.seconds, 4),
        "states": found.stats.states,
        "memory_mib": None if memory is None else round(memory, 2),
        "answered_by": found.plan.strategy,
        "tried": "; ".join(map(str, found.plan.tried)),
    }


def _again(question: Question, way: str, limits: Limits) -> Iterable[Verdict]:
    for _ in range(SAMPLES - 1):
        gc.collect()
        yield answered(question, way, limits)


def _median_of(found: list[Verdict]) -> Verdict:
    return sorted(found, key=lambda verdict: verdict.stats.seconds)[len(found) // 2]


FIGURES = ("reason", "seconds", "states", "memory_mib", "answered_by", "tried")


def known(path: Path, limits: Limits) -> list[Row]:
    """Return the rows of questions that were measured with these limits."""
    return [
        row
        for row in record.resume(path)
        if (float(row["timeout"]), float(row["limit_mib"]))
        == (limits.timeout, limits.memory_mib)
    ]


def run(
    asked: Iterable[Question], path: Path, limits: Limits, budget: float | None
) -> None:
    """Measure the questions of which there are no rows yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {row["question"] for row in known(path, limits) if row["strategy"] == AUTO}
    began = time.monotonic()
    for question in asked:
        if question.name in done:
            continue
        if budget is not None and time.monotonic() - began > budget:
            print("the budget is spent", flush=True)
            return
        gc.collect()
        gc.freeze()  # samples leave little behind: only that is looked for after each
        rows = [measured(question, way, limits) for way in WAYS]
        for row in rows:
            record.append(path, row)
        print(question.name, *map(_told, rows), sep="\n  ", flush=True)


def _told(row: Row) -> str:
    return " ".join(
        str(row[column])
        for column in ("strategy", "verdict", "seconds", "answered_by", "reason")
        if row[column] is not None
    )


# --- what the table says ----------------------------------------------------


def is_decided(row: Row) -> bool:
    """Whether there is an answer."""
    return bool(row["verdict"] != "unknown")


def by_question(table: Iterable[Row]) -> list[dict[str, Row]]:
    """Return for each question that is complete its rows by strategy."""
    found: dict[str, dict[str, Row]] = {}
    for row in table:
        found.setdefault(row["question"], {})[row["strategy"]] = row
    return [rows for rows in found.values() if AUTO in rows]


def disagreements(table: Sequence[dict[str, Row]]) -> list[str]:
    """Return the questions about which two verdicts differ, published ones included."""
    found = []
    for rows in table:
        said = {way: row["verdict"] for way, row in rows.items() if is_decided(row)}
        said |= {"published": rows[AUTO]["expected"]} if rows[AUTO]["expected"] else {}
        if len(set(said.values())) > 1:
            found.append(f"{rows[AUTO]['question']}: {said}")
    return found


def missed(table: Sequence[dict[str, Row]]) -> list[str]:
    """Return the questions that one strategy decides and the portfolio does not."""
    return [
        rows[AUTO]["question"]
        for rows in table
        if not is_decided(rows[AUTO]) and any(map(is_decided, rows.values()))
    ]


def ratios(rows: dict[str, Row]) -> tuple[float, float] | None:
    """Return auto by best, and with grace; None unless both have decided."""
    alone = [
        float(r["seconds"]) for way, r in rows.items() if way != AUTO and is_decided(r)
    ]
    if not alone or not is_decided(rows[AUTO]):
        return None
    best, auto = max(min(alone), 1e-4), float(rows[AUTO]["seconds"])
    return auto / best, max(auto - GRACE, 0.0) / best


def summary(table: Sequence[dict[str, Row]]) -> list[Row]:
    """Return a row for each kind of question, and one for all."""
    kinds = dict.fromkeys(rows[AUTO]["kind"] for rows in table)
    return [_line("all", table)] + [
        _line(kind, [rows for rows in table if rows[AUTO]["kind"] == kind])
        for kind in kinds
    ]


def _line(kind: str, table: Sequence[dict[str, Row]]) -> Row:
    compared = {rows[AUTO]["question"]: ratios(rows) for rows in table}
    pairs = {name: pair for name, pair in compared.items() if pair is not None}
    worst = max(pairs, key=lambda name: pairs[name][1], default=None)
    return {
        "kind": kind,
        "questions": len(table),
        "decided": sum(any(map(is_decided, rows.values())) for rows in table),
        "decided_by_auto": sum(is_decided(rows[AUTO]) for rows in table),
        "missed": len(missed(table)),
        "disagreements": len(disagreements(table)),
        "median_ratio": _median([plain for plain, _ in pairs.values()]),
        "median_ratio_with_grace": _median([graced for _, graced in pairs.values()]),
        "worst_ratio": round(pairs[worst][1], 2) if worst is not None else None,
        "worst_question": worst,
    }


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 2) if values else None


def conclude(path: Path, limits: Limits) -> int:
    """Write and print the summary; return the exit code."""
    rows = known(path, limits)
    table = by_question(rows)
    if not table:
        print("no question has been measured with these limits")
        return 0
    lines = summary(table)
    record.write(path.with_name("portfolio_summary.csv"), lines, of=rows)
    for line in lines:
        print(*(f"{column} {value}" for column, value in line.items()), sep=", ")
    for name in missed(table):
        print(f"auto does not decide: {name}")
    for name, aim in AIMS.items():
        print(f"{name}: {lines[0][name]} (aim {aim})")
    wrong = disagreements(table)
    for told in wrong:
        print(f"VERDICTS DIFFER: {told}")
    return 1 if wrong else 0


def main() -> None:
    """Write portfolio.csv and portfolio_summary.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--memory", type=float, default=4096.0, metavar="MIB")
    parser.add_argument("--budget", type=float, metavar="SECONDS")
    parser.add_argument("--kinds", nargs="+", metavar="KIND")
    parser.add_argument("--quick", action="store_true", help="a few small questions")
    parser.add_argument("--summary", action="store_true", help="measure nothing")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    limits = Limits(chosen.timeout, chosen.memory)
    path = chosen.out / "portfolio.csv"
    if not chosen.summary:
        data = os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks")
        asked = [
            question
            for question in questions(Path(data), quick=chosen.quick)
            if not chosen.kinds or question.kind in chosen.kinds
        ]
        print(f"{len(asked)} questions", flush=True)
        run(asked, path, limits, chosen.budget)
    sys.exit(conclude(path, limits))


if __name__ == "__main__":
    main()
