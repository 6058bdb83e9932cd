"""Walks as a strategy: when they give up, what they say then, limits, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.families.client_server import client_server
from benchmarks.families.nets import dining
from ltlpipe import LTS, Network, UnsupportedError, check, load
from ltlpipe.families.networks import philosophers
from ltlpipe.question.conditions import CONDITIONS, LINEAR
from ltlpipe.strategies import explicit, net_walks
from tests.portfolio_settings import searching_at_once, turns

ROOT = Path(__file__).parents[2]
TABLE = dining(10)
APART = "G(!(eat0>=1) || !(eat1>=1))"  # holds


def walked(system, formula, **options):
    """The verdict of walks alone."""
    return check(system, formula, reduce="walks", **options)


@pytest.mark.parametrize(
    ("system", "formula"),
    [(client_server(6), "GF grant1"), (TABLE, "G(left0>=1 -> F(eat0>=1))")],
    ids=["network", "net"],
)
def test_what_they_find(system, formula):
    """Violations of networks and nets, by few states, the same each time."""
    verdict = walked(system, formula)
    assert (verdict.verdict, verdict.plan.strategy) == ("violated", "walks")
    assert verdict.plan.emptiness == "couvreur99"
    assert verdict.stats.states < 20_000
    again = walked(system, formula)
    assert again.stats.states == verdict.stats.states
    assert again.lasso.cycle == verdict.lasso.cycle


def test_named_ones_give_up(monkeypatch):
    """The verdict is unknown, with a reason of its own; states are counted."""
    monkeypatch.setattr(explicit, "MANY_STATES", 3_000)
    verdict = walked(TABLE, APART)
    assert (verdict.verdict, verdict.reason) == ("unknown", "walks")
    assert verdict.stats.states == 3_000
    assert verdict.stats.details["walks"] == 7  # 5 of 256, one of 1,024, part of one


def test_weak_fairness_is_marks_of_the_system():
    """Somebody who takes turns with the neighbours may keep a third one waiting."""
    network = load(ROOT / "examples/fairness/philosophers.dot")
    verdict = walked(network, "G(hungry_1 -> F eat_1)", fairness="weak")
    assert (verdict.verdict, verdict.plan.strategy) == ("violated", "walks")


def test_a_limit_of_states_is_the_users():
    """It is called what it is."""
    verdict = walked(TABLE, APART, max_states=1_000)
    assert (verdict.verdict, verdict.reason) == ("unknown", "max-states")
    assert verdict.stats.states == 1_000


@pytest.mark.parametrize(
    ("limit", "reason"), [({"timeout": 0}, "timeout"), ({"memory": 0.01}, "memory")]
)
def test_other_limits(limit, reason):
    verdict = walked(TABLE, APART, **limit)
    assert (verdict.verdict, verdict.reason) == ("unknown", reason)


def test_limits_where_states_have_many_successors():
    """Here 2^17: choosing among them must not take longer than finding them."""
    anywhere = [(src, a, dst) for src in (0, 1) for a in "abcd" for dst in (0, 1)]
    network = Network([LTS.from_transitions(anywhere)] * 15)
    verdict = walked(network, "GF(a|b|c|d)", timeout=1)
    assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")
    assert verdict.stats.seconds < 6


def test_beside_others_they_drop_out(monkeypatch):
    """They say after how much, and another strategy answers."""
    monkeypatch.setattr(explicit, "SOME_STATES", 200)
    monkeypatch.setattr(explicit, "SOME_WORK", 0.0)
    monkeypatch.setattr(net_walks, "UNPLANNED", 200)
    monkeypatch.setitem(CONDITIONS, LINEAR, lambda *_: ["it would prove it at once"])
    with turns(), searching_at_once(1):
        verdict = check(TABLE, APART)
    (told,) = (t for t in verdict.plan.tried if t.strategy == "walks")
    assert verdict.verdict == "holds"
    assert told.outcome == "dropped out"
    assert told.reason == "no violation in 200 states of 1 walks"


def test_a_walk_that_sees_all_says_nothing():
    """Not even then do walks say that a formula holds."""
    verdict = walked(dining(3), APART)
    assert (verdict.verdict, verdict.reason) == ("unknown", "walks")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"emptiness": "se05"}, "se05 is requested"),
        ({"bitstate": 1}, "bitstate.* are for a search of the whole product"),
        ({"fairness": "strong"}, "with Fin in the acceptance"),
    ],
    ids=str,
)
def test_what_they_cannot_be_used_for(options, told):
    with pytest.raises(UnsupportedError, match=told):
        walked(philosophers(3), "G(lf0 -> F eat1)", **options)
