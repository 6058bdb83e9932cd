"""Ample sets: what they save, what they cost, and where they bring nothing.

Each case is a network and an interruptible formula, searched completely where it
holds.  Without ample sets, with closed sets of components and with stubborn sets of
actions they run in turn in one run of this script, several times;
medians are written, with the factors between them.  All trim the
alphabet first, and search for the same automaton.

Families:

- `workers`: n workers do k private steps each, hand in, and begin again when all
  have.  Every interleaving of the private steps, (k + 1)^n states and more,
  against one order of them.
- `philosophers`, `ring`, leader election, and random networks with generated
  formulas as in RERS problems.
- `pairs`: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
  Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 3.3:
  in every state each component can take part in a global transition, so nothing
  can be put off.  This is where the overhead shows.

    python -m benchmarks.por
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.families.leader_election import leader_election
from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network, check
from ltlpipe.families.networks import philosophers, random_network, ring

if TYPE_CHECKING:
    from collections.abc import Iterator

SEARCHES = ("couvreur99", "se05", "dfs-weak")


def workers(n: int, k: int) -> Network:
    """Build n workers of k private steps each and the office that they report to."""
    components = []
    for i in range(n):
        steps = [(step, f"work{i}_{step}", step + 1) for step in range(k)]
        rows = [*steps, (k, f"hand{i}", k + 1), (k + 1, "again", 0)]
        components.append(LTS.from_transitions(rows, name=f"worker{i}"))
    office = [(done, f"hand{i}", done + 1) for done in range(n) for i in range(n)]
    office.append((n, "again", 0))
    components.append(LTS.from_transitions(office, name="office"))
    return Network(components, name=f"workers-{n}x{k}")


def pairs(n: int) -> Network:
    """Build n components that can always meet a neighbour, in both of their states."""
    components = []
    for i in range(n):
        other = i ^ 1
        low, high = min(i, other), max(i, other)
        rows = [(0, f"a{low}_{high}", 0), (1, f"b{low}_{high}", 1), (0, f"move{i}", 1)]
        rows.append((1, f"back{i}", 0))
        for state, label in ((0, f"c{low}_{high}"), (1, f"c{low}_{high}")):
            rows.append((state, label, state))
        components.append(LTS.from_transitions(rows, name=f"component{i}"))
    return Network(components, name=f"pairs-{n}")


def plain(network: Network) -> Network:
    """Return a network without acceptance."""
    parts = [replace(part, accepting=None) for part in network.components]
    return Network(parts, name=network.name)


def cases(largest: int) -> Iterator[tuple[str, Network, str]]:
    """Yield family, network and formula; `largest` is 1, 2 or 3."""
    for n in (3, 4, 5, 6)[: largest + 1]:
        yield "workers", workers(n, 10), "G(hand0 -> F again)"
    for n in (6, 8, 9)[:largest]:
        yield "philosophers", plain(philosophers(n)), "G(eat0 -> X(!eat0 W think0))"
    for n in (5, 7, 8)[:largest]:
        yield "ring", plain(ring(n)), "G(enter0 -> X G !enter0)"
    for variant in (1, 2):
        network = leader_election(variant=variant)
        yield "leader election", network, "G(start_2 -> F(elected_2 | lost_2))"
    for n in (4, 5, 6)[:largest]:
        network = plain(random_network(n, seed=n, n_states=(8, 12)))
        for formula in telling(network):
            yield "random", network, formula
    for n in (8, 12, 16)[:largest]:
        yield "pairs", pairs(n), "G(move0 -> X(!move0 W back0))"


def telling(network: Network) -> list[str]:
    """Return generated formulas for which much of the network has to be seen."""
    names = sorted(network.action_index)
    found: list[str] = []
    for seed in range(60):
        picked = [names[(7 * seed + k) % len(names)] for k in range(3)]
        formula = random_interruptible(picked, seed=seed, depth=2)
        begun = searched(
            network, formula, "couvreur99", reduce="none", max_states=10_000
        )
        states = begun.stats.states
        if states is not None and states > 1000:
            found.append(formula)
        if len(found) == 2:
            break
    return found


def searched(network: Network, formula: str, name: str, **options: Any) -> Any:
    """Search once; returns the verdict."""
    return check(network, formula, emptiness=name, lasso=False, **options)


def measured(
    family: str, network: Network, formula: str, name: str, runs: int
) -> dict[str, Any] | None:
    """Compare one search with each kind of ample sets and none; None if it cannot."""
    from ltlpipe import UnsupportedError

    ways = {
        "full": {"reduce": "alphabet"},
        "ample": {"reduce": "alphabet,ample", "ample_sets": "components"},
        "stubborn": {"reduce": "alphabet,ample", "ample_sets": "stubborn"},
    }
    taken: dict[str, list[Any]] = {way: [] for way in ways}
    try:
        for _ in range(runs):
            for way, options in ways.items():
                found = searched(network, formula, name, acceptance="ba", **options)
                taken[way].append(found)
    except UnsupportedError:
        return None
    last = {way: found[-1] for way, found in taken.items()}
    assert len({v.verdict for v in last.values()}) == 1, (network.name, formula)
    row: dict[str, Any] = {
        "family": family,
        "system": network.name,
        "formula": formula,
        "emptiness": name,
        "verdict": last["full"].verdict,
    }
    for way, verdict in last.items():
        stats = verdict.stats
        seconds = statistics.median(v.stats.search_seconds for v in taken[way])
        row |= {
            f"{way}_states": stats.states,
            f"{way}_transitions": stats.transitions,
            f"{way}_seconds": seconds,
            f"{way}_bytes_per_state": stats.bytes_per_state,
        }
    row["reduction_factor"] = row["full_states"] / row["ample_states"]
    row["times_seconds"] = row["ample_seconds"] / row["full_seconds"]
    row["stubborn_factor"] = row["full_states"] / row["stubborn_states"]
    row["stubborn_times_seconds"] = row["stubborn_seconds"] / row["full_seconds"]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--largest", type=int, default=3, choices=(1, 2, 3))
    options = parser.parse_args()
    rows = []
    for family, network, formula in cases(options.largest):
        for name in SEARCHES:
            row = measured(family, network, formula, name, options.runs)
            if row is None:
                continue
            rows.append(row)
            print(
                f"{row['system']:22} {name:11} {row['verdict']:9}"
                f"{row['full_states']:>12,} {row['ample_states']:>10,}"
                f"{row['stubborn_states']:>10,}"
                f"  seconds x {row['times_seconds']:.2f}"
                f" {row['stubborn_times_seconds']:.2f}",
                flush=True,
            )
    record.write(options.out / "por.csv", rows)


if __name__ == "__main__":
    main()
