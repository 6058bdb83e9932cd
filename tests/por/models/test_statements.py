"""Merged statements: verdicts, states and runs are those of the model as it is."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache
from unittest.mock import patch

import pytest

from ltlpipe import LtlpipeError, UnsupportedError, check
from ltlpipe.logic.formulas import parse, seen_at_ends
from ltlpipe.por import statements
from ltlpipe.por.groups import find_groups
from ltlpipe.por.statements import passed_places
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import Limits, Progress, complete
from ltlpipe.strategies.registry import STRATEGIES
from ltlpipe.systems.programs.promela.model import promela_model, read_model
from ltlpipe.verdict import portfolio
from ltlpipe.verdict.inquiry import Inquiry
from tests.example_counts import at_least, examples
from tests.por.models.random_models import random_dve, random_net
from tests.por.models.twins import reachable
from tests.systems.programs.promela.random_programs import random_program
from tests.systems.programs.test_generating import compare_model

LIMIT = 600  # states beyond which a random model is left out


def promela(text):
    return complete(promela_model(read_model(text, "m.pml")))


@cache
def random_model(seed):
    """A model whose processes mostly keep to themselves, and its states.

    The states are None if there are too many, or no model.
    """
    try:
        if seed % 3 == 2:
            model = random_dve(random.Random(seed))
        else:
            model = promela(random_program(seed, own_share=1 + seed % 6))
        return model, reachable(model, LIMIT)
    except LtlpipeError:  # refused, or too little room
        return None, None


def atoms(rng, model, n):
    """Propositions about values of variables, `n` of them."""
    program = model.program
    kinds = "state", "error", "length", "timeout"
    known = {
        number for number, v in enumerate(program.variables) if v.kind not in kinds
    }
    for channel in program.channels:
        for cell in channel.cells:
            known -= set(range(cell, cell + channel.capacity))
    names = [program.variables[number].name for number in sorted(known)]
    return [f"{rng.choice(names)}=={rng.choice((0, 1, 1, 2))}" for _ in range(n)]


SHAPES = (
    "G !deadlock",
    "G (deadlock -> {})",
    "G ({} && (deadlock -> {}))",
    "G {}",
    "F {}",
    "G F {}",
    "F G {}",
    "G ({} -> F {})",
    "{} U {}",
    "F ({} && F {})",
    "G ({} -> ({} R {}))",
    "G F {} -> G F {}",
    "!(({} U {}) U {})",
)


def merged(model, texts):
    """The model with merged statements for some propositions; None if none can be."""
    meanings = [model.meaning(text) for text in texts]
    codes = complete(find_groups(model, meanings)).codes
    places = frozenset() if codes is None else passed_places(model.program, codes)
    return model.passing(places) if places else None


WAYS = (
    *({"reduce": "statements", "emptiness": name} for name in ("gv04", "couvreur99")),
    *({"emptiness": name} for name in ("couvreur99", "se05", "tela")),  # and ample sets
    {"emptiness": "ufscc", "workers": 2},
    {},  # in plain Python
)


def compare(seed):
    """Ask about a random model with and without; whether something was merged."""
    (model, states), rng = random_model(seed), random.Random(seed)
    if states is None:
        return False
    shape = rng.choice(SHAPES)
    formula = shape.format(*atoms(rng, model, shape.count("{}")))
    if seed % 3 != 2 and rng.random() < 0.2:
        formula = "G !_fault"
    asked = rng.choice(WAYS)
    deadlock = {"deadlock": "ignore"} if rng.random() < 0.3 else {}
    expected = check(model, formula, reduce="none", **deadlock)
    with patch.object(portfolio, "PLAIN_TURN", 0.5):  # what is small is merged, too
        found = check(model, formula, **asked, **deadlock)  # whose run is replayed
    assert found.verdict == expected.verdict, (seed, formula, asked)
    return "statements" in found.plan.reductions


def test_verdicts_are_the_same():
    kept = sum(map(compare, range(examples(40))))

    assert kept >= at_least(12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_verdicts_of_many_models_are_the_same(part):
    """3,000 of them."""
    assert sum(map(compare, range(1000 + 150 * part, 1150 + 150 * part))) > 50


@pytest.mark.parametrize(
    ("formula", "late"),
    {
        "G !deadlock": [],
        "!F deadlock": [],
        "G(a==1 || !deadlock || b==1)": ["a==1", "b==1"],
        "G(a==1 -> !deadlock)": ["a==1"],
        "G(c==1 && (deadlock -> a==1) && !deadlock)": ["a==1"],
        "G(a==1 && (deadlock -> a==1 && b==1))": ["b==1"],
        "G((deadlock -> a==1) && (deadlock || b==1))": None,
        "F deadlock": None,
        "G deadlock": None,
        "G(deadlock -> a==1 && deadlock)": None,
        "G(deadlock -> F a==1)": None,
        "G(a==1 <-> deadlock)": None,
        "G a==1": [],
        "F a==1": [],
    }.items(),
)
def test_what_matters_at_ends(formula, late):
    found = seen_at_ends(parse(formula), {"deadlock"})
    assert found == (None if late is None else set(late))


def test_ends_with_ample_sets():
    """Runs that end do so in the same letters; of nets, too."""
    kept = 0
    for seed in range(examples(40)):
        rng = random.Random(seed)
        if seed % 2:
            model = random_net(rng)
            letters = [f"{place.name}>0" for place in model.places]
        else:
            model = random_dve(rng)
            letters = atoms(rng, model, 2)
        formula = f"G(deadlock -> {rng.choice(letters)})"
        if rng.random() < 0.3:
            formula = f"G({rng.choice(letters)} && (deadlock -> {rng.choice(letters)}))"
        expected = check(model, formula, reduce="none", max_states=2000)
        with suppress(UnsupportedError):  # there is nothing to be left out
            asked = {"reduce": "ample", "emptiness": "couvreur99", "max_states": 2000}
            found = check(model, formula, **asked)
            if "unknown" not in (found.verdict, expected.verdict):
                assert found.verdict == expected.verdict, (seed, formula)
                kept += found.verdict == "violated"
    assert kept >= at_least(2)


STOPPED = """byte seen = 0, z = 0;
process A {{
  state a0, a1, a2;
  init a0;
  trans a0 -> a1 {{ effect seen = 1; }}, a1 -> a2 {{ }};
}}
process B {{
  state b0, b1;
  init b0;
  {committed}
  trans b0 -> b1 {{ {effect} }};
}}
system async;
"""
"""B stops A, which could go on."""


@pytest.mark.parametrize("way", ["ample", "statements", "statements,ample", "auto"])
@pytest.mark.parametrize(
    ("committed", "effect"), [("commit b1;", ""), ("", "effect z = 1 / z;")]
)
def test_a_run_that_is_stopped_ends_where_others_could_move(
    tmp_path, committed, effect, way
):
    """In a deadlock of committed states, or where a step fails."""
    path = tmp_path / "m.dve"
    path.write_text(STOPPED.format(committed=committed, effect=effect))
    for formula in (
        "G(seen < 2 && (deadlock -> A.a0 || A.a2))",
        "G(deadlock -> A.a2)",
        "G(deadlock -> A.a0 || A.a1)",
    ):
        assert check(path, formula, reduce="none").verdict == "violated"
        with suppress(UnsupportedError):  # nothing is left out any more
            found = check(path, formula, reduce=way, seed=1)
            assert found.verdict == "violated", formula


def test_what_holds_where_a_step_has_failed_hides_no_step():
    """Then the run may end anywhere; so end states are looked for with ample sets."""
    model = promela(
        """byte a[2], i = 3;
