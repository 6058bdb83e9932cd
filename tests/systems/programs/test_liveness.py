"""Programs that forget dead values have the steps, verdicts and runs of the program."""

from __future__ import annotations

import random

import pytest

from ltlpipe import FormulaError, LtlpipeError, UnsupportedError, check
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.liveness import forgetting
from ltlpipe.systems.programs.promela.model import promela_model, read_model
from tests.example_counts import at_least, examples
from tests.por.models.random_models import random_dve
from tests.por.models.test_statements import SHAPES, atoms
from tests.por.models.twins import reachable
from tests.systems.programs.promela.random_programs import random_program
from tests.systems.programs.promela.random_rarities import rare_program
from tests.systems.programs.promela.random_records import program_with_records
from tests.systems.programs.test_generating import compare_model

LIMIT = 500  # states beyond which a random model is left out


def promela(text):
    return complete(promela_model(read_model(text, "m.pml")))


def random_model(seed):
    """A random model, and its states; the states are None if there are too many."""
    makers = random_program, rare_program, program_with_records
    try:
        if seed % 4 == 3:
            model = random_dve(random.Random(seed))
        else:
            model = promela(makers[seed % 4](seed))
        return model, reachable(model, LIMIT)
    except LtlpipeError:  # refused, or too little room
        return None, None


def forgetful(model, seen=()):
    return complete(forgetting(model.program, seen))


# --- the program -------------------------------------------------------------


def same_steps(seed):
    """Compare all steps of a random program; whether it forgets something."""
    model, states = random_model(seed)
    if states is None:
        return False
    rng = random.Random(seed)
    n = len(model.program.variables)
    seen = rng.sample(range(n), rng.choice((0, 0, 1, 3)) % n)
    rule = forgetful(model, seen)
    if rule is None:
        return False
    plain, other = Interpreter(model.program), Interpreter(rule.program)
    assert rule.program.initial == rule.of(model.program.initial)
    for state in states:
        wanted = {(a, rule.of(to)) for a, to in plain.steps(state)}
        assert set(other.steps(rule.of(state))) == wanted, (seed, state)
        assert all(rule.of(state)[v] == state[v] for v in seen)
    return len({rule.of(state) for state in states}) < len(states)


def test_steps_are_the_same():
    assert sum(map(same_steps, range(examples(60)))) >= at_least(8)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_steps_of_many_programs_are_the_same(part):
    """3,000 of them."""
    assert sum(map(same_steps, range(1000 + 300 * part, 1300 + 300 * part))) > 30


def test_compiled_steps_are_the_same():
    kept = 0
    for seed in range(examples(12)):
        model, states = random_model(seed)
        found = None if states is None else complete(model.forgetting([]))
        if found is not None:
            compare_model(found[0], LIMIT)
            kept += 1
    assert kept >= at_least(4)


def live(text, *seen):
    """What is forgotten of a valuation of ones, by the names of places."""
    model = promela(text)
    names = [v.name for v in model.program.variables]
    rule = forgetful(model, [names.index(name) for name in seen])
    if rule is None:
        return {}
    found = {}
    for process in model.program.processes:
        states = model.program.variables[process.state].states
        for place, name in enumerate(states):
            values = [1] * len(names)
            values[process.state] = place
            kept = rule.of(values)
            found[name] = {names[v] for v in process.variables if not kept[v]}
    return found


LAST_USE = """
byte g;
active proctype P() {
    byte x, y;
    do
    :: atomic { g < 2 -> x = g + 1 }; g = x; y = x; g = 0; y = y - 1; g = y
    od
}
"""


def test_last_uses():
    gone = [sorted(n.rpartition(":")[2] for n in v) for v in live(LAST_USE).values()]

    assert ["x", "y"] in gone  # at the beginning of the loop
    assert ["y"] in gone  # it has not been assigned yet
    assert ["x"] in gone  # it has been read
    assert [] not in gone[2:]


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ("active proctype Q() { P[0]:x == 1 }", ()),  # another process reads it
        ("", ["P[0]:x"]),  # a proposition does
    ],
)
def test_what_others_read_is_kept(more, seen):
    gone = live(LAST_USE + more, *seen)

    assert not any("P[0]:x" in names for names in gone.values())
    assert any("P[0]:y" in names for names in gone.values())


def test_an_element_that_is_assigned_kills_nothing():
    """Which one it is depends on the index."""
    model = promela(
        "byte g; active proctype P() { byte a[2]; byte i;"
        " do :: a[i] = g; i = 1 - i; g = a[0] od }"
    )
    rule = forgetful(model)
    names = [v.name for v in model.program.variables]

    assert rule is None or not any(
        names[v].startswith("P[0]:a")
        for state in reachable(model, LIMIT)
        for v, (kept, value) in enumerate(zip(rule.of(state), state, strict=True))
        if kept != value
    )


# --- questions ---------------------------------------------------------------

STEPWISE = "G ({} -> X {})", "F (X {} && {})", "G F ({} && X X {})"

WAYS = (
    {"reduce": "variables", "emptiness": "couvreur99"},
    {"reduce": "variables", "emptiness": "se05"},
    {"reduce": "variables,ample", "emptiness": "couvreur99"},
    {"reduce": "variables,statements", "emptiness": "gv04"},
    {"emptiness": "tela"},
)


