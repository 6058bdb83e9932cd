"""Ctrl-C at random moments: exit codes, what is kept, and the terminal behind it.

It is typed on the terminal that the program has, so that workers get the signal, too.
Moments count from the first line of ltlpipe on: while the interpreter starts, no
program can do anything about a signal.
"""

from __future__ import annotations

import os
import random
import sys
import time

import psutil
import pytest

from ltlpipe import results
from tests.cli.command_line import OnTerminal, plain, program
from tests.processes import SOON, wait_until

START = [
    sys.executable,
    "-c",
    (
        "import sys\n"
        "from ltlpipe.cli import program\n"
        "from ltlpipe.runtime.jobs import heed_ctrl_c\n"
        "heed_ctrl_c()\n"
        "print('started', file=sys.stderr, flush=True)\n"
        "program()\n"
    ),
]
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")


def session(leader):
    """The processes of a session that still run."""
    found = set()
    for process in psutil.process_iter(["status"]):
        try:
            if os.getsid(process.pid) == leader:
                found.add(process.pid)
        except (ProcessLookupError, PermissionError):
            continue
    return found


def interrupted(command, delay):
    """Press Ctrl-C so many seconds after the start; return the outcome, if it ended.

    The terminal is as it was, and no process is left.
    """
    with OnTerminal(*command, stdin="terminal", program=START) as run:
        before = run.modes
        run.wait_for("started")
        time.sleep(delay)
        run.type("\x03")
        wait_until(lambda: run.process.poll() is not None)
        after, leader = run.modes, run.process.pid
        outcome = run.end()
    assert after == before, delay
    assert outcome.err.rfind(HIDDEN) <= outcome.err.rfind(SHOWN), delay
    assert "Traceback" not in plain(outcome.err), (delay, outcome.err)
    wait_until(lambda: not session(leader), SOON)
    return outcome


def duration(command):
    """The seconds of an undisturbed run, behind its start."""
    with OnTerminal(*command, stdin="terminal", program=START) as run:
        run.wait_for("started")
        began = time.monotonic()
        run.end()
        return time.monotonic() - began


def assert_checks(big, n):
    """Documented exit codes, and a verdict only where one is due."""
    command = ["check", big, "--empty", "--json", "--max-states", "300000"]
    whole = duration(command)
    rng = random.Random(n)
    codes = set()
    for _ in range(n):
        delay = rng.uniform(0, whole)
        outcome = interrupted(command, delay)
        codes.add(outcome.code)
        if outcome.code == 130:  # outside of the question
            assert outcome.out == "", delay
            continue
        assert outcome.code == 3, (delay, outcome)
        (record,) = outcome.records
        assert record["verdict"] == "unknown"
        assert record["reason"] in ("interrupted", "max-states"), delay
    return codes


def assert_solves(folder, tmp_path, n):
    """What was stored stays; the same command ends the work, and then all is there."""
    rng = random.Random(n)
    whole = None
    for number in range(n):
        store, out = tmp_path / f"{number}.sqlite", tmp_path / f"{number}.csv"
        command = ["solve", folder, "--out", out, "--store", store, "--jobs", "2"]
        if whole is None:
            fresh = [*command[:-3], tmp_path / "whole.sqlite", "--jobs", "2"]
            whole = duration(fresh)
        delay = rng.uniform(0, whole)
        outcome = interrupted(command, delay)
        assert outcome.code in (0, 1, 3, 130), (delay, outcome)
        begun = store.exists() and store.stat().st_size  # else it ended before
        before = rows_in(store) if begun else {}
        ended = program(*command)
        assert ended.code == 1, (delay, ended)
        after = rows_in(store)
        assert len(after) == N_TASKS, delay
        assert before.items() <= after.items(), delay
        assert sorted(verdict for verdict, _ in after.values()) == sorted(
            N_TASKS // 2 * ["holds", "violated"]
        )


N_TASKS = 12


def rows_in(store):
    """Verdict and time of each task of a store that has tables."""
    frame = results(store)
    decided = frame[frame["verdict"] != "unknown"]
    keys = zip(decided["system"], decided["formula_id"], strict=True)
    said = zip(decided["verdict"], decided["started_at"], strict=True)
    return dict(zip(keys, said, strict=True))


@pytest.fixture
def folder(tmp_path):
    """Problems of a few milliseconds each; half of the formulas hold."""
    folder = tmp_path / "problems"
    for k in range(N_TASKS // 2):
        own = folder / str(k)
        own.mkdir(parents=True)
        own.joinpath("system.aut").write_text(
            f'des (0, 2, 2)\n(0, "a{k}", 1)\n(1, "b{k}", 0)\n'
        )
        own.joinpath("f.ltl").write_text(f"G(a{k} -> F b{k})\nG a{k}\n")
    return folder


@pytest.mark.thorough("sends signals to programs at work")
def test_check(big):
    """A few moments."""
    assert assert_checks(big, 4) <= {3, 130}


@pytest.mark.thorough("sends signals to programs at work")
def test_solve(folder, tmp_path):
    """A few moments."""
    assert_solves(folder, tmp_path, 3)


@pytest.mark.slow
def test_check_at_200_moments(big):
    """Some before the question, some within."""
    assert assert_checks(big, 200) == {3, 130}


@pytest.mark.slow
def test_solve_at_200_moments(folder, tmp_path):
    """In whatever phase of the run."""
    assert_solves(folder, tmp_path, 200)
