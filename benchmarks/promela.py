"""Promela models, searched by ltlpipe and by Spin: one table.

Models of one size parameter in ``promela_models``.  A row is a model in one way:

* ``count``: all states without reduction, which both have to find as many of; Spin
  with ``-O2 -DNOREDUCE -DSAFETY``, and once more with ``-DCOLLAPSE``; ltlpipe once
  more with ``--compress``, which keeps rows of several words as trees.
* ``holds`` and ``violated``: a formula that holds (that of the file), and one that is
  violated at the end of a run or on its cycle, with the defaults of both (partial
  orders, Spin's merging of statements).  The first is asked with two cores as well:
  ``-DNCORE=2``, as the parallel breadth-first search of Spin takes no formulas, and
  ``--workers 2``.
* ``command``: ``spin -run`` (gcc included) and ``ltlpipe check``, of a new model and of
  one that is known (`again`).

Times are of the processor, so that other work on the machine counts little: of Spin's
verifier alone, and of the second time that ltlpipe answers, of a model whose own code
is compiled (``ltlpipe compile``).  How long a person waits is `seconds`, wall clock of
whole processes: ``spin -a``, gcc and the verifier; or Python with ltlpipe, where
kernels that are the same for all models are compiled.  Bytes per state are of all
arrays of ltlpipe's search, room to grow included; of Spin its states alone, its hash
table is `table_mib`.  Steps of a counterexample are those of the system, prefix and
cycle::

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
from typing import TYPE_CHECKING, Any

from benchmarks.record import RESULTS, write

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = Path(__file__).parent / "promela_models"
SIZES = {
    "philosophers": 9,
    "filter": 4,
    "bakery": 3,
    "election": 8,
    "window": 8,
    "paxos": 6,
}
"""So that there are 10^6 to 10^7 states."""

VIOLATED = {
    "philosophers": "<>[] (eating == 0)",
    "filter": "<>[] (inside == 0)",
    "bakery": "<>[] (inside == 0)",
    "election": "<>[] (leader == 0)",
    "window": "<>[] (delivered == 0)",
    "paxos": "<>[] (chosen[1] == 0)",
}

_COUNT = """
import json, resource, sys, time
import ltlpipe
from ltlpipe.search import counting
from ltlpipe.verdict.checking import product_size
def kept_of(search):
    def made(*given):
        kept[:] = [search(*given)]
        return kept[0]
    return made
kept = []
counting.Count = kept_of(counting.Count)
counting.Exploration = kept_of(counting.Exploration)
model = ltlpipe.load(sys.argv[1]).counted()
for _ in range(2):
    begun = time.process_time()
    found = product_size(model, None, compress=len(sys.argv) > 2)
    cpu = time.process_time() - begun
memory = kept[0].memory_bytes / found.states
print(json.dumps({"states": found.states, "cpu": cpu, "bytes_per_state": memory}))
"""

_TWO_WORDS = """
byte a[9], i;
active proctype P() { do :: a[i] = (a[i] + 1) % 200; i = (i + 1) % 9 od }
"""

_CHECK = """
import json, sys, time
import ltlpipe
model = ltlpipe.load(sys.argv[1])
for _ in range(2):
    begun = time.process_time()
    workers, reduce = int(sys.argv[3]), (sys.argv[4:] or ["auto"])[0]
    found = ltlpipe.check(model, sys.argv[2], workers=workers, reduce=reduce)
    cpu = time.process_time() - begun
