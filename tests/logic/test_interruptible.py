"""Interruptible formulas: the paper's examples, Theorem 1, and the definition.

Source: S. F. Siegel and Y. Yan, CAV 2020, Sec. 3.1 to 3.3.
"""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import (
    FormulaError,
    UnsupportedError,
    action_equivalent,
    intrpt,
    is_interruptible,
)
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.interruptible import witness
from ltlpipe.logic.words import Word, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.processes import SOON

#: Sec. 3.1, 3.3 and 6, with what the paper says.
EXAMPLES = {
    "G !a": True,
    "F a": True,
    "F(a & X F a)": True,
    "!F(a & X F a)": True,  # at most once
    "F(a & X F a) & !F(a & X F(a & X F a))": True,  # exactly twice
    "G(a -> F b)": True,
    "G(a -> ((!b) U c))": True,
    "G(a -> X((!b) U c))": True,  # Sec. 3.3
    "F(a | ((!b) W c))": True,  # Sec. 6
    "(a6 -> F a7) W (a7 | a88)": True,  # Fig. 3
    "a": False,
    "F !a": False,
    "G a": False,
    "X a": False,  # Sec. 3.3
    "G(a -> X b)": False,
    "G(a -> X(b U c))": False,
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_paper(text):
    """By the classes of Prop. 5, by automata, and by Theorem 1 as it stands."""
    assert is_interruptible(text) is EXAMPLES[text]
    assert (witness(text) is None) is EXAMPLES[text]
    assert action_equivalent(intrpt(text), text) is EXAMPLES[text]
    assert ("intrpt" in syntactic_class(parse(text).spot)) is EXAMPLES[text]


def literal_intrpt(text):
    """``intrpt`` letter by letter, with both clauses for X."""
    import spot

    formula = parse(text).spot
    # Before what follows, which turns a R G b into G b: a is visible all the same.
    names = [p.ap_name() for p in spot.atomic_prop_collect(formula) or ()]
    tree = formula.unabbreviate("FGRMWie^")  # what is left: & | ! X U
    seen = " | ".join(f'"{name}"' for name in names) or "0"

    def beta(node):
        kind = node.kindstr()
        if kind in ("tt", "ff"):
            return str(node)
        parts = [beta(child) for child in node]
        if kind == "ap":
            return f'(!({seen}) U "{node.ap_name()}")'
        if kind == "Not":
            return f"!({parts[0]})"
        if kind == "X":
            g = parts[0]
            return f"((!({seen}) U (({seen}) & X({g}))) | (G!({seen}) & X({g})))"
        sign = {"And": "&", "Or": "|", "U": "U"}[kind]
        return "(" + f" {sign} ".join(f"({part})" for part in parts) + ")"

    return beta(tree)


@given(formulas(max_leaves=4))
@example("(a R G(b))")
def test_shorter_intrpt_is_that_of_the_paper(text):
    """Remark 1 and the Boolean combinations change the form, not the meaning."""
    assert action_equivalent(intrpt(text), literal_intrpt(text))


@given(formulas(max_leaves=5))
def test_intrpt_is_interruptible_and_idempotent(text):
    """Theorem 1, part 1."""
    extended = intrpt(text)
    assert set(extended.propositions) <= set(parse(text).propositions)
    assert is_interruptible(extended)
    assert action_equivalent(intrpt(extended), extended)


@given(formulas(max_leaves=7))
def test_automata_agree_with_theorem_1(text):
    """Theorem 1, part 2, beside the way that is taken here."""
    by_theorem = action_equivalent(intrpt(text), text)
    assert is_interruptible(text) == by_theorem
    assert (witness(text) is None) == by_theorem


def check_definition(text, rng, n_words):
    """Def. 10 on random pairs of words, or a witness."""
    formula = parse(text)
    actions = formula.propositions
    if not is_interruptible(formula):
        found = witness(formula)
        assert satisfies(formula.spot, found.satisfying)
        assert not satisfies(formula.spot, found.violating)
        assert without_invisible(found.satisfying, actions) == without_invisible(
            found.violating, actions
        )
        return False
    for _ in range(n_words):
        one, other = agreeing_words(actions, rng)
        assert without_invisible(one, actions) == without_invisible(other, actions)
        assert satisfies(formula.spot, one) == satisfies(formula.spot, other)
    return True


def agreeing_words(actions, rng):
    """Two words with the same visible actions, invisible ones strewn in."""
    letters = list(actions) or ["x"]
    prefix = rng.choices(letters, k=rng.randrange(4)) if actions else []
    cycle = rng.choices(letters, k=rng.randrange(3)) if actions else []

    def strewn(part):
        spread = []
        for letter in part:
            spread += [*["x", "y"][: rng.choice([0, 0, 1, 2])], letter]
        return spread + ["y"] * rng.randrange(2)

    words = []
    for _ in range(2):
        turns = rng.randrange(3)  # unrolled
        words.append(
            Word(tuple(strewn(prefix + cycle * turns)), tuple(strewn(cycle) or ["x"]))
        )
    return words


def without_invisible(word, actions):
    """Return visible prefix (shortest) and visible cycle (primitive)."""
    prefix = [a for a in word.prefix if a in actions]
    cycle = [a for a in word.cycle if a in actions]
    for k in range(1, len(cycle) + 1):
        if len(cycle) % k == 0 and cycle == cycle[:k] * (len(cycle) // k):
            cycle = cycle[:k]
            break
    while prefix and cycle and prefix[-1] == cycle[-1]:
        prefix.pop()
        cycle = [cycle[-1], *cycle[:-1]]
    return prefix, cycle


@given(formulas(max_leaves=7), st.integers(0, 2**32))
@settings(max_examples=examples(300))
def test_definition_on_random_formulas(text, seed):
    """Words that agree on visible actions agree on interruptible formulas."""
    check_definition(text, random.Random(seed), 20)


@pytest.mark.parametrize("seed", range(60))
def test_definition_on_formulas_of_prop_5(seed):
    """The generator makes interruptible ones only."""
    text = random_interruptible(["a", "b", "c"], seed=seed)
    assert "intrpt" in syntactic_class(parse(text).spot)
    assert check_definition(text, random.Random(seed), 50)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_definition_on_thousands(seed):
    """As above: 1,000 random formulas for each seed, half of them by Prop. 5."""
    import spot

    rng = random.Random(seed)
    anything = spot.randltl(["a", "b", "c"], 500, tree_size=(3, 14), seed=seed)
    texts = [str(formula) for formula in anything]
    texts += [
        random_interruptible(["a", "b", "c"], seed=1000 * seed + k, depth=3)
        for k in range(500)
    ]
    for text in texts:
        assert check_definition(text, rng, 30) == action_equivalent(intrpt(text), text)


@pytest.mark.parametrize("inner", ["a", "(a U b)", "F a", "(a & X b)"])
def test_nested_next_does_not_explode(inner):
    """Each X adds one clause (Remark 1), not two copies of what it holds."""
    text = "X(" * 20 + inner + ")" * 20
    started = time.monotonic()
    assert len(intrpt(text).text) < 2000
    assert not action_equivalent(intrpt(text), text)
    assert not is_interruptible(text)
    assert time.monotonic() - started < SOON  # 0.05 s


def test_theorem_1_on_x_of_something_interruptible():
    """``X F a`` skips a first action that may be the only a."""
    found = witness("X F a")
    assert found is not None
    assert satisfies(parse("X F a").spot, found.satisfying)


def test_deep_formulas():
    """Thousands of operators are no recursion of ours."""
    deep = "X" * 4000 + "a"
    assert not is_interruptible(deep)


def test_formulas_without_actions():
    """They depend on nothing."""
    for text in ("1", "0", "X 1", "(0 U 1) xor 1"):
        assert is_interruptible(text)
        assert witness(text) is None
        assert action_equivalent(intrpt(text), text)


def test_actions_of_any_name():
    """Whatever the actions are called, there is another one."""
    found = witness('"other" & X "b c"')
    assert "other_" in found.satisfying.cycle + found.violating.prefix


@pytest.mark.parametrize("function", [intrpt, is_interruptible, witness])
def test_refused(function):
    """A formula that does not parse, and one of PSL."""
    with pytest.raises(FormulaError):
        function("a U")
    with pytest.raises(UnsupportedError, match="PSL"):
        function("{a;b*}<>->c")
