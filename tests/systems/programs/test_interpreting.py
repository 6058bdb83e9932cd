"""What models do, by known answers; the generated code has to do the same."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.model import read_dve_model
from tests.systems.programs.plain_functions import plain_functions, successors


def targets(text):
    """Where the steps of the first state lead, as dictionaries, from both."""
    model = read_dve_model(text, "model.dve")
    with patch("ltlpipe.systems.programs.model.successor_functions", plain_functions):
        packed = model.pack([])
    steps = model.steps(model.initial())
    made = successors(packed.expand, packed, packed.initial)
    assert packed.unpack(made.rows).tolist() == [list(s.state) for s in steps]
    assert made.actions.tolist() == [s.action for s in steps]
    with patch("ltlpipe.systems.programs.interpreting._OFTEN", 0):
        interpreter = Interpreter(model.program, compiles=True)
        for _ in range(2):  # by walks over trees, and by functions
            found = list(interpreter.steps(model.initial()))
            assert found == [(s.action, s.state) for s in steps]
    return [model.shown(s.state) for s in steps]


def one(body, declarations="byte x, y; int i; byte t[3];"):
    """The text of a model with one process whose only transition has a body."""
    return (
        f"{declarations} process P {{ state s, e; init s; trans s -> e {{ {body} }}; }}"
        " system async;"
    )


def after(body, *names):
    """The values of variables behind the one step of a model."""
    (shown,) = targets(one(body))
    return tuple(shown[name] for name in names)


@pytest.mark.parametrize(
    ("effect", "names", "values"),
    [
        ("x = 256", ["x"], (0,)),
        ("x = 0 - 1", ["x"], (255,)),
        ("x = 1000", ["x"], (232,)),
        ("i = 32768", ["i"], (-32768,)),
        ("i = -32769", ["i"], (32767,)),
        ("x = 5, y = x + 1", ["x", "y"], (5, 6)),
        ("x = y, y = x", ["x", "y"], (0, 0)),
        ("t[1] = 7, t[t[1] - 5] = 9", ["t[0]", "t[1]", "t[2]"], (0, 7, 9)),
        ("i = P.e, x = P.s", ["i", "x"], (1, 0)),
    ],
)
def test_effects(effect, names, values):
    """One after the other, modulo the size of the type; the process has moved."""
    assert after(f"effect {effect};", *names) == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-1 >> 1", -1),
        ("1 << 33", 2),
        ("2147483647 + 1 < 0", 1),
        ("65536 * 65536", 0),
        ("~0", -1),
        ("not 5", 0),
        ("!0", 1),
        ("(6 & 3) | 8", 10),
        ("5 ^ 1", 4),
        ("1 + 2 * 3 - 4", 3),
        ("10 - 3 - 2", 5),
        ("1 < 2 == 1", 1),
        ("2 == 2 & 1", 1),
        ("0 imply 0", 1),
        ("1 imply 0", 0),
        ("3 && 4", 1),
        ("0 or 7", 1),
        ("1 imply 0 || 1", 1),
    ],
)
@pytest.mark.parametrize("constant", [True, False], ids=["folded", "computed"])
def test_arithmetic(text, value, constant):
    """That of C, with 32 bits; numbers that are variables are not folded."""
    declarations = "int i; int zero; int k;"
    if not constant:
        # Every number has its own variable, which another step could change.
        text = "".join(f"({c} + zero)" if c.isdigit() else c for c in _tokens(text))
    model = f"""{declarations}
        process P {{ state s, e; init s; trans s -> e {{ effect i = {text}; }}; }}
        process Q {{ state s; init s; trans s -> s {{ effect zero = zero - 1; }}; }}
        system async;"""
    assert targets(model)[0]["i"] == value


def _tokens(text):
    token = ""
    for character in text:
        if token.isdigit() and character.isdigit():
            token += character
            continue
        yield token
        token = character
    yield token


@pytest.mark.parametrize(
    "body",
    [
        "guard t[x - 1] == 0;",
        "guard t[x + 3] == 0;",
        "guard 1 / x == 0;",
        "guard 1 % x == 0;",
        "guard 1 && 1 / x;",
        "guard 0 || 1 / x;",
        "effect y = 3, t[x - 1] = 4;",
        "effect y = 3, y = t[x - 1];",
        "effect y = 3, i = 1 / x;",
        "effect y = 3, t[1 / x] = 1;",
    ],
)
def test_failures(body):
    """The state that is left, marked; nothing moves from there."""
    text = one(body)
    (shown,) = targets(text)
    assert shown == {
        "x": 0, "y": 0, "i": 0, "t[0]": 0, "t[1]": 0, "t[2]": 0, "P": "s", "error": 1,
    }  # fmt: skip
    model = read_dve_model(text, "model.dve")
    assert model.steps(model.steps(model.initial())[0].state) == []


@pytest.mark.parametrize(
    "guard",
    [
        "x && t[x - 1]",
        "x != 0 and 1 / x",
        "not (x == 0 || t[x - 1])",
        "not (x imply 1 / x)",
        "x, 1 / x",
    ],
)
def test_what_is_not_evaluated_does_not_fail(guard):
    """The right operand of a logical operator whose left one decides."""
    assert targets(one(f"guard {guard};")) == []


def test_a_name_that_is_taken():
    """The variable of failures makes way."""
    (shown,) = targets(one("effect x = 1 / x;", "byte error, x;"))
    assert shown["error_"] == 1


SYNCHRONISED = """
byte order, seen, got;
channel {types} c{size};
process Receiver {{ byte v; state s, e; init s;
  trans s -> e {{ sync c?v; effect order = order * 10 + 1, seen = Sender.e; }}; }}
