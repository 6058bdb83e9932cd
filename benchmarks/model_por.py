"""Ample sets of models that tables decide: what they save, on BEEM and MCC models.

For each model of a folder with `tasks.csv`, the first tasks that allow the reduction
are searched with and without it, by the same search for the same automaton, up to a
number of states.  Models without such a task are listed with the reason of the last.

    python -m benchmarks.model_por --data DIR      (with DIR/beem and DIR/mcc)
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from ltlpipe import LtlpipeError, check, load

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITES = {"beem": ".dve", "mcc": ".pnml.gz"}


def tasks_of(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return for each model of a folder its tasks and their formulas."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with (folder / "tasks.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            task = row.get("index") or row["task"]
            found[row["model"]].append((task, row["formula"]))
    return found


def measured(model: Any, formula: str, args: argparse.Namespace) -> dict[str, Any]:
    """Search once with the reduction and once without."""
    row: dict[str, Any] = {}
    verdicts = []
    for way, reduce in (("full", "none"), ("ample", "auto")):
        found = check(
            model,
            formula,
            reduce=reduce,
            emptiness="couvreur99",
            lasso=False,
            max_states=args.max_states,
            timeout=args.timeout,
        )
        row |= {
            f"{way}_verdict": found.verdict,
            f"{way}_reason": found.reason,
            f"{way}_states": found.stats.states,
            f"{way}_transitions": found.stats.transitions,
            f"{way}_seconds": found.stats.search_seconds,
        }
        verdicts.append(found.verdict)
        row["why"] = found.plan.reasons[-1]
    assert len({*verdicts} - {"unknown"}) < 2, formula
    if row["full_states"] and row["ample_states"]:
        row["factor"] = round(row["full_states"] / row["ample_states"], 2)
    return row


def is_reduced(model: Any, formula: str) -> tuple[bool, str]:
    """Return whether a task is searched with ample sets, and why or why not."""
    try:
        found = check(model, formula, lasso=False, max_states=1)
    except LtlpipeError as error:
        return False, str(error)
    return found.plan.reductions == ("ample",), found.plan.reasons[-1]


def rows(
    suite: str, folder: Path, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a suite."""
    ending = SUITES[suite]
    for name, tasks in sorted(tasks_of(folder).items()):
        path = folder / "models" / f"{name}{ending}"
        if not path.exists():
            continue
        model = load(str(path))
        about = {"suite": suite, "model": name}
        n_measured, why = 0, ""
        for task, formula in tasks[: args.looked_at]:
            used, why = is_reduced(model, formula)
            if used:
                row = measured(model, formula, args)
                print(name, task, row.get("factor"), flush=True)
                yield about | {"task": task, "formula": formula} | row
                n_measured += 1
            if n_measured == args.tasks:
                break
        if not n_measured:
            print(name, why, flush=True)
            yield about | {"why": why}


def main() -> None:
    """Write results/model_por.csv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", type=int, default=3, help="per model")
    parser.add_argument("--looked-at", type=int, default=12, help="per model")
    parser.add_argument("--max-states", type=int, default=3_000_000)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--out", type=Path, default=record.RESULTS / "model_por.csv")
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    for suite in SUITES:
        if (args.data / suite).is_dir():
            found += rows(suite, args.data / suite, args)
    columns = list(dict.fromkeys(column for row in found for column in row))
    record.write(args.out, [{c: row.get(c) for c in columns} for row in found])


if __name__ == "__main__":
    main()
