"""The program as the system sees it: start-up, signals, pipes, terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.command_line import HARD, MANY, PROGRAM, RING, OnTerminal, plain, program
from tests.processes import SOON, children, cpu_seconds, is_running, wait_until

ROOT = Path(__file__).parents[2]


COMMANDS = [
    "check",
    "livelock",
    "solve",
    "compare",
    "translate",
    "convert",
    "reduce",
    "generate",
    "report",
]

OPTIONS = [
    *["-f", "-F", "--automaton", "--empty"],
    *["--emptiness", "--acceptance", "--reduce", "--semantics", "--deadlock"],
    *["--timeout", "--memory", "--max-states", "--seed"],
    *["--json", "--explain", "--quiet", "--unknown", "--no-lasso"],
]

LIGHT = """
import sys
import ltlpipe.cli
from ltlpipe.cli.application import application

for command in sys.argv[1:]:
    try:
        application()([*command.split(), "--help"], standalone_mode=False)
    except SystemExit:
        pass
heavy = {"spot", "buddy", "numba", "numpy", "pandas", "pyarrow"} & set(sys.modules)
sys.exit(f"loaded: {heavy}" if heavy else 0)
"""


def test_version():
    """`python -m ltlpipe` is the same program as `ltlpipe`."""
    from ltlpipe import __version__

    assert program("--version") == (0, f"ltlpipe {__version__}\n", "")
    script = Path(sys.executable).with_name("ltlpipe")
    if script.exists():
        done = subprocess.run([script, "--version"], capture_output=True, check=True)
        assert done.stdout.decode() == f"ltlpipe {__version__}\n"


def test_help_loads_nothing_heavy():
    """Help of every command comes at once: no Spot, Numba or pandas."""
    commands = ["", *COMMANDS, "generate philosophers"]
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, *commands],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: ") == len(commands)


def test_help_names_all_commands_and_options(run):
    """Those of the contract that are ready."""
    assert all(command in run("--help").out for command in COMMANDS)
    out = run("check", "--help").out
    assert all(f" {option} " in out for option in OPTIONS)
    assert "Exit code: 0 every formula holds, 1 some formula is violated" in out


def test_no_arguments():
    """Help, and a usage error."""
    outcome = program()

    assert outcome.code == 2
    assert "Usage: " in outcome.out + outcome.err


def test_exit_codes(ring):
    """As the shell sees them: 0 holds, 1 violated, 2 input or usage, 3 unknown."""
    assert program("check", ring, "-f", "F b").code == 0
    assert program("check", ring, "-f", "G b").code == 1
    assert program("check", ring, "-f", "G(").code == 2
    assert program("check", ring).code == 2
    assert program("check", ring, "-f", "G b", "--timeout", "0").code == 3


@pytest.mark.thorough("starts, watches or kills other processes")
def test_nothing_on_standard_error_without_terminal(big):
    """No progress, no messages: scripts get the objects and nothing else."""
    outcome = program("check", big, "--empty", "--max-states", "1000000", "--json")

    assert outcome.err == ""
    assert outcome.records[0]["states"] > 0


@pytest.mark.thorough("starts, watches or kills other processes")
def test_progress_on_a_terminal(big):
    """States, rate and depth on standard error; on standard output the object."""
    with OnTerminal("check", big, "--empty", "--json") as run:
        run.wait_for(" per second, depth ")
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()

    assert outcome.code == 3
    assert outcome.records[0]["reason"] == "interrupted"
    shown = plain(outcome.err)
    assert "accepting run" in shown
    assert " states, " in shown
    assert " per second, depth " in shown
    assert "verdict" not in shown


@pytest.mark.thorough("watches a program on a terminal, as another test does")
def test_phases_on_a_terminal(tmp_path):
    """What goes on before a search, and which strategy searches."""
    many = tmp_path / "many.aut"
    many.write_text(MANY)
    with OnTerminal("check", many, "-f", HARD, "--timeout", "1.5") as run:
        outcome = run.end()

    shown = plain(outcome.err)
    assert "reading" in shown
    assert "translating" in shown
    assert outcome.out.startswith("unknown (timeout)")


def test_compiling_on_a_terminal(ring, tmp_path, monkeypatch):
    """With an empty cache the line says what is compiled, and how often."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")  # for which nothing is shipped
    way = ["--emptiness", "dfs-weak", "--reduce", "none"]
    with OnTerminal("check", ring, "-f", "G a", *way) as run:
        run.wait_for(r"compiling [\w-]+ \(once per version\)", seconds=60)


