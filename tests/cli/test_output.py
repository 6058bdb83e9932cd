"""Files are read and written in one way each: `open_regular`, `Output`."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import ltlpipe
from ltlpipe import InputError
from ltlpipe.batch.stored_rows import is_store
from ltlpipe.batch.table_files import open_table, read_parquet
from ltlpipe.batch.tasks import file_digest
from ltlpipe.certificates.checking.verification import is_certificate
from ltlpipe.certificates.writing import digest_of
from ltlpipe.runtime.files import open_regular, write_text
from ltlpipe.runtime.jobs import complete
from tests.batch.test_csv_files import rows_of
from tests.cli.command_line import RING

# --- what opens files --------------------------------------------------------

_OWN = {
    "runtime/files.py": "reads regular files only; writes, beside the place",
    "runtime/folders.py": "a private folder",
    "runtime/memory.py": "what Linux tells",
    "runtime/worker_process.py": "what Linux tells; a lock in a private folder",
    "runtime/wire.py": "messages, no files",
    "batch/store.py": "what Linux tells",
    "runtime/kernels/shipped.py": "what the package itself brings",
    "systems/programs/model.py": "a private folder",
    "logic/generating.py": "this package's data",
    "report/chart.py": "this package's data",
    "report/page.py": "this package's data",
    "cli/__init__.py": "/dev/null",
    "cli/simulate.py": "the terminal",
}
"""Modules that open files themselves, and which."""

_OPENING = {"open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes"}


def _opens(tree):
    """Whether a module opens files by the means of Python."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            return True
        if isinstance(called, ast.Attribute) and called.attr in _OPENING:
            return True
    return False


