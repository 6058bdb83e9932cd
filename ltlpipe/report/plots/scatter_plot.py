"""Scatter plots: one configuration against another, a point per question.

Both axes are logarithmic.  A point below the diagonal cost less with the configuration
of the y-axis; questions without an answer lie beyond a dotted line, which is at the
time limit if there is one.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.report import palette
from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import (
    answers,
    configured,
    cost_column,
    named,
    questions,
)
from ltlpipe.runtime.arguments import TEXT, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIFFER, UNANSWERED = "verdicts differ", "not answered"


class Pairs(NamedTuple):
    """The questions that two configurations were both asked, k of them."""

    x: np.ndarray  # float64[k], the cost for the first one; NaN: not answered
    y: np.ndarray  # float64[k], the second one
    kind: np.ndarray  # object[k], the kind of point

    @property
    def both(self) -> np.ndarray:
        """Which were answered by both, bool[k]."""
        import numpy as np

        both: np.ndarray = np.isfinite(self.x) & np.isfinite(self.y)
        return both

    @property
    def ratio(self) -> float | None:
        """The geometric mean of y / x where both have answered; None: nowhere."""
        import numpy as np

        both = self.both
        if not both.any():
            return None
        return float(np.exp(np.log(self.y[both] / self.x[both]).mean()))

    @property
    def most(self) -> float:
        """The highest cost of an answer; 1 if there is none."""
        import numpy as np

        return float(np.fmax.reduce([*self.x, *self.y], initial=0.0)) or 1.0

    def least(self, limit: float) -> float:
        """Return the start of the axes: below all answers, and below the limit."""
        import numpy as np

        return float(np.fmin.reduce([*self.x, *self.y], initial=limit)) / 1.5


def pairs(
    frame: pd.DataFrame,
    a: str,
    b: str,
    *,
    by: Sequence[str] | None = None,
    value: str = "seconds",
) -> Pairs:
    """Return the questions that two configurations were both asked, in order.

    The parameters are those of `scatter`.
    """
    import numpy as np

    rows = met(frame, configured(frame, by).labels, a, b, value)
    holds = (rows["holds_x"] | rows["holds_y"]).to_numpy(dtype=bool)
    violated = (rows["violated_x"] | rows["violated_y"]).to_numpy(dtype=bool)
    kind = np.select(
        [holds & violated, holds, violated], [DIFFER, HOLDS, VIOLATED], UNANSWERED
    )
    return Pairs(*costs_of(rows), kind.astype(object))


def met(
    frame: pd.DataFrame, labels: np.ndarray, a: str, b: str, value: str
) -> pd.DataFrame:
    """Return verdicts and costs of both configurations, a row per question."""
    import pandas as pd

    said = frame["verdict"]
    rows = pd.DataFrame(
        {
            "question": questions(frame),
            "cost": answers(frame, value),
            **{v: said.eq(v).fillna(False).to_numpy(bool) for v in (HOLDS, VIOLATED)},
        }
    )
    how = {"cost": "min", HOLDS: "any", VIOLATED: "any"}
    x, y = (rows[labels == name].groupby("question").agg(how) for name in (a, b))
    both: pd.DataFrame = x.add_suffix("_x").join(y.add_suffix("_y"), how="inner")
    return both


def costs_of(met: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs for both, float64[k] each; NaN: not answered."""
    return met["cost_x"].to_numpy("float64"), met["cost_y"].to_numpy("float64")


KINDS = {
    HOLDS: (palette.ON_WHITE[HOLDS], "o"),
    VIOLATED: (palette.ON_WHITE[VIOLATED], "^"),
    UNANSWERED: (palette.ON_WHITE[UNKNOWN], "s"),
    DIFFER: (figures.BLACK, "X"),
}
"""The kinds of points, their colours and markers; later ones are drawn above."""

_WIDTH = 44  # characters of a line at an axis

_MANY = 3000  # points that are drawn as one picture, not one by one


def scatter(
    frame: pd.DataFrame,
    a: str | None = None,
    b: str | None = None,
    *,
    by: Sequence[str] | None = None,
    value: str | None = None,
    title: str | None = None,
) -> Figure:
    """Plot what two configurations have cost, a point per question.

    Parameters
    ----------
    frame : DataFrame
        A result table, with columns `verdict`, `value`, and those of a question.
    a, b : str, optional
        The configurations of the x- and the y-axis, as the plot names them or as they
        were asked for (``emptiness=se05``); they can be left out where there are two.
        Where one of them has several rows for a question, the one that cost least
        counts.
    by, value
        As for `cactus`.
    title : str, optional
        Instead of the number of questions.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, a column is missing, there is no such
        configuration, or no question was asked with both.
    """
    expect(TEXT.or_none, title=title, a=a, b=b, value=value)
    known = configured(frame, by)
    labels, names = known.labels, known.names
    value = value or cost_column(frame, by)
    typed = (None if name is None else named(known, name) for name in (a, b))
    a, b = _chosen(names, *typed)
    found = pairs(frame, a, b, by=by, value=value)
    if not len(found.x):
        raise UnsupportedError(
            f"nothing to plot: no question was asked with both {a!r} and {b!r}"
        )
    limit = _limit(frame[(labels == a) | (labels == b)], found, value)
    with figures.canvas(5.6, 5.9) as (figure, axes):
        draw_points(axes, found, found.least(limit), limit, KINDS)
        _name(axes, a, b, _summary(found, value), value)
        figure.suptitle(title or f"Questions asked with both ({len(found.x)})")
        figures.legend(figure, axes.collections, n_columns=len(KINDS))
    return figure


