"""Help: groups of options, the short help, and errors in arguments."""

from __future__ import annotations

import re

import pytest
import typer

from ltlpipe.cli.application import application
from ltlpipe.cli.options import SHORT

GROUPS = [
    *("Question", "Search", "Limits", "Counterexample", "Run", "Output", "Experts")
]
APP = application()
COMMANDS = typer.main.get_command(APP).commands


def test_each_command_is_registered_once():
    names = [each.name or each.callback.__name__ for each in APP.registered_commands]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("command", ["check", "solve", "compare", "livelock"])
def test_options_are_in_groups(run, command):
    shown = run(command, "--help").out
    found = [name for name in re.findall(r"╭─ (\w+) ", shown) if name in GROUPS]
    assert found == [name for name in GROUPS if name in found]
    assert len(found) >= 6
    rest = shown.split("╭─ Options ")[1].split("╭─ ")[0]
    assert re.findall(r"--[a-z-]+", rest) == ["--help"]


@pytest.mark.parametrize("command", list(SHORT))
def test_short_help_has_at_most_ten_options_and_two_examples(run, command):
    shown = run(command, "-h")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    flags = [line for line in lines if re.match(r"  -", line)]
    assert len(flags) == len(SHORT[command].options) <= 10
    assert len(SHORT[command].examples) == 2
    assert f"ltlpipe {command} --help" in shown.out


@pytest.mark.parametrize("command", list(SHORT))
def test_examples_are_commands(command):
    """Their options exist, and their arguments parse."""
    import shlex

    for example in SHORT[command].examples:
        _, name, *words = shlex.split(example)
        assert name == command
        context = COMMANDS[name].make_context(name, words)
        assert context.params


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_h(run, command):
    shown = run(command, "-h")
    assert shown.code == 0
    assert "Usage: ltlpipe" in shown.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--timeout", "5x"],
            "--timeout 5x: expected a number of seconds, or one with ms",
        ),
        (["--memory", "4QB"], "--memory 4QB: expected a number of MiB, or one with MB"),
        (["--emptiness", "se5"], "did you mean se05"),
        (["--fairness", "week"], "did you mean weak?"),
        (["--workers", "two"], "--workers two: expected a whole number"),
        (["--jsn"], "no such option: --jsn (Possible options: --json"),
        (["--json", "--chart"], "--chart goes without --json (see ltlpipe check"),
    ],
)
def test_errors_have_one_style(run, words, complaint):
    done = run("check", "x.aut", "-f", "a", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert complaint in done.err


def test_values_are_completed():
    from ltlpipe.cli.options import _completing
    from ltlpipe.question.options import OPTIONS

    complete = _completing(OPTIONS["emptiness"])
    assert complete("se") == ["se05"]
    assert complete("couv") == ["couvreur99", "couvreur99-fig5"]
