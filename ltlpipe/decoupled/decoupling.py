"""Decoupled search: what it is asked, and when it pays.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6: from around 20 % of
internal transitions, and from 4 components on, decoupled search beats the others on
random models.

Differences from the source: where components accept, so that the nested search is
used, the share of internal transitions does not count: with members looked up, it is
the faster one without any (docs/decisions.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.components.alphabet import Trimmed
    from ltlpipe.systems.networks.lts import Network

MIN_COMPONENTS = 4
MIN_INTERNAL = 0.2


class Asked(NamedTuple):
    """What a decoupled search is for."""

    trimmed: Trimmed  # the actions are what its letters stand for
    visible: list[int]  # the letters that matter to the automaton
    trivial: bool  # only the acceptance of the components counts
    together: bool  # they accept in the same state


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
    by_name = {a.name: a for a in network.actions if not a.internal}
    for component in network.components:
        alone = np.array(
            [
                name in component.internal
                or (len(by_name[name].participants) == 1 and name not in visible)
                for name in component.labels
            ],
            dtype=np.bool_,
        )
        total += component.n_transitions
        if component.n_transitions:
            internal += int(np.count_nonzero(alone[component.label]))
    share = internal / total if total else 0.0
    return Estimate(len(network.components), share, network.has_acceptance)
