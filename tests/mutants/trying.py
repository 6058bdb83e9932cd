"""A mutant in a copy of the project, and its tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.mutants.mutants import Mutant

ROOT = Path(__file__).parents[2]
PARTS = ("ltlpipe", "tests", "benchmarks", "examples", "formulas", "pyproject.toml")


def mutated(mutant: Mutant) -> str:
    """Return the text of the module with the mutant.

    Raises
    ------
    ValueError
        What it changes does not stand in the module exactly once.
    """
    text = (ROOT / "ltlpipe" / mutant.module).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.module} has {text.count(mutant.old)} {mutant.old!r}")
    return text.replace(mutant.old, mutant.new)


def survives(mutant: Mutant, folder: Path) -> bool:
    """Whether the quick tests of a mutant pass; `folder` gets a copy of the project."""
    copy = folder / "mutant"
    for part in PARTS:
        given = ROOT / part
        if given.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(given, copy / part, ignore=ignored)
        else:
            shutil.copy(given, copy / part)
    module = copy / "ltlpipe" / mutant.module
    module.write_text(mutated(mutant), encoding="utf-8")
    tests = [f"tests/{name}" for name in mutant.tests]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", *tests]
    command += ["-p", "no:cacheprovider", "--hypothesis-profile=quick"]
    command += ["-m", "not slow and not thorough"]
    ended = subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode not in (0, 1):  # 1: a test has failed
        raise RuntimeError(ended.stdout + ended.stderr)
    return ended.returncode == 0
