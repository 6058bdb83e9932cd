"""``ltlpipe verify``: what the results of a store are worth."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli import options as shared  # noqa: TC001 (typer reads it)
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.tables import Store  # noqa: TC001

if TYPE_CHECKING:
    from ltlpipe.batch.verifying import Finding


def verify(
    store: Store,
    system_root: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where the files of the systems are now, at any depth of their paths.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="For each lasso.")
    ] = 60.0,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Check the results in a store, and replay each lasso against its system.

    Exit code: 0 if nothing is wrong, 1 if a row is damaged, refuted or contradicted, 2
    for bad input or usage, 3 if a lasso could not be checked and nothing is wrong.
    """
    from ltlpipe.batch.verifying import Verification, wrong

    found = Verification(store, system_root=system_root, timeout=timeout)
    with search_progress(quiet=quiet) as progress:
        rows = found.findings(progress, lambda text: progress.begin(text[:60]))
    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    else:
        _print(rows, quiet=quiet)
    raise typer.Exit(1 if wrong(rows) else 3 if _unchecked(rows) else 0)


def _unchecked(rows: list[Finding]) -> list[Finding]:
    from ltlpipe.batch.verifying import UNCHECKED

    return [row for row in rows if row["finding"] == UNCHECKED]


def _print(rows: list[Finding], *, quiet: bool) -> None:
    """Print each row with something to say, and how many there are of each kind."""
    from rich.console import Console
    from rich.table import Table

    from ltlpipe.batch.verifying import FINDINGS

    for row in rows:
        if row["why"] is not None:
            names = (row["system"], row["formula_id"], row.get("configuration"))
            about = " ".join(
                str(name) for name in names if name not in (None, "default")
            )
            print(f"{row['finding']}: {' '.join(about.split())}: {row['why']}")
    if quiet:
        return
    counts = Counter((row["finding"], row["verdict"]) for row in rows)
    table = Table("finding", "verdict")
    table.add_column("rows", justify="right")
    order = sorted(counts, key=lambda c: (FINDINGS.index(c[0]), c[1] or ""))
    for finding, verdict in order:
        table.add_row(finding, verdict or "", str(counts[finding, verdict]))
    Console().print(table)
