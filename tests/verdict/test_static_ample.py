"""When models are reduced, and what the plan says of it."""

from __future__ import annotations

import time

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from tests.portfolio_settings import all_playing

#: Four chains p -> q -> r that have nothing to do with each other.
CHAINS = PetriNet(
    [
        Place(f"{kind}{i}", f"{kind}{i}", kind == "p")
        for i in range(4)
        for kind in "pqr"
    ],
    [
        Transition(f"{kind}{i}", f"{kind}{i}", {3 * i + k: 1}, {3 * i + k + 1: 1})
        for i in range(4)
        for k, kind in enumerate("tu")
    ],
    name="chains",
)


@pytest.fixture
def groups(monkeypatch):
    """Have nets without stubborn sets that follow the automaton: groups are left."""

    def none(*_, **__):
        yield from ()

    monkeypatch.setattr("ltlpipe.por.net_sets.table_of", none)


@pytest.mark.usefixtures("groups")
def test_states_are_saved():
    """One order of what nobody sees is left of all orders."""
    whole = check(CHAINS, "F(r0 == 1)", reduce="none", seed=1)
    reduced = check(CHAINS, "F(r0 == 1)", reduce="ample")

    assert (whole.verdict, reduced.verdict) == ("holds", "holds")
    assert reduced.plan.reductions == ("ample",)
    assert "stutter-invariant by its syntax, and 7 of 8" in reduced.plan.reasons[-1]
    assert whole.plan.reductions == ()
    tried = {t.strategy: t.reason for t in whole.plan.tried}
    assert tried["ample"] == "reduce= does not name it"
    assert reduced.stats.states * 4 < whole.stats.states


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("F(p0 == 1 && X X(q0 == 1))", "the formula is not stutter-invariant"),
        ("F deadlock", "a proposition is about steps, not only about states"),
        ("G !(action=='t0')", "a proposition is about steps, not only about states"),
        (
            "F(p0 + p1 + p2 + p3 < q0 + q1 + q2 + q3 + 2*r0 + 2*r1 + 2*r2 + 2*r3)",
            "every step may matter to another one, or to the property",
        ),
    ],
    ids=["next", "deadlock", "action", "visible"],
)
@pytest.mark.usefixtures("groups")
def test_where_models_are_not_reduced(formula, reason):
    with all_playing():
        verdict = check(CHAINS, formula)

    assert verdict.plan.strategy in ("explicit", "linear")
    assert not verdict.plan.reductions
    with pytest.raises(UnsupportedError, match=reason):
        check(CHAINS, formula, reduce="ample")


@pytest.mark.usefixtures("groups")
def test_formulas_that_are_stutter_invariant_in_spite_of_x():
    formula = "G((q0 == 1) -> X(q0 == 1 | F(r0 == 1)))"
    verdict = check(CHAINS, formula, reduce="ample")

    assert verdict.verdict == "holds"
    assert "the formula is stutter-invariant, and" in verdict.plan.reasons[-1]


@pytest.mark.parametrize(
    ("formula", "used"), [("F G (r0 == 1)", True), ("X X (q0 == 1)", False)]
)
@pytest.mark.parametrize("claim", [True, False])
@pytest.mark.usefixtures("groups")
def test_automata_are_decided_whatever_they_say(formula, used, claim):
    import spot

    from ltlpipe.logic.formulas import parse

    violations = spot.translate(spot.formula_Not(parse(formula).spot))
    violations.prop_stutter_invariant(spot.trival(claim))
    if not used:
        with pytest.raises(UnsupportedError, match="is not stutter-invariant"):
            check(CHAINS, automaton=violations, reduce="ample")
        return
    verdict = check(CHAINS, automaton=violations, reduce="ample")
    assert verdict.plan.reductions == ("ample",)
    assert "the automaton is stutter-invariant" in verdict.plan.reasons[-1]


@pytest.mark.usefixtures("groups")
def test_a_decision_that_takes_too_long(monkeypatch):
    """Then nothing is reduced, and who insists is told why."""

    def slow(*_, **__):
        raise StoppedError("timeout")

    monkeypatch.setattr("ltlpipe.question.property.bounded", slow)
    formula = "G((q0 == 1) -> X(q0 == 1 | F(r0 == 1)))"
    with all_playing():
        verdict = check(CHAINS, formula, timeout=60)
    assert verdict.verdict == "holds"
    assert verdict.plan.strategy in ("explicit", "linear")
    with pytest.raises(UnsupportedError, match="takes too long"):
        check(CHAINS, formula, reduce="ample")


@pytest.mark.usefixtures("groups")
def test_a_decision_is_part_of_the_time(monkeypatch):
    """Others do not wait for it."""

    def slow(*_, **__):
        while True:
            time.sleep(0.05)
            yield Progress("deciding", work=50_000.0)

    monkeypatch.setattr("ltlpipe.question.property.bounded", slow)
    formula = "G((q0 == 1) -> X(q0 == 1 | F(r0 == 1)))"
    found = check(CHAINS, formula, reduce="ample", timeout=0.3)
    assert (found.verdict, found.reason) == ("unknown", "timeout")
    with all_playing():
        found = check(CHAINS, formula, timeout=60)
    assert found.verdict == "holds"


@pytest.mark.parametrize(
    "formula",
    ["F(p0 == 1 && X X(q0 == 1))", "X X (q0 == 1)", "F(r0 == 1 && X r0 == 1)"],
)
def test_stubborn_sets_of_nets_ask_for_no_stutter_invariance(formula):
    whole = check(CHAINS, formula, reduce="none", seed=1)
    reduced = check(CHAINS, formula, reduce="ample", seed=1)
    assert reduced.verdict == whole.verdict
    assert reduced.plan.reductions == ("ample",)
    assert "what the automaton can do next" in reduced.plan.reasons[-1]
    assert reduced.stats.states <= whole.stats.states


@pytest.mark.parametrize("name", ["alphabet", "components", "alphabet,ample"])
def test_reductions_of_networks_are_refused(name):
    with pytest.raises(UnsupportedError, match="not for models"):
        check(CHAINS, "F(r0 == 1)", reduce=name)


@pytest.mark.parametrize("emptiness", ["se05", "couvreur99", "tarjan72", "dfs-weak"])
def test_lassos_of_reduced_models_are_runs(emptiness):
    """Replayed on the net as it is; the shuffled order is reduced, too."""
    for seed in (None, 1, 2):
        asked = {"emptiness": emptiness, "seed": seed, "reduce": "ample"}
        found = check(CHAINS, "G(r3 == 0)", **asked)
        assert found.verdict == "violated"
        assert found.plan.reductions == ("ample",)
        assert found.lasso is not None


def test_bits_instead_of_states():
    found = check(CHAINS, "F(r0 == 1)", bitstate=1, reduce="ample")
    assert (found.reason, found.plan.reductions) == ("bitstate", ("ample",))
