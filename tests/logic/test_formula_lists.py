"""Lists of formulas as people have them."""

from __future__ import annotations

import gzip

import pytest

from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.runtime.errors import FormulaError, InputError


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def told(path):
    """Return names, or numbers, and formulas as Spot writes them."""
    return [(f.identifier, str(f.spot)) for f in read_formulas(path)]


def test_comments(tmp_path):
    """On lines of their own and behind formulas, in three ways; arrows are none."""
    path = written(
        tmp_path,
        "f.ltl",
        "# one\n// two\n-- three\nG a # behind\nF b // and\nX c -- so\n"
        "a --> b\na <--> b -- not\n\"x # y\" & '-- z'\n",
    )
    assert told(path) == [
        ("1", "Ga"),
        ("2", "Fb"),
        ("3", "Xc"),
        ("4", "a -> b"),
        ("5", "a <-> b"),
        ("6", '"-- z" & "x # y"'),
    ]


def test_escaped_signs(tmp_path):
    """They belong to names, as in formulas of their own."""
    path = written(tmp_path, "f.ltl", "G !fireable(t\\#1) # so\nF p\\#2 <= 1\n")
    assert [f.propositions for f in read_formulas(path)] == [
        (r"fireable(t\#1)",),
        (r"p\#2<=1",),
    ]


def test_comments_of_c(tmp_path):
    """They may go over several lines; in quotes, or behind others, they are none."""
    text = '/* one\n G x */ G a\n# /* no\nF b // /* no\n"/*" /* in */ & c /**/\n'
    assert told(written(tmp_path, "f.ltl", text)) == [
        ("1", "Ga"),
        ("2", "Fb"),
        ("3", '"/*" & c'),
    ]
    path = written(tmp_path, "g.ltl", "G a\n/* open\nF b\n")
    with pytest.raises(InputError, match=r"g\.ltl:2: a comment '/\*' without"):
        read_formulas(path)


def test_specifications_of_nusmv(tmp_path):
    text = """LTLSPEC G (a -> F b);
LTLSPEC NAME two := F b -- so
LTLSPEC
  G c ;
LTLSPEC NAME four :=
  F d;
five := G e;
"""
    path = written(tmp_path, "f.ltl", text)
    assert told(path) == [
        ("1", "G(a -> Fb)"),
        ("two", "Fb"),
        ("3", "Gc"),
        ("four", "Fd"),
        ("five", "Ge"),
    ]


def test_macros(tmp_path):
    """They stand for conditions, also each other's; quotes and elements are others."""
    text = """#define p q && r // both
#define q (x == 1)
#define x x
[] (p -> <> "p") || p.q
"""
    path = written(tmp_path, "f.ltl", text)
    plain = written(tmp_path, "g.ltl", '[] (((x==1) && r) -> <> "p") || p.q\n')
    assert told(path) == told(plain)
    path = written(tmp_path, "h.ltl", "#define p(i) x == i\nG p\n")
    with pytest.raises(InputError, match=r"h\.ltl:1: the macro 'p' with parameters"):
        read_formulas(path)


@pytest.mark.parametrize(("most", "again"), [(60, 2), (300, 1)])
def test_macros_that_grow(most, again, tmp_path):
    """Each stands in the next one, once or twice."""
    lines = ["#define m0 a"]
    for k in range(most):
        lines.append(f"#define m{k + 1} " + " || ".join([f"m{k}"] * again))
    path = written(tmp_path, "f.ltl", "\n".join([*lines, f"G m{most}", ""]))
    with pytest.raises(InputError, match=r"the macro 'm\d+' is too long or too deep"):
        read_formulas(path)


def test_a_list_of_divine(tmp_path):
    """Elsewhere such a line is a comment."""
    text = "#define a (x == 1)\n\n#property G F a // one\n#property ! <> a\n"
    path = written(tmp_path, "f.ltl", text)
    assert told(path) == [("1", 'GF"x==1"'), ("2", '!F"x==1"')]
    path = written(tmp_path, "g.ltl", "#property 1, mutual exclusion\nG a\n")
    assert told(path) == [("1", "Ga")]


