"""Questions about models: options, deadlocks, overflow, names."""

from __future__ import annotations

import pytest

from ltlpipe import FormulaError, Network, UnsupportedError, check, deadlocks
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.programs.model import read_dve_model


def net(tokens, *transitions):
    places = [Place(f"p{i}", f"p{i}", n) for i, n in enumerate(tokens)]
    return PetriNet(
        places, [Transition(f"t{i}", f"t{i}", *t) for i, t in enumerate(transitions)]
    )


ENDS = net((1, 0), ({0: 1}, {1: 1}))
ROUND = net((1, 0), ({0: 1}, {1: 1}), ({1: 1}, {0: 1}))
GROWS = net((1, 1000), ({0: 1, 1: 1}, {0: 2}))
ENDLESS = net((1,), ({0: 1}, {0: 2}))


@pytest.mark.parametrize(
    ("formula", "deadlock", "verdict"),
    [
        ("F p1 == 1", None, "holds"),
        ("F G deadlock", None, "holds"),
        ("G !deadlock", "stutter", "violated"),
        ("false", "ignore", "holds"),
        ("false", "stutter", "violated"),
        ('action=="t0"', "stutter", "holds"),
        ('X action=="t0"', "stutter", "violated"),
        ("fireable(t0) & X !fireable(t0)", "stutter", "holds"),
    ],
)
def test_a_run_that_ends(formula, deadlock, verdict):
    assert check(ENDS, formula, deadlock=deadlock).verdict == verdict


def test_the_lasso_says_what_moves_and_what_changes():
    verdict = check(ENDS, "G p0 == 1")
    lasso = verdict.lasso
    assert lasso.prefix == [{"p0": 1, "p1": 0}] or lasso.prefix == [{"p0": 1}]
    assert lasso.action_names == ["t0", "<stutter>"]
    assert lasso.changes() == [{"p0": (1, 0), "p1": (0, 1)}, {}]
    assert lasso.states.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert verdict.to_dict()["lasso"]["cycle_actions"] == ["<stutter>"]


def test_automata_are_taken_as_they_are():
    """Three states, though one would do: so many products were counted by others."""
    text = """HOA: v1
States: 3
Start: 0
AP: 1 "p0==1"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 1
State: 1
[t] 2
State: 2
[!0] 0 {0}
--END--
"""
    (violations,) = parse_automata(text, "a.hoa")
    verdict = check(ROUND, automaton=violations)
    assert verdict.stats.automaton_states == 3
    (violations,) = parse_automata(text, "a.hoa")
    assert check(ROUND, automaton=violations, emptiness="se05").verdict == (
        verdict.verdict
    )


def test_numbers_outgrow_their_fields():
    """The search begins again, with wider fields, as long as there are any."""
    assert check(GROWS, "G p0 < 1000").verdict == "violated"
    assert check(GROWS, "G p0 <= 1001").verdict == "holds"
    assert check(ENDLESS, "G p0 < 1000").finite_run is not None
    # There is no cycle at all, so no lasso: without a limit the search would not end.
    assert check(ENDLESS, "G F p0 < 1000", max_states=2000).reason == "max-states"
    huge = net((1,), ({0: 1}, {0: 1 << 62}), ({}, {0: 1 << 62}))
    asked = {"max_states": 100, "reduce": "none"}  # a stubborn set needs one state
    assert check(huge, "G p0 >= 0", **asked).reason in ("overflow", "max-states")
    assert check(huge, "G p0 >= 0").verdict == "holds"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduce": "components"}, "reduce='components' is for networks"),
        ({"semantics": "action"}, "semantics='action'"),
        ({"network_acceptance": "each"}, "network_acceptance='each' is for networks"),
    ],
)
def test_options_of_networks_are_refused(options, message):
    with pytest.raises(UnsupportedError, match=message):
        check(ROUND, "G p0 >= 0", **options)


def test_names_that_mean_nothing():
    with pytest.raises(FormulaError, match="did you mean") as raised:
        check(ROUND, "G F (p0 == 1 || q1 == 0)")
    assert raised.value.position == 16
    with pytest.raises(FormulaError, match="is called 'q'"):
        check(ROUND, "G q")


def test_nearest_deadlock():
    found = deadlocks(ENDS)
    assert found.verdict == "violated"
    assert found.lasso.action_names == ["t0", "<stutter>"]
    assert deadlocks(ROUND).verdict == "holds"
    assert len(deadlocks(GROWS).lasso.prefix) == 1000
    assert deadlocks(ENDLESS, max_states=50).reason == "max-states"


def test_nearest_deadlock_of_a_network():
    """A long way and a short one; its acceptance is irrelevant."""
    long = [(i, "a", i + 1) for i in range(9)]
    part = LTS.from_transitions([*long, (0, "b", 10)], accepting=[3])
    other = LTS.from_transitions([(0, "a", 0), (0, "b", 0)])
    found = deadlocks(Network([part, other]))
    assert found.lasso.prefix == ["b"]
    assert found.lasso.cycle == ["<stutter>"]
    endless = Network([LTS.from_transitions([(0, "a", 0)])])
    assert deadlocks(endless).verdict == "holds"
    assert deadlocks(Network([part, other]), max_states=1).reason == "max-states"
    with pytest.raises(UnsupportedError, match="expected a number"):
        deadlocks(endless, timeout="5x")


def test_processes_by_name():
    text = """
    byte x;
    process P { state idle, busy; init idle;
      trans idle -> busy { effect x = x + 1; }, busy -> idle { guard x < 3; }; }
    system async;
    """
    model = read_dve_model(text, "p.dve")
    assert check(model, 'G F P=="idle"').verdict == "violated"
    assert check(model, 'F G (P=="busy" && x == 3)').verdict == "holds"
    found = deadlocks(model)
    assert found.lasso.prefix[0] == {"x": 0, "P": "idle"}
    assert len(found.lasso.prefix) == 5
