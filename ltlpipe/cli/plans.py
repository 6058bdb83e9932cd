"""``--explain``: plans and their reasons."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltlpipe.question.answer import Plan


class PlanPrinter:
    """Prints each plan of a run once, if ``--explain`` is given.

    Where standard output belongs to JSON, plans go to standard error.
    """

    def __init__(self, *, wanted: bool, as_json: bool) -> None:
        self._wanted = wanted
        self._stream = sys.stderr if as_json else sys.stdout
        self._shown: set[tuple[str, ...]] = set()

    def show(self, plan: Plan) -> None:
        """Print a plan that has not been printed yet."""
        outcomes = (f"{t.strategy} {t.outcome} {t.reason}" for t in plan.tried)
        key = (*plan.reasons, *outcomes)  # without the seconds
        if not self._wanted or key in self._shown:
            return
        self._shown.add(key)
        for title, lines in (
            ("plan", plan.reasons),
            ("components", plan.merges),
            ("strategies", sorted(plan.tried, key=lambda t: t.outcome == "not tried")),
        ):
            if lines:
                print(f"{title}:", file=self._stream)
            for line in lines:
                print(f"  {line}", file=self._stream)
