"""A new emptiness check, strategy and format are one file and one line each.

As docs/architecture.md says, and in a copy of the package; an option is one field
(`tests/question/test_options.py`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FILES = {
    "search/nested/mine.py": """
from ltlpipe.search.nested.ndfs import SE05


class Mine(SE05):
    name = "mine"
""",
    "strategies/mine.py": """
from ltlpipe.strategies import explicit


def job(question, trace):
    return (yield from explicit.job(question, trace))
""",
    "systems/networks/mine.py": """
from ltlpipe.systems.networks.lts import LTS


def read_mine(text, file):
    rows = [line.split() for line in text.splitlines()]
    return [LTS.from_transitions([(int(s), a, int(d)) for s, a, d in rows])]
""",
}

LINES = {
    "search/catalogue.py": [
        ("_PLACES = {\n", '_PLACES = {\n    "mine": ("nested.mine", "Mine"),\n'),
    ],
    "strategies/registry.py": [
        (
            "    Strategy(WALKS,",
            '    Strategy("mine", job_in("mine"), (EXPLICIT,)),\n    Strategy(WALKS,',
        ),
    ],
    "systems/formats.py": [
        (
            "def _read_aut()",
            """\
def _read_mine() -> Reader:
    from ltlpipe.systems.networks.mine import read_mine

    return _components(read_mine)


def _read_aut()""",
        ),
        (
            "FORMATS = (\n",
            'FORMATS = (\n    Format(suffixes=(".mine",), reader=_read_mine),\n',
        ),
    ],
}

PROGRAM = """
import sys
import ltlpipe
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits
from ltlpipe.strategies.registry import BY_NAME
from ltlpipe.verdict.inquiry import Inquiry

assert ltlpipe.__file__.startswith(sys.argv[1])
system = ltlpipe.load(sys.argv[1] + "/one.mine")
found = ltlpipe.check(system, "G !b", emptiness="mine")
print(found.verdict, found.plan.emptiness, *found.lasso.cycle)
asked = Property(parse("F b"))
inquiry = Inquiry(system, asked, Options(), strategies=(BY_NAME["mine"],))
found = inquiry.verdict(Limits())
print(found.verdict, found.plan.strategy)
"""


def test_one_file_and_one_line(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ltlpipe", tmp_path / "ltlpipe", ignore=ignored)
    for name, text in FILES.items():
        (tmp_path / "ltlpipe" / name).write_text(text)
    for name, changes in LINES.items():
        path = tmp_path / "ltlpipe" / name
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "one.mine").write_text("0 a 1\n1 b 0\n")

    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == ["violated mine a b", "holds mine"]
