"""What the strategy makes of symmetry, and constraints on the property's side."""

from __future__ import annotations

import pickle
import random
import weakref

import pytest
import spot

from benchmarks.cases import told_apart
from ltlpipe import UnsupportedError, check
from ltlpipe.families.client_server import client_server
from ltlpipe.families.philosophers import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import EMPTY, FOUND
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime import memory as memory_limits
from ltlpipe.runtime.jobs import Limits, Progress, run
from ltlpipe.strategies.registry import BY_NAME
from ltlpipe.strategies.symmetry import symmetry_of
from ltlpipe.symmetry.classes import detection
from ltlpipe.symmetry.classes.detection import find_symmetry
from ltlpipe.symmetry.sets.networks import tables
from ltlpipe.symmetry.sets.runs import SetRuns
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.verdict.portfolio import Portfolio
from ltlpipe.verdict.questions import question_of
from tests.symmetry.sets.networks.networks import personal_formula, random_symmetric

RING = philosophers(5)
SERVED_ALONE = "G(grant1 -> (!grant2 W (release1 | commit1 | abort1)))"


def test_the_plan_uses_what_it_finds():
    """Four clients: their symmetry is used, and named."""
    verdict = check(client_server(4), SERVED_ALONE, reduce="symmetry")

    plain = check(client_server(4), SERVED_ALONE, reduce="none", emptiness="couvreur99")
    assert (verdict.verdict, plain.verdict) == ("holds", "holds")
    assert verdict.plan.strategy == "symmetry"
    assert verdict.plan.emptiness == "aec-closed"
    assert "symmetry" in verdict.plan.reductions
    assert any("client1, client2, client3" in why for why in verdict.plan.reasons)
    assert 3 * verdict.stats.states < plain.stats.states


@pytest.mark.parametrize(
    "options",
    [{"reduce": "none"}, {"emptiness": "couvreur99"}, {"fairness": "weak"}],
    ids=str,
)
def test_the_plan_leaves_it_where_it_cannot_be_used(options):
    """Other searches and fairness look at single states."""
    verdict = check(client_server(3), SERVED_ALONE, **options)

    assert verdict.verdict == "holds"
    assert "symmetry" not in verdict.plan.reductions


def test_two_are_not_worth_it_unless_asked_for():
    """Classes of two are found on request only."""
    two = client_server(2)

    assert run(symmetry_of(two, Options())) is None
    assert run(symmetry_of(two, Options(reduce="symmetry"))) is not None
    asked = check(two, "G !grant1", reduce="symmetry")
    assert "symmetry" in asked.plan.reductions


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (RING, {"reduce": "symmetry"}, "no two components"),
        (client_server(3), {"symmetric": ["client1,server"]}, "client1.*server"),
        (client_server(3), {"symmetric": ["client1,client9"]}, "client9"),
        (client_server(3), {"reduce": "symmetry,ample"}, "leave one out"),
        (client_server(3), {"emptiness": "iec", "fairness": "weak"}, "fairness"),
        (client_server(3), {"emptiness": "iec", "bitstate": 1.0}, "bitstate="),
        (
            client_server(3),
            {"emptiness": "aec", "acceptance": "tela"},
            "its automaton accepts by",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_is_asked_for_in_vain(system, options, message):
    """An error says what is in the way."""
    formula = "GF eat0 -> GF eat1" if system is RING else "GF grant1 -> GF grant2"
    with pytest.raises(UnsupportedError, match=message):
        check(system, formula, **options)


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_the_quotient_is_used_where_it_is_named():
    """Its plan says who is left to interchange; nobody uses it unasked."""
    named = check(client_server(4), SERVED_ALONE, reduce="stabiliser")
    plain = check(client_server(4), SERVED_ALONE, reduce="none", emptiness="dfs-weak")

    assert (named.verdict, named.plan.strategy) == ("holds", "stabiliser")
    assert any("client3, client4 (Emerson" in why for why in named.plan.reasons)
    assert named.stats.states < plain.stats.states
    declared = check(
        client_server(4), "F grant1", reduce="stabiliser", symmetric=["client3,client4"]
    )
    assert declared.verdict == "violated"
    assert any("never tells apart client3" in why for why in declared.plan.reasons)
    nobody = check(client_server(2), "F grant1 | F grant2", reduce="stabiliser")
    assert any("client1, client2 (Em" in why for why in nobody.plan.reasons)
    apart = check(client_server(2), "G(grant1 -> F grant2)", reduce="stabiliser")
    assert any("leaves nothing to interchange" in why for why in apart.plan.reasons)


def test_the_quotient_with_components_reduced_first():
    """With both named, fewer orbits remain than with one."""
    text = "!grant1 W request1"
    both = check(client_server(4), text, reduce="components,stabiliser")
    one = check(client_server(4), text, reduce="stabiliser")

    assert both.verdict == one.verdict == "holds"
    assert {"components", "stabiliser"} <= set(both.plan.reductions)
    assert both.stats.states < one.stats.states


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 2}, "leave out workers"),
        ({"emptiness": "tec"}, "tec does not look at one state"),
        ({"fairness": "weak"}, "fairness"),
    ],
    ids=str,
)
def test_the_quotient_in_vain(options, message):
    """An error says what is in the way of the quotient."""
    with pytest.raises(UnsupportedError, match=message):
        check(client_server(3), SERVED_ALONE, reduce="stabiliser", **options)


