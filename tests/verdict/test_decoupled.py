"""Decoupled search as users ask for it."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.families.networks import philosophers, random_network, ring
from ltlpipe.runtime import memory as memory_limits
from tests.portfolio_settings import all_playing, searching_at_once
from tests.processes import SOON


def without_acceptance(network):
    return Network([replace(c, accepting=None) for c in network.components])


PLAIN = without_acceptance(ring(12))


def alternating(accepting):
    """One component per entry, which accepts every second time."""
    return Network(
        [
            LTS.from_transitions([(0, "g", 1), (1, "g", 0)], accepting=[state])
            for state in accepting
        ]
    )


def test_a_property_of_a_network():
    """By SCCs, with a lasso of the whole network that has been replayed."""
    verdict = check(PLAIN, "G(l0 -> F l1)", reduce="decoupled")
    assert verdict.verdict == "violated"
    assert verdict.plan.emptiness == "decoupled-scc"
    assert verdict.plan.reductions == ("decoupled",)
    assert verdict.stats.states < 10
    assert verdict.stats.details["decoupled_states"] == verdict.stats.states
    assert "l0" in [*verdict.lasso.prefix, *verdict.lasso.cycle]
    assert "l1" not in verdict.lasso.cycle


def test_a_property_that_holds():
    """A label cannot be first where another is."""
    verdict = check(PLAIN, "!l2 W (enter1 | enter2)", reduce="decoupled")
    assert (verdict.verdict, verdict.stats.states) == ("holds", 1)


def test_silence_for_ever_is_a_run_only_if_a_component_moves():
    """FG !a on systems that stop, loop alone, or meet for ever."""
    once = [(0, "a", 1)]
    for extra, expected in [
        ([], "holds"),
        ([(1, "i", 1)], "violated"),
        ([(1, "i", 2)], "holds"),
        ([(1, "g", 1)], "violated"),
        ([(1, "g", 2)], "holds"),
    ]:
        network = Network(
            [
                LTS.from_transitions([*once, *extra, (3, "g", 3)], n_states=4),
                LTS.from_transitions([(0, "g", 0), (0, "h", 0)]),
                LTS.from_transitions([(1, "h", 1)], n_states=2),
            ]
        )
        verdict = check(network, "GF a", reduce="decoupled")
        assert verdict.verdict == expected, extra
        assert check(network, "GF a", reduce="none").verdict == expected, extra


def test_networks_of_automata():
    """The paper's question, by its nested search."""
    verdict = check(ring(60), empty=True, reduce="decoupled")
    assert (verdict.verdict, verdict.plan.emptiness) == ("holds", "decoupled-ndfs")
    assert verdict.stats.states == 2  # one of them split
    verdict = check(philosophers(6), empty=True, emptiness="decoupled-ndfs")
    assert verdict.plan.reductions == ("decoupled",)
    explicit = check(philosophers(6), empty=True, reduce="none", emptiness="se05")
    assert verdict.verdict == explicit.verdict == "holds"
    assert 10 * verdict.stats.states < explicit.stats.states


@pytest.mark.parametrize(
    ("accepting", "together", "each"),
    [((0, 0), "violated", "violated"), ((0, 1), "holds", "violated")],
)
def test_accepting_together_or_each(accepting, together, each):
    """The same at once, or each for itself (paper, Sec. 7)."""
    network = alternating(accepting)
    assert check(network, empty=True, network_acceptance="together").verdict == together
    for emptiness in ("auto", "decoupled-ndfs"):
        asked = {"network_acceptance": "each", "emptiness": emptiness}
        verdict = check(network, empty=True, **asked)
        assert verdict.verdict == each
        assert (verdict.plan.strategy == "instant") == (emptiness == "auto")
        assert check(network, "GF g", **asked).verdict == "holds"
        assert check(network, "FG !g", **asked).verdict == each
    with all_playing():
        verdict = check(network, empty=True, network_acceptance="each")
    assert verdict.verdict == each


