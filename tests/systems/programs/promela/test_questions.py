"""What is asked of Promela models: their own questions, propositions, claims, texts."""

from __future__ import annotations

import io

import pytest

from ltlpipe import FormulaError, UnsupportedError, check, deadlocks, livelock, load
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.promela import planning
from ltlpipe.verdict.checking import product_size
from ltlpipe.verdict.description import description_job
from tests.systems.programs.test_generating import compare_model

MODEL = """#define odd (x % 2 == 1)
mtype = { red, green };
typedef T { byte v[2]; bool w };
byte x, F;
mtype light = red;
T t[2];
chan q = [2] of { mtype, byte };
proctype P(byte id)
{
	byte own = id;
	do
	:: x < 3 -> x++; light = green; q!light(x)
	:: x == 3 ->
here:		t[1].v[0] = own; break
	od
}
init { run P(7) }
ltl grows { [] (x >= 1 -> (light == green W q?[red,3])) }
ltl bits { <> ((x & 3) == 3 && x << 1 == 6) }
ltl { <> P[1]@here U P:own == 7 }
"""


def read(text, **how):
    """A model of a text."""
    return load(io.StringIO(text), format="pml", **how)


LATE = """int n; byte x;
proctype Q() { x++; false }
init { do :: n < 30 -> n++ :: else -> break od; run Q(); run Q(); run Q(); run Q() }
"""


def test_more_processes_than_trying_out_has_found(monkeypatch):
    """Asked again with room for twice as many, until that is enough."""
    monkeypatch.setattr(planning, "_MOST_STATES", 10)
    model = read(LATE)
    assert len(model.processes) == 1
    assert check(model, "[] (x <= 4)").verdict == "holds"
    assert check(model, "<> (x == 4)").verdict == "holds"
    found = check(model, "[] (x < 4)")
    assert found.verdict == "violated"
    assert product_size(read(LATE), None) == product_size(read(LATE, processes=5), None)


TREE = """byte n; byte wide[40];
proctype node(byte d)
{
	n++;
	atomic { wide[n] = 200 + n; n > 0; wide[n] = 255 - n };
	if :: d > 0 -> run node(d - 1); run node(d - 1) :: else fi
}
init { run node(1); n == 3 }
"""


def test_processes_that_start_processes():
    """All that live at once are found; rows of many words are as the interpreter's."""
    model = read(TREE)
    assert len(model.processes) == 4
    assert model.layout.n_words > 4
    assert "copied(" in model.source
    assert len(compare_model(model, 3000)) < 3000
    assert product_size(model, None) == product_size(read(TREE, processes=6), None)
    starts = [a.transitions for a in model.program.actions if a.partner is not None]
    assert all(parent.process < child.process for parent, child in starts)


def test_a_description_of_more_processes(monkeypatch):
    """It has all states if there is room, else those that have been met."""
    monkeypatch.setattr(planning, "_MOST_STATES", 10)
    told, exact, few = (
        complete(description_job(read(LATE, processes=n))) for n in (None, 5, 2)
    )
    assert told.is_complete
    assert told.n_states == exact.n_states > few.n_states > 1
    assert told.deadlock == exact.deadlock
    assert not few.is_complete


def test_more_processes_than_promela_has(monkeypatch):
    """Never left out."""
    monkeypatch.setattr(planning, "_MOST_STATES", 10)
    monkeypatch.setattr("ltlpipe.systems.programs.promela.model.MAX_PROCESSES", 4)
    with pytest.raises(UnsupportedError, match="more than 4 processes at once"):
        check(read(LATE), "[] (x <= 4)")
    with pytest.raises(UnsupportedError, match="more than 2 processes at once"):
        check(read(LATE, processes=2), "[] (x <= 4)")


@pytest.fixture(scope="module")
def model():
    """The model above."""
    return read(MODEL)


