"""What `solve` takes in Python: DataFrames, pairs, paths, and what they hold."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
import spot

from ltlpipe import InputError, UnsupportedError, load, parse, solve
from ltlpipe.batch.task_sources import as_tasks
from tests.batch.faults import RING
from tests.batch.test_solving import problem
from tests.batch.test_tasks import NEVER_A
from tests.cli.command_line import RING as RING_TEXT

MODEL = """byte x = 0;
process P { state s; init s; trans s -> s { guard x < 2; effect x = x + 1; }; }
system async;
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a few systems."""
    for name in ("x.aut", "y.aut"):
        (tmp_path / name).write_text(RING_TEXT)
    (tmp_path / "m.dve").write_text(MODEL)
    (tmp_path / "never-a.hoa").write_text(NEVER_A)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(folder):
    return load("m.dve")


def verdicts(frame):
    return frame["verdict"].tolist()


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_frame(jobs, folder):
    """Cells hold paths and texts, or systems and formulas themselves."""
    frame = pd.DataFrame(
        {
            "System": [RING, "x.aut; y.aut", folder / "x.aut", ["x.aut", "y.aut"]],
            "formula": ["G(a -> F b)", spot.formula("F a"), parse("G b"), "G("],
            "Timeout": [None, 60, 2.5, None],
            "emptiness": ["se05", None, "", "couvreur99"],
            "seed": [1, None, None, 2],
        },
        index=[7, 7, "a", "b"],
    )

    found = solve(frame, jobs=jobs)

    assert verdicts(found) == ["holds", "holds", "violated", "unknown"]
    assert found["system"].tolist() == [
        *("ring", "x.aut y.aut"),
        *(f"{folder}/x.aut", "x.aut y.aut"),
    ]
    assert found["formula"].tolist() == ["G(a -> F b)", "Fa", "G b", "G("]
    assert found["formula_id"].tolist() == found["formula"].tolist()
    assert found["seed"].tolist() == [1, pd.NA, pd.NA, 2]
    assert [task.options for task in as_tasks(frame)] == [
        {"emptiness": "se05", "seed": 1},
        {"timeout": 60.0},
        {"timeout": 2.5},
        {"emptiness": "couvreur99", "seed": 2},
    ]


def test_a_frame_of_automata(folder):
    """The column names files, as that of a task table does."""
    frame = pd.DataFrame(
        {
            "system": [RING, RING],
            "formula": [None, "F a"],
            "automaton": ["never-a.hoa", None],
            "fair_sets": [("a", "b"), None],
            "fairness": ["weak", None],
        }
    )
    assert verdicts(solve(frame)) == ["holds", "holds"]
    assert as_tasks(frame)[0].options["fair_sets"] == ("a", "b")


def test_the_table_of_a_frame(folder):
    """A frame says what the file would say that it is written to."""
    frame = pd.DataFrame(
        {
            "system": ["x.aut", "x.aut;y.aut"],
            "formula": ["G a", "F b"],
            "seed": [3.0, None],
            "unknown": ["never", None],
        }
    )
    frame.to_parquet("t.parquet")
    same = ["system", "formula", "verdict", "seed"]
    pd.testing.assert_frame_equal(solve(frame)[same], solve("t.parquet")[same])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"formula": ["G a"]}, "tasks: expected columns 'system' and 'formula'"),
        ({"system": [RING]}, "tasks: expected columns 'system' and 'formula'"),
        (
            {"system": [RING], "formula": ["a"], "emptyness": ["se05"]},
            "tasks: column 'emptyness' is not an option",
        ),
        (
            {"system": [RING], "formula": ["a"], "states": [1]},
            "tasks: column 'states' is not an option",
        ),
        (
            {"system": [RING], "formula": ["a"], "expected": ["yes"]},
            "expected 'yes', expected one of holds",
        ),
        (
            {"system": ["x.aut", "z.aut"], "formula": ["a", "a"]},
            "tasks:2: z.aut: no such file",
        ),
        ({"system": [None], "formula": ["a"]}, "tasks:1: no file is named"),
        ({"system": [RING], "formula": [None]}, "tasks:1: .* found neither"),
        (
            {"system": [RING], "formula": ["a"], "automaton": ["never-a.hoa"]},
            "tasks:1: .* found both",
        ),
        (
            {"system": [RING], "formula": ["a"], "seed": ["x"]},
            "tasks:1: .*seed.* expected a whole number",
        ),
    ],
    ids=[
        *("system", "formula", "misspelt", "result", "expected", "file", "no file"),
        *("neither", "both", "option"),
    ],
)
def test_a_frame_that_is_no_task_table(columns, message, folder):
    """The message names the parameter and the row."""
    with pytest.raises(InputError, match=message):
        solve(pd.DataFrame(columns))


@pytest.mark.parametrize("column", ["system", "formula"])
def test_a_cell_of_another_kind(column):
    cells = {"system": [RING, RING], "formula": ["a", "a"]}
    cells[column][1] = 3.5
    with pytest.raises(UnsupportedError, match=r"^tasks\[1\]: .*, not a float$"):
        solve(pd.DataFrame(cells))


def test_open_files(folder):
    """One that stands in several tasks is read once; several make a network."""
    with (folder / "x.aut").open() as x, (folder / "m.dve").open("rb") as m:
        frame = solve([(x, "F a"), (x, "G a"), (m, "F(x == 2)"), (m, "F(x == 3)")])
    assert verdicts(frame) == ["holds", "violated", "holds", "violated"]

    with (folder / "x.aut").open() as x, (folder / "y.aut").open() as y:
        cells = {"system": [[x, y], "x.aut"], "formula": ["G a", "F b"]}
        frame = solve(pd.DataFrame(cells), jobs=2)
    assert verdicts(frame) == ["violated", "holds"]
    assert frame["system"].tolist() == [f"{folder}/x.aut {folder}/y.aut", "x.aut"]

    with pytest.raises(InputError, match="<file>"):
        solve([(io.StringIO("nonsense"), "F a")])


def test_a_model(model, folder):
    """It is solved in this process; another one, or a store, is given its file."""
    tasks = [(model, "F(x == 2)"), ("m.dve", "G(x == 0)"), (model, "F(y == 2)")]
    frame = solve(pd.DataFrame(tasks, columns=["system", "formula"]))
    assert verdicts(frame) == ["holds", "violated", "unknown"]
    assert frame["reason"].tolist()[2] == "input-error"
    assert frame["system"].tolist() == ["m.dve"] * 3

    for how in ({"jobs": 2}, {"store": "run.sqlite"}):
        with pytest.raises(UnsupportedError, match=r"tasks: a DveModel .* its file"):
            solve(tasks, **how)
    assert not (folder / "run.sqlite").exists()
    assert verdicts(solve(tasks[1:2], jobs=2)) == ["violated"]


def test_paths_beside_pairs(folder):
    """A list may hold all of them."""
    problem(folder / "p")
    table = folder / "t.csv"
    table.write_text("system,formula\nx.aut,F a\n")

    frame = solve([folder / "p", (RING, "G b"), str(table), ["x.aut", "F b"]])

    assert verdicts(frame) == ["holds", "violated", "violated", "holds", "holds"]


def test_an_iterator(folder):
    """Of pairs, or of paths."""
    frame = solve((RING, text) for text in ("F a", spot.formula("G a")))
    assert verdicts(frame) == ["holds", "violated"]
    problem(folder / "p")
    assert len(solve(iter([folder / "p"]))) == 2


def test_relative_paths(folder, monkeypatch):
    """They begin where the caller is, though a worker was started elsewhere."""
    for name, text in {"1": RING_TEXT, "2": RING_TEXT.replace('"b"', '"a"')}.items():
        (folder / name).mkdir()
        (folder / name / "x.aut").write_text(text)
        monkeypatch.chdir(folder / name)
        frame = solve([("x.aut", "G a")], jobs=1)
        assert verdicts(frame) == ["violated" if name == "1" else "holds"]


@pytest.mark.parametrize("jobs", [None, 2])
def test_graphs_of_spot(jobs, folder):
    """In pairs and in cells, as systems and as components of networks."""
    graph = spot.automaton(NEVER_A)
    part = spot.automaton(NEVER_A.replace("[!0]", "[0]"))
    rows = [(graph, "G !a"), (graph, "F a"), ([part, part], "G a")]
    frame = pd.DataFrame(rows, columns=["system", "formula"])
    expected = ["holds", "violated", "holds"]
    assert verdicts(solve(rows, jobs=jobs)) == expected
    assert verdicts(solve(frame, jobs=jobs)) == expected


@pytest.mark.parametrize("jobs", [None, 1])
def test_columns_of_the_caller(jobs):
    """They are those of the results; two of them say what results say."""
    given = pd.DataFrame(
        {
            "system": [RING, RING],
            "formula": ["G a", "GF a"],
            "formula_id": ["always", None],
            "expected": ["violated", "holds"],
            "family": ["rings", None],
            "size": [2, 3],
        }
    )
    frame = solve(given, jobs=jobs, grid="seed=1,2")
    assert frame["formula_id"].tolist() == ["always", "always", "GF a", "GF a"]
    assert frame["expected"].tolist() == 2 * ["violated"] + 2 * ["holds"]
    assert frame["size"].tolist() == [2, 2, 3, 3]
    assert frame["family"].tolist() == ["rings", "rings", pd.NA, pd.NA]
    numbered = solve(given.assign(formula_id=[1, None]), jobs=jobs)
    assert numbered["formula_id"].tolist() == ["1", "GF a"]


def test_a_system_and_formulas(folder):
    """One system, or several by name; formulas may have names, or be in a file."""
    file = folder / "f.ltl"
    file.write_text("always: G a\n\nGF a\nG(\n7: F b\n")
    frame = solve(RING, Path(file))
    assert frame["formula_id"].tolist() == ["always", "f.ltl:3", "f.ltl:4", "7"]
    assert verdicts(frame) == ["violated", "holds", "unknown", "holds"]
    frame = solve(RING, ["G a", "GF a"], seed=1)
    assert frame["formula_id"].tolist() == ["G a", "GF a"]
    assert frame["seed"].tolist() == [1, 1]
    (folder / "ring.aut").write_text(RING_TEXT)
    systems = {"one": RING, "two": folder / "ring.aut"}
    for jobs in (None, 1):
        frame = solve(systems, {"always": "G a", "often": "GF a"}, jobs=jobs)
        assert frame["system"].tolist() == ["one", "one", "two", "two"]
        assert frame["formula_id"].tolist() == 2 * ["always", "often"]
        assert verdicts(frame) == 2 * ["violated", "holds"]
    assert solve(RING, "G a")["formula"].tolist() == ["G a"]
    with pytest.raises(UnsupportedError, match=r"formulas\[0\]"):
        solve(RING, [1])
    with pytest.raises(UnsupportedError, match=r"tasks\['x'\]"):
        solve({"x": 1}, "G a")
