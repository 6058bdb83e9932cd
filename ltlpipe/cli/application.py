"""The typer application: which commands there are."""

from __future__ import annotations

from typing import Annotated

import typer

from ltlpipe._version import __version__
from ltlpipe.cli.analyze import analyze
from ltlpipe.cli.check import check
from ltlpipe.cli.compare import compare
from ltlpipe.cli.convert import compile_model, convert, reduce, translate
from ltlpipe.cli.generate import generate
from ltlpipe.cli.info import info
from ltlpipe.cli.livelock import deadlocks, livelock
from ltlpipe.cli.options import Command
from ltlpipe.cli.report import plot, report
from ltlpipe.cli.results import results
from ltlpipe.cli.simulate import simulate
from ltlpipe.cli.solve import solve
from ltlpipe.cli.status import status
from ltlpipe.cli.verify import verify

app = typer.Typer(
    name="ltlpipe",
    help="LTL formulas and systems in, trustworthy verdicts out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ltlpipe {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """LTL formulas and systems in, trustworthy verdicts out."""


_WITH_H = {"help_option_names": ["--help", "-h"]}
"""For commands whose help is short; others have a shorter one."""

app.command(cls=Command)(check)
app.command(cls=Command)(solve)
for command in (results, report, status, verify):
    app.command(context_settings=_WITH_H)(command)
for command in (livelock, deadlocks, simulate, compare, info):
    app.command(cls=Command)(command)
app.command(context_settings=_WITH_H)(analyze)
app.command(cls=Command)(translate)
app.command(cls=Command)(convert)
app.command("compile", context_settings=_WITH_H)(compile_model)
app.command(cls=Command)(reduce)
app.add_typer(plot, name="plot", context_settings=_WITH_H)
app.add_typer(generate, name="generate", context_settings=_WITH_H)
