"""Search state by state: with all steps of the system, with ample sets, or by walks.

Sources for ample sets (steps that commute are taken in one order): S. F. Siegel and
Y. Yan, "Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020, for
networks; docs/models-por.md for models, by tables.

A swarm is several bitstate searches, each with hash functions and orders of its own.
What one of them takes for visited, another one enters.  They run one after the other,
so that the bits of one are held at a time, or with `--workers` some side by side; the
first violation ends them all.

Source: G. Holzmann, R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE
37(6), 2011.

How much they have seen together is estimated (`ltlpipe.search.nested.coverage`).

Walks are guided by the property: they look for violations before much is composed or
explored, and never show that a formula holds; docs/walks.md.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, NOT_APPLICABLE, Answer
from ltlpipe.question.conditions import AMPLE, WALKS, WITH_FIN
from ltlpipe.question.property import FOLLOWING
from ltlpipe.question.question import NotApplicableError, for_workers
from ltlpipe.runtime.jobs import MAX_STATES, MEMORY, MIB, Grant, Progress, StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.nested.coverage import together
from ltlpipe.strategies.state_search import (
    BITSTATE_REASON,
    Attempt,
    answer_of,
    note_sample,
    note_search,
    search_states,
)
from ltlpipe.systems.kinds import is_net

if TYPE_CHECKING:
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Outcome
    from ltlpipe.search.needs import Needs
    from ltlpipe.search.nested.bitstate import BitstateSE05
    from ltlpipe.search.nested.coverage import Member


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    stored = question.stored(trace)
    if stored is not None:
        return (yield from stored)
    product = yield from question.product(question.given, trace)
    plan = question.settled(product.plan, product.table, product.reductions)
    trace.plan = for_workers(plan, question.options)
    way = None if question.options.swarm is None else search_by_swarm
    return (yield from search_states(question, product, trace, way=way))


def job_with_ample_sets(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    product, reason = yield from question.ample_product(question.given, trace)
    if reason == FOLLOWING:
        product, reason = yield from _compared(question, product, trace)
    trace.plan = ample_plan(question, product, reason)
    return (yield from search_states(question, product, trace))


def _compared(
    question: Any, product: Product, trace: Trace
) -> Job[tuple[Product, str]]:
    """Return a product with stubborn sets of a net, or else that with groups, and why.

    The former where they leave out a good part of the first steps.

    Raises
    ------
    NotApplicableError
        They do not, and groups may not be used.
    """
    whole = yield from question.product(question.given, trace)
    every = yield from _first_steps(question, whole, trace)
    left = every and (yield from _first_steps(question, product, trace))
    if not (every and left) or left > (every.goes_on, _TAKEN * every.per_state):
        try:
            product, why = yield from question.grouped_product(question.given, trace)
        except NotApplicableError:
            if not question.options.insists_on(AMPLE):
                raise
        else:
            return product, why
    return product, FOLLOWING


class _Steps(NamedTuple):
    """The steps of the first states of a product, the less the better."""

    goes_on: bool  # whether there are more states
    per_state: float  # in the mean; or all steps, if there are no more states


def _first_steps(question: Any, product: Product, trace: Trace) -> Job[_Steps | None]:
    """Return the steps of the first states; None if too large for a trial."""
    from ltlpipe.search.driver import advance
    from ltlpipe.search.exploring import Exploration
    from ltlpipe.search.registers import Reg

    packed = yield from product.packed()
    if product.needed_bytes(packed) > _TRIAL_BYTES:
        return None
    yield from packed.ready()
    search = Exploration(Attempt(question, product, packed, trace, None).problem())
    outcome = yield from advance(search, max_states=_TRIAL_STATES)
    n_steps = int(search.registers[Reg.TRANSITIONS])
    if outcome.reason is None and packed.overflowed() is None:
        return _Steps(False, n_steps)
    return _Steps(True, n_steps / max(1, search.registers[Reg.VISITED]))


def ample_plan(question: Question, product: Product, reason: str) -> Plan:
    """Return the settled plan of a search with ample sets."""
    plan = question.settled(product.plan, product.table, product.reductions)
    plan = plan.reduced_by(AMPLE, f"ample sets, because {reason}")
    return for_workers(plan, question.options)


_TRIAL_STATES, _TRIAL_BYTES = 2_000, 64 * MIB
"""States in which ample sets of nets are tried, and the buffers for that."""

_TAKEN = 0.9
"""Steps left, of those of all, with which stubborn sets are used: they take time."""

SEARCHING = "searching"

_COUVREUR99 = "couvreur99"

_ROUND = 50_000.0
"""Units of work of each search in a round: some 50 ms."""


def search_by_swarm(attempt: Attempt) -> Job[Answer]:
    """Search a product by as many bitstate searches as the question asks for.

    With a limit of states each of them may enter so many.
    """
    swarm = _Swarm(attempt)
    try:
        ended = yield from attempt.trace.timed("search_seconds", swarm.run())
    finally:
        swarm.note()
    if ended is None:
        reason = MAX_STATES if MAX_STATES in swarm.reasons else BITSTATE_REASON
        return Answer(INCONCLUSIVE, reason)
    search, outcome = ended
    answer = yield from answer_of(attempt, search, _ended(outcome))
    swarm.note()
    return answer


class _Swarm:
    """Bitstate searches in progress, at most as many at a time as there are workers.

    Each of those gets the same work in a round, in a thread of its own; so neither
    threads nor the machine's load decide which of two searches ends first.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._options = attempt.question.options
        self._left = list(range(self._options.swarm or 1))
        self._running: dict[BitstateSE05, Job[Outcome]] = {}  # in order of numbers
        self._members: list[Member] = []
        self.reasons: set[str | None] = set()

    def run(self) -> Job[tuple[BitstateSE05, Outcome] | None]:
        """Return the first search that ended otherwise than all do, and how."""
        n_threads = min(self._options.workers, len(self._left))
        grant = yield Progress(SEARCHING, memory_bytes=self._memory_bytes)
        with ThreadPoolExecutor(n_threads) as threads:
            while self._left or self._running:
                yield from self._begin(n_threads, grant)
                n = len(self._running)
                work = min(_ROUND, grant.work / n)
                free = (grant.memory_bytes - self._memory_bytes) / n
                grants = [Grant(s.memory_bytes + free, work) for s in self._running]
                turns = list(threads.map(_turn, self._running.values(), grants))
                ended = self._ended([outcome for _, outcome in turns])
                if ended is not None:
                    return ended
                grant = yield Progress(
                    SEARCHING,
                    work=sum(done for done, _ in turns),
                    memory_bytes=self._memory_bytes,
                    states=self._n_states,
                )
        return None

    def _begin(self, n_threads: int, grant: Grant) -> Job[None]:
        """Begin searches until so many run, or as many as there is memory for."""
        from ltlpipe.runtime.kernels.compilation import ready
        from ltlpipe.search.driver import advance
        from ltlpipe.search.nested.bitstate import BitstateSE05

        bits = self._options.bitstate
        assert bits is not None  # since `Options`
        while self._left and len(self._running) < n_threads:
            needed = self._memory_bytes + bits * MIB
            if self._running and needed > grant.memory_bytes:
                return
            grant = yield Progress(SEARCHING, memory_bytes=needed)
            if needed > grant.memory_bytes:
                raise StoppedError(MEMORY)
            # Without a seed the variant 0 is the usual one.
            variant = self._left.pop(0) + ((self._options.seed or 0) << 16)
            search = BitstateSE05(self._attempt.problem(), bits, variant)
            job = advance(
                search,
                max_states=self._attempt.max_states,
                overflowed=self._attempt.packed.overflowed,
            )
            kernel, arguments = search.kernel_call(1)
            yield from ready(kernel, *arguments)
            next(job)  # now it takes grants
            self._running[search] = job

    def _ended(
        self, outcomes: list[Outcome | None]
    ) -> tuple[BitstateSE05, Outcome] | None:
        """Take note of searches that have ended; return one if it ends them all."""
        from ltlpipe.search.registers import Status

        ended = [
            (search, outcome, outcome.status == Status.FOUND)
            for search, outcome in zip(self._running, outcomes, strict=True)
            if outcome is not None
        ]
        # A run that is found counts, whatever limit another search has come to.
        for search, outcome, is_found in sorted(ended, key=lambda end: not end[2]):
            if is_found or outcome.reason not in (None, MAX_STATES):
                self._members = self._seen()
                self._running.clear()  # makes room
                return search, outcome
            self.reasons.add(outcome.reason)
            note_search(self._attempt.trace, search)
            self._members.append(search.member())
            del self._running[search]
        return None

    @property
    def _memory_bytes(self) -> float:
        return sum(search.memory_bytes for search in self._running)

    @property
    def _n_states(self) -> int:
        ended = sum(member.states for member in self._members)
        return ended + sum(search.n_visited for search in self._running)

    def _seen(self) -> list[Member]:
        return [*self._members, *(s.member() for s in self._running)]

    def note(self) -> None:
        """Tell the trace what all searches have seen so far."""
        members, trace = self._seen(), self._attempt.trace
        joint = together(members)
        runs = [
            {"states": m.states, "omitted": m.omitted, "coverage": m.coverage}
            for m in members
        ]
        trace.note(
            states=joint.states,
            transitions=sum(member.transitions for member in members),
            coverage=joint.coverage,
            details=trace.stats.details | {"swarm": runs},
        )
        note_sample(self._attempt.question, trace, members)


