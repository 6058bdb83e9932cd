"""Search of orbits under the automorphisms that leave a system and a property alone.

The group is that of a graph which draws system and property: whatever it is, rotations
of a ring, pairs that change places together, all colours of a net.  By this name it is
used only where it is asked for; `ltlpipe.strategies.symmetry` searches orbits of
networks unasked, if the group is worth it.

Sources: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods
in System Design 9, 1996, pp. 105-131; E. A. Emerson, S. Jha and D. Peled, "Combining
Partial Order and Symmetry Reductions", TACAS 1997 (ample sets of representatives);
docs/symmetry.md.

The search of orbits asks networks, and nets and DVE models, in one way (`_Side`).
The group moves components of a network with their local states, and variables of a
model.
"""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import Indexed, Operation, Taken
from ltlpipe.question.conditions import AMPLE, AUTOMORPHISMS
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.search.catalogue import SHARED
from ltlpipe.strategies import components
from ltlpipe.strategies.state_search import search_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.orbits import SystemStep
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

    composed = yield from components.composed_if_named(question, trace)
    product, plan = yield from _product(question, composed, trace)
    if question.options.workers > 1 and plan.emptiness in SHARED:
        raise NotApplicableError(
            f"workers that share {plan.emptiness} need a table each"
        )
    if isinstance(question, ModelQuestion):
        side = yield from _side_of_model(question, product.table)
    else:
        side = yield from _side_of_network(product, least)
    acting = side.acting
    if least > 1 and (acting.order or 1) < factorial(least):
        raise NotApplicableError("no group was found that is worth it")
    trace.plan = plan.reduced_by(reduction, f"{reduction}, {_reason(acting)}")
    packing = _quotient(acting, product.packed())
    answer = yield from search_states(question, product, trace, packing=packing)
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


def _quotient(acting: Group, packing: Job[Any]) -> Job[PackedSystem | None]:
    """Return the quotient of what a job packs, which can be packed again wider."""
    from ltlpipe.symmetry.orbits import quotient, table_bytes

    packed = yield from packing
    if packed is None:
        return None
    packed = yield from _uniform(packed, acting)
    needed = table_bytes(acting)
    grant = yield Progress("tabulating", memory_bytes=needed)
    if needed > grant.memory_bytes:
        raise StoppedError("memory")
    made = quotient(packed, acting)
    return replace(made, widened=lambda: _quotient(acting, packed.widened()))


def _uniform(packed: Any, acting: Group) -> Job[Any]:
    """Return what is packed with fields that change places as wide as each other.

    Components of networks are.
    """
    from ltlpipe.systems.nets.packing import PackedNet

    if not isinstance(packed, PackedNet):
        return packed
    widths = packed.widths
    orbits = yield from acting.orbits()
    wide = np.zeros(len(orbits), dtype=np.int64)
    np.maximum.at(wide, orbits, widths.bits)
    in_doubt = np.zeros(len(orbits), dtype=np.bool_)
    np.logical_or.at(in_doubt, orbits, np.logical_not(widths.proven))
    bits = tuple(wide[orbits].tolist())
    wider = replace(widths, bits=bits, proven=tuple((~in_doubt[orbits]).tolist()))
    return packed if wider == widths else (yield from packed.repacked(widths=wider))


def _reason(acting: Group) -> str:
    """Say which group the quotient is by."""
    if not acting.factors:
        return (
            "which changes nothing: no permutation but the "
            "identity leaves both the system and the property as they are"
        )
    moved = sum(len(factor.fields) for factor in acting.factors)
    what = "components" if acting.space.of_values else "variables"
    if acting.order is not None:
        number = f"{acting.order:,} permutations of {moved} {what} leave"
        kind = "each orbit has one representative"
    else:
        number = f"a large group of permutations of {moved} {what} leaves"
        kind = "an orbit may have several representatives, which local search finds"
    return (
        f"because {number} the system and the property as they are; "
        f"{kind} (Emerson & Sistla 1996; Donaldson & Miller 2006)"
    )


class _Side(NamedTuple):
    """A system, as far as the search of orbits asks for it.

    Parameters
    ----------
    acting : Group
        Of the system and the property.
    view : PlainSteps or Model
        Yields the steps of a state.
    kind : callable
        Returns what the property tells apart of an action.
    """

    acting: Group
    view: Any
    kind: Callable[[int], int]

    def steps(self, state: Sequence[int]) -> Iterator[SystemStep]:
        """Yield the steps of a state."""
        from ltlpipe.symmetry.orbits import SystemStep

        for step in self.view.each_step(tuple(state)):
            yield SystemStep(step.action, self.kind(step.action), step.state)


def _side_of_network(product: Any, least: int) -> Job[_Side]:
    """Return what is asked for of the product of a network.

    The group is trivial if fewer than `least` components seem to be alike.
    """
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.symmetry.groups.models import letter_classes
    from ltlpipe.symmetry.groups.systems import group_of_network
    from ltlpipe.systems.plain_steps import NetworkSteps

    network = product.trimmed.network
    kinds = letters_of(network, product.trimmed.actions)
    # Ample sets see which actions are visible, whatever the automaton tells apart.
    if product.visible is None:
        classes = yield from letter_classes(product.table)
        kinds = classes[kinds]
    acting = yield from group_of_network(network, kinds, least)
    return _Side(
        acting,
        NetworkSteps(network, limited=False),
        lambda action: int(kinds[action]),
    )


def _side_of_model(question: ModelQuestion, table: PropertyAutomaton) -> Job[_Side]:
    """Return what is asked for of a net or DVE model."""
    from ltlpipe.symmetry.groups.models import (
        Propositions,
        group_of_net,
        letter_classes,
    )
    from ltlpipe.symmetry.groups.systems import group_of_program
    from ltlpipe.systems.nets.structure import Net

    yield from question.prepared()
    propositions = list(question.propositions.values())
    taken = [t for p in propositions for t in _taken_in(p)]
    system: Any = question.system
    group_of = group_of_net if isinstance(system, Net) else group_of_program
    classes = yield from letter_classes(table)
    acting = yield from group_of(system, Propositions(propositions, classes))
    return _Side(
        acting,
        system,
        lambda action: sum(1 << k for k, t in enumerate(taken) if action in t.actions),
    )


def _taken_in(expression: Expression) -> list[Taken]:
    """Return the parts of an expression that are about steps."""
    if isinstance(expression, Taken):
        return [expression]
    if isinstance(expression, Operation):
        return [t for operand in expression.operands for t in _taken_in(operand)]
    return _taken_in(expression.index) if isinstance(expression, Indexed) else []
