"""Sequence charts of lassos: what is in them, as text, and as SVG."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from lxml import etree
from rich.cells import cell_len

from ltlpipe import LTS, Chart, Lasso, Network, check, load
from ltlpipe.report.chart_rows import charted, kept, shortened
from ltlpipe.report.text_chart import ASCII, BOX, marks_for
from tests.cross.test_finite_runs import SOURCE
from tests.example_counts import examples
from tests.report.handmade_lassos import lassos, lost_lasso, office_lasso, ring_lasso
from tests.report.handmade_stores import EVIL

CHARTS = Path(__file__).parent / "charts"
"""What charts look like; a changed look is looked at before it is put there."""

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Not to shrink: that takes minutes, and says little of 45 components."""

SVG = "{http://www.w3.org/2000/svg}"
LASSOS = {"office": office_lasso, "lost": lost_lasso, "ring": lambda: ring_lasso(3)}


def by_class(root, name):
    return [e for e in root.iter() if e.get("class") == name]


def shown(element):
    """The text of an element, without what a pointer on it is told."""
    title = element.find(f"{SVG}title")
    return (element.text or "") if title is None else title.tail or ""


@pytest.mark.parametrize("name", LASSOS)
def test_whole_text(name):
    expected = (CHARTS / f"{name}.txt").read_text(encoding="utf-8")
    assert LASSOS[name]().chart().text() == expected


@pytest.mark.parametrize("name", LASSOS)
def test_whole_svg(name):
    expected = (CHARTS / f"{name}.svg").read_text(encoding="utf-8")
    assert LASSOS[name]().chart().svg == expected


def test_without_box_characters():
    assert lost_lasso().chart().text(ascii_only=True).splitlines() == [
        "           client <&>  server",
        "             idle        free",
        "  1   ask  O waiting --O busy",
        "/ 2 * get  # idle -----# free",
        "| -- violated by these 2 steps: what follows does not matter",
        "| 3   ask  o waiting ..o busy",
        "\\ repeats for ever",
        "* and #: steps that the formula names",
    ]


def test_what_an_encoding_takes():
    assert marks_for("utf-8") is BOX
    for other in ("ascii", "latin-1", "cp437", None, "no such encoding"):
        assert marks_for(other) is ASCII


def test_as_python_and_notebooks_have_it():
    chart = lost_lasso().chart()
    assert isinstance(chart, Chart)
    assert str(chart) + "\n" == chart.text()
    assert chart._repr_svg_() == chart.svg
    assert chart.svg in chart._repr_html_()
    assert chart.svg in lost_lasso()._repr_html_()
    with pytest.raises(TypeError, match="steps: expected a whole number"):
        lost_lasso().chart(steps=1.5)


@given(
    st.integers(1, 300),
    st.integers(12, 60),
    st.lists(st.integers(0, 299), max_size=2),
)
def test_which_steps_are_kept(n_steps, most, around):
    """The ends, and both sides of each place; None wherever some are missing."""
    around = [place for place in around if place < n_steps]
    steps = kept(n_steps, most, around)
    numbers = [step for step in steps if step is not None]
    assert numbers == sorted({*numbers})
    assert {0, n_steps - 1, *around} <= {*numbers}
    assert {place - 1 for place in around if place} <= {*numbers}
    assert len(numbers) <= most + 2 * len(around) + 2
    for left, step, right in zip(steps, steps[1:], steps[2:], strict=False):
        if step is None:
            assert right - left > 2
        elif left is not None:
            assert step == left + 1


