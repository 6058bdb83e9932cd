"""The distribution: built twice it is the same, and it works without the sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = (
    "ltlpipe",
    "formulas",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)


def built(folder):
    """Build the wheel from a copy of the sources, and return it."""
    sources = folder / "sources"
    sources.mkdir()
    leave = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        path = ROOT / part
        if path.is_dir():
            shutil.copytree(path, sources / part, ignore=leave)
        else:
            shutil.copy(path, sources)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    command += ["--outdir", str(folder), str(sources)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built once."""
    return built(tmp_path_factory.mktemp("first"))


def test_two_builds_are_the_same(wheel, tmp_path):
    """Byte for byte."""
    assert built(tmp_path).read_bytes() == wheel.read_bytes()


def test_what_an_index_would_object_to(wheel):
    """Nothing, also in how the README is shown there."""
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_wheel_alone(wheel, tmp_path):
    """Unpacked beside no sources, it answers from another folder."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    system = tmp_path / "ring.aut"
    system.write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n')
    done = subprocess.run(
        [sys.executable, "-m", "ltlpipe", "check", system, "-f", "G(a -> X b)"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("holds: ")
    where = subprocess.run(
        [sys.executable, "-c", "import ltlpipe; print(ltlpipe.__file__)"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(tmp_path)


OF_CONDA = {
    "spottl": "spot",
    "igraph": "python-igraph",
    "matplotlib": "matplotlib-base",
    "graphviz": "python-graphviz",
}
"""What conda-forge calls packages that have another name there."""


def test_the_recipe_for_conda_needs_what_the_wheel_needs():
    """With the same lowest versions, but for Spot, whose wheel has four numbers."""
    text = (ROOT / "pyproject.toml").read_text()
    listed = text.split("\ndependencies = [\n")[1].split("\n]\n")[0]
    wheel = dict(re.findall(r'^  "([\w-]+)>=([\d.]+)', listed, re.MULTILINE))
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    run = recipe.split("\n  run:\n")[1].split("\n\n")[0]
    conda = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)", run, re.MULTILINE))

    wheel["spottl"] = ".".join(wheel["spottl"].split(".")[:2])
    del conda["python"]
    assert len(wheel) == listed.count('  "')
    assert conda == {OF_CONDA.get(name, name): least for name, least in wheel.items()}
