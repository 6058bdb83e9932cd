"""Result tables made by hand, with what plots look at."""

from __future__ import annotations

from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import to_frame


def row(configuration, seconds, formula="G a", **columns):
    """Return a row; without seconds it is unknown."""
    return {
        "system": "ring-3.aut",
        "formula_id": formula,
        "formula": formula,
        "verdict": "unknown" if seconds is None else "holds",
        "reason": "timeout" if seconds is None else None,
        "configuration": configuration,
        "seconds": 60.0 if seconds is None else seconds,
    } | columns


def stored(rows):
    """Return rows as out of a store."""
    return to_frame(rows, RESULTS_DTYPES)
