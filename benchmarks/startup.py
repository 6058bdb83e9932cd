"""How long a command takes to start: help, a warm check, a first check.

``first`` is with an empty cache of kernels, as after an installation, and ``second`` is
the same command once more: about ten states, about a million, and about a few with one
search by name, whose kernels have to be compiled.  ``warm`` is with the kernels that
this machine has.

python -m benchmarks.startup
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import record
from benchmarks.limit_cases import philosophers_question
from ltlpipe import LTS, Network, save


class Case(NamedTuple):
    """A command, and whether it begins with an empty cache of kernels."""

    name: str
    arguments: list[str]
    fresh: bool = False


def seconds(arguments: list[str], **environment: str) -> float:
    """Run ltlpipe once in a process of its own and return the wall-clock time."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "ltlpipe", *arguments],
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )
    elapsed = time.perf_counter() - started
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode())
    return elapsed


def commands(folder: Path, chosen: argparse.Namespace) -> list[Case]:
    """Return what is measured; its systems are written to a folder."""
    steps = [(k, f"step{k}", (k + 1) % 5) for k in range(5)]
    ten = Network(
        [
            LTS.from_transitions(steps),
            LTS.from_transitions([(0, "request", 1), (1, "grant", 0)]),
        ]
    )
    model = str(folder / "ten.dot")
    save(ten, model)
    small = ["check", model, "-f", "G(request -> X(!request W grant))"]
    large = ["check", *philosophers_question(chosen.philosophers, [], folder)]
    named = [
        Case(f"check, {search}", [*small, "--emptiness", search])
        for search in chosen.emptiness
    ]
    return [
        Case("help", ["--help"]),
        Case("check, ten states", small),
        *named,
        Case("check, ten states", small, fresh=True),
        *(case._replace(fresh=True) for case in named),
        Case(f"check, philosophers {chosen.philosophers}", large, fresh=True),
    ]


def measured(case: Case, folder: Path, runs: int) -> list[dict[str, Any]]:
    """Return a row for a warm command, two for one that begins with no kernels."""
    if not case.fresh:
        seconds(case.arguments)
        times = [seconds(case.arguments) for _ in range(runs)]
        return [_row(f"{case.name}, warm", times)]
    first, second = [], []
    for k in range(min(runs, 3)):
        cache = str(folder / f"{case.name}{k}")
        first.append(seconds(case.arguments, NUMBA_CACHE_DIR=cache))
        second.append(seconds(case.arguments, NUMBA_CACHE_DIR=cache))
    return [_row(f"{case.name}, first", first), _row(f"{case.name}, second", second)]


def _row(name: str, times: list[float]) -> dict[str, Any]:
    return {
        "case": name,
        "seconds": round(statistics.median(times), 3),
        "fastest": round(min(times), 3),
        "slowest": round(max(times), 3),
        "runs": len(times),
    }


def main() -> None:
    """Write startup.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--emptiness", nargs="*", default=["couvreur99", "se05"])
    parser.add_argument("--philosophers", type=int, default=9, metavar="N")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in commands(folder, chosen):
            for row in measured(case, folder, chosen.runs):
                print(row, flush=True)
                rows.append(row)
    record.write(chosen.out / "startup.csv", rows)


if __name__ == "__main__":
    main()
