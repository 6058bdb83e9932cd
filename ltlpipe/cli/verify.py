"""``ltlpipe verify``: whether what was found out before can be confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ltlpipe.cli.options import AsJson, Quiet  # noqa: TC001 (typer reads them)
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.verdicts import json_line

if TYPE_CHECKING:
    from ltlpipe.certificates.checking.verification import Verification

_REFUSED = 1


def verify(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A certificate of check --certificate."),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Where the system is now; may be given several times, for its files "
            "in their order.",
        ),
    ] = None,
    system_root: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="The folder in which the files of the system are."
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Wall-clock time.")
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            metavar="MIB", help="Memory; by default nine tenths of what is free."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate: that no run of a system violates what was asked.

    The system is read and its steps are found by code that shares nothing with the
    searches.  Exit code: 0 verified, 1 refused, 2 bad input, or a limit was hit.
    """
    from ltlpipe.certificates.checking.verification import verify_certificate

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
    if as_json:
        print(json_line(verification.to_dict()), flush=True)
    else:
        _print(verification)
    raise typer.Exit(_REFUSED if verification.reason else 0)


def _print(verification: Verification) -> None:
    claim = verification.claim or verification.certificate
    if verification.reason is not None:
        print(f"refused: {claim}")
        print(f"  {verification.reason}", flush=True)
        return
    print(
        f"verified: {claim}   [{verification.states:,} states, "
        f"{verification.transitions:,} transitions, {verification.seconds:.2f} s]"
    )
    for trusted in verification.trusted:
        print(f"  trusted: {trusted}")
