"""What is a step, and which states there are: counts are those of Spin 6.5.2."""

from __future__ import annotations

import pytest

from ltlpipe import InputError, UnsupportedError, check
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.promela.model import promela_model, read_model
from tests.systems.programs.test_generating import compare_model


def model_of(text, **options):
    return complete(promela_model(read_model(text, "m.pml"), **options))


COUNTS = {
    "break alone is a step": (
        "byte x; active proctype P() { do :: x < 1 -> x++ :: break od; x = 5 }",
        7,
    ),
    "goto behind a statement is none": (
        "byte x; active proctype P() { L: x = 1 - x; goto L }",
        2,
    ),
    "atomic that blocks": (
        (
            "byte x, y; active proctype P() { atomic { x = 1; y == 1; x = 2 } }"
            "active proctype Q() { x == 1; y = 1 }"
        ),
        8,
    ),
    "d_step takes its first choice": (
        "byte x; active proctype P() { d_step { if :: x = 1 :: x = 2 fi; x = x + 5 } }",
        3,
    ),
    "control goes with a message": (
        (
            "byte x; chan c = [0] of { bit };"
            "active proctype P() { atomic { x = 1; c!1; x = 2; x = 3 } }"
            "active proctype Q() { atomic { c?1; x = x + 4; x = x + 4 } }"
        ),
        6,
    ),
    "an escape is tried at every statement": (
        "byte x; active proctype P() { { x = 1; x = 2 } unless { x == 1 -> x = 7 } }",
        5,
    ),
    "young processes end first": (
        "byte x; proctype Q(byte p) { x = p } init { run Q(1); run Q(2) }",
        18,
    ),
    "a process for every round": (
        "byte x; proctype Q() { x = 1 - x } init { do :: run Q(); _nr_pr == 1 od }",
        8,
    ),
    "an array behind a statement": (
        (
            "byte x; active proctype P() { x++; byte u[2] = 3; if :: u[1] == 3 -> "
            "x = 5; x = 6; x = 7 :: u[1] == 0 -> x = 8 fi }"
        ),
        6,
    ),
    "a record behind a statement": (
        (
            "typedef T { byte a } byte x; active proctype P() { do :: x < 2 -> x++; "
            "T u; u.a++; if :: x == 2 && u.a == 2 -> x = 5; x = 6; x = 7 :: else fi "
            ":: else -> break od }"
        ),
        16,
    ),
    "run does not take the priority of the proctype": (
        (
            "byte x; proctype P(byte v) priority 3 { x = v; x = v + 1 } init { "
            "x = get_priority(_pid); run P(5); x = get_priority(1); "
            "x = get_priority(_pid) }"
        ),
        23,
    ),
    "a process asks whether another one is enabled": (
        (
            "byte x, e; active proctype P() { x = 1; x == 4; x = 2 }"
            "active proctype Q() { if :: !enabled(0) && x == 1 -> e = 1; x = 4 fi; "
            "e = enabled(_pid - 1) }"
            "active proctype R() { byte k; k = 1; e = enabled(k); e = enabled(7) }"
        ),
        79,
    ),
    "timeout": (
        "byte x; active proctype P() { do :: x < 3 -> x++ :: timeout -> x = 0 od }",
        8,
    ),
    "sorted messages, and one from the middle": (
        (
            "chan q = [3] of { byte }; byte x;"
            "active proctype P() { q!!2; q!!1; q!!3; q??2; q?x; q?x }"
        ),
        8,
    ),
    "a label without a number is one of the first process that there is": (
        (
            "byte x; proctype P(byte k) { x == k; L: x == 9 }"
            "init { run P(1); run P(2); x = 2; P@L; x = 4 }"
        ),
        5,
    ),
    "or of the next where the first has ended": (
        (
            "byte x; active [2] proctype P() { byte y = 3; x == _pid; L: x == 0 }"
            "active proctype R() { do :: P@L -> x = 2; break :: x < 2 -> x++ od }"
        ),
        36,
    ),
    "a channel in a message": (
        (
            "chan c = [1] of { chan }; chan a = [1] of { byte }; chan b ="
            " [1] of { byte }; byte x;"
            "active proctype P() { chan r; if :: c!a :: c!b fi; c?r; r!7; a?x }"
        ),
        9,
    ),
}


