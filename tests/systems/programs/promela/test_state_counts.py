"""States that Spin 6.5.2 stores without reduction, of small programs.

``spin -a -o1 -o2 -o3``, ``pan`` with -DNOREDUCE -DSAFETY, -A -E.
"""

from __future__ import annotations

import pytest

from tests.systems.programs.promela.test_random_programs import model_of, states_of

LOOP = "byte x, y = 1; chan q = [0] of { byte };\nactive proctype P() "
CASES = {
    "a sender stops in front of the end of a choice": (
        (
            "chan q=[0] of {short}; active proctype A() { atomic { if :: skip; q!0 :: "
            "skip; q?_ fi } } active proctype B() { atomic { skip; q?_ } }"
        ),
        11,
    ),
    "a label before a block that begins with a loop": (
        LOOP + "{ L: { do :: assert(x < 3) :: break od }; q!0 }",
        3,
    ),
    "a label before a loop": (LOOP + "{ L: do :: assert(x < 3) :: break od; q!0 }", 2),
    "a label before a loop with escapes": (
        LOOP + "{ L: { do :: assert(x < 3) :: break od } unless { x > 5 }; q!0 }",
        3,
    ),
    "no label before a loop with escapes": (
        LOOP + "{ { do :: assert(x < 3) :: break od } unless { x > 5 }; q!0 }",
        2,
    ),
    "a d_step does not begin with a break": (
        LOOP + "{ x = 1; d_step { do :: x == 5; x = 6 :: break od } x = 2 }",
        2,
    ),
    "unless there is nothing else": (
        LOOP + "{ x = 1; d_step { do :: break od } x = 2 }",
        5,
    ),
    "another round of the loop ends with it": (
        LOOP + "{ x = 1; d_step { do :: x == 1; x = 6 :: break od; x = 7 } }",
        4,
    ),
    "a single bit in a message is a byte": (
        "byte y; chan q = [1] of { bit }; active proctype P() { q!258; q?2; y = 2 }",
        5,
    ),
    "also in a rendezvous": (
        (
            "byte y; chan q = [0] of { bool }; active proctype P() { q!3; y = 1 } "
            "active proctype Q() { q?3; y = 2 }"
        ),
        11,
    ),
    "elements of arrays of bits are bytes": (
        "bit k[1]; bool b; active proctype P() { do :: k[0]++; b = k[0] od }",
        512,
    ),
    "and those of records": (
        (
            "typedef In { bool k[2] }; In r[2]; active proctype P() { "
            "r[1].k[1] = r[0].k[0] + 2; r[0].k[0] = r[1].k[1] * 100 }"
        ),
        4,
    ),
    "a record with channels is given to processes": (
        (
            "typedef M { chan l = [0] of { bit }; byte v = 2 } M g; active proctype "
            "A() { M m; run P(m); run P(g); m.l!1; g.l!0 } proctype P(M m) { byte x; "
            "m.l?x; m.v++ }"
        ),
        13,
    ),
    "sets of mtypes are declared later, or nowhere": (
        (
            "typedef R { mtype:kind k; mtype:none m } R r; mtype:kind = {a, b}; "
            "active proctype P() { r.k = b; r.m = 3; r.k == b; r.k = a; r.k == a }"
        ),
        7,
    ),
    "loops over arrays of records and of their fields": (
        (
            "typedef I { byte k[3] } typedef T { byte a; I r[3] } T t[3]; byte x; "
            "active proctype P() { byte i; for (i in t) { x++ } for (i in t[1].r) "
            "{ x++ } for (i in t[i - 1].r[2].k) { x++ } x == 9; x = 0 }"
        ),
        37,
    ),
    "the text in a for loop begins with a label": (
        (
            "byte x; active proctype P() { byte i; for (i : 0 .. 1) { again: x++; if "
            ":: x < 3 -> goto again :: else fi } }"
        ),
        16,
    ),
    "an escape from what an escape begins with": (
        (
            "byte x, y; active proctype P() { x = 1; x++ unless { { x == 2 } unless "
            "{ y == 1 -> y++ }; x = 3 }; x = 4 } active proctype Q() { y = 1 }"
        ),
        22,
    ),
    "with else": (
        (
            "byte x, y; active proctype P() { x = 1; x++ unless { { x == 2 } unless { "
            "if :: y == 1 -> y++ :: y == 2 :: else -> y = 4 fi }; x = 3 }; x = 4 } "
            "active proctype Q() { y = 1 }"
        ),
        35,
    ),
    "skips behind each other in an alternative are one": (
        "byte x; active proctype P() { x = 1; if :: true; 1; (1); x = 2 fi }",
        5,
    ),
    "the last one and those behind labels stay": (
        (
            "byte x; active proctype P() { x = 1; if :: x == 1 -> skip; L: skip; "
            "skip; x = 2; skip; skip fi }"
        ),
        10,
    ),
    "also behind printf, but not in blocks and loops with for": (
        (
            'byte x; active proctype P() { byte i; if :: x == 0 -> printf("a"); '
            "skip; skip fi; for (i : 1 .. 2) { skip; skip; x = 2 } }"
        ),
        17,
    ),
    "a d_step goes on whatever it does to provided": (
        (
            "byte x, y; bool f; active proctype P() provided (!f) "
            "{ x = 1; d_step { f = 1; y = 2 }; y = 3 }"
        ),
        3,
    ),
    "also within atomic, which stops behind it": (
        (
            "byte x, y; bool f; active proctype P() provided (!f) { x = 1; atomic { "
            "x++; d_step { f = 1; y = 2 }; y = 3 } } "
            "active proctype Q() { y == 2 -> f = 0 }"
        ),
        9,
    ),
    "and to priorities": (
        (
            "byte x; active proctype P() priority 3 { x = 1; d_step { "
            "set_priority(0, 1); x = 2; x = 3 }; x = 4 } "
            "active proctype Q() priority 2 { x = 5; x = 6 }"
        ),
        8,
    ),
    "several are bits": (
        (
            "byte y; chan q = [1] of { bit, bit }; active proctype P() { q!3,3; q?1,1; "
            "y = 2 }"
        ),
        5,
    ),
}


