"""Reductions: what makes the searched space smaller without changing a verdict.

In come a network and what is known of the property; out comes a network, or an
automaton, with less to explore, over the same states and actions, so that
formulas and lassos keep their meaning.  Read `ltlpipe.components.alphabet` first.

`reduce` makes single components smaller (`ltlpipe.components.equivalences`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.components.determinise import TooLargeError
    from ltlpipe.systems.networks.lts import LTS

__all__ = ["TooLargeError", "reduce"]


def __getattr__(name: str) -> Any:
    if name == "TooLargeError":  # loaded on first use: a search needs none of it
        from ltlpipe.components.determinise import TooLargeError

        return TooLargeError
    raise AttributeError(f"module 'ltlpipe.components' has no attribute {name!r}")


def reduce(
    lts: LTS,
    hidden: Collection[str] = (),
    equivalence: str = "trace",
    *,
    cap: int | None = None,
) -> LTS:
    """Return an equivalent component, most often with fewer states.

    Unreachable states are dropped first.  The result depends only on the reachable
    part, its states are numbered breadth first from 0, its transitions are sorted,
    and reducing it once more gives it back.

    Parameters
    ----------
    lts : LTS
        It is not changed.
    hidden : collection of str
        Labels that cannot be observed; those that `lts` lacks change nothing.
    equivalence : str
        "trace", "block", "branching" or "strong".
    cap : int, optional
        States that the deterministic form may have before it is minimised, for
        "trace" and "block"; None means no limit.

    Returns
    -------
    LTS
        See `ltlpipe.components.equivalences.reduce`, the same as a job.

    Raises
    ------
    TooLargeError
        "trace" or "block" needs more states than `cap`, or too much memory.
    UnsupportedError
        `lts` is no LTS, there is no such equivalence, or `lts` has accepting states
        and it is not "strong".
    KeyboardInterrupt, MemoryError
        Ctrl-C was pressed, or there is too little memory.

    Examples
    --------
    >>> from ltlpipe.systems.networks.lts import LTS
    >>> lts = LTS.from_transitions([(0, "x", 1), (0, "a", 2), (1, "a", 2)])
    >>> reduce(lts, hidden={"x"}).transitions()
    [(0, 'a', 1)]
    """
    from ltlpipe.components import equivalences
    from ltlpipe.runtime.errors import UnsupportedError
    from ltlpipe.runtime.jobs import complete
    from ltlpipe.systems.networks.lts import LTS

    given = type(lts).__name__
    if not isinstance(lts, LTS):  # what users pass is not type-checked
        raise UnsupportedError(
            f"a {given} cannot be reduced: give one LTS of a network"
        )
    return complete(equivalences.reduce(lts, hidden, equivalence, cap=cap))