@pytest.mark.parametrize(("text", "count"), COUNTS.values(), ids=COUNTS)
def test_states(text, count):
    model = model_of(text)
    states = compare_model(model, 1000)

    assert len(states) == count
    assert not any(map(model.fault, states))


FAULTS = {
    "assertion": ("byte x; active proctype P() { x = 1; assert(x == 0) }", "assertion"),
    "index": ("byte a[2]; byte i = 2; active proctype P() { a[i] = 1 }", "index"),
    "inner index": (
        (
            "typedef T { byte b[2] } T t[2]; byte i = 2; active proctype P() "
            "{ t[0].b[i] = 1 }"
        ),
        "index",
    ),
    "enabled of itself": (
        "byte x; active proctype P() { x = enabled(_pid) }",
        "division",
    ),
    "division": ("byte x; active proctype P() { x = 1 / x }", "division"),
    "division, of what is hidden": (
        "hidden int t; byte x; active proctype P() { t++; t = 1 / x; x = 2 }",
        "division",
    ),
    "d_step": ("byte x; active proctype P() { d_step { x = 1; x == 2 } }", "d_step"),
    "rendezvous in d_step": (
        (
            "byte x; chan q = [0] of { byte }; active proctype P() "
            "{ d_step { x = 1; q!2 } } active proctype Q() { q?x }"
        ),
        "rendezvous",
    ),
    "or at its beginning": (
        "byte x; chan q = [0] of { byte }; active proctype P() { d_step { q!2; x++ } }",
        "rendezvous",
    ),
    "endless": (
        "byte x; active proctype P() { atomic { x = 1; do :: x = 1 od } }",
        "atomic",
    ),
    "too long": (
        (
            "short x; active proctype P() { d_step { do :: x < 9999 -> x++ :: else -> "
            "break od } }"
        ),
        "atomic",
    ),
    "channel": ("chan c; active proctype P() { c!1 }", "channel"),
    "length": (
        "chan c; byte x; active proctype P() { if :: len(c) > 0 -> x = 1 :: else fi }",
        "no channel",
    ),
    "poll": ("chan c[2]; byte x; active proctype P() { c[x]?[1] }", "no channel"),
    "trace": (
        (
            "chan q = [2] of { byte }; active proctype P() { q!1; q!1 }"
            "trace { do :: q!1; q?1 od }"
        ),
        "trace",
    ),
}


