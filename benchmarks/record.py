"""What every benchmark writes beside its numbers, and how it writes them."""

from __future__ import annotations

import csv
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

RESULTS = Path(__file__).parents[1] / "results"


def provenance() -> dict[str, Any]:
    """Return date, machine and versions."""
    return {
        "date": date.today().isoformat(),
        "machine": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "ltlpipe": version("ltlpipe"),
        "numba": version("numba"),
    }


def _processor() -> str:
    """Return the processor's name as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
    return names[0].strip() if names else platform.machine()


def write(path: str | Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV, each with the provenance behind its own columns."""
    about = provenance()
    table = [row | about for row in rows]
    columns = list(dict.fromkeys(column for row in table for column in row))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    print(f"wrote {path}")


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a row, with its provenance, to a table whose rows have the same columns."""
    row = row | provenance()
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def resume(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, if there is one; a torn last line is cut off."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if not whole:
        path.unlink()
    elif whole != text:
        path.write_text(whole, encoding="utf-8")
    return list(csv.DictReader(whole.splitlines()))
