"""The table of conditions: every column is asked for, and what two sentences say."""

import pytest

import ltlpipe
from benchmarks.families.client_server import client_server
from benchmarks.families.nets import coloured_peers
from ltlpipe.question.conditions import ANY, CONDITIONS, first_obstacle
from ltlpipe.question.options import Options
from ltlpipe.strategies.registry import STRATEGIES, Strategy
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet


def test_strategies_have_columns_of_the_table():
    listed = [s for s in STRATEGIES if isinstance(s, Strategy)]
    assert listed
    for strategy in listed:
        assert {*strategy.columns} <= {*CONDITIONS}


def test_the_defaults_are_in_the_way_of_nothing():
    assert first_obstacle((ANY,), Options(), None) is None


@pytest.mark.parametrize(
    ("reduce", "why"),
    [
        ("components", "reduce= does not name it"),
        (
            "components,ample",
            "reduce= asks for components, which are searched with ample sets then",
        ),
    ],
)
def test_ample_sets_are_used_by_another_strategy_only_if_they_are_named(reduce, why):
    """Without ample in the list components are searched with all steps."""
    network = client_server(2)
    name = network.actions[0].name
    verdict = ltlpipe.check(network, f"G !{name}", reduce=reduce)
    tried = {each.strategy: each.reason for each in verdict.plan.tried}
    assert tried["ample"] == why


@pytest.mark.parametrize(
    "reduction", ["ample", "walks", "components", "subset", "isolated"]
)
def test_a_reduction_is_left_out_of_those_chosen_automatically(reduction):
    """The others stay as they are."""
    network = client_server(3)
    name = network.actions[0].name
    plans = [
        ltlpipe.check(network, f"GF !{name}", reduce=reduce).plan.tried
        for reduce in ("auto", f"auto,-{reduction}")
    ]
    all_of, others = ({t.strategy: t.reason for t in plan} for plan in plans)
    left_out = "reduce= leaves it out"
    assert others[reduction] == left_out != all_of[reduction]
    assert list(others.values()).count(left_out) == 1


def test_names_that_are_left_out():
    """They follow auto, and are those of reductions."""
    options = Options(reduce="auto,-ample,-linear")
    assert options.left_out == ["ample", "linear"]
    assert [options.reduces(n) for n in ("ample", "linear", "walks")] == [0, 0, 1]
    assert not options.insists_on("walks")
    assert not options.named_strategies
    for wrong, message in [
        ("auto,walks", "expected auto, none, a list, or auto,-NAME"),
        ("none,walks", "expected auto, none, a list, or auto,-NAME"),
        ("auto,-magic", "expected one of alphabet"),
        ("-walks", "expected one of alphabet"),
    ]:
        with pytest.raises(ltlpipe.UnsupportedError, match=message):
            Options(reduce=wrong)


def test_a_symmetric_net_is_not_told_that_something_is_for_symmetric_nets():
    net = SymmetricNet(coloured_peers(2))
    with pytest.raises(ltlpipe.UnsupportedError) as refused:
        ltlpipe.check(net, "G true", reduce="symmetry,components")
    assert str(refused.value) == (
        "reduce='symmetry,components' is for networks of LTSs, not for models"
    )
