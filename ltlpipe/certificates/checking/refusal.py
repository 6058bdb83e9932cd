"""What is wrong with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection


class RefusedError(Exception):
    """A certificate does not prove what it claims, or is none.

    Parameters
    ----------
    reason : str
        The first thing that is wrong, for people.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def refuse_others(told: dict[str, Any], known: Collection[str], of: str) -> None:
    """Refuse a field that is not known: it may carry meaning."""
    for name in told:
        if name not in known:
            raise RefusedError(f"{of} has an unknown field {name[:40]!r}")
