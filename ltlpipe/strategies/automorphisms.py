"""Search of orbits under the automorphisms that leave a system and a property alone.

The group is that of a graph which draws system and property: whatever it is, rotations
of a ring, pairs that change places together, all colours of a net.  By this name it is
used only where it is asked for; `ltlpipe.strategies.symmetry` searches orbits of
networks unasked, if the group is worth it.

Sources: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods
in System Design 9, 1996, pp. 105-131; E. A. Emerson, S. Jha and D. Peled, "Combining
Partial Order and Symmetry Reductions", TACAS 1997 (ample sets of representatives);
docs/symmetry.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import AMPLE, AUTOMORPHISMS, COMPONENTS
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.network import with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.search.catalogue import SHARED
from ltlpipe.strategies import components
from ltlpipe.strategies.permuted import ModelSide, NetworkSide
from ltlpipe.strategies.state_search import search_states

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.systems.networks.packing import PackedSystem


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    return job_of_orbits(question, trace, AUTOMORPHISMS, 1)


def job_of_orbits(
    question: Question, trace: Trace, reduction: str, least: int
) -> Job[Answer]:
    """Return the job that searches orbits.

    Parameters
    ----------
    question, trace
        Those of `job`.
    reduction : str
        By which name.
    least : int
        Unless there are more permutations than fewer members have, and each orbit has
        one representative, it is not worth it.
    """
    from ltlpipe.symmetry.orbits import lifted

    composed = None
    if question.options.insists_on(COMPONENTS):
        network = with_components(question)
        if network is None:
            raise NotApplicableError(f"--reduce={COMPONENTS}: the system has none")
        composed = yield from components.composed_if_named(question, network, trace)
    product, plan = yield from _product(question, composed, trace)
    side = _side_of(question, product, composed)
    if question.options.workers > 1 and plan.emptiness in SHARED:
        raise NotApplicableError(
            f"workers that share {plan.emptiness} need a table each"
        )
    acting = yield from side.group(least)
    if least > 1 and (acting.order or 1) < factorial(least):
        raise NotApplicableError("no group was found that is worth it")
    declared = bool(question.options.symmetric)
    why = f"{reduction}, {_reason(acting, declared=declared)}"
    trace.plan = plan.reduced_by(reduction, why)
    quotient = QuotientProduct(product, side, acting, trace.plan)
    answer = yield from search_states(question, quotient, trace)
    if answer.run is not None:
        lifting = lifted(acting, side.steps, side.kind, answer.run)
        found = yield from trace.timed("lasso_seconds", lifting)
        answer = answer._replace(run=found)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


def _product(
    question: Any, composed: components.Composed | None, trace: Trace
) -> Job[tuple[Any, Plan]]:
    """Return the product whose orbits are searched, and its plan."""
    if composed is not None:
        product, plan = yield from components.composed_product(
            question, composed, trace
        )
        return product, composed.noted(plan)
    if question.options.insists_on(AMPLE):
        product, why = yield from question.ample_product(question.given, trace)
        plan = question.settled(product.plan, product.table, product.reductions)
        return product, plan.reduced_by(AMPLE, f"{AMPLE}, because {why}")
    product = yield from question.product(question.given, trace)
    return product, question.settled(product.plan, product.table, product.reductions)


@dataclass
class QuotientProduct:
    """The product of the orbits of a system and an automaton."""

    product: Product  # of the system itself
    side: NetworkSide | ModelSide
    acting: Group
    plan: Plan
    reductions: tuple[str, ...] | None = None

    @property
    def table(self) -> PropertyAutomaton:
        """The automaton of the violations."""
        return self.product.table

    def packed(self) -> Job[PackedSystem | None]:
        """Return the packed quotient."""
        return self._of(self.product.packed())

    def _of(self, packing: Job[Any]) -> Job[PackedSystem | None]:
        """Return the quotient of what a job packs, which can be packed again wider."""
        from ltlpipe.symmetry.orbits import quotient, table_bytes

        packed = yield from packing
        if packed is None:
            return None
        packed = yield from self.side.uniform(packed, self.acting)
        needed = table_bytes(self.acting)
        grant = yield Progress("tabulating", memory_bytes=needed)
        if needed > grant.memory_bytes:
            raise StoppedError("memory")
        fields, values = self.side.fields(packed)
        made = quotient(packed, fields, self.acting, values)
        return replace(made, widened=lambda: self._of(packed.widened()))

    def problem(self, packed: Any) -> Problem:
        """Return the product of the packed quotient and the automaton."""
        return self.product.problem(packed)

    def needed_bytes(self, packed: Any) -> int:
        """Return what the buffers of `problem` take."""
        return self.product.needed_bytes(packed)


def _side_of(
    question: Question, product: Any, composed: components.Composed | None
) -> NetworkSide | ModelSide:
    if isinstance(question, ModelQuestion):
        return ModelSide(question, product.table)
    network: Any = question
    system = network.system if composed is None else composed.reduced.network
    return NetworkSide(product, system, question.options.symmetric)


def _reason(acting: Group, *, declared: bool) -> str:
    """Say which group the quotient is by."""
    which = " generated by --symmetric" if declared else ""
    if not acting.factors:
        return (
            f"which changes nothing: no permutation{which} but the "
            "identity leaves both the system and the property as they are"
        )
    moved = sum(len(factor.fields) for factor in acting.factors)
    of_network = acting.space.first is not None and acting.space.values is None
    what = "components" if of_network else "variables"
    if acting.order is not None:
        number = f"{acting.order:,} permutations of {moved} {what}{which} leave"
        kind = "each orbit has one representative"
    else:
        number = f"a large group of permutations of {moved} {what}{which} leaves"
        kind = "an orbit may have several representatives, which local search finds"
    return (
        f"because {number} the system and the property as they are; "
        f"{kind} (Emerson & Sistla 1996; Donaldson & Miller 2006)"
    )