@given(lassos(), st.integers(1, 50))
@settings(max_examples=examples(100), deadline=None, phases=PHASES)
def test_every_step_is_there_once(lasso, most_lanes):
    """Or among those that a row says are left out; the cycle begins where it does."""
    chart = charted(lasso, most_steps=40, most_lanes=most_lanes)
    told = []
    for row in chart.rows:
        told += range(row.number, row.number + max(row.left_out, 1))
    assert told == [*range(1, len(lasso.actions) + 1)]
    assert chart.rows[chart.first].number == len(lasso.prefix) + 1
    lost = lasso.bad_prefix
    for row in chart.rows:
        assert row.irrelevant == (lost is not None and row.number > lost)
        assert row.named == (not row.left_out and bool(steps_holds(lasso, row)))
        places = [cell.lane for cell in row.cells]
        assert places == sorted({*places})
        assert all(place < len(chart.lanes) for place in places)
    if lost is not None and lost <= len(lasso.actions):
        assert chart.rows[chart.lost - 1].number == lost
    else:
        assert chart.lost is None
    assert len(chart.lanes) <= most_lanes
    assert any("round" in note for note in chart.notes) == (
        lost is not None and lost > len(lasso.actions)
    )


def steps_holds(lasso, row):
    return lasso.steps[row.number - 1].holds


@given(lassos())
@settings(max_examples=examples(100), deadline=None, phases=PHASES)
def test_states_follow_each_other(lasso):
    """What a gap changes is what no step that is shown has; then steps go on."""
    chart = charted(lasso, most_steps=40, most_lanes=50)
    behind_gap = False
    now = [lane.initial for lane in chart.lanes]
    for row in chart.rows:
        for cell in row.cells:
            if row.left_out or behind_gap:
                assert cell.before == now[cell.lane]
            now[cell.lane] = cell.after
        behind_gap = bool(row.left_out)


@given(lassos(), st.integers(40, 200), st.booleans())
@settings(max_examples=examples(100), deadline=None, phases=PHASES)
def test_text_keeps_its_layout(lasso, width, ascii_only):
    """One line per row, none too long, and no control characters."""
    text = lasso.chart().text(width, ascii_only=ascii_only)
    assert all(c.isprintable() for line in text.splitlines() for c in line)
    lines = text.splitlines()
    assert text.split("\n") == [*lines, ""]
    for line in lines:
        assert cell_len(line) <= width, line
    chart = charted(lasso, most_steps=40, most_lanes=40)
    numbers = [row.number for row in chart.rows if not row.left_out]
    digits = len(str(max(row.number for row in chart.rows)))
    column = [line[2 : 2 + digits].strip() for line in lines]
    begin = column.index("1")
    end = next(k for k, line in enumerate(lines) if "repeats for ever" in line)
    rows = [k for k in range(begin, end) if "violated by th" not in lines[k]]
    assert [int(column[k]) for k in rows if column[k]] == numbers
    assert len(rows) == len(chart.rows)
    assert [bool(column[k]) for k in rows] == [not row.left_out for row in chart.rows]


@given(lassos())
@settings(max_examples=examples(100), deadline=None, phases=PHASES)
def test_svg_keeps_its_layout(lasso):
    """Well-formed, one group per row, and nothing outside of the view box."""
    root = etree.fromstring(lasso.chart().svg)
    chart = charted(lasso, most_steps=40, most_lanes=40)
    steps = [row for row in chart.rows if not row.left_out]
    assert [shown(e) for e in by_class(root, "number")] == [
        str(r.number) for r in steps
    ]
    assert len(by_class(root, "step")) == len(steps)
    assert len(by_class(root, "gap")) == len(chart.rows) - len(steps)
    dots = sum(len(row.cells) for row in steps)
    assert len(by_class(root, "dot")) == dots
    assert len(by_class(root, "name")) == len(chart.lanes)
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(element.get(k)) for k in ("x", "y", "width", "height"))
        assert 0 <= x < x + w <= width
        assert 0 <= y < y + h <= height
    tags = {etree.QName(e).localname for e in root.iter()}
    assert tags <= {
        *("svg", "g", "rect", "line", "circle", "path", "polygon", "text", "title")
    }
    assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)


