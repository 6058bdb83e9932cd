"""Promela from text to the checked tree: macros, inlines, scopes, records, loops."""

from __future__ import annotations

import io

import pytest

from ltlpipe import InputError, UnsupportedError, load
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.model import read_model


def statements(body, before="", **how):
    """The statements of a process with a body, as a list."""
    model = read_model(f"{before}\ninit {{\n{body}\n}}\n", "m.pml", **how)
    (init,) = (p for p in model.proctypes if p.name == "init")
    return list(init.body.statements)


def texts(body, before="", **how):
    """What the statements are called."""
    return [statement.text for statement in statements(body, before, **how)]


def n_states(text, **how):
    """The number of states of a model, found step by step."""
    model = read(text, **how).for_question(())
    known, waiting = {model.initial()}, [model.initial()]
    while waiting:
        for step in model.each_step(waiting.pop()):
            if step.state not in known:
                known.add(step.state)
                waiting.append(step.state)
    return len(known)


def read(text, **how):
    """A model of a text."""
    import io

    return load(io.StringIO(text), format="pml", **how)


def test_macros():
    """With parameters, conditions, and places in the text."""
    before = "#define inc(v, by) v = v + (by)\nbyte x;\n#ifdef N\nbyte y;\n#endif"
    (first,) = statements("\tinc(x, -1)", before)
    assert first.text == "x = x + (-1)"
    assert first.place == ("m.pml", 7, 2)
    assert texts("y = N", before, defines=["N=3"]) == ["y = 3"]
    assert texts("y = N", before, defines=["N"]) == ["y = 1"]
    with pytest.raises(InputError, match="undeclared variable 'y'"):
        texts("y = 1", before)
    with pytest.raises(UnsupportedError, match="expected NAME or NAME=VALUE"):
        texts("skip", defines=["3x"])


def test_marks_of_lines():
    """What other programs write about where a text comes from is left out."""
    before = '# 0 "<built-in>"\n# 25 "[]<>p" 1 3\n#line 7 "m.pml"\nbyte x;'
    (first,) = statements("x = 1", before)
    assert first.place == ("m.pml", 6, 1)


def test_files_begin_with_macros_and_are_in_latin_1(tmp_path):
    """Names that other files define come first; comments are in any encoding."""
    (tmp_path / "m.h").write_bytes(b"typedef R { byte a } // \xe9\n#define HERE byte")
    path = tmp_path / "m.pml"
    model = b'#include "m.h"\nR r[2]; /* \xe4 */ HERE x;\ninit { r[1].a = 1; x = 2 }'
    path.write_bytes(model)
    assert load(path).initial() is not None
    path.write_bytes(b"HERE x; init { x = 2 }")
    with pytest.raises(InputError, match="unexpected 'HERE'"):
        load(path)


def test_operators_that_expansion_brings_together():
    """``-N`` of a negative N is no ``--``, and the text has no blank in between."""
    (first,) = statements("x = -N", "#define N -1\nbyte x;")
    assert first.text == "x = --1"
    assert isinstance(first.value, syntax.Unary)
    assert isinstance(first.value.operand, syntax.Unary)


def test_included_files(tmp_path):
    """From below the folder of the model, or from folders that are given."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "x.h").write_text("byte x;\nbyte x;\n")
    model = tmp_path / "model"
    model.mkdir()
    file = model / "m.pml"
    file.write_text('#include "x.h"\ninit { x = 1 }\n')
    with pytest.raises(InputError, match=r"cannot include 'x\.h'"):
        load(file)
    with pytest.raises(InputError) as refused:
        load(file, include=[str(tmp_path / "below")])
    assert refused.value.file == str(model / "../below/x.h")
    assert refused.value.line == 2
    (model / "x.h").write_text("byte x;\n", encoding="utf-8-sig")
    assert load(file).variables
    (model / "x.h").write_text("byte x;\n", encoding="utf-16")
    with pytest.raises(InputError, match=r"x\.h:1: the text is in UTF-16, expected"):
        load(file)


def test_ends_of_lines_end_statements():
    """So do braces and ``else``; separators before braces are none."""
    body = """byte x
    x++
    if
    :: x == 1 -> skip
    :: else x = 2;
    fi
    atomic { x = 3; }
    x = (1 +
        2)
    x = 4 ->
    """
    assert [type(s).__name__ for s in statements(body)] == [
        *("Assign", "Choice", "Atomic", "Assign", "Assign")
    ]


def test_inlines():
    """Their parameters, values and places; they may call each other."""
    before = """byte x, y;
