"""What is read beside Spot's LTL, and hints for mistakes."""

from __future__ import annotations

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, analyze, automaton, check, is_interruptible
from ltlpipe.logic.bounded import MAX_STEPS
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.history import Dialect
from ltlpipe.runtime.errors import FormulaError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("& G a F b", "G a & F b"),
        ("U p0 p1", "p0 U p1"),
        ("! i a X b", "!(a -> X b)"),
        ('W "ask l" b', '"ask l" W b'),
        ("G('ask l' -> F 'enter l')", 'G("ask l" -> F "enter l")'),
        (r"'it\'s' & b", '"it\'s" & b'),
        ("[](Q & !R & <>R -> (!P U R))", '[](Q & !"R" & <>"R" -> (!P U "R"))'),
        ("G(a -> F U)", 'G(a -> F "U")'),
        ("{a} <>=> b", "{a} <>=> b"),
        ("{a;b} []-> F c", "{a;b} []-> F c"),
        ("{a[*];b[+]} []-> c", "{a[*];b[+]} []-> c"),
        ("{a[*0..1]; b[:*2]} <>-> c", "{a[*0..1]; b[:*2]} <>-> c"),
        ("{[*]:a} <>-> b", "{[*]:a} <>-> b"),
        ("{a[=2]; b[->1..2]}!", "{a[=2]; b[->1..2]}!"),
        ("F[2:5] a & G[1..2] b & X[2] c", "F[2:5] a & G[1..2] b & X[2] c"),
        ("F[1:2] x==1", 'F[1:2] "x==1"'),
        ("a U[1:3] b", "a & X(b | (a & X(b | (a & X b))))"),
        ("a U[2:] b", "a & X(a & X(a U b))"),
        ("a U <= 2 b", "b | (a & X(b | (a & X b)))"),
        ("a R[0:1] b", "!((!b) | (!a & X !b))"),
        ("F<=1 a & G<=1 b", "(a | X a) & (b & X b)"),
        ("'x y' U[1:1] \"<b>\"", '"x y" & X "<b>"'),
        ("x==1 U[1:1] y<=2", '"x==1" & X "y<=2"'),
        ("a U[3:1] b", "0"),
        ("x==1 || y==1 xor z==1", '"x==1" | ("y==1" xor "z==1")'),
        (r"x==1 /\ a \/ y==1/\b", '("x==1" & a) | ("y==1" & b)'),
        (r"a U[1:1] b /\ c", "(a & X b) & c"),
        ("F[1,3] a & G[0, 2] b", "F[1:3] a & G[0:2] b"),
        ("G[1,2] x==1", 'G[1:2] "x==1"'),
        ("GF[1:2](x==1) & XX[2] x==1", '(G F[1:2] "x==1") & X X X "x==1"'),
        ("GF<=1 a", "G(a | X a)"),
        ("F<=1 ..x", "..x | X ..x"),
        ("a\N{MATHEMATICAL SCRIPT CAPITAL U}b", "a U b"),
        ("\N{LOZENGE}a \N{SCRIPT CAPITAL R} \N{UP TACK}", "(F a) R 0"),
        ('\N{DOWN TACK} \N{MATHEMATICAL SCRIPT CAPITAL W} "\N{LOZENGE}"', "1"),
    ],
)
def test_readings(text, meaning):
    """Each text means what Spot reads in another one."""
    found, wanted = parse(text), spot.formula(meaning)
    assert spot.are_equivalent(found.spot, wanted)
    known = {p.ap_name() for p in spot.atomic_prop_collect(wanted) or ()}
    assert set(found.propositions) == known


@pytest.mark.parametrize("finite", [False, True], ids=["infinite", "finite"])
@pytest.mark.parametrize("operator", "FG")
def test_bounds_of_spot_mean_the_same_beside_the_past(operator, finite):
    """Whichever of us reads them, and in either order: Spot takes F[3:1] for F[1:3]."""
    for bounds in ("0:0", "0:2", "1:3", "3:1", "2:0", "2:", "1..3", "3..1", "3,1"):
        for mark in ("", "!") if finite and "," not in bounds else ("",):
            text = f"{operator}[{bounds}{mark}] a"
            found = parse(text, past=True, finite=finite).spot
            wanted = spot.formula(text)
            if finite:
                found, wanted = spot.from_ltlf(found), spot.from_ltlf(wanted)
            assert spot.are_equivalent(found, wanted), text


def test_bounds_with_a_comma():
    """They count as others do; of U logics disagree on what they mean."""
    with pytest.raises(FormulaError, match="bounds of 20,000 steps"):
        parse("F[0,20000] a")
    with pytest.raises(FormulaError, match="syntax error"):
        parse("a U[1,2] b")


