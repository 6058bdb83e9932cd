"""Acceptance conditions against Spot's, and against their truth tables."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltlpipe import FormulaError, UnsupportedError
from ltlpipe.automata.conditions import (
    FALSE,
    MAX_CLAUSES,
    TRUE,
    Clause,
    Condition,
    Op,
    Shape,
    conjunction,
    disjunction,
    fin,
    from_clauses,
    from_code,
    generalised_buchi,
    has_shape,
    inf,
    marks_in,
    merged_fin,
    normal_form,
    parse_condition,
    shape_of,
)
from tests.example_counts import examples
from tests.hypothesis_strategies import conditions

N_MARKS = 5
ALL_MARKS = range(1 << N_MARKS)


def truth_table(condition):
    return [condition.satisfied_by(marks) for marks in ALL_MARKS]


def spot_truth_table(code):
    import spot

    return [bool(code.accepting(spot.mark_t(marks_in(marks)))) for marks in ALL_MARKS]


def n_distributed(condition):
    """How many pairs distributing "and" over "or" alone would give."""
    if condition.op in (Op.AND, Op.OR):
        join = prod if condition.op == Op.AND else sum
        return join(map(n_distributed, condition.parts))
    return int(condition.op != Op.FALSE)


def assert_agrees_with_spot(condition):
    """The truth table, the text, and the normal form."""
    import spot

    code = spot.acc_code(str(condition))
    expected = spot_truth_table(code)
    assert truth_table(condition) == expected
    read = parse_condition(str(condition))
    assert truth_table(read) == expected
    assert parse_condition(str(read)) == from_code(code) == read
    assert truth_table(parse_condition(str(code.to_dnf()))) == expected


def assert_is_normal_form(condition):
    """Equivalent, free of contradictions, none implies another, and not more."""
    clauses = normal_form(condition)
    expected = truth_table(condition)
    of_clauses = [any(c.satisfied_by(marks) for c in clauses) for marks in ALL_MARKS]
    assert of_clauses == expected
    assert truth_table(from_clauses(clauses)) == expected
    assert not any(c.fin & c.inf for c in clauses)
    for i, c in enumerate(clauses):
        for d in clauses[:i] + clauses[i + 1 :]:
            assert c.fin & d.fin != d.fin or c.inf & d.inf != d.inf
    assert len(clauses) <= n_distributed(condition)


@given(conditions(N_MARKS))
@settings(max_examples=examples(300))
def test_agrees_with_spot(condition):
    assert_agrees_with_spot(condition)


@given(conditions(N_MARKS))
@settings(max_examples=examples(300))
def test_normal_form(condition):
    assert_is_normal_form(condition)


@pytest.mark.slow
@given(conditions(N_MARKS, max_leaves=20))
@settings(max_examples=examples(8000))
def test_by_the_thousand(condition):
    assert_agrees_with_spot(condition)
    assert_is_normal_form(condition)


@given(conditions(N_MARKS))
@settings(max_examples=examples(300))
def test_merged_fin(condition):
    """Each clause has one Fin at most, and marks carried over say the same."""
    merged, unions = merged_fin(normal_form(condition))

    for clause in normal_form(merged):
        assert len(marks_in(clause.fin)) <= 1
    assert has_shape(merged, Shape.GENERALISED_RABIN)
    for marks in ALL_MARKS:
        new = sum(1 << i for i, old in enumerate(unions) if marks & old)
        assert merged.satisfied_by(new) == condition.satisfied_by(marks)


@given(conditions(N_MARKS), st.integers(0, N_MARKS - 1), st.sampled_from(ALL_MARKS))
@settings(max_examples=examples(300))
def test_what_is_known_is_replaced(condition, mark, present):
    """As the search of one SCC needs it."""
    within = condition.within(present)
    without = condition.with_fin(mark, holds=True).within(~(1 << mark))
    for marks in ALL_MARKS:
        expected = condition.satisfied_by(marks & present)
        assert within.satisfied_by(marks & present) == expected
        if not marks >> mark & 1:
            assert without.satisfied_by(marks) == condition.satisfied_by(marks)
    assert within.marks & ~present == 0
    assert not condition.with_fin(mark, holds=False).fin_marks >> mark & 1


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("t", Shape.ALL),
        ("f", Shape.NONE),
        ("Inf(3)", Shape.BUCHI),
        ("Fin(0)", Shape.CO_BUCHI),
        ("Inf(0)&Inf(1)&Inf(2)", Shape.GENERALISED_BUCHI),
        ("Fin(0)|Fin(1)", Shape.GENERALISED_CO_BUCHI),
        ("Fin(0)&Inf(1)", Shape.RABIN),
        ("(Inf(1)&Fin(0))|(Fin(2)&Inf(3))", Shape.RABIN),
        ("Fin(0)|Inf(1)", Shape.STREETT),
        ("(Fin(0)|Inf(1))&(Fin(2)|Inf(3))", Shape.STREETT),
        ("Inf(0)|(Fin(1)&(Inf(2)|Fin(3)))", Shape.PARITY),
        ("Fin(3)&(Inf(2)|(Fin(1)&Inf(0)))", Shape.PARITY),
        ("Inf(0)|Inf(1)", Shape.FIN_LESS),
        ("(Inf(0)|Inf(1))&Inf(2)", Shape.FIN_LESS),
        ("(Fin(0)&Inf(1)&Inf(2))|Fin(3)", Shape.GENERALISED_RABIN),
        ("(Fin(0)&Inf(1))|(Inf(2)&Inf(3))", Shape.GENERALISED_RABIN),
        ("Fin(0)&Fin(1)", Shape.EMERSON_LEI),
        ("Inf(0)|(Fin(1)&(Inf(2)|Fin(1)))", Shape.EMERSON_LEI),
        ("(Fin(0)|Inf(1))&Inf(2)", Shape.EMERSON_LEI),
    ],
)
def test_names_of_table_1(text, shape):
    assert shape_of(parse_condition(text)) == shape


@given(conditions(N_MARKS, max_leaves=6))
@settings(max_examples=examples(400))
@example(parse_condition("Inf(4)|(Fin(2)&Inf(0))"))
@example(parse_condition("Fin(0)|(Fin(1)&Inf(2)&Fin(3))"))
def test_names_that_spot_gives(condition):
    """What Spot recognises has our name, too."""
    import spot

    order = {mark: i for i, mark in enumerate(_marks_as_written(condition))}
    renamed = condition.renumbered(order.__getitem__)
    theirs = spot.acc_cond(len(order), spot.acc_code(str(renamed)))
    recognised = {
        Shape.NONE: theirs.is_f(),
        Shape.ALL: theirs.is_t(),
        Shape.BUCHI: theirs.is_buchi(),
        Shape.CO_BUCHI: theirs.is_co_buchi(),
        Shape.GENERALISED_BUCHI: theirs.is_generalized_buchi(),
        Shape.GENERALISED_CO_BUCHI: theirs.is_generalized_co_buchi(),
        Shape.RABIN: len(order) > 0 and theirs.is_rabin() > 0,
        Shape.STREETT: len(order) > 0 and theirs.is_streett() > 0,
        Shape.PARITY: len(order) > 0 and theirs.is_parity()[0],
        # Spot 2.13 takes Fin(0)|(Fin(1)&Inf(2)&Fin(3)) for three pairs.
        Shape.GENERALISED_RABIN: theirs.is_generalized_rabin()[0]
        and not _has_two_fins(renamed),
        Shape.FIN_LESS: not theirs.uses_fin_acceptance(),
    }
    for shape, is_so in recognised.items():
        assert has_shape(renamed, shape) or not is_so, (shape, str(renamed))


def _has_two_fins(condition):
    """Whether a conjunction in it has two Fins, which no pair has."""
    fins = [part for part in condition.parts if part.op == Op.FIN]
    both = condition.op == Op.AND and len(fins) > 1
    return both or any(_has_two_fins(part) for part in condition.parts)


def _marks_as_written(condition):
    if not condition.parts:
        return [condition.mark] if condition.op in (Op.INF, Op.FIN) else []
    found = {}
    for part in condition.parts:
        found.update(dict.fromkeys(_marks_as_written(part)))
    return list(found)


@pytest.mark.parametrize(
    ("text", "clauses", "n_pairs"),
    [
        ("t", [Clause(0, 0)], 1),
        ("f", [], 0),
        ("Fin(0)&Inf(0)", [], 1),
        ("Fin(0)|Inf(0)", [Clause(0, 0)], 2),
        ("(Fin(0)&Inf(1))|Inf(2)", [Clause(1, 2), Clause(0, 4)], 2),
        ("Fin(0)&Fin(1)&Inf(2)", [Clause(3, 4)], 1),
        ("Inf(0)|(Inf(0)&Fin(1))", [Clause(0, 1)], 2),
        ("(Fin(0)|Inf(1))&(Fin(1)|Inf(0))", [Clause(3, 0), Clause(0, 3)], 4),
        ("(Fin(0)&Inf(1))|(Inf(0)&Inf(1)&Inf(2))", [Clause(1, 2), Clause(0, 6)], 2),
        ("(Inf(0)|Inf(1))&(Inf(0)|Inf(1)|Inf(2))", [Clause(0, 1), Clause(0, 2)], 6),
        ("Fin(31)&Inf(30)", [Clause(1 << 31, 1 << 30)], 1),
    ],
)
def test_pairs_before_and_after(text, clauses, n_pairs):
    """Contradictory, equal and implied pairs go, and superfluous marks."""
    condition = parse_condition(text)

    assert list(normal_form(condition)) == clauses
    assert n_distributed(condition) == n_pairs


def test_servers_of_section_4_3():
    """The paper's livelock under fairness has two pairs, as it is written."""
    fair = "Inf(3)&Inf(4)&Inf(5)"
    condition = parse_condition(f"(Fin(1)|Fin(2))&{fair}")

    assert str(from_clauses(normal_form(condition))) == (
        f"(Fin(1)&{fair})|(Fin(2)&{fair})"
    )


