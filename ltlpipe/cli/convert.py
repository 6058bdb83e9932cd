"""``ltlpipe convert``: systems from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ltlpipe.systems.formats import NETWORK_FILES, OUTPUT_FILE


def convert(
    paths: Annotated[list[str], typer.Argument(metavar="IN", help=NETWORK_FILES)],
    out: Annotated[str, typer.Argument(metavar="OUT", help=OUTPUT_FILE)],
) -> None:
    """Convert a system between formats.

    Several input files are the components of one network.  An .aut file holds
    one component: a network of several is written to numbered files.  A .pml file
    is a model for Spin, a .ll_net file a Petri net for the unfolder Cunf, which
    knows no acceptance.
    """
    from ltlpipe.systems.reading import load_network
    from ltlpipe.systems.writing import save

    for written in save(load_network(paths), out):
        print(f"wrote {written}", file=sys.stderr)
