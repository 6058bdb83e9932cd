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


def test_a_symmetric_net_is_not_told_that_something_is_for_symmetric_nets():
    net = SymmetricNet(coloured_peers(2))
    with pytest.raises(ltlpipe.UnsupportedError) as refused:
        ltlpipe.check(net, "G true", reduce="symmetry,components")
    assert str(refused.value) == (
        "reduce='symmetry,components' is for networks of LTSs, not for models"
    )
