"""Scatter plots: one configuration against another, a point per question.

Both axes are logarithmic.  A point below the diagonal cost less with the configuration
of the y-axis; what one of the two did not answer lies beyond its dotted line, which is
at the limit of time where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import answers, configured, questions
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIFFER, UNANSWERED = "verdicts differ", "not answered"

KINDS = {
    HOLDS: (figures.BLUE, "o"),
    VIOLATED: (figures.VERMILION, "^"),
    UNANSWERED: (figures.GREY, "s"),
    DIFFER: (figures.BLACK, "X"),
}
"""The kinds of points, their colours and markers; later ones are drawn above."""

_MANY = 3000  # points that are drawn as one picture, not one by one


class Pairs(NamedTuple):
    """The questions that two configurations were both asked, k of them."""

    x: np.ndarray  # float64[k], what it has cost the first one; NaN: not answered
    y: np.ndarray  # float64[k], the second one
    kind: np.ndarray  # object[k], a key of `KINDS`

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


def scatter(
    frame: pd.DataFrame,
    a: str | None = None,
    b: str | None = None,
    *,
    by: Sequence[str] | None = None,
    value: str = "seconds",
    title: str | None = None,
) -> Figure:
    """Plot what two configurations have cost, a point per question.

    Parameters
    ----------
    frame : DataFrame
        A result table, with columns `verdict`, `value`, and those of a question.
    a, b : str, optional
        The configurations of the x- and the y-axis, as the plot names them; they can
        be left out where there are two.  Where one of them has several rows for a
        question, the one that cost least counts.
    by : sequence of str, optional
        The columns that name configurations; by default those that differ.
    value : str
        What tasks have cost: "seconds", "cpu_seconds", "states", ...
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
    labels, names, _ = configured(frame, by)
    a, b = _chosen(names, a, b)
    found = pairs(frame, a, b, by=by, value=value)
    if not len(found.x):
        raise UnsupportedError(
            f"nothing to plot: no question was asked with both {a!r} and {b!r}"
        )
    limit = _limit(frame[(labels == a) | (labels == b)], found, value)
    with figures.look() as figure_class:
        figure = figure_class(figsize=(5.6, 5.9), layout="constrained")
        axes = figure.subplots()
        _draw(axes, found, limit)
        axes.set(
            xlabel=f"{figures.plain(a)}, {figures.unit(value)}",
            ylabel=f"{figures.plain(b)}, {figures.unit(value)}",
            title=_summary(found, value),
        )
        figure.suptitle(title or f"Questions asked with both ({len(found.x)})")
        points = axes.collections
        figure.legend(
            points,
            [str(drawn.get_label()) for drawn in points],
            loc="outside lower center",
            ncols=len(KINDS),
        )
    return figure


def _chosen(names: list[str], a: str | None, b: str | None) -> tuple[str, str]:
    """Return the two configurations that are asked for."""
    listed = ", ".join(map(repr, names))
    for name in (a, b):
        if name is not None and name not in names:
            known = f"expected one of {listed}" if names else "all rows are of one"
            raise UnsupportedError(f"{name!r} is no configuration: {known}")
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
    import pandas as pd

    rows = pd.DataFrame(
        {
            "question": questions(frame),
            "cost": answers(frame, value),
            "holds": frame["verdict"].eq(HOLDS).fillna(False).to_numpy(dtype=bool),
            "violated": frame["verdict"]
            .eq(VIOLATED)
            .fillna(False)
            .to_numpy(dtype=bool),
        }
    )
    labels = configured(frame, by).labels
    how = {"cost": "min", "holds": "any", "violated": "any"}
    x, y = (rows[labels == name].groupby("question").agg(how) for name in (a, b))
    met = x.add_suffix("_x").join(y.add_suffix("_y"), how="inner")
    holds = (met["holds_x"] | met["holds_y"]).to_numpy(dtype=bool)
    violated = (met["violated_x"] | met["violated_y"]).to_numpy(dtype=bool)
    kind = np.select(
        [holds & violated, holds, violated], [DIFFER, HOLDS, VIOLATED], UNANSWERED
    )
    return Pairs(
        met["cost_x"].to_numpy(dtype=np.float64),
        met["cost_y"].to_numpy(dtype=np.float64),
        kind.astype(object),
    )


def _limit(rows: pd.DataFrame, found: Pairs, value: str) -> float:
    """Return where the dotted lines are: at the limit of time, above all answers."""
    import numpy as np

    known = np.concatenate([found.x, found.y])
    most = float(np.nanmax(known, initial=0.0)) or 1.0
    if value in ("seconds", "wall_seconds") and "timeout" in rows:
        limits = rows["timeout"].dropna()
        if len(limits):
            return max(float(limits.max()), most)
    return most * 1.5


def _draw(axes: Axes, found: Pairs, limit: float) -> None:
    import numpy as np

    known = np.concatenate([found.x, found.y])
    low = float(np.nanmin(known, initial=limit)) / 1.5
    border = figures.square_log(axes, low, limit)
    for kind, (colour, marker) in KINDS.items():
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