process Sender {{ state s, e; init s;
  trans s -> e {{ sync c!order + {sent};
                  effect order = order * 10 + 2, got = Receiver->v; }}; }}
system async;
"""


def test_order_of_a_synchronisation():
    """Values of the source state, the receiver's effects, the sender's effects."""
    (shown,) = targets(SYNCHRONISED.format(types="", size="", sent=7))
    assert shown["Receiver.v"] == shown["got"] == 7
    assert shown["order"] == 12  # the receiver's 1 before the sender's 2
    assert shown["seen"] == 0  # the sender has not moved yet
    assert (shown["Receiver"], shown["Sender"]) == ("e", "e")


def test_typed_channels_convert():
    """A byte is what arrives, also without buffer."""
    text = SYNCHRONISED.format(types="{byte}", size="[0]", sent=300)
    (shown,) = targets(text.replace("byte v", "int v"))
    assert shown["Receiver.v"] == 44
    text = SYNCHRONISED.format(types="", size="", sent=300)
    (shown,) = targets(text.replace("byte v", "int v"))
    assert shown["Receiver.v"] == 300


def test_pairs_that_synchronise():
    """Each sender with each receiver of another process, in their order."""
    text = """channel c;
    process A { state s, e; init s; trans s -> e { sync c!; }, s -> e { sync c?; }; }
    process B { state s, e; init s; trans s -> e { sync c?; }, s -> s { sync c!; }; }
    system async;"""
    model = read_dve_model(text, "model.dve")
    steps = [model.actions[s.action] for s in model.steps(model.initial())]
    assert steps == ["A: s -> e c! | B: s -> e c?", "B: s -> s c! | A: s -> e c?"]
    assert len(targets(text)) == 2


BUFFER = """
channel {{byte, int}} c[{size}];
byte n;
process Sender {{ state s; init s;
  trans s -> s {{ sync c!{{n + 255, n - 3}}; effect n = n + 1; }}; }}
process Receiver {{ byte a; int b; state s; init s;
  trans s -> s {{ sync c?{{a, b}}; effect b = b * 2; }}; }}
system async;
"""


@pytest.mark.parametrize("size", [1, 2])
def test_buffers(size):
    """First in, first out; full ones take nothing, empty ones give nothing."""
    text = BUFFER.format(size=size)
    model = read_dve_model(text, "model.dve")
    state = model.initial()
    for sent in range(size):
        steps = model.steps(state)
        assert model.actions[steps[0].action].startswith("Sender")
        assert len(steps) == (1 if sent == 0 else 2)
        state = steps[0].state
    shown = model.shown(state)
    assert shown["c.length"] == size
    assert shown["c.part0[0]"] == 255
    assert shown["c.part1[0]"] == -3
    (step,) = model.steps(state)  # it is full
    shown = model.shown(step.state)
    assert (shown["Receiver.a"], shown["Receiver.b"]) == (255, -6)
    assert shown["c.length"] == size - 1
    assert shown[f"c.part0[{size - 1}]"] == shown[f"c.part1[{size - 1}]"] == 0
    if size == 2:
        assert (shown["c.part0[0]"], shown["c.part1[0]"]) == (0, -2)
    assert len(targets(text)) == 1


def test_a_message_of_one_part():
    """It goes by the channel's name, and a channel without types just counts."""
    text = """channel {byte} c[2]; channel signals[3];
    process P { state s; init s;
      trans s -> s { sync c!5; }, s -> s { sync signals!; }; }
    system async;"""
    sent, signalled = targets(text)
    assert (sent["c.length"], sent["c[0]"], sent["c[1]"]) == (1, 5, 0)
    assert signalled["signals.length"] == 1


COMMITTED = """
channel c;
process A { state s, e; init s; commit s; trans s -> e {}, s -> e { sync c!; }; }
process B { state s, e; init s; COMMIT trans s -> e {}, s -> e { sync c?; }; }
process C { state s, e; init s; trans s -> e {}, s -> e { sync c?; }; }
system async;
"""


def test_committed_states():
    """Steps of committed processes only, both of them where two move."""
    moved = [
        "".join(p for p in "ABC" if shown[p] == "e")
        for shown in targets(COMMITTED.replace("COMMIT", ""))
    ]
    assert moved == ["A"]
    moved = [
        "".join(p for p in "ABC" if shown[p] == "e")
        for shown in targets(COMMITTED.replace("COMMIT", "commit s;"))
    ]
    assert moved == ["A", "AB", "B"]


