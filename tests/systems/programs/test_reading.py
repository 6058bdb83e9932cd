"""Reading DVE models: what is refused, where, and with which words."""

from __future__ import annotations

import gzip
from unittest.mock import PropertyMock, patch

import pytest

import ltlpipe
from ltlpipe import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.errors import LtlpipeWarning
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.programs.program import Program
from ltlpipe.systems.reading import load_program

PROCESS = "process P { byte v; state s, e; init s; trans s -> e { BODY }; }"


def read_dve(text, file):
    """The program of a text."""
    return read_dve_model(text, file).program


def model(body="", declarations="byte x; byte t[3]; channel c;", system="async"):
    """The text of a model with one transition, each part on a line of its own."""
    return "\n".join([declarations, PROCESS.replace("BODY", body), f"system {system};"])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            model("guard ;"),
            2,
            "column 62: unexpected ';', expected an expression",
        ),
        (
            model("effect x = 1"),
            2,
            "column 69: unexpected '}', expected ',' or ';'",
        ),
        (
            "byte x\nprocess P { state s; init s; } system async;",
            2,
            "column 1: unexpected 'process', expected ',', ';', '=' or '['",
        ),
        (
            model().replace("}; }", "};"),
            3,
            "column 1: unexpected 'system', expected '}'",
        ),
        (
            "byte x;",
            1,
            """column 8: unexpected end of file, expected 'byte', 'channel', 'const', \
'int' or 'process'""",
        ),
        (
            "byte x; /* for ever",
            1,
            "column 9: unexpected end of file in a comment, expected '*/'",
        ),
        ("byte x = 'a';", 1, 'column 10: unexpected character "\'"'),
        (
            model("guard x y;"),
            2,
            "column 64: unexpected 'y', expected an operator, ',' or ';'",
        ),
        (
            model("guard state == 1;"),
            2,
            "column 62: unexpected 'state', expected an expression",
        ),
        (
            model("guard X == 1;"),
            2,
            "column 62: unknown name 'X'; did you mean x?",
        ),
        (model("guard P.f;"), 2, "column 62: unknown state of P 'f'"),
        (
            model("guard P->w == 1;"),
            2,
            "column 62: unknown variable of P 'w'",
        ),
        (model("guard Q.s;"), 2, "column 62: unknown name 'Q'"),
        (
            model("guard x.s;"),
            2,
            "column 62: 'x' is a variable, expected a process",
        ),
        (model("guard c;"), 2, "column 62: 'c' is a channel, expected a variable"),
        (model("guard P;"), 2, "column 62: 'P' is a process, expected a variable"),
        (model("guard t;"), 2, "column 62: 't' is an array, expected an index"),
        (
            model("guard x[0];"),
            2,
            "column 62: 'x' is a variable and has no elements",
        ),
        (
            model("effect K = 1;", "const byte K = 1;"),
            2,
            "column 63: 'K' is a constant",
        ),
        (
            model("effect P->v = 1;"),
            2,
            "column 63: a process cannot assign to a variable of another one",
        ),
        (model("sync x!;"), 2, "column 61: 'x' is a variable, expected a channel"),
        (model("sync c?x + 1;"), 2, "column 65: expected a variable"),
        (
            model("sync c!1; }, e -> s { sync c?;"),
            2,
            "column 83: 0 values for the channel 'c', used in line 2 with 1",
        ),
        (
            model("sync c!{1, 2};", "channel {byte} c[1];"),
            2,
            "column 61: 2 values for the channel 'c', declared with 1",
        ),
        (
            "byte x;\nbyte x;\n" + model("", ""),
            2,
            "column 6: 'x' is declared a second time, first in line 1",
        ),
        (
            model().replace("state s, e", "state s, s"),
            2,
            "column 30: the state 's' is declared a second time",
        ),
        (
            model().replace("init s;", ""),
            2,
            "column 9: 'P' has 0 initial states, expected 1",
        ),
        (
            model().replace("init s;", "init q;"),
            2,
            "column 38: unknown state of P 'q'",
        ),
        (
            model().replace("init s;", "init s; commit q;"),
            2,
            "column 48: unknown state of P 'q'",
        ),
        (
            model().replace("init s;", "init s; assert e: x == z;"),
            2,
            "column 56: unknown name 'z'",
        ),
        (
            model().replace("trans s", "trans "),
            2,
            """column 48: the first transition of a process has no source, expected \
a state""",
        ),
        (
            model().replace("-> e", "-> f"),
            2,
            "column 52: unknown state of P 'f'",
        ),
        (
            model("", "const int a = a + 1;"),
            1,
            "column 15: 'a' is declared by itself (line 1)",
        ),
        (
            model("", "const int a = b;\nconst int b = a;"),
            1,
            "column 15: 'b' is used before it is declared (line 2)",
        ),
        (
            model()
            .replace("byte v;", "byte v = Q.s;")
            .replace("system", "process Q { state s; init s; }\nsystem"),
            2,
            "column 22: 'Q' is used before it is declared",
        ),
        (
            model("", "byte x; const int a = x;"),
            1,
            "column 23: the value of 'a' is not constant",
        ),
        (
            model("", "const int a = 1 / 0;"),
            1,
            "column 17: division by zero in the value of 'a'",
        ),
        (
            model("", "const int a;"),
            1,
            "column 11: the constant 'a' has no value",
        ),
        (
            model("", "byte x; byte t[x];"),
            1,
            "column 16: the size of 't' is not constant",
        ),
        (
            model("", "byte t[0];"),
            1,
            "column 8: the size of 't' is 0, expected 1 or more",
        ),
        (
            model("", "byte t[2] = 5;"),
            1,
            "column 6: expected values in braces for 't'",
        ),
        (
            model("", "byte t[2\n + (\n(0 - 2))];"),
            2,
            "column 2: the size of 't' is 0, expected 1 or more",
        ),
        (
            model("", "byte t[\n(\n0)];"),
            2,
            "column 1: the size of 't' is 0, expected 1 or more",
        ),
        (model("", "byte x = {5};"), 1, "column 6: expected one value for 'x'"),
        (
            model("guard 2147483648 > 0;"),
            2,
            "column 62: a number beyond 2147483647, the largest",
        ),
        (
            model(f"guard {'1' * 5000} > 0;"),
            2,
            "column 62: a number beyond 2147483647, the largest",
        ),
    ],
)
def test_what_is_refused(text, line, message):
    """By place, with what was expected or may have been meant."""
    with pytest.raises(InputError) as caught:
        read_dve(text, "model.dve")
    assert str(caught.value) == f"model.dve:{line}: {message}"


