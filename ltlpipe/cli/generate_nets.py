"""``ltlpipe generate``: Petri nets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ltlpipe.systems.pnml.net import PetriNet

_Out = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE.pnml",
        help="Where to (.gz behind it compresses); standard output by default.",
    ),
]


def dining(
    n: Annotated[int, typer.Argument(metavar="N", help="How many.")], out: _Out = None
) -> None:
    """N dining philosophers as a Petri net, which can deadlock."""
    from ltlpipe.families.nets import dining as family

    _write(family(n), out)


def token_ring(
    n: Annotated[int, typer.Argument(metavar="N", help="How many.")], out: _Out = None
) -> None:
    """N processes that pass a token round, as a Petri net."""
    from ltlpipe.families.nets import token_ring as family

    _write(family(n), out)


def kanban(
    cells: Annotated[int, typer.Argument(metavar="CELLS", help="Cells of the line.")],
    cards: Annotated[int, typer.Option(metavar="K", help="Cards of each cell.")] = 3,
    batch: Annotated[
        int, typer.Option(metavar="B", help="Parts that arrive at a time.")
    ] = 1,
    out: _Out = None,
) -> None:
    """CELLS of a production line with cards, as a Petri net."""
    from ltlpipe.families.nets import kanban as family

    _write(family(cells, cards, batch), out)


def _write(net: PetriNet, out: str | None) -> None:
    from ltlpipe.systems.pnml.writing import pnml_text, save_pnml

    if out is None:
        print(pnml_text(net), end="")
        return
    save_pnml(net, out)
    print(f"wrote {out}", file=sys.stderr)
