"""Plots of result tables: the public name of `ltlpipe.report.plots`."""

from __future__ import annotations

from ltlpipe.report.plots import (
    acceptances,
    cactus,
    growth,
    plottable,
    save,
    scatter,
    svg_text,
    verdicts,
)

__all__ = [
    "acceptances",
    "cactus",
    "growth",
    "plottable",
    "save",
    "scatter",
    "svg_text",
    "verdicts",
]