FAULTS |= {
    "two events of a trace": (
        (
            "chan q = [2] of { byte }; active proctype P() { q!1; q!0; q?_ }"
            "trace { do :: q!_ :: q!0 -> q?0 od }"
        ),
        "two of its events",
    ),
    "two events of what is forbidden": (
        (
            "chan q = [2] of { byte }; active proctype P() { q!1; q!0; q?_ }"
            "notrace { do :: q!_ :: q!0 -> q?0 od }"
        ),
        "two of its events",
    ),
    "enabled of itself, in an escape": (
        "byte x; active proctype P() { { x = 1; x = 2 } unless { enabled(_pid) } }",
        "division",
    ),
    "a channel, in an escape": (
        "chan c; byte x; active proctype P() { { x = 1; x = 2 } unless { c?x } }",
        "channel",
    ),
    "select in d_step": (
        "byte x; active proctype P() { d_step { select(x : 0 .. 2); x == 1 } }",
        "d_step",
    ),
    "an argument": (
        "byte x = 2, a[2]; proctype Q(byte k) { x = k } init { run Q(a[x]); x = 5 }",
        "index",
    ),
    "an argument that is else always the same": (
        (
            "chan q[2] = [1] of { byte }; byte x; proctype Q(chan c) { c!1 }"
            "init { if :: x = 1 :: x = 2 fi; run Q(q[x]) }"
        ),
        "index",
    ),
    "what is printed": (
        'byte x = 3, a[2]; active proctype P() { printf("%d", a[x]); x = 1 }',
        "index",
    ),
    "what nobody wants": (
        "byte x = 3, a[2]; active proctype P() { _ = a[x]; x = 1 }",
        "index",
    ),
    "sending where the channel's process has ended": (
        (
            "chan g, top = [1] of { chan }; proctype A() { chan c = [1] of { byte }; "
            "top!c } init { run A(); top?g; (_nr_pr == 1); if :: g?_ :: g!1 fi }"
        ),
        "ended",
    ),
    "asking whether it is full": (
        (
            "chan g, top = [1] of { chan }; proctype A() { chan c = [1] of { byte }; "
            "top!c } init { run A(); top?g; (_nr_pr == 1); len(g) == 0; nfull(g) }"
        ),
        "division",
    ),
    "too few fields": (
        "chan q = [1] of { byte, byte }; active proctype P() { q!1 }",
        "other fields",
    ),
    "other fields later": (
        (
            "chan q = [1] of { byte, byte }; chan r = [1] of { byte }; chan c;"
            "active proctype P() { c = q; c!1,2; c = r; c!1; c?_; c = q; c?_ }"
        ),
        "other fields",
    ),
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.values(), ids=FAULTS)
def test_faults(text, fault):
    """A step that fails leads to a state in which nothing moves."""
    model = model_of(text)
    (failed,) = [s for s in compare_model(model, 1000) if model.fault(s)]

    assert fault in model.fault(failed)
    assert not model.steps(failed)


@pytest.mark.parametrize(
    "text",
    [
        "byte a[2]; byte x = a[5]; active proctype P() { skip }",
        "byte z; active proctype P() { byte x = 3 / z; skip }",
        "chan c; active proctype P() { byte x = len(c); skip }",
    ],
)
def test_first_values_that_fail(text):
    """There is no first state then, and no run to show."""
    with pytest.raises(InputError, match=r"m\.pml:1: .* first value of 'x' fails: an"):
        model_of(text)


def test_the_last_value_of_an_array_is_that_of_the_rest():
    """Of the array in each record of an array, too: as in Spin."""
    model = model_of(
        "typedef R { byte b[3] = { 1, 2 }; byte c = 4 }; R r[2]; byte g[4] = { 5 };"
        "active proctype P() { byte l[3] = { 6, 7 }; R s[2]; skip }"
    )
    shown = model.shown(model.initial())
    for name in ("r", "P[0]:s"):
        for i in (0, 1):
            assert [shown[f"{name}[{i}].b[{k}]"] for k in range(3)] == [1, 2, 2]
            assert shown[f"{name}[{i}].c"] == 4
    assert [shown[f"g[{k}]"] for k in range(4)] == [5] * 4
    assert [shown[f"P[0]:l[{k}]"] for k in range(3)] == [6, 7, 7]


def test_a_channel_without_buffer_is_never_full():
    model = model_of(
        "chan c = [0] of { byte }; byte x;"
        "active proctype P() { do :: nfull(c) -> c!1 :: full(c) -> assert(false) od }"
        "active proctype Q() { empty(c); c?x; x = 2 }"
    )
    states = compare_model(model, 100)
    assert max(model.shown(state)["x"] for state in states) == 2
    assert not any(map(model.fault, states))


def test_hidden_variables_that_are_read():
    """They are part of the state, also where loops count in them."""
    text = "hidden int t; byte x; active proctype P() { for (t : 1 .. 2) { x++ }; x-- }"
    model = model_of(text)
    ends = [s for s in compare_model(model, 100) if not model.steps(s)]
    assert [model.shown(s)["x"] for s in ends] == [1]