inline twice(v) {
	v = v + v
}
inline both(a, b) { twice(a); twice(b) }
inline sum(a, b) { return a + b }"""
    first, second = statements("both(x, y); x = sum(x, 2)", before)
    inner = [block.statements[0] for block in first.statements]
    assert [(s.text, s.place.line) for s in inner] == [
        ("x = x + x", 3),
        ("y = y + y", 3),
    ]
    assert second.statements[0].text == "x = x + 2"


def test_labels_of_inlines():
    """Each call has labels of its own."""
    before = "byte x;\ninline f() { skip; L: x++; goto L }"
    model = read_model(f"{before}\ninit {{ f(); f() }}\n", "m.pml")
    (init,) = model.proctypes
    assert init.labels == ("L", "L@2")
    gotos = [block.statements[-1].label for block in init.body.statements]
    assert gotos == ["L", "L@2"]


def test_choices_of_constants():
    """``select`` is a choice with constants as bounds, else a loop, as in Spin."""
    before = "byte x, n = 3;\n#define A 1"
    (choice,) = statements("select(x : A .. 3)", before)
    assert not choice.repeats
    assert [option.statements[0].text for option in choice.options] == [
        *("x = 1", "x = 2", "x = 3")
    ]
    first, loop = statements("select(x : 1 .. n)", before)
    assert first.text == "x = 1"
    assert loop.repeats
    assert isinstance(loop.options[0].statements[0], syntax.Break)
    inline = before + "\ninline f() { select(x : 1 .. 3) }"
    (block,) = statements("f()", inline)
    assert len(block.statements) == 2


def test_loops():
    """``for`` over ranges, arrays and channels."""
    before = "byte i, a[4];\ntypedef T { byte u; bool v };\nchan q = [2] of { T };"
    first, loop = statements("for (i : 1 .. 3) { a[i] = i }", before)
    assert first.text == "i = 1"
    body = [s.text for s in loop.options[0].statements]
    assert body == ["i <= 3", "a[i] = i", "i++"]
    _, loop = statements("for (i in a) { skip }", before)
    assert loop.options[0].statements[0].text == "i <= 3"
    _, loop = statements("T t; for (t in q) { skip }", before)
    body = [s.text for s in loop.options[0].statements]
    assert body == ["_f0r < len(q)", "q?t.u,t.v", "q!t.u,t.v", "skip", "_f0r++"]


def test_records():
    """Are their leaves, with the dimensions of all arrays around."""
    before = "typedef P { short x; bit b[2] };\ntypedef S { P p[3]; byte n };\nS s[2];"
    model = read_model(before + "\ninit { s[1].p[s[0].n].b[1] = 1 }\n", "m.pml")
    found = {v.name: (v.dimensions, v.form) for v in model.variables}
    assert found == {
        "s.p.x": ((2, 3), "s[{}].p[{}].x"),
        "s.p.b": ((2, 3, 2), "s[{}].p[{}].b[{}]"),
        "s.n": ((2,), "s[{}].n"),
    }
    (assign,) = model.proctypes[0].body.statements
    assert assign.target.variable.name == "s.p.b"
    assert len(assign.target.indices) == 3


def test_constants_count_down():
    """In each declaration of a set; sets count for themselves."""
    text = "mtype = { a, b };\nmtype = { c };\nmtype:f { d, e };\ninit { skip }\n"
    assert read_model(text, "m.pml").mtypes == {
        "": {"a": 2, "b": 1, "c": 3},
        "f": {"d": 2, "e": 1},
    }


def test_declarations_behind_statements_are_steps():
    """In blocks, too; at the beginning of the body they are none."""
    body = "byte x = 1; x = 2; byte y = x; { byte z; z = y }"
    first, second, third = statements(body)
    assert isinstance(second, syntax.Declare)
    assert isinstance(third.statements[0], syntax.Declare)
    assert first.text == "x = 2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # pan: "states, stored" of Spin 6.5.2 with -o1 -o2 -o3, -DNOREDUCE, -A -E
        ("init { byte i; select(i : 1 .. 3) }", 5),
        ("init { byte i; i = 1; do :: i < 3 -> i++ :: break od }", 10),
        ("byte x; init { x = 1; { do :: x < 3 -> x++ :: x == 3 -> x = 0 od } }", 10),
        ("init { byte x; L: x = 1; if :: x == 1 -> goto L :: skip fi }", 5),
    ],
)
def test_states(text, expected):
    """As many as Spin stores."""
    assert n_states(text) == expected


def test_texts_without_a_name_that_begin_alike():
    """A DVE model says what kind of system it is."""
    promela = load(io.StringIO("byte x; active proctype P() { x = 1 }"))
    assert promela.processes == ("P[0]",)
    dve = load(io.StringIO("byte x; process P { state s; init s; } system async;"))
    assert dve.processes == ("P",)


CHANNELS = """chan c = [1] of { byte }, d = [1] of { byte, byte }
active proctype P() { d!1,c; d!2,1 }
active proctype R() { chan e; byte n; do :: d?%s,e -> e!n :: d?2,n od }
"""


def test_numbers_that_are_received_as_channels():
    """Refused unless constants tell them from channels."""
    with pytest.raises(UnsupportedError, match="2: a number, expected a channel"):
        n_states(CHANNELS % "_")
    assert n_states(CHANNELS % "1") > 5


def test_options_are_for_promela(tmp_path):
    """Macros of other formats are refused; so is one of a model that has been read."""
    file = tmp_path / "m.aut"
    file.write_text("des (0, 1, 1)\n(0, a, 0)\n")
    for name, value in {"define": ["N"], "include": ["."], "processes": 2}.items():
        with pytest.raises(UnsupportedError, match=f"{name}=? is for Promela models"):
            load(file, **{name: value})
