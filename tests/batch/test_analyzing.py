"""The analysis of formulas: columns, limits, and what their values mean."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from benchmarks import record
from benchmarks.formula_sets import formula_set
from ltlpipe import FormulaError, LtlpipeWarning, UnsupportedError
from ltlpipe.automata import classification
from ltlpipe.batch import analyzing, formula_columns
from ltlpipe.batch.analyzing import ANALYSIS_DTYPES, analysis_rows, json_of
from ltlpipe.batch.formula_columns import explain
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.logic.test_interruptible import EXAMPLES
from tests.processes import SOON
from tests.runtime.worker_operations import these_operations

CONTRACT = [
    *("formula", "alphabet", "size", "hierarchy", "stutter_invariant"),
    *("interruptible", "syntactic", "ba_states", "tgba_states", "parity_states"),
    *("generic_states", "weak", "terminal", "very_weak", "normal_form"),
    *("norm_states", "seconds", "erasable", "erasable_witness", "semantics", "error"),
]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """Forms of formulas that other tests have analysed."""
    monkeypatch.setattr(analyzing, "_known_forms", {})


def test_columns():
    """Those of the contract, with nullable types, also for no formula."""
    for frame in (ltlpipe.analyze(["G(a -> F b)"]), ltlpipe.analyze([])):
        assert list(frame) == CONTRACT
        assert {c: str(t) for c, t in frame.dtypes.items()} == ANALYSIS_DTYPES


def test_known_rows():
    """Classes and sizes that textbooks have."""
    frame = ltlpipe.analyze(["G(b -> F a)", "F(a & X F a)", "G !a", "GF a -> GF b"])

    assert frame["alphabet"].map(json.loads).tolist() == [
        ["a", "b"],
        ["a"],
        ["a"],
        ["a", "b"],
    ]
    assert frame["size"].tolist() == [5, 6, 3, 7]
    assert frame["hierarchy"].tolist() == [
        "recurrence",
        "guarantee",
        "safety",
        "reactivity",
    ]
    assert frame["stutter_invariant"].tolist() == [True, False, True, True]
    assert frame["interruptible"].all()
    assert set(frame["syntactic"]) == {"intrpt"}
    assert frame["ba_states"].tolist() == [2, 3, 1, 4]
    assert frame["weak"].tolist() == [False, True, True, False]
    assert frame["terminal"].tolist() == [False, True, False, False]
    assert frame["very_weak"].tolist() == [False, True, True, False]


def test_examples_of_the_paper():
    """As in tests/logic, through the table."""
    frame = ltlpipe.analyze(list(EXAMPLES))
    assert frame["interruptible"].tolist() == list(EXAMPLES.values())


def test_erasable():
    """With a witness where it fails, about the actions of the formula itself."""
    texts = ["G(b -> F a)", "G(a -> X !a)", "G(b -> X a)", "G(other -> X a)", "X 1"]
    frame = ltlpipe.analyze(texts)
    assert frame["erasable"].tolist() == [True, True, False, False, True]
    for text, told in zip(texts, frame["erasable_witness"], strict=True):
        if pd.isna(told):
            continue
        words = {
            which: Word(tuple(word["prefix"]), tuple(word["cycle"]))
            for which, word in json.loads(told).items()
        }
        assert not satisfies(parse(text).spot, words["violating"])
        assert satisfies(parse(text).spot, words["satisfying"])


def test_meaning_under_one_action_at_a_time():
    """Not that of formulas over sets of propositions."""
    frame = ltlpipe.analyze(["a & b", "G(a -> F b) | (a & b)", "F a & G(a -> !b)"])
    assert frame["hierarchy"].tolist() == ["bottom", "recurrence", "guarantee"]
    assert frame["ba_states"].tolist() == [1, 2, 2]


@given(st.lists(formulas(max_leaves=5), min_size=1, max_size=3))
@settings(max_examples=examples(25))
def test_rows_do_not_depend_on_company(texts):
    """Nor on what actions are called: forms are remembered without names."""
    renamed = [text.replace("a", "zeta").replace("b", "alpha") for text in texts]
    together = ltlpipe.analyze(texts + renamed)
    alone = pd.concat([ltlpipe.analyze([text]) for text in texts])
    columns = ["size", "hierarchy", "stutter_invariant", "interruptible", "syntactic"]
    for column in columns:
        expected = alone[column].fillna("-").tolist()
        assert together[column].fillna("-").tolist() == 2 * expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_come_in_order(jobs):
    """Whoever is done first."""
    texts = formula_set(40, [f"a{i}" for i in range(9)], seed=3)
    assert ltlpipe.analyze(texts, jobs=jobs)["formula"].tolist() == texts


def test_of_what(tmp_path):
    """One formula, formulas, or a file."""
    path = tmp_path / "f.ltl"
    path.write_text("G a\n\n0: F b\n")
    for given_ in (["G a", parse("F b")], path):
        assert ltlpipe.analyze(given_)["formula"].tolist() == ["G a", "F b"]
    assert ltlpipe.analyze("G a")["formula"].tolist() == ["G a"]


SLOW = """
import time
from ltlpipe.automata import classification
classification.n_states = lambda formula, kind: time.sleep(60 * ("F" in str(formula)))
"""

SLOW_DECISION = """
import time
from ltlpipe.batch import formula_columns
formula_columns.interruptible_formula.here = lambda formula: time.sleep(60)
"""

REFUSE = """
from ltlpipe.automata import classification
from ltlpipe.batch import formula_columns
from ltlpipe.runtime.errors import UnsupportedError