def test_a_committed_deadlock():
    """Where no committed process can move, none moves."""
    text = COMMITTED.replace("COMMIT", "").replace(
        "s -> e {},", "s -> e {guard 0;},", 1
    )
    assert targets(text) == []


SYNCHRONOUS = """
byte x = 1, y = 2, z;
process P { state s, e; init s; trans s -> e { effect x = y; }, s -> s { GUARD }; }
process Q { state s; init s; trans s -> s { effect EFFECT; }, s -> s {}; }
system sync;
"""


def joint(guard="", effect="y = x"):
    """The steps of the synchronous model."""
    text = SYNCHRONOUS.replace("GUARD", guard).replace("EFFECT", effect)
    shown = targets(text)
    return [(s["x"], s["y"], s["P"], s.get("error", 0)) for s in shown]


def test_synchronous_systems():
    """All processes move at once, from the state that they leave."""
    assert joint() == [
        (2, 1, "e", 0),
        (1, 1, "s", 0),
        (2, 2, "e", 0),
        (1, 2, "s", 0),
    ]


def test_writing_to_the_same_fails():
    """Only where both do."""
    assert joint(effect="x = 9") == [
        (1, 2, "s", 1),
        (9, 2, "s", 0),
        (2, 2, "e", 0),
        (1, 2, "s", 0),
    ]


def test_failing_in_a_synchronous_system():
    """Whatever the others do."""
    errors = [error for *_, error in joint(guard="guard 1 / z;")]
    assert errors == [0, 1, 0, 1]
    assert [error for *_, error in joint(effect="y = 1 % z")] == [1, 1, 0, 0]


def test_a_process_that_cannot_move():
    """Then none does."""
    text = SYNCHRONOUS.replace("GUARD", "").replace("EFFECT", "y = x")
    text = text.replace("s -> s {}; }", "s -> s { guard 0; }; }")
    text = text.replace("{ effect y = x; }", "{ guard z; }")
    assert targets(text) == []


def test_actions_of_a_synchronous_system():
    """Named by all transitions, the first process varying first."""
    text = SYNCHRONOUS.replace("GUARD", "").replace("EFFECT", "y = x")
    model = read_dve_model(text, "model.dve")
    assert model.actions == (
        "P: s -> e | Q: s -> s #1",
        "P: s -> s | Q: s -> s #1",
        "P: s -> e | Q: s -> s #2",
        "P: s -> s | Q: s -> s #2",
    )
    assert [s.action for s in model.steps(model.initial())] == [0, 1, 2, 3]


def test_a_source_that_is_left_out():
    """It is that of the transition before."""
    text = """process P { state a, b, c; init b;
    trans a -> b {}, -> c {}, b -> a {}, -> c {}; } system async;"""
    assert [shown["P"] for shown in targets(text)] == ["a", "c"]


def test_constants():
    """Scalars, arrays of them, sizes; an index into them may be computed."""
    text = """const byte N = 2 + 1; const int table[N] = {-5, 7};
    byte t[N] = {1, N}, x = N - 1; int i = table[0];
    process P { const byte N = 9; byte k = N; state s; init s;
      trans s -> s { guard table[x - 1] == 7; effect i = table[x] + N, t[N - 7] = 4; },
            s -> s { effect x = table[x + k]; }; }
    system async;"""
    computed, failed = targets(text)
    assert (computed["i"], computed["t[2]"], computed["t[1]"]) == (9, 4, 3)
    assert computed["P.k"] == 9
    assert failed["error"] == 1
    assert failed["i"] == -5


def test_names_of_states_and_variables():
    """A state may be called like a variable, a local variable like a global one."""
    text = """byte done = 7, x = 1;
    process P { byte x = 2; state done; init done;
      trans done -> done { guard P.done && done == 7; effect x = 3; }; }
    process Q { state s; init s; trans s -> s { effect x = P->x + 4; }; }
    system async;"""
    first, second = targets(text)
    assert (first["x"], first["P.x"]) == (1, 3)
    assert (second["x"], second["P.x"]) == (6, 2)


def test_awkward_names():
    """Words of Python and of the generated code are names like others."""
    text = """byte t1, w0, np, count, in, part[2], out_rows, t_0, t[1], def = 1;
    process part_0 { byte row; state committed, True; commit committed; init committed;
      trans committed -> True { guard def; effect in = w0 + 2, np = in, t1 = np + count,
                                part[in - 1] = 5, row = t[t_0] + part[1]; }; }
    process expand { state s; init s; trans s -> s { effect t_0 = def, t[0] = 3; }; }
    system async;"""
    (shown,) = targets(text)
    assert (shown["in"], shown["t1"], shown["part[1]"], shown["part_0.row"]) == (
        2, 2, 5, 5,
    )  # fmt: skip
