"""Component reduction against Spot on the whole product.

With each equivalence, merging in random orders, and limits so small that the way out
by branching bisimulation is taken.  Networks have nondeterministic components, labels
of three components, deadlocks and divergences.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.components import merger
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import Limits, StoppedError, run
from ltlpipe.strategies import components
from ltlpipe.strategies.lifting import Lifter
from ltlpipe.strategies.state_search import new_search
from ltlpipe.systems.runs import Run
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, hoa_automata, networks
from tests.oracles import intersection_verdict, satisfies, spot_verdict

NETWORKS = networks(max_components=4, max_states=3, max_transitions=6, internal=["d"])
FORMULAS = st.builds(
    lambda seed, depth: random_interruptible(["a", "b", "c"], seed=seed, depth=depth),
    st.integers(0, 10**6),
    st.integers(1, 3),
)


@st.composite
def manners(draw):
    """How to merge: the limits, the equivalence, and a seed for the order."""
    return {
        "cap_states": draw(st.sampled_from([1, 2, 3, 5, 8, 1000])),
        "small": draw(st.sampled_from([0, 0, 1, 4])),
        "equivalence": draw(st.sampled_from(["trace", "trace", "branching", "strong"])),
        "order": draw(st.none() | st.integers(0, 1000)),
    }


def in_a_manner(manner):
    """Let components be reduced so, and never be taken from the shelf."""
    limits = dict(manner)
    order = limits.pop("order")

    original = merger.reduce_components

    def reduce_components(network, visible, limit, known=None, shelf=None, enough=None):
        heuristics = merger.HEURISTICS
        if order is not None:
            rng = random.Random(order)
            heuristics = (lambda _: rng.random(),)
        with (
            patch.object(merger, "HEURISTICS", heuristics),
            patch.object(merger, "ASKED_AFTER", 0),
            patch.object(merger, "SEARCHED", 0),
        ):
            limit = replace(limit, **limits)
            job = original(network, visible, limit, known, enough=enough)
            return (yield from job)

    return patch.object(merger, "reduce_components", reduce_components)


def assert_the_same(network, formula, manner, *, reduce="components", seed=None):
    """The verdict is Spot's, and a lasso is one of the network's."""
    expected = spot_verdict(network, formula.spot, stutter=False)
    with in_a_manner(manner):
        verdict = ask(network, formula=formula, reduce=reduce, seed=seed)
    assert "components" in verdict.plan.reductions
    assert verdict.verdict == expected
    event(f"{expected} with {manner['equivalence']}")
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


REDUCTIONS = st.sampled_from(
    ["components", "alphabet,components", "alphabet,components,ample"]
)


@given(NETWORKS, FORMULAS, manners(), REDUCTIONS)
@settings(max_examples=examples(200))
def test_verdicts_with_component_reduction(network, formula, manner, reduce):
    """The same with and without it."""
    assert_the_same(network, parse(formula), manner, reduce=reduce)


@pytest.mark.slow
@given(NETWORKS, FORMULAS, manners(), REDUCTIONS)
@settings(max_examples=examples(10_000))
def test_verdicts_with_component_reduction_by_the_thousand(
    network, formula, manner, reduce
):
    """The same, 10,000 times."""
    assert_the_same(network, parse(formula), manner, reduce=reduce)


@given(NETWORKS, FORMULAS, st.integers(1, 3), st.integers(1, 5), REDUCTIONS)
@settings(max_examples=examples(300))
def test_limits_at_first(network, formula, cap, states, reduce):
    """A search goes on at its limit, or begins anew where more was composed."""
    formula = parse(formula)
    begun = []

    def begin(question, plan, problem):
        begun.append(plan)
        return new_search(question, plan, problem)

    with (
        patch.object(components, "SMALL_CAP", cap),
        patch.object(components, "SOME_STATES", states),
        patch.object(components, "new_search", begin),
        patch.object(merger, "SMALL", 1),
        patch.object(merger, "SEARCHED", 0),
    ):
        verdict = ask(network, formula=formula, reduce=reduce)
    expected = spot_verdict(network, formula.spot, stutter=False)
    assert verdict.verdict == expected
    event(f"{len(begun)} searches, {(verdict.stats.states or 0) > states}")
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


@given(NETWORKS, formulas(max_leaves=4), st.sampled_from(["ignore", "stutter"]))
@settings(max_examples=examples(200))
def test_any_formula(network, formula, deadlock):
    """What is not interruptible, or judges deadlocks, gets bisimilarity."""
    formula = parse(formula)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    verdict = ask(network, formula=formula, reduce="components", deadlock=deadlock)
    assert verdict.verdict == expected


@given(NETWORKS, st.data(), manners())
@settings(max_examples=examples(150))
def test_automata(network, data, manner):
    """Automata are reduced for if only their visible actions matter to them."""
    kind = data.draw(st.sampled_from(["any", "weak", "terminal"]))
    text = data.draw(hoa_automata(kind, max_states=3))
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=False)
    for visible in (None, "a"):
        with in_a_manner(manner):
            verdict = ask(
                network, automaton=violations, visible=visible, reduce="components"
            )
        assert verdict.verdict == expected, visible


@given(NETWORKS, st.lists(FORMULAS, min_size=2, max_size=4))
@settings(max_examples=examples(100))
def test_many_formulas_about_one_network(network, texts):
    """What one formula leaves on the shelf does not mislead another."""
    for text in texts:
        formula = parse(text)
        verdict = ask(network, formula=formula, reduce="components")
        assert verdict.verdict == spot_verdict(network, formula.spot, stutter=False)


@pytest.mark.thorough("reduces six large networks")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("style", ["random-pairs", "random-dense"])
def test_long_lassos_are_lifted(style, seed):
    """Every lasso of some larger networks replays; the cap forces groups to stay."""
    network = rers_network(4, style=style, seed=seed).network
    names = [action.name for action in network.actions]
    rng = random.Random(seed)
    n_violated = 0
    for _ in range(8):
        a, b, c = rng.sample(names, 3)
        for text in (f"G({a} -> F {b})", f"!{a} W {b}", f"GF {a} -> G(!{b} | F {c})"):
            verdicts = {
                ask(
                    network, formula=text, reduce="components", max_component_states=cap
                ).verdict
                for cap in (1, 30, 100_000)
            }
            assert len(verdicts) == 1
            n_violated += "violated" in verdicts
    assert n_violated > 0


def test_runs_that_stop_and_runs_that_diverge():
    """One component stops for ever while another runs silently."""
    stops = LTS.from_transitions([(0, "a", 1), (1, "x", 2)])
    runs = LTS.from_transitions([(0, "u", 1), (1, "v", 0), (0, "x", 0)])
    network = Network([stops, runs])
    verdict = ask(network, formula="G(a -> F b)", reduce="components")
    assert verdict.verdict == "violated"
    assert "a" in verdict.lasso.prefix
    assert set(verdict.lasso.cycle) <= {"u", "v"}


def test_no_component_runs_for_ever():
    """A run that ends is none, although every prefix of it is there."""
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 2)])] * 2)
    assert ask(network, formula="G !a", reduce="components").verdict == "holds"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bitstate": 1.0}, "bitstate= is for systems as they are"),
        ({"max_component_states": 0}, "max_component_states=0: expected 1 or more"),
    ],
)
def test_what_cannot_be_done(options, message):
    """Named, and refused."""
    network = Network([LTS.from_transitions([(0, "a", 0)])])
    with pytest.raises(UnsupportedError, match=message):
        ask(network, formula="GF a", reduce="components", **options)
    accepting = Network([LTS.from_transitions([(0, "a", 0)], accepting=[0])])
    with pytest.raises(UnsupportedError, match="acceptance of the system"):
        ask(accepting, formula="GF a", reduce="components")


def test_an_internal_label_named_like_a_common_one():
    """Bisimilarity hides it in its own component only; the others synchronise."""
    network = Network(
        [
            LTS.from_transitions([(0, "x", 0)], internal=["x"]),
            LTS.from_transitions([(0, "x", 1), (1, "a", 1)]),
            LTS.from_transitions([(0, "q", 0), (1, "x", 1)]),
        ]
    )
    for deadlock in ("ignore", "stutter"):
        for text in ("G !a", "G(q -> X !a) & G !a"):
            verdict = ask(network, formula=text, reduce="components", deadlock=deadlock)
            assert verdict.verdict == "holds"


@pytest.mark.parametrize("visible", [None, "a"])
@pytest.mark.parametrize("second", ["[0] 1", "[0] 1 {0}"], ids=["normal", "other"])
def test_actions_that_an_automaton_never_reads(visible, second):
    """They end its words; hidden they would be read as any other action."""
    text = f"""HOA: v1
        States: 2
        Start: 0
        AP: 2 "a" "x"
        Acceptance: 1 Inf(0)
        --BODY--
        State: 0
        [!0 & !1] 0
        {second}
        State: 1
        [0] 1 {{0}}
        [!0 & !1] 1 {{0}}
        --END--"""
    (violations,) = parse_automata(text, "unread.hoa")
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "x", 0)])])
    assert intersection_verdict(network, violations, stutter=False) == "holds"
    for lasso in (True, False):
        verdict = ask(
            network,
            automaton=violations,
            visible=visible,
            reduce="alphabet,components",
            lasso=lasso,
        )
        assert verdict.verdict == "holds"


def test_an_automaton_that_reads_no_other_action():
    """Its visible action cannot happen until another does, which ends the word.

    What is left of the automaton then accepts nothing, and is interruptible.
    """
    text = """HOA: v1
        States: 1
        Start: 0
        AP: 2 "x" "y"
        Acceptance: 1 Inf(0)
        --BODY--
        State: 0 {0}
        [0] 0
        --END--"""
    (violations,) = parse_automata(text, "unread.hoa")
    network = Network([LTS.from_transitions([(0, "u", 1), (1, "x", 1), (0, "y", 0)])])
    for reduce in ("components", "alphabet,components"):
        verdict = ask(network, automaton=violations, reduce=reduce, lasso=False)
        assert verdict.verdict == "holds"


@pytest.mark.parametrize("order", [1, -1], ids=["stops first", "goes on first"])
@pytest.mark.parametrize("reduce", ["components", "alphabet,components"])
def test_a_lifted_run_ends_in_a_deadlock(order, reduce):
    """After the same word another state could go on, if asked to lift the word only.

    The other component never offers "never", which the deadlocked state does.
    """
    rows = [(0, "a", 1), (0, "a", 2), (1, "never", 0), (2, "b", 0)]
    network = Network(
        [
            LTS.from_transitions(rows[::order]),
            LTS.from_transitions([(1, "never", 1)], initial=0),
        ]
    )
    verdict = ask(network, formula="G F b", reduce=reduce, deadlock="stutter")
    assert (verdict.lasso.prefix, verdict.lasso.cycle) == (["a"], ["<stutter>"])
    assert verdict.lasso.states.tolist() == [[0, 0], [1, 0], [1, 0]]


def rings(*lengths):
    """Components that go round together, each in its own time."""
    return Network(
        [
            LTS.from_transitions([(s, "a", (s + 1) % n) for s in range(n)])
            for n in lengths
        ]
    )


def test_a_joint_walk_is_as_long_as_it_must_be():
    """Rings of 2, 3 and 5 states are in their first states after 30 steps."""
    verdict = ask(rings(2, 3, 5), formula="G !a", reduce="components")
    assert (verdict.lasso.prefix, verdict.lasso.cycle) == ([], ["a"] * 30)


def test_a_joint_walk_ends_at_the_limit_of_memory():
    """Nobody waits for lcm(1, ..., 29) steps."""
    network = rings(2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
    reduced = run(merger.reduce_components(network, ["a"]))
    groups = reduced.groups
    assert {group.lts.n_states for group in groups} == {1}
    loop, last = np.zeros(1, dtype=np.int32), np.zeros(len(groups), dtype=np.int32)
    job = Lifter(network).lift(groups, Run(loop, last[None], 0))
    with pytest.raises(StoppedError, match="memory"):
        run(job, Limits(memory_mib=100))


def in_turn(n):
    """A component that does a private step n times round, and one that does "a"."""
    return LTS.from_transitions([(s, f"t{n}", (s + 1) % n) for s in range(n)])


def test_parts_that_need_not_go_on_stop():
    """What a search has woven into a cycle without need is not gone round for ever."""
    lengths = (7, 11, 13, 17)
    rounds = [in_turn(n) for n in lengths]
    counter = LTS.from_transitions([(0, "a", 1), (1, "a", 0)])
    network = Network([*rounds, *rounds, counter])
    reduced = run(merger.reduce_components(network, ["a"], merger.Limit(small=10**9)))
    groups = reduced.groups
    assert [group.lts.n_states for group in groups] == [1] * 9
    names = [action.name for action in reduced.network.actions]
    cycle = np.arange(len(names), dtype=np.int32)  # every action once
    last = np.zeros(len(groups), dtype=np.int32)
    lifter = Lifter(network)
    whole = run(lifter.lift(groups, Run(cycle, last[None], 0)))
    assert len(whole[0]) == 5 * 2 * 7 * 11 * 13 * 17
    actions, states, length = run(lifter.lift(groups, Run(cycle, last[None], 0), ["a"]))
    assert [network.actions[a].name for a in actions] == ["a", "a"]
    assert (length, states[0].tolist()) == (0, states[-1].tolist())
    actions, _, _ = run(lifter.lift(groups, Run(cycle, last[None], 0), ["b"]))
    assert [network.actions[a].name for a in actions] == ["t7"] * 7


def test_of_several_divergences_one_is_kept():
    """Silent rings of 7 and 11 states; either is enough for a run."""
    network = Network([in_turn(7), in_turn(11)])
    reduced = run(merger.reduce_components(network, ["a"]))
    cycle, last = np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32)
    lifted = run(Lifter(network).lift(reduced.groups, Run(cycle, last[None], 0), ["a"]))
    assert [network.actions[a].name for a in lifted[0]] == ["t7"] * 7


@given(networks(max_components=4, max_states=3, max_transitions=6), st.data())
@settings(max_examples=examples(200))
def test_lifted_lassos_are_runs_with_the_same_word(network, data):
    """Any lasso of the reduced network, unneeded events and all."""
    visible = data.draw(st.sets(st.sampled_from(["a", "b"])))
    limit = merger.Limit(small=data.draw(st.sampled_from([0, 10**9])))
    reduced = run(merger.reduce_components(network, visible, limit))
    taken, length, last = walked(reduced.network, data)
    event("no lasso" if taken is None else "a lasso")
    if taken is None:
        return
    job = Lifter(network).lift(reduced.groups, Run(taken, last[None], length), visible)
    actions, states, begin = run(job)
    assert_run(network, actions, states, begin)
    names = [[a.name for a in n.actions] for n in (reduced.network, network)]
    words = [
        seen_in(names[0], taken, length, visible),
        seen_in(names[1], actions, begin, visible),
    ]
    assert unrolled(*words[0]) == unrolled(*words[1])


def walked(network, data):
    """A random lasso: actions, the length of the prefix, and the last state."""
    components = [c.transitions() for c in network.components]
    state = tuple(c.initial for c in network.components)
    path, actions = [state], []
    for _ in range(30):
        options = []
        for number, action in enumerate(network.actions):
            targets = [
                [d for s, x, d in components[p] if (s, x) == (state[p], action.name)]
                for p in action.participants
            ]
            for chosen in product(*targets):
                after = list(state)
                for p, target in zip(action.participants, chosen, strict=True):
                    after[p] = target
                options.append((number, tuple(after)))
        if not options:
            return None, 0, None
        number, state = data.draw(st.sampled_from(options))
        actions.append(number)
        if state in path and data.draw(st.booleans()):
            break
        path.append(state)
    if state not in path[: len(actions)]:
        return None, 0, None
    begin = path.index(state)
    return np.array(actions, dtype=np.int32), begin, np.array(state, dtype=np.int32)


def assert_run(network, actions, states, begin):
    """Every step is one of the network, and the cycle closes."""
    assert states[0].tolist() == [c.initial for c in network.components]
    assert states[begin].tolist() == states[-1].tolist()
    assert begin < len(actions)
    for k, number in enumerate(actions.tolist()):
        action = network.actions[number]
        for p, component in enumerate(network.components):
            src, dst = int(states[k, p]), int(states[k + 1, p])
            if p in action.participants:
                assert (src, action.name, dst) in component.transitions()
            else:
                assert src == dst


def seen_in(names, actions, begin, visible):
    """The visible actions of a prefix and of a cycle."""
    parts = actions[:begin], actions[begin:]
    return [[names[a] for a in part.tolist() if names[a] in visible] for part in parts]


def unrolled(prefix, cycle):
    """A word long enough to tell two lassos of this size apart."""
    word = [*prefix]
    while cycle and len(word) < 2000:
        word += cycle
    return word[:2000]


def test_a_short_search_without_memory():
    """What is too large as it is may be small when it is reduced."""
    network = Network(
        [
            LTS.from_transitions([(s, f"l{k}_{s}", (s + 1) % 40) for s in range(40)])
            for k in range(8)
        ]
    )
    question = {"formula": "G(l0_3 -> (!l0_9 W l0_4))", "emptiness": "cvwy92"}
    few = ask(network, reduce="none", memory=1.0, **question)
    assert (few.verdict, few.reason) == ("unknown", "memory")
    assert ask(network, memory=1.0, **question).verdict == "holds"
