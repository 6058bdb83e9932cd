"""Write ``docs/commands.md``: the commands, from their help.

python scripts/commands.py
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from typer.main import get_command

from ltlpipe.cli.application import application
from ltlpipe.question.options import EVERYWHERE, OPTIONS, SIMULATE, flag_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
TAKERS = EVERYWHERE | {SIMULATE}
"""Commands that take the options of a question."""
HEAD = """\
# Commands

This page is made from `ltlpipe COMMAND --help` (`python scripts/commands.py`).
[Options](options.md) describes the options of the question itself (`--timeout`,
`--reduce`, ...).  Several commands have these:
"""
FEW = 3
"""Commands whose rows of one argument are shown once, at the head of the page."""


def page() -> str:
    """Return the text of the page."""
    commands = list(_commands(app_commands()))
    rows = Counter(row for name, command in commands for row in _rows(name, command))
    shared: dict[str, str] = {}
    for row, count in rows.most_common():
        if count >= FEW:
            shared.setdefault(_name_of(row), row)
    sections, group = [], ""
    for name, command in commands:
        begin, _, family = name.partition(" ")
        if family and begin != group:
            sections.append(f"\n## `ltlpipe {begin}`\n")
        group = begin if family else ""
        sections.append((_item if family else _section)(name, command, shared))
    text = "\n".join([HEAD, *shared.values(), "", *sections, ""])
    return re.sub(r"\n{3,}", "\n\n", text)


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


def _section(name: str, command: click.Command, shared: dict[str, str]) -> str:
    """Return what is to be said of a command."""
    lines = [f"## `ltlpipe {name}`", "", _as_text(command.help or ""), ""]
    rows = _rows(name, command)
    own = [row for row in rows if shared.get(_name_of(row)) != row]
    if own:
        lines += [*own, ""]
    also = [_name_of(row) for row in rows if row not in own]
    also += [
        f"[`--{flag_of(p.name)}`](options.md#{p.name})" for p in _asked(name, command)
    ]
    if name in TAKERS:
        also.append(f"the [options](options.md) of a question that `{name}` takes")
    if also:
        lines += [f"Also {', '.join(also)}.", ""]
    return "\n".join(lines)


def _item(name: str, command: click.Command, shared: dict[str, str]) -> str:
    """Return what is to be said of a command of a group: an entry of a list."""
    rows = _rows(name, command)
    own = [row for row in rows if shared.get(_name_of(row)) != row]
    also = [_name_of(row) for row in rows if row not in own]
    text = " ".join(_as_text(command.help or "").split())
    if also:
        text += f" Takes {', '.join(also)}."
    return "\n".join([f"- `{name}`: {text}", *(f"    {row}" for row in own)])


def _rows(name: str, command: click.Command) -> list[str]:
    """Return the rows of arguments and options, without options of the question."""
    asked = [p.name for p in _asked(name, command)]
    if name in TAKERS:
        asked += OPTIONS
    given = [p for p in command.params if not _is_hidden(p)]
    given.sort(key=lambda p: p.param_type_name != "argument")
    return [_row(p) for p in given if p.name not in asked]


def _asked(name: str, command: click.Command) -> list[click.Parameter]:
    """Return the options of a question that a command has beside those that ask."""
    if name in TAKERS:
        return []
    return [
        p for p in command.params if p.name in OPTIONS and _help(p) == _first(p.name)
    ]


def _first(name: str) -> str:
    return " ".join(OPTIONS[name].help.split())


def _name_of(row: str) -> str:
    """Return what a row is about."""
    return row[2:].partition("`: ")[0] + "`"


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
    text = _help(parameter)
    return f"- `{name}`: {text}"


def _help(parameter: click.Parameter) -> str:
    return " ".join((getattr(parameter, "help", None) or "").split())


def _as_text(text: str) -> str:
    """Return a help text as Markdown: paragraphs."""
    paragraphs = text.replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs)


if __name__ == "__main__":
    PAGE.write_text(page())
