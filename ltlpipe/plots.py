"""Plots of result tables: the public name of `ltlpipe.report.plots`."""

from __future__ import annotations

from ltlpipe.report.plots import *  # noqa: F403
from ltlpipe.report.plots import __all__ as __all__