def test_each_is_answered_by_searches_of_several_marks():
    """Also where decoupled search lacks the acceptance, or cannot be used."""
    steps = [(0, "g", 1), (1, "h", 0)]
    network = Network([LTS.from_transitions(steps, accepting=[s]) for s in (0, 1)])
    asked = {"network_acceptance": "each", "acceptance": "tela", "deterministic": True}
    for most_states in (1, 1000):
        with searching_at_once(most_states):
            assert check(network, "GF g -> GF h", **asked).verdict == "holds"
            found = check(network, "X g", network_acceptance="each")
            assert found.verdict == "violated"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"emptiness": "se05"}, "se05 takes one mark, but .*each"),
        ({"bitstate": 1}, "takes one mark, but .*each"),
        ({"reduce": "automorphisms"}, "each component a mark of its own"),
        ({"reduce": "symmetry"}, "each component a mark of its own"),
        ({"reduce": "ample"}, "acceptance of the system is about states"),
        ({"reduce": "components"}, "acceptance of the system is about states"),
    ],
)
def test_what_cannot_tell_components_apart(options, why):
    """It says so, by name."""
    asked = {"empty": True, "network_acceptance": "each", **options}
    with pytest.raises(UnsupportedError, match=why):
        check(alternating((0, 1)), **asked)


def test_more_accepting_components_than_marks():
    """A search state by state says so; decoupled search takes them."""
    steps = [(0, "a", 0)]
    network = Network([LTS.from_transitions(steps, accepting=[0]) for _ in range(40)])
    with pytest.raises(UnsupportedError, match="40 components accept"):
        check(network, empty=True, network_acceptance="each", reduce="none", seed=1)


def test_each_without_several_components_is_any_search():
    """There is nothing to tell apart."""
    network = alternating((0,))
    assert check(
        network, empty=True, network_acceptance="each", emptiness="se05"
    ).verdict == ("violated")


def test_a_formula_on_accepting_components():
    """Only runs count on which all accept; explicit search agrees."""
    for seed in range(6):
        network = random_network(3, seed=seed, n_states=(4, 8), accepting_ratio=0.3)
        for text in ("GF g0", "G(g0 -> F g1)", "!(GF g0 & GF g1)"):
            verdict = check(network, text, reduce="decoupled")
            assert verdict.plan.emptiness == "decoupled-ndfs"
            assert verdict.verdict == check(network, text, reduce="none").verdict


def test_automata_with_visible_actions():
    """Interruptible for what is visible; several marks need a formula."""
    (violations,) = parse_automata(
        """HOA: v1
States: 1
Start: 0
AP: 1 "l0"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[0] 0 {0}
[!0] 0
--END--
""",
        "automaton.hoa",
    )
    verdict = check(PLAIN, automaton=violations, reduce="decoupled")
    assert verdict.verdict == "violated"
    assert "l0" in verdict.lasso.cycle


def test_components_first():
    """Reduced components are decoupled, and lassos lifted from both."""
    verdict = check(
        PLAIN, "G(l0 -> F l1)", reduce="components,decoupled", max_component_states=5
    )
    assert verdict.verdict == "violated"
    assert verdict.plan.reductions == ("components", "decoupled")


def test_the_choice_of_the_plan():
    """Where internal transitions and components suggest it, it has its turn."""
    verdict = check(ring(12), empty=True)
    assert verdict.plan.emptiness == "decoupled-ndfs"
    assert any("71% of the transitions of 12" in r for r in verdict.plan.reasons)
    assert check(ring(3), empty=True).plan.strategy != "decoupled"
    plain = without_acceptance(philosophers(2))
    verdict = check(plain, "GF eat0", seed=1)  # not by `instant`
    tried = {t.strategy: t for t in verdict.plan.tried}
    assert tried["decoupled"].outcome == "dropped out"
    assert "it pays from 20% and 4 on" in tried["decoupled"].reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"emptiness": "se05"}, "se05 looks at one state at a time"),
        ({"deadlock": "stutter"}, "do not tell which of them are deadlocks"),
        ({"bitstate": 1.0}, "se05 looks at one state at a time"),
    ],
)
def test_what_excludes_decoupled_search(options, message):
    """It is said why, before anything is searched."""
    with pytest.raises(UnsupportedError, match=message):
        check(PLAIN, "GF l0", reduce="decoupled", **options)


