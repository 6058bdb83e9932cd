"""Fairness of verdicts: sets, their limits, and the check of lassos."""

from __future__ import annotations

import numpy as np
import pytest

from ltlpipe import LTS, Network, UnsupportedError, check, livelock
from ltlpipe.question import network
from ltlpipe.question.options import Options
from ltlpipe.question.property import fair_sets
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import complete
from ltlpipe.verdict.judgement import check_fairness
from ltlpipe.verdict.lasso import Lasso
from tests.oracles import actions_of_components

TURNS = Network(
    [
        LTS.from_transitions([(0, "a", 1), (1, "b", 0)]),
        LTS.from_transitions([(0, "b", 0), (0, "c", 0)]),
    ]
)
"""a and b in turn, b together with the second component, which may do c at any time."""


def lasso_of(cycle, states, prefix=()):
    """A lasso of `TURNS`, whether there is such a run or not."""
    names = [*prefix, *cycle]
    index = TURNS.action_index
    return Lasso(
        prefix=list(prefix),
        cycle=list(cycle),
        actions=np.array([index.get(name, -1) for name in names], dtype=np.int32),
        states=np.array(states, dtype=np.int32),
    )


def test_sets_of_components():
    """A shared action belongs to each participant."""
    sets = fair_sets(TURNS, Options(fairness="weak"))
    assert [s.name for s in sets] == ["component 1", "component 2"]
    assert [set(s.actions) for s in sets] == actions_of_components(TURNS)
    assert len(sets[0].actions & sets[1].actions) == 1


def test_named_sets():
    """Spaces do not matter, and the components have none then."""
    (named,) = fair_sets(TURNS, Options(fairness="weak", fair_sets=(" a , c",)))
    assert named.actions == {TURNS.action_index["a"], TURNS.action_index["c"]}


def test_no_fairness_no_sets():
    assert fair_sets(TURNS, Options()) == []


@pytest.mark.parametrize(
    ("kind", "sets", "unfair"),
    [
        ("weak", (), True),
        ("strong", (), True),
        ("weak", ("c",), False),
        ("weak", ("b",), True),
        ("strong", ("a",), False),
        ("weak", ("a,b", "c"), True),
    ],
)
def test_lassos_that_stand_still(kind, sets, unfair):
    """After a the first component could do b all the time, and c goes on alone."""
    options = Options(fairness=kind, fair_sets=sets)
    lasso = lasso_of(["c"], [[0, 0], [1, 0], [1, 0]], prefix=["a"])
    if not unfair:
        complete(check_fairness(TURNS, lasso, options))
        return
    with pytest.raises(ReplayError, match="the lasso is not fair to"):
        complete(check_fairness(TURNS, lasso, options))


def test_enabled_now_and_then():
    """b is enabled in every second state of a made-up cycle, and never taken."""
    lasso = lasso_of(["c", "a"], [[0, 0], [1, 0], [0, 0]])
    complete(check_fairness(TURNS, lasso, Options(fairness="weak", fair_sets=("b",))))
    with pytest.raises(ReplayError, match="not fair to b"):
        complete(
            check_fairness(TURNS, lasso, Options(fairness="strong", fair_sets=("b",)))
        )


def test_a_prefix_does_not_count():
    """What was enabled or taken before the cycle is forgotten."""
    states = [[1, 0], [0, 0], [0, 0]]
    lasso = lasso_of(["c"], states, prefix=["b"])
    complete(check_fairness(TURNS, lasso, Options(fairness="strong", fair_sets=("b",))))
    with pytest.raises(ReplayError, match="not fair to a"):
        complete(
            check_fairness(TURNS, lasso, Options(fairness="weak", fair_sets=("a",)))
        )


def test_every_lasso_is_checked(monkeypatch):
    """A search that ignored fairness would be found out by the replay."""
    monkeypatch.setattr(network, "fairness_of", lambda *_: None)
    for emptiness in ("auto", "couvreur99"):
        with pytest.raises(ReplayError, match="not fair to component 1"):
            check(TURNS, "GF a", fairness="weak", emptiness=emptiness)


@pytest.mark.parametrize(
    ("kind", "n_components", "n_fair"), [("weak", 33, 32), ("strong", 17, 16)]
)
def test_how_many_sets_there_may_be(kind, n_components, n_fair):
    """All marks may be those of fairness; one set more is refused."""
    loops = [LTS.from_transitions([(0, f"a{k}", 0)]) for k in range(n_components)]
    with pytest.raises(UnsupportedError, match=f"at most {n_fair} sets"):
        check(Network(loops), empty=True, fairness=kind)
    most = Network(loops[:n_fair])
    verdict = check(most, empty=True, fairness=kind)
    assert set(verdict.lasso.cycle) == {f"a{k}" for k in range(n_fair)}
    with pytest.raises(UnsupportedError, match="fairness needs fewer sets"):
        check(most, "GF a0 -> FG a1", fairness=kind, acceptance="ba")


def test_what_is_searched_is_the_system_itself():
    """No reduction is used, although all are for the same formula without fairness."""
    plain = check(TURNS, "GF a")
    fair = check(TURNS, "GF a", fairness="weak", deadlock="ignore")
    assert (plain.verdict, fair.verdict) == ("violated", "holds")
    assert fair.plan.reductions == ()
    tried = {t.strategy: t for t in fair.plan.tried}
    for name in ("ample", "components", "decoupled", "symmetry"):
        assert tried[name].outcome == "not tried"
        assert tried[name].reason == "fairness depends on which actions are enabled"


def test_trimming_would_change_what_is_enabled():
    """`d` can never happen, since nobody offers its other half; then it is not enabled.

    b is watched by the formula, c by nobody: both count for fairness.
    """
    network = Network(
        [
            LTS.from_transitions([(0, "b", 0), (0, "c", 0), (0, "d", 0)]),
            LTS.from_transitions([(1, "d", 1)], initial=0, n_states=2),
        ]
    )
    assert check(network, "GF b", fairness="strong").verdict == "violated"
    named = {"fairness": "strong", "fair_sets": ["b"]}
    assert check(network, "GF b", **named).verdict == "holds"
    named = {"fairness": "strong", "fair_sets": ["d", "b"]}
    assert check(network, "GF b & G !d", **named).verdict == "holds"


@pytest.mark.parametrize("names", [[], ["nowhere"], ["a", "nowhere"]])
def test_progress_that_is_none(names):
    with pytest.raises(UnsupportedError, match="progress"):
        livelock(TURNS, names)
