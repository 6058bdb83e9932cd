"""Graphs of Spot as systems: what may be asked, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest
import spot
from spot import buddy

import ltlpipe
from ltlpipe import (
    FormulaError,
    LtlpipeWarning,
    SpotGraph,
    UnsupportedError,
    check,
    deadlocks,
    is_empty,
    load,
)
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import complete
from ltlpipe.verdict.lasso import Lasso
from ltlpipe.verdict.replay import run_replayed

AUTOMATON = """HOA: v1
States: 2
Start: 0
AP: 1 "p"
Acceptance: 2 Fin(0) & Inf(1)
--BODY--
State: 0
[0] 0 {1}
[!0] 1 {0}
State: 1
[t] 0 {1}
--END--
"""
"""It accepts the words with finitely many !p in the state 0."""


def four_states():
    """States 0 and 1 take turns; from 0 a way leads over 2 to the deadlock 3."""
    graph = spot.make_kripke_graph(spot.make_bdd_dict())
    p, q = (buddy.bdd_ithvar(graph.register_ap(name)) for name in "pq")
    for condition in (p - q, q - p, p & q, buddy.bdd_not(p | q)):
        graph.new_state(condition)
    for edge in ((0, 1), (0, 2), (1, 0), (2, 3)):
        graph.new_edge(*edge)
    graph.set_init_state(0)
    return graph


@pytest.fixture
def kripke():
    return four_states()


@pytest.fixture
def automaton():
    return spot.automaton(AUTOMATON)


def test_a_run_of_a_kripke_structure(kripke):
    """Valuations of the states that steps leave, and numbers of states."""
    verdict = check(kripke, "G p")
    assert verdict.verdict == "violated"
    lasso = verdict.lasso
    assert lasso.prefix + lasso.cycle == [
        {"p": True, "q": False},
        {"p": False, "q": True},
    ]
    assert lasso.states.tolist() == [[0], [1], [0]]
    assert str(lasso.word) == "cycle{p; !p}"
    assert lasso.action_names == ["0 -> 1", "1 -> 0"]
    assert lasso.system.graph is kripke
    assert lasso.steps[1].moves == (("p", False, True), ("q", True, False))


def test_a_state_without_edges(kripke):
    """Its run ends and says nothing, or repeats the state for ever."""
    assert check(kripke, "GF p").verdict == "holds"
    verdict = check(kripke, "GF p", deadlock="stutter")
    assert verdict.verdict == "violated"
    assert verdict.lasso.states.tolist() == [[0], [2], [3], [3]]
    assert verdict.lasso.actions[-1] == -1
    assert verdict.lasso.cycle == [{"p": False, "q": False}]
    for strategy in ({}, {"seed": 1}):
        again = check(kripke, "G(q -> X X p)", deadlock="stutter", **strategy)
        assert again.verdict == "violated"


def test_a_state_that_lost_its_label(kripke):
    """Spot's reader drops the labels of states without edges."""
    read = spot.automaton(kripke.to_str("hoa") + "\n", want_kripke=True)
    with pytest.raises(UnsupportedError, match=r"state 3 .* no edges"):
        check(read, "GF p", deadlock="stutter")
    assert check(read, "GF p").verdict == "holds"


def test_charts_say_what_is_so(kripke):
    """No formula names a step, and states do not tell that propositions stay."""
    assert "*" not in str(deadlocks(kripke).lasso.chart())
    found = check(kripke, "G p", deadlock="error")
    assert "stay as they are" not in str(found.finite_run.chart())
    assert "stay as they are" in str(check(kripke, "G p").lasso.chart())


def test_deadlocks(kripke, automaton):
    found = deadlocks(kripke)
    assert found.verdict == "violated"
    assert found.lasso.states.tolist() == [[0], [2], [3], [3]]
    assert found.lasso.prefix == [{"p": True, "q": False}, {"p": True, "q": True}]
    assert deadlocks(automaton).verdict == "holds"
    automaton.new_edge(1, automaton.new_state(), buddy.bddtrue)
    found = deadlocks(automaton)
    assert found.lasso.states.tolist() == [[0], [1], [2], [2]]
    assert found.lasso.prefix[0] == {"p": False}


def test_only_accepted_runs_count(automaton):
    """p for ever is accepted, !p again and again is not unless in the state 1."""
    assert check(automaton, "G p | F !p").verdict == "holds"
    verdict = check(automaton, "F !p")
    assert verdict.lasso.cycle == [{"p": True}]
    assert check(automaton, "FG p").verdict == "holds"
    assert check(automaton, empty=True).verdict == "violated"


