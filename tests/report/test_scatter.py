"""Scatter plots of acceptances: which question is where, in which colour."""

from __future__ import annotations

import sys

import pytest

from benchmarks.acceptance_plots import FIN_SHARES, acceptances, shares
from ltlpipe import LTS, LtlpipeError, Network, UnsupportedError, compare
from ltlpipe.batch.table import COMPARISON_DTYPES, to_frame
from ltlpipe.report.plots import plottable, save
from ltlpipe.report.plots.figures import FEWEST
from ltlpipe.report.plots.scatter_plot import against_first

LOW, MIDDLE, HIGH, UNKNOWN = FIN_SHARES
X, Y = "TGBA", "TGRA"


def row(automaton, taken, formula="GF a", **columns):
    """Return a row as far as it is looked at."""
    return {
        "system": "s.aut",
        "formula_id": formula,
        "formula": formula,
        "seed": None,
        "automaton": automaton,
        "verdict": "holds",
        "search_seconds": taken,
    } | columns


def points(rows, a=X, b=Y, value="search_seconds"):
    """Return x, y, class and pairs of each question; None: not answered, not known."""
    found, pairs = shares(frame_of(rows), a, b, value)
    columns = (found.x.tolist(), found.y.tolist(), found.kind, pairs.tolist())
    return [
        tuple(None if part != part else part for part in point)
        for point in zip(*columns, strict=True)
    ]


def frame_of(rows):
    return to_frame(rows, COMPARISON_DTYPES)


def test_a_point_for_each_question_that_both_were_asked():
    """Rows meet by system, formula and seed; the rest is no point."""
    rows = [
        row(X, 1.0),
        row(Y, 2.0, fin_share=0.5, pairs=2),
        row(X, 3.0, "GF b"),
        row(Y, 4.0, "GF b", seed=1),
        row("BA", 5.0),
        row(Y, 6.0, system="t.aut"),
    ]
    assert points(rows) == [(1.0, 2.0, MIDDLE, 2)]
    assert points(rows, Y, "BA") == [(2.0, 5.0, MIDDLE, 2)]


@pytest.mark.parametrize("reason", ["timeout", "memory", "unsupported"])
def test_what_was_not_answered_has_no_seconds(reason):
    """However long it has taken."""
    rows = [row(X, 1.0), row(Y, 2.0, verdict="unknown", reason=reason)]
    assert points(rows) == [(1.0, None, UNKNOWN, None)]


def test_the_fastest_of_several_searches_counts():
    """And what took no time at all can stand on a logarithmic axis."""
    rows = [row(X, 3.0), row(X, 1.0), row(X, 0.5, verdict="unknown"), row(Y, 0.0)]
    assert points(rows) == [(1.0, FEWEST, UNKNOWN, None)]


def test_other_seconds():
    """Those of whole questions."""
    rows = [row(X, 1.0, seconds=10.0), row(Y, 2.0, seconds=20.0)]
    (point,) = points(rows, value="seconds")
    assert point[:2] == (10.0, 20.0)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"TFLA": 0.0, "TGBA": 0.5, "TGRA": 0.9}, LOW),
        ({"TGBA": 0.5, "TGRA": 0.9}, MIDDLE),
        ({"TGRA": 0.9}, HIGH),
        ({}, UNKNOWN),
    ],
    ids=["y", "x", "Rabin", "nobody"],
)
def test_whose_share_colours_a_point(shares, expected):
    """That of the y-axis first; a Fin-less automaton has none."""
    kinds = ("TGBA", "TFLA", "TGRA")
    rows = [row(kind, 1.0, fin_share=shares.get(kind)) for kind in kinds]
    (point,) = points(rows, "TGBA", "TFLA")
    assert point[2] == expected


@pytest.mark.parametrize(
    ("share", "colour"),
    [
        (None, UNKNOWN),
        (0.0, LOW),
        (0.099, LOW),
        (0.1, MIDDLE),
        (0.899, MIDDLE),
        (0.9, HIGH),
        (1.0, HIGH),
    ],
)
def test_classes(share, colour):
    """Sec. 5.2.3 of the source: 0-10 %, 10-90 %, 90 % and more."""
    assert points([row(X, 1.0), row(Y, 1.0, fin_share=share)])[0][2] == colour