steps = found.lasso and len(found.lasso.prefix) + len(found.lasso.cycle)
answer = {"verdict": found.verdict, "cpu": cpu, "steps": steps}
print(json.dumps(answer | {"states": found.stats.states}))
"""


def text_of(path: Path, size: int) -> str:
    """Return a model without formulas, of a size."""
    lines = [f"#define N {size}", *path.read_text().splitlines()]
    return "\n".join(line for line in lines if not line.startswith("ltl ")) + "\n"


def holding(path: Path) -> str:
    """Return the formula of a file."""
    found = re.search(r"^ltl \w+ \{ (.*) \}$", path.read_text(), re.MULTILINE)
    assert found, path
    return found[1]


def of_spin(
    folder: Path, flags: list[str], formula: str | None = None
) -> dict[str, Any]:
    """Return what Spin's verifier says of a model, and how long that takes.

    Without a formula all states are stored that there are.
    """
    begun = time.perf_counter()
    text = (folder / "model.pml").read_text()
    claim = f"ltl asked {{ {formula} }}\n" if formula else ""
    (folder / "asked.pml").write_text(text + claim)
    exact = [] if formula else ["-o1", "-o2", "-o3"]
    _run(["spin", "-a", *exact, "asked.pml"], folder)
    safety = [] if formula else ["-DSAFETY", "-DNOREDUCE"]
    command = ["gcc", "-O2", "-w", "-DMEMLIM=8000", *safety, *flags]
    _run([*command, "-o", "pan", "pan.c"], folder)
    options = ["-a"] if formula else ["-A", "-E", "-c0"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = _run(["./pan", *options, "-n", "-m5000000", "-w23"], folder, fails=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {"cpu": after.ru_utime - before.ru_utime}
    found |= {"seconds": time.perf_counter() - begun}
    states = re.findall(r"(\d+) states, stored", output)
    assert states, output
    found["states"] = int(states[-1])
    memory = re.search(r"([\d.]+)\s+actual memory usage for states", output)
    table = re.search(r"([\d.]+)\s+memory used for hash table", output)
    if memory and not formula:
        found["bytes_per_state"] = float(memory[1]) * 2**20 / found["states"]
        found["table_mib"] = float(table[1]) if table else None
    if formula:
        trails = [*folder.glob("*.trail")]
        found["verdict"] = "violated" if trails else "holds"
        assert trails or re.search(r"errors: 0\b", output), output
        for trail in trails:
            found["steps"] = steps_of(trail.read_text())
            trail.unlink()
    return found


def steps_of(trail: str) -> int:
    """Return how many steps of processes a trail has: the claim is process 0."""
    moves = [line.split(":") for line in trail.splitlines()]
    return sum(int(step) > 0 and process != "0" for step, process, _ in moves)


def of_ltlpipe(folder: Path, cache: str, script: str, *asked: str) -> dict[str, Any]:
    """Return the same of ltlpipe, with a cache of machine code."""
    begun = time.perf_counter()
    command = [sys.executable, "-c", script, "model.pml", *asked]
    output = _run(command, folder, os.environ | {"NUMBA_CACHE_DIR": cache})
    seconds = time.perf_counter() - begun
    return {**json.loads(output.splitlines()[-1]), "seconds": seconds}


def commands(folder: Path, cache: str, formula: str) -> Iterator[dict[str, Any]]:
    """Yield how long the commands of both take for a model with a formula."""
    text = (folder / "model.pml").read_text()
    (folder / "asked.pml").write_text(f"{text}ltl asked {{ {formula} }}\n")
    ltlpipe = [sys.executable, "-m", "ltlpipe", "check", "asked.pml"]
    for tool, command in (
        ("spin", ["spin", "-run", "-a", "-m5000000", "asked.pml"]),
        ("ltlpipe", ltlpipe),
        ("ltlpipe again", ltlpipe),
    ):
        begun = time.perf_counter()
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        output = _run(command, folder, environment, fails=True)
        found = "holds" if re.search(r"errors: 0\b|holds", output) else "violated"
        seconds = time.perf_counter() - begun
        yield {"question": "command", "tool": tool, "verdict": found} | {
            "cores_used": 1,
            "seconds": seconds,
        }


def prepare(cache: str) -> None:
    """Have kernels that are the same for all models compiled.

    Each strategy is named: one of several does not wait for kernels.
    """
    counter = (
        "byte x{0}; bit y{0}; active proctype P{0}() "
        "{{ do :: x{0} = (x{0} + 1) % 10; y{0} = 1 - y{0} od }}\n"
    )
    text = "".join(map(counter.format, range(4)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.pml").write_text(_TWO_WORDS)
        of_ltlpipe(folder, cache, _COUNT)
        of_ltlpipe(folder, cache, _COUNT, "--compress")
        (folder / "model.pml").write_text(text)
        of_ltlpipe(folder, cache, _COUNT)
        for formula in ("[] (x0 < 10)", "<>[] (x0 == 0)"):
            for reduce in ("none", "ample", "walks")[: 2 + (formula[0] == "<")]:
                of_ltlpipe(folder, cache, _CHECK, formula, "1", reduce)
            of_ltlpipe(folder, cache, _CHECK, formula, "2", "none")
            list(commands(folder, cache, formula))


def _run(
    command: list[str],
    folder: Path,
    environment: dict[str, str] | None = None,
    *,
    fails: bool = False,
) -> str:
    made = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=not fails,
    )
    return made.stdout


def rows_of(path: Path, size: int, cache: str) -> list[dict[str, Any]]:
    """Return the rows of a model."""
    rows: list[dict[str, Any]] = []

    def note(question: str, tool: str, found: dict[str, Any], cores: int = 1) -> None:
        rows.append({"question": question, "tool": tool, "cores_used": cores, **found})

    holds, violated = holding(path), VIOLATED[path.stem]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.pml").write_text(text_of(path, size))
        rows += commands(folder, cache, holds)  # first: of a new model
        ltlpipe = [sys.executable, "-m", "ltlpipe", "compile", "model.pml"]
        _run(ltlpipe, folder, os.environ | {"NUMBA_CACHE_DIR": cache})
        spin = of_spin(folder, [])
        note("count", "spin", spin)
        note("count", "spin -DCOLLAPSE", of_spin(folder, ["-DCOLLAPSE"]))
        ours = of_ltlpipe(folder, cache, _COUNT)
        note("count", "ltlpipe", ours)
        trees = of_ltlpipe(folder, cache, _COUNT, "--compress")
        note("count", "ltlpipe --compress", trees)
        assert ours["states"] == spin["states"], (path, ours, spin)
        note("holds", "spin", of_spin(folder, [], holds))
        note("holds", "spin", of_spin(folder, ["-DNCORE=2"], holds), 2)
        note("holds", "ltlpipe", of_ltlpipe(folder, cache, _CHECK, holds, "1"))
        note("holds", "ltlpipe", of_ltlpipe(folder, cache, _CHECK, holds, "2"), 2)
        note("violated", "spin", of_spin(folder, [], violated))
        note("violated", "ltlpipe", of_ltlpipe(folder, cache, _CHECK, violated, "1"))
    for row in rows:
        if "verdict" in row:
            expected = "violated" if row["question"] == "violated" else "holds"
            assert row["verdict"] == expected, (path, row)
        if row["question"] == "count":
            row["states_per_second"] = row["states"] / row["cpu"]
            row["times_spin"] = row["states_per_second"] * spin["cpu"] / spin["states"]
            row["of_spin_memory"] = row["bytes_per_state"] / spin["bytes_per_state"]
    return [{"model": path.stem, "size": size, **row} for row in rows]


def main() -> None:
    """Measure the models that are asked for, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [f"{name}={size}" for name, size in SIZES.items()]
    parser.add_argument("--models", nargs="*", default=known, metavar="NAME=SIZE")
    parser.add_argument("--out", default=RESULTS / "promela.csv")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        prepare(cache)
        for model in given.models:
            name, _, size = model.partition("=")
            found = rows_of(MODELS / f"{name}.pml", int(size), cache)
            print(*found, sep="\n", flush=True)
            rows += found
    write(given.out, rows)


if __name__ == "__main__":
    main()
