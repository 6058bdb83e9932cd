"""The options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Emptiness = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Emptiness check: auto, or a name such as se05, couvreur99, dfs-weak.",
    ),
]
Acceptance = Annotated[
    str,
    typer.Option(
        metavar="KIND", help="Property automaton: auto, ba, tgba, tgra, tfla, tela."
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic", help="A deterministic one (with tgra, tfla or tela)."
    ),
]
Translator = Annotated[
    str | None,
    typer.Option(
        metavar="CMD", help="Translates instead of Spot: prints HOA for %f in CMD."
    ),
]
Fairness = Annotated[
    str | None,
    typer.Option(
        metavar="weak|strong", help="Only runs count that are fair to each component."
    ),
]
FairSets = Annotated[
    list[str] | None,
    typer.Option(
        "--progress",
        "--fair",
        metavar="A,B",
        help="A set of actions that --fairness is about, instead of the components'.",
    ),
]
Symmetric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="P1,P2,P3",
        help="Components that can be interchanged; by default they are found.",
    ),
]
Reduce = Annotated[
    str, typer.Option(metavar="LIST", help="Reductions: auto, none, or a list.")
]
Semantics = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="Propositions name actions or states."),
]
Deadlock = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="A finite maximal run says nothing (ignore, the default for networks) "
        "or repeats its last state for ever (stutter).",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="Time for each formula."),
]
Memory = Annotated[
    float | None,
    typer.Option(
        metavar="MIB",
        min=0,
        help="Memory of each search; nine tenths of what is free by default.",
    ),
]
MaxStates = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Product states for each formula."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, max=2**63 - 1, help="Shuffle the order of transitions."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="A proposition that is no action of the system is an error."
    ),
]
AmpleInner = Annotated[
    str,
    typer.Option(
        metavar="WAY",
        help="How the red search of se05 repeats ample sets: full (all steps to known "
        "states) or stored (two bytes per state).",
    ),
]
CapStates = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="States of a composition of components while they are reduced.",
    ),
]
Accepting = Annotated[
    str,
    typer.Option(
        metavar="together|each",
        help="Whether components that accept have to do so in the same state.",
    ),
]
StackTest = Annotated[
    bool,
    typer.Option(
        "--stack-test", help="Let decoupled-ndfs look at its stack for cycles, too."
    ),
]
Bitstate = Annotated[
    float | None,
    typer.Option(
        metavar="MIB",
        help="Note states in a bit array of this size instead of storing them (se05); "
        "then nothing is said to hold.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        metavar="P",
        min=1,
        max=31,
        help="Threads for each formula (rabin-parallel).",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]


def given(**options: Any) -> dict[str, Any]:
    """Return the options of `ltlpipe.check` by name."""
    return options
