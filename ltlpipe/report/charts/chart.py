"""The sequence chart of a lasso: the public class."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from ltlpipe.report.charts.sequence import charted
from ltlpipe.runtime.arguments import TRUTH, WHOLE, Kind, expect
from ltlpipe.verdict.lasso import Lasso

if TYPE_CHECKING:
    from ltlpipe.report.charts.sequence import ChartedLasso

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
        self._charted = partial(charted, lasso, most_steps=steps)

    @cached_property
    def svg(self) -> str:
        """The chart as SVG, from ``<svg`` on; it loads nothing and runs nothing."""
        from ltlpipe.report.charts.svg_chart import svg_of_chart

        return svg_of_chart(self._charted(most_lanes=self._lanes))

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
        from ltlpipe.report.charts.text_chart import ASCII, BOX, text_of_chart

        expect(WHOLE, width=width)
        expect(TRUTH, ascii_only=ascii_only)

        def narrowed(most: int) -> ChartedLasso:
            return self._charted(most_lanes=most)

        return text_of_chart(narrowed, self._lanes, width, ASCII if ascii_only else BOX)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return framed(self.svg)


def framed(svg: str) -> str:
    """Return a picture in HTML, in its full size: wide ones scroll."""
    return f'<div style="overflow-x: auto">{svg}</div>'
