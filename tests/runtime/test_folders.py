"""Results in the folder of a run: found again, or as good as never there."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import sha256

import numpy as np
import pytest

from ltlpipe.runtime import folders
from ltlpipe.runtime.folders import (
    PREFIX,
    SharedFolder,
    run_folder,
    shared_through,
)

ARRAYS = {"numbers": np.arange(5, dtype=np.int32), "none": np.zeros(0, dtype=np.int64)}
PLACE = ["kind", "digest"]


def folder_of(path, n_bytes=1 << 20):
    """A process's own look at a folder."""
    return SharedFolder(path, n_bytes)


def kept(folder, key, n=5):
    return folder.put(PLACE, key, {"n": n}, {"numbers": np.arange(n)})


def test_another_process_finds_what_was_kept(tmp_path):
    """With its types; and nothing else under another place or key."""
    assert folder_of(tmp_path).put(PLACE, ["a", 1], {"text": "ä"}, ARRAYS)
    other = folder_of(tmp_path)
    entry = other.get(PLACE, ["a", 1])
    assert entry.about == {"text": "ä"}
    assert entry.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert entry.arrays[name].dtype == array.dtype
        assert np.array_equal(entry.arrays[name], array)
    assert other.get(PLACE, ["a", 2]) is None
    assert other.get(["kind", "other"], ["a", 1]) is None


def test_nothing_half_written_is_seen(tmp_path):
    """Files are renamed to their places; nothing is left beside them."""
    folder = folder_of(tmp_path)
    kept(folder, 1)
    (tmp_path / "half.part").write_bytes(b"PK")
    assert [p.suffix for p in sorted(tmp_path.iterdir())].count(".result") == 1


def test_whatever_is_damaged_counts_as_missing(tmp_path):
    """Cut off, or with other bytes: the entry is the same, or there is none."""
    rng = random.Random(5)
    kept(folder_of(tmp_path), 1, 300)
    (path,) = tmp_path.glob("*.result")
    whole = path.read_bytes()
    outcomes = set()
    for k in range(300):
        content = bytearray(whole)
        if k % 50 == 0:
            pass  # sound
        elif k % 2:
            del content[rng.randrange(len(content)) :]
        else:
            for _ in range(rng.randrange(1, 4)):
                content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
        folder = folder_of(tmp_path)
        entry = folder.get(PLACE, 1)
        outcomes.add(entry is None)
        if entry is not None:
            assert entry.about == {"n": 300}
            assert np.array_equal(entry.arrays["numbers"], np.arange(300))
        else:
            assert not path.exists() or content == whole
    assert outcomes == {True, False}


def test_no_pickle_is_read_or_written(tmp_path):
    """An array of objects is refused."""
    folder = folder_of(tmp_path)
    with pytest.raises(TypeError, match="an array of object"):
        folder.put(PLACE, 1, {}, {"numbers": np.array([{}], dtype=object)})
    kept(folder, 1)
    (path,) = tmp_path.glob("*.result")
    stream = io.BytesIO()
    np.savez(stream, numbers=np.array([{}], dtype=object))
    path.write_bytes(sha256(stream.getvalue()).digest() + stream.getvalue())
    assert folder_of(tmp_path).get(PLACE, 1) is None


def test_the_bytes_are_bounded(tmp_path):
    """What was not used for the longest time goes; what is too large never comes."""
    folder = folder_of(tmp_path, 40_000)
    moment = time.time() - 1000
    for key in range(8):
        assert kept(folder, key, 1000)
        for path in tmp_path.glob("*.result"):
            if path.stat().st_mtime > moment + 100:
                os.utime(path, (moment + key, moment + key))
        assert folder.get(PLACE, 0) is not None  # it is in use
        assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 40_000
    left = folder_of(tmp_path, 40_000)
    assert all(left.get(PLACE, key) is not None for key in (0, 7))
    assert left.get(PLACE, 1) is None
    assert not kept(folder, 9, 10_000)


def test_a_folder_that_has_gone_keeps_nothing(tmp_path):
    """The run has ended, say; that is no error."""
    folder = folder_of(tmp_path / "gone")
    assert not kept(folder, 1)
    assert folder.get(PLACE, 1) is None


def test_who_shares_through_what(tmp_path):
    """As long as it says, and nobody afterwards."""
    folder = folder_of(tmp_path)
    with shared_through(folder), shared_through(None):
        assert folders.shared_folder() is folder
    assert folders.shared_folder() is None


# --- the folder of a run ------------------------------------------------------


def test_the_folder_goes_with_the_run(tmp_path):
    """Also after an error; it is nobody else's meanwhile."""
    with suppress(KeyboardInterrupt), run_folder(tmp_path) as path:
        assert path.stat().st_mode & 0o077 == 0
        kept(folder_of(path), 1)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_run_leaves_those_of_others(tmp_path):
    with run_folder(tmp_path) as one, run_folder(tmp_path) as other:
        assert one.exists()
        assert other.exists()


def test_where_no_folder_can_be_made_there_is_none(tmp_path):
    with run_folder(tmp_path / "nowhere") as path:
        assert path is None


def test_what_a_killed_process_leaves_is_removed(tmp_path):
    """By the next run; a folder that is no run's stays."""
    code = (
        "import sys, time\n"
        "from ltlpipe.runtime.folders import run_folder\n"
        "with run_folder(sys.argv[1]) as path:\n"
        "    print(path, flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    left = process.stdout.readline().strip()
    (tmp_path / f"{PREFIX}else").mkdir()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert left in map(str, tmp_path.iterdir())
    with run_folder(tmp_path) as path:
        names = {p.name for p in tmp_path.iterdir()}
        assert names == {path.name, f"{PREFIX}else"}
