"""Networks of few neighbours, as the challenges have them, and patterns of neighbours.

Networks of the style ``chain`` (`ltlpipe.families.rers_networks`), 20 of each size.
Each has 20 instances of the pattern catalogue, about two neighbours: half are violated
by the planned run of the network or by one of some random runs, the others by none of
them, so that most of those hold.  ``neighbours.csv`` has a row for each formula:
``known`` is the run that violates it ("planned", "random" or empty), ``steps`` the
length of that run, and then there is what the automatic choice says.  A formula that a
run violates must not hold; the exit code is 1 if one does.

``neighbours_summary.csv`` says for each size and kind of formula how many are decided.
The aims, of all formulas: 95 % for 30 components and 80 % for 70 within 60 s.

    python -m benchmarks.neighbours [--sizes 10 30 70] [--networks 20] [--cpu-time 60]
                                    [--budget SECONDS]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import ltlpipe
from benchmarks import record
from ltlpipe.batch.rers_problems import candidates
from ltlpipe.families.networks import random_lassos
from ltlpipe.families.rers_networks import STYLES, rers_network
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, interrupt_free, satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe import Network

STYLE = "chain"
N_RUNS = 60
MOST_CANDIDATES = 2_000


class Asked(NamedTuple):
    """A formula, and the run that violates it, if one of those that are known does."""

    text: str
    known: str
    steps: int | None


def chosen_formulas(
    network: Network, planned: Sequence[str], seed: int, n: int
) -> list[Asked]:
    """Return n formulas; half are violated by known runs, in turn by each kind."""
    rng = np.random.default_rng(seed)
    runs = [("planned", Word((), tuple(planned)))]
    lassos = random_lassos(network, N_RUNS, rng=rng, steps=3 * len(planned))
    runs += [("random", word) for word in lassos]
    found: dict[str, list[Asked]] = {"planned": [], "random": [], "": []}
    wanted = {"planned": n // 4, "random": n // 2 - n // 4, "": n - n // 2}
    texts = candidates(network, seed, STYLES[STYLE].reach)
    for text in islice(texts, MOST_CANDIDATES):
        asked = _judged(text, runs)
        if len(found[asked.known]) < wanted[asked.known]:
            found[asked.known].append(asked)
        if all(len(found[kind]) == wanted[kind] for kind in wanted):
            break
    return [asked for kind in found.values() for asked in kind]


def _judged(text: str, runs: list[tuple[str, Word]]) -> Asked:
    """Return a formula with the first kind of run that violates it, random ones first.

    What a random run violates is no question about the planned one.
    """
    formula = parse(text)
    for kind, run in reversed(runs):
        word = interrupt_free(run, formula.propositions)
        if not satisfies(formula.spot, word):
            return Asked(text, kind, len(run.prefix) + len(run.cycle))
    return Asked(text, "", None)


def questions(
    sizes: Sequence[int], n_networks: int, n_formulas: int
) -> Iterator[tuple[int, int, Network, Asked]]:
    """Yield size, seed, network and formula; the first network of each size first.

    Formulas of one network come in random order.
    """
    for seed in range(n_networks):
        for n in sizes:
            network, planned = rers_network(n, style=STYLE, seed=seed)
            asked = chosen_formulas(network, planned, seed, n_formulas)
            for one in random.Random(seed).sample(asked, len(asked)):
                yield n, seed, network, one


def answered(network: Network, text: str, cpu_time: float) -> dict[str, Any]:
    """Return the columns about an answer."""
    # Each question begins anew: what is composed for one would serve the others.
    found = ltlpipe.check(network, text, cpu_time=cpu_time, memory="3GiB", share=0)
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "strategy": found.plan.strategy,
        "needed": found.stats.details.get("subset"),
        "states": found.stats.states,
        "cpu_seconds": round(found.stats.cpu_seconds, 2),
        "found_steps": None if found.lasso is None else len(found.lasso.actions),
    }


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each size and kind, and one for all kinds of a size."""
    lines = []
    for n in sorted({int(row["components"]) for row in rows}):
        of_size = [row for row in rows if int(row["components"]) == n]
        for kind in ("all", "planned", "random", "none"):
            of_kind = [r for r in of_size if kind in ("all", r["known"] or "none")]
            if not of_kind:
                continue
            decided = [r for r in of_kind if r["verdict"] != "unknown"]
            spent = [float(r["cpu_seconds"]) for r in decided]
            lines.append(
                {
                    "components": n,
                    "violated_by": kind,
                    "formulas": len(of_kind),
                    "decided": len(decided),
                    "holds": sum(r["verdict"] == "holds" for r in of_kind),
                    "percent": round(100 * len(decided) / len(of_kind), 1),
                    "median_cpu_seconds": statistics.median(spent) if spent else None,
                }
            )
    return lines


def main() -> int:
    """Ask what is not in the table yet, and sum up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 70])
    parser.add_argument("--networks", type=int, default=20)
    parser.add_argument("--formulas", type=int, default=20)
    parser.add_argument("--cpu-time", type=float, default=60.0)
    parser.add_argument("--budget", type=float, metavar="SECONDS")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    path, began = chosen.out / "neighbours.csv", time.monotonic()
    done = {(r["network"], r["formula"]) for r in record.resume(path)}
    for n, seed, network, one in questions(
        chosen.sizes, chosen.networks, chosen.formulas
    ):
        if (network.name, one.text) in done:
            continue
        if chosen.budget is not None and time.monotonic() - began > chosen.budget:
            break
        row = {
            "network": network.name,
            "components": n,
            "seed": seed,
            "formula": one.text,
            "known": one.known,
            "steps": one.steps,
            "limit": chosen.cpu_time,
        }
        row |= answered(network, one.text, chosen.cpu_time)
        record.append(path, row)
        print(*row.values(), flush=True)
    rows = record.resume(path)
    record.write(path.with_name("neighbours_summary.csv"), summary(rows), of=rows)
    wrong = [r for r in rows if r["known"] and r["verdict"] == "holds"]
    for row in wrong:
        print(f"VIOLATED BY A KNOWN RUN: {row['network']}: {row['formula']}")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