def test_what_looks_like_bounds():
    """An element of an array that is called like an operator, and a comparison."""
    assert parse("R[5]==1 & X[2] > 0").propositions == ("0<X[2]", "R[5]==1")
    assert parse("F <= 3 && U <= 3").propositions == ("F<=3", "U<=3")
    assert parse("G(U<=2000)").propositions == ("U<=2000",)
    assert parse("G !R <= 900 | V<=900").propositions == ("R<=900", "V<=900")
    with pytest.raises(FormulaError, match="bounds of 2,000 steps"):
        parse("(a) U<=2000 b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F[0:{}] a", "bounds of [0-9,]+ steps together"),
        ("F<={} a", "bounds of [0-9,]+ steps together"),
        ("a U[{}:$] b", "bounds of [0-9,]+ steps together"),
        ("F[0:{}] x == 1", "more than 1,000 steps"),
        ("G(x <= {})", "a number of more than 40 digits"),
        ('G "x <= {}" & y == 1', "a number of more than 40 digits"),
    ],
)
def test_numbers_of_many_digits(text, message):
    """Python reads no number of more than 4300 digits."""
    with pytest.raises(FormulaError, match=message):
        parse(text.format("9" * 5_000))
    text = text.format("0" * 30 + "3")
    assert parse(text).spot == parse(text.replace("0" * 30, "")).spot


@pytest.mark.parametrize("text", ["F[0:1] .x", "GF[1:2]..x", "X[2].x", "G[1,2] .x.y"])
def test_bounds_of_names_that_begin_with_a_dot(text):
    """They are Spot's, whatever else is read; in comparisons a dot is a field."""
    with_colon = text.replace(",", ":")
    assert parse(text, past=True).spot == spot.formula(with_colon)
    assert parse(text).spot == spot.formula(with_colon)
    for past in (False, True):
        assert parse("X[2].x == 1", past=past).propositions == ("X[2].x==1",)


@pytest.mark.parametrize("past", [False, True], ids=["plain", "past"])
@pytest.mark.parametrize("finite", [False, True], ids=["infinite", "finite"])
@pytest.mark.parametrize("operand", ["a", "x==1"])
@pytest.mark.parametrize(
    "operator", ["X<=3", "X[2:3]", "X[2..]", "F[2]", "G[2]", "b U[!]"]
)
def test_bounds_of_another_number(operator, operand, finite, past):
    """X has one, F and G have two; none of them is guessed, whoever reads them."""
    with pytest.raises(FormulaError):
        parse(f"{operator} {operand}", past=past, finite=finite)


@given(formulas())
def test_prefix_notation_of_any_formula(text):
    """As Spot writes it; without an operator of two operands there is no difference."""
    tree = spot.formula(f"({text}) xor b xor a")
    prefix = spot.str_lbt_ltl(tree)
    if prefix.lstrip("! XFG")[0] in "&|^ieUVRWM":
        assert parse(prefix).spot == tree


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a S b", "S is a past operator with past=True only"),
        ("G H a", "H is a past operator with past=True only"),
        ("G(x=3)", "values are compared by =="),
        ("x==1 && y=2", "values are compared by =="),
        ("a -> & b", "before '&' an operand is missing"),
        ("AG a", "'AG' is of CTL"),
        ("a && E F b", "'E' is of CTL"),
        ("A[a U b]", "'A' is of CTL"),
        (
            "G FalseAlarm",
            'FalseAlarm is F alseAlarm, write "FalseAlarm" if it is a name',
        ),
        ("X[!] a", "write X, or use semantics"),
        ("F X[!]a", "write X, or use semantics"),
        ("G[1:2!] a", "write X, or use semantics"),
        (f"X[{MAX_STEPS + 1}] a", "steps together, expected at most 1,000"),
        (f"a U<={MAX_STEPS + 1} b", "1,001 steps together"),
        ("a == 1 U[0:2000] b", "more than 1,000 steps"),
    ],
)
def test_hints(text, hint):
    """What to write instead stands in the message."""
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert hint in str(caught.value)


def test_no_hint_in_quotes():
    """Names in quotes are no operators."""
    with pytest.raises(FormulaError) as caught:
        parse('G("x=3 H a" b')
    assert "past" not in str(caught.value)
    assert "==" not in str(caught.value)


def test_escaped_names_behind_operators():
    """A name may begin with a backslash."""
    assert parse(r"G \5==0").spot == parse(r"G (\5==0)").spot


