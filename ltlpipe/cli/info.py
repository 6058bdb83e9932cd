"""``ltlpipe info``: what a file holds, and what can be asked about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.options import run_within
from ltlpipe.cli.verdicts import exit_code, json_line
from ltlpipe.question.given_options import manner_of, understood
from ltlpipe.question.options import INFO
from ltlpipe.runtime.errors import warn
from ltlpipe.runtime.jobs import MAX_STATES, StoppedError
from ltlpipe.runtime.names import counted, quoted_name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Limits
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.description import Description

_SHOWN = 12  # components, actions, variables that are listed
_WIDTH = 16


@shared.takes(INFO)
def info(
    system: shared.System,
    count: bool = shared.output_option(
        False,
        "--count",
        help="Count the states and transitions that can be reached, all of them.",
    ),
    as_json: shared.AsJson = False,
    **chosen: Any,
) -> None:
    """Print what a system is: sizes, names, initial state, example formulas.

    A small system is explored, which tells the reachable states and whether there is a
    deadlock.  Exit code: 0, 2 for bad input or usage, 3 if a limit was hit while the
    system was read, explored or counted.
    """
    from ltlpipe.systems.reading import load_job

    options, limits = understood(chosen)
    try:
        loaded = run_within(load_job(system, **manner_of(chosen)), limits)
        if count:
            _print_size(loaded, options, limits, as_json=as_json)
        else:
            _print_description(loaded, limits, as_json=as_json)
    except StoppedError as stopped:
        told = "not counted" if count else "not described"
        print(f"{' '.join(system)}: {told} ({stopped.reason})")
        raise typer.Exit(exit_code(["unknown"])) from None


def _print_description(loaded: System, limits: Limits, *, as_json: bool) -> None:
    """Print what a system is."""
    from ltlpipe.verdict.description import description_job

    told = run_within(description_job(loaded), limits)
    if as_json:
        print(json_line(asdict(told)))
        return
    for head, lines in _parts(told):
        for line in lines:
            print(visible(f"{head:{_WIDTH - 1}} {line}".rstrip()))
            head = ""


def _print_size(
    loaded: System, options: Options, limits: Limits, *, as_json: bool
) -> None:
    """Count the states of a system, and print their number."""
    from ltlpipe.verdict.checking import size_job

    size = run_within(size_job(loaded, options), limits)
    if size is None:
        raise StoppedError(MAX_STATES)
    if (lacks := getattr(loaded, "lacks", None)) is not None:
        warn(f"{loaded.name}: there may be more: {lacks}")
    if fewer := getattr(loaded, "only_stuttering", ""):
        warn(fewer)
    told = {"states": size.states, "transitions": size.transitions}
    if as_json:
        print(json_line({"system": loaded.name, **told}))
    else:
        states = counted(size.states, "state")
        print(f"{states}, {counted(size.transitions, 'transition')}")


def _parts(told: Description) -> Iterator[tuple[str, list[str]]]:
    """Yield what is told: a head, and lines."""
    yield "system", [told.name]
    sizes = [counted(n, noun) for noun, n in told.sizes.items() if n]
    yield told.kind, [", ".join(sizes)]
    yield "", [*told.about]
    yield "components", _listed(map(_component, told.components))
    yield "actions", _listed(_action(*one) for one in told.actions.items())
    yield "variables", _listed(map(quoted_name, told.variables))
    values = (f"{quoted_name(n)}={value}" for n, value in told.initial.items())
    yield "initial state", _listed(values)
    yield "states", [_states(told)]
    yield "for example", [*told.formulas]


def _listed(texts: Iterable[str]) -> list[str]:
    """Return the first of some texts, and how many more there are."""
    known = list(texts)
    more = len(known) - _SHOWN
    return known if more <= 1 else [*known[:_SHOWN], f"... and {more:,} more"]


def _component(part: dict[str, Any]) -> str:
    sizes = [counted(part["states"], "state")]
    sizes.append(counted(part["transitions"], "transition"))
    if part["accepting"] is not None:
        sizes.append(f"{part['accepting']:,} accepting")
    return f"{quoted_name(part['name'])}: {', '.join(sizes)}"


def _action(name: str, components: list[str]) -> str:
    return f"{quoted_name(name)} ({', '.join(components)})"


def _states(told: Description) -> str:
    """Return how many states there are, and whether one is a deadlock."""
    if not told.n_states:
        return "not explored"
    if told.is_complete:
        reached = f"{told.n_states:,} reachable"
    else:
        reached = f"more than {told.n_states:,} reachable"
    if told.deadlock is not None:
        return f"{reached}; a deadlock after {counted(told.deadlock, 'step')}"
    among = "no deadlock" if told.is_complete else "no deadlock among them"
    return f"{reached}; {among}"
