"""What the search of orbits has to know of networks.

Components are what the group moves, and their local states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.orbits.lifting import SystemStep
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

    def group(self) -> Job[Group]:
        """Return the group of the network and the property."""
        from ltlpipe.symmetry.groups.declared import (
            declared_permutations,
            group_of_declared,
        )
        from ltlpipe.symmetry.groups.letters import letter_classes
        from ltlpipe.symmetry.groups.networks import group_of_network

        self._kinds = self._letters
        if self._merges:
            classes = yield from letter_classes(self._table)
            self._kinds = classes[self._letters]
        if not self._declared:
            return (yield from group_of_network(self._network, self._kinds))
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
        from ltlpipe.symmetry.orbits.lifting import SystemStep

        for step in self._view.each_step(tuple(state)):
            local: Any = step.state
            yield SystemStep(step.action, self.kind(step.action), local)
