"""The sequence chart of a lasso, the public class, and how it is drawn as SVG.

The picture needs nothing but itself.

Fonts differ between readers: texts are monospaced, with an assumed width of characters,
and texts that may be wider are squeezed (``textLength``).  All looks are attributes of
elements: a style sheet inside would apply to the whole page of a notebook.

Colours are those of `ltlpipe.report.palette`, as in plots; every distinction by colour
is also one by shape or weight.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from rich.cells import cell_len

from ltlpipe.report.chart_rows import charted, shortened
from ltlpipe.report.palette import ON_WHITE
from ltlpipe.runtime.arguments import TRUTH, WHOLE, Kind, expect
from ltlpipe.verdict.lasso import Lasso
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from ltlpipe.report.chart_rows import Cell, ChartedLasso, Lane, Row

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_INK, _SOFT, _LINE, _PANEL = "#222222", "#6b6b6b", "#b5b5b5", "#f1f1f4"
_NAMED = ON_WHITE[VIOLATED]
_CYCLE = "#fdf3df"
_DIM = "#8c8c8c"  # irrelevant steps

_SIZE = 12  # of letters
_LETTER = 7.3  # the width of a character
_ROW, _GAP, _LOST = 44, 30, 26  # heights of a step, of steps left out, of a note
_BAR = 14  # of a row, from its top
_ARROW = 7  # from the middle of a dot to the tip of an arrow, and its length
_PILL = 17  # the height of a state
_PAD = 7  # on each side of a state
_BETWEEN = 20  # lanes
_MARGIN = 10
_ACTION, _NAME, _STATE = 36, 24, 18  # characters that are shown
_MANY = 12  # number of lanes from which room is short
_STATE_OF_MANY = 10
_MIDDLE = {"text_anchor": "middle"}
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
    grid = _grid(chart)
    width, height = _n(grid.width), _n(grid.height)
    box = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    about = {"role": "img", "aria-label": _about(chart)}
    font = {"font-family": FONT, "font-size": str(_SIZE)}
    xmlns = {"xmlns": "http://www.w3.org/2000/svg"}
    svg = ET.Element("svg", xmlns | box | about | font)
    _rect(svg, (0, 0, grid.width, grid.height), "", fill="#ffffff", rx="4")
    _draw_cycle(svg, chart, grid)
    for number, lane in enumerate(chart.lanes):
        _draw_lane(svg, lane, number, grid)
    for row, y in zip(chart.rows, grid.rows, strict=True):
        _draw_row(svg, chart, row, y + _BAR, grid)
    if chart.lost is not None:
        _draw_lost(svg, chart, grid)
    for number, note in enumerate(_notes(chart)):
        y = grid.bottom + 18 + 16 * number
        _text(svg, _MARGIN, y, note, fill=_SOFT, kind="note")
    return ET.tostring(svg, encoding="unicode")


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
    width = max(*ends, *said) + _MARGIN
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


def _draw_cycle(svg: ET.Element, chart: ChartedLasso, grid: _Grid) -> None:
    """Frame the cycle, with the way back from its last step to its first."""
    if chart.first == len(chart.rows):
        return
    begin, end = grid.rows[chart.first] - 2, grid.bottom
    box = (grid.left, begin, grid.right - grid.left, end - begin)
    _rect(svg, box, "cycle", fill=_CYCLE, stroke="#e69f00", rx="5")
    low = grid.rows[-1] + _BAR
    high, x = grid.rows[chart.first] + _BAR, grid.right
    if low - high < 8:
        low, high = high + 8, high - 8
    path = f"M{_n(x)} {_n(low)}h12V{_n(high)}h-8"
    _shape(svg, "path", "back", d=path, fill="none", stroke=_INK, stroke_width=1.5)
    head = f"{_n(x)},{_n(high)} {_n(x + 7)},{_n(high - 4)} {_n(x + 7)},{_n(high + 4)}"
    _shape(svg, "polygon", "head", points=head, fill=_INK)


def _draw_lane(svg: ET.Element, lane: Lane, number: int, grid: _Grid) -> None:
    """Draw a lifeline with its name and its first state."""
    x = grid.lanes[number]
    dashes = {} if lane.moves else {"stroke_dasharray": "2 3"}
    low, high = (x, grid.top - 10), (x, grid.bottom)
    _line(svg, "lane", low, high, stroke=_LINE, **dashes)
    name = shortened(lane.name, _NAME)
    y = grid.top - _PILL - 21
    weight = {"font_weight": "bold"} if lane.moves else {"font_style": "italic"}
    if grid.slanted:
        turn = f"rotate(-50 {_n(x)} {_n(y)})"
        element = _text(svg, x - 2, y, name, kind="name", transform=turn, **weight)
    else:
        width = _width(name) + 12
        box = (x - width / 2, y - 15, width, 21)
        if lane.moves:
            _rect(svg, box, "", fill=_PANEL, stroke=_LINE, rx="3")
        element = _text(svg, x, y, name, kind="name", **_MIDDLE, **weight)
    _tip(element, lane.name)
    if lane.initial:
        _draw_pill(svg, x, grid.top - 11 - _PILL / 2, lane.initial, grid.states)


def _draw_row(
    svg: ET.Element, chart: ChartedLasso, row: Row, y: float, grid: _Grid
) -> None:
    """Draw a step; its bar is at y."""
    kind = "gap" if row.left_out else "step"
    group = ET.SubElement(svg, "g", {"class": kind})
    _tip(group, _tooltip(chart, row))
    ink = _DIM if row.irrelevant else _NAMED if row.named else _INK
    if row.left_out:
        text = _gap_text(row)
        _text(group, grid.actions, y + 4, text, fill=_SOFT, kind="action")
    else:
        name = shortened(row.action, _ACTION)
        weight = {"font_weight": "bold"} if row.named else {}
        end = {"fill": _SOFT, "text_anchor": "end"}
        _text(group, grid.numbers, y + 4, str(row.number), kind="number", **end)
        _text(group, grid.actions, y + 4, name, fill=ink, kind="action", **weight)
        _draw_joint(group, row, y, grid, ink)
    for cell in row.cells:
        _draw_cell(group, row, cell, y, grid, ink)


def _draw_joint(group: ET.Element, row: Row, y: float, grid: _Grid, ink: str) -> None:
    """Draw the bar that joins the participants, from the action on."""
    if not row.cells:
        return
    xs = [grid.lanes[cell.lane] for cell in row.cells]
    begin = grid.actions + _width(shortened(row.action, _ACTION)) + 6
    dotted = {"stroke": _LINE, "stroke_dasharray": "1 4"}
    _line(group, "guide", (begin, y), (xs[0], y), **dotted)
    if len(xs) > 1:
        dashes = {"stroke_dasharray": "5 3"} if row.irrelevant else {}
        look = {"stroke": ink, "stroke_width": 2, **dashes}
        _line(group, "joint", (xs[0], y), (xs[-1], y), **look)
    if row.arrow is not None:
        source, target = (grid.lanes[lane] for lane in row.arrow)
        tip = target + (_ARROW if source > target else -_ARROW)
        back = tip + (_ARROW if source > target else -_ARROW)
        corners = (tip, y), (back, y - 5), (back, y + 5)
        points = " ".join(f"{_n(a)},{_n(b)}" for a, b in corners)
        _shape(group, "polygon", "arrow", points=points, fill=ink)


def _draw_cell(
    group: ET.Element, row: Row, cell: Cell, y: float, grid: _Grid, ink: str
) -> None:
    """Draw the mark of a participant, and its state after the step."""
    x = grid.lanes[cell.lane]
    if not row.left_out:
        place, fill = {"cx": x, "cy": y}, "#ffffff" if row.irrelevant else ink
        look = {"stroke": ink, "stroke_width": 2, "r": 5, "fill": fill}
        _shape(group, "circle", "dot", **place, **look)
        if row.named and not row.irrelevant:
            _shape(group, "circle", "ring", **place, r=8, fill="none", stroke=ink)
    colour = _DIM if row.irrelevant else _INK
    below = y + 18 if not row.left_out else y + 3
    _draw_pill(group, x, below, cell.after, grid.states, colour)


def _draw_pill(
    parent: ET.Element, x: float, y: float, state: str, most: int, ink: str = _INK
) -> None:
    """Draw the name of a state on a lifeline."""
    shown = shortened(state, most)
    width = _pill_width(state, most)
    box = (x - width / 2, y - _PILL / 2, width, _PILL)
    _rect(parent, box, "pill", fill="#ffffff", stroke=_LINE, rx="8")
    element = _text(parent, x, y + 4, shown, fill=ink, kind="state", **_MIDDLE)
    if shown != state:
        _tip(element, state)


def _draw_lost(svg: ET.Element, chart: ChartedLasso, grid: _Grid) -> None:
    """Draw the line at the end of the bad prefix."""
    assert chart.lost is not None
    at_end = chart.lost == len(chart.rows)
    y = (grid.bottom if at_end else grid.rows[chart.lost]) - _LOST / 2 - 2
    look = {"stroke": _NAMED, "stroke_width": 1.5, "stroke_dasharray": "7 4"}
    _line(svg, "lost", (grid.left, y), (grid.right, y), **look)
    box = (grid.actions - 4, y - 9, _width(chart.lost_note) + 8, 18)
    ground = _CYCLE if chart.lost > chart.first else "#ffffff"
    _rect(svg, box, "", fill=ground, rx="3")
    _text(svg, grid.actions, y + 4, chart.lost_note, fill=_NAMED, kind="lost-note")


def _tooltip(chart: ChartedLasso, row: Row) -> str:
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


def _shape(parent: ET.Element, tag: str, kind: str, **look: Any) -> ET.Element:
    """Add an element; ``stroke_width`` is ``stroke-width``, numbers are short."""
    written = {"class": kind} if kind else {}
    for name, value in look.items():
        written[name.replace("_", "-")] = value if isinstance(value, str) else _n(value)
    return ET.SubElement(parent, tag, written)


def _rect(
    parent: ET.Element, box: tuple[float, float, float, float], kind: str, **look: str
) -> None:
    place = dict(zip(("x", "y", "width", "height"), box, strict=True))
    _shape(parent, "rect", kind, **place, **look)


def _line(
    parent: ET.Element,
    kind: str,
    begin: tuple[float, float],
    end: tuple[float, float],
    **look: Any,
) -> None:
    place = {"x1": begin[0], "x2": end[0], "y1": begin[1], "y2": end[1]}
    _shape(parent, "line", kind, **place, **look)


def _text(
    parent: ET.Element, x: float, y: float, text: str, *, kind: str, **look: Any
) -> ET.Element:
    place: dict[str, Any] = {"x": x, "y": y}
    if not text.isascii() and cell_len(text):  # in an unknown font
        place |= {"textLength": _width(text), "lengthAdjust": "spacingAndGlyphs"}
    look.setdefault("fill", _INK)
    element = _shape(parent, "text", kind, **place, **look)
    element.text = text
    return element


def _tip(element: ET.Element, text: str) -> None:
    """Add a tooltip to an element."""
    title = ET.Element("title")
    title.text = text
    title.tail, element.text = element.text, None
    element.insert(0, title)


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
        from ltlpipe.report.chart import svg_of_chart

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
