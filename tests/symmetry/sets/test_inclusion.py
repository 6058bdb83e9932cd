"""Which markings are in a set, and where a search of sets stops."""

from __future__ import annotations

import random

import pytest

from benchmarks.families.nets import shared_memory
from ltlpipe import ReplayError, check
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.search.registers import Reg, Status
from ltlpipe.symmetry.sets import runs, tables
from ltlpipe.symmetry.sets.markings import Head
from ltlpipe.symmetry.sets.powerset_search import KINDS, PowersetSearch
from ltlpipe.symmetry.sets.runs import NetSteps, State
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Every,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from tests.example_counts import examples
from tests.symmetry.sets.brute_force_sets import Expansion, question, underlying
from tests.symmetry.sets.properties import Called, assert_powerset
from tests.symmetry.sets.random_nets import formula, lively_net


def friends(n):
    """A net of people who may become friends, one pair after the other.

    Its markings are directed graphs: what they have in common is not told by counting.
    """
    names = tuple(map(str, range(n)))
    people = Sort("p", "p", ENUMERATION, tuple(f"p{k}" for k in names), names)
    x, y = Bound(0, 0, n), Bound(1, 0, n)
    strangers = Tokens(1, (Every(n), Every(n)))
    pair = Tokens(1, (x, y))
    places = (
        ColouredPlace("strange", "strange", (0, 0), strangers),
        ColouredPlace("known", "known", (0, 0), EMPTY),
    )
    meet = ((0, pair),), ((1, pair),)
    move = ColouredTransition("meet", "meet", Comparison("!=", x, y), *meet)
    part = ColouredTransition("part", "part", TRUE, *meet[::-1])
    variables = (Variable("x", "x", 0), Variable("y", "y", 0))
    return ColouredNet("friends", (people,), variables, places, (move, part))


def steps_of(asked):
    """Steps of the plain product, which also makes sets of single markings."""
    made = asked.made
    return NetSteps(
        asked.net, asked.propositions, asked.table, made, stutter=asked.stutter
    )


def assert_members(asked, most_sets):
    """A set includes just those sets of one marking that are in it."""
    called, expand = Called(asked.made.automaton), Expansion(asked)
    steps = steps_of(asked)
    rows = list(asked.made.automaton.initial)
    known = {row.tobytes() for row in rows}
    everyone = set()
    for row in rows:
        for _, after in called.successors(row) if len(rows) < most_sets else ():
            if after.tobytes() not in known:
                known.add(after.tobytes())
                rows.append(after)
        everyone |= expand(row)
    singles = {s: steps.set_of(State(*s)) for s in everyone}
    for row in rows:
        inside = expand(row)
        for state in sorted(everyone)[:200]:
            assert called.includes(row, singles[state]) == (state in inside)
    return len(everyone) - len(rows)


def test_members_of_random_sets():
    """Each marking of a set is found in it by its representative, and no other."""
    for seed in range(examples(30)):
        rng = random.Random(seed)
        net = lively_net(rng)
        asked = question(net, formula(rng, net))
        if asked is not None and asked.group.classes:
            assert_members(asked, 15)


@pytest.mark.parametrize("n", [3, 4])
def test_members_of_sets_of_graphs(n):
    """Markings that refinement does not tell apart are compared one by one."""
    asked = question(SymmetricNet(friends(n)), "G(known >= 0)")

    assert assert_members(asked, 30) > 40
    assert asked.made.approximate == 0


@pytest.mark.parametrize(("n", "graphs"), [(2, 3), (3, 16), (4, 218)])
def test_graphs_are_counted_up_to_isomorphism(n, graphs):
    """So many directed graphs of n vertices there are (OEIS A000273)."""
    asked = question(SymmetricNet(friends(n)), "G(known >= 0)")
    search = PowersetSearch(asked.made.automaton, "tec")
    while search.step(100) != Status.EMPTY:
        list(search.grow(float("inf")))

    assert search.registers[Reg.VISITED] == graphs


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (3, '("known.1.0 >= 1" | "known.2.1 == 0") U "known.0.1 >= 1"'),
        (4, "G(known >= 0)"),
    ],
)
def test_approximate_representatives_are_sound(n, text):
    """One marking is looked at, whatever else there is: the properties are the same."""
    asked = question(SymmetricNet(friends(n)), text)
    asked.made.automaton.tables.ints[Head.MOST_LEAVES] = 1
    expand, plain = Expansion(asked), underlying(asked)

    assert_powerset(asked.made.automaton, expand, plain, most_sets=40, exact=False)

    assert asked.made.approximate > 0


