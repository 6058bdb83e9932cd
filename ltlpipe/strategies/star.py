"""Decoupled search of models: nets and DVE models that are stars.

Variables are divided into a centre, with what the property reads, and leaves that
interact with the centre alone.  The star is a network of LTSs, and searched as such.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021; docs/decoupled.md has what
goes beyond it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.decoupled.decoupling import MIN_INTERNAL
from ltlpipe.question.options import DECOUPLING
from ltlpipe.question.question import UNFAIR, NotApplicableError
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_SCC
from ltlpipe.strategies.state_search import searched

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.star.networks import Star
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.runs import Run


def obstacle(question: ModelQuestion) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    options, named = question.options, question.given.emptiness
    if named is not None and named not in DECOUPLED:
        return f"{named} looks at one state at a time"
    if named is None and not options.reduces(DECOUPLING):
        return "--reduce does not name it"
    return None if question.fairness is None else UNFAIR


def job(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    from ltlpipe.decoupled.star.finding import NoStarError, find_star

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
    plan = _with_search(question.given)
    table = yield from question.automaton(plan, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    trace.plan = question.settled(plan, table, None).reduced_by(
        DECOUPLING, _reason(star)
    )
    return (yield from _search(question, star, table, trace))


def not_generalised(table: PropertyAutomaton) -> str:
    """Return why searches of sets of states do not take an automaton."""
    return (
        f"its automaton accepts by {table.acceptance} (--acceptance=tgba makes it "
        "generalised Büchi)"
    )


def _with_search(plan: Plan) -> Plan:
    """Make a decoupled search that of a plan, before it is settled."""
    if plan.emptiness is not None:
        return plan
    why = f"{DECOUPLED_SCC}, because it takes any number of marks (docs/decoupled.md)"
    return replace(plan, emptiness=DECOUPLED_SCC, reasons=(why, *plan.reasons))


def _search(
    question: ModelQuestion, star: Star, table: PropertyAutomaton, trace: Trace
) -> Job[Answer]:
    """Search decoupled states for an accepting run."""
    from ltlpipe.decoupled.lassos import lasso
    from ltlpipe.decoupled.star.runs import model_run

    search = yield from _new_search(question, star, table, trace)

    def extraction() -> Job[Run]:
        steps = yield from search.trace()
        found = yield from lasso(star.network, steps, search.network)
        actions = found.actions.tolist()
        run = model_run(star, question.system, actions, found.states, found.length)
        return (yield from run)

    limit = question.options.max_states
    return (yield from searched(question, search, trace, extraction, max_states=limit))


def _new_search(
    question: ModelQuestion, star: Star, table: PropertyAutomaton, trace: Trace
) -> Job[DecoupledSCC | DecoupledNDFS]:
    """Build the tables of a decoupled search."""
    from ltlpipe.decoupled.construction import decouple
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.monitors import counted
    from ltlpipe.decoupled.valuations import monitor_of_valuations

    options = question.options
    monitor = monitor_of_valuations(star, table)
    if trace.plan.emptiness == DECOUPLED_SCC:
        tables = yield from decouple(star.network, monitor, seed=options.seed)
        return DecoupledSCC(tables)
    tables = yield from decouple(star.network, counted(monitor), seed=options.seed)
    return DecoupledNDFS(tables, stack_test=options.ndfs_stack_test)


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
