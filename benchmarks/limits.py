"""How far each phase goes beyond limits: time, memory, Ctrl-C.

For each phase there is a question in which it takes minutes (`limit_cases`), asked on
the command line with ``--timeout`` 1, 5 and 20, with ``--memory``, and with Ctrl-C
after a second.  A row has the seconds that the verdict reports and how far they are
beyond the limit (`overrun`); how far the process was, without what one takes that has
nothing to do, and without compiling (`wall_overrun`); the most resident memory of the
process and all its descendants, looked at every 20 ms; how long after Ctrl-C the
process was gone; how many descendants outlived it; and the CPU seconds of the longest
call between two looks at the limits, and in which phase it was (`longest_call`).  What
is answered within its limit has no overrun.

The aims: a tenth of the limit and 0.3 s; half a second from Ctrl-C to the prompt; 0.2 s
for a call.

    python -m benchmarks.limits [--phases read ...] [--timeout 1 5 20] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import record
from benchmarks.limit_cases import Phase, phases
from benchmarks.longest_call import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_SECONDS = 0.02
PATIENCE = 60.0
"""Seconds beyond its limit after which a process is killed."""

LATEST = 60.0
"""Limit in seconds where another limit is what is measured."""

AIM_SHARE, AIM_SECONDS, AIM_CTRL_C, AIM_CALL = 0.1, 0.3, 0.5, 0.2
INTERRUPTED = 130  # the exit code
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")

Row = dict[str, Any]


class Run(NamedTuple):
    """What a process has done."""

    wall: float  # seconds until it had ended
    peak_mib: float
    ctrl_c: float | None  # seconds from Ctrl-C to its end
    left: int  # descendants that still ran then
    output: str
    errors: str
    code: int | None  # None: it was killed


def tree(root: int) -> list[int]:
    """Return a process and all its descendants, as Linux tells them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8")
            except OSError:  # it has ended meanwhile
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def resident(pids: list[int]) -> float:
    """Return the resident memory of processes in MiB; shared pages count for each."""
    pages = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8")
        except OSError:
            continue
        pages += int(text.split()[1])
    return pages * PAGE / MIB


def observe(
    arguments: list[str],
    folder: Path,
    *,
    patience: float,
    ctrl_c: float | None = None,
    environment: dict[str, str] | None = None,
) -> Run:
    """Run ltlpipe and look at it every 20 ms.

    Parameters
    ----------
    arguments : list of str
        Of the command line.
    folder : Path
        Where its output goes meanwhile.
    patience : float
        Seconds after which it is killed.
    ctrl_c : float, optional
        When Ctrl-C is pressed, in seconds after the start.
    environment : dict, optional
        Variables that are not those of this process.
    """
    out, err = folder / "stdout", folder / "stderr"
    peak, pressed = 0.0, None
    with out.open("wb") as output, err.open("wb") as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.longest_call", *arguments],
            stdout=output,
            stderr=errors,
            env=os.environ | (environment or {}),
            start_new_session=True,  # a terminal signals all of its foreground group
        )
        pids = [process.pid]
        try:
            while process.poll() is None:
                pids = tree(process.pid)
                peak = max(peak, resident(pids))
                now = time.monotonic() - began
                if ctrl_c is not None and pressed is None and now >= ctrl_c:
                    pressed = time.monotonic()
                    os.killpg(process.pid, signal.SIGINT)
                if now > patience:
                    break
                time.sleep(LOOK_SECONDS)
            ended = time.monotonic()
        finally:
            left = _end(process, pids)
    killed = process.returncode == -signal.SIGKILL
    return Run(
        ended - began,
        peak,
        None if pressed is None else ended - pressed,
        0 if killed else left,
        out.read_text(encoding="utf-8", errors="replace"),
        err.read_text(encoding="utf-8", errors="replace"),
        None if killed else process.returncode,
    )


def _end(process: subprocess.Popen[bytes], pids: list[int]) -> int:
    """End a process and what it has left behind; return how many that were."""
    time.sleep(LOOK_SECONDS)
    left = [pid for pid in pids if pid != process.pid and _runs(pid)]
    if process.poll() is None:
        process.kill()
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    return len(left)


