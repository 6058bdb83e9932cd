"""Graphs of Spot, checked by ltlpipe and by Spot itself: one table.

Random Kripke structures and automata of 10^3 to 10^6 states.  Verdicts have to agree.
Times of ltlpipe are of ``check(kripke, formula)`` and ``is_empty(automaton)`` as a
caller has them: conversion, translation, search and replay.  Beside them stands how
long the conversion takes in each of the ways that there are.  Spot's are of
``kripke.intersecting_run(automaton)``, translation included, and of
``automaton.accepting_run()``.

Formulas that hold make both sides look at everything; of violated ones both look at
what they like.  Rows of "is_empty" are of automata that accept nothing, and of the same
with an accepting cycle far from the initial state.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import spot
from spot import buddy

from benchmarks.record import RESULTS, write
from ltlpipe import check, is_empty
from ltlpipe.automata.graphs import (
    decoded_graph,
    edges_by_interface,
    encoded_graph,
)
from ltlpipe.automata.hoa import hoa_text
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.graph import graph_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMES = "pqr"
DEGREE = 3
FORMULAS = ("G(p -> F q)", "GF q & G(r -> q)", "G(p -> (!r W q))", "G !p", "FG q")
"""The first three hold: both sides look at everything."""


def random_ends(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of a graph in which every state can be reached.

    All states but the initial one, 0, lie on a ring.
    """
    src = np.repeat(np.arange(n), DEGREE)
    dst = rng.integers(0, n, n * DEGREE)
    dst[::DEGREE] = np.arange(n) + 1
    dst[-DEGREE] = 1
    return src, dst


def cubes(graph: Any) -> list[Any]:
    """Return the valuations of the propositions, by the bits of their numbers."""
    variables = [graph.register_ap(name) for name in NAMES]
    found = []
    for number in range(1 << len(NAMES)):
        cube = buddy.bddtrue
        for bit, variable in enumerate(variables):
            literal = buddy.bdd_ithvar if number >> bit & 1 else buddy.bdd_nithvar
            cube &= literal(variable)
        found.append(cube)
    return found


def random_kripke(n: int, seed: int) -> Any:
    """Return a Kripke structure in which the formulas that should hold do.

    q holds at every other state of the ring, and all edges beside it lead to states
    in which q holds.
    """
    rng = np.random.default_rng(seed)
    graph = spot.make_kripke_graph(spot.make_bdd_dict())
    of_number = cubes(graph)
    q = np.arange(n) % 2 == 0
    p, r = rng.random(n) < 0.1, q & (rng.random(n) < 0.5)
    for number in (p + 2 * q + 4 * r).tolist():
        graph.new_state(of_number[number])
    src, dst = random_ends(n, rng)
    beside = np.arange(len(dst)) % DEGREE != 0
    dst[beside] -= dst[beside] % 2
    for one, other in zip(src.tolist(), dst.tolist(), strict=True):
        graph.new_edge(one, other)
    graph.set_init_state(0)
    return graph


ACCEPTANCES = {
    "generalised Büchi": "Inf(0)&Inf(1)&Inf(2)",
    "Streett": "(Fin(0)|Inf(1))&(Fin(2)|Inf(3))",
    "Rabin": "(Fin(0)&Inf(1))|(Fin(2)&Inf(3))",
}


def random_automaton(n: int, acceptance: str, empty: bool, seed: int) -> Any:
    """Return an automaton that accepts nothing, or only near its last state.

    One that accepts nothing has the last mark of a generalised Büchi condition only on
    the edges of the initial state; for Rabin no Inf mark without the Fin mark of its
    pair; and for Streett a Fin mark on the edge that closes the ring, and no Inf.
    """
    rng = np.random.default_rng(seed)
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    code = spot.acc_code(ACCEPTANCES[acceptance])
    graph.set_acceptance(code.used_sets().max_set(), code)
    of_number = cubes(graph)
    graph.new_states(n)
    src, dst = random_ends(n, rng)
    # Beside the ring, edges lead forward: each cycle takes the edge that closes it.
    ring = np.arange(len(dst)) % DEGREE == 0
    beside = np.minimum(src + 1 + dst % 50, n - 1)
    dst = np.where(ring, dst, beside)
    usual = {"generalised Büchi": [[0], [1], []], "Streett": [[0], [2], []]}
    sets = usual.get(acceptance, [[0, 1], [2, 3], []])
    closing = {"generalised Büchi": [0], "Streett": [0, 2], "Rabin": [0, 2]}[acceptance]
    numbers = rng.integers(0, len(of_number), len(dst)).tolist()
    kinds = rng.integers(0, len(sets), len(dst)).tolist()
    for k, (one, other) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        if one == n - 1 and k % DEGREE:
            continue
        marks = closing if other <= one else sets[kinds[k]]
        if one == 0 and acceptance == "generalised Büchi":
            marks = [2]
        graph.new_edge(one, other, of_number[numbers[k]], marks)
    if not empty:
        all_inf = {"generalised Büchi": [0, 1, 2], "Streett": [1, 3], "Rabin": [1]}
        graph.new_edge(n - 1, n - 1, of_number[0], all_inf[acceptance])
    graph.set_init_state(0)
    return graph


