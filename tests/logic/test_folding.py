"""Formulas with Boolean parts as propositions mean what they meant."""

from __future__ import annotations

import random

import pytest
import spot

from ltlpipe import UnsupportedError
from ltlpipe.logic.folding import folded, with_constants
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.propositions.parsing import boolean_formula, parse_proposition
from ltlpipe.logic.propositions.syntax import Name, Number, Operation, Variable
from ltlpipe.logic.words import Shape, evaluate
from ltlpipe.systems.propositions.binding import Vocabulary, bind
from ltlpipe.systems.propositions.letters import evaluate as value_of
from tests.example_counts import at_least, examples

VARIABLES = ("x", "y", "z")
ACTIONS = {f"a{k}": (k,) for k in range(3)} | {"both": (0, 1)}
KNOWN = Vocabulary({name: k for k, name in enumerate(VARIABLES)}, actions=ACTIONS)
BOOLEAN = ("&&", "||", "->", "<->", "xor")


def comparison(rng, *, steps):
    if steps and rng.random() < 0.3:
        return f'action=="{rng.choice([*ACTIONS])}"'
    relation = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    return f"{rng.choice(VARIABLES)} {relation} {rng.randint(0, 3)}"


def formula(rng, size, *, steps=True):
    """A formula of some comparisons, most of which have no operator around them."""
    if size == 1:
        return comparison(rng, steps=steps)
    if rng.random() < 0.25:
        left = formula(rng, size - 1, steps=steps)
        return f"{rng.choice(['!', 'X', 'F', 'G'])}({left})"
    cut = rng.randint(1, size - 1)
    operator = rng.choice(["U", "R"]) if rng.random() < 0.1 else rng.choice(BOOLEAN)
    parts = (formula(rng, n, steps=steps) for n in (cut, size - cut))
    return f" {operator} ".join(f"({part})" for part in parts)


def step(rng):
    """A state, and the action that leaves it."""
    return tuple(rng.randint(0, 3) for _ in VARIABLES), rng.choice([None, 0, 1, 2])


def holding(meanings, word):
    """The positions at which propositions hold in a word of states and actions."""
    return {
        text: sum(
            1 << k
            for k, (state, action) in enumerate(word)
            if value_of(meaning, state, action=action, dead=action is None)
        )
        for text, meaning in meanings.items()
    }


STATES = [(x, y, 1) for x in range(4) for y in range(4)]


def as_formula(text, meanings):
    """The states in which a proposition holds, by the comparisons that it combines."""
    word = [(state, 0) for state in STATES]
    said = boolean_formula(text)
    names = [p.ap_name() for p in spot.atomic_prop_collect(said) or ()]
    own = {name: bind(parse_proposition(name), KNOWN, name) for name in names}
    held = holding(own | meanings, word)
    holds = evaluate(said, Shape(0, len(word)), held)
    return [holds >> k & 1 for k in range(len(word))]


def as_proposition(text, said):
    """The same, by what it says."""
    meaning = bind(said, KNOWN, text)
    return [int(value_of(meaning, state, action=0) != 0) for state in STATES]


def made(text):
    """A formula, what its propositions say and mean, and the folded formula."""
    given = parse(text)
    said = {p: parse_proposition(p) for p in given.propositions}
    meanings = {p: bind(said[p], KNOWN, p) for p in said}
    of_steps = {p for p in said if p.startswith("action")}
    return given.spot, meanings, folded(given.spot, said, of_steps)


