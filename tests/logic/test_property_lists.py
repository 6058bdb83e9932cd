"""Lists of properties with headers: numbers, solutions, and what is refused."""

from __future__ import annotations

import gzip

import pytest
import spot
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import FormulaError, InputError
from ltlpipe.logic.formula_files import (
    is_property_list,
    read_asked,
    read_formulas,
    read_list,
)
from ltlpipe.logic.formulas import parse

PUBLISHED = "problem12-properties.txt"


def written(tmp_path, content, name=PUBLISHED):
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


def asked(tmp_path, content, name=PUBLISHED):
    return read_asked(written(tmp_path, content, name))


def refusal(tmp_path, content, name=PUBLISHED):
    with pytest.raises(InputError) as caught:
        asked(tmp_path, content, name)
    assert caught.value.file == str(tmp_path / name)
    return caught.value.line, caught.value.message


@pytest.mark.parametrize("name", [PUBLISHED, "f.ltl", "f.ltl.gz", "other.txt"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_numbers_solutions_and_formulas(newline, name, tmp_path):
    """The header says the number, whatever the order, and the solution."""
    text = (
        "# a list\n\n#7:\t true\nG a\n\n#0: \nF b\n#12 : False (at once)\n a W\n\n b \n"
    )
    content = text.replace("\n", newline)
    if name.endswith(".gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode()))
        found = read_asked(path)
    else:
        found = asked(tmp_path, content, name)

    assert [each.number for each in found] == [7, 0, 12]
    assert [each.solution for each in found] == [True, None, False]
    assert [each.formula.text for each in found] == ["G a", "F b", "a W b"]
    assert [each.formula.line for each in found] == [4, 7, 9]
    assert [each.formula.identifier for each in found] == ["7", "0", "12"]
    assert [each.formula.number for each in found] == [7, 0, 12]


def test_remarks_are_no_solutions(tmp_path):
    """What the properties say in words, as published with sequential problems."""
    content = (
        "#0: output x precedes y\nG a\n#1: truly, a occurs\nF a\n#2: false_a\nF b\n"
    )
    assert [each.solution for each in asked(tmp_path, content)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("( G(a => F(b)) )", "G(a -> F b)"),
        ("( (!a W (b | c)) )", "!a W (b | c)"),
        ("( (!a WU (b | c)) )", "!a W (b | c)"),
        ("(a WR !b)", "a R !b"),
        ('(a WR b) & F "WR"', 'F "WR" & (a R b)'),
        ("[] (a -> <> b)", "G(a -> F b)"),
        ("([]<>a && !b) || c", "(G F a & !b) | c"),
        ("a V b", "a R b"),
        ("[](a-><>b)&&c", "G(a -> F b) & c"),
        (
            "( ((a => (!b U c))\n\n   W\n  (d |\n# half\n e)) )",
            "(a -> (!b U c)) W (d | e)",
        ),
    ],
)
def test_operators_and_lines(text, meaning, tmp_path):
    """Those of the challenge and of Promela, over one line or several."""
    (found,) = asked(tmp_path, f"#1:\n{text}\n")
    assert found.formula.spot == parse(meaning).spot
    assert "\n" not in found.formula.text


def test_weak_release_over_comparisons():
    """The other grammar, for propositions about states, has it too."""
    assert parse("x <= 1 WR y == 2").spot == parse("x <= 1 R y == 2").spot


@pytest.mark.parametrize(("weak", "kept"), [("a WU b", "G a"), ("a WR b", "G b")])
def test_weak_operators_do_not_ask_for_their_end(weak, kept):
    """Both hold where what they keep up holds for ever."""
    assert spot.contains(parse(weak).spot, parse(kept).spot)


def test_a_formula_that_does_not_parse_is_an_entry(tmp_path):
    """With the number of its header, and the line in which the trouble lies."""
    path = written(tmp_path, "#3: true\nG a\n#5: false\n( F(a)\n  & U b )\n#8:\nF b\n")
    good, bad, last = read_asked(path)

    assert (good.number, last.number) == (3, 8)
    assert (bad.number, bad.solution) == (5, False)
    assert isinstance(bad.formula, FormulaError)
    assert (bad.formula.line, bad.formula.name) == (5, "5")
    assert bad.formula.formula == "( F(a) & U b )"
    assert str(bad.formula).splitlines()[1:] == ["  ( F(a) & U b )", "           ^"]
    with pytest.raises(FormulaError, match=r"properties\.txt:5: "):
        read_formulas(path)


@pytest.mark.parametrize("end", ["", "\n\n", "\n# the end\n"])
def test_a_header_without_formula(end, tmp_path):
    """An entry of its own: the others keep their numbers."""
    empty, full, last = asked(tmp_path, f"#1:\n\n#2:\nG a\n#3: true{end}")

    assert isinstance(empty.formula, FormulaError)
    assert (empty.number, empty.formula.line, empty.formula.name) == (1, 1, "1")
    assert "no formula behind '#1:'" in str(empty.formula)
    assert (full.number, full.formula.text) == (2, "G a")
    assert (last.number, last.formula.line) == (3, 5)


@pytest.mark.parametrize(
    "header", ["#1 true", "#-1:", "#1.5: true", "# 1: true", "#: true", "#+1:", "#1a:"]
)
def test_what_is_nearly_a_header(header, tmp_path):
    """A typo must not hand a formula to the property before it."""
    line, message = refusal(tmp_path, f"#0: true\nG a\n{header}\nF a\n")
    assert line == 3
    assert (
        message
        == f"{header!r} is no header, expected '#K:' with the number K of the property"
    )


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("#1:\nG a\n#2:\nF a\n#1:\nG a\n", 5, "a second property 1, the first is that"),
        (
            "#01:\nG a\n#1:\nG a\n",
            3,
            "a second property 1, the first is that of line 1",
        ),
        ("G a\n#1:\nG a\n", 1, "a formula before the first header, expected '#K:'"),
        ("0: G a\n", 1, "a formula before the first header, expected '#K:'"),
        ("# nothing\n", None, "no header found, expected '#K:'"),
        ("", None, "no header found, expected '#K:'"),
        ("#1:\n#2: true\n", None, "no formula found; expected one behind each header"),
        (
            "#1: true\nG a\n#2: yes\nG a\n",
            3,
            "'yes' behind '#2:', expected the solution",
        ),
        (
            "#1: maybe\nG a\n#2: false\nG a\n",
            1,
            "'maybe' behind '#1:', expected the sol",
        ),
        (
            "#1: truefalse\nG a\n#2: true\nG a\n",
            1,
            "'truefalse' behind '#1:', expected",
        ),
        ("#12345678901: true\nG a\n", 1, "'#12345678901: true' is no header, expected"),
    ],
)
def test_refused_lists(content, line, message, tmp_path):
    """Whatever could give a property a number or a solution that is not its own."""
    found = refusal(tmp_path, content)
    assert found[0] == line
    assert found[1].startswith(message)


