"""The plots of a page: those that are informative for its table."""

from __future__ import annotations

import base64
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
"""Limit on the configurations of one plot: more curves are indistinguishable."""

_LEAST_SIZES = 3


class Plot(NamedTuple):
    """A plot; `image` is None if there is only a text."""

    caption: str
    image: str | None  # an address that holds it


def plots(frame: pd.DataFrame) -> list[Plot]:
    """Return the plots that are informative for a result table."""
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
    from ltlpipe.report.plots.configurations import OF_SEARCH, configured, cost_column

    if not len(frame):
        return
    found = configured(frame)
    names, by = found.names, found.columns
    value = cost_column(frame, by) if "seconds" in frame else "seconds"
    seconds = "Seconds of the search" if value == OF_SEARCH else "Seconds"
    if len(names) <= MOST_NAMES:
        of_all = " of each configuration" if len(names) > 1 else ""
        yield f"Verdicts{of_all}", partial(verdicts, frame, by=by)
        if "seconds" in frame:
            of_one = "search" if value == OF_SEARCH else "task"
            caption = f"Solved tasks over the seconds of a {of_one}{of_all}"
            yield caption, partial(cactus, frame, by=by, value=value)
    if "seconds" not in frame:
        return
    for a, b in list(combinations(names, 2))[:MOST_PAIRS]:
        caption = f"{seconds} with {a} and with {b}"
        yield caption, partial(scatter, frame, a, b, by=by, value=value)
    with_size = _with_size(frame)
    if len(with_size) and "states" in frame:
        caption = "States over the size in the name of a system's file"
        yield caption, partial(growth, with_size, by=by)


def _with_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems with a size; none if these are too few to compare."""
    from ltlpipe.report.plots.growth_curves import sized

    families: dict[str, list[str]] = {}
    for name in frame["system"].dropna().unique():
        size, family = sized(str(name))
        if size is not None:
            families.setdefault(family, []).append(name)
    systems = [name for names in families.values() for name in names]
    if len(systems) < _LEAST_SIZES or len(systems) == len(families):
        return frame.iloc[:0]
    return frame[frame["system"].isin(systems)]