def test_no_other_module_opens_files():
    """A path may come out of a file: there is one way to open what it names."""
    root = Path(ltlpipe.__file__).parent
    opening = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if _opens(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert opening == set(_OWN)


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_what_is_no_regular_file(kind, tmp_path):
    """Nothing waits for a writer, or reads for ever."""
    path = tmp_path / "r"
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    for reading in (
        open_regular,
        is_store,
        is_certificate,
        read_parquet,
        lambda name: complete(digest_of(name)),
    ):
        with pytest.raises(InputError, match=f"is not a regular file but a {kind}"):
            reading(str(path))
    assert file_digest(str(path)).endswith("unreadable:None")


def test_directories_leave_no_descriptor(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(IsADirectoryError):
            open_regular(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# --- what writes files -------------------------------------------------------


@contextmanager
def full_disk(n_bytes=20):
    """Let no file grow beyond a few bytes.

    Modules have to be there, and workers: Python would write truncated byte code.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


FORMATS = ["m.aut", "m.dot", "m.hoa", "m.ll_net", "m.pml", "m.aut.gz"]
WRITERS = {name: ["convert", "ring.aut", name] for name in FORMATS} | {
    "r.aut": ["reduce", "ring.aut", "-o", "r.aut"],
    "g.pnml": ["generate", "coloured-client-server", "2", "1", "-o", "g.pnml"],
    "g.hoa": ["generate", "random-nba", "9", "-o", "g.hoa"],
    "f.ltl": ["generate", "formulas", "9", "--actions", "a,b,c,d", "-o", "f.ltl"],
    "r.csv": ["results", "old.csv", "-o", "r.csv"],
    "r.parquet": ["results", "old.csv", "-o", "r.parquet"],
    "r.html": ["report", "old.csv", "-o", "r.html"],
    "r.svg": ["plot", "cactus", "old.csv", "-o", "r.svg"],
    "a.csv": ["analyze", "old.ltl", "-o", "a.csv"],
    "s.csv": ["solve", "task", "--out", "s.csv", "--quiet"],
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file(name, tmp_path, monkeypatch, run):
    """Whatever command writes it; then nothing else is left behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.aut").write_text(RING)
    (tmp_path / "old.ltl").write_text("G F a\n")
    with open_table("old.csv") as table:
        for row in rows_of(6):
            table.write(row | {"seconds": 1.0, "configuration": "x"})
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "system.aut").write_text(RING)
    (tmp_path / "task" / "f.ltl").write_text("G F a\n")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert run(*WRITERS[name]).code == 0
    new = (tmp_path / name).read_bytes()
    (tmp_path / name).write_text("old")
    before = {path.name for path in tmp_path.iterdir()}
    with full_disk():
        outcome = run(*WRITERS[name])
    assert outcome.code == 2, outcome
    assert f"{name}: cannot be written: File too large" in outcome.err
    assert (tmp_path / name).read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == before
    assert new != b"old"


def test_links_and_permissions_stay(tmp_path):
    """Of a link to a link, in other folders; the old contents' inode is not touched."""
    (tmp_path / "a").mkdir()
    target = tmp_path / "a" / "target.txt"
    target.write_text("old")
    target.chmod(0o604)
    (tmp_path / "a" / "link.txt").symlink_to("target.txt")
    (tmp_path / "link.txt").symlink_to("a/link.txt")
    with target.open() as old:
        write_text(tmp_path / "link.txt", "new")
        assert old.read() == "old"
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "a" / "link.txt").is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o604
    (tmp_path / "dangling.txt").symlink_to("a/made.txt")
    write_text(tmp_path / "dangling.txt", "new")
    assert (tmp_path / "a" / "made.txt").read_text() == "new"
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(InputError, match="cannot be written: Too many levels"):
        write_text(tmp_path / "loop.txt", "new")


def test_a_long_name(tmp_path):
    path = tmp_path / ("ü" * 127)
    write_text(path, "new")
    assert path.read_text() == "new"


def test_a_pipe(tmp_path):
    """It is written to, and stays."""
    pipe = tmp_path / "r.txt"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "text")
    reader.join()
    assert read == ["text"]
    assert [path.name for path in tmp_path.iterdir()] == ["r.txt"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("link", [False, True])
def test_standard_output_of_a_shell(link, tmp_path):
    """What it has been appended to is not replaced."""
    place = "/dev/stdout"
    if link:
        place = tmp_path / "link.txt"
        place.symlink_to("/dev/stdout")
    script = "import sys; from ltlpipe.runtime.files import write_text; "
    script += f"write_text({str(place)!r}, 'new')"
    with (tmp_path / "log").open("ab") as log:
        log.write(b"old ")
        log.flush()
        subprocess.run([sys.executable, "-c", script], stdout=log, check=True)
    # Opened again, it is written from its beginning, as before.
    assert (tmp_path / "log").read_text() in ("new", "old new")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "new"


@pytest.mark.parametrize(
    ("arguments", "flag", "other"),
    [
        ("check {ring} -f a --certificate {ring}", "certificate", "an input"),
        ("check {ring} -F {table} --out {table}", "out", "an input"),
        ("check {ring} -f a --certificate x.csv --out x.csv", "certificate", "--out"),
        ("solve {table} --out {link}", "out", "an input"),
        ("solve {table} --out x.csv --rers {ring}", "rers", "an input"),
        ("compare {ring} -F {table} --out {table}", "out", "an input"),
        ("analyze {table} --out {table}", "out", "an input"),
        ("results {table} --out {table}", "out", "an input"),
    ],
)
def test_no_output_in_the_place_of_an_input(
    run, tmp_path, monkeypatch, arguments, flag, other
):
    """Nor of another output; a link to a file is the file."""
    places = {name: tmp_path / name for name in ("ring.aut", "table.csv", "link.csv")}
    places["ring.aut"].write_text(RING)
    places["table.csv"].write_text("system,formula\nring.aut,G(a -> F b)\n")
    places["link.csv"].symlink_to("table.csv")
    named = {path.stem: path for path in places.values()}
    before = [path.read_text() for path in places.values()]
    monkeypatch.chdir(tmp_path)
    outcome = run(*(part.format(**named) for part in arguments.split()))
    assert outcome.code == 2
    assert f"--{flag}" in outcome.complaint
    assert f"is the file of {other}; name another one" in outcome.complaint
    assert [path.read_text() for path in places.values()] == before
    assert sorted(tmp_path.iterdir()) == sorted(places.values())
