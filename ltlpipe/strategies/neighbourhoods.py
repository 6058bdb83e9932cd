"""Shorter runs of networks among those that are like a known one.

All components but one, or two that have an action in common, keep to the transitions
that the run takes; these are free.  Such a product is small, and its shortest lasso is
often much shorter than the run.  It takes the place of the run, and so on.

Source: P. Shaw, "Using Constraint Programming and Local Search Methods to Solve Vehicle
Routing Problems", CP 1998, for the search of large neighbourhoods.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.conditions import TRUE
from ltlpipe.question.answer import Trace
from ltlpipe.runtime.jobs import TooMuchWorkError, bounded
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.instant_graph import Graph, Meter, Paths
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.question import Product
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.runs import Run

    Search = Callable[[Product, Run, float], Job[Run]]

_EXTRACTING = "extracting the lasso"
_COMPONENT_WORK = 0.5  # microseconds for each transition of a component

_LARGE = 20_000
"""Transitions of a component in which no short cycle is looked for."""

_FEW = 3
"""Components whose short cycles are tried."""

_STATES = 50_000
"""States that are stored at most of a product in which few components are free."""


def freed(network: NetworkQuestion, run: Run, search: Search, work: float) -> Job[Run]:
    """Return a shorter run, or the one that is known, after so much work.

    `search` takes a product, a run and how many states may be stored.
    """
    known = [run]
    with suppress(TooMuchWorkError):
        yield from bounded(_freed(network, known, search), work)
    return known[-1]


def _freed(network: NetworkQuestion, known: list[Run], search: Search) -> Job[None]:
    """Add shorter and shorter runs, until no neighbourhood of the last has one."""
    trace, parts = Trace(network.given), network.system.components
    sets = _neighbourhoods(network.system, known[-1])
    number, tried, taken = 0, 0, None
    while tried < len(sets):
        run, free = known[-1], sets[number % len(sets)]
        if taken is None:
            taken = yield from taken_by(network.system, run)
        kept = [parts[i] if i in free else c for i, c in enumerate(taken.components)]
        near = Network(kept, network.system.name)
        product = yield from network.product(network.given, trace, near)
        found = yield from search(product, run, _STATES)
        number, tried = number + 1, tried + 1
        if len(found.actions) < len(run.actions):
            known.append(found)
            tried, taken = 0, None


def _neighbourhoods(network: Network, run: Run) -> list[tuple[int, ...]]:
    """Return which components may move freely; first those that move most."""
    moves = [0] * len(network.components)
    for action in run.actions[run.actions >= 0].tolist():
        for i in network.actions[action].participants:
            moves[i] += 1
    pairs = {
        pair
        for action in network.actions
        for pair in combinations(sorted(action.participants), 2)
    }
    moving = [(i,) for i in range(len(moves)) if moves[i]]
    meeting = [(i, j) for i, j in sorted(pairs) if moves[i] and moves[j]]

    def moved(free: tuple[int, ...]) -> int:
        return -sum(moves[i] for i in free)

    return [(), *sorted(moving, key=moved), *sorted(meeting, key=moved)]


def taken_by(network: Network, run: Run) -> Job[Network]:
    """Return a network with few transitions: those of a run, and of short cycles.

    Its runs are runs of the network, and the shortest among them are not far.  The
    cycles are of single components, where the run's cycle begins.
    """
    cycles = yield from _short_cycles(network, run)
    ticks = Ticks(_EXTRACTING, _COMPONENT_WORK)
    components = []
    for number, component in enumerate(network.components):
        labels = np.full(len(network.actions) + 1, -1)  # the last is for action -1
        labels[list(network.label_actions[number])] = np.arange(len(component.labels))
        taken = labels[run.actions]
        moving = np.flatnonzero(taken >= 0)
        before, after = run.states[moving, number], run.states[moving + 1, number]
        steps = before, taken[moving], after
        own = component.src, component.label, component.dst
        kept = np.isin(_codes(component, *own), _codes(component, *steps))
        kept[cycles.get(number, [])] = True
        src, label, dst = (column[kept] for column in own)
        components.append(replace(component, src=src, label=label, dst=dst))
        yield from ticks.worked(component.n_transitions + len(run.actions))
    return Network(components, network.name)


def _short_cycles(network: Network, run: Run) -> Job[dict[int, list[int]]]:
    """Return cycles of components, as transitions, shorter than that of a run.

    They are through the states in which the run's cycle begins, and by actions that
    no other component takes part in; of all the shortest, some.
    """
    single = {a.name for a in network.actions if len(a.participants) == 1}
    ticks = Ticks(_EXTRACTING, _COMPONENT_WORK)
    found: dict[int, list[int]] = {}
    longest = len(run.actions) - run.length - 1
    for number, component in enumerate(network.components):
        if longest == 0 or (len(found) == _FEW and longest == 1):
            break
        if component.n_transitions > _LARGE:
            continue
        start = int(run.states[run.length, number])
        cycle = yield from _cycle_of(component, single, start, longest)
        if cycle is not None:
            found[number] = cycle
            longest = min(longest, len(cycle))
        yield from ticks.worked(component.n_transitions)
    shortest = [number for number in found if len(found[number]) == longest]
    return {number: found[number] for number in shortest[:_FEW]}


def _cycle_of(
    component: LTS, names: set[str], start: int, longest: int
) -> Job[list[int] | None]:
    """Return the transitions of a shortest cycle by some actions; None without one."""
    private = np.array([label in names for label in component.labels], dtype=np.bool_)
    graph = Graph()
    graph.followers = [[] for _ in range(component.n_states)]
    for k in np.flatnonzero(private[component.label]).tolist():
        src, dst = int(component.src[k]), int(component.dst[k])
        graph.followers[src].append((dst, 0, k))
    cycle = yield from Paths(graph, Meter()).cycle(start, TRUE, longest)
    return None if cycle is None else [k for _, _, k in cycle]


def _codes(
    component: LTS, src: np.ndarray, label: np.ndarray, dst: np.ndarray
) -> np.ndarray:
    """Return a number for each transition, int64."""
    of_label = src.astype(np.int64) * len(component.labels) + label
    return np.asarray(of_label * component.n_states + dst)
