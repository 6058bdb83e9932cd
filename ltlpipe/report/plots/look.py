"""The look of all plots: matplotlib's own defaults and `LOOK`.

Whatever a user has configured, the same table gives the same picture.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

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
    from matplotlib import style

    with style.context(["default", LOOK]):
        yield


def draw(figure: Figure, stream: BinaryIO, form: str) -> None:
    """Write a figure in a format of `matplotlib`: "svg", "pdf", "png"."""
    with styled(), warnings.catch_warnings():
        # A name may be in a script that the font lacks: it is drawn as boxes.
        warnings.filterwarnings("ignore", r"Glyph .* missing", UserWarning)
        figure.savefig(stream, format=form, metadata=_ABOUT[form])
