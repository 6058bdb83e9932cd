"""The strategies, in the order in which the portfolio begins them.

A new strategy is a new module and a line here; nothing else names it.  `instant` ends
by itself.  `decoupled` is next: where it helps it needs some milliseconds, where it
cannot be used it costs less than `explicit` does to begin.  The others come in the
order in which they are worth their price.  `walks` begin when `explicit` or `ample` has
had a turn, and before much is composed.  Those that cannot be used drop out soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.strategies import (
    ample,
    automorphisms,
    components,
    decoupled,
    explicit,
    instant,
    symmetry,
    walks,
)

if TYPE_CHECKING:
    from ltlpipe.strategies.strategy import Strategy

STRATEGIES: tuple[Strategy, ...] = (
    instant,
    decoupled,
    explicit,
    ample,
    walks,
    components,
    symmetry,
    automorphisms,
)
