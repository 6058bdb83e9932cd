"""The command that says what a file holds, and conversions of models and graphs."""

import time

import pytest

from ltlpipe import Simulation, load
from ltlpipe.simulation.session import overview

KRIPKE = """HOA: v1
States: 2
Start: 0
AP: 2 "p" "q"
Acceptance: 0 t
--BODY--
State: [0&1] 0
1
State: [!0&1] 1
0
--END--
"""


def test_a_network(run, ring):
    outcome = run("info", ring)

    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["system", str(ring)]
    assert lines[1].split() == ["LTS", "1", "component,", "2", "actions"]
    assert "actions         a (ring.aut)" in lines
    assert "states          2 reachable; no deadlock" in lines
    assert lines[-5:] == [
        "for example     G F a",
        *(" " * 16 + text for text in ["G (a -> F b)", "!b W a", "F G !a", "a R !b"]),
    ]


def test_what_is_printed_can_be_asked(run, ring):
    formulas = run("info", ring, "--json").records[0]["formulas"]

    for text in formulas:
        assert run("check", ring, "-f", text).code in (0, 1)


def test_a_model_with_a_deadlock(run, tmp_path):
    path = tmp_path / "m.dve"
    path.write_text(
        "byte x; process P { state a, b; init a; trans a -> b { effect x = 1; }; }"
        " system async;"
    )
    outcome = run("info", path)

    assert "DVE model       1 process, 2 variables, 1 action\n" in outcome.out
    assert "2 reachable; a deadlock after 1 step\n" in outcome.out
    assert 'G F (P == "a")' in outcome.out


def test_long_lists_are_cut(run, tmp_path):
    path = tmp_path / "m.aut"
    rows = "".join(f'(0, "a{k}", 0)\n' for k in range(40))
    path.write_text(f"des (0, 40, 1)\n{rows}")

    assert "... and 28 more\n" in run("info", path).out


def test_options_for_reading(run, ring, tmp_path):
    dot, hoa = tmp_path / "m.dot", tmp_path / "m.hoa"
    dot.write_text('digraph { a -> b [label="x / y"] }')
    hoa.write_text(KRIPKE)

    assert run("info", dot).code == 2
    assert "--initial NODE names the initial state" in run("info", dot).complaint
    told = run("info", dot, "--initial", "a", "--mealy", "steps", "--json").records[0]
    assert (told["n_states"], told["deadlock"], sorted(told["actions"])) == (
        *(3, 2),
        ["x", "y"],
    )
    assert "Kripke structure" in run("info", hoa, "--semantics", "state").out
    assert run("check", dot, "-f", "F y", "--initial", "a").code == 2
    manner = ["--initial", "a", "--mealy", "steps", "--deadlock", "stutter"]
    assert run("check", dot, "-f", "F y", *manner).code == 0
    assert "is for drawings in dot" in run("info", ring, "--initial", "a").complaint


def test_a_kripke_structure_in_other_commands(run, tmp_path):
    """Simulated, searched for deadlocks, compared and solved as the file that it is."""
    path = tmp_path / "k.hoa"
    path.write_text(KRIPKE)
    state = ["--semantics", "state"]
    simulation = Simulation(path, semantics="state").step("0 -> 1")
    assert simulation.accepting == ()
    assert "1 -> 0" in overview(simulation)
    assert run("deadlocks", path, *state).code == 0
    assert run("compare", path, *state, "-f", "G F p", "--emptiness", "se05").code == 0
    table = tmp_path / "t.csv"
    table.write_text(f"system,formula,semantics\n{path},G q,state\n{path},G p,state\n")
    rows = run("solve", table, "--out", tmp_path / "r.csv", "--json").records
    assert [row["verdict"] for row in rows] == ["holds", "violated"]


def test_files_of_other_tools(run, tmp_path):
    for suffix, converter in (
        (".lts", "ltsconvert m.lts m.aut"),
        (".bcg", "bcg_io"),
        (".ndr", "ndrio m.ndr m.pnml"),
        (".xml", "--format pnml"),
    ):
        path = tmp_path / f"m{suffix}"
        path.write_bytes(b"\0")
        outcome = run("check", path, "-f", "G a")
        assert outcome.code == 2
        assert converter in outcome.complaint


def test_convert_states_of_a_model(run, tmp_path):
    model, hoa, pnml = (tmp_path / name for name in ("m.dve", "m.hoa", "m.pnml"))
    model.write_text(
        "byte x; process P { state a, b; init a; trans a -> b { effect x = 1; }, "
        "b -> a { effect x = 0; }; } system async;"
    )
    refused = run("convert", model, hoa)
    assert (refused.code, hoa.exists()) == (2, False)
    assert "would lose all that --propositions does not name" in refused.complaint
    assert run("convert", model, pnml).code == 2
    few = run("convert", model, hoa, "--propositions", "x==1", "--max-states", 1)
    assert (few.code, hoa.exists()) == (2, False)
    assert "more than 1 state: --max-states" in few.complaint
    assert run("convert", model, hoa, "--propositions", "x==1").code == 0
    assert load(hoa, semantics="state").propositions == ("x==1",)
    question = ["--semantics", "state", "-f", 'G F "x==1"']
    assert run("check", hoa, *question).code == 0


@pytest.mark.parametrize("name", ["m.dot", "m.aut", "m.pnml", "m.pml"])
def test_convert_a_kripke_structure_to_what_cannot_hold_it(name, run, tmp_path):
    path = tmp_path / "k.hoa"
    path.write_text(KRIPKE)
    outcome = run("convert", path, tmp_path / name, "--semantics", "state")

    assert outcome.code == 2
    assert "would lose propositions that hold together" in outcome.complaint


def test_a_count_says_what_it_leaves_out(run, tmp_path):
    (tmp_path / "m.pml").write_text(
        "proctype F(chan c) { c!1 }\n"
        "init { chan c = [1] of { bit }; do :: run F(c); c?_ :: break od }\n"
    )
    outcome = run("info", tmp_path / "m.pml", "--count")
    assert outcome.code == 0
    assert outcome.out.startswith("8 states")
    assert "processes that have ended leave before others" in outcome.err


def test_counting(run, tmp_path):
    """Of a Promela model the states that Spin stores; a limit is told as such."""
    path = tmp_path / "m.pml"
    path.write_text("byte x; init { do :: x < N -> x++ :: else -> break od }")
    counted = run("info", path, "-D", "N=2", "--count", "--json")
    assert counted.records == [{"system": str(path), "states": 7, "transitions": 7}]
    limited = run("info", path, "-D", "N=9", "--count", "--max-states", 3)
    assert limited.code == 3
    assert "not counted" in limited.out
    told = run("info", path, "-D", "N=2", "--json").records[0]
    assert told["kind"] == "Promela model"
    for formula in told["formulas"]:
        assert run("check", path, "-D", "N=2", "-f", formula).code in (0, 1)


@pytest.mark.parametrize("more", [[], ["--count"]])
def test_reading_ends_with_the_time(run, tmp_path, more):
    """Some seconds of reading are cut, and the reason is told."""
    path = tmp_path / "m.aut"
    edges = "".join(f'({k % 9999}, "a{k % 7}", {k})\n' for k in range(300_000))
    path.write_text(f"des (0, 300000, 300000)\n{edges}")
    began = time.monotonic()
    outcome = run("info", path, "--timeout", 0.05, *more)
    assert (outcome.code, outcome.err) == (3, "")
    assert outcome.out.endswith(" (timeout)\n")
    assert run("info", path, *more, "--timeout", 60).code == 0
    assert time.monotonic() - began < 60
