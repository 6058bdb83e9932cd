"""Calls in a process of their own."""

from __future__ import annotations

import os
import signal
import time

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.automata.bounded import call_bounded
from ltlpipe.runtime.jobs import StoppedError


def test_the_result_comes_back():
    """Also a large one."""
    data = call_bounded(lambda: b"x" * 10_000_000, deadline=None)
    assert len(data) == 10_000_000


def test_an_error_comes_back():
    """As the exception that it was."""

    def refuse():
        raise UnsupportedError("because")

    with pytest.raises(UnsupportedError, match="because"):
        call_bounded(refuse, deadline=None)


@pytest.mark.parametrize(
    ("deadline", "stopped", "reason"),
    [(0.1, False, "timeout"), (None, True, "interrupted")],
    ids=["timeout", "interrupted"],
)
def test_a_long_call_is_ended(deadline, stopped, reason):
    """And its process with it."""
    started = time.monotonic()
    with pytest.raises(StoppedError) as error:
        call_bounded(
            lambda: time.sleep(60),
            deadline=None if deadline is None else started + deadline,
            stopped=lambda: stopped,
        )
    assert error.value.reason == reason
    assert time.monotonic() - started < 5
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_call_that_dies_is_out_of_memory():
    """The system kills without a word what needs too much memory."""
    with pytest.raises(StoppedError) as error:
        call_bounded(lambda: os.kill(os.getpid(), signal.SIGKILL), deadline=None)
    assert error.value.reason == "memory"


def test_a_crash_is_not_taken_for_a_limit():
    """Only what kills is; any other silent end is an error of its own."""
    with pytest.raises(UnsupportedError, match="crashed"):
        call_bounded(lambda: os._exit(11), deadline=None)


def test_nobody_waits_for_children():
    """Programs that ignore SIGCHLD hand that down to those they start."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert call_bounded(lambda: 7, deadline=None) == 7
    finally:
        signal.signal(signal.SIGCHLD, before)
