"""Bars of verdicts: numbers of tasks, a bar per configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.report import palette
from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import configured, require
from ltlpipe.runtime.arguments import TEXT, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ANSWERS = {verdict: palette.ON_WHITE[verdict] for verdict in (HOLDS, VIOLATED)}
_GREYS = (palette.ON_WHITE[UNKNOWN], "#8C8C8C", "#B2B2B2", "#D9D9D9")
_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")


def verdicts(
    frame: pd.DataFrame,
    *,
    by: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Plot how many tasks hold, are violated, or unknown for which reason.

    Parameters
    ----------
    frame : DataFrame
        A result table, with the column `verdict`, and `reason` if it is known.
    by : sequence of str, optional
        The columns that name configurations; by default those that differ.
    title : str, optional
        Instead of "Verdicts".

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, a column is missing, or there are no rows.
    """
    expect(TEXT.or_none, title=title)
    table = counts(frame, by=by)
    if table.empty:
        raise UnsupportedError("nothing to plot: the table has no rows")
    names = configured(frame, by)
    with figures.canvas(7.0, 1.6 + 0.32 * len(table)) as (figure, axes):
        _draw(axes, table)
        axes.set(xlabel="tasks", title=title or f"Verdicts ({len(frame)} tasks)")
        if names.columns:
            axes.set_ylabel(figures.plain(names.title))
        figures.legend(figure, axes.containers, n_columns=4)
    return figure


def counts(frame: pd.DataFrame, *, by: Sequence[str] | None = None) -> pd.DataFrame:
    """Return how many tasks of each configuration have come to what.

    A row per configuration, in order of appearance; columns ``holds``, ``violated`` and
    ``unknown: REASON``, those that occur.
    """
    import pandas as pd

    require(frame, ["verdict"])
    found = configured(frame, by)
    outcome = frame["verdict"].astype("string").fillna(UNKNOWN)
    if "reason" in frame:
        reasons = frame["reason"].astype("string").fillna("no reason")
    else:
        reasons = pd.Series("no reason", index=frame.index)
    answered = outcome.isin([*_ANSWERS])
    outcome = outcome.where(answered, UNKNOWN + ": " + reasons)
    rows = pd.crosstab(found.labels, outcome.to_numpy(dtype=object))
    order = [name for name in _ANSWERS if name in rows]
    order += sorted(name for name in rows.columns if name not in _ANSWERS)
    return rows.loc[found.names or rows.index, order]


def _draw(axes: Axes, table: pd.DataFrame) -> None:
    """Draw stacked bars from left to right, the first configuration on top."""
    places = range(len(table))
    done = [0] * len(table)
    widest = int(table.sum(axis=1).max())
    unknown = 0
    for outcome in table.columns:
        widths = table[outcome].tolist()
        dark = outcome in _ANSWERS
        if dark:
            colour, hatch = _ANSWERS[outcome], ""
        else:
            colour = _GREYS[unknown % len(_GREYS)]
            hatch = _HATCHES[unknown % len(_HATCHES)]
            unknown += 1
        bars = axes.barh(
            places,
            widths,
            left=done,
            height=0.7,
            color=colour,
            hatch=hatch,
            edgecolor="white" if dark else "#444444",
            linewidth=0.5,
            label=figures.plain(str(outcome)),
        )
        # Narrow bars have no room for the number.
        axes.bar_label(
            bars,
            [str(width) if width >= 0.04 * widest else "" for width in widths],
            label_type="center",
            color="white" if dark else "black",
            bbox=None if dark else {"fc": "white", "ec": "none", "pad": 1.0},
        )
        done = [left + width for left, width in zip(done, widths, strict=True)]
    axes.set_yticks(places, [figures.plain(str(name)) for name in table.index])
    axes.invert_yaxis()
    figures.whole(axes.xaxis)
    axes.grid(visible=False, axis="y")
