"""``ltlpipe generate``: systems of families, random ones, and sets of formulas."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ltlpipe.cli.tables import output
from ltlpipe.systems.formats import OUTPUT_FILE

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import Network

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")

generate = typer.Typer(
    help="Generate a system of a family, or formulas.", no_args_is_help=True
)

Size = Annotated[int, typer.Argument(metavar="N", help="How many.")]
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
    from ltlpipe.families.networks import philosophers as family

    _write(family(n), out)


@generate.command()
def ring(n: Size, out: _Out = None) -> None:
    """N components with diamonds, synchronised with their neighbours."""
    from ltlpipe.families.networks import ring as family

    _write(family(n), out)


@generate.command()
def population(
    protocol: Literal["majority", "remainder", "species"] = typer.Argument(
        help="What a meeting does."
    ),
    n: int = typer.Argument(metavar="N", help="How many."),
    out: _Out = None,
) -> None:
    """N interchangeable agents, any two of which can meet."""
    from ltlpipe.families import networks

    _write(getattr(networks, protocol)(n), out)


@generate.command("random-nba")
def random_nba(
    n: int = typer.Argument(metavar="N", help="Components."),
    seed: int = typer.Option(0, min=0, metavar="S", help="Reproduces the system."),
    states: str = typer.Option(
        "15-100", metavar="A-B", help="Range of the number of states of a component."
    ),
    local_ratio: float = typer.Option(
        0.4,
        metavar="R",
        help="Share of transitions with internal (local) labels, 0 <= R < 1.",
    ),
    sharing: str = typer.Option(
        "2", metavar="K", help="Components that share a global label, or A-B."
    ),
    out: _Out = None,
) -> None:
    """N random Büchi automata that synchronise in pairs (Gnad et al., CAV 2021).

    In a component at least one state and at most 3 % accept, on no cycle of
    local transitions.  The systems of the paper have 2 to 8 components and
    --local-ratio 0 to 0.8, with 150 seeds each.
    """
    from ltlpipe.families.networks import random_network

    network = random_network(
        n,
        seed=seed,
        n_states=_range(states, "'--states'"),
        local_ratio=local_ratio,
        sharing=_range(sharing, "'--sharing'"),
    )
    _write(network, out)


@generate.command()
def formulas(
    n: Size,
    actions: str | None = typer.Option(
        None, metavar="A,B,...", help="Actions that the formulas name."
    ),
    system: list[str] | None = typer.Option(
        None, metavar="FILE", help="Use the actions of this system."
    ),
    seed: int = typer.Option(0, metavar="N", help="Reproduces the set."),
    interruptible: bool = typer.Option(
        False, "--interruptible", help="Only interruptible formulas."
    ),
    out: str | None = output("FILE.ltl"),
) -> None:
    """N different LTL formulas: instances of specification patterns."""
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


def _write(network: Network, out: str | None) -> None:
    from ltlpipe.systems.writing import hoa_text, save

    if out is None:
        print(hoa_text(network), end="")
        return
    for written in save(network, out):
        print(f"wrote {written}", file=sys.stderr)


@generate.command()
def coloured_client_server(
    n: int = typer.Argument(metavar="N", help="How many clients."),
    m: int = typer.Argument(metavar="M", help="How many servers."),
    out: str | None = output("FILE.pnml", "Output file (.gz compresses)"),
    unfolded: bool = typer.Option(
        False, "--unfolded", help="The place/transition net that it unfolds into."
    ),
    priorities: str | None = typer.Option(
        None,
        metavar="FILE.hoa",
        help="Write a constraint, too: client 1 is served first, then client 2 ...",
    ),
) -> None:
    """N clients and M servers that serve one of them at a time, as a symmetric net."""
    from ltlpipe.families.networks import coloured_client_server as family
    from ltlpipe.families.networks import priorities as constraint
    from ltlpipe.runtime.files import write_text
    from ltlpipe.systems.nets.coloured.unfolding import unfolded as unfolding
    from ltlpipe.systems.nets.writing import pnml_text, save_pnml

    net = family(n, m)
    if priorities is not None:
        write_text(priorities, constraint(n, m))
        print(f"wrote {priorities}", file=sys.stderr)
    written = unfolding(net) if unfolded else net
    if out is None:
        print(pnml_text(written), end="")
        return
    save_pnml(written, out)
    print(f"wrote {out}", file=sys.stderr)


@generate.command()
def rers(
    out: str = typer.Option(
        ..., "-o", "--out", metavar="FOLDER", help="A new or empty folder to fill."
    ),
    components: int = typer.Option(
        ..., min=1, metavar="N", help="Components of each network."
    ),
    style: Literal["chain", "random-pairs", "random-dense"] = typer.Option(
        "random-pairs",
        help="chain: like the public problems of 2018 to 2020, components of up to "
        "180 states share labels with near ones; random-pairs: any two components "
        "share a label, on one transition of each; random-dense: any two to four, "
        "on several transitions.",
    ),
    seed: int = typer.Option(0, min=0, metavar="N", help="Of the first problem."),
    synchronisations: int | None = typer.Option(
        None,
        min=0,
        metavar="K",
        help="Number of shared labels; by default 3 (chain), 1.5 "
        "(random-pairs) or 2 (random-dense) per component.",
    ),
    formulas: int = typer.Option(
        20, min=1, metavar="N", help="Formulas of each problem."
    ),
    problems: int = typer.Option(
        1, min=1, metavar="N", help="Problems, with one seed each."
    ),
    max_states: int | None = typer.Option(
        None, min=1, metavar="N", help="States explored at most for a verdict; 250000."
    ),
) -> None:
    """Parallel problems in the style of RERS, with known verdicts, for `solve`.

    FOLDER/problems/001 has system.dot and formulas.ltl, about half of which hold where
    networks are small enough to know; FOLDER/truth.csv has the known verdicts.
    """
    from ltlpipe.batch.rers_problems import MAX_STATES, write_problems

    for path in write_problems(
        out,
        components,
        style=style,
        seed=seed,
        synchronisations=synchronisations,
        n_formulas=formulas,
        n_problems=problems,
        max_states=MAX_STATES if max_states is None else max_states,
    ):
        print(f"wrote {path}", file=sys.stderr)
