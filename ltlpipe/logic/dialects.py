"""What letters of formulas mean that are read in several ways."""

from __future__ import annotations

from typing import NamedTuple


class Dialect(NamedTuple):
    """A way to read formulas."""

    past: bool = False  # whether Y, Z, O, H, S and T are past operators
    finite: bool = False  # whether it is about finite words, where X[!] is not X


PLAIN = Dialect()
"""LTL of infinite words, without the past."""
