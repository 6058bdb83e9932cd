"""Wheels with compiled kernels, where ``scripts/kernels.py`` has made some.

Such a wheel is for one Python on Linux and needs exactly one Numba, since others would
compile anew.  Without kernels, or with those of another Python, the wheel is pure.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "ltlpipe/runtime/kernels/compiled"


class KernelsHook(BuildHookInterface):
    """A hook of hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels, what they are for, and what they need."""
        try:
            about = json.loads((Path(self.root) / FOLDER / "about.json").read_text())
        except FileNotFoundError:
            return
        if version == "editable" or about["python"] != sysconfig.get_config_var(
            "SOABI"
        ):
            return
        python = "cp{}{}".format(*sys.version_info)
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-manylinux_2_17_x86_64"
        build_data["dependencies"] += about["needs"]
        build_data["artifacts"].append(f"{FOLDER}/*")
