"""What the actions of a run tell of the states that it passes, and when all is lost."""

from __future__ import annotations

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, LtlpipeWarning, Network, check
from ltlpipe.report import lasso_pictures
from ltlpipe.report.lasso_pictures import Replay, ViolatingSteps
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks
from tests.report.handmade_lassos import ring_lasso


def changes(network, prefix, cycle):
    return Replay(network).changes([*prefix, *cycle], len(prefix))


def violation(network, formula):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        return check(network, formula, unknown="never").lasso


def deterministic(network):
    """The network without the second transition of a state with a label."""
    parts = []
    for lts in network.components:
        first = {}
        for src, label, dst in lts.transitions():
            first.setdefault((src, label), dst)
        steps = [(src, label, dst) for (src, label), dst in first.items()]
        parts.append(
            LTS.from_transitions(steps, initial=lts.initial, n_states=lts.n_states)
        )
    return Network(parts)


@given(networks(max_components=3, max_states=4), formulas(), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_what_is_told_is_true(network, formula, is_deterministic):
    """Of a deterministic network it is everything."""
    if is_deterministic:
        network = deterministic(network)
    lasso = violation(network, formula)
    if lasso is None:
        return
    found = changes(network, lasso.prefix, lasso.cycle)
    states = lasso.states.tolist()
    for step, row in enumerate(found):
        action = network.actions[lasso.actions[step]]
        assert len(row) == len(action.participants)
        for component, (before, after) in zip(action.participants, row, strict=True):
            assert before in (None, states[step][component])
            assert after in (None, states[step + 1][component])
            if is_deterministic:
                assert None not in (before, after)


def test_a_state_is_told_by_what_comes_later():
    """Two ways to go on; only one of them can do what is done next, or close."""
    fork = LTS.from_transitions([(0, "go", 1), (0, "go", 2), (1, "a", 0), (2, "b", 0)])
    network = Network([fork])
    assert changes(network, [], ["go", "b"]) == [((0, 2),), ((2, 0),)]
    loop = LTS.from_transitions([(0, "a", 0), (0, "a", 1), (1, "b", 1), (1, "a", 0)])
    assert changes(Network([loop]), ["a"], ["b"]) == [((0, 1),), ((1, 1),)]
    assert changes(Network([loop]), ["a"], ["a"]) == [((0, None),), ((None, None),)]


def test_what_is_no_run():
    one = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    assert changes(one, ["b"], ["a", "b"]) is None
    assert changes(one, [], ["a"]) is None  # does not close
    assert changes(one, ["a", "b"], ["<stutter>"]) == [((0, 1),), ((1, 0),), ()]


def test_internal_steps_are_somebodys():
    """Who has taken one is told only by what comes later."""
    lts = LTS.from_transitions([(0, "i", 1), (1, "x", 1)], internal=["i"])
    other = LTS.from_transitions([(0, "i", 1), (1, "y", 1)], internal=["i"])
    found = changes(Network([lts, other]), ["i"], ["x"])
    assert found == [((0, 1), (0, None)), ((1, 1),)]


def test_a_long_run():
    """A ring of 30, whose states are known in each step."""
    lasso = ring_lasso(30)
    found = changes(lasso.system, lasso.prefix, lasso.cycle)
    for step, row in enumerate(found):
        who = lasso.system.actions[lasso.actions[step]].participants
        before, after = lasso.states[step], lasso.states[step + 1]
        assert row == tuple((before[i], after[i]) for i in who)


@given(networks(max_components=3, max_states=4), formulas())
@settings(max_examples=examples(100), deadline=None)
def test_bad_prefixes(network, formula):
    """As the check has found it."""
    lasso = violation(network, formula)
    if lasso is not None:
        first = len(lasso.prefix)
        found = ViolatingSteps().of(formula, lasso.action_names, first)
        assert found == lasso.bad_prefix


def test_bad_prefixes_that_are_not_known(monkeypatch):
    """Of no safety formulas, with names that are not clear, or too late."""
    steps = ViolatingSteps()
    assert steps.of("G !a", ["b", "a"], 0) == 2
    assert ViolatingSteps().of("G !a", ["b", "a"], 0, ["a"]) is None
    assert ViolatingSteps().of("G !a", ["b", "a"], 0, ["c"]) == 2
    assert steps.of("F a", ["b"], 0) is None
    assert steps.of("G(", ["b"], 0) is None
    monkeypatch.setattr(lasso_pictures, "SECONDS", -1.0)
    assert ViolatingSteps().of("G !a", ["b", "a"], 0) is None
