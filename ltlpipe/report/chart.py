"""The sequence chart of a lasso, the public class, and how it is drawn as SVG.

The picture needs nothing but itself.

Fonts differ between readers: texts are monospaced, with an assumed width of characters,
and texts that may be wider are squeezed (``textLength``).  All looks are attributes of
elements: a style sheet inside would apply to the whole page of a notebook.

Colours are those of `ltlpipe.report.palette`, as in plots; every distinction by colour
is also one by shape or weight.
"""

from __future__ import annotations

from functools import cache, cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

from rich.cells import cell_len

from ltlpipe.report.chart_rows import charted, shortened
from ltlpipe.report.palette import ON_WHITE
from ltlpipe.runtime.arguments import TRUTH, WHOLE, Kind, expect
from ltlpipe.verdict.lasso import Lasso
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from ltlpipe.report.chart_rows import ChartedLasso, Row

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_LOOK = {
    "font": FONT,
    "ink": "#222222",
    "soft": "#6b6b6b",
    "line": "#b5b5b5",
    "named": ON_WHITE[VIOLATED],
    "cycle": "#fdf3df",
    "dim": "#8c8c8c",  # irrelevant steps
}
"""What the template takes besides the chart; the sizes below are known to it."""

_LETTER = 7.3  # the width of a character
_ROW, _GAP, _LOST = 44, 30, 26  # heights of a step, of steps left out, of a note
_PILL = 17  # the height of a state
_PAD = 7  # on each side of a state
_BETWEEN = 20  # lanes
_MARGIN = 10
_ACTION, _NAME, _STATE = 36, 24, 18  # characters that are shown
_MANY = 12  # number of lanes from which room is short
_STATE_OF_MANY = 10
_SLANT = 0.77  # the sine of the angle of names that are slanted, 50 degrees


class _Grid(NamedTuple):
    """Where everything is."""

    numbers: float  # the right end of the column of numbers
    actions: float  # the left end of that of actions
    lanes: tuple[float, ...]  # the lifelines
    left: float  # of the rows
    right: float
    width: float
    top: float  # of the first row
    rows: tuple[float, ...]  # tops
    bottom: float
    height: float
    states: int  # characters of a state that are shown
    slanted: bool  # the names of the lanes


def svg_of_chart(chart: ChartedLasso) -> str:
    """Return a chart as SVG, from ``<svg`` on."""
    about, notes = _about(chart), _notes(chart)
    drawn: str = _template().render(
        chart=chart, grid=_grid(chart), about=about, notes=notes, **_LOOK
    )
    return drawn


