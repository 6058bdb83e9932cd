"""Which command takes which option, and how many files a new option touches.

``interface.csv`` has, for each of two revisions, a row per command and option: whether
the command's ``--help`` has the flag, and whether the function of the same name has the
parameter.  For each option it has the number of files in which it is declared: as a
field, a parameter of a function, or by its name in a call.

    python -m benchmarks.interface [--before REVISION]
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from ltlpipe.question.conditions import flag_of
from ltlpipe.question.options import EVERYWHERE, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BEFORE = "f89191a"
"""The last revision before options were declared once."""

INTERFACE = ("question", "verdict", "batch", "cli")
"""The rooms that say what can be asked for."""

_OTHERS = {"progress"}
"""Former names of options that are names of something else, too."""

PARAMETERS = """
import inspect, json, sys, ltlpipe
print(json.dumps({name: list(inspect.signature(getattr(ltlpipe, name)).parameters)
                  for name in sys.argv[1:]}))
"""


def taken(root: Path) -> Iterator[dict[str, Any]]:
    """Yield which commands and functions of a checkout take which options."""
    commands = sorted(EVERYWHERE)
    parameters = json.loads(_output(root, "-c", PARAMETERS, *commands))
    for command in commands:
        shown = _output(root, "-m", "ltlpipe", command, "--help").split()
        for name, option in OPTIONS.items():
            names = [n for n in (name, *option.old) if n not in _OTHERS]
            flags = {f"--{prefix}{flag_of(n)}" for n in names for prefix in ("", "no-")}
            yield {
                "command": command,
                "option": name,
                "flag": bool(flags & set(shown)),
                "parameter": bool(set(names) & set(parameters[command])),
                "means_something": command in option.commands,
            }


def _output(root: Path, *arguments: str) -> str:
    """Return what Python prints, with the package of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(root), "COLUMNS": "400"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment, cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout


def declared(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the number of files of a checkout in which each option is declared."""
    files = [f for room in INTERFACE for f in (root / "ltlpipe" / room).rglob("*.py")]
    named = [set(_names(ast.parse(file.read_text()))) for file in files]
    for name, option in OPTIONS.items():
        names = {name, *option.old} - _OTHERS
        yield {"option": name, "files": sum(bool(names & found) for found in named)}


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield parameters, fields, and texts that are arguments of decorators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            public = not node.name.startswith("_")
            yield from (a.arg for a in node.args.kwonlyargs if public)
            for decorator in node.decorator_list:
                for part in ast.walk(decorator):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value
        elif isinstance(node, ast.ClassDef) and node.name == "Options":
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(
                    item.target, ast.Name
                ):
                    yield item.target.id


def main() -> None:
    """Measure both revisions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default=BEFORE)
    before = parser.parse_args().before
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(old), before], check=True)
        try:
            for when, root in (("before", old), ("after", ROOT)):
                found = [*taken(root), *declared(root)]
                rows += [{"revision": when} | row for row in found]
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    columns = dict.fromkeys(column for row in rows for column in row)
    record.write(
        record.RESULTS / "interface.csv",
        [{column: row.get(column) for column in columns} for row in rows],
    )


if __name__ == "__main__":
    main()