def test_comments_in_lists_with_headers(tmp_path):
    """The lines of a property, too."""
    path = written(
        tmp_path, "f.txt", "// a list\n#0: true\nG a // so\n#1:\n-- no\nF b\n"
    )
    assert told(path) == [("0", "Ga"), ("1", "Fb")]


def test_names(tmp_path):
    """By a colon, the line before, or a block, with comments behind."""
    path = written(
        tmp_path,
        "f.ltl",
        "one: G a // x\n# name: two\nF b\nltl three {\n  [] c // not d\n} // end\n",
    )
    assert told(path) == [("one", "Ga"), ("two", "Fb"), ("three", "Gc")]


def test_a_catalogue_of_patterns(tmp_path):
    """Headings and scopes are names; R is a proposition where only one can stand."""
    path = written(
        tmp_path,
        "f.txt",
        "P is false:\nGlobally \t[](!P)\n(*)Before R   <>R -> (!P U R)\n"
        "After Q until R:  [](Q & !R -> (!P W R))\n\nS responds to P:\n"
        "Between Q and R   []((Q & !R & <>R) -> (P -> (!R U (S & !R))) U R)\n",
    )
    found = read_formulas(path)
    assert [f.name for f in found] == [
        "P is false, Globally",
        "P is false, Before R",
        "P is false, After Q until R",
        "S responds to P, Between Q and R",
    ]
    assert str(found[1].spot) == 'F"R" -> (!P U "R")'
    assert found[3].propositions == ("P", "Q", "R", "S")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_csv(suffix, tmp_path):
    """A column of formulas, one of names, and others; a cell may have line breaks."""
    text = 'ID, Formula ,by\n7,"G(a ->\nF b)",x\n\n8,X c,"y, z"\n'
    path = tmp_path / f"f{suffix}"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    assert told(path) == [("7", "G(a -> Fb)"), ("8", "Xc")]
    assert [f.line for f in read_formulas(path)] == [2, 5]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.json", '["G a",\n "F b"]'),
        ("f.json", '[{"formula": "G a"},\n {"formula": "F b", "by": 3}]'),
        ("f.jsonl", '"G a"\n{"formula": "F b"}\n'),
    ],
    ids=["texts", "objects", "lines"],
)
def test_json(name, text, tmp_path):
    """Of texts or objects, with the lines in which they stand."""
    path = written(tmp_path, name, text)
    assert told(path) == [("1", "Ga"), ("2", "Fb")]
    assert [f.line for f in read_formulas(path)] == [1, 2]


