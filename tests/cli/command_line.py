"""Ways to run the command line: in this process, as a program, on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import NamedTuple

from tests.processes import SOON

PROGRAM = [sys.executable, "-m", "ltlpipe"]

RING = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'
"""a and b in turn, for ever."""

HARD = "!(" + " & ".join(f"G(a{k} -> F b{k})" for k in range(18)) + ")"
"""Spot needs minutes for its negation, of 2**18 states, on `MANY`."""

MANY = "des (0, 36, 1)\n" + "".join(
    f'(0, "{x}{k}", 0)\n' for x in "ab" for k in range(18)
)
"""All actions of `HARD`, at any time."""

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Outcome(NamedTuple):
    """How a run ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def records(self):
        """The JSON objects on standard output, one per line, nothing else."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def complaint(self):
        """Standard error in one line, without frames and colours."""
        return " ".join(re.sub(r"[─-╿]", " ", plain(self.err)).split())


def plain(text):
    """Return text without the control sequences of terminals."""
    return _ESCAPE.sub("", text)


def program(*args, timeout=4 * SOON, **options):
    """Run the program to its end."""
    command = [*PROGRAM, *map(str, args)]
    asked = {"capture_output": True, "text": True, "check": False, **options}
    done = subprocess.run(command, timeout=timeout, **asked)
    return Outcome(done.returncode, done.stdout, done.stderr)


class OnTerminal:
    """The program running with a terminal as its standard error.

    Parameters
    ----------
    args : str or path
        Arguments of the program.
    stdout : "pipe" or "terminal"
        Where its standard output goes.
    stdin : "none", "terminal" or a file
        Where its standard input comes from: with "terminal" it is what is typed, and
        the terminal is the one that the program has.
    program : list of str, optional
        How the program is started, `PROGRAM` by default.
    columns : int
        How wide the terminal is.
    """

    def __init__(self, *args, stdout="pipe", stdin="none", program=None, columns=200):
        ours, theirs = pty.openpty()
        size = struct.pack("HHHH", 40, columns, 0, 0)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
        self._ours, self._theirs = ours, os.dup(theirs)
        self.process = subprocess.Popen(
            [*(program or PROGRAM), *map(str, args)],
            stdin={"none": None, "terminal": theirs}.get(stdin, stdin),
            stdout=subprocess.PIPE if stdout == "pipe" else theirs,
            stderr=theirs,
            text=True,
            env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm"},
            **({} if stdin == "none" else {"preexec_fn": self._own_terminal}),
        )
        os.close(theirs)
        self.seen = ""
        self._reader = threading.Thread(target=self._read, args=(ours,))
        self._reader.start()

    def _read(self, terminal):
        while select.select([terminal], [], [])[0]:
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
            self.seen += data.decode(errors="replace")
        os.close(terminal)

    @property
    def modes(self):
        """How the terminal is set up, where it is the program's input."""
        return termios.tcgetattr(self._theirs)

    def type(self, text):
        """Press keys."""
        os.write(self._ours, text.encode())

    def _own_terminal(self):
        """Make it the terminal of the program, in a session of its own."""
        os.setsid()
        fcntl.ioctl(self._theirs, termios.TIOCSCTTY, 0)

    def wait_for(self, pattern, seconds=2 * SOON):
        """Wait until the terminal shows what a regular expression finds."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, plain(self.seen)):
            assert time.monotonic() < deadline, self.seen
            assert self.process.poll() is None, self.seen
            time.sleep(0.01)

    def end(self, seconds=2 * SOON):
        """Wait for the end; what the terminal has shown is `err`."""
        out = self.process.communicate(timeout=seconds)[0]
        self._close()
        self._reader.join()
        return Outcome(self.process.returncode, out or "", self.seen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self._close()
        self._reader.join()

    def _close(self):
        """Close our side of what the program has as its terminal."""
        if self._theirs is not None:
            os.close(self._theirs)
            self._theirs = None
