"""Component reduction on parallel problems of growing size.

Two tables:

- ``components.csv``: problems like those of RERS (`generate rers`), each formula with
  each of the reductions, in turn in one run.  Formulas are drawn from the pattern
  catalogue as they come.  ``components.svg`` is the cactus plot: how many questions
  each way answers in how many seconds each.  Spin explores the whole network where it
  can be written as Promela (labels of two components at most), once per problem: what
  a formula that holds asks of it, without the formula.  The table grows with each
  question that is answered, and those that it has are not asked again: `--problems`,
  `--ways` and `--timeout` add some.
- ``merging.csv``: networks whose common labels are on pairs of transitions drawn
  without any plan, with three random visible actions: sparse ones with a hundred
  components, and dense ones with thirty and sixty pairs.  One question each.  Seconds
  of the question are with every reduction that is used without being asked for.

    python -m benchmarks.components [--problems random-dense/30] [--ways auto]
                                    [--timeout 20]
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.spin import available, run_spin
from ltlpipe import LTS, Network, check
from ltlpipe.components.alphabet import trim
from ltlpipe.components.merger import Limit, n_composed, reduce_components
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.generating import instances
from ltlpipe.runtime.jobs import run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

WAYS = {
    "none": "none",
    "ample": "alphabet,ample",
    "components": "alphabet,components",
    "components+ample": "alphabet,components,ample",
    "auto": "auto",
}
SPIN = "spin, whole network"
SIZES = {
    "random-pairs": (5, 10, 20, 30, 60),
    "random-dense": (5, 8, 10, 12, 15, 30, 60, 100),
}


def problems(
    chosen: Collection[str], largest: int, n_formulas: int
) -> Iterator[tuple[str, Network, list[str]]]:
    """Yield style, network and formulas; `largest` bounds the components."""
    for style, sizes in SIZES.items():
        for n in sizes:
            if n <= largest and (not chosen or f"{style}/{n}" in chosen):
                network = rers_network(n, style=style, seed=n).network
                names = [action.name for action in network.actions]
                yield style, network, list(islice(instances(names, seed=n), n_formulas))


def asked(
    style: str,
    network: Network,
    formulas: list[str],
    ways: Iterable[str],
    timeout: float,
    done: Collection[tuple[str, ...]],
) -> Iterator[dict[str, Any]]:
    """Yield a row per formula and way, unless it is `done`."""
    # Formulas share what is known of one network object, ways shall not.
    own = {way: Network(network.components, network.name) for way in WAYS}
    n = len(network.components)
    for number, formula in enumerate(formulas, start=1):
        for way in ways:
            if (style, str(n), str(number), way, str(timeout)) in done:
                continue
            verdict = check(
                own[way], formula, reduce=WAYS[way], timeout=timeout, memory=4096
            )
            stats = verdict.stats
            yield {
                "style": style,
                "components": n,
                "formula": number,
                "way": way,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "states": stats.states,
                "largest_composition": stats.details.get("largest_composition"),
                "seconds": round(stats.seconds, 4),
                "timeout": timeout,
            }


def disagreements(rows: Iterable[dict[str, str]]) -> list[str]:
    """Return the questions to which there are different answers."""
    told = defaultdict(set)
    for row in rows:
        if row["verdict"] in ("holds", "violated"):
            told[question_of(row)].add(row["verdict"])
    return ["/".join(question) for question, said in told.items() if len(said) > 1]


def question_of(row: dict[str, str]) -> tuple[str, ...]:
    """Return style, number of components and number of the formula."""
    return row["style"], row["components"], row["formula"]


def explored_by_spin(network: Network, timeout: float) -> dict[str, Any]:
    """Return Spin's row: the whole network, whatever the formula."""
    with tempfile.TemporaryDirectory() as folder:
        found = run_spin(network, reduce=True, workdir=Path(folder), timeout=timeout)
    return {
        "formula": None,
        "way": SPIN,
        "verdict": "explored" if found["verdict"] == "holds" else "unknown",
        "reason": found["reason"],
        "states": found.get("states"),
        "largest_composition": None,
        "seconds": round(float(str(found["seconds"])), 4),
        "timeout": timeout,
    }


def unplanned(n: int, n_pairs: int, seed: int) -> Network:
    """Build unions of cycles, every transition with its own label, and join pairs."""
    rng = random.Random(seed)
    components = []
    for i in range(n):
        rows: list[tuple[int, str, int]] = []
        n_states = 1
        for _ in range(rng.randint(2, 4)):
            at = start = rng.randrange(n_states)
            for _ in range(rng.randint(3, 8) - 1):
                rows.append((at, f"c{i}_{len(rows)}", n_states))
                at, n_states = n_states, n_states + 1
            rows.append((at, f"c{i}_{len(rows)}", start))
        components.append(rows)
    joined: set[tuple[int, int]] = set()
    while len(joined) < 2 * n_pairs:
        ends = [(i, rng.randrange(len(components[i]))) for i in rng.sample(range(n), 2)]
        if joined.isdisjoint(ends):
            for i, k in ends:
                src, _, dst = components[i][k]
                components[i][k] = (src, f"s{len(joined) // 2}", dst)
            joined |= set(ends)
    name = f"unplanned-{n}-{n_pairs}-{seed}"
    return Network([LTS.from_transitions(rows) for rows in components], name)


