"""What ``-h`` prints: the options that matter, and examples."""

from __future__ import annotations

import sys
import textwrap
from typing import Any, NamedTuple

_WIDTH = 80


class Short(NamedTuple):
    """The short help of a command."""

    options: tuple[str, ...]  # the names of their parameters
    examples: tuple[str, ...]


SHORT = {
    "check": Short(
        (
            *("formula", "formula_file", "deadlock", "fairness", "reduce"),
            *("timeout", "memory", "shortest", "why", "as_json"),
        ),
        (
            "ltlpipe check ring.aut -f 'G(a1 -> F d1)'",
            "ltlpipe check net.pnml -F formulas.ltl --timeout 5m --why",
        ),
    ),
    "solve": Short(
        (
            *("out", "store", "report", "jobs", "timeout", "memory"),
            *("grid", "retry", "log", "as_json"),
        ),
        (
            "ltlpipe solve problems --out results.csv --report report.html",
            "ltlpipe solve problems --store run.sqlite --jobs 4 --timeout 60s",
        ),
    ),
    "compare": Short(
        (
            *("formula", "formula_file", "emptiness", "acceptance", "reduce"),
            *("grid", "repeat", "timeout", "plot", "out"),
        ),
        (
            "ltlpipe compare ring.aut -f 'G(a1 -> F d1)' --emptiness se05,couvreur99",
            "ltlpipe compare ring.aut -F formulas.ltl --repeat 5 --out table.csv",
        ),
    ),
    "info": Short(
        ("count", "as_json", "define", "timeout", "max_states"),
        (
            "ltlpipe info ring.aut",
            "ltlpipe info model.pml -D N=3 --count",
        ),
    ),
    "simulate": Short(
        ("formula", "lasso", "last", "seed", "plain"),
        ("ltlpipe simulate ring.aut", "ltlpipe simulate --last"),
    ),
}
"""The commands whose long help is long."""


def print_short(command: Any, context: Any) -> None:
    """Print the short help of a command; the long one if it has no other."""
    short = SHORT.get(command.name or "")
    if short is None:
        print(command.get_help(context))
        return
    by_name = {parameter.name: parameter for parameter in command.params}
    lines = [command.get_usage(context), "", _first_line(command.help), ""]
    for name in short.options:
        lines += _described(by_name[name], context)
    lines += ["", "Examples:", *(f"  {example}" for example in short.examples)]
    lines += ["", f"All options: {context.command_path} --help"]
    print("\n".join(lines), file=sys.stdout)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _described(parameter: Any, context: Any) -> list[str]:
    """Return the lines about an option: its flags, and the first sentence of help."""
    flags, help_text = parameter.get_help_record(context)
    head = f"  {flags}"
    sentence = _first_sentence(help_text.strip())
    indent = " " * 6
    return [
        head,
        *textwrap.wrap(
            sentence,
            _WIDTH - len(indent),
            initial_indent=indent,
            subsequent_indent=indent,
        ),
    ]


def _first_sentence(text: str) -> str:
    """Return a text up to its first full stop that ends a sentence."""
    return text.split(". ")[0].removesuffix(".").rstrip() + "."
