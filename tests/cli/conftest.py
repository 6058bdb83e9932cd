"""Fixtures for the command line."""

from __future__ import annotations

import sys
import warnings
from functools import cache

import pytest
import typer.main

from ltlpipe.cli import main
from tests.cli.command_line import RING, Outcome, program
from tests.processes import SOON


@pytest.fixture(scope="session")
def one_tree():
    """All runs have one tree of commands: building it takes as long as many a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture
def run(monkeypatch, capsys, one_tree):
    """Run the command line in this process: `run("check", ...)`."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["ltlpipe", *map(str, args)])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as end:
            main()
        return Outcome(end.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def ring(tmp_path):
    """A file with a system that does a and b in turn."""
    path = tmp_path / "ring.aut"
    path.write_text(RING)
    return path


@pytest.fixture(scope="session")
def big(tmp_path_factory):
    """A file with a system whose search takes a minute.

    A short run beforehand has the kernels compiled: what follows measures time.  It
    may wait for other tests that have the same kernels compiled.
    """
    path = tmp_path_factory.mktemp("big") / "big.hoa"
    assert program("generate", "philosophers", 15, "-o", path).code == 0
    small = ("check", path, "--empty", "--max-states", 10)
    assert program(*small, timeout=30 * SOON).code == 3
    return path