def test_processes_that_ask_for_each_other_are_refused():
    text = (
        "byte x; active proctype P() { enabled(1) -> x = 1 }\n"
        "active proctype Q() { enabled(0) -> x = 2 }"
    )
    with pytest.raises(InputError, match=r"m\.pml:1: .*depends on this 'enabled'"):
        model_of(text)


def test_assertions_can_be_left_out():
    model = model_of(FAULTS["assertion"][0], assertions=False)

    assert not any(map(model.fault, compare_model(model, 10)))


MANY = "byte x; proctype Q() { x = 1; x == 2 } init { do :: run Q() od }"


def test_more_processes_than_there_is_room_for():
    """Not left out, but an error that says what to do."""
    model = model_of(MANY, processes=3)
    with pytest.raises(UnsupportedError, match="more than 3 processes at once"):
        compare_model(model, 1000)


def test_parameters_that_are_always_the_same_have_no_variables():
    model = model_of(
        "chan q = [1] of { byte }; proctype Q(chan c; byte p) { c!p; p = 3 }"
        "init { atomic { run Q(q, 1); run Q(q, 1) } }"
    )
    names = [v.name for v in model.program.variables]

    assert "Q[1]:c" not in names
    assert "Q[1]:p" in names
    assert "Q[2]:p" in names


@pytest.mark.parametrize(
    "text",
    [
        "chan c, d = [1] of { byte }; byte b = 1; active proctype P() { c = b; c!1 }",
        "chan c, d = [1] of { byte }; active proctype P() { c = d + 1; c!1 }",
        "proctype Q(chan c) { c!1 } init { run Q(5) }",
        "chan c, d = [1] of { byte }; active proctype P() { c = (1 -> 3 : d) ; c!1 }",
        "chan d = [1] of { byte }; chan c = 1; active proctype P() { c!3 }",
    ],
)
def test_a_number_is_no_channel(text):
    with pytest.raises(UnsupportedError, match=r"m\.pml:1: a number, expected a ch"):
        model_of(text)


@pytest.mark.parametrize("first", ["c = q", "c[2] = { r, q }"])
def test_a_variable_begins_with_a_channel(first):
    """Global ones, too, element by element."""
    index = "[1]" if "[" in first else ""
    model = model_of(
        f"chan q = [1] of {{ byte }}; chan r = [1] of {{ byte }}; chan {first};"
        f"byte x; active proctype P() {{ q!7; c{index}?x }}"
    )
    position = [v.name for v in model.program.variables].index("x")

    assert 7 in {state[position] for state in compare_model(model, 10)}


def test_a_channel_comes_with_a_number_that_is_truncated():
    """256 is 0 in a byte: the message is received, and the channel in it."""
    model = model_of(
        "chan q = [1] of { byte, chan }; chan a = [1] of { byte }; byte x;"
        "active proctype P() { chan r; q!256,a; q?0,r; r!7; a?x }"
    )
    position = [v.name for v in model.program.variables].index("x")
    states = compare_model(model, 10)

    assert 7 in {state[position] for state in states}
    assert not any(map(model.fault, states))


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("if :: q!0 fi; x == 2", "fi"),
        ("do :: q!0; break od; x == 2", "od"),
        ("{ q!0 } unless { x == 5 }; x == 2", "}"),
    ],
)
def test_steps_of_ends_have_a_text(body, ending):
    """The end of a choice, or of ``unless``, that is a step is called that."""
    text = (
        "byte x; chan q = [0] of { byte }; active proctype A() { atomic { "
        f"{body} }} }} active proctype B() {{ q?_; x = 2 }}"
    )
    texts = [t.text for t in model_of(text).program.transitions()]
    assert f"A[0] m.pml:1: {ending}" in texts
    assert not any(text.endswith(": ") for text in texts)


def test_a_timeout_that_nobody_comes_to():
    """No process can move at all: the function that generates steps is empty."""
    text = "chan q = [0] of { bit }; active proctype P() { len(q) == 1; timeout }"
    model = model_of(text)

    assert len(compare_model(model, 10)) == 1
    assert check(model, "G !deadlock", emptiness="se05").verdict == "violated"
