"""How many random examples the tests draw: one setting scales all of them.

The setting is the profile of Hypothesis (``--hypothesis-profile``, tests/conftest.py).
Its `max_examples` is read as a percentage: at 100, which is Hypothesis' own default,
tests draw the numbers that they name; `make test` draws fewer.
"""

from __future__ import annotations

from hypothesis import settings

FEWEST = 5
"""No battery is scaled below so many examples, unless it asks for fewer."""


def examples(n: int, quick: int | None = None) -> int:
    """Return how many of `n` random examples, or seeds, this run draws.

    A battery whose examples take seconds says how many a `quick` run has.
    """
    if quick is not None and is_quick():
        return quick
    scaled = n * settings.default.max_examples // 100
    return max(scaled, min(n, FEWEST))


def is_quick() -> bool:
    """Whether this run draws fewer examples than the tests name."""
    return settings.default.max_examples < 100


def at_least(n: int) -> int:
    """Return how many cases of a kind the examples must have; 0 if fewer are drawn."""
    return 0 if is_quick() else n
