"""Bounded calls in processes that live on."""

from __future__ import annotations

import faulthandler
import os
import signal
import time

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.batch.workers import bounded_map
from ltlpipe.runtime.jobs import StoppedError


def parts(item):
    """Count up to the item; negative ones misbehave after the first part."""
    yield os.getpid()
    if item == -1:
        time.sleep(60)
    if item == -2:
        raise UnsupportedError("no")
    if item == -3:
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == -4:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == -5:
        raise MemoryError
    yield from range(item)


def outcomes(items, **options):
    found = list(bounded_map(parts, items, **{"timeout": 20.0, **options}))
    assert sorted(o.number for o in found) == list(range(len(items)))
    return sorted(found, key=lambda o: o.number)


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_once(jobs):
    """Processes are reused, and there are no more than asked for."""
    found = outcomes(range(30), jobs=jobs)

    assert [o.parts[1:] for o in found] == [list(range(i)) for i in range(30)]
    assert all(o.error is None and o.seconds < 20 for o in found)
    assert len({o.parts[0] for o in found}) <= jobs
    assert os.getpid() not in {o.parts[0] for o in found}


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_is_the_items_own(jobs):
    """Errors, crashes and limits; what was known before stays, the others go on."""
    found = outcomes([2, -1, 1, -2, -3, -4, -5, 3], timeout=0.5, jobs=jobs)

    assert [len(o.parts) for o in found] == [3, 1, 2, 1, 1, 1, 1, 4]
    errors = [o.error for o in found]
    assert errors[0] is errors[2] is errors[7] is None
    assert isinstance(errors[1], StoppedError)
    assert errors[1].reason == "timeout"
    assert str(errors[3]) == "no"
    assert isinstance(errors[4], UnsupportedError)
    assert "crashed" in str(errors[4])
    assert isinstance(errors[5], StoppedError)
    assert isinstance(errors[6], StoppedError)
    assert errors[5].reason == errors[6].reason == "memory"
    assert 0.5 <= found[1].seconds < 5


def test_without_limit_or_items():
    """No limit is no limit, and nothing to do is done at once."""
    assert [o.parts[1:] for o in outcomes([1], timeout=None)] == [[0]]
    assert outcomes([], jobs=4) == []


def test_nobody_is_left_behind():
    """Who stops to listen ends the processes."""
    found = bounded_map(parts, [0, -1, -1], timeout=None, jobs=3)
    pid = next(found).parts[0]
    found.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_without_fork(monkeypatch):
    """Where there is no fork, calls are made here, without a limit."""
    monkeypatch.delattr(os, "fork")
    found = outcomes([2, -2])
    assert found[0].parts == [os.getpid(), 0, 1]
    assert str(found[1].error) == "no"
