"""Reading the C programs of the challenge: what is read, and what is refused."""

from __future__ import annotations

import pytest

import ltlpipe
from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.programs.eca import rules
from ltlpipe.systems.programs.eca.program import ERROR, FLAG, INPUT, RunEndedError
from ltlpipe.systems.programs.eca.rules import rules_of
from tests.systems.programs.eca.random_programs import differing
from tests.systems.programs.eca.small_programs import (
    COUNTER,
    machine_in,
    program,
    rule,
    rules_in,
    source_of,
    system_in,
)


def test_variables_inputs_and_steps():
    """Globals have their values, and steps are those of C."""
    source = source_of(COUNTER)
    names = [variable.name for variable in source.variables]
    assert names == ["input", "cf", "a", "junk", "b", "unused"]
    assert (names[INPUT], names[FLAG]) == ("input", "cf")
    assert source.inputs == (1, 2)
    values = source.initial
    assert values[2:] == [4, 1, 96, -3]
    assert source.step(values, 1) == 24
    assert values[2:] == [5, 4, 96, -3]
    assert source.step(values, 1) is None
    assert source.step(values, 2) == 25
    assert [source.step(values, 2) for _ in range(4)] == [26, 26, 26, None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("-2147483648", -2147483648),
        ("(-2147483648) < a", 1),
        ("(-2147483647 - 1) + a", 2147483619),
        ("(a - -7)", -22),
        ("(a + -7)", -36),
        ("(a / 10)", -2),
        ("(a % 10)", -9),
        ("(a * (1 - 2))", 29),
        ("a + 2 * 3 - 1", -24),
        ("((a * 2147483647) * 2)", 58),
        ("(2147483647 + 1)", -2147483648),
        ("-a", 29),
        ("t[((a / a) + 1)]", 9),
        ("p[2]", 12),
        ("p[(0 - (a / 29))]", 11),
        ("(a < 3) + (a == -29)", 2),
        ("!(a < 3 && a > 0 || a != a)", 1),
    ],
)
def test_arithmetic_is_that_of_c(value: str, expected: int):
    """32 bits, truncating division and remainder, and C's precedences."""
    declared = (
        "\t int a = -29;\n\t int t[] = {7, 8, 9};\n\t int u[3] = {10,11,12};\n"
        "\t int *p = u;\n\t int b = 0;"
    )
    text = program(rule("input == inputs[0]", 26, f"b = {value}"), declared=declared)
    source = source_of(text)
    values = source.initial
    assert source.step(values, 1) == 26
    assert values[-1] == expected


@pytest.mark.parametrize(
    "line", ["  # include <math.h>", "/* a *\n b */ #include <a/b.h> /* c\n */ //"]
)
def test_includes_may_be_indented(line: str):
    """As a preprocessor takes them; comments are blanks."""
    text = program(rule("input == 1", 26), declared="\t int a = 3;")
    assert source_of(f"{line}\n{text}").inputs == source_of(text).inputs


