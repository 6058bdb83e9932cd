"""Ways in which a task can go wrong in its worker, and a program that runs them.

Workers are copies of the process that starts them, so a function that is replaced
here is replaced in them.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time

from ltlpipe import LTS, Network
from ltlpipe.batch import answering
from ltlpipe.batch.table import open_table

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


class Stuck:
    """Goes into a pickle and does not come out."""

    def __reduce__(self):
        return int, ("stuck",)


class StrangeError(Exception):
    """Holds what does not come out of a pickle."""

    def __init__(self):
        super().__init__("strange")
        self.stuck = Stuck()


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


def faulty_check(system, formula=None, **options):
    """Do what the formula of a fault asks for, and else what `check` does."""
    text = getattr(formula, "text", formula)
    if text in FAULTS:
        FAULTS[text]()
    time.sleep(float(os.environ.get("SECONDS_PER_TASK", "0")))
    return _check(system, formula, **options)


def main(store, log, n_tasks, jobs):
    """Run tasks on a store; a line in the log for each check that is begun."""
    from ltlpipe.batch.solving import solve_rows
    from ltlpipe.batch.tasks import Task

    def logged(system, formula=None, **options):
        line = f"{formula.text}\n".encode()
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line)
        os.close(descriptor)
        return faulty_check(system, formula, **options)

    answering.check = logged
    tasks = [Task(RING, "X " * k + "b") for k in range(int(n_tasks))]
    with open_table(f"{log}.{os.getpid()}.csv") as table:
        for row in solve_rows(tasks, jobs=int(jobs), store=store):
            table.write(row)
            print(row["task"], row["verdict"], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
