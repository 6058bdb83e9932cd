"""How objects show themselves in Jupyter, which asks them for HTML and pictures.

What they show is made in `ltlpipe.report.notebook`, in a room behind those of the
classes, which therefore do not import it: `ltlpipe` hands it in.  So it does with
`ltlpipe.systems.spot_output`, which makes graphs of Spot of systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable


_load: list[Callable[[], Any]] = []
"""What loads the renderer, whose `html_of` and `svg_of` take an object."""


_load_output: list[Callable[[], Any]] = []
"""What loads the module whose functions make graphs of Spot."""


def output_with(load: Callable[[], Any]) -> None:
    """Set what loads the output of graphs; it is called when one is asked for."""
    _load_output[:] = [load]


def graph_output() -> Any:
    """Return the module that makes graphs of Spot of systems."""
    return _load_output[0]()


def render_with(load: Callable[[], Any]) -> None:
    """Set what loads the renderer; it is called when a notebook asks for something."""
    _load[:] = [load]


def renderer() -> Any:
    """Return the renderer."""
    return _load[0]()


class Displayed:
    """A base for classes that the renderer can show.

    Those with a name and sizes are told by these at the prompt, whatever they hold.
    """

    __slots__ = ()

    def _sizes(self) -> dict[str, int]:
        """Return what the object has, as nouns and numbers."""
        return {}

    def __repr__(self) -> str:
        name = getattr(self, "name", "")
        named = f" {name!r}" if name else ""
        sizes = ", ".join(counted(n, noun) for noun, n in self._sizes().items())
        return f"<{type(self).__name__}{named}: {sizes}>"

    def _repr_html_(self) -> str:
        html: str = renderer().html_of(self)
        return html

    def _repr_svg_(self) -> str | None:
        svg: str | None = renderer().svg_of(self)
        return svg
