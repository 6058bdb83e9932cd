"""Random networks of Büchi automata: decoupled search, explicit search, Spin.

The experiment of Figs. 11 and 12 of Gnad et al. (CAV 2021, Sec. 6): networks of 2 to
8 components of 15 to 100 states, with 0 %, 20 %, ..., 80 % of internal transitions,
`count` of each number of components and ratio.  The table grows by a row as a task
is done; the first network of every cell comes before the second of any, and the
cells come in a random order, so that what there is at an end that came early is
balanced.

``decoupled_scatter.svg`` has a point per network, ``decoupled_coverage.svg`` how many
each way answers (part of `benchmarks.decoupled`).
"""

from __future__ import annotations

import random
import statistics
import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import decoupled_plots, record
from benchmarks.tasks import SPIN, TOO_LATE, Limits, Options, Task, answers, ours
from ltlpipe.families.networks import random_network

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ltlpipe import Network

WAYS: dict[str, Options] = {
    "decoupled": {"reduce": "decoupled"},
    "couvreur99": {"emptiness": "couvreur99", "reduce": "none"},
    "se05": {"emptiness": "se05", "reduce": "none"},
    "auto": {},
    "spin": SPIN,
}
EXPLICIT = ("couvreur99", "se05")
RATIOS = (0.0, 0.2, 0.4, 0.6, 0.8)
COMPONENTS = (2, 3, 4, 5, 6, 7, 8)
STATES = (15, 100)
SMALL = (4, 6)  # states of a component where nothing is measured
WARM_SEEDS = range(12)  # has networks with and without accepting runs


class Key(NamedTuple):
    """What a row is about."""

    components: int
    ratio: float
    seed: int
    way: str

    @property
    def network(self) -> tuple[int, float, int]:
        """What all ways are asked about."""
        return self[:3]


Cell = tuple[int, float]  # components, ratio
Table = dict[Key, dict[str, Any]]


def make(
    n_states: tuple[int, int], components: int, ratio: float, seed: int
) -> Network:
    """Draw the network of a row."""
    return random_network(components, seed=seed, local_ratio=ratio, n_states=n_states)


def run(chosen: argparse.Namespace, limits: Limits) -> list[str]:
    """Measure what is missing, plot, and return disagreements."""
    ways = [way for way in chosen.ways if chosen.spin or WAYS[way] is not SPIN]
    keys = [
        Key(n, ratio, seed, way)
        for seed in range(chosen.seed, chosen.seed + chosen.count)
        for n, ratio in shuffled(seed, product(chosen.components, chosen.ratios))
        for way in ways
    ]
    path = chosen.out / "decoupled_random.csv"
    if not chosen.resume:
        path.unlink(missing_ok=True)
    table = known(path, limits)
    left = [key for key in keys if key not in table]
    print(f"{len(table)} rows are there, {len(left)} to do", flush=True)
    draw = partial(make, SMALL if chosen.quick else STATES)
    _warm(ways)
    end = None if chosen.budget is None else time.monotonic() + chosen.budget
    tasks = [
        Task(
            partial(draw, *key.network),
            None,
            WAYS[key.way],
            limits,
            begin_before=end,
        )
        for key in left
    ]
    for number, row in answers(tasks, chosen.jobs):
        key = left[number]
        if row["reason"] == TOO_LATE:
            continue
        record.append(path, key._asdict() | row)
        table[key] = row
        print(*key, row["verdict"], row["reason"], row["seconds"], flush=True)
    whole = complete(table, ways)
    summarise(whole)
    decoupled_plots.draw_scatter(whole, chosen.out / "decoupled_scatter.svg", limits)
    decoupled_plots.draw_coverage(whole, chosen.out / "decoupled_coverage.svg", limits)
    return disagreements(table)


def shuffled(seed: int, cells: Iterable[Cell]) -> list[Cell]:
    """Return cells in a random order, so that the hard ones do not come last."""
    listed = list(cells)
    random.Random(seed).shuffle(listed)
    return listed


def known(path: Path, limits: Limits) -> Table:
    """Return the rows of a table that were measured with these limits."""
    table = {}
    for row in record.resume(path):
        if (float(row["timeout"]), int(row["limit_mib"])) == limits:
            key = Key(
                int(row["components"]),
                float(row["ratio"]),
                int(row["seed"]),
                row["way"],
            )
            table[key] = row | {"seconds": float(row["seconds"])}
    return table


def _warm(ways: Iterable[str]) -> None:
    """Compile here what the workers' tasks are not to wait for."""
    for seed in WARM_SEEDS:
        draw = partial(make, SMALL, 4, 0.4, seed)
        for way in ways:
            if WAYS[way] is not SPIN:
                ours(Task(draw, None, WAYS[way], Limits(60.0, 1024)))


def complete(table: Table, ways: Sequence[str]) -> Table:
    """Return the rows about networks on which all ways have been measured."""
    networks = {key.network for key in table}
    done = {n for n in networks if all(Key(*n, way) in table for way in ways)}
    return {key: row for key, row in table.items() if key.network in done}


def disagreements(table: Table) -> list[str]:
    """Return networks that are said to have and not to have an accepting run."""
    verdicts: dict[tuple[int, float, int], dict[str, list[str]]] = {}
    for key, row in table.items():
        if row["verdict"] != "unknown":
            said = verdicts.setdefault(key.network, {})
            said.setdefault(row["verdict"], []).append(key.way)
    return [f"random {net}: {said}" for net, said in verdicts.items() if len(said) > 1]


def solved(table: Table, way: str) -> dict[tuple[int, float, int], float]:
    """Return the networks that a way has answered, and in how many seconds."""
    return {
        key.network: row["seconds"]
        for key, row in table.items()
        if key.way == way and row["verdict"] != "unknown"
    }


def summarise(table: Table) -> None:
    """Print how many each way answers, and how decoupled search compares."""
    networks = {key.network for key in table}
    decoupled = solved(table, "decoupled")
    for what, some in {
        "all": networks,
        "40 % internal and 5 components at least": {
            net for net in networks if net[0] >= 5 and net[1] >= 0.4
        },
    }.items():
        print(f"{what}: {len(some)} networks, {len(some & set(decoupled))} decoupled")
        for way in {key.way: None for key in table}:
            other = solved(table, way)
            both = some & set(other) & set(decoupled)
            alone = sorted(some & set(other) - set(decoupled))
            print(f"  {way}: {len(some & set(other))} solved, not decoupled: {alone}")
            if both and way != "decoupled":
                factor = statistics.geometric_mean(
                    max(other[net], 1e-4) / max(decoupled[net], 1e-4) for net in both
                )
                print(f"    both {len(both)}: decoupled {factor:.3g} times as fast")
    compare_coverage(table)


def compare_coverage(table: Table) -> None:
    """Print which networks decoupled search and the plan answer, and explicit not."""
    explicit = set().union(*(solved(table, way) for way in EXPLICIT))
    for way in ("decoupled", "auto"):
        answered = set(solved(table, way))
        for what, some in {
            f"{way}, not explicit": answered - explicit,
            f"explicit, not {way}": explicit - answered,
        }.items():
            print(f"{what}: {len(some)} networks")
            for net in sorted(some):
                print(f"  {net[0]} components, ratio {net[1]:g}, seed {net[2]}")
