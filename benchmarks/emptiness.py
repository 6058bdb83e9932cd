"""Every emptiness check, beside Spot's on the explicit product of the same system.

Complete searches (nothing is found): states per second and bytes per state.
Searches that find a counterexample: the time to it, and that with the accepting
run extracted.  One row per case, tool and algorithm, in ``emptiness.csv``:

``ltlpipe``
    generates the product while it searches; the time is that of the search, as
    `Verdict.stats` has it, without translation, the bytes those of all arrays.
    An algorithm that a case does not suit is left out of it.
``spot stored``
    Spot's algorithms on a ``twa_graph`` that holds just that product, in
    breadth-first order: SE05, CVWY90 and GV04 on that of the state-based Büchi
    automaton, Cou99 and Tau03 on that of the generalised one, ``is_empty()`` on
    both.  The time is that of making the check and running it; that of building
    the graph is not in it, nor are the graph's bytes in ``bytes_per_state``
    (they are in ``graph_bytes_per_state``).
``spot on the fly``
    the same through ``otf_product`` of the graph of the system and the property.

Each run of Spot has a process of its own (`benchmarks.spot_checks`); ours come
after an uncounted run that compiles.  All tools run in turn, several times (Spot's
complete searches on the fly once), and medians are written.  ``times_namesake`` is
the median time of Spot's algorithm of that name on the stored graph, divided by
the row's own: above 1 the row is faster.  ``times_is_empty`` likewise.  In
complete searches the number of states is asserted to be the graph's, and
everywhere the verdict to be the expected one.

    python -m benchmarks.emptiness
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import spot

from benchmarks import record
from benchmarks.spot_checks import (
    Subject,
    give_back,
    resident,
    run_check,
    run_is_empty,
    takes,
)
from ltlpipe import Network, UnsupportedError, check
from ltlpipe.automata.translation import spot_version
from ltlpipe.families.networks import philosophers, random_network, ring
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMESAKES = {
    "se05": "SE05",
    "cvwy92": "CVWY90",
    "gv04": "GV04",
    "couvreur99": "Cou99",
    "tauriainen03": "Tau03",
}
ON_THE_FLY = ("SE05", "Cou99")
OURS, STORED, OTF = "ltlpipe", "spot stored", "spot on the fly"
NO_PROPERTY = "-"  # in place of the kind of the property automaton
WARM = 100_000  # states of a complete search's first, uncounted run
MOST = 3  # times as many runs as asked for, at most


@dataclass(frozen=True)
class Case:
    """A question, with the answer that is known."""

    name: str
    network: Network
    formula: str | None  # None: has the network an accepting run?
    verdict: str

    @property
    def complete(self) -> bool:
        """Whether every state has to be seen."""
        return self.verdict == HOLDS


def without_acceptance(network: Network) -> Network:
    """Return the network with all its runs; a formula then brings the only marks."""
    bare = [replace(component, accepting=None) for component in network.components]
    return Network(bare, name=network.name)


def infinitely_often(*actions: str) -> str:
    return " & ".join(f"GF {action}" for action in actions)


def chain(action: str, n: int) -> str:
    """Return that `action` n-1, n-2, ... n/2 happen one after the other."""
    formula = f"{action}{n // 2}"
    for i in range(n // 2 + 1, n):
        formula = f"{action}{i} & XF({formula})"
    return f"F({formula})"


def philosophers_cases(n: int) -> Iterator[Case]:
    """Yield the largest two with `n` philosophers, the others with one less."""
    yield Case(f"philosophers {n}, empty", philosophers(n), None, HOLDS)
    network = without_acceptance(philosophers(n))
    safety = "G(eat0 -> X(!eat0 W think0))"  # its negation is terminal
    yield Case(f"philosophers {n}, safety", network, safety, HOLDS)
    n -= 1
    network = without_acceptance(philosophers(n))
    someone = "|".join(f"eat{i}" for i in range(n))
    response = f"G(lf0 -> F({someone}))"  # its negation is weak
    yield Case(f"philosophers {n}, response", network, response, HOLDS)
    last = f"eat{n - 1}"
    for kind, formula in {
        "reachability": f"!{chain('eat', n)}",
        "persistence": f"{chain('eat', n)} -> GF eat0",
        "two marks": f"!({infinitely_often(last, 'eat0')})",
        "fairness": f"GF {last} -> GF eat{n - 2}",
    }.items():
        yield Case(f"philosophers {n}, {kind}", network, formula, VIOLATED)


def ring_cases(n: int) -> Iterator[Case]:
    yield Case(f"ring {n}, empty", ring(n), None, HOLDS)
    network = without_acceptance(ring(n))
    last = f"l{n - 1}"
    three = infinitely_often("up0", "up1", "enter2")  # enter2 happens but once
    yield Case(f"ring {n}, three marks", network, f"!({three})", HOLDS)
    for kind, formula in {
        "all meet": f"!({infinitely_often(*(f'l{i}' for i in range(n)))})",
        "late": f"{chain('enter', n)} -> FG !{last}",
        "fairness": f"GF {last} -> GF l{n - 2}",
    }.items():
        yield Case(f"ring {n}, {kind}", network, formula, VIOLATED)


def random_cases(seed: int) -> Iterator[Case]:
    """Networks whose seed is known to give an accepting run far away."""
    network = random_network(4, seed=seed, n_states=(20, 40))
    yield Case(f"random {seed}, empty", network, None, VIOLATED)


def ours(case: Case, name: str, max_states: int | None = None) -> dict[str, Any]:
    """Search once; those that take Fin search the generalised Büchi product here."""
    found = check(
        case.network,
        case.formula,
        empty=case.formula is None,
        emptiness=name,
        acceptance="tgba" if SEARCHES[name]().emerson_lei else "auto",
        reduce="none",
        max_states=max_states,
    )
    stats = found.stats
    assert stats.search_seconds is not None
    lasso = stats.lasso_seconds
    return {
        "automaton": (found.plan.automaton or NO_PROPERTY).lower(),
        "verdict": found.verdict,
        "states": stats.states,
        "transitions": stats.transitions,
        "seconds": stats.search_seconds,
        "seconds_with_lasso": None if lasso is None else stats.search_seconds + lasso,
        "bytes_per_state": stats.bytes_per_state,
    }


def suitable(case: Case) -> dict[str, str]:
    """Return the algorithms that take a case, with the automaton that each needs.

    They are compiled on the way.
    """
    kinds = {}
    for name in SEARCHES:
        try:
            run = ours(case, name, max_states=WARM if case.complete else None)
        except UnsupportedError as error:
            print(f"{case.name}: without {name}: {error}", flush=True)
        else:
            kinds[name] = run["automaton"]
    return kinds


def kind_for(name: str, kinds: list[str]) -> str:
    """Return the kind of product on which one of Spot's algorithms runs."""
    if len(kinds) == 1:
        return kinds[0]
    return "tgba" if takes(name, 2) else "ba"