def runs(model, formula):
    """Whether a formula holds."""
    return check(model, formula).verdict == "holds"


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("F x==2", True),
        ("F x == 3", True),
        ("F len(q) == 3", False),
        ("F odd", True),
        ("G !odd", False),
        ("F light==green", True),
        ("F (len(q) == 2 && full(q))", True),
        ("F (empty(q) && !nfull(q))", False),
        ("G t[1].v[0]==0", True),
        ("G !t[x].w", True),
        ("F P[1]:own==7", True),
        ("F P:id == 7", True),
        ("F P[1]@here", False),
        ("G (np_ && _nr_pr <= 2)", True),
        ("F deadlock", True),
        ("F \\F == 0", True),
        ("F _valid_end", False),
        ("G !_fault", True),
        ('F action=="P[1] (standard input):12: x++"', None),
    ],
)
def test_propositions(model, formula, holds):
    """Names are those of the model, its macros and what it predefines."""
    if holds is None:
        actions = [name for name in model.actions if name.endswith("x++")]
        assert runs(model, f'F action=="{actions[0]}"')
        return
    assert runs(model, formula) == holds


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("F y == 1", "undeclared variable 'y'"),
        ("F lihgt == red", "did you mean light?"),
        ("F t[0].u == 1", "'t' has no field 'u'"),
        ("F t == 1", "'t' is a record"),
        ("F q == 1 && len(x)", "'x' is no channel, but a byte"),
        ("F Q[0]@here", "no proctype is called 'Q'"),
        ("F P[0]@there", "P has no label 'there'; did you mean here?"),
        ("F P[0]:z == 1", "proctype P has no variable 'z'"),
        ("F sum(x) == 1", "sum(x), expected one of len, full"),
        ("F x[0] == 1", "'x' is no array"),
        (r"F x\-x[0] == 1", "undeclared variable 'x-x'"),
        ("F _pid == 1", "undeclared variable '_pid'"),
    ],
)
def test_wrong_propositions(model, formula, message):
    """Are refused with the nearest names."""
    with pytest.raises(FormulaError) as refused:
        check(model, formula)
    assert message in str(refused.value)


def test_own_questions(model):
    """Formulas of blocks in the syntax of all formulas; their verdicts."""
    own = {question.name: question for question in model.own_questions}
    assert list(own) == ["assertions", "end states", "grows", "bits", "ltl_0"]
    verdicts = {n: check(model, q.formula).verdict for n, q in own.items()}
    assert verdicts == {
        "assertions": "holds",
        "end states": "violated",
        "grows": "violated",
        "bits": "holds",
        "ltl_0": "violated",
    }
    assert len(parse(own["bits"].formula).propositions) == 2


VALUES = {
    "[] <> (x * 2)": "holds",
    "[] <> -n": "holds",
    "[] <> (x - 1 && x)": "violated",
    "[] <> (!(x + 1))": "violated",
    "[] (x -> 2)": "holds",
    "[] <> (x % 2 -> (x + n) U (x / 2))": "holds",
    "<> [] (2 - 2)": "violated",
}


def test_values_in_formulas_of_blocks():
    """They are conditions if they are not 0; verdicts of Spin."""
    text = (
        "byte x; int n; active proctype P() { do :: x = 1; n = -1; x = 0; n = 0 od }\n"
    )
    for number, formula in enumerate(VALUES):
        text += f"ltl p{number} {{ {formula} }}\n"
    model = read(text)
    own = {question.name: question for question in model.own_questions}
    found = [check(model, own[f"p{n}"].formula).verdict for n in range(len(VALUES))]
    assert found == [*VALUES.values()]


def test_assertions_are_apart():
    """A failed assertion ends no run of another question, and is told by its own."""
    model = read("byte x; init { assert(x == 1); x = 2 }\nltl two { <> (x == 2) }\n")
    assert runs(model, "F x==2")
    violated = check(model, "G !_fault")
    assert violated.verdict == "violated"
    assert violated.lasso.prefix_actions[-1].endswith(": assert(x == 1)")
    assert not runs(model, "F (x==2 && !_fault) & G !_fault")


def test_end_states():
    """The end of a body and a label ``end`` are valid, other ends are not."""
    waits = "chan c = [0] of { byte }; init { byte x; LABEL c?x }"
    assert deadlocks(read(waits.replace("LABEL", "end_here:"))).verdict == "holds"
    assert deadlocks(read(waits.replace("LABEL", "there:"))).verdict == "violated"
    assert deadlocks(read("init { skip }")).verdict == "holds"
    assert deadlocks(read("byte x; init { x = 1 / x }")).verdict == "holds"  # a fault


