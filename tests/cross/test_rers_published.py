"""Problems of the RERS challenge as they are published, with their solutions.

The folder is named by ``LTLPIPE_BENCHMARKS``, by default beside the checkout.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ltlpipe import solve
from ltlpipe.batch.rers import RersWriter, names_of
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import find_tasks

DEFAULT = Path(__file__).parents[2].parent / "shared" / "benchmarks"
FOLDER = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "rers"
TRAINING = FOLDER / "training"

pytestmark = [
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason=f"no benchmarks in {FOLDER} (LTLPIPE_BENCHMARKS)"
    ),
    pytest.mark.thorough("reads published problems"),
]

_HEADER = re.compile(r"^#(\d+):\s*(true|false)?.*$", re.MULTILINE)


def in_files(folder):
    """What the headers say, read by one expression: solutions by problem and number."""
    return {
        (int(re.findall(r"\d+", file.name)[0]), int(number)): solution
        for file in folder.glob("problem*-properties*.txt")
        for number, solution in _HEADER.findall(file.read_text())
    }


@pytest.mark.parametrize(
    ("folder", "n", "n_solutions"), [("training", 200, 200), ("2017", 160, 0)]
)
def test_numbers_and_solutions(folder, n, n_solutions):
    """All properties have the numbers of their headers, and parse."""
    tasks = find_tasks([FOLDER / folder])
    names = names_of(tasks)
    words = {"holds": "true", "violated": "false", None: ""}
    found = {
        (name.problem, name.property): words[task.expected]
        for name, task in zip(names, tasks, strict=True)
    }

    assert len(tasks) == len(found) == n
    assert found == in_files(FOLDER / folder)
    assert sum(bool(solution) for solution in found.values()) == n_solutions
    assert all(task.formula.text.startswith("(") for task in tasks)


def answered(tasks, path):
    """Solve tasks, write answers as the challenge wants them, and read them."""
    with RersWriter(path, names_of(tasks)) as answers:
        for row in solve_rows(tasks):
            answers.write(row)
    lines = (line.split(",") for line in path.read_text().splitlines())
    return {(int(problem), int(number)): answer for problem, number, answer in lines}


def test_answers_to_some_training_problems(tmp_path):
    """They are the solutions."""
    small = ("problem101.dot", "problem103.dot", "problem109.dot")
    tasks = [t for t in find_tasks([TRAINING]) if Path(t.system[0]).name in small]
    solutions = in_files(TRAINING)

    found = answered(tasks, tmp_path / "answers.csv")

    assert len(found) == 60
    assert found == {name: solutions[name] for name in found}


@pytest.mark.slow
def test_answers_to_all_training_problems(tmp_path):
    """All 200 are the solutions, and the table says so."""
    found = answered(find_tasks([TRAINING]), tmp_path / "answers.csv")
    assert found == in_files(TRAINING)
    frame = solve(TRAINING)
    assert (frame["verdict"] == frame["expected"]).all()
    assert len(frame) == 200
