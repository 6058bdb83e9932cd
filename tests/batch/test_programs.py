"""Folders of sequential RERS problems: pairs, titles, solutions, answers."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ltlpipe import InputError, results, solve
from ltlpipe.batch.rers import RersWriter, names_of, solutions_of
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import find_problems, find_tasks
from ltlpipe.logic.formula_files import read_formulas
from tests.systems.programs.eca.test_system import RING

CONSTRAINTS = """\
#inputs [A, B]
#outputs [Q, X, Y, Z]
#0: output X responds to input A
(false R (! iA | (true U oX)))

#1: output Z occurs
(true U oZ)

#2: output Q precedes output Y
(! oY WU oQ)
"""

BENCHMARKS = os.environ.get("LTLPIPE_BENCHMARKS")
needs_benchmarks = pytest.mark.skipif(
    not BENCHMARKS or not (Path(BENCHMARKS) / "eca" / "problems").is_dir(),
    reason="LTLPIPE_BENCHMARKS has no eca",
)


def placed(folder: Path, name: str = "Problem7") -> Path:
    """Write a problem into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.c").write_text(RING)
    (folder / f"constraints-{name}.txt").write_text(CONSTRAINTS)
    return folder


def test_programs_and_constraints_are_pairs(tmp_path):
    """By their names, at any depth, 2 before 10; other C files are none."""
    placed(tmp_path / "a", "Problem10")
    placed(tmp_path / "a", "Problem2")
    placed(tmp_path / "b", "machine")
    (tmp_path / "a" / "tool.c").write_text("int main() {}")
    found = find_problems([tmp_path])
    names = [(Path(p.system[0]).name, p.name) for p in found]
    assert names == [
        ("Problem2.c", "Problem2"),
        ("Problem10.c", "Problem10"),
        ("machine.c", "machine"),
    ]


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        ("Problem7.c", "constraints-Problem7.txt: constraints without Problem7.c"),
        ("constraints-Problem7.txt", "Problem7.c: a problem without constraints-Pro"),
    ],
)
def test_a_half_of_a_pair(tmp_path, removed, message):
    """Its other half is named."""
    placed(tmp_path)
    (tmp_path / removed).unlink()
    (problem,) = find_problems([tmp_path])
    assert message in str(problem.error)


def test_tables_have_titles_and_answers_numbers(tmp_path):
    """The sentence is the title; answers are those of the challenge."""
    placed(tmp_path / "in")
    answers, store = tmp_path / "answers.csv", tmp_path / "run.sqlite"
    frame = solve(str(tmp_path / "in"), store=store)
    assert frame["verdict"].tolist() == ["holds", "violated", "violated"]
    assert frame["title"].tolist() == [
        "output X responds to input A",
        "output Z occurs",
        "output Q precedes output Y",
    ]
    tasks = find_tasks([tmp_path / "in"])
    with RersWriter(answers, names_of(tasks)) as writer:
        for row in solve_rows(tasks):
            writer.write(row)
    assert answers.read_text().splitlines() == ["7,0,true", "7,1,false", "7,2,false"]
    assert results(store)["title"].tolist() == frame["title"].tolist()


def test_workers_know_titles_and_alphabets(tmp_path):
    """A formula that names a declared output travels with its declaration."""
    placed(tmp_path)
    frame = solve(str(tmp_path), jobs=1)
    assert frame["verdict"].tolist() == ["holds", "violated", "violated"]
    assert frame["title"].notna().all()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("truth.csv", "problem,property,verdict\nProblem7,0,holds\nother,0,violated\n"),
        ("truth.csv", "property,verdict,more\n0,TRUE,x\n1,unknown,\n"),
        ("solutions-Problem7.csv", "7,0,true\n"),
        ("Problem7-solutions.csv", "7,0,true\n\n"),
    ],
)
def test_solutions_are_compared(tmp_path, file, text):
    """They stand in a table beside the program."""
    placed(tmp_path)
    (tmp_path / file).write_text(text)
    expected = [task.expected for task in find_tasks([tmp_path])]
    assert expected == ["holds", None, None]


def test_wrong_solutions_are_a_row(tmp_path):
    """The formulas are answered."""
    placed(tmp_path)
    (tmp_path / "truth.csv").write_text("property,verdict\n0,true\n0,false\n")
    frame = solve(str(tmp_path))
    assert frame["verdict"].tolist() == ["unknown", "holds", "violated", "violated"]
    assert frame["reason"][0] == "input-error"
    assert "truth.csv:3" in frame["message"][0]
    assert frame["expected"].isna().all()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("truth.csv", "property,answer\n0,true\n", ":1: expected columns property"),
        ("truth.csv", "property,verdict\nx,true\n", ":2: property 'x', expected a n"),
        ("truth.csv", "property,verdict\n0,true\n0,false\n", ":3: another solution of"),
        ("solutions-P.csv", "1,0,maybe\n", ":1: expected a problem, the number of a"),
        ("solutions-P.csv", "1,0,true,3\n", ":1: expected a problem, the number of"),
    ],
)
def test_wrong_solutions_are_refused(tmp_path, file, text, message):
    """Nothing is guessed."""
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=message):
        solutions_of(str(tmp_path / "P.c"), "P")