@pytest.mark.parametrize(
    "expression",
    ["(" * 5000 + "x" + ")" * 5000, "not " * 150 + "x", "x" + " + x" * 150],
    ids=["brackets", "signs", "sum"],
)
def test_nested_expressions(expression):
    """What is nested deep is read as long as operators are not."""
    read_dve(model(f"guard {expression};"), "model.dve")


@pytest.mark.parametrize("expression", ["not " * 5000 + "x", "x" + " + x" * 5000])
def test_expressions_that_are_too_deep(expression):
    """An error, not a crash."""
    with pytest.raises(InputError, match="more than 200 operators inside each other"):
        read_dve(model(f"guard {expression};"), "model.dve")


def test_deep_expressions_compile():
    """The deepest that is read is also interpreted and generated."""
    text = model(f"guard {'not ' * 190}x, {'(1 + ' * 190}x{')' * 190} > 0;")
    built = read_dve_model(text, "model.dve")
    assert built.steps(built.initial()) == []
    compile(built.source, "generated", "exec")


def test_expressions_that_are_too_deep_to_compile():
    """Python reads 200 brackets inside each other: an error of ours, not its own."""
    text = model(f"effect x = {'(2 << ' * 150}x{')' * 150};")
    built = read_dve_model(text, "model.dve")
    assert len(built.steps(built.initial())) == 1
    with pytest.raises(UnsupportedError, match="nested too deeply to be compiled"):
        built.pack([])


