"""From a system and a property to a verdict: what `check` promises."""

from __future__ import annotations

import time

import numpy as np
import pytest
import spot

from ltlpipe import (
    LTS,
    FormulaError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
)
from ltlpipe.automata.translation import translate
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.logic.formulas import parse
from ltlpipe.question.given_options import understood
from ltlpipe.question.options import Options
from tests.processes import SOON
from tests.random_nets import net_of

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], name="ring")


def test_a_verdict_says_all_about_itself():
    """The contract of `--json` and of the result table is met from here."""
    verdict = check(RING, "G(a -> X a)", emptiness="dfs-weak")
    assert verdict.verdict == "violated"
    assert verdict.lasso.prefix == []
    assert verdict.lasso.cycle == ["a", "b"]
    as_json = verdict.to_dict()
    assert list(as_json) == [
        "system",
        "formula",
        "verdict",
        "reason",
        "plan",
        "states",
        "transitions",
        "max_depth",
        "seconds",
        "compile_seconds",
        "load_seconds",
        "search_seconds",
        "cpu_seconds",
        "memory_mib",
        "lasso",
        "warnings",
        "vacuous",
        "vacuous_part",
        "configuration",
        "formula_id",
    ]
    plan = as_json["plan"]
    tried = {entry["strategy"]: entry for entry in plan.pop("tried")}
    assert plan == {
        "automaton": "BA",
        "emptiness": "dfs-weak",
        "reductions": [],
        "strategy": "explicit",
    }
    assert list(tried["explicit"]) == ["strategy", "outcome", "seconds", "reason"]
    assert tried["explicit"]["outcome"] == "answered"
    assert tried["instant"]["outcome"] == "not tried"
    assert tried["instant"]["reason"] == "dfs-weak is requested"
    lasso = as_json["lasso"]
    assert (lasso["prefix"], lasso["cycle"]) == ([], ["a", "b"])


def test_small_products_are_searched_at_once():
    """No emptiness check is compiled for them, and nothing is reduced."""
    verdict = check(RING, "G(a -> X a)")
    assert (verdict.verdict, verdict.lasso.cycle) == ("violated", ["a", "b"])
    assert (verdict.plan.strategy, verdict.plan.emptiness) == ("instant", None)
    assert verdict.plan.reductions == ()
    assert any("instant, because" in reason for reason in verdict.plan.reasons)


def test_without_lasso():
    """`lasso=False` only skips computing it."""
    verdict = check(RING, "G a", lasso=False)
    assert (verdict.verdict, verdict.lasso) == ("violated", None)


def test_exactly_one_question():
    """Nothing, or two things at once, is no question."""
    with pytest.raises(UnsupportedError, match="expected one of"):
        check(RING)
    with pytest.raises(UnsupportedError, match="expected one of"):
        check(RING, "G a", empty=True)


def test_an_automaton_of_the_violations():
    """It gives the verdict of its formula."""
    for text in ("G(a -> F b)", "G(a -> X a)"):
        violations = translate(parse(text), "tgba", negate=True)
        expected = check(RING, text).verdict
        for name in ("se05", "couvreur99"):
            verdict = check(RING, automaton=violations, emptiness=name)
            assert verdict.verdict == expected
            assert verdict.formula is None


def test_an_automaton_is_no_formula():
    """What is meant is unclear: its words may be wanted or unwanted."""
    with pytest.raises(UnsupportedError, match=r"not a twa_graph.*automaton="):
        check(RING, translate(parse("F b"), "tgba"))


def test_unknown_propositions():
    """An error with the place, or never true, which a warning says."""
    with pytest.warns(LtlpipeWarning, match="'c', 'zz'") as warned:
        assert check(RING, "G !(c | zz)", unknown="never").verdict == "holds"
    assert [w.filename for w in warned] == [__file__]  # who calls `check`
    with pytest.raises(FormulaError, match=r"'zz'.*unknown='never' treats") as error:
        check(RING, "G(a -> !zz)")
    assert error.value.position == 8


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"max_states": 500}, "max-states"),
        ({"memory": 1}, "memory"),
        ({"timeout": 0.2}, "timeout"),
    ],
)
def test_limits(limit, reason):
    """A limit that is hit is the reason, and the statistics are there."""
    check(philosophers(2), empty=True)  # compiled now
    verdict = check(philosophers(12), empty=True, **limit)
    assert (verdict.verdict, verdict.reason) == ("unknown", reason)
    assert verdict.stats.states > 0
    assert verdict.lasso is None


def test_translation_ends_in_time():
    """Spot cannot be stopped from within: 2**18 states and more."""
    text = " & ".join(f"G(p{i} -> F q{i})" for i in range(18))
    actions = [(0, f"{x}{i}", 0) for i in range(18) for x in "pq"]
    network = Network([LTS.from_transitions(actions)])
    started = time.monotonic()
    verdict = check(network, f"!({text})", emptiness="se05", timeout=1)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")
    assert verdict.stats.states is None
    assert time.monotonic() - started < SOON