def test_hostile_names():
    """They are shown, cut and in one line, and are no markup."""
    lasso = ring_lasso(len(EVIL), EVIL)
    root = etree.fromstring(lasso.chart().svg)
    names = [shown(e) for e in by_class(root, "name")]
    plain = ["".join(c if c.isprintable() else "?" for c in name) for name in EVIL]
    assert names == [shortened(name, 24) for name in plain]
    titles = [e.find(f"{SVG}title").text for e in by_class(root, "name")]
    assert titles == plain
    text = lasso.chart().text(1000)
    for name in plain:
        assert name in text
    assert not any(unicodedata.category(c)[0] == "C" for c in text if c != "\n")


def test_many_components():
    """With room for all of them, or with the rest as one."""
    lasso = ring_lasso(30)
    wide = charted(lasso, most_steps=200, most_lanes=40)
    assert [lane.name for lane in wide.lanes] == [f"station_{k}" for k in range(30)]
    cut = charted(lasso, most_steps=200, most_lanes=10)
    assert [lane.name for lane in cut.lanes][-1] == "21 others"
    assert "station_1" in [lane.name for lane in cut.lanes]  # the formula names it
    moves = [cell.after for row in cut.rows for cell in row.cells if cell.lane == 9]
    assert {"2 move", "station_20"} <= {*moves}
    short = charted(lasso, most_steps=12, most_lanes=40)
    (note,) = short.notes
    still = 30 - len(short.lanes)
    assert note.startswith(f"without a line: {still} of 30 components, which take ")
    gap = next(row for row in short.rows if row.left_out)
    assert all(cell.before != cell.after for cell in gap.cells)


def test_nobody_moves():
    """A deadlock at once: a row without lanes."""
    still = LTS.from_transitions([(1, "a", 0)], n_states=2)
    lasso = check(Network([still]), "F a", deadlock="stutter").lasso
    assert "1   <stutter>" in lasso.chart().text()
    root = etree.fromstring(lasso.chart().svg)
    assert len(by_class(root, "step")) == 1
    assert not by_class(root, "lane")


def test_a_finite_run_repeats_nothing():
    chart = check(SOURCE, "G(p0<=2)").finite_run.chart()
    for shown in (chart.text(), chart.svg):
        assert "t0" in shown
        assert "repeat" not in shown
    assert "└" not in chart.text()


def test_a_finite_run_without_notes():
    """One lane, no step that the formula names, and nothing to say below."""
    single = Network([LTS.from_transitions([(0, "a", 1)], name="single")])
    with pytest.warns(match="never true"):
        run = check(single, "G !b", deadlock="error", unknown="never").finite_run
    assert not by_class(etree.fromstring(run.chart().svg), "note")


def test_processes_and_variables():
    """Of a model: who moves first, then what changes; also where a process stays."""
    lasso = check(load("examples/dve/alternating_bit.dve"), "G F deadlock").lasso
    chart = charted(lasso, most_steps=40, most_lanes=40)
    assert [(lane.name, lane.moves) for lane in chart.lanes] == [
        ("Sender", True),
        ("Loss", True),
        ("data.length", False),
    ]
    assert [tuple(cell.lane for cell in row.cells) for row in chart.rows] == [
        (0, 2),
        (0, 2),
        (1, 2),
    ]


def test_a_long_lasso_is_quick():
    """Nothing is asked about steps that are not shown."""
    n = 100_000
    states = np.zeros((n + 1, 3), np.int32)
    lasso = Lasso([], ["a"] * n, np.zeros(n, np.int32), states, ["a"] * n)
    assert f"{n - 40:,} left out" in lasso.chart().text()
    assert "steps" not in vars(lasso)


def test_what_changes_in_steps_left_out_does_not_stay_as_it_is(tmp_path):
    (model := tmp_path / "m.pml").write_text(
        "byte x, z;\nactive proctype P() {\n"
        "  do :: x < 40 -> x++; z = (x == 20) :: else -> break od }\n"
    )
    run = check(str(model), "G x<40", reduce="none").lasso
    assert "z" in run.chart(steps=1000).text()
    assert "stay as they are in the steps that are shown" in run.chart(steps=12).text()
