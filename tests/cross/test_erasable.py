"""The block normal form against Spot on the whole product.

For erasable formulas the verdict is that of the network as it is, and lassos are those
of it.  Networks have nondeterministic components, labels of three components, deadlocks
and divergences; components are composed in random orders and with limits so small that
the way out by strong bisimilarity is taken.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.components import merger
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.erasable import is_erasable
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.interruptible import is_interruptible
from ltlpipe.runtime.jobs import run
from tests.components.factoring.products import random_network
from tests.cross.test_agreement import ask, visible_word
from tests.cross.test_components import in_a_manner
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, hoa_automata, networks
from tests.oracles import intersection_verdict, satisfies, spot_verdict

NETWORKS = networks(max_components=4, max_states=4, max_transitions=8, internal=["d"])

#: Erasable formulas that are not interruptible.
SHAPES = [
    "G(A -> X !B)",
    "GF !A",
    "G((A & X(!B U A)) -> FG C)",
    "G(A -> X(B -> X !C))",
    "!F(A & X A)",
    "F !A",
    "!A | X !B",
    "FG(A -> X !B)",
    "GF(A & X B) -> GF C",
    "G(A -> X !B) | FG !C",
    "!(F A & GF(B & X B))",
]


def test_shapes():
    """They are what is said of them."""
    for shape in SHAPES:
        text = shape.replace("A", "a").replace("B", "b").replace("C", "c")
        assert is_erasable(text), text
        assert not is_interruptible(text), text


@st.composite
def erasable_formulas(draw):
    """One of the shapes, or a random one; not interruptible."""
    if draw(st.integers(0, 3)):
        text = draw(st.sampled_from(SHAPES))
        for variable in "ABC":
            text = text.replace(variable, draw(st.sampled_from(["a", "b", "c"])))
    else:
        text = draw(formulas(max_leaves=4))
    formula = parse(text)
    assume(not is_interruptible(formula) and is_erasable(formula))
    return formula


@st.composite
def manners(draw):
    """How to merge: the limits, and a seed for the order."""
    return {
        "cap_states": draw(st.sampled_from([1, 2, 3, 5, 8, 1000, 1000, 1000])),
        "small": draw(st.sampled_from([0, 0, 1, 4])),
        "order": draw(st.none() | st.integers(0, 1000)),
    }


REDUCTIONS = st.sampled_from(["components", "alphabet,components"])


def assert_the_same(network, formula, manner, reduce):
    """The verdict is Spot's, and a lasso is one of the network's."""
    expected = spot_verdict(network, formula.spot, stutter=False)
    with in_a_manner(manner):
        verdict = ask(network, formula=formula, reduce=reduce)
    kinds = {line.rsplit("(")[-1] for line in verdict.plan.merges}
    assert kinds <= {"block)", "strong)"}
    assert verdict.verdict == expected
    event(f"{expected} with {', '.join(sorted(kinds))}")
    if expected == "violated":
        assert not satisfies(formula.spot, *visible_word(network, verdict.lasso))


@given(NETWORKS, erasable_formulas(), manners(), REDUCTIONS)
@settings(max_examples=examples(200))
def test_verdicts_with_block_normal_forms(network, formula, manner, reduce):
    """The same with and without it."""
    assert_the_same(network, formula, manner, reduce)


@pytest.mark.slow
@given(NETWORKS, erasable_formulas(), manners(), REDUCTIONS)
@settings(max_examples=examples(10_000))
def test_verdicts_with_block_normal_forms_by_the_thousand(
    network, formula, manner, reduce
):
    """The same, 10,000 times."""
    assert_the_same(network, formula, manner, reduce)


def assert_the_same_on_products(seed):
    """Components are products; their factors are composed, and reduced."""
    rng = random.Random(seed)
    network = random_network(rng, acceptance=False, internal=rng.choice([[], ["b"]]))
    text = rng.choice(SHAPES)
    for variable in "ABC":
        text = text.replace(variable, rng.choice("abc"))
    formula = parse(text)
    if is_interruptible(formula) or not is_erasable(formula):
        return False
    expected = spot_verdict(network, formula.spot, stutter=False)
    for reduce in ("factoring,components", "alphabet,factoring,components"):
        verdict = ask(network, formula=formula, reduce=reduce)
        assert verdict.verdict == expected, (seed, reduce)
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), (seed, reduce)
    return True


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_products():
    """Some hundred networks."""
    assert sum(map(assert_the_same_on_products, range(200))) > 100


@pytest.mark.slow
def test_products_by_the_thousand():
    """Some thousand."""
    assert sum(map(assert_the_same_on_products, range(1000, 5000))) > 2000


@given(NETWORKS, st.data(), manners())
@settings(max_examples=examples(200))
def test_automata(network, data, manner):
    """With a set of visible actions; most automata are not erasable."""
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
        event(", ".join({line.rsplit("(")[-1] for line in verdict.plan.merges}))


AUTOMATON = """HOA: v1
States: 3
Start: 0
AP: 2 "a" "x"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[0] 1
State: 1
[0] 2
State: 2 {0}
[t] 2
--END--"""


@pytest.mark.parametrize(("repeats", "expected"), [(0, "holds"), (1, "violated")])
def test_automaton_of_two_in_a_row(repeats, expected):
    """It is not interruptible; x is a proposition and may be hidden all the same."""
    (violations,) = parse_automata(AUTOMATON, "twice.hoa")
    steps = [(0, "a", 1), (1, "x", 2), (2, "x", 0)] + [(1, "a", 0)] * repeats
    network = Network([LTS.from_transitions(steps)])
    for visible in (None, "a"):
        verdict = ask(
            network, automaton=violations, visible=visible, reduce="components"
        )
        assert verdict.verdict == expected
        assert verdict.plan.merges[0].endswith("(block)")


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("style", ["random-pairs", "random-dense"])
def test_long_lassos_are_lifted(style, seed):
    """Every lasso of some larger networks replays, however far components go."""
    network = rers_network(4, style=style, seed=seed).network
    names = [action.name for action in network.actions]
    rng = random.Random(seed)
    verdicts = set()
    for _ in range(6):
        a, b, c = rng.sample(names, 3)
        for text in (
            f"G({a} -> X !{b})",
            f"G(({a} & X(!{b} U {a})) -> FG {c})",
            f"GF ({a} & X {b}) -> GF {c}",
            f"G({a} -> X({b} -> X !{c}))",
        ):
            found = {
                ask(
                    network, formula=text, reduce="components", max_component_states=cap
                ).verdict
                for cap in (1, 30, 100_000)
            }
            assert len(found) == 1
            verdicts |= found
    assert verdicts == {"holds", "violated"}


# --- what would be wrong ------------------------------------------------------


def in_place_of(network, visible, equivalence):
    """What component reduction makes of a network, whatever the property."""
    limit = merger.Limit(equivalence=equivalence)
    return run(merger.reduce_components(network, visible, limit)).network


def test_blocks_that_are_dropped():
    """What forbids adjacency is violated where steps in between are gone."""
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "x", 0)])])
    formula = "G(a -> X !a)"
    assert ask(network, formula).verdict == "holds"
    assert ask(in_place_of(network, "a", "trace"), formula).verdict == "violated"
    assert ask(in_place_of(network, "a", "block"), formula).verdict == "holds"


def test_repetition_is_not_enough():
    """A property may bear repetition and contraction, and notice deletion.

    It is about others before and behind b.  A block of two hidden steps can have b
    in between, and one step cannot.
    """
    other = "!(a | b)"
    formula = f"!(({other}) & (({other}) U (b & X(({other}) & (({other}) U a)))))"
    network = Network(
        [
            LTS.from_transitions([(0, "x1", 1), (1, "x2", 2), (2, "a", 2)]),
            LTS.from_transitions([(0, "b", 1)]),
        ]
    )
    assert not is_erasable(formula)
    assert ask(network, formula).verdict == "violated"
    assert ask(in_place_of(network, "ab", "block"), formula).verdict == "holds"
    verdict = ask(network, formula, reduce="components")
    assert verdict.verdict == "violated"
    assert "not erasable" in verdict.plan.reasons[-1]


def test_one_step_at_the_end_is_not_enough():
    """A block that is all there is of others must stay, if it comes again and again."""
    network = Network([LTS.from_transitions([(0, "x", 1), (1, "a", 0)])])
    assert ask(network, "FG a", reduce="components").verdict == "violated"


def test_deadlocks_that_stutter():
    """Determinising would lose them: after a the component can stop, or do b."""
    steps = [(0, "a", 1), (0, "a", 2), (2, "b", 2)]
    network = Network([LTS.from_transitions(steps)])
    formula = "G(a -> X b)  & G(b -> X !c)"
    shape = "G(b -> X !c) & F(a & F b)"
    for text in (formula, shape):
        verdict = ask(network, text, reduce="components", deadlock="stutter")
        assert verdict.verdict == "violated"
        assert verdict.plan.merges[0].endswith("(strong)")
        assert "deadlock='stutter' is about" in verdict.plan.reasons[-1]
    assert ask(network, shape, reduce="components").verdict == "holds"


def test_acceptance():
    """Determinising would lose which states accept."""
    network = Network([LTS.from_transitions([(0, "h", 1), (1, "a", 1)], accepting=[0])])
    assert ask(network, "G !a").verdict == "holds"
    with pytest.raises(UnsupportedError, match="acceptance of the system"):
        ask(network, "G(a -> X !a)", reduce="components")


def test_many_questions_about_one_network():
    """What is kept for one property does not mislead one of another class."""
    network = Network(
        [
            LTS.from_transitions([(0, "a", 1), (1, "x", 2), (2, "y", 0)]),
            LTS.from_transitions([(0, "b", 1), (1, "x", 0)]),
        ]
    )
    for text in ("G(a -> X !a)", "G(a -> F b)", "GF !a", "G(a -> X b)", "!(a & X b)"):
        expected = spot_verdict(network, parse(text).spot, stutter=False)
        assert ask(network, text, reduce="components").verdict == expected