def test_too_many_pairs():
    """Sixteen Streett pairs would be 65,536 generalised Rabin pairs."""
    streett = conjunction(fin(2 * i) | inf(2 * i + 1) for i in range(16))

    assert n_distributed(streett) == 65536
    with pytest.raises(UnsupportedError, match="tela"):
        normal_form(streett)
    twelve = Condition(Op.AND, parts=streett.parts[:12])
    assert len(normal_form(twelve)) == MAX_CLAUSES


def test_what_looks_large_and_is_not():
    """Two to the thirty pairs, all but one of them superfluous."""
    condition = conjunction(
        [inf(0), *((inf(0) & fin(i)) | inf(i) | inf(0) for i in range(1, 31))]
    )

    assert normal_form(condition) == (Clause(0, 1),)


@pytest.mark.parametrize(
    "text",
    ["", "Inf(0", "Inf(!0)", "Inf(0)&&Inf(1)", "inf(0)", "Inf(99999999999999999999)"],
)
def test_texts_that_are_no_conditions(text):
    with pytest.raises(FormulaError, match="acceptance condition"):
        parse_condition(text)


@pytest.mark.parametrize("mark", ["32", "40"])
def test_more_marks_than_there_are(mark):
    with pytest.raises(UnsupportedError, match="limit is 32"):
        parse_condition(f"Inf(0)&Inf({mark})")


