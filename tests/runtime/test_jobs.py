"""The loop that advances jobs: limits, Ctrl-C, the clock; jobs that are shared."""

import os
import signal
import sys
import threading
import time
from contextlib import nullcontext, suppress

import pytest

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import (
    MIB,
    Clock,
    Grant,
    Limits,
    Progress,
    Shared,
    StoppedError,
    TooMuchWorkError,
    bounded,
    ended_by_ctrl_c,
    heed_ctrl_c,
    imported,
    interruptible,
    run,
    timed,
)
from ltlpipe.runtime.loading import loading
from tests.processes import SOON


class Steps:
    """A job of so many steps that keeps account of what happens to it."""

    def __init__(self, n, progress=Progress(), seconds=0.0, result="done"):  # noqa: B008
        self.n, self.progress, self.seconds, self.result = n, progress, seconds, result
        self.begun = self.taken = self.closed = 0
        self.grants = []

    def __call__(self):
        self.begun += 1
        try:
            for _ in range(self.n):
                self.grants.append((yield self.progress))
                time.sleep(self.seconds)
                self.taken += 1
            return self.result
        finally:
            self.closed += 1


def reason_of(job, limits):
    with pytest.raises(StoppedError) as stopped:
        run(job, limits)
    return stopped.value.reason


# --- run --------------------------------------------------------------------


def test_a_job_runs_to_its_end():
    steps, seen = Steps(3, Progress("searching", states=7)), []

    assert run(steps(), observer=seen.append) == "done"
    assert (steps.taken, steps.closed) == (3, 1)
    assert seen == [Progress("searching", states=7)] * 3


def test_what_a_job_raises():
    def job():
        yield Progress()
        raise UnsupportedError("no")

    with pytest.raises(UnsupportedError):
        run(job())


def test_a_lack_of_memory_is_a_limit():
    def job():
        yield Progress()
        raise MemoryError

    assert reason_of(job(), Limits()) == "memory"


def test_time_is_limited():
    steps = Steps(1000, seconds=0.01)

    assert reason_of(steps(), Limits(timeout=0.1)) == "timeout"
    assert 1 <= steps.taken <= 11
    assert steps.closed == 1


def test_seconds_that_the_clock_has_count():
    assert reason_of(Steps(1)(), Limits(timeout=0)) == "timeout"
    with pytest.raises(StoppedError):
        run(Steps(1)(), Limits(timeout=5), clock=Clock(seconds=6))


def test_memory_is_limited_and_granted():
    steps = Steps(2, Progress(memory_bytes=2 * MIB))

    assert reason_of(steps(), Limits(memory_mib=1)) == "memory"
    assert (steps.taken, steps.closed) == (0, 1)
    assert run(steps(), Limits(memory_mib=3)) == "done"
    assert steps.grants[-1] == Grant(3 * MIB)


def test_cpu_time_is_limited():
    def job():
        while True:
            yield Progress()

    assert reason_of(job(), Limits(cpu_time=0.05)) == "cpu-time"


def test_work_of_others_is_cpu_time():
    """What a job does while it waits for a process is done by that process."""
    reader, writer = os.pipe()
    os.close(writer)
    clock = Clock()
    run(Steps(2, Progress(work=3e6, waits=(reader,)))(), clock=clock)
    os.close(reader)

    assert 6 <= clock.cpu_seconds <= 7
    assert clock.seconds < 3


def test_waiting_ends_at_the_deadline():
    reader, writer = os.pipe()
    began = time.monotonic()
    waits = Steps(1000, Progress(waits=(reader,)))

    assert reason_of(waits(), Limits(timeout=0.1)) == "timeout"
    assert time.monotonic() - began < SOON
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("phase", ["compiling", "loading"])
def test_compiling_and_loading_are_nobodys_time(phase):
    clock = Clock()
    steps = Steps(3, Progress(phase, **{phase: True}), seconds=0.4)
    run(steps(), Limits(timeout=1), clock=clock)

    spent = {"compiling": clock.compile_seconds, "loading": clock.load_seconds}
    assert spent.pop(phase) >= 1.2
    assert [*spent.values()] == [0]
    assert clock.seconds < 1
    assert clock.phase == phase


def test_loading_within_a_step_is_counted_apart():
    """Also where a job within another one is told how long it has been at work."""
    worked = []

    def job():
        with loading(), loading():
            time.sleep(1.2)
        yield Progress("searching")
        time.sleep(0.1)  # a busy machine makes more of it

    clock = Clock()
    run(timed(job(), worked.append), Limits(timeout=1.1), clock=clock)
    assert clock.load_seconds >= 1.2
    assert clock.seconds < 1.1
    assert sum(worked) < 1.1


@pytest.mark.parametrize("apart", [True, False])
def test_loading_takes_of_cpu_time_what_it_uses(apart):
    """On a busy machine it takes seconds in which little of that is used."""

    def job():
        with loading() if not apart else nullcontext():
            time.sleep(0.3)
        yield Progress("loading", loading=apart)
        time.sleep(0.3)  # if `apart`, this is loading, too
        while True:
            yield Progress("searching")

    clock = Clock()
    with pytest.raises(StoppedError, match="cpu-time"):
        run(job(), Limits(cpu_time=0.1), clock=clock)
    assert clock.load_seconds >= 0.3
    assert clock.cpu_seconds - clock.load_cpu_seconds < 0.2
    assert clock.load_cpu_seconds < 0.2


