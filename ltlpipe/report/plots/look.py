"""The look of all plots: matplotlib's own defaults and `LOOK`.

Whatever a user has configured, the same table gives the same picture.  The only module
that imports matplotlib as a whole; it is loaded when a plot is made.
"""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from matplotlib import style
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlesize": "medium",
    "figure.titlesize": "large",
    "font.size": 9.0,
    "grid.alpha": 0.4,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "savefig.dpi": 150.0,
    "svg.hashsalt": "ltlpipe",  # else the names of parts are drawn by lot
}

# Nothing that differs between two runs goes into a file.
_ABOUT: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the look of all plots."""
    with style.context(["default", LOOK]):
        yield


def drawn(figure: Figure, form: str) -> bytes:
    """Return a figure in a format of `matplotlib`: "svg", "pdf", "png"."""
    stream = io.BytesIO()
    with styled(), warnings.catch_warnings():
        # A name may be in a script that the font lacks: it is drawn as boxes.
        warnings.filterwarnings("ignore", r"Glyph .* missing", UserWarning)
        figure.savefig(stream, format=form, metadata=_ABOUT[form])
    return stream.getvalue()


_WIDTH = 100  # pixels of a page for an inch


class NotebookFigure(Figure):
    """A figure that notebooks show without ``%matplotlib inline``."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture and its size on the page, at which it is sharp."""
        return drawn(self, "png"), {"width": round(_WIDTH * self.get_figwidth())}
