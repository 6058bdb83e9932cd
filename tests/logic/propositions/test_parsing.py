"""Propositions about states: what text means, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import FormulaError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import (
    Call,
    Element,
    Name,
    Number,
    Operation,
    Path,
    Remote,
    Text,
    compared,
    joined,
    negative,
)

X, Y = Name("x"), Name("y")


def spot_text(text):
    return str(parse(text).spot)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ('P_1=="CS"', Operation("==", (Name("P_1"), Text("CS")))),
        ("P_1 == 'CS'", Operation("==", (Name("P_1"), Text("CS")))),
        ("x != y", Operation("!", (Operation("==", (X, Y)),))),
        ("x > y", Operation("<", (Y, X))),
        ("x >= y", Operation("<=", (Y, X))),
        ("x - y - 1", Operation("+", (X, negative(Y), Number(-1)))),
        ("x + (y + 2)", Operation("+", (X, Operation("+", (Y, Number(2)))))),
        ("((x + y) + 2)", Operation("+", (X, Y, Number(2)))),
        ("-x * y % 3", Operation("%", (Operation("*", (negative(X), Y)), Number(3)))),
        ("t[x+1]", Element("t", Operation("+", (X, Number(1))))),
        ("Lift_0.count", Name("Lift_0.count")),
        (r"Lift_0\.count", Name("Lift_0.count")),
        (r"t\[1\]", Element("t", Number(1))),
        (r"t\[1", Name("t[1")),
        (r"\].x", Name("].x")),
        (r"\.x\[01\]", Name(".x[01]")),
        (r"t\[1\]\[2\] + t\[true\]", joined("+", Name("t[1][2]"), Name("t[true]"))),
        ("s[1].p[x].y", Path((("s", Number(1)), ("p", X), ("y", None)))),
        ("P[1]@here", Remote(Element("P", Number(1)), "@", Name("here"))),
        ("P:a[x]", Remote(Name("P"), ":", Element("a", X))),
        (
            "len(c[x]) == 1",
            Operation("==", (Call("len", (Element("c", X),)), Number(1))),
        ),
        ("fireable(t1, t2)", Call("fireable", (Name("t1"), Name("t2")))),
        ("!x < 3", Operation("!", (Operation("<", (X, Number(3))),))),
        (r"a\-b", Name("a-b")),
        (r"\1st", Name("1st")),
        (r"Node\.1", Name("Node.1")),
        (r"\true", Name("true")),
        (r"x == 'it\'s'", Operation("==", (X, Text("it's")))),
        ("U < 3", Operation("<", (Name("U"), Number(3)))),
        ("X <= 0", Operation("<=", (Name("X"), Number(0)))),
        ("GFa", Name("GFa")),
        ("x <-1", Operation("<", (X, Number(-1)))),
        ("not x and y", Operation("&&", (Operation("!", (X,)), Y))),
    ],
)
def test_meaning(text, meaning):
    assert parse_proposition(text) == meaning


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ('!([](P_1!="p9") U (P_4=="p5"))', "!(G!\"P_1=='p9'\" U \"P_4=='p5'\")"),
        ("<>([](((1) <= (S)) U ((3) <= (F179))))", 'FG("1<=S" U "3<=F179")'),
        ("X (X <= 0)", 'X"X<=0"'),
        ("XX x<1", 'XX"x<1"'),
        ("U < 1 U V < 1", '"U<1" U "V<1"'),
        ("x<1 WU y<1", '"x<1" W "y<1"'),
        ("G(x<1 -> F a) <-> !b", '!b <-> G("x<1" -> Fa)'),
        ('"x==1" U y==1', '"x==1" U "y==1"'),
        ("G(x > y) & F(y < x)", 'F"y<x" & G"y<x"'),
        ("true U x==1 | 0", '1 U "x==1"'),
    ],
)
def test_formula(text, formula):
    assert parse(text).spot == parse(formula).spot


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("G(a ==", "the end", 6),
        ("(a U b) < 3", "a formula, expected a number", 8),
        ('G(a < "b")', "text is equal or it is not", 4),
        ("G(x == 1", "expected", 8),
        ("x == 1 y", "'y'", 7),
        (r"t\[1\] == 1 y", "'y'", 12),
        ("x == 1 ; y", "';'", 7),
        ('F "" U x < 1', "no proposition about states", 0),
        ('x < 1 U F "y == z t"', "no proposition about states", 18),
    ],
)
def test_refused_with_the_place(text, message, column):
    with pytest.raises(FormulaError, match=message) as raised:
        parse(text)
    assert raised.value.position == column


def test_temporal_operators_are_no_part_of_propositions():
    with pytest.raises(FormulaError, match="temporal operator"):
        parse_proposition("F x==1")


def test_long_sums_are_flat():
    names = [f"place_{i}" for i in range(5_000)]
    parsed = parse_proposition(
        "(" * 4_999 + names[0] + "".join(f" + {name})" for name in names[1:])
    )
    assert parsed == Operation("+", tuple(map(Name, names)))


def named(text):
    """A name of any characters; dots are behind others."""
    return Name(f"x{text}" if text[0] == "." else text)


def expressions():
    leaves = st.one_of(
        st.integers(-5, 5).map(Number),
        st.sampled_from(
            [X, Y, Name("P.1"), Call("fireable", (Name("t-1"), Name("1")))]
        ),
        st.text("ab1-.+ é'\"\\", min_size=1).map(named),
    )

    def larger(inner):
        return st.one_of(
            st.builds(Element, st.sampled_from(["t", "t-1"]), inner),
            st.builds(negative, inner),
            st.builds(lambda e: Operation("!", (e,)), inner),
            st.builds(joined, st.sampled_from(["+", "&&", "||"]), inner, inner),
            st.builds(compared, st.sampled_from(["==", "<", "<="]), inner, inner),
            st.builds(
                lambda o, a, b: Operation(o, (a, b)),
                st.sampled_from(["*", "/", "%"]),
                inner,
                inner,
            ),
        )

    return st.recursive(leaves, larger, max_leaves=8)


@given(expressions())
def test_texts_are_read_back(expression):
    assert parse_proposition(str(expression)) == expression