@pytest.mark.parametrize("file", ["truth.csv", "solutions-P.csv", "P-solutions.csv"])
@pytest.mark.parametrize(
    ("put", "message"),
    [
        (os.mkfifo, "a FIFO"),
        (os.mkdir, "[Dd]irectory"),
        (lambda place: place.symlink_to("nowhere"), "No such file"),
    ],
    ids=["FIFO", "folder", "broken link"],
)
def test_solutions_that_are_no_file_are_refused(tmp_path, file, put, message):
    """They are not passed over."""
    put(tmp_path / file)
    with pytest.raises(InputError, match=f"{file}: .*{message}"):
        solutions_of(str(tmp_path / "P.c"), "P")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("#inputs A, B\n", ":1: expected '#inputs"),
        ("#inputs [A, B]\n#outputs [X Y]\n", ":2: expected '#outputs"),
        ("#inputs [A]\n#inputs [B]\n", ":2: expected '#inputs .*once"),
    ],
)
def test_wrong_declarations_are_refused(tmp_path, head, message):
    """With their line."""
    file = tmp_path / "constraints-P.txt"
    file.write_text(head + "#0: title\n(true U oX)\n")
    with pytest.raises(InputError, match=message):
        read_formulas(file)


def test_declarations(tmp_path):
    """Letters are names of actions, with i and o before them."""
    file = tmp_path / "constraints-P.txt"
    file.write_text("#inputs [A, B]\n#outputs []\n#4: title\n(true U iA)\n")
    (formula,) = read_formulas(file)
    assert formula.alphabet == ("iA", "iB")
    assert (formula.title, formula.number, formula.name) == ("title", 4, "4")


@pytest.mark.parametrize("jobs", [1, 2])
def test_declarations_of_formulas_that_are_read_with_the_past(jobs, tmp_path):
    """Without it they are errors, which have to know what is declared, too."""
    (tmp_path / "system.aut").write_text('des (0, 1, 1)\n(0, "iA", 0)\n')
    head = "#inputs [A, B]\n#0: title\n"
    (tmp_path / "p.ltl").write_text(f"{head}G(iA -> O iB)\n#1:\nG(iA -> O iA)\n")
    frame = solve(str(tmp_path), jobs=jobs, past=True)
    assert frame["verdict"].tolist() == ["violated", "holds"]
    assert frame["title"].tolist()[0] == "title"


# --- problems that are not ours -----------------------------------------------


def _wrong(folder: Path) -> list[tuple[str, str]]:
    """Solve a problem; return its properties with another verdict than the truth."""
    frame = solve(str(folder))
    assert len(frame) == frame["expected"].notna().sum() > 0
    violated = frame[frame["verdict"] == "violated"]
    assert violated["lasso_cycle"].map(lambda cell: bool(json.loads(cell))).all()
    wrong = frame[frame["verdict"] != frame["expected"]]
    return list(zip(wrong["formula_id"], wrong["verdict"], strict=True))


@needs_benchmarks
@pytest.mark.parametrize("name", ["D01", "D02", "D03", "D05", "D06", "D08"])
def test_published_truth(name: str):
    """All properties of small problems, deadlocks and decoys among them."""
    assert _wrong(Path(BENCHMARKS or "") / "eca" / "problems" / name) == []


@needs_benchmarks
@pytest.mark.slow
@pytest.mark.parametrize("number", [4, 7, *range(9, 17)])
def test_published_truth_of_large_problems(number: int):
    """Those with millions of states."""
    assert _wrong(Path(BENCHMARKS or "") / "eca" / "problems" / f"D{number:02}") == []


@needs_benchmarks
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "arith", "array"])
@pytest.mark.parametrize("seed", range(900, 905))
def test_generated_problems(tmp_path, kind: str, seed: int):
    """Fresh programs, whose truth another search has found on the compiled program."""
    script = Path(BENCHMARKS or "") / "eca" / "gen_eca.py"
    made = [sys.executable, script, tmp_path, "--name", "G1", "--kind", kind]
    how = ["--seed", str(seed), "--target", "60", "--obf", "4", "--tmp", tmp_path / "t"]
    subprocess.run([*made, *how], check=True, capture_output=True)
    rows = list(csv.DictReader((tmp_path / "G1" / "truth.csv").open()))
    assert len(rows) == 20
    assert _wrong(tmp_path / "G1") == []


def test_rows_without_titles_have_none(tmp_path):
    """Formulas of other files have no title."""
    (tmp_path / "system.aut").write_text('des (0, 1, 1)\n(0, "a", 0)\n')
    (tmp_path / "f.ltl").write_text("G a\n")
    frame = solve(str(tmp_path))
    assert pd.isna(frame["title"]).all()
