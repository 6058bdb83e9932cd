"""Ample sets against Spot on the whole product, in every mode.

Networks have nondeterministic components, labels of three components, deadlocks
and divergences; formulas are interruptible ones, by construction and by decision.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.interrupts import accepting_states, first_violation, norm
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.logic.formulas import parse
from ltlpipe.por.tables import relation_of
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from tests.automata.test_interrupts import buchi, scrambled, targets
from tests.complete_searches import Limits, drive
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples, is_quick
from tests.hypothesis_strategies import hoa_automata, networks
from tests.oracles import intersection_verdict, satisfies, spot_verdict
from tests.packed import pack

MODES = [
    {"emptiness": "se05", "red_ample": "full"},
    {"emptiness": "se05", "red_ample": "stored"},
    {"emptiness": "dfs-weak"},
    {"emptiness": "couvreur99"},
    {"emptiness": "ufscc"},
    {"emptiness": "ufscc", "workers": 3},
    {},
]
APART = ("dfs-weak", "ufscc")
"""Searches that a quick run asks about sets of components, and the others about
stubborn sets: each compiles a kernel for either."""

NETWORKS = networks(max_components=4, max_states=3, max_transitions=6, internal=["d"])
FORMULAS = st.builds(
    lambda seed, depth: random_interruptible(["a", "b", "c"], seed=seed, depth=depth),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
DEADLOCKS = st.sampled_from(["ignore", "stutter"])
SETS = st.sampled_from(["stubborn", "stubborn", "components"])
SEEDS = st.none() | st.integers(0, 100)


def assert_modes_agree(network, text, *, deadlock, seed, sets):
    """Every search in every mode comes to Spot's verdict, with true lassos."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=deadlock == "stutter")
    for mode in MODES:
        if is_quick() and (mode.get("emptiness") in APART) == (sets == "stubborn"):
            continue
        asked = {"deadlock": deadlock, "seed": seed, "ample_sets": sets} | mode
        try:
            verdict = ask(network, formula=formula, reduce="ample", **asked)
        except UnsupportedError:
            assert mode == {"emptiness": "dfs-weak"}
            continue
        assert verdict.plan.reductions == ("ample",)
        assert verdict.verdict == expected, mode
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), mode
    whole = ask(network, formula=formula, reduce="none", deadlock=deadlock, seed=seed)
    assert whole.verdict == expected


@given(NETWORKS, FORMULAS, DEADLOCKS, SEEDS, SETS)
@settings(max_examples=examples(200, quick=15))
def test_verdicts_with_ample_sets(network, formula, deadlock, seed, sets):
    """The same with and without them, in each search and mode."""
    assert_modes_agree(network, formula, deadlock=deadlock, seed=seed, sets=sets)


@pytest.mark.slow
@given(NETWORKS, FORMULAS, DEADLOCKS, SEEDS, SETS)
@settings(max_examples=examples(10_000))
def test_verdicts_with_ample_sets_by_the_thousand(
    network, formula, deadlock, seed, sets
):
    """The same, 10,000 times."""
    assert_modes_agree(network, formula, deadlock=deadlock, seed=seed, sets=sets)


@given(NETWORKS, st.data(), DEADLOCKS)
@settings(max_examples=examples(150))
def test_automata_that_are_interruptible(network, data, deadlock):
    """Automata are reduced iff only their visible actions matter to them."""
    kind = data.draw(st.sampled_from(["any", "weak", "terminal"]))
    text = data.draw(hoa_automata(kind, max_states=3))
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=deadlock == "stutter")
    for visible in (None, "a,b,c", "a"):
        verdict = ask(network, automaton=violations, visible=visible, deadlock=deadlock)
        assert verdict.verdict == expected, visible


def hoa_of(table):
    """HOA text of a table of one mark on states; letters 1, 2, 3 are a, b, c."""
    names = "abc"[: table.n_letters - 1]
    lines = [
        "HOA: v1",
        f"States: {table.n_states}",
        f"Start: {table.initial}",
        " ".join([f"AP: {len(names)}", *(f'"{name}"' for name in names)]),
        "Acceptance: 1 Inf(0)",
        "--BODY--",
    ]
    accepting = accepting_states(table)
    for state in range(table.n_states):
        lines.append(f"State: {state}" + " {0}" * (state in accepting))
        for letter in range(table.n_letters):
            signs = ["" if i + 1 == letter else "!" for i in range(len(names))]
            label = "&".join(f"{sign}{i}" for i, sign in enumerate(signs)) or "t"
            lines += [f"[{label}] {d}" for d in sorted(targets(table, state, letter))]
    return "\n".join([*lines, "--END--", ""])


def loose_network(rng):
    """Two or three components that share few labels, so that they can wait."""
    n = rng.choice([2, 3])
    owners = {label: rng.sample(range(n), rng.choice([1, 1, 2])) for label in "abc"}
    components = []
    for who in range(n):
        size = rng.choice([1, 2, 3])
        labels = ["d", *(label for label in "abc" if who in owners[label])]
        steps = {
            (rng.randrange(size), rng.choice(labels), rng.randrange(size))
            for _ in range(rng.choice([2, 3, 4, 5]))
        }
        components.append(
            LTS.from_transitions(sorted(steps), n_states=size, internal=["d"])
        )
    return Network(components)


