"""Searches for conditions with Fin against slow twins and by known answers."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, ReplayError, UnsupportedError
from ltlpipe.automata.conditions import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    fin,
    inf,
    marks_in,
    parse_condition,
)
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.runtime import jobs
from ltlpipe.runtime.jobs import Grant
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import advance
from ltlpipe.search.problem import make_problem, product_condition
from ltlpipe.search.registers import Reg, Status
from ltlpipe.search.scc import rabin, tela
from ltlpipe.search.scc.rabin import useful_states
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import conditions, networks
from tests.oracles import compose, is_accepting
from tests.packed import pack
from tests.search.explicit_automata import (
    NAMES,
    Explicit,
    automata,
    explicit,
    outcome_of,
    problem_of,
    replay,
    run,
    suits,
)

ONE_BY_ONE = ["rabin", "tela"]
WITH_FIN = ["rabin", "rabin-parallel", "tela"]
FIN_LESS = ["couvreur99", "couvreur99-fig5", "ufscc", *WITH_FIN]


@st.composite
def conditioned(draw, *, max_states=9, max_marks=8, fins=True):
    """Automata with a random condition, many of them with one large SCC."""
    seed = draw(st.integers(0, 2**32 - 1))
    return random_automaton(
        random.Random(seed), max_states=max_states, max_marks=max_marks, fins=fins
    )


def random_automaton(rng, *, max_states, max_marks, fins=True):
    """An automaton: a ring or not, few or many marks, a condition of any form."""
    n_marks = rng.randint(1, max_marks)
    n = rng.randint(1, max_states)
    share = rng.choice([0.03, 0.1, 0.3, 0.5, 0.7])
    pairs = [(i, (i + 1) % n) for i in range(n)] if rng.random() < 0.75 else []
    for _ in range(rng.randint(1, 2 * n + 2)):
        pairs.append((rng.randrange(n), rng.randrange(n)))
    rows = [
        (src, sum((rng.random() < share) << mark for mark in range(n_marks)), dst)
        for src, dst in pairs
    ]
    condition = random_condition(rng, n_marks, fins)
    return Explicit(n, n_marks, tuple(dict.fromkeys(rows)), False, condition)


def random_condition(rng, n_marks, fins):
    """A condition like Rabin's or Streett's, both joined, or of any form."""

    def leaf(share):
        mark = rng.randrange(n_marks)
        return fin(mark) if fins and rng.random() < share else inf(mark)

    def terms(shares):
        return [leaf(share) for share in shares]

    def rabin():
        lengths = [rng.randint(1, 4) for _ in range(rng.randint(1, 5))]
        return disjunction(conjunction(terms([1, *[0.3] * n])) for n in lengths)

    def streett():
        return conjunction(disjunction(terms([1, 0])) for _ in range(rng.randint(1, 5)))

    def any_form(leaves):
        if leaves == 1:
            return leaf(0.55)
        left = rng.randint(1, leaves - 1)
        join = rng.choice([conjunction, disjunction])
        return join([any_form(left), any_form(leaves - left)])

    kind = rng.randrange(8)
    if kind < 2:
        return (rabin, streett)[kind]()
    if kind < 5:  # the hard ones: no mark has to be avoided from the beginning
        return conjunction(
            disjunction(terms([1, *rng.choice([[0], [0.5], [0.5, 0.5], [1, 1]])]))
            for _ in range(rng.randint(3, 7))
        )
    if kind == 5:
        return rabin() | streett()
    if kind == 6:
        return conjunction(any_form(4) for _ in range(5))
    return any_form(rng.choice([1, 3, 6, 12, 20]))


def spot_finds_a_run(automaton):
    """Whether Spot says that the language of the automaton is not empty."""
    import spot
    from buddy import bddtrue

    graph = spot.make_twa_graph(spot.make_bdd_dict())
    code = spot.acc_code(str(automaton.condition))
    graph.set_acceptance(automaton.n_marks, code)
    graph.new_states(automaton.n_states)
    graph.set_init_state(0)
    for src, marks, dst in automaton.transitions:
        graph.new_edge(src, dst, bddtrue, spot.mark_t(marks_in(marks)))
    return not graph.is_empty()


def system_of(automaton):
    """The automaton as a system, with actions named after their marks as a number."""
    rows = [(src, str(marks), dst) for src, marks, dst in automaton.transitions]
    return Network([LTS.from_transitions(rows, n_states=automaton.n_states)])


def system_problem(automaton):
    """The product of the automaton as a system with a property of one state."""
    kinds = [int(action.name) for action in system_of(automaton).actions]
    letters = np.arange(len(kinds), dtype=np.int32)
    table = PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=len(kinds),
        first_edge=np.arange(len(kinds) + 1, dtype=np.int32),
        edge_dst=np.zeros(len(kinds), dtype=np.int32),
        edge_marks=np.array(kinds, dtype=np.uint32),
        n_marks=automaton.n_marks,
        state_based=False,
    )
    packed = pack(system_of(automaton), letters)
    return make_problem(packed, replace(table, condition=automaton.condition))


def assert_run_of(automaton, search):
    """Replay the actions of a lasso: they lead back to where the cycle begins."""
    lasso = jobs.run(search.lasso())
    kinds = [int(action.name) for action in system_of(automaton).actions]
    steps = {}
    for src, marks, dst in automaton.transitions:
        steps.setdefault((src, marks), set()).add(dst)

    def follow(states, actions):
        for action in actions.tolist():
            states = {t for s in states for t in steps.get((s, kinds[action]), ())}
        return states

    starts = follow({0}, lasso.prefix_actions)
    assert any(start in follow({start}, lasso.cycle_actions) for start in starts)
    seen = 0
    for action in lasso.cycle_actions.tolist():
        seen |= kinds[action]
    assert automaton.accepts(seen)


def assert_agree(automaton, *, max_budget=None):
    """All searches that take the condition, the twin and Spot agree."""
    expected = automaton.has_accepting_cycle()
    assert spot_finds_a_run(automaton) == expected
    for name in FIN_LESS:
        if suits(name, automaton):
            assert_answers(name, automaton, expected, max_budget)
    with short_turns():
        assert_answers("tela", automaton, expected, max_budget)


def short_turns():
    """Passes of tela take turns of a few states, as they do on large products."""
    return mock.patch.object(tela, "FIRST_TURN", 2)


def assert_answers(name, automaton, expected, max_budget):
    """A search answers as expected, of a property and of a system; lassos replay."""
    outcome = run(name, automaton, max_budget=max_budget)
    assert (outcome.status == Status.FOUND) == expected, name
    if expected:
        replay(automaton, outcome.prefix, outcome.cycle)
    if not automaton.transitions:
        return
    search = SEARCHES[name]()(system_problem(automaton))
    status = drive(search, Limits(), max_budget=max_budget).status
    assert (status == Status.FOUND) == expected, f"{name} on a system"
    if expected:
        assert_run_of(automaton, search)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@given(conditioned())
@settings(max_examples=examples(500))
def test_agree_with_every_way_to_avoid_marks(automaton):
    """FOUND iff a set of cycles satisfies the condition; the lasso does, too."""
    assert_agree(automaton)


@given(conditioned(fins=False))
@settings(max_examples=examples(200))
def test_agree_without_fin(automaton):
    """couvreur99 and its form of Fig. 5 are there, too."""
    assert_agree(automaton)


@given(automata(max_states=7, max_marks=4), conditions(4, max_leaves=12))
@settings(max_examples=examples(300))
def test_agree_on_small_cases(automaton, condition):
    """Automata with dead ends and unreachable parts, conditions with constants."""
    assert_agree(replace(automaton, n_marks=4, known_weak=False, condition=condition))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_agree_by_the_thousand(part):
    """10,000 random products with conditions of up to 8 marks."""
    for seed in range(1000 * part, 1000 * (part + 1)):
        rng = random.Random(seed)
        automaton = random_automaton(rng, max_states=14, max_marks=8)
        try:
            assert_agree(automaton, max_budget=rng.choice([None, 1, 3, 10]))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {automaton}") from error


@pytest.mark.parametrize("name", FIN_LESS)
@given(automaton=conditioned(), budget=st.integers(1, 5))
def test_where_a_step_stops_changes_nothing(name, automaton, budget):
    """Status, statistics and lasso are those of the uncut search.

    Of parallel searches the status is: how far each one gets is chance.
    """
    if not suits(name, automaton):
        return
    with short_turns():
        cut, whole = run(name, automaton, max_budget=budget), run(name, automaton)
    assert cut.status == whole.status
    assert cut == whole or name == "rabin-parallel"


@given(conditioned(max_states=6, max_marks=3), networks(max_components=2))
@settings(max_examples=examples(200))
def test_the_systems_marks_follow_the_propertys(automaton, network):
    """The product of a network with acceptance, composed step by step."""
    letters = np.zeros(len(network.actions), dtype=np.int32)
    packed = pack(network, letters, extra_values=automaton.n_states)
    table = table_of(automaton)
    states, edges = compose(network)
    accepts = any(part.accepting is not None for part in network.components)
    bit = 1 << automaton.n_marks
    rows = tuple(
        (
            a * automaton.n_states + src,
            marks | bit * (accepts and is_accepting(network, states[a])),
            b * automaton.n_states + dst,
        )
        for a, _, b in edges
        for src, marks, dst in automaton.transitions
    )
    condition = (
        automaton.condition & inf(automaton.n_marks)
        if accepts
        else (automaton.condition)
    )
    n_marks = automaton.n_marks + accepts
    twin = Explicit(len(states) * automaton.n_states, n_marks, rows, False, condition)
    expected = spot_finds_a_run(twin)
    for name in WITH_FIN:
        problem = make_problem(packed, replace(table, condition=automaton.condition))
        assert problem.n_marks == n_marks
        search = SEARCHES[name]()(problem)
        outcome = drive(search, Limits(), max_budget=3)
        assert (outcome.status == Status.FOUND) == expected
        if expected:
            jobs.run(search.lasso())  # judges the marks that it has seen


def table_of(automaton):
    """The property automaton of an explicit one."""
    product = problem_of(automaton).product
    return PropertyAutomaton(
        n_states=automaton.n_states,
        initial=0,
        n_letters=1,
        first_edge=product.first_edge,
        edge_dst=product.edge_dst,
        edge_marks=product.edge_marks,
        n_marks=automaton.n_marks,
        state_based=False,
    )


@given(conditioned(max_states=12), st.integers(0, 255))
@settings(max_examples=examples(200))
def test_useful_states_are_those_of_useful_sccs(automaton, avoided):
    """SCCs without the avoided marks, by transitive closure."""
    inside = {}
    everywhere = replace(automaton, transitions=automaton.transitions)
    for start in range(automaton.n_states):  # no state is unreachable here
        turned = [
            ((s - start) % automaton.n_states, m, (d - start) % automaton.n_states)
            for s, m, d in automaton.transitions
        ]
        for scc in replace(everywhere, transitions=tuple(turned)).sccs(avoided):
            if 0 in scc:
                inside[start] = {(s + start) % automaton.n_states for s in scc}
    seen = []

    def odd(marks):
        seen.append(marks)
        return marks.bit_count() % 2 == 1

    found = useful_states(problem_of(automaton).product, avoided, odd)
    expected = []
    for state in range(automaton.n_states):
        scc = inside.get(state, set())
        marks = 0
        for src, some, dst in automaton.transitions:
            if src in scc and dst in scc and some & avoided == 0:
                marks |= some
        expected.append(bool(scc) and odd(marks))
    assert found.tolist() == expected


def test_pairs_that_lead_to_different_parts():
    """Fig. 4 of Bloemen et al. 2019: C1, and two more parts behind Fin marks.

    Part 1 is left by mark 0 for part 2 and by mark 1 for part 3; both lead back.  In
    part 2 the Inf mark of the first pair is on a cycle, behind a Fin mark.
    """
    rows = [(0, 0, 1), (1, 0, 0), (1, 1, 2), (0, 2, 4)]
    rows += [(2, 4, 3), (3, 0, 2), (2, 0, 0), (4, 8, 5), (5, 2, 4), (4, 0, 0)]
    both = (fin(0) & inf(2)) | (fin(1) & inf(3))
    first = Explicit(6, 4, tuple(rows), False, both)
    second = replace(first, condition=(fin(0) & fin(1) & inf(3)) | (fin(1) & inf(3)))
    for name in WITH_FIN:
        outcome = run(name, first)
        assert outcome.status == Status.FOUND
        assert outcome.prefix == (0, 1, 2)
        assert set(outcome.cycle) == {2, 3}
        assert run(name, second).status == Status.EMPTY


def test_cycles_without_progress():
    """Co-Büchi acceptance (Sec. 4.3): 3-4-3 makes no progress, and is far away."""
    rows = ((0, 1, 1), (1, 0, 0), (1, 1, 2), (2, 1, 0), (2, 1, 3), (3, 0, 4), (4, 0, 3))
    automaton = Explicit(5, 1, rows, False, fin(0))
    for name in WITH_FIN:
        outcome = run(name, automaton)
        assert (outcome.prefix, outcome.cycle) == ((0, 1, 2, 3), (3, 4, 3))
    mended = replace(automaton, transitions=(*rows[:-1], (4, 1, 3)))
    for name in WITH_FIN:
        assert run(name, mended).status == Status.EMPTY


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 4, 6])
def test_a_state_is_expanded_once_per_pair(n_pairs):
    """Sec. 3.2.7; tela enters them once more, if at all, from four pairs on."""
    n = 60
    ring = tuple((i, 1 << (i % 7), (i + 1) % n) for i in range(n))
    pairs = [fin(mark) & inf(7) for mark in range(n_pairs)]
    rows = ((0, 255, 0), *ring, (n - 1, 128, n))
    automaton = Explicit(n + 1, 8, rows, False, disjunction(pairs))
    entered = {}
    for name in ONE_BY_ONE:
        search = SEARCHES[name]()(system_problem(automaton))
        assert drive(search, Limits()).status == Status.EMPTY
        assert search.registers[Reg.VISITED] == n + 1
        entered[name] = n + 1 + search.statistics()["reentered"]
    assert entered["rabin"] == n_pairs * (n + 1)
    if n_pairs <= 3:
        assert entered["tela"] == entered["rabin"]
    else:  # two passes, one over all that is left, and its SCC without each mark
        assert entered["tela"] == 3 * (n + 1) + (n_pairs - 2) * n


def test_states_that_the_property_rules_out_are_not_entered_again():
    """The second and third pair have no cycle in the property automaton."""
    n = 12
    ring = tuple((i, 1 << (i % 3), (i + 1) % n) for i in range(n))
    pairs = disjunction(fin(mark) & inf(3) for mark in range(3))
    outcome = run("rabin", Explicit(n, 4, ring, False, pairs))

    assert (outcome.status, outcome.states) == (Status.EMPTY, n)
    assert dict(outcome.details)["searches"] == 3
    assert dict(outcome.details)["reentered"] == 0


def test_streett_needs_no_alternatives():
    """Each level avoids one mark more: k levels, k searches, nothing twice.

    The transition with request i is also the one that answers request i + 1, and
    request 0 has no answer.  So one after the other has to be avoided, the last one
    with the mark that has to be seen.
    """
    k = 15
    wanted = 2 * k
    rows = [(0, 0, 1), (1, 0, 0)]
    for i in range(k):
        then = 2 * i + 3 if i + 1 < k else wanted
        rows.append((0, 1 << 2 * i | 1 << then, 1))
    requests = conjunction(fin(2 * i) | inf(2 * i + 1) for i in range(k))
    automaton = Explicit(2, 2 * k + 1, tuple(rows), False, requests & inf(wanted))
    outcome = run("tela", automaton)

    assert outcome.status == Status.EMPTY
    assert dict(outcome.details)["max_level"] == k
    assert dict(outcome.details)["splits"] == k
    assert dict(outcome.details)["reentered"] == 2 * k


@pytest.mark.parametrize("name", WITH_FIN)
def test_constants(name):
    """Everything accepts, or nothing, and nothing is searched for nothing."""
    ring = explicit(3, [(0, 1), (1, 2), (2, 0)], {0})
    line = explicit(3, [(0, 1), (1, 2)], {0})

    assert run(name, replace(ring, condition=TRUE)).cycle == (0, 1, 2, 0)
    assert run(name, replace(line, condition=TRUE)).status == Status.EMPTY
    for none in (FALSE, fin(0) & inf(0)):
        outcome = run(name, replace(ring, condition=none))
        assert (outcome.status, outcome.states) == (Status.EMPTY, 0)


@pytest.mark.parametrize("name", WITH_FIN)
def test_all_thirty_two_marks(name):
    """A ring of 32 marks: none may be avoided, and one has to be."""
    ring = tuple((i, 1 << i, (i + 1) % 32) for i in range(32))
    one_missing = disjunction(fin(mark) for mark in range(32))
    empty = run(name, Explicit(32, 32, ring, False, one_missing))
    shortcut = (*ring, (30, 0, 0))
    found = run(name, Explicit(32, 32, shortcut, False, one_missing))

    assert empty.status == Status.EMPTY
    assert found.status == Status.FOUND
    assert found.cycle == (*range(31), 0)


def test_who_takes_which_conditions():
    """Others say what to use instead."""
    ring = Explicit(2, 2, ((0, 1, 1), (1, 2, 0)), False)
    with_fin = problem_of(replace(ring, condition=fin(0) | inf(1)))
    without = problem_of(replace(ring, condition=inf(0) | inf(1)))
    usual = problem_of(replace(ring, condition=inf(1) & inf(0)))

    assert usual.condition is None
    for name in NAMES:
        load = SEARCHES[name]()
        if name not in WITH_FIN:
            with pytest.raises(UnsupportedError, match=r"use (--)?emptiness="):
                load(with_fin)
        if name not in FIN_LESS:
            with pytest.raises(UnsupportedError, match=r"use (--)?emptiness="):
                load(without)


def test_the_products_condition():
    """The system's marks are shifted; plain acceptance is no condition at all."""
    first, second = parse_condition("Fin(0)|Inf(1)"), parse_condition("Fin(0)&Inf(1)")

    joint = product_condition(first, second, 2, 2)
    assert str(joint) == "(Fin(0)|Inf(1))&Fin(2)&Inf(3)"
    assert str(product_condition(first, None, 2, 1)) == "(Fin(0)|Inf(1))&Inf(2)"
    assert str(product_condition(None, fin(0), 1, 1)) == "Inf(0)&Fin(1)"
    assert product_condition(None, inf(0), 2, 1) is None
    assert product_condition(TRUE, None, 0, 0) is None
    with pytest.raises(ValueError, match="more marks than there are"):
        product_condition(first, None, 1, 5)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("name", WITH_FIN)