active proctype A() { byte x; x = 1; x = 2 }
active proctype B() { a[i] = 1 }"""
    )
    found = check(model, model.ends_validly, reduce="ample")
    assert found.holds
    assert found.plan.reductions == ("ample",)


def test_states_are_fewer_and_deadlocks_the_same():
    """What is merged is part of the model; who stops there for ever still does."""
    kept = 0
    for seed in range(examples(30)):
        model, states = random_model(seed)
        if states is None:
            continue
        fewer = merged(model, atoms(random.Random(seed), model, seed % 3))
        if fewer is None:
            continue
        found = reachable(fewer, LIMIT)
        assert found.keys() <= states.keys()
        ends = [
            {s for s in some if not some[s] and not s[-1]} for some in (found, states)
        ]
        assert ends[0] == ends[1]
        kept += len(found) < len(states)
    assert kept >= at_least(6)


def test_generated_code_agrees_with_the_interpreter():
    kept = 0
    for seed in range(examples(20)):
        model, states = random_model(seed)
        fewer = None if states is None else merged(model, [])
        if fewer is not None:
            kept += compare_model(fewer, 100) is not None
    assert kept >= at_least(4)


CHOICE = """
byte x;
active proctype P() { byte k, j; x = 1; if :: k > 0 -> k = 2 :: else -> j = 1 fi; j++;
    x = j; again: k = 2; x = k }
