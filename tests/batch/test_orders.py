"""Tasks and answers as data: what arrives is what was sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.batch.answering import (
    Answer,
    Expected,
    Systems,
    answer_to_dict,
    network_from_data,
    task_from_dict,
)
from ltlpipe.batch.pool import Orders, category_of, network_to_data
from ltlpipe.batch.tasks import AutomatonFile, Digests, Task, network_digest
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import FormulaError, InputError, LtlpipeWarning
from ltlpipe.runtime.wire import packed, unpacked
from tests.batch.faults import RING

ODD = LTS.from_transitions(
    [(0, "$", 1), (1, "\udcff", 0)], internal=["$"], accepting=[1], name="odd"
)


def travelled(task):
    order = Orders([task], {}, run="").order(0, None)
    return task_from_dict(unpacked(packed(order))["task"], Systems())


@pytest.mark.parametrize(
    "asked",
    [
        "G(a -> F b)",
        "G(",
        parse("a WU b", file="x/f.ltl", line=3),
        parse("G(a -> Y b)", past=True),
        parse("F X[!] a", finite=True),
        parse('P_1 == "CS" -> F (x + y <= 3)'),
        AutomatonFile("a.hoa", "t.csv", 7, "first"),
    ],
    ids=str,
)
def test_questions(asked):
    assert travelled(Task(("a.aut", "\udcff.aut"), asked)) == Task(
        ("a.aut", "\udcff.aut"), asked
    )


@pytest.mark.parametrize(
    "error",
    [
        FormulaError("bad", formula="G(", position=2, file="f.ltl", line=4),
        InputError("none", file="f.ltl"),
    ],
)
def test_questions_that_could_not_be_read(error):
    found = travelled(Task(("a.aut",), error)).formula

    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


@pytest.mark.parametrize("network", [RING, Network([ODD, RING.components[0]], "two")])
def test_networks(network):
    found = network_from_data(unpacked(packed(network_to_data(network))))

    assert found == network
    assert found.name == network.name
    assert [c.name for c in found.components] == [c.name for c in network.components]
    assert [c.src.dtype for c in found.components] == [
        c.src.dtype for c in network.components
    ]


def test_a_network_that_is_there_is_not_read_again():
    tasks = [Task(RING, "G a"), Task(Network(RING.components, "other"), "G b")]
    orders, systems = Orders(tasks, {}, run=""), Systems()

    one, two = (
        task_from_dict(orders.order(number, None)["task"], systems) for number in (0, 1)
    )

    assert one.system is two.system


def test_answers():
    """A plan comes back whole, an error with its kind, digests as they were."""
    verdict = check(RING, "F a")
    error = UnsupportedError("use something else")
    row = {"verdict": "holds", "states": 2, "ltlpipe_version": "1"}
    warned = (("so", "LtlpipeWarning"),)
    answer = Answer(row, verdict.plan, error, warned)

    data = unpacked(packed(answer_to_dict(answer)))
    orders = Orders([Task((), "G a"), Task(RING, "F a")], {}, run="")
    found = orders.answered(1, data)

    assert found.plan == verdict.plan
    assert found.plan.tried == verdict.plan.tried
    assert found.plan.reasons == verdict.plan.reasons
    assert repr(found.error) == repr(error)
    assert found.warned == warned
    assert found.row["task"] == 1
    assert found.row["system"] == "ring"
    assert json.dumps(found.row)
    expected = Expected(("a", "b"), ("formula", "F a"))
    assert orders.order(0, expected)["expected"] == list(expected)


def test_categories():
    assert category_of("LtlpipeWarning") is LtlpipeWarning
    assert category_of("RuntimeWarning") is RuntimeWarning
    assert category_of("print") is category_of("Strange") is UserWarning


def test_names_travel_and_are_no_content():
    named = replace(RING.components[0], name="P", state_names=("idle", "busy"))
    (found,) = network_from_data(network_to_data(Network([named]))).components

    assert (found.name, found.state_names) == ("P", ("idle", "busy"))
    plain = Network([RING.components[0]])
    assert network_digest(Network([named])) == network_digest(plain)


def test_a_constraint_that_has_changed(tmp_path):
    """It is not that by which the task is known."""
    constraint = tmp_path / "c.hoa"
    constraint.write_text("HOA: v1\n")
    digests, options = Digests(), {"constraint": str(constraint)}
    orders = Orders([Task(("a.aut",), "G a")], options, run="")
    known = digests.automaton(str(constraint))
    expected = Expected((), ("formula", "G a"), known)
    sent = orders.order(0, expected)["options"]["constraint"]
    assert sent == "HOA: v1\n"
    constraint.write_text("HOA: v1.1\n")
    with pytest.raises(InputError, match="changed after the run had begun"):
        orders.order(0, expected)
