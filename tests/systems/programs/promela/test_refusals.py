"""Promela models that are refused: where, and with which words."""

from __future__ import annotations

import pytest

from ltlpipe import InputError
from ltlpipe.systems.programs.promela.model import read_model
from tests.systems.programs.promela.test_random_programs import model_of

INIT = "init { skip }\n"


def body(*lines, before=""):
    """A model with the lines as the body of its process, which begin in line 3."""
    return "\n".join([before, "init {", *lines, "}", ""])


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("byte x = ;\n" + INIT, (1, 10), "unexpected ';', expected an expression"),
        ("proctype P( { }\n" + INIT, (1, 13), "unexpected '{', expected"),
        (body("x = 1 @ 2"), (3, 7), "unexpected '@'"),
        (body("byte x; x = 0x10"), (3, 14), "unexpected 'x10'"),
        (body("byte x;", "x = 1 $"), (4, 7), "unexpected character '$'"),
        (body("if :: skip"), (4, 1), "unexpected '}'"),
        (body("q?_pid", before="chan q;"), (3, 3), "only eval(_pid)"),
        (body("no_inline(1)"), (3, 10), "(no inline is called 'no_inline'), expected"),
        (body("y = 1"), (3, 1), "undeclared variable 'y'"),
        (body("count = 1", before="byte counter;"), (3, 1), "did you mean counter?"),
        (
            body("byte x;", "byte x;"),
            (4, 6),
            "redeclaration of 'x', declared in line 3",
        ),
        (body("byte g;", before="byte g;"), (3, 6), "redeclaration of 'g'"),
        (body("byte x;", "{ byte x; skip }"), (4, 8), "redeclaration of 'x'"),
        (body("byte x = 1, y = x;"), (3, 17), "undeclared variable 'x'"),
        (
            body("byte red;", before="mtype = { red };"),
            (3, 6),
            "a constant of an mtype",
        ),
        (body("red = 1", before="mtype = { red };"), (3, 1), "'red' is a constant"),
        (body("_pid = 1"), (3, 1), "'_pid' cannot be assigned to"),
        (body("byte x; x = _"), (3, 13), "the value of '_' is not known"),
        (body("byte x[2]; x = 1"), (3, 12), "'x' is an array, expected an index: x[0]"),
        (body("byte x; x[0] = 1"), (3, 9), "'x' is no array"),
        (
            body("byte i, x[2]; for (i in x[1]) { skip }"),
            (3, 25),
            "expected the name of an array",
        ),
        (body("byte x; x!1"), (3, 9), "'x' is no channel, but a byte"),
        (body("byte x[0]; skip"), (3, 7), "'x' has 0 elements"),
        (body("unsigned x; skip"), (3, 10), "expected 'unsigned x : BITS'"),
        (body("byte x : 3; skip"), (3, 8), "only 'unsigned' has a number of bits"),
        (
            body("q!1,2", before="chan q = [1] of { byte };"),
            (3, 1),
            "2 fields, but messages of the channel have 1",
        ),
        (
            body("skip; chan q = [1] of { byte }; q!1"),
            (3, 12),
            "channel 'q' is declared behind a statement or in a block",
        ),
        (
            body("skip; byte x[2] = { 1, 2 }"),
            (3, 12),
            "values of array 'x', declared behind a statement",
        ),
        (body("goto L"), (3, 1), "no label is called 'L'"),
        (body("L: skip; L: skip"), (3, 10), "label 'L' is also in line 3"),
        (body("byte L; L: skip"), (3, 9), "label 'L' is called like a variable"),
        (
            body("atomic { L: skip; skip }"),
            (3, 10),
            "label 'L' at the beginning of a block",
        ),
        (body("if :: L: skip fi"), (3, 7), "at the beginning of an alternative"),
        (body("d_step { skip; goto L }; L: skip"), (3, 16), "'goto' out of a d_step"),
        (body("goto L; d_step { skip; L: skip }"), (3, 1), "'goto' into a d_step"),
        (body("do :: d_step { skip; break } od"), (3, 22), "'break' out of a d_step"),
        (body("break"), (3, 1), "'break' outside of a loop"),
        (body("d_step { skip unless skip }"), (3, 10), "'unless' in a d_step"),
        (
            body("d_step { if :: run P() :: skip fi }", before="proctype P() { skip }"),
            (3, 16),
            "'run' in a d_step",
        ),
        (body("skip", before="typedef T { byte a -> byte b }"), (1, 20), "'->'"),
        (body("skip", before="proctype P(byte a -> byte b) { skip }"), (1, 19), "'->'"),
        (body("if :: skip; else fi"), (3, 13), "'else' can only begin an alternative"),
        (body("if :: else :: else fi"), (3, 15), "a second 'else'"),
        (
            body("if :: q?1 :: else fi", before="chan q = [1] of { byte };"),
            (3, 14),
            "'else' beside a send, a receive",
        ),
        (
            body("if :: nfull(q) :: else fi", before="chan q = [1] of { byte };"),
            (3, 19),
            "'else' beside a send, a receive",
        ),
        (body("run P()"), (3, 1), "no proctype is called 'P'"),
        (
            body("run P(1)", before="proctype P() { skip }"),
            (3, 1),
            "P has 0 parameters, found 1 arguments",
        ),
        (
            body("(run P() > 0)", before="proctype P() { skip }"),
            (3, 1),
            "'run' within an expression",
        ),
        ("byte x;\n", (1, 1), "no process: expected 'init' or an 'active proctype'"),
        ("proctype P() { skip }\nproctype P() { skip }\n", (2, 1), "proctype 'P'"),
        (
            body("P[0]@M", before="proctype P() { L: skip }"),
            (3, 1),
            "P has no label 'M'",
        ),
        (
            body("P[0]:y == 1", before="proctype P() { byte x; skip }"),
            (3, 1),
            "proctype P has no variable 'y'",
        ),
        ("typedef T { byte a; byte a };\n" + INIT, (1, 26), "has two fields 'a'"),
        (body("T t; t.b = 1", before="typedef T { byte a };"), (3, 6), "no field 'b'"),
        (
            body("T t, u; t = u", before="typedef T { byte a };"),
            (3, 9),
            "'t' is a record, expected one of its fields, a",
        ),
        (body("byte x; x.a = 1"), (3, 9), "'x' is no record"),
        (body("byte:f x; skip"), (3, 1), "byte:f, expected mtype"),
        ("never { x = 1 }\nbyte x;\n" + INIT, (1, 9), "expected tests only in a never"),
        ("ltl p { <> timeout }\n" + INIT, (1, 12), "'timeout' outside of a proctype"),
        ("ltl p { [] y }\n" + INIT, (1, 12), "undeclared variable 'y'"),
        ("ltl p { true }\nltl p { true }\n" + INIT, (2, 1), "a second formula 'p'"),
        ("byte x;\nltl p { [] x == 1 }\n" + INIT, (2, 9), "parentheses are missing"),
        ("inline f(a) { a = 1 }\n" + body("f(1, 2)"), (4, 1), "1 parameters, found 2"),
        ("inline f() { f() }\n" + body("f()"), (1, 14), "inline 'f' calls itself"),
        ("#if 1\n" + INIT, (1, None), "preprocessing: unterminated"),
        ('#include "none.h"\n' + INIT, (1, None), "cannot include 'none.h'"),
        ('#include "/etc/passwd"\n' + INIT, (1, None), "outside of the folder"),
        ("#error no\n" + INIT, (1, None), "preprocessing: #error no"),
        ("#defin N 1\n" + INIT, (1, None), "unknown directive #defin N 1"),
        (body("/* never closed"), (3, 1), "a comment without its end, expected '*/'"),
        (body("c_code { x = 1; }"), (3, 1), "embedded C (c_code) is not supported"),
        (body("y = 1; c_expr { x }"), (3, 8), "embedded C (c_expr)"),
        (body("byte x; select(x : 3 .. 1)"), (3, 9), "no value from 3 to 1"),
        ("ltl <> { true }\n" + INIT, (1, 5), "unexpected '<>', expected"),
        (body("byte i; for (i i) { skip }"), (3, 16), "'[' or 'in'"),
        (body("byte x; x = 99999999999"), (3, 13), "has more than 32 bits"),
    ],
)
def test_refused(text, place, message):
    """Line, column and what was expected."""
    with pytest.raises(InputError) as refused:
        read_model(text, "m.pml")
    error = refused.value
    assert message in str(error)
    line, column = place
    assert error.line == line
    if column is not None:
        assert f"column {column}: " in str(error)


def test_macros_that_stand_for_too_much():
    """Each of them stands for the one before it, twice."""
    lines = [f"#define A{i} A{i - 1};A{i - 1}" for i in range(1, 41)]
    text = "\n".join(["#define A0 x++", *lines, "byte x; init { A40 }"])
    with pytest.raises(InputError, match="macros stand for more than"):
        read_model(text, "m.pml")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (body("skip;", "L: goto L"), "m.pml:4"),
        (body("K: goto L;", "skip; L: goto K"), "m.pml:4"),
        (body("atomic {", "skip; L: goto M; M: goto L }"), "m.pml:4"),
    ],
)
def test_jumps_in_a_circle(text, place):
    """They are no steps, as in Spin, so there is no next one."""
    with pytest.raises(InputError, match=f"{place}.*jumps lead in a circle"):
        model_of(text)
