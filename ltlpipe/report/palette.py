"""Appearance of verdicts: one palette, and one sign for each.

Tables, plots, the page and notebooks take these colours and no others, so that a
verdict looks the same in all of them.  No verdict is shown by colour alone: there is a
sign or a word beside it.

Source: M. Okabe and K. Ito, "Color Universal Design", 2008.

Differences from the source: vermilion is darker, so that words in it can be read on
white (contrast of 4.5 and more, as in WCAG 2.2, 1.4.3), and so is the grey, which is
not a colour of the source; on dark backgrounds blue, vermilion and grey are lighter.
"""

from __future__ import annotations

from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

ON_WHITE = {HOLDS: "#0072b2", VIOLATED: "#b34a00", UNKNOWN: "#666666"}
"""The colours of verdicts on white and almost white ground, also on paper."""

ON_BLACK = {HOLDS: "#6cbdf0", VIOLATED: "#ff9e4f", UNKNOWN: "#bbbbc6"}
"""The same on dark ground."""

SYMBOLS = {HOLDS: "\u2713", VIOLATED: "\u2717", UNKNOWN: "?"}
"""Signs that distinguish verdicts besides their names and colours."""

DIFFER = "\u2260"
"""The sign of answers that contradict each other."""


def style_sheet() -> str:
    """Return the colours as variables of CSS: ``--holds`` and so on.

    Paper is white, whatever the screen is.
    """
    light, dark = (
        " ".join(f"--{verdict}: {colour};" for verdict, colour in colours.items())
        for colours in (ON_WHITE, ON_BLACK)
    )
    dark_screen = "@media screen and (prefers-color-scheme: dark)"
    return f":root {{ {light} }}\n{dark_screen} {{ :root {{ {dark} }} }}\n"