def test_a_variable_that_is_called_deadlock():
    """It is not what end states are about."""
    text = "bool deadlock; init { deadlock = 1; BLOCKS; deadlock = 0 }\n"
    assert deadlocks(read(text.replace("BLOCKS", "skip"))).verdict == "holds"
    assert deadlocks(read(text.replace("BLOCKS", "!deadlock"))).verdict == "violated"
    model = read(text.replace("BLOCKS", "skip"))
    assert check(model, "F deadlock").verdict == "holds"
    assert check(model, "F(_deadlock && !deadlock)").verdict == "holds"
    assert livelock(model).verdict == "holds"


def test_progress_and_acceptance():
    """Cycles without progress, and with a label ``accept``."""
    text = "byte x; init { do :: x = 0 :: x = 1; LABEL: skip od }"
    progress = read(text.replace("LABEL", "progress_1"))
    assert livelock(progress).verdict == "violated"
    assert livelock(read("init { do :: skip; progress: skip od }")).verdict == "holds"
    for end in ("break", "false"):  # as in Spin, a run that ends has no cycle
        ends = f"byte x; init {{ do :: x < 3 -> progress: x++ :: else -> {end} od }}"
        assert livelock(read(ends)).verdict == "holds"
    accept = read(text.replace("LABEL", "accept"))
    (question,) = (q for q in accept.own_questions if q.name == "acceptance")
    assert check(accept, question.formula).verdict == "violated"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("do :: x == 0 :: x == 1 -> break od", "violated"),  # its end
        ("do :: x == 0 :: x == 1 -> break od; (x == 3)", "holds"),
        ("accept: do :: x < 9 od", "violated"),
        ("do :: true :: x == 2 -> goto accept od; accept: do :: x < 2 od", "holds"),
        ("do :: assert(x != 2) od", "violated"),
        ("do :: x == 9 -> break :: else od", "holds"),
        ("byte k = 2; do :: x < k :: x == k -> break od", "violated"),
        ("do :: atomic { x == 1 -> assert(x != 1) } :: true od", "violated"),
        ("do :: d_step { x == 1 -> x == 2 }; break :: true od", "holds"),
        ("do :: atomic { x == 1 -> goto S } :: true od; S: x == 2", "violated"),
        ("do :: atomic { x == 1 -> goto S } :: true od; S: x == 1", "holds"),
        ("{ x < 9; x < 9; x < 9 } unless { x == 1 -> false }", "holds"),
        ("{ x < 9; x < 9; x < 9 } unless { x == 1 -> x == 2 }", "violated"),
        ("byte k = 255 + 3; do :: x < k :: x == k -> break od", "violated"),
    ],
)
def test_claims(claim, verdict):
    """A claim accepts violations, and one that ends has found one."""
    model = read(f"byte x; init {{ x = 1; x = 2 }}\nnever {{ {claim} }}\n")
    (never,) = (q for q in model.own_questions if q.automaton)
    assert check(model, automaton=never.automaton).verdict == verdict


def test_graphs_are_about_what_questions_are_about():
    """A failed assertion is a step without effect unless it is asked about."""
    model = read("byte x; init { x = 1; assert(x == 5); x = 2 }")
    for names, verdict in ((["x==2"], "holds"), (["x==2", "_fault"], "violated")):
        asked = " && ".join(f"F {name}" for name in names)
        assert check(model, asked).verdict == verdict
        of_graph = " && ".join(f'F "{name}"' for name in names)
        assert check(model.to_spot(names), of_graph).verdict == verdict


def test_a_description_has_no_failed_assertions():
    """Its states are those that are counted, and that questions are about."""
    model = read("byte x; init { do :: x = 1; assert(x == 5); x = 2 od }")
    told = complete(description_job(model))
    assert (told.n_states, told.is_complete, told.deadlock) == (4, True, None)
    assert product_size(model.counted(), None).states == 4


def test_shown():
    """Constants, messages and places have names; who is not there has no variables."""
    text = """mtype = { red, green };
mtype light;
chan q = [2] of { mtype, byte };
proctype P(chan c) { byte v = 3; c!red,v; wait: (v == 4) }
init { light = green; run P(q) }
"""
    model = read(text)
    state = model.initial()
    shown = [model.shown(state)]
    while steps := model.steps(state):
        state = steps[0].state
        shown.append(model.shown(state))
    first, last = shown[0], shown[-1]
    assert first["light"] == 0
    assert first["q"] == "[]"
    assert "P[1]:v" not in first
    assert last["light"] == "green"
    assert last["q"] == "[red,3]"
    assert last["P[1]:v"] == 3
    assert last["P[1]"] == "wait"
    assert first["init[0]"] == "5"