def test_deep_nesting():
    """Parentheses alone are none."""
    assert parse_condition("(" * 1000 + "t" + ")" * 1000) == TRUE
    deep = "Inf(0)"
    for i in range(49):
        deep = f"Fin({i % 31 + 1})&(Inf({i % 31})|({deep}))"
    condition = parse_condition(deep)
    assert parse_condition(str(condition)) == condition
    with pytest.raises(UnsupportedError, match="nested more than 100 times"):
        parse_condition(f"Fin(1)&(Inf(1)|(Fin(2)&(Inf(2)|({deep}))))")


def test_constants_and_repetitions_disappear():
    assert inf(0) & TRUE == inf(0)
    assert inf(0) | TRUE == TRUE
    assert inf(0) & FALSE == FALSE
    assert str(parse_condition("(Inf(0)&(Inf(1)&Inf(0)))|f")) == "Inf(0)&Inf(1)"
    assert (conjunction([]), disjunction([])) == (TRUE, FALSE)
    assert str(generalised_buchi(2)) == "Inf(0)&Inf(1)"
    assert generalised_buchi(0) == TRUE


def test_marks_that_occur():
    condition = parse_condition("(Fin(0)&Inf(3))|Inf(2)")

    assert (condition.fin_marks, condition.inf_marks) == (0b1, 0b1100)
    assert (condition.marks, condition.n_marks) == (0b1101, 4)
    assert (TRUE.n_marks, FALSE.marks) == (0, 0)