def test_a_list_that_promises_solutions(tmp_path):
    """By its name; an empty place and a remark in parentheses are no wrong words."""
    name = "problem3-properties-with-solution.txt"
    line, message = refusal(tmp_path, "#1:\nG a\n#2: 1\nF a\n", name)
    assert (line, message) == (
        3,
        "'1' behind '#2:', expected the solution, true or false",
    )

    found = asked(tmp_path, "#1: (open)\nG a\n#2: true\nF a\n#3:\nG a\n", name)
    assert [each.solution for each in found] == [None, True, None]


def test_formulas_with_numbers_of_their_own(tmp_path):
    """A file that begins with one has comments, no headers."""
    found = asked(tmp_path, "4: G a\n#0: more\n5: F a\n", "f.ltl")
    assert [each.number for each in found] == [4, 5]
    assert [each.formula.identifier for each in found] == ["4", "5"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("#0:\n1: G a\n", 2, "a formula numbered 1 behind '#0:'"),
        ("#0:\n0: G a\n1: F a\n", 3, "a formula numbered 1 behind '#0:'"),
        ("G a\n#1: more\nF a\n", 1, "a formula before the first header, expected"),
    ],
)
def test_headers_beside_other_numbers(content, line, message, tmp_path):
    """Nobody could say which number a formula has, in a file of any name."""
    found = refusal(tmp_path, content, "f.ltl")
    assert found[0] == line
    assert found[1].startswith(message)
    (same,) = asked(tmp_path, "#3: true\n 3 : G a\n", "f.ltl")
    assert (same.number, same.formula.text) == (3, "G a")


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("folder/problem1-properties.txt", True),
        ("Problem_101-properties-with-solution.txt.gz", True),
        ("problem1-properties.txt/x.ltl", False),
        ("properties.txt", False),
    ],
)
def test_lists_by_their_names(name, listed):
    """Those that are published as lists, whatever is in them."""
    assert is_property_list(["G a"], name) == listed
    assert is_property_list(["G a", "#1: x"], name)


solutions = st.sampled_from(["", " true", "\tfalse", " true (a remark)", "FALSE"])
formulas = st.sampled_from(
    ["G a", "( G(a => F(b)) )", "(a WU b)", "!a W\n(b | c)", "\n[]<>a\n\n&& b\n"]
)
between = st.sampled_from(["", "\n", "# comment\n", "#inputs [[a]]\n\n"])


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9 - 1), solutions, formulas, between),
        min_size=1,
        unique_by=lambda each: each[0],
    )
)
def test_any_list_is_read_as_it_was_written(properties):
    """Numbers, solutions and formulas, in their order."""
    text = "".join(
        f"{gap}#{number}:{solution}\n{formula}\n"
        for number, solution, formula, gap in properties
    )
    found = read_list(text.split("\n"), "f.ltl")

    assert [each.number for each in found] == [each[0] for each in properties]
    words = {"": None, "true": True, "false": False}
    assert [each.solution for each in found] == [
        words[(each[1].split() or [""])[0].lower()] for each in properties
    ]
    for listed, (_, _, formula, _) in zip(found, properties, strict=True):
        assert " ".join(part for _, part in listed.formula).split() == formula.split()
        for line, part in listed.formula:
            assert text.split("\n")[line - 1].strip() == part
