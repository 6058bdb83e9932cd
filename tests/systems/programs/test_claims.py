"""Property processes as automata, `assert` as a proposition, names of transitions."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ltlpipe
from ltlpipe import FormulaError, InputError, UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.runtime.errors import LtlpipeWarning, silenced
from ltlpipe.systems.programs.claims import as_truth
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.programs.program import EvaluationError, evaluate
from ltlpipe.systems.propositions import letters
from ltlpipe.systems.propositions.binding import bind
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.systems.programs.random_models import Names, expressions

COUNTER = """
byte n = 0; byte t[3] = {0, 5, 0}; const byte c[2] = {4, 5};
process P {
  byte v; state s, c; init s; assert c: n < LIMIT, s: v == 0;
  trans s -> c { guard n < 3; effect n = n + 1; }, c -> s { effect t[0] = n; };
}
process Q { state a, b; init a; trans a -> b {}, b -> a {}; }
"""

CLAIM = """
process Never {
  state q1, q2; init q1; accept q2;
  trans q1 -> q1 {}, q1 -> q2 { guard not (P.c); }, q2 -> q2 { guard not (P.c); };
}
system async property Never;
"""


def counter(claim="system async;", limit=9):
    return read_dve_model(COUNTER.replace("LIMIT", str(limit)) + claim, "model.dve")


def test_property_process():
    """It is no part of the system, and its automaton is the question."""
    model = counter(CLAIM)
    assert model.processes == ("P", "Q")
    assert model.actions == counter().actions
    verdict = ltlpipe.check(model)
    assert verdict.verdict == "violated"
    assert ltlpipe.check(counter(), "G F P.c").verdict == "violated"
    bounded = CLAIM.replace("not (P.c)", "n > 3")
    assert ltlpipe.check(counter(bounded)).verdict == "holds"


def test_formulas_about_a_model_with_a_property_process():
    """The process is left out, with a warning; else there has to be a formula."""
    with pytest.warns(LtlpipeWarning, match="property process is no part"):
        assert ltlpipe.check(counter(CLAIM), "G n <= 3").holds
    with pytest.raises(UnsupportedError, match="expected one of"):
        ltlpipe.check(counter())


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        (
            "guard not (P.c); }, q2",
            "effect n = 1; }, q2",
            UnsupportedError,
            "effects of",
        ),
        ("guard not (P.c); }, q2", "sync d?; }, q2", UnsupportedError, "channels of"),
        ("{\n  state", "{ byte x;\n  state", UnsupportedError, "variables of"),
        ("not (P.c); }, q2", "n << 1; }, q2", UnsupportedError, "the operator <<"),
        (
            "not (P.c); }, q2",
            "c[n] == 1; }, q2",
            UnsupportedError,
            "array of constants",
        ),
        ("not (P.c); }, q2", "n*n*n*n == 1; }, q2", UnsupportedError, "32 bits"),
        ("property Never", "property Ever", InputError, "did you mean Never"),
        ("init q1", "commit q1", InputError, "0 initial states"),
        ("accept q2", "accept q3", InputError, "unknown state of Never 'q3'"),
        ("q1 -> q1 {}", "q1 -> q1 { guard Never.q1; }", InputError, "'Never'"),
    ],
)
def test_what_no_automaton_can_be(old, new, error, message):
    """Refused by name, with the file and a line."""
    text = CLAIM.replace(old, new, 1)
    assert text != CLAIM
    with pytest.raises(error, match=message) as caught:
        counter(text)
    assert str(caught.value).startswith("model.dve:")


def test_many_comparisons():
    """With more than letters can tell apart, a guard is one proposition."""
    guard = " || ".join(f"n == {k}" for k in range(30))
    model = counter(CLAIM.replace("not (P.c)", f"not ({guard})"))
    assert 'AP: 1 "!(n==0||n==1||' in model.violations
    assert ltlpipe.check(model).holds


TEXTS = {"a": "n==2", "b": "P.c", "c": "t[0]<n", "d": "Q.b", "nowhere": "n>8"}


def with_meanings(text):
    """A formula about the counter."""
    names = "|".join(TEXTS)
    return re.sub(rf"\b({names})\b", lambda name: f"({TEXTS[name[0]]})", text)


def claim_of(formula):
    """A property process of the violations of a formula, from Spot's automaton."""
    import spot

    automaton = spot.translate(spot.formula_Not(formula), "Buchi", "SBAcc")
    n = automaton.num_states()
    lines = []
    for edge in automaton.edges():
        guard = spot.bdd_format_formula(automaton.get_dict(), edge.cond)
        guard = guard.replace("&", " and ").replace("|", " or ")
        guard = with_meanings(guard).replace("!(", "not (")
        lines.append(f"q{edge.src} -> q{edge.dst} {{ guard {guard}; }}")
    states = ", ".join(f"q{k}" for k in range(n))
    accepting = [f"q{k}" for k in range(n) if automaton.state_is_accepting(k)]
    accept = f"accept {', '.join(accepting)};" if accepting else ""
    initial = automaton.get_init_state_number()
    return (
        f"process Never {{ state {states}; init q{initial}; {accept} "
        f"trans {', '.join(lines)}; }} system async property Never;"
    )


