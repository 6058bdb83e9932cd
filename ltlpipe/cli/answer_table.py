"""The table and the report of ``check --out --report``: a row for each formula."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ltlpipe.cli.report import refuse_page, write_page
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict


class AnswerTable(ExitStack):
    """Takes verdicts, and writes rows as `solve` does; use it in a with statement.

    A report without a table is made of one that is deleted.
    """

    def __init__(
        self,
        out: str | None,
        report: str | None,
        system: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        from ltlpipe.batch.table_files import open_table
        from ltlpipe.batch.tasks import now

        super().__init__()
        self._out, self._report, self._now = out, report, now
        self._system, self._options = " ".join(system), options
        self._counts: Counter[str] = Counter()
        self._began, self._table, self._place = now(), None, out
        if report is not None:
            refuse_page(report)
        if report is not None and out is None:
            name = Path(system[0]).with_suffix(".csv").name
            folder = self.enter_context(TemporaryDirectory(prefix="ltlpipe-"))
            self._place = str(Path(folder, name))
        if self._place is not None:
            self._writing = self.enter_context(ExitStack())
            self._table = self._writing.enter_context(open_table(self._place))

    def add(self, verdict: Verdict, system: System | None) -> None:
        """Write the row of a verdict."""
        if self._table is None:
            return
        from ltlpipe.batch.answering import encodable
        from ltlpipe.batch.table import host_columns, option_columns, row_of
        from ltlpipe.systems.networks.lts import Network

        is_translated = verdict.formula is not None
        about: dict[str, Any] = {
            "system": self._system,
            "started_at": self._began,
            "finished_at": self._now(),
        }
        if isinstance(system, Network):
            about["n_components"] = len(system.components)
        self._began = about["finished_at"]
        options = option_columns(self._options, is_translated=is_translated)
        self._table.write(encodable(row_of(verdict) | host_columns() | options | about))
        self._counts[verdict.verdict] += 1

    def finish(self, *, quiet: bool) -> None:
        """Close the table, write the report, and say so in a line each."""
        if self._table is None or self._place is None:
            return
        self._writing.close()
        if not quiet:
            counts = [f"{k} {verdict}" for verdict, k in sorted(self._counts.items())]
            where = "" if self._out is None else f"; table written to {self._out}"
            n_formulas = counted(self._counts.total(), "formula")
            print(f"{n_formulas}: {', '.join(counts)}{where}")
        if self._report is not None:
            write_page(self._place, self._report, quiet=quiet)
