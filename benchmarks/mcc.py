"""Queries of the Model Checking Contest 2023, category LTL: how many are decided.

A sample with a fixed seed, of all queries alike (``--uniform``), or the same number
from each stratum: properties about cardinalities or fireability, those that hold, are
violated, or have no consensus in the contest, of place/transition or of symmetric nets.
Each is asked by ``ltlpipe solve`` with limits of CPU time and memory, and compared with
the contest's consensus; queries without one are counted apart.  Beside it stands who
answered the same query in the contest, within an hour for 16 formulas on four cores.
With ``--off`` each reduction or strategy that took part in answers of the first way is
left out of the plan on the queries that it took part in.

    python -m benchmarks.mcc --data FOLDER [--queries 48] [--uniform] [--seed 7]
        [--out results] [--off] [--name mcc]
        [--ways "now=ltlpipe" "before=/other/bin/ltlpipe" "none=ltlpipe --reduce none"]

With ``--names`` the ids of the queries are read from a file, and ``--name`` is that of
the table.  FOLDER has ``dev.tar.gz`` and ``dev-answers.csv.gz``; by default it
is ``mcc2023`` in the folder that the environment variable LTLPIPE_BENCHMARKS names.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import record
from ltlpipe.question.conditions import REDUCTION_NAMES

_IDENTIFIER = re.compile(r"(.*)-(LTLCardinality|LTLFireability)-\d+")
_PROPERTY = re.compile(r"<property>.*?</property>", re.DOTALL)
_ANSWERS = {"holds": "TRUE", "violated": "FALSE"}


def main(arguments: list[str] | None = None) -> int:
    given = _arguments(arguments)
    csv.field_size_limit(1 << 30)
    with gzip.open(given.data / "dev-answers.csv.gz", "rt", encoding="utf-8") as file:
        answers = {row["formula_id"]: row for row in csv.DictReader(file)}
    if given.names is not None:
        drawn = given.names.read_text(encoding="utf-8").split()
    elif given.uniform:
        drawn = sorted(random.Random(given.seed).sample(sorted(answers), given.queries))
    else:
        drawn = sample(answers, given.queries, given.seed)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        tasks = Path(folder) / "tasks"
        _extract(given.data / "dev.tar.gz", drawn, tasks)
        for way in given.ways:
            name, _, command = way.partition("=")
            found = _solved(shlex.split(command), tasks, Path(folder) / name, given)
            rows += [_judged(name, answers[i], found.get(i, {})) for i in drawn]
            _say(name, rows)
        for reduction in _that_took_part(rows) if given.off else ():
            name = f"without {reduction}"
            chosen = [r["formula_id"] for r in rows if reduction in _parts_of(r)]
            tasks = Path(folder) / reduction
            _extract(given.data / "dev.tar.gz", chosen, tasks)
            command = given.ways[0].partition("=")[2] + f" --reduce auto,-{reduction}"
            found = _solved(shlex.split(command), tasks, Path(folder) / name, given)
            rows += [_judged(name, answers[i], found.get(i, {})) for i in chosen]
            _say(name, rows)
    record.write(given.out / f"{given.name}.csv", rows)
    return int(any(row["judged"] == "wrong" for row in rows))


def _say(way: str, rows: list[dict[str, Any]]) -> None:
    """Print how the answers of a way are judged."""
    judged = Counter(row["judged"] for row in rows if row["way"] == way)
    print(way, dict(judged), flush=True)


def _parts_of(row: dict[str, Any]) -> set[str]:
    """Return the reductions and strategies that took part in an answer."""
    if row["judged"] == "open" or row["way"].startswith("without "):
        return set()
    return {row["strategy"], *row["reductions"].split(",")} & {*REDUCTION_NAMES}


def _that_took_part(rows: list[dict[str, Any]]) -> list[str]:
    first = [row for row in rows if row["way"] == rows[0]["way"]]
    return sorted(set().union(*(_parts_of(row) for row in first)))


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    folder = Path(os.environ.get("LTLPIPE_BENCHMARKS", ".")) / "mcc2023"
    parser.add_argument("--data", type=Path, default=folder)
    parser.add_argument("--queries", type=int, default=48)
    parser.add_argument("--uniform", action="store_true")
    parser.add_argument("--names", type=Path)
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--name", default="mcc")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--cpu-time", type=float, default=10.0)
    parser.add_argument("--memory", type=int, default=4096)
    parser.add_argument("--ways", nargs="+", default=["now=ltlpipe"])
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    return parser.parse_args(arguments)


def sample(answers: dict[str, dict[str, str]], n: int, seed: int) -> list[str]:
    """Return the ids of about n queries, as many from each stratum as it has."""
    strata: dict[tuple[str, ...], list[str]] = {}
    for number, row in sorted(answers.items()):
        exam = _parts(number)[1]
        coloured = "-COL-" in row["instance"]
        key = (exam, row["consensus"], str(coloured))
        strata.setdefault(key, []).append(number)
    rng = random.Random(seed)
    share = -(-n // len(strata))
    drawn = [rng.sample(own, min(share, len(own))) for _, own in sorted(strata.items())]
    return sorted(number for own in drawn for number in own)


def _parts(number: str) -> tuple[str, str]:
    """Return the instance and the kind of properties that an id is of."""
    found = _IDENTIFIER.fullmatch(number)
    assert found is not None
    return found[1], found[2]


def _extract(archive: Path, drawn: list[str], tasks: Path) -> None:
    """Write a folder for each instance, with its net and the drawn properties."""
    wanted: dict[str, dict[str, set[str]]] = {}
    for number in drawn:
        instance, exam = _parts(number)
        wanted.setdefault(instance, {}).setdefault(exam, set()).add(number)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            exams = wanted.get(path.parent.name, {})
            if not exams or not member.isfile():
                continue
            source: Any = tar.extractfile(member)
            target = tasks / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.stem in exams:
                target.write_text(_chosen(source.read().decode(), exams[path.stem]))
            elif path.suffix == ".pnml":
                with target.open("wb") as file:
                    shutil.copyfileobj(source, file)


def _chosen(text: str, names: set[str]) -> str:
    """Return a property file with some of its properties."""
    head = text.partition("<property>")[0]
    parts = [
        part
        for part in _PROPERTY.findall(text)
        if any(f"<id>{name}</id>" in part for name in names)
    ]
    return head + "\n".join(parts) + "\n</property-set>\n"


def _solved(
    command: list[str], tasks: Path, work: Path, given: argparse.Namespace
) -> dict[str, dict[str, str]]:
    """Return the rows of ``solve`` by the ids of formulas."""
    work.mkdir()
    table = work / "table.csv"
    program, *options = command
    limits = ["--cpu-time", str(given.cpu_time), "--memory", str(given.memory)]
    run = [program, "solve", str(tasks), "--jobs", "1", "--out", str(table), "--quiet"]
    run += ["--timeout", str(20 * given.cpu_time), *limits, *options]
    subprocess.run(run, check=False)
    with table.open(encoding="utf-8") as file:
        return {row["formula_id"]: row for row in csv.DictReader(file)}


def _judged(way: str, known: dict[str, str], row: dict[str, str]) -> dict[str, Any]:
    """Return a row of the table: the answer beside the consensus."""
    answer = _ANSWERS.get(row.get("verdict", ""))
    if answer is None:
        judged = "open"
    elif known["consensus"] == "?":
        judged = "without consensus"
    else:
        judged = "right" if answer == known["consensus"] else "wrong"
    kept = [
        "verdict",
        "reason",
        "strategy",
        "reductions",
        "states",
        "cpu_seconds",
        "memory_mib",
    ]
    return {
        "way": way,
        "formula_id": known["formula_id"],
        "consensus": known["consensus"],
        "judged": judged,
        **{column: row.get(column, "") for column in kept},
        "answered_by": known["answered_by"],
    }


if __name__ == "__main__":
    sys.exit(main())
