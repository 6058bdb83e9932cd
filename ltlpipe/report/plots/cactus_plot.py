"""Cactus plots: how many tasks each configuration solves within how much time.

A curve rises by one at the seconds of each solved task and ends at their number.  Tasks
count for themselves, no sum of seconds is formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import answers, configured, cost_column
from ltlpipe.runtime.arguments import TEXT, expect
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def cactus(
    frame: pd.DataFrame,
    *,
    by: Sequence[str] | None = None,
    value: str | None = None,
    title: str | None = None,
) -> Figure:
    """Plot solved tasks over time, a curve per configuration.

    Parameters
    ----------
    frame : DataFrame
        A result table, with columns `verdict` and `value`.
    by : sequence of str, optional
        The columns that name configurations; by default those that differ.
    value : str, optional
        What tasks have cost: "seconds", "cpu_seconds", "states", ...; by default
        "search_seconds" where configurations differ in the search only and all answers
        have it, else "seconds".
    title : str, optional
        Instead of "Solved tasks".

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, a column is missing, or no task was solved.
    """
    expect(TEXT.or_none, title=title, value=value)
    found = configured(frame, by)
    value = value or cost_column(frame, by)
    costs = costs_of_solved(frame, by=by, value=value)
    if not any(map(len, costs.values())):
        raise UnsupportedError("nothing to plot: no task was solved")
    with figures.canvas(7.0, 4.2) as (figure, axes):
        _draw(axes, costs, found.names)
        axes.set(
            xlabel=f"{figures.unit(value)} for each task",
            ylabel="tasks solved",
            title=title or f"Solved tasks ({len(frame)} in all)",
        )
        if found.columns:
            figures.legend(figure, axes.lines, title=found.title)
    return figure


def costs_of_solved(
    frame: pd.DataFrame, *, by: Sequence[str] | None = None, value: str = "seconds"
) -> dict[str, np.ndarray]:
    """Return what solved tasks have cost, float64[k] in ascending order, by name.

    The parameters are those of `cactus`; configurations come in order of the number
    of tasks that they have solved, the most first.
    """
    import numpy as np

    found = configured(frame, by)
    cost = answers(frame, value)
    names = found.names or ["all tasks"]
    of_name = {name: cost[found.labels == name] for name in names}
    solved = {n: np.sort(costs[~np.isnan(costs)]) for n, costs in of_name.items()}
    order = sorted(solved, key=lambda name: -len(solved[name]))
    return {name: solved[name] for name in order}


def _draw(axes: Axes, costs: dict[str, np.ndarray], names: list[str]) -> None:
    """Draw a staircase per configuration, each up to the right border.

    Their looks follow the order of the table, not the ranking: they agree with other
    plots.  Dashes and markers of identical ones take turns.
    """
    import numpy as np

    last = max(c[-1] for c in costs.values() if len(c))
    first = min(c[0] for c in costs.values() if len(c))
    low, high = figures.logarithmic(axes, "x", first / 2, last * 2)
    order = [*costs]
    same = figures.twins([*costs.values()])
    for (name, cost), twin in zip(costs.items(), same, strict=True):
        look = figures.line(names.index(name) if names else 0)
        axes.plot(
            np.concatenate([[low], cost, [high]]),
            np.concatenate([np.arange(len(cost) + 1), [len(cost)]]),
            drawstyle="steps-post",
            label=f"{figures.plain(name)} ({len(cost)}){twin.note(order)}",
            **twin.drawn(look, _spaced(cost, first, last)),
        )
    axes.set_ylim(bottom=0)
    figures.whole(axes.yaxis)


def _spaced(cost: np.ndarray, first: float, last: float) -> list[int]:
    """Return which points get a marker: some, evenly along the axis, and the last."""
    import numpy as np

    if not len(cost):
        return [1]
    places = np.geomspace(first, last, 8)
    return sorted({*np.searchsorted(cost, places).clip(1, len(cost)).tolist()})
