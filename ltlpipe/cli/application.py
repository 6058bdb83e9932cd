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


app.command(cls=Command)(check)
app.command(cls=Command)(solve)
app.command()(results)
app.add_typer(plot, name="plot")
app.command()(report)
app.command()(status)
app.command()(verify)
app.command(cls=Command)(livelock)
app.command(cls=Command)(deadlocks)
app.command(cls=Command)(simulate)
app.command(cls=Command)(compare)
app.command()(analyze)
app.command()(translate)
app.command()(convert)
app.command("compile")(compile_model)
app.command(cls=Command)(reduce)
app.add_typer(generate, name="generate")
