"""`ltlpipe simulate`: lines of standard input, and a real terminal."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ltlpipe
from tests.cli.command_line import OnTerminal, plain, program

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "simulate.md"
MUTEX = ROOT / "examples" / "problems" / "mutex" / "system.dot"
PETERSON = ROOT / "examples" / "dve" / "peterson.dve"
NET = ROOT / "examples" / "pnml" / "token-ring-5.pnml"
UNFAIR = "G(ask_l -> F enter_l)"

HOSTILE = "[red]x[/red]\x1b[31m\n<script>\u202e\"'é☃"


def talk(*args, lines=""):
    return program("simulate", *args, input=lines, errors="surrogateescape")


@pytest.fixture
def lasso(tmp_path):
    """A file with what `check --json` prints of a counterexample."""
    path = tmp_path / "result.json"
    outcome = program("check", MUTEX, "-f", "1", "-f", UNFAIR, "--json")
    path.write_text(outcome.out)
    return path


@pytest.fixture
def hostile(tmp_path):
    """A file whose actions, components and states have hostile names."""
    path = tmp_path / "hostile.dot"
    part = ltlpipe.LTS.from_transitions(
        [(0, HOSTILE, 1), (1, "undo", 0), (1, "3", 0)], name=HOSTILE
    )
    network = ltlpipe.Network([part, ltlpipe.LTS.from_transitions([(0, "undo", 0)])])
    ltlpipe.save(network, path)
    return path


def test_steps_by_number_and_by_name():
    """The state and the enabled steps after each, on standard output."""
    outcome = talk(
        MUTEX, "-f", UNFAIR, lines="1\nask_r\n\n# a comment\nundo\nquit\n1\n"
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert "step 1: ask_l  cluster_left: idle_l -> waiting_l" in outcome.out
    states = re.findall(r"^after .*", outcome.out, re.M)
    assert [line.split(":")[0] for line in states] == [
        "after 0 steps",
        "after 1 step",
        "after 2 steps",
        "after 1 step",
    ]
    assert "left: Fenter_l & G(ask_l -> Fenter_l)" in outcome.out
    assert outcome.out.endswith("> quit\n")


@pytest.mark.thorough("starts, watches or kills other processes")
def test_the_end_of_the_input_is_no_error():
    """Neither is an empty one, nor a last line without an end."""
    for lines in ("", "1", "1\n"):
        assert talk(MUTEX, lines=lines).code == 0


def test_bad_commands_do_not_end_it():
    """Each has a message with its line, and changes nothing."""
    bad = {
        "nope": "nope is neither a command nor an enabled step",
        "ask_x": "did you mean ask_r or ask_l",
        "9": "no enabled step has the number 9: 1 to 2",
        "0": "no enabled step has the number 0",
        "undo": "1 steps cannot be undone: there are 0",
        "undo x": "undo: expected a number, not x",
        "redo": "0 have been undone",
        "next": "there is no lasso to follow: add one with --lasso",
        "rejoin": "there is no lasso",
        "goto": "goto: expected the number of a state, or NAME=VALUE",
        "goto 7": "no state after 7 steps",
        "goto 99999999999999999999": "expected a number",
        'goto "x': "goto: No closing quotation",
        "goto nothing=1": "no component 'nothing'",
        "goto cluster_lock=lost": "no such state can be reached",
        "random -1": "random: expected a number",
        "random 1 2 3": "random: expected a number of steps, and a seed",
        "left": "there is no formula: add one with -f",
        "step": "step: expected an action",
        "save": "save: expected a file",
        "save /": "cannot be written",
        "help me": "help: expected nothing after it",
        "\udcff": "neither a command",
    }
    lines = "\n".join(bad)
    outcome = talk(MUTEX, lines=f"{lines}\nstate\n")
    assert outcome.code == 0
    errors = re.findall(r"^error: line (\d+): (.*)", outcome.err, re.M)
    assert [int(number) for number, _ in errors] == [*range(1, len(bad) + 1)]
    for (_, said), expected in zip(errors, bad.values(), strict=True):
        assert expected in said
    assert outcome.out.endswith(
        "cluster_left=idle_l\ncluster_right=idle_r\ncluster_lock=free\n"
    )
    assert outcome.out.count("after ") == 1


@pytest.mark.thorough("starts, watches or kills other processes")
def test_models_and_nets():
    """Their variables, and states of processes by name."""
    outcome = talk(PETERSON, "-f", "G !P_0.critical", lines="goto P_0=critical\n1\n")
    assert outcome.code == 0
    assert "steps to the nearest such state" in outcome.out
    assert "P_0=critical" in outcome.out
    assert re.search(r"violated by the first \d steps: no continuation", outcome.out)
    outcome = talk(NET, lines="ask0\nrandom 20 1\nhistory\n")
    assert (outcome.code, outcome.err) == (0, "")
    assert "20 steps at random" in outcome.out
    assert "\n  21    " in outcome.out


@pytest.mark.thorough("starts, watches or kills other processes")
def test_along_a_lasso(lasso):
    """The formula is that of the lasso; what it does next is marked."""
    lines = "next 2\nenter_l\nnext\nrejoin\nnext 5\nstate\n"
    outcome = talk(MUTEX, "--lasso", lasso, lines=lines)
    assert outcome.code == 0
    assert f"formula: {UNFAIR}" in outcome.out
    assert "lasso: 1 step, then 3 for ever" in outcome.out
    assert "\n   1 >* ask_l " in outcome.out
    assert "off the lasso since step 3" in outcome.out
    assert outcome.err.count("error") == 1
    assert "error: line 3: the run has left the lasso after step 2" in outcome.err
    assert "after 7 steps" in outcome.out
    # Of a safety formula the bad prefix is known beforehand.
    told = ltlpipe.check(MUTEX, "G !enter_r").to_dict()
    lasso.write_text(json.dumps(told))
    outcome = talk(MUTEX, "--lasso", lasso)
    bad = told["lasso"]["bad_prefix"]
    assert f"violated by the first {bad} steps of the lasso" in outcome.out


@pytest.mark.thorough("starts, watches or kills other processes")
def test_saved_runs(tmp_path):
    """They are lassos for the next time."""
    file = tmp_path / "a run.json"
    outcome = talk(MUTEX, "--seed", 3, lines=f'random 9\nsave "{file}"\n')
    assert outcome.code == 0
    (record,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(record["lasso"]["steps"]) == 9
    again = talk(MUTEX, "--lasso", file, lines="next 9\nnext\n")
    assert "the lasso ends here, after 9 steps" in again.err
    assert "on the lasso" in again.out


def test_names_that_would_mislead(hostile):
    """Nothing in them reaches the terminal as a control, and they can be typed."""
    quoted = json.dumps(HOSTILE)
    lines = ["1", "2", f"step {quoted}", "step undo", f"step {quoted}", "step 3"]
    lines += ["step 3", "undo"]
    outcome = talk(hostile, lines="\n".join(lines))
    assert "\x1b" not in outcome.out + outcome.err
    assert "\u202e" not in outcome.out + outcome.err
    taken = re.findall(r"^step \d: (\S+)", outcome.out, re.M)
    first = (
        json.dumps(HOSTILE, ensure_ascii=False).split()[0].replace("\u202e", "\\u202e")
    )
    assert taken == [first, "3", first, "undo", first, "3"]
    assert outcome.err.startswith("error: line 7: no enabled step is called '3'")
    assert outcome.out.count("after 5 steps") == 2


@pytest.mark.thorough("starts, watches or kills other processes")
def test_deadlocks(tmp_path):
    """They say so; with --deadlock=stutter the state repeats itself."""
    file = tmp_path / "end.aut"
    file.write_text('des (0, 1, 2)\n(0, "a", 1)\n')
    outcome = talk(file, lines="a\nrandom 3\n")
    assert outcome.out.count("deadlock: the state has no successors\n") == 2
    assert "0 steps at random, then a deadlock" in outcome.out
    outcome = talk(file, "--deadlock", "stutter", lines="a\nrandom 3\n")
    assert "no successors, and repeats itself for ever" in outcome.out
    assert "3 steps at random\n" in outcome.out


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.dot"], "nowhere.dot: cannot be read"),
        ([MUTEX, "--lasso", "nowhere.json"], "nowhere.json: cannot be read"),
        ([MUTEX, "--lasso", MUTEX], "no JSON"),
        ([MUTEX, "-f", "G("], "formula"),
        ([MUTEX, "-f", "F ask_x"], "did you mean"),
        ([MUTEX, "--semantics", "state"], "--semantics state"),
        ([PETERSON, "-f", "F P_0.nowhere"], "P_0.nowhere"),
        ([MUTEX, "--lasso", "-"], "- is standard input, which holds the commands"),
        (["-"], "- is standard input, which holds the commands"),
        ([MUTEX, "--timeout", "3"], "no such option"),
    ],
)
def test_bad_input(args, message):
    """Exit code 2 and one message."""
    outcome = talk(*args)
    assert outcome.code == 2
    assert message in outcome.complaint
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_lasso_of_another_system(lasso):
    """Says which step is none of the system."""
    outcome = talk(PETERSON, "-f", "1", "--lasso", lasso)
    assert outcome.code == 2
    assert "step 1 of the lasso, 'ask_l', is not a step of the system" in outcome.err


def test_help_loads_nothing():
    """Neither does a simulation that is no application load textual."""
    code = (
        "import sys; from ltlpipe.cli import main\n"
        "try: main()\n"
        "finally: print(*(m for m in ('textual', 'rich.text', 'spot', 'numba')"
        " if m in sys.modules), file=sys.stderr)"
    )
    for args, heavy in (
        (["--help"], {"spot", "numba", "textual"}),
        (["simulate", str(MUTEX)], {"numba", "textual"}),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            capture_output=True,
            text=True,
            check=True,
            input="1\n",
        )
        assert not heavy & {*done.stderr.split()}


@pytest.mark.thorough("presses keys on a terminal")
@pytest.mark.parametrize(
    "way", ["q", "\x03", "\x11", ":quit\r", signal.SIGINT, signal.SIGTERM]
)
def test_on_a_terminal(way, lasso):
    """It shows the application, and leaves the terminal as it was."""
    with OnTerminal(
        "simulate", MUTEX, "--lasso", lasso, stdout="terminal", stdin="terminal"
    ) as terminal:
        before = terminal.modes
        terminal.wait_for("enabled steps")
        terminal.type("n")
        terminal.wait_for("after 1 step")
        assert terminal.modes != before
        if isinstance(way, str):
            for key in way:
                terminal.type(key)
        else:
            terminal.process.send_signal(way)
        terminal.process.wait(20)
        assert terminal.modes == before
        outcome = terminal.end()
    assert outcome.code == 0
    left, shown = (outcome.err.rindex(code) for code in ("\x1b[?1049l", "\x1b[?25h"))
    assert min(left, shown) > outcome.err.rindex("\x1b[?1049h")
    assert "Traceback" not in outcome.err


def test_lines_on_a_terminal():
    """With a prompt; the end of the input ends it."""
    with OnTerminal(
        "simulate", MUTEX, "--plain", stdout="terminal", stdin="terminal"
    ) as terminal:
        terminal.wait_for("> ")
        terminal.type("ask_l\nnope\n")
        terminal.wait_for("error: nope is neither a command")
        assert "after 1 step" in plain(terminal.seen)
        terminal.type("\x04")
        assert terminal.end().code == 0


def test_a_terminal_without_textual(monkeypatch, run):
    """What the extra `tui` installs is missing: there are lines, and a hint."""
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    monkeypatch.delitem(sys.modules, "ltlpipe.simulation.screen", raising=False)
    monkeypatch.setattr("ltlpipe.cli.simulate._has_terminal", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n")))
    outcome = run("simulate", MUTEX)
    assert outcome.code == 0
    assert "pip install textual" in outcome.err
    assert "after 1 step" in outcome.out


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_lasso_through_a_pipe(lasso):
    """Keys come from the terminal where standard input has been read."""
    with (
        lasso.open() as file,
        OnTerminal(
            "simulate", MUTEX, "--lasso", "-", stdout="terminal", stdin=file
        ) as terminal,
    ):
        terminal.wait_for("enabled steps")
        terminal.type("n")
        terminal.wait_for("after 1 step")
        terminal.type("q")
        assert terminal.end().code == 0


_COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:[^$`].*\n)*)", re.M)


def test_what_the_guide_says(tmp_path):
    """Each command with the lines that are typed behind ``>`` prints what it says."""
    file = tmp_path / "result.json"
    found = list(_COMMAND.finditer(GUIDE.read_text()))
    assert len(found) == GUIDE.read_text().count("\n$ ") == 2
    for example in found:
        words = shlex.split(example["command"].replace("result.json", str(file)))
        typed = re.findall(r"^> (.*\n)", example["output"], re.M)
        redirected = words[-2] == ">"
        arguments = words[1:-2] if redirected else words[1:]
        outcome = program(*arguments, input="".join(typed), cwd=ROOT)
        if redirected:
            file.write_text(outcome.out)
            continue
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out == example["output"]


def test_the_guide_in_python(monkeypatch):
    """What stands behind a line is what it gives."""
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    names = {"ltlpipe": ltlpipe}
    for line in code.splitlines():
        statement, _, told = line.partition("  # ")
        if told:
            assert eval(statement, names) == ast.literal_eval(told)
        else:
            exec(statement, names)


def test_the_last_counterexample(run, tmp_path, monkeypatch):
    """From any folder; the system and the options are those of `check`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert "no counterexample yet" in run("simulate", "--last").err
    ring = tmp_path / "ring.aut"
    ring.write_text('des (0,2,2)\n(0,"a",1)\n(1,"b",0)\n')
    monkeypatch.chdir(tmp_path)
    flags = ["--deadlock", "stutter", "-f", "GF a", "-f", "G a", "-f", "G b"]
    assert run("check", "ring.aut", *flags).code == 1
    assert run("check", "ring.aut", "-f", "GF a").code == 0  # nothing new to keep
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"next\n")))
    shown = run("simulate", "--last")
    assert shown.code == 0
    assert "formula: G b" in shown.out
    assert "step 1: a" in shown.out
    assert run("simulate", "--last", ring).code == 2


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"files": [], "options": {"nonsense": 1}}', "{"]
)
def test_a_last_counterexample_that_is_none(text, run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "ltlpipe").mkdir()
    (tmp_path / "ltlpipe" / "last.json").write_text(text)
    outcome = run("simulate", "--last")
    assert (outcome.code, outcome.out) == (2, "")
    assert "last.json: expected what ltlpipe check has kept" in outcome.err


def test_a_violation_is_stepped_through(run, tmp_path, monkeypatch):
    ring = tmp_path / "ring.aut"
    ring.write_text('des (0,2,2)\n(0,"a",1)\n(1,"b",0)\n')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"next\n")))
    shown = run("check", ring, "-f", "G a", "--simulate")
    assert shown.code == 1
    assert "step 1: a" in shown.out
    held = run("check", ring, "-f", "GF a", "--simulate")
    assert (held.code, held.err) == (0, "--simulate: there is no counterexample\n")
    assert run("check", ring, "-f", "G a", "--simulate", "--json").code == 2
