"""When ample sets are used, and with which automaton."""

from __future__ import annotations

import pytest

from ltlpipe import (
    LTS,
    FormulaError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
)
from ltlpipe.automata.translation import translate
from ltlpipe.logic.formulas import parse
from tests.portfolio_settings import all_playing

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], name="ring")


@pytest.fixture
def no_second_decision(monkeypatch):
    """Formulas have been decided as formulas."""

    def broken(*_):
        raise AssertionError("an automaton is decided")

    monkeypatch.setattr("ltlpipe.question.network.decide_automaton", broken)


@pytest.mark.usefixtures("no_second_decision")
@pytest.mark.parametrize("formula", ["G(a -> F b)", "GF a"])
def test_tgba_with_one_mark_on_states(formula):
    """The kind that is asked for does: it can be brought into normal form."""
    verdict = check(RING, formula, acceptance="tgba", reduce="ample")
    assert verdict.verdict == "holds"
    assert (verdict.plan.automaton, verdict.plan.reductions) == ("TGBA", ("ample",))
    assert "the formula is interruptible" in verdict.plan.reasons[-1]


@pytest.mark.usefixtures("no_second_decision")
@pytest.mark.parametrize(
    ("formula", "acceptance"),
    [("FG !a", "Inf(0)"), ("!(GF a & GF b)", "Inf(0)&Inf(1)")],
    ids=["transitions", "two marks"],
)
def test_tgba_with_other_marks(formula, acceptance):
    """Def. 11 of Siegel & Yan 2020 is about one mark on states; `auto` gives that."""
    verdict = check(RING, formula, acceptance="tgba", seed=1)
    assert verdict.stats.acceptance == acceptance
    assert verdict.plan.reductions == ()
    with pytest.raises(UnsupportedError, match="more than one mark on states"):
        check(RING, formula, acceptance="tgba", reduce="ample")
    assert check(RING, formula, reduce="ample").plan.reductions == ("ample",)


def test_automata_that_are_refused_stay_as_they_are():
    """They are searched as without ample sets, with the same marks as before."""
    formula = parse("!(GF a & GF b & X X a)")
    violations = translate(formula, "tgba", negate=True)
    plain = check(RING, automaton=violations, reduce="alphabet", seed=1)
    with all_playing():
        verdict = check(RING, automaton=violations, emptiness="couvreur99")
    assert (verdict.plan.automaton, verdict.stats.acceptance) == (
        "TGBA",
        "Inf(0)&Inf(1)",
    )
    with pytest.raises(UnsupportedError, match="the automaton is not interruptible"):
        check(RING, automaton=violations, reduce="ample")
    assert verdict.stats.automaton_states == plain.stats.automaton_states
    assert verdict.stats.states == plain.stats.states


def test_automata_that_are_taken_get_one_mark():
    """As formulas do."""
    violations = translate(parse("!(GF a & GF b)"), "tgba", negate=True)
    verdict = check(RING, automaton=violations, reduce="ample")
    assert (verdict.plan.automaton, verdict.stats.acceptance) == ("BA", "Inf(0)")
    assert verdict.plan.reductions == ("ample",)


def visible_plan(visible, formula="F a", **options):
    """The plan for an automaton of the violations of a formula."""
    violations = translate(parse(formula), "ba", negate=True)
    return check(RING, automaton=violations, visible=visible, **options).plan


def test_visible_names_that_mean_nothing():
    """An error with the place, or a warning where that is meant."""
    with pytest.warns(LtlpipeWarning, match="'bb', 'zz', which visible=") as warned:
        plan = visible_plan("a, bb,zz", unknown="never")
    assert plan.reductions == visible_plan("a").reductions
    assert len(warned) == 1
    with pytest.raises(FormulaError, match="called 'bb', 'zz'") as error:
        visible_plan("a, bb,zz")
    assert error.value.position == 3
    assert str(error.value).endswith("  a, bb,zz\n     ^")


def test_visible_names_that_mean_something():
    """Actions of the system, and propositions of the automaton that it lacks."""
    assert visible_plan("a,b") == visible_plan("a")
    with pytest.warns(LtlpipeWarning, match="no action of the system is called 'zz':"):
        visible_plan("a,zz", "F a | F zz", unknown="never")


def test_visible_goes_with_an_automaton():
    """The visible actions of a formula are those that it names."""
    for question in ({"formula": "F a"}, {"empty": True}):
        with pytest.raises(UnsupportedError, match="visible= requires automaton="):
            check(RING, visible="a", **question)


@pytest.mark.parametrize("visible", ["", "a", "b"])
def test_an_action_that_matters_may_not_be_invisible(visible):
    """Without it the automaton is not interruptible, so all steps are taken."""
    formula = "G(a -> F b)"
    assert "ample" in visible_plan(None, formula, reduce="ample").reductions
    with pytest.raises(UnsupportedError, match="the automaton is not interruptible"):
        visible_plan(visible, formula, reduce="ample")
    with all_playing():
        plan = visible_plan(visible, formula)
    assert "ample" not in plan.reductions


def test_an_action_that_cannot_happen_does_not_matter():
    """No violation of `F a` has an `a`; without that, nothing has to be visible."""
    both = visible_plan("", "F a", reduce="alphabet,ample")
    assert both.reductions == ("alphabet", "ample")
    trimmed = visible_plan("", "F a", reduce="alphabet", seed=1)
    assert trimmed.reductions == ("alphabet",)
    with pytest.raises(UnsupportedError, match="not interruptible"):
        visible_plan("", "F a", reduce="ample")


def test_an_action_that_does_not_matter_may_be_invisible():
    """The automaton names `b`, but accepts with and without it."""
    violations = translate(parse("F a"), "ba", negate=True)
    violations.register_ap("b")
    asked = {"visible": "a", "reduce": "ample"}
    verdict = check(RING, automaton=violations, **asked)
    assert "ample" in verdict.plan.reductions