def random_norm(rng):
    """A table in interrupt normal form for some of its letters, and these."""
    while True:
        n, n_letters = rng.choice([2, 3, 4]), rng.choice([2, 3, 4])
        visible = set(rng.sample(range(1, n_letters), rng.randrange(1, n_letters)))
        triples = {
            (rng.randrange(n), rng.randrange(n_letters), rng.randrange(n))
            for _ in range(n * n_letters)
        }
        accepting = {rng.randrange(n)}
        table = norm(buchi(n, triples, accepting, n_letters=n_letters), visible)
        if table.n_states > 1:  # else it accepts nothing, or all that goes on
            return table, visible


def assert_chosen_actions_are_enough(seed, data, deadlock, sets):
    """An automaton to which only some of its actions matter, with these visible.

    With one less visible it may not be interruptible, and the verdict is the same.
    """
    rng = random.Random(seed)
    network, (normal, visible) = loose_network(rng), random_norm(rng)
    text = hoa_of(data.draw(scrambled(normal)))
    (violations,) = parse_automata(text, "random.hoa")
    expected = intersection_verdict(network, violations, stutter=deadlock == "stutter")
    names = ["abc"[letter - 1] for letter in sorted(visible)]
    for mode, shown in product(MODES, [names, names[1:]]):
        try:
            verdict = ask(
                network,
                automaton=violations,
                visible=",".join(shown),
                deadlock=deadlock,
                reduce="alphabet,ample",
                ample_sets=sets,
                **mode,
            )
        except UnsupportedError:
            assert mode == {"emptiness": "dfs-weak"} or shown != names
            continue
        assert verdict.verdict == expected, mode
        assert "ample" in verdict.plan.reductions


@given(st.integers(0, 10**6), st.data(), DEADLOCKS, SETS)
@settings(max_examples=examples(60))
def test_automata_that_name_more_than_is_visible(seed, data, deadlock, sets):
    """Ample sets are used, and the verdict is Spot's; many have invisible names."""
    assert_chosen_actions_are_enough(seed, data, deadlock, sets)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.data(), DEADLOCKS, SETS)
@settings(max_examples=examples(2000))
def test_automata_that_name_more_than_is_visible_by_the_thousand(
    seed, data, deadlock, sets
):
    """The same, 2,000 times."""
    assert_chosen_actions_are_enough(seed, data, deadlock, sets)


def fig1_automaton():
    """An automaton of GF b that is not in normal form; letter 0 is a, 1 is b."""
    cells = [[2], [1], [0], [1], [0], [0, 2]]
    return PropertyAutomaton(
        n_states=3,
        initial=0,
        n_letters=2,
        first_edge=np.array([0, 1, 2, 3, 4, 5, 7], dtype=np.int32),
        edge_dst=np.array([d for cell in cells for d in cell], dtype=np.int32),
        edge_marks=np.array([0, 0, 1, 1, 0, 0, 0], dtype=np.uint32),
        n_marks=1,
        state_based=True,
    )


def finds_run(network, automaton, *, ample):
    letters = np.array([int(a.name == "b") for a in network.actions], dtype=np.int32)
    packed = pack(network, letters, extra_values=automaton.n_states)
    relation = relation_of(network, packed) if ample else None
    problem = make_problem(packed, automaton, relation=relation, visible=letters == 1)
    search = SEARCHES["se05"]()(problem)
    return drive(search, Limits()).status == Status.FOUND


def test_without_normal_form_the_verdict_is_wrong():
    """As in Siegel & Yan 2020, Fig. 1: a and b are independent, a is invisible.

    The automaton accepts GF b, but it can take b only in some of its states, and
    the reduced space puts it off in those.  In normal form it cannot happen.
    """
    network = Network(
        [LTS.from_transitions([(0, "a", 0)]), LTS.from_transitions([(0, "b", 0)])]
    )
    automaton = fig1_automaton()
    assert first_violation(automaton, [1]).condition == 1
    assert finds_run(network, automaton, ample=False)
    assert not finds_run(network, automaton, ample=True)
    assert finds_run(network, norm(automaton, [1]), ample=True)


def test_formulas_that_are_not_interruptible_are_not_reduced():
    """And who insists is told why not."""
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    verdict = check(network, "G(a -> X b)")
    assert verdict.plan.reductions == ()
    with pytest.raises(UnsupportedError, match="not interruptible"):
        check(network, "G(a -> X b)", reduce="ample")
    with pytest.raises(UnsupportedError, match="gv04 takes all steps"):
        check(network, "G(a -> F b)", reduce="ample", emptiness="gv04")


@pytest.mark.parametrize("sets", ["stubborn", "components"])
def test_independent_components_are_searched_one_after_the_other(sets):
    """Ten counters of five states: a path instead of a grid of 5^10 states."""
    counters = [
        LTS.from_transitions([(k, f"c{i}_{k}", k + 1) for k in range(4)])
        for i in range(10)
    ]
    network = Network([*counters, LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    for mode in MODES:
        verdict = check(
            network,
            "G(a -> F b)",
            **mode,
            ample_sets=sets,
            max_states=10**5,
            reduce="ample",  # they can be interchanged, too
        )
        assert verdict.verdict in ("holds", "violated")
        assert verdict.stats.states < 1000
        assert verdict.stats.details["reduced_states"] > 0
