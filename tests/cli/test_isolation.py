"""A working directory runs nothing, however the program is started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.batch.test_pool import plant
from tests.cli.command_line import PROGRAM, RING

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize(
    "args",
    [
        ["check", "ring.aut", "-f", "GF a", "--emptiness", "se05"],
        ["solve", "tasks.csv", "--store", "run.sqlite", "--jobs", "2"],
    ],
    ids=lambda args: args[0],
)
def test_modules_that_lie_about(args, tmp_path):
    """Names of libraries, and one that Python imports at its start."""
    names = ("spot", "buddy", "numba", "numpy", "pandas", "typer", "lark", "json")
    plant(tmp_path, *names, "sitecustomize")
    (tmp_path / "ring.aut").write_text(RING)
    (tmp_path / "tasks.csv").write_text("system,formula\nring.aut,GF a\n")
    done = subprocess.run(
        [*PROGRAM, *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()
