"""The sessions in `README.md` and `docs/`: they print what the text shows.

A session is a block of commands, ``$ ltlpipe ...``, with what they print behind them,
or of Python (``>>>``).  Seconds and memory are of another machine, and ``...`` stands
for anything.  A block with a title is a file that the reader writes.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
PAGES.remove("docs/simulate.md")  # its sessions need a shell: `tests.cli.test_simulate`

ELSEWHERE = (
    *(
        "ltl3tela",
        "model.pnml",
        "lps2lts",
        "problems tasks.csv",
        "-m bench",
        "--scheduler",
    ),
    *(
        "$ ltlpipe solve problems --store",
        "$ ltlpipe status run.sqlite",
        "$ ltlpipe verify run.sqlite",
    ),
)
"""Of sessions about files that readers have, or other programs."""

SHELLS = ("", "console", "pycon")
_BLOCK = re.compile(
    r'^```(\w*)(?: title="([\w.]+)")?\n(.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_MEASURED = re.compile(
    r"\b\d+\.\d+ s\b|(?<=seconds\": )[\d.]+|(?<=memory_mib\": )[\d.]+"
)


def blocks(page):
    """The files that a page shows, (name, text), and its sessions, ("", text).

    Those about other people's files are left out.
    """
    found = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    for language, name, text in found:
        is_session = language in SHELLS and text.startswith(("$ ", ">>> "))
        if name or (is_session and not any(word in text for word in ELSEWHERE)):
            yield name, text


def sessions(page):
    """The blocks of commands and of Python of a page."""
    return [text for name, text in blocks(page) if not name]


def steps(session):
    """The commands of a session, and what each prints by the text."""
    for part in re.split(r"^\$ ", session.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield shlex.split(command), printed.rstrip()


def pattern_of(printed):
    """What output has to match."""
    text = _MEASURED.sub("SECONDS", printed)
    pieces = [re.escape(piece) for piece in text.split("...")]
    text = ".*".join(pieces).replace("SECONDS", r"[\d.]+( s)?")
    return re.compile(text, re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)])
def test_sessions(page, tmp_path, run, monkeypatch):
    """In a folder with the examples, one session after the other."""
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "formulas"):
        (tmp_path / name).symlink_to(ROOT / name)
    python = {}
    for name, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif text.startswith(">>> "):
            run_python(text, python)
        else:
            run_commands(text, run)


def run_commands(session, run):
    """The commands of a session, and those of a shell that make folders for them."""
    for words, printed in steps(session):
        if words[0] in ("mkdir", "cp"):
            subprocess.run(words, check=True)
            continue
        assert words[0] == "ltlpipe"
        outcome = run(*words[1:])
        expected = 3 if re.search("^(│ )?unknown", outcome.out, re.MULTILINE) else 0
        if "violated" in outcome.out and words[1] != "results":
            expected = 1
        if printed.startswith("error:"):
            expected = 2
        assert outcome.code == expected, outcome.err
        if printed:
            found = (outcome.err if expected == 2 else outcome.out).rstrip()
            assert pattern_of(printed).fullmatch(found), (words, found)


def run_python(session, names):
    """The statements of a session, whose names those behind it know."""
    test = doctest.DocTestParser().get_doctest(session, names, "session", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0


STAND_INS = {
    "system.dot": 'digraph s {\n subgraph a { start -> x [label=""]; '
    'x -> y [label="ask"]; y -> x [label="meet"]; }\n}\n',
    "formulas.ltl": "G(ask -> F meet)\n",
    "tasks.csv": "system,formula\nsystem.dot,G(ask -> F meet)\n",
    "model.dve": "byte p; byte q;\nprocess P { state s, t; init s; "
    "trans s -> t { effect p = 1 - p, q = 1; }, t -> s { }; }\nsystem async;\n",
    "sender.aut": 'des (0, 1, 2)\n(0, "send", 1)\n',
    "receiver.aut": 'des (0, 1, 2)\n(0, "send", 1)\n',
    "LTLCardinality.xml": """<?xml version="1.0"?>
