"""Plots: what is where, in the figures and in the files."""

from __future__ import annotations

import math
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LtlpipeError, UnsupportedError
from ltlpipe.report import plots
from ltlpipe.report.plots import figures
from ltlpipe.report.plots.configurations import cost_column
from ltlpipe.report.plots.curves import costs_of_solved, counts, curves, sized
from ltlpipe.report.plots.scatter_plot import DIFFER, UNANSWERED, pairs
from tests.report.handmade_tables import row, stored

EVIL = "_$\\frac$ <b>&\x07\n\u4e2d☃"

A, B = "--emptiness se05", "--emptiness gv04"


def two(*questions, **columns):
    """A table of two configurations; a pair of seconds per question."""
    return stored(
        [
            row(name, seconds, f"F{number}", **columns)
            for number, pair in enumerate(questions)
            for name, seconds in zip((A, B), pair, strict=True)
        ]
    )


ALL = {
    "cactus": plots.cactus,
    "scatter": plots.scatter,
    "verdicts": plots.verdicts,
    "growth": plots.growth,
}


@pytest.fixture
def frame():
    return two((1.0, 2.0), (4.0, 2.0), (None, 3.0), (None, None), states=7)


def test_costs_of_solved(frame):
    """In ascending order, the configuration that solves most first."""
    found = costs_of_solved(frame)
    assert {n: c.tolist() for n, c in found.items()} == {B: [2, 2, 3], A: [1, 4]}
    assert [*found] == [B, A]


def test_cactus(frame):
    """Each curve rises at the seconds of a task, and goes on to the border."""
    axes = plots.cactus(frame).axes[0]
    first, second = axes.lines
    assert first.get_label() == f"{B} (3)"
    assert first.get_ydata().tolist() == [0, 1, 2, 3, 3]
    assert first.get_xdata().tolist() == [0.5, 2, 2, 3, 10]
    assert second.get_xdata().tolist() == [0.5, 1, 4, 10]
    assert first.get_drawstyle() == "steps-post"
    assert (axes.get_xscale(), axes.get_xlim()) == ("log", (0.5, 10))
    assert axes.get_title() == "Solved tasks (8 in all)"


def test_cactus_of_one_that_solves_nothing():
    """It has a curve, at the bottom."""
    axes = plots.cactus(two((1.0, None))).axes[0]
    assert axes.lines[1].get_ydata().tolist() == [0, 0]


def test_pairs(frame):
    """NaN where there is no answer; the ratio is that of what both have answered."""
    found = pairs(frame, A, B)
    np.testing.assert_equal(found.x, [1, 4, np.nan, np.nan])
    np.testing.assert_equal(found.y, [2, 2, 3, np.nan])
    assert found.kind.tolist() == ["holds"] * 3 + [UNANSWERED]
    assert found.ratio == pytest.approx(math.sqrt(2.0 * 0.5))
    assert pairs(frame.iloc[4:], A, B).ratio is None


def test_kinds_of_points():
    """Whose verdict is known gives the colour; two that differ are told."""
    verdicts = [
        ("violated", "violated"),
        ("holds", "violated"),
        ("unknown", "violated"),
    ]
    rows = [
        row(name, 1.0, f"F{number}", verdict=verdict)
        for number, pair in enumerate(verdicts)
        for name, verdict in zip((A, B), pair, strict=True)
    ]
    found = pairs(stored(rows), A, B)
    assert found.kind.tolist() == ["violated", DIFFER, "violated"]
    labels = [d.get_label() for d in plots.scatter(stored(rows)).axes[0].collections]
    assert labels == ["violated (2)", f"{DIFFER} (1)"]


def test_questions_of_one_only_are_no_points():
    """And of several rows for a question the cheapest answer counts."""
    rows = [row(A, 1.0, "f"), row(A, 3.0, "g"), row(A, None, "g"), row(B, 2.0, "g")]
    found = pairs(stored(rows), A, B, by=["configuration"])
    assert (found.x.tolist(), found.y.tolist()) == ([3.0], [2.0])


@given(
    st.lists(st.tuples(*[st.none() | st.floats(1e-3, 1e3)] * 2), min_size=1, max_size=8)
)
def test_swapping_axes_inverts_the_ratio(questions):
    """And leaves the rest as it is."""
    frame = two(*questions)
    found, swapped = pairs(frame, A, B), pairs(frame, B, A)
    np.testing.assert_equal(found.x, swapped.y)
    assert found.both.sum() == sum(None not in pair for pair in questions)
    if found.ratio is None:
        assert swapped.ratio is None
    else:
        expected = [b / a for a, b in questions if a is not None and b is not None]
        mean = math.prod(expected) ** (1 / len(expected))
        assert found.ratio == pytest.approx(mean)
        assert found.ratio * swapped.ratio == pytest.approx(1.0)