def refuse(*_):
    raise UnsupportedError("too many sets")

{place} = refuse
"""


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_time_is_limited():
    """What is known stays."""
    with (
        these_operations(SLOW),
        pytest.warns(LtlpipeWarning, match="F c: not all is known after 2 s"),
    ):
        frame = ltlpipe.analyze(["F c", "G !d"], timeout=2)
    assert frame["interruptible"].tolist() == [True, True]
    assert frame["ba_states"].tolist() == [2, 1]
    assert frame["tgba_states"].isna().all()
    assert frame["seconds"][0] >= 2 > frame["seconds"][1]


SLOW_BUCHI = """
import time
from ltlpipe.automata import classification
classification.{slow} = lambda *_, **__: time.sleep(60)
"""


@pytest.mark.parametrize(
    ("slow", "lost"),
    [
        ("buchi", {"ba_states", "weak", "terminal", "very_weak", "normal_form"}),
        ("is_stutter_invariant", {"stutter_invariant"}),
    ],
)
def test_no_column_starves(slow, lost):
    """One that never ends costs its share; the others are there, and it is named.

    On a busy machine the shares of the others have to be larger.
    """
    for timeout in (1.5, 5.0, 20.0):
        with these_operations(SLOW_BUCHI.format(slow=slow)):
            ((row, notes),) = analysis_rows([parse("X(j & X k)")], timeout=timeout)
        missing = {column for column, value in row.items() if value is None}
        missing -= {"syntactic", "norm_states", "error"}
        assert missing >= lost
        if missing == lost:
            break
    assert missing == lost
    assert f"not all is known after {timeout:g} s: no " in notes[0]
    assert lost <= set(notes[0].replace(",", "").split())
    assert row["seconds"] < SOON


SLOW_HIERARCHY = SLOW_BUCHI.format(slow="manna_pnueli")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("G(l -> F m)", "at most recurrence"),
        ("FG l & F m", "at most persistence"),
        ("G l | F m", "at most obligation"),
        ("l U m", "at most guarantee"),
        ("X l", "at most bottom"),
        ("GF l -> GF m", None),
        ("!(G !l | !F m)", "at most guarantee"),
    ],
)
def test_bounded_classes(text, bound):
    """The syntax says something where the smallest class is not found."""
    row = dict.fromkeys(ANALYSIS_DTYPES)
    assert formula_columns.bounded(parse(text), row) == bound


def test_bounded_by_the_automaton():
    """A weak one shows what the syntax does not."""
    text = "GF l & FG l"
    with these_operations(SLOW_HIERARCHY):
        ((row, notes),) = analysis_rows([parse(text)], timeout=3)
    assert (row["hierarchy"], row["weak"]) == ("at most persistence", True)
    assert "no hierarchy" in notes[0]
    bare = row | {"weak": None, "terminal": None}
    assert formula_columns.bounded(parse(text), bare) is None


SUPERSETS = {
    "bottom": {"bottom"},
    "guarantee": {"bottom", "guarantee"},
    "safety": {"bottom", "safety"},
    "obligation": {"bottom", "guarantee", "safety", "obligation"},
}
SUPERSETS["recurrence"] = SUPERSETS["obligation"] | {"recurrence"}
SUPERSETS["persistence"] = SUPERSETS["obligation"] | {"persistence"}


@given(formulas(max_leaves=6), st.booleans())
@settings(max_examples=examples(200))
def test_bounds_hold(text, about_states):
    """The exact class is one of those that the bound allows."""
    formula = parse(text)
    subject = classification.subject(formula, one_at_a_time=not about_states)
    if about_states:
        shape = classification.buchi_over_states(formula.spot)
        weak, terminal = shape["weak"], shape["terminal"]
    else:
        table = classification.buchi(formula)
        weak, terminal = table.weak, table.terminal
    bound = classification.bound(formula.spot, weak=weak, terminal=terminal)
    if bound is not None:
        assert classification.manna_pnueli(subject) in SUPERSETS[bound]


@given(formulas(max_leaves=6), st.booleans())
@settings(max_examples=examples(200))
def test_stutter_invariance_agrees_with_spot(text, about_states):
    """Which translates the formula and its negation itself."""
    import spot

    subject = classification.subject(parse(text), one_at_a_time=not about_states)
    expected = spot.is_stutter_invariant(subject)
    assert classification.is_stutter_invariant(subject) == expected


def test_about_states():
    """Propositions are independent of each other."""
    texts = ["a & b", "F a & G(a -> !b)", "G(a -> X b)", "GF a"]
    frame = ltlpipe.analyze(texts, semantics="state")
    assert frame["semantics"].tolist() == ["state"] * 4
    assert frame["hierarchy"].tolist() == [
        "bottom",
        "obligation",
        "safety",
        "recurrence",
    ]
    assert frame["stutter_invariant"].tolist() == [True, True, False, True]
    assert frame["interruptible"].tolist() == [True, True, False, True]
    assert frame["ba_states"].tolist() == [2, 2, 2, 2]
    assert frame["weak"].tolist() == [True, True, True, False]
    assert frame["terminal"].tolist() == [True, False, False, False]
    assert frame[["erasable", "normal_form", "norm_states"]].isna().all(axis=None)


def test_what_formulas_are_about():
    """Comparisons are about states, whatever an action may be called."""
    texts = ["a -> F b", "G(x <= 3)", "F fireable(t)", '"send(1)" U b', "a & b"]
    frame = ltlpipe.analyze([*texts, '"x==1" & "x==2"'])
    found = ["action", "state", "state", "action", "action", "state"]
    assert frame["semantics"].tolist() == found
    assert ltlpipe.analyze("G(x <= 3)", semantics="action")["semantics"][0] == "action"
    with pytest.raises(UnsupportedError, match="expected one of action, state"):
        ltlpipe.analyze("a", semantics="both")


def test_ctrl_c_keeps_rows(monkeypatch):
    """Those that are finished, with a warning that there are more."""
    whole = analyzing.analysis_rows

    def interrupted(*args, **options):
        yield next(whole(*args, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(analyzing, "analysis_rows", interrupted)
    with pytest.warns(LtlpipeWarning, match="interrupted: 1 of 3 formulas"):
        frame = ltlpipe.analyze(["G a", "F b", "X c"])
    assert frame["formula"].tolist() == ["G a"]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_not_known_is_no_false():
    """Whatever was not decided is missing, with the reason."""
    with these_operations(SLOW_DECISION), pytest.warns(LtlpipeWarning) as caught:
        frame = ltlpipe.analyze(["X e"], timeout=2)
    assert frame["alphabet"].tolist() == ['["e"]']
    assert frame[["interruptible", "norm_states"]].isna().all(axis=None)
    assert frame["erasable"].tolist() == [False]
    assert frame["hierarchy"].tolist() == ["bottom"]
    assert "treated as if not" in " ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    "column", ["erasure", "classification.buchi", "classification.is_stutter_invariant"]
)
def test_spot_gives_up_on_other_columns(column):
    """No column of truth values says False then."""
    place = column if "." in column else f"formula_columns.{column}"
    with these_operations(REFUSE.format(place=place)):
        ((row, notes),) = analysis_rows([parse("X h")])
    lost = {
        "formula_columns.erasure": ["erasable"],
        "classification.buchi": ["weak", "terminal", "very_weak", "normal_form"],
        "classification.is_stutter_invariant": ["stutter_invariant"],
    }[place]
    assert [row[name] for name in lost] == [None] * len(lost)
    assert notes == ["X h: too many sets"]


def test_constant_under_one_action_at_a_time():
    """No word satisfies it, so nothing else matters: it took more than a minute."""
    text = (
        "(FGa4 & GFb4) | "
        "(((FGa2 & GFb2) | (FGa0 & GFb0 & (FGa1 | GFb1))) & (FGa3 | GFb3))"
    )
    ((row, notes),) = analysis_rows([parse(text)], timeout=SOON)
    assert (row["interruptible"], row["erasable"], notes) == (True, True, [])
    assert row["hierarchy"] == "bottom"


def test_spot_gives_up():
    """The column is missing, the others are there, and a note says why."""
    with these_operations(REFUSE.format(place="classification.n_states")):
        ((row, notes),) = analysis_rows([parse("F f & X X g")])
    assert row["tgba_states"] is None
    assert row["ba_states"] == 7
    assert notes == ["F f & X X g: too many sets"]


def test_spot_gives_up_on_the_decision():
    """Then that is missing, and the rest is there."""
    with these_operations(
        REFUSE.format(place="formula_columns.interruptible_formula.here")
    ):
        ((row, notes),) = analysis_rows([parse("X h")])
    assert row["interruptible"] is None
    assert row["norm_states"] is None
    assert row["parity_states"] is not None
    assert json_of(row)["interruptible"] is None
    assert notes[0] == "X h: too many sets"
    assert "treated as if not" in notes[1]


@pytest.mark.parametrize(
    ("text", "columns"),
    [("F a", (True, 2, 2)), ("G a", (False, 1, None)), ("F(a | (!b W c))", (False,))],
)
def test_normal_form(text, columns):
    """`norm` is asked only of interruptible formulas that need it."""
    ((row, _),) = analysis_rows([parse(text)])
    found = (row["normal_form"], row["ba_states"], row["norm_states"])
    assert found[: len(columns)] == columns
    told = "\n".join(explain(parse(text)))
    assert ("not in interrupt normal form" in told) == (not columns[0])
    assert columns[0] or "condition " in told


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_real_time_limit():
    """Spot needs minutes for the automata of twenty responses to one another."""
    hard = "!(" + " & ".join(f"G(a{k} -> F b{k})" for k in range(18)) + ")"
    started = time.monotonic()
    with pytest.warns(LtlpipeWarning):
        frame = ltlpipe.analyze(
            [f"({hard}) U (X {hard} & c)", "G(a -> F b)"], timeout=2
        )
    assert time.monotonic() - started < SOON
    assert frame["interruptible"].tolist()[1]


@pytest.mark.parametrize(
    ("table", "expected"),
    [("GF a", False), ("F a", True), ("a U b", True), ("a & X(b & X c)", True)],
)
def test_very_weak(table, expected):
    """Cycles of one state only."""
    assert classification.is_very_weak(classification.buchi(parse(table))) is expected


@given(formulas(max_leaves=5))
@settings(max_examples=examples(50))
def test_very_weak_agrees_with_spot(text):
    """On the automaton without labels."""
    import buddy
    import spot

    table = classification.buchi(parse(text))
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.new_states(table.n_states)
    for at in range(table.n_states * table.n_letters):
        for dst in table.edge_dst[table.first_edge[at] : table.first_edge[at + 1]]:
            graph.new_edge(at // table.n_letters, int(dst), buddy.bddtrue)
    expected = all(len(c) == 1 for c in components_of(graph))
    assert classification.is_very_weak(table) == expected


def components_of(graph):
    """The SCCs, all states considered."""
    followers = [{e.dst for e in graph.out(s)} for s in range(graph.num_states())]

    def reach(start):
        seen, todo = {start}, [start]
        while todo:
            new = followers[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    reached = [reach(s) for s in range(len(followers))]
    return [{t for t in r if s in reached[t]} for s, r in enumerate(reached)]


def test_refused():
    """A formula that does not parse, and no job."""
    with pytest.raises(FormulaError):
        ltlpipe.analyze("a U")
    with pytest.raises(UnsupportedError, match="at least 1"):
        ltlpipe.analyze(["a"], jobs=0)


def test_one_bad_formula():
    """A row with the error; the others have theirs."""
    with pytest.warns(LtlpipeWarning, match="syntax error"):
        frame = ltlpipe.analyze(["G a", "a U", "F a"])
    assert frame["hierarchy"].isna().tolist() == [False, True, False]
    assert frame["error"].isna().tolist() == [True, False, True]
    assert "unexpected end of formula" in frame["error"][1]


def test_psl():
    """Spot knows its class, whether it is stutter-invariant, and sizes."""
    with pytest.warns(LtlpipeWarning):
        frame = ltlpipe.analyze(["{a;b}[]->F c", "G a"])
    told = frame[["hierarchy", "stutter_invariant", "size", "ba_states"]]
    assert told.iloc[0].tolist() == ["guarantee", False, 6, 4]
    assert frame["interruptible"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("G(a -> F b)", ["yes, by its syntax", "a -> Fb     Neg"]),
        ("G(a -> X b)", ["no; two words", "visible:", "erasable: no; two words"]),
        ("G(a -> X !b)", ["interruptible: no", "erasable: yes"]),
        ("(a M b) | F c", ["yes, though no rule"]),
    ],
)
def test_explanations(text, lines):
    """By syntax, by words, or by the lack of them."""
    told = "\n".join(explain(parse(text)))
    for line in lines:
        assert line in told


def test_patterns():
    """The published table is what the command writes, and where it was made."""
    root = Path(__file__).parents[2]
    frame = ltlpipe.analyze(root / "formulas" / "patterns.ltl")
    published = pd.read_csv(root / "results" / "patterns.csv", dtype=ANALYSIS_DTYPES)
    columns = ["formula", "size", "hierarchy", "stutter_invariant", "interruptible"]
    about = [*record.provenance("patterns")]
    assert list(published) == [*CONTRACT, *about]
    assert frame[columns].equals(published[columns])
