"""Progress of Python calls: a bar in notebooks, and on terminals that ask for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli import command_line as running

MADE = """
import ltlpipe
from ltlpipe.runtime import progress_bar

progress_bar._REFRESH_SECONDS = 0
steps = [(0, "a", 1), (1, "b", 0)]
ring = ltlpipe.Network([ltlpipe.LTS.from_transitions(steps)], "ring")
"""
NOTEBOOK = (
    """
import json
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config({"HistoryManager": {"enabled": False}})
shell = InteractiveShell.instance(
    config=config, display_pub_class=CapturingDisplayPublisher
)
shell.kernel = "a fake one"
"""
    + MADE
)
PUBLISHED = """
print(json.dumps(shell.display_pub.outputs))
"""

CALLS = {
    "check": 'ltlpipe.check(ring, "G(a -> F b)", {})',
    "check-file": 'ltlpipe.check("ring.aut", "G(a -> F b)", {})',
    "livelock": 'ltlpipe.livelock(ring, ["a"], {})',
    "deadlocks": "ltlpipe.deadlocks(ring, {})",
    "compare": 'ltlpipe.compare(ring, ["F a", "F b"], emptiness="se05", {})',
    "solve": 'ltlpipe.solve([(ring, "F a"), (ring, "F b")], {})',
    "solve-jobs": 'ltlpipe.solve([(ring, "F a"), (ring, "F b")], jobs=2, {})',
    "solve-store": 'ltlpipe.solve([(ring, "F a")], store="run.sqlite", {})',
}
LABELS = {
    "compare": "2/2 se05 (BA) F b",
    "solve": "2/2 ring",
    "solve-jobs": "of 2 tasks",
    "solve-store": "of 1 tasks",
}


def run_python(code, folder):
    (folder / "ring.aut").write_text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n')
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.stderr == ""
    return done.stdout


def published(call, folder, *, patience=0.0):
    """Return what a call displays in a notebook."""
    code = f"{NOTEBOOK}progress_bar.PATIENCE_SECONDS = {patience}\n{call}\n{PUBLISHED}"
    return json.loads(run_python(code, folder))


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize(
    ("name", "asked"), [("check", True), ("solve", True), *((n, None) for n in CALLS)]
)
def test_a_notebook(name, asked, tmp_path):
    """A bar below the cell is updated and, in the end, taken away."""
    shown = published(CALLS[name].format(f"progress={asked}"), tmp_path)

    bars = {}
    for message in shown:
        bars.setdefault(message["transient"]["display_id"], []).append(message)
    # The tasks of a run have one bar; reading a system is a job of its own.
    assert len(bars) == 1 or name not in LABELS
    assert bars
    for messages in bars.values():
        assert [m["update"] for m in messages] == [False] + [True] * (len(messages) - 1)
        assert messages[-1]["data"]["text/html"] == ""
    text = " ".join(m["data"].get("text/plain", "") for m in shown)
    assert LABELS.get(name, "searching") in text


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("name", ["check", "solve"])
def test_a_short_call_in_a_notebook(name, tmp_path):
    """It is over before a bar would be shown."""
    assert published(CALLS[name].format(""), tmp_path, patience=600) == []


@pytest.mark.thorough("starts, watches or kills other processes")
def test_who_wants_no_bar(tmp_path):
    """False, a callable that looks itself, or a terminal's IPython without a kernel."""
    assert published(CALLS["check"].format("progress=False"), tmp_path) == []
    reading = CALLS["solve"].replace("(ring,", "('ring.aut',")
    assert published(reading.format("progress=False"), tmp_path) == []
    silent = CALLS["check"].format("progress=lambda _: None")
    assert published(silent, tmp_path) == []
    assert published("del shell.kernel\n" + CALLS["check"].format(""), tmp_path) == []


def test_an_error_takes_the_bar_away(tmp_path):
    """As the end of the call does."""
    code = """
from ltlpipe.runtime.jobs import Progress, run

def failing():
    yield Progress("searching")
    raise ValueError

try:
    run(failing(), observer=True)
except ValueError:
    pass
"""
    first, *_, last = published(code, tmp_path)
    assert "searching" in first["data"]["text/plain"]
    assert last["data"]["text/html"] == ""


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("asked", ["", "progress=True"])
@pytest.mark.parametrize("name", ["check", "compare", "solve"])
def test_a_script(name, asked, tmp_path):
    """Nothing is printed where no terminal is, whatever is asked for."""
    code = f"{MADE}progress_bar.PATIENCE_SECONDS = 0\n{CALLS[name].format(asked)}"
    assert run_python(code, tmp_path) == ""


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("asked", ["progress=True", ""])
@pytest.mark.parametrize("name", ["check", "compare", "solve", "solve-jobs"])
def test_a_script_on_a_terminal(name, asked, tmp_path, monkeypatch):
    """It shows a bar on standard error if it asks for one."""
    monkeypatch.setattr(running, "PROGRAM", [sys.executable])
    code = f"{MADE}progress_bar.PATIENCE_SECONDS = 0\n{CALLS[name].format(asked)}"
    with running.OnTerminal("-c", code) as program:
        outcome = program.end(seconds=600)

    assert outcome.code == 0
    assert outcome.out == ""
    label = LABELS.get(name, "searching")
    assert (label in running.plain(outcome.err)) == bool(asked)
    assert asked or outcome.err == ""
