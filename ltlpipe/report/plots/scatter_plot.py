"""Scatter plots: one configuration against another, a point per question.

Both axes are logarithmic.  A point below the diagonal cost less with the configuration
of the y-axis; questions without an answer lie beyond a dotted line, which is at the
time limit if there is one.

`acceptances` draws one kind of automaton against another.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Figs. 6, 8 and 9.  Its
points are coloured by the share of transitions with Fin marks in the product, in the
classes of the source.

Differences from the source: the colour is that of the product of the y-axis; where it
has no Fin, that of the x-axis; and where neither has, that of the generalised Rabin
automaton of the same question.  Where that is unknown, too, it is a fourth class.
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
from ltlpipe.runtime.arguments import FRAME, TEXT, TRUTH, Kind, expect, several
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

    def where(self, chosen: np.ndarray) -> Pairs:
        """Return some of the questions, those of bool[k] `chosen`."""
        return Pairs(self.x[chosen], self.y[chosen], self.kind[chosen])

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


FIN_SHARES = {
    "Fin below 10 %": ("tab:blue", "o"),
    "10 % to 90 %": ("black", "o"),
    "90 % and more": ("tab:red", "o"),
    "no Fin, or unknown": ("silver", "o"),
}
"""Classes of products, their colours and markers."""

N_PAIRS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "one pair": lambda n: n == 1,
    "two pairs": lambda n: n == 2,
    "more pairs": lambda n: n > 2,
}
"""The columns of the source's Figs. 8 and 9."""

_PANEL = Kind(
    "a pair of texts",
    lambda value: isinstance(value, tuple) and [*map(type, value)] == [str, str],
)


def acceptances(
    frame: pd.DataFrame,
    panels: Sequence[tuple[str, str]] | None = None,
    *,
    by_pairs: bool = False,
    value: str = "search_seconds",
) -> Figure:
    """Plot a comparison of acceptances, one panel for two of them.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.compare` returned for several acceptances, or several of those
        on top of each other.  Where several emptiness checks answered a question
        with the same acceptance, the fastest counts.
    panels : sequence of (str, str), optional
        The values of the column `automaton` of the x- and the y-axes; by default all
        others against TGBA (or the first, where there is none), and TFLA against TGRA.
    by_pairs : bool
        One column of panels each for questions with one pair, two, and more.
    value : str
        What is plotted: "search_seconds" as in the source, or "seconds".

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, or no two acceptances were asked the same question.
    """
    expect(FRAME, frame=frame)
    expect(TRUTH, by_pairs=by_pairs)
    chosen = _panels(frame) if panels is None else several(_PANEL, panels, "panels")
    compared = [(a, b, *shares(frame, a, b, value)) for a, b in chosen]
    if not any(len(found.x) for _, _, found, _ in compared):
        raise UnsupportedError(
            "nothing to plot: no question was asked with two kinds of automata"
        )
    drawn = []
    for a, b, found, n_pairs in compared:
        for text, has in N_PAIRS.items() if by_pairs else [("", None)]:
            some = found if has is None else found.where(has(n_pairs))
            title = f"{text} ({len(some.x)})" if text else f"{len(some.x)}"
            drawn.append(Panel(a, b, title, some))
    n_columns = len(N_PAIRS) if by_pairs else len(drawn)
    return panelled(drawn, FIN_SHARES, value, n_columns)


def shares(
    frame: pd.DataFrame, a: str, b: str, value: str = "search_seconds"
) -> tuple[Pairs, np.ndarray]:
    """Return the questions that two acceptances were asked, and their pairs.

    The kind of a question is a key of `FIN_SHARES`.  The second array, float64[k], has
    the numbers of generalised Rabin pairs; NaN where that is unknown.
    """
    import numpy as np

    labels = configured(frame, ["automaton"]).labels
    rows = met(frame, labels, a, b, value)
    order = (b, a, "TGRA")
    share = _known(frame, labels, order, "fin_share").reindex(rows.index).to_numpy()
    low, middle, high, unknown = FIN_SHARES
    kind = np.select(
        [np.isnan(share), share < 0.1, share < 0.9], [unknown, low, middle], high
    )
    n_pairs = _known(frame, labels, order, "pairs").reindex(rows.index).to_numpy()
    return Pairs(*costs_of(rows), kind.astype(object)), n_pairs


def _known(
    frame: pd.DataFrame, labels: np.ndarray, order: Sequence[str], column: str
) -> pd.Series:
    """Return the first value of a column, by question."""
    import pandas as pd

    found = pd.Series(dtype="float64")
    if column in frame:
        values = pd.to_numeric(frame[column]).to_numpy("float64", na_value=float("nan"))
        rows = pd.DataFrame({"question": questions(frame), "value": values})
        for name in order:
            of_name = rows[labels == name].groupby("question")["value"].first()
            found = of_name if found.empty else found.combine_first(of_name)
    return found


def _panels(frame: pd.DataFrame) -> list[tuple[str, str]]:
    kinds = list(frame["automaton"].dropna().unique())
    if not kinds:
        return []
    reference = "TGBA" if "TGBA" in kinds else kinds[0]
    panels = [(reference, kind) for kind in kinds if kind != reference]
    if {"TGRA", "TFLA"} <= {*kinds} - {reference}:
        panels.append(("TGRA", "TFLA"))
    return panels
