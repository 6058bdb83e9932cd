"""ltlpipe's command line, which says at its end how long its longest call took.

A *call* is what a job does between two looks at the limits, so that no limit is kept
better than that.  Its time is the CPU time of the process, without waiting for others:
it does not depend on what else the machine does.  Loading machine code is left out.

    python -m benchmarks.longest_call check SYSTEM ...
"""

from __future__ import annotations

import atexit
import json
import sys
import time
from typing import Any

from ltlpipe.cli import program
from ltlpipe.runtime import jobs

MARK = "longest call: "
"""Before the line on standard error."""


def watched() -> dict[str, Any]:
    """Have the clock of jobs note the longest call from now on; return the note."""
    note = {"seconds": 0.0, "phase": ""}
    advance = jobs.Clock.advance
    last = {"cpu": time.process_time(), "waited": 0.0}

    def noting(clock: jobs.Clock, began: float, progress: jobs.Progress) -> float:
        now = advance(clock, began, progress)
        cpu, waited = time.process_time(), clock.compile_seconds + clock.load_seconds
        spent = cpu - last["cpu"] - max(waited - last["waited"], 0.0)
        spent = min(spent, now - began)  # not what was before the job
        if not (progress.compiling or progress.loading) and spent > note["seconds"]:
            note.update(seconds=round(spent, 3), phase=progress.phase)
        last.update(cpu=cpu, waited=waited)
        return now

    jobs.Clock.advance = noting  # type: ignore[method-assign]
    return note


def told(note: dict[str, Any]) -> None:
    """Print a note."""
    print(MARK + json.dumps(note), file=sys.stderr, flush=True)


if __name__ == "__main__":
    atexit.register(told, watched())
    program()
