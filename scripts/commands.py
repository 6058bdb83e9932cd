"""Write ``docs/commands.md``: the commands, from their help.

python scripts/commands.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer.main import get_command

from ltlpipe.cli.application import application
from ltlpipe.question.options import EVERYWHERE, OPTIONS, SIMULATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands

This page is made from `ltlpipe COMMAND --help` (`python scripts/commands.py`).
Options of the question itself (`--timeout`, `--reduce`, ...) are described in
[Options](options.md).
"""


def page() -> str:
    """Return the text of the page."""
    sections = [_section(name, command) for name, command in _commands(app_commands())]
    return "\n".join([HEAD, *sections])


def app_commands() -> dict[str, click.Command]:
    """Return the commands by their names."""
    return dict(get_command(application()).commands)  # type: ignore[attr-defined]


def _commands(
    commands: dict[str, click.Command], before: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands, groups replaced by their commands."""
    for name, command in commands.items():
        below = getattr(command, "commands", None)
        if below is None:
            yield f"{before}{name}", command
        else:
            yield from _commands(below, f"{before}{name} ")


def _section(name: str, command: click.Command) -> str:
    """Return what is to be said of a command."""
    lines = [f"## `ltlpipe {name}`", ""]
    lines += [_as_text(command.help or ""), ""]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    flags = [p for p in command.params if p.param_type_name == "option"]
    is_shared = name in EVERYWHERE | {SIMULATE}
    shared = [p for p in flags if is_shared and p.name in OPTIONS]
    own = [p for p in flags if p not in shared and not _is_hidden(p)]
    rows = [_row(p) for p in [*arguments, *own]]
    if rows:
        lines += ["| argument or option | |", "|---|---|", *rows, ""]
    if shared:
        lines += [
            f"And the options of the column `{name}` of [Options](options.md).",
            "",
        ]
    return "\n".join(lines)


def _is_hidden(parameter: click.Parameter) -> bool:
    return bool(getattr(parameter, "hidden", False)) or parameter.name == "help"


def _row(parameter: click.Parameter) -> str:
    """Return the row of an argument or option."""
    metavar = parameter.metavar or parameter.name.upper()
    name = metavar
    if parameter.param_type_name == "option":
        name = ", ".join(parameter.opts)
        if not getattr(parameter, "is_flag", False):
            name += f" {metavar}"
    text = " ".join((getattr(parameter, "help", None) or "").split())
    return "| `{}` | {} |".format(*(cell.replace("|", r"\|") for cell in (name, text)))


def _as_text(text: str) -> str:
    """Return a help text as Markdown: paragraphs."""
    paragraphs = text.replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs)


if __name__ == "__main__":
    PAGE.write_text(page())