def merged(n: int, n_pairs: int, seed: int, timeout: float) -> dict[str, Any]:
    """Reduce one unplanned network, and answer one question about it."""
    network = unplanned(n, n_pairs, seed)
    trimmed = run(trim(network))
    happening = sorted({name for c in trimmed.components for name in used(c)})
    rng = random.Random(seed)
    a, b, c = rng.sample(happening, 3)
    started = time.perf_counter()
    reduced = run(reduce_components(trimmed, [a, b, c], Limit()))
    seconds = time.perf_counter() - started
    verdict = check(
        network,
        f"G({a} -> F({b} | {c}))",
        timeout=timeout,
        memory=8192,
    )
    return {
        "components": n,
        "pairs": n_pairs,
        "seed": seed,
        "reduction_seconds": round(seconds, 3),
        "largest_composition": reduced.largest,
        "groups": len(reduced.groups),
        "log10_of_states_left": round(math.log10(n_composed(reduced.groups)), 1),
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "states": verdict.stats.states,
        "seconds": round(verdict.stats.seconds, 3),
        "timeout": timeout,
    }


def used(component: LTS) -> set[str]:
    """Return the labels that a component has transitions with."""
    return {component.labels[k] for k in set(component.label.tolist())}


def draw_cactus(rows: list[dict[str, str]], path: Path) -> None:
    """Plot how many questions that all ways were asked each answers in how long."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    of_way = {
        way: {(*question_of(r), r["timeout"]): r for r in rows if r["way"] == way}
        for way in WAYS
    }
    common = set.intersection(*(set(known) for known in of_way.values()))
    for way, known in of_way.items():
        seconds = sorted(
            max(float(known[question]["seconds"]), 1e-4)
            for question in common
            if known[question]["verdict"] != "unknown"
        )
        axes.plot(range(1, len(seconds) + 1), seconds, label=f"{way} ({len(seconds)})")
    axes.set(
        yscale="log",
        xlabel="questions answered",
        ylabel="seconds for each",
        title="Parallel problems of 5 to 60 components",
    )
    axes.legend(title="reductions")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=_words, default=[], metavar="STYLE/N,...")
    parser.add_argument("--ways", type=_words, default=[], help="all by default")
    parser.add_argument("--largest", type=int, default=100, help="components")
    parser.add_argument("--formulas", type=int, default=20, help="per problem")
    parser.add_argument("--timeout", type=float, default=3.0, help="seconds")
    parser.add_argument("--seeds", type=int, default=20, help="unplanned networks")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    warm = unplanned(4, 4, 0)
    for reduce in WAYS.values():
        check(warm, f"GF {warm.actions[0].name}", reduce=reduce)
    if not chosen.problems:
        measure_unplanned(chosen)
    measure(chosen)


def _words(text: str) -> list[str]:
    return text.split(",")


def measure_unplanned(chosen: argparse.Namespace) -> None:
    """Write merging.csv."""
    rows = []
    for n, n_pairs, share in ((30, 45, 1), (30, 60, 1), (60, 90, 2), (100, 150, 4)):
        for seed in range(-(-chosen.seeds // share) if n <= chosen.largest else 0):
            rows.append(merged(n, n_pairs, seed, 60.0))
            print(rows[-1], flush=True)
    record.write(chosen.out / "merging.csv", rows)


def measure(chosen: argparse.Namespace) -> None:
    """Add what is asked for to components.csv, and draw it."""
    path = chosen.out / "components.csv"
    ways = [way for way in (*WAYS, SPIN) if not chosen.ways or way in chosen.ways]
    done = {
        (*question_of(row), row["way"], row["timeout"]) for row in record.resume(path)
    }
    for style, network, formulas in problems(
        chosen.problems, chosen.largest, chosen.formulas
    ):
        n = len(network.components)
        asking = [way for way in ways if way != SPIN]
        for row in asked(style, network, formulas, asking, chosen.timeout, done):
            record.append(path, row)
        spin_row = (style, str(n), "", SPIN, str(chosen.timeout))
        if (
            style == "random-pairs"
            and SPIN in ways
            and spin_row not in done
            and available()
        ):
            about = {"style": style, "components": n}
            record.append(path, about | explored_by_spin(network, chosen.timeout))
        report(path, style, n)
    rows = record.resume(path)
    if wrong := disagreements(rows):
        raise SystemExit(f"different answers: {', '.join(wrong)}")
    draw_cactus(rows, chosen.out / "components.svg")


def report(path: Path, style: str, n: int) -> None:
    """Print what each way has come to on one problem."""
    taken = [
        r
        for r in record.resume(path)
        if (r["style"], r["components"]) == (style, str(n))
    ]
    for way, timeout in dict.fromkeys((r["way"], r["timeout"]) for r in taken):
        of_way = [r for r in taken if (r["way"], r["timeout"]) == (way, timeout)]
        n_decided = sum(r["verdict"] != "unknown" for r in of_way)
        seconds = sum(float(r["seconds"]) for r in of_way)
        print(
            f"{style}/{n} {way}, {timeout} s: {n_decided} of {len(of_way)}, "
            f"{seconds:.1f} s in all",
            flush=True,
        )


if __name__ == "__main__":
    main()