@pytest.mark.parametrize(
    "pattern",
    [
        "(({} && t[0] != {n}) || v == {n})",
        "(v == {n} || (t[0] != {n} && {}))",
        "({} imply v == 0)",
        "(t[0] == 0 imply {})",
        "not ({} == (v < {n}))",
        "(({} == v) && t[0] != {n})",
        "((t[0] != {n} && {}) == v || v > {n})",
        "(({} || t[0] != {n}) + v && v < {n})",
        "((v == {n} imply {}) < t[0] imply v != {n})",
    ],
)
def test_conditions_inside_each_other(pattern):
    """Each is looked at once or twice at every level, not twice as often: no time."""
    condition = "x == 0"
    for n in range(60):
        condition = pattern.format(condition, n=n)
    built = read_dve_model(model(f"guard {condition};"), "model.dve")
    assert len(built.steps(built.initial())) <= 1
    assert len(built.source) < 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (model(system="async property P"), "line 3: no process beside the property"),
        (model("sync c!;", system="sync"), "line 2: a channel in a synchronous system"),
        (model("", "byte t[5000];"), "line 1: 't' has 5000 elements"),
        (
            model("", "byte t[3000], u[3000];"),
            "line 1: more than 4096 variables",
        ),
    ],
)
def test_what_is_not_supported(text, message):
    """Named, with its line."""
    with pytest.raises(UnsupportedError) as caught:
        read_dve(text, "model.dve")
    file, _, rest = message.partition(":")
    assert str(caught.value).startswith(f"model.dve:{file[5:]}:{rest}")


def test_steps_that_are_too_many_are_counted_not_listed():
    """Six hundred that send and as many that receive, over one channel."""
    ends = [
        f"process {name} {{ state s; init s; trans {', '.join([trans] * 600)}; }}"
        for name, trans in [
            ("P", "s -> s { sync c!; }"),
            ("Q", "s -> s { sync c?; }"),
        ]
    ]
    text = " ".join(["channel c;", *ends, "system async;"])
    with (
        patch.object(Program, "actions", new_callable=PropertyMock) as listed,
        pytest.raises(UnsupportedError, match="360000 different steps"),
    ):
        read_dve(text, "model.dve")
    assert not listed.called


@pytest.mark.parametrize(
    ("expression", "agrees", "differs"),
    [
        ("x || t[0] && v", "DiVinE 3", "DiVinE 2"),
        ("x or t[0] and v", "DiVinE 3", "DiVinE 2"),
        ("x ^ 1 & v", "DiVinE 3", "DiVinE 2"),
        ("x && t[0] || v", "DiVinE 2", "DiVinE 3"),
        ("x & 1 ^ v", "DiVinE 2", "DiVinE 3"),
    ],
)
def test_precedence_warnings(expression, agrees, differs):
    """Where a version of DiVinE would read something else, and which."""
    with pytest.warns(LtlpipeWarning) as caught:
        read_dve(model(f"guard {expression};"), "model.dve")
    (warned,) = [str(w.message) for w in caught]
    assert f"as in C and {agrees}; {differs}, " in warned
    assert warned.startswith("model.dve:2: ")
    assert warned.endswith("use parentheses")


def test_precedence_warnings_are_counted():
    """One for each way, with the first place."""
    guards = "guard x || v && x, x && v || x; }, s -> s { guard v || x && v || x;"
    with pytest.warns(LtlpipeWarning) as caught:
        read_dve(model(guards), "model.dve")
    first, second = [str(w.message) for w in caught]
    assert "'&&' binds closer than '||' here, and in 1 more place, as in C" in first
    assert "DiVinE 3, for which" in second


