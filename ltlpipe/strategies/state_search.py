"""Searching a product state by state with a compiled emptiness check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.question.answer import EMPTY, FOUND, INCONCLUSIVE, Answer, Run
from ltlpipe.question.options import AMPLE
from ltlpipe.runtime.jobs import MIB, Progress, StoppedError, timed

if TYPE_CHECKING:
    from ltlpipe.question.answer import Plan, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.powerset.searching import PowersetSearch
    from ltlpipe.search.problem import Problem

BITSTATE_REASON = "bitstate"
"""Why a search over bits that finds nothing says nothing: it may miss states."""

OVERFLOW = "overflow"
"""Why there is no answer if no row can hold the values of a variable."""


def search_states(
    question: Question,
    product: Product,
    trace: Trace,
    *,
    max_states: int | None = None,
) -> Job[Answer]:
    """Search a product for an accepting run.

    Parameters
    ----------
    question : Question
        What is asked.
    product : Product
        Of its system, or of what takes its place; runs are runs of that.
    trace : Trace
        Its plan names the search; it is told what the search does.
    max_states : int, optional
        States that the search may enter, if not those of the question.
    """
    from ltlpipe.runtime.kernels.compilation import ready_expand_pointer

    limit = question.options.max_states
    if max_states is not None:
        limit = max_states if limit is None else min(limit, max_states)
    packed = yield from product.packed()
    while packed is not None:
        needed = product.needed_bytes(packed) + (question.options.bitstate or 0) * MIB
        grant = yield Progress("searching", memory_bytes=needed)
        if needed > grant.memory_bytes:
            raise StoppedError("memory")
        yield from ready_expand_pointer(packed.expand)
        search = _new_search(question, trace.plan, product.problem(packed))
        answer = yield from _searched(question, search, packed, trace, limit)
        if answer.reason != OVERFLOW:
            return answer
        packed = yield from packed.widened()
    return Answer(INCONCLUSIVE, OVERFLOW)


def _new_search(question: Question, plan: Plan, problem: Problem) -> Search:
    from ltlpipe.search.catalogue import SEARCHES

    if question.options.bitstate is not None:
        from ltlpipe.search.nested.bitstate import BitstateSE05

        return BitstateSE05(problem, question.options.bitstate)
    assert plan.emptiness is not None  # since `settle`
    return SEARCHES[plan.emptiness]()(problem)


def _searched(
    question: Question,
    search: Search,
    packed: object,
    trace: Trace,
    max_states: int | None,
) -> Job[Answer]:
    """Run a search to its end, and extract the run that it has found."""
    from ltlpipe.search.driver import advance
    from ltlpipe.search.registers import Status

    overflowed = packed.overflowed  # type: ignore[attr-defined]
    try:
        outcome = yield from timed(
            advance(search, max_states=max_states, overflowed=overflowed),
            lambda seconds: trace.add_seconds("search_seconds", seconds),
        )
    finally:
        note_search(trace, search)
    if outcome.reason is not None:
        return Answer(INCONCLUSIVE, outcome.reason)
    if outcome.status == Status.EMPTY:
        if question.options.bitstate is not None:
            return Answer(INCONCLUSIVE, BITSTATE_REASON)
        return Answer(EMPTY)
    trace.has_found = True
    if not question.options.lasso:
        return Answer(FOUND)
    found = yield from timed(
        search.lasso(), lambda seconds: trace.add_seconds("lasso_seconds", seconds)
    )
    if overflowed() is not None:  # extraction may have searched on
        trace.has_found = False
        return Answer(INCONCLUSIVE, OVERFLOW)
    ids = np.concatenate([found.prefix, found.cycle[1:]])
    states = packed.unpack(search.store.rows[ids])  # type: ignore[attr-defined]
    actions = np.concatenate([found.prefix_actions, found.cycle_actions])
    return Answer(FOUND, run=Run(actions, states, len(found.prefix_actions)))


def note_search(trace: Trace, search: Search | PowersetSearch) -> None:
    """Tell a trace the figures of a search."""
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
        bytes_per_state=search.memory_bytes / states if states else None,
        colour_bytes_per_state=search.bytes_per_state,
        details=details,
        coverage=search.coverage(),
    )
