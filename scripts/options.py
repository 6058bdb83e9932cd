"""Write ``docs/options.md``: the options of a question, as they are declared.

python scripts/options.py
"""

from __future__ import annotations

from pathlib import Path

from ltlpipe.question.options import (
    ABOUT_RUNS,
    DEFAULTS,
    EVERYWHERE,
    KINDS,
    OPTIONS,
    SIMULATE,
    Option,
    flag_of,
)
from ltlpipe.runtime.names import FLAGS, spelled

PAGE = Path(__file__).parent.parent / "docs" / "options.md"
_ORDER = "check solve compare livelock deadlocks simulate"
COMMANDS = sorted(EVERYWHERE | {SIMULATE}, key=_ORDER.index)

HEAD = """\
# Options

What can be asked of `check`, `solve`, `compare`, `livelock`, `deadlocks` and
`simulate`, at the command line and in Python.  A flag is a parameter by the same name
with underscores: `--max-states 1000` is `max_states=1000`; `--no-lasso` is
`lasso=False`.  Task tables have columns of these names, and `solve --grid` takes them.
An option is for the first four of these and for all systems, unless it says otherwise.
This page is made from the declarations (`python scripts/options.py`).
"""


def page() -> str:
    """Return the text of the page, with a heading before each group of options."""
    parts, group = [HEAD], ""
    for name, option in OPTIONS.items():
        if option.group != group:
            group = option.group
            parts.append(f"## {group.capitalize()}\n")
        parts.append(_entry(name, option))
    return "\n".join(parts)


def _flag(name: str) -> str:
    """Return the flag of an option, without its dashes."""
    flag = flag_of(name)
    return f"no-{flag}" if OPTIONS[name].default is True else flag


def _entry(name: str, option: Option) -> str:
    """Return what there is to say of an option."""
    value = "" if option.kind is bool else f" {option.metavar}"
    text = " ".join(part for part in (option.help, option.details) if part)
    lines = [f'<a id="{name}"></a>', f"### `--{_flag(name)}{value}`", ""]
    lines += [spelled(text, FLAGS), ""]
    facts = [] if option.kind in (str, tuple, bool) else [KINDS[option.kind]]
    if option.choices and "|" not in (option.metavar or ""):
        facts.append(f"one of {', '.join(f'`{choice}`' for choice in option.choices)}")
    if option.least is not None:
        most = "" if option.most is None else f" and at most {option.most}"
        facts.append(f"at least {option.least}{most}")
    if option.default not in (None, ()) and option.kind is not bool:
        facts.append(f"`{option.default}` by default")
    for command, others in DEFAULTS.items():
        if name in others:
            facts.append(f"`{others[name]}` in `{command}`")
    for word, differing in (
        ("not", ABOUT_RUNS - option.commands),
        ("also", option.commands - ABOUT_RUNS),
    ):
        named = [f"`{command}`" for command in COMMANDS if command in differing]
        if named:
            facts.append(f"{word} for {', '.join(named)}")
    if option.systems != "all":
        facts.append(f"for {option.systems} only")
    if facts:
        told = "; ".join(facts) + "."
        lines.append(told[0].upper() + told[1:])
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
