"""Published RERS problems by one way alone each, beside the automatic choice and Spin.

Every fourth property of the problems of `benchmarks.rers` is asked with each
combination of reductions that has one strategy, with a limit of time for each
question.  Spin gets the network as Promela with the negated formula as claim
(`benchmarks.spin`); making and compiling its verifier is not counted.
``rers_ways.csv`` has a row for each question and way and grows with each that is
done; ``rers_ways.svg`` draws how many are decided within how many seconds each.
``rers_twice.csv`` counts for each problem the verdicts that two ways agree on which
share little code, and names the properties that only one way decides.

It is an error if two ways contradict each other, or a published answer.

    python -m benchmarks.rers_ways [--timeout 10] [--every 4] [--ways auto,spin]
                                   [--problems 2017/111,2017/113]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks import record
from benchmarks.rers import Asked, asked_of
from benchmarks.spin import SpinError, available, run_spin
from ltlpipe import load
from ltlpipe.batch.solving import solve_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SPIN = "spin"

WAYS = {
    "auto": "auto",
    "explicit": "alphabet",
    "ample": "alphabet,factoring,ample",
    "components": "alphabet,factoring,components",
    "decoupled": "alphabet,factoring,decoupled",
    "walks": "alphabet,factoring,walks",
}
"""The reductions of each way."""

KIN = {"explicit": "product", "ample": "product"}
"""Ways that share most of their code; each other one is apart, but for ``auto``."""

MEMORY_MIB = 4096

COMPILE_SECONDS = 20.0
"""For each of Spin and gcc, whose time does not count."""

Row = dict[str, Any]


def by_ltlpipe(
    asked: Sequence[Asked], way: str, timeout: float, jobs: int
) -> Iterator[tuple[Asked, Row]]:
    """Yield the questions with what is known of each."""
    rows = solve_rows(
        [each.task for each in asked],
        jobs=jobs,
        timeout=timeout,
        memory=MEMORY_MIB,
        reduce=WAYS[way],
    )
    for row in rows:
        yield asked[row["task"]], row


def by_spin(asked: Sequence[Asked], timeout: float) -> Iterator[tuple[Asked, Row]]:
    """Yield the questions with what Spin makes of each."""
    for each in asked:
        network, formula = load(each.task.system), each.task.formula
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = run_spin(
                    network,
                    reduce=False,
                    workdir=Path(folder),
                    timeout=timeout,
                    compile_timeout=COMPILE_SECONDS,
                    memory_mib=MEMORY_MIB,
                    formula=str(formula.spot),
                )
            except SpinError:
                row = {"verdict": "unknown", "reason": "compilation"}
            yield each, row


def run(
    asked: Sequence[Asked], way: str, timeout: float, path: Path, jobs: int
) -> None:
    """Answer the questions that there is no row of."""
    done = {
        (row["problem"], row["property"])
        for row in record.resume(path)
        if row["way"] == way and float(row["timeout"]) == timeout
    }
    left = [each for each in asked if each.name not in done]
    found = (
        by_spin(left, timeout) if way == SPIN else by_ltlpipe(left, way, timeout, jobs)
    )
    for each, row in found:
        line = {"way": way, "problem": each.problem, "property": each.number}
        line |= {"verdict": row["verdict"], "reason": row["reason"]}
        line |= {"expected": each.task.expected, "states": row.get("states")}
        seconds = row.get("seconds", 0.0)  # none where a way is refused
        line |= {"seconds": round(float(seconds), 3), "timeout": timeout}
        record.append(path, line)


def contradictions(rows: Iterable[dict[str, str]]) -> list[str]:
    """Return the questions with different answers."""
    answers: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        told = answers.setdefault((row["problem"], row["property"]), set())
        told |= {row["verdict"], row["expected"]} - {"unknown", ""}
    return [" ".join(name) for name, told in answers.items() if len(told) > 1]


def twice(rows: Iterable[dict[str, str]]) -> pd.DataFrame:
    """Return for each problem how many verdicts come from ways that share little.

    Columns: ``problem``, ``properties`` asked, ``decided``, ``twice`` (by two ways or
    more that share little code) and ``single``, the numbers of those decided once.
    """
    table = pd.DataFrame(rows)
    table = table[table["way"] != "auto"]
    table["kin"] = table["way"].replace(KIN)
    kin = table["kin"].where(table["verdict"] != "unknown")
    found = kin.groupby([table["problem"], table["property"].astype(int)]).nunique()
    return pd.DataFrame(
        {
            "problem": problem,
            "properties": len(of_problem),
            "decided": int((of_problem > 0).sum()),
            "twice": int((of_problem > 1).sum()),
            "single": " ".join(
                str(number) for (_, number), n in of_problem.items() if n == 1
            ),
        }
        for problem, of_problem in found.groupby(level="problem")
    )


def draw(rows: list[dict[str, str]], path: Path) -> None:
    """Plot how many questions each way decides within how many seconds each."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "rers_ways"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for way in (*WAYS, SPIN):
        of_way = [row for row in rows if row["way"] == way]
        if of_way:
            decided = [r for r in of_way if r["verdict"] != "unknown"]
            seconds = sorted(max(float(r["seconds"]), 1e-3) for r in decided)
            label = f"{way} ({len(seconds)} of {len(of_way)})"
            axes.plot(range(1, len(seconds) + 1), seconds, label=label)
    axes.set(yscale="log", xlabel="properties decided", ylabel="seconds for each")
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--ways", default=",".join((*WAYS, SPIN)))
    parser.add_argument("--problems", default="", metavar="SET/NUMBER,...")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    problems = [name for name in chosen.problems.split(",") if name]
    asked = asked_of(data, problems)[:: chosen.every]
    path = chosen.out / "rers_ways.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    for way in chosen.ways.split(","):
        if way == SPIN and not available():
            print("spin: skipped, Spin or gcc is not installed", flush=True)
            continue
        run(asked, way, chosen.timeout, path, chosen.jobs)
        rows = [row for row in record.resume(path) if row["way"] == way]
        n_decided = sum(row["verdict"] != "unknown" for row in rows)
        print(way, n_decided, "of", len(rows), flush=True)
    rows = record.resume(path)
    draw(rows, chosen.out / "rers_ways.svg")
    agreed = twice(rows)
    record.write(chosen.out / "rers_twice.csv", agreed.to_dict("records"), of=rows)
    print(agreed.to_string(index=False))
    if wrong := contradictions(rows):
        raise SystemExit(f"different answers: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