LOADED = """
import sys
from ltlpipe.cli import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, 1), end.code
compiler = {"numba.cpython.unicode", "numba.np.linalg"}
tables = {"pandas", "scipy", "matplotlib"}
print(sorted(({"numba", "llvmlite"} | compiler | tables) & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("options", "loaded"),
    [((), "[]"), (("--emptiness", "se05"), "['llvmlite', 'numba']")],
)
def test_what_a_small_check_loads(options, loaded):
    """Neither kernels nor tables at once; a kernel, but nothing that compiles it."""
    mutex = "examples/problems/mutex"
    command = ["check", f"{mutex}/system.dot", "-F", f"{mutex}/formulas.ltl", *options]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command],
        capture_output=True,
        text=True,
        timeout=4 * SOON,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines()[-1] == loaded


@pytest.mark.thorough("watches a program on a terminal, as another test does")
def test_no_progress_if_quiet(big):
    """Nor anything else on the terminal."""
    with OnTerminal("check", big, "--empty", "--timeout", "0.7", "--quiet") as run:
        outcome = run.end()

    assert outcome.err == ""
    assert outcome.out.startswith("unknown (timeout): no accepting run   [")


@pytest.mark.thorough("watches a program on a terminal, as another test does")
def test_verdicts_and_progress_on_one_terminal(ring):
    """Every verdict stands in lines of its own, and the bar is gone at the end."""
    args = ["check", ring, "-f", "G(a -> F b)", "-f", "G a", "-f", "F c"]
    args += ["--unknown", "never"]
    with OnTerminal(*args, stdout="terminal") as run:
        outcome = run.end()

    lines = [line.rpartition("\r")[2] for line in plain(outcome.err).split("\r\n")]
    verdicts = [line for line in lines if line.startswith(("holds: ", "violated: "))]
    assert [line.split("   [")[0] for line in verdicts] == [
        "holds: G(a -> F b)",
        "violated: G a",
        "violated: F c",
    ]
    assert lines.count("  cycle:  a b") == 2
    assert "warning: no action of the system is called 'c': never true" in lines
    assert lines[-1] == ""


@pytest.mark.thorough("watches a program on a terminal, as another test does")
def test_solve_on_a_terminal(ring, tmp_path):
    """The bar counts tasks; the summary is standard output."""
    (tmp_path / "f.ltl").write_text("F a\nG(\n")
    ring.rename(tmp_path / "system.aut")
    with OnTerminal("solve", tmp_path, "--out", tmp_path / "r.csv") as run:
        outcome = run.end()

    assert f"2/2 {tmp_path}/system.aut" in plain(outcome.err)
    assert f"error: {tmp_path}/f.ltl:2: syntax error" in plain(outcome.err)
    assert "2 rows written" in outcome.out
    assert "2 rows written" not in outcome.err


def test_ctrl_c_in_a_search(big):
    """An unknown verdict with the statistics so far, at once."""
    with OnTerminal("check", big, "--empty", "--json", "--seed", "1") as run:
        run.wait_for(r"\d,\d{3} states, ")
        pressed = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()

    assert time.monotonic() - pressed < SOON
    assert outcome.code == 3
    (record,) = outcome.records
    assert (record["verdict"], record["reason"]) == ("unknown", "interrupted")
    assert record["states"] > 0
    assert record["transitions"] > record["states"]
    assert record["seconds"] > 0


@pytest.mark.thorough("sends a signal to a program at work")
def test_ctrl_c_leaves_other_formulas_unchecked(big):
    """They get no object, and standard error says how many."""
    with OnTerminal("check", big, "-f", "0", "-f", "0", "-f", "1", "--json") as run:
        run.wait_for(" states, ")
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()

    assert [record["reason"] for record in outcome.records] == ["interrupted"]
    assert "interrupted: 2 more formulas not checked" in outcome.err
    assert outcome.code == 3


@pytest.mark.thorough("sends a signal to a program at work")
def test_ctrl_c_in_a_translation(tmp_path):
    """Spot is ended with its process, whose output nobody sees."""
    many = tmp_path / "many.aut"
    many.write_text(MANY)
    with OnTerminal("check", many, "-f", HARD, "--json") as run:
        # It is started before the system is read.
        wait_until(lambda: any(cpu_seconds(c) > 2 for c in children(run.process.pid)))
        workers = children(run.process.pid)
        pressed = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()

    assert time.monotonic() - pressed < SOON
    assert outcome.code == 3
    assert outcome.records[0]["reason"] == "interrupted"
    assert outcome.records[0]["states"] is None
    assert not any(map(is_running, workers))


@pytest.mark.thorough("sends a signal to a program at work")
def test_ctrl_c_in_the_translate_command():
    """The same command without a search."""
    command = [*PROGRAM, "translate", HARD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        wait_until(lambda: children(p.pid))
        pressed = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=2 * SOON)

    assert time.monotonic() - pressed < SOON
    assert (p.returncode, out, err) == (130, b"", b"")


@pytest.mark.thorough("sends a signal to a program at work")
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_a_translation_ends_with_the_program():
    """Whoever kills the program leaves no process behind that runs for hours."""
    with subprocess.Popen([*PROGRAM, "translate", HARD]) as p:
        wait_until(lambda: children(p.pid))
        time.sleep(0.2)  # the child has asked for it
        (child,) = children(p.pid)
        p.kill()

    wait_until(lambda: not is_running(child))


@pytest.mark.thorough("sends a signal to a program at work")
@pytest.mark.parametrize("delay", [0.1, 0.2, 0.3])
def test_ctrl_c_while_starting(delay, big):
    """Silence, and never an exit code that is a verdict."""
    command = [*PROGRAM, "check", big, "--empty"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        time.sleep(delay)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=2 * SOON)

    if b"Fatal Python error: init" in err:
        pytest.skip("on this busy machine it came before the first line of ltlpipe")
    searched = b"unknown (interrupted)" in out
    assert p.returncode in ((3,) if searched else (130, -signal.SIGINT)), err


def test_ctrl_c_that_is_wrapped(run, monkeypatch):
    """Python 3.10 and 3.11 make a RuntimeError of it where a class is being made."""

    class Pressed:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    def make_class(_):
        type("Owner", (), {"attribute": Pressed()})

    monkeypatch.setattr("ltlpipe.cli.application.application", make_class)

    assert run() == (130, "", "")


@pytest.mark.thorough("sends a signal to a program at work")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_in_solve(big, tmp_path, number):
    """The rows so far are in the table, that of the interrupted task is the last."""
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "system.aut").write_text(RING)
    (tmp_path / "1" / "f.ltl").write_text("F b\nG a\n")
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "system.hoa").symlink_to(big)
    (tmp_path / "2" / "f.ltl").write_text("0\n1\n")

    with OnTerminal("solve", tmp_path, "--out", tmp_path / "r.csv") as run:
        run.wait_for(r"3/4 [^\r]* states, ")
        pressed = time.monotonic()
        run.process.send_signal(number)
        outcome = run.end()

    assert time.monotonic() - pressed < SOON
    said = (
        f"interrupted: 2 finished tasks written to {tmp_path / 'r.csv'}; with --store"
    )
    assert said in outcome.err
    frame = pd.read_csv(tmp_path / "r.csv")
    assert frame["verdict"].tolist() == ["holds", "violated", "unknown"]
    assert frame["reason"].tolist()[2] == "interrupted"
    assert frame["states"][2] > 0
    assert outcome.code == 1  # something is violated
    assert "(not solved)" in outcome.out


def test_a_reader_that_goes_away(ring):
    """`| head -1` ends the program without a word."""
    formulas = [x for _ in range(300) for x in ("-f", "F a")]
    command = [*PROGRAM, "check", str(ring), *formulas, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        line = p.stdout.readline()
        p.stdout.close()
        err = p.stderr.read()
        p.wait(timeout=2 * SOON)

    assert json.loads(line)["verdict"] == "holds"
    assert err == b""
    assert p.returncode == 141  # as the shell has it for SIGPIPE


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize(
    "args",
    [["generate", "ring", "9"], ["translate", "G a"], ["--version"]],
    ids=lambda args: args[0],
)
def test_standard_output_that_takes_nothing(args):
    """A full device is an error, a reader that has gone is none."""
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*PROGRAM, *args], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"error: cannot be written: No space left on device\n"

    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, *args], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("closed", "is_printed"),
    [("<&-", True), ("<&- >&- 2>&-", False), ("2>&-", True), ("2>/dev/full", True)],
)
def test_standard_streams_that_are_closed(closed, is_printed, ring):
    """No file gets their numbers, no message another stream, no verdict is lost."""
    text = 'exec "$@" ' + closed
    args = [*PROGRAM, "check", str(ring), "-f", "G a", "--unknown", "never"]

    done = subprocess.run(["sh", "-c", text, "-", *args], capture_output=True)

    assert done.returncode == 1
    assert (b"violated" in done.stdout) == is_printed
    assert b"warning" not in done.stdout


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_messages_that_cannot_be_written(where):
    """The exit code is left, and 1 would be a violation."""
    args = [*PROGRAM, "translate", "G("]

    done = subprocess.run(
        ["sh", "-c", 'exec "$@" ' + where, "-", *args], capture_output=True
    )

    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.thorough("starts, watches or kills other processes")
def test_names_that_the_output_cannot_show(tmp_path):
    """JSON stays JSON, and verdicts are printed whatever the terminal knows."""
    path = tmp_path / "é.aut"
    path.write_text('des (0, 1, 1)\n(0, "é", 0)\n')
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}

    outcome = program("check", path, "-f", 'F "é"', "--json", env=ascii_only)
    assert outcome.records[0]["system"] == str(path)
    outcome = program("check", path, "-f", 'G F !"é"', env=ascii_only)
    assert outcome.code == 1
    assert "\\xe9" in outcome.out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ZeroDivisionError(), 70, "error: this is a bug of ltlpipe; please report it"),
        (MemoryError(), 2, "error: out of memory"),
    ],
    ids=["bug", "memory"],
)
def test_an_error_is_no_verdict(error, code, message, run, ring, monkeypatch):
    """Python's own exit code for exceptions, 1, would mean "violated"."""

    def broken(*_, **__):
        raise error

    monkeypatch.setattr("ltlpipe.verdict.several.Inquiry", broken)

    outcome = run("check", ring, "-f", "G a")

    assert outcome.code == code
    assert outcome.err.splitlines()[-1] == message
    assert ("Traceback" in outcome.err) == (code == 70)


