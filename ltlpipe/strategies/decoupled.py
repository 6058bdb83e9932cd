"""Decoupled search: states share what components can do on their own.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021; docs/decoupled.md has what
goes beyond it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.decoupled.decoupling import Asked, estimate
from ltlpipe.question.interruptible import normalised
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.network import with_components
from ltlpipe.question.options import DECOUPLING
from ltlpipe.question.question import UNFAIR, NotApplicableError
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, DECOUPLED_SCC
from ltlpipe.strategies import components, star
from ltlpipe.strategies.star import not_generalised
from ltlpipe.strategies.state_search import searched

if TYPE_CHECKING:
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.monitors import Monitor
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.runs import Run

name = DECOUPLING
supersedes: str | None = None
needs_kernels = True
takes_colours = False


def is_named(options: Options) -> bool:
    """Whether the options ask for it by name, so that it must not be left out."""
    return options.wants_decoupling


def obstacle(question: Question) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    options, named = question.options, question.given.emptiness
    if isinstance(question, ModelQuestion):
        return star.obstacle(question)
    network = with_components(question)
    if network is None:
        return "the system has no components"
    if named is not None and named not in DECOUPLED:
        return f"{named} looks at one state at a time"
    if named is None and not options.reduces(DECOUPLING):
        return "--reduce does not name it"
    if question.fairness is not None:
        return UNFAIR
    if question.stutters:
        return "sets of states do not tell which of them are deadlocks"
    if named == DECOUPLED_SCC and network.system.has_acceptance:
        return f"{DECOUPLED_SCC} takes no components that accept: use {DECOUPLED_NDFS}"
    return None


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    if isinstance(question, ModelQuestion):
        return (yield from star.job(question, trace))
    network = with_components(question)
    assert network is not None  # by `obstacle`
    if not is_named(question.options) and not network.accepts_apart:
        found = estimate(network.system, question.property.propositions)
        if not found.pays:
            raise NotApplicableError(str(found))
    composed = yield from components.composed_if_named(question, network, trace)
    system = network.system if composed is None else composed.reduced.network
    asked, plan = yield from _asked(network, system, trace)
    trace.plan = plan if composed is None else composed.noted(plan)
    answer = yield from _search(network, asked, trace)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


def _asked(
    question: NetworkQuestion, system: Any, trace: Trace
) -> Job[tuple[Asked, Plan]]:
    """Return the search problem and the plan."""
    decision, product = yield from question.interruptible_product(
        system, question.given, trace
    )
    if not decision.allowed:
        raise NotApplicableError(decision.reason)
    trimmed = product.trimmed
    if trimmed.table.condition is not None:
        raise NotApplicableError(not_generalised(trimmed.table))
    visible = question.visible_letters(trimmed)
    trivial = question.property.is_trivial
    if trimmed.table.is_buchi and not trivial:
        trimmed = trimmed._replace(table=normalised(trimmed.table, visible))
    trace.note(automaton_states=trimmed.table.n_states)
    chosen = _with_search(product.plan, _search_name(question))
    plan = question.settled(chosen, trimmed.table, product.reductions)
    found = estimate(trimmed.network, [trimmed.actions[v - 1] for v in visible])
    plan = plan.reduced_by(DECOUPLING, f"{DECOUPLING}, because {found}")
    return Asked(trimmed, visible, trivial, not question.accepts_apart), plan


def _search_name(question: NetworkQuestion) -> str:
    named = question.options.emptiness
    if named in DECOUPLED:
        return named
    return DECOUPLED_NDFS if question.system.has_acceptance else DECOUPLED_SCC


def _with_search(plan: Plan, search: str) -> Plan:
    """Make a decoupled search that of a plan, before it is settled."""
    reasons = plan.reasons
    if plan.emptiness is None:
        reasons = (f"{search}, because {_WHY[search]}", *reasons)
    return replace(plan, emptiness=search, reasons=reasons)


def _search(question: NetworkQuestion, asked: Asked, trace: Trace) -> Job[Answer]:
    """Search decoupled states for an accepting run."""
    from ltlpipe.decoupled.lassos import lasso

    search = yield from _new_search(question, asked, trace)

    def extraction() -> Job[Run]:
        steps = yield from search.trace()
        return (yield from lasso(asked.trimmed.network, steps, search.network))

    limit = question.options.max_states
    return (yield from searched(question, search, trace, extraction, max_states=limit))


def _new_search(
    question: NetworkQuestion, asked: Asked, trace: Trace
) -> Job[DecoupledSCC | DecoupledNDFS]:
    """Build the tables of a decoupled search."""
    from ltlpipe.decoupled.construction import decouple
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.monitors import counted

    network, options = asked.trimmed.network, question.options
    if trace.plan.emptiness == DECOUPLED_SCC:
        tables = yield from decouple(network, _monitor(asked), seed=options.seed)
        return DecoupledSCC(tables)
    if asked.trivial and asked.together:
        tables = yield from decouple(network, seed=options.seed)
    else:
        tables = yield from decouple(
            network, counted(_monitor(asked)), seed=options.seed
        )
    return DecoupledNDFS(tables, stack_test=options.ndfs_stack_test)


def _monitor(asked: Asked) -> Monitor:
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.decoupled.monitors import monitor_of

    trimmed = asked.trimmed
    return monitor_of(
        trimmed.network,
        trimmed.table,
        letters_of(trimmed.network, trimmed.actions).tolist(),
        asked.visible,
        together=asked.together,
    )


_WHY = {
    DECOUPLED_SCC: (
        "only the property accepts: then decoupled states need no references, and a "
        "search for SCCs takes any number of marks (docs/decoupled.md)"
    ),
    DECOUPLED_NDFS: (
        "components accept: a nested search keeps apart from which accepting states "
        "others are reached (Gnad et al. 2021, Sec. 4)"
    ),
}
