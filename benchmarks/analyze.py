"""How long a thousand formulas take to analyse.

Formulas in the style of RERS problems, generated over 60 actions, are analysed four
times: whether they are interruptible; the Büchi automaton of each interruptible one
and whether it is in interrupt normal form, brought into it if not; the whole table
of `ltlpipe.analyze` with one process; and with one for each core.  Siegel & Yan (CAV
2020, Sec. 6) needed 6 s for the first on the 940 formulas of RERS 2016-2019 and 11 s
for the second, files included, on a core of 3.7 GHz.

Every time is the median of several runs, each in a process of its own: nothing is
remembered from one to the next.

``analyze_published.csv`` has the properties of RERS problems as published, where the
folder `LTLPIPE_BENCHMARKS` is: how many are not interruptible, and of how many others
the automaton is not in interrupt normal form as it was translated.  Siegel & Yan count
22 and 4 among the 300 of 2017, and none among the 400 of 2016.

    python -m benchmarks.analyze
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.logic.formulas import Formula

PAPER_SECONDS = {"interruptible": 6.0, "automata": 11.0}  # for 940 formulas
ACTIONS = [f"a{number}" for number in range(60)]


def generated(n: int, seed: int) -> list[Formula]:
    """Return the formulas, parsed."""
    from ltlpipe.logic.formulas import parse
    from ltlpipe.logic.generating import formula_set

    return [parse(text) for text in formula_set(n, ACTIONS, seed=seed)]


def interruptible(formulas: list[Formula]) -> int:
    """Decide of each formula whether it is interruptible; return how many are."""
    from ltlpipe import is_interruptible

    return sum(map(is_interruptible, formulas))


def automata(formulas: list[Formula]) -> int:
    """Make Büchi automata of the interruptible ones, in interrupt normal form."""
    from ltlpipe import is_interruptible
    from ltlpipe.automata import classification

    made = 0
    for formula in filter(is_interruptible, formulas):
        table = classification.buchi(formula)
        normal, _ = classification.violation_of_normal_form(table)
        if normal is False:
            classification.n_states_of_norm(table)
        made += 1
    return made


def table(formulas: list[Formula], jobs: int) -> int:
    """Make the whole table."""
    import ltlpipe

    return int(ltlpipe.analyze(formulas, jobs=jobs)["interruptible"].sum())


STAGES: dict[str, Callable[[list[Formula]], int]] = {
    "interruptible": interruptible,
    "automata": automata,
    "table": lambda formulas: table(formulas, 1),
    "table, all cores": lambda formulas: table(formulas, os.cpu_count() or 1),
}


def measure(stage: str, n: int, seed: int) -> None:
    """Print the seconds of one stage, and what it counted."""
    import ltlpipe

    formulas = generated(n, seed)
    ltlpipe.analyze(["G(a -> F b)", "X a"])  # imports, not formulas
    ltlpipe.is_interruptible("X (a U b)")
    started = time.perf_counter()
    count = STAGES[stage](formulas)
    print(time.perf_counter() - started, count)


def measured(stage: str, n: int, seed: int, runs: int) -> dict[str, Any]:
    """Measure one stage in processes of its own."""
    command = [sys.executable, "-m", "benchmarks.analyze", "--stage", stage]
    command += ["--formulas", str(n), "--seed", str(seed)]
    seconds, counts = [], set()
    for _ in range(runs):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        spent, count = done.stdout.split()
        seconds.append(float(spent))
        counts.add(int(count))
    (count,) = counts
    middle = statistics.median(seconds)
    paper = PAPER_SECONDS.get(stage)
    return {
        "stage": stage,
        "formulas": n,
        "interruptible": count,
        "seconds": round(middle, 3),
        "milliseconds_per_formula": round(1000 * middle / n, 3),
        "paper_seconds_940": paper,
        "times_faster_per_formula": paper and round(paper / 940 / (middle / n), 1),
        "processes": (os.cpu_count() or 1) if "cores" in stage else 1,
        "runs": runs,
        "seed": seed,
    }


def published(folder: Path) -> dict[str, Any]:
    """Analyse the properties of a folder of RERS problems."""
    import ltlpipe
    from ltlpipe.batch.task_sources import find_tasks

    formulas = [task.formula for task in find_tasks([folder])]
    started = time.perf_counter()
    frame = ltlpipe.analyze(formulas)
    interruptible = frame["interruptible"].astype("boolean").fillna(False).astype(bool)
    normal = frame["normal_form"].astype(bool)
    return {
        "set": folder.name,
        "formulas": len(frame),
        "not_interruptible": int((~interruptible).sum()),
        "of_them_erasable": int(
            (~interruptible & frame["erasable"].astype(bool)).sum()
        ),
        "not_in_normal_form": int((interruptible & ~normal).sum()),
        "seconds": round(time.perf_counter() - started, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--formulas", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    parser.add_argument("--stage", choices=STAGES, help="measure this alone, and print")
    chosen = parser.parse_args()
    if chosen.stage is not None:
        measure(chosen.stage, chosen.formulas, chosen.seed)
        return
    rows = [
        measured(stage, chosen.formulas, chosen.seed, chosen.runs) for stage in STAGES
    ]
    record.write(chosen.out / "analyze.csv", rows)
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks")) / "rers"
    if data.is_dir():
        counted = [published(folder) for folder in sorted(data.iterdir())]
        record.write(chosen.out / "analyze_published.csv", counted)


if __name__ == "__main__":
    main()