HOA = """\
HOA: v1
States: 1
Start: 0
AP: 1 "a"
Acceptance: 0 t
--BODY--
State: 0
[0] 0
--END--
"""
INJECTED = {
    "x.hoa": "touch pwned |",
    "y.hoa": HOA + "touch pwned |",
    "z.hoa": HOA + "touch pwned |\n",
    "touch pwned;.hoa": HOA,
    "touch pwned|": HOA,
    "x.dot": "touch pwned |",
    "x.aut": "touch pwned |",
}


@pytest.mark.parametrize("name", INJECTED)
def test_no_file_is_a_command(name, run, ring, tmp_path, monkeypatch):
    """Spot runs names and texts that end in a bar; ltlpipe gives it neither."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).write_text(INJECTED[name])
    monkeypatch.chdir(folder)

    for args in (
        ["check", name, "-f", "a"],
        ["check", ring, "--automaton", name],
        ["check", ring, "-F", name],
        ["check", ring, "-f", INJECTED[name]],
        ["convert", name, "out.dot"],
        ["translate", name],
        ["solve", name, "--out", "r.csv"],
    ):
        assert run(*args).code in (0, 1, 2)
    assert not list(tmp_path.rglob("pwned*"))


def test_ctrl_c_in_a_callback_is_not_printed():
    """Python cannot raise it there; the next loop ends all the same."""
    script = (
        "import os, signal, sys, weakref\n"
        "import ltlpipe.cli as cli\n"
        "class Thing: pass\n"
        "def main():\n"
        "    thing = Thing()\n"
        "    def gone(_): os.kill(os.getpid(), signal.SIGINT); sum(range(10**6))\n"
        "    kept = weakref.ref(thing, gone)\n"
        "    del thing\n"
        "    from ltlpipe.runtime.jobs import interruptible\n"
        "    with interruptible() as interrupt: print(interrupt.pressed)\n"
        "cli.main = main\n"
        "cli.program()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
