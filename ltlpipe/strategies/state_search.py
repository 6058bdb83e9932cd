"""Searching a product state by state with a compiled emptiness check."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer
from ltlpipe.question.conditions import AMPLE, COMPONENTS
from ltlpipe.question.options import PRODUCT_OPTIONS
from ltlpipe.runtime.jobs import MIB, reserved
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.nested.coverage import encoded
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Outcome
    from ltlpipe.search.emptiness import ProductLasso, Search, StoredSearch
    from ltlpipe.search.nested.coverage import Member
    from ltlpipe.search.net_walks import NetWalks
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.networks.packing import PackedSystem

    AnySearch = StoredSearch | DecoupledSCC | DecoupledNDFS | NetWalks
    Way = Callable[["Attempt"], Job[Answer]]

BITSTATE_REASON = "bitstate"
"""Why a bitstate search that finds nothing says nothing: it may miss states.

With fingerprints it is "compact".
"""

_OF_WEAK = ("dfs-weak", "reach-terminal")

OVERFLOW = "overflow"
"""Why there is no answer if no row can hold the values of a variable."""


class Attempt(NamedTuple):
    """A search that is about to begin."""

    question: Question
    product: Product  # of its system, or of what takes its place
    packed: PackedSystem
    trace: Trace
    max_states: int | None  # that the search may enter

    def problem(self) -> Problem:
        """Return the product; states of `ends_of` repeat themselves in it."""
        problem = self.product.problem(self.packed)
        ends = ends_of(self.question, self.product.table, self.trace)
        return replace(problem, product=problem.product._replace(ends=ends))


def search_states(
    question: Question,
    product: Product,
    trace: Trace,
    *,
    max_states: int | None = None,
    way: Way | None = None,
    packing: Job[PackedSystem | None] | None = None,
) -> Job[Answer]:
    """Search a product for an accepting run.

    Parameters
    ----------
    question : Question
        The question to be answered.
    product : Product
        Of its system, or of what takes its place; runs are runs of that.
    trace : Trace
        Its plan names the search; the search notes its figures there.
    max_states : int, optional
        States that the search may enter, if not those of the question.
    way : callable, optional
        How, if not by one search; it takes what `search_once` takes.
    packing : job, optional
        Returns the packed system, if it is not that of the product.
    """
    limit = question.options.max_states
    if max_states is not None:
        limit = max_states if limit is None else min(limit, max_states)
    packed = yield from packing or product.packed()
    while packed is not None:
        needed = product.needed_bytes(packed) + (question.options.bitstate or 0) * MIB
        yield from reserved("searching", needed)
        yield from packed.ready()
        attempt = Attempt(question, product, packed, trace, limit)
        answer = yield from (way or search_once)(attempt)
        if answer.reason != OVERFLOW:
            return answer
        packed = yield from packed.widened()
    return Answer(INCONCLUSIVE, OVERFLOW)


def search_once(attempt: Attempt) -> Job[Answer]:
    """Search by the emptiness check that the plan of the trace names."""
    search = new_search(attempt.question, attempt.trace.plan, attempt.problem())
    return (yield from answer_of(attempt, search))


def ends_of(question: Question, table: PropertyAutomaton, trace: Trace) -> np.ndarray:
    """Return where a search stops, which a trace describes; see `Question.ends`.

    Where an infinite continuation has to be found, only a search does whose runs are
    extracted at once, for nothing is certain before; and not in components that were
    reduced: they need not have each finite run that the reduced ones have.
    """
    ends, plan = question.ends(table), trace.plan
    fits = plan.emptiness in _OF_WEAK and COMPONENTS not in plan.reductions
    if not (question.stutters or fits):
        ends = ends[:0]
    trace.is_certain = question.stutters or not ends.any()
    return ends


def new_search(question: Question, plan: Plan, problem: Problem) -> Search:
    """Return the emptiness check that a plan names, about to begin."""
    from ltlpipe.search.catalogue import OF_WORKERS, SEARCHES

    options = question.options
    problem = replace(problem, compress=options.compress, spill=options.spill)
    variant = (options.seed or 0) << 16
    if options.bitstate is not None:
        from ltlpipe.search.nested.bitstate import BitstateSE05

        return BitstateSE05(problem, options.bitstate, variant)
    if options.compact is not None:
        from ltlpipe.search.nested.bitstate import CompactSE05

        return CompactSE05(problem, options.compact, variant)
    assert plan.emptiness is not None  # since it is settled
    workers = question.options.workers
    known = SEARCHES if workers == 1 else SEARCHES | OF_WORKERS
    kind = known[plan.emptiness]()
    if kind.takes_workers:
        return kind(problem, workers=workers)  # type: ignore[call-arg]
    return kind(problem)


def answer_of(
    attempt: Attempt, search: Search, advancing: Job[Outcome] | None = None
) -> Job[Answer]:
    """Run a search of a product to its end; `advancing` is that of `searched`."""
    from ltlpipe.search.driver import advance

    question, _, packed, trace, max_states = attempt
    overflowed = packed.overflowed
    if advancing is None:
        advancing = advance(search, max_states=max_states, overflowed=overflowed)

    def extraction() -> Job[Run | None]:
        lasso = yield from search.lasso()
        if overflowed() is not None:  # extraction may have searched on
            return None
        return (yield from run_of(lasso, search, packed))

    options = question.options
    try:
        answer = yield from searched(options, search, trace, extraction, advancing)
    finally:
        if options.bitstate is not None:
            from ltlpipe.search.nested.bitstate import BitstateSE05

            assert isinstance(search, BitstateSE05)  # since `new_search`
            note_sample(question, trace, [search.member()])
    if answer.kind == EMPTY and question.options.omitting is not None:
        return Answer(INCONCLUSIVE, question.options.omitting.removeprefix("--"))
    if answer.kind == FOUND and answer.run is None and question.options.lasso:
        trace.has_found = False
        return Answer(INCONCLUSIVE, OVERFLOW)
    return answer


def searched(
    options: Options,
    search: AnySearch,
    trace: Trace,
    extraction: Callable[[], Job[Run | None]],
    advancing: Job[Outcome],
) -> Job[Answer]:
    """Run a search to its end, and extract the run that it has found.

    `advancing` is `ltlpipe.search.driver.advance` of the search.
    """
    from ltlpipe.search.registers import Status

    try:
        outcome = yield from trace.timed("search_seconds", advancing)
    finally:
        note_search(trace, search)
    if outcome.reason is not None:
        return Answer(INCONCLUSIVE, outcome.reason)
    if outcome.status == Status.EMPTY:
        return Answer(EMPTY)
    trace.has_found = trace.is_certain
    if not options.lasso:
        return Answer(FOUND)
    run = yield from trace.timed("lasso_seconds", extraction())
    return Answer(FOUND, run=run)


_VALUES, _PER_VALUE = 1_000_000, 0.02
"""Values in states that are unpacked at a time, and microseconds of one."""


def run_of(lasso: ProductLasso, search: Search, packed: PackedSystem) -> Job[Run]:
    """Return the run of the system that a lasso of a product goes with."""
    from ltlpipe.search.interning import rows_of

    ids = np.concatenate([lasso.prefix, lasso.cycle[1:]])
    actions = np.concatenate([lasso.prefix_actions, lasso.cycle_actions])
    first = packed.unpack(rows_of(search.store, ids[:1]))
    held = search.memory_bytes + len(ids) * first.nbytes
    yield from reserved("extracting", held)
    states = np.empty((len(ids), *first.shape[1:]), dtype=first.dtype)
    some = max(_VALUES // max(first.size, 1), 1)
    ticks = Ticks("extracting", first.size * _PER_VALUE, held)
    for k in range(0, len(ids), some):
        part = ids[k : k + some]
        states[k : k + some] = packed.unpack(rows_of(search.store, part))
        yield from ticks.worked(len(part))
    return Run(actions, states, len(lasso.prefix_actions))


def note_search(trace: Trace, search: AnySearch) -> None:
    """Tell a trace the figures of a search."""
    from ltlpipe.search.emptiness import StoredSearch
    from ltlpipe.search.registers import Reg

    registers = search.registers
    states = int(registers[Reg.VISITED])
    details = trace.stats.details | search.statistics()
    if AMPLE in trace.plan.reductions:
        details["reduced_states"] = int(registers[Reg.REDUCED])
    trace.note(
        states=states,
        transitions=int(registers[Reg.TRANSITIONS]),
        max_depth=int(registers[Reg.MAX_DEPTH]),
        details=details,
        coverage=search.coverage(),
    )
    if isinstance(search, StoredSearch):
        if search.file_bytes:
            details["spilled_mib"] = search.file_bytes / MIB
        trace.note(
            bytes_per_state=search.memory_bytes / states if states else None,
            colour_bytes_per_state=search.bytes_per_state,
            details=details,
        )


def note_sample(question: Question, trace: Trace, members: Sequence[Member]) -> None:
    """Tell a trace what bitstate searches have seen of the question's product."""
    from hashlib import sha256

    said = {name: getattr(question.options, name) for name in PRODUCT_OPTIONS}
    text = json.dumps(said, sort_keys=True, default=repr)
    product = sha256(text.encode()).hexdigest()[:16]
    trace.note(sample=encoded(product, members))