@pytest.mark.parametrize(("timeout", "limit"), [(60.0, 60.0), (None, 6.0), (2.0, 4.0)])
def test_scatter(frame, timeout, limit):
    """What was not answered is beyond the dotted lines, which are at the time limit."""
    other = stored([row("other", None, timeout=99.0)])
    frame = pd.concat([frame, other], ignore_index=True)
    frame.loc[: len(frame) - 2, "timeout"] = timeout
    axes = plots.scatter(frame, A, B, by=["configuration"]).axes[0]
    answered, lost = axes.collections
    assert answered.get_offsets()[:2].tolist() == [[1, 2], [4, 2]]
    _, horizontal, vertical = axes.lines
    assert horizontal.get_ydata()[0] == vertical.get_xdata()[0] == limit
    ((x, y),) = lost.get_offsets().tolist()
    assert x == y == answered.get_offsets()[2, 0] > limit
    assert x < axes.get_xlim()[1] == axes.get_ylim()[1]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == f"{A}, seconds (wall clock)"
    assert axes.get_title() == (
        "seconds (wall clock) y / x, geometric mean: 1\n"
        "answered by both: 2; x only: 0; y only: 1"
    )


def test_which_two():
    """They can be named, one or both; of more than two they have to be."""
    frame = stored([row(name, 1.0) for name in ("p", "q", "r")])
    for a, b, shown in [("q", "p", "q"), ("r", "q", "r")]:
        assert (
            plots.scatter(frame, a, b).axes[0].get_xlabel()
            == f"{shown}, seconds (wall clock)"
        )
    both = frame[:2]
    assert plots.scatter(both, b="p").axes[0].get_xlabel() == "q, seconds (wall clock)"
    assert plots.scatter(both, "q").axes[0].get_ylabel() == "p, seconds (wall clock)"
    with pytest.raises(UnsupportedError, match=r"there are 3 \('p', 'q', 'r'\)"):
        plots.scatter(frame)
    with pytest.raises(UnsupportedError, match="'s' is not a configuration: expected"):
        plots.scatter(frame, "s")
    with pytest.raises(UnsupportedError, match="all rows are of one configuration"):
        plots.scatter(frame[:1])


def test_counts():
    """Verdicts in a fixed order, unknown by reason."""
    frame = stored(
        [
            row(B, None),
            row(A, 1.0),
            row(B, 1.0, verdict="violated"),
            row(A, None, reason="memory", formula_id="2"),
            row(A, None, reason=None, formula_id="3"),
            row(A, 1.0, "G b"),
        ]
    )
    table = counts(frame)
    assert table.index.tolist() == [B, A]
    assert table.columns.tolist() == [
        *("holds", "violated", "unknown: memory", "unknown: no reason"),
        "unknown: timeout",
    ]
    assert table.to_numpy().tolist() == [[0, 1, 0, 0, 1], [2, 0, 1, 1, 0]]


def test_verdict_bars(frame):
    """Stacked: widths are counts, and each begins where the one before ends."""
    axes = plots.verdicts(frame).axes[0]
    bars = [list(c.patches) for c in axes.containers]
    assert [[b.get_width() for b in of] for of in bars] == [[2, 3], [2, 1]]
    assert [b.get_x() for b in bars[1]] == [2, 3]
    assert [t.get_text() for t in axes.get_yticklabels()] == [A, B]
    assert sorted(t.get_text() for t in axes.texts) == ["1", "2", "2", "3"]
    assert axes.yaxis_inverted()


def sized_rows(*rows):
    """Rows of (system, states); None: no answer."""
    return stored(
        [
            row(
                "c", None if states is None else 1.0, str(k), system=name, states=states
            )
            for k, (name, states) in enumerate(rows)
        ]
    )


def test_curves():
    """Medians per size; half without an answer is no median."""
    frame = sized_rows(
        *[("p-10.hoa", 5), ("p-2.hoa", 1), ("p-2.hoa", 9), ("p-2.hoa", 3)],
        *[("p-3.hoa", 4), ("p-3.hoa", None), ("q1-2", 2), ("alone", 1)],
        *[("p-4.hoa", 4), ("p-4.hoa", None), ("p-4.hoa", 8)],
    )
    p, q = curves(frame)
    assert (p.family, q.family) == ("p-N.hoa", "q1-N")
    assert p.sizes.tolist() == [2, 3, 4, 10]
    np.testing.assert_equal(p.costs, [3, np.nan, 8, 5])
    axes = plots.growth(frame).axes[0]
    assert [c.get_label() for c in axes.lines] == ["p-N.hoa", "q1-N"]
    assert (
        axes.get_title()
        == "Median of states per size (1 tasks without a size left out)"
    )
    assert axes.get_yscale() == "log"