@pytest.mark.parametrize("value", ["(a / b)", "(a % b)", "t[(a - 5)]", "t[a]"])
def test_what_has_no_value_ends_the_run(value: str):
    """A division by zero and an index out of range end the run."""
    declared = "\t int a = 3;\n\t int t[] = {7, 8, 9};\n\t int b = 0;"
    text = program(rule("input == 1", 26, f"b = {value}"), declared=declared)
    source = source_of(text)
    with pytest.raises(RunEndedError):
        source.step(source.initial, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a = 5 ;", "a += 5;", "expected '(', found '+'"),
        ("a = 5 ;", "a = (3 - --a);", "expected an expression, found '--'"),
        ("a = 5 ;", "x = 5;", "'x' is no variable to be assigned to"),
        ("a = 5 ;", "a = (5 & 3);", "expected ')', found '&'"),
        ("a = 5 ;", "a = f(5);", "'f' is no variable with a value"),
        ("a = 5 ;", "inputs[0] = 5;", "elements of arrays are not assigned to"),
        ("a = 5 ;", "while(1) { }", "expected a statement, found 'while'"),
        ("a = 5 ;", "a = 99999999999;", "beyond 32 bits"),
        pytest.param("a = 5 ;", f"a = -{'9' * 5_000};", "beyond 32 bits", id="digits"),
        ("a = 5 ;", "a = (a + (-2147483648));", "which is no int in C"),
        ("a = 5 ;", "a = -2147483648 % a;", "which is no int in C"),
        ("a = 5 ;", "a = -(-2147483648);", "which is no int in C"),
        ("a = 5 ;", "a = 5 #include <stdio.h>;", "expected ';', found '#'"),
        ("a = 5 ;", "/* */ a = 4; /* */ #include <x>", "found '#'"),
        ("a = 5 ;", "a = 017;", "octal"),
        ("a = 5 ;", "cf = 2;", "cf inside of a rule"),
        ("a = 5 ;", "unknown(input);", "no function is called 'unknown'"),
        ('"%d\\n", 24', '"%x\\n", 24', 'expected "%d\\n"'),
        ("a == 4 &&", "{", "expected an expression, found '{'"),
        ("int a  = 4;", "int a  = 4; int a = 3;", "'a' is declared twice"),
        ("int a  = 4;", "float a = 4;", "expected a declaration"),
        ("int a  = 4;", "int f(int);", "'f' returns a number, as in the chall"),
        ("int a  = 4;", "int *a = inputz;", "no array"),
        ("a == 4 &&  cf==1", "a == 4", "does not ask for cf == 1"),
        ("a == 4 &&  cf==1", "a == 4 &&  cf==0", "does not ask for cf == 1"),
        ("a == 4 &&", "(a + input == 4) &&", "on the input and on other"),
        ("a == 4 &&", "(a / b == 4) &&", "might be lacking"),
        ("a == 4 &&", "inputs[2] == 4 &&", "index 2 of an array of 2 elements"),
        ("if( cf==1 )", "a = 3; if( cf==1 )", "an assignment outside of a rule"),
        ("int inputs[]", "int outputs[]", "expected the inputs"),
        ("{1,2}", "{1,1}", "an input stands twice"),
        ("int cf = 1;", "#define a b\nint cf = 1;", "found '#'"),
        ("int cf = 1;", "\t#if 0", "found '#'"),
        ("        cf = 1;\n", "a = 1;\n", "expected 'cf = 1;' at the beginning of"),
        (
            "errorCheck();\n\n    if",
            "calculate_outputm1(input); if",
            "function 'calculate_outputm1' is not defined",
        ),
    ],
)
def test_what_is_outside_of_the_syntax_is_refused(old, new, message):
    """The message names file and line, and what was expected or is wrong."""
    place = COUNTER.index(old)
    line = COUNTER[:place].count("\n") + 1
    if "inputs[]" in old:  # that they are missing is known at the end
        line = COUNTER.count("\n") + 1
    with pytest.raises(InputError) as error:
        rules_in(COUNTER.replace(old, new, 1))
    assert message in str(error.value)
    assert (error.value.file, error.value.line) == ("P.c", line)


def test_a_truncated_program_is_refused():
    """At any place but behind the last function, where only main is missing."""
    main = COUNTER.index("int main()")
    last = COUNTER.rindex("}", 0, main)
    for end in [*range(0, last, 5), *range(main + 10, len(COUNTER) - 2, 5)]:
        with pytest.raises(InputError):
            rules_in(COUNTER[:end])
    assert len(rules_in(COUNTER[:main]).rules) == 3


@pytest.mark.parametrize(
    ("statements", "n_outputs"),
    [("", 0), ('printf("%d\\n", 24); printf("%d\\n", 25);', 2)],
)
def test_a_rule_has_one_output(statements: str, n_outputs: int):
    """As the problems have it; the message names the line of the rule."""
    text = program(f"\nif((input == 1) && cf==1) {{\n cf = 0;\n {statements} }}")
    line = text[: text.index("if((input == 1)")].count("\n") + 1
    message = f"P.c:{line}: a rule with {n_outputs} outputs, expected one"
    with pytest.raises(InputError, match=message):
        rules_in(text)


_FIRST = rule("(input == 1) && a == 1", 21, "a = 0")
_SECOND = rule("(input == 2) && a == 0", 22, "a = 1")
_ERROR = "if((a == 1)) { cf = 0; __VERIFIER_error(3); }"


