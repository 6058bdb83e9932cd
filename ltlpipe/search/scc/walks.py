"""Walks: short searches one after another, each in an order of its own.

Looks for an accepting run of a product without the aim to see all of it.  A walk
begins in the initial state, goes on to the best successor (`ltlpipe.search.guidance`)
and, where there is none that is new, back: it is a depth-first search that recognises
SCCs, and finds an accepting cycle as soon as its transitions have been generated,
whether or not the walk has closed it in one go.  After a number of states it is given
up, what it has stored is forgotten, and the next begins, in another order.  Most walks
are short, as most violations are near for some order; after k short ones there is a
longer one.

Source: the search of `ltlpipe.search.scc.couvreur99`; restarts with lengths that are
long the more seldom after M. Luby, A. Sinclair and D. Zuckerman, "Optimal Speedup of
Las Vegas Algorithms", Information Processing Letters 47 (1993), pp. 173-180.

Differences from the source: lengths grow by 4 where the sequence of Luby et al. grows
by 2, and each length is tried in every `Manner` before the next of the sequence; a walk
also ends when it has stored `MOST_STORED` states.

It answers EMPTY iff a walk has ended by itself: then that has been all of the product
from which an accepting run may be left.

Invariants: those of `couvreur99`, of the walk that is being taken.

Cost: that of `couvreur99`, for the states of one walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.search.guidance import Place, make_guidance
from ltlpipe.search.scc.couvreur99 import Couvreur99

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.search.problem import Problem

SHORTEST = 256
"""States of the shortest walks."""


class Walks(Couvreur99):
    """Walks in progress.

    Parameters
    ----------
    problem : Problem
        The product; it is not reduced by ample sets.
    automaton : PropertyAutomaton
        That of the product, which guides.
    seed : int
        Other walks for another seed.
    shortest : int
        States of the shortest walks.

    Raises
    ------
    UnsupportedError
        The product's condition has Fin: an SCC does not show by its marks that a cycle
        of it is accepting.
    """

    name = "walks"

    def __init__(
        self,
        problem: Problem,
        automaton: PropertyAutomaton,
        seed: int = 0,
        shortest: int = SHORTEST,
    ) -> None:
        if problem.ample is not None:
            raise ValueError("walks take all steps")
        self._automaton, self._seed, self._shortest = automaton, seed, shortest
        super().__init__(problem)

    def _rules(self, parts: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
        guidance = make_guidance(
            self._automaton, self._branching, self._seed, self._shortest
        )
        return {**super()._rules(parts), "guidance": guidance}

    def statistics(self) -> dict[str, int]:
        """Return what only this algorithm counts."""
        guidance = self.arrays.guidance
        assert guidance is not None
        return {"walks": int(guidance.registers[Place.WALKS])}
