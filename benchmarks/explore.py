"""Complete searches of the two scaling families, beside Spin's.

For each size the searches of ltlpipe and Spin's exhaustive search run in turn,
several times, in one run of this script; medians are written, with the ratio
of the states per second to Spin's without reduction.  No run of either family
is accepting, so every state is seen.

A second table follows the cost of a state along one large system: the time to
enter its first 10**4, 10**5, ... states.

    python -m benchmarks.explore
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record, spin
from ltlpipe import check
from ltlpipe.families.networks import philosophers, ring

if TYPE_CHECKING:
    from ltlpipe import Network

FAMILIES = {"philosophers": philosophers, "ring": ring}
SEARCHES = ("couvreur99", "se05")
MIB = 1 << 20
LARGE = 3_000_000  # states beyond which Spin runs once


def ours(network: Network, name: str, **limits: Any) -> dict[str, Any]:
    """Search once; the time is that of the search alone, as Spin's is."""
    stats = check(network, empty=True, emptiness=name, **limits).stats
    assert stats.memory_mib is not None
    return {
        "states": stats.states,
        "transitions": stats.transitions,
        "max_depth": stats.max_depth,
        "seconds": stats.search_seconds,
        "memory_mib": stats.memory_mib,
    }


def spins(network: Network, *, reduce: bool, states: int) -> dict[str, Any]:
    """Search once with Spin, with a hash table that suits the number of states."""
    with tempfile.TemporaryDirectory() as folder:
        run = spin.run_spin(
            network,
            reduce=reduce,
            workdir=Path(folder),
            depth=max(10 * states, 10_000),
            memory_mib=20_000,
            timeout=1800,
            hash_bits=max(2 * states, 2).bit_length(),
        )
    return {
        "states": run["states"],
        "transitions": run["transitions"],
        "max_depth": run["max_depth"],
        "seconds": run["pan_seconds"],
        "clock": 0.01,
        "memory_mib": run["memory_mib"],
    }


def median_row(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of every figure, and what follows from them."""
    row = {key: statistics.median_low(run[key] for run in runs) for key in runs[0]}
    # Pan's clock ticks in hundredths: below ten ticks there is no rate.
    coarse = row["seconds"] < 10 * row.pop("clock", 0)
    for what in ("states", "transitions"):
        rate = None if coarse else round(row[what] / row["seconds"])
        row[f"{what}_per_second"] = rate
    row["bytes_per_state"] = round(row["memory_mib"] * MIB / row["states"], 1)
    row["seconds"] = round(row["seconds"], 4)
    row["memory_mib"] = round(row["memory_mib"], 1)
    row["runs"] = len(runs)
    return row


def compare(family: str, n: int, runs: int, spin_up_to: int) -> list[dict[str, Any]]:
    """Return one row per tool for one system."""
    network = FAMILIES[family](n)
    states = ours(network, SEARCHES[0])["states"]
    tools = {
        f"ltlpipe {name}": lambda name=name: ours(network, name) for name in SEARCHES
    }
    with_spin = spin.available() and states <= spin_up_to
    if with_spin:
        for label, reduce in (("spin", True), ("spin noreduce", False)):
            tools[label] = lambda reduce=reduce: spins(
                network, reduce=reduce, states=states
            )
    measured: dict[str, list[dict[str, Any]]] = {tool: [] for tool in tools}
    for k in range(runs):  # in turn, so that a slow minute hits all
        for tool, measure in tools.items():
            if k == 0 or states <= LARGE or tool.startswith("ltlpipe"):
                measured[tool].append(measure())
    rows = [
        {"family": family, "n": n, "components": len(network.components), "tool": tool}
        | median_row(results)
        for tool, results in measured.items()
    ]
    if with_spin:
        reference = rows[-1]["states_per_second"]
        for row in rows:
            rate = row["states_per_second"]
            row["times_spin_noreduce"] = (
                round(rate / reference, 2) if rate and reference else None
            )
    for row in rows:
        print(row, flush=True)
    return rows


def flatness(family: str, n: int, most: int, runs: int) -> list[dict[str, Any]]:
    """Return the cost per state of entering the first 10**k states of a system."""
    network = FAMILIES[family](n)
    sizes = [10**k for k in range(4, 9) if 10**k < most] + [most]
    rows = []
    for name in SEARCHES:
        for size in sizes:
            row = median_row(
                [ours(network, name, max_states=size) for _ in range(runs)]
            )
            rows.append(
                {
                    "family": family,
                    "n": n,
                    "tool": f"ltlpipe {name}",
                    "states": row["states"],
                    "nanoseconds_per_state": round(1e9 / row["states_per_second"]),
                    "nanoseconds_per_transition": round(
                        1e9 / row["transitions_per_second"], 1
                    ),
                    "runs": runs,
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--philosophers", type=int, nargs="*", default=[6, 7, 8, 9, 10, 11]
    )
    parser.add_argument("--ring", type=int, nargs="*", default=[6, 7, 8, 9, 10])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--spin-up-to", type=int, default=25_000_000, metavar="STATES")
    parser.add_argument("--flat", type=int, default=20_000_000, metavar="STATES")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    for network in (philosophers(3), ring(3)):  # compiled before it is measured
        for name in SEARCHES:
            ours(network, name)
    rows = [
        row
        for family in FAMILIES
        for n in getattr(chosen, family)
        for row in compare(family, n, chosen.runs, chosen.spin_up_to)
    ]
    record.write(chosen.out / "explore.csv", rows)
    if chosen.flat:
        rows = flatness("philosophers", 11, chosen.flat, chosen.runs)
        rows += flatness("ring", 11, chosen.flat, chosen.runs)
        record.write(chosen.out / "flatness.csv", rows)


if __name__ == "__main__":
    main()