Tool = tuple[str, str]


class Comparison:
    """One case, all tools."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.kinds: dict[Tool, str] = {}  # of the product that a tool searches
        self.tools: dict[Tool, Callable[[], dict[str, Any]]] = {}
        self.graphs: dict[str, Any] = {}
        self.graph_bytes: dict[str, int] = {}
        self.runs: dict[Tool, list[dict[str, Any]]] = {}
        for name, kind in suitable(case).items():
            self._add(OURS, name, kind, lambda name=name: ours(case, name))
        self._add_spots()

    def _add(
        self, tool: str, name: str, kind: str, measure: Callable[[], dict[str, Any]]
    ) -> None:
        self.kinds[tool, name] = kind
        self.tools[tool, name] = measure

    def _add_spots(self) -> None:
        case = self.case
        subject = Subject(case.network, case.formula)
        kinds = [NO_PROPERTY] if case.formula is None else ["ba", "tgba"]
        system = subject.system()
        factors = {kind: subject.property_graph(kind) for kind in kinds}
        for kind in kinds:
            give_back()
            before, _, _ = resident()
            graph = self.graphs[kind] = subject.product(kind)
            give_back()
            self.graph_bytes[kind] = resident()[0] - before
            lazily = spot.otf_product(system, factors[kind])
            if case.complete:
                seen = spot.stats_reachable(lazily).states
                assert seen == graph.num_states(), (
                    f"{case.name}: Spot's own product has {seen} states, "
                    f"the stored one {graph.num_states()}"
                )
            name = "is_empty" if len(kinds) == 1 else f"is_empty {kind}"
            self._add(STORED, name, kind, lambda graph=graph: run_is_empty(graph))
        for name in NAMESAKES.values():
            kind = kind_for(name, kinds)
            graph = self.graphs[kind]
            if not takes(name, graph.num_sets()):
                print(f"{case.name}: without Spot's {name}: {graph.num_sets()} marks")
                continue
            self._add(
                STORED,
                name,
                kind,
                lambda name=name, graph=graph: run_check(name, lambda: graph),
            )
            if name in ON_THE_FLY:
                factor = factors[kind]
                self._add(
                    OTF,
                    name,
                    kind,
                    lambda name=name, factor=factor: run_check(
                        name, lambda: spot.otf_product(system, factor)
                    ),
                )

    def measure(self, runs: int, patience: float) -> None:
        """Run all tools in turn, so that a slow minute hits all.

        A case that is soon done is done more often.  Seeing all of a product on
        the fly takes Spot so long that it is done but once.
        """
        self.runs = {tool: [] for tool in self.tools}
        end = time.monotonic() + patience
        for k in range(MOST * runs):
            if k >= runs and time.monotonic() > end:
                break
            for tool, measure in self.tools.items():
                if k > 0 and tool[0] == OTF and self.case.complete:
                    continue
                run = measure()
                self._check(tool, run)
                self.runs[tool].append(run)

    def _check(self, tool: Tool, run: dict[str, Any]) -> None:
        where = f"{self.case.name}: {' '.join(tool)}"
        expected = self.case.verdict
        assert run["verdict"] == expected, (
            f"{where} says {run['verdict']}, expected {expected}"
        )
        n_states = self.graphs[self.kinds[tool]].num_states()
        if self.case.complete and "states" in run:
            assert run["states"] == n_states, (
                f"{where} saw {run['states']} states, the product has {n_states}"
            )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per tool."""
        return [self._row(tool) for tool in self.tools]

    def _row(self, tool: Tool) -> dict[str, Any]:
        kind = self.kinds[tool]
        graph = self.graphs[kind]
        states, transitions = graph.num_states(), graph.num_edges()
        seconds = self._median(tool, "seconds")
        assert seconds is not None
        row = {
            "case": self.case.name,
            "verdict": self.case.verdict,
            "tool": tool[0],
            "algorithm": tool[1],
            "automaton": kind,
            "marks": graph.num_sets(),
            "product_states": states,
            "product_transitions": transitions,
            "states": self._median(tool, "states"),
            "transitions": self._median(tool, "transitions"),
            "seconds": significant(seconds),
            "seconds_with_lasso": significant(self._median(tool, "seconds_with_lasso")),
        }
        row["bytes_per_state"] = self._median(tool, "bytes_per_state")
        if self.case.complete:
            row["states_per_second"] = round(states / seconds)
            if tool[0] != OURS:
                grown = self._median(tool, "bytes")
                assert grown is not None
                row["bytes_per_state"] = grown / states
        if row["bytes_per_state"] is not None:
            row["bytes_per_state"] = round(row["bytes_per_state"], 1)
        if tool[0] == STORED:
            row["graph_bytes_per_state"] = round(self.graph_bytes[kind] / states, 1)
        namesake = NAMESAKES.get(tool[1], tool[1])
        for column, other in {
            "times_namesake": (STORED, namesake),
            "times_is_empty": self._is_empty(kind),
        }.items():
            reference = self._median(other, "seconds") if other in self.tools else None
            row[column] = None if reference is None else round(reference / seconds, 2)
        row["runs"] = len(self.runs[tool])
        return row

    def _is_empty(self, kind: str) -> Tool:
        return STORED, "is_empty" if kind == NO_PROPERTY else f"is_empty {kind}"

    def _median(self, tool: Tool, column: str) -> Any:
        values = [run[column] for run in self.runs[tool] if run.get(column) is not None]
        return statistics.median_low(values) if values else None


