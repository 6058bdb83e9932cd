"""Networks as place/transition nets, in PNML.

Each local state is a place, each combination of local transitions that can happen
together a net transition, which is called like the action: ``a`` of the network is
``action=="a"`` of the net.  The net is safe, and its reachable markings are the
reachable composed states.

Source: `ltlpipe.systems.networks.exports`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.networks.exports import combinations
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.networks.lts import LTS


def network_net(network: Network) -> PetriNet:
    """Return the net of a network without acceptance and internal labels.

    Raises
    ------
    UnsupportedError
        A component accepts, or the net would be too large.
    """
    if network.has_acceptance:
        raise UnsupportedError("a .pnml file cannot hold accepting states; write .hoa")
    components = network.components
    places = []
    for i, lts in enumerate(components):
        for state in range(lts.n_states):
            name = f"{lts.name or i}.{lts.state_name(state)}"
            places.append(Place(f"p{i}_{state}", name, int(state == lts.initial)))
    first = list(accumulate((c.n_states for c in components), initial=0))
    transitions = [
        Transition(
            f"t{number}",
            name,
            {first[i] + src: 1 for i, src, _ in moves},
            {first[i] + dst: 1 for i, _, dst in moves},
        )
        for number, (name, moves) in enumerate(combinations(network))
    ]
    return PetriNet(places, transitions, name=network.name or "network")


def write_components(components: Sequence[LTS]) -> str:
    """Write components as a net in PNML; see `network_net`."""
    return pnml_text(network_net(Network(components)))