def test_arrays_grow_in_the_middle_of_a_search(name):
    """Fstates, Current, the stack and the roots of a ring of 50,000 states."""
    n = 50_000
    line = [(i, 1, i + 1) for i in range(n - 1)]
    back = [(n - 1, 8, 0)]
    plain = [(i, 0, i + 1) for i in range(n - 1)]
    pairs = [fin(0) & inf(1), fin(2) & inf(1), fin(3) & inf(1), fin(1) & inf(4)]
    automaton = Explicit(
        n, 5, (*line, *plain, *back), False, disjunction([*pairs, fin(4) & inf(1)])
    )
    empty = run(name, automaton)
    found = run(
        name,
        replace(
            automaton,
            transitions=(*automaton.transitions, (n - 1, 16, n - 1)),
        ),
    )

    assert empty.status == Status.EMPTY
    assert empty.states == n
    assert found.status == Status.FOUND
    assert len(found.prefix) == n
    assert found.cycle == (n - 1, n - 1)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_ctrl_c_in_the_middle_of_an_scc(name):
    """Wherever the search is stopped, it can be driven on to the same end."""
    n = 300
    ring = [(i, 1 << (i % 3), (i + 1) % n) for i in range(n)]
    loops = [(i, 0, (i + 5) % n) for i in range(n)]
    parts = [fin(a) & fin(b) & inf(3) for a, b in itertools.combinations(range(3), 2)]
    automaton = Explicit(
        n, 4, (*ring, *loops, (n - 1, 15, 0)), False, disjunction(parts)
    )
    whole = SEARCHES[name]()(system_problem(automaton))
    assert drive(whole, Limits()).status == Status.EMPTY
    search = SEARCHES[name]()(system_problem(automaton))
    stops = 0
    while True:
        job = advance(search, max_budget=7)
        next(job)
        try:
            job.send(Grant())
        except StopIteration as end:
            outcome = end.value
            break
        job.close()
        stops += 1
    assert outcome.status == Status.EMPTY
    assert stops > n / 7
    assert (search.registers == whole.registers).sum() >= len(Reg) - 1  # MAX_STATES
    assert search.statistics() == whole.statistics()


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_max_states_counts_every_state_once(name):
    """Later passes and searches inside an SCC enter states, but no new ones."""
    n = 200
    ring = [(i, 1 << (i % 3), (i + 1) % n) for i in range(n)]
    parts = [fin(mark) & inf((mark + 1) % 3) & inf(3) for mark in range(3)]
    automaton = Explicit(
        n, 4, (*ring, (0, 8, 0), (n - 1, 15, 0)), False, disjunction(parts)
    )
    search = SEARCHES[name]()(system_problem(automaton))
    assert drive(search, Limits(max_states=n - 1)).reason == "max-states"
    assert drive(search, Limits(max_states=n)).status == Status.EMPTY
    assert search.registers[Reg.VISITED] == n
    assert search.statistics()["reentered"] > 0