def same_verdict(seed):
    """Ask about a random model with and without; whether something was forgotten."""
    (model, states), rng = random_model(seed), random.Random(seed)
    if states is None:
        return False
    shape = rng.choice(SHAPES + STEPWISE)
    formula = shape.format(*atoms(rng, model, shape.count("{}")))
    asked = rng.choice(WAYS)
    options = {"deadlock": "ignore"} if rng.random() < 0.3 else {}
    if "ample" not in asked.get("reduce", "ample") and rng.random() < 0.3:
        options["fairness"] = rng.choice(("weak", "strong"))
        asked = {"reduce": asked["reduce"]} if "reduce" in asked else {}
        asked = {} if "statements" in asked.get("reduce", "") else asked
    try:
        expected = check(model, formula, reduce="none", **options)
    except FormulaError:  # a variable of which formulas do not speak
        return False
    try:
        found = check(model, formula, **asked, **options)  # whose run is replayed
    except UnsupportedError:
        assert "ample" in asked.get("reduce", "")  # which nothing is left out by
        return False
    assert found.verdict == expected.verdict, (seed, formula, asked, options)
    return "variables" in found.plan.reductions


def test_verdicts_are_the_same():
    assert sum(map(same_verdict, range(examples(40)))) >= at_least(10)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_verdicts_of_many_models_are_the_same(part):
    """3,000 of them."""
    assert sum(map(same_verdict, range(1000 + 150 * part, 1150 + 150 * part))) > 40


def test_a_cycle_that_closes_a_turn_later():
    """What is dead at its beginning is not what it was, the first time."""
    model = promela(
        "bit g; active proctype P() { byte x = 5;"
        " do :: x = 3; g = 1; g = x - 3; skip od }"
    )
    found = check(model, "F G g==1", reduce="variables", emptiness="couvreur99")

    assert found.verdict == "violated"
    assert found.plan.reductions[-1] == "variables"
    x = found.lasso.states[:, model.variables.index("P[0]:x")].tolist()
    assert x[0] == 5
    assert set(x[1:]) == {3}


MANY = 13  # choices of which there are more combinations than moves of a step


def choices(number, begin="", end=""):
    chosen = "".join(f"if :: y{k} = 0 :: y{k} = 1 fi; " for k in range(number))
    names = ", ".join(f"y{k}" for k in range(number))
    return (
        f"byte g; active proctype P() {{ bit {names}; byte x;"
        f" do :: x = 2; {begin} {chosen} g = x - 1 {end}; g = 0 od }}"
    )


@pytest.mark.parametrize("formula", ["G F g==1", "F G g==0", "G (F g==0 && F g==1)"])
def test_a_step_that_has_too_many_moves_fails(formula):
    """It does so in the program, where valuations count apart that are forgotten."""
    model = promela(choices(MANY, "atomic {", "}"))
    plain, less = (
        check(model, formula, reduce=reduce, emptiness="couvreur99")
        for reduce in ("none", "variables")
    )
    assert less.verdict == plain.verdict
    assert less.plan.reductions[-1] == "variables"  # x, which it does not assign


@pytest.mark.parametrize(
    ("text", "forgotten"),
    [
        (choices(4, "atomic {", "}"), True),
        (choices(MANY, "atomic {", "}"), False),
        (choices(MANY), True),
        (choices(MANY, "d_step {", "}"), True),  # on one way
    ],
)
def test_what_counts_on_the_way_is_kept(text, forgotten):
    names = {n for some in live(text).values() for n in some}

    assert ("P[0]:y0" in names) == forgotten
    assert "P[0]:x" in names


def test_a_step_that_goes_round_may_have_too_many_moves():
    text = (
        "byte g; active proctype P() { int x, y, z;"
        " do :: atomic { do :: x++; y = x :: break od; z = 1; g = 1 }; g = 0 od }"
    )
    names = {n for some in live(text).values() for n in some}

    assert "P[0]:y" not in names
    assert "P[0]:z" in names  # by the last move, behind which control is lost


def test_there_is_less_to_search():
    text = """
    byte g;
    active [2] proctype P() {
        byte x;
        do
        :: select(x : 0..7); g = x; g = 0
        od
    }
    """
    whole, less = (
        check(promela(text), "G g<=7", reduce=r, emptiness="couvreur99").stats.states
        for r in ("none", "variables")
    )
    assert less < whole


def test_beside_symmetry():
    """Instances that are alike stay so."""
    text = """
    byte busy;
    active [3] proctype P() {
        byte x;
        do
        :: atomic { busy == 0 -> busy = 1 }; select(x : 0..3); busy = x - x; skip
        od
    }
    """
    found = {
        reduce: check(promela(text), "G busy<=1", reduce=reduce, emptiness="couvreur99")
        for reduce in ("automorphisms", "variables", "automorphisms,variables")
    }
    both = found.pop("automorphisms,variables")
    assert both.verdict == "holds"
    assert all(both.stats.states < one.stats.states for one in found.values())


def test_questions_share_what_forgets():
    """What a formula reads matters only if it would be forgotten."""
    model = promela(LAST_USE)
    kept = {
        formula: complete(model.forgetting([model.meaning(formula)]))[0]
        for formula in ("g==1", "g==2", "P[0]:x==1", "P[0]:y==1", "P[0]:x==2")
    }

    assert kept["g==1"] is kept["g==2"]
    assert kept["P[0]:x==1"] is kept["P[0]:x==2"]
    assert len(set(map(id, kept.values()))) == 3