def test_declared_classes_are_the_ones_used():
    """The user names three of four clients."""
    verdict = check(
        client_server(4), SERVED_ALONE, symmetric=["client2, client3,client4"]
    )

    assert verdict.verdict == "holds"
    assert any("client2, client3, client4 can" in why for why in verdict.plan.reasons)


def test_components_that_are_reduced_first():
    """With both reductions named, fewer sets remain than with one."""
    both = check(client_server(4), "!grant1 W request1", reduce="components,symmetry")
    one = check(client_server(4), "!grant1 W request1", reduce="symmetry")

    assert both.verdict == one.verdict == "holds"
    assert {"components", "symmetry"} <= set(both.plan.reductions)
    assert both.stats.states < one.stats.states


def test_limits_end_a_search_of_sets():
    """Sets count as states; what was known is said."""
    verdict = check(client_server(5), SERVED_ALONE, max_states=100, reduce="symmetry")
    assert (verdict.verdict, verdict.reason) == ("unknown", "max-states")
    assert verdict.stats.states == 100

    verdict = check(client_server(5), SERVED_ALONE, memory=0.1, reduce="symmetry")
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory")

    verdict = check(client_server(8), SERVED_ALONE, timeout=0)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")


def test_many_sets_trap_nobody():
    """Where one step leads to very many of them, others have their turns."""
    case = told_apart(10)
    asked = Property(parse(case.formula))
    ways = [BY_NAME["symmetry"], BY_NAME["decoupled"]]
    portfolio = Portfolio(question_of(case.system, asked, Options()), ways)
    assert run(portfolio.job(), Limits(timeout=60)).kind == EMPTY
    assert [(t.strategy, t.outcome) for t in portfolio.tried()] == [
        ("decoupled", "answered"),
        ("symmetry", "set aside"),
    ]


def test_many_sets_end():
    """Eight clients of which nearly nothing is seen."""
    verdict = check(client_server(8), "!grant1 W request1", reduce="symmetry")
    assert (verdict.verdict, verdict.plan.reductions) == ("holds", ("symmetry",))


def broadcast(n):
    """Return n counters that count alone, and are reset together when all are full."""
    counters = [
        LTS.from_transitions(
            [
                *((k, f"step{i}", k + 1) for k in range(9)),
                (9, "full", 9),
                *((k, "reset", 0) for k in range(10)),
            ],
            name=f"counter{i}",
        )
        for i in range(n)
    ]
    control = LTS.from_transitions([(0, "full", 1), (1, "reset", 0)], name="control")
    return Network([*counters, control])