def test_a_system_is_read_once(kripke):
    system = load(kripke)
    assert isinstance(system, SpotGraph)
    assert load_of(system) is system
    assert (system.n_states, system.n_edges, system.is_kripke) == (4, 4, True)
    assert check(system, "G(p | q)").verdict == "holds"
    assert "4 states, 4 edges" in system._repr_html_()


def load_of(system):
    from ltlpipe.systems.reading import system_of

    return system_of(system)


def test_propositions_that_the_graph_does_not_have(kripke):
    """They are never true, also where Spot would let them be free."""
    with pytest.warns(LtlpipeWarning, match="no proposition .* 'x'") as caught:
        assert check(kripke, "G !x", unknown="never").verdict == "holds"
    assert caught[0].filename == __file__
    with pytest.warns(LtlpipeWarning):
        assert check(kripke, "F x", unknown="never").verdict == "violated"
    with pytest.raises(FormulaError, match=r"no proposition .* called 'pp'.*p"):
        check(kripke, "G !pp")


def test_labels_of_many_propositions():
    """A letter is what the property tells apart: 40 propositions make two."""
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.new_states(1)
    variables = [graph.register_ap(f"x{k}") for k in range(40)]
    both = buddy.bdd_ithvar(variables[0]) | buddy.bdd_ithvar(variables[1])
    graph.new_edge(0, 0, both)
    some = " | ".join(f"x{k}" for k in range(30))
    assert check(graph, f"G({some})").verdict == "holds"
    assert check(graph, f"F G !({some})").verdict == "violated"
    assert check(graph, f"G X !({some})").verdict == "violated"
    assert check(graph, "G(x0 | x1)").verdict == "holds"


def test_violations_with_another_dictionary(kripke):
    """An automaton of the violations need not share the graph's BDDs."""
    for violations in (
        spot.translate("FG p", dict=kripke.get_dict()),
        spot.translate("FG p", dict=spot.make_bdd_dict()),
    ):
        assert check(kripke, automaton=violations).verdict == "holds"
    assert check(kripke, automaton=ltlpipe.automaton("GF p")).verdict == "violated"


def test_options_about_actions_are_refused(kripke, automaton):
    for options in (
        {"fairness": "weak"},
        {"reduce": "ample"},
        {"reduce": "components"},
        {"network_acceptance": "each"},
        {"emptiness": "decoupled-scc"},
        {"semantics": "action"},
    ):
        with pytest.raises(
            UnsupportedError, match=r"\w+=.* is about actions|semantics="
        ):
            check(kripke, "G p", **options)
    with pytest.raises(UnsupportedError, match="on its edges"):
        check(automaton, "G p", deadlock="stutter")
    with pytest.raises(UnsupportedError, match="livelock is about actions"):
        ltlpipe.livelock(kripke, ["p"])
    with pytest.raises(UnsupportedError, match=r"a \.dot file would lose"):
        ltlpipe.save(load(kripke), "x.dot")
    assert check(kripke, "G p", semantics="state", reduce="none").verdict == "violated"


def test_too_many_marks():
    """20 marks of each side are more than 32."""
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.set_generalized_buchi(20)
    graph.new_states(2)
    graph.register_ap("p")
    for mark in range(20):
        graph.new_edge(mark % 2, 1 - mark % 2, buddy.bddtrue, [mark])
    for options in ({}, {"seed": 1}):
        with pytest.raises(UnsupportedError, match="32"):
            check(graph, automaton=graph, **options)
    assert check(graph, empty=True).verdict == "violated"


def test_several_automata_are_a_network():
    """Propositions are labels then, as in files."""
    network = load([ring("ab"), ring("bc")])
    assert isinstance(network, ltlpipe.Network)
    assert [a.name for a in network.actions] == ["a", "b", "c"]
    assert check([ring("ab"), ring("bc")], "G(a -> X b)").verdict == "violated"
    assert check([ring("ab"), ring("bc")], "GF b").verdict == "holds"
    with pytest.raises(UnsupportedError, match=r"spot\.twa_graph only"):
        load([ring("ab"), four_states()])


def ring(names):
    """An automaton whose words repeat some actions in turn."""
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.new_states(len(names))
    for k, name in enumerate(names):
        label = buddy.bdd_ithvar(graph.register_ap(name))
        graph.new_edge(k, (k + 1) % len(names), label)
    return graph