def test_forty_actions_in_one_formula():
    """They are 41 letters."""
    actions = [(i, f"p{i}", (i + 1) % 40) for i in range(40)]
    network = Network([LTS.from_transitions(actions)])
    all_of_them = " | ".join(f"p{i}" for i in range(40))
    assert check(network, f"G({all_of_them})").verdict == "holds"
    assert check(network, "F(p39 & X(p0 U p1))").verdict == "holds"
    assert check(
        network, f"G(p3 -> X({all_of_them.replace('p4 ', 'p5 ')}))"
    ).verdict == ("violated")


def test_one_mark_is_all_that_se05_takes():
    """The message says what to use instead."""
    with pytest.raises(UnsupportedError, match="emptiness='couvreur99'"):
        check(RING, "!(GF a & GF b)", emptiness="se05", acceptance="tgba")


@pytest.mark.parametrize(
    ("name", "formula", "kind"),
    [
        ("dfs-weak", "GF a -> GF b", "weak"),
        ("reach-terminal", "GF a", "terminal"),
    ],
)
def test_what_the_simple_searches_take(name, formula, kind):
    """An automaton without the structure, or acceptance of the system."""
    with pytest.raises(UnsupportedError, match=f"is not {kind}: use emptiness="):
        check(RING, formula, emptiness=name)
    with pytest.raises(UnsupportedError, match="acceptance of its own"):
        check(ring(3), empty=True, emptiness=name)
    with pytest.raises(UnsupportedError, match="acceptance of its own"):
        check(ring(3), "G !l0", emptiness=name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"emptiness": "quick"}, "expected one of auto, cvwy92"),
        ({"emptiness": "aec"}, "symmetry cannot be used: aec is for sets"),
        ({"reduce": "symmetry,decoupled"}, "sets of another kind"),
        ({"reduce": "ample", "emptiness": "gv04"}, "gv04 takes all steps"),
        ({"red_ample": "both"}, "expected one of full, stored"),
        ({"reduce": "magic"}, "expected one of alphabet"),
        ({"semantics": "state"}, "use action"),
        ({"deadlock": "maybe"}, "expected one of ignore, stutter"),
        ({"bitstate": 0.0}, "expected more than 0"),
        ({"bitstate": float("inf")}, "expected more than 0"),
        ({"fair_sets": 5, "fairness": "weak"}, "fair_sets=5: expected texts"),
        ({"fair_sets": [["a"]], "fairness": "weak"}, "expected texts"),
        ({"reduce": None}, "reduce=None: expected a text"),
        ({"visible": ["a"]}, "expected a text"),
        ({"fairness": 1}, "fairness=1: expected one of weak, strong"),
        ({"timeout": "5x"}, "timeout='5x': expected a number"),
        ({"timeout": np.ones(2)}, "expected a number"),
        ({"memory": True}, "memory=True: expected a number"),
        ({"workers": "2"}, "workers='2': expected a whole number"),
        ({"seed": 1.5}, "seed=1.5: expected a whole number"),
        ({"max_states": float("nan")}, "expected a whole number"),
        ({"deterministic": "yes"}, "deterministic='yes': expected true or false"),
        ({"unknown": "ever"}, "unknown='ever': expected one of error, never"),
        ({"bitstate": 1.0, "emptiness": "couvreur99"}, "bitstate= is for se05"),
    ],
)
def test_options_that_cannot_be_met(options, message):
    """What the contract names but is not there yet is said to be so."""
    with pytest.raises(UnsupportedError, match=message):
        check(RING, "G a", **options)


def test_values_that_are_as_good_as_those_of_the_kind():
    """Numbers of NumPy, whole numbers however written, one text for a sequence."""
    given = {
        "timeout": np.int64(5),
        "bitstate": 2,
        "max_states": 1e6,
        "seed": np.int64(3),
        "lasso": np.bool_(False),
        "visible": None,
        "fairness": "weak",
        "fair_sets": "a,b",
    }
    options, limits = understood(given)
    assert limits.timeout == 5.0
    assert options == Options(
        timeout=5.0,
        bitstate=2.0,
        max_states=1_000_000,
        seed=3,
        lasso=False,
        fairness="weak",
        fair_sets=("a,b",),
    )
    assert {type(options.seed), type(options.max_states)} == {int}


def test_infinite_limits_are_none():
    """Those that are None where there is no limit."""
    options, limits = understood(dict.fromkeys(("timeout", "cpu_time"), float("inf")))
    assert (limits.timeout, limits.cpu_time) == (None, None)
    assert check(RING, "G a", max_states=float("inf")).reason is None
    assert options == Options() == Options(max_states=float("inf"))


def test_a_seed_changes_the_order_only():
    """Another order of transitions, the same verdicts and state counts."""
    plain = check(philosophers(5), empty=True, reduce="none").stats
    depths = set()
    for seed in range(5):
        stats = check(philosophers(5), empty=True, reduce="none", seed=seed).stats
        assert stats.states == plain.states
        depths.add(stats.max_depth)
    assert len(depths) > 1


