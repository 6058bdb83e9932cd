"""``ltlpipe info``: what a system is, and how many states it has."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.progress import run_within, search_progress
from ltlpipe.cli.verdicts import json_line
from ltlpipe.question.given_options import manner_of, of_question, understood
from ltlpipe.question.options import INFO
from ltlpipe.runtime.names import counted


@shared.takes(INFO)
def info(
    system: shared.System,
    count: Annotated[
        bool,
        typer.Option(
            "--count",
            help="Count the states and transitions that can be reached, all of them.",
            rich_help_panel=shared.OUTPUT_GROUP,
        ),
    ] = False,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Tell the sizes of a system, and what it asks itself.

    Exit code: 0, 2 bad input or usage, 3 a limit was hit before all was counted.
    """
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.checking import product_size

    size = None
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            job = load_job(system, **manner_of(chosen))
            loaded = run_within(job, understood(chosen)[1], progress=bar)
        except StoppedError:
            raise typer.Exit(3) from None
        bar.begin("counting")
        if count:
            size = product_size(loaded, None, **of_question(chosen))
    own = [question.name for question in getattr(loaded, "own_questions", ())]
    sizes = loaded._sizes()
    told: dict[str, Any] = {"system": loaded.name}
    told |= {
        f"{noun}es" if noun[-1] == "s" else f"{noun}s": n for noun, n in sizes.items()
    }
    told |= {"properties": own} if own else {}
    if count:
        told["states"] = None if size is None else size.states
        told["transitions"] = None if size is None else size.transitions
    print(json_line(told) if as_json else _text(told, sizes), flush=True)
    raise typer.Exit(3 if count and size is None else 0)


def _text(told: dict[str, Any], sizes: dict[str, int]) -> str:
    parts = [counted(number, noun) for noun, number in sizes.items()]
    lines = [f"{told['system']}: {', '.join(parts)}"]
    if "properties" in told:
        lines.append(f"properties: {', '.join(told['properties'])}")
    if told.get("states") is not None:
        states = counted(told["states"], "state")
        lines.append(f"{states}, {counted(told['transitions'], 'transition')}")
    elif "states" in told:
        lines.append("states: not counted, a limit was hit")
    return "\n".join(lines)
