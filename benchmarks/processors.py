"""Rates of searches, compiled for this processor and for those that most contain.

Each of several rounds asks every question once for each processor, in a process of its
own, which has answered it before with three philosophers, so that nothing is loaded or
compiled while CPU time is taken; a rate is the median of its rounds.  What is compiled
is kept in FOLDER::

    python -m benchmarks.processors FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import record

PROCESSORS = ("native", "x86-64-v2", "x86-64-v3")
SEARCHES = ("se05", "couvreur99", "dfs-weak")

_ASK = """
import json, sys
from ltlpipe import check
from benchmarks.families.nets import dining
from ltlpipe.families.networks import philosophers
kind, size, search = sys.argv[1:]
family = {"network": philosophers, "net": dining}[kind]
about = {"network": {"empty": True}, "net": {"formula": "G(eat0 + eat1 <= 1)"}}[kind]
for n in (3, int(size)):
    stats = check(family(n), **about, emptiness=search, reduce="none").stats
print(json.dumps([stats.states, stats.cpu_seconds]))
"""


def asked(
    processor: str, question: tuple[str, int, str], folder: Path
) -> tuple[int, float]:
    """Return states, and states per second, of one search."""
    settings = {"NUMBA_CACHE_DIR": str(folder)}
    if processor != "native":
        settings |= {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    done = subprocess.run(
        [sys.executable, "-c", _ASK, *map(str, question)],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        check=True,
    )
    states, seconds = json.loads(done.stdout)
    return states, states / seconds


def main() -> None:
    """Write processors.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processors", nargs="*", default=PROCESSORS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--emptiness", nargs="*", default=SEARCHES)
    parser.add_argument("--philosophers", type=int, default=9, metavar="N")
    parser.add_argument("--dining", type=int, default=15, metavar="N")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    rows = []
    systems = {"network": chosen.philosophers, "net": chosen.dining}
    for kind, size in systems.items():
        for search in chosen.emptiness:
            rates: dict[str, list[float]] = {name: [] for name in chosen.processors}
            states = 0
            for _ in range(chosen.runs):
                for name, seen in rates.items():
                    question = (kind, size, search)
                    states, rate = asked(name, question, chosen.folder)
                    seen.append(rate)
            row = {"system": kind, "emptiness": search, "states": states}
            row |= {
                name: round(statistics.median(seen)) for name, seen in rates.items()
            }
            rows.append(row | {"runs": chosen.runs})
            print(rows[-1], flush=True)
    record.write(chosen.out / "processors.csv", rows)


if __name__ == "__main__":
    main()
