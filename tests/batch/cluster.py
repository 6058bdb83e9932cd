"""A Dask cluster in a program of its own, with real worker processes.

It prints the address of its scheduler, and ends when its standard input does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Running:
    """A cluster that runs."""

    def __init__(self, program):
        self.program = program
        self.address = program.stdout.readline().strip()

    def told(self, what):
        """Ask the cluster for something, and return the words of its answer."""
        self.program.stdin.write(f"{what}\n")
        self.program.stdin.flush()
        return self.program.stdout.readline().split()

    @property
    def pids(self):
        """The numbers of its worker processes."""
        return [int(word) for word in self.told("pids")]


@contextmanager
def running(n_workers=2, folder=ROOT, **settings):
    """Run a cluster in a folder while the block does; settings are environment."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.batch.cluster", str(n_workers)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Running(program)
    finally:
        program.stdin.close()
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            program.kill()
        program.stdout.close()


def main(n_workers):
    """Serve until nobody asks any more."""
    from distributed import LocalCluster

    with_tls = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in os.environ
    with LocalCluster(
        protocol="tls://" if with_tls else "tcp://",
        n_workers=int(n_workers),
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            if line == "pids\n":
                pids = [nanny.pid for nanny in cluster.workers.values()]
                print(*(pid for pid in pids if pid), flush=True)
            if line == "grow\n":
                cluster.scale(1)
                print(flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