def test_properties_that_exclude_decoupled_search():
    """They are not about visible actions alone."""
    with pytest.raises(UnsupportedError, match="the formula is not interruptible"):
        check(PLAIN, "X l0", reduce="decoupled")
    with pytest.raises(UnsupportedError, match="use decoupled-ndfs"):
        check(ring(5), "GF l0", emptiness="decoupled-scc")
    asked = {"network_acceptance": "each", "reduce": "decoupled"}
    with pytest.raises(UnsupportedError, match=r"decoupled cannot.*not interruptible"):
        check(alternating((0, 1)), "!X g", **asked)
    with pytest.raises(
        UnsupportedError, match="cannot be used: reduce='components': acceptance"
    ):
        check(ring(5), empty=True, reduce="components,decoupled")
    with pytest.raises(UnsupportedError, match="ndfs_stack_test= is for"):
        check(ring(5), empty=True, ndfs_stack_test=True)
    with pytest.raises(UnsupportedError, match="expected one of together, each"):
        check(ring(5), empty=True, network_acceptance="some")


def test_orders_and_the_stack_change_no_verdict():
    """Seeds shuffle labels; the test of Lemma 1 finds cycles elsewhere."""
    for seed in range(8):
        network = random_network(
            4, seed=seed, n_states=(5, 9), local_ratio=0.6, accepting_ratio=0.2
        )
        expected = check(network, empty=True, reduce="none").verdict
        for stack, order in itertools.product((False, True), (None, 1, 2)):
            verdict = check(
                network,
                empty=True,
                emptiness="decoupled-ndfs",
                ndfs_stack_test=stack,
                seed=order,
            )
            assert verdict.verdict == expected


MANY = "!(GF g0 & GF g1 & GF g2 & GF g3 & GF g4 & GF g5)"


def test_limits():
    """Of time, states and memory, in both searches."""
    hard = random_network(6, seed=0, local_ratio=0.2)
    plain = without_acceptance(hard)
    for network, question in ((hard, {"empty": True}), (plain, {"formula": MANY})):
        ask = {"reduce": "decoupled", **question}
        assert check(network, max_states=50, **ask).reason == "max-states"
        assert check(network, memory=0.01, **ask).reason == "memory"
        began = time.monotonic()
        verdict = check(network, timeout=0.2, **ask)
        assert (verdict.verdict, verdict.reason) in {
            ("unknown", "timeout"),
            ("violated", None),
            ("violated", "lasso-limit"),
        }
        assert verdict.reason is None or time.monotonic() - began < SOON


def test_large_tables_take_no_longer_than_the_time_limit():
    """Closures of thousands of internal states are there soon, or not waited for."""
    rng = np.random.default_rng(0)
    n = 40_000
    steps = [(s, "i", int(d)) for s in range(n) for d in rng.integers(n, size=3)]
    large = LTS.from_transitions([*steps, (0, "g", 0)])
    network = Network([large, LTS.from_transitions([(0, "g", 0)])])
    ask = {"formula": "GF g", "emptiness": "decoupled-scc"}
    check(PLAIN, "GF l0", emptiness="decoupled-scc")  # compiled and loaded
    began = time.monotonic()
    verdict = check(network, timeout=1, **ask)
    assert time.monotonic() - began < SOON
    assert verdict.verdict != "unknown" or verdict.reason in ("timeout", "memory")


def test_lassos_that_are_too_long(monkeypatch):
    """Rings of 2, 3, 5 and 7 states are back together after 210 turns."""
    network = Network(
        [
            LTS.from_transitions([(s, "g", (s + 1) % p) for s in range(p)])
            for p in (2, 3, 5, 7)
        ]
    )
    verdict = check(network, "FG !g", reduce="decoupled")
    assert len(verdict.lasso.cycle) == 210
    monkeypatch.setattr(memory_limits, "FEW_STEPS", 20)
    for memory, reason in ((0.15, "lasso-limit"), (0.5, None)):
        verdict = check(network, "FG !g", reduce="decoupled", memory=memory)
        assert (verdict.stats.states, verdict.reason) == (210, reason)
    monkeypatch.setattr(memory_limits, "MAX_STEPS", 200)
    verdict = check(network, "FG !g", reduce="decoupled")
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None
    assert check(network, "FG !g", reduce="decoupled", lasso=False).verdict == (
        "violated"
    )
