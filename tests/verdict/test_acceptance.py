"""Plans and verdicts with acceptance of any form."""

from __future__ import annotations

import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.verdict.checking import product_size

FREE = Network([LTS.from_transitions([(0, name, 0) for name in "abc"])])
"""a, b and c in any order."""

STREETT = "(GF a -> GF b) & (GF b -> GF c)"


@pytest.mark.parametrize(
    ("options", "automaton", "emptiness"),
    [
        ({}, "TGBA", "couvreur99"),
        ({"acceptance": "tgra"}, "TGRA", "rabin"),
        ({"acceptance": "tfla"}, "TFLA", "couvreur99"),
        ({"acceptance": "tela"}, "TELA", "tela"),
        ({"emptiness": "tela"}, "TELA", "tela"),
        ({"deterministic": True}, "TELA", "tela"),
        ({"deterministic": True, "emptiness": "rabin"}, "TGRA", "rabin"),
        ({"deterministic": True, "emptiness": "couvreur99"}, "TFLA", "couvreur99"),
        ({"acceptance": "tgra", "fairness": "strong"}, "TGRA", "tela"),
        ({"acceptance": "tgra", "fairness": "weak"}, "TGRA", "tela"),
        ({"acceptance": "tfla", "fairness": "weak"}, "TFLA", "couvreur99"),
    ],
    ids=str,
)
def test_what_is_chosen(options, automaton, emptiness):
    """A deterministic automaton of this formula has Fin, the others need not."""
    options = {"deterministic": "acceptance" in options, **options}
    at_once = check(FREE, STREETT, **options)
    assert (at_once.verdict, at_once.plan.automaton) == ("violated", automaton)
    assert (at_once.plan.strategy == "instant") == ("emptiness" not in options)
    verdict = check(FREE, STREETT, seed=1, reduce="none", **options)
    assert verdict.verdict == "violated"
    assert verdict.plan.emptiness == emptiness
    assert verdict.plan.automaton == automaton
    assert verdict.to_dict()["plan"]["automaton"] == automaton
    assert len(set(verdict.plan.reasons)) == len(verdict.plan.reasons)


FIN = """HOA: v1
States: 2
Start: 0
AP: 2 "a" "b"
Acceptance: 2 Fin(0) & Inf(1) | Fin(1) & Inf(0)
--BODY--
State: 0
[0] 0 {0}
[1] 1 {1}
State: 1
[0] 0 {0}
[1] 1 {1}
[!0&!1] 1
--END--
"""
"""Again and again a, or again and again b, but not both."""


@pytest.mark.parametrize(
    ("options", "automaton"),
    [
        ({}, "TELA"),
        ({"emptiness": "couvreur99"}, "TFLA"),
        ({"emptiness": "tauriainen03"}, "TGBA"),
        ({"emptiness": "rabin"}, "TGRA"),
        ({"emptiness": "se05"}, "BA"),
        ({"bitstate": 1.0}, "BA"),
    ],
    ids=str,
)
def test_given_automata_with_fin(options, automaton):
    """A search is given the automaton in a form that it takes."""
    (violations,) = parse_automata(FIN, "fin.hoa")
    verdict = check(FREE, automaton=violations, **options)
    assert verdict.verdict == "violated"
    assert verdict.plan.automaton == automaton
    both = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    verdict = check(both, automaton=violations, **options)
    assert verdict.verdict == ("unknown" if options.get("bitstate") else "holds")


def test_reductions_of_given_automata_with_fin():
    """They need a Büchi automaton: asked for by name, it is made, else not.

    The violations are those of an interruptible property: b only finitely often.
    """
    hoa = FIN.replace("2 Fin(0) & Inf(1) | Fin(1) & Inf(0)", "2 Fin(1)")
    hoa = hoa.replace("[!0&!1] 1", "[!0&!1] 1\n").replace("[0] 0", "[!1] 0")
    hoa = hoa.replace("[!0&!1] 1\n", "")
    (violations,) = parse_automata(hoa, "fin.hoa")
    network = Network(
        [
            LTS.from_transitions([(0, "b", 0)]),
            LTS.from_transitions([(0, "x", 1), (1, "y", 0)]),
            LTS.from_transitions([(0, "u", 1), (1, "v", 0)]),
        ]
    )
    question = {"automaton": violations, "visible": "b", "unknown": "never"}
    with pytest.warns(match="'a'"):
        plain = check(network, **question, emptiness="tela")
    with pytest.warns(match="'a'"):
        ample = check(network, **question, reduce="ample")
    assert plain.verdict == ample.verdict == "violated"
    assert ample.plan.reductions == ("ample",)
    assert ample.plan.automaton == "BA"


def test_decoupled_search_of_conditions():
    """What does not fit is refused with what does."""
    with pytest.raises(UnsupportedError, match="acceptance='tgba' makes it"):
        check(FREE, "GF a -> GF b", reduce="decoupled", deterministic=True)
    assert check(FREE, "GF a -> GF b", reduce="decoupled").verdict == "violated"


@pytest.mark.parametrize("acceptance", ["ba", "tgba", "tgra", "tfla", "tela"])
def test_sizes_of_products(acceptance):
    """The whole product is explored, whatever its condition is."""
    size = product_size(FREE, parse(STREETT), acceptance=acceptance, reduce="none")
    found = check(
        FREE, f"{STREETT} & 0 | {STREETT}", acceptance=acceptance, reduce="none"
    )
    states, transitions, _ = size
    assert states >= found.stats.states > 0
    assert transitions >= states
    fair = {"fairness": "weak", "reduce": "none"}
    assert product_size(FREE, parse(STREETT), acceptance=acceptance, **fair) == size


def test_too_many_pairs():
    """The normal form of strong fairness doubles with each set; `tela` needs none."""
    loops = [(0, f"a{k}", 0) for k in range(14)]
    network = Network([LTS.from_transitions(loops)])
    fair = {"fairness": "strong", "fair_sets": [f"a{k}" for k in range(14)]}
    with pytest.raises(UnsupportedError, match="use emptiness='tela'"):
        check(network, "GF a0", emptiness="rabin", **fair)
    assert check(network, "GF a0", **fair).verdict == "holds"
