"""What is wrong with a certificate."""

from __future__ import annotations


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
