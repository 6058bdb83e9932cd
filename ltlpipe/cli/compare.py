"""``ltlpipe compare``: one system, several checks or acceptances, one table."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.batch.engines import RunBar
from ltlpipe.cli import options as shared
from ltlpipe.cli import tables
from ltlpipe.cli.options import Complaints, search_progress
from ltlpipe.cli.questions import formulas_of
from ltlpipe.cli.solve import split_grid
from ltlpipe.cli.verdicts import BAD_INPUT, BUG, exit_code, json_line
from ltlpipe.question.given_options import (
    flags_of,
    manner_of,
    of_question,
    options_of,
    understood,
)
from ltlpipe.question.options import COMPARE
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.jobs import ended_by_ctrl_c
from ltlpipe.runtime.names import counted, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from ltlpipe.batch.comparing import Run
    from ltlpipe.batch.outcomes import Disagreement, Standing
    from ltlpipe.batch.table import Row
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.history import Dialect
    from ltlpipe.runtime.errors import FormulaError

DISAGREEMENT = 4

_SHOWN = {
    "states": "states",
    "transitions": "transitions",
    "max_depth": "depth",
    "max_roots": "roots",
    "max_current": "current",
    "lasso_length": "length",
}
"""Columns with numbers of the printed table, and their titles."""

_SECONDS = "search_seconds"

_SHOWN_OF_KINDS = {
    "automaton_states": "size",
    "pairs": "pairs",
    "states": "states",
    "transitions": "transitions",
    "max_depth": "depth",
    "product_states": "product",
    "fin_share": "Fin",
}
"""The same for comparisons of several kinds of automata."""

_WHERE_KNOWN = ("product_states", "fin_share")
"""Columns that are shown if some row has a value."""


@shared.takes(COMPARE)
def compare(
    system: shared.System,
    formula: shared.Formulas = None,
    formula_file: shared.FormulaFile = None,
    empty: shared.Empty = False,
    emptiness: str | None = shared.search_option(
        None,
        metavar="LIST",
        help="Emptiness checks separated by commas, all, or auto: the one that "
        "suits each automaton. By default auto with tgra, tfla, tela; else all.",
    ),
    acceptance: str = shared.search_option(
        "ba",
        metavar="LIST",
        help="Property automata separated by commas: ba, tgba, tgra, tfla, tela; "
        "or all.",
    ),
    grid: list[str] | None = shared.search_option(
        None,
        metavar="OPTION=A,B [OPTION=C,D ...]",
        help="Ways are all choices of these values, such as 'translator=spot,"
        'ltl2tgba -D %f\' (A+B is a list; commas may stand in "...").',
    ),
    repeat: int = shared.search_option(
        1,
        metavar="N",
        min=1,
        help="Ask each question so often in each way, in alternating order; "
        "seconds are medians.",
    ),
    sizes: bool = shared.search_option(
        False,
        "--sizes",
        help="Explore each product completely: its size and its share of"
        " Fin transitions.",
    ),
    plot: str | None = shared.output_option(
        None,
        metavar="FILE",
        help="Scatter plots of the seconds of searches, each way against the first "
        "(.svg, .pdf, .png).",
    ),
    out: str | None = shared.table_file("Table of all runs, .csv or .parquet."),
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Compare several emptiness checks, acceptances or translators.

    By default all search the same product in the same order.  A search that does not
    support the acceptance of a formula's automaton is "unknown" with reason
    "unsupported".  With --acceptance all, the automata differ instead, and each is
    searched by a check that supports it.  Each way is warmed before it is measured, and
    every other turn of the ways goes backwards.  What is compared are seconds of the
    search; PAR2 counts an open question as twice the --timeout.

    Exit code: 4 two rows disagree, which is a bug of ltlpipe; otherwise 70
    after another bug, 2 bad input or usage, 1 some formula is violated, 3 some
    verdict is unknown (unsupported ones count only where no search is supported),
    0 every formula holds.
    """
    from ltlpipe.batch.comparing import comparison_rows, configurations, runs_of
    from ltlpipe.batch.outcomes import disagreements, standings
    from ltlpipe.batch.table import COMPARISON_DTYPES, DTYPES, json_of
    from ltlpipe.batch.table_files import open_table
    from ltlpipe.batch.tasks import parse_grid
    from ltlpipe.runtime.files import refuse_overwriting
    from ltlpipe.systems.reading import load
    from ltlpipe.verdict.verdict import INPUT_ERROR

    system, grid = split_grid(system, grid or [], "system")
    configured = configurations(emptiness, acceptance, parse_grid(grid))
    if plot is not None:
        from ltlpipe.report.plots import plottable

        if len(configured) < 2:
            raise typer.BadParameter("--plot needs several ways")
        plottable(plot)
    refuse_overwriting({"--out": out, "--plot": plot}, [*system, formula_file])
    dialect = understood(chosen)[0].dialect
    asked = _questions(formula or [], formula_file, empty, dialect)
    runs = runs_of(asked, configured)
    loaded = load(system, **manner_of(chosen))
    extras = [c for c in COMPARISON_DTYPES if c not in DTYPES]  # of ``--json``
    started = time.monotonic()
    rows: list[Row] = []
    with search_progress(quiet=quiet) as progress, ExitStack() as stack:
        watcher, given = _Watcher(progress), of_question(chosen)
        watched = comparison_rows(
            loaded, runs, watcher=watcher, sizes=sizes, repeat=repeat, **given
        )
        table = None
        if out is not None:
            table = stack.enter_context(open_table(out, COMPARISON_DTYPES))
        stack.enter_context(ended_by_ctrl_c())
        for row in watched:
            if table is not None:
                table.write(row)
            if as_json:
                progress.hide()
                print(
                    json_line(json_of(row) | {c: row.get(c) for c in extras}),
                    flush=True,
                )
            rows.append(row)
    left = len(runs) - len(rows)
    if not quiet and not as_json:
        shown = tables.drawn(_table_of(rows))
        print(shown, end="")
        if len(configured) > 1 and rows:
            read = [row for row in rows if row["reason"] != INPUT_ERROR]
            _print_standings(standings(read, chosen["timeout"]))
        _summarise(len(rows), left, time.monotonic() - started, out, watcher)
    found = disagreements(rows)
    for disagreement in found:
        command = _command(system, disagreement, grid, chosen)
        print(f"error: {disagreement}\n  {command}", file=sys.stderr)
    code = _exit_code(rows, left, found)
    if watcher.found_bug and code != DISAGREEMENT:
        code = BUG
    drawn = plot is None or _draw(rows, plot)
    if not drawn and code not in (DISAGREEMENT, BUG):
        code = BAD_INPUT
    raise typer.Exit(code)


