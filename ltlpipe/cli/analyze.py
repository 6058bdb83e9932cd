"""``ltlpipe analyze``: the classes of properties to which formulas belong."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli import tables
from ltlpipe.cli.options import run_within, search_progress
from ltlpipe.cli.verdicts import BAD_INPUT, json_line
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.jobs import ended_by_ctrl_c
from ltlpipe.runtime.names import counted, visible_lines

if TYPE_CHECKING:
    from ltlpipe.batch.table import Row
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.history import Dialect

FORMATS = ("text", "csv", "parquet", "json", "latex", "html")

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def analyze(
    files: list[str] | None = typer.Argument(
        None, metavar="FORMULAS.ltl", help="One formula per line."
    ),
    formula: shared.Formulas = None,
    to: str | None = typer.Option(
        None,
        metavar="FORMAT",
        help="text, csv, parquet, json, latex or html; by default by the suffix of "
        "--out, or text.",
    ),
    out: str | None = tables.output(),
    as_json: shared.AsJson = False,
    explain: int | None = typer.Option(
        None, metavar="N", min=1, help="Explain why formula N is interruptible or not."
    ),
    timeout: float = typer.Option(
        60.0,
        metavar="SECONDS",
        min=0,
        help="Time for each formula, shared by its columns.",
    ),
    semantics: str | None = typer.Option(
        None,
        metavar="KIND",
        help="What propositions are about: action, one at a time, or state; by "
        "default state for a formula with a comparison, else action.  finite: "
        "formulas of finite words of actions (LTLf).",
    ),
    jobs: int = typer.Option(1, metavar="N", min=1, help="Number of worker processes."),
    quiet: shared.Quiet = False,
) -> None:
    """Classify formulas as properties of actions or states, one row for each.

    Columns: actions, size, class in Manna & Pnueli's hierarchy; whether repeated
    actions do not matter (stutter-invariant), whether actions that the formula does
    not name do not matter (interruptible), and whether the syntax shows it; states of
    a Büchi, a generalised Büchi, a deterministic parity and a generic automaton;
    whether the first is weak, terminal, very weak, and in interrupt normal form, and
    its size after normalisation.

    With --semantics state propositions are independent of each other, and a formula is
    interruptible if it is stutter-invariant; the columns about actions are empty.
    With --semantics finite the class is safety, guarantee, bottom for both, or none,
    and TGBA and parity are a nondeterministic and a deterministic automaton of finite
    words; what is about infinite words is missing.

    What is not decided in time is missing, with a message on standard error; the class
    is then one that the formula is in (at most recurrence).  A formula that cannot be
    read has a row with the error, and the exit code is 2.
    Ctrl-C ends the run; the rows written so far are kept, and the exit code is 130.
    """
    from ltlpipe.batch.analyzing import analysis_rows, json_of
    from ltlpipe.cli.questions import formulas_of
    from ltlpipe.logic.formulas import raised
    from ltlpipe.runtime.files import refuse_overwriting

    refuse_overwriting({"--out": out}, files or [])
    if explain is not None and (as_json or out is not None or to is not None):
        raise typer.BadParameter("--explain goes without --json, --out and --to")
    form = tables.format_of(to, out, FORMATS)
    if as_json and out is None and to is not None:
        raise typer.BadParameter("--json and --to cannot both write to standard output")
    dialect = _dialect(semantics)
    formulas = [each for f in files or [] for each in formulas_of([], f, dialect)]
    formulas = raised([*formulas, *formulas_of(formula or [], None, dialect)])
    if not formulas:
        raise typer.BadParameter("nothing to analyse: name files, or use -f FORMULA")
    if explain is not None and dialect.finite:
        raise typer.BadParameter("--explain is about infinite words")
    if explain is not None:
        _explain(formulas, explain, timeout)
        return
    started = time.monotonic()
    rows: list[Row] = []
    with search_progress(quiet=quiet) as progress, ended_by_ctrl_c():
        found = analysis_rows(formulas, semantics=semantics, timeout=timeout, jobs=jobs)
        progress.begin("analysing", total=len(formulas))
        for row, notes in found:
            rows.append(row)
            for note in notes:
                progress.hide()
                print(f"warning: {note}", file=sys.stderr)
            if as_json:
                progress.hide()
                print(json_line(json_of(row)), flush=True)
            progress.begin("analysing", total=len(formulas), done=len(rows))
    if out is not None or not as_json:
        _write(rows, form, out)
    if not quiet and not as_json and (form == "text" or out is not None):
        seconds = time.monotonic() - started
        _summarise(rows, seconds, out, finite=dialect.finite)
    if len(rows) < len(formulas):
        raise typer.Exit(_INTERRUPTED)
    if any(row["error"] is not None for row in rows):
        raise typer.Exit(BAD_INPUT)


def _dialect(semantics: str | None) -> Dialect:
    """Return how formulas are read."""
    from ltlpipe.question.given_options import dialect_of

    if semantics not in (None, "action", "state", "finite"):
        message = f"{semantics!r}, expected action, state or finite"
        raise typer.BadParameter(message, param_hint="--semantics")
    return dialect_of({"semantics": semantics})


def _write(rows: list[Row], form: str, out: str | None) -> None:
    """Write the rows to a file, or to standard output."""
    from ltlpipe.batch.analyzing import ANALYSIS_DTYPES
    from ltlpipe.batch.table import to_frame

    frame = to_frame(rows, ANALYSIS_DTYPES)
    tables.write_table(frame, form, out, lambda f: _laid_out(rows, f, out))


def _laid_out(rows: list[Row], form: str, out: str | None) -> str:
    from ltlpipe.batch.analyzing import json_of
    from ltlpipe.report import layouts

    if form == tables.TEXT:
        table = layouts.text_table(layouts.of_analysis(rows, alphabet=False))
        return tables.drawn(table, to_file=out is not None)
    if form == "json":
        lines = ",\n".join(json_line(json_of(row)) for row in rows)
        return f"[\n{lines}\n]\n"
    return layouts.laid_out(layouts.of_analysis(rows), form, "Analysis of formulas")


def _explain(
    formulas: list[Formula | FormulaError], number: int, timeout: float
) -> None:
    """Print why one formula is interruptible, or why not."""
    from ltlpipe.batch.formula_columns import explanation
    from ltlpipe.runtime.jobs import Limits, StoppedError

    if number > len(formulas):
        raise typer.BadParameter(
            f"{number}, but there are {len(formulas)} formulas",
            param_hint="'--explain'",
        )
    formula = formulas[number - 1]
    if isinstance(formula, FormulaError):
        raise formula
    try:
        lines = run_within(
            explanation(formula.text, formula.spot), Limits(timeout=timeout)
        )
    except StoppedError as stopped:
        raise UnsupportedError(
            f"{formula.where}: whether it is interruptible is not known: "
            f"{stopped.reason} (--timeout)"
        ) from None
    if formula.file is not None:
        print(f"{formula.file}:{formula.line}")
    print(visible_lines("\n".join(lines)))


def _summarise(
    rows: list[Row], seconds: float, out: str | None, *, finite: bool
) -> None:
    interruptible = sum(bool(row["interruptible"]) for row in rows)
    by_syntax = sum(row["syntactic"] == "intrpt" for row in rows)
    written = "" if out is None else f" written to {out}"
    if finite:
        print(f"{counted(len(rows), 'formula')}{written}; {seconds:.1f} s")
        return
    told = f"{interruptible} interruptible, {by_syntax} by syntax"
    if unknown := sum(row["interruptible"] is None for row in rows):
        told += f", {unknown} not known"
    print(f"{counted(len(rows), 'formula')}{written}: {told}; {seconds:.1f} s")
