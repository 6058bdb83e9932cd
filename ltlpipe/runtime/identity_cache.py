"""What is found out about a system, kept beside it as long as it is there.

Beside and not in it: what is kept is not sent along to workers, and not compared.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

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
