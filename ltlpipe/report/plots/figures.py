"""Parts of plots, and the files that they become.

matplotlib is loaded when a plot is made; for its settings see
`ltlpipe.report.plots.look`.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.arguments import FIGURE, PATH, expect
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from ltlpipe.runtime.files import StrPath

SUFFIXES = (".svg", ".pdf", ".png")

FEWEST = 1e-5
"""Seconds: what took less is drawn here."""

COLOURS = (
    *("#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#000000", "#0072B2", "#D55E00"),
)
"""Colours of curves that people who are colour-blind tell apart.

The last two are much like those of verdicts (`ltlpipe.report.palette`).

Source: M. Okabe and K. Ito, "Color Universal Design", 2008, without its yellow, which
is hard to see on white.
"""

BLACK = "#000000"

_MARKERS = "osD^vPX"
_DASHES = ("-", "--", ":", "-.")

_DASH = 5.0  # the length of a dash of curves that are identical

_UNITS = {"seconds": "seconds (wall clock)", "search_seconds": "seconds of the search"}

_SHOWN = 80  # characters of a name


class Line(NamedTuple):
    """What one curve among several looks like; no two agree in all of it."""

    color: str
    marker: str
    linestyle: str


class Twin(NamedTuple):
    """A curve among those that are identical to it."""

    first: int  # the number of the first of them
    place: int  # its own among them, from 0
    among: int  # how many there are

    def note(self, names: Sequence[str]) -> str:
        """Return what a legend adds to its name; `names` are those of all curves."""
        return f"\nidentical to {plain(names[self.first])}" if self.place else ""

    def drawn(self, look: Line, points: Sequence[int]) -> dict[str, Any]:
        """Return how to draw it such that all of them can be seen.

        Their dashes and their markers, which are at `points`, take turns.
        """
        if self.among == 1:
            return look._asdict() | {"markevery": [*points]}
        period = _DASH * self.among
        dashes = (period - _DASH * self.place, (_DASH, period - _DASH))
        own = points[self.place :: self.among]
        return look._asdict() | {"linestyle": dashes, "markevery": [*own]}


def line(number: int) -> Line:
    """Return the look of curve `number`, from 0; after 28 they repeat."""
    again = number // len(COLOURS)
    return Line(
        COLOURS[number % len(COLOURS)],
        _MARKERS[(number + again) % len(_MARKERS)],
        _DASHES[again % len(_DASHES)],
    )


def twins(curves: Sequence[np.ndarray]) -> list[Twin]:
    """Return which curves are drawn on top of each other, being identical.

    `curves` are the numbers that are drawn, in arrays of any shape.
    """
    import numpy as np

    same = partial(np.array_equal, equal_nan=True)
    first = [next(k for k, c in enumerate(curves) if same(c, own)) for own in curves]
    return [Twin(k, first[:n].count(k), first.count(k)) for n, k in enumerate(first)]


def plain(text: str) -> str:
    """Return a name as it can stand in a plot: short, in one line, nothing for TeX."""
    shown = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    if len(shown) > _SHOWN:  # names differ at their ends more often
        shown = f"{shown[: _SHOWN // 2]}…{shown[-_SHOWN // 2 + 1 :]}"
    shown = shown.replace("$", r"\$")
    return " " + shown if shown.startswith("_") else shown  # legends leave _names out


def unit(column: str) -> str:
    """Return what the values of a column are called on an axis."""
    if column in _UNITS:
        return _UNITS[column]
    return plain(column.replace("_mib", ", MiB").replace("_", " "))


def plottable(path: StrPath) -> None:
    """Make sure that a plot can be made, before what is plotted is measured.

    Raises
    ------
    UnsupportedError
        The suffix is none of `SUFFIXES`, or matplotlib is not installed.
    LtlpipeError
        There is no such folder.
    """
    expect(PATH, path=path)
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES[:-1])
        raise UnsupportedError(
            f"{path}: expected a file that ends in {known} or {SUFFIXES[-1]}"
        )
    figure_class()
    if not path.parent.is_dir():
        raise LtlpipeError(f"{path}: cannot be written: no such folder")


def figure_class() -> type[Figure]:
    """Return matplotlib's class of figures, which writes files without a screen.

    Raises
    ------
    UnsupportedError
        It is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401

        from ltlpipe.report.plots.look import NotebookFigure
    except ImportError as error:
        raise UnsupportedError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from error
    return NotebookFigure


@contextmanager
def look() -> Iterator[type[Figure]]:
    """Draw in the look of all plots; gives the class of figures."""
    figures = figure_class()
    from ltlpipe.report.plots.look import styled

    with styled():
        yield figures


@contextmanager
def canvas(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure of one plot, of so many inches, and its axes."""
    with look() as figures:
        figure = figures(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def legend(
    figure: Figure,
    drawn: Sequence[Any],
    *,
    title: str | None = None,
    n_columns: int | None = None,
) -> None:
    """Add a legend of what has labels: on the right, or below in so many columns."""
    figure.legend(
        drawn,
        [str(each.get_label()) for each in drawn],
        title=None if title is None else plain(title),
        loc="outside right upper" if n_columns is None else "outside lower center",
        ncols=n_columns or 1,
    )


def logarithmic(axes: Axes, which: str, low: float, high: float) -> tuple[float, float]:
    """Make the axis "x" or "y" logarithmic, wide enough for two powers of ten.

    Only these have labels: those in between, on narrow axes, would run together.
    Returns where the axis begins and ends, not the limits that the axis has by itself.
    """
    from matplotlib.ticker import NullFormatter

    first, last = (math.ceil(math.log10(low)), math.floor(math.log10(high)))
    while last - first < 1:
        if math.log10(low) - (first - 1) <= (last + 1) - math.log10(high):
            first -= 1
            low = 10.0**first
        else:
            last += 1
            high = 10.0**last
    limits: dict[str, Any] = {f"{which}scale": "log", f"{which}lim": (low, high)}
    axes.set(**limits)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_minor_formatter(NullFormatter())
    return low, high


def whole(axis: Axis) -> None:
    """Have whole numbers only at an axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def square_log(axes: Axes, low: float, limit: float) -> float:
    """Make two logarithmic axes from `low` on, with a diagonal and a border.

    Returns the place of what is beyond the dotted lines at `limit`, on either axis.
    """
    border = limit * 1.5
    axes.axline((1, 1), slope=1, color="grey", linewidth=0.8)
    axes.axhline(limit, color="grey", linestyle=":")
    axes.axvline(limit, color="grey", linestyle=":")
    for which in ("x", "y"):
        logarithmic(axes, which, low, border * 1.5)
    axes.set_aspect("equal")
    return border


def save(figure: Figure, path: StrPath) -> None:
    """Write a figure; the same figure gives the same file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What one of the plots returned.
    path : path
        ``.svg``, ``.pdf`` or ``.png``.

    Raises
    ------
    UnsupportedError
        Another suffix.
    LtlpipeError
        The file cannot be written.
    """
    expect(FIGURE, figure=figure)
    plottable(path)
    from ltlpipe.report.plots.look import drawn

    path = Path(path)
    write_bytes(path, drawn(figure, path.suffix.lower()[1:]))


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG, from ``<svg`` on, as it can stand in a page."""
    expect(FIGURE, figure=figure)
    from ltlpipe.report.plots.look import drawn

    text = drawn(figure, "svg").decode()
    return text[text.index("<svg") :]