active proctype Q() { x = 3 }
"""


def places_of(text, *propositions):
    """The places that are passed by."""
    fewer = merged(promela(text), propositions)
    program = fewer.program
    states = [program.variables[process.state].states for process in program.processes]
    return {states[process][place] for process, place in program.merged}


def test_places():
    """Not where the property sees what happens next, or before."""
    every = {"3.2", "3.3", "3.4", "3.5", "again"}

    assert places_of(CHOICE) == every
    assert places_of(CHOICE, "P[0]:j==1") == every - {"3.4", "3.5"}
    assert places_of(CHOICE, "P[0]:k==1") == every - {"3.3", "again"}
    assert places_of(CHOICE, "P[0]@again") == every - {"again"}


LOOP = "active proctype P() { byte k; do :: k = 1; k = 2; k = 0 od }"


def test_processes_stop_on_every_cycle():
    """One that does nothing but calculate goes on for ever, and is seen to."""
    model = promela(LOOP)

    assert len(reachable(model, 10)) == 3
    assert len(reachable(merged(model, []), 10)) == 2
    options = {"reduce": "statements", "emptiness": "couvreur99"}
    assert check(model, "F G P[0]:k==0", **options).verdict == "violated"
    found = check(model, "F false", **options)
    assert found.plan.reductions == ("statements",)
    assert len(found.lasso.cycle) == 3


BRANCH = "if :: k = 2 * k :: k = 2 * k + 1 fi;"
BRANCHES = """
byte x;
active proctype P() { short k; x = 1; BRANCH x = 2 }
active proctype Q() { x = 3 }
"""


@pytest.mark.parametrize("n_ways", [6, 13])
def test_many_ways(n_ways, monkeypatch):
    """Where there are too many, statements are single after all."""
    monkeypatch.setattr(statements, "_MOST_MOVES", 10**6)
    model = promela(BRANCHES.replace("BRANCH", BRANCH * n_ways))
    asked = {"emptiness": "couvreur99"}
    assert check(model, "G x<3", reduce="statements", **asked).verdict == "violated"
    formula = "F G x==3 || F G x==2"
    every = check(model, formula, reduce="none", **asked)
    fewer = check(model, formula, reduce="statements", **asked)
    assert fewer.verdict == every.verdict == "holds"
    assert (fewer.stats.states < every.stats.states) == (n_ways == 6)


def test_a_small_program_does_not_wait_for_long_planning(monkeypatch):
    """The search in plain Python goes on with the program as it is."""
    text = "byte x; active [3] proctype P() { byte y; y = 1; y = 2; y = 3; x = y }"
    instant = tuple(s for s in STRATEGIES if s.name == "instant")

    def never_ready(strategy, question):
        yield Progress("planning", work=portfolio.MOST_PLANNING)
        pytest.fail("it is waited for")

    monkeypatch.setattr(portfolio, "PLAIN_TURN", 0.5)
    monkeypatch.setattr(portfolio, "_smaller_program", never_ready)
    asked = Property(parse('G "x==0"'))
    inquiry = Inquiry(promela(text), asked, Options(), strategies=instant)
    found = inquiry.verdict(Limits())
    assert found.verdict == "violated"
    assert not found.plan.reductions
