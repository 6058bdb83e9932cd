"""``ltlpipe convert``: systems from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ltlpipe.cli import options as shared
from ltlpipe.systems.formats import NETWORK_FILES


def convert(
    paths: Annotated[list[str], typer.Argument(metavar="IN", help=NETWORK_FILES)],
    out: Annotated[str, typer.Argument(metavar="OUT", help=shared.OUTPUT)],
    form: shared.Format = None,
    alphabet: shared.Alphabet = "used",
    to: shared.OutputFormat = None,
    internal: Annotated[
        str | None,
        typer.Option(
            metavar="i|tau",
            help="What internal labels are called in an .aut file: i for CADP, tau for "
            "mCRL2. By default they keep these names, and others become i.",
        ),
    ] = None,
) -> None:
    """Convert a system between formats.

    Several input files are the components of one network.  An .aut file holds
    one component: a network of several is written to numbered files.  Components and
    states keep their names where both formats have names.  A .pml file is a model for
    Spin, a .ll_net file a Petri net for the unfolder Cunf, without acceptance.
    """
    from ltlpipe.systems.reading import load_network
    from ltlpipe.systems.writing import save

    network = load_network(paths, format=form, alphabet=alphabet)
    for written in save(network, out, format=to, internal=internal):
        print(f"wrote {written}", file=sys.stderr)