def _assert_same(text):
    formula = parse(text).spot
    claim = claim_of(formula)
    assume("->" in claim)
    with silenced():  # of "and" beside "or"
        model = counter(claim)
    expected = ltlpipe.check(counter(), with_meanings(text)).verdict
    assert ltlpipe.check(model).verdict == expected


@given(formulas(max_leaves=6))
@settings(max_examples=examples(100))
def test_automata_of_formulas(text):
    """A formula's automaton as a property process asks what the formula does."""
    _assert_same(text)


@pytest.mark.slow
@given(formulas(max_leaves=9))
@settings(max_examples=examples(2000))
def test_automata_of_formulas_by_the_thousand(text):
    """The same of larger ones."""
    _assert_same(text)


NAMES = Names(["n", "t[1]", "P->v"], ["P.s", "Q.b"], [], [("t", 3), ("c", 2)])


@given(expressions(NAMES, 3), st.data())
@settings(max_examples=examples(300))
def test_expressions_as_propositions(text, data):
    """Written, read again and bound, they have the same values in every state."""
    claim = CLAIM.replace("not (P.c)", text)
    model = counter()
    program = model.program
    state = [data.draw(st.integers(*variable.bounds)) for variable in program.variables]
    with silenced():
        try:
            read = counter(claim).violations
        except UnsupportedError:
            return
        guard = _guard(text)
    written = str(as_truth(guard, program.variables, program.arrays))
    assert read
    try:
        bound = bind(parse_proposition(written), model.vocabulary, written)
    except FormulaError as error:
        if "has the elements" in str(error):  # a constant index out of range
            return
        raise
    try:
        expected = evaluate(guard, state) != 0
    except EvaluationError:
        return
    assert bool(letters.evaluate(bound, state)) == expected


def _guard(text):
    """The expression, with the names of the counter looked up."""
    claim = f"process R {{ state s; init s; trans s -> s {{ guard {text}; }}; }}"
    program = counter(claim + "system async;").program
    return program.processes[-1].transitions[0].guard


def test_assertions():
    """They hold unless a process is in a state where its condition fails."""
    for limit, expected in [(9, "holds"), (3, "violated"), (2, "violated")]:
        model = counter(limit=limit)
        assert ltlpipe.check(model, "G assert").verdict == expected
        same = f"G (!P.c || n < {limit}) && G (!P.s || P.v == 0)"
        assert ltlpipe.check(model, same).verdict == expected
    without = COUNTER.replace("assert c: n < LIMIT, s: v == 0;", "")
    with pytest.raises(FormulaError, match="assert"):
        ltlpipe.check(read_dve_model(without + "system async;", "m.dve"), "G assert")


def test_assertions_that_are_no_proposition():
    """Said, and the rest of the model can be asked about."""
    text = COUNTER.replace("n < LIMIT", "(n & 1) < 2") + "system async;"
    model = read_dve_model(text, "m.dve")
    told = (
        "'assert' is no proposition of this model: the assertion about P.c has the op"
    )
    with pytest.warns(LtlpipeWarning, match=f"{told}erator &, which no proposition"):
        assert ltlpipe.check(model, "G n<=3").holds


PARALLEL = """
byte x;
process P {
  state s, t; init s;
  trans s -> s { effect x = 0; }, s -> s { effect x = 1; }, s -> t {};
}
system async;
"""


def test_parallel_transitions_have_names_of_their_own():
    """Numbered in the order of the file; the common name means any of them."""
    model = read_dve_model(PARALLEL, "m.dve")
    assert model.actions == ("P: s -> s #1", "P: s -> s #2", "P: s -> t")
    either = 'G(action=="P: s -> s" || action=="P: s -> t" || deadlock)'
    assert ltlpipe.check(model, either).holds
    second = 'G(action=="P: s -> s #2" -> X(x == 1))'
    assert ltlpipe.check(model, second).holds
    assert not ltlpipe.check(model, second.replace("#2", "#1")).holds
