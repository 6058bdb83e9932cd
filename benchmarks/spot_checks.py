"""Spot's emptiness checks on ltlpipe's products: the other side of a side-by-side run.

`Subject` makes, of a network and a property, the automata that Spot takes:

- the product that `check` generates, state by state, stored as a ``twa_graph``
  in breadth-first order;
- the network, stored, and the property, of which ``otf_product`` makes the same
  product on the fly.

`run_check` and `run_is_empty` search one of them in a forked process, which
inherits it.  Their bytes are what the process's resident memory grew by at its
peak, or what it wrote to, if that is more.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import spot
from spot import buddy

from ltlpipe.automata.letters import OTHER, PropertyAutomaton, universal
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.logic.actions import bit_names
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.interning import intern
from ltlpipe.search.problem import make_problem
from ltlpipe.search.product import is_full, visit_successors
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import Store
from ltlpipe.systems.networks.packing import pack_network
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe import Network
    from ltlpipe.search.problem import Problem


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
    """A network and a property as Spot takes them.

    Parameters
    ----------
    network : Network
        The system.
    formula : str, optional
        LTL over its actions; None asks only for the network's own acceptance.
    """

    def __init__(self, network: Network, formula: str | None) -> None:
        self.network = network
        self.formula = None if formula is None else parse(formula)
        index = network.action_index
        self.actions = list(() if self.formula is None else self.formula.propositions)
        self.letters = np.full(len(network.actions), OTHER, dtype=np.int32)
        for letter, name in enumerate(self.actions, start=OTHER + 1):
            self.letters[index[name]] = letter
        self.dictionary = spot.make_bdd_dict()

    def table(self, kind: str) -> PropertyAutomaton:
        """Return the property automaton that `check` searches with."""
        if self.formula is None:
            return universal()
        return table_over_actions(self.formula, kind, self.actions)

    def product(self, kind: str) -> Any:
        """Return the product that `check` generates, stored."""
        graph = spot.make_twa_graph(self.dictionary)
        table = self.table(kind)
        self._explore(graph, table, [buddy.bddtrue] * table.n_letters)
        return graph

    def system(self) -> Any:
        """Return the network, stored, with the letters of its actions as labels."""
        graph = spot.make_twa_graph(self.dictionary)
        self._explore(graph, any_word(len(self.actions) + 1), self._labels(graph))
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
        packed = complete(
            pack_network(self.network, self.letters, extra_values=table.n_states)
        )
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


def run_check(name: str, make: Callable[[], Any]) -> dict[str, Any]:
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


def run_is_empty(graph: Any) -> dict[str, Any]:
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