def _turn(job: Job[Outcome], grant: Grant) -> tuple[float, Outcome | None]:
    """Advance a search; return the work that it has done, and how it has ended."""
    done = 0.0
    try:
        while done < grant.work or done == 0:
            done += job.send(Grant(grant.memory_bytes, grant.work - done)).work
    except StopIteration as end:
        return done, end.value
    return done, None


def _ended(outcome: Outcome) -> Job[Outcome]:
    """Return a search that has ended."""
    yield from ()
    return outcome


SOME_STATES = 100_000
"""States that walks enter in all, beside other strategies."""

SOME_WORK = 500_000.0
"""Units of work of walks that store nothing, before."""

MANY_STATES = 10_000_000
"""The same where they are asked for by name."""

_PER_WAY = 0.01
"""Microseconds of a look at a way of a component to an action."""


def job_of_walks(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    insists = question.options.insists_on(WALKS)
    if not insists and question.stored(trace) is not None:
        raise NotApplicableError("the graph is searched as it is stored")
    product = yield from question.product(question.given, trace)
    condition = product.table.condition
    if condition is not None and condition.fin_marks:
        raise NotApplicableError(WITH_FIN)
    trace.plan = _plan_of_walks(question, product)

    most = question.options.max_states
    if is_net(getattr(question, "system", None)):
        from ltlpipe.strategies.net_walks import can_walk, walk_net

        if can_walk(question):
            work = math.inf if insists else SOME_WORK
            answer = yield from walk_net(question, product, trace, MANY_STATES, work)
            if answer.kind == FOUND or answer.reason not in (None, MAX_STATES):
                return answer
    own = MANY_STATES if insists else SOME_STATES
    answer = yield from search_states(
        question, product, trace, max_states=own, way=walk
    )
    if answer.kind == EMPTY:
        return _given_up(question, trace, "one of them has seen all there is")
    if answer.reason == MAX_STATES and (most is None or own < most):
        return _given_up(question, trace, None)
    return answer


def walk(attempt: Attempt, turn: int = 0) -> Job[Answer]:
    """Walk through a product, in each turn in other ways."""
    from ltlpipe.search.scc.couvreur99 import Walks

    seed = (attempt.question.options.seed or 0) + turn
    needs = yield from _needs(attempt)
    search = Walks(attempt.problem(), attempt.product.table, seed, needs=needs)
    return (yield from answer_of(attempt, search))


def _needs(attempt: Attempt) -> Job[Needs | None]:
    """Return what the components of a network need for what the property waits for."""
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.question.network import NetworkProduct
    from ltlpipe.search.guidance import aims
    from ltlpipe.search.needs import needs_of

    product, table = attempt.product, attempt.product.table
    if not isinstance(product, NetworkProduct):
        return None
    network, packed = product.trimmed.network, attempt.packed
    letters = letters_of(network, product.trimmed.actions)
    far, ticks = aims(table), Ticks(SEARCHING, _PER_WAY)
    return (yield from needs_of(network, packed, letters, table, far, ticks))


def _plan_of_walks(question: Question, product: Product) -> Plan:
    """Return the settled plan; the search is the one that walks are made of."""
    plan = question.settled(
        replace(product.plan, emptiness=_COUVREUR99),
        product.table,
        product.reductions,
    )
    why = (
        f"{WALKS}, because a violation may be near in some order of steps: searches "
        "of few states, one after another, are guided by the automaton"
    )
    return replace(plan, reasons=(why, *plan.reasons))


def _given_up(question: Question, trace: Trace, why: str | None) -> Answer:
    """Return the answer of walks that have found nothing, which says nothing."""
    if question.options.insists_on(WALKS):
        return Answer(INCONCLUSIVE, WALKS)
    stats = trace.stats
    said = (
        f"no violation in {stats.states:,} states of {stats.details['walks']:,} walks"
    )
    return Answer(NOT_APPLICABLE, said if why is None else f"{said}: {why}")
