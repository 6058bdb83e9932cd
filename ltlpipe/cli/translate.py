"""``ltlpipe translate``: a formula to an automaton in HOA."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.reading import run_within
from ltlpipe.question.option import TRANSLATE
from ltlpipe.runtime.errors import UnsupportedError


@shared.takes(TRANSLATE)
def translate(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="LTL formula.")],
    acceptance: Annotated[
        str, typer.Option(metavar="KIND", help="ba, tgba, tgra, tfla or tela.")
    ] = "ba",
    negate: Annotated[
        bool,
        typer.Option(
            "--negate",
            help="Translate the negation: the violations, for check --automaton.",
        ),
    ] = False,
    **chosen: Any,
) -> None:
    """Print an automaton of a formula in HOA."""
    from ltlpipe.automata.translating import automaton_text
    from ltlpipe.logic.formulas import parse
    from ltlpipe.runtime.jobs import StoppedError

    job = automaton_text(parse(formula), acceptance, negate=negate, **chosen)
    try:
        text = run_within(job)
    except StoppedError as stopped:
        raise UnsupportedError(f"no automaton: Spot ran out of {stopped}") from None
    print(text)
