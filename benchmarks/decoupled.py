"""Decoupled search beside explicit search and Spin, all in one run.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6.  Three parts:

``scaling``
    its Fig. 10: philosophers and the ring with growing numbers of components, none
    with an accepting run; decoupled search, explicit ``se05`` (nothing else helps:
    ample sets do not apply to the acceptance of components), Spin with its
    partial-order reduction, and Cunf where it is installed (`benchmarks.cunf`), each
    until it first hits a limit.  Medians of several runs, to
    ``decoupled_scaling.csv``.
``random``
    its Figs. 11 and 12 (`benchmarks.decoupled_random`), to ``decoupled_random.csv``.
``ltl``
    interruptible formulas on networks without acceptance, likewise of growing size:
    decoupled search for SCCs and nested, ample sets, components reduced first, what
    is chosen by itself, and no reduction, to ``decoupled_ltl.csv``.

Every task has limits and runs in a worker of its own (`benchmarks.tasks`).  The
ways of one question must agree; if they do not, the script goes on, says where, and
fails at its end.  The measurements of the source took 15 minutes a task; ours take
a minute by default, and days for all of `random`.  Ten networks of each number of
components and each ratio take half a day::

    python -m benchmarks.decoupled --part random --count 10

A sample that ends in twenty minutes on two cores, balanced over all of them::

    python -m benchmarks.decoupled --part random --count 2 --timeout 10 \
        --jobs 2 --budget 1100

and more of either later, in the same table: the same with ``--resume``.

    python -m benchmarks.decoupled
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import cunf, decoupled_random, por, record, spin
from benchmarks.tasks import CUNF, SPIN, Limits, Options, Task, answers, medians, ours
from ltlpipe.families.networks import philosophers, random_network, ring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe import Network

SCALING: dict[str, Options] = {
    "decoupled": {"reduce": "decoupled"},
    "se05": {"emptiness": "se05", "reduce": "none"},
    "spin": SPIN,
    "cunf": CUNF,
}
LTL: dict[str, Options] = {
    "none": {"reduce": "none"},
    "ample": {"reduce": "alphabet,ample"},
    "components": {"reduce": "alphabet,components,ample"},
    "decoupled": {"reduce": "alphabet,decoupled"},
    "decoupled-ndfs": {"reduce": "alphabet,decoupled", "emptiness": "decoupled-ndfs"},
    "auto": {},
}
PHILOSOPHERS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 30, 50]
RING = [3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 20, 30, 50, 75, 100, 150, 200]
SLOW = 5.0  # seconds of a task that is measured once

PARTS = ("scaling", "random", "ltl")


class Case(NamedTuple):
    """A question of a family that grows with n."""

    family: str
    n: int
    make: Callable[[], Network]
    formula: str | None = None
    expected: float | None = None  # states, about
    grows: bool = True  # with n, evenly

    @property
    def kind(self) -> tuple[str, str | None]:
        """What does not grow."""
        return self.family, self.formula


def scaling_cases(most: int | None = None) -> Iterator[Case]:
    """Yield the two families of Fig. 10, with the `most` smallest numbers."""
    for make, base, sizes in ((philosophers, 4.65, PHILOSOPHERS), (ring, 5.0, RING)):
        for n in sizes[:most]:
            yield Case(make.__name__, n, partial(make, n), expected=base**n)


def ltl_cases(most: int | None = None) -> Iterator[Case]:
    """Yield families with interruptible formulas, `most` numbers of components each.

    Of the families' formulas all but the last hold; on random networks as they come.
    """
    families: dict[str, tuple[Callable[[int], Network], list[int], list[str]]] = {
        "philosophers": (
            philosophers,
            [3, 6, 8, 9, 10, 11],
            ["G(eat0 -> X(!eat0 W think0))", "GF eat0 -> GF think0", "GF eat0"],
        ),
        "ring": (
            ring,
            [3, 5, 7, 8, 9, 10, 20, 50],
            ["G(enter0 -> X G !enter0)", "GF l1 -> GF(up0 | down0)", "GF l1 -> GF up0"],
        ),
        "workers": (
            partial(por.workers, k=10),
            [3, 4, 5, 6, 8, 10],
            ["G(hand0 -> F again)", "GF again -> GF work0_0", "!GF again"],
        ),
    }
    for family, (make, sizes, formulas) in families.items():
        for n in sizes[:most]:
            for formula in formulas:
                yield Case(family, n, partial(_plain, make, n), formula)
    for n in (3, 4, 5, 6, 8)[:most]:
        for ratio in (0.8,) if most else (0.2, 0.5, 0.8):
            make_one = partial(_plain_random, n, ratio)
            for formula in por.telling(make_one()):
                yield Case(f"random {ratio}", n, make_one, formula, grows=False)


def _plain(make: Callable[[int], Network], n: int) -> Network:
    return por.plain(make(n))


def _plain_random(n: int, ratio: float) -> Network:
    return por.plain(random_network(n, seed=n, local_ratio=ratio))


def compare(
    case: Case, ways: dict[str, Options], limits: Limits, runs: int
) -> dict[str, dict[str, Any]]:
    """Measure all ways in turn, so that a slow minute hits all."""
    taken: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(runs):
        again = [w for w in ways if not taken[w] or taken[w][0]["seconds"] < SLOW]
        tasks = [
            Task(case.make, case.formula, ways[way], limits, case.expected)
            for way in again
        ]
        for number, row in answers(tasks):
            taken[again[number]].append(row)
    return {way: medians(rows) for way, rows in taken.items()}


def grown(
    cases: Iterator[Case], ways: dict[str, Options], limits: Limits, runs: int
) -> Iterator[dict[str, Any]]:
    """Yield a row per case and way, until a way hits a limit in a smaller case."""
    beyond: set[tuple[Any, str]] = set()
    for case in cases:
        left = {
            way: options
            for way, options in ways.items()
            if (case.kind, way) not in beyond
        }
        network = case.make()
        for way, row in compare(case, left, limits, runs).items():
            if case.grows and row["verdict"] == "unknown":
                beyond.add((case.kind, way))
            yield {
                "family": case.family,
                "n": case.n,
                "system": network.name,
                "components": len(network.components),
                "formula": case.formula,
                "way": way,
            } | row


def checked(
    rows: Iterator[dict[str, Any]], disagreeing: list[str]
) -> list[dict[str, Any]]:
    """Print and return rows; note questions that have two answers."""
    seen: dict[tuple[str, str | None], str] = {}
    kept = []
    for row in rows:
        kept.append(row)
        print(
            f"{row['family']:12} {row['n']:3} {row['formula'] or '':32.32}"
            f" {row['way']:15}"
            f"{row['verdict']:9} {row['reason'] or '':8.40} {row['states'] or '':>10}"
            f" {row['seconds']:>9} s {row['memory_mib'] or '':>9} MiB",
            flush=True,
        )
        question = f"{row['system']}-{row['family']}", row["formula"]
        if row["verdict"] not in ("unknown", cunf.COMPLETE):
            verdict = seen.setdefault(question, row["verdict"])
            if verdict != row["verdict"]:
                disagreeing.append(f"{question}: {row['way']} says {row['verdict']}")
    return kept


def warm(cases: Iterator[Case], ways: dict[str, Options]) -> None:
    """Compile here what the workers' tasks are not to wait for."""
    for case in cases:
        for options in ways.values():
            if options is not SPIN and options is not CUNF:
                ours(Task(case.make, case.formula, options, Limits(60.0, 1024)))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--count", type=int, default=150, help="of a cell of random")
    cells = decoupled_random.COMPONENTS, decoupled_random.RATIOS
    parser.add_argument("--components", type=int, nargs="*", default=cells[0])
    parser.add_argument("--ratios", type=float, nargs="*", default=cells[1])
    parser.add_argument("--seed", type=int, default=0, help="first of random")
    ways = tuple(decoupled_random.WAYS)
    parser.add_argument("--ways", nargs="*", choices=ways, default=ways, help="random")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds per task")
    parser.add_argument("--memory", type=int, default=4096, help="MiB per task")
    parser.add_argument("--runs", type=int, default=3, help="of scaling and ltl")
    parser.add_argument("--jobs", type=int, default=1, help="random tasks at once")
    parser.add_argument("--budget", type=float, help="seconds, then random stops")
    parser.add_argument("--resume", action="store_true", help="go on with random")
    parser.add_argument("--no-spin", action="store_true")
    parser.add_argument("--quick", action="store_true", help="smallest systems only")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.count, chosen.runs = 1, 1
        chosen.components, chosen.ratios = [2, 4], [0.4]
        chosen.timeout, chosen.memory = min(chosen.timeout, 20.0), 1024
    chosen.spin = spin.available() and not chosen.no_spin
    return chosen


def main() -> None:
    chosen = parsed()
    limits = Limits(chosen.timeout, chosen.memory)
    disagreeing: list[str] = []
    if "scaling" in chosen.part:
        missing = [SPIN] * (not chosen.spin) + [CUNF] * (not cunf.available())
        ways = {w: o for w, o in SCALING.items() if all(o is not m for m in missing)}
        warm(scaling_cases(2), ways)
        cases = scaling_cases(2 if chosen.quick else None)
        rows = checked(grown(cases, ways, limits, chosen.runs), disagreeing)
        record.write(chosen.out / "decoupled_scaling.csv", rows)
    if "random" in chosen.part:
        disagreeing += decoupled_random.run(chosen, limits)
    if "ltl" in chosen.part:
        warm(ltl_cases(1 if chosen.quick else 2), LTL)
        cases = ltl_cases(1 if chosen.quick else None)
        rows = checked(grown(cases, LTL, limits, chosen.runs), disagreeing)
        record.write(chosen.out / "decoupled_ltl.csv", rows)
    if disagreeing:
        raise SystemExit("\n".join(["the ways do not agree:", *disagreeing]))


if __name__ == "__main__":
    main()
