"""What the search of orbits has to know of networks, and of nets and DVE models.

The group moves components of a network with their local states, and variables of a
model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.logic.propositions.syntax import Indexed, Operation, Taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.orbits import SystemStep
    from ltlpipe.systems.networks.lts import Network


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
        self._view = NetworkSteps(self._network, limited=False)

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

    def uniform(self, packed: Any, acting: Group) -> Job[Any]:  # noqa: ARG002
        """Return the packed network: components that change places are as large."""
        yield from ()
        return packed

    def fields(self, packed: Any) -> tuple[Any, Any]:
        """Return the fields of the components, and what their values mean."""
        return packed.fields, packed.local_states

    def kind(self, action: int) -> int:
        """Return what the property tells apart of an action."""
        return int(self._kinds[action])

    def steps(self, state: Sequence[int]) -> Iterator[SystemStep]:
        """Yield the steps of a state."""
        from ltlpipe.symmetry.orbits import SystemStep

        for step in self._view.each_step(tuple(state)):
            local: Any = step.state
            yield SystemStep(step.action, self.kind(step.action), local)


class ModelSide:
    """A net or DVE model, as `ltlpipe.strategies.automorphisms` asks for it."""

    def __init__(self, question: ModelQuestion, table: PropertyAutomaton) -> None:
        self._question, self._table = question, table
        self._model: Any = question.system
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
        group_of = group_of_net if isinstance(self._model, Net) else group_of_program
        classes = yield from letter_classes(self._table)
        asked = Propositions(self._propositions, classes)
        return (yield from group_of(self._model, asked))

    def uniform(self, packed: Any, acting: Group) -> Job[Any]:
        """Return a packed model in which fields that change places are as wide."""
        from ltlpipe.systems.nets.packing import PackedNet

        if not isinstance(packed, PackedNet):
            yield from ()
            return packed
        widths = packed.widths
        orbits = yield from acting.orbits()
        wide = np.zeros(len(orbits), dtype=np.int64)
        np.maximum.at(wide, orbits, widths.bits)
        in_doubt = np.zeros(len(orbits), dtype=np.bool_)
        np.logical_or.at(in_doubt, orbits, np.logical_not(widths.proven))
        bits = tuple(wide[orbits].tolist())
        proven = tuple(np.logical_not(in_doubt[orbits]).tolist())
        if bits == tuple(widths.bits) and proven == tuple(widths.proven):
            yield from ()
            return packed
        return (yield from packed.repacked(replace(widths, bits=bits, proven=proven)))

    def fields(self, packed: Any) -> tuple[Any, Any]:
        """Return the fields of the variables; their values are what they are."""
        return packed.places, None

    def kind(self, action: int) -> int:
        """Return which propositions about steps an action makes true, as bits."""
        return sum(
            1 << k for k, taken in enumerate(self._taken) if action in taken.actions
        )

    def steps(self, state: Sequence[int]) -> Iterator[SystemStep]:
        """Yield the steps of a valuation."""
        from ltlpipe.symmetry.orbits import SystemStep

        for step in self._model.each_step(tuple(state)):
            yield SystemStep(step.action, self.kind(step.action), step.state)


def _taken_in(expression: Expression) -> list[Taken]:
    """Return the parts of an expression that are about steps."""
    if isinstance(expression, Taken):
        return [expression]
    if isinstance(expression, Operation):
        return [t for operand in expression.operands for t in _taken_in(operand)]
    return _taken_in(expression.index) if isinstance(expression, Indexed) else []
