"""The plots of a page: those of `ltlpipe.report.plots` as images that it holds.

An image that is part of an address (``data:``) brings its own styles, which the page's
policy forbids everywhere else.
"""

from __future__ import annotations

import base64
import re
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

MOST_PAIRS = 3
"""Scatter plots, one for each two configurations."""

MOST_NAMES = 12
"""Configurations of one plot; with more nobody can tell the curves apart."""

SIZE_IN_NAME = r"(?<!\d)([1-9]\d*)[^\d/\\]*$"
"""The size of a system, in the name of its file and not in that of its folder.

Numbers with zeros in front, as in ``problem_007.dot``, are names.
"""

_LEAST_SIZES = 3


class Plot(NamedTuple):
    """A plot; `image` is None where there is only something to say."""

    caption: str
    image: str | None  # an address that holds it


def plots(frame: pd.DataFrame) -> list[Plot]:
    """Return the plots that say something about a result table."""
    from ltlpipe.report.plots import svg_text

    found: list[Plot] = []
    for caption, draw in _wanted(frame):
        try:
            text = svg_text(draw())
        except UnsupportedError as error:
            if "matplotlib" in str(error):
                return [Plot(f"No plots: {error}", None)]
            continue  # there is nothing to plot
        coded = base64.b64encode(text.encode()).decode("ascii")
        found.append(Plot(caption, f"data:image/svg+xml;base64,{coded}"))
    return found


def _wanted(frame: pd.DataFrame) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield captions of plots and how to draw them."""
    from ltlpipe.report.plots import cactus, growth, scatter, verdicts
    from ltlpipe.report.plots.configurations import configured

    if not len(frame):
        return
    found = configured(frame)
    names, by = found.names, found.columns
    if len(names) <= MOST_NAMES:
        of_all = " of each configuration" if len(names) > 1 else ""
        yield f"Verdicts{of_all}", partial(verdicts, frame, by=by)
        if "seconds" in frame:
            caption = f"Solved tasks over the seconds of a task{of_all}"
            yield caption, partial(cactus, frame, by=by)
    if "seconds" not in frame:
        return
    for a, b in list(combinations(names, 2))[:MOST_PAIRS]:
        caption = f"Seconds with {a} and with {b}"
        yield caption, partial(scatter, frame, a, b, by=by)
    systems = frame["system"].dropna().unique()
    with_size = [name for name in systems if re.search(SIZE_IN_NAME, name)]
    if len(with_size) >= _LEAST_SIZES and "states" in frame:
        sized = frame[frame["system"].isin(with_size)]
        caption = "States over the size in the name of a system's file"
        yield caption, partial(growth, sized, by=by, size=SIZE_IN_NAME)
