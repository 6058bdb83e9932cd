"""How long a command takes to start: help, a warm check, a first check.

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

from benchmarks import record
from ltlpipe import LTS, Network, save


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--emptiness", nargs="+", default=["couvreur99", "se05"])
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    network = Network(
        [
            LTS.from_transitions([(0, "request", 1), (1, "grant", 0)]),
            LTS.from_transitions([(0, "grant", 1), (1, "work", 0)]),
        ]
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "two.dot")
        save(network, model)
        check = ["check", model, "-f", "G(request -> F grant)"]
        cases = {"help": (["--help"], False)}
        for kind, fresh in (("warm", False), ("first use", True)):
            for search in chosen.emptiness:
                asked = [*check, "--emptiness", search]
                cases[f"check {kind}, {search}"] = (asked, fresh)
        for name, (arguments, fresh) in cases.items():
            times = []
            if not fresh:
                seconds(arguments)
            for k in range(min(chosen.runs, 3) if fresh else chosen.runs):
                cache = {"NUMBA_CACHE_DIR": f"{folder}/{name}{k}"} if fresh else {}
                times.append(seconds(arguments, **cache))
            rows.append(
                {
                    "case": name,
                    "seconds": round(statistics.median(times), 3),
                    "fastest": round(min(times), 3),
                    "slowest": round(max(times), 3),
                    "runs": len(times),
                }
            )
            print(rows[-1], flush=True)
    record.write(chosen.out / "startup.csv", rows)


if __name__ == "__main__":
    main()