@cache
def _template() -> Any:
    """Return the template, whose lines are joined; it escapes what XML asks for."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def written(value: Any) -> Any:
        if hasattr(value, "__html__"):
            return value
        return Markup(escape(value)) if isinstance(value, str) else _n(value)

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=written
    )
    environment.filters |= {
        "cut": shortened,
        "gap": _gap_text,
        "pill_width": _pill_width,
        "tooltip": _tooltip,
        "width": _width,
    }
    source = (files("ltlpipe.report") / "templates" / "chart.svg").read_text("utf-8")
    return environment.from_string("".join(map(str.strip, source.splitlines())))


def _about(chart: ChartedLasso) -> str:
    steps = [max(row.left_out, 1) for row in chart.rows]
    first, again = sum(steps[: chart.first]), sum(steps[chart.first :])
    if not again:
        return f"Sequence chart: a finite run of {first} steps"
    return f"Sequence chart: steps of the prefix {first}, of the cycle {again}"


def _notes(chart: ChartedLasso) -> list[str]:
    has_cycle = chart.first < len(chart.rows)
    notes = ["the framed steps repeat for ever"] if has_cycle else []
    if chart.has_named:
        notes.append("bold, with a ring: steps that the formula names")
    return [*notes, *chart.notes]


def _grid(chart: ChartedLasso) -> _Grid:
    """Lay a chart out."""
    many = len(chart.lanes) > _MANY
    n_state = _STATE_OF_MANY if many else _STATE
    digits = len(str(max((row.number for row in chart.rows), default=0)))
    numbers = _MARGIN + 4 + digits * _LETTER
    actions = numbers + 12
    left_out = [_gap_text(row) for row in chart.rows if row.left_out]
    names = [shortened(row.action, _ACTION) for row in chart.rows]
    widest = max(map(_width, [*names, *left_out]), default=0)
    widths = _lane_widths(chart, n_state)
    named = [_width(shortened(lane.name, _NAME)) for lane in chart.lanes]
    slanted = many and any(n + 14 > w for n, w in zip(named, widths, strict=True))
    if not slanted:
        widths = [max(n + 14, w) for n, w in zip(named, widths, strict=True)]
    x = actions + widest + 14
    lanes = []
    for width in widths:
        lanes.append(x + width / 2)
        x += width + _BETWEEN
    right = x - _BETWEEN + 8 if lanes else x
    above = _SLANT * max(named, default=0) + 20 if slanted else 32
    top = _MARGIN + (above + _PILL + 10 if lanes else 0)
    rows, bottom = _tops(chart, top)
    notes = _notes(chart)
    said = [_MARGIN + _width(note) for note in notes]
    if chart.lost is not None:
        said.append(actions + _width(chart.lost_note))
    ends = [right + 24]  # the way back
    if slanted:
        ends += [at + 0.66 * n + 16 for at, n in zip(lanes, named, strict=True)]
    width = max([*ends, *said]) + _MARGIN
    height = bottom + 18 + 16 * len(notes)
    return _Grid(
        *(numbers, actions, tuple(lanes), _MARGIN / 2, right, width),
        *(top, tuple(rows), bottom, height, n_state, slanted),
    )


def _lane_widths(chart: ChartedLasso, n_state: int) -> list[float]:
    """Return how wide the states of each lane are."""
    widths = [0.0] * len(chart.lanes)
    for lane, state in chart.states():
        widths[lane] = max(widths[lane], _pill_width(state, n_state))
    return widths


def _tops(chart: ChartedLasso, top: float) -> tuple[list[float], float]:
    """Return the positions of the rows, and the end of the last one."""
    rows = []
    for number, row in enumerate(chart.rows):
        if number == chart.lost:
            top += _LOST
        rows.append(top)
        top += _GAP if row.left_out and not row.cells else _ROW
    if chart.lost == len(chart.rows):
        top += _LOST
    return rows, top + 4


def _tooltip(row: Row, chart: ChartedLasso) -> str:
    """Return the tooltip of a step."""
    changes = [
        f"{chart.lanes[cell.lane].name}: {cell.before} → {cell.after}"
        for cell in row.cells
    ]
    if row.left_out:
        return "\n".join([_gap_text(row), *changes])
    return "\n".join([f"{row.number}: {row.action}", *changes])


def _gap_text(row: Row) -> str:
    return f"⋮ {row.left_out:,} steps left out"


def _width(text: str) -> float:
    return cell_len(text) * _LETTER


def _pill_width(state: str, most: int) -> float:
    return max(_width(shortened(state, most)), _LETTER) + 2 * _PAD


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


MOST_STEPS = 40
MOST_LANES = 40

_LASSO = Kind("a lasso", lambda value: isinstance(value, Lasso))


class Chart:
    """A sequence chart: a lifeline per component, a row per step.

    Notebooks show it; ``print(chart)`` prints it as text.

    Parameters
    ----------
    lasso : Lasso
        The lasso to draw.
    steps : int
        About how many steps are shown of longer lassos: the first and the last ones,
        and those around the places where the cycle begins and the bad prefix ends.
    lanes : int
        The most lifelines; with more those that move least are one.

    Examples
    --------
    >>> import ltlpipe
    >>> ring = ltlpipe.Network(
    ...     [ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="ring")]
    ... )
    >>> print(ltlpipe.check(ring, "G !b").lasso.chart())
             ring
               0
    ┌ 1   a  ● 1
    │ 2 * b  ◆ 0
    │ ── violated by these 2 steps: what follows does not matter
    └ repeats for ever
    * and ◆: steps that the formula names
    """

    def __init__(
        self, lasso: Lasso, *, steps: int = MOST_STEPS, lanes: int = MOST_LANES
    ) -> None:
        expect(_LASSO, lasso=lasso)
        expect(WHOLE, steps=steps, lanes=lanes)
        self._lanes = max(lanes, 1)
        self._charted = partial(charted, lasso, steps)

    @cached_property
    def svg(self) -> str:
        """The chart as SVG, from ``<svg`` on; it loads nothing and runs nothing."""
        return svg_of_chart(self._charted(self._lanes))

    def text(self, width: int = 80, *, ascii_only: bool = False) -> str:
        """Return the chart as lines of text.

        Parameters
        ----------
        width : int
            The most characters of a line, at least 40.  Names and states are cut, and
            lifelines left out, to fit.
        ascii_only : bool
            Whether to avoid box characters.
        """
        from ltlpipe.report.text_chart import ASCII, BOX, text_of_chart

        expect(WHOLE, width=width)
        expect(TRUTH, ascii_only=ascii_only)

        marks = ASCII if ascii_only else BOX
        return text_of_chart(self._charted, self._lanes, width, marks)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return framed(self.svg)


def framed(svg: str) -> str:
    """Return a picture in HTML, in its full size: wide ones scroll."""
    return f'<div style="overflow-x: auto">{svg}</div>'
