"""The typer application: which commands there are.

A command is imported and built only where it is run, or where all are listed: that
of all takes longer than many checks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ltlpipe._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Place(NamedTuple):
    """Where a command is."""

    module: str
    name: str
    has_short_help: bool = True  # -h; of others it is the whole
    translates: bool = False  # in a worker process, which may start ahead


_COMMANDS = {
    "check": _Place("check", "check", translates=True),
    "solve": _Place("solve", "solve"),
    "results": _Place("results", "results", False),
    "report": _Place("report", "report", False),
    "status": _Place("results", "status", False),
    "verify": _Place("verify", "verify", False),
    "livelock": _Place("check", "livelock"),
    "deadlocks": _Place("check", "deadlocks"),
    "simulate": _Place("simulate", "simulate"),
    "compare": _Place("compare", "compare"),
    "info": _Place("info", "info"),
    "analyze": _Place("analyze", "analyze", False),
    "translate": _Place("convert", "translate"),
    "convert": _Place("convert", "convert"),
    "compile": _Place("convert", "compile_model", False),
    "reduce": _Place("convert", "reduce"),
    "plot": _Place("report", "plot", False),
    "generate": _Place("generate", "generate", False),
}
_WITH_H = {"help_option_names": ["--help", "-h"]}


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the command that arguments name, or with all."""
    app = typer.Typer(
        name="ltlpipe",
        help="LTL formulas and systems in, trustworthy verdicts out.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    first = next((a for a in arguments if not a.startswith("-")), "")
    if first in _COMMANDS and _COMMANDS[first].translates:
        _start_translator(arguments)
    for name in [first] if first in _COMMANDS else _COMMANDS:
        _add(app, name, _COMMANDS[name])
    return app


def _start_translator(arguments: Sequence[str]) -> None:
    """Have a worker process import Spot while this one imports the command."""
    if not {"--help", "-h", "--empty", "--verify"}.intersection(arguments):
        from ltlpipe.runtime import workers

        workers.prepare("spot", "ltlpipe.automata.translation")


def _add(app: typer.Typer, name: str, place: _Place) -> None:
    found = getattr(import_module(f"ltlpipe.cli.{place.module}"), place.name)
    settings: dict[str, Any] = {"context_settings": _WITH_H}
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name, **settings)
    else:
        app.command(name, **({} if place.has_short_help else settings))(found)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ltlpipe {__version__}")
        raise typer.Exit


def _options(
    _version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
) -> None:
    """LTL formulas and systems in, trustworthy verdicts out."""