def test_scaling_families_have_no_accepting_run():
    """With the numbers of states that are known for them."""
    for name in ("se05", "couvreur99"):
        verdict = check(philosophers(8), empty=True, emptiness=name)
        assert (verdict.verdict, verdict.stats.states) == ("holds", 216_993)
        verdict = check(ring(7), empty=True, emptiness=name)
        assert (verdict.verdict, verdict.stats.states) == ("holds", 78_125)


def test_networks_without_transitions():
    """No run, so every formula holds; stuttering makes one run."""
    still = Network([LTS.from_transitions([], n_states=1)])
    assert check(still, "0").verdict == "holds"
    assert check(still, "0", deadlock="stutter").verdict == "violated"
    assert check(still, empty=True).verdict == "holds"


def test_memory_for_the_buffers_alone():
    """Buffers that exceed the limit are never made."""
    fan = [LTS.from_transitions([(0, f"a{i}", d) for d in range(90)]) for i in range(2)]
    wide = LTS.from_transitions([(0, "go", d) for d in range(150)])
    network = Network([*fan, wide, wide])
    verdict = check(network, "G !go", memory=0.1, reduce="none", emptiness="couvreur99")
    assert (verdict.verdict, verdict.reason) == ("unknown", "memory")
    assert verdict.stats.states is None


def test_running_out_of_memory_is_a_limit(monkeypatch):
    """Wherever it happens on the way."""
    from ltlpipe.search.paths import PathFinder

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(PathFinder, "path", no_memory)
    verdict = check(RING, "G a", emptiness="se05")
    assert (verdict.verdict, verdict.reason) == ("violated", "lasso-limit")
    assert verdict.lasso is None


@pytest.mark.parametrize(
    ("formula", "reduce", "reductions", "why"),
    [
        ("G(a -> F b)", "ample", ("ample",), "ample sets, because the formula is"),
        ("G(a -> F b)", "alphabet", (), "nothing trimmed, because components"),
        ("F a", "none", (), "no reductions, requested by reduce="),
        ("F a", "auto", ("alphabet",), "alphabet, because there are"),
        ("F a", "alphabet,ample", ("alphabet", "ample"), "ample sets, because"),
        ("F a", "alphabet", ("alphabet",), "alphabet, because there are transitions"),
        ("G !dead", "auto", ("alphabet",), "alphabet, because there are"),
    ],
)
def test_what_was_reduced(formula, reduce, reductions, why):
    """`alphabet` stands in the plan iff it changed something."""
    loose = LTS.from_transitions([(1, "dead", 1)] if "dead" in formula else [])
    network = Network([*RING.components, loose])
    verdict = check(network, formula, reduce=reduce, seed=1)  # not `instant`
    assert verdict.verdict == "holds"
    assert verdict.plan.reductions == reductions
    assert verdict.to_dict()["plan"]["reductions"] == list(reductions)
    assert any(reason.startswith(why) for reason in verdict.plan.reasons)


def test_a_lasso_of_a_trimmed_network():
    """Local states and actions are those of the network as it was read."""
    left = LTS.from_transitions(
        [(0, "x", 1), (3, "a", 5), (5, "b", 3)], initial=3, n_states=6
    )
    right = LTS.from_transitions([(1, "c", 1), (0, "b", 0)])
    verdict = check(Network([left, right]), "G(c | !b)", reduce="alphabet,ample")
    assert verdict.plan.reductions == ("alphabet", "ample")
    assert (verdict.lasso.prefix, verdict.lasso.cycle) == ([], ["a", "b"])
    assert verdict.lasso.states.tolist() == [[3, 0], [5, 0], [3, 0]]


def test_warnings_stay_with_the_verdict():
    """They are given, and noted; those of another question are not."""
    with pytest.warns(LtlpipeWarning):
        verdict = check(RING, "G !zz", unknown="never")
    message = "no action of the system is called 'zz': never true"
    assert verdict.warnings == (message,)
    assert verdict.to_dict()["warnings"] == [message]
    assert check(RING, "F a").warnings == ()


def test_what_a_run_does_behind_the_state_in_which_the_property_is_lost():
    """There the state repeats itself; the automaton may guess that it goes on."""
    automaton = spot.automaton(
        """HOA: v1
        Start: 0
        AP: 2 "p0==p0" "p0!=1"
        Acceptance: 0 t
        --BODY--
        State: 0
        [0|1] 1
        State: 1
        [1] 0
        [0|1] 1
        [!1] 1
        --END--
        """
    )
    net = net_of([0], ({}, {}), ({}, {0: 1}), *[({}, {})] * 3)
    verdict = check(net, "0", constraint=automaton, deadlock="stutter", reduce="none")

    assert verdict.verdict == "violated"
    assert (verdict.lasso.actions >= 0).all()
