"""First answers about Promela models: `ltlpipe check` and ``spin -run`` side by side.

All questions that a model asks are answered by one command of ltlpipe; Spin answers one
for each run of its verifier, gcc included: `spin_seconds` are those of one, and
`spin_all_seconds` of as many as it takes for all, one without a claim (assertions and
end states) and one for each ``ltl`` block.  Of ltlpipe kernels
that are the same for all models are compiled, as far as they are in a folder of machine
code, but nothing of the model is: that is removed from the folder.  Seconds are those
of whole processes, by the clock on the wall and of processors; each is the least of
several rounds::

    python -m benchmarks.promela_first MODELS CACHE
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, write

_CHECK = "from ltlpipe.cli import program; program()"


def timed(command: list[str], folder: Path) -> tuple[float, float, str]:
    """Return the seconds of a command, those of processors, and what it has said."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    made = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, cpu, made.stdout


def forget_models(cache: Path) -> None:
    """Remove the machine code of models."""
    for path in cache.glob("dve*"):
        shutil.rmtree(path, ignore_errors=True)


def row_of(path: Path, cache: Path, rounds: int) -> dict[str, Any]:
    """Return the row of a model."""
    ours, spins, all_spins, answers = [], [], [], 0
    names = re.findall(r"^\s*ltl\s+(\w+)\s*\{", path.read_text(), re.MULTILINE)
    claims = [["-noclaim"], *(["-ltl", name] for name in names)]
    for _ in range(rounds):
        forget_models(cache)
        seconds, cpu, said = timed(
            [sys.executable, "-c", _CHECK, "check", path.name], path.parent
        )
        lines = said.splitlines()
        answers = sum(line.startswith(("holds", "violated")) for line in lines)
        ours.append((seconds, cpu))
        with tempfile.TemporaryDirectory() as name:
            for file in path.parent.iterdir():
                if file.suffix in (".pml", ".h"):
                    shutil.copy(file, name)
            one = timed(["spin", "-run", path.name], Path(name))
            runs = [timed(["spin", "-run", *c, path.name], Path(name)) for c in claims]
        if "errors:" in one[2]:  # else there is no answer
            spins.append(one[:2])
        if all("errors:" in said for _, _, said in runs):
            all_spins.append((sum(run[0] for run in runs), sum(run[1] for run in runs)))
    row: dict[str, Any] = {"model": path.stem, "answers": answers}
    for name, found in (("", ours), ("spin_", spins), ("spin_all_", all_spins)):
        row |= {f"{name}seconds": min((s for s, _ in found), default=None)}
        row |= {f"{name}cpu": min((c for _, c in found), default=None)}
    return row


def main() -> None:
    """Write the table of all models of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", default=RESULTS / "promela_first.csv")
    given = parser.parse_args()
    os.environ["NUMBA_CACHE_DIR"] = str(given.cache)
    rows = []
    for path in sorted(given.models.glob("*.pml")):
        row = row_of(path, given.cache, given.rounds)
        if row["answers"]:  # else it is refused
            rows.append(row)
            print(*row.values(), flush=True)
    write(given.out, rows)


if __name__ == "__main__":
    main()
