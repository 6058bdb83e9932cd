"""Stubborn sets of nets that follow the automaton: what they save.

Place/transition queries of the Model Checking Contest 2023 are drawn with a fixed seed,
half of those that hold by the contest's consensus and half of those that are violated.
Each net is reduced by structure and then searched with all steps and with stubborn
sets, up to a number of states: no linear programs, no portfolio.

    python -m benchmarks.net_sets [--data FOLDER] [--queries 100] [--seed 946]

FOLDER is as for `benchmarks.mcc`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import mcc, record
from ltlpipe import LtlpipeError, check, load
from ltlpipe.logic.formula_files import read_formulas

WAYS = {"all": "structural", "sets": "structural,ample"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    folder = Path(os.environ.get("LTLPIPE_BENCHMARKS", ".")) / "mcc2023"
    parser.add_argument("--data", type=Path, default=folder)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=946)
    parser.add_argument("--max-states", type=int, default=100_000)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    given = parser.parse_args(arguments)
    csv.field_size_limit(1 << 30)
    with gzip.open(given.data / "dev-answers.csv.gz", "rt", encoding="utf-8") as file:
        answers = {row["formula_id"]: row["consensus"] for row in csv.DictReader(file)}
    drawn = sample(answers, given.queries, given.seed)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        tasks = Path(work)
        mcc._extract(given.data / "dev.tar.gz", drawn, tasks)
        for net in sorted(tasks.glob("*/model.pnml")):
            rows += measured(net, answers, given)
            record.write(given.out / "net_sets.csv", rows)
    return int(any(row["judged"] == "wrong" for row in rows))


def sample(answers: dict[str, str], n: int, seed: int) -> list[str]:
    """Return the ids of n queries of plain nets, as many that hold as violated ones."""
    rng, drawn = random.Random(seed), []
    for consensus in ("TRUE", "FALSE"):
        own = [i for i, said in answers.items() if said == consensus and "-PT-" in i]
        drawn += rng.sample(sorted(own), n // 2)
    return drawn


def measured(
    path: Path, answers: dict[str, str], given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the rows of the queries about a net."""
    net, rows = load(path), []
    for file in sorted(path.parent.glob("*.xml")):
        for formula in read_formulas(file):
            for way, reduce in WAYS.items():
                row = {"formula_id": formula.name, "way": way}
                rows.append(row | searched(net, formula, reduce, given))
                expected = {"TRUE": "holds", "FALSE": "violated"}
                verdict = rows[-1]["verdict"]
                right = verdict == expected[answers[str(formula.name)]]
                judged = "right" if right else "wrong"
                rows[-1]["judged"] = "open" if verdict == "unknown" else judged
    return rows


def searched(
    net: Any, formula: Any, reduce: str, given: argparse.Namespace
) -> dict[str, Any]:
    """Search a net for violations of a formula."""
    limits = {"max_states": given.max_states, "timeout": given.timeout}
    try:
        found = check(net, formula, reduce=reduce, deadlock="stutter", **limits)
    except LtlpipeError as error:
        return {"verdict": "unknown", "reason": str(error)}
    stats = found.stats
    return {
        "verdict": found.verdict,
        "reason": found.reason or "",
        "strategy": found.plan.strategy,
        "states": stats.states,
        "transitions": stats.transitions,
        "search_seconds": stats.search_seconds,
        "cpu_seconds": stats.cpu_seconds,
    }


if __name__ == "__main__":
    sys.exit(main())
