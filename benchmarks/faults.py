"""What a run loses when something goes wrong: nothing, twice nothing, and no verdict.

A run over tasks with known answers, with a store and two workers, meets a fault at a
random moment; then the same command is run again, to its end.  Kinds of faults:

- killed: the process that hands out tasks gets SIGKILL;
- worker killed: one that answers tasks does, and ``--retry crash`` has its task anew;
- ctrl-c: SIGINT, once or twice;
- file size: no file may grow beyond a random size (``ulimit -f``);
- virtual memory: a random limit (``ulimit -v``); ``--retry unknown`` goes on;
- full disk: a file system in memory without room (needs root; left out otherwise);
- two runs: two at once on one store, one of which is killed;
- edited rows: values of random results are changed, as with the program sqlite3;
- damaged bytes: bits of the file of a complete run are turned.

A row of ``results/faults.csv`` is a kind: how often; how many results were there after
the fault (`kept`); how many of those that ``--log`` had told were `lost`; how many
tasks were solved twice though they had a verdict (`duplicated`); how many verdicts were
`wrong`, before or after going on; how many runs ended with a traceback, or with an exit
code that is none of ours (`raw_ends`).  The aims are 0.

    python -m benchmarks.faults [--repetitions N] [--kinds killed ...] [--out DIR]
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from ltlpipe import LtlpipeError, results

if TYPE_CHECKING:
    from collections.abc import Callable

N_TASKS = 40
RING = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'
PROGRAM = [sys.executable, "-m", "ltlpipe"]
CODES = (0, 1, 2, 3, 130)
EARLY, LONGEST = 0.25, 4.0
"""Which share of faults comes after so many seconds at most: often before any result.

The others come after a number of results.
"""
PATIENCE = 300.0
MIB = 1 << 20


def truth(number: int) -> str:
    """Return the verdict of a task: a and b take turns, and a comes first."""
    return "holds" if number % 2 else "violated"


@dataclass
class Found:
    """What a repetition has found."""

    kept: int = 0
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    raw_ends: int = 0


@dataclass
class Run:
    """A folder with tasks, a store and a table."""

    folder: Path
    found: Found = field(default_factory=Found)
    told: int = 0  # results of the first run that have been read before its end

    def __post_init__(self) -> None:
        (self.folder / "ring.aut").write_text(RING)
        lines = [f"ring.aut,{'X ' * k}b" for k in range(N_TASKS)]
        text = "\n".join(["system,formula", *lines, ""])
        (self.folder / "tasks.csv").write_text(text)

    @property
    def store(self) -> Path:
        """The file of the store."""
        return self.folder / "run.sqlite"

    def begin(self, *flags: str, table: str = "r.csv", **more: Any) -> Any:
        """Start the program on the tasks."""
        command = [*PROGRAM, "solve", "tasks.csv", "--out", table, "--log"]
        return subprocess.Popen(
            [*command, "--store", "run.sqlite", "--jobs", "2", *flags],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            **more,
        )

    def ended(self, run: Any, *codes: int) -> int:
        """Wait for its end; return how many results it has said to have kept."""
        _, said = run.communicate(timeout=PATIENCE)
        raw = run.returncode not in (*CODES, *codes) or "Traceback" in said
        self.found.raw_ends += raw
        if raw:
            print(run.returncode, said[-2000:], flush=True)
        lines = [line for line in said.splitlines() if f"/{N_TASKS} " in line]
        told, self.told = self.told, 0
        return told + len(lines)

    def verdicts(self) -> dict[int, tuple[str, int]]:
        """Return the verdicts of the store with their attempts, by task."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = results(self.store)
        numbers = frame["formula"].str.count("X")
        rows = zip(numbers, frame["verdict"], frame["attempts"], strict=True)
        return {int(n): (str(verdict), int(a)) for n, verdict, a in rows}

    def judge(self) -> dict[int, tuple[str, int]]:
        """Count wrong verdicts, and return all."""
        known = {}
        if self.store.exists() and has_tables(self.store):
            known = self.verdicts()
        decided = {n: v for n, (v, _) in known.items() if v != "unknown"}
        self.found.wrong += sum(v != truth(n) for n, v in decided.items())
        return known

    def complete(self, said: int, *flags: str) -> None:
        """Look at what is there, go on, and look again."""
        before = self.judge()
        self.found.kept = len(before)
        self.found.lost += max(said - len(before), 0)
        self.ended(self.begin(*flags))
        after = self.judge()
        self.found.lost += N_TASKS - len(after)
        self.found.lost += sum(verdict == "unknown" for verdict, _ in after.values())
        for number, (verdict, attempts) in before.items():
            if verdict != "unknown" and after[number][1] != attempts:
                self.found.duplicated += 1


def has_tables(store: Path) -> bool:
    """Whether a run has come so far; before it has, there is nothing to lose."""
    try:
        with closing(sqlite3.connect(store)) as db:
            return bool(db.execute("SELECT * FROM sqlite_master").fetchone())
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ):  # it is damaged, as results will say
        return True


