"""Programs run with interpreted kernels, and with checked bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}


def checked(tmp_path):
    """The environment in which kernels are compiled anew and check their bounds."""
    return {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}


def output(program, **environment):
    """What a program prints under these settings."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