@pytest.mark.parametrize(
    "expression",
    [
        "x || (t[0] && v)",
        "(x && t[0]) || v",
        "x == 1 && t[0] | 2",
        "x | 1 | 2",
        "x && v && t[1]",
    ],
)
def test_no_precedence_warnings(expression):
    """Where they would not; warnings are errors in tests."""
    read_dve(model(f"guard {expression};"), "model.dve")


def test_surplus_initial_values():
    """The first ones are taken, with a warning."""
    with pytest.warns(LtlpipeWarning, match="model.dve:1: 3 values for the 2 elements"):
        program = read_dve(model("", "byte t[2] = {1, 2, 3};"), "model.dve")
    values = {v.name: v.initial for v in program.variables}
    assert (values["t[0]"], values["t[1]"]) == (1, 2)


def test_macros_are_named(tmp_path):
    """A file that m4 has to expand first, by its suffix or by how it begins."""
    for name, text in [("m.mdve", "byte x;"), ("n.dve", "default(N,3)\nbyte x = N;")]:
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(InputError, match="m4"):
            ltlpipe.load(path)


def test_values_out_of_range():
    """They are wrapped, with a warning."""
    with pytest.warns(
        LtlpipeWarning, match="300 is not in the range of byte, 0 to 255"
    ):
        program = read_dve(model("", "byte x = 300;"), "model.dve")
    assert program.variables[0].initial == 44


def test_parts_of_a_process():
    """In any order; what has no meaning for behaviour is read all the same."""
    text = """process P { state a, b, c; accept b, c;
    assert a: 1, b: P.b; commit a; init b; trans a -> b { }; }
    process Q { state s; init s; }
    system async;"""
    program = read_dve(text, "model.dve")
    first, second = program.processes
    assert first.accepting == {1, 2}
    assert first.committed == {0}
    assert program.variables[first.state].initial == 1
    assert len(program.assertions) == 2
    assert second.transitions == ()


def test_comments_and_blanks():
    """Wherever blanks may be."""
    text = "// a\n/* b\n * c */ process/**/P{state s;init s;}//\nsystem async;//"
    assert read_dve(text, "model.dve").processes[0].name == "P"


def test_a_variable_that_is_called_like_a_state():
    """A formula means the variable, and says so."""
    model = read_dve_model(
        "process P { byte s; state s, t; init s; trans s -> t { }; } system async;",
        "model.dve",
    )
    with pytest.warns(LtlpipeWarning, match="'P.s' is a variable and a state of P"):
        assert ltlpipe.check(model, "F P.s").verdict == "violated"
    assert ltlpipe.check(model, 'P=="s" & F P.t').verdict == "holds"


def test_an_arrow_behind_a_process():
    """It is DiVinE's for a variable, and an implication in formulas: P is neither."""
    model = read_dve_model(
        "process P { byte x = 1; state s; init s; trans s -> s { }; } system async;",
        "model.dve",
    )
    with pytest.raises(FormulaError, match=r"P is a process, .* write P\.x for"):
        ltlpipe.check(model, "G (P->x == 0)", unknown="never")
    assert ltlpipe.check(model, 'G (P=="s" -> P.x == 0)').verdict == "violated"
    assert ltlpipe.check(model, "G (P == 0)").verdict == "holds"


def test_loading(tmp_path):
    """From files, compressed or not; what is no model is refused by its beginning."""
    plain, packed = tmp_path / "m.dve", tmp_path / "m.DVE.gz"
    plain.write_text(model())
    packed.write_bytes(gzip.compress(model().encode()))
    for path in (plain, packed):
        assert load_program(path).variables == (
            "x", "t[0]", "t[1]", "t[2]", "P", "P.v", "error",
        )  # fmt: skip
    other = tmp_path / "other.dve"
    other.write_text("digraph G {}")
    with pytest.raises(InputError, match="expected a declaration or a process"):
        load_program(other)
    with pytest.raises(InputError, match=r"with the suffix \.dve"):
        load_program(tmp_path / "m.txt")