def _wait(run: Run, first: Any, chance: random.Random) -> None:
    """Wait for a random moment: some results after the first one, or some seconds."""
    if chance.random() < EARLY:
        time.sleep(chance.uniform(0.2, LONGEST))
        return
    for _ in range(chance.randrange(1, N_TASKS)):
        run.told += f"/{N_TASKS} " in first.stderr.readline()
    time.sleep(chance.uniform(0, 0.1))


def killed(run: Run, chance: random.Random) -> None:
    """SIGKILL for the process that hands out tasks."""
    first = run.begin()
    _wait(run, first, chance)
    first.kill()
    run.complete(run.ended(first, -signal.SIGKILL))


def worker_killed(run: Run, chance: random.Random) -> None:
    """SIGKILL for a process that it has started."""
    first = run.begin()
    _wait(run, first, chance)
    with suppress(OSError, IndexError):
        place = Path(f"/proc/{first.pid}/task/{first.pid}/children")
        os.kill(int(chance.choice(place.read_text().split())), signal.SIGKILL)
    run.complete(run.ended(first), "--retry", "crash")


def ctrl_c(run: Run, chance: random.Random) -> None:
    """SIGINT, once or twice; while Python starts, its own end is no fault of ours."""
    first = run.begin()
    time.sleep(1.0)
    for _ in range(chance.choice([1, 2])):
        _wait(run, first, chance)
        first.send_signal(signal.SIGINT)
    run.complete(run.ended(first))


def _limited(what: int, size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (size, size))


def file_size(run: Run, chance: random.Random) -> None:
    """No file may grow beyond some KiB."""
    size = chance.randrange(40_000, 400_000)
    limit = _limited(resource.RLIMIT_FSIZE, size)
    run.complete(run.ended(run.begin(preexec_fn=limit)))


def virtual_memory(run: Run, chance: random.Random) -> None:
    """Allow some hundred MiB of virtual memory."""
    size = chance.randrange(100, 450) * MIB
    limit = _limited(resource.RLIMIT_AS, size)
    run.complete(run.ended(run.begin(preexec_fn=limit)), "--retry", "unknown")


def full_disk(run: Run, chance: random.Random) -> None:
    """Give it a file system without room, which is larger when it goes on."""
    size = chance.randrange(60, 400)
    place = str(run.folder)
    made = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", place]
    subprocess.run(made, check=True, capture_output=True)
    try:
        run.__post_init__()
        said = run.ended(run.begin())
        larger = ["mount", "-o", "remount,size=100m", place]
        subprocess.run(larger, check=True, capture_output=True)
        run.complete(said)
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def two_runs(run: Run, chance: random.Random) -> None:
    """Two at once; one is killed, and the other goes on."""
    first, second = run.begin(), run.begin(table="other.csv")
    _wait(run, first, chance)
    first.kill()
    run.ended(first, -signal.SIGKILL)
    run.complete(run.ended(second))


EDITS = ("verdict = 'holds'", "verdict = 'hold{'", "states = 7", "reason = 'magic'")


def edited_rows(run: Run, chance: random.Random) -> None:
    """Results that somebody has changed: each is noticed, and solved anew."""
    run.ended(run.begin())
    with closing(sqlite3.connect(run.store)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        keys = [key for (key,) in db.execute("SELECT key FROM results")]
        for key in chance.sample(keys, 5):
            edit = chance.choice(EDITS)
            db.execute(f"UPDATE results SET {edit} WHERE key = ?", [key])
        db.commit()
    run.complete(0)


def damaged_bytes(run: Run, chance: random.Random) -> None:
    """Bits of a file, one after the other; each row is as it was, or not there."""
    run.ended(run.begin())
    data = run.store.read_bytes()
    used = [place for place, byte in enumerate(data) if byte]
    for _ in range(100):
        changed = bytearray(data)
        changed[chance.choice(used)] ^= 1 << chance.randrange(8)
        run.store.write_bytes(changed)
        with suppress(LtlpipeError):  # it is refused as a whole
            run.judge()
    run.store.write_bytes(data)
    run.complete(N_TASKS)


KINDS: dict[str, Callable[[Run, random.Random], None]] = {
    "killed": killed,
    "worker killed": worker_killed,
    "ctrl-c": ctrl_c,
    "file size": file_size,
    "virtual memory": virtual_memory,
    "full disk": full_disk,
    "two runs": two_runs,
    "edited rows": edited_rows,
    "damaged bytes": damaged_bytes,
}


def measured(kind: str, repetitions: int, seed: int) -> dict[str, Any] | None:
    """Return the row of a kind; None if it cannot be had here."""
    sums = dict.fromkeys(vars(Found()), 0)
    for number in range(repetitions):
        chance = random.Random(f"{seed} {kind} {number}")
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder))
            try:
                KINDS[kind](run, chance)
            except subprocess.CalledProcessError as error:  # mount
                print(f"{kind}: left out: {error}")
                return None
        for name, value in vars(run.found).items():
            sums[name] += value
    row = {"kind": kind, "repetitions": repetitions, "tasks": N_TASKS} | sums
    print(row, flush=True)
    return row


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    given = parser.parse_args()
    rows = [measured(kind, given.repetitions, given.seed) for kind in given.kinds]
    known = [row for row in rows if row is not None]
    record.write(given.out / "faults.csv", known)


if __name__ == "__main__":
    main()
