"""The scripts that fill results/ run, on the smallest systems."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("module", "arguments", "table", "column"),
    [
        (
            "benchmarks.explore",
            ["--philosophers", "3", "--ring", "3", "--runs", "1", "--flat", "0"],
            "explore.csv",
            "states_per_second",
        ),
        ("benchmarks.startup", ["--runs", "1"], "startup.csv", "seconds"),
    ],
)
def test_a_script_writes_its_table(module, arguments, table, column, tmp_path):
    """With the date and the versions on every row."""
    subprocess.run(
        [sys.executable, "-m", module, *arguments, "--out", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=300,
    )
    with (tmp_path / table).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    assert {"date", "machine", "python", "numba", "ltlpipe", column} <= rows[0].keys()
