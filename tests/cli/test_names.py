"""One name for one thing: options, columns and values, wherever they are spelled."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import typer

import ltlpipe
from ltlpipe.batch.table import COMPARISON_DTYPES, DTYPES
from ltlpipe.cli.application import application
from ltlpipe.question.options import OPTIONS
from ltlpipe.report.page_data import TITLES

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(application()).commands
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
PAGES = [page for page in PAGES if page.stem != "decisions"]  # which names what was

ONLY_HERE = {
    "check": "formula_file out report answers verify as_json steps chart why simulate "
    "explain quiet own",
    "solve": "out rers report as_json log explain quiet allow_translators",
    "livelock": "as_json steps chart explain quiet",
    "deadlocks": "as_json steps chart explain quiet",
    "compare": "formula_file as_json out plot quiet",
}
"""Parameters of commands about printing and files, which functions do not need."""

OTHERS = {
    *("--help", "--version", "--install-completion", "--show-completion"),
    *("--protocol", "--tls-ca-file", "--tls-cert", "--tls-key"),  # of Dask
    *("--hypothesis-profile", "--clear-output", "--inplace", "--lps", "--cached"),
}
"""Flags of other programs, and of all."""


def flags(command):
    """All flags of a command, and of those below it."""
    found = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
    for below in getattr(command, "commands", {}).values():
        found |= flags(below)
    return found


OF_BENCHMARKS = {
    flag
    for path in (ROOT / "benchmarks").rglob("*.py")
    for flag in re.findall(r'"(--[a-z-]+)"', path.read_text(encoding="utf-8"))
}
FLAGS = set().union(*map(flags, COMMANDS.values())) | OTHERS | OF_BENCHMARKS


@pytest.mark.parametrize("name", list(ONLY_HERE))
def test_functions_have_the_parameters_of_commands(name):
    function = inspect.signature(getattr(ltlpipe, name)).parameters
    own = {p.name for p in COMMANDS[name].params} - {"short_help"}
    shared = own - {*ONLY_HERE[name].split()}
    aliases = {"formula": "formulas", "paths": "tasks", "progress": "progress_actions"}
    for parameter in shared:
        assert parameter in function or aliases.get(parameter) in function, parameter
    for option in {*function} & {*OPTIONS}:
        assert option in own, option


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_flags_that_exist(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"\$ ltlpipe (.*?)$|`((?:ltlpipe )?--[^`]*)`", text, re.M)
    for words in blocks:
        for flag in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", " ".join(words)):
            assert flag in FLAGS, flag


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_values_that_exist(page):
    """Of options with a list of values; words in capitals stand for others."""
    text = page.read_text(encoding="utf-8")
    for name, option in OPTIONS.items():
        if not option.choices:
            continue
        known = {*map(str, option.choices), "all"}  # of `compare`
        flag = name.replace("_", "-")
        for value in re.findall(rf"--{flag}[ =]([\w|,-]+)", text):
            values = re.split(r"[,|]", value.rstrip("-"))
            if value.isupper() or "" in values:
                continue
            assert {*values} <= known, (flag, value)


def test_options_have_one_name():
    for name, option in OPTIONS.items():
        for command in option.commands & {*COMMANDS}:
            own = flags(COMMANDS[command])
            flag = f"--{name.replace('_', '-')}"
            assert flag in own or f"--no-{flag[2:]}" in own, (command, flag)


def test_columns_have_one_name():
    """Titles of the report are of columns; columns of options have their names."""
    described = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    for name in {*DTYPES, *COMPARISON_DTYPES} & {*TITLES}:
        assert f"`{name}`" in described, name
    for name in {*DTYPES} & {*OPTIONS}:
        assert f"`{name}`" in (ROOT / "docs" / "tables.md").read_text(), name


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"emptiness": "se05"}, "emptiness"),
        ({"emptiness": "couvreur99"}, "emptiness"),
        ({"acceptance": "tgba"}, "acceptance"),
    ],
)
def test_values_of_rows_are_those_of_options(options, column):
    ring = ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    (row,) = ltlpipe.solve([(ltlpipe.Network([ring]), "GF a")], **options).to_dict(
        "records"
    )
    assert row[column] == options[column]
    assert row[column] in OPTIONS[column].choices
