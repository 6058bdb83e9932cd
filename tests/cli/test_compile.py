"""`ltlpipe compile`: what it shows, what it reports."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.kernels.compilation import has_own_code
from ltlpipe.systems.reading import load_program

EXAMPLE = Path(__file__).parents[2] / "examples" / "dve" / "peterson.dve"


def test_show(run):
    """The generated source, as it is compiled, and nothing else."""
    outcome = run("compile", EXAMPLE, "--show")
    assert outcome == (0, load_program(EXAMPLE).source, "")
    compile(outcome.out, "generated", "exec")
    assert "# P_0: waiting -> critical" in outcome.out
    assert "    if flag_1 == 0 or turn == 0:" in outcome.out.replace("        ", "    ")


def test_report(run):
    """Size and time, on one line."""
    outcome = run("compile", EXAMPLE)
    assert (outcome.code, outcome.err) == (0, "")
    report = r"6 variables in 1 word, 8 actions; compiled in \d+\.\d\d s\n"
    assert re.fullmatch(f"{re.escape(str(EXAMPLE))}: {report}", outcome.out)


def test_what_is_compiled_is_what_questions_run(run, tmp_path):
    """Formulas, assertions and counts of a model that asserts and forgets."""
    file = tmp_path / "m.pml"
    file.write_text(
        f"byte x; active proctype P() {{ byte k = 3; x = k; k = 7; x = {os.getpid()} % "
        "200; assert(x != 5) }"
    )
    assert run("compile", file).code == 0
    model = load_program(file)
    formulas = model.for_question(())
    assert formulas.source != model.source
    asked = [formulas, *(complete(m.forgetting([]))[0] for m in (formulas, model))]
    assert len({one.source for one in asked}) == 3
    assert all(has_own_code(one.pack([]).expand) for one in asked)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("m.dve", "process P { state s; init q; } system async;", "unknown state of P"),
        ("m.dve", "", "the file is empty"),
        ("m.aut", "des (0, 0, 1)", "expected a DVE or Promela model"),
    ],
)
def test_what_is_no_model(run, tmp_path, name, text, complaint):
    """One message, exit code 2."""
    file = tmp_path / name
    file.write_text(text)
    outcome = run("compile", file)
    assert outcome.code == 2
    assert outcome.out == ""
    assert complaint in outcome.err


def test_a_file_that_is_not_there(run, tmp_path):
    """Named."""
    outcome = run("compile", tmp_path / "none.dve")
    assert outcome.code == 2
    assert "none.dve: cannot be read" in outcome.err
