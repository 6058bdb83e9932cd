"""Formats that people bring: standard input, formats by name, the contest's answers."""

from __future__ import annotations

import io
import json
import subprocess

import pytest

import ltlpipe
from tests.cli.command_line import PROGRAM, RING, program
from tests.cli.test_models import ring

DOT = 'digraph { s -> 0 [label=""] 0 -> 1 [label=a] 1 -> 0 [label=b] }\n'
DECLARING = """\
HOA: v1 name: "sender" States: 1 Start: 0 AP: 2 "a" "b" Acceptance: 0 t
--BODY-- State: 0 "idle" [0] 0 --END--
"""


def fed(text, *args):
    return program(*args, input=text)


@pytest.mark.thorough("runs a dozen programs; one more stays")
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["check", "-", "-f", "GFa"], 0),
        (["compare", "-", "-f", "GFa", "--emptiness", "se05", "--json"], 0),
        (["livelock", "-", "--progress", "a"], 0),
        (["deadlocks", "-"], 0),
        (["reduce", "-", "-o", "-", "--to", "aut"], 0),
        (["convert", "-", "-", "--to", "hoa"], 0),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
@pytest.mark.parametrize("form", [[], ["--format", "dot"]], ids=["told", "named"])
def test_every_command_reads_standard_input(args, code, form):
    done = fed(DOT, *args, *form)

    assert (done.code, done.err) == (code, "")
    assert done.out


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_model_from_standard_input():
    model = "process P { state s; init s; trans s -> s {}; }\nsystem async;\n"

    assert fed(model, "compile", "-", "--format", "dve", "--show").code == 0
    assert fed(model, "compile", "-", "--show").code == 0
    assert fed(model, "check", "-", "-f", "G P==s").code == 0
    assert "expected a DVE or Promela model" in fed(RING, "compile", "-").err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--format", "aut"], "error: -:1: expected 'des (INITIAL, "),
        (["--format", "pnml"], "error: -:1: no XML"),
        (
            ["--format", "x"],
            "--format x: expected dot, aut, hoa, dve, c, java,",
        ),
        (["--alphabet", "declared"], "-: declares no alphabet"),
        (["--alphabet", "own"], "--alphabet own: expected one of used, declared"),
    ],
)
def test_a_wrong_format_is_an_error(args, message):
    done = fed(DOT, "check", "-", "-f", "GFa", *args)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_from_pipe_to_pipe():
    """What `convert` prints is UTF-8, whatever the terminal takes; names survive."""
    text = DOT.replace("a]", '"é"]').replace("0 ", "idle ")
    command = [*PROGRAM, "convert", "-", "-", "--to", "dot"]
    done = subprocess.run(
        command,
        input=text.encode(),
        capture_output=True,
        check=True,
        env={
            "PYTHONIOENCODING": "ascii",
            "PYTHONPATH": ":".join(__import__("sys").path),
        },
    )

    before, after = (ltlpipe.load(io.BytesIO(t)) for t in (text.encode(), done.stdout))
    assert after == before
    assert after.components[0].state_names == ("idle", "1")


def test_internal_labels_by_the_name_that_a_tool_has(run, tmp_path):
    path = tmp_path / "m.aut"
    path.write_text('des (0, 2, 1)\n(0, "tau", 0)\n(0, a, 0)\n')

    assert run("convert", path, "-", "--to", "aut", "--internal", "i").out == (
        'des (0, 2, 1)\n(0, i, 0)\n(0, "a", 0)\n'
    )
    assert (
        "--internal tau is for .aut files"
        in run("convert", path, "-", "--to", "dot", "--internal", "tau").err
    )


def test_a_declared_alphabet_forbids(run, tmp_path):
    """`b` needs both components: the first declares it and never takes it."""
    (tmp_path / "m.hoa").write_text(DECLARING)
    (tmp_path / "n.aut").write_text("des (0, 2, 1)\n(0, a, 0)\n(0, b, 0)\n")
    files = [tmp_path / "m.hoa", tmp_path / "n.aut"]

    assert run("check", *files, "-f", "G!b").code == 1
    assert run("check", *files, "-f", "G!b", "--alphabet", "declared").code == 0
    found = run("compare", *files, "-f", "G!b", "--alphabet", "declared", "--json")
    assert {row["verdict"] for row in found.records} == {"holds"}
    livelock = run("livelock", *files, "--progress", "a", "--alphabet", "declared")
    assert livelock.code == 0


PROPERTIES = """<property-set xmlns="http://mcc.lip6.fr/">
<property><id>Ring-PT-5-LTLCardinality-00</id><formula><all-paths><globally>
<integer-le><tokens-count><place>p0</place><place>{}</place></tokens-count>
<integer-constant>1</integer-constant></integer-le></globally></all-paths></formula>
</property>
<property><id>Ring-PT-5-LTLCardinality-01</id><formula><all-paths><next>
<is-fireable><transition>t0</transition></is-fireable></next></all-paths></formula>
</property>
<property><id>Ring-PT-5-LTLCardinality-02</id><formula><all-paths><finally>
<is-fireable><transition>t4</transition></is-fireable></finally></all-paths></formula>
</property>
</property-set>
"""


@pytest.fixture
def contest(tmp_path):
    """A folder as the contest has it."""
    (tmp_path / "model.pnml").write_text(ring(5))
    (tmp_path / "LTLCardinality.xml").write_text(PROPERTIES.format("p1"))
    (tmp_path / "CTLCardinality.xml").write_text("<property-set/>")
    return tmp_path


NAMES = [f"Ring-PT-5-LTLCardinality-{k:02}" for k in range(3)]


