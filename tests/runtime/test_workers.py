"""Worker processes: leased, limited, killed, and never left behind."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ltlpipe.runtime import worker_process, workers
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.jobs import (
    Clock,
    Limits,
    StoppedError,
    TooMuchWorkError,
    bounded,
    run,
)
from ltlpipe.runtime.workers import call
from tests.processes import SOON, cpu_seconds, is_running, status, wait_until
from tests.runtime.worker_operations import known_to_workers, these_operations

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module", autouse=True)
def operations():
    with these_operations():
        yield


@pytest.fixture(autouse=True)
def alone(operations):
    """No worker lives when a test begins, whichever tests came before it."""
    workers.close_idle()
    left = workers._of_this_process().alive
    while left:
        left.pop().close()


def begun(job):
    """Advance a job until it has done some work; return what it said last."""
    progress = next(job)
    work = progress.work
    while work < 10_000:  # in all: on a busy machine each look sees little of it
        time.sleep(0.01)
        progress = job.send(workers.Grant())
        work += progress.work
    return progress


def finished(job):
    """Return the result of a job that has been begun."""
    try:
        while True:
            job.send(workers.Grant())
            time.sleep(0.01)
    except StopIteration as end:
        return end.value


def test_ctrl_c_does_not_reach_a_worker_that_is_being_started():
    """For a moment it is in the session of its parent."""
    program = """
import os, signal, threading, time
from ltlpipe.runtime.worker_process import Worker
signal.signal(signal.SIGINT, lambda *_: None)
signal.signal(signal.SIGTERM, lambda *_: None)
done = threading.Event()
def press():
    while not done.is_set():
        os.killpg(0, signal.SIGINT)
        os.killpg(0, signal.SIGTERM)
threading.Thread(target=press).start()
workers = [Worker() for _ in range(5)]
for worker in workers:
    worker.start()
done.set()
time.sleep(0.5)
print([worker._process.poll() for worker in workers])
for worker in workers:
    worker.close()
"""
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    ).stdout
    assert told == "[None, None, None, None, None]\n"


def test_a_worker_is_started_as_this_process_was():
    """-OO changes byte code, and with it which kernel is which."""
    program = """
