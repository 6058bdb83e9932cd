"""Results that compare, and hash, by their values: also after pickling."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


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
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return frozenset((key, _plain(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value
