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

Each run of Spot has a forked process, which inherits the graph; its bytes are
what its resident memory grew by at its peak, or what it wrote to, if that is
more.  All tools run in turn, several times, and medians are written.
``times_namesake`` is the median time of Spot's algorithm of that name on the
stored graph, divided by the row's own: above 1 the row is faster.
``times_is_empty`` likewise.  In complete searches the number of states is asserted
to be the graph's, and everywhere the verdict to be the expected one.

    python -m benchmarks.emptiness
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import spot
from spot import buddy

from benchmarks import record
from ltlpipe import Network, UnsupportedError, check
from ltlpipe._jit import njit
from ltlpipe.automata.letters import OTHER, PropertyAutomaton, universal
from ltlpipe.automata.translation import from_formula, spot_version
from ltlpipe.logic.actions import bit_names
from ltlpipe.logic.formulas import parse
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.product import is_full, make_problem, visit_successors
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import Store, intern
from ltlpipe.systems.packing import pack
from ltlpipe.systems.philosophers import philosophers
from ltlpipe.systems.random_networks import random_network
from ltlpipe.systems.ring import ring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.search.product import Problem

NAMESAKES = {
    "se05": "SE05",
    "cvwy92": "CVWY90",
    "gv04": "GV04",
    "couvreur99": "Cou99",
    "tauriainen03": "Tau03",
}
ON_THE_FLY = ("SE05", "Cou99")
OURS, STORED, OTF = "ltlpipe", "spot stored", "spot on the fly"
HOLDS, VIOLATED = "holds", "violated"
NO_PROPERTY = "-"  # in place of the kind of the property automaton
SHORT = 3  # times as many runs where a counterexample ends them


# ---------------------------------------------------------------- cases


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


# ---------------------------------------------------------------- ours


