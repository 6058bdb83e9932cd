"""The plots of a page: which there are."""

from __future__ import annotations

import sys

import pytest

from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import to_frame
from ltlpipe.report.page import MOST_NAMES, MOST_PAIRS, plots
from tests.report.handmade_tables import row, stored


def captions(rows):
    return [plot.caption for plot in plots(stored(rows))]


def test_one_configuration():
    """Verdicts and solved tasks; nothing to compare."""
    found = captions([row("default", 0.1), row("default", None, "G b")])
    assert found == ["Verdicts", "Solved tasks over the seconds of a task"]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_some_configurations():
    """Two are compared; of more, the first pairs; with many names no bars."""
    two = captions([row(name, 0.1) for name in "ab"])
    assert two == [
        "Verdicts of each configuration",
        "Solved tasks over the seconds of a task of each configuration",
        "Seconds with a and with b",
    ]
    four = captions([row(name, 0.1) for name in "abcd"])
    assert len(four) == 2 + MOST_PAIRS
    many = captions([row(f"c{k}", 0.1) for k in range(MOST_NAMES + 1)])
    assert len(many) == MOST_PAIRS


@pytest.mark.parametrize(
    ("names", "is_drawn"),
    [
        (["ring-3.aut", "ring-4.aut", "ring-5.aut"], True),
        (["m/philosophers_9.hoa.gz", "m/philosophers_10.hoa.gz", "m/x_1.dot"], True),
        (["3/system.dot", "4/system.dot", "5/system.dot"], False),
        (["p_001.dot", "p_002.dot", "p_003.dot"], False),
        (["ring-3.aut", "ring-4.aut"], False),
    ],
)
def test_sizes(names, is_drawn):
    """Growth is plotted over sizes, not over the numbers of problems."""
    rows = [
        row("a", 0.1, system=name, states=10 * k + 10) for k, name in enumerate(names)
    ]
    assert any("size" in caption for caption in captions(rows)) == is_drawn


def test_nothing_to_plot():
    """An empty table, one without seconds, one where nothing is solved."""
    assert plots(to_frame([], RESULTS_DTYPES)) == []
    frame = to_frame(
        [{"system": "s", "formula": "a", "verdict": "holds"}], RESULTS_DTYPES
    )
    few = frame[["system", "formula", "verdict"]]
    assert [plot.caption for plot in plots(few)] == ["Verdicts"]
    assert captions([row("default", None)]) == ["Verdicts"]


def test_without_matplotlib(monkeypatch):
    """The page says so."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    (found,) = plots(stored([row("default", 0.1)]))
    assert found.image is None
    assert "pip install matplotlib" in found.caption
