"""Task lists: tables, pairs, automata, and the grid that multiplies them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ltlpipe import (
    FormulaError,
    InputError,
    UnsupportedError,
    results,
    solve,
    verify,
)
from ltlpipe.automata.translation import automaton as ltlpipe_automaton
from ltlpipe.batch.task_sources import find_tasks, multiplied, read_tasks
from ltlpipe.batch.tasks import (
    AutomatonFile,
    Digests,
    Task,
    combinations,
    key_of,
    options_text,
    parse_grid,
    setting_value,
)
from ltlpipe.logic.formulas import parse
from ltlpipe.systems.reading import included_files
from tests.batch.faults import RING
from tests.cli.command_line import RING as RING_TEXT

NEVER_A = """HOA: v1
States: 1
Start: 0
AP: 1 "a"
Acceptance: 1 Inf(0)
--BODY--
State: 0 {0}
[!0] 0
--END--
"""


@pytest.fixture
def folder(tmp_path):
    """Systems beside a table that is to be written."""
    for name in ("x.aut", "y.aut"):
        (tmp_path / name).write_text(RING_TEXT)
    (tmp_path / "never-a.hoa").write_text(NEVER_A)
    return tmp_path


def table(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_csv_table(folder):
    """Options by column, an empty cell says nothing, paths begin at the table."""
    path = table(
        folder,
        "System,formula,automaton,timeout,max-states,deterministic,fair_sets,fairness\n"
        'x.aut,"G(a -> F b)",,2.5,,true,,\n'
        "\n"
        'x.aut; y.aut,"F\na",,,7,no,"a,b; b",weak\n'
        f"{folder}/y.aut,,never-a.hoa,,,,,\n"
        "x.aut,G(,,,,,,\n",
    )

    one, two, three, four = tasks = read_tasks(path)

    assert find_tasks([str(path)])[2] == three
    assert one.system == (f"{folder}/x.aut",)
    assert (one.formula.text, one.formula.line) == ("G(a -> F b)", 2)
    assert one.options == {"timeout": 2.5, "deterministic": True}
    assert two.system == (f"{folder}/x.aut", f"{folder}/y.aut")
    assert two.formula.line == 4
    assert two.options == {
        "max_states": 7,
        "deterministic": False,
        "fair_sets": ("a,b", "b"),
        "fairness": "weak",
    }
    assert three.formula == AutomatonFile(f"{folder}/never-a.hoa", str(path), 6)
    assert isinstance(four.formula, FormulaError)
    assert (four.formula.file, four.formula.line) == (str(path), 7)
    assert [task.position for task in tasks] == [0, 1, 2, 3]


def test_a_parquet_table(folder):
    """Whole numbers beside missing ones are whole."""
    frame = pd.DataFrame(
        {
            "system": ["x.aut", "y.aut"],
            "formula": ["G a", "F b"],
            "seed": [3.0, None],
            "deterministic": [True, None],
        }
    )
    frame.to_parquet(folder / "t.parquet")

    tasks = read_tasks(folder / "t.parquet")

    assert [task.options for task in tasks] == [{"seed": 3, "deterministic": True}, {}]
    frame = solve(folder / "t.parquet", seed=9)
    assert frame["verdict"].tolist() == ["violated", "holds"]
    assert frame["seed"].tolist() == [3, 9]
    assert frame["formula_id"].tolist() == ["t.parquet:1", "t.parquet:2"]


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", 1, "the file is empty, expected a header"),
        ("system,formula\n", None, "no task found"),
        ("formula\nG a\n", 1, "expected columns 'system' and 'formula'"),
        ("system,timeout\nx.aut,1\n", 1, "expected columns 'system' and 'formula'"),
        ("system,formula,colour\nx.aut,G a,1\n", 1, "'colour' is not an option"),
        ("system;formula\nx.aut;G a\n", 1, "the separator seems to be ';', expected a"),
        ("system,formula,System\nx.aut,G a,1\n", 1, "two columns 'system'"),
        ("system,formula\nx.aut,G a\nx.aut\n", 3, "1 cells, expected 2"),
        ("system,formula\nx.aut,G a,b\n", 2, "3 cells, expected 2"),
        ("system,formula\nz.aut,G a\n", 2, "z.aut: no such file"),
        ("system,formula\n.,G a\n", 2, ": a folder, expected a file"),
        ("system,formulae\nx,G a\n", 1, "or an option; did you mean formula?"),
        ("system,formula\n,G a\n", 2, "no file is named"),
        ("system,formula\nx.aut,\n", 2, "found neither"),
        ("system,formula,automaton\nx.aut,G a,never-a.hoa\n", 2, "found both"),
        ("system,automaton\nx.aut,z.hoa\n", 2, "z.hoa: no such file"),
        ("system,formula,timeout\nx.aut,G a,soon\n", 2, "'soon': expected a number"),
        ("system,formula,timeout\nx.aut,G a,-1\n", 2, "expected 0 or more"),
        ("system,formula,seed\nx.aut,G a,1.5\n", 2, "expected a whole number"),
        (
            "system,formula,deterministic\nx.aut,G a,maybe\n",
            2,
            "expected true or false",
        ),
        ("system,formula,emptiness\nx.aut,G a,dfs\n", 2, "expected one of auto"),
        ('system,formula\nx.aut,G a\nx.aut,"G b\n', 3, "not CSV"),
    ],
)
def test_bad_tables(text, line, complaint, folder):
    """Errors name file and line before anything is solved."""
    path = table(folder, text)
    with pytest.raises(InputError, match=complaint) as caught:
        find_tasks([path])
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_what_is_no_table(folder):
    """Bytes, and files that are not there."""
    (folder / "t.csv").write_bytes(b"\xff")
    (folder / "t.parquet").write_bytes(b"PAR1")
    for name in ("t.csv", "t.parquet", "no.csv", "no.parquet"):
        with pytest.raises(InputError) as caught:
            find_tasks([folder / name])
        assert caught.value.file == str(folder / name)


@pytest.mark.parametrize("options", [{}, {"jobs": 1}])
def test_automata(options, folder):
    """A run without a violates "F a"; the ring has none, b alone has."""
    (folder / "y.aut").write_text('des (0, 2, 1)\n(0, "a", 0)\n(0, "b", 0)\n')
    path = table(folder, "system,automaton\nx.aut,never-a.hoa\ny.aut,never-a.hoa\n")

    frame = solve(path, **options)

    assert frame["verdict"].tolist() == ["holds", "violated"]
    assert frame["formula"].isna().all()
    assert set(frame["formula_id"]) == {"never-a.hoa"}

    (folder / "sub").mkdir()
    (folder / "sub" / "never-a.hoa").write_text((folder / "never-a.hoa").read_text())
    path = table(folder, "system,automaton\nx.aut,sub/never-a.hoa\nx.aut,never-a.hoa\n")
    found = solve(path, **options)["formula_id"]
    assert found.tolist() == ["sub/never-a.hoa", "never-a.hoa"]


def test_a_grid():
    """Every choice, in order; lists have plus signs between."""
    grid = parse_grid(
        ["emptiness=se05,couvreur99 max-states=5", "reduce=none,a+b"[:11]]
    )

    assert grid == {
        "emptiness": ["se05", "couvreur99"],
        "max_states": [5],
        "reduce": ["none"],
    }
    assert parse_grid(["reduce=alphabet+ample,none,none"]) == {
        "reduce": ["alphabet,ample", "none"]
    }
    tasks = multiplied([Task(RING, "G a"), Task(RING, "F a", 1, {"seed": 1})], grid)
    assert [
        (t.formula, t.options.get("seed"), t.options["emptiness"]) for t in tasks
    ] == [
        ("G a", None, "se05"),
        ("G a", None, "couvreur99"),
        ("F a", 1, "se05"),
        ("F a", 1, "couvreur99"),
    ]
    assert multiplied(tasks, {}) == tasks
    assert combinations({}) == [{}]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("translator=ltl2tgba -D %f,spot seed=1", ["ltl2tgba -D %f", None]),
        ("translator=spot,ltl3ba  -f %f  seed=1", [None, "ltl3ba  -f %f"]),
        (
            'translator="tool -x a=1,b+c y=2 %f", spot seed=1',
            ["tool -x a=1,b+c y=2 %f", None],
        ),
        ("translator=tool --a+b %f seed=1", ["tool --a,b %f"]),
        ("translator=sh -c 'a \"b\" %f' seed=1", ["sh -c 'a \"b\" %f'"]),
    ],
    ids=range(5),
)
def test_blanks_and_quotes_in_a_grid(text, commands):
    """An option ends where the next one begins, and not at a blank; quotes keep all."""
    assert parse_grid([text]) == {"translator": commands, "seed": [1]}


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        (["emptiness=se05 acceptance"], "acceptance: expected one of auto"),
        (["emptiness"], "expected option=value,value"),
        (["emptiness=se05,"], "expected option=value,value"),
        (["colour=red"], "'colour' is not an option"),
        (["emptiness=se05", "emptiness=gv04"], "is given twice"),
        (["emptiness=se06"], "expected one of auto"),
        (["seed=-1"], "seed=-1: expected 0 or more"),
        (["cpu-time=-1"], "cpu_time=-1.0: expected 0 or more"),
        (["memory=-1"], "memory=-1.0: expected 0 or more"),
        (["max_states=0"], "expected 1 or more"),
    ],
)
def test_bad_grids(parts, complaint):
    with pytest.raises(UnsupportedError, match=complaint):
        parse_grid(parts)


def test_a_grid_over_a_column(folder):
    """Nobody can say which of the two is meant."""
    path = table(folder, "system,formula,seed\nx.aut,G a,1\n")
    with pytest.raises(UnsupportedError, match="column of this name"):
        solve(path, grid="seed=1,2")


def test_a_grid_is_solved():
    """What cannot be combined is a row; the others are solved."""
    frame = solve(
        [(RING, "G(GF a -> F b)"), (RING, "GFa -> GFb")],
        grid={"emptiness": ["se05", "couvreur99"], "acceptance": ["ba", "tgba"]},
    )
    assert len(frame) == 8
    assert frame["emptiness"].tolist()[:1] == ["se05"]
    assert set(frame["verdict"]) <= {"holds", "unknown"}
    assert (frame["verdict"] == "holds").sum() >= 6


def declaring(text, *actions):
    return replace(parse(text), alphabet=actions)


def test_keys(folder):
    """Contents, options and formats count; names and spellings of defaults do not."""
    digests = Digests()

    def key_in(task, options):
        return key_of(digests.identity(task, options))

    def key(name="x.aut", formula="G a", **options):
        return key_in(Task((str(folder / name),), formula), options)

    (folder / "z.hoa").write_text(RING_TEXT)
    (folder / "w.aut").write_text(RING_TEXT + "\n")
    same = {
        key(),
        key("y.aut"),
        key(formula=" G a "),
        key(emptiness="auto", timeout=None, fair_sets=()),
    }
    assert len(same) == 1
    others = [
        key("z.hoa"),
        key("w.aut"),
        key("missing.aut"),
        key(formula="G b"),
        key(timeout=1),
        key(cpu_time=1),
        key(seed=0),
        key(fair_sets=("a",), fairness="weak"),
        key_in(Task((str(folder / "x.aut"),), declaring("G a", "b")), {}),
        key_in(Task((str(folder / "x.aut"),), declaring("G a", "c")), {}),
        key("missing.aut", constraint="n.hoa"),
        key_in(Task((str(folder / "x.aut"),), FormulaError("no 1", formula="")), {}),
        key_in(Task((str(folder / "x.aut"),), FormulaError("no 2", formula="")), {}),
        key("missing-too.aut"),
        key("y.aut", fair_sets=("a",), fairness="weak"),
        key_in(Task(RING, "G a"), {}),
        key_in(Task((str(folder / "x.aut"),) * 2, "G a"), {}),
        key_in(
            Task((str(folder / "x.aut"),), AutomatonFile(str(folder / "never-a.hoa"))),
            {},
        ),
    ]
    assert len({*same, *others}) == 1 + len(others)
    assert key(timeout=1) == key(timeout=1.0)
    assert options_text({"deterministic": False, "seed": 0}) == '{"seed": 0}'
    assert key(seed=np.int64(3)) == key(seed=3)
    assert key(fair_sets="a", fairness="weak") == key(fair_sets=["a"], fairness="weak")
    assert options_text({"seed": 1.5, "foo": 1}) == '{"foo": 1, "seed": 1.5}'
    assert key(timeout=float("inf")) == key()  # an infinite limit is none


@pytest.mark.parametrize("name", ["timeout", "cpu_time"])
def test_an_infinite_limit_is_none(name):
    assert setting_value(name, "inf") is None


@pytest.mark.parametrize(("text", "value"), [("Yes", True), ("0", False)])
def test_truth(text, value):
    assert setting_value("deterministic", text) is value


@pytest.mark.parametrize(("text", "number"), [("3.0", 3), ("3", 3), ("1e3", 1000)])
def test_whole_numbers(text, number):
    """As pandas writes them, too."""
    assert setting_value("max_states", text) == number
    assert type(setting_value("max_states", text)) is int


def test_a_constraint_of_each_task(folder, monkeypatch):
    """A column of HOA files; workers get their contents."""
    (folder / "only-a.hoa").write_text(ltlpipe_automaton("G a").to_str("hoa"))
    path = table(
        folder, "system,formula,constraint\nx.aut,G a,only-a.hoa\nx.aut,G a,\n"
    )
    assert read_tasks(path)[0].options == {"constraint": f"{folder}/only-a.hoa"}
    for how in ({}, {"jobs": 1}):
        assert solve(path, **how)["verdict"].tolist() == ["holds", "violated"]
    monkeypatch.chdir(folder)
    pairs = [(folder / "x.aut", "G a")]
    frame = solve(pairs, jobs=1, constraint="only-a.hoa")
    assert frame["verdict"].tolist() == ["holds"]


def test_lists_with_equal_numbers(folder):
    """The answers to a list stay in a store when another one is asked about."""
    store, (one, two) = folder / "run.sqlite", (folder / "1.ltl", folder / "2.ltl")
    one.write_text("G(a -> F b)\nF a\n")
    two.write_text("G a\nG b\n")
    for path in (one, two, one):
        solve(str(folder / "x.aut"), path, store=store)
    assert sorted(results(store)["formula"]) == ["F a", "G a", "G b", "G(a -> F b)"]
    two.write_text("G a\nF b\n")
    solve(str(folder / "x.aut"), two, store=store)
    assert sorted(results(store)["formula"]) == ["F a", "F b", "G a", "G(a -> F b)"]


@pytest.mark.parametrize("jobs", [None, 1])
def test_formulas_that_were_read_otherwise(folder, jobs):
    """They are read again as the options say, also in a worker."""
    asked = [
        (str(folder / "x.aut"), parse("G(b -> Y a)", past=True)),
        (str(folder / "x.aut"), parse("G(a -> Y b)", past=True)),
    ]
    found = solve(asked, jobs=jobs, past=True)
    assert found["verdict"].tolist() == ["holds", "violated"]
    found = solve(asked, jobs=jobs, unknown="never")
    assert found["reason"].tolist() == ["input-error"] * 2


COUNTER = """#include "limit.h"
byte x;
active proctype P() { do :: x < N -> x++ :: else -> x = 0 od }
"""


def counter(folder, limit):
    """A model whose limit is in a file that it includes."""
    folder.mkdir(exist_ok=True)
    (folder / "model.pml").write_text(COUNTER)
    (folder / "limit.h").write_text(f"#define N {limit}\n")
    return str(folder / "model.pml")


def test_equal_models_that_include_other_files(tmp_path):
    """The system that was loaded for the first is not that of the second."""
    models = [counter(tmp_path / name, k) for name, k in (("a", 5), ("b", 2))]
    frame = solve([(model, "G(x <= 2)") for model in models])
    assert frame["verdict"].tolist() == ["violated", "holds"]


def test_a_store_knows_included_files(tmp_path):
    """A task whose included file has changed is another one."""
    asked = [(counter(tmp_path / "a", 2), "G(x <= 2)")]
    store = tmp_path / "run.sqlite"
    first = [solve(asked, store=store)["verdict"][0] for _ in range(2)]
    counter(tmp_path / "a", 5)
    assert (first, solve(asked, store=store)["verdict"][0]) == (
        ["holds", "holds"],
        "violated",
    )
    assert verify(store)["finding"].tolist() == ["confirmed"]
    counter(tmp_path / "a", 3)
    assert verify(store)["finding"].tolist() == ["not-checked"]


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("byte x;\n", {}, []),
        ('#include "limit.h"\n', {}, ["limit.h"]),
        ('#ifdef A\n#include "limit.h"\n#endif\n', {}, []),
        ('#ifdef A\n#include "limit.h"\n#endif\n', {"define": "A"}, ["limit.h"]),
        ('#define F "limit.h"\n#include F\n', {}, ["limit.h"]),
        ('#include "far.h"\n', {"include": ["{}/far"]}, ["far.h"]),
        ('#include "both.h"\n#include "missing.h"\n', {}, ["both.h", "limit.h"]),
    ],
)
def test_which_files_are_included(tmp_path, text, options, found):
    """Those that are opened, also by files that are included."""
    model = Path(counter(tmp_path / "a", 2))
    model.write_text(text)
    (model.parent / "both.h").write_text('#include "limit.h"\n')
    (model.parent / "far").mkdir()
    (model.parent / "far" / "far.h").write_text("")
    given = {
        name: said if isinstance(said, str) else [s.format(model.parent) for s in said]
        for name, said in options.items()
    }
    assert [Path(p).name for p in included_files(str(model), **given)] == found
