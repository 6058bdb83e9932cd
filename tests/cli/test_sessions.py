"""The sessions in `README.md` and `docs/`: they print what the text shows.

A session is a block of commands, ``$ ltlpipe ...``, with what they print behind them.
Seconds and memory are of another machine, and ``...`` stands for anything.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
PAGES.remove("docs/simulate.md")  # its sessions need a shell: `tests.cli.test_simulate`

ELSEWHERE = ("model.pnml", "run.sqlite", "lps2lts", "problems tasks.csv", "-m bench")
"""Of sessions about files that readers have, or other programs."""

_BLOCK = re.compile(r"^```(?:console)?\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_MEASURED = re.compile(
    r"\b\d+\.\d+ s\b|(?<=seconds\": )[\d.]+|(?<=memory_mib\": )[\d.]+"
)


def sessions(page):
    """The blocks of commands of a page, those about other people's files left out."""
    blocks = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [b for b in blocks if not any(word in b for word in ELSEWHERE)]


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
    for session in sessions(page):
        for words, printed in steps(session):
            assert words[0] == "ltlpipe"
            outcome = run(*words[1:])
            code = 3 if outcome.out.startswith("unknown") else 0
            code = 1 if "violated" in outcome.out else code
            assert outcome.code == code, outcome.err
            if printed:
                found = outcome.out.rstrip()
                assert pattern_of(printed).fullmatch(found), (words, found)


def test_how_many_sessions():
    """None is lost for want of a pattern that finds it."""
    found = {
        page: sum(map(len, map(list, map(steps, sessions(page))))) for page in PAGES
    }
    assert found["README.md"] >= 8
    assert found["docs/fairness.md"] >= 15
    assert found["docs/charts.md"] >= 3
    assert found["docs/models.md"] >= 3
    assert found["docs/rers.md"] >= 1
