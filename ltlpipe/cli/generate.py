"""``ltlpipe generate``: scaling and random systems, and sets of formulas."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.generate_rers import rers

if TYPE_CHECKING:
    from ltlpipe.systems.lts import Network

_EDGE = re.compile(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*")

generate = typer.Typer(
    help="Generate a system of a family, or formulas.", no_args_is_help=True
)

_Size = Annotated[int, typer.Argument(metavar="N", help="How many.")]
_Out = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help="Where to (.hoa, .pml, .gz); HOA on standard output by default.",
    ),
]


@generate.command()
def philosophers(n: _Size, out: _Out = None) -> None:
    """N dining philosophers and N forks; no run is accepting."""
    from ltlpipe.systems.philosophers import philosophers as family

    _write(family(n), out)


@generate.command()
def ring(n: _Size, out: _Out = None) -> None:
    """N components with diamonds, synchronised with their neighbours."""
    from ltlpipe.systems.ring import ring as family

    _write(family(n), out)


@generate.command("leader-election")
def leader_election(
    n: _Size = 3,
    variant: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="1: node 1 always wins; 2: each node gets its turn."
        ),
    ] = 1,
    edges: Annotated[
        str | None,
        typer.Option(metavar="A-B,...", help="Who are neighbours; a ring by default."),
    ] = None,
    out: _Out = None,
) -> None:
    """N nodes that elect a leader by extinction, over and over."""
    from ltlpipe.systems.leader_election import leader_election as family

    pairs = None if edges is None else _pairs(edges)
    _write(family(n, variant=variant, edges=pairs), out)


@generate.command()
def random(
    n: _Size,
    seed: Annotated[int, typer.Option(metavar="N", help="Reproduces the system.")] = 0,
    min_states: Annotated[int, typer.Option(min=1, help="Per component.")] = 15,
    max_states: Annotated[int, typer.Option(min=1, help="Per component.")] = 100,
    local_ratio: Annotated[
        float, typer.Option(min=0, max=1, help="Transitions with local labels.")
    ] = 0.4,
    out: _Out = None,
) -> None:
    """N random Büchi automata that synchronise in pairs."""
    from ltlpipe.systems.random_networks import random_network

    network = random_network(
        n, seed=seed, n_states=(min_states, max_states), local_ratio=local_ratio
    )
    _write(network, out)


@generate.command()
def formulas(
    n: _Size,
    actions: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="What the formulas name."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Take the actions of this system."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Reproduces the set.")] = 0,
    interruptible: Annotated[
        bool, typer.Option("--interruptible", help="Only interruptible formulas.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE.ltl",
            help="Where to; standard output by default.",
        ),
    ] = None,
) -> None:
    """N different LTL formulas in the style of RERS problems."""
    from ltlpipe.logic.generating import formula_set

    if (actions is None) == (not system):
        raise typer.BadParameter("expected --actions A,B,... or --system FILE")
    names = _names(actions) if actions is not None else _actions_of(system or [])
    found = formula_set(n, names, seed=seed, interruptible=interruptible)
    kind = "interruptible formulas" if interruptible else "formulas"
    head = f"# {n} {kind} over {len(set(names))} actions, seed {seed}\n"
    text = head + "".join(f"{formula}\n" for formula in found)
    if out is None:
        print(text, end="")
        return
    from ltlpipe._files import write_text

    write_text(out, text)
    print(f"wrote {out}", file=sys.stderr)


generate.command()(rers)


def _names(actions: str) -> list[str]:
    """Read ``a,b,c``."""
    names = [name.strip() for name in actions.split(",")]
    if not all(names):
        raise typer.BadParameter("an action without a name", param_hint="'--actions'")
    return names


def _actions_of(files: list[str]) -> list[str]:
    """Return the actions of a system that formulas can name."""
    from ltlpipe.systems.reading import load

    return [action.name for action in load(files).actions if not action.internal]


def _pairs(edges: str) -> list[tuple[int, int]]:
    """Read ``1-2,2-3``."""
    found = [_EDGE.fullmatch(edge) for edge in edges.split(",")]
    if None in found:
        wrong = edges.split(",")[found.index(None)]
        raise typer.BadParameter(
            f"{wrong!r} is no edge, expected pairs of nodes like 1-2,2-3",
            param_hint="'--edges'",
        )
    return [(int(edge[1]), int(edge[2])) for edge in found if edge]


def _write(network: Network, out: str | None) -> None:
    from ltlpipe.systems.writing import hoa_text, save

    if out is None:
        print(hoa_text(network), end="")
        return
    for written in save(network, out):
        print(f"wrote {written}", file=sys.stderr)
