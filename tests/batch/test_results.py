"""Tables out of a store: types, filters, groups, pivots."""

from __future__ import annotations

import pandas as pd
import pytest

from ltlpipe import UnsupportedError, results, solve
from ltlpipe.batch.results import RESULTS_DTYPES, filtered, grouped, pivoted
from ltlpipe.batch.store import Store
from ltlpipe.batch.table import DTYPES, from_frame, json_of
from ltlpipe.batch.tasks import Task
from tests.batch.faults import RING


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three formulas under two configurations; one cannot be read."""
    path = tmp_path_factory.mktemp("results") / "run.sqlite"
    tasks = [
        Task(RING, formula, options=options)
        for formula in ("G(a -> F b)", "G a", "G(")
        for options in (
            {},
            {"emptiness": "couvreur99", "timeout": 60, "deterministic": True},
        )
    ]
    solve(tasks, store=path, memory=500)
    return path


@pytest.fixture
def frame(path):
    return results(path)


def test_columns_and_types(frame):
    """Those of the result table first; integers have NA, times a zone."""
    assert {c: str(t) for c, t in frame.dtypes.items()} == RESULTS_DTYPES
    assert list(frame)[: len(DTYPES)] == list(DTYPES)
    assert frame["states"].isna().tolist() == 4 * [False] + 2 * [True]
    assert frame["verdict"].cat.categories.tolist() == ["holds", "violated", "unknown"]
    assert frame["started_at"].notna().all()
    assert (frame["finished_at"] >= frame["started_at"]).all()
    assert frame["configuration"].tolist() == 3 * [
        "default",
        "--deterministic --emptiness couvreur99",
    ]
    assert frame["timeout"].tolist() == 3 * [pd.NA, 60.0]
    assert set(frame["memory_limit_mib"]) == {500.0}
    assert "syntax error" in frame["message"][4]
    assert (frame["cpu_seconds"] >= 0).all()


def test_columns_that_are_one_in_all_places(tmp_path):
    """A store, a run without one, a CSV file, and JSON have the same."""
    tasks = [
        Task(RING, "G a", options={"acceptance": "tgba", "emptiness": "couvreur99"}),
        Task(RING, "G("),
    ]
    plain, stored = solve(tasks), solve(tasks, store=tmp_path / "r.sqlite")
    for frame in (plain, stored, results(tmp_path / "r.sqlite")):
        assert list(frame)[: len(DTYPES)] == list(DTYPES)
        assert frame["configuration"].tolist() == [
            "--acceptance tgba --emptiness couvreur99",
            "default",
        ]
        assert frame["acceptance"].tolist() == ["tgba", pd.NA]
        assert frame["translator"].tolist() == ["spot", "spot"]
        assert "syntax error" in frame["message"][1]
        assert frame["n_components"].tolist() == [1, 1]
        assert frame["finished_at"].notna().all()
    told = json_of(from_frame(plain)[0])
    assert told["configuration"] == "--acceptance tgba --emptiness couvreur99"
    assert (told["translator"], told["acceptance"]) == ("spot", "tgba")
    assert told["plan"]["automaton"] == plain["automaton"][0]


def test_tables_of_earlier_versions(tmp_path):
    """Their spelling of options, and their name for the condition, are translated."""
    rows = [
        "s,G a,violated,BA,Inf(0),fair_sets=a;b fairness=weak seed=1",
        "s,G a,violated,,,default",
        "s,G a,violated,,,",
    ]
    header = "system,formula,verdict,automaton,acceptance,configuration"
    (tmp_path / "r.csv").write_text("\n".join([header, *rows]))
    frame = results(tmp_path / "r.csv")
    assert frame["configuration"].tolist() == [
        "--fair-sets a --fair-sets b --fairness weak --seed 1",
        "default",
        pd.NA,
    ]
    assert frame["acceptance"].tolist() == ["ba", pd.NA, pd.NA]
    assert frame["condition"].tolist() == ["Inf(0)", pd.NA, pd.NA]


def test_an_empty_store(tmp_path):
    """The columns of any other."""
    with Store(tmp_path / "run.sqlite"):
        frame = results(tmp_path / "run.sqlite")
    assert {c: str(t) for c, t in frame.dtypes.items()} == RESULTS_DTYPES
    assert frame.empty
    assert grouped(frame, ["verdict"]).empty


@pytest.mark.parametrize(
    ("where", "n_rows"),
    [
        ("verdict == 'unknown'", 2),
        ("verdict != 'unknown' and configuration == 'default'", 2),
        ("states > 0", 4),
        ("not states > 0", 0),
        ("reason == 'input-error'", 2),
        ("formula.str.contains('F b', regex=False)", 2),
        ("timeout.isna()", 3),
        ("started_at > '2020-01-01'", 6),
    ],
)
def test_conditions(where, n_rows, frame):
    """A condition on a missing value is not true."""
    assert len(filtered(frame, where)) == n_rows


@pytest.mark.parametrize(
    "where",
    ["", "verdict ==", "colour == 1", "states", "1", "@frame.empty", "states + 1"],
)
def test_what_is_no_condition(where, frame):
    with pytest.raises(UnsupportedError, match="where="):
        filtered(frame, where)


def test_two_names_of_a_column(frame):
    """They group by it once."""
    for names in (["memory", "memory_limit_mib"], ["--emptiness", "emptiness"]):
        found = grouped(frame, names)
        assert [*found.columns[:2]] == [names[1], "tasks"]
        pivoted(frame, names, "verdict")


def test_groups(frame):
    """Counts per verdict; a missing value makes a group, too."""
    table = grouped(frame, ["configuration"])
    counts = table[["tasks", "holds", "violated", "unknown"]]
    assert counts.to_numpy().tolist() == [[3, 1, 1, 1], [3, 1, 1, 1]]
    assert table["seconds"].sum() == pytest.approx(frame["seconds"].sum())
    table = grouped(frame, ["reason"])
    assert table["tasks"].tolist() == [2, 4]
    assert table["reason"].isna().tolist() == [False, True]
    assert grouped(frame, ["states"])["tasks"].sum() == 6
    assert grouped(frame, ["--max-states"]).columns[0] == "max_states"
    with pytest.raises(UnsupportedError, match="group='colour': expected columns"):
        grouped(frame, ["colour"])


def test_pivots(frame):
    """Cells are counts, or made of the values that fall into them."""
    table = pivoted(frame, ["formula"], "configuration", "verdict")
    assert table.to_numpy().tolist() == [
        ["G(a -> F b)", "holds", "holds"],  # in the order of the tasks
        ["G a", "violated", "violated"],
        ["G(", "unknown", "unknown"],
    ]
    table = pivoted(frame, ["system"], "verdict")
    assert table[["holds", "unknown", "violated"]].to_numpy().tolist() == [[2, 2, 2]]
    table = pivoted(frame, ["verdict"], "configuration", "states", "sum")
    assert table["default"].sum() == frame["states"][::2].sum()
    table = pivoted(frame, ["system"], "reason", "task", "count")
    assert table["(none)"].tolist() == [4]
    table = pivoted(frame, ["system"], "configuration", "verdict", "all")
    assert table["default"].tolist() == ["holds, unknown, violated"]
    only = pivoted(frame, ["formula"], "configuration", "states")
    assert only["default"].dtype == "Int64"  # numbers are aligned as such
    names = r"3 rows fall.*--?aggregate=.?mean\|median\|sum\|min\|max\|count\|all"
    with pytest.raises(UnsupportedError, match=names.replace("--?", "")):
        pivoted(frame, ["system"], "configuration", "states")
    for wrong in (
        {"columns": "colour"},
        {"columns": "system"},
        {"columns": "verdict", "value": "colour"},
        {"columns": "verdict", "value": "formula", "aggregate": "mean"},
        {"columns": "verdict", "value": "states", "aggregate": "colour"},
    ):
        with pytest.raises(UnsupportedError, match="="):
            pivoted(frame, ["system"], **wrong)
