"""Formulas: what is read, and where an error is said to be."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltlpipe import FormulaError, InputError
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.readings import MAX_NESTING


def meaning(text):
    """Return a formula as Spot prints it."""
    return parse(text).spot.to_str()


def refused(text):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    return caught.value


def outcome(text):
    """Return the formula and None, or None and the error."""
    try:
        return parse(text), None
    except FormulaError as error:
        return None, error


def written(tmp_path, content, name="f.ltl"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a WU b", "a W b"),
        ("(a)WU(b)", "a W b"),
        ("a WU (b WU c)", "a W (b W c)"),
        ('"a WU b" WU c', '"a WU b" W c'),
        (r'"x\"WU" WU c', r'"x\"WU" W c'),
        ("a.WU U WU.a", "a.WU U WU.a"),
        ("WU_1 U b", "WU_1 U b"),
    ],
)
def test_wu_is_weak_until(text, expected):
    """WU is W where an operator stands, and nothing within names and quotes."""
    assert meaning(text) == meaning(expected)
    assert parse(text).text == text


def test_a_formula_knows_its_propositions():
    """The names of a formula's propositions, sorted, without quotes."""
    assert parse('b U "a c" | G b').propositions == ("a c", "b")
    assert parse("1").propositions == ()


def test_text_and_identifier():
    """A formula keeps its text, and is known by it or by its place."""
    assert parse(" G a ").text == parse(" G a ").identifier == "G a"
    assert parse("G a", file="/x/y.ltl", line=7).identifier == "y.ltl:7"


def test_line_breaks_between_words_are_blanks():
    """A formula may be broken into lines, but not within a proposition."""
    assert meaning("G(a ->\n\tF b)\r\n") == meaning("G(a -> F b)")
    assert refused('G "a\nb"').position == 4


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("G(a -> ", 7),
        ("a b", 2),
        ("a & & b", 4),
        ("a WU WU b", 5),
        ("a\tU\tU b", 4),
        ("a\n& & b", 4),
        ('"é" U U b', 6),
        ('"日本" & & b', 7),
        ('"a', 0),
        ("G é", 2),
        ('"/*" WU & "\\""', 8),
        ("a\0b", 1),
        ("a\udcff", 1),
        ("", 0),
        (" \t", 0),
    ],
)
def test_position_of_an_error(text, position):
    """Characters are counted from 0, however many bytes they take."""
    error = refused(text)

    assert error.position == position
    assert error.formula == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "  a b\n    ^"),
        ('"é" U U b', '  "é" U U b\n        ^'),
        ('"日本" & & b', '  "日本" & & b\n           ^'),
        ("a\tU\nU b", "  a U U b\n      ^"),
        ("a\x1b[31mb", "  a\N{REPLACEMENT CHARACTER}[31mb\n   ^"),
    ],
    ids=["plain", "accent", "wide", "blanks", "control"],
)
def test_the_caret_stands_under_the_position(text, shown):
    """One line, in columns of a terminal, with nothing that would move them."""
    assert str(refused(text)).split("\n", 1)[1] == shown


def test_of_a_long_formula_the_place_is_shown():
    """A message stays readable; the error carries the whole formula."""
    text = "a & " * 500 + "& b" + " & c" * 500
    error = refused(text)

    _, shown, caret = str(error).splitlines()
    assert error.formula == text
    assert len(shown) < 250
    assert shown[caret.index("^") :].startswith("& b & c")


def test_characters_that_need_quotes_are_named():
    """Spot itself says that the file ends there."""
    assert str(refused("G é")).startswith(
        "formula: unexpected character 'é'; quote what is no plain name"
    )


def test_nesting_that_spot_would_not_survive():
    """Spot recurses over the formula: what its stack cannot hold is refused."""
    assert parse("X" * MAX_NESTING + "a").propositions == ("a",)
    assert parse("(" * 5000 + "a" + ")" * 5000).text
    assert parse(" | ".join(f"a{i}" for i in range(20_000))).text
    assert "expected at most 10,000" in str(refused("X" * 200_000 + "a"))
    assert "too many" in str(refused(" & ".join(f"a{i}" for i in range(70_000))))


@given(
    st.one_of(
        st.text(max_size=30),
        st.text(
            st.sampled_from('ab"\\ \nGFXUWR!&|<->()[]{};:*2é\u3000WU#'), max_size=30
        ),
    )
)
def test_any_text_parses_or_is_refused(text):
    """Nothing but a FormulaError, and its position lies within the text."""
    formula, error = outcome(text)

    if error is None:
        assert formula.text == text.strip()
        assert isinstance(formula.propositions, tuple)
    else:
        assert error.formula == text
        assert error.position is None or 0 <= error.position <= len(text)
        assert 2 <= len(str(error).splitlines()) <= 3


