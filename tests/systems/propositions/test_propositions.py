"""Bound propositions: names, the evaluator, and the kernel against each other."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ltlpipe import FormulaError, UnsupportedError
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Indexed,
    Name,
    Number,
    Operation,
    Taken,
    Variable,
    compared,
    joined,
    negative,
)
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.systems.fields import Field
from ltlpipe.systems.propositions.binding import Vocabulary, bind
from ltlpipe.systems.propositions.kernels import assemble, letter_of, taken_bits
from ltlpipe.systems.propositions.letters import (
    MAX_PROPOSITIONS,
    Letters,
    TooLargeNumberError,
    evaluate,
)

KNOWN = Vocabulary(
    variables={"x": 0, "P": 1, "t[0]": 2, "t[1]": 3, "P.i": 4, "Q": 5, "idle": 6},
    arrays={"t": (2, 2)},
    texts={1: {"NCS": 0, "CS": 1}, 5: {"CS": 0, "idle": 1}},
    facts={"P.CS": parse_proposition("P=='CS'")},
    fireable={"go": parse_proposition("x>=2 && t[1]==0"), "go.on": Name("x")},
    actions={"go": (0,), "stop": (1,), "move": (0, 2)},
)


def bound(text):
    return bind(parse_proposition(text), KNOWN, text)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x", Variable(0)),
        ("P=='CS'", Operation("==", (Variable(1), Number(1)))),
        ("P==CS", Operation("==", (Variable(1), Number(1)))),
        ("CS==Q", Operation("==", (Variable(5), Number(0)))),
        ("Q==idle", Operation("==", (Variable(5), Number(1)))),
        ("P==idle", Operation("==", (Variable(1), Variable(6)))),
        ("P==Q", Operation("==", (Variable(1), Variable(5)))),
        ("'CS'==P", Operation("==", (Variable(1), Number(1)))),
        ("P.CS", Operation("==", (Variable(1), Number(1)))),
        ("t[1]", Variable(3)),
        ("t[x]", Indexed(2, 2, Variable(0))),
        ("deadlock", Deadlock()),
        ("action=='stop'", Taken(frozenset({1}))),
        ("action=='move'", Taken(frozenset({0, 2}))),
        ("fireable(go.on)", Variable(0)),
        ("fireable(go)", bound("2<=x && t[1]==0")),
    ],
)
def test_names(text, meaning):
    assert bound(text) == meaning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y", "nothing in the system is called 'y'"),
        ("P.j", r"did you mean P.i"),
        ("P=='C'", "no value of P is called 'C'; did you mean CS"),
        ("P==C", "no value of P is called 'C'; did you mean CS"),
        ("x==CS", "nothing in the system is called 'CS'"),
        ("x=='CS'", "the values of x are numbers"),
        ("t", r"t is an array: say which element, t\[0\]"),
        ("t[2]", "t has the elements 0 to 1"),
        ("u[2]", "no array is called 'u'"),
        ("action=='og'", "no action is called 'og'; did you mean go"),
        ("fireable(og)", "did you mean go"),
        ("takes(go)", "no function is called 'takes'"),
        ("action=='go' && x==1", "about a step"),
    ],
)
def test_refused(text, message):
    with pytest.raises(FormulaError, match=message):
        bound(text)


PLACES = (
    Field(0, 0, 8),
    Field(0, 8, 16, -(1 << 15)),
    Field(0, 40, 4),
    Field(0, 44, 4),
    Field(0, 48, 4),
    Field(1, 0, 63),
)


NARROW = (*PLACES[:-1], Field(1, 0, 7))


def packed(state, places=PLACES):
    row = np.zeros(2, dtype=np.uint64)
    for value, place in zip(state, places, strict=True):
        row[place.word] |= np.uint64((value - place.low) << place.shift)
    return row


@njit
def letter(ints, start, row, dead):
    return letter_of(ints, start, row, dead)


def letters(propositions, state, dead=False, places=PLACES):
    table = np.concatenate(([7], assemble(propositions, places)))
    return int(letter(table, 1, packed(state, places), int(dead)))


def expressions():
    leaves = st.one_of(
        st.integers(-5, 5).map(Number),
        st.integers(0, 5).map(Variable),
        st.just(Deadlock()),
    )

    def larger(inner):
        return st.one_of(
            st.builds(Indexed, st.just(2), st.just(3), inner),
            st.builds(negative, inner),
            st.builds(lambda e: Operation("!", (e,)), inner),
            st.builds(joined, st.sampled_from(["+", "&&", "||"]), inner, inner),
            st.builds(compared, st.sampled_from(["==", "<", "<="]), inner, inner),
            st.builds(
                lambda o, a, b: Operation(o, (a, b)),
                st.sampled_from(["*", "/", "%", "&", "|", "^", "<<", ">>"]),
                inner,
                inner,
            ),
        )

    return st.recursive(leaves, larger, max_leaves=7)


states = st.tuples(
    st.integers(0, 255),
    st.integers(-(1 << 15), (1 << 15) - 1),
    *[st.integers(0, 15)] * 3,
    st.integers(0, 100),
)


@given(st.lists(expressions(), max_size=4), states, st.booleans())
def test_kernel_and_evaluator_agree(propositions, state, dead):
    values = [evaluate(p, state, dead=dead) for p in propositions]
    expected = sum(1 << bit for bit, value in enumerate(values) if value)
    try:
        found = letters(propositions, state, dead)
    except TooLargeNumberError:
        try:
            found = letters(propositions, state, dead, NARROW)
        except TooLargeNumberError:
            reject()
    assert found == expected
    with patch("ltlpipe.systems.propositions.letters._OFTEN", 1):
        asked = Letters(propositions)
        for _ in range(2):  # by walks over trees, and by a function
            assert asked.of_state(state, dead=dead) == expected
        assert asked._function is not None


def test_c_division():
    minus, seven = negative(Variable(0)), (7, 0, 0, 0, 0, 0)
    for text, value in [("/", -3), ("%", -1)]:
        assert evaluate(Operation(text, (minus, Number(2))), seven) == value
        assert evaluate(Operation(text, (minus, Number(0))), seven) == 0


def test_what_is_about_steps_is_no_part_of_the_letter_of_a_state():
    propositions = [
        Taken(frozenset({1})),
        Number(1),
        Taken(frozenset({0})),
        Taken(frozenset({1})),
    ]
    assert letters(propositions, (0,) * 6) == 0b0010
    assert taken_bits(propositions, 3).tolist() == [0b0100, 0b1001, 0]
    assert evaluate(Taken(frozenset({1})), (), action=1) == 1
    assert evaluate(Taken(frozenset({1})), ()) == 0


def test_limits():
    with pytest.raises(UnsupportedError, match="propositions about states"):
        assemble([Number(0)] * (MAX_PROPOSITIONS + 1), PLACES)
    deep = Variable(0)
    for _ in range(8):
        deep = Operation("/", (Variable(1), deep))
    with pytest.raises(UnsupportedError, match="intermediate results"):
        assemble([deep], PLACES)
    with pytest.raises(UnsupportedError, match="beyond 64 bits"):
        assemble([Operation("==", (Variable(0), Number((1 << 64) + 1)))], PLACES)


def test_operands_are_put_in_order_once():
    """Not once more for each expression around them: 4 to the 50th power."""
    deep = Variable(0)
    for k in range(50):
        deep = Operation("==", (Variable(k % 2), deep))
    state = (1, 0, 0, 0, 0, 0)
    assert letters([deep], state) == evaluate(deep, state)
