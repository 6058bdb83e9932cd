"""Shorter runs: the product is stored breadth first, and its shortest lasso taken.

Whatever strategy has found a violation, its run bounds how deep a shorter one can lie.
The part of the product that near is often small, although the search was not.

A search that stops where the property is lost (`ltlpipe.question.question.Question`)
ends its run with steps that only repeat the last state.  From there on every word
violates the property, so that any cycle of the system nearby completes the violation
(`continued`): it is looked for in plain Python, breadth first and then in depth.

Where that is not known to be all, parts of the run are left out by trial
(`ltlpipe.strategies.thinning`), and from a few places of a long run, lassos nearby are
looked for in plain Python (`ended_soon`).

Runs of networks are looked for among those that are like a known one (`freed`): all
components but one, or two that have an action in common, keep to the transitions
that the run takes; these are free.  Such a product is small, and its shortest lasso is
often much shorter than the run.  It takes the place of the run, and so on.

Source: P. Shaw, "Using Constraint Programming and Local Search Methods to Solve Vehicle
Routing Problems", CP 1998, for the search of large neighbourhoods.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import TRUE
from ltlpipe.automata.letters import universal
from ltlpipe.automata.tight import Tight, is_tight, tight
from ltlpipe.question.answer import Trace
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.network import NetworkQuestion, with_components
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MAX_STATES, Progress, TooMuchWorkError, bounded
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.registers import Reg
from ltlpipe.strategies import instant
from ltlpipe.strategies.instant_graph import Graph, Meter, Paths
from ltlpipe.strategies.slicing import Trials, blocks_of, sliced
from ltlpipe.strategies.state_search import (
    OVERFLOW,
    Attempt,
    run_of,
)
from ltlpipe.strategies.thinning import MOST_VALUES, thinned, thinned_network
from ltlpipe.systems.kinds import is_net
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import NetworkSteps, TooLargeError, plain_steps_of
from ltlpipe.systems.runs import Run, compressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import Recording
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.systems.plain_steps import PlainSteps

MOST_STATES = 2_000
"""States of the system near the end of the run: some hundredths of a second."""

_WORK = 200_000.0
"""Microseconds that their steps may take together, roughly; large nets have fewer."""

_LEAST_STATES = 20
_FEW_STATES = 500


def is_open(run: Run) -> bool:
    """Whether a run repeats a state, which need not be a deadlock.

    What follows does not count: the property may guess that it goes on.
    """
    return bool((run.actions < 0).any())


def last_step(run: Run) -> int:
    """Return the number of steps of an open run before the first that repeats."""
    return int(np.argmax(run.actions < 0))


def continued(question: Question, run: Run | None) -> Job[Run | None]:
    """Return an open run with an infinite continuation; None if none is near.

    A deadlock repeats itself if the question says so.  Other runs are as they were.
    """
    if run is None or not is_open(run):
        return run
    system: Any = question.system  # type: ignore[attr-defined]
    try:
        steps: Any = plain_steps_of(system, limited=not isinstance(system, Network))
    except TooLargeError:
        return None
    n_steps = last_step(run)
    steps.initial = partial(_state_of, run, n_steps)
    moves = instant.Moves(steps, universal(), stutter=question.stutters)
    most = int(min(MOST_STATES, max(_WORK / steps.cost, _LEAST_STATES)))
    found = None
    with suppress(OverflowError):  # numbers beyond 64 bits
        for limit in (min(_FEW_STATES, most), most):  # in depth soon, too
            if found is None:
                found = (yield from instant.search(moves, max_states=limit)).run
    if found is None:
        return None
    return _joined(run, n_steps, found)


_SMALL = 10_000
"""States of a product with a tight automaton that are searched in plain Python."""

_FIRST_STOP = 8  # levels after which a lasso is looked for first

_PER_STATE, _LEAST_WORK = 1.0, 20_000.0
"""Units of work of looking for a lasso: for each state that may be stored; at least."""


_EXTRACTING = "extracting the lasso"
_FREED_WORK, _MOST_FREED_WORK = 40.0, 2_000_000.0
"""Units of work for lassos of parts, for each state that may be stored; at most."""

_SAMPLE, _DEGREE = 1_000, 8
"""States after which it is known how many transitions leave one; and how many may
before fewer states are stored.
"""

_MOST_WORDS = 1 << 19
"""Words of the successors of one state; where they may be more, states are too large to
be stored just to make a run shorter.
"""

SYSTEM, PRODUCT = "system", "product"


class Shortened(NamedTuple):
    """A run, and among which it is known that none has fewer steps.

    These are the violations of the `SYSTEM`, or the lassos of its `PRODUCT` with the
    property's automaton, which may need more steps than the runs that they go with.
    """

    run: Run
    shortest_of: str | None = None


def shortened(
    question: Question,
    run: Run,
    *,
    most_states: float = math.inf,
) -> Job[Shortened]:
    """Look for a shorter violation in what is near the initial state.

    Parameters
    ----------
    question : Question
        What has been answered.
    run : Run
        A violation.
    most_states : float
        States of the product to store; with inf the result is a shortest lasso of the
        product, unless memory does not suffice.
    """
    best = begun(run)
    if best.shortest_of:
        return best
    trace = Trace(question.given)  # its figures are not those of the search
    network = with_components(question)
    if network is not None:
        run = yield from sliced(network, best.run, trace)
        best = begun(run)
    by_kernel = _thins_by_kernel(question)
    thin = None
    if by_kernel and len(best.run.actions) >= LONG:
        run = yield from shortened_by_trial(question, best.run)
        best = begun(run)
        thin = best.run
    with suppress(UnsupportedError):  # tables too large, say: only another could
        product = yield from question.product(question.given, trace)
        best = yield from _in_product(product, best, most_states)
    if best.shortest_of:
        return best
    run = best.run
    if by_kernel and run is not thin:
        run = thin = yield from shortened_by_trial(question, run)
    if len(run.actions) >= _SHORT:
        run = yield from ended_soon(question, run)
    if network is not None:
        work = min(_FREED_WORK * most_states, _MOST_FREED_WORK)
        with suppress(UnsupportedError):  # as above
            run = yield from freed(network, run, work)
    if run is not thin:
        run = yield from shortened_by_trial(question, run)
    return begun(run)


def shortened_in_python(question: Question, run: Run) -> Job[Shortened]:
    """Look for a shorter violation without kernels, which need not be compiled yet."""
    by_kernel = _thins_by_kernel(question)
    if not by_kernel:
        run = yield from shortened_by_trial(question, run)
    run = yield from ended_soon(question, run)
    if not by_kernel:
        run = yield from shortened_by_trial(question, run)
    return begun(run)


def _thins_by_kernel(question: Question) -> bool:
    """Whether kernels try what can be left out of a run."""
    net = is_net(getattr(question, "system", None))
    return net or with_components(question) is not None


def begun(run: Run, *, of_product: bool = False) -> Shortened:
    """Return a run in its shortest form, and what is known of it at once."""
    run = compressed(run)
    if len(run.actions) == 1:
        return Shortened(run, SYSTEM)
    return Shortened(run, PRODUCT if of_product else None)


_BY_ROWS = NetworkQuestion, ModelQuestion

_PLACES, _NEAR = 8, 400
"""Places of a run from which shorter ways to go on are looked for, and the states of
the product that are stored from each.
"""

_NEAR_WORK = 20_000.0
"""Units of work that the steps of these may take, roughly; large nets have fewer."""

_PER_LETTER, _PER_VALUE = 3.0, 0.05
"""Units of work of a letter, and of each value in a state."""

_SHORT, LONG = 32, 100
"""Steps of a run that may be ended soon, and of one that is thinned at first."""


def ended_soon(question: Question, run: Run) -> Job[Run]:
    """Return a run that follows another one for some steps, and then a shorter lasso.

    It is looked for from few places of the run, breadth first.
    """
    if not isinstance(question, _BY_ROWS) or run.states.size > MOST_VALUES:
        return run
    best = run
    with suppress(TooLargeError, UnsupportedError, OverflowError):
        trace = Trace(question.given)
        system: Any
        system, table = yield from question.plain_steps(question.given, trace)
        if table.system_marks:
            return run
        moves = instant.Moves(system, table, stutter=question.stutters)
        trials = Trials(table, math.inf)
        most_states = int(min(_NEAR, max(_NEAR_WORK / system.cost, _LEAST_STATES)))
        last = len(run.actions) - 1
        places = {run.length, *np.linspace(0, last, _PLACES + 1).astype(int).tolist()}
        starts, before = frozenset([table.initial]), 0
        for place in sorted(places):
            letters = yield from _letters(system, run, before, place, trials)
            starts = yield from trials.reached(blocks_of(letters), starts)
            if not starts:
                break
            system.initial = partial(_state_of, run, place)
            found = yield from instant.search(
                moves, max_states=most_states, starts=sorted(starts)
            )
            if found.run is not None:
                other = _joined(run, place, found.run)
                best = min(best, other, key=lambda one: len(one.actions))
            before = place
    return best


def _letters(
    system: PlainSteps, run: Run, first: int, last: int, trials: Trials
) -> Job[list[int]]:
    """Return the letters of some steps of a run."""
    letters = []
    for place in range(first, last):
        yield from trials.spent(_PER_LETTER + _PER_VALUE * run.states.shape[1])
        state = _state_of(run, place)
        letters.append(system.letter(state, int(run.actions[place])))
    return letters


def _state_of(run: Run, place: int) -> tuple[int, ...]:
    return tuple(run.states[place].tolist())


def _joined(run: Run, n_steps: int, other: Run) -> Run:
    """Return a run that goes on as another one after some steps."""
    return Run(
        np.concatenate([run.actions[:n_steps], other.actions]),
        np.concatenate([run.states[:n_steps], other.states]),
        n_steps + other.length,
    )


def tightened_in_python(
    question: Question, best: Shortened, most_states: int = _SMALL
) -> Job[Shortened]:
    """Look for a shortest run of the system, without kernels.

    The product with a tight automaton is searched, if it has few states.
    """
    try:
        trace = Trace(question.given)
        system, table = yield from question.plain_steps(question.given, trace)
        known = yield from tight(table, most_states)
        if known is None:
            return best
        table, starts = known
        moves = instant.Moves(system, table, stutter=question.stutters)
        outcome = yield from instant.search_of(question, moves, most_states, starts)
    except (TooLargeError, UnsupportedError, OverflowError):  # of marks, or numbers
        return best
    if outcome.run is None:
        return best
    run = compressed(outcome.run)
    if len(run.actions) < len(best.run.actions):
        best = Shortened(run)
    return best._replace(shortest_of=SYSTEM) if outcome.is_shortest else best


def tightened(
    question: Question, best: Shortened, most_states: float = math.inf
) -> Job[Shortened]:
    """Look for a shortest run of the system, as far as memory suffices.

    If its automaton cannot be made tight, it is a shortest lasso of the product.
    """
    with suppress(UnsupportedError):  # as above
        product = yield from question.product(question.given, Trace(question.given))
        known = yield from tight(product.table)
        return (yield from _in_product(product, best, most_states, known))
    return best


def shortened_prefix(question: Question, run: Run, most_states: float) -> Job[Run]:
    """Return a run to where the property is lost (`Question.ends`), with few steps."""
    best = begun(run)
    with suppress(UnsupportedError):  # as above
        product = yield from question.product(question.given, Trace(question.given))
        best = yield from _in_product(product, best, most_states, with_ends=True)
    return best.run


def shortened_by_trial(question: Question, run: Run) -> Job[Run]:
    """Return a run without steps that can be left out; no product is searched."""
    run = compressed(run)
    trace = Trace(question.given)
    with suppress(UnsupportedError):  # as above
        if isinstance(question, ModelQuestion):
            run = yield from thinned(question, run, trace)
        elif isinstance(question, NetworkQuestion):
            run = yield from sliced(question, run, trace)
            run = yield from thinned_network(question, run, trace)
    return compressed(run)


def shorter(product: Product, run: Run, most_states: float) -> Job[Run]:
    """Return a shorter run of a product, or the one that is known."""
    found = yield from _in_product(product, Shortened(run), most_states)
    return found.run


def _in_product(
    product: Product,
    best: Shortened,
    most_states: float,
    known: Tight | None = None,
    *,
    with_ends: bool = False,
) -> Job[Shortened]:
    """Look for a shorter run in a product, or in that with a tight automaton.

    It may end where the question says, `with_ends`.
    """
    if known is not None:
        product = product.with_table(known.table)
    elif is_tight(product.table):
        known = Tight(product.table, (product.table.initial,))
    packed = yield from product.packed()
    while packed is not None:
        needed = product.needed_bytes(packed)
        grant = yield Progress(_EXTRACTING, memory_bytes=needed)
        if needed > grant.memory_bytes:
            break
        problem = product.problem(packed)
        words = len(problem.initial) * len(problem.product.ids)
        if words > _MOST_WORDS and most_states != math.inf:
            break
        if with_ends:
            question = product.question
            trace = Trace(question.given)
            problem = Attempt(question, product, packed, trace, None).problem()
        found = yield from _within(problem, packed, best, most_states, known)
        if found is not None:
            return found
        packed = yield from packed.widened()
    return best


def _within(
    problem: Problem,
    packed: PackedSystem,
    best: Shortened,
    most_states: float,
    known: Tight | None,
) -> Job[Shortened | None]:
    """Look for a shorter run in a packed product; None if its rows are too narrow."""
    from ltlpipe.search.driver import EXTRACTING, advance
    from ltlpipe.search.exploring import Recording
    from ltlpipe.search.shortest_lassos import shortest_in

    yield from packed.ready()
    recording = Recording(problem, () if known is None else known.starts)
    stop = _FIRST_STOP
    while True:
        bound = len(best.run.actions)
        recording.stop_at(most_levels=bound - 1, next_stop=stop)
        most = _affordable(recording, most_states)
        outcome = yield from advance(
            recording,
            max_states=None if most == math.inf else int(most),
            overflowed=packed.overflowed,
            phase=EXTRACTING,
        )
        if outcome.reason == OVERFLOW:
            return None
        if outcome.reason == MAX_STATES and most < _affordable(recording, most_states):
            continue
        lasso, complete = yield from shortest_in(
            recording, bound, most_work=max(_PER_STATE * most_states, _LEAST_WORK)
        )
        if lasso is not None:
            run = compressed((yield from run_of(lasso, recording, packed)))
            best = Shortened(run)
        is_deep = recording.n_levels >= len(best.run.actions) - 1
        if complete and (recording.is_complete or is_deep):
            return best._replace(shortest_of=PRODUCT if known is None else SYSTEM)
        if outcome.reason is not None or recording.has_ended or not complete:
            return best
        stop *= 2


def _affordable(recording: Recording, most_states: float) -> float:
    """Return how many states may be stored, by how many transitions leave them.

    Many of them are few of these.  That is found out once, by the first states.
    """
    if most_states <= _SAMPLE or most_states == math.inf:
        return most_states
    if recording.registers[Reg.VISITED] < _SAMPLE:
        return _SAMPLE
    n_edges = int(recording.arrays.ends[_SAMPLE - 2])
    return max(_SAMPLE, min(1.0, _DEGREE * _SAMPLE / max(n_edges, 1)) * most_states)


_COMPONENT_WORK = 0.5  # microseconds for each transition of a component

_LARGE = 20_000
"""Transitions of a component in which no short cycle is looked for."""

_FEW = 3
"""Components whose short cycles are tried."""

_STATES = 50_000
"""States that are stored at most of a product in which few components are free."""

_PATIENCE = 1_200_000.0
"""Units of work in which a neighbourhood must have a shorter run for others to be
searched: some twenty large ones.
"""


def freed(network: NetworkQuestion, run: Run, work: float) -> Job[Run]:
    """Return a shorter run, or the one that is known, after so much work.

    Whether a run is fair depends on transitions that a part of the network lacks.
    """
    known = [run]
    if network.fairness is not None:
        return run
    with suppress(TooMuchWorkError):
        yield from bounded(_freed(network, known), work)
    return known[-1]


def _freed(network: NetworkQuestion, known: list[Run]) -> Job[None]:
    """Add shorter and shorter runs, until no neighbourhood of the last has one, or that
    takes long to find out.
    """
    sets = _neighbourhoods(network.system, known[-1])
    found: tuple[Run, int] | None = known[-1], 0
    while found is not None:
        run, number = found
        known.append(run)
        sets = sets[number:] + sets[:number]
        found = yield from bounded(_better(network, run, sets), _PATIENCE)


def _better(
    network: NetworkQuestion, run: Run, sets: Sequence[tuple[int, ...]]
) -> Job[tuple[Run, int] | None]:
    """Return a shorter run, and how many neighbourhoods it took to find it."""
    trace, parts = Trace(network.given), network.system.components
    taken = yield from taken_by(network.system, run)
    for number, free in enumerate(sets, 1):
        kept = [parts[i] if i in free else c for i, c in enumerate(taken.components)]
        near = Network(kept, network.system.name)
        product = yield from network.product(network.given, trace, near)
        found = yield from shorter(product, run, _STATES)
        if len(found.actions) < len(run.actions) and _ends_as_said(network, found):
            return found, number
    return None


def _ends_as_said(network: NetworkQuestion, run: Run) -> bool:
    """Whether a state of a run that repeats itself is a deadlock, and not just of a
    part of the network.
    """
    if (run.actions >= 0).all():
        return True
    steps = NetworkSteps(network.system, limited=False)
    return next(steps.each_step(tuple(run.states[-1].tolist())), None) is None


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
