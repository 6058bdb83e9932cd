"""Common base of classes of results and systems.

`Displayed` objects show themselves in Jupyter, which asks them for HTML and pictures.
What they show is made in `ltlpipe.report.notebook`, in a room behind those of the
classes, which therefore do not import it: `ltlpipe` hands it in.  So it does with
`ltlpipe.systems.spot_output`, which makes graphs of Spot of systems.

`ByValue` results compare, and hash, by their values, also after pickling.

`Beside` keeps what is found out about a system beside it as long as it is there: it is
not sent along to workers, and not compared.
"""

from __future__ import annotations

import weakref
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable

_loaders: dict[str, Callable[[], Any]] = {}


def load_with(**loaders: Callable[[], Any]) -> None:
    """Set what loads the modules `renderer` and `graphs`, when one is asked for."""
    _loaders.update(loaders)


def graph_output() -> Any:
    """Return the module that makes graphs of Spot of systems."""
    return _loaders["graphs"]()


def renderer() -> Any:
    """Return the module whose `html_of` and `svg_of` take an object."""
    return _loaders["renderer"]()


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


class ByValue:
    """A base for dataclasses with ``eq=False`` whose fields hold arrays and lists.

    Fields with ``compare=False`` do not count.  What is cached beside the fields is
    not pickled.
    """

    __slots__ = ()

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """Whether another result of the same type has the same values."""
        if not isinstance(other, ByValue) or type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[Any, ...]:
        told = fields(self)  # type: ignore[arg-type]
        return tuple(_plain(getattr(self, f.name)) for f in told if f.compare)


def _plain(value: Any) -> Any:
    """Return something hashable that is equal for equal values."""
    if hasattr(value, "dtype"):  # an array; NumPy is not loaded to find out
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return frozenset((key, _plain(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value


Kept = TypeVar("Kept")


class Beside(dict[int, Kept]):
    """One thing for each object that is still there, by the object's identity.

    `make` makes the thing of an object that has none.  A reference from the thing to
    its object would keep both for ever.
    """

    def __init__(self, make: Callable[[], Kept]) -> None:
        super().__init__()
        self._make = make

    def of(self, owner: object) -> Kept:
        """Return the thing of an object."""
        key = id(owner)
        if key not in self:
            # In this order: what outlives its owner would be another's.
            weakref.finalize(owner, self.pop, key, None)
            self[key] = self._make()
        return self[key]
