"""Several passes over a product that take turns, as long as none has ended.

A cycle that only a later pass can find would be found after the first pass has met
every state; so the passes take turns.  Each goes on where it was stopped, with arrays
and registers of its own, so nothing is done twice; the store is common.  The first
pass may do twice the work of each of the others: where it finds a cycle, each of the
others has cost half of its work, at most.

A pass begins beside another one only if there is memory for its arrays.  When one has
ended without a cycle, all that can be reached is stored, and passes that
begin only then are later ones (`ltlpipe.search.scc.restarts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.automata.conditions import Condition

FIRST_TURN = 1 << 12
"""Expansions of the first pass before any other begins."""

_HANDICAP = 2  # by which the others' turns are shorter

OF_A_PASS = [
    Reg.VISITED,
    Reg.DEPTH,
    Reg.TOP,
    Reg.N_ROOTS,
    Reg.N_CURRENT,
    Reg.N_FSTATES,
    Reg.IS_LATER,
    Reg.CURSOR,
    Reg.LEVEL,
    Reg.IS_CHOOSING,
    Reg.N_ROWS,
]
"""The registers that every pass has for itself."""


@dataclass
class Pass:
    """One pass of a search.

    Parameters
    ----------
    avoided : int
        The marks that it avoids, as bits.
    condition : Condition
        What it looks for without them.
    arrays : NamedTuple, optional
        Those of the search, while it waits for its turn.
    registers : int64[len(OF_A_PASS)], optional
        The pass's own, while it waits or when it has ended.
    spent : int
        Expansions so far.
    ended : bool
        Whether it has ended without a cycle.
    """

    avoided: int
    condition: Condition
    arrays: Any = None
    registers: np.ndarray | None = None
    spent: int = 0
    ended: bool = False


def turn_of(number: int, round_number: int) -> int:
    """Return the expansions after which a pass has to wait, those of all its turns.

    Passes and rounds are counted from 0.
    """
    share = 1 if number == 0 else _HANDICAP
    return max((FIRST_TURN << round_number) // share, 1)
