"""How objects show themselves in Jupyter, which asks them for HTML and pictures.

What they show is made in `ltlpipe.report.notebook`, in a room behind those of the
classes, which therefore do not import it: `ltlpipe` hands it in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Renderer(Protocol):
    """Makes what objects show."""

    def html_of(self, subject: object) -> str:
        """Return HTML; what comes from input is escaped."""

    def svg_of(self, subject: object) -> str | None:
        """Return a picture; None where there is none to make."""


_load: list[Callable[[], Renderer]] = []


def render_with(load: Callable[[], Renderer]) -> None:
    """Set what loads the renderer; it is called when a notebook asks for something."""
    _load[:] = [load]


class Displayed:
    """A base for classes that the renderer can show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _load[0]().html_of(self)

    def _repr_svg_(self) -> str | None:
        return _load[0]().svg_of(self)
