"""The emptiness checks by name; each is loaded only when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.search.emptiness import Search


def _se05() -> type[Search]:
    from ltlpipe.search.se05 import SE05

    return SE05


def _couvreur99() -> type[Search]:
    from ltlpipe.search.couvreur99 import Couvreur99

    return Couvreur99


SEARCHES: dict[str, Callable[[], type[Search]]] = {
    "se05": _se05,
    "couvreur99": _couvreur99,
}
"""From the name of an emptiness check to a function that loads it."""
