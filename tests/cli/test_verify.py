"""``verify``, ``check --verify`` and ``check --certificate``: output and exit codes."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltlpipe import LTS, Network, save
from ltlpipe.batch.tasks import Task
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.systems.nets.writing import save_pnml
from tests.report.handmade_stores import make_store, result

ROOT = Path(__file__).parents[2]
MUTEX = ROOT / "examples/problems/mutex/system.dot"


@pytest.fixture
def store(tmp_path, ring):
    """A ring that does a and b in turn: two formulas are violated."""
    file = (str(ring),)
    rows = [
        (Task(file, "G a"), result("violated", [], ["a", "b"])),
        (Task(file, "G b"), result("violated", [], ["a", "b"])),
        (Task(file, "F b"), result()),
    ]
    return make_store(tmp_path / "run.sqlite", rows)


def damage(store):
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE results SET states = 1 WHERE formula = 'F b'")
        db.commit()


def test_a_store(store, run):
    """All lassos are confirmed: 0."""
    outcome = run("verify", store)
    assert outcome.code == 0, outcome.err
    words = [line.split() for line in outcome.out.splitlines()]
    assert ["│", "confirmed", "│", "violated", "│", "2", "│"] in words
    assert ["│", "on-trust", "│", "holds", "│", "1", "│"] in words
    assert run("verify", store, "--quiet").out == ""


def test_a_damaged_row(store, run):
    """1, and a line that names the task."""
    damage(store)
    outcome = run("verify", store, "--quiet")
    assert outcome.code == 1
    assert outcome.out.endswith("F b: the checksum does not match the row\n")
    records = run("verify", store, "--json").records
    assert [r["finding"] for r in records] == ["damaged", "confirmed", "confirmed"]


def test_a_system_that_has_gone(store, ring, run):
    """3: nothing is wrong, and not all is known."""
    moved = ring.parent / "elsewhere"
    moved.mkdir()
    ring.rename(moved / ring.name)
    outcome = run("verify", store, "--quiet")
    assert outcome.code == 3
    assert outcome.out.count("is not there") == 2
    assert run("verify", store, "--system-root", moved).code == 0


def test_no_store(tmp_path, run):
    outcome = run("verify", tmp_path / "nothing")
    assert (outcome.code, outcome.out) == (2, "")
    assert "no such file" in outcome.complaint
    (tmp_path / "file").touch()
    outcome = run("verify", tmp_path / "file" / "nothing")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot be read: Not a directory" in outcome.complaint


def test_a_pipe_is_no_store(tmp_path, run):
    """It is there, so its name is not the mistake."""
    os.mkfifo(tmp_path / "pipe")
    for command in (["verify"], ["report", "--out", tmp_path / "r.html"]):
        outcome = run(*command, tmp_path / "pipe")
        assert (outcome.code, outcome.out) == (2, "")
        assert "is not a regular file" in outcome.complaint


@pytest.fixture
def told(tmp_path, run):
    """A file with the results of some formulas."""
    path = tmp_path / "result.json"
    formulas = [part for text in ("G !enter_l", "G true") for part in ("-f", text)]
    path.write_text(run("check", MUTEX, *formulas, "--json").out)
    return path


def changed(path, **columns):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records[0] |= columns
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_results(told, run):
    """Its own system, or another file of it."""
    outcome = run("check", "--verify", told)
    assert outcome.code == 0, outcome.err
    assert outcome.out == "confirmed: G !enter_l\non-trust: G true\n"
    (first, _) = run("check", MUTEX, "--verify", told, "--json").records
    assert first["finding"] == "confirmed"


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"formula": "G !enter_r"}, "is not a violation"),
        ({"verdict": "holds"}, "'holds' with a lasso"),
        ({"formula": "G !nothing"}, "is called 'nothing'"),
        (
            {"lasso": {"prefix": [], "cycle": ["enter_l"]}},
            "is not a step of the system",
        ),
    ],
)
def test_a_result_that_is_wrong(told, run, columns, why):
    changed(told, **columns)
    outcome = run("check", "--verify", told)
    assert outcome.code == 1
    assert outcome.out.startswith("refuted: ")
    assert why in outcome.out


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"verdict": "hold{"}, "result.json:1: the verdict is 'hold{'"),
        ({"options": []}, "'options' is not a JSON object"),
        ({"options": {"deadlock": "maybe"}}, "--deadlock maybe"),
        ({"options": {"define": [5]}}, "--define [5]: expected texts"),
        ({"options": {"format": []}}, "--format []: expected a text"),
        ({"options": {"constraint": 5}}, "--constraint 5: expected a file's name"),
        ({"system": "nowhere.dot"}, "nowhere.dot"),
        ({"lasso": 7}, "'lasso' is not a JSON object"),
    ],
)
def test_what_is_no_result(told, run, columns, complaint):
    changed(told, **columns)
    outcome = run("check", "--verify", told)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_a_result_says_which_runs_count(ring, tmp_path, run):
    """The options of the question are part of it."""
    path = tmp_path / "result.json"
    ring.write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 1)\n')
    flags = ["--deadlock", "stutter", "--fairness", "weak"]
    path.write_text(run("check", ring, "-f", "GF a", *flags, "--json").out)
    record = json.loads(path.read_text())
    assert record["options"] == {"deadlock": "stutter", "fairness": "weak"}
    assert run("check", "--verify", path).code == 0


def test_a_run_of_a_graph_is_not_checked(ring, tmp_path, run):
    """Its actions do not say which it is; other results of the file are checked."""
    (tmp_path / "k.hoa").write_text(
        'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "p"\nacc-name: all\nAcceptance: 0 t\n'
        "properties: state-labels\n--BODY--\nState: [!0] 0\n0\n--END--\n"
    )
    graph = run(
        *("check", tmp_path / "k.hoa", "--semantics", "state", "-f", "G p", "--json")
    )
    network = run("check", ring, "-f", "G a", "--json")
    (tmp_path / "told.json").write_text(graph.out + network.out)

    outcome = run("check", "--verify", tmp_path / "told.json")

    assert (outcome.code, outcome.err) == (3, "")
    first, second = outcome.out.splitlines()
    assert first.startswith("not-checked: G p: the actions of a lasso do not")
    assert second == "confirmed: G a"


def test_a_result_says_how_a_model_was_read(tmp_path, run):
    """Its macros, folders and processes."""
    model = tmp_path / "m.pml"
    model.write_text(
        "byte x;\nactive proctype P() { do :: x < N -> x++ :: else -> x = 0 od }\n"
    )
    asked = ("-D", "N=2", "-I", tmp_path, "--processes", 3, "--json")
    said = run("check", model, "-f", "G(x < 2)", *asked).out
    result = tmp_path / "r.json"
    result.write_text(said)
    outcome = run("check", "--verify", result)
    assert (outcome.code, outcome.out) == (0, "confirmed: G(x < 2)\n")


def test_nothing_of_a_result_is_run(told, tmp_path, run):
    """A translator in it is none of its options."""
    mark = tmp_path / "it has run"
    changed(told, options={"translator": f"touch '{mark}' %f"})
    assert run("check", "--verify", told).code == 0
    assert not mark.exists()


def test_usage(told, run):
    outcome = run("check", "--verify", told, "-f", "a")
    assert (outcome.code, "--verify FILE has" in outcome.complaint) == (2, True)
    assert run("check").code == 2


def test_a_certificate(ring, tmp_path, run):
    """From the question to the proof, with exit codes."""
    system, path = ring, tmp_path / "ring.cert"
    asked = ["check", str(system), "-f", "G(a -> F b)"]
    outcome = run(*asked, "--certificate", str(path), "--json")
    assert outcome.code == 0
    (record,) = outcome.records
    assert record["certificate"]["states"] == 3
    assert record["certificate"]["bytes"] == path.stat().st_size
    outcome = run("verify", str(path))
    assert outcome.code == 0
    assert outcome.out.startswith("verified: no run of")
    outcome = run("verify", str(path), "--json")
    assert outcome.records[0]["result"] == "verified"
    path.write_bytes(path.read_bytes()[:-1])
    outcome = run("verify", str(path))
    assert (outcome.code, "ends early" in outcome.out) == (1, True)
    outcome = run("verify", str(system))
    assert outcome.code == 2
    assert "neither a result store nor a certificate" in outcome.err


def test_a_certificate_on_conditions(ring, tmp_path, run, monkeypatch):
    """3, and each thing that is taken on trust is named."""
    from ltlpipe.certificates.checking import verification

    path = tmp_path / "ring.cert"
    run("check", str(ring), "-f", "G(a -> F b)", "--certificate", str(path))
    monkeypatch.setattr(verification, "_JUDGING", 0)
    outcome = run("verify", str(path))
    assert (outcome.code, outcome.out.partition(":")[0]) == (3, "conditional")
    assert "  on trust: that the automaton accepts all violations" in outcome.out
    (record,) = run("verify", str(path), "--json").records
    assert (record["result"], len(record["conditions"])) == ("conditional", 1)


def test_a_violation_has_none(ring, tmp_path, run):
    """The lasso is the proof."""
    system, path = ring, tmp_path / "ring.cert"
    outcome = run("check", str(system), "-f", "G a", "--certificate", str(path))
    assert outcome.code == 1
    assert "no certificate" in outcome.err
    assert not path.exists()


def test_one_formula_at_a_time(ring, tmp_path, run):
    """A file holds one certificate."""
    system = ring
    outcome = run(
        *("check", str(system), "-f", "G a", "-f", "F a"),
        *("--certificate", str(tmp_path / "c")),
    )
    assert outcome.code == 2
    assert "--certificate goes with one formula" in outcome.complaint


@pytest.mark.parametrize("character", "\u2028\u2029\x85\x0b\x0c\x1c")
def test_lines_are_those_of_json(tmp_path, run, character):
    """Whatever separates lines elsewhere may stand in a name."""
    file, told = tmp_path / "odd.aut", tmp_path / "told.jsonl"
    file.write_text(f'des (0, 2, 2)\n(0, "a{character}b", 1)\n(1, "c", 0)\n')
    printed = run("check", file, "-f", "G c", "-f", "G !c", "--json")
    told.write_text(printed.out, encoding="utf-8")
    outcome = run("check", "--verify", told, file)
    assert (outcome.code, outcome.out) == (0, "confirmed: G c\nconfirmed: G !c\n")


def test_declared_actions(tmp_path, run):
    """An action that the list of a property declares may be none of the system."""
    folder, store = tmp_path / "problems", tmp_path / "r.sqlite"
    folder.mkdir()
    (folder / "problem1.dot").write_text(
        'digraph { _ [shape=point]; _ -> s0; s0 -> s1 [label="iA"]; '
        's1 -> s0 [label="oX"]; }'
    )
    properties = folder / "problem1-properties.txt"
    properties.write_text("#inputs [A]\n#outputs [X, Z]\n#0:\nF oZ\n#1:\nG oX\n")
    printed = run("check", folder / "problem1.dot", "-F", properties, "--json")
    assert printed.code == 1, printed.err
    assert [each["alphabet"] for each in printed.records] == 2 * [["iA", "oX", "oZ"]]
    told = tmp_path / "told.jsonl"
    told.write_text(printed.out)
    outcome = run("check", "--verify", told)
    assert outcome.out == "confirmed: F oZ\nconfirmed: G oX\n"
    assert run("solve", folder, "--store", store).code == 1
    assert run("verify", store).code == 0
    assert (
        "formula: F oZ"
        in run("simulate", "--plain", folder / "problem1.dot", "--lasso", told).out
    )


def test_a_system_with_a_name_of_its_own(tmp_path, run):
    """The files are told, too."""
    net = tmp_path / "own.pnml"
    save_pnml(coloured_client_server(2, 1), str(net))
    result = tmp_path / "r.json"
    said = run("check", net, "-f", "G(waiting.1 == 0)", "--json")
    assert said.records[0]["files"] == [str(net)]
    result.write_text(said.out)
    outcome = run("check", "--verify", result)
    assert (outcome.code, outcome.out) == (0, "confirmed: G(waiting.1 == 0)\n")


LIVELOCK = ("livelock", "--progress", "b", "--fairness", "weak", "--fair-sets", "a")


@pytest.mark.parametrize("accepting", [False, True])
def test_deadlocks_and_livelocks(tmp_path, run, accepting):
    """They say what they are about; of acceptance the former know nothing."""
    component = LTS.from_transitions(
        [(0, "a", 0), (0, "b", 1)], accepting=[0] if accepting else None
    )
    system, result = tmp_path / "s.hoa", tmp_path / "r.json"
    save(Network([component]), str(system))
    for asked, code in ((("deadlocks",), 3 * accepting), (LIVELOCK, 0)):
        command, *options = asked
        result.write_text(run(command, system, *options, "--json").out)
        outcome = run("check", "--verify", result)
        assert outcome.code == code
        assert outcome.out.startswith("not-checked" if code else "confirmed")