@pytest.mark.parametrize("n", [4, 12])
def test_a_lasso_through_a_broadcast(n):
    """10^12 states have a reset as their last step: those of a set are few."""
    verdict = check(broadcast(n), "G !reset", timeout=60, reduce="symmetry")
    assert verdict.verdict == "violated"
    assert "symmetry" in verdict.plan.reductions
    assert verdict.lasso.prefix.count("reset") + verdict.lasso.cycle.count("reset")


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_a_violation_is_never_lost(monkeypatch):
    """One that was found in time is one, whatever its run takes."""

    def endless(_):
        while True:
            yield Progress("extracting", work=1000)

    monkeypatch.setattr(SetRuns, "accepting", endless)
    asked = {"reduce": "symmetry", "timeout": 3}
    verdict = check(client_server(3), "G !grant1", **asked)
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None
    assert verdict.plan.strategy == "symmetry"


def remembering(n_locks):
    """Return three clients and locks that differ, each of which knows its owner."""
    clients = [
        LTS.from_transitions(
            [(0, f"go{i}", 0)]
            + [(0, f"{what}{k}.{i}", 0) for k in range(n_locks) for what in "af"]
        )
        for i in range(3)
    ]
    locks = [
        LTS.from_transitions(
            [(0, f"a{k}.{i}", 1 + i) for i in range(3)]
            + [(1 + i, f"f{k}.{i}", 0) for i in range(3)]
            + [(0, f"own{k}.{j}", 0) for j in range(k)]
        )
        for k in range(n_locks)
    ]
    return Network([*clients, *locks])


def test_symmetry_that_cannot_be_used_is_no_error():
    """36 locks with three owners each are more colours than a number has."""
    network = remembering(36)
    with pytest.raises(UnsupportedError, match="colours"):
        check(network, "G !go1", reduce="symmetry")
    asked = Property(parse("G !go1"))
    ways = [BY_NAME["symmetry"], BY_NAME["explicit"]]
    portfolio = Portfolio(question_of(network, asked, Options()), ways)
    assert run(portfolio.job()).kind == FOUND
    assert [(t.strategy, t.outcome) for t in portfolio.tried()] == [
        ("symmetry", "dropped out"),
        ("explicit", "answered"),
    ]


def test_a_network_is_not_kept_by_its_symmetry():
    """Nor does it take what was found along to another process."""
    network = client_server(4)
    check(network, "G !grant1", reduce="none")  # knows its actions by now
    size = len(pickle.dumps(network))
    check(network, "G !grant1", reduce="symmetry")
    assert len(pickle.dumps(network)) == size
    gone = weakref.ref(network)
    del network
    assert gone() is None


def test_symmetry_is_looked_for_once(monkeypatch):
    """A network is asked many questions; those of two members are another matter."""
    looked_for = []

    def noted(network, *, least, **others):
        looked_for.append(least)
        return find_symmetry(network, least=least, **others)

    monkeypatch.setattr(detection, "find_symmetry", noted)
    network = client_server(3)
    for _ in range(3):
        run(symmetry_of(network, Options()))
    for formula in ("G !grant1", "GF grant2", "F commit1"):
        check(network, formula, reduce="symmetry")
    assert looked_for == [3, 2]
    run(symmetry_of(client_server(3), Options()))
    assert looked_for == [3, 2, 3]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_memory_for_the_tables_alone(monkeypatch):
    """Tables that exceed the limit are never made."""
    made = []
    make = tables.symbolic_product

    def noted(*args, **options):
        automaton = yield from make(*args, **options)
        made.append(automaton)
        return automaton

    monkeypatch.setattr(tables, "symbolic_product", noted)
    ring = [(s, f"step{s}", (s + 1) % 50) for s in range(50)]
    alike = [
        LTS.from_transitions([(s, f"{a}_{i}", d) for s, a, d in ring])
        for i in range(24)
    ]
    network = Network(alike)
    asked = {"formula": "G !step0_0", "reduce": "symmetry"}
    assert check(network, **asked).verdict == "violated"  # its symmetry is known
    assert made.pop().tables.ints.nbytes > 276 * 1200 * 8
    verdict = check(network, memory=1.5, **asked)  # 276 swaps of 1200 actions
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory")
    assert "symmetry" in verdict.plan.reductions
    assert verdict.stats.states is None
    assert not made
    unasked = check(network, "G !step0_0", memory=1.5)
    assert (unasked.verdict, made) == ("violated", [])


