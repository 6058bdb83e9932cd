"""``ltlpipe generate``: Petri nets and symmetric nets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ltlpipe.systems.nets.coloured.net import ColouredNet
    from ltlpipe.systems.nets.net import PetriNet

Size = Annotated[int, typer.Argument(metavar="N", help="How many.")]
_NetOut = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE.pnml",
        help="Output file (.gz compresses); by default standard output.",
    ),
]

_Unfolded = Annotated[
    bool,
    typer.Option("--unfolded", help="The place/transition net that it unfolds into."),
]


def dining(n: Size, out: _NetOut = None) -> None:
    """N dining philosophers as a Petri net, which can deadlock."""
    from ltlpipe.families.nets import dining as family

    _write_net(family(n), out)


def token_ring(n: Size, out: _NetOut = None) -> None:
    """N processes that pass a token round, as a Petri net."""
    from ltlpipe.families.nets import token_ring as family

    _write_net(family(n), out)


def kanban(
    cells: Annotated[int, typer.Argument(metavar="CELLS", help="Cells of the line.")],
    cards: Annotated[int, typer.Option(metavar="K", help="Cards of each cell.")] = 3,
    batch: Annotated[
        int, typer.Option(metavar="B", help="Parts that arrive at a time.")
    ] = 1,
    out: _NetOut = None,
) -> None:
    """CELLS of a production line with cards, as a Petri net."""
    from ltlpipe.families.nets import kanban as family

    _write_net(family(cells, cards, batch), out)


def coloured_dining(n: Size, out: _NetOut = None, unfolded: _Unfolded = False) -> None:
    """N dining philosophers as a symmetric net, which can deadlock."""
    from ltlpipe.families.symmetric_nets import coloured_dining as family

    _write_coloured(family(n), out, unfolded=unfolded)


def coloured_token_ring(
    n: Size, out: _NetOut = None, unfolded: _Unfolded = False
) -> None:
    """Dijkstra's ring of N + 1 machines as a symmetric net."""
    from ltlpipe.families.symmetric_nets import coloured_token_ring as family

    _write_coloured(family(n), out, unfolded=unfolded)


def shared_memory(n: Size, out: _NetOut = None, unfolded: _Unfolded = False) -> None:
    """N processors with memories that share a bus, as a symmetric net."""
    from ltlpipe.families.symmetric_nets import shared_memory as family

    _write_coloured(family(n), out, unfolded=unfolded)


def coloured_client_server(
    n: Annotated[int, typer.Argument(metavar="N", help="How many clients.")],
    m: Annotated[int, typer.Argument(metavar="M", help="How many servers.")],
    out: _NetOut = None,
    unfolded: _Unfolded = False,
    priorities: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.hoa",
            help="Write a constraint, too: client 1 is served first, then client 2 ...",
        ),
    ] = None,
) -> None:
    """N clients and M servers that serve one of them at a time, as a symmetric net."""
    from ltlpipe.families.priorities import priorities as constraint
    from ltlpipe.families.symmetric_nets import coloured_client_server as family
    from ltlpipe.runtime.files import write_text

    net = family(n, m)
    if priorities is not None:
        write_text(priorities, constraint(n, m))
        print(f"wrote {priorities}", file=sys.stderr)
    _write_coloured(net, out, unfolded=unfolded)


def coloured_peers(n: Size, out: _NetOut = None, unfolded: _Unfolded = False) -> None:
    """N peers that invite each other and talk in pairs, as a symmetric net."""
    from ltlpipe.families.symmetric_nets import coloured_peers as family

    _write_coloured(family(n), out, unfolded=unfolded)


NETS = (
    dining,
    token_ring,
    kanban,
    coloured_dining,
    coloured_token_ring,
    shared_memory,
    coloured_client_server,
    coloured_peers,
)
"""The commands, in the order in which help lists them."""


def _write_net(net: PetriNet, out: str | None) -> None:
    from ltlpipe.systems.nets.writing import pnml_text, save_pnml

    if out is None:
        print(pnml_text(net), end="")
        return
    save_pnml(net, out)
    print(f"wrote {out}", file=sys.stderr)


def _write_coloured(net: ColouredNet, out: str | None, *, unfolded: bool) -> None:
    from ltlpipe.systems.nets.coloured.unfolding import unfolded as unfolding
    from ltlpipe.systems.nets.coloured.writing import coloured_text, save_coloured

    if unfolded:
        _write_net(unfolding(net), out)
    elif out is None:
        print(coloured_text(net), end="")
    else:
        save_coloured(net, out)
        print(f"wrote {out}", file=sys.stderr)
