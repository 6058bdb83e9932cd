"""A sequence chart as text: box characters, or what ASCII has for them.

A row is a line: a mark on each lane that takes part, with the next state, and a
bar between the first and the last of them.  Lanes are narrowed until all fit into the
width: names and states are cut in their middle, then names are replaced by numbers that
are explained below, then states are omitted, and finally the lanes that move least are
merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size

from ltlpipe.report.chart_rows import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.report.chart_rows import Cell, ChartedLasso, Row

LEAST_WIDTH = 40
"""The least width of a chart."""

_LEAST_NAME = 5  # characters that a name is cut to
_LEAST_STATE = 3


class Marks(NamedTuple):
    """The characters of a chart."""

    line: str  # of a lane
    dim_line: str  # after the bad prefix
    bar: str
    dim_bar: str
    crossing: str
    dot: str
    named: str
    dim: str
    gap: str
    corners: tuple[str, str, str]  # of the cycle: top, side, bottom
    dots: str
    arrows: tuple[str, str]  # a message comes from the left, or from the right


BOX = Marks(
    "│", "┊", "─", "╌", "┼", "●", "◆", "○", "⋮", ("┌", "│", "└"), "…", ("▶", "◀")
)
ASCII = Marks(
    "|", ":", "-", ".", "+", "O", "#", "o", ":", ("/", "|", "\\"), "..", (">", "<")
)


def marks_for(encoding: str | None) -> Marks:
    """Return the characters that an encoding can take."""
    try:
        "".join(map("".join, BOX)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BOX


class _Sheet(NamedTuple):
    """The widths of columns, in characters."""

    numbers: int
    actions: int
    lanes: tuple[int, ...]
    between: int  # lanes
    legend: bool  # lanes have numbers for names
    marks: Marks

    @property
    def left(self) -> int:
        """The layout of the lanes."""
        return 2 + self.numbers + 3 + self.actions + 2


def text_of_chart(
    narrowed: Callable[[int], ChartedLasso], most_lanes: int, width: int, marks: Marks
) -> str:
    """Return a chart as lines of at most some width.

    `narrowed` returns the chart with at most so many lanes.
    """
    width = max(width, LEAST_WIDTH)
    chart = narrowed(most_lanes)
    sheet = _sheet(chart, width, marks)
    room = (width - sheet.left + 1) // 2
    if len(chart.lanes) > room:
        chart = narrowed(max(room, 1))
        sheet = _sheet(chart, width, marks)
    lines = _heads(chart, sheet)
    for number, row in enumerate(chart.rows):
        if number == chart.lost:
            lines.append(_lost(chart, number, sheet, width))
        lines.append(_bracket(chart, number, sheet) + _line(row, sheet))
    if chart.lost == len(chart.rows):
        lines.append(_lost(chart, len(chart.rows), sheet, width))
    if chart.first < len(chart.rows):  # not of a finite run
        lines.append(f"{marks.corners[2]} repeats for ever")
    for note in _notes(chart, sheet):
        lines += _wrapped(note, width)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _sheet(chart: ChartedLasso, width: int, marks: Marks) -> _Sheet:
    """Choose the widths of columns."""
    numbers = len(str(max((row.number for row in chart.rows), default=0)))
    actions = max((cell_len(_action(row, marks)) for row in chart.rows), default=0)
    wanted = [cell_len(lane.name) for lane in chart.lanes]
    for lane, state in chart.states():
        wanted[lane] = max(wanted[lane], 2 + cell_len(state))
    least = min(actions, max(width // 4, 12))
    sheet = _Sheet(numbers, actions, tuple(wanted), 2, False, marks)
    room = width - sheet.left
    if sum(wanted) + 2 * len(wanted) <= room:
        return sheet
    sheet = sheet._replace(actions=least)  # actions give way first, to a point
    room = width - sheet.left
    for between, narrowest in ((2, _LEAST_NAME), (1, 1)):
        for cap in range(max(wanted, default=1), narrowest - 1, -1):
            lanes = tuple(min(w, cap) for w in wanted)
            if sum(lanes) + between * len(lanes) - 1 <= room:
                sheet = sheet._replace(lanes=lanes, between=between)
                return sheet._replace(legend=not _are_distinct(chart, sheet))
    return sheet._replace(lanes=(1,) * len(wanted), between=1, legend=True)


def _are_distinct(chart: ChartedLasso, sheet: _Sheet) -> bool:
    names = [
        _fitted(lane.name, width, sheet.marks)
        for lane, width in zip(chart.lanes, sheet.lanes, strict=True)
    ]
    return len({*names}) == len(names) and min(sheet.lanes) >= min(
        _LEAST_NAME, *(cell_len(lane.name) for lane in chart.lanes)
    )


def _heads(chart: ChartedLasso, sheet: _Sheet) -> list[str]:
    """Return the lines above the rows: names and first states of lanes."""
    if not chart.lanes:
        return []
    indent = " " * sheet.left
    names = [lane.name for lane in chart.lanes]
    heads: list[Sequence[str]] = [names]
    if sheet.legend:
        numbers = [str(k) for k in range(1, len(names) + 1)]
        has_room = all(map(int.__le__, map(len, numbers), sheet.lanes))
        padded = [number.rjust(len(numbers[-1])) for number in numbers]
        heads = [numbers] if has_room else [*zip(*padded, strict=True)]  # downwards
    lines = [indent + _spread(texts, sheet) for texts in heads]
    states = [
        lane.initial if _has_room(lane.initial, width) else ""
        for lane, width in zip(chart.lanes, sheet.lanes, strict=True)
    ]
    if any(states):
        lines.append(indent + _spread(states, sheet, indent=2))
    return lines


def _has_room(state: str, width: int) -> bool:
    """Return whether a lane is wide enough for a state, maybe cut."""
    return width - 2 >= min(_LEAST_STATE, cell_len(state))


def _spread(texts: Sequence[str], sheet: _Sheet, indent: int = 0) -> str:
    """Return a line with a text over each lane."""
    gap, blank = " " * sheet.between, " " * indent
    return gap.join(
        set_cell_size(blank + _fitted(text, width - indent, sheet.marks), width)
        for text, width in zip(texts, sheet.lanes, strict=True)
    )


def _fitted(text: str, width: int, marks: Marks) -> str:
    """Return a text that is at most so wide, its middle left out if need be."""
    if cell_len(text) <= width:
        return text
    cuts = (shortened(text, most, marks.dots) for most in range(width, 0, -1))
    return next((cut for cut in cuts if cell_len(cut) <= width), "")


def _bracket(chart: ChartedLasso, number: int, sheet: _Sheet) -> str:
    if number < chart.first:
        return "  "
    return sheet.marks.corners[number > chart.first] + " "


def _action(row: Row, marks: Marks) -> str:
    return f"{marks.gap} {row.left_out:,} left out" if row.left_out else row.action


def _line(row: Row, sheet: _Sheet) -> str:
    """Return the line of a row, without the bracket of the cycle."""
    number = "" if row.left_out else str(row.number)
    mark = "*" if row.named else " "
    action = _fitted(_action(row, sheet.marks), sheet.actions, sheet.marks)
    head = f"{number:>{sheet.numbers}} {mark} " + set_cell_size(action, sheet.actions)
    cells = {cell.lane: cell for cell in row.cells}
    joined = range(0)
    if cells and not row.left_out:
        joined = range(min(cells), max(cells))  # the lanes joined by a bar
    return f"{head}  " + "".join(
        _segment(row, cells.get(lane), sheet, lane, goes_on=lane in joined)
        for lane in range(len(sheet.lanes))
    )


def _segment(
    row: Row, cell: Cell | None, sheet: _Sheet, lane: int, *, goes_on: bool
) -> str:
    """Return the text of a row on a lane, and in the gap after it."""
    marks, width = sheet.marks, sheet.lanes[lane]
    bar = marks.dim_bar if row.irrelevant else marks.bar
    if cell is None:
        line = marks.dim_line if row.irrelevant else marks.line
        text = marks.crossing if goes_on else line
    else:
        text = _mark(row, marks)
        if row.arrow is not None and lane == row.arrow[1]:
            text = marks.arrows[row.arrow[0] > lane]
        if _has_room(cell.after, width):
            text += " " + _fitted(cell.after, width - 2, marks)
            if goes_on and cell_len(text) + 2 <= width + sheet.between:
                text += " "
    fill = width + sheet.between - cell_len(text)
    return text + (bar if goes_on else " ") * fill


def _mark(row: Row, marks: Marks) -> str:
    if row.left_out:
        return marks.gap
    return marks.dim if row.irrelevant else marks.named if row.named else marks.dot


def _lost(chart: ChartedLasso, number: int, sheet: _Sheet, width: int) -> str:
    """Return the line at the end of the bad prefix."""
    side = sheet.marks.corners[1] if number > chart.first else " "
    bar = sheet.marks.bar
    text = _fitted(f"{bar * 2} {chart.lost_note} ", width - 2, sheet.marks)
    end = min(width, sheet.left + sum(sheet.lanes) + sheet.between * len(sheet.lanes))
    return f"{side} {text}" + bar * (end - 2 - cell_len(text))


def _notes(chart: ChartedLasso, sheet: _Sheet) -> list[str]:
    notes = []
    if chart.has_named:
        named = sheet.marks.named
        notes.append(f"* and {named}: steps that the formula names")
    if sheet.legend:
        listed = [f"{k}={lane.name}" for k, lane in enumerate(chart.lanes, start=1)]
        notes.append(f"lines: {', '.join(listed)}")
    if any(
        not _has_room(cell.after, sheet.lanes[cell.lane])
        for row in chart.rows
        for cell in row.cells
    ):
        notes.append("some states are omitted for lack of room")
    return [*notes, *chart.notes]


def _wrapped(note: str, width: int) -> list[str]:
    """Return a note in lines that are not too wide; ``textwrap`` counts characters."""
    lines, line = [], ""
    for word in note.split(" "):
        for part in chop_cells(word, width - 2) or [""]:
            if line and cell_len(line) + 1 + cell_len(part) > width:
                lines.append(line)
                line = " "
            line = f"{line} {part}" if line else part
    return [*lines, line]
