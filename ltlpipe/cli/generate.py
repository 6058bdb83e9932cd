"""``ltlpipe generate``: scaling and random systems, and sets of formulas."""

from __future__ import annotations

import re
import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.generate_nets import NETS, Size
from ltlpipe.cli.generate_rers import rers
from ltlpipe.systems.formats import OUTPUT_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.systems.networks.lts import Network

_EDGE = re.compile(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")

generate = typer.Typer(
    help="Generate a system of a family, or formulas.", no_args_is_help=True
)

_Out = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help=f"{OUTPUT_FILE} HOA on standard output by default.",
    ),
]


@generate.command()
def philosophers(n: Size, out: _Out = None) -> None:
    """N dining philosophers and N forks; no run is accepting."""
    from ltlpipe.families.philosophers import philosophers as family

    _write(family(n), out)


@generate.command()
def ring(n: Size, out: _Out = None) -> None:
    """N components with diamonds, synchronised with their neighbours."""
    from ltlpipe.families.ring import ring as family

    _write(family(n), out)


@generate.command("leader-election")
def leader_election(
    n: Size = 3,
    variant: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="1: node 1 always wins; 2: the nodes win in turn."
        ),
    ] = 1,
    edges: Annotated[
        str | None,
        typer.Option(metavar="A-B,...", help="Edges of the graph; by default a ring."),
    ] = None,
    out: _Out = None,
) -> None:
    """N nodes that elect a leader by extinction, again and again."""
    from ltlpipe.families.leader_election import leader_election as family

    pairs = None if edges is None else _pairs(edges)
    _write(family(n, variant=variant, edges=pairs), out)


@generate.command("client-server")
def client_server(n: Size, out: _Out = None) -> None:
    """N interchangeable clients and the server that serves one of them at a time."""
    from ltlpipe.families.client_server import client_server as family

    _write(family(n), out)


@generate.command()
def dispatcher(
    n: Annotated[int, typer.Argument(metavar="N", help="How many requests.")],
    m: Annotated[int, typer.Argument(metavar="M", help="How many workers.")],
    out: _Out = None,
) -> None:
    """N interchangeable requests, M interchangeable workers, and their dispatcher."""
    from ltlpipe.families.dispatcher import dispatcher as family

    _write(family(n, m), out)


class Protocol(str, Enum):
    """Populations whose agents meet two by two."""

    MAJORITY = "majority"
    REMAINDER = "remainder"
    SPECIES = "species"


@generate.command()
def population(
    protocol: Annotated[Protocol, typer.Argument(help="What a meeting does.")],
    n: Size,
    out: _Out = None,
) -> None:
    """N interchangeable agents, any two of which can meet."""
    from ltlpipe.families import populations

    _write(getattr(populations, protocol.value)(n), out)


class SetFormat(str, Enum):
    """Formats for sets of random networks: those that represent acceptance.

    Petri nets are an exception: unfolders do not need acceptance.
    """

    HOA = "hoa"
    PROMELA = "pml"
    PETRI = "ll_net"


