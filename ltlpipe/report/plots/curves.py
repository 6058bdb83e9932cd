"""Curves and bars: tasks solved over time (cactus), cost over size, and verdicts.

The curve of a cactus plot rises by one at the seconds of each solved task and ends at
their number.  Tasks count for themselves, no sum of seconds is formed.

Growth: systems whose names differ in the size only are a family.  A curve is one family
under one configuration; its points are medians over all tasks of a size, in which a
task without an answer counts as more expensive than any other.  So a size has no point
if half of its tasks or more have no answer.

Verdicts: numbers of tasks, a bar per configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.report import palette
from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import (
    answers,
    configured,
    cost_column,
    require,
)
from ltlpipe.runtime.arguments import TEXT, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

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


LAST_NUMBER = re.compile(r"(?<!\d)([1-9]\d*)[^\d/\\]*$")
"""What is taken for the size: the last number of a file's name, without its folder.

Numbers with zeros in front, as in ``net_007.dot``, are names.
"""

NUMBERED = re.compile(
    r"(#|(?<![a-z])(problem|instance|task|case|example|test|seed|sample|number|nr|no)s?)"
    r"[\s._-]*$",
    re.IGNORECASE,
)
"""The word before a number that enumerates, and is not a size."""


class Curve(NamedTuple):
    """One family under one configuration, n sizes of it."""

    family: str  # the name of its systems, with N for the size
    configuration: str
    sizes: np.ndarray  # float64[n], ascending
    costs: np.ndarray  # float64[n], medians; NaN: half or more without an answer


def growth(
    frame: pd.DataFrame,
    *,
    by: Sequence[str] | None = None,
    value: str = "states",
    size: str | None = None,
    title: str | None = None,
) -> Figure:
    """Plot the cost of tasks over the size of their systems.

    Parameters
    ----------
    frame : DataFrame
        A result table, with columns `system`, `verdict` and `value`.
    by : sequence of str, optional
        The columns that name configurations; by default those that differ.
    value : str
        The cost of a task: "states", "seconds", ...
    size : str, optional
        A regular expression that finds the size in the name of a system, as its first
        group if it has one; by default `LAST_NUMBER`, unless it is the number of a
        problem (``problem101.dot``, ``list#3``).
    title : str, optional
        Instead of what is plotted.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, a column is missing, `size` is no regular
        expression or finds no number, or nothing was answered.
    """
    import numpy as np

    expect(TEXT.or_none, title=title, size=size)
    found = configured(frame, by)
    drawn = curves(frame, by=by, value=value, size=size)
    if all(np.isnan(curve.costs).all() for curve in drawn):
        raise UnsupportedError(
            "nothing to plot: no size has answers for more than half of its tasks"
        )
    n_left_out = int(_sizes(frame, size)[0].isna().sum())
    with figures.canvas(7.0, 4.2) as (figure, axes):
        _draw_growth(axes, drawn, found.names)
        about = f"Median of {figures.unit(value)} per size"
        if n_left_out:
            about += f" ({n_left_out} tasks without a size left out)"
        axes.set(xlabel="size", ylabel=figures.unit(value), title=title or about)
        if len(drawn) > 1:
            several = len({curve.family for curve in drawn}) > 1
            names = filter(None, ["systems" if several else "", found.title])
            figures.legend(figure, axes.lines, title=", ".join(names))
        elif drawn:
            axes.set_xlabel(f"size N of {figures.plain(drawn[0].family)}")
    return figure


def curves(
    frame: pd.DataFrame,
    *,
    by: Sequence[str] | None = None,
    value: str = "states",
    size: str | None = None,
) -> list[Curve]:
    """Return the curves in order of the appearance of families and configurations.

    The parameters are those of `growth`.
    """
    import numpy as np
    import pandas as pd

    sizes, families = _sizes(frame, size)
    if not sizes.notna().any():
        raise UnsupportedError(
            "nothing to plot: no system has a size in its name (numbers of problems "
            "are none); --size=REGEX finds it"
        )
    rows = pd.DataFrame(
        {
            "family": families.to_numpy(dtype=object),
            "configuration": configured(frame, by).labels,
            "size": sizes.to_numpy(dtype=np.float64, na_value=np.nan),
            "cost": np.nan_to_num(answers(frame, value), nan=np.inf),
        }
    ).dropna(subset="size")
    found = []
    for (family, name), some in rows.groupby(["family", "configuration"], sort=False):
        # The higher of two in the middle: infinite if half have no answer.
        medians = some.groupby("size")["cost"].quantile(0.5, interpolation="higher")
        costs = medians.replace(np.inf, np.nan).to_numpy(np.float64)
        sizes_known = medians.index.to_numpy(np.float64)
        found.append(Curve(str(family), str(name), sizes_known, costs))
    return found


def _sizes(frame: pd.DataFrame, size: str | None) -> tuple[pd.Series, pd.Series]:
    """Return the size of each row's system, Float64[n], and its family, object[n]."""
    import pandas as pd

    require(frame, ["system"])
    try:
        pattern = None if size is None else re.compile(size)
    except re.error as error:
        raise UnsupportedError(
            f"--size={size!r}: no regular expression: {error}"
        ) from None
    found = [
        sized(name) if pattern is None else _split(name, pattern)
        for name in frame["system"].astype("string").fillna("")
    ]
    sizes = pd.array([size for size, _ in found], dtype="Float64")
    return pd.Series(sizes), pd.Series([family for _, family in found], dtype=object)


def sized(name: str) -> tuple[float | None, str]:
    """Return the size that is in a name by default, and the name of its family.

    Examples
    --------
    >>> sized("rings/ring-12.aut"), sized("problem101.dot")
    ((12.0, 'rings/ring-N.aut'), (None, 'problem101.dot'))
    """
    match = LAST_NUMBER.search(name)
    if match is None or NUMBERED.search(name[: match.start(1)]):
        return None, name
    return _split(name, LAST_NUMBER)


def _split(name: str, pattern: re.Pattern[str]) -> tuple[float | None, str]:
    """Return the size that a name has, and the name with N in its place."""
    match = pattern.search(name)
    if match is None:
        return None, name
    group = 1 if pattern.groups else 0
    text = match.group(group)
    try:
        number = float(text)
    except (TypeError, ValueError):
        raise UnsupportedError(
            f"--size={pattern.pattern!r}: expected a number in {name!r}, found {text!r}"
        ) from None
    start, end = match.span(group)
    return number, f"{name[:start]}N{name[end:]}"


def _draw_growth(axes: Axes, drawn: Sequence[Curve], names: list[str]) -> None:
    """Draw the curves; those of a single family look as in other plots.

    Dashes and markers of identical ones take turns.
    """
    import numpy as np

    several = len({curve.family for curve in drawn}) > 1
    configurations = len({curve.configuration for curve in drawn}) > 1
    labels = [
        ", ".join([c.family] * several + [c.configuration] * configurations)
        for c in drawn
    ]
    same = figures.twins([np.stack([c.sizes, c.costs]) for c in drawn])
    for number, (curve, twin) in enumerate(zip(drawn, same, strict=True)):
        label = figures.plain(labels[number]) + twin.note(labels)
        if configurations and not several:
            number = names.index(curve.configuration)
        look = twin.drawn(figures.line(number), range(len(curve.sizes)))
        axes.plot(curve.sizes, curve.costs, label=label, **look)
    axes.set_yscale("log")
    figures.logarithmic(axes, "y", *axes.get_ylim())
    if all((curve.sizes % 1 == 0).all() for curve in drawn):
        figures.whole(axes.xaxis)


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
        _draw_bars(axes, table)
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
    reasons = frame.reindex(columns=["reason"])["reason"].astype("string")
    said = UNKNOWN + ": " + reasons.fillna("no reason")
    outcome = outcome.where(outcome.isin([*_ANSWERS]), said)
    rows = pd.crosstab(found.labels, outcome.to_numpy(dtype=object))
    order = [name for name in _ANSWERS if name in rows]
    order += sorted(name for name in rows.columns if name not in _ANSWERS)
    return rows.loc[found.names or rows.index, order]


def _draw_bars(axes: Axes, table: pd.DataFrame) -> None:
    """Draw stacked bars from left to right, the first configuration on top."""
    places = range(len(table))
    done = [0] * len(table)
    widest = int(table.sum(axis=1).max())
    unknown = 0
    for outcome in table.columns:
        widths = table[outcome].tolist()
        dark = outcome in _ANSWERS
        colour, hatch = _ANSWERS.get(outcome, _GREYS[unknown % len(_GREYS)]), ""
        if not dark:
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