def test_an_error_between_rules_is_refused():
    """It is looked at behind the first rule, but not behind the second.

    Before all rules and behind all it is about the states that steps lead to.
    """
    declared = "\t int a = 0;"
    for order in (_ERROR + _FIRST + _SECOND, _FIRST + _SECOND + _ERROR):
        text = program(order, declared=declared)
        machine = machine_in(text)
        assert machine.target.tolist() == [1]
        assert differing(source_of(text), machine, 100)[0] == []
    text = program(f"{_FIRST}\n{_ERROR}\n{_SECOND}", declared=declared)
    line = text[: text.index("__VERIFIER_error(3)")].count("\n") + 1
    with pytest.raises(InputError, match=f"P.c:{line}: an error between rules"):
        rules_in(text)


def test_an_output_before_an_error_is_refused():
    """The run ends behind the output then, and not before the input."""
    text = program(rule("(input == 1)", 21).replace("fflush(stdout)", "assert(0)"))
    with pytest.raises(InputError, match="an output before an error in a rule"):
        rules_in(text)
    first = rule("(input == 1)", 21, "__VERIFIER_error(3)")
    assert [each.output for each in rules_in(program(first)).rules] == [ERROR]


def test_deep_nesting_is_refused():
    """As an error of the input, not of Python."""
    text = COUNTER.replace("a = 5 ;", f"a = {'(' * 9999}5{')' * 9999};", 1)
    with pytest.raises(InputError, match="nested too deeply"):
        source_of(text)
    text = COUNTER.replace("(b - 1)", f"(b{' - b' * 9999})", 1)
    with pytest.raises(InputError, match="nested too deeply"):
        system_in(text)


def test_more_outputs_than_labels_can_number_are_refused(monkeypatch):
    monkeypatch.setattr(rules, "MOST_OUTPUTS", 2)
    two = [rule(f"(input == 1) && a == {k}", 20 + k, f"a = {k + 1}") for k in range(2)]
    declared = "int a = 0;"
    rules_in(program("\n".join(two), declared=declared))
    three = [*two, rule("(input == 1) && a == 2", 22, "a = 0")]
    with pytest.raises(InputError, match="3 outputs, expected at most 2"):
        rules_in(program("\n".join(three), declared=declared))


def test_calls_that_go_round_are_refused():
    """A function that calls itself has no rules in order."""
    text = program(
        "calculate_outputm1(input);",
        functions=" void calculate_outputm1(int input) { calculate_outputm1(input); }",
    )
    with pytest.raises(InputError, match="calls of functions go round"):
        rules_in(text)


def test_calls_without_rules_let_others_work():
    """Twice as many at every level: who reads them can be stopped."""
    functions = "".join(f"void f{k}();\n" for k in range(41)) + "".join(
        f"void f{k}() {{ f{k + 1}(); f{k + 1}(); }}\n" for k in range(40)
    )
    text = program("f0();", functions=f"{functions} void f40() {{ }}")
    job = rules_of(source_of(text), "P.c")
    assert [next(job).phase for _ in range(3)] == ["reading"] * 3
    job.close()


def test_a_function_may_stand_behind_its_use_and_be_nested():
    """Rules keep the program's order, and take the conditions around a call."""
    functions = (
        " void calculate_outputm1(int input) {\n"
        f"{rule('(input == 1)', 20)}\n{rule('(input == 1) && a == 4', 21)}\n}}"
    )
    rules = "if((a == 4 && cf==1)) { calculate_outputm1(input); }" + rule("a == 5", 22)
    text = program(rules, declared="\t int a = 4;")
    head, _, main = text.partition("int main()")
    found = rules_in(f"{head}{functions}\nint main(){main}").rules
    assert [each.output for each in found] == [20, 21, 22]
    assert found[0].literals == ((2, ((4, 4),)),)
    assert (found[0].inputs, found[2].inputs) == ((0,), (0, 1))


def test_lines_of_a_large_program(tmp_path):
    """Long programs keep their line numbers."""
    rules = [
        rule(
            f"(input == 1) && (a == {k} && ((-3 < b) && (b <= {k})))", 20, "a = (a + 1)"
        )
        for k in range(1_500)
    ]
    text = program("\n".join(rules), declared="\t int a = 0;\n\t int b = 0;")
    file = tmp_path / "large.c"
    file.write_text(text.replace("a == 1499", "a = 1499", 1))
    line = text[: text.index("a == 1499")].count("\n") + 1
    with pytest.raises(InputError) as error:
        ltlpipe.load(file)
    assert error.value.line == line
