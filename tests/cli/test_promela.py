"""Promela on the command line: what users of Spin expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltlpipe import check, load
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.systems.networks.exports import to_promela
from ltlpipe.verdict.inquiry import Inquiry

EXAMPLES = Path(__file__).parents[2] / "examples" / "promela"


def heads(out):
    """The verdicts and what they are about."""
    lines = [line for line in out.splitlines() if not line.startswith(" ")]
    return {line.split(": ")[1]: line.split(": ")[0] for line in lines}


def test_a_model_alone_is_asked_its_own_questions(run):
    """Assertions, end states and all formulas, one row each."""
    outcome = run("check", EXAMPLES / "retransmission.pml")
    assert outcome.code == 1
    assert heads(outcome.out) == {
        "assertions": "holds",
        "end states": "holds",
        "order": "holds",
        "arrives": "violated",
    }
    assert "violated: arrives: <> (received == 3)" in outcome.out
    assert "sender[0] retransmission.pml:21: line!data(sent)" in outcome.out
    assert "line: [] -> [data,0]" in outcome.out
    told = run("check", EXAMPLES / "retransmission.pml", "--json").records
    joint = [each.get("together") for each in told]
    assert joint == 3 * [["assertions", "end states", "order"]] + [None]


CALLS = """
byte x;
proctype G(chan done) { done!0 }
active proctype I() { chan c = [1] of { bit }; do :: run G(c); c?0 :: break od }
ltl few { [] (G[1]:done == 1) }
ltl steps { X (x == 0) }
ltl low { [] (x < 2) }
"""


def test_a_formula_that_tells_who_has_ended_is_refused_alone(run, tmp_path):
    """Of a model whose starts wait for ends all others are answered."""
    (tmp_path / "m.pml").write_text(CALLS)
    outcome = run("check", tmp_path / "m.pml")
    assert outcome.code == 2
    assert heads(outcome.out) == {
        "assertions": "holds",
        "end states": "holds",
        "few": "unknown (input-error)",
        "steps": "unknown (unsupported)",
        "low": "holds",
    }


TWO_BAD = """
byte n;
active proctype P() { do :: n < 5 -> n++ :: n == 5 -> break od; assert(n == 4) }
ltl small { [] (n < 4) }
ltl bounded { [] (n <= 5) }
"""


@pytest.fixture
def check_two_bad(run, tmp_path, monkeypatch):
    """Check the model; `stopped` says for which reason an inquiry is stopped, if so."""

    def checked(stopped):
        def verdict(inquiry, limits, progress):
            if (reason := stopped(inquiry)) is not None:
                return inquiry._timed(inquiry._stopped(reason, limits))
            return whole(inquiry, limits, progress)

        whole = Inquiry.verdict
        monkeypatch.setattr(Inquiry, "verdict", verdict)
        (tmp_path / "m.pml").write_text(TWO_BAD)
        return run("check", tmp_path / "m.pml")

    return checked


def test_no_violation_is_lost(check_two_bad):
    """What a search of several invariants shows counts if no other shows it."""
    outcome = check_two_bad(
        lambda inquiry: "timeout" if inquiry.strategies is STRATEGIES else None
    )
    assert outcome.code == 1
    assert heads(outcome.out) == {
        "assertions": "violated",
        "end states": "holds",
        "small": "violated",
        "bounded": "holds",
    }


@pytest.mark.parametrize("asked", [0, 1, 2])
def test_ctrl_c_loses_no_violation(check_two_bad, asked):
    """What is known by then is told, whichever search is interrupted."""
    searches = []

    def stopped(inquiry):
        searches.append(inquiry)
        return None if len(searches) <= asked + 1 else "interrupted"

    outcome = check_two_bad(stopped)
    found = heads(outcome.out)
    assert found["small"] == "violated"
    assert found["assertions"] == "violated"
    assert found["end states"] == ("holds" if asked else "unknown (interrupted)")
    assert outcome.code == 1
    assert len(searches) == asked + 2


@pytest.mark.parametrize(
    ("options", "subjects"),
    [
        ((), ["what the system itself asks"]),
        (("-N", "entry", "-N", "exclusion"), ["entry", "exclusion"]),
        (("--empty",), ["no accepting run"]),
    ],
)
def test_what_was_asked_of_a_model_that_was_not_read(run, options, subjects):
    outcome = run("check", EXAMPLES / "peterson.pml", *options, "--timeout", "0.0001")

    told = [f"unknown (timeout): {subject}   [0.00 s]" for subject in subjects]
    assert outcome.out.splitlines() == told


def test_properties_by_name(run):
    """As pan -N; unknown ones are refused."""
    peterson = EXAMPLES / "peterson.pml"
    outcome = run("check", peterson, "-N", "exclusion", "--property", "assertions")
    assert outcome.code == 0
    assert list(heads(outcome.out)) == ["exclusion", "assertions"]
    outcome = run("check", peterson, "-N", "exclusive")
    assert outcome.code == 2
    assert "no property of the model is called 'exclusive'" in outcome.complaint
    assert "did you mean exclusion?" in outcome.complaint


def test_rows_have_the_names(run, tmp_path):
    """The table and the JSON objects of the formulas, and the texts of the model."""
    table = tmp_path / "rows.csv"
    outcome = run("check", EXAMPLES / "peterson.pml", "--out", table, "--json")
    names = [record["formula_id"] for record in outcome.records]
    assert names == ["assertions", "end states", "exclusion", "entry"]
    assert "[] (wants[0] -> <> P[0]@critical)" in table.read_text()


def test_fairness_and_macros(run):
    """``-D`` as of Spin; ``-f`` of Spin is --fairness weak."""
    philosophers = EXAMPLES / "philosophers.pml"
    outcome = run("check", philosophers, "-D", "N=2", "-f", "G !deadlock")
    assert outcome.code == 1
    assert "philosopher[1]" in outcome.out
    assert "philosopher[2]" not in outcome.out
    peterson = EXAMPLES / "peterson.pml"
    formula = "G(wants[0] -> F P[0]@critical)"
    assert run("check", peterson, "-f", formula).code == 1
    assert run("check", peterson, "-f", formula, "--fairness", "weak").code == 0


def test_deadlocks_and_livelock(run):
    """Invalid end states, and cycles without a progress label."""
    outcome = run("deadlocks", EXAMPLES / "philosophers.pml")
    assert outcome.code == 1
    assert "<stutter>" in outcome.out
    assert run("deadlocks", EXAMPLES / "retransmission.pml").code == 0
    outcome = run("livelock", EXAMPLES / "retransmission.pml")
    assert outcome.code == 1
    assert "timeout" in outcome.out


def test_errors_have_their_place(run, tmp_path):
    """File, line, column, and what was expected; no traceback."""
    file = tmp_path / "m.pml"
    file.write_text("byte x;\ninit {\n\tx = * 1;\n}\n")
    outcome = run("check", file)
    assert outcome.code == 2
    assert "m.pml:3: column 6: unexpected" in outcome.complaint
    file.write_text("byte x;\ninit { c_code { x = 1; } }\n")
    assert "m.pml:2: column 8: embedded C (c_code)" in run("check", file).complaint


@pytest.mark.parametrize("command", ["check", "deadlocks"])
def test_what_is_written_is_read(run, tmp_path, command):
    """A network that was written for Spin."""
    clients = load(EXAMPLES.parent / "factoring" / "clients.dot")
    file = tmp_path / "clients.pml"
    file.write_text(to_promela(clients))
    assert run(command, file).code == 0


def test_others_have_no_questions_of_their_own(run):
    """Then something has to be asked."""
    outcome = run("check", EXAMPLES.parent / "dve" / "peterson.dve")
    assert outcome.code == 2
    assert "expected one of -f FORMULA" in outcome.complaint


def test_charts(run):
    """Processes and channels are the lanes, with arrows for messages."""
    outcome = run("check", EXAMPLES / "retransmission.pml", "-N", "arrives", "--chart")
    first = outcome.out.splitlines()[1]
    assert {"sender[0]", "thief[2]", "line"} <= set(first.split())
    assert "▶ [data,0]" in outcome.out  # from the sender, on the left
    assert "◀ end" in outcome.out  # from the channel, on the right
    lasso = check(load(EXAMPLES / "retransmission.pml"), "F sent==3").lasso
    assert lasso.chart().svg.count('class="arrow"') == 3


def test_rendezvous_in_charts(tmp_path):
    """An arrow from the process that sends to the one that receives."""
    file = tmp_path / "m.pml"
    file.write_text(
        "chan c = [0] of { byte }; byte x;\n"
        "active proctype receiver() { c?x }\nactive proctype sender() { c!1 }\n"
    )
    chart = str(check(load(file), "G x==0").lasso.chart())
    row = chart.splitlines()[2]
    assert row.index("◀") < row.index("◆")  # the sender is on the right