def test_operators_of_formulas_bind_as_in_spin():
    """``->`` is left-associative; prefixes bind tightest."""
    text = "bool a, b, c; init { a = 1 }\nltl p { [] a -> b U c -> X a }\n"
    (_, _, question) = read(text).own_questions
    assert parse(question.formula).spot == parse("((G a) -> (b U c)) -> X a").spot


def test_a_process_that_is_called_like_an_operator():
    """``R`` is a name in Spin's formulas."""
    text = "proctype R() { L: skip }\ninit { run R() }\nltl p { <> R[1]@L }\n"
    (_, _, question) = read(text).own_questions
    assert question.formula == "<>(R[1]@L)"


CHANNELS_OF_PROCESSES = """byte got;
proctype R(chan c) { byte x; c?x; got = x }
proctype A() { chan m = [1] of { byte }; m!1 }
proctype B() { chan k = [1] of { byte }; chan h = [1] of { byte }; k!2; h!3; run R(h) }
init { atomic { run B(); run A() } }
"""


def test_a_channel_that_is_given_to_a_process():
    """It is the same, however many channels there are when slots are planned."""
    model = read(CHANNELS_OF_PROCESSES)

    assert runs(model, "F got == 3")
    assert runs(model, "G (got == 0 || got == 3)")


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("P[1]:n == 0", True),
        ("<> (P[1]:n == 2)", True),
        ("[] (P[1]:n == 2)", False),
        ("<> (P[2]:n == 3)", False),
        ("[] (P[1]:n == 2 -> <> (P[1]:n == 0))", True),
    ],
)
def test_variables_of_processes_that_are_not_there(formula, holds):
    """They are 0, also a parameter that has the same value in each process."""
    text = "proctype P(byte n) { n > 0 } init { run P(2); run P(3) }"
    model = read(f"{text} ltl p {{ {formula} }}")
    asked = {question.name: question.formula for question in model.own_questions}
    assert (check(model, asked["p"]).verdict == "holds") == holds
    assert (check(model, formula).verdict == "holds") == holds


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("[] ((!z) == 0)", "violated"),
        ("[] (((!z) == 0) <= 2)", "holds"),
        ("<> [] ((!z == 0) <= 2 && z == 1)", "holds"),
        ("[] ((z == 0 && !y) + (z == 1 || y) == 1)", "holds"),
        ("[] ((z == 0 && !y && z < 2) + 1 == 1)", "violated"),
        ("<> ((!(z == 0) + 1) == 2)", "holds"),
    ],
)
def test_truths_are_numbers(formula, verdict):
    """As in Promela, whose verifier gives these answers."""
    text = f"byte z, y; active proctype P() {{ z = 1 }} ltl p {{ {formula} }}"
    model = load(io.StringIO(text), format="pml")
    asked = {question.name: question.formula for question in model.own_questions}
    assert check(model, asked["p"]).verdict == verdict


@pytest.mark.parametrize(
    "level", ["(({} * 2) + 1)", "((!({})) + 1)", "(y && (z || {}))"]
)
def test_operators_inside_each_other_are_limited(level):
    """A walk through them is recursive; what is too deep is refused."""
    model = load(io.StringIO("byte z, y; active proctype P() { z = 1 }"), format="pml")
    text = "z"
    for _ in range(1_000):
        text = level.format(text)
    with pytest.raises(FormulaError, match="operators inside each other"):
        check(model, f"G({text} + 0 == 1)")


@pytest.mark.parametrize("part", ["Y z", "(Y z) && y", "!O z", "F z", "y && X z"])
def test_what_other_states_say_is_no_number(part):
    model = load(io.StringIO("byte z, y; active proctype P() { z = 1 }"), format="pml")
    past = "Y" in part or "O" in part
    with pytest.raises(FormulaError, match="a formula, expected a number"):
        check(model, f"G(({part}) == 0)", past=past)
