"""What RERS calls problems and properties, and the answers to them."""

from __future__ import annotations

import pytest

from ltlpipe import InputError, LtlpipeError
from ltlpipe.batch.rers import Effort, Name, RersWriter, names_of
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import find_problems, tasks_of

RING = 'des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n'


def problem(folder, formulas, file="formulas.ltl"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system_0.aut").write_text(RING)
    (folder / "system_1.aut").write_text(RING)
    (folder / file).write_text(formulas)


def names(folder):
    return names_of(tasks_of(find_problems([folder])))


@pytest.mark.parametrize(
    ("folder", "file", "number"),
    [
        ("009", "formulas.ltl", 9),
        ("Problem101", "f.ltl", 101),
        ("rers2019-101", "f.ltl", 101),
        ("2019", "problem-101.ltl", 101),
        ("2019", "RERS2019problem7.ltl", 7),
    ],
)
def test_the_number_of_a_problem(folder, file, number, tmp_path):
    """The last number in the name of the file, or of its folder."""
    problem(tmp_path / folder, "G a\n", file)
    assert names(tmp_path) == [Name(number, 0)]


def test_the_folder_that_one_stands_in(tmp_path, monkeypatch):
    """It has a name although the path has none."""
    problem(tmp_path / "12", "G a\n")
    monkeypatch.chdir(tmp_path / "12")
    assert names(".") == [Name(12, 0)]


@pytest.mark.parametrize(
    ("formulas", "properties"),
    [
        ("G a\nF a\n", [0, 1]),
        ("# heading\n\nG a\n# more\nF a\n", [0, 1]),
        ("0: G a\n1: F a\n", [0, 1]),
        ("#1\n7: G a\n 3 : F a\n", [7, 3]),
        ("G(\nF a\n", [None, 1]),
        ("# nothing\n", [None]),
    ],
    ids=["plain", "comments", "numbered", "any numbers", "syntax", "empty"],
)
def test_the_number_of_a_property(formulas, properties, tmp_path):
    """What stands before the colon, or the place from 0."""
    problem(tmp_path / "1", formulas)
    assert names(tmp_path) == [Name(1, number) for number in properties]


def test_a_problem_without_number(tmp_path):
    """Neither the file nor the folder has one."""
    problem(tmp_path / "problem", "G a\n")
    with pytest.raises(InputError, match="needs the number of the problem") as error:
        names(tmp_path)
    assert error.value.file == str(tmp_path / "problem" / "formulas.ltl")


def test_two_tasks_of_one_name(tmp_path):
    """Nobody could tell their answers apart."""
    problem(tmp_path / "a" / "1", "G a\n")
    problem(tmp_path / "b" / "1", "# other\nF a\n")
    with pytest.raises(InputError, match=r"problem 1, property 0.*formulas.ltl:1;"):
        names(tmp_path)


def test_answers_and_efforts(tmp_path):
    """Decided tasks only; the others count in the summary."""
    problem(tmp_path / "p" / "7", "3: G a\n1: G(a -> F b)\nG(\n")
    problem(tmp_path / "p" / "8", "F a\n")
    (tmp_path / "p" / "8" / "system_0.aut").write_text("nonsense")
    tasks = tasks_of(find_problems([tmp_path / "p"]))
    out = tmp_path / "rers.csv"

    with RersWriter(out, names_of(tasks)) as answers:
        for row in solve_rows(tasks):
            answers.write(row)

    assert out.read_text() == "7,3,false\n7,1,true\n"
    assert answers.n_answers == 2
    assert list(answers.efforts) == [7, 8]
    seven, eight = answers.efforts.values()
    assert seven == Effort(2, seven.seconds, decided=2, total=3)
    assert eight == Effort(None, eight.seconds, decided=0, total=1)
    assert seven.seconds > 0


def test_a_file_that_cannot_be_written(tmp_path):
    """An error of ours."""
    with pytest.raises(LtlpipeError, match="cannot be written"):
        RersWriter(tmp_path / "nothing" / "r.csv", [])