def test_each_way_against_the_first():
    """Both sides have names, all panels the same axes; the open are at the border."""
    ways = ["se05 (BA)", "gv04 (BA)", "couvreur99 (TGBA) --translator 'tool -D %f'"]
    costs = [(1.0, "F a"), (4.0, "F b")], [(2.0, "F a"), (None, "F b")], [(8.0, "F a")]
    rows = [
        row(X, cost, formula, verdict="unknown" if cost is None else "holds")
        for own in costs
        for cost, formula in own
    ]
    frame = frame_of(rows)
    frame["way"] = [way for way, own in zip(ways, costs, strict=True) for _ in own]
    figure = against_first(frame, by=["way"], value="search_seconds")

    left, right = figure.axes
    unit = ", seconds of the search"
    assert [left.get_xlabel(), left.get_ylabel()] == [way + unit for way in ways[:2]]
    assert right.get_ylabel().replace("\n", " ") == ways[2] + unit
    assert left.get_xlim() == left.get_ylim() == right.get_ylim()
    (answered,) = left.collections
    assert answered.get_offsets().tolist() == [[1.0, 2.0], [4.0, 8.0 * 1.5 * 1.5]]
    (answered,) = right.collections
    assert answered.get_offsets().tolist() == [[1.0, 8.0]]
    for axes in figure.axes:
        diagonal, *limits = axes.lines
        assert diagonal.get_slope() == 1
        assert [max(map(max, line.get_data())) for line in limits] == 2 * [12.0]


@pytest.mark.parametrize(
    "rows",
    [[row(X, 1.0)], [row(X, 1.0), row(Y, 1.0, "F b")], []],
    ids=["one way", "other questions", "nothing"],
)
def test_ways_that_do_not_meet(rows):
    with pytest.raises(UnsupportedError, match="nothing to plot"):
        against_first(frame_of(rows), by=["automaton"], value="search_seconds")


def test_panels():
    """All others against TGBA, and TFLA against TGRA; a point is where it belongs."""
    rows = [
        row("BA", 8.0),
        row("TGBA", 4.0),
        row("TGRA", 2.0, fin_share=0.95, pairs=1),
        row("TFLA", 1.0, verdict="unknown", reason="timeout"),
    ]
    axes = acceptances(frame_of(rows)).axes
    unit = "seconds of the search"
    assert [(a.get_xlabel(), a.get_ylabel()) for a in axes] == [
        (f"{x}, {unit}", f"{y}, {unit}")
        for x, y in [*(("TGBA", y) for y in ("BA", "TGRA", "TFLA")), ("TGRA", "TFLA")]
    ]
    assert {(a.get_xscale(), a.get_yscale()) for a in axes} == {("log", "log")}
    (drawn,) = axes[1].collections
    assert drawn.get_offsets().tolist() == [[4.0, 2.0]]
    assert drawn.get_label() == f"{HIGH} (1)"
    (lost,) = axes[2].collections
    ((x, y),) = lost.get_offsets().tolist()
    limits = [line.get_ydata()[0] for line in axes[2].lines if line.get_ydata()[0] > 2]
    assert x == 4.0
    assert 8.0 < min(limits) < y < axes[2].get_ylim()[1]


def test_by_pairs():
    """One, two, and more, as in Fig. 8."""
    rows = []
    for n in (1, 2, 2, 3, 5, 9):
        rows += [row(X, 1.0, f"F{len(rows)}"), row(Y, 2.0, f"F{len(rows)}", pairs=n)]
    figure = acceptances(frame_of(rows), [(X, Y)], by_pairs=True)

    titles = [a.get_title() for a in figure.axes]
    assert titles == ["one pair (1)", "two pairs (2)", "more pairs (3)"]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_files(suffix, tmp_path):
    """A comparison becomes a file."""
    network = Network([LTS.from_transitions([(0, "a", 0), (0, "b", 0)])])
    frame = compare(network, ["GF a -> GF b"], acceptance="all", sizes=True)
    path = tmp_path / f"plot{suffix}"
    save(acceptances(frame), path)
    magic = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}
    assert path.read_bytes().startswith(magic[suffix])


def test_the_same_rows_give_the_same_svg(tmp_path):
    """So that published figures change only if the numbers do."""
    frame = frame_of([row(X, 1.0), row(Y, 2.0)])
    for name in ("1.svg", "2.svg"):
        save(acceptances(frame), tmp_path / name)
    assert (tmp_path / "1.svg").read_text() == (tmp_path / "2.svg").read_text()


@pytest.mark.parametrize(
    "rows",
    [[], [row(X, 1.0)], [row(X, 1.0), row(Y, 1.0, "GF b")]],
    ids=["no rows", "one kind", "other questions"],
)
def test_nothing_to_plot(rows):
    """Is said."""
    with pytest.raises(UnsupportedError, match="nothing to plot"):
        acceptances(frame_of(rows))


def test_what_cannot_be_written(tmp_path):
    """Other suffixes, folders that are not there, and folders in place of files."""
    with pytest.raises(UnsupportedError, match=r"ends in \.svg, \.pdf or \.png"):
        plottable(tmp_path / "p.txt")
    with pytest.raises(LtlpipeError, match="no such folder"):
        plottable(tmp_path / "nowhere" / "p.svg")
    (tmp_path / "p.svg").mkdir()
    with pytest.raises(LtlpipeError, match="cannot be written"):
        save(acceptances(frame_of([row(X, 1.0), row(Y, 2.0)])), tmp_path / "p.svg")


def test_without_matplotlib(tmp_path, monkeypatch):
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnsupportedError, match="pip install matplotlib"):
        plottable(tmp_path / "p.svg")