def test_properties_of_the_contest(run, contest):
    files = [contest / "model.pnml", "-F", contest / "LTLCardinality.xml"]

    done = run("check", *files, "--json")

    assert done.code == 1
    assert [r["verdict"] for r in done.records] == ["holds", "violated", "holds"]
    lines = run("check", *files).out.splitlines()
    assert lines[0].startswith(f"holds: {NAMES[0]}: G (p0+p1<=1) ")


def test_answers_of_the_contest(run, contest):
    files = [contest / "model.pnml", "-F", contest / "LTLCardinality.xml"]

    done = run("check", *files, "--answers", "mcc", "--reduce", "none")

    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"FORMULA {name} {answer} TECHNIQUES SEQUENTIAL_PROCESSING EXPLICIT"
        for name, answer in zip(NAMES, ["TRUE", "FALSE", "TRUE"], strict=True)
    ]


def test_a_folder_of_the_contest(run, contest):
    """Each formula has its line; of a net that cannot be read as well."""
    done = run("solve", contest, "--quiet")

    assert done.code == 1
    lines = done.out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["FORMULA", name, answer]
        for name, answer in zip(NAMES, ["TRUE", "FALSE", "TRUE"], strict=True)
    ]
    (contest / "model.pnml").write_text("<pnml/>")
    done = run("solve", contest, "--quiet")
    assert done.code == 2
    assert [line.split()[:3] for line in done.out.splitlines()] == [
        ["FORMULA", name, "CANNOT_COMPUTE"] for name in NAMES
    ]


@pytest.mark.parametrize(
    "formula",
    [
        "GF fireable(t0)",
        "G !deadlock",
        'F (action=="t0" || action=="t1" || action=="t2")',
        'G "p0<=1 && !deadlock"',
    ],
)
def test_a_net_is_reduced(run, contest, formula):
    """What is left of it does the same as to the formula that is printed."""
    small = contest / "small.pnml"
    done = run("reduce", contest / "model.pnml", "-f", formula, "-o", small)

    assert done.code == 0
    assert "5 places, 5 transitions -> " in done.err
    asked = done.out.strip()
    assert run("check", small, "-f", asked).code == 0
    assert run("check", small, "-f", f"!({asked})").code == 1


def test_a_reduced_net_is_written_as_what_is_asked_for(run, contest):
    """It is PNML under no other name; on standard output it stands alone."""
    reduce = ["reduce", contest / "model.pnml", "-f", "G p0<=1"]
    refused = run(*reduce, "-o", contest / "small.dot")
    assert refused.code == 2
    assert "a .dot file would lose what formulas can say" in refused.complaint
    assert "write .pnml, or .hoa" in refused.complaint
    assert not (contest / "small.dot").exists()
    refused = run(*reduce, "-o", contest / "small.pnml", "--equivalence", "block")
    assert "--equivalence does not go with --formula" in refused.complaint
    done = run(*reduce, "-o", "-", "--to", "pnml")
    assert done.out.endswith("</pnml>\n")
    assert "p0" in done.err.splitlines()[-1]


def test_no_answer_of_the_contest(run, contest):
    files = [contest / "model.pnml", "-F", contest / "LTLCardinality.xml"]
    limits = ["--reduce", "none", "--emptiness", "se05", "--max-states", "1"]

    done = run("check", *files, "--answers", "mcc", *limits)

    assert f"FORMULA {NAMES[0]} CANNOT_COMPUTE TECHNIQUES " in done.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-f", "Ga", "--answers", "rers"], "'rers', expected mcc"),
        (["-f", "Ga", "--answers", "mcc", "--json"], "without --json"),
        (["--empty", "--answers", "mcc"], "goes with -f or -F"),
    ],
)
def test_answers_that_there_are_not(args, message, run, contest):
    done = run("check", contest / "model.pnml", *args)

    assert done.code == 2
    assert message in done.complaint


def test_properties_of_another_net(run, contest):
    """The message names the file and the property."""
    path = contest / "other.xml"
    path.write_text(PROPERTIES.format("q7"))

    done = run("check", contest / "model.pnml", "-F", path)

    assert done.code == 2
    wrong = f"  {path}:2: {NAMES[0]}: nothing in the system is called 'q7'"
    assert wrong in done.out
    assert f"holds: {NAMES[2]}" in done.out


def test_a_folder_of_the_contest_is_a_problem(contest):
    table = ltlpipe.solve(contest)

    assert table["formula_id"].tolist() == NAMES
    assert table["verdict"].tolist() == ["holds", "violated", "holds"]


def test_states_of_a_process_by_their_bare_names(run, tmp_path):
    """BEEM's formulas are written so, also where two processes share the name."""
    process = (
        "process {} {{ state idle, q_in_2; init idle; trans idle -> q_in_2 {{}}; }}\n"
    )
    path = tmp_path / "m.dve"
    path.write_text(process.format("NR") + process.format("SN") + "system async;\n")

    done = run("check", path, "-f", "F NR==q_in_2", "-f", "G SN==idle", "--json")

    assert [r["verdict"] for r in done.records] == ["holds", "violated"]
    assert json.loads(done.out.splitlines()[0])["formula"] == "F NR==q_in_2"
    assert (
        "no value of NR is called 'q_in'" in run("check", path, "-f", "G NR==q_in").err
    )


def test_properties_of_the_contest_without_a_net(tmp_path, run):
    """A file is no formula: there is no line for it, and the error is told."""
    (tmp_path / "LTLCardinality.xml").write_text("<property-set/>")
    outcome = run("solve", tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert "LTLCardinality.xml: formulas without model.pnml beside" in outcome.err
    outcome = run("solve", tmp_path, "--out", tmp_path / "t.csv", "--quiet")
    assert (outcome.code, outcome.out) == (2, "")
