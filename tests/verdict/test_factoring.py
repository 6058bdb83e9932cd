"""What plans make of factors, and say of them."""

from __future__ import annotations

import pytest

from ltlpipe import LTS, Network, check
from ltlpipe.components import factors
from ltlpipe.logic.formulas import parse
from ltlpipe.question.answer import EMPTY, Answer, Trace
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import run
from ltlpipe.strategies.substitutes import FactoredQuestion, answered, factored_question
from ltlpipe.verdict.inquiry import question_of
from tests.components.factoring.products import composed

KERNELS = {"emptiness": "couvreur99"}
"""Leaves out `instant`."""


def client(k):
    """Gets something and puts it back; beside that, a lamp is switched on and off."""
    takes = LTS.from_transitions([(0, f"get{k}", 1), (1, f"put{k}", 0)])
    lamp = LTS.from_transitions([(0, f"on{k}", 1), (1, f"off{k}", 0)])
    return composed([takes, lamp], name=f"client{k}")


def served(n):
    """Clients that take turns."""
    steps = [(0, f"get{k}", k) for k in range(1, n + 1)]
    steps += [(k, f"put{k}", 0) for k in range(1, n + 1)]
    server = LTS.from_transitions(steps, name="server")
    return Network([*map(client, range(1, n + 1)), server])


def question(network, formula="G !get1", **options):
    return question_of(network, Property(parse(formula)), Options(**options))


def test_the_plan_says_what_has_become_of_components():
    """Once, in front of what comes after it."""
    verdict = check(served(3), "G(get1 -> F put1)", reduce="factoring,ample")
    assert verdict.plan.reductions[:1] == ("factoring",)
    said = [why for why in verdict.plan.reasons if why.startswith("factoring")]
    what = "3 of 4 components are products: 4 became 7"
    assert said == [f"factoring, because {what} (docs/factoring.md)"]


def test_what_no_run_can_do_is_removed_first():
    """Without the step that the server never takes the client is a product."""
    steps = [*client(1).transitions(), (0, "steal", 3)]
    server = LTS.from_transitions([(0, "get1", 1), (1, "put1", 0), (2, "steal", 0)])
    network = Network([LTS.from_transitions(steps), server])
    both = check(network, "G !off1", reduce="alphabet,factoring", **KERNELS)
    assert both.plan.reductions == ("alphabet", "factoring")
    alone = check(network, "G !off1", reduce="factoring", **KERNELS)
    assert alone.plan.reductions == ()
    assert (both.verdict, alone.verdict) == ("violated", "violated")


@pytest.mark.parametrize("reduce", ["none", "alphabet", "ample"])
def test_lists_without_it(reduce):
    """Components stay as they are."""
    verdict = check(served(2), "G(get1 -> F put1)", reduce=reduce)
    assert "factoring" not in verdict.plan.reductions


def test_instant_does_not_wait():
    """A small question is answered without a look at factors."""
    verdict = check(served(2), "G(get1 -> F put1)")
    assert (verdict.plan.strategy, verdict.plan.reductions) == ("instant", ())


def test_fairness_is_about_components():
    """No factor takes the place of one."""
    verdict = check(served(2), "GF put1", fairness="weak", **KERNELS)
    assert verdict.plan.reductions == ()
    assert not isinstance(
        run(factored_question(question(served(2), fairness="weak"))), FactoredQuestion
    )


def test_symmetry_is_found_among_factors():
    """Members have become several components."""
    formula = "G(get1 -> (!get2 W put1))"
    verdict = check(served(4), formula, reduce="factoring,symmetry")
    assert verdict.verdict == "holds"
    assert verdict.plan.reductions == ("factoring", "symmetry")
    (said,) = [why for why in verdict.plan.reasons if why.startswith("symmetry")]
    assert "because 768 permutations of 7 components" in said
    alone = check(served(4), formula, reduce="symmetry")
    assert verdict.stats.states <= alone.stats.states


def test_what_is_too_large_is_named(monkeypatch):
    """Whether other components have been factored or not."""
    monkeypatch.setattr(factors, "MOST_LABELS", 5)
    wide = LTS.from_transitions([(0, f"go{k}", k) for k in range(1, 7)], name="wide")
    network = Network([wide, client(1)])
    verdict = check(network, "F get1", reduce="factoring", **KERNELS)
    assert verdict.plan.reductions == ("factoring",)
    left = "not looked at: component 1 (6 labels)"
    assert any(left in why for why in verdict.plan.reasons)
    verdict = check(Network([wide]), "F go1", reduce="factoring", **KERNELS)
    assert verdict.plan.reductions == ()
    assert any(left in why for why in verdict.plan.reasons)


class OnComponents:
    """A strategy that cannot be used on factors."""

    name = "on components"
    needs_kernels = True
    takes_colours = False
    is_extra = False

    def job(self, question, trace):
        yield from ()
        trace.plan = question.given
        if isinstance(question, FactoredQuestion):
            raise NotApplicableError("not on factors")
        return Answer(EMPTY)


def test_a_strategy_that_cannot_be_used_on_factors():
    """It is used on the components, and its plan says nothing of factors."""
    asked = question(served(2))
    trace = Trace(asked.given)
    assert run(answered(OnComponents(), asked, trace)).kind == EMPTY
    assert trace.plan.reductions == ()


def test_questions_about_one_network_share_factors():
    """What one has found out is there for the next."""
    network = served(2)
    first, second = (
        run(factored_question(question(network, text))) for text in ("F get1", "F get2")
    )
    assert first.system is second.system
    assert first.fact is not None
    assert first.property != second.property


def test_acceptance_for_each():
    """Lassos of each component's acceptance come back, too."""
    busy = LTS.from_transitions([(0, "a", 1), (1, "b", 0)], accepting=[1])
    lamp = LTS.from_transitions([(0, "on", 1), (1, "off", 0)], accepting=[1])
    network = Network([composed([busy, lamp]), client(1)])
    for acceptance in ("together", "each"):
        verdict = check(
            network,
            empty=True,
            reduce="factoring,decoupled",
            network_acceptance=acceptance,
        )
        assert verdict.verdict == "violated"
        assert "factoring" in verdict.plan.reductions