def _questions(
    texts: list[str], file: str | None, empty: bool, dialect: Dialect
) -> list[Formula | FormulaError | None]:
    """Return the formulas; None asks for an accepting run."""
    if not (texts or file or empty):
        raise typer.BadParameter("expected -f FORMULA, -F FILE or --empty")
    from ltlpipe.logic.formulas import raised

    return [*raised(formulas_of(texts, file, dialect)), *[None] * empty]


class _Watcher(RunBar, Complaints):
    """Shows runs and searches on one progress bar, and prints failures."""

    n_compiled = 0
    compile_seconds = 0.0

    def compiling(self, number: int, total: int) -> None:
        super().compiling(number, total)
        self.n_compiled += 1

    def compiled(self, seconds: float) -> None:
        self.compile_seconds += seconds

    def failed(self, question: Run, error: Exception) -> None:
        from ltlpipe.logic.formulas import formula_text

        if isinstance(error, UnsupportedError):
            known = question.formula
            asked = "--empty" if known is None else formula_text(known)
            error = UnsupportedError(f"{asked}: no algorithm suits: {error}")
        self.complain(error)


def _exit_code(rows: list[Row], left: int, found: list[Disagreement]) -> int:
    """Return the exit code of a comparison."""
    from ltlpipe.batch.outcomes import has_unsuited
    from ltlpipe.verdict.verdict import UNKNOWN, UNSUPPORTED

    if found:
        return DISAGREEMENT
    verdicts = [row["verdict"] for row in rows if row["reason"] != UNSUPPORTED]
    if left or has_unsuited(rows):
        verdicts.append(UNKNOWN)
    return exit_code(verdicts, {row["reason"] for row in rows})


