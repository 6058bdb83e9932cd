"""The upper part of a page: verdicts, setting, contradictions."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ltlpipe import LtlpipeWarning, solve
from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import from_frame, to_frame
from ltlpipe.batch.table_files import open_table
from ltlpipe.batch.tasks import Task
from ltlpipe.report.page_summary import (
    MOST_ANSWERS,
    MOST_CONTRADICTIONS,
    Source,
    agreement,
    contradictions,
    counts,
    groups,
    read_source,
    setting,
)
from tests.report.handmade_stores import SYSTEM, make_store, result, some_tasks


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "system.dot"
    path.write_text(SYSTEM)
    return path


@pytest.fixture
def source(system, tmp_path):
    return read_source(make_store(tmp_path / "run.sqlite", some_tasks(system)))


def table(rows):
    plain = [result() | {"configuration": "default"} | row for row in rows]
    return Source("table.csv", to_frame(plain, RESULTS_DTYPES), [], None)


def test_counts(source):
    """One entry per verdict and reason; what is not known is no zero."""
    found = counts(source.frame)
    assert [(c.verdict, c.reason, c.tasks) for c in found] == [
        ("holds", None, 2),
        ("violated", None, 1),
        ("unknown", "timeout", 1),
        ("unknown", "input-error", 1),
    ]
    assert [c.share for c in found] == [40, 20, 20, 20]
    assert found[0].seconds == 0.375
    frame = to_frame([{"verdict": "unknown"}], RESULTS_DTYPES)
    assert counts(frame) == [("unknown", None, 1, 100.0, None)]
    assert counts(frame[["verdict"]]) == [("unknown", None, 1, 100.0, None)]
    assert counts(frame[:0]) == []


def test_agreement_with_published_solutions(source):
    """Which rows differ; nothing where nothing is published."""
    verdicts = ["holds", "violated", "unknown", "holds"]
    published = ["holds", "holds", "violated", None]
    rows = [
        {"system": f"problem{k}.dot", "formula_id": "7", "verdict": v, "expected": e}
        for k, (v, e) in enumerate(zip(verdicts, published, strict=True))
    ]
    found = agreement(table(rows).frame)

    assert (found.n_published, found.n_answers, found.n_agreeing) == (3, 2, 1)
    assert [(place, differing.system) for place, differing in found.places] == [
        (1, "problem1.dot")
    ]
    assert agreement(source.frame).n_published == 0
    assert agreement(source.frame[["system", "verdict"]]).n_published == 0


def test_groups(source):
    """Only where there are several configurations."""
    assert groups(source.frame) == [
        ("default", 4, [1, 1, 2], 0.875),
        ("--emptiness couvreur99", 1, [1, 0, 0], 0.25),
    ]
    assert groups(source.frame[:3]) == []


def test_setting(source):
    """Source, runs with their command, versions, limits, configurations."""
    facts = dict(setting(source))
    assert facts["Source"] == ["run.sqlite"]
    assert facts["Tasks"] == ["5"]
    assert facts["Limit of seconds"] == ["60", "none for 4 tasks"]
    assert facts["Configurations"] == ["default", "--emptiness couvreur99"]
    assert facts["Run 1"][1].endswith("5 tasks")
    many = table({"configuration": f"--seed {k}"} for k in range(30))
    assert dict(setting(many))["Configurations"][-1] == "and 10 more"


def test_a_contradiction(source):
    """The rows that take part, and whether their files are what they were."""
    ((found,), _) = contradictions(source)
    assert found.formula == "F rest"
    assert [tuple(answer) for answer in found.answers] == [
        (1, "violated", "default", False),
        (3, "holds", "--emptiness couvreur99", False),
    ]
    assert "couvreur99 (BA) say holds, se05 (BA) say violated" in found.text


def test_a_contradiction_of_files_that_have_changed(source, system):
    """Then it may have been another question, and the page says so."""
    system.write_text(SYSTEM.replace("rest", "move"))
    ((found,), _) = contradictions(source)
    assert all(answer.has_changed for answer in found.answers)


def test_a_contradiction_from_other_contents(system, tmp_path):
    """A later run with other options after the system has changed."""
    path = tmp_path / "run.sqlite"
    files = (str(system),)
    make_store(path, [(Task(files, "F rest"), result("violated", [], ["ask"]))])
    system.write_text(SYSTEM.replace("ask", "rest"))
    other = Task(files, "F rest", options={"emptiness": "gv04"})
    make_store(path, [(other, result("holds", emptiness="gv04"))])
    ((found,), _) = contradictions(read_source(path))
    assert [answer.has_changed for answer in found.answers] == [True, False]


@pytest.mark.parametrize(
    ("one", "other", "n_found"),
    [
        ("--emptiness se05", "--emptiness gv04", 1),
        ("default", "--seed 1", 1),
        ("default", "--fairness weak", 0),
        ("--fairness weak", "--fairness strong", 0),
        ("--deadlock ignore --seed 1", "--deadlock stutter --seed 1", 0),
        ("--fair-sets 'a b' --fair-sets c", "--fair-sets 'a d' --fair-sets c", 0),
        ("--fair-sets a", "--fair-sets a --seed 3", 1),
        ("--network-acceptance each", "default", 0),
        ("--constraint first.hoa", "--constraint second.hoa", 0),
        ("--alphabet declared", "default", 0),
        ("--visible a", "--visible a --visible b", 1),  # says the reductions
    ],
)
def test_only_the_same_question_can_be_contradicted(one, other, n_found):
    """Options that change the meaning ask another one."""
    ways = [{"configuration": one}, {"configuration": other, "verdict": "violated"}]
    rows = [{"system": "s", "formula": "a", "formula_id": "f"} | way for way in ways]
    assert contradictions(table(rows))[1] == n_found
    unknown = [rows[0], rows[1] | {"verdict": "unknown"}]
    assert contradictions(table(unknown)) == ([], 0)


def test_several_automata_are_several_questions():
    """They have no formula; one that has two answers is told all the same."""
    rows = [
        {"system": "s", "formula": None, "formula_id": name, "configuration": "default"}
        | {"verdict": verdict}
        for name, verdict in (("d1/a.hoa", "holds"), ("d2/a.hoa", "violated"))
    ]
    assert contradictions(table(rows)) == ([], 0)
    (found,), _ = contradictions(table([*rows, rows[0] | {"verdict": "violated"}]))
    assert [answer.row for answer in found.answers] == [0, 2]
    assert found.formula == "d1/a.hoa"


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ([{}, {}], "auto (BA) say holds, auto (BA) say violated"),
        (
            [{"strategy": "instant"}, {"emptiness": "se05"}],
            "instant (BA) say holds, se05 (BA) say violated",
        ),
    ],
)
def test_answers_without_a_search(ways, said):
    """Of plain Python, say: they go by their strategies."""
    one = {"system": "s", "formula": "a", "configuration": "default", "emptiness": None}
    rows = [one | ways[0], one | {"verdict": "violated"} | ways[1]]
    ((found,), _) = contradictions(table(rows))
    assert found.text == f"s: a: {said}"


MUTEX = Path(__file__).parents[2] / "examples/problems/mutex/system.dot"
GRIDS = [
    *("fairness=weak,strong", "deadlock=ignore,stutter", "unknown=error,never"),
    "fair_sets=ask_l,enter_l fairness=weak",
]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "sqlite"])
def test_tables_say_what_was_asked(grid, suffix, tmp_path):
    """Whatever option of the question differs, no answer is called wrong."""
    system = tmp_path / "half.dot"
    system.write_text(
        'digraph d { start -> s0 [label=""]; s0 -> s1 [label="req"];'
        's1 -> s0 [label="ack"]; s0 -> s2 [label="req"]; s2 -> s3 [label="crash"]; }'
    )
    formulas = ["G(req -> F ack)", "F crash", "F gone"]
    asked = [(str(system), formula) for formula in formulas]
    asked.append((str(MUTEX), "G(ask_l -> F enter_l)"))
    path = tmp_path / f"run.{suffix}"
    options = {"grid": grid, "store": str(path) if suffix == "sqlite" else None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        frame = solve(asked, progress=False, **options)
    assert frame["configuration"].nunique() == 2
    if suffix != "sqlite":
        with open_table(path) as out:
            for row in from_frame(frame):
                out.write(row)
    assert contradictions(read_source(path)) == ([], 0)
    decided = frame[frame["verdict"] != "unknown"]
    if grid in GRIDS[:2]:  # they do ask other questions
        assert decided.groupby("formula")["verdict"].nunique().max() == 2


def test_nothing_is_said_of_rows_without_their_options(tmp_path):
    """As in tables of earlier versions."""
    rows = [{"system": "s", "formula": "a"}] * 2
    rows[1] = rows[1] | {"verdict": "violated"}
    path = tmp_path / "old.csv"
    with open_table(path) as out:
        for row in rows:
            out.write(result() | row)
    assert contradictions(read_source(path)) == ([], 0)
    some = [row | {"configuration": None} for row in rows]
    assert contradictions(table([*some, *rows]))[1] == 1


def test_other_systems_and_formulas_are_other_questions():
    rows = [
        {"system": "s", "formula": "a", "formula_id": "f:1"},
        {"system": "t", "formula": "a", "formula_id": "f:1", "verdict": "violated"},
        {"system": "s", "formula": "b", "formula_id": "f:2", "verdict": "violated"},
        {"system": "s", "formula": None, "formula_id": "x.hoa"},
        {"system": "s", "formula": None, "formula_id": "x.hoa", "verdict": "violated"},
    ]
    ((found,), _) = contradictions(table(rows))
    assert [answer.row for answer in found.answers] == [3, 4]
    assert found.formula == "x.hoa"


@pytest.mark.thorough("seconds, while cheaper ones of the same stay")
def test_many_contradictions():
    """The first are laid out, of each some answers, both verdicts among them."""
    rows = [
        {"system": "s", "formula": f"f{k % 300}", "configuration": f"--seed {k // 300}"}
        for k in range(900)
    ]
    rows += [row | {"verdict": "violated"} for row in rows[:300]]
    rows += [{"system": "t", "formula": "a"}] * 60
    rows += [{"system": "t", "formula": "a", "verdict": "violated"}]
    found, total = contradictions(table(rows[::-1]))
    assert (len(found), total) == (MOST_CONTRADICTIONS, 301)
    first = found[0]
    assert (first.system, first.text) == ("t", "61 answers")
    assert len(first.answers) == MOST_ANSWERS
    assert [a.verdict for a in first.answers[:3]] == ["violated", "holds", "holds"]
    assert all(len(other.answers) == 4 for other in found[1:])
