"""Many calls in worker processes, each for a limited time."""

from __future__ import annotations

import os
from collections import namedtuple
from math import inf

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.batch.analyzing import within
from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import StoppedError, side_by_side
from tests.processes import SOON
from tests.runtime.worker_operations import these_operations

Outcome = namedtuple("Outcome", "parts error seconds")


@pytest.fixture(scope="module", autouse=True)
def operations():
    with these_operations():
        yield


def call(item, timeout):
    parts = []
    work = workers.call("misbehave", parts=parts, item=item)
    error, seconds = yield from within(
        work, lambda seconds: seconds >= (timeout or inf)
    )
    return Outcome(parts, error, seconds)


def outcomes(items, timeout=20.0, jobs=1):
    return list(side_by_side((call(item, timeout) for item in items), jobs))


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_once(jobs):
    """Processes are reused, and there are no more than asked for."""
    found = outcomes(range(30), jobs=jobs)

    assert [o.parts[1:] for o in found] == [list(range(i)) for i in range(30)]
    assert all(o.error is None and o.seconds < 20 for o in found)
    assert len({o.parts[0] for o in found}) <= jobs
    assert os.getpid() not in {o.parts[0] for o in found}


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_is_the_items_own(jobs):
    """Errors, crashes and limits; what was known before stays, the others go on."""
    found = outcomes([2, -1, 1, -2, -3, -4, -5, 3], timeout=2, jobs=jobs)

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
    assert 2 <= found[1].seconds < SOON


def test_without_limit_or_items():
    """No limit is no limit, and nothing to do is done at once."""
    assert [o.parts[1:] for o in outcomes([1], timeout=None)] == [[0]]
    assert outcomes([], jobs=4) == []


def test_nobody_is_left_behind():
    """Who stops to listen ends the processes that are busy."""
    processes = workers._of_this_process()
    found = side_by_side((call(item, None) for item in (0, -1, -1)), 3)
    next(found)
    # One may go on with a kernel that a test before began to compile.
    busy = processes.alive - {*processes.idle, *processes.left}
    assert busy
    found.close()

    assert not processes.alive & busy - set(processes.idle)