from ltlpipe.runtime.worker_process import Worker
worker = Worker()
worker.start()
worker.wait()
print(*worker._process.args[1:4])
worker.close()
"""
    for flag, wanted in [("-OO", "-I -O -O"), ("-I", "-I -c")]:
        args = [sys.executable, flag, "-c", program]
        told = subprocess.run(args, capture_output=True, text=True, check=True).stdout

        assert told.startswith(wanted)


# --- answers ----------------------------------------------------------------


def test_one_worker_answers_call_after_call():
    first = run(call("pid"))

    assert first != os.getpid()
    assert [run(call("pid")) for _ in range(3)] == [first] * 3


def test_two_calls_at_once_have_two_workers():
    jobs = [call("pid"), call("pid")]
    for job in jobs:
        next(job)

    assert finished(jobs[0]) != finished(jobs[1])


def test_large_arguments_and_results():
    array = np.arange(1_000_000)

    assert np.array_equal(run(call("echo", value=[array]))[0], array)


@pytest.mark.parametrize(
    ("kind", "error", "attributes"),
    [
        ("formula", FormulaError, {"position": 3, "file": "f.ltl", "line": 2}),
        ("input", InputError, {"file": "x.hoa", "line": 7}),
        ("unsupported", UnsupportedError, {}),
        ("memory", StoppedError, {"reason": "memory"}),
        ("other", RuntimeError, {}),
    ],
)
def test_what_an_operation_raises(kind, error, attributes):
    """It is raised here, and the worker lives on."""
    before = run(call("pid"))
    with pytest.raises(error) as raised:
        run(call("fail", kind=kind))

    assert {key: getattr(raised.value, key) for key in attributes} == attributes
    assert run(call("pid")) == before


def test_parts_come_as_they_are_had():
    """They stay when the job is stopped, or the operation fails."""
    all_of, some, failed = [], [], []
    run(call("count", parts=all_of, n=3))
    stopped = call("count", parts=some, n=2, then="sleep")
    next(stopped)
    while len(some) < 2:
        time.sleep(0.01)
        stopped.send(workers.Grant())
    stopped.close()
    with pytest.raises(RuntimeError, match="no more"):
        run(call("count", parts=failed, n=1, then="fail"))

    assert (all_of, some, failed) == ([0, 1, 2], [0, 1], [0])


# --- limits -----------------------------------------------------------------


def worker_cpu_seconds():
    """The CPU time of the workers that live."""
    return sum(worker.cpu_seconds for worker in workers._of_this_process().alive)


def test_cpu_time_is_work():
    run(call("echo", value=1))
    before, clock = worker_cpu_seconds(), Clock()
    run(call("spin", seconds=0.2), clock=clock)

    assert 0.2 <= clock.cpu_seconds <= 0.4
    assert 0.2 <= worker_cpu_seconds() - before <= 0.4


def test_starting_a_worker_is_no_work():
    job, work = call("echo", value=1), 0.0
    try:
        progress = next(job)
        while True:
            work += progress.work
            time.sleep(0.01)
            progress = job.send(workers.Grant())
    except StopIteration:
        pass

    assert work < 20_000


def test_bounded_by_work():
    with pytest.raises(TooMuchWorkError):
        run(bounded(call("spin", seconds=60), work=1e5))


def test_memory_is_limited():
    run(call("echo", value=1))
    with pytest.raises(StoppedError) as stopped:
        run(call("hold", n_bytes=200 << 20, seconds=60), Limits(memory_mib=100))

    assert stopped.value.reason == "memory"


@pytest.mark.parametrize("operation", ["hold_lock", "with_child"])
def test_a_closed_job_leaves_nothing_behind(operation):
    """The worker, busy in C or waiting, is gone at once, and so is its child."""
    parts = []
    job = call(operation, parts=parts)
    if operation == "hold_lock":
        begun(job)
    else:
        next(job)
        while not parts:
            time.sleep(0.01)
            job.send(workers.Grant())
    (worker,) = workers._of_this_process().alive
    process = worker._process.pid
    began = time.monotonic()
    job.close()

    assert time.monotonic() - began < SOON
    assert status(process) is None  # no zombie either
    assert not workers._of_this_process().alive
    for child in parts:
        wait_until(lambda child=child: not is_running(child))


def test_a_stopped_one_is_replaced():
    before = run(call("pid"))
    with pytest.raises(StoppedError) as stopped:
        run(call("hold_lock"), Limits(timeout=0.2))

    assert stopped.value.reason == "timeout"
    assert status(before) is None
    assert run(call("pid")) != before


def left_at_work(seconds):
    """A worker that has been left with so many seconds of work."""
    job = call("spin", leaves=True, seconds=seconds)
    before = set(workers._of_this_process().alive)
    begun(job)
    (worker,) = workers._of_this_process().alive - before
    job.close()
    return worker.pid


def test_one_that_is_left_finishes_its_work():
    """It serves the next call when it is done; until then another one does."""
    left = left_at_work(1.0)

    assert run(call("pid")) != left
    wait_until(lambda: cpu_seconds(left) > 1.0)
    wait_until(lambda: run(call("pid")) == left or not is_running(left))
    assert is_running(left)


def test_only_one_is_left():
    first, second = left_at_work(60), left_at_work(60)

    assert is_running(first)
    assert not is_running(second)
    workers.close_idle()
    assert not is_running(first)


def test_one_that_is_left_is_taken_back_by_one_thread(monkeypatch):
    """Another one that comes meanwhile does not wait for it, and gets another."""
    left = left_at_work(0.5)
    select.select(workers._of_this_process().left, [], [], 60)
    receive = worker_process.Worker.receive
    pids = []

    def slowly(worker):
        if worker.pid == left and not pids:
            pids.append(None)
            other = threading.Thread(target=lambda: pids.append(run(call("pid"))))
            other.start()
            other.join()
        return receive(worker)

    monkeypatch.setattr(worker_process.Worker, "receive", slowly)
    assert run(call("pid")) == left
    assert len(pids) == 2
    assert pids[1] != left


# --- the end of workers -----------------------------------------------------


def test_crashes():
    with pytest.raises(UnsupportedError, match=r"Spot crashed .*exit status 11"):
        run(call("die", status=11))
    with pytest.raises(UnsupportedError, match=r"Numba crashed .*exit status -11"):
        run(call("die", subject="Numba", status=-11))
    with pytest.raises(StoppedError) as stopped:
        run(call("die", status=-9))

    assert stopped.value.reason == "memory"
    assert not workers._of_this_process().alive


def test_what_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(worker_process, "_START", "import ltlpipe.nothing")
    with pytest.raises(RuntimeError, match="No module named"):
        run(call("pid"))


def test_one_that_died_at_leisure_is_replaced():
    before = run(call("pid"))
    os.kill(before, signal.SIGKILL)

    assert run(call("pid")) != before


def test_one_that_has_grown_is_retired():
    before = run(call("pid"))
    run(call("keep", n_bytes=80 << 20))

    assert status(before) is None


def test_prepared_workers_are_used():
    workers.prepare("colorsys", "no_such_module")
    workers.prepare()
    (worker,) = workers._of_this_process().alive
    worker.wait()

    assert run(call("is_imported", module="colorsys"))
    assert run(call("pid")) == worker._process.pid


def test_a_copy_of_this_process_has_its_own():
    """It neither uses nor ends what belongs to the process that it is a copy of."""
    before = run(call("pid"))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        theirs = run(call("pid"))
        workers.close_idle()
        os.write(writer, str(theirs).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        theirs = int(stream.read())
    os.waitpid(child, 0)

    assert theirs != before
    assert run(call("pid")) == before


def test_it_outlives_the_thread_that_used_it():
    found = []
    thread = threading.Thread(target=lambda: found.append(run(call("pid"))))
    workers.close_idle()
    thread.start()
    thread.join()
    time.sleep(0.1)  # for the signal that a parent's end would have sent

    assert run(call("pid")) == found[0]


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from ltlpipe.runtime import worker_process, workers
worker_process._START = {start!r}
{work}
"""

