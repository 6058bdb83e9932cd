"""Places that get more tokens than their fields hold, from the question to the answer.

A state whose only successor does not fit must not look like a deadlock.
"""

from __future__ import annotations

import pytest

from ltlpipe import check, deadlocks
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    ENUMERATION,
    ColouredNet,
    ColouredPlace,
    Every,
    Sort,
    Tokens,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import MAX_TOKENS, Place, Transition


def growing(step=1, tokens=1):
    """A place whose tokens only become more, in a run without choices."""
    return PetriNet(
        [Place("p", "p", tokens)], [Transition("t", "t", {0: 1}, {0: 1 + step})]
    )


def counting(n):
    """A counter up to n that then stops."""
    return PetriNet(
        [Place("p", "p"), Place("left", "left", n), Place("on", "on", 1)],
        [
            Transition("t", "t", {1: 1, 2: 1}, {0: 1, 2: 1}),
            Transition("stop", "stop", {2: 1}, {}),
        ],
    )


@pytest.mark.parametrize("lasso", [True, False], ids=["lasso", "no lasso"])
@pytest.mark.parametrize("emptiness", ["auto", "se05", "tauriainen03"])
def test_what_does_not_fit_is_no_deadlock(lasso, emptiness):
    """F(p>=9) holds; G(p<=9) is violated by a run that is as long as that."""
    options = {"lasso": lasso, "emptiness": emptiness, "max_states": 500}
    assert check(growing(), "F(p>=9)", **options).verdict == "holds"
    assert check(growing(), "!deadlock", **options).verdict == "holds"
    assert check(growing(), "F deadlock", **options).reason == "max-states"
    stops = check(counting(9), "G(p<=8)", **options)
    assert stops.verdict == "violated"
    assert (stops.lasso is not None) == lasso


def test_a_deadlock_is_looked_for_behind_what_does_not_fit():
    assert deadlocks(growing(), max_states=300).verdict == "unknown"
    found = deadlocks(counting(5))
    assert found.verdict == "violated"


@pytest.mark.parametrize("emptiness", ["auto", "se05"])
def test_63_bits_are_the_end(emptiness):
    """Whatever would have come then is no verdict."""
    net = growing(step=MAX_TOKENS - 1, tokens=1)
    verdict = check(net, "F(p<=0)", emptiness=emptiness)
    assert (verdict.verdict, verdict.reason) == ("unknown", "overflow")
    assert deadlocks(net).reason == "overflow"


def test_runs_beyond_63_bits_are_no_runs():
    """Kernels, whose fields end there, say so."""
    places = [Place("p", "p", MAX_TOKENS), Place("q", "q", 1)]
    more = PetriNet(places, [Transition("t", "t", {1: 1}, {0: 1})])
    verdict = check(more, "G(q>=1)")
    assert (verdict.verdict, verdict.reason) == ("unknown", "overflow")
    assert check(more, f"F(p>{MAX_TOKENS})").verdict == "holds"
    verdict = check(more, f"F(p>{MAX_TOKENS})", emptiness="se05")
    assert (verdict.verdict, verdict.reason) == ("unknown", "overflow")


def test_reductions_that_would_leave_63_bits():
    """What f and h put into q together is no weight of an arc."""
    half = (MAX_TOKENS >> 1) + 1
    net = PetriNet(
        [Place(own, own, int(own == "s")) for own in "spqz"],
        [
            Transition("f", "f", {0: 1}, {1: 1, 2: half}),
            Transition("h", "h", {1: 1}, {2: half - 1}),
            Transition("g", "g", {1: 1}, {2: half}),
            Transition("k", "k", {2: 1}, {3: 1}),
        ],
    )
    assert check(net, "G(z<=0)", reduce="structural").verdict == "violated"


def test_tokens_of_all_colours_beyond_63_bits():
    """There is no net without colours then."""
    colours = Sort("s", "s", ENUMERATION, ("a", "b"), ("a", "b"))
    own = Tokens(MAX_TOKENS, (Every(2),))
    place = ColouredPlace("p", "p", (0,), own)
    net = SymmetricNet(ColouredNet("full", (colours,), (), (place,), ()))
    assert check(net, "G(p.a>=1)").verdict == "holds"
    assert check(net, "G deadlock").verdict == "holds"


def test_no_proposition_leaves_64_bits():
    """A search would compute p + q modulo 2**64, and G(p+q<=5) would hold."""
    full = [Place(own, own, MAX_TOKENS) for own in ("p", "q")]
    idle = PetriNet([*full, Place("r", "r", 1)], [Transition("t", "t", {2: 1}, {2: 1})])
    assert check(idle, "G(p+q<=5)").verdict == "violated"
    for formula in ("G(p+q<=5)", "G(p*q<=5)"):
        with pytest.raises(UnsupportedError, match="beyond 64 bits"):
            check(idle, formula, emptiness="se05")
    verdict = check(growing(), "G(p*p*p*p>=0)", emptiness="se05")
    assert (verdict.verdict, verdict.reason) == ("unknown", "overflow")


@pytest.mark.parametrize("options", [{}, {"reduce": "structural", "seed": 1}])
def test_places_that_are_gone_leave_63_bits(options):
    """q has what p has but for MAX_TOKENS, so that p does not matter, until it is led
    back to."""
    net = PetriNet(
        [Place("p", "p", MAX_TOKENS), Place("q", "q"), Place("r", "r", 1)],
        [
            Transition("t", "t", {2: 1}, {0: 1, 1: 1, 2: 1}),
            Transition("u", "u", {0: 1, 1: 1}, {}),
        ],
    )
    found = check(net, "G(q<=1)", **options)
    assert (found.verdict, found.reason, found.lasso) == (
        "violated",
        "lasso-limit",
        None,
    )


@pytest.mark.parametrize("seed", [5, 6])
def test_a_run_is_not_shortened_beyond_63_bits(seed):
    """Without u between them, two steps t would give p more tokens than fit."""
    net = PetriNet(
        [Place("p", "p", MAX_TOKENS - 1), Place("q", "q")],
        [
            Transition("t", "t", {}, {0: 1, 1: 1}),
            Transition("u", "u", {0: 1}, {}),
            Transition("v", "v", {0: 1}, {0: 1}),
        ],
    )
    found = check(net, "G(q<2)", seed=seed, max_states=2000)
    if found.verdict == "violated":
        assert found.lasso.states.max() <= MAX_TOKENS


@pytest.mark.parametrize("options", [{}, {"seed": 1}, {"seed": 1, "shortest": True}])
def test_a_run_is_not_continued_beyond_63_bits(options):
    """It violates the formula as it is."""
    half = (MAX_TOKENS >> 1) + 1
    places = [Place("p", "p"), Place("q", "q", 3)]
    net = PetriNet(places, [Transition("t", "t", {1: 1}, {0: half})])
    found = check(net, "X X 0", **options)
    assert (found.verdict, found.reason) == ("violated", None)
    assert len(found.finite_run.actions) <= 1


@pytest.mark.parametrize("emptiness", ["auto", "couvreur99", "dfs-weak"])
def test_sums_of_places_fit_whose_fields_have_been_widened(emptiness):
    """A field of 33 bits need not have 63 next: two of these make no sum."""
    many = 1 << 33
    net = PetriNet(
        [Place("p", "p", many - 1), Place("q", "q", many - 1)],
        [Transition("t", "t", {}, {0: many, 1: many})],
    )
    full = f"p + q == {10 * many - 2}"
    assert check(net, f"F {full}", emptiness=emptiness).verdict == "holds"
    assert check(net, f"G !({full})", emptiness=emptiness).verdict == "violated"
