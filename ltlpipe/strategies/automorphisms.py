"""Search of orbits under the automorphisms that leave a system and a property alone.

The group is that of a graph which draws system and property: whatever it is, rotations
of a ring, pairs that change places together, all colours of a net.  By this name it is
used only where it is asked for; `ltlpipe.strategies.symmetry` searches orbits of
networks unasked, if the group is worth it.

Sources: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods
in System Design 9, 1996, pp. 105-131; E. A. Emerson, S. Jha and D. Peled, "Combining
Partial Order and Symmetry Reductions", TACAS 1997 (ample sets of representatives);
docs/symmetry.md.

The search of orbits asks networks, and nets and DVE models, in one way (`NetworkSide`,
`ModelSide`).  The group moves components of a network with their local states, and
variables of a model.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import factorial
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.orbits import SystemStep
    from ltlpipe.systems.networks.lts import Network
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
    packing = _quotient(side, acting, product.packed())
    answer = yield from search_states(question, product, trace, packing=packing)
    if answer.run is not None:
        lifting = lifted(acting, partial(_steps_of, side), side.kind, answer.run)
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


def _quotient(
    side: NetworkSide | ModelSide, acting: Group, packing: Job[Any]
) -> Job[PackedSystem | None]:
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
    fields, values = side.fields(packed)
    made = quotient(packed, fields, acting, values)
    return replace(made, widened=lambda: _quotient(side, acting, packed.widened()))


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


class NetworkSide:
    """A network, as `ltlpipe.strategies.automorphisms` asks for it.

    Parameters
    ----------
    product : Product
        Of the network.
    system : Network
        What it was before it was trimmed.
    declared : sequence of str
        What users say of its symmetry; nothing else is looked for.
    """

    def __init__(self, product: Any, system: Network, declared: Sequence[str]) -> None:
        from ltlpipe.components.alphabet import letters_of
        from ltlpipe.systems.plain_steps import NetworkSteps

        self._system, self._declared = system, declared
        self._network = product.trimmed.network
        self._letters = letters_of(self._network, product.trimmed.actions)
        self._table = product.table
        # Ample sets see which actions are visible, whatever the automaton tells apart.
        self._merges = product.visible is None
        self.view: Any = NetworkSteps(self._network, limited=False)

    def group(self, least: int) -> Job[Group]:
        """Return the group of the network and the property.

        It is trivial if fewer than `least` components seem to be alike.
        """
        from ltlpipe.symmetry.groups.models import letter_classes
        from ltlpipe.symmetry.groups.networks import (
            declared_permutations,
            group_of_declared,
            group_of_network,
        )

        self._kinds = self._letters
        if self._merges:
            classes = yield from letter_classes(self._table)
            self._kinds = classes[self._letters]
        if not self._declared:
            return (yield from group_of_network(self._network, self._kinds, least))
        images = yield from declared_permutations(self._system, self._declared)
        return (yield from group_of_declared(self._network, self._kinds, images))

    def fields(self, packed: Any) -> tuple[Any, Any]:
        """Return the fields of the components, and what their values mean."""
        return packed.fields, packed.local_states

    def kind(self, action: int) -> int:
        """Return what the property tells apart of an action."""
        return int(self._kinds[action])


class ModelSide:
    """A net or DVE model, as `ltlpipe.strategies.automorphisms` asks for it."""

    def __init__(self, question: ModelQuestion, table: PropertyAutomaton) -> None:
        self._question, self._table = question, table
        self.view: Any = question.system
        self._propositions = list(question.propositions.values())
        self._taken = [t for p in self._propositions for t in _taken_in(p)]

    def group(self, least: int) -> Job[Group]:  # noqa: ARG002 (it is asked for)
        """Return the group of the model and the property."""
        from ltlpipe.symmetry.groups.models import (
            Propositions,
            group_of_net,
            letter_classes,
        )
        from ltlpipe.symmetry.groups.programs import group_of_program
        from ltlpipe.systems.nets.structure import Net

        yield from self._question.prepared()
        group_of = group_of_net if isinstance(self.view, Net) else group_of_program
        classes = yield from letter_classes(self._table)
        asked = Propositions(self._propositions, classes)
        return (yield from group_of(self.view, asked))

    def fields(self, packed: Any) -> tuple[Any, Any]:
        """Return the fields of the variables; their values are what they are."""
        return packed.places, None

    def kind(self, action: int) -> int:
        """Return which propositions about steps an action makes true, as bits."""
        return sum(
            1 << k for k, taken in enumerate(self._taken) if action in taken.actions
        )


def _steps_of(
    side: NetworkSide | ModelSide, state: Sequence[int]
) -> Iterator[SystemStep]:
    """Yield the steps of a state."""
    from ltlpipe.symmetry.orbits import SystemStep

    for step in side.view.each_step(tuple(state)):
        yield SystemStep(step.action, side.kind(step.action), step.state)


def _taken_in(expression: Expression) -> list[Taken]:
    """Return the parts of an expression that are about steps."""
    if isinstance(expression, Taken):
        return [expression]
    if isinstance(expression, Operation):
        return [t for operand in expression.operands for t in _taken_in(operand)]
    return _taken_in(expression.index) if isinstance(expression, Indexed) else []