def test_passes_take_turns():
    """The first pass has far to go, the second one finds a cycle at once."""
    n = 40_000
    ring = [(i, 1 if i else 0, (i + 1) % n) for i in range(n)]
    loop = (n, 0, n + 1), (n + 1, 6, n)
    pairs = disjunction([fin(2) & inf(3), fin(0) & inf(1) & inf(2)])
    automaton = Explicit(n + 2, 4, (*ring, (0, 0, n), *loop), False, pairs)
    search = SEARCHES["tela"]()(problem_of(automaton))
    assert drive(search, Limits()).status == Status.FOUND
    assert search.statistics()["passes"] == 2
    assert search.registers[Reg.EXPANSIONS] < 2 * tela.FIRST_TURN
    assert search.statistics()["reentered"] > 0


def test_waiting_passes_count_against_the_memory():
    n = 60_000
    ring = [(i, 1 << (i % 2) | 4 * (i == 0), (i + 1) % n) for i in range(n)]
    pairs = disjunction([fin(0) & inf(2), fin(1) & inf(2)])
    automaton = Explicit(n, 3, tuple(ring), False, pairs)
    search = SEARCHES["tela"]()(problem_of(automaton))
    limited = SEARCHES["tela"]()(problem_of(automaton))
    limit = 1.2 * limited.memory_bytes / 2**20
    assert drive(limited, Limits(memory_mib=limit)).reason == "memory"
    assert limited.memory_bytes <= limit * 2**20
    assert drive(limited, Limits()).status == Status.EMPTY
    assert drive(search, Limits()).status == Status.EMPTY
    assert search.registers[Reg.VISITED] == n


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_a_pass_waits_for_memory():
    """At no time is there more than the limit; if need be, one pass follows another."""
    n = 60_000
    ring = [(i, 1 << (i % 2) | 4 * (i == 0), (i + 1) % n) for i in range(n)]
    pairs = disjunction([fin(0) & inf(2), fin(1) & inf(2)])
    automaton = Explicit(n, 3, tuple(ring), False, pairs)
    reasons = set()
    for mib in np.linspace(1.5, 6.0, 19).tolist():
        search = SEARCHES["tela"]()(problem_of(automaton))
        limit = mib * 2**20

        def look(states, depth, search=search, limit=limit):
            assert search.memory_bytes <= limit

        found = drive(search, Limits(memory_mib=mib), progress=look)
        reasons.add(found.reason)
        if found.reason is None:
            assert found.status == Status.EMPTY
            assert search.registers[Reg.VISITED] == n
    assert reasons == {"memory", None}


