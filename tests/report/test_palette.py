"""The colours of verdicts: readable, told apart by everybody, the same everywhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ltlpipe import Plan, Statistics, Verdict
from ltlpipe.report import plots
from ltlpipe.report.notebook import html_of
from ltlpipe.report.palette import ON_BLACK, ON_WHITE, SYMBOLS, style_sheet
from ltlpipe.report.plots.scatter_plot import KINDS
from tests.report.handmade_tables import row, stored

# Linear RGB as people with these deficiencies see it: G. M. Machado, M. M. Oliveira and
# L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", IEEE TVCG 15 (2009), severity 1.0.
SEEN = {
    "all colours": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour):
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def lab(rgb):
    """CIE 1976 L*a*b* of linear sRGB under D65."""
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(a, b):
    """As WCAG 2.2 defines it."""
    bright = sorted(np.dot([0.2126, 0.7152, 0.0722], linear(c)) + 0.05 for c in (a, b))
    return bright[1] / bright[0]


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("colours", [ON_WHITE, ON_BLACK], ids=["white", "black"])
def test_they_are_told_apart(colours, eyes):
    """A difference of 20 is ten times what can just be seen."""
    seen = [lab(np.array(SEEN[eyes]) @ linear(c)) for c in colours.values()]
    for a, b in combinations(seen, 2):
        assert np.linalg.norm(a - b) > 20


def test_words_in_them_can_be_read():
    """On the page and on its panels, in both schemes."""
    for colours, grounds in [
        (ON_WHITE, ("#ffffff", "#f3f3f7", "#fdf0d5")),
        (ON_BLACK, ("#17171c", "#22222a", "#3a3220")),
    ]:
        for colour in colours.values():
            assert min(contrast(colour, ground) for ground in grounds) >= 4.5


def test_the_same_everywhere():
    """Page, bars, points and notebooks."""
    frame = stored(
        [
            row(name, 1.0, formula, verdict=verdict)
            for formula, verdict in (("G a", "holds"), ("G b", "violated"))
            for name in "pq"
        ]
    )
    bars = {c.get_label(): c for c in plots.verdicts(frame).axes[0].containers}
    for verdict in ("holds", "violated"):
        colour = ON_WHITE[verdict]
        assert f"--{verdict}: {colour};" in style_sheet()
        assert bars[verdict][0].get_facecolor() == pytest.approx((*srgb(colour), 1.0))
        assert KINDS[verdict][0] == colour
        plan, stats = Plan("TGBA", "se05", ()), Statistics(seconds=1.0)
        known = {"plan": plan, "stats": stats, "reason": None, "system": "s"}
        shown = html_of(Verdict(verdict=verdict, formula="G a", **known))
        assert f"color: {colour};" in shown
    assert {*SYMBOLS} == {*ON_WHITE} == {*ON_BLACK}


def srgb(colour):
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
