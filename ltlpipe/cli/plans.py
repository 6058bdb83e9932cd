"""``--explain``: plans and their reasons, for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltlpipe.question.answer import Plan


class PlanPrinter:
    """Prints each plan of a run once.

    Parameters
    ----------
    wanted : bool
        Whether anything is printed at all.
    as_json : bool
        Whether standard output belongs to JSON; then standard error is used.
    """

    def __init__(self, *, wanted: bool, as_json: bool) -> None:
        self._wanted = wanted
        self._stream = sys.stderr if as_json else sys.stdout
        self._shown: set[tuple[str, ...]] = set()

    def show(self, plan: Plan) -> None:
        """Print a plan that has not been printed yet."""
        if not self._wanted or plan.reasons in self._shown:
            return
        self._shown.add(plan.reasons)
        print("plan:", file=self._stream)
        for reason in plan.reasons:
            print(f"  {reason}", file=self._stream)
        if plan.merges:
            print("components:", file=self._stream)
        for line in plan.merges:
            print(f"  {line}", file=self._stream)
