"""``ltlpipe reduce``: equivalent components with fewer states."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli import options as shared
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.systems.formats import NETWORK_FILES

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import Network


def reduce(
    paths: Annotated[list[str], typer.Argument(metavar="FILE", help=NETWORK_FILES)],
    out: Annotated[str, typer.Option("-o", "--out", metavar="OUT", help=shared.OUTPUT)],
    visible: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Actions that can be observed; all by default."
        ),
    ] = None,
    equivalence: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What is kept: trace, block, branching, strong."
        ),
    ] = "trace",
    max_component_states: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="States of a deterministic form (trace, block)."
        ),
    ] = None,
    form: shared.Format = None,
    alphabet: shared.Alphabet = "used",
    to: shared.OutputFormat = None,
) -> None:
    """Replace each component of a system by a smaller, equivalent one.

    Actions that are not visible are hidden, unless several components share them.
    """
    from ltlpipe.components import reduce as reduce_component
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.reading import load_network
    from ltlpipe.systems.writing import save

    network = load_network(paths, format=form, alphabet=alphabet)
    hidden = set() if visible is None else _hidden(network, visible)
    components = [
        reduce_component(c, hidden, equivalence, cap=max_component_states)
        for c in network.components
    ]
    reduced = Network(components, name=network.name)
    if sys.stderr.isatty():
        print(f"{_size(network)} -> {_size(reduced)}", file=sys.stderr)
    for written in save(reduced, out, format=to):
        print(f"wrote {written}", file=sys.stderr)


def _hidden(network: Network, visible: str) -> set[str]:
    """Return the actions of single components that are not in ``a,b,c``."""
    names = {name.strip() for name in visible.split(",")} - {""}
    unknown = sorted(names - network.action_index.keys())
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise LtlpipeError(f"--visible: no action of the system is called {listed}")
    return {
        action.name
        for action in network.actions
        if len(action.participants) == 1 and not action.internal
    } - names


def _size(network: Network) -> str:
    states = sum(c.n_states for c in network.components)
    transitions = sum(c.n_transitions for c in network.components)
    return f"{states:,} states, {transitions:,} transitions"