@pytest.mark.parametrize("search", KINDS)
def test_approximate_representatives_give_exact_verdicts(search, monkeypatch):
    """Runs are found, if need be by another search."""
    monkeypatch.setattr(tables, "MOST_LEAVES", 1)
    net = SymmetricNet(friends(3))
    for text, verdict in (
        ('G("known.1.0 == 0" | "known.0.1 == 1")', "violated"),
        ('GF("known == 3") -> GF("known.0.1 == 1")', "violated"),
        ('G("known + strange == 9")', "holds"),
    ):
        found = check(net, text, reduce="symmetry", emptiness=search)
        assert found.verdict == verdict
    assert found.stats.details["approximate_markings"] > 0


def outcome(asked, name, budget):
    """What a search comes to whose steps are so long."""
    search = PowersetSearch(asked.made.automaton, name)
    status = Status.RUNNING
    for _ in range(3000):
        status = search.step(budget)
        if status in (Status.EMPTY, Status.FOUND):
            break
        if status == Status.GROW:
            list(search.grow(float("inf")))
    counts = (Reg.VISITED, Reg.TRANSITIONS, Reg.MAX_DEPTH, Reg.REPLACED, Reg.PARTS)
    return status, [int(search.registers[r]) for r in counts]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("net", "text"),
    [
        (coloured_client_server(4, 2), "G(served.1.1 == 1 -> F(served.2.1 == 1))"),
        (shared_memory(3), "F(other.1.2 == 1) -> GF(memory.2 == 1)"),
    ],
)
def test_where_a_step_stops_changes_nothing(net, text, name):
    """Status and statistics are those of the uncut search."""
    closes = name == "aec-closed"
    found = [
        outcome(question(SymmetricNet(net), text, closes=closes), name, budget)
        for budget in (1, 7, 1000)
    ]

    assert found[0] == found[1] == found[2]


def test_steps_of_the_plain_product_are_reversed():
    """What leads to a state is what has it as a successor."""
    asked = question(SymmetricNet(coloured_client_server(2, 1)), "GF(served.1.1 == 1)")
    plain, steps = underlying(asked), steps_of(asked)
    reached, waiting = set(plain.initial), list(plain.initial)
    forwards = set()
    while waiting:
        state = waiting.pop()
        for marks, after in plain.steps(state):
            forwards.add((state, marks, after))
            if after not in reached:
                reached.add(after)
                waiting.append(after)
    apart = list(range(len(steps.made.members)))
    backwards = {
        (tuple(before), marks, after)
        for after in reached
        for watching in range(asked.table.n_states)
        for marks in {m for _, m, _ in forwards}
        for found in steps.predecessors(State(*after), apart, watching, marks)
        if found is not None
        for _, before in [found]
        if tuple(before) in reached
    }

    assert backwards == forwards


@pytest.fixture
def lost_runs(monkeypatch):
    """Let no run of sets be found again where markings have several representatives.

    Returns a function that sets of how many searches it is so.
    """
    monkeypatch.setattr(tables, "MOST_LEAVES", 1)
    through = runs.run_through
    left = [0]

    def lost(steps, search, sets):
        left[0] -= 1
        if left[0] >= 0:
            yield from ()
            raise ReplayError("a state has no predecessor")
        return (yield from through(steps, search, sets))

    monkeypatch.setattr(runs, "run_through", lost)
    return lambda times: left.__setitem__(0, times)


LOST = 'G("known <= 5")'


def test_a_lost_run_is_looked_for_by_tec(lost_runs):
    """It cuts no set into parts that its representative does not know."""
    lost_runs(1)
    found = check(SymmetricNet(friends(3)), LOST, reduce="symmetry")

    assert (found.verdict, found.reason) == ("violated", None)
    assert found.plan.emptiness == "tec"
    assert found.lasso is not None
    assert "tec instead" in " ".join(found.plan.reasons)


def test_a_violation_whose_run_is_lost_stays_one(lost_runs):
    """Without its lasso, by tec as well."""
    lost_runs(2)
    found = check(SymmetricNet(friends(3)), LOST, reduce="symmetry")

    assert (found.verdict, found.reason) == ("violated", "lasso-limit")
    assert found.lasso is None
