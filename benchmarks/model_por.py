"""Ample sets of models that tables decide: what they save, on BEEM and MCC models.

Each model is explored with and without the reduction, with nothing visible (task
"-"): the most that can be saved.  Then the first tasks that hold and allow the
reduction are searched both ways, by the same search for the same automaton.  All of
this up to a number of states and seconds; states of both ways are written, and whether
the search came to its end.

    python -m benchmarks.model_por --data DIR      (with DIR/beem and DIR/mcc)
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from ltlpipe import LtlpipeError, check, load
from ltlpipe.automata.letters import universal
from ltlpipe.por.groups import find_groups
from ltlpipe.runtime.jobs import Limits, StoppedError, run
from ltlpipe.search.driver import OVERFLOW, Outcome, advance
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITES = {"beem": ".dve", "mcc": ".pnml.gz"}
WAYS = {"full": "none", "ample": "ample"}


def holding(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return for each model of a folder the tasks that hold, and their formulas."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with (folder / "tasks.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            tasks = found[row["model"]]
            if row["verdict"] == "holds":
                tasks.append((row.get("index") or row["task"], row["formula"]))
    return found


def explored(model: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Explore a model both ways, nothing being visible."""
    groups = run(find_groups(model, []))
    row: dict[str, Any] = {"task": "-", "why": groups.reason}
    if groups.codes is None:
        return row
    for way, codes in (("full", None), ("ample", groups.codes)):
        packed = model.pack([], ample=codes)
        begun = Exploration(make_problem(packed, universal(), stutter=True))
        run(advance(begun, max_states=1))  # compiles
        began = time.monotonic()
        while True:
            search = Exploration(make_problem(packed, universal(), stutter=True))
            outcome = _within(search, packed, args)
            wider = run(packed.widened()) if outcome.reason == OVERFLOW else None
            if wider is None:
                break
            packed = wider
        row |= figures(
            way,
            "explored" if outcome.reason is None else "unknown",
            int(search.registers[Reg.VISITED]),
            int(search.registers[Reg.TRANSITIONS]),
            time.monotonic() - began,
        )
    return with_factor(row)


def _within(search: Exploration, packed: Any, args: argparse.Namespace) -> Outcome:
    """Explore as far as the limits allow."""
    job = advance(search, max_states=args.max_states, overflowed=packed.overflowed)
    try:
        return run(job, Limits(args.timeout))
    except StoppedError as stopped:
        return Outcome(Status.RUNNING, stopped.reason)


def searched(model: Any, formula: str, args: argparse.Namespace) -> dict[str, Any]:
    """Search for a violation both ways."""
    row: dict[str, Any] = {}
    for way, reduce in WAYS.items():
        found = check(
            model,
            formula,
            reduce=reduce,
            emptiness="couvreur99",
            lasso=False,
            max_states=args.max_states,
            timeout=args.timeout,
        )
        stats = found.stats
        row |= figures(
            way, found.verdict, stats.states, stats.transitions, stats.search_seconds
        )
        row["why"] = found.plan.reasons[-1]
    verdicts = {row["full_verdict"], row["ample_verdict"]} - {"unknown"}
    assert verdicts <= {"holds"}, formula
    return with_factor(row)


def figures(way: str, verdict: str, *numbers: float | None) -> dict[str, Any]:
    """Return the columns of one way."""
    names = ("states", "transitions", "seconds")
    columns = {f"{way}_{name}": n for name, n in zip(names, numbers, strict=True)}
    return {f"{way}_verdict": verdict} | columns


def with_factor(row: dict[str, Any]) -> dict[str, Any]:
    """Add how many times fewer states there are, if both searches were complete."""
    if "unknown" not in (row["full_verdict"], row["ample_verdict"]):
        row["factor"] = round(row["full_states"] / row["ample_states"], 2)
    return row


def rows(
    folder: Path, ending: str, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a suite."""
    for name, tasks in sorted(holding(folder).items()):
        path = folder / "models" / f"{name}{ending}"
        if not path.exists():
            continue
        model = load(str(path))
        row = explored(model, args)
        yield {"model": name} | row
        if "full_states" not in row:
            continue
        n_measured = 0
        for task, formula in tasks[: args.looked_at]:
            try:
                row = searched(model, formula, args)
            except LtlpipeError:  # nothing to reduce, or the property does not allow it
                continue
            yield {"model": name, "task": task} | row
            n_measured += 1
            if n_measured == args.tasks:
                break


def main() -> None:
    """Write results/model_por.csv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", type=int, default=2, help="per model")
    parser.add_argument("--looked-at", type=int, default=12, help="per model")
    parser.add_argument("--max-states", type=int, default=3_000_000)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    for suite, ending in SUITES.items():
        if not (args.data / suite).is_dir():
            continue
        for row in rows(args.data / suite, ending, args):
            found.append({"suite": suite} | row)
            print(*found[-1].values(), flush=True)
            columns = list(dict.fromkeys(column for row in found for column in row))
            record.write(
                args.out / "model_por.csv",
                [{c: r.get(c) for c in columns} for r in found],
            )


if __name__ == "__main__":
    main()
