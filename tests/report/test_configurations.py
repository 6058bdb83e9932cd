"""Which columns tell configurations apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.report.plots.configurations import (
    CHOSEN,
    answers,
    configured,
    named,
    questions,
)
from ltlpipe.report.plots.figures import FEWEST
from tests.report.handmade_tables import row, stored


def plain(*rows):
    """Rows of a table that is not out of a store: formula, then three choices."""
    columns = ["formula", "emptiness", "automaton", "reductions"]
    frame = pd.DataFrame(rows, columns=columns, dtype="string")
    return frame.assign(system="s", verdict="holds")


def test_a_store_says_what_was_asked_for():
    """Whatever the plan has chosen then."""
    frame = stored(
        [
            row("--emptiness se05", 1.0, emptiness="dfs-weak"),
            row("default", 1.0, emptiness="dfs-weak"),
            row("default", 1.0, "G b", emptiness="couvreur99"),
        ]
    )
    found = configured(frame)
    assert found.names == ["--emptiness se05", "default"]
    assert found.labels.tolist() == ["--emptiness se05", "default", "default"]
    assert found.columns == ["configuration"]


@pytest.mark.parametrize(
    "typed", ["--emptiness se05", "emptiness=se05", "--emptiness=se05", "se05"]
)
def test_names_as_they_are_typed(typed):
    """A flag, an option of a grid, or the value of the column of that name."""
    by_column = configured(plain(["f", "se05", "BA", "-"], ["f", "gv04", "BA", "-"]))
    assert named(by_column, typed) == "se05"
    frame = stored([row("--emptiness se05", 1.0), row("default", 1.0)])
    if typed != "se05":
        assert named(configured(frame), typed) == "--emptiness se05"
    assert named(configured(frame), "colour") == "colour"
    assert configured(frame, ["--max-states"]).columns == ["max_states"]


def test_limits_that_differ_belong_to_it():
    frame = stored([row("default", 1.0, timeout=t) for t in (10.0, 60.5)])
    assert configured(frame).names == ["10", "60.5"]
    both = [row(c, 1.0, timeout=t) for c in ("default", "--seed 1") for t in (1.0, 2.0)]
    frame = stored([*both, row("--emptiness se05", 1.0, timeout=1.0)])
    assert configured(frame).columns == ["configuration", "timeout"]


def test_a_seed_is_part_of_the_question():
    """Runs with several seeds are repetitions, not configurations."""
    frame = stored(
        [
            row(f"{name}--seed {seed}", 1.0, seed=seed)
            for name in ("", "--emptiness se05 ")
            for seed in (1, 2)
        ]
    )
    found = configured(frame)
    assert found.names == ["default", "--emptiness se05"]
    assert questions(frame).tolist() == [0, 1, 0, 1]


def test_what_is_chosen_per_formula_is_no_configuration():
    """One run whose emptiness checks follow the automata."""
    frame = plain(["f", "dfs-weak", "TGBA", "none"], ["g", "couvreur99", "BA", "ample"])
    found = configured(frame)
    assert (found.columns, found.names) == ([], [])
    assert set(found.labels) == {"all tasks"}


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([["f", "se05", "BA", "-"], ["f", "gv04", "BA", "-"]], ["emptiness"]),
        (
            [["f", "gv04", "BA", "-"], ["f", "gv04", "TGBA", "-"]],
            ["automaton"],
        ),
        # Each automaton with the search that suits it: the automaton says it all.
        (
            [
                ["f", "dfs-weak", "BA", "-"],
                ["f", "rabin", "TGRA", "-"],
                ["g", "se05", "BA", "-"],
                ["g", "rabin", "TGRA", "-"],
            ],
            ["automaton"],
        ),
        (
            [["f", e, a, "-"] for e in ("gv04", "se05") for a in ("BA", "TGBA")],
            ["emptiness", "automaton"],
        ),
        # Rows that nothing tells apart: all that differs.
        (
            [
                *[["f", "se05", "BA", "-"]] * 2,
                *[["g", "se05", "BA", reduced] for reduced in "-x"],
            ],
            ["reductions"],
        ),
    ],
    ids=["searches", "automata", "suited", "grid", "repeated"],
)
def test_the_fewest_columns_that_tell_rows_apart(rows, columns):
    assert configured(plain(*rows)).columns == columns


@given(st.lists(st.tuples(*[st.sampled_from("xy")] * 4), min_size=1, max_size=9))
def test_no_fewer_columns_do(rows):
    """Of those that differ within a question, unless not even all of them do."""

    def tell_apart(columns):
        keys = [(row[0], *(row[1 + CHOSEN.index(c)] for c in columns)) for row in rows]
        return len({*keys}) == len(keys)

    def differs(column):
        pairs = {(row[0], row[1 + CHOSEN.index(column)]) for row in rows}
        return len(pairs) > len({row[0] for row in rows})

    columns = configured(plain(*rows)).columns
    varying = [column for column in CHOSEN[:3] if differs(column)]
    if tell_apart(varying):
        assert tell_apart(columns)
        smaller = combinations(varying, max(len(columns) - 1, 0))
        assert not columns or not any(map(tell_apart, smaller))
    else:
        assert columns == varying


def test_several_columns_are_named():
    frame = plain(["f", "se05", "BA", None], ["f", "gv04", "TGBA", "x"])
    found = configured(frame, ["automaton", "reductions", "automaton"])
    assert found.names == [
        "automaton=BA reductions=-",
        "automaton=TGBA reductions=x",
    ]
    assert found.title == "automaton, reductions"
    assert configured(frame, ["formula"]).names == ["f"]


def test_no_such_column():
    with pytest.raises(UnsupportedError, match=r"no column 'colour'; it has formula"):
        configured(plain(["f", "se05", "BA", "-"]), ["colour"])


def test_answers():
    """Unknown is none, whatever it has cost; nothing is zero on logarithmic axes."""
    frame = stored(
        [
            row("c", 2.0, states=0),
            row("c", None, states=5),
            row("c", 0.0, states=3),
            row("c", 1.0, verdict="violated"),
            row("c", 1.0, verdict=None, states=1),
        ]
    )
    nan = np.nan
    np.testing.assert_equal(answers(frame, "seconds"), [2.0, nan, FEWEST, 1.0, nan])
    np.testing.assert_equal(answers(frame, "states"), [3.0, nan, 3.0, nan, nan])
    with pytest.raises(UnsupportedError, match="values of formula are not numbers"):
        answers(frame, "formula")
    with pytest.raises(UnsupportedError, match="no column 'verdict'"):
        answers(frame.drop(columns="verdict"), "seconds")