@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"])),
        st.text(st.sampled_from('/* \\"WU'), min_size=1, max_size=5),
    )
)
@example(" ")
@example(' "  \\ ')
@example("/*")
def test_quotes_keep_any_name(name):
    """A quoted proposition is called what stands between the quotes.

    Spot 2.13 itself reads `" "` as `""`, and takes `"/*"` for a comment.
    """
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    assert parse(f"F {quoted}").propositions == (name,)


RERS = """\
#inputs [[a1, a2]]
0: G a

#0: a heading
  12 : (a WU b)
# G(
\tF[2:5] a
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_lines_of_a_file(newline, tmp_path):
    """Headings, comments and numbering say nothing; lines are counted with them."""
    path = written(tmp_path, RERS.replace("\n", newline))

    formulas = read_formulas(path)

    assert [f.text for f in formulas] == ["G a", "(a WU b)", "F[2:5] a"]
    assert [f.line for f in formulas] == [2, 5, 7]
    assert {f.file for f in formulas} == {str(path)}


NAMED = """\
safe: G a
# name: every request is served
G(a -> F b)
# a comment
F b
3: GF a
ltl fair { []<> a ->
           ([]<> b) }
ltl { <> a }
# name: both
other: F a
"""


def test_names_in_a_file(tmp_path):
    """Before a formula, on the line before it, or of a block of Promela."""
    path = written(tmp_path, NAMED)
    formulas = read_formulas(path)
    names = ["safe", "every request is served", None, "3", "fair", None, "other"]
    assert [f.name for f in formulas] == names
    assert [f.line for f in formulas] == [1, 3, 5, 6, 7, 9, 11]
    assert formulas[4].text == "[]<> a -> ([]<> b)"
    assert formulas[0].identifier == "safe"
    assert formulas[2].identifier == f"{path.name}:5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p: G a\np: G b\n", ":2: a second formula 'p', the first is that of line 1"),
        ("ltl p {\n [] a\n", ":1: a block 'ltl' without '}'"),
    ],
)
def test_names_that_cannot_be_read(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_formulas(written(tmp_path, text))


def test_the_name_of_a_formula_that_does_not_parse(tmp_path):
    (error,) = read_formulas(written(tmp_path, "p: G(\n"), collect_errors=True)
    assert (error.name, error.formula, error.line) == ("p", "G(", 1)


def test_numbers_with_a_colon_inside_a_line(tmp_path):
    """Once, the first number with a colon was cut out of a line wherever it stood."""
    path = written(tmp_path, 'F[2:5] a\n3: G "x 1: y"\n')

    first, second = read_formulas(path)

    assert first.spot == parse("F[2:5] a").spot
    assert second.propositions == ("x 1: y",)


def test_only_line_breaks_break_lines(tmp_path):
    """Not a form feed, nor the separators that Unicode has besides."""
    path = written(tmp_path, 'F "a\u2028b"\x0c\nG a\x0b\n')

    assert [f.line for f in read_formulas(path)] == [1, 2]


def test_compressed_file_with_byte_order_mark(tmp_path):
    """`.gz` is decompressed; a byte order mark is no part of a formula."""
    data = gzip.compress("\ufeffG a\n".encode())

    assert read_formulas(written(tmp_path, data, "f.ltl.gz"))[0].text == "G a"


def test_an_error_in_a_file(tmp_path):
    """File, line, and a caret under the formula without its numbering."""
    path = written(tmp_path, 'G a\n\n  7: "é" U U b\n')

    with pytest.raises(FormulaError) as caught:
        read_formulas(path)

    assert caught.value.file == str(path)
    assert caught.value.line == 3
    assert str(caught.value) == (
        f'{path}:3: syntax error, unexpected until operator\n  "é" U U b\n        ^'
    )


def test_collected_errors(tmp_path):
    """Lines that do not parse stand among the others, in order."""
    path = written(tmp_path, "G a\n1:\nG(\nF b\n")

    good, empty, broken, last = read_formulas(path, collect_errors=True)

    assert (good.text, last.text) == ("G a", "F b")
    assert (empty.line, empty.formula) == (2, "")
    assert (broken.line, broken.formula) == (3, "G(")


@pytest.mark.parametrize("content", ["", "\n\n", "# G a\n#0:\n"])
@pytest.mark.parametrize("collect_errors", [False, True])
def test_a_file_without_formulas(content, collect_errors, tmp_path):
    """Asking nothing is a mistake."""
    path = written(tmp_path, content)

    with pytest.raises(InputError, match=r"f\.ltl: no formula found"):
        read_formulas(path, collect_errors=collect_errors)


@pytest.mark.parametrize("content", [b"G \xff", b"G a\0"])
def test_a_file_that_is_no_text(content, tmp_path):
    """The line is named."""
    with pytest.raises(InputError, match=r"f\.ltl:1: .*expected text"):
        read_formulas(written(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path):
    """An InputError as for systems."""
    with pytest.raises(InputError, match="No such file"):
        read_formulas(tmp_path / "nothing.ltl")
