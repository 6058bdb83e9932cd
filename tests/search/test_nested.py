"""The nested searches of Schwoon & Esparza 2005, Secs. 3 and 5, by known answers."""

from __future__ import annotations

import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.registers import Status
from tests.search.explicit_automata import Explicit, explicit, problem_of, run


def test_cvwy92_has_to_come_back_to_the_seed():
    """Fig. 2 (a): the red search from 1 passes 0, which is on the stack."""
    edges = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)]
    outcome = run("cvwy92", explicit(5, edges, {1}))
    early = run("hpy96", explicit(5, edges, {1}))

    assert outcome.status == early.status == Status.FOUND
    # blue 0, 1, 2; red 1, 2, and then cvwy92 goes through 0, too
    assert (early.states, early.transitions) == (3, 4 + 2)
    assert outcome.transitions == early.transitions + 2


def test_cvwy92_leaves_the_blue_region():
    """Its red search from 1 goes over 0 to 3, which still waits for the blue one."""
    edges = [(0, 1), (0, 3), (1, 0), (3, 4)]
    empty = run("cvwy92", explicit(5, [(0, 1), (0, 3), (1, 1), (3, 4)], {0}))
    found = run("cvwy92", explicit(5, edges, {1}))

    assert (empty.status, empty.states) == (Status.EMPTY, 4)
    assert found.status == Status.FOUND
    assert found.states == 2


@pytest.mark.parametrize(("name", "states"), [("hpy96", 4), ("gmz04", 2), ("se05", 2)])
def test_who_sees_the_cycle_of_figure_2b(name, states):
    """The blue search of gmz04 and se05 reports the transition back to 0."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3)]
    outcome = run(name, explicit(4, edges, {0}))

    assert (outcome.status, outcome.states) == (Status.FOUND, states)


@pytest.mark.parametrize(("name", "states"), [("gmz04", 4), ("se05", 2)])
def test_only_se05_looks_at_the_source(name, states):
    """A transition from the accepting state 1 back to 0, which is not accepting."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3)]
    outcome = run(name, explicit(4, edges, {1}))

    assert (outcome.status, outcome.states) == (Status.FOUND, states)


def test_black_states_spare_red_searches():
    """No state of a tree is on a cycle: all become black, and red never starts.

    Of a cycle the last state has a successor on the stack, so it stays blue, and
    the red search from an accepting state before it looks at the cycle.
    """
    tree = explicit(3, [(0, 1), (1, 2)], {0, 1, 2})
    cycle = explicit(4, [(0, 1), (1, 2), (2, 3), (3, 2)], {0})

    assert run("gmz04", tree).transitions == 2 * 2
    assert run("hpy96", tree).transitions == 2 + 2
    assert run("gmz04", cycle).transitions == 2 * 4 + 3
    assert run("hpy96", cycle).transitions == 4 + 4


def test_tauriainen_collects_marks_round_the_cycle():
    """Two marks on a ring, told to the first state by two red searches at most."""
    ring = Explicit(4, 2, ((0, 1, 1), (1, 0, 2), (2, 2, 3), (3, 0, 0)))
    broken = Explicit(4, 2, ((0, 1, 1), (1, 0, 2), (2, 2, 3), (3, 0, 1)))
    found, empty = run("tauriainen03", ring), run("tauriainen03", broken)

    assert (found.status, empty.status) == (Status.FOUND, Status.EMPTY)
    assert dict(empty.details)["red_visits"] <= 2 * 4
    assert set(found.cycle) == {0, 1, 2, 3}


def test_tauriainen_with_all_marks():
    """Thirty-two marks, one per transition of a ring."""
    n = 32
    ring = tuple((i, 1 << i, (i + 1) % n) for i in range(n))
    found = run("tauriainen03", Explicit(n, n, ring))
    broken = run("tauriainen03", Explicit(n, n, ((0, 0, 1), *ring[1:])))

    assert (found.status, broken.status) == (Status.FOUND, Status.EMPTY)


def test_dfs_weak_stops_at_the_first_cycle():
    """One look at every transition, and none at what comes after the cycle."""
    edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4)]
    outcome = run("dfs-weak", explicit(5, edges, {1, 2}))

    assert outcome.status == Status.FOUND
    assert (outcome.states, outcome.transitions) == (3, 4)


@pytest.mark.parametrize("name", ["dfs-weak", "reach-terminal"])
def test_automata_that_are_not_weak_are_refused(name):
    """The search would answer wrongly, so it does not begin."""
    with pytest.raises(UnsupportedError, match="use emptiness='couvreur99'"):
        run(name, explicit(2, [(0, 1), (1, 0)], {0}))


def deadlocking():
    """The bad action leads to a long way that ends, or only with `loop` goes on."""
    way = [(i, "step", i + 1) for i in range(1, 50)]
    return [(0, "ok", 0), (0, "bad", 1), *way]


@pytest.mark.parametrize("name", ["dfs-weak", "reach-terminal", "couvreur99"])
def test_terminal_automata_and_deadlocks(name):
    """Whoever reaches an accepting state has no infinite run yet."""
    ends = Network([LTS.from_transitions(deadlocking())])
    goes_on = Network([LTS.from_transitions([*deadlocking(), (50, "loop", 49)])])

    assert check(ends, "G !bad", emptiness=name).verdict == "holds"
    assert check(goes_on, "G !bad", emptiness=name).verdict == "violated"
    stuttering = check(ends, "G !bad", emptiness=name, deadlock="stutter")
    assert stuttering.verdict == "violated"
    assert stuttering.lasso.cycle == ["<stutter>"]


def test_reach_terminal_stops_at_the_accepting_state():
    """Where every state has a successor; only the lasso looks further."""
    ends = Network([LTS.from_transitions(deadlocking())])
    asked = {"emptiness": "reach-terminal", "deadlock": "stutter"}

    verdict = check(ends, "G !bad", **asked)
    assert verdict.stats.states <= 3
    assert verdict.lasso.prefix == ["bad", *["step"] * 49]
    assert check(ends, "G !bad", lasso=False, **asked).stats.states <= 3


@pytest.mark.parametrize("reason", ["max-states", "memory"])
def test_the_run_of_reach_terminal_keeps_to_the_limits(reason):
    """The next cycle is far away, and not waited for: what was found is the answer."""
    n = 50_000
    way = [(i, "step", i + 1) for i in range(1, n)]
    ends = Network([LTS.from_transitions([(0, "bad", 1), *way])])
    asked = {"emptiness": "reach-terminal", "deadlock": "stutter", "reduce": "none"}

    short = check(ends, "G !bad", lasso=False, **asked).stats
    limits = (
        {"memory": short.memory_mib + 20}
        if reason == "memory"
        else {"max_states": short.states + 1}
    )
    assert check(ends, "G !bad", lasso=False, **asked, **limits).verdict == "violated"
    verdict = check(ends, "G !bad", **asked, **limits)
    assert (verdict.verdict, verdict.reason) == ("violated", None)
    assert verdict.lasso is None
    assert verdict.finite_run.prefix == ["bad"]


@pytest.mark.parametrize("name", ["cvwy92", "hpy96", "gmz04", "se05", "dfs-weak"])
def test_bits_per_state(name):
    """Four colours suffice, in the arrays that a search really has."""
    search = SEARCHES[name]()(problem_of(explicit(1, [(0, 0)], {0})))
    assert search.bytes_per_state == 2 / 8
    n = 1 << 16
    arrays = search._new_arrays(n)
    assert abs(arrays.colours.nbytes - n * 2 / 8) <= 16