def three_rings(n):
    """Three pairs on a ring; the second one is satisfied by a loop at its end."""
    ring = [(i, 1 << (i % 3), (i + 1) % n) for i in range(n)]
    pairs = [fin(mark) & inf((mark + 1) % 3) & inf(3) for mark in range(3)]
    rows = (*ring, (0, 8, 0), (n - 1, 12, n - 1))
    return Explicit(n, 4, rows, False, disjunction(pairs))


def test_parallel_pairs_keep_the_limits():
    """Each of them on states, all together on memory; the first that accepts wins."""
    automaton = three_rings(5000)

    def search():
        return SEARCHES["rabin-parallel"]()(system_problem(automaton))

    limited = search()
    assert drive(limited, Limits(max_states=4000)).reason == "max-states"
    assert drive(limited, Limits()).status == Status.FOUND
    assert_run_of(automaton, limited)
    alone = SEARCHES["rabin"]()(system_problem(automaton))
    assert search().memory_bytes > 2.5 * alone.memory_bytes
    short = search()
    limit = short.memory_bytes / 2**20 * 1.02
    assert drive(short, Limits(memory_mib=limit)).reason == "memory"
    assert short.memory_bytes <= limit * 2**20


@pytest.mark.parametrize(
    "limits", [Limits(max_states=300), None], ids=["states", "memory"]
)
def test_a_pair_that_comes_to_a_limit_hides_no_run_of_another(limits):
    """In the same turn one pair has found a run, and the other may enter no more."""
    n = 5000
    ring = [(i, 1, (i + 1) % n) for i in range(n)]
    loop = (50, 4, 50)  # accepted by the second pair, which has the ring, too
    pairs = disjunction([fin(1) & inf(3), fin(2) & inf(0) & inf(3), fin(0) & inf(2)])
    automaton = Explicit(n, 4, (*ring, loop), False, pairs)
    problem = system_problem(automaton)
    search = rabin.RabinParallel(problem, workers=3)
    if limits is None:
        limits = Limits(memory_mib=search.memory_bytes / 2**20 * 1.02)
    found = drive(search, limits)

    assert found.status == Status.FOUND
    assert_run_of(automaton, search)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_share_the_pairs(workers, monkeypatch):
    """Never more threads than workers, one needs none; the cut search is the whole."""
    threads = []
    make = rabin.ThreadPoolExecutor

    def noted(n_threads):
        threads.append(n_threads)
        return make(n_threads)

    monkeypatch.setattr(rabin, "ThreadPoolExecutor", noted)
    monkeypatch.setattr(rabin, "TURN", 500)
    automaton = three_rings(5000)
    runs = []
    for budget in (None, 90):
        problem = system_problem(automaton)
        search = rabin.RabinParallel(problem, workers=workers)
        assert drive(search, max_budget=budget).status == Status.FOUND
        assert_run_of(automaton, search)
        runs.append((search.statistics(), search.registers[Reg.VISITED]))
    assert runs[0] == runs[1]
    assert max(threads, default=0) == (min(workers, 3) if workers > 1 else 0)