def ours(case: Case, name: str, max_states: int | None = None) -> dict[str, Any]:
    """Search once."""
    found = check(
        case.network,
        case.formula,
        empty=case.formula is None,
        emptiness=name,
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
            run = ours(case, name, max_states=1000 if case.complete else None)
        except UnsupportedError as error:
            print(f"{case.name}: without {name}: {error}", flush=True)
        else:
            kinds[name] = run["automaton"]
    return kinds


# ---------------------------------------------------------------- the explicit product


class Explicit(NamedTuple):
    """A product, states in breadth-first order."""

    first_edge: np.ndarray  # int64[n_states + 1]
    edge_dst: np.ndarray  # int32[n_edges]
    edge_marks: np.ndarray  # uint32[n_edges]
    edge_actions: np.ndarray  # int32[n_edges]


@njit
def explore(expand, product, store, registers, explicit, companion):
    """Expand all states in the order of their ids; returns a Status."""
    intern(store, registers, product.rows, 1, product.ids, product.hashes, companion, 0)
    while registers[Reg.EXPANSIONS] < registers[Reg.STORED]:
        edge = registers[Reg.TRANSITIONS]
        room = explicit.edge_dst.shape[0] - product.ids.shape[0]
        if edge > room or is_full(product, store, registers):
            return Status.GROW
        state = registers[Reg.EXPANSIONS]
        explicit.first_edge[state] = edge
        n = visit_successors(expand, product, store, registers, state, companion, 0)
        for i in range(n):
            explicit.edge_dst[edge + i] = product.ids[i]
            explicit.edge_marks[edge + i] = product.marks[i]
            explicit.edge_actions[edge + i] = product.row_actions[i]
    explicit.first_edge[registers[Reg.STORED]] = registers[Reg.TRANSITIONS]
    return Status.EMPTY


def explicit_product(problem: Problem) -> Explicit:
    """Return the whole product; it is begun again wherever room is lacking."""
    n_states = n_edges = 1 << 12
    while True:
        bound = problem.product.ids.shape[0]
        store = Store(
            rows=np.zeros((n_states + bound, len(problem.initial)), dtype=np.uint64),
            slots=np.zeros(2 * (n_states + bound), dtype=np.uint32),
        )
        explicit = Explicit(
            first_edge=np.zeros(n_states + bound + 1, dtype=np.int64),
            edge_dst=np.zeros(n_edges + bound, dtype=np.int32),
            edge_marks=np.zeros(n_edges + bound, dtype=np.uint32),
            edge_actions=np.zeros(n_edges + bound, dtype=np.int32),
        )
        registers = np.zeros(N_REGISTERS, dtype=np.int64)
        registers[Reg.ID_BITS] = int(store.slots.shape[0]).bit_length()
        problem.product.rows[0] = problem.initial
        companion = np.zeros(n_states + bound, dtype=np.int32)
        status = explore(
            problem.expand, problem.product, store, registers, explicit, companion
        )
        stored, edges = int(registers[Reg.STORED]), int(registers[Reg.TRANSITIONS])
        if status == Status.EMPTY:
            return Explicit(
                explicit.first_edge[: stored + 1], *(a[:edges] for a in explicit[1:])
            )
        if edges + bound > n_edges:
            n_edges *= 2
        if stored + bound > n_states:
            n_states *= 2


def any_word(n_letters: int) -> PropertyAutomaton:
    """Return the automaton of one state that accepts every word."""
    return replace(
        universal(),
        n_letters=n_letters,
        first_edge=np.arange(n_letters + 1, dtype=np.int32),
        edge_dst=np.zeros(n_letters, dtype=np.int32),
        edge_marks=np.zeros(n_letters, dtype=np.uint32),
    )


class Subject:
    """A case as Spot takes it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.formula = None if case.formula is None else parse(case.formula)
        index = case.network.action_index
        self.actions = list(() if self.formula is None else self.formula.propositions)
        self.letters = np.full(len(case.network.actions), OTHER, dtype=np.int32)
        for letter, name in enumerate(self.actions, start=OTHER + 1):
            self.letters[index[name]] = letter
        self.dictionary = spot.make_bdd_dict()

    def table(self, kind: str) -> PropertyAutomaton:
        """Return the property automaton that `check` searches with."""
        if self.formula is None:
            return universal()
        return from_formula(self.formula, kind, self.actions)

    def product(self, kind: str) -> Any:
        """Return the product that `check` generates, stored."""
        graph = spot.make_twa_graph(self.dictionary)
        table = self.table(kind)
        self._explore(graph, table, [buddy.bddtrue] * table.n_letters)
        return graph

    def system(self) -> Any:
        """Return the network, stored, with the letters of its actions as labels."""
        n_letters = len(self.actions) + 1
        any_word = replace(
            universal(),
            n_letters=n_letters,
            first_edge=np.arange(n_letters + 1, dtype=np.int32),
            edge_dst=np.zeros(n_letters, dtype=np.int32),
            edge_marks=np.zeros(n_letters, dtype=np.uint32),
        )
        graph = spot.make_twa_graph(self.dictionary)
        self._explore(graph, any_word, self._labels(graph))
        return graph

    def property_graph(self, kind: str) -> Any:
        """Return the property automaton as Spot's."""
        graph = spot.make_twa_graph(self.dictionary)
        table = self.table(kind)
        labels = self._labels(graph)
        graph.set_generalized_buchi(table.n_marks)
        graph.prop_state_acc(table.state_based)
        graph.new_states(table.n_states)
        graph.set_init_state(table.initial)
        for cell in range(table.n_states * table.n_letters):
            src, letter = divmod(cell, table.n_letters)
            for edge in range(table.first_edge[cell], table.first_edge[cell + 1]):
                marks = mark(int(table.edge_marks[edge]))
                graph.new_edge(src, int(table.edge_dst[edge]), labels[letter], marks)
        graph.merge_edges()
        return graph

    def _labels(self, graph: Any) -> list[Any]:
        """Return the label of each letter: its number in binary."""
        names = bit_names(len(self.actions))
        bits = [graph.register_ap(name) for name in names]
        labels = []
        for letter in range(len(self.actions) + 1):
            label = buddy.bddtrue
            for i, bit in enumerate(bits):
                holds = letter >> i & 1
                label &= buddy.bdd_ithvar(bit) if holds else buddy.bdd_nithvar(bit)
            labels.append(label)
        return labels

    def _explore(self, graph: Any, table: PropertyAutomaton, labels: list[Any]) -> None:
        """Store the product with a property automaton in an empty graph."""
        network = self.case.network
        packed = pack(network, self.letters, extra_values=table.n_states)
        problem = make_problem(packed, table)
        graph.set_generalized_buchi(problem.n_marks)
        graph.prop_state_acc(problem.state_based)
        add_edges(graph, explicit_product(problem), self.letters, labels)


def mark(bits: int) -> Any:
    """Return a set of marks as Spot's."""
    return spot.mark_t([i for i in range(bits.bit_length()) if bits >> i & 1])


def add_edges(
    graph: Any, explicit: Explicit, letters: np.ndarray, labels: list[Any]
) -> None:
    """Fill a Spot graph, in pieces: Python's integers are many times as large.

    `letters` holds the letter of each action, `labels` the label of each letter.
    """
    n_states = len(explicit.first_edge) - 1
    graph.new_states(n_states)
    graph.set_init_state(0)
    marks = {bits: mark(bits) for bits in np.unique(explicit.edge_marks).tolist()}
    new_edge = graph.new_edge
    degrees = np.diff(explicit.first_edge)
    for begin in range(0, n_states, 1 << 16):
        end = min(begin + (1 << 16), n_states)
        piece = slice(explicit.first_edge[begin], explicit.first_edge[end])
        for src, dst, letter, bits in zip(
            np.repeat(np.arange(begin, end), degrees[begin:end]).tolist(),
            explicit.edge_dst[piece].tolist(),
            letters[explicit.edge_actions[piece]].tolist(),
            explicit.edge_marks[piece].tolist(),
            strict=True,
        ):
            new_edge(src, dst, labels[letter], marks[bits])


# ---------------------------------------------------------------- Spot


def resident() -> tuple[int, int, int]:
    """Return the bytes that are resident, that were at most, and that are private."""
    kib = {}
    for file in ("status", "smaps_rollup"):
        for line in Path(f"/proc/self/{file}").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if rest.endswith("kB"):
                kib[name] = int(rest.split()[0])
    private = kib["Private_Dirty"] + kib["Private_Clean"]
    return 1024 * kib["VmRSS"], 1024 * kib["VmHWM"], 1024 * private


def give_back() -> None:
    """Return freed memory to the system, so that what is allocated next counts."""
    ctypes.CDLL(None).malloc_trim(0)


def in_child(what: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run `work` in a forked process and return its result and its bytes."""
    give_back()
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        failed = 1
        try:
            os.close(reader)
            os.write(writer, json.dumps(work()).encode())
            failed = 0
        finally:
            os._exit(failed)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(process, 0)
    if status != 0:
        raise RuntimeError(f"{what}: Spot's process ended with wait status {status}")
    result: dict[str, Any] = json.loads(answer)
    return result


def spots(name: str, make: Callable[[], Any]) -> dict[str, Any]:
    """Run one of Spot's checks on the automaton that `make` returns."""

    def work() -> dict[str, Any]:
        instantiator, _ = spot.make_emptiness_check_instantiator(name)
        before, _, private = resident()
        started = time.perf_counter()
        subject = make()
        search = instantiator.instantiate(subject)  # `found` refers to it
        found = search.check()
        seconds = time.perf_counter() - started
        _, peak, private_after = resident()
        started = time.perf_counter()
        if found is not None:
            found.accepting_run()
        lasso = time.perf_counter() - started
        return {
            "verdict": HOLDS if found is None else VIOLATED,
            "seconds": seconds,
            "seconds_with_lasso": None if found is None else seconds + lasso,
            "bytes": max(peak - before, private_after - private),
        }

    return in_child(name, work)


def spots_is_empty(graph: Any) -> dict[str, Any]:
    """Ask Spot's graph whether it is empty."""

    def work() -> dict[str, Any]:
        before, _, private = resident()
        started = time.perf_counter()
        empty = graph.is_empty()
        seconds = time.perf_counter() - started
        _, peak, private_after = resident()
        return {
            "verdict": HOLDS if empty else VIOLATED,
            "seconds": seconds,
            "bytes": max(peak - before, private_after - private),
        }

    return in_child("is_empty", work)


def takes(name: str, n_marks: int) -> bool:
    """Whether one of Spot's algorithms takes so many marks."""
    instantiator, _ = spot.make_emptiness_check_instantiator(name)
    return bool(instantiator.min_sets() <= n_marks <= instantiator.max_sets())


def kind_for(name: str, kinds: list[str]) -> str:
    """Return the kind of product on which one of Spot's algorithms runs."""
    if len(kinds) == 1:
        return kinds[0]
    return "tgba" if takes(name, 2) else "ba"


# ---------------------------------------------------------------- one case


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
        subject = Subject(case)
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
            self._add(STORED, name, kind, lambda graph=graph: spots_is_empty(graph))
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
                lambda name=name, graph=graph: spots(name, lambda: graph),
            )
            if name in ON_THE_FLY:
                factor = factors[kind]
                self._add(
                    OTF,
                    name,
                    kind,
                    lambda name=name, factor=factor: spots(
                        name, lambda: spot.otf_product(system, factor)
                    ),
                )

    def measure(self, runs: int) -> None:
        """Run all tools in turn, so that a slow minute hits all."""
        self.runs = {tool: [] for tool in self.tools}
        for _ in range(runs):
            for tool, measure in self.tools.items():
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


def compare(case: Case, runs: int) -> list[dict[str, Any]]:
    """Return the rows of one case."""
    started = time.perf_counter()
    comparison = Comparison(case)
    built = time.perf_counter()
    comparison.measure(runs if case.complete else SHORT * runs)
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
        for row in compare(case, chosen.runs)
    ]
    table = pd.DataFrame(rows).reindex(columns=SHOWN)
    print(table.to_string(index=False, na_rep=""))
    record.write(chosen.out / "emptiness.csv", rows)


if __name__ == "__main__":
    main()
