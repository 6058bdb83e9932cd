"""The distribution: built twice it is the same, and it works without the sources."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import numba
import pytest

from tests.runtime.test_shipped import kernels_script

ROOT = Path(__file__).parent.parent
PARTS = (
    "ltlpipe",
    "formulas",
    "packaging",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)
COMPILED = "ltlpipe/runtime/kernels/compiled"


def built(folder, kernels=None):
    """Build the wheel from a copy of the sources, and return it."""
    sources = folder / "sources"
    sources.mkdir()
    leave = shutil.ignore_patterns("__pycache__", "compiled")
    for part in PARTS:
        path = ROOT / part
        if path.is_dir():
            shutil.copytree(path, sources / part, ignore=leave)
        else:
            shutil.copy(path, sources)
    if kernels is not None:
        shutil.copytree(kernels, sources / COMPILED)
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


@pytest.mark.thorough("builds wheel and sdist, each twice")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sources have no history")
def test_the_script_of_releases(tmp_path):
    """It says the hashes of what it has built twice."""
    command = [ROOT / "scripts" / "release", tmp_path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said, *hashes = done.stdout.splitlines()
    assert said == "built twice, byte by byte the same:"
    assert sorted(line.split() for line in hashes) == sorted(
        [hashlib.sha256(path.read_bytes()).hexdigest(), path.name]
        for path in tmp_path.iterdir()
    )
    assert {path.suffix for path in tmp_path.iterdir()} == {".whl", ".gz"}


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


ASKED = """
import json, sys
from numba.core import event
from ltlpipe import check, load
from ltlpipe.runtime.folders import cache_folder
from ltlpipe.runtime.kernels import shipped
with event.install_recorder("numba:compile") as recorder:
    result = check(
        load("system.dot"), "G(enter_l -> (!enter_r W leave_l))",
        emptiness="se05", reduce="none",
    )
found = sorted(file.name for file in cache_folder().rglob("*.nbc"))
print(json.dumps([result.verdict, len(recorder.buffer), found, str(shipped.FOLDER)]))
"""


def asked(python, folder, cache):
    """Ask in a new process; return verdict, compilations, kernels kept, kernels there.

    No kernel is known before but those that the package brings.
    """
    done = subprocess.run(
        [python, "-c", ASKED],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / cache)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are for x86-64")
@pytest.mark.slow
def test_the_kernels_that_a_wheel_brings(tmp_path):
    """Installed, it compiles nothing; with one file damaged, what that was."""
    mutex = ROOT / "examples" / "problems" / "mutex" / "system.dot"
    formula = "G(enter_l -> (!enter_r W leave_l))"
    question = f"check '{mutex}' -f '{formula}' --emptiness se05 --reduce none"
    kernels_script().build(tmp_path / "kernels", [[question]])
    wheel = built(tmp_path, tmp_path / "kernels")
    assert re.search(r"-(cp3\d+)-\1-manylinux_2_17_x86_64.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        [about] = [n for n in archive.namelist() if n.endswith("/METADATA")]
        needs = archive.read(about).decode()
    assert f"Requires-Dist: numba=={version('numba')}\n" in needs
    assert f"Requires-Dist: llvmlite=={version('llvmlite')}\n" in needs

    python = installed(wheel, tmp_path / "environment")
    shutil.copy(mutex, tmp_path)
    verdict, n_compiled, kept, brought = asked(python, tmp_path, "cache")
    assert (verdict, n_compiled, kept) == ("holds", 0, [])
    assert Path(brought).is_relative_to(tmp_path / "environment")
    files = sorted(Path(brought).glob("*.code"), key=lambda file: file.stat().st_size)
    content = files[0].read_bytes()
    files[0].write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    verdict, _, kept, _ = asked(python, tmp_path, "another cache")
    assert verdict == "holds"
    assert kept
    assert not [name for name in kept if "ndfs_step" in name]


def installed(wheel, environment):
    """Install a wheel beside nothing but what it needs; return the interpreter."""
    make = [sys.executable, "-m", "venv", "--without-pip", environment]
    subprocess.run(make, check=True)
    python = environment / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*command, "--no-deps", "--no-index", wheel], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "needed.pth").write_text(str(Path(numba.__file__).parents[1]))
    return python


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