@given(
    st.lists(st.tuples(st.integers(1, 3), st.none() | st.integers(1, 9)), min_size=1)
)
def test_medians(rows):
    """At least half of a size's tasks cost no more, and at least half no less."""
    (curve,) = curves(sized_rows(*((f"p{size}", states) for size, states in rows)))
    assert curve.sizes.tolist() == sorted({size for size, _ in rows})
    for size, cost in zip(curve.sizes, curve.costs, strict=True):
        some = [math.inf if c is None else c for s, c in rows if s == size]
        median = math.inf if np.isnan(cost) else cost
        assert median in some
        assert 2 * sum(c <= median for c in some) >= len(some)
        assert 2 * sum(c >= median for c in some) >= len(some)
        if np.isnan(cost):
            assert 2 * some.count(math.inf) >= len(some)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(None, 4.0), (r"n(\d+)", 3.0), (r"[\d.]+", 0.5), (r"r([\d.]+)", 0.5)],
)
def test_where_the_size_is(size, expected):
    """The last number, or what the expression or its group finds first."""
    (curve,) = curves(sized_rows(("r0.5-n3-s4.hoa", 1)), size=size)
    assert curve.sizes.tolist() == [expected]


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("(", "no regular expression"),
        (r"(\w)-", "expected a number in 'p-2', found 'p'"),
        ("(x)?p", "found None"),
        ("z", "no system has a size"),
    ],
)
def test_no_size(size, message):
    with pytest.raises(UnsupportedError, match=message):
        plots.growth(sized_rows(("p-2", 1)), size=size)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("cactus", [], "no task was solved"),
        ("cactus", [row(A, None)], "no task was solved"),
        ("scatter", [], "all rows are of one configuration"),
        ("scatter", [row(A, 1.0), row(B, 1.0, "G b")], "all rows are of one"),
        ("verdicts", [], "the table has no rows"),
        ("growth", [], "no system has a size"),
        ("growth", [row(A, None)], "no size has answers"),
    ],
)
def test_nothing_to_plot(name, rows, message):
    with pytest.raises(UnsupportedError, match=f"nothing to plot: {message}"):
        ALL[name](stored(rows))