BUSY = """
from ltlpipe.runtime.jobs import Grant
job = workers.call("hold_lock")
job.send(None)
(worker,) = workers._of_this_process().alive
print(worker._process.pid, flush=True)
while True:
    job.send(Grant())
"""


def program(work, **options):
    root = str(Path(__file__).parents[2])
    text = PROGRAM.format(root=root, start=known_to_workers(), work=work)
    return subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **options
    )


def test_it_dies_with_this_process_while_busy():
    with program(BUSY) as run_of_it:
        worker = int(run_of_it.stdout.readline())
        wait_until(lambda: cpu_seconds(worker) > 0.3)
        run_of_it.kill()

    wait_until(lambda: not is_running(worker))


def test_idle_ones_end_with_the_program():
    work = "from ltlpipe.runtime.jobs import run\nprint(run(workers.call('pid')))"
    with program(work) as run_of_it:
        worker = int(run_of_it.stdout.read())

    assert run_of_it.returncode == 0
    assert status(worker) is None


def test_nothing_is_imported_from_the_working_directory(tmp_path):
    for name in ("spot", "numpy", "ltlpipe", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    work = f"""
import os
from ltlpipe.runtime.jobs import run
os.chdir({str(tmp_path)!r})
print(run(workers.call("file_of", module="spot")))
"""
    with program(work) as run_of_it:
        assert str(tmp_path) not in run_of_it.stdout.read()
    assert run_of_it.returncode == 0


# --- starting ---------------------------------------------------------------


def test_starting_a_worker_is_loading():
    clock = Clock()
    run(call("echo", value=1), clock=clock)
    assert clock.load_seconds > 0


def test_a_worker_that_is_suspended_while_it_starts(monkeypatch):
    """The time is the question's, then: its limit holds."""
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.2)
    workers.close_idle()

    def stop(progress):
        for worker in workers._workers.alive:
            if worker.cpu_seconds:
                os.kill(worker.pid, signal.SIGSTOP)

    with pytest.raises(StoppedError, match="timeout"):
        run(call("echo", value=1), Limits(timeout=0.5), observer=stop)


def test_relative_paths_begin_where_the_caller_is(tmp_path, monkeypatch):
    """A worker may have been started in another folder."""
    before = run(call("pid"))
    monkeypatch.chdir(tmp_path)
    assert run(call("folder")) == str(tmp_path)
    assert run(call("pid")) == before


def test_a_worker_pauses_until_it_is_waited_for():
    leased = []
    job = call("spin", subject=None, leased=leased.append, seconds=0.2)
    begun(job)
    (worker,) = leased
    worker.pause()
    wait_until(lambda: status(worker.pid) == "stopped")
    spent = worker.cpu_seconds
    time.sleep(0.1)
    assert worker.cpu_seconds == spent
    finished(job)
    assert worker.cpu_seconds > spent


def test_a_worker_that_pauses_is_left_to_finish_its_request():
    leased = []
    job = call("spin", subject=None, leaves=True, leased=leased.append, seconds=0.2)
    begun(job)
    leased[0].pause()
    job.close()
    wait_until(lambda: status(leased[0].pid) == "sleeping")
    workers.close_idle()
