"""What the benchmark makes of Cunf's output, with a program in Cunf's place."""

import pytest

from benchmarks import cunf
from benchmarks.tasks import CUNF, Limits, Task, answers
from ltlpipe.families.networks import ring

PRINTS = """#!/bin/sh
head -c 6 "$1" > seen
printf 'time\\t0.010\\nmem\\t4\\n\\nhist\\t20\\nevents\\t17\\ncond\\t40\\n'
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What puts a program named cunf on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def install(script):
        program = folder / "cunf"
        program.write_text(script)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    return install


def unfolded(tmp_path, timeout=60.0):
    return cunf.unfold(ring(3), workdir=tmp_path, memory_mib=1024, timeout=timeout)


def test_a_complete_prefix(installed, tmp_path):
    installed(PRINTS)
    row = unfolded(tmp_path)

    assert (row["verdict"], row["events"]) == (cunf.COMPLETE, 17)
    assert (tmp_path / "seen").read_text() == "PEP\nPT"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\nexec sleep 60\n", "timeout"),
        ("#!/bin/sh\necho 'cunf: Out of memory'\nexit 1\n", "memory"),
    ],
)
def test_limits(installed, tmp_path, script, reason):
    installed(script)
    row = unfolded(tmp_path, timeout=1.0)

    assert (row["verdict"], row["reason"], row["events"]) == ("unknown", reason, None)


def test_what_is_no_limit(installed, tmp_path):
    """It is neither solved nor cut off, and must not look like either."""
    installed("#!/bin/sh\necho 'syntax error'\nexit 1\n")
    with pytest.raises(cunf.CunfError, match="syntax error"):
        unfolded(tmp_path)


def test_as_a_way_of_the_scaling_benchmark(installed):
    installed(PRINTS)
    tasks = [Task(lambda: ring(3), None, CUNF, Limits(60.0, 1024))]
    ((_, row),) = answers(tasks)

    assert (row["verdict"], row["states"]) == (cunf.COMPLETE, 17)
    assert (row["emptiness"], row["limit_mib"]) == ("cunf", 1024)


def test_without_cunf(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not cunf.available()
