"""Figures that notebooks show without ``%matplotlib inline``."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

from ltlpipe.report.plots.look import draw

_WIDTH = 100  # pixels of a page for an inch


class NotebookFigure(Figure):
    """A figure that is shown where it is the value of a cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture and its size on the page, at which it is sharp."""
        drawn = io.BytesIO()
        draw(self, drawn, "png")
        return drawn.getvalue(), {"width": round(_WIDTH * self.get_figwidth())}
