"""The problems of the RERS challenge, as published.

Every property of every problem below ``training`` and ``2017`` is asked once, by the
automatic choice, with a limit of time and memory for each; two are solved at a time,
in processes of their own.  ``rers.csv`` has a row for each property (verdict, the
published one, strategy, seconds, memory) and grows with each that is done: a run that
was interrupted goes on where it was, limit by limit; delete the table to begin anew.

What is printed at the end is, for each problem, how many properties are decided, how
many answers are the published ones, and what all of them took; the exit code is 1 if an
answer is not the published one.  Aim: the 200 training properties right within 10 s.

    python -m benchmarks.rers [--problems training/101,2017/113] [--timeout 60]
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import record
from ltlpipe.batch.rers import Agreement, names_of
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import find_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.batch.tasks import Task

SETS = ("training", "2017")
"""Folders of published problems."""

MEASURED = (
    *("verdict", "reason", "expected", "strategy", "emptiness", "reductions"),
    *("states", "seconds", "search_seconds", "compile_seconds", "cpu_seconds"),
    *("memory_mib",),
)
"""Columns of the result table."""

Row = dict[str, Any]


class Limits(NamedTuple):
    """What each property may take."""

    timeout: float
    memory_mib: float


class Asked(NamedTuple):
    """A property of a set."""

    problem: str  # set and number
    number: int | None
    task: Task

    @property
    def name(self) -> tuple[str, str]:
        """What rows call it."""
        return self.problem, "" if self.number is None else str(self.number)


def asked_of(data: Path, problems: Sequence[str]) -> list[Asked]:
    """Return the properties of the problems of all sets, or of some of them."""
    found: list[Asked] = []
    for folder in SETS:
        tasks = find_tasks([data / "rers" / folder])
        found += [
            Asked(f"{folder}/{name.problem}", name.property, task)
            for name, task in zip(names_of(tasks), tasks, strict=True)
        ]
    known = {each.problem for each in found}
    if unknown := sorted(set(problems) - known):
        raise SystemExit(f"--problems: {unknown[0]}, expected some of {sorted(known)}")
    return [each for each in found if not problems or each.problem in problems]


def known(path: Path, limits: Limits) -> list[Row]:
    """Return the rows that were measured with these limits."""
    return [
        row
        for row in record.resume(path)
        if (float(row["timeout"]), float(row["limit_mib"])) == limits
    ]


def run(asked: Sequence[Asked], path: Path, limits: Limits, jobs: int) -> None:
    """Solve the properties of which there are no rows yet."""
    done = {(row["problem"], row["property"]) for row in known(path, limits)}
    left = [each for each in asked if each.name not in done]
    print(f"{len(left)} properties of {len(asked)} are to be solved", flush=True)
    tasks = [each.task for each in left]
    rows = solve_rows(
        tasks, jobs=jobs, timeout=limits.timeout, memory=limits.memory_mib
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    for row in rows:
        about = left[row["task"]]
        line = {"problem": about.problem, "property": about.number}
        line["components"] = row.get("n_components")
        line |= {column: _rounded(row.get(column)) for column in MEASURED}
        line |= {"timeout": limits.timeout, "limit_mib": limits.memory_mib}
        record.append(path, line | {"jobs": jobs, "load": round(os.getloadavg()[0], 1)})
        print(*(line[name] for name in ("problem", "property", "verdict", "seconds")))


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def conclude(rows: Iterable[Row]) -> int:
    """Print what became of each problem; 1 if an answer is not the published one."""
    agreements: dict[str, Agreement] = {}
    decided: dict[str, list[bool]] = {}
    seconds: dict[str, list[float]] = {}
    for row in rows:
        problem = row["problem"]
        about = {"system": problem, "formula_id": row["property"]}
        plain = {
            **about,
            "verdict": row["verdict"],
            "expected": row["expected"] or None,
        }
        agreements.setdefault(problem, Agreement()).add(plain)
        decided.setdefault(problem, []).append(row["verdict"] != "unknown")
        times = (float(row[name] or 0) for name in ("seconds", "cpu_seconds"))
        seconds.setdefault(problem, []).extend(times)
    for problem, agreement in agreements.items():
        answers = decided[problem]
        text = f"{problem}: {sum(answers)} of {len(answers)} decided"
        wall, cpu = sum(seconds[problem][::2]), sum(seconds[problem][1::2])
        text += f", {wall:.1f} s, {cpu:.1f} s of CPU"
        print(f"{text}; {agreement}" if agreement.n_published else text)
        for differing in agreement.differing:
            print(f"  DIFFERS: {differing}")
    return int(any(agreement.differing for agreement in agreements.values()))


def main() -> None:
    """Write rers.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", default="", metavar="SET/NUMBER,...")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--memory", type=float, default=4096.0, metavar="MIB")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--summary", action="store_true", help="measure nothing")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    limits = Limits(chosen.timeout, chosen.memory)
    path = chosen.out / "rers.csv"
    if not chosen.summary:
        problems = [name for name in chosen.problems.split(",") if name]
        run(asked_of(data, problems), path, limits, chosen.jobs)
    sys.exit(conclude(known(path, limits)))


if __name__ == "__main__":
    main()
