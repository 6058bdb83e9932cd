"""The strategies, in the order in which the portfolio begins them.

A new strategy is a new module, a line here, and its rows among the conditions.
`instant` ends by itself.  `decoupled` is next: where it helps it needs some
milliseconds, where it cannot be used it costs less than `explicit` does to begin.  The
others come in the order in which they are worth their price.  `walks` begin when
`explicit` or `ample` has had a turn, and before much is composed.  Those that cannot be
used drop out soon.
"""

from __future__ import annotations

from ltlpipe.question.conditions import (
    AMPLE,
    AMPLE_SETS,
    AUTOMORPHISMS,
    COMPONENTS,
    COMPOSITION,
    DECOUPLING,
    EXPLICIT,
    INSTANT,
    SYMMETRY,
    WALKS,
)
from ltlpipe.strategies import (
    automorphisms,
    components,
    decoupled,
    explicit,
    instant,
    symmetry,
    walks,
)
from ltlpipe.strategies.strategy import Strategy

STRATEGIES: tuple[Strategy, ...] = (
    Strategy(INSTANT, instant.job, (INSTANT,), needs_kernels=False),
    Strategy(DECOUPLING, decoupled.job, (DECOUPLING,)),
    Strategy(EXPLICIT, explicit.job, (EXPLICIT,)),
    Strategy(
        AMPLE, explicit.job_with_ample_sets, (AMPLE, AMPLE_SETS), supersedes=EXPLICIT
    ),
    Strategy(WALKS, walks.job, (WALKS,)),
    Strategy(COMPONENTS, components.job, (COMPONENTS, COMPOSITION)),
    Strategy(SYMMETRY, symmetry.job, (SYMMETRY,), takes_colours=True),
    Strategy(AUTOMORPHISMS, automorphisms.job, (AUTOMORPHISMS,)),
)

BY_NAME = {strategy.name: strategy for strategy in STRATEGIES}