def _command(
    system: list[str], found: Disagreement, grid: list[str], chosen: dict[str, Any]
) -> str:
    """Return the command that reproduces a disagreement."""
    from ltlpipe.batch.tasks import grid_parts

    configured = [*found.holds, *found.violated]
    parts = ["ltlpipe", "compare", *system]
    parts += ["--empty"] if found.formula is None else ["-f", found.formula]
    parts += ["--emptiness", ",".join(_once(c.emptiness for c in configured))]
    kinds = _once(c.acceptance for c in configured if c.acceptance is not None)
    if kinds:
        parts += ["--acceptance", ",".join(kinds)]
    named = ("emptiness", "acceptance")
    others = [p for p in grid_parts(grid) if p.partition("=")[0] not in named]
    if others:
        parts += ["--grid", *others]
    return shlex.join([*parts, *flags_of(chosen, options_of(COMPARE))])


def _once(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _draw(rows: list[Row], path: str) -> bool:
    """Plot the ways, or report why that is impossible."""
    from ltlpipe.batch.table import COMPARISON_DTYPES, to_frame
    from ltlpipe.report.plots import save
    from ltlpipe.report.plots.scatter_plot import against_first

    try:
        frame = to_frame(rows, COMPARISON_DTYPES)
        frame["way"] = [str(row["way"]) for row in rows]
        save(against_first(frame, by=["way"], value=_SECONDS), path)
    except LtlpipeError as error:
        print(visible_lines(f"error: {error}"), file=sys.stderr)
        return False
    return True


def _table_of(rows: list[Row]) -> Table:
    """Return the printed table, one line per run."""
    from rich.table import Table
    from rich.text import Text

    several = len({row["automaton"] for row in rows}) > 1
    options = dict.fromkeys(name for row in rows for name in row["way"].settings)
    shown = _columns(rows) if several else _SHOWN
    table = Table()
    table.add_column("formula", overflow="ellipsis", no_wrap=True, max_width=40)
    table.add_column("algorithm", no_wrap=True)
    if several:
        table.add_column("automaton", no_wrap=True)
    for name in options:
        table.add_column(name, overflow="ellipsis", no_wrap=True, max_width=40)
    table.add_column("verdict", no_wrap=True)
    for title in (*shown.values(), _SECONDS):
        table.add_column(title, justify="right", no_wrap=True)
    previous = None
    for row in rows:
        asked = row["formula"] or "no accepting run"
        if previous not in (None, asked):
            table.add_section()
        cells = ["" if asked == previous else asked, row["emptiness"] or "-"]
        cells += [row["automaton"] or "-"] if several else []
        cells += [str(row["way"].settings.get(name, "-")) for name in options]
        cells.append(row["verdict"] + (f" ({row['reason']})" if row["reason"] else ""))
        cells += [_cell(row.get(column)) for column in shown]
        cells.append(_time(row.get(_SECONDS)))
        # A formula may look like markup, []a, or have what a terminal would obey.
        table.add_row(*map(Text, map(visible, cells)))
        previous = asked
    return table


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.3f}"


def _print_standings(found: list[Standing]) -> None:
    """Print what each way has decided, and what only one has."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    table.add_column("way", overflow="fold")
    titles = ("decided", "holds", "violated", "alone", _SECONDS, "PAR2")
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for each in found:
        counts = (f"{each.decided} of {each.asked}", each.holds, each.violated)
        cells = [str(each.way), *map(str, counts), str(len(each.alone))]
        cells += [_time(each.seconds), _time(each.par2)]
        table.add_row(*map(Text, cells))
    print(tables.drawn(table), end="")
    for each in found:
        for formula in each.alone:
            print(f"only {each.way} decides {formula or 'no accepting run'}")


def _columns(rows: list[Row]) -> dict[str, str]:
    """Return the columns of a printed comparison of several kinds of automata."""
    return {
        column: title
        for column, title in _SHOWN_OF_KINDS.items()
        if column not in _WHERE_KNOWN
        or any(row.get(column) is not None for row in rows)
    }


def _cell(value: float | None) -> str:
    """Return a formatted number; fractions are shares."""
    if value is None:
        return "-"
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"


def _summarise(
    n_rows: int, left: int, seconds: float, out: str | None, watcher: _Watcher
) -> None:
    """Print a summary."""
    unfinished = f", {left} more not run: interrupted" if left else ""
    written = "" if out is None else f" written to {out}"
    compiled = ""
    if watcher.n_compiled:
        checks = counted(watcher.n_compiled, "emptiness check")
        compiled = f", {watcher.compile_seconds:.1f} s of it compiling {checks}"
    print(f"{counted(n_rows, 'row')}{written} in {seconds:.1f} s{compiled}{unfinished}")