def test_words_satisfy_what_they_satisfied():
    fewer = 0
    for seed in range(examples(1_000)):
        rng = random.Random(seed)
        whole, meanings, (found, said) = made(formula(rng, rng.randint(2, 14)))
        texts = [p.ap_name() for p in spot.atomic_prop_collect(found) or ()]
        for text, own in said.items():
            assert parse_proposition(text) == own
            assert as_formula(text, meanings) == as_proposition(text, own)
        new = {t: bind(parse_proposition(t), KNOWN, t) for t in texts}
        fewer += len(new) < len(meanings)
        for _ in range(5):
            word = [
                (
                    tuple(rng.randint(0, 3) for _ in VARIABLES),
                    rng.choice([None, 0, 1, 2]),
                )
                for _ in range(rng.randint(1, 4))
            ]
            start = rng.randrange(len(word))
            shape = Shape(start, len(word) - start)
            before = evaluate(whole, shape, holding(meanings, word)) & 1
            assert evaluate(found, shape, holding(new, word)) & 1 == before
    assert fewer > at_least(300)


def test_a_part_costs_one_proposition_however_many_comparisons_it_has():
    sixty = " && ".join(f"x < {k}" for k in range(60))
    for text, left in (
        (f"G({sixty})", 1),
        (f"G({sixty} -> F !({sixty}))", 1),
        (f"G(({sixty}) || action=='a0' || action=='a1')", 2),
        (" && ".join(f"G(x < {k} || y == {k})" for k in range(60)), 1),
        (" || ".join(f"F(x == {k} || action=='a{k % 3}')" for k in range(30)), 1 + 1),
        (f"F({sixty} && X(x == 0 || y == 0 || !(z == 1)))", 2),
    ):
        found, _ = made(text)[2]
        assert len(spot.atomic_prop_collect(found)) == left


def test_what_is_not_to_be_joined_stays():
    whole = parse("G(a == 1 && b == 2 && c == 3)")
    said = {p: parse_proposition(p) for p in ("a==1", "b==2")}
    found, _ = folded(whole.spot, said, ())
    names = {p.ap_name() for p in spot.atomic_prop_collect(found)}
    assert names == {"a==1&&b==2", "c==3"}


@pytest.mark.parametrize("deep", [300, 3_000])
def test_what_is_nested_too_deep_stays_a_formula(deep):
    names = [spot.formula_ap(f"p{k}") for k in range(deep)]
    whole = names[0]
    for k, name in enumerate(names):
        whole = (spot.formula_Or if k % 2 else spot.formula_And)([name, whole])
    found, said = folded(whole, {f"p{k}": Name(f"p{k}") for k in range(deep)}, ())
    assert all(len(text) < 10_000 for text in said)
    assert len(spot.atomic_prop_collect(found)) < deep


@pytest.mark.parametrize("inner", ["{}", "F {}"])
def test_equivalences_in_each_other_are_not_written_twice(inner):
    """Spot would pull negations into each operand: 2 to the 200 occurrences."""
    names = [f"p{k}" for k in range(200)]
    whole = spot.formula("1")
    for name in names:
        own = spot.formula(inner.format(name))
        whole = spot.formula_F(spot.formula_Xor(whole, spot.formula_G(own)))
        whole = spot.formula_Xor(own, whole)
    found, _ = folded(spot.formula_F(whole), {name: Name(name) for name in names}, ())
    assert len(spot.atomic_prop_collect(found)) <= 200


def test_truths_are_compared_not_numbers():
    whole = spot.formula("G(x <-> y)")
    _, new = folded(whole, {name: Name(name) for name in "xy"}, ())
    ((text, said),) = new.items()
    assert said == Operation(
        "==", (Operation("!", (Name("x"),)), Operation("!", (Name("y"),)))
    )
    assert value_of(bind(said, KNOWN, text), (1, 2, 0)) == 1
    assert Number(1) != Variable(1)


def test_constants_for_propositions():
    """What is known replaces them; formulas of PSL are refused."""
    formula = parse('G("x y" -> F (b | c))').spot
    assert with_constants(formula, {"c": False}) == parse('G("x y" -> F b)').spot
    assert with_constants(formula, {"b": True, "d": False}).is_tt()
    with pytest.raises(UnsupportedError, match="PSL"):
        with_constants(parse("{a;b}|->c").spot, {"a": True})