def test_what_is_no_system():
    with pytest.raises(UnsupportedError, match="graphs of Spot, not an int"):
        check(3, "G p")
    with pytest.raises(UnsupportedError, match="not a formula"):
        is_empty(spot.formula("G p"))


def test_a_limit():
    """The answer is not known then, and is not taken for true or false."""
    result = is_empty(ring("abc"), max_states=1, emptiness="tela")
    assert (result.empty, result.reason, result.run) == (None, "max-states", None)
    assert "unknown" in result._repr_html_()
    with pytest.raises(TypeError, match=r"use \.empty"):
        bool(result)


def test_a_run_of_an_automaton(automaton):
    """Its steps have states, labels and marks."""
    result = is_empty(automaton)
    assert result.empty is False
    assert result.run.prefix == []
    assert result.run.cycle == [(0, "p", (1,))]
    assert str(result.run) == "(0)"
    assert result.run.word.intersects(automaton)
    lasso = result.run.as_twa()
    assert (lasso.num_states(), lasso.is_empty()) == (1, False)
    assert str(lasso.get_acceptance()) == "Fin(0) & Inf(1)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": [[1], [1]]}, "does not begin"),
        ({"actions": [2]}, "no such edge 0 -> 0"),
        ({"cycle": [{"p": False}]}, "no such edge 0 -> 0"),
        ({"actions": [-1]}, "repeats a state"),
    ],
    ids=["initial", "edge", "label", "repetition"],
)
def test_the_replay_refuses_what_is_no_run(automaton, change, message):
    system = load(automaton)
    parts = {"cycle": [{"p": True}], "actions": [1], "states": [[0], [0]]} | change
    lasso = Lasso(
        [], parts["cycle"], np.array(parts["actions"]), np.array(parts["states"])
    )
    with pytest.raises(ReplayError, match=message):
        complete(run_replayed(system, lasso, stutters=False))


def test_the_replay_refuses_what_the_graph_does_not_accept(automaton):
    system = load(automaton)
    lasso = Lasso(
        [],
        [{"p": False}, {"p": True}],
        np.array([2, 3]),
        np.array([[0], [1], [0]]),
    )
    with pytest.raises(ReplayError, match="does not accept"):
        complete(run_replayed(system, lasso, stutters=False))


def test_a_graph_that_changes_is_noticed(automaton):
    """The replay asks the graph as it is now."""
    system = load(automaton)
    for edge in automaton.out(0):
        edge.cond = buddy.bddfalse
    with pytest.raises(ReplayError, match="no such edge"):
        check(system, "F !p")


def test_who_sees_to_the_acceptance(automaton):
    """The search if it can, else the automaton that the search is given."""
    told = is_empty(automaton, emptiness="se05")
    assert told.plan.automaton == "BA"
    assert "checks the acceptance of the graph" in told.plan.reasons[-1]
    taken = is_empty(automaton, emptiness="tela")
    assert taken.plan.automaton is None
    chosen = is_empty(automaton, seed=1)
    assert chosen.plan.emptiness == "tela"
    assert "the acceptance of the system" in chosen.plan.reasons[0]
    assert not any((told.empty, taken.empty, chosen.empty))


def test_a_cycle_through_a_state_that_does_not_accept():
    """From 0 by 2 back to 0, while 1 accepts and cannot be reached."""
    ring = spot.automaton(
        "HOA: v1 States: 3 Start: 0 AP: 0 Acceptance: 1 Inf(0) --BODY-- State: 0 {0} "
        "[t] 2 State: 1 {0} [t] 2 State: 2 [t] 0 [t] 2 --END--\n"
    )
    found = is_empty(ring, emptiness="se05")

    assert found.empty is False
    assert str(found.run) == "(0 2)"


def test_a_search_over_bits(automaton):
    """It finds a run, but cannot say that there is none."""
    assert is_empty(automaton, bitstate=1).empty is False
    none = spot.translate("0")
    assert is_empty(none, bitstate=1).reason == "bitstate"


def test_pictures(kripke, monkeypatch):
    """Spot draws small graphs, where Graphviz is installed."""
    system = load(kripke)
    monkeypatch.setenv("PATH", "")
    assert system._repr_svg_() is None
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(
        "spot.kripke_graph._repr_svg_", lambda graph: "<svg/>", raising=False
    )
    assert system._repr_svg_() == "<svg/>"
    monkeypatch.setattr("ltlpipe.systems.graph._MOST_DRAWN", 3)
    assert system._repr_svg_() is None
