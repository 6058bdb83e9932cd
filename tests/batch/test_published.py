"""Published RERS problems: which files they are, their numbers, and their solutions."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from ltlpipe import InputError, results, solve
from ltlpipe.batch.rers import Agreement, Name, RersWriter, names_of
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import Problem, find_problems, find_tasks

RING = """\
digraph G {
  subgraph component0 {
0 [label="0" style=filled];
0->1 [label="" color=black ];
1->2 [color=black label="a"];
2->1 [label="b" ];
  }
}
"""

PROPERTIES = """\
#1: true
( G(a => F(b)) )

#3: false
( G(!a) )

#12: true
( (!b W a) )
"""


def published(folder, number, properties=PROPERTIES, end="-with-solution"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"problem{number}.dot").write_text(RING)
    (folder / f"problem{number}-properties{end}.txt").write_text(properties)
    return folder


def refusal(folder):
    with pytest.raises(InputError) as caught:
        find_problems([folder])
    return str(caught.value)


# --- files ------------------------------------------------------------------


def test_pairs_in_any_folder_by_their_numbers(tmp_path):
    """2 before 10, any number of pairs in a folder, at any depth, beside problems."""
    published(tmp_path / "set", 10, end="")
    published(tmp_path / "set", 2)
    published(tmp_path / "set" / "more", 101)
    (tmp_path / "set" / "system.dot").write_text(RING)
    (tmp_path / "set" / "formulas.ltl").write_text("G a\n")
    for other in ("readme.txt", "problem2.pdf", "problem2example.dot", "x.dot"):
        (tmp_path / "set" / other).touch()

    folder = f"{tmp_path}/set"
    assert find_problems([tmp_path]) == [
        Problem((f"{folder}/system.dot",), (f"{folder}/formulas.ltl",)),
        Problem(
            (f"{folder}/problem2.dot",),
            (f"{folder}/problem2-properties-with-solution.txt",),
        ),
        Problem((f"{folder}/problem10.dot",), (f"{folder}/problem10-properties.txt",)),
        Problem(
            (f"{folder}/more/problem101.dot",),
            (f"{folder}/more/problem101-properties-with-solution.txt",),
        ),
    ]


@pytest.mark.parametrize(
    ("system", "properties"),
    [
        ("Problem7.dot", "problem7-properties.txt"),
        ("problem7.dot.gz", "Problem7-properties-2017.txt.gz"),
        ("problem_07.dot", "problem-7_properties.TXT"),
        ("problem7.dot", "problem7.ltl"),
        ("problem7.dot", "problem7-formulas.ltl.gz"),
    ],
)
def test_names_of_files(system, properties, tmp_path):
    """In either case, compressed or not, with zeros in front; also `.ltl`."""
    for name in (system, properties):
        (tmp_path / name).touch()
    expected = Problem((f"{tmp_path}/{system}",), (f"{tmp_path}/{properties}",))
    assert find_problems([tmp_path]) == [expected]


@pytest.mark.parametrize(
    ("names", "file", "message"),
    [
        (
            ["problem7.dot"],
            "problem7.dot",
            "a problem without problem7-properties*.txt",
        ),
        (
            ["problem7.dot", "problem8-properties.txt", "problem7.ltl"],
            "problem8-properties.txt",
            "properties without problem8.dot beside them",
        ),
        (
            ["problem7.dot", "problem07.dot.gz", "problem7.ltl"],
            "",
            "two systems of problem 7: problem07.dot.gz, problem7.dot",
        ),
    ],
    ids=["no properties", "no system", "two systems"],
)
def test_halves_of_pairs(names, file, message, tmp_path):
    """A mistake that would leave answers out without a word."""
    for name in names:
        (tmp_path / name).touch()
    place = f"{tmp_path}/{file}" if file else str(tmp_path)
    (error,) = (p.error for p in find_problems([tmp_path]) if p.error is not None)
    assert str(error).startswith(f"{place}: {message}")


# --- numbers and answers ----------------------------------------------------


def test_the_number_is_that_of_the_header(tmp_path):
    """In the table, in the answers, and of properties that cannot be read."""
    text = "#5:\nG(a -> F b)\n#2:\nG(\n#9:\n#0:\nG !a\n"
    published(tmp_path, 101, text, end="-of-2017")
    tasks = find_tasks([tmp_path])

    assert names_of(tasks) == [Name(101, number) for number in (5, 2, 9, 0)]
    with RersWriter(tmp_path / "rers.csv", names_of(tasks)) as answers:
        for row in solve_rows(tasks):
            answers.write(row)
    assert (tmp_path / "rers.csv").read_text() == "101,5,true\n101,0,false\n"
    frame = solve(tmp_path)
    assert frame["formula_id"].tolist() == ["5", "2", "9", "0"]
    assert frame["verdict"].tolist() == ["holds", "unknown", "unknown", "violated"]
    assert frame["reason"].tolist()[1:3] == ["input-error"] * 2
    assert frame["expected"].isna().all()


def test_headers_in_the_layout_of_folders(tmp_path):
    """A file .ltl beside a system.* has the same headers, or none as before."""
    for name, text in {
        "7": "#4: true\nG(a -> F b)\n",
        "8": "# one\nG a\nF a\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "system.dot").write_text(RING)
        (tmp_path / name / "formulas.ltl").write_text(text)

    tasks = find_tasks([tmp_path])
    assert names_of(tasks) == [Name(7, 4), Name(8, 0), Name(8, 1)]
    frame = solve(tmp_path)
    assert frame["formula_id"].tolist() == ["4", "1", "2"]
    assert frame["expected"].tolist() == ["holds", pd.NA, pd.NA]


def test_a_list_and_the_same_with_solutions(tmp_path):
    """Each property once, with the solution, whichever file comes first."""
    plain = PROPERTIES.replace("true", "").replace("false", "(open)")
    published(tmp_path, 7, plain, end="")
    published(tmp_path, 7)
    published(tmp_path, 7, "#3:\nG !a\n#4:\nF a\n", end="-z")

    tasks = find_tasks([tmp_path])

    assert names_of(tasks) == [Name(7, number) for number in (1, 3, 12, 4)]
    assert [task.expected for task in tasks] == ["holds", "violated", "holds", None]


@pytest.mark.parametrize(
    "other", ["#2:\nF b\n#3: true\nG !a\n", "#3:\nG a\n", "#3:\nG(\n"]
)
def test_a_property_of_two_files_that_differs(other, tmp_path):
    """The second one is a row that says so; the others are solved."""
    published(tmp_path, 7, other, end="-z")
    published(tmp_path, 7)

    frame = solve(tmp_path)

    wrong = frame[frame["reason"] == "input-error"]
    assert wrong["formula_id"].tolist() == ["problem7-properties-z.txt"]
    assert frame["verdict"].tolist().count("holds") >= 2
    (error,) = (
        t.formula for t in find_tasks([tmp_path]) if isinstance(t.formula, InputError)
    )
    assert error.line == len(other.splitlines())
    assert "a second property 3, whose formula or solution is not that of " in str(
        error
    )
    assert f"{tmp_path}/problem7-properties-with-solution.txt:5" in str(error)


def test_a_list_that_is_refused_is_one_row(tmp_path):
    """The other problems go on."""
    published(tmp_path, 7, "#1: true\nG a\n#1: true\nG a\n")
    published(tmp_path, 8)

    frame = solve(tmp_path)

    assert frame["reason"].tolist() == ["input-error", *[pd.NA] * 3]
    assert frame["formula_id"][0] == "problem7-properties-with-solution.txt"
    assert names_of(find_tasks([tmp_path]))[0] == Name(7, None)


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_the_solutions(seed, tmp_path):
    """Shuffled and spread over lines: each property gets its own answer back."""
    rng = random.Random(seed)
    known = {"G(a => F(b))": True, "(!b WU a)": True, "G(!a)": False, "F(G(a))": False}
    expected = {}
    for problem in rng.sample(range(1000), 3):
        lines = []
        for number in rng.sample(range(1000), 6):
            formula, holds = rng.choice(list(known.items()))
            expected[problem, number] = "true" if holds else "false"
            told = rng.choice(["", f"\t {expected[problem, number]}"])
            gap = rng.choice([" ", "\n", "\n\n  "])
            lines += [f"#{number}:{told}", gap.join(["(", formula, ")"]), ""]
        published(tmp_path / "set", problem, "\n".join(lines), end="")

    tasks = find_tasks([tmp_path])
    with RersWriter(tmp_path / "rers.csv", names_of(tasks)) as answers:
        for row in solve_rows(tasks):
            answers.write(row)

    found = [line.split(",") for line in (tmp_path / "rers.csv").read_text().split()]
    assert {(int(p), int(k)): answer for p, k, answer in found} == expected
    assert len(found) == len(expected)
    agreements = [effort.agreement for effort in answers.efforts.values()]
    assert sum(a.n_published for a in agreements) == sum(
        task.expected is not None for task in tasks
    )
    assert all(a.n_agreeing == a.n_published for a in agreements)


# --- solutions --------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"jobs": 1}, {"store": "run.sqlite"}], ids=str)
def test_the_table_has_the_published_verdicts(how, tmp_path):
    """As verdicts, which can be compared with ours."""
    published(tmp_path, 7, PROPERTIES.replace("#12: true", "#12: false"))
    if "store" in how:
        how = {"store": tmp_path / "run.sqlite"}

    frame = solve(tmp_path, **how)

    assert frame["expected"].tolist() == ["holds", "violated", "violated"]
    assert frame.loc[frame["verdict"] != frame["expected"], "formula_id"].tolist() == [
        "12"
    ]


def test_a_store_keeps_up_with_solutions(tmp_path):
    """They are no part of the question: corrected ones cost no second search."""
    store = tmp_path / "run.sqlite"
    published(tmp_path, 7, PROPERTIES.replace("true", "(open)"))
    solve(tmp_path, store=store)
    before = results(store)
    published(tmp_path, 7)
    solve(tmp_path, store=store)
    after = results(store)

    assert before["expected"].tolist() == [pd.NA, "violated", pd.NA]
    assert after["expected"].tolist() == ["holds", "violated", "holds"]
    assert after["started_at"].equals(before["started_at"])


def test_a_table_with_another_word(tmp_path):
    """The vocabulary of published verdicts is closed, too."""
    (tmp_path / "r.csv").write_text(
        "system,formula,verdict,expected\ns,G a,holds,true\n"
    )
    with pytest.raises(
        InputError, match="expected: 'true', expected one of holds, viol"
    ):
        results(tmp_path / "r.csv")


def test_agreement():
    """Answers that agree, those that do not in order, and what is not decided."""
    agreement = Agreement()
    about = {"system": "set/problem7.dot"}
    for number, (name, verdict, expected) in enumerate(
        [
            ("1", "holds", "holds"),
            ("2", "violated", "holds"),
            ("3", "unknown", "holds"),
            ("4", "holds", None),
            ("5", "holds", "violated"),
        ]
    ):
        row = {"formula_id": name, "verdict": verdict, "expected": expected}
        agreement.add(about | row, -number)

    assert (agreement.n_published, agreement.n_answers, agreement.n_agreeing) == (
        4,
        3,
        1,
    )
    assert str(agreement) == (
        "1 of 3 answers agree with the published solutions; 1 more not decided"
    )
    assert [str(differing) for differing in agreement.differing] == [
        "problem7.dot, property 5: holds, published: violated",
        "problem7.dot, property 2: violated, published: holds",
    ]
