"""How objects show themselves in Jupyter, which asks them for HTML and pictures.

What they show is made in `ltlpipe.report.notebook`, in a room behind those of the
classes, which therefore do not import it: like the public names of `ltlpipe` it is
found by its name, when a notebook asks.
"""

from __future__ import annotations

from importlib import import_module


class Displayed:
    """A base for classes that `ltlpipe.report.notebook` can show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("ltlpipe.report.notebook").html_of(self)
        return html

    def _repr_svg_(self) -> str | None:
        svg: str | None = import_module("ltlpipe.report.notebook").svg_of(self)
        return svg