def test_names_in_json(tmp_path):
    """A key of each object, or those of one object."""
    path = written(tmp_path, "f.json", '[{"id": 3, "formula": "G a"}]')
    assert told(path) == [("3", "Ga")]
    path = written(tmp_path, "g.json", '{"safe": "G a", "live": "F b"}')
    assert told(path) == [("safe", "Ga"), ("live", "Fb")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("f.csv", "\nformula,Formula\nG a,F a\n", "f.csv:2: two columns 'formula'"),
        ("f.csv", "formula;id\nG a;1\n", "f.csv:1: the separator seems to be ';', exp"),
        ("f.csv", "id,text\n1,G a\n", "f.csv:1: expected one column 'formula'"),
        ("f.csv", "formula,id\nG a\n", "f.csv:2: 1 cells, expected 2"),
        ("f.csv", "formula\n", "no formula found"),
        ("f.csv", 'formula\n"G a', "f.csv:2: not CSV"),
        ("f.json", '["G a",\n 3]', "f.json:1: expected a list of formulas"),
        ("f.json", '["G a",\n', "f.json:2: not JSON"),
        ("f.json", "[]", "no formula found"),
        ("f.jsonl", '"a"\n{"f": 1}', "f.jsonl:2: expected a list"),
        ("f.csv", "formula,name\nG a,x\nF a,x\n", "f.csv:3: a second formula 'x'"),
    ],
)
def test_tables_that_are_none(name, text, message, tmp_path):
    """Refused with file and line."""
    with pytest.raises(InputError) as caught:
        read_formulas(written(tmp_path, name, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.ltl", "G a\nG((a\nF b\n"),
        ("f.csv", "formula\nG a\nG((a\nF b\n"),
        ("f.json", '["G a",\n"G((a", "F b"]'),
    ],
)
def test_one_bad_formula(name, text, tmp_path):
    """Is an error with its place, among the others."""
    found = read_formulas(written(tmp_path, name, text), collect_errors=True)
    assert [isinstance(f, FormulaError) for f in found] == [False, True, False]
    assert found[1].line == (3 if name == "f.csv" else 2)


def test_a_name_that_stands_twice_in_an_object(tmp_path):
    """Python's reader would keep the last formula of that name alone."""
    path = tmp_path / "f.json"
    path.write_text('{"p": "G a",\n "q": "F a",\n "p": "F b"}')
    with pytest.raises(InputError, match=r"f.json:3: 'p' stands twice"):
        read_formulas(path)


def test_separators_within_a_line_of_json(tmp_path):
    """Lines end where other lines of text do."""
    path = tmp_path / "f.jsonl"
    path.write_text('{"formula": "G a", "remark": "x\u2028y"}\n"F a"\n')
    assert [formula.text for formula in read_formulas(path)] == ["G a", "F a"]


def test_macros_as_in_c(tmp_path):
    """They go on behind a backslash, and may have comments of C in them."""
    text = " #define p x == 1 /* one */ && \\\n  y\n#define q \\\n z\nG p\nF q\n"
    path = written(tmp_path, "f.ltl", text)
    plain = written(tmp_path, "g.ltl", "G (x == 1 && y)\nF z\n")
    assert told(path) == told(plain)
    assert [f.line for f in read_formulas(path)] == [5, 6]
    path = written(tmp_path, "h.ltl", "G a\n#define p a \\\n")
    assert told(path) == [("1", "Ga")]


@pytest.mark.parametrize(
    "text", ["P:y == 0", "P:y", "one:two U three;", "P:X == 0", "P: X:y", "p.q:r"]
)
def test_a_name_that_may_be_a_process(text, tmp_path):
    """`P:y == 0` is about a variable of P, where there is one."""
    path = written(tmp_path, "f.ltl", f"G a\n{text}\n")
    if text[2:3] == " ":
        assert told(path)[1] == ("P", '"X:y"')
        return
    with pytest.raises(InputError, match=r"f\.ltl:2: .* may be a formula called"):
        read_formulas(path)
    path.write_text(f"({text.rstrip(';')})\n{text.replace(':', ': ')}\n")
    one, two = read_formulas(path)
    assert ":" in "".join(one.propositions)
    assert two.name == text.partition(":")[0]


def test_names_without_a_blank(tmp_path):
    """They are names where what follows them is no name."""
    path = written(tmp_path, "f.ltl", "a:G x\nb:[]x\nc:!x\nd:(x)\n0:x\ne:=x\n")
    assert [f.identifier for f in read_formulas(path)] == [*"abcd", "0", "e"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.ltl", "# name: 2\nG a\nF b\n"),
        ("f.json", '[{"name": "2", "formula": "G a"},\n "F b"]'),
    ],
)
def test_names_that_are_numbers_of_others(name, text, tmp_path):
    """No two formulas of a file have one identifier."""
    path = written(tmp_path, name, text)
    line = 3 if name == "f.ltl" else 2
    assert told(path) == [("2", "Ga"), (f"{name}:{line}", "Fb")]