def significant(seconds: float | None) -> float | None:
    """Round to four digits."""
    return None if seconds is None else float(f"{seconds:.4g}")


def compare(case: Case, runs: int, patience: float) -> list[dict[str, Any]]:
    """Return the rows of one case."""
    started = time.perf_counter()
    comparison = Comparison(case)
    built = time.perf_counter()
    comparison.measure(runs, patience)
    rows = comparison.rows()
    for row in rows:
        row["spot"] = spot_version()
    print(
        f"{case.name}: {built - started:.0f} s to prepare, "
        f"{time.perf_counter() - built:.0f} s to measure",
        flush=True,
    )
    return rows


SHOWN = [
    "case",
    "tool",
    "algorithm",
    "states",
    "seconds",
    "seconds_with_lasso",
    "states_per_second",
    "bytes_per_state",
    "graph_bytes_per_state",
    "times_namesake",
    "times_is_empty",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--philosophers", type=int, nargs="*", default=[9], metavar="N")
    parser.add_argument("--ring", type=int, nargs="*", default=[8], metavar="N")
    parser.add_argument("--random", type=int, nargs="*", default=[2, 4], metavar="SEED")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--patience", type=float, default=10.0, help="seconds of a case's further runs"
    )
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    families = {
        philosophers_cases: chosen.philosophers,
        ring_cases: chosen.ring,
        random_cases: chosen.random,
    }
    rows = [
        row
        for cases, sizes in families.items()
        for size in sizes
        for case in cases(size)
        if chosen.only in case.name
        for row in compare(case, chosen.runs, chosen.patience)
    ]
    table = pd.DataFrame(rows).reindex(columns=SHOWN)
    print(table.to_string(index=False, na_rep=""))
    record.write(chosen.out / "emptiness.csv", rows)


if __name__ == "__main__":
    main()
