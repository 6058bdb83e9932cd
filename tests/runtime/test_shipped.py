"""Kernels that come with the package: found, or compiled as if there were none."""

from __future__ import annotations

import os
import platform
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from ltlpipe.runtime.kernels import shipped
from tests.runtime.test_compilation import UNANNOUNCED, begun, told

ROOT = Path(__file__).parents[2]

BROUGHT = """
    from pathlib import Path
    from ltlpipe.runtime.kernels import shipped
    shipped.FOLDER = Path({folder!r})
"""


def kernels_script():
    """Return the script that compiles what is shipped."""
    spec = spec_from_file_location("kernels", ROOT / "scripts" / "kernels.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a kernel, `b"code"`, under the key "key"."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "compiled")
    shipped.FOLDER.mkdir(mode=0o755)
    shipped.write(shipped.FOLDER, "key", b"code")
    [file] = shipped.FOLDER.iterdir()
    file.chmod(0o644)
    return file


def test_what_was_written_is_found(folder):
    assert shipped.found("key") == b"code"
    assert shipped.found("another key") is None


def test_two_builds_write_the_same(folder):
    before = folder.read_bytes()
    os.utime(folder, (0, 0))
    assert shipped.found("key") == b"code"
    shipped.write(shipped.FOLDER, "key", b"code")
    assert folder.read_bytes() == before


def test_every_damage_is_noticed(folder):
    sound = folder.read_bytes()
    for k in range(len(sound)):
        changed = bytearray(sound)
        changed[k] ^= 1
        folder.write_bytes(changed)
        assert shipped.found("key") is None
        folder.write_bytes(sound[:k])
        assert shipped.found("key") is None
    folder.unlink()
    assert shipped.found("key") is None
    folder.mkdir()
    assert shipped.found("key") is None


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_can_write_to(which, mode, folder, monkeypatch):
    """Unless they can write to the package, too."""
    place = folder if which == "file" else folder.parent
    place.chmod(mode if which == "file" else mode | 0o111)
    package = folder.parent.parent / "shipped.py"
    package.touch()
    monkeypatch.setattr(shipped, "__file__", str(package))
    package.chmod(0o644)
    assert shipped.found("key") is None
    package.chmod(mode)
    assert shipped.found("key") == b"code"


def test_what_belongs_to_another_user(folder, monkeypatch):
    about = folder.stat()
    other = os.stat_result((about.st_mode, *about[1:4], about.st_uid + 1, *about[5:]))
    assert shipped._is_ours(about)
    assert not shipped._is_ours(other)


def test_a_link_is_not_followed(folder):
    folder.rename(folder.parent.parent / "elsewhere")
    folder.symlink_to(folder.parent.parent / "elsewhere")
    assert shipped.found("key") is None


@pytest.mark.parametrize("name", ["PYTHON", "NEEDS"])
def test_other_versions(name, folder, monkeypatch):
    monkeypatch.setattr(shipped, name, "another")
    assert shipped.found("key") is None


@pytest.mark.parametrize("lacks", shipped._FEATURES.split())
def test_a_processor_that_has_less(lacks, folder, monkeypatch):
    """Whatever it lacks."""
    has = dict.fromkeys(shipped._FEATURES.split(), True)
    host = "get_host_cpu_features"
    usable = shipped.are_usable.__wrapped__
    monkeypatch.setattr(shipped.llvmlite.binding, host, lambda: has)
    assert usable()
    monkeypatch.setattr(shipped.llvmlite.binding, host, lambda: has | {lacks: False})
    assert not usable()


def test_a_processor_that_was_chosen(folder, monkeypatch):
    assert shipped.are_usable.__wrapped__()
    monkeypatch.setattr(shipped.numba.config, "CPU_NAME", "generic")
    assert not shipped.are_usable.__wrapped__()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are for x86-64")
@pytest.mark.thorough("compiles, in processes of their own")
def test_a_kernel_that_is_brought_is_not_compiled(tmp_path, monkeypatch):
    """Nor is anything written; one that is damaged is compiled for the user."""
    made, brought = tmp_path / "made", tmp_path / "compiled"
    monkeypatch.setenv("NUMBA_CPU_NAME", shipped.PROCESSOR)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "")
    assert told(begun(UNANNOUNCED, made))[0] > 0
    monkeypatch.delenv("NUMBA_CPU_NAME")
    monkeypatch.delenv("NUMBA_CPU_FEATURES")
    brought.mkdir(mode=0o755)
    [(key, body)] = kernels_script().compiled(made / "kernels")
    shipped.write(brought, key, body)
    work = BROUGHT.format(folder=str(brought)) + UNANNOUNCED

    assert told(begun(work, tmp_path / "first"))[0] == 0
    assert not list(tmp_path.glob("first/**/*.nb?"))
    [file] = brought.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert told(begun(work, tmp_path / "second"))[0] > 0
    assert list(tmp_path.glob("second/**/*.nbc"))
    assert told(begun(work, tmp_path / "second"))[0] == 0
