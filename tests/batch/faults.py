"""Ways in which a task can go wrong in its worker, and a program that runs them.

Workers are new processes; what is to go wrong in them is installed by `in_workers`.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from ltlpipe import LTS, Network
from ltlpipe.batch import answering
from ltlpipe.batch.table_files import open_table
from ltlpipe.runtime import worker_process, workers

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")

MIB = 1 << 20

_check = answering.check


def segfault():
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(7)


def sleep():
    time.sleep(60)


def spin():
    while True:
        pass


def spin_in_a_copy():
    if os.fork() == 0:
        spin()
    sleep()


def eat():
    pages = []
    while True:
        pages.append(b"\1" * (16 * MIB))
        time.sleep(0.01)


def eat_in_a_copy():
    if os.fork() == 0:
        eat()
    sleep()


def bug():
    raise ZeroDivisionError("a bug")


class StrangeError(Exception):
    """Holds what cannot be sent."""

    def __init__(self):
        super().__init__("strange")
        self.stuck = open(os.devnull)  # noqa: SIM115, PTH123


def strange():
    raise StrangeError


FAULTS = {
    "X " * number + "a": fault
    for number, fault in enumerate(
        (
            *(segfault, killed, leave, sleep, spin, spin_in_a_copy),
            *(eat, eat_in_a_copy, bug, strange),
        ),
        start=1,
    )
}
FORMULA = {fault: formula for formula, fault in FAULTS.items()}
"""The formula on which each fault happens."""


@contextmanager
def in_workers(code):
    """Have workers that are started in the block run some code of this module first."""
    root = str(Path(__file__).parents[2])
    workers.close_idle()
    start = worker_process._START
    before = f"sys.path.append({root!r})\nfrom tests.batch import faults\n{code}\n"
    worker_process._START = start.replace("main(int", f"{before}main(int")
    try:
        yield
    finally:
        workers.close_idle()
        worker_process._START = start


def install(log=None, *, faulty=True):
    """Have formulas of faults do what they are for, and write a line for each check."""

    def check(system, formula=None, **options):
        text = getattr(formula, "text", formula)
        if log is not None:
            line = f"{text}\n".encode()
            descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, line)
            os.close(descriptor)
        if faulty and text in FAULTS:
            FAULTS[text]()
        time.sleep(float(os.environ.get("SECONDS_PER_TASK", "0")))
        return _check(system, formula, **options)

    answering.check = check


def sign(folder):
    """Have each worker leave a file with its number."""

    def check(*args, **options):
        (Path(folder) / str(os.getpid())).touch()
        time.sleep(0.01)
        return _check(*args, **options)

    answering.check = check


def grow(n_bytes):
    """Have a worker keep so much more after each task."""
    kept = []

    def check(*args, **options):
        kept.append(b"\1" * n_bytes)
        return _check(*args, **options)

    answering.check = check


def compile_slowly(seconds):
    """Have a task load or compile kernels for longer than it may take."""

    def check(*args, **options):
        from ltlpipe.runtime.loading import loading

        with loading():
            time.sleep(seconds)
        return _check(*args, **(options | {"timeout": None}))

    answering.check = check


def main(store, log, n_tasks, jobs):
    """Run tasks on a store; a line in the log for each check that is begun."""
    from ltlpipe.batch.solving import solve_rows
    from ltlpipe.batch.tasks import Task

    tasks = [Task(RING, "X " * k + "b") for k in range(int(n_tasks))]
    with (
        in_workers(f"faults.install({log!r})"),
        open_table(f"{log}.{os.getpid()}.csv") as table,
    ):
        for row in solve_rows(tasks, jobs=int(jobs), store=store):
            table.write(row)
            print(row["task"], row["verdict"], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