@generate.command("random-nba")
def random_nba(
    n: Annotated[
        str, typer.Argument(metavar="N", help="Components; A-B with --count.")
    ],
    seed: Annotated[
        int, typer.Option(min=0, metavar="S", help="Reproduces the system.")
    ] = 0,
    states: Annotated[
        str,
        typer.Option(
            metavar="A-B", help="Range of the number of states of a component."
        ),
    ] = "15-100",
    local_ratio: Annotated[
        str,
        typer.Option(
            metavar="R",
            help="Share of transitions with internal (local) labels, 0 <= R < 1; "
            "R,R,... with --count.",
        ),
    ] = "0.4",
    sharing: Annotated[
        str,
        typer.Option(metavar="K", help="Components that share a global label, or A-B."),
    ] = "2",
    count: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="K",
            help="Write K systems (seeds S, S+1, ...) for each number of components and"
            " each ratio into the folder --out.",
        ),
    ] = None,
    formats: Annotated[
        list[SetFormat] | None,
        typer.Option(
            "--format",
            help="Formats of the systems of --count; may be repeated; by default HOA.",
        ),
    ] = None,
    out: _Out = None,
) -> None:
    """N random Büchi automata that synchronise in pairs (Gnad et al., CAV 2021).

    In a component at least one state and at most 3 % accept, on no cycle of
    local transitions.

    The experiment of the paper: random-nba 2-8 --local-ratio 0,0.2,0.4,0.6,0.8
    --count 150 --out FOLDER
    """
    from ltlpipe.families.random_networks import random_network, random_set

    numbers = _range(n, "'N'")
    ratios = _ratios(local_ratio)
    n_states = _range(states, "'--states'")
    shares = _range(sharing, "'--sharing'")
    if count is not None:
        chosen = [SetFormat.HOA] if not formats else list(dict.fromkeys(formats))
        if SetFormat.PROMELA in chosen and shares[1] > 2:
            raise typer.BadParameter("pml holds labels of two components: --sharing 2")
        networks = random_set(
            range(numbers[0], numbers[1] + 1),
            ratios,
            count,
            seed=seed,
            n_states=n_states,
            sharing=shares,
        )
        _write_set(networks, out, chosen)
        return
    if numbers[0] != numbers[1] or len(ratios) > 1 or formats:
        raise typer.BadParameter(
            "ranges, several ratios and --format are for sets:"
            " expected --count K --out FOLDER"
        )
    network = random_network(
        numbers[0], seed=seed, n_states=n_states, local_ratio=ratios[0], sharing=shares
    )
    _write(network, out)


@generate.command()
def formulas(
    n: Size,
    actions: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Actions that the formulas name."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Use the actions of this system."),
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
            help="Output file; by default standard output.",
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
    from ltlpipe.runtime.files import write_text

    write_text(out, text)
    print(f"wrote {out}", file=sys.stderr)


for net in NETS:
    generate.command()(net)
generate.command()(rers)


def _names(actions: str) -> list[str]:
    """Read ``a,b,c``."""
    names = [name.strip() for name in actions.split(",")]
    if not all(names):
        raise typer.BadParameter("an action without a name", param_hint="'--actions'")
    return names


def _actions_of(files: list[str]) -> list[str]:
    """Return the actions of a system that formulas can name."""
    from ltlpipe.systems.reading import load_network

    return [
        action.name for action in load_network(files).actions if not action.internal
    ]


def _range(text: str, hint: str) -> tuple[int, int]:
    """Read ``7`` or ``2-8``."""
    found = _RANGE.fullmatch(text.strip())
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise typer.BadParameter(
            f"{text!r} is not a number or range like 2-8", param_hint=hint
        )
    return int(found[1]), int(found[2] or found[1])


def _ratios(text: str) -> list[float]:
    """Read ``0,0.2,0.4``; duplicates are dropped."""
    try:
        return list(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r}, expected numbers like 0.4 or 0,0.4",
            param_hint="'--local-ratio'",
        ) from None


def _pairs(edges: str) -> list[tuple[int, int]]:
    """Read ``1-2,2-3``."""
    found = [_EDGE.fullmatch(edge) for edge in edges.split(",")]
    if None in found:
        wrong = edges.split(",")[found.index(None)]
        raise typer.BadParameter(
            f"{wrong!r} is not an edge, expected pairs of nodes like 1-2,2-3",
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


def _write_set(
    networks: Iterable[tuple[str, Network]], out: str | None, formats: list[SetFormat]
) -> None:
    """Write each network to a folder in all formats; `networks` are (name, network)."""
    from pathlib import Path

    from ltlpipe.runtime.errors import LtlpipeError
    from ltlpipe.systems.writing import save

    if out is None:
        raise typer.BadParameter("expected a folder", param_hint="'--out'")
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LtlpipeError(f"{out}: cannot be written: {error.strerror}") from None
    n_files = 0
    for name, network in networks:
        for suffix in formats:
            save(network, Path(out) / f"{name}.{suffix.value}")
            n_files += 1
    print(f"wrote {n_files} files to {out}", file=sys.stderr)
