"""The classes of Prop. 5: the paper's list, and their meaning on random words.

Source: S. F. Siegel and Y. Yan, CAV 2020, Prop. 5.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import UnsupportedError, intrpt
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, interrupt_free, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas

I1, I2 = "(F x)", "(G !y)"
P1, P2 = "a", "(b & X F x)"
N1, N2 = "(!c)", "(c -> G !y)"

#: The formulas that Prop. 5 lists, in its order.
LISTED = {
    "pos": f"0; a; !{N2}; {P1} & {P2}; {P1} | {P2}; a & {I1}; a & X {I1}",
    "neg": f"1; !a; !{P2}; {N1} & {N2}; {N1} | {N2}; !a | {I1}; !a | X {I1}",
    "intrpt": f"1; 0; {I1} & {I2}; {I1} | {I2}; !{I1}; F {P2}; G {N2};"
    f"{I1} U {I2}; {N1} U {P1}; {N2} U {P2}; {N1} U {I1}; {N2} U {I2}",
}


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text) for name, texts in LISTED.items() for text in texts.split(";")],
)
def test_listed(name, text):
    """Every formula of the proposition is in the class that it says."""
    assert name in syntactic_class(parse(text).spot)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("a xor b", {"pos"}),
        ("a <-> b", {"neg"}),
        (f"{N1} W {P1}", {"intrpt"}),
        (f"{P1} R {N1}", {"intrpt"}),
        (f"{P1} M {N1}", {"intrpt"}),
        (f"{N1} U ({P1} | {I1})", {"intrpt"}),
        (f"({N1} & {I1}) U {I2}", {"intrpt"}),
        (f"({N1} & {I1}) U {P1}", set()),
        (f"F({P1} | {I1})", {"intrpt"}),
        (f"G({N1} & {I1})", {"intrpt"}),
        (f"X {I1}", set()),
        (f"a & (X {I1} | b | {I2})", {"pos"}),
        ("a & X b", set()),
        (f"{I1} U {P1}", set()),
    ],
)
def test_rules_beyond_the_list(text, classes):
    """What follows for other operators and for mixtures."""
    assert syntactic_class(parse(text).spot) == classes


def random_word(rng):
    letters = ["a", "b", "c", "d", "x", "y"]
    return Word(
        tuple(rng.choices(letters, k=rng.randrange(5))),
        tuple(rng.choices(letters, k=rng.randrange(1, 4))),
    )


@given(formulas(max_leaves=7), st.integers(0, 2**32))
@settings(max_examples=examples(300))
def test_classes_are_sound(text, seed):
    """Their meaning, on random words: see the module."""
    check_meaning(text, random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(5))
def test_classes_are_sound_on_thousands(thousand):
    """Also for formulas that are in a class more often."""
    for seed in range(1000 * thousand, 1000 * thousand + 1000):
        text = random_interruptible(["a", "b", "c"], seed=seed, depth=2 + seed % 3)
        check_meaning(text, random.Random(seed))


def check_meaning(text, rng):
    formula = parse(text)
    classes = syntactic_class(formula.spot)
    actions = formula.propositions
    if not classes:
        return
    for _ in range(30):
        word = random_word(rng)
        form = interrupt_free(word, actions)
        holds = satisfies(formula.spot, word)
        first = (word.prefix + word.cycle)[0]
        if "intrpt" in classes:
            assert holds == satisfies(formula.spot, form)
        if first in actions:  # settled
            assert holds == satisfies(formula.spot, form)
        elif "pos" in classes:
            assert not holds
        elif "neg" in classes:
            assert holds


@given(formulas(max_leaves=6))
def test_what_intrpt_returns_is_never_lost(text):
    """A class once seen is seen behind a double negation, too."""
    classes = syntactic_class(parse(text).spot)
    assert syntactic_class(parse(f"!!({text})").spot) == classes
    assert intrpt(text) is not None


def test_refused():
    """PSL."""
    with pytest.raises(UnsupportedError, match="PSL"):
        syntactic_class(parse("{a;b*}<>->c").spot)