def test_the_clock_is_kept_for_stopped_jobs():
    clock = Clock()
    with pytest.raises(StoppedError):
        run(
            Steps(9, Progress("x", memory_bytes=5), seconds=0.05)(),
            Limits(timeout=0.1),
            clock=clock,
        )

    assert 0.1 <= clock.seconds < SOON
    assert (clock.phase, clock.peak_bytes) == ("x", 5)


@pytest.mark.parametrize(
    "limits", [{"timeout": -1}, {"memory_mib": float("nan")}, {"max_states": 0}]
)
def test_limits_that_are_none(limits):
    with pytest.raises(UnsupportedError):
        Limits(**limits)


# --- Ctrl-C -----------------------------------------------------------------


def test_ctrl_c_ends_a_job():
    def job():
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            yield Progress()

    before = signal.getsignal(signal.SIGINT)

    assert reason_of(job(), Limits()) == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_what_ctrl_c_did_before_it_does_again(handler):
    """Also where that is nothing of Python's."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        run(one_step())
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)


def one_step():
    """A job."""
    yield Progress()


def test_a_second_ctrl_c_raises():
    with interruptible() as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.pressed
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def _heeded():
    """Ctrl-C as the command line has it."""
    before = signal.getsignal(signal.SIGINT)
    heed_ctrl_c()
    yield
    with ended_by_ctrl_c():
        pass
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heeded")
def test_a_ctrl_c_whose_exception_is_lost_ends_the_next_job():
    with suppress(BaseException):  # as an import or a callback may do
        signal.raise_signal(signal.SIGINT)

    steps = Steps(3)
    assert reason_of(steps(), Limits()) == "interrupted"
    assert steps.taken == 0


@pytest.mark.usefixtures("_heeded")
def test_what_ctrl_c_ends_is_over():
    with ended_by_ctrl_c():
        signal.raise_signal(signal.SIGINT)

    assert run(Steps(2)()) == "done"


def test_imports_are_looked_at(tmp_path, monkeypatch):
    """A module that takes long to import takes no time of the question."""
    (tmp_path / "takes_long.py").write_text("import time; time.sleep(0.5)")
    monkeypatch.syspath_prepend(tmp_path)
    clock, looks = Clock(), []

    run(imported("takes_long"), Limits(timeout=0.4), clock=clock, observer=looks.append)
    assert clock.load_seconds > 0.3
    assert {look.phase for look in looks} == {"loading"}
    assert "takes_long" in sys.modules
    assert next(imported("takes_long"), None) is None
    run(imported("no_such_module"))  # told to whoever imports it


def test_other_threads_run_jobs_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(run(Steps(2)())))
    thread.start()
    thread.join()

    assert found == ["done"]


# --- jobs that several wait for ---------------------------------------------


def test_a_shared_job_is_done_once():
    steps = Steps(3)
    shared = Shared(steps)
    first, second = shared.wait(), shared.wait()
    next(first)
    next(second)
    first.send(Grant())
    first.close()  # closes nothing

    assert steps.closed == 0
    assert shared.result is None
    assert run(shared.wait()) == "done"
    with pytest.raises(StopIteration) as end:
        second.send(Grant())
    assert end.value.value == "done"
    assert (steps.begun, steps.closed, shared.result) == (1, 1, "done")


def test_the_error_of_a_shared_job_is_kept():
    def job():
        yield Progress()
        raise UnsupportedError("no")

    shared = Shared(job)
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="no"):
            run(shared.wait())
    assert shared.ended
    assert shared.result is None


def test_a_shared_job_can_be_closed():
    steps = Steps(3)
    shared = Shared(steps)
    next(shared.wait())
    shared.close()

    assert steps.closed == 1


# --- bounded ----------------------------------------------------------------


def test_bounded_by_work():
    steps = Steps(5, Progress(work=10))

    assert run(bounded(steps(), work=100)) == "done"
    assert [grant.work for grant in steps.grants] == [90, 80, 70, 60, 50]
    with pytest.raises(TooMuchWorkError):
        run(bounded(steps(), work=25))
    assert steps.closed == 2


def test_work_of_workers_is_bounded_apart():
    waiting = Steps(5, Progress(work=10, waits=(0,)))

    assert run(bounded(waiting(), work=1, waiting=100)) == "done"
    with pytest.raises(TooMuchWorkError):
        run(bounded(waiting(), work=100, waiting=25))
    with pytest.raises(TooMuchWorkError):
        run(bounded(Steps(5, Progress(work=10))(), work=25, waiting=100))


def test_whoever_bounds_closes():
    steps = Steps(5)
    job = bounded(steps(), work=1)
    next(job)
    job.close()

    assert steps.closed == 1


@pytest.mark.parametrize(
    ("said", "counts"),
    [({"waits": (0,)}, True), ({"waits": (0,), "compiling": True}, False), ({}, False)],
)
def test_seconds_of_a_phase(said, counts):
    """Waiting for a worker is its own time; being set aside and compiling are not."""
    spent = []

    def work():
        yield Progress("searching", **said)

    job = timed(work(), spent.append)
    next(job)
    time.sleep(0.05)  # the time that counts, or does not
    with pytest.raises(StopIteration):
        job.send(Grant())
    assert (sum(spent) >= 0.05) == counts