JUMPS = {
    "a jump at the beginning of atomic": (
        "n++; atomic { goto L; x = 1 }; x = 4; L: x++",
        21,
    ),
    "of a block": (
        "n++; { goto L; x = 1 }; x = 4; L: x++",
        21,
    ),
    "of a block in a block": (
        "n++; { { goto L; x = 1 } }; x = 4; L: x++",
        21,
    ),
    "of an option": (
        "if :: n < 3 -> atomic { goto L; x = 1 } :: n++ fi; x = 4; L: x++",
        72,
    ),
    "of a process": (
        "{ goto L; x = 1 }; L: x++",
        13,
    ),
    "a break at the beginning of a block": (
        "do :: n++; { break; x = 1 } od; x++",
        21,
    ),
    "a jump at the beginning of unless": (
        "n++; { goto L; x = 1 } unless { n == 3 -> x = 5 }; x = 4; L: x++",
        13,
    ),
    "of unless in a block": (
        "n++; { { goto L; x = 1 } unless { n == 3 -> x = 5 } }; x = 4; L: x++",
        21,
    ),
    "of unless behind a label": (
        "n++; K: { goto L; x = 1 } unless { n == 3 -> x = 5 }; x = 4; L: x++",
        21,
    ),
    "of an escape": (
        "n++; { x = 1; x = 2 } unless { { goto L; x = 3 } }; x = 4; L: x++",
        21,
    ),
    "of a block in d_step": (
        "n++; d_step { x = 3; { goto M; x = 1 }; M: n = 3 }; x = 4; L: x++",
        52,
    ),
    "of no block": (
        "n++; goto L; x = 1; L: x++",
        13,
    ),
    "behind atomic, into it": (
        "atomic { x = 1; L: n = (n + 1) % 3; x = n }; goto L",
        10,
    ),
    "behind the end of a choice in it": (
        "atomic { x = 1; L: if :: n < 2 -> n++ :: else -> n = 0 fi }; goto L",
        10,
    ),
    "behind a loop that is left in it": (
        (
            "do :: atomic { x = 1; L: n = (n + 1) % 3; if :: n == 2 -> break :: else "
            "fi } od; goto L"
        ),
        10,
    ),
    "by way of another jump": (
        (
            "atomic { x = 1; L: n = (n + 1) % 3; if :: n == 2 -> goto M :: else fi }; "
            "M: goto L"
        ),
        10,
    ),
    "from one atomic into another": (
        "atomic { x = 1; L: n = (n + 1) % 3 }; atomic { x = 2; goto L }",
        15,
    ),
}


@pytest.mark.parametrize(("body", "states"), JUMPS.values(), ids=JUMPS.keys())
def test_jumps(body, states):
    """A jump with which a block in braces begins is a step, others are none.

    One from outside to inside of ``atomic`` does not keep control.
    """
    text = f"byte n, x; active [2] proctype P() {{ {body} }}"
    assert states_of(model_of(text)) == (states, False)


SENDERS = {
    "behind it the end of a choice": ("if :: q!0 fi; x == 2", 10),
    "of a loop": ("do :: q!0; break od; x == 2", 10),
    "of unless": ("{ q!0 } unless { x == 5 }; x == 2", 10),
    "a jump": ("q!0; goto L; x = 3; L: x == 2", 10),
    "in front of d_step": ("if :: q!0 fi; d_step { x == 2; x = 3 }", 10),
    "of a block": ("if :: q!0 fi; { x == 2 }", 7),
    "of another atomic": ("if :: q!0 fi; atomic { x == 2; x = 3 }", 7),
    "of one more statement": ("if :: q!0 fi; x == 2; x = 3", 7),
}