def test_a_cycle_that_is_not_accepting_is_not_reported():
    """The evaluator looks at what the cycle has seen, not at what the search says."""
    automaton = Explicit(2, 1, ((0, 1, 1), (1, 0, 0)), False, inf(0))
    search = SEARCHES["tela"]()(
        replace(problem_of(automaton), condition=inf(0) | fin(0))
    )
    assert drive(search, Limits()).status == Status.FOUND
    search.problem = replace(search.problem, condition=fin(0))
    with pytest.raises(ReplayError, match="not accepting"):
        jobs.run(search.lasso())


def test_invariants_inside_an_scc():
    """A small budget checks them on every level."""
    rng = random.Random(7)
    levels = 0
    for _ in range(examples(600)):
        automaton = random_automaton(rng, max_states=10, max_marks=6)
        search = SEARCHES["tela"]()(system_problem(automaton))
        outcome_of(search, max_budget=1)
        levels = max(levels, search.statistics()["max_level"])
    assert levels > 1


def test_a_network_of_one_component_is_its_own_product():
    """Marks on letters: actions a and b for ever, c only finitely often."""
    part = LTS.from_transitions(
        [(0, "a", 1), (1, "b", 0), (0, "c", 0), (1, "c", 2), (2, "a", 2)]
    )
    network = Network([part])
    names = [action.name for action in network.actions]
    letters = np.array([names.index(name) for name in names], dtype=np.int32)
    table = PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=3,
        first_edge=np.arange(4, dtype=np.int32),
        edge_dst=np.zeros(3, dtype=np.int32),
        edge_marks=np.array([1 << "abc".index(name) for name in names], np.uint32),
        n_marks=3,
        state_based=False,
        condition=inf(0) & inf(1) & fin(2),
    )
    for name in WITH_FIN:
        problem = make_problem(pack(network, letters), table)
        search = SEARCHES[name]()(problem)
        assert drive(search, Limits()).status == Status.FOUND
        lasso = jobs.run(search.lasso())
        taken = [names[action] for action in lasso.cycle_actions]
        assert sorted(taken) == ["a", "b"]
        assert len(lasso.prefix_actions) == 0
