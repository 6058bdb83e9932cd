"""``ltlpipe verify``: whether what was found out before can be confirmed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.options import AsJson, Quiet  # noqa: TC001 (typer reads them)
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.verdicts import json_line

if TYPE_CHECKING:
    from ltlpipe.batch.verifying import Finding
    from ltlpipe.certificates.checking.verification import (
        Verification as VerifiedCertificate,
    )

_REFUSED, _UNCHECKED = 1, 3
_LASSO_SECONDS = 60.0


def verify(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Store of solve --store, or certificate of check --certificate.",
        ),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Where the system of a certificate is now; may be repeated, for its "
            "files in their order.",
        ),
    ] = None,
    system_root: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where the files of the systems are now, at any depth of their paths.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time limit of a certificate, or of each lasso of a store (60).",
        ),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            metavar="MIB",
            min=0,
            help="Memory limit of a certificate; by default nine tenths of the free "
            "memory.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check the results of a store, or a certificate that no run violates a formula.

    Of a store, rows are compared with their checksums and each lasso is replayed
    against its system.  Of a certificate, the system is read and its steps are found by
    code that shares nothing with the searches.  Exit code: 0 nothing is wrong, 1 a row
    is damaged, refuted or contradicted, or a certificate is refused, 2 bad input or
    usage (of a certificate also a limit), 3 a lasso could not be checked, or a
    certificate is verified only if what it names is true.
    """
    from ltlpipe.batch.stored_rows import is_store
    from ltlpipe.certificates.checking.verification import (
        is_certificate,
        verify_certificate,
    )
    from ltlpipe.runtime.errors import InputError

    is_file = Path(file).is_file()
    if is_file and is_certificate(file):
        with search_progress(quiet=quiet) as progress:
            progress.begin("verifying")
            verification = verify_certificate(
                file,
                system,
                system_root=system_root,
                timeout=timeout,
                memory=memory,
                progress=progress,
            )
            progress.hide()
        code = _report_certificate(verification, as_json=as_json)
    else:
        if is_file and not is_store(file, or_empty=True):
            message = "neither a result store nor a certificate"
            raise InputError(message, file=file)
        if system is not None or memory is not None:
            raise typer.BadParameter("--system and --memory are for certificates")
        seconds = _LASSO_SECONDS if timeout is None else timeout
        from ltlpipe.batch.verifying import findings

        with search_progress(quiet=quiet) as progress:
            begin = lambda text: progress.begin(text[:60])  # noqa: E731
            rows = findings(file, system_root, seconds, progress, begin)
        code = _report_findings(rows, as_json=as_json, quiet=quiet)
    raise typer.Exit(code)


def _report_certificate(verification: VerifiedCertificate, *, as_json: bool) -> int:
    """Print the result of a certificate, and return the exit code."""
    if as_json:
        print(json_line(verification.to_dict()), flush=True)
    else:
        _print_verified(verification)
    if verification.reason:
        return _REFUSED
    return _UNCHECKED if verification.conditions else 0


def _print_verified(verification: VerifiedCertificate) -> None:
    claim = verification.claim or verification.certificate
    if verification.reason is not None:
        print(f"refused: {claim}")
        print(f"  {verification.reason}", flush=True)
        return
    print(
        f"{verification.result}: {claim}   [{verification.states:,} states, "
        f"{verification.transitions:,} transitions, {verification.seconds:.2f} s]"
    )
    for trusted in verification.trusted:
        print(f"  trusted: {trusted}")
    for condition in verification.conditions:
        print(f"  on trust: {condition}")


def _report_findings(rows: list[Finding], *, as_json: bool, quiet: bool) -> int:
    """Print what was found of a store, and return the exit code."""
    from ltlpipe.batch.verifying import UNCHECKED, wrong

    if as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    else:
        _print_findings(rows, quiet=quiet)
    if wrong(rows):
        return _REFUSED
    return _UNCHECKED if any(row["finding"] == UNCHECKED for row in rows) else 0


def _print_findings(rows: list[Finding], *, quiet: bool) -> None:
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
