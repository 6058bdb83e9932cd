"""Bitstate searches beside the exact one: memory, and coverage beside the truth.

Products without an accepting run are searched whole by ``se05``, and over bit arrays of
several sizes: paths, trees, rings of states, random graphs, cubes, networks, and tasks
of BEEM and of the Model Checking Contest with so many states, some of each model.
``bitstate.csv`` has a row for each search.

``share``
    the part of the reachable states that was visited: the truth
``coverage``
    the estimate; empty where the tool says that it cannot tell
``error``
    estimate less truth
``times_less``
    memory of the exact search divided by that of the bitstate search, all arrays
``runs``
    how many searches with hash functions and orders of their own (``--swarm``); then
    ``share`` is that of what they have visited together, which is itself estimated from
    a sample of some thousand states

    python -m benchmarks.bitstate [--least 100000] [--most 1000000] [--only beem]
"""

from __future__ import annotations

import argparse
import csv
import os
import re
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import record
from ltlpipe import LTS, LtlpipeError, Network, check, load
from ltlpipe.families.networks import philosophers, random_network, ring
from ltlpipe.verdict.verdict import HOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BITS_PER_STATE = (2, 4, 8, 16, 32)
"""Sizes of the array."""

SWARMS = ((2, 5), (4, 5))
"""Bits per state, and number of searches."""

SUITES = {"beem": (".dve", "index"), "mcc": (".pnml.gz", "task")}
"""Folders of tasks: how the files of their models end, and what tells tasks apart."""

OF_MODEL = 1
"""Tasks of each model."""

TIMEOUT = 300.0
"""Seconds of a search; what takes longer is left out."""

STEP = "step"
MIB_BITS = 8 << 20

Row = dict[str, Any]


class Subject(NamedTuple):
    """A question that is answered by looking at all states."""

    kind: str
    name: str
    make: Callable[[], Any]
    formula: str | None


def graph(edges: Any) -> Network:
    """Return a system with these edges, all of one action."""
    rows = [(int(src), STEP, int(dst)) for src, dst in edges]
    return Network([LTS.from_transitions(rows)])


def path(n: int) -> Network:
    return graph((i, i + 1) for i in range(n - 1))


def tree(n: int) -> Network:
    return graph((i, j) for i in range(n) for j in (2 * i + 1, 2 * i + 2) if j < n)


def circle(n: int) -> Network:
    return graph((i, (i + 1) % n) for i in range(n))


def random_graph(n: int, degree: int) -> Network:
    ends = np.random.default_rng(degree).integers(0, n, (n, degree))
    return graph((i, j) for i in range(n) for j in sorted(set(ends[i].tolist())))


def cube(n: int) -> Network:
    """Return n components of two states, each with an action of its own."""
    sides = [LTS.from_transitions([(0, f"t{i}", 1), (1, f"t{i}", 0)]) for i in range(n)]
    return Network(sides)


def subjects(data: Path | None, least: int, most: int) -> Iterator[Subject]:
    """Yield the questions; tasks of the suites have so many states."""
    n = least + least // 5
    always = f"G {STEP}"
    yield Subject("path", f"path {n}", partial(path, n), always)
    yield Subject("tree", f"tree {n}", partial(tree, n), always)
    yield Subject("circle", f"circle {n}", partial(circle, n), always)
    for degree in (2, 3, 5):
        name = f"random graph {n}, {degree}"
        yield Subject("graph", name, partial(random_graph, n, degree), always)
    for size in (17, 20):
        actions = "|".join(f"t{i}" for i in range(size))
        yield Subject("cube", f"cube {size}", partial(cube, size), f"G({actions})")
    for size in (8, 9):
        make = partial(philosophers, size)
        yield Subject("philosophers", f"philosophers {size}", make, None)
    yield Subject("ring", "ring 9", partial(ring, 9), None)
    for seed in range(3):
        make = partial(random_network, 4, seed=seed, n_states=(20, 24))
        actions = "|".join(action.name for action in make().actions)
        yield Subject("random", f"random network {seed}", make, f"G({actions})")
    if data is not None:
        for kind in SUITES:
            yield from of_suite(data / kind, least, most)


def of_suite(folder: Path, least: int, most: int) -> Iterator[Subject]:
    """Yield some tasks of each model that have so many states, as published."""
    suffix, key = SUITES[folder.name]
    states: dict[tuple[str, str], int] = {}
    for row in table(folder / "published.csv"):
        known = row["unique_states"]
        if known and row["verdict"] == HOLDS:
            task = row["model"], row[key]
            states[task] = min(int(known), states.get(task, int(known)))
    begun: dict[str, int] = defaultdict(int)
    for row in table(folder / "tasks.csv"):
        model, index = row["model"], row[key]
        if least <= states.get((model, index), 0) <= most and begun[model] < OF_MODEL:
            begun[model] += 1
            make = partial(load, str(folder / "models" / f"{model}{suffix}"))
            yield Subject(folder.name, f"{model} {index}", make, row["formula"])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def searched(subject: Subject, **options: Any) -> Any:
    """Search once."""
    return check(
        subject.make(),
        subject.formula,
        empty=subject.formula is None,
        reduce="none",
        acceptance="ba",
        lasso=False,
        timeout=TIMEOUT,
        **options,
    )


def rows_of(subject: Subject, least: int) -> Iterator[Row]:
    """Yield the exact search and those over bits; none if violated, or small here."""
    exact = searched(subject, emptiness="se05")
    if exact.verdict != HOLDS or 2 * exact.stats.states < least:
        return
    states, mib = exact.stats.states, exact.stats.memory_mib
    about: Row = {"kind": subject.kind, "subject": subject.name}
    yield about | {
        "search": "se05",
        "states": states,
        "memory_mib": round(mib, 3),
        "bytes_per_state": round(mib * 2**20 / states, 2),
        "seconds": round(exact.stats.search_seconds, 3),
    }
    for bits, runs in [*((b, 1) for b in BITS_PER_STATE), *SWARMS]:
        array = bits * states / MIB_BITS
        found = searched(subject, bitstate=array, swarm=None if runs == 1 else runs)
        stats = found.stats
        share = min(1.0, stats.states / states)
        known = stats.coverage is not None
        yield about | {
            "search": "bitstate",
            "bits_per_state": bits,
            "runs": runs,
            "states": stats.states,
            "memory_mib": round(stats.memory_mib, 3),
            "bytes_per_state": round(stats.memory_mib * 2**20 / states, 2),
            "times_less": round(mib / stats.memory_mib, 2),
            "seconds": round(stats.search_seconds, 3),
            "omitted": round(stats.omitted, 3),
            "share": round(share, 5),
            "coverage": round(stats.coverage, 5) if known else "",
            "error": round(stats.coverage - share, 5) if known else "",
        }


def main() -> None:
    """Search and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=record.RESULTS / "bitstate.csv")
    parser.add_argument("--only", default="", help="regular expression of names")
    given = parser.parse_args()
    rows: list[Row] = []
    known = os.environ.get("LTLPIPE_BENCHMARKS")
    data = None if known is None else Path(known)
    for subject in subjects(data, given.least, given.most):
        if not re.search(given.only, f"{subject.kind} {subject.name}"):
            continue
        try:
            for row in rows_of(subject, given.least):
                print(*(f"{value}" for value in row.values()), flush=True)
                rows.append(row)
        except LtlpipeError as error:
            print(f"{subject.name}: {error}")
    columns = dict.fromkeys(column for row in rows for column in row)
    record.write(given.out, [dict.fromkeys(columns, "") | row for row in rows])


if __name__ == "__main__":
    main()