def test_no_common_question():
    frame = stored([row(A, 1.0), row(B, 1.0, "G b")])
    with pytest.raises(UnsupportedError, match="no question was asked with both"):
        plots.scatter(frame, by=["configuration"])


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_table_gives_the_same_file(name, suffix, frame, tmp_path):
    """Whatever settings a user has; no date is in it."""
    import matplotlib as mpl

    plots.save(ALL[name](frame), tmp_path / f"1.{suffix}")
    mine = {"font.size": 20, "axes.facecolor": "red", "svg.hashsalt": None}
    with mpl.rc_context(mine):
        plots.save(ALL[name](frame), tmp_path / f"2.{suffix}")
        assert mpl.rcParams["font.size"] == 20
    first, second = ((tmp_path / f"{k}.{suffix}").read_bytes() for k in (1, 2))
    assert first == second
    assert first.startswith(
        {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    )


@pytest.mark.parametrize("name", ALL)
def test_names_from_files(name):
    """Markup, formulas of TeX, and what no font has: shown, or replaced by signs."""
    frame = stored(
        [
            row(f"{EVIL} {k}", 1.0, system=f"{EVIL}{s}", states=1)
            for k in "ab"
            for s in (1, 2)
        ]
    )
    text = plots.svg_text(ALL[name](frame))
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not list(root.iter("b"))


def test_legend_entries_are_all_there():
    """Also of names that begin with an underscore, which legends leave out."""
    names = ("_x", "y", "x" * 50 + "z" * 49)
    frame = stored([row(name, 1.0 + k) for k, name in enumerate(names)])
    (legend,) = plots.cactus(frame).legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [" _x (1)", "y (1)", "x" * 40 + "…" + "z" * 39 + " (1)"]


@given(st.floats(1e-5, 1e9), st.floats(1.01, 1e6))
def test_logarithmic_axes(low, factor):
    """Have two powers of ten, and are less than a decade wider at either end."""
    axes = figures.figure_class()().subplots()
    begin, end = figures.logarithmic(axes, "y", low, low * factor)
    assert axes.get_ylim() == (begin, end)
    assert low / 10 < begin <= low < low * factor <= end < low * factor * 10
    ticks = axes.yaxis.get_major_locator()()
    assert sum(0.999 * begin <= tick <= 1.001 * end for tick in ticks) >= 2


def test_lines_look_different():
    """Up to 28 of them, also without colours."""
    looks = [figures.line(k) for k in range(28)]
    assert len({*looks}) == 28
    assert len({look[1:] for look in looks}) == 28


def test_plots_of_a_plain_table(tmp_path):
    """Any table that has the columns will do."""
    frame = pd.DataFrame(
        {
            "system": ["p1", "p2"] * 2,
            "verdict": ["holds"] * 3 + ["unknown"],
            "way": ["u", "u", "v", "v"],
            "seconds": [1.0, 2.0, 3.0, math.nan],
            "states": [1, 2, 3, 4],
        },
        index=[5, 5, 7, 9],
    )
    for name, plot in ALL.items():
        plots.save(plot(frame, by=["way"]), tmp_path / f"{name}.svg")
    assert pairs(frame, "u", "v", by=["way"]).x.tolist() == [1.0, 2.0]


def test_what_cannot_be_written(frame, tmp_path):
    figure = plots.verdicts(frame)
    with pytest.raises(UnsupportedError, match=r"ends in \.svg, \.pdf or \.png"):
        plots.save(figure, tmp_path / "p.txt")
    with pytest.raises(LtlpipeError, match="no such folder"):
        plots.save(figure, tmp_path / "nowhere" / "p.svg")
    (tmp_path / "p.svg").mkdir()
    with pytest.raises(LtlpipeError, match="cannot be written"):
        plots.save(figure, tmp_path / "p.svg")


def test_without_matplotlib(frame, monkeypatch):
    """The error says what to install; importing the room does not need it."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for plot in ALL.values():
        with pytest.raises(UnsupportedError, match="pip install matplotlib"):
            plot(frame)


@pytest.mark.parametrize(
    ("a", "b", "columns", "expected"),
    [
        ("--emptiness se05", "--emptiness gv04", {}, "search_seconds"),
        ("default", "--emptiness gv04 --workers 2", {}, "search_seconds"),
        ("--reduce none", "--emptiness gv04", {}, "seconds"),
        ("default", "--translator ltl3ba", {}, "seconds"),
        ("--emptiness se05", "--emptiness gv04", {"search_seconds": None}, "seconds"),
    ],
)
def test_which_seconds(a, b, columns, expected):
    """Those of the search where nothing else differs and all answers have them."""
    rows = [
        row(name, 8.0, formula, **{"search_seconds": 2.0} | more)
        for name, formula, more in [
            (a, "G a", {}),
            (b, "G a", {}),
            (a, "G b", columns),
            (b, "G b", {}),
        ]
    ]
    frame = stored(rows)
    assert cost_column(frame) == expected
    taken = 2.0 if expected == "search_seconds" else 8.0
    axis = {"search_seconds": "of the search", "seconds": "(wall clock)"}[expected]
    for axes in (plots.cactus(frame).axes[0], plots.scatter(frame, a, b).axes[0]):
        assert axis in axes.get_xlabel()
    assert plots.cactus(frame).axes[0].lines[0].get_xdata()[1] == taken


def test_reductions_that_differ_are_no_matter_of_searching():
    """One configuration, or other reductions: the wall clock counts."""
    rows = [
        row(name, 8.0, search_seconds=2.0, reductions=used)
        for name, used in ((A, "none"), (B, "components"))
    ]
    assert cost_column(stored(rows)) == "seconds"
    assert cost_column(stored(rows[:1])) == "seconds"
    unanswered = [row(name, None, search_seconds=None) for name in (A, B)]
    assert cost_column(stored(unanswered)) == "seconds"


@pytest.mark.parametrize("name", ["cactus", "growth"])
def test_identical_curves(name):
    """All can be seen: dashes and markers take turns, and the legend says so."""
    rows = [
        row(c, 1.0 + (c == "r"), system=f"ring-{n}", states=n + (c == "r"))
        for c in "pqr"
        for n in (2, 3, 4, 5)
    ]
    first, twin, other = ALL[name](stored(rows)).axes[0].lines
    assert np.array_equal(first.get_ydata(), twin.get_ydata())
    assert "\nidentical to p" in twin.get_label()
    assert "identical" not in first.get_label() + other.get_label()
    offsets = [line._dash_pattern[0] for line in (first, twin)]
    assert offsets[0] != offsets[1]
    assert first._dash_pattern[1] == twin._dash_pattern[1] is not None
    assert other.get_linestyle() == "-"
    assert not {*first.get_markevery()} & {*twin.get_markevery()}


@pytest.mark.parametrize(
    "name",
    [
        *("problem101.dot", "Problem12.dot", "rers/problem-7/problem_7.dot"),
        *("list.txt#3", "task 4.aut", "seed_12.hoa", "p_007.dot", "3/system.dot"),
    ],
)
def test_numbers_of_problems_are_no_sizes(name):
    assert sized(name) == (None, name)
    with pytest.raises(UnsupportedError, match="numbers of problems"):
        plots.growth(sized_rows((name, 1)))


@pytest.mark.parametrize(
    ("name", "size"),
    [("ring-12.aut", 12), ("p3/piano7.dve", 7), ("pseudocase2b.aut", 2), ("n10", 10)],
)
def test_sizes(name, size):
    assert sized(name)[0] == size
