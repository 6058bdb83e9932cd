"""Programs run with interpreted kernels, and with checked bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from ltlpipe.runtime.folders import cache_folder

ROOT = Path(__file__).parents[1]

INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}


def checked():
    """The environment in which kernels check their bounds.

    Their machine code is kept apart from the unchecked one, beside it, so that all
    tests share what one of them has compiled.  Bounds are checked whatever LLVM makes
    of the code; with fewer of its passes kernels compile in three quarters of the time.
    """
    return {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",
        "NUMBA_CACHE_DIR": f"{cache_folder()}-checked",
    }


@cache
def compiled(program):
    """What a program prints with kernels as users have them."""
    return output(program)


def output(program, **environment):
    """What a program prints under these settings."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3600,  # kernels are compiled, on a busy machine
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