@pytest.mark.parametrize(("body", "states"), SENDERS.values(), ids=SENDERS.keys())
def test_senders_in_atomic(body, states):
    """A jump in front of the last statement is a step, where the sender waits."""
    text = (
        "byte x; chan q = [0] of { byte }; active proctype A() { atomic { "
        f"{body} }} }} active proctype B() {{ q?_; x = 2 }}"
    )
    assert states_of(model_of(text)) == (states, False)


UNLESS = {
    "of a choice": (
        "x = 0; L: x = 1; if :: { goto L } unless { y == 2 -> x = 3 }; x = 4 fi; x = 5",
        25,
    ),
    "of a loop": (
        (
            "x = 0; L: x = 1; do :: { goto L; x = 6 } unless { y == 2 -> x = 3; break "
            "}; x = 4 od; x = 5"
        ),
        23,
    ),
    "within atomic": (
        (
            "x = 0; L: x = 1; atomic { if :: { goto L } unless { y == 2 -> x = 3 }; "
            "x = 4 fi }; x = 5"
        ),
        21,
    ),
}


@pytest.mark.parametrize(("body", "states"), UNLESS.values(), ids=UNLESS.keys())
def test_jumps_that_begin_an_alternative(body, states):
    """They are steps, also where they can be escaped from."""
    text = (
        f"byte x, y; active proctype P() {{ {body} }} "
        "active proctype Q() { y = 1; y = 2 }"
    )
    assert states_of(model_of(text)) == (states, False)


@pytest.mark.parametrize("labels", ["accept: K", "K: accept"])
def test_several_labels_of_a_jump(labels):
    """All are in front of the step that one of them makes a place."""
    text = (
        f"byte x; active proctype A() {{ do :: x < 2 -> x++; {labels}: goto M :: x > 0 "
        "-> x--; goto K od; M: x = 3 }"
    )
    assert states_of(model_of(text)) == (6, False)
    assert states_of(model_of(text + "ltl p { [] !A@K }")) == (6, False)


ENDS = {
    "of if": ("{ atomic { x = 1; if :: q!0 fi } } unless { q?<_>; y = 1; y = 2 }", 3),
    "of do": (
        "{ atomic { x = 1; do :: x == 1 -> q!0; break od } } unless { q?<_>; y = 1 }",
        4,
    ),
    "of unless": (
        "{ atomic { x = 1; { q!0 } unless { n == 1 } } } unless { q?<_>; y = 1 }",
        3,
    ),
    "of atomic": (
        "{ atomic { x = 1; if :: q!0 fi }; n = 1 } unless { q?<_>; y = 1; y = 2 }",
        6,
    ),
}


@pytest.mark.parametrize(("body", "states"), ENDS.values(), ids=ENDS.keys())
def test_escapes_from_ends(body, states):
    """Of what ends within ``atomic``, a process escapes from a jump alone."""
    text = f"byte x, y, n; chan q = [2] of {{ byte }}; active proctype P() {{ {body} }}"
    assert states_of(model_of(text)) == (states, False)


def test_else_in_an_escape():
    """It can be executed where its siblings cannot, as the manual has it.

    Spin's simulation agrees; its verifier takes it beside them.
    """
    text = (
        "byte x, y; active proctype P() { { y = 1 } unless "
        "{ if :: x == 0 -> x = 5 :: else -> x = 7 fi } } active proctype Q() { x = 1 }"
    )
    assert states_of(model_of(text)) == (18, False)


RECEIVERS = {
    "an escape that can be executed": (
        "{ r?x } unless { n == 1 -> y = 2 }",
        6,
    ),
    "a message that can be sent": (
        "{ r?x } unless { q!0; skip }",
        8,
    ),
    "within atomic": (
        "{ atomic { { y = 5 } unless { r?x }; skip } } unless { n == 1 -> y = 3 }",
        10,
    ),
    "at the beginning of d_step": (
        "{ d_step { r?x; y = 2 } } unless { n == 1 -> y = 3 }",
        6,
    ),
    "another receiver": (
        "{ r?x } unless { r?y; y = 3 }",
        6,
    ),
    "another receiver, for a value": (
        "{ r?x; y = 2 } unless { r?0; y = 3 }",
        11,
    ),
    "for the value of a variable": (
        "{ r?eval(n); y = 2 } unless { r?eval(u); y = 3 }",
        6,
    ),
    "two of them": (
        "{ { do :: r?x od } unless { r?0; y = 7 } } unless { r?1; y = 6 }",
        6,
    ),
}


@pytest.mark.parametrize(("body", "states"), RECEIVERS.values(), ids=RECEIVERS.keys())
def test_escapes_from_a_receiver(body, states):
    """Only a receiver that fits the message takes the place of another."""
    text = (
        "byte x, y = 1, u = 1, n; chan q = [2] of { byte }; chan r = [0] of { byte }; "
        f"active proctype P() {{ {body} }} "
        "active proctype S() { n = 1; r!1; n = 2; r!0 }"
    )
    assert states_of(model_of(text)) == (states, False)


@pytest.mark.parametrize(("text", "states"), CASES.values(), ids=CASES.keys())
def test_states(text, states):
    """As many as Spin has."""
    assert states_of(model_of(text)) == (states, False)