def _runs(pid: int) -> bool:
    """Whether a process runs, and does not merely wait to be noted by its parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def figures(run: Run, folder: Path) -> Row:
    """Return what a process has said, and what it took."""
    row: Row = {
        "verdict": "killed" if run.code is None else "error",
        "reason": None,
        "seconds": None,
        "compile_seconds": None,
        "strategy": None,
        "longest_call": None,
        "longest_phase": None,
    }
    for line in run.output.splitlines():
        if line.startswith("{"):
            told = json.loads(line)
            row |= {column: told[column] for column in row if column in told}
            row["strategy"] = told["plan"]["strategy"]
    said = [line for line in run.errors.splitlines() if line.strip()]
    for line in said:
        if line.startswith(MARK):
            call = json.loads(line.removeprefix(MARK))
            row["longest_call"], row["longest_phase"] = call["seconds"], call["phase"]
    if row["verdict"] == "error":
        told = said[0][:200] if said else f"exit code {run.code}"
        row["reason"] = told.replace(str(folder), "")
    if run.code == INTERRUPTED:
        row["verdict"], row["reason"] = "unknown", "interrupted"
    return row


def asked(
    chosen: argparse.Namespace, idle: float
) -> Iterator[tuple[str, float, list[str], float | None]]:
    """Yield limit, its value, the options that set it, and when Ctrl-C is pressed."""
    for timeout in chosen.timeout:
        yield "timeout", timeout, ["--timeout", f"{timeout:g}"], None
    late = ["--timeout", f"{chosen.latest:g}"]
    for memory in chosen.memory:
        yield "memory", memory, ["--memory", f"{memory:g}", *late], None
    if chosen.ctrl_c:
        yield "ctrl-c", 1.0, late, idle + 1.0


def measured(phase: Phase, chosen: argparse.Namespace, idle: float) -> Iterator[Row]:
    """Yield the rows of a phase."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ["check", *phase.make(folder), "--quiet"]
        arguments += [] if "--json" in arguments else ["--json"]
        for k, (limit, value, options, ctrl_c) in enumerate(asked(chosen, idle)):
            cache = {"NUMBA_CACHE_DIR": f"{name}/cache{k}"} if phase.cold else None
            allowed = value if limit == "timeout" else chosen.latest
            run = observe(
                [*arguments, *options],
                folder,
                patience=allowed + idle + PATIENCE,
                ctrl_c=ctrl_c,
                environment=cache,
            )
            said = figures(run, folder)
            waited = run.wall - idle - float(said["compile_seconds"] or 0.0)
            beyond = None
            if limit == "timeout" and said["seconds"] is not None:
                beyond = round(max(float(said["seconds"]) - value, 0.0), 3)
            yield {
                "phase": phase.name,
                "limit": limit,
                "value": value,
                **said,
                "overrun": beyond,
                "wall_overrun": (
                    round(max(waited - value, 0.0), 3) if limit == "timeout" else None
                ),
                "peak_mib": round(run.peak_mib, 1),
                "ctrl_c_seconds": None if run.ctrl_c is None else round(run.ctrl_c, 3),
                "left_behind": run.left,
            }


def idle_seconds(folder: Path) -> float:
    """Return what `check` takes for a system of one state."""
    path = folder / "tiny.aut"
    path.write_text('des (0, 1, 1)\n(0, "a", 0)\n', encoding="utf-8")
    arguments = ["check", str(path), "-f", "GF a", "--json", "--quiet"]
    return min(observe(arguments, folder, patience=PATIENCE).wall for _ in range(3))


def conclude(rows: list[Row]) -> None:
    """Print what is beyond the aims, and the worst of each kind."""

    def number(row: Row, column: str) -> float:
        return float(row.get(column) or 0.0)

    for column, limit in (
        ("overrun", "timeout"),
        ("wall_overrun", "timeout"),
        ("ctrl_c_seconds", "ctrl-c"),
        ("longest_call", "timeout"),
    ):
        of_limit = [row for row in rows if row["limit"] == limit]
        if not of_limit:
            continue
        worst = max(of_limit, key=lambda row: number(row, column))
        late = [
            f"{row['phase']} {row['value']} ({number(row, column):.2f} s)"
            for row in of_limit
            if number(row, column) > _aim(column, float(row["value"]))
        ]
        where = f"{worst['phase']}, {worst['value']}"
        print(f"{column}: worst {number(worst, column)} s ({where})")
        print(f"  beyond the aim: {', '.join(late) or 'none'}")
    killed = [row["phase"] for row in rows if row["verdict"] == "killed"]
    print(f"killed: {', '.join(killed) or 'none'}")


def _aim(column: str, value: float) -> float:
    fixed = {"ctrl_c_seconds": AIM_CTRL_C, "longest_call": AIM_CALL}
    return fixed.get(column, AIM_SHARE * value + AIM_SECONDS)


def main() -> None:
    """Write limits.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--phases", nargs="+", metavar="WORD", help="begin so")
    parser.add_argument("--timeout", type=float, nargs="*", default=[1, 5, 20])
    parser.add_argument("--memory", type=float, nargs="*", default=[200])
    parser.add_argument("--latest", type=float, default=LATEST)
    parser.add_argument("--no-ctrl-c", dest="ctrl_c", action="store_false")
    parser.add_argument("--scale", type=float, default=1.0, help="of the questions")
    parser.add_argument("--budget", type=float, metavar="SECONDS")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        idle = idle_seconds(Path(name))
    print(f"a process takes {idle:.2f} s at least", flush=True)
    path = chosen.out / "limits.csv"
    rows: list[Row] = list(record.resume(path))
    done = {row["phase"] for row in rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for phase in phases(chosen.scale):
        if phase.name in done:
            continue
        if chosen.phases and not phase.name.startswith(tuple(chosen.phases)):
            continue
        if chosen.budget is not None and time.monotonic() - began > chosen.budget:
            print("the budget is spent", flush=True)
            break
        for row in measured(phase, chosen, idle):
            record.append(path, row)
            rows.append(row)
            print(*row.values(), flush=True)
    conclude(rows)


if __name__ == "__main__":
    main()