def spot_run(kripke: Any, formula: str) -> Any:
    """Return a run that violates a formula, as Spot finds it."""
    violated = spot.formula_Not(spot.formula(formula))
    return kripke.intersecting_run(spot.translate(violated, dict=kripke.get_dict()))


def timed(work: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """Return what work returns, and the median of its times."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - began)
    return result, median(times)


def conversions(graph: Any, runs: int) -> Iterator[tuple[str, float]]:
    """Yield the ways to read a graph out of Spot, and how long each takes."""
    yield "memory", timed(lambda: complete(graph_job(graph)), runs)[1]
    if graph.num_states() <= 100_000:
        work = partial(edges_by_interface, graph)
        yield "edge by edge", timed(lambda: complete(work()), 1)[1]
        yield "HOA text, written only", timed(lambda: hoa_text(graph), 1)[1]
        told = encoded_graph(complete(graph_job(graph)))
        yield "plain data, made again", timed(lambda: decoded_graph(told), 1)[1]


def row(
    what: str, n: int, about: str, graph: Any, ours: Any, theirs: Any, runs: int
) -> dict[str, Any]:
    """Return the times of both sides, whose answers have to agree."""
    found, seconds = timed(ours, runs)
    expected, spot_seconds = timed(theirs, runs)
    answer = found.verdict == "violated" if what == "check" else not found.empty
    assert answer == (expected is not None), (what, n, about)
    _, conversion = timed(lambda: complete(graph_job(graph)), runs)
    print(f"{what} {n} {about}: {seconds:.3f} s, Spot {spot_seconds:.3f} s", flush=True)
    return {
        "question": what,
        "states": n,
        "edges": graph.num_edges(),
        "about": about,
        "found": answer,
        "product_states": found.stats.states,
        "strategy": found.plan.strategy,
        "emptiness": found.plan.emptiness,
        "seconds": round(seconds, 5),
        "conversion_seconds": round(conversion, 5),
        "search_seconds": round(found.stats.search_seconds or 0.0, 5),
        "spot_seconds": round(spot_seconds, 5),
        "ratio": round(seconds / spot_seconds, 2),
        "ratio_without_conversion": round((seconds - conversion) / spot_seconds, 2),
        "runs": runs,
        "spot": spot.version(),
    }


def measured(sizes: list[int], runs: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table."""
    for n in sizes:
        kripke = random_kripke(n, seed=n)
        for way, seconds in conversions(kripke, runs):
            print(f"reading {n} states, {way}: {seconds:.4f} s", flush=True)
        for formula in FORMULAS:
            ours = partial(check, kripke, formula)
            theirs = partial(spot_run, kripke, formula)
            yield row("check", n, formula, kripke, ours, theirs, runs)
        del kripke, ours, theirs
        for acceptance in ACCEPTANCES:
            for empty in (True, False):
                automaton = random_automaton(n, acceptance, empty, seed=n)
                about = f"{acceptance}, {'empty' if empty else 'not empty'}"
                ours = partial(is_empty, automaton)
                theirs = automaton.accepting_run
                yield row("is_empty", n, about, automaton, ours, theirs, runs)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--largest", type=int, default=6, help="exponent of 10")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    sizes = [10**k for k in range(min(3, given.largest), given.largest + 1)]
    # Kernels are loaded before anything is measured.
    small = random_kripke(10_000, seed=0)
    check(small, "GF q")
    check(small, "G p", reduce="none", seed=1)
    is_empty(random_automaton(10_000, "Streett", True, seed=0))
    is_empty(random_automaton(10_000, "generalised Büchi", True, seed=0))
    write(given.out / "kripke.csv", measured(sizes, given.runs))


if __name__ == "__main__":
    main()
