"""What every benchmark writes beside its numbers, and how it writes them."""

from __future__ import annotations

import csv
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measured_code import code_of
from ltlpipe import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

RESULTS = Path(__file__).parents[1] / "results"


def provenance(table: str) -> dict[str, Any]:
    """Return date, machine, versions, and a hash of the code that a table measures."""
    return {
        "date": date.today().isoformat(),
        "machine": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "ltlpipe": __version__,  # an editable installation may have an older one
        "numba": version("numba"),
        "code": code_of(table),
    }


def joint_provenance(table: str, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the provenance of a summary of rows: all that its rows have."""
    told: dict[str, dict[str, None]] = {column: {} for column in provenance(table)}
    for row in rows:
        for column, known in told.items():
            value = row.get(column)
            if value is not None and value == value:  # a missing one of pandas is not
                known[str(value)] = None
    return {c: "; ".join(filter(None, sorted(known))) for c, known in told.items()}


def _processor() -> str:
    """Return the processor's name as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
    return names[0].strip() if names else platform.machine()


def write(
    path: str | Path,
    rows: Iterable[dict[str, Any]],
    *,
    of: Iterable[dict[str, Any]] | None = None,
) -> None:
    """Write rows as CSV, each with the provenance behind its own columns.

    `of` has the rows, measured earlier, that these sum up: theirs is the provenance.
    """
    name = Path(path).stem
    about = provenance(name) if of is None else joint_provenance(name, of)
    table = [row | about for row in rows]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    _write(Path(path), table)
    print(f"wrote {path}")


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a row, with its provenance, to a table."""
    _write(path, [*resume(path), row | provenance(path.stem)])


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a table; columns that older rows lack are empty there."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    beside = path.with_name(f".{path.name}.part")
    with beside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    beside.replace(path)


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
