"""``--translator``: other people's programs, and what they do wrong.

A script around Spot stands for them; `tests/automata/test_external.py` has the calls.
"""

from __future__ import annotations

import signal
import sys
import time

import pytest

from tests.cli.command_line import RING, OnTerminal
from tests.processes import SOON

TRANSLATOR = """
import sys
import spot
kind = sys.argv[1]
print(spot.translate(sys.argv[2], *kind.split("-")).to_str("hoa"))
"""

SLEEPER = """
import time
time.sleep(60)
"""


@pytest.fixture
def translator(tmp_path):
    """Write a script and return the command that runs it."""

    def write(text, arguments="%f"):
        path = tmp_path / "translate it.py"
        path.write_text(text)
        return f"{sys.executable} '{path}' {arguments}"

    return write


@pytest.mark.thorough("runs some thirty translators; other tests run one")
@pytest.mark.parametrize("kind", ["Generic", "Parity", "Buchi-Deterministic", "TGBA"])
@pytest.mark.parametrize(
    "way",
    [
        [],
        ["--acceptance", "ba", "--emptiness", "se05"],
        ["--acceptance", "tfla"],
        ["--emptiness", "rabin"],
        ["--emptiness", "tauriainen03"],
        ["--reduce", "none"],
        ["--fairness", "strong"],
        ["--bitstate", "1", "--no-lasso"],
    ],
    ids=" ".join,
)
def test_verdicts(kind, way, translator, run, ring):
    """Whatever the automaton is, the verdicts are those of the formulas."""
    command = translator(TRANSLATOR, f"{kind} %f")
    answers = {
        "GF a -> GF b": "holds",
        "FG a": "violated",
        "G(a -> X b)": "holds",
        "GF a -> FG b": "violated",
    }
    formulas = [part for text in answers for part in ("-f", text)]
    outcome = run("check", ring, *formulas, "--translator", command, "--json", *way)
    for record in outcome.records:
        expected = answers[record["formula"]]
        if "--bitstate" in way and expected == "holds":
            expected = "unknown"
        assert record["verdict"] == expected, record
    assert len(outcome.records) == len(answers)


def test_a_lasso_is_replayed_with_the_formula(translator, run, ring):
    """A translator that makes up violations is found out."""
    liar = "print('HOA: v1\\nStates: 1\\nStart: 0\\nAP: 0\\nAcceptance: 0 t\\n"
    liar += "--BODY--\\nState: 0\\n[t] 0\\n--END--')"
    outcome = run("check", ring, "-f", "GF a", "--translator", translator(liar))
    assert outcome.code not in (0, 1)
    assert "violated" not in outcome.out
    assert "according to Spot, the word of the lasso is not a violation" in outcome.err


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import sys; sys.exit('no licence')", "failed (1) and printed 'no licence'"),
        ("", "printed no HOA"),
        ("print('HOA: v1')", "printed no HOA"),
        ("print('hello')", "it printed 'hello'"),
    ],
    ids=["fails", "prints nothing", "ends early", "prints something else"],
)
def test_failures(source, complaint, translator, run, ring):
    """The command is named, and what it printed; no verdict."""
    command = translator(source)
    for flags in ([], ["--fairness", "weak"], ["--acceptance", "tela"]):
        outcome = run("check", ring, "-f", "GF a", "--translator", command, *flags)
        assert (outcome.code, outcome.out) == (2, "")
        assert "translate it.py" in outcome.complaint
        assert complaint in outcome.complaint


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["-f", "a", "--translator", "no-such-program %f"], "cannot be run"),
        (["-f", "a", "--translator", "echo"], "where the formula stands (%f)"),
        (["--empty", "--translator", "echo %f"], "--translator requires a formula"),
    ],
)
def test_usage_errors(flags, complaint, run, ring):
    """Commands that cannot be run, and questions without a formula."""
    outcome = run("check", ring, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_a_translator_without_end(translator, run, ring):
    """The timeout ends it, and the verdict is unknown."""
    started = time.monotonic()
    outcome = run(
        "check",
        ring,
        "-f",
        "GF a",
        "--translator",
        translator(SLEEPER),
        "--timeout",
        "0.5",
        "--json",
    )
    assert time.monotonic() - started < SOON
    (record,) = outcome.records
    assert (outcome.code, record["reason"]) == (3, "timeout")
    assert record["plan"]["emptiness"] is None


@pytest.mark.thorough("sends a signal to a program at work")
def test_ctrl_c_in_a_translator(translator, tmp_path):
    """The program that translates ends with ours, which reports what it knows."""
    path = tmp_path / "ring.aut"
    path.write_text(RING)
    mark = tmp_path / "it has begun"
    source = f"open({str(mark)!r}, 'w').close()\n{SLEEPER}"
    question = ["-f", "GF a", "--translator", translator(source), "--json"]
    with OnTerminal("check", path, *question) as run:
        deadline = time.monotonic() + 2 * SOON
        while not mark.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        started = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()
    assert time.monotonic() - started < SOON
    (record,) = outcome.records
    assert (outcome.code, record["reason"]) == (3, "interrupted")
