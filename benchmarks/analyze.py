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

``analyze_spot.csv`` compares the whole table with what Spot alone takes for the columns
that it has (size, class, stutter invariance, four automata and their shape), formula by
formula in one process over the propositions as they are: the files of ``formulas/``, a
thousand generated formulas, and a thousand random ones by Spot, of up to 30 operators
and propositions.  Forms that differ in names alone are analysed once.

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
    from benchmarks.formula_sets import formula_set
    from ltlpipe.logic.formulas import parse

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
    "Spot alone": lambda formulas: by_spot_alone(formulas),
    "table": lambda formulas: table(formulas, 1),
    "table, all cores": lambda formulas: table(formulas, os.cpu_count() or 1),
}


def from_files() -> list[Formula]:
    """Return the formulas of the project."""
    from ltlpipe.logic.formula_files import read_formulas

    files = sorted((Path(__file__).parents[1] / "formulas").glob("*.ltl"))
    return [formula for file in files for formula in read_formulas(file)]


def random_ones(n: int, seed: int) -> list[Formula]:
    """Return random formulas over four propositions."""
    import spot

    from ltlpipe.logic.formulas import parse

    made = spot.randltl(4, n, seed=seed, tree_size=(5, 30))
    return [parse(str(formula)) for formula in made]


def by_spot_alone(formulas: list[Formula]) -> int:
    """Have Spot compute the columns that it has; return how many formulas there are."""
    import spot

    for formula in formulas:
        tree = formula.spot
        spot.length(tree)
        spot.mp_class(tree)
        spot.is_stutter_invariant(tree)
        automaton = spot.translate(tree, "Buchi", "SBAcc")
        spot.is_inherently_weak_automaton(automaton)
        spot.is_terminal_automaton(automaton)
        spot.is_very_weak_automaton(automaton)
        spot.translate(tree, "GeneralizedBuchi")
        spot.translate(tree, "parity", "deterministic")
        spot.translate(tree, "generic")
    return len(formulas)


SETS: dict[str, Callable[[int, int], list[Formula]]] = {
    "files": lambda _n, _seed: from_files(),
    "generated": generated,
    "random": random_ones,
}


def measure(stage: str, n: int, seed: int, of: str = "generated") -> None:
    """Print the seconds of one stage, and what it counted."""
    import ltlpipe

    formulas = SETS[of](n, seed)
    ltlpipe.analyze(["G(a -> F b)", "X a"])  # imports, not formulas
    ltlpipe.is_interruptible("X (a U b)")
    by_spot_alone(formulas[:1])
    started = time.perf_counter()
    count = STAGES[stage](formulas)
    print(time.perf_counter() - started, count)


def timed(stage: str, n: int, seed: int, of: str = "generated") -> tuple[float, int]:
    """Return the seconds of one stage in a process of its own, and what it counted."""
    command = [sys.executable, "-m", "benchmarks.analyze", "--stage", stage]
    command += ["--formulas", str(n), "--seed", str(seed), "--of", of]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    spent, count = done.stdout.split()
    return float(spent), int(count)


def compared(of: str, n: int, seed: int, runs: int) -> dict[str, Any]:
    """Compare the table with Spot alone, in turns."""
    pairs = [
        (timed("Spot alone", n, seed, of), timed("table", n, seed, of))
        for _ in range(runs)
    ]
    alone = statistics.median(spot[0] for spot, _ in pairs)
    table = statistics.median(own[0] for _, own in pairs)
    return {
        "set": of,
        "formulas": pairs[0][0][1],
        "spot_seconds": round(alone, 3),
        "table_seconds": round(table, 3),
        "times_spot": round(table / alone, 2),
        "runs": runs,
        "seed": seed,
    }


def measured(stage: str, n: int, seed: int, runs: int) -> dict[str, Any]:
    """Measure one stage in processes of its own."""
    outcomes = [timed(stage, n, seed) for _ in range(runs)]
    seconds = [spent for spent, _ in outcomes]
    (count,) = {count for _, count in outcomes}
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
    parser.add_argument("--of", choices=SETS, default="generated")
    chosen = parser.parse_args()
    if chosen.stage is not None:
        measure(chosen.stage, chosen.formulas, chosen.seed, chosen.of)
        return
    drawn = chosen.formulas, chosen.seed, chosen.runs
    compared_sets = [compared(of, *drawn) for of in SETS]
    record.write(chosen.out / "analyze_spot.csv", compared_sets)
    rows = [measured(stage, *drawn) for stage in STAGES if stage != "Spot alone"]
    record.write(chosen.out / "analyze.csv", rows)
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks")) / "rers"
    if data.is_dir():
        counted = [published(folder) for folder in sorted(data.iterdir())]
        record.write(chosen.out / "analyze_published.csv", counted)


if __name__ == "__main__":
    main()
