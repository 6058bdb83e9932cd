"""Decoupled search: states share what components can do on their own.

Models that are stars are searched as networks: their variables are divided into a
centre, with what the property reads, and leaves that interact with the centre alone.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6: from around 20 % of
internal transitions, and from 4 components on, decoupled search beats the others on
random models; docs/decoupled.md has what goes beyond it.

Differences from the source: where components accept, so that the nested search is
used, the share of internal transitions does not count: with members looked up, it is
the faster one without any (docs/decisions.md).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.question.conditions import DECOUPLING
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.network import with_components
from ltlpipe.question.property import normalised
from ltlpipe.question.question import NotApplicableError, not_generalised
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, DECOUPLED_SCC
from ltlpipe.strategies import components
from ltlpipe.strategies.state_search import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ltlpipe.components.alphabet import Trimmed
    from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
    from ltlpipe.decoupled.decoupled_scc import DecoupledSCC
    from ltlpipe.decoupled.monitors import Monitor
    from ltlpipe.decoupled.stars import Star
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.runs import Run

MIN_COMPONENTS = 4
MIN_INTERNAL = 0.2
LARGE_SHARE = 10.0
"""Of turns, where components accept and so many transitions are internal.

Of 52 random networks that no search decided in half a second, none was decided by
another search first (``results/decoupled_random.csv``).
"""


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
    composed = yield from components.composed_if_named(question, trace)
    system = network.system if composed is None else composed.reduced.network
    trimmed, monitor, plan = yield from _asked(network, system, trace)
    trace.plan = plan if composed is None else composed.noted(plan)
    answer = yield from _search(question, trimmed.network, monitor, trace)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


def _asked(
    question: NetworkQuestion, system: Network, trace: Trace
) -> Job[tuple[Trimmed, Monitor | None, Plan]]:
    """Return the search problem and the plan; no monitor if components accept alone."""
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.decoupled.monitors import monitor_of

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
    search = question.options.emptiness
    if search not in DECOUPLED:
        search = DECOUPLED_NDFS if question.system.has_acceptance else DECOUPLED_SCC
    chosen = product.plan.searched_by(search, _WHY[search])
    plan = question.settled(chosen, trimmed.table, product.reductions)
    network, together = trimmed.network, not question.accepts_apart
    found = estimate(network, [trimmed.actions[v - 1] for v in visible])
    plan = plan.reduced_by(DECOUPLING, f"{DECOUPLING}, because {found}")
    if found.accepting and found.pays and found.internal >= MIN_INTERNAL:
        trace.share = LARGE_SHARE
    if plan.emptiness == DECOUPLED_NDFS and trivial and together:
        return trimmed, None, plan
    letters = letters_of(network, trimmed.actions).tolist()
    monitor = monitor_of(network, trimmed.table, letters, visible, together=together)
    return trimmed, monitor, plan


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
    from ltlpipe.search.driver import advance

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

    advancing = advance(search, max_states=options.max_states)
    return (yield from searched(options, search, trace, extraction, advancing))


def _job_of_star(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Answer a question about a model that is a star."""
    from ltlpipe.decoupled.monitors import monitor_of_valuations
    from ltlpipe.decoupled.star_parts import NoStarError
    from ltlpipe.decoupled.stars import find_star, model_run

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
    why = "it takes any number of marks (docs/decoupled.md)"
    plan = question.given.searched_by(DECOUPLED_SCC, why)
    table = yield from question.automaton(plan, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    trace.plan = question.settled(plan, table, None).reduced_by(
        DECOUPLING, _reason(star)
    )

    translated = partial(model_run, star, question.system)
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


class Estimate(NamedTuple):
    """What speaks for or against a decoupled search."""

    n_components: int
    internal: float  # share of the transitions that are internal, 0 to 1
    accepting: bool = False  # whether components accept

    @property
    def pays(self) -> bool:
        """Whether a decoupled search promises to be the better one."""
        enough = self.accepting or self.internal >= MIN_INTERNAL
        return self.n_components >= MIN_COMPONENTS and enough

    def __str__(self) -> str:
        """Say what there is, and what there should be."""
        found = (
            f"{self.internal:.0%} of the transitions of {self.n_components} components "
            "are internal"
        )
        if self.accepting:
            return f"{found} (if components accept, it pays from {MIN_COMPONENTS} on)"
        return (
            f"{found} (it pays from {MIN_INTERNAL:.0%} and {MIN_COMPONENTS} on; "
            "Gnad et al. 2021, Sec. 6)"
        )


def estimate(network: Network, visible: Collection[str]) -> Estimate:
    """Count the components of a network, and its internal transitions.

    `visible` are the actions that a property watches.
    """
    internal = total = 0
    apart = {a.name for a in network.actions if len(a.participants) == 1}
    apart -= {a.name for a in network.actions if len(a.participants) > 1}
    apart.difference_update(visible)
    for component in network.components:
        alone = component.internal | apart
        counts = np.bincount(component.label, minlength=len(component.labels))
        named = zip(component.labels, counts.tolist(), strict=True)
        internal += sum(count for name, count in named if name in alone)
        total += component.n_transitions
    share = internal / total if total else 0.0
    return Estimate(len(network.components), share, network.has_acceptance)


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
