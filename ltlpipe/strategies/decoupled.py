"""Decoupled search: states share what components can do on their own.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021; docs/decoupled.md has what
goes beyond it.

Models that are stars are searched as networks: their variables are divided into a
centre, with what the property reads, and leaves that interact with the centre alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.decoupled.decoupling import MIN_INTERNAL, Asked, estimate
from ltlpipe.question.conditions import DECOUPLING
from ltlpipe.question.interruptible import normalised
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.network import with_components
from ltlpipe.question.plan import not_generalised
from ltlpipe.question.question import NotApplicableError
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, DECOUPLED_SCC
from ltlpipe.strategies import components
from ltlpipe.strategies.state_search import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.monitors import Monitor
    from ltlpipe.decoupled.star.networks import Star
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.runs import Run


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    if isinstance(question, ModelQuestion):
        return (yield from _job_of_star(question, trace))
    network = with_components(question)
    assert network is not None  # by `obstacle`
    if not question.options.wants_decoupling and not network.accepts_apart:
        found = estimate(network.system, question.property.propositions)
        if not found.pays:
            raise NotApplicableError(str(found))
    composed = yield from components.composed_if_named(question, network, trace)
    system = network.system if composed is None else composed.reduced.network
    asked, plan = yield from _asked(network, system, trace)
    trace.plan = plan if composed is None else composed.noted(plan)
    monitor = None  # components accept themselves
    if trace.plan.emptiness == DECOUPLED_SCC or not (asked.trivial and asked.together):
        monitor = _monitor(asked)
    answer = yield from _search(question, asked.trimmed.network, monitor, trace)
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
    chosen = _with_search(product.plan, _search_name(question), _WHY)
    plan = question.settled(chosen, trimmed.table, product.reductions)
    found = estimate(trimmed.network, [trimmed.actions[v - 1] for v in visible])
    plan = plan.reduced_by(DECOUPLING, f"{DECOUPLING}, because {found}")
    return Asked(trimmed, visible, trivial, not question.accepts_apart), plan


def _search_name(question: NetworkQuestion) -> str:
    named = question.options.emptiness
    if named in DECOUPLED:
        return named
    return DECOUPLED_NDFS if question.system.has_acceptance else DECOUPLED_SCC


def _with_search(plan: Plan, search: str, why: Mapping[str, str]) -> Plan:
    """Make a decoupled search that of a plan, before it is settled."""
    if plan.emptiness is not None:
        return plan
    reason = f"{search}, because {why[search]}"
    return replace(plan, emptiness=search, reasons=(reason, *plan.reasons))


def _search(
    question: Question,
    network: Network,
    monitor: Monitor | None,
    trace: Trace,
    translated: Callable[[Run], Job[Run]] | None = None,
) -> Job[Answer]:
    """Search decoupled states for an accepting run; a model's is `translated`."""
    from ltlpipe.decoupled.construction import decouple
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.lassos import lasso
    from ltlpipe.decoupled.monitors import counted

    options, nested = question.options, trace.plan.emptiness == DECOUPLED_NDFS
    if nested and monitor is not None:
        monitor = counted(monitor)
    tables = yield from decouple(network, monitor, seed=options.seed)
    search: DecoupledNDFS | DecoupledSCC = DecoupledSCC(tables)
    if nested:
        search = DecoupledNDFS(tables, stack_test=options.ndfs_stack_test)

    def extraction() -> Job[Run]:
        steps = yield from search.trace()
        found = yield from lasso(network, steps, search.network)
        return found if translated is None else (yield from translated(found))

    limit = options.max_states
    return (yield from searched(question, search, trace, extraction, max_states=limit))


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


def _job_of_star(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Answer a question about a model that is a star."""
    from ltlpipe.decoupled.star.finding import NoStarError, find_star
    from ltlpipe.decoupled.star.runs import model_run
    from ltlpipe.decoupled.valuations import monitor_of_valuations

    least_share = 0.0 if question.options.wants_decoupling else MIN_INTERNAL
    decision = yield from question.stuttering()
    if not decision.allowed:
        raise NotApplicableError(decision.reason)
    yield from question.prepared()
    propositions = list(question.propositions.values())
    try:
        star = yield from find_star(
            question.system,
            propositions,
            stutters=question.stutters,
            least_share=least_share,
        )
    except NoStarError as error:
        raise NotApplicableError(error.reason) from None
    plan = _with_search(question.given, DECOUPLED_SCC, _WHY_OF_STARS)
    table = yield from question.automaton(plan, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    trace.plan = question.settled(plan, table, None).reduced_by(
        DECOUPLING, _reason(star)
    )

    def translated(found: Run) -> Job[Run]:
        actions = found.actions.tolist()
        run = model_run(star, question.system, actions, found.states, found.length)
        return (yield from run)

    monitor = monitor_of_valuations(star, table)
    return (yield from _search(question, star.network, monitor, trace, translated))


def _reason(star: Star) -> str:
    """Say what the centre and the leaves are."""
    sizes = [len(states) for states in star.states]
    centre, leaves = sizes[0], sizes[1:]
    return (
        f"{DECOUPLING}, because {len(leaves)} leaves interact with a centre alone: "
        f"{centre:,} states of the centre, up to {max(leaves):,} of a leaf, "
        f"{sum(not a.internal for a in star.network.actions):,} global labels "
        "(Gnad et al. 2021; docs/decoupled.md)"
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

_WHY_OF_STARS = {DECOUPLED_SCC: "it takes any number of marks (docs/decoupled.md)"}