def test_strong_next_of_finite_words():
    """It stays what it is, and until with bounds asks for it."""
    finite = Dialect(finite=True)
    assert str(parse("X[!] a", **finite._asdict()).spot) == "X[!]a"
    strong = [parse(f"{f} x==1", finite=True).spot for f in ("FX[!]", "F X[!]")]
    assert strong[0] == strong[1]
    assert str(parse("a U[1:1] b", **finite._asdict()).spot) == "a & !X!b"


NET = PetriNet([Place("p", "p", 1)], [Transition("t", "t", {0: 1}, {})])
STEPS = [(0, "enter", 0), (0, "tau", 0)]
MUTEX = Network([LTS.from_transitions(STEPS, internal=["tau"])])


@pytest.mark.parametrize(
    ("system", "text", "hint"),
    [
        (NET, "G t", "'t' is an action: write fireable(t) or action==\"t\""),
        (NET, "G(p=1)", "values are compared by =="),
        (MUTEX, "G !Fenters", 'Fenters is F enters, write "Fenters" if it is a name'),
        (MUTEX, "G F tau", "no formula can name what is internal: 'tau'"),
    ],
)
def test_hints_about_systems(system, text, hint):
    """Where a name is of another kind, or the rest of a word."""
    with pytest.raises(FormulaError) as caught:
        check(system, text)
    assert hint in str(caught.value)


@pytest.mark.parametrize("given", ["X[!] a", spot.formula("F(b & X[!] a)")])
@pytest.mark.parametrize(
    "function", [is_interruptible, analyze, automaton, lambda f: check(MUTEX, f)]
)
def test_strong_next_is_never_next(given, function):
    """As a text or a tree of Spot: functions about infinite words refuse it."""
    with pytest.raises(FormulaError, match="finite words"):
        function(given)


UNARY = ("!", "X", "F", "G", "[]", "<>", "~")
BINARY = (
    *("&", "|", "->", "<->", "U", "R", "W", "M", "V", "xor", "&&", "||", "^", "=>"),
    *("<=>", "-->", "<-->", "/\\", "\\/"),
)


@st.composite
def without_parentheses(draw):
    """A formula in which only precedence says what an operator takes."""
    words = []
    for k in range(draw(st.integers(1, 5))):
        words += [draw(st.sampled_from(BINARY))] if k else []
        words += draw(st.lists(st.sampled_from(UNARY), max_size=2))
        words.append(draw(st.sampled_from("abc")))
    return " ".join(words)


@given(without_parentheses())
@settings(max_examples=examples(1000))
def test_operators_bind_as_in_spot(text):
    """Formulas with comparisons, and those with bounds, have a grammar of our own."""
    wanted = spot.formula(text)
    compared = parse(f"({text}) & x == 1").spot
    assert compared == spot.formula_And([wanted, spot.formula_ap("x==1")])
    past = parse(f"({text}) & Y c", past=True)
    assert past.spot == spot.formula_And([wanted, spot.formula_ap("<past 0>")])


def test_boxes_behind_operators():
    """Spot takes `F[` for the beginning of bounds, and may not come to an end."""
    for text in "F[]p", "F []p", "FG p", "F [ ] [] p":
        assert parse(text).spot == spot.formula("F G p")
    assert parse("F[]p==3").spot == parse("F G p==3").spot
    assert str(parse('{a;b}[]->X[]"F[]p"').spot) == '{a;b}[]-> XG"F[]p"'
    for text in "FGF[]", "G a & F[]":
        with pytest.raises(FormulaError, match="unexpected end of formula"):
            parse(text)


@pytest.mark.parametrize("name", ["V", "xor", "first_match"])
def test_names_that_spot_does_not_quote(name):
    """As actions, of formulas in texts and of Spot's."""
    network = Network([LTS.from_transitions([(0, name, 1), (1, "b", 1)])])
    tree = spot.formula(f'X(b xor F "{name}") R (b & !"{name}")')
    found = check(network, tree)
    assert found.verdict == "violated"
    assert parse(found.formula).spot == tree
    assert found.residuals()
    assert check(network, f'"{name}" & X G b').verdict == "holds"


@pytest.mark.parametrize(
    "text",
    ["GFa", "GF1", "XX1 & FGp1", "GOa", "Yes U No", "F .x", "GF .x.y & G..", "FX(.a)"],
)
def test_names_begin_as_in_spot(text):
    """Beside the past, too: ``GF1`` was one name, ``.x`` none, and `GF<=3 a & GFb` had
    a name GFb.
    """
    assert parse(text, past=True).spot == parse(text).spot
    assert parse(f"({text}) & F<=1 b").spot == parse(f"({text}) & (b | X b)").spot