def against_first(frame: pd.DataFrame, *, by: Sequence[str], value: str) -> Figure:
    """Plot each configuration against the first, a panel for each.

    The parameters and errors are those of `scatter`; all panels have the same axes.
    """
    names = configured(frame, by).names
    if not names:
        raise UnsupportedError("nothing to plot: all rows are of one configuration")
    first, *others = names
    compared = [
        (name, pairs(frame, first, name, by=by, value=value)) for name in others
    ]
    compared = [(name, found) for name, found in compared if len(found.x)]
    if not compared:
        raise UnsupportedError(
            f"nothing to plot: no question was asked as {first!r} was"
        )
    drawn = [Panel(first, name, _summary(f, value), f) for name, f in compared]
    return panelled(drawn, KINDS, value, min(len(drawn), 3))


class Panel(NamedTuple):
    """One of several plots in a figure."""

    x: str  # the names of both sides
    y: str
    title: str
    found: Pairs


def panelled(
    panels: Sequence[Panel],
    kinds: Mapping[str, tuple[str, str]],
    value: str,
    n_columns: int,
) -> Figure:
    """Draw panels with the same axes; `kinds` are those of `draw_points`, in order."""
    limit = max(panel.found.most for panel in panels) * 1.5
    low = min(panel.found.least(limit) for panel in panels)
    n_rows = -(-len(panels) // n_columns)
    with figures.look() as figure_class:
        size = (4.6 * n_columns, 5.2 * n_rows)
        figure = figure_class(figsize=size, layout="constrained")
        grid = [*figure.subplots(n_rows, n_columns, squeeze=False).flat]
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, panels, strict=False):
            draw_points(axes, panel.found, low, limit, kinds)
            _name(axes, panel.x, panel.y, panel.title, value)
            for points in axes.collections:
                handles[str(points.get_label()).rpartition(" (")[0]] = points
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        known = [kind for kind in kinds if kind in handles]
        shown = [handles[kind] for kind in known]
        figure.legend(shown, known, loc="outside lower center", ncols=len(kinds))
        figure.suptitle("Questions asked with both; not answered: at the border")
    return figure


def _name(axes: Axes, x: str, y: str, title: str, value: str) -> None:
    """Name both sides of a plot."""
    wrapped = ("\n".join(wrap(figures.plain(name), _WIDTH)) for name in (x, y))
    x, y = (f"{name}, {figures.unit(value)}" for name in wrapped)
    axes.set(xlabel=x, ylabel=y, title=title)


def _chosen(names: list[str], a: str | None, b: str | None) -> tuple[str, str]:
    """Return the two requested configurations."""
    listed = ", ".join(map(repr, names))
    for name in (a, b):
        if name is not None and name not in names:
            known = f"expected one of {listed}" if names else "all rows are of one"
            raise UnsupportedError(f"{name!r} is not a configuration: {known}")
    if a is not None and b is not None:
        return a, b
    others = [name for name in names if name not in (a, b)]
    missing = (a is None) + (b is None)
    if len(others) != missing:
        raise UnsupportedError(
            f"name two configurations to compare: there are {len(names)} ({listed})"
            if names
            else "nothing to plot: all rows are of one configuration"
        )
    first = others.pop(0) if a is None else a
    return first, others.pop(0) if b is None else b


def _limit(rows: pd.DataFrame, found: Pairs, value: str) -> float:
    """Return the position of the dotted lines: at the time limit, above all answers."""
    most = found.most
    if value in ("seconds", "wall_seconds") and "timeout" in rows:
        limits = rows["timeout"].dropna()
        if len(limits):
            return max(float(limits.max()), most)
    return most * 1.5


def draw_points(
    axes: Axes,
    found: Pairs,
    low: float,
    limit: float,
    kinds: Mapping[str, tuple[str, str]],
) -> None:
    """Draw points on logarithmic axes from `low` on, with dotted lines at a limit.

    `kinds` are the colours and markers of the kinds of points.
    """
    import numpy as np

    border = figures.square_log(axes, low, limit)
    for kind, (colour, marker) in kinds.items():
        some = found.kind == kind
        if not some.any():
            continue
        x, y = (np.nan_to_num(c[some], nan=border) for c in (found.x, found.y))
        axes.scatter(
            x,
            y,
            s=18,
            alpha=0.6,
            color=colour,
            marker=marker,
            linewidths=0,
            label=f"{kind} ({int(some.sum())})",
            rasterized=len(found.x) > _MANY,
            zorder=2.5,
        )


def _summary(found: Pairs, value: str) -> str:
    """Return the ratio, and how many questions only one of the two has answered."""
    import numpy as np

    n_x, n_y = (int((~np.isnan(c)).sum()) for c in (found.x, found.y))
    n_both = int(found.both.sum())
    counts = f"answered by both: {n_both}; x only: {n_x - n_both}; y only: "
    counts += str(n_y - n_both)
    if found.ratio is None:
        return counts
    return f"{figures.unit(value)} y / x, geometric mean: {found.ratio:.3g}\n{counts}"
