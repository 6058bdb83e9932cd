"""Promela models, searched by ltlpipe and by Spin: one table.

Models of one size parameter in ``promela_models``, as Spin's verifier and `ltlpipe` see
them without reduction: both store all states, and have to find as many.  Rates are by
processor time, so that other work on the machine counts little: that of the verifier's
own process, and that of the second count of ltlpipe, as the first one has the kernels
compiled.  How long a person waits is in other columns, wall clock of whole processes:
``spin -a``, gcc and the verifier (`spin_seconds`), and Python with `ltlpipe`, for a new
model and for one that is known (`first_seconds`, `second_seconds`), where kernels that
are the same for all models are compiled::

    python -m benchmarks.promela --models philosophers=9 paxos=5
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, write

MODELS = Path(__file__).parent / "promela_models"
SIZES = {
    "philosophers": 9,
    "filter": 4,
    "bakery": 3,
    "election": 8,
    "window": 7,
    "paxos": 5,
}
"""So that there are about 10^6 states."""

_COUNT = """
import json, resource, sys, time
import ltlpipe
from ltlpipe.verdict.checking import product_size
model = ltlpipe.load(sys.argv[1]).counted()
for _ in range(2):
    begun = time.process_time()
    found = product_size(model, None)
    seconds = time.process_time() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([found.states, found.transitions, seconds, peak]))
"""


def text_of(path: Path, size: int | None) -> str:
    """Return a model without formulas, of a size."""
    lines = path.read_text().splitlines()
    if size is not None:
        lines.insert(0, f"#define N {size}")
    return "\n".join(line for line in lines if not line.startswith("ltl ")) + "\n"


def of_spin(folder: Path, flags: list[str]) -> dict[str, Any]:
    """Return what Spin's verifier says of a model, and how long that takes."""
    begun = time.perf_counter()
    _run(["spin", "-a", "-o1", "-o2", "-o3", "model.pml"], folder)
    command = ["gcc", "-O2", "-w", "-DSAFETY", "-DMEMLIM=6000", *flags]
    _run([*command, "-o", "pan", "pan.c"], folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = _run(["./pan", "-A", "-E", "-c0", "-n", "-m5000000", "-w23"], folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    states = re.search(r"(\d+) states, stored", output)
    memory = re.search(r"([\d.]+)\s+actual memory usage for states", output)
    assert states, output
    return {
        "spin_states": int(states[1]),
        "spin_cpu": after.ru_utime - before.ru_utime,
        "spin_state_mib": float(memory[1]) if memory else None,
        "spin_seconds": time.perf_counter() - begun,
    }


def of_ltlpipe(folder: Path) -> dict[str, Any]:
    """Return the same of ltlpipe, with its own cache of machine code."""
    with tempfile.TemporaryDirectory() as cache:
        seconds = []
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        (folder / "small.pml").write_text("byte x; active proctype P() { x = 1 }\n")
        _run([sys.executable, "-c", _COUNT, "small.pml"], folder, environment)
        for _ in range(2):
            begun = time.perf_counter()
            command = [sys.executable, "-c", _COUNT, "model.pml"]
            output = _run(command, folder, environment)
            seconds.append(time.perf_counter() - begun)
    states, transitions, cpu, peak = json.loads(output.splitlines()[-1])
    return {
        "states": states,
        "transitions": transitions,
        "cpu": cpu,
        "peak_mib": peak,
        "first_seconds": seconds[0],
        "second_seconds": seconds[1],
    }


def _run(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> str:
    made = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return made.stdout


def row_of(path: Path, size: int | None) -> dict[str, Any]:
    """Return the row of a model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.pml").write_text(text_of(path, size))
        spin = of_spin(folder, ["-DNOREDUCE"])
        ours = of_ltlpipe(folder)
    assert ours["states"] == spin["spin_states"], (path, ours, spin)
    rates = ours["states"] / ours["cpu"], spin["spin_states"] / spin["spin_cpu"]
    row = {"model": path.stem, "size": size or "", **ours, **spin}
    row |= {"states_per_second": rates[0], "spin_states_per_second": rates[1]}
    return row | {"times_spin": rates[0] / rates[1]}


def main() -> None:
    """Measure the models that are asked for, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [f"{name}={size}" for name, size in SIZES.items()]
    parser.add_argument("--models", nargs="*", default=known, metavar="NAME=SIZE")
    parser.add_argument("--out", default=RESULTS / "promela.csv")
    given = parser.parse_args()
    rows = []
    for model in given.models:
        name, _, size = model.partition("=")
        rows.append(row_of(MODELS / f"{name}.pml", int(size)))
        print(rows[-1], flush=True)
    write(given.out, rows)


if __name__ == "__main__":
    main()
