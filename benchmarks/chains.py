"""Few components of many: copies of a network in a chain, and properties of one copy.

The copies of a network are renamed (action ``a`` of copy k is ``a_k``), and two local
actions of each are synchronised with two of the next.  A property is about one copy, so
its components should be enough for a proof, however long the chain is.  ``chains.csv``
has a row for each property and way: its verdict, CPU time, and the components that
`subset` has needed.  Verdicts of the ways have to agree; the exit code is 1 if not.

    python -m benchmarks.chains [--network FILE --formulas FILE] [--copies 1 9]
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ltlpipe
from benchmarks import record
from ltlpipe import Network
from ltlpipe.logic.formula_files import read_formulas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WAYS = ("auto", "subset", "alphabet,components", "alphabet,ample")
MORE = ("GF l0 -> GF l1", "F(l5) -> (!l4 U (l5 | l6))")
"""Properties of problem 103 of 2020 that hold, and that single states do not show."""


def chained(network: Network, n: int, seed: int = 1) -> Network:
    """Return n copies of a network, each with two actions in common with the next."""
    users = Counter(
        name for c in network.components for name in c.labels if name not in c.internal
    )
    local = sorted(name for name, number in users.items() if number == 1)
    rng = random.Random(seed)
    components, shared = [], dict[str, str]()
    for k in range(n):
        names = {name: f"{name}_{k}" for name in users} | shared
        chosen = rng.sample(local, 4)
        shared = {b: names[a] for a, b in zip(chosen[:2], chosen[2:], strict=True)}
        for component in network.components:
            labels = tuple(
                name if name in component.internal else names[name]
                for name in component.labels
            )
            name = f"{component.name}_{k}"
            components.append(replace(component, labels=labels, name=name))
    return Network(components, f"{Path(network.name).stem} x {n}")


def asked_of(texts: Sequence[str], chain: Network, n: int) -> Iterator[str]:
    """Yield properties, each of the next copy that has its actions."""
    known = chain.action_index
    for number, text in enumerate(texts):
        for k in range(n):
            own = (number + k) % n
            named = re.sub(r"\b(l\d+)\b", rf"\1_{own}", text)
            if all(name in known for name in re.findall(r"\bl\d+_\d+\b", named)):
                yield named
                break


def main() -> int:
    """Ask all and write the table; return the exit code."""
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    problem = data / "rers" / "2020" / "problem103"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default=f"{problem}.dot")
    parser.add_argument("--formulas", default=f"{problem}-properties.txt")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 9])
    parser.add_argument("--first", type=int, default=10, help="formulas of the file")
    parser.add_argument("--cpu-time", type=float, default=20.0)
    parser.add_argument("--out", type=Path, default=record.RESULTS / "chains.csv")
    chosen = parser.parse_args()
    network = ltlpipe.load(chosen.network)
    listed = read_formulas(chosen.formulas)[: chosen.first]
    texts = [*MORE, *(formula.text for formula in listed)]
    rows, differing = [], 0
    for n in chosen.copies:
        chain = chained(network, n)
        for asked in asked_of(texts, chain, n):
            verdicts = set()
            for way in WAYS:
                rows.append(row := answered(chain, asked, way, chosen.cpu_time))
                print(*row.values(), flush=True)
                verdicts |= {row["verdict"]} - {"unknown"}
            differing += len(verdicts) > 1
    record.write(chosen.out, rows)
    return int(differing > 0)


def answered(chain: Network, asked: str, way: str, cpu_time: float) -> dict[str, Any]:
    """Return the row of one property and way."""
    row: dict[str, Any] = {
        "system": chain.name,
        "components": len(chain.components),
        "formula": asked,
        "way": way,
    }
    # Each question begins anew: what is composed for one would serve the others.
    limits: dict[str, Any] = {"cpu_time": cpu_time, "memory": "3GiB", "share": 0}
    try:
        found = ltlpipe.check(chain, asked, reduce=way, **limits)
    except ltlpipe.UnsupportedError as error:
        return row | {"verdict": "unknown", "reason": str(error)}
    stats = found.stats
    return row | {
        "verdict": found.verdict,
        "reason": found.reason,
        "strategy": found.plan.strategy,
        "needed": stats.details.get("subset"),
        "states": stats.states,
        "cpu_seconds": round(stats.cpu_seconds, 2),
        "steps": None if found.lasso is None else len(found.lasso.actions),
    }


if __name__ == "__main__":
    raise SystemExit(main())
