"""Every table of results/, measured with the code of today: what ``make bench`` runs.

A step is a command and the tables that it writes.  Steps whose tables are all current
(`benchmarks.measured_code`) are left out, so that a run that was cut off goes on where
it stopped; rows of other code are removed from a table before the step that writes it,
which goes on behind those that are left if it can.  A step that fails is named at the
end, and the others are run.

How long each took is written to ``benchmarks/durations.csv``, and from there into
``benchmarks/README.md``::

    python -m benchmarks.everything [--list] [--only NAME ...] [--again] [--readme]
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import record
from benchmarks.measured_code import code_of, is_current
from benchmarks.record import RESULTS

ROOT = Path(__file__).parents[1]
DURATIONS = Path(__file__).with_name("durations.csv")
README = DURATIONS.with_name("README.md")


@dataclass(frozen=True)
class Step:
    """A command, of which the first word is a module here or a program of .venv/bin.

    Parameters
    ----------
    command : str
        ``{data}`` is other people's models, ``{folder}`` a folder for passing use.
    tables : str
        The names of the tables that it writes, without their suffix.
    """

    command: str
    tables: str

    @property
    def name(self) -> str:
        """The first table's."""
        return self.tables.split()[0]

    @property
    def paths(self) -> list[Path]:
        """The tables."""
        return [RESULTS / f"{name}.csv" for name in self.tables.split()]

    @property
    def is_current(self) -> bool:
        """Whether all tables are there and were measured with the code of today."""
        return all(path.exists() and is_current(path) for path in self.paths)

    def arguments(self, data: Path, folder: str) -> list[str]:
        """Return the command, ready to be run."""
        text = self.command.format(data=shlex.quote(str(data)), folder=folder)
        program, *arguments = shlex.split(text)
        if program == "ltlpipe":
            return [sys.executable, "-m", program, *arguments]
        return [sys.executable, "-m", f"benchmarks.{program}", *arguments]


STEPS = (
    Step("startup", "startup"),
    Step("processors {folder}", "processors"),
    Step("interface", "interface"),
    Step("field", "field"),
    Step("promela", "promela"),
    Step("promela_first {data}/promela/models {folder}", "promela_first"),
    Step("promela_merging {data}/promela/models", "promela_merging"),
    Step("mcc --queries 200 --uniform", "mcc"),
    Step("mcc --queries 400 --off --name mcc_strata", "mcc_strata"),
    Step("mcc --names benchmarks/mcc_violated.txt --name mcc_violated", "mcc_violated"),
    Step("rers", "rers"),
    Step("rers_ways", "rers_ways rers_twice"),
    Step("rers_sequential", "rers_sequential"),
    Step("chains", "chains"),
    Step("neighbours --budget 5400", "neighbours neighbours_summary"),
    Step("portfolio --timeout 5", "portfolio portfolio_summary"),
    Step("lassos", "lassos lassos_summary"),
    Step("limits", "limits"),
    Step("explore", "explore flatness"),
    Step("emptiness", "emptiness"),
    Step("kripke", "kripke"),
    Step("memory", "memory"),
    Step("bitstate", "bitstate"),
    Step("workers", "workers workers_scaling workers_summary"),
    Step("table1", "table1"),
    Step("fair_comparison", "fair_comparison"),
    Step("analyze", "analyze analyze_spot analyze_published"),
    Step(
        "ltlpipe analyze formulas/patterns.ltl --out results/patterns.csv",
        "patterns",
    ),
    Step("por", "por"),
    Step("model_por --data {data}", "model_por"),
    Step("net_sets --data {data}/mcc2023", "net_sets"),
    Step("components", "components merging"),
    Step("decoupled --part scaling", "decoupled_scaling"),
    Step("decoupled --part ltl --timeout 10", "decoupled_ltl"),
    Step("table1_symmetry --runs 3 --resume", "table1_symmetry"),
    Step("coloured", "coloured"),
    Step("populations", "populations"),
    Step("acceptance", "acceptance acceptance_summary acceptance_aims"),
    Step("fin_removal", "fin_removal"),
    Step("certificates", "certificates"),
    Step("batch", "batch"),
    Step("report", "report"),
    Step("faults", "faults"),
    Step(
        "published --data {data}",
        "published_runs published_products published_summary published_table4 "
        "published_table5 published_table6 published_table7 published_workers",
    ),
    Step(
        "decoupled --part random --count 10 --resume --jobs 2 --budget 1100 "
        "--ways decoupled couvreur99 auto spin",
        "decoupled_random",
    ),
)


def forget_old_rows(path: Path) -> None:
    """Remove the rows of a table that other code has been measured for."""
    rows = record.resume(path)
    current = [row for row in rows if row.get("code") == code_of(path.stem)]
    if rows and not current:
        path.unlink()
    elif len(current) < len(rows):
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(current)


def run(step: Step, data: Path) -> bool:
    """Measure, and note how long it took; return whether it succeeded."""
    print(f"== {step.name}: {step.command}", flush=True)
    for path in step.paths:
        forget_old_rows(path)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        command = step.arguments(data, folder)
        environment = os.environ | {"LTLPIPE_BENCHMARKS": str(data)}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        return False
    if step.command.startswith("ltlpipe "):  # its tables do not tell the machine
        for path in step.paths:
            record.write(path, record.resume(path))
    note_duration(step, time.monotonic() - begun)
    return True


def note_duration(step: Step, seconds: float) -> None:
    """Write how long a step took in place of what was known, and the page."""
    known = {row["step"]: row for row in record.resume(DURATIONS)}
    about = record.provenance(step.name)
    row = {"step": step.name, "tables": step.tables, "command": step.command}
    known[step.name] = row | {"seconds": f"{seconds:.0f}"} | about
    ordered = [known[s.name] for s in STEPS if s.name in known]
    with DURATIONS.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(known[step.name]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    write_readme()


def write_readme() -> None:
    """Write the table of durations into the page about benchmarks."""
    text = README.read_text(encoding="utf-8")
    head, mark, _ = text.partition("| tables in `results/` |")
    known = {row["step"]: row for row in record.resume(DURATIONS)}
    lines = [f"{mark} command (`python -m benchmarks.…`) | minutes | measured |"]
    lines.append("|---|---|--:|---|")
    for step in STEPS:
        row = known.get(step.name, {})
        minutes = f"{float(row['seconds']) / 60:.1f}" if row else "?"
        command = step.command.format(data="DATA", folder="FOLDER")
        tables = ", ".join(step.tables.split())
        date = row.get("date", "")
        lines.append(f"| {tables} | `{command}` | {minutes} | {date} |")
    README.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the steps whose tables are older than the code; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [step.name for step in STEPS]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--again", action="store_true", help="current tables, too")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--readme", action="store_true", help="write the page anew")
    asked = parser.parse_args(arguments)
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", ROOT.parent / "shared/benchmarks"))
    chosen = [s for s in STEPS if s.name in asked.only]
    wanted = [s for s in chosen if asked.again or not s.is_current]
    if asked.readme:
        write_readme()
        return 0
    failed = []
    for step in wanted:
        if asked.list:
            print(f"{step.name}: {step.command}")
        elif not data.is_dir() and needs_data(step):
            print(f"skipped, as LTLPIPE_BENCHMARKS names no folder: {step.name}")
        elif not run(step, data.resolve()):
            failed.append(step.name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return len(failed)


def needs_data(step: Step) -> bool:
    """Whether a step asks about other people's models only."""
    return "{data}" in step.command or step.command.split()[0] in (
        *("mcc", "rers", "rers_ways", "rers_sequential", "chains"),
    )


if __name__ == "__main__":
    sys.exit(main())
