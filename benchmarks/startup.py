"""How long a command takes to start: help, a warm check, a first check.

``first`` is with an empty cache of kernels, as after an installation, and ``second`` is
the same command once more: about ten states, about a million, and about a few with one
search by name, whose kernels the package brings (``python scripts/kernels.py``).
``compiling`` is a first one without those.  ``warm`` is with the kernels that this
machine has.  Seconds are those of the clock, ``cpu_seconds`` those of all processes.

python -m benchmarks.startup
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding

from benchmarks import record
from benchmarks.limit_cases import philosophers_question
from ltlpipe import LTS, Network, save
from ltlpipe.runtime.kernels.shipped import are_usable


class Case(NamedTuple):
    """A command, and whether it begins with an empty cache of kernels."""

    name: str
    arguments: list[str]
    fresh: bool = False


def _cpu_seconds() -> float:
    """Return the CPU time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(arguments: list[str], **environment: str) -> tuple[float, float]:
    """Run ltlpipe once in a process of its own; return wall-clock and CPU time."""
    started, before = time.perf_counter(), _cpu_seconds()
    done = subprocess.run(
        [sys.executable, "-m", "ltlpipe", *arguments],
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )
    elapsed = time.perf_counter() - started
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode())
    return elapsed, _cpu_seconds() - before


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
    """Return rows: one for a warm command, else first, second and compiling."""
    if not case.fresh:
        seconds(case.arguments)
        times = [seconds(case.arguments) for _ in range(runs)]
        return [_row(f"{case.name}, warm", times)]
    times: dict[str, list[tuple[float, float]]]
    times = {"first": [], "second": []}
    if are_usable():
        times["compiling"] = []
    native = str(llvmlite.binding.get_host_cpu_name())
    for k in range(min(runs, 3)):
        for name, seen in times.items():
            cache = str(folder / f"{case.name}{k}{name == 'compiling'}")
            chosen = {"NUMBA_CPU_NAME": native} if name == "compiling" else {}
            seen.append(seconds(case.arguments, NUMBA_CACHE_DIR=cache, **chosen))
    return [_row(f"{case.name}, {name}", seen) for name, seen in times.items()]


def _row(name: str, times: list[tuple[float, float]]) -> dict[str, Any]:
    elapsed = [wall for wall, _ in times]
    return {
        "case": name,
        "seconds": round(statistics.median(elapsed), 3),
        "fastest": round(min(elapsed), 3),
        "slowest": round(max(elapsed), 3),
        "cpu_seconds": round(statistics.median(cpu for _, cpu in times), 3),
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
