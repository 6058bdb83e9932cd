"""Plots of result tables.

In come DataFrames, as `ltlpipe.results`, `ltlpipe.solve` and `ltlpipe.compare` return
them; out come matplotlib's figures, which `save` writes and `svg_text` returns as text.
There is a module for each kind of plot; read `ltlpipe.report.plots.configurations`
first, then `ltlpipe.report.plots.figures`.
"""

from __future__ import annotations

from ltlpipe.report.plots.curves import cactus, growth, verdicts
from ltlpipe.report.plots.figures import plottable, save, svg_text
from ltlpipe.report.plots.scatter_plot import scatter

__all__ = [
    "cactus",
    "growth",
    "plottable",
    "save",
    "scatter",
    "svg_text",
    "verdicts",
]
