"""Scatter plots of a comparison: one acceptance against another.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Figs. 6, 8 and 9.

Both axes are seconds and logarithmic; a point below the diagonal was faster with the
acceptance of the y-axis.  Points are coloured by the share of transitions with Fin
marks in the product, in the classes of the source: below 10 %, from 10 % to 90 %, more.
What was not answered lies on the border, beyond the dotted lines.

Differences from the source: the colour is that of the product of the y-axis; where it
has no Fin, that of the x-axis; and where neither has, that of the generalised Rabin
automaton of the same question.  Where that is unknown, too, it is a fourth class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.table import from_frame
from ltlpipe.report.plots.figures import FEWEST, look, plottable, save, square_log
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.files import StrPath

CLASSES = {
    "Fin below 10 %": "tab:blue",
    "10 % to 90 %": "black",
    "90 % and more": "tab:red",
    "no Fin, or unknown": "silver",
}
"""Classes of products and their colours."""

N_PAIRS: dict[str, Callable[[int], bool]] = {
    "one pair": lambda n: n == 1,
    "two pairs": lambda n: n == 2,
    "more pairs": lambda n: n > 2,
}
"""The columns of the source's Figs. 8 and 9."""


class Panel(NamedTuple):
    """One plot: the acceptances of its axes, as in the column `automaton`."""

    x: str
    y: str


class Point(NamedTuple):
    """A question that both acceptances of a panel were asked; None: no answer."""

    x: float | None
    y: float | None
    fin_share: float | None
    pairs: int | None

    @property
    def colour(self) -> str:
        """The class, a key of `CLASSES`."""
        low, middle, high, unknown = CLASSES
        if self.fin_share is None:
            return unknown
        if self.fin_share < 0.1:
            return low
        return middle if self.fin_share < 0.9 else high


def draw_scatter(
    frame: pd.DataFrame,
    path: StrPath,
    *,
    panels: Sequence[tuple[str, str]] | None = None,
    by_pairs: bool = False,
    column: str = "search_seconds",
) -> None:
    """Plot a comparison, one panel for two acceptances.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.compare` returned for several acceptances, or several of those
        on top of each other.  Where several emptiness checks answered a question
        with the same acceptance, the fastest counts.
    path : path
        The file, ``.svg``, ``.pdf`` or ``.png``.
    panels : sequence of (str, str), optional
        The values of the column `automaton` of the x- and the y-axes; by default all
        others against TGBA (or the first, where there is none), and TFLA against TGRA.
    by_pairs : bool
        One column of panels each for questions with one pair, two, and more.
    column : str
        What is plotted: "search_seconds" as in the source, or "seconds".

    Raises
    ------
    UnsupportedError
        The suffix is none of `SUFFIXES`, matplotlib is not installed, or no two
        acceptances were asked the same question.
    LtlpipeError
        The file cannot be written.
    """
    plottable(path)
    rows = from_frame(frame)
    kinds = list(dict.fromkeys(row["automaton"] for row in rows if row["automaton"]))
    chosen = _panels(kinds) if panels is None else [Panel(*panel) for panel in panels]
    drawn = {panel: points(rows, panel, column) for panel in chosen}
    if not any(drawn.values()):
        raise UnsupportedError(
            "nothing to plot: no question was asked with two kinds of automata"
        )
    with look() as figure_class:
        figure = figure_class()
        _draw_panels(figure, drawn, by_pairs, column)
    save(figure, path)


def points(
    rows: Sequence[Row], panel: Panel, column: str = "search_seconds"
) -> list[Point]:
    """Return the points of a panel, one for each question that both were asked."""
    questions: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in rows:
        key = tuple(row.get(c) for c in ("system", "formula_id", "formula", "seed"))
        questions.setdefault(key, {}).setdefault(row["automaton"], []).append(row)
    found = []
    for kinds in questions.values():
        if panel.x not in kinds or panel.y not in kinds:
            continue
        order = (panel.y, panel.x, "TGRA")
        x, y = (_seconds(kinds[kind], column) for kind in panel)
        found.append(
            Point(x, y, _known(kinds, order, "fin_share"), _pairs(kinds, order))
        )
    return found


def _panels(kinds: list[str]) -> list[Panel]:
    if not kinds:
        return []
    reference = "TGBA" if "TGBA" in kinds else kinds[0]
    panels = [Panel(reference, kind) for kind in kinds if kind != reference]
    if {"TGRA", "TFLA"} <= {*kinds} - {reference}:
        panels.append(Panel("TGRA", "TFLA"))
    return panels


def _seconds(rows: Iterable[Row], column: str) -> float | None:
    """Return the least seconds of what was answered."""
    taken = [
        float(row[column])
        for row in rows
        if row["verdict"] != UNKNOWN and row.get(column) is not None
    ]
    return max(min(taken), FEWEST) if taken else None


def _known(
    kinds: dict[str, list[Row]], order: Sequence[str], column: str
) -> Any | None:
    """Return the first value of a column that is there."""
    values = (row.get(column) for kind in order for row in kinds.get(kind, []))
    return next((value for value in values if value is not None), None)


def _pairs(kinds: dict[str, list[Row]], order: Sequence[str]) -> int | None:
    found = _known(kinds, order, "pairs")
    return None if found is None else int(found)


def _draw_panels(
    figure: Figure, drawn: dict[Panel, list[Point]], by_pairs: bool, column: str
) -> None:
    """Draw a row of panels, or one for each with `by_pairs`."""
    seconds = [s for found in drawn.values() for p in found for s in p[:2] if s]
    low = min(seconds, default=FEWEST) / 1.5
    limit = max(seconds, default=1.0) * 1.5
    titles = [*N_PAIRS] if by_pairs else [""]
    n_rows, n_columns = (len(drawn), len(titles)) if by_pairs else (1, len(drawn))
    figure.set_size_inches(4.2 * n_columns, 4.0 * n_rows)
    figure.set_layout_engine("constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for panel, found in drawn.items():
        for title in titles:
            some = [p for p in found if not title or _has(p, title)]
            axes = next(grid)
            _draw(axes, some, low, limit)
            axes.set(xlabel=f"{panel.x}, seconds", ylabel=f"{panel.y}, seconds")
            axes.set_title(f"{title} ({len(some)})" if title else f"{len(some)}")
    handles = {h.get_label(): h for a in figure.axes for h in a.collections}
    figure.legend(
        [handles[name] for name in CLASSES if name in handles],
        [name for name in CLASSES if name in handles],
        loc="outside lower center",
        ncols=len(CLASSES),
    )
    about = "of the search" if column == "search_seconds" else "in all"
    figure.suptitle(f"Seconds {about}; not answered: at the border")


def _has(point: Point, title: str) -> bool:
    return point.pairs is not None and N_PAIRS[title](point.pairs)


def _draw(axes: Axes, some: list[Point], low: float, limit: float) -> None:
    border = square_log(axes, low, limit)
    for name, colour in CLASSES.items():
        of_class = [p for p in some if p.colour == name]
        if of_class:
            axes.scatter(
                [border if p.x is None else p.x for p in of_class],
                [border if p.y is None else p.y for p in of_class],
                s=16,
                alpha=0.6,
                color=colour,
                label=name,
            )