<property-set xmlns="http://mcc.lip6.fr/"><property><id>ring-00</id>
<description>d</description><formula><all-paths><globally><integer-le>
<tokens-count><place>token0</place></tokens-count>
<integer-constant>1</integer-constant></integer-le></globally></all-paths></formula>
</property></property-set>
""",
}
"""Files that pages speak of, as their readers might have them."""

PROGRAMS = ("lps2lts", "ltl3tela", "dask", "--scheduler", "%f")
"""What commands need that come with other programs."""

_CODE = re.compile(
    r"^(?: {4}(\$ [^\n]*)$|```[^\n]*\n(.*?)^```$)", re.MULTILINE | re.DOTALL
)


def other_commands(page):
    """Commands about the reader's own files, and the file that the output goes to."""
    text = (ROOT / page).read_text(encoding="utf-8")
    known = set(sessions(page))
    for line, block in _CODE.findall(text):
        lines = (block or line).replace("\\\n", " ").splitlines()
        if block in known:
            continue
        for command in (line.removeprefix("$ ") for line in lines):
            if command.startswith("ltlpipe ") and not any(
                word in command for word in PROGRAMS
            ):
                command, _, _ = command.partition(" | ")
                command, _, target = command.partition(" > ")
                yield shlex.split(command)[1:], target


OTHER_PAGES = [page for page in PAGES if [*other_commands(page)]]


@pytest.mark.parametrize("page", OTHER_PAGES)
def test_commands_about_files_of_readers(page, tmp_path, run, monkeypatch):
    """They do what they say with files of these names; what they print is not shown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moved").mkdir()
    for folder in (tmp_path, tmp_path / "moved"):
        for name, text in STAND_INS.items():
            (folder / name).write_text(text, encoding="utf-8")
    examples = ROOT / "examples"
    shutil.copytree(examples / "problems", tmp_path / "problems")
    shutil.copytree(examples / "problems", tmp_path / "moved" / "systems")
    net = (examples / "pnml" / "token-ring-5.pnml").read_text(encoding="utf-8")
    (tmp_path / "model.pnml").write_text(net, encoding="utf-8")
    (tmp_path / "net.pnml").write_text(net.replace("idle0", "p"), encoding="utf-8")
    if page != "docs/batch.md":  # which makes the store itself
        grid = ["--grid", "emptiness=se05,couvreur99"]
        run("solve", "problems", "--store", "run.sqlite", *grid)
    for words, target in other_commands(page):
        outcome = run(*words)
        assert outcome.code in (0, 1), (words, outcome.err)
        if target:
            (tmp_path / target).write_text(outcome.out, encoding="utf-8")


SPIN_MODEL = """
#ifndef N
#define N 2
#endif
byte x; bit p;
active [N] proctype P() {
accept: progress: do :: d_step { x = 1 - x; p = 1 } od
}
ltl safe { [] (x <= 1) }
never { do :: x > 1 -> break :: else od }
"""


def instead_of_spin():
    """What the page for users of Spin says to write, as words behind `ltlpipe`."""
    text = (ROOT / "docs" / "from-spin.md").read_text(encoding="utf-8")
    table = text.split("## What to write instead")[1].split("\n## ")[0]
    for _, written in re.findall(r"^\| (.*) \| (.*) \|$", table, re.MULTILINE):
        for code in re.findall(r"`((?:ltlpipe |check |-).*?)`", written):
            words = shlex.split(re.sub("(--[a-z-]+) (N|MIB)", r"\1 3", code))
            if "..." in words or words[:2] == ["ltlpipe", "simulate"]:
                continue
            if words[0].startswith("-"):
                words = ["check", "m.pml", *words]
            if words != ["check", "m.pml", "--reduce"]:  # a list is wanted
                yield words[words[0] == "ltlpipe" :]


@pytest.mark.parametrize("words", [*instead_of_spin()], ids=" ".join)
def test_what_to_write_instead_of_spin(words, tmp_path, run, monkeypatch):
    """Each command and switch of the table does its work on a small model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.pml").write_text(SPIN_MODEL, encoding="utf-8")
    outcome = run(*words)
    assert outcome.code in (0, 1, 3), outcome.err


def test_how_many_ways_to_write_instead_of_spin():
    assert len([*instead_of_spin()]) >= 25


def test_how_many_commands_about_files_of_readers():
    assert len(OTHER_PAGES) >= 7
    assert sum(len([*other_commands(page)]) for page in OTHER_PAGES) >= 15


def test_how_many_sessions():
    """None is lost for want of a pattern that finds it."""
    found = {
        page: sum(map(len, map(list, map(steps, sessions(page))))) for page in PAGES
    }
    assert found["README.md"] >= 2
    assert found["docs/tutorial.md"] >= 15
    assert found["docs/fairness.md"] >= 15
    assert found["docs/counterexamples.md"] >= 5
    assert found["docs/models.md"] >= 3
    assert found["docs/rers.md"] >= 1
