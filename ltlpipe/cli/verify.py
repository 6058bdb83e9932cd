"""``ltlpipe verify``: whether what was found out before can be confirmed.

Also ``ltlpipe check --verify``: results that `check --json` has printed, replayed.
"""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.cli.options import AsJson, Quiet, run_within, search_progress
from ltlpipe.cli.tables import print_table
from ltlpipe.cli.verdicts import json_line
from ltlpipe.question.given_options import manner_told
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.errors import FormulaError, InputError, LtlpipeError
from ltlpipe.runtime.jobs import Limits, StoppedError
from ltlpipe.runtime.names import visible_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.verifying import Finding
    from ltlpipe.certificates.checking.verification import (
        Verification as VerifiedCertificate,
    )
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.recorded import Record


_REFUSED, _UNCHECKED = 1, 3


def verify(
    file: str = typer.Argument(
        metavar="FILE",
        help="Store of solve --store, or certificate of check --certificate.",
    ),
    system: list[str] | None = typer.Option(
        None,
        metavar="FILE",
        help="Where the system of a certificate is now; may be repeated, for its "
        "files in their order.",
    ),
    system_root: str | None = typer.Option(
        None,
        metavar="DIR",
        help="Where the files of the systems are now, at any depth of their paths.",
    ),
    timeout: float | None = typer.Option(
        None,
        metavar="SECONDS",
        min=0,
        help="Time limit of a certificate, or of each lasso of a store (60).",
    ),
    memory: float | None = typer.Option(
        None,
        metavar="MIB",
        min=0,
        help="Memory limit of a certificate; by default nine tenths of the free "
        "memory.",
    ),
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

    is_file = False
    try:
        is_file = stat.S_ISREG(Path(file).stat().st_mode)
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except (OSError, ValueError):
        pass  # told when it is read
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
            raise InputError("neither a result store nor a certificate", file=file)
        if system is not None or memory is not None:
            raise typer.BadParameter("--system and --memory are for certificates")
        from ltlpipe.batch.verifying import SECONDS, findings

        seconds = SECONDS if timeout is None else timeout
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
            print(json_line(row))
    else:
        _print_findings(rows, quiet=quiet)
    if wrong(rows):
        return _REFUSED
    return _UNCHECKED if any(row["finding"] == UNCHECKED for row in rows) else 0


def _print_findings(rows: list[Finding], *, quiet: bool) -> None:
    """Print each row with something to say, and how many there are of each kind."""
    from ltlpipe.batch.verifying import FINDINGS

    for row in rows:
        if row["why"] is not None:
            names = (row["system"], row["formula_id"], row.get("configuration"))
            about = " ".join(
                str(name) for name in names if name not in (None, "default")
            )
            told = f"{row['finding']}: {' '.join(about.split())}: {row['why']}"
            print(visible_lines(told))
    if quiet:
        return
    counts = Counter((row["finding"], row["verdict"]) for row in rows)
    order = sorted(counts, key=lambda c: (FINDINGS.index(c[0]), c[1] or ""))
    print_table(("finding", "verdict", "rows"), [(*c, counts[c]) for c in order], 2)


_EXPECTED = "expected what ltlpipe check --json prints"


def verify_results(
    file: str, files: Sequence[str], chosen: Mapping[str, Any], *, as_json: bool
) -> int:
    """Replay the lassos of a file, print the findings, return the exit code.

    `files` are those of the system, if they are not the ones that the results name;
    options that are `chosen` go before those of the results.
    """
    from ltlpipe.batch.verifying import REFUTED, UNCHECKED
    from ltlpipe.runtime.files import read_text
    from ltlpipe.simulation.records import objects_in

    given = list(objects_in(read_text(file), file))
    if not given:
        raise InputError(f"no result; {_EXPECTED}", file=file)
    checker = _Checker(file, files, chosen)
    findings = []
    for line, one in given:
        found, why = checker.finding(one, line)
        findings.append(found)
        if as_json:
            row = {name: one.get(name) for name in ("system", "formula", "verdict")}
            print(json_line(row | {"finding": found, "why": why}))
        else:
            subject = one.get("formula") or "accepting run"
            print(visible_lines(f"{found}: {subject}" + (f": {why}" if why else "")))
    return 1 if REFUTED in findings else 3 if UNCHECKED in findings else 0


class _Checker:
    """Replays results; systems are loaded once."""

    def __init__(
        self, file: str, files: Sequence[str], chosen: Mapping[str, Any]
    ) -> None:
        from ltlpipe.batch.verifying import SECONDS

        self._file, self._files = file, tuple(files)
        self._chosen = {
            name: value
            for name, value in chosen.items()
            if value != OPTIONS[name].default and value is not None
        }
        seconds = self._chosen.get("timeout", SECONDS)
        memory = self._chosen.get("memory")
        self._limits = Limits(seconds, memory, None, self._chosen.get("cpu_time"))
        self._systems: dict[Any, System] = {}

    def finding(self, given: Any, line: int | None) -> tuple[str, str | None]:
        """Return the finding for a result, and the reason.

        Raises
        ------
        InputError
            It is none.
        LtlpipeError
            Its system cannot be read.
        """
        from ltlpipe.batch.table import VERDICTS
        from ltlpipe.batch.verifying import CONFIRMED, ON_TRUST, REFUTED, UNCHECKED
        from ltlpipe.runtime.errors import ReplayError
        from ltlpipe.simulation.records import record_of
        from ltlpipe.verdict.recorded import UndecidedError
        from ltlpipe.verdict.verdict import VIOLATED

        def refusal(what: str) -> InputError:
            return InputError(f"{what}; {_EXPECTED}", file=self._file, line=line)

        if not isinstance(given, dict) or "verdict" not in given:
            raise refusal("no result")
        verdict = given["verdict"]
        if verdict not in VERDICTS:
            raise refusal(f"the verdict is {str(verdict)[:60]!r}")
        options = given.get("options", {})
        if not isinstance(options, dict):
            raise refusal("'options' is not a JSON object")
        has_run = given.get("lasso") or given.get("finite_run")
        record = record_of(given, self._file, line) if has_run else None
        if verdict != VIOLATED:
            if record is not None:
                return REFUTED, f"{verdict!r} with a lasso"
            return ON_TRUST, None
        if record is None:
            return UNCHECKED, "it has no lasso"
        try:
            self._replay(record, given, options | self._chosen)
        except (ReplayError, FormulaError) as error:
            return REFUTED, str(error)
        except (UndecidedError, StoppedError) as error:
            return UNCHECKED, str(error)
        return CONFIRMED, None

    def _replay(
        self, record: Record, given: dict[str, Any], options: dict[str, Any]
    ) -> None:
        from ltlpipe.batch.verifying import replayed
        from ltlpipe.runtime.errors import ReplayError

        system = self._system(given, manner_told(options))
        if None in record.names:
            raise LtlpipeError(f"{self._file}: the lasso has no actions")
        if not record.has_cycle and record.kind is None:
            raise ReplayError("the lasso has no cycle")
        if record.formula is None and "automaton" not in options:
            _refuse_deadlocks(system, record)
        steps = tuple(step._replace(moves=None) for step in record.steps)
        told = record._replace(steps=steps)
        asked = record.formula, told, options, record.alphabet
        run_within(replayed(system, *asked), self._limits)

    def _system(self, given: dict[str, Any], manner: dict[str, Any]) -> System:
        from ltlpipe.systems.reading import load_job

        told = given.get("files")
        if not isinstance(told, list) or not {*map(type, told)} <= {str}:
            told = []
        files = self._files or tuple(told) or files_named(str(given.get("system")))
        key = files, tuple(manner.items())
        if key not in self._systems:
            job = load_job(files, **manner)
            self._systems = {key: run_within(job, self._limits)}
        return self._systems[key]


def _refuse_deadlocks(system: System, record: Record) -> None:
    """Refuse the way to a deadlock of a network in which not all runs are accepting."""
    from ltlpipe.systems.plain_steps import STUTTER_NAME
    from ltlpipe.verdict.recorded import UndecidedError

    stops = {*record.names[record.first :]} == {STUTTER_NAME}
    if stops and getattr(system, "has_acceptance", False):
        raise UndecidedError("it stops: replayed are accepting runs, no deadlocks")


def files_named(name: str) -> tuple[str, ...]:
    """Return the files of a system by its name in a result, with blanks between.

    Examples
    --------
    >>> files_named("one.aut two.aut")
    ('one.aut', 'two.aut')
    """
    return (name,) if Path(name).is_file() else tuple(name.split(" "))
