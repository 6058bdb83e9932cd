"""Write a system of a family that only measurements need.

usage: python -m benchmarks.families FAMILY N [M] --out FILE

The second number of leader-election is its variant, 1 or 2; those of kanban are cells
and cards.
"""

from __future__ import annotations

import argparse

from benchmarks.families import client_server, leader_election, nets
from ltlpipe.systems.nets.writing import save_pnml
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.writing import save

FAMILIES = {
    "client-server": client_server.client_server,
    "dispatcher": client_server.dispatcher,
    "leader-election": lambda n, variant=1: leader_election.leader_election(
        n, variant=variant
    ),
    "dining": nets.dining,
    "token-ring": nets.token_ring,
    "kanban": nets.kanban,
    "coloured-dining": nets.coloured_dining,
    "coloured-token-ring": nets.coloured_token_ring,
    "shared-memory": nets.shared_memory,
    "coloured-peers": nets.coloured_peers,
}


def main() -> None:
    """Write the system that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families")
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("sizes", metavar="N", nargs="+", type=int)
    parser.add_argument("--out", required=True, help=".hoa, .pml ...; nets: .pnml")
    given = parser.parse_args()
    system = FAMILIES[given.family](*given.sizes)
    if isinstance(system, Network):
        save(system, given.out)
    else:
        save_pnml(system, given.out)


if __name__ == "__main__":
    main()
