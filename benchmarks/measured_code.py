"""Which code each table of results measures, and whether it has changed since.

A row of a table has a hash of the rooms and modules that it measures, comments,
docstrings and layout apart, without the readers of systems that it has none of.  A
table is older than what it measures if a row has another hash, or none: then its
figures may not be those of today.

    python -m benchmarks.measured_code
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
KEPT = Path(__file__).parent / "__pycache__" / f"code.{sys.implementation.cache_tag}"
"""What modules have been read as: reading all of them anew takes seconds."""

SEARCHES = ("runtime/kernels", "automata", "systems", "por", "search")
REDUCTIONS = ("components", "decoupled", "linear", "structural", "symmetry")
ANSWERS = (*SEARCHES, *REDUCTIONS, "question", "strategies", "verdict")
ALL = ("",)

_TABLES = {
    SEARCHES: """
        acceptance acceptance_aims acceptance_summary bitstate emptiness explore
        fin_removal flatness kripke memory processors published_products
        published_runs published_summary published_table4 published_table5
        published_table6 published_table7 published_workers table1 workers
        workers_scaling workers_summary
    """,
    ANSWERS: """
        chains coloured components decoupled_ltl decoupled_random decoupled_scaling
        lassos lassos_summary mcc mcc_strata mcc_violated merging model_por neighbours
        neighbours_summary net_sets populations por portfolio portfolio_summary promela
        promela_merging rers rers_sequential rers_twice rers_ways table1_symmetry
    """,
    (*ANSWERS, "runtime"): "limits",
    (*ANSWERS, "certificates"): "certificates",
    (
        "logic",
        "automata",
        "batch/analyzing.py",
    ): "analyze analyze_spot analyze_published patterns",
    ("cli", "question"): "interface",
}

MEASURED = {table: places for places, some in _TABLES.items() for table in some.split()}
"""Folders and modules of the package by table; other tables measure all of it."""

_NETS, _COLOURED = "systems/nets", "systems/nets/coloured"
_PROGRAMS = "systems/programs"
_PROMELA, _ECA = "systems/programs/promela", "systems/programs/eca"

_UNREAD = {
    (_NETS, _PROGRAMS): """
        acceptance acceptance_aims acceptance_summary chains components decoupled_ltl
        decoupled_random decoupled_scaling emptiness explore fin_removal flatness kripke
        merging neighbours neighbours_summary por processors rers rers_twice rers_ways
        table1
    """,
    (_PROGRAMS,): "coloured mcc mcc_strata mcc_violated net_sets table1_symmetry",
    (_PROMELA, _ECA, _COLOURED): """
        bitstate certificates lassos lassos_summary memory model_por populations
        portfolio portfolio_summary published_products published_runs published_summary
        published_table4 published_table5 published_table6 published_table7
        published_workers workers workers_scaling workers_summary
    """,
    (_NETS, _PROMELA): "rers_sequential",
    (_NETS, _ECA): "promela promela_merging",
}

UNREAD = {table: places for places, some in _UNREAD.items() for table in some.split()}
"""Folders with the readers and steps of systems that a table has none of."""


def code_of(table: str, package: Path = ROOT / "ltlpipe") -> str:
    """Return a hash (12 hexadecimal digits) of the code that a table measures.

    Parameters
    ----------
    table : str
        Its file's name without the suffix.
    package : path, optional
        The sources.
    """
    return _code_of(MEASURED.get(table, ALL), UNREAD.get(table, ()), package)


@cache
def _code_of(places: tuple[str, ...], unread: tuple[str, ...], package: Path) -> str:
    digest = hashlib.sha256()
    for place in (*places, *unread):
        if not (package / place).exists():
            raise FileNotFoundError(f"{package / place}, of which a table knows")
    left_out = [package / place for place in unread]
    for place in places:
        root = package / place
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            if any(path.is_relative_to(place) for place in left_out):
                continue
            digest.update(str(path.relative_to(package)).encode())
            digest.update(_code(path).encode())
    _keep()
    return digest.hexdigest()[:12]


@cache
def _code(path: Path) -> str:
    """Return a module without comments, docstrings and layout."""
    source = path.read_bytes()
    read = hashlib.sha256(source).hexdigest()
    if _kept().get(str(path), [None])[0] != read:
        _kept()[str(path)] = [read, _bare(source)]
        _changed.add(path)
    return _kept()[str(path)][1]


def _bare(source: bytes) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body[:1] = [] if node.body[1:] else [ast.Pass()]
    return ast.unparse(tree)


_changed: set[Path] = set()  # read by this process


@cache
def _kept() -> dict[str, list[str]]:
    """Return for each module the hash of its source, and what it was read as."""
    try:
        found: dict[str, list[str]] = json.loads(KEPT.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _keep() -> None:
    """Write what has been read, modules of the package only, for later processes."""
    if not any(path.is_relative_to(ROOT) for path in _changed):
        return
    _changed.clear()
    own = {
        name: told
        for name, told in _kept().items()
        if Path(name).is_relative_to(ROOT) and Path(name).exists()
    }
    beside = KEPT.with_name(f"{KEPT.name}.{os.getpid()}")
    with suppress(OSError):
        KEPT.parent.mkdir(exist_ok=True)
        beside.write_text(json.dumps(own), encoding="utf-8")
        beside.replace(KEPT)


def is_current(path: Path) -> bool:
    """Whether all rows of a table were measured with the code of today."""
    with path.open(encoding="utf-8", newline="") as stream:
        found = {row.get("code") for row in csv.DictReader(stream)}
    return found == {code_of(path.stem)}


def main() -> None:
    """Name the tables that are older than what they measure."""
    tables = sorted(RESULTS.glob("*.csv"))
    old = [path.stem for path in tables if not is_current(path)]
    if old:
        print(
            f"warning: {len(old)} of {len(tables)} tables in results/ are older than "
            f"the code that they measure: {', '.join(old)}"
        )


if __name__ == "__main__":
    main()
