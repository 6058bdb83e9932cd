"""Reductions: what makes the searched space smaller without changing a verdict.

In come a network and what is known of the property; out comes a network, or an
automaton, with less to explore, over the same states and actions, so that
formulas and lassos keep their meaning.  Read `ltlpipe.reduction.alphabet` first.

`reduce` makes single components smaller (`ltlpipe.reduction.equivalence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ltlpipe.reduction.equivalence.reducing import TooLargeError, reduce

__all__ = ["TooLargeError", "reduce"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # loaded on first use: a search needs none of it
        from ltlpipe.reduction.equivalence import reducing

        return getattr(reducing, name)
    raise AttributeError(f"module 'ltlpipe.reduction' has no attribute {name!r}")