def test_memory_of_a_run():
    """What its extraction takes counts; without it there is no lasso."""
    ask = {"formula": "F grant1", "emptiness": "iec"}
    network = client_server(5)
    check(network, **ask)  # workers have started
    searched = check(network, lasso=False, **ask).stats.memory_mib
    needed = check(network, **ask).stats.memory_mib
    assert searched < needed < searched + 1 / 16  # it has tables of its own

    enough = check(network, memory=needed, **ask)
    assert (enough.verdict, enough.stats.memory_mib) == ("violated", needed)
    verdict = check(network, memory=searched, **ask)  # shortening does without
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None
    assert check(network, memory=searched, lasso=False, **ask).verdict == "violated"


def test_a_run_that_is_too_long(monkeypatch):
    """Steps are written down as far as memory allows, prefix and cycle together."""
    network = client_server(5)
    lasso = check(network, "G !grant1", emptiness="iec").lasso
    steps = len(lasso.prefix) + len(lasso.cycle)
    assert len(lasso.prefix) > 0
    monkeypatch.setattr(memory_limits, "MAX_STEPS", steps)
    assert check(network, "G !grant1", emptiness="iec").verdict == "violated"
    monkeypatch.setattr(memory_limits, "MAX_STEPS", steps - 1)
    verdict = check(network, "G !grant1", emptiness="iec")
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None


WAYS = [
    {},
    {"reduce": "none"},
    {"reduce": "none", "emptiness": "couvreur99"},
    {"reduce": "symmetry"},
    {"emptiness": "iec", "reduce": "symmetry"},
]
"""All strategies together, `instant`, `explicit`, and sets of states."""


def assert_constrained(seed):
    """A formula under a constraint is the constraint's implying it."""
    rng = random.Random(seed)
    network = random_symmetric(rng, n_clients=3, lively=True)
    formula, rule = (personal_formula(rng, network, most=2) for _ in range(2))
    constraint = spot.translate(rule)

    expected = check(network, f"({rule}) -> ({formula})", reduce="none").verdict
    for options in WAYS:
        verdict = check(network, formula, constraint=constraint, **options)
        assert verdict.verdict == expected, (seed, options)
        assert verdict.formula == formula
    return expected


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_constraints_are_premises():
    """On random symmetric networks, with lassos that are replayed."""
    answers = [assert_constrained(seed) for seed in range(15)]
    assert {"holds", "violated"} <= set(answers)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 1100, 50))
def test_constraints_are_premises_thousandfold(first):
    """Many more of them."""
    for seed in range(first, first + 50):
        assert_constrained(seed)


def test_a_constraint_leaves_the_system_its_symmetry():
    """A component that gives one client a turn takes the others their symmetry."""
    rule = spot.translate("!grant2 W grant1")
    asked = {"formula": "!grant2 W request1", "reduce": "symmetry"}
    verdict = check(client_server(4), constraint=rule, **asked)
    free = check(client_server(4), **asked)

    assert (verdict.verdict, free.verdict) == ("holds", "violated")
    assert any("client1, client2, client3" in why for why in verdict.plan.reasons)

    turns = LTS.from_transitions(
        [(0, "grant1", 1), (1, "grant1", 1), (1, "grant2", 1)], name="turns"
    )
    guarded = Network([*client_server(4).components, turns])
    assert check(guarded, "!grant2 W request1").verdict == "holds"
    found = run(symmetry_of(guarded, Options()))
    assert found is None


def test_constraints_and_other_questions():
    """An automaton of violations, no property at all, and a time that is up."""
    network = client_server(3)
    rule = spot.translate("G !wake1 & G !wake2 & G !wake3 & G !maintain")

    assert check(network, empty=True, constraint=rule).verdict == "holds"
    negated = spot.translate("F grant2")
    once = spot.translate("!grant2 U grant1")
    assert check(network, automaton=negated, constraint=once).verdict == "violated"
    late = check(network, "G(request1 -> F grant1)", constraint=once, timeout=0)
    assert (late.verdict, late.reason) == ("unknown", "timeout")
    assert late.formula == "G(request1 -> F grant1)"
    with pytest.raises(UnsupportedError, match="translator="):
        check(network, "F grant1", constraint=rule, translator="ltl2tgba %f")
