"""Tables laid out: LaTeX, as far as commands do not show it."""

from __future__ import annotations

import pandas as pd

from ltlpipe.report.layouts import Layout, latex, of_frame


def test_rules_and_sides():
    """Booktabs; numbers on the right, texts and truth values on the left."""
    frame = pd.DataFrame(
        {"a_b": ["x<y", "$z"], "n": [1, 20], "s": [0.5, None], "yes": [True, False]}
    )
    assert latex(of_frame(frame)).splitlines() == [
        r"\begin{tabular}{lrrl}",
        r"\toprule",
        r"a\_b & n & s & yes \\",
        r"\midrule",
        r"x\textless{}y & 1 & 0.500 & True \\",
        r"\$z & 20 & - & False \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_formulas_and_titles():
    """Typewriter for formulas; titles need not be unique, rows not be there."""
    text = latex(Layout(["f", "f"], [["G a & b", "G a & b"]], ["c", ""]))
    assert r"\texttt{G a \& b} & G a \& b \\" in text
    assert r"f & f \\" in text
    assert latex(Layout(["f"], [], ["c"])).count("\\\\") == 1
    rows = latex(Layout(["f"], [["[]p"], ["*"]], [""])).splitlines()[4:6]
    assert rows == [r"{[}]p \\", r"{*} \\"]  # no arguments of the line breaks
