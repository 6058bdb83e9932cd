"""The SCC-based search of Schwoon & Esparza 2005, Fig. 5, by known answers."""

from __future__ import annotations

from ltlpipe.search.registers import Status
from tests.search.explicit_automata import Explicit, explicit, run


def test_stops_as_soon_as_the_cycle_is_known():
    """Fig. 6: the cycle 0-1-0 is reported before the long branch is entered."""
    branch = [(i, i + 1) for i in range(2, 50)]
    outcome = run("couvreur99", explicit(51, [(0, 1), (1, 0), (1, 2), *branch], {0}))

    assert outcome.status == Status.FOUND
    assert outcome.states == 2


def test_collects_marks_from_all_over_the_scc():
    """Two marks on two loops through state 0: the cycle takes both."""
    automaton = Explicit(3, 2, ((0, 1, 1), (1, 0, 0), (0, 2, 2), (2, 0, 0)))
    outcome = run("couvreur99", automaton)

    assert outcome.status == Status.FOUND
    assert outcome.prefix == (0,)
    assert set(outcome.cycle) == {0, 1, 2}
    assert len(outcome.cycle) == 5


def test_marks_between_sccs_do_not_count():
    """The second mark lies on the way from one SCC to the next only."""
    automaton = Explicit(2, 2, ((0, 1, 0), (0, 2, 1), (1, 1, 1)))

    assert run("couvreur99", automaton).status == Status.EMPTY


def test_all_thirty_two_marks():
    """A ring with one mark per transition, up to the limit of 32."""
    ring = tuple((i, 1 << i, (i + 1) % 32) for i in range(32))
    found = run("couvreur99", Explicit(32, 32, ring))
    broken = run("couvreur99", Explicit(32, 32, ((0, 0, 1), *ring[1:])))

    assert found.status == Status.FOUND
    assert len(found.cycle) == 33
    assert broken.status == Status.EMPTY


def test_a_trivial_scc_is_removed_without_a_second_look():
    """Every transition of a tree is looked at once."""
    edges = [(i, 2 * i + k) for i in range(31) for k in (1, 2)]
    outcome = run("couvreur99", explicit(63, edges, set()))

    assert (outcome.states, outcome.transitions) == (63, 62)


def test_a_removed_scc_is_looked_at_once():
    """The ring 1-2-3-1 below 0 is removed by its numbers, not by line 7."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 1)]
    outcome = run("couvreur99", explicit(4, edges, {0}))

    assert outcome.status == Status.EMPTY
    assert outcome.transitions == 4
    assert dict(outcome.details)["max_roots"] == 4


def test_transitions_into_dead_sccs_close_nothing():
    """Rings that hang on a chain are dead when the next ones point into them.

    The chain 0, 3, 6, ... carries the mark; each has a ring of two states below
    it, which points into the ring before.  No cycle has the mark.
    """
    n = 50
    edges = []
    for k in range(n):
        chain, a, b = 3 * k, 3 * k + 1, 3 * k + 2
        edges += [(chain, a), (a, b), (b, a)]
        if k > 0:
            edges += [(a, chain - 2), (b, chain - 1), (chain, chain - 1)]
        if k + 1 < n:
            edges.append((chain, chain + 3))
    chain = {3 * k for k in range(n)}

    assert run("couvreur99", explicit(3 * n, edges, chain)).status == Status.EMPTY
    closed = explicit(3 * n, [*edges, (3 * n - 3, 0)], chain)
    outcome = run("couvreur99", closed, max_budget=1)
    assert outcome.status == Status.FOUND
    assert len(outcome.cycle) == n + 1
