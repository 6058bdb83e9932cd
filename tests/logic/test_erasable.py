"""Erasable formulas: examples, the definition on random words, and witnesses."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import FormulaError, UnsupportedError, is_erasable, is_interruptible
from ltlpipe.batch.task_sources import find_tasks
from ltlpipe.logic.erasable import erasure
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas

#: What docs/erasable.md says of formulas.
EXAMPLES = {
    "G(a -> F b)": True,
    "G(a -> X !a)": True,
    "GF !a": True,
    "G((a & X(!b U a)) -> FG c)": True,
    "F !a": True,
    "FG(a -> X !b)": True,
    "1": True,
    "0": True,
    "G(a -> X b)": False,  # a o b ... violates it, a b ... need not
    "X a": False,
    "a": False,
    "G a": False,
    "!G(a -> X !a)": False,  # not closed under negation
    "FG a": True,  # infinitely many others, or infinitely many other names
    "GF !a -> F(a & X b)": False,
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(text):
    """With a witness where it fails."""
    assert is_erasable(text) is EXAMPLES[text]
    assert (erasure(text) is None) is EXAMPLES[text]


#: Where benchmarks are, by default beside the checkout.
DEFAULT = Path(__file__).parents[2].parent / "shared" / "benchmarks"
RERS = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "rers" / "2017"


@pytest.mark.skipif(
    not RERS.is_dir(), reason=f"no benchmarks in {RERS} (LTLPIPE_BENCHMARKS)"
)
def test_formulas_of_rers_2017():
    """Nearly all are interruptible, and all erasable."""
    asked = [task.formula for task in find_tasks([RERS])]
    others = [formula for formula in asked if not is_interruptible(formula)]
    assert len(asked) == 160
    assert others
    assert all(map(is_erasable, others))


@pytest.mark.parametrize("seed", range(20))
def test_interruptible_formulas(seed):
    """They are erasable, whether or not their syntax tells."""
    text = random_interruptible(["a", "b", "c"], seed=seed, depth=3)
    assert erasure(text) is None


@given(formulas(max_leaves=5))
@settings(max_examples=examples(200))
def test_interruptible_formulas_are_erasable(text):
    """Also random ones."""
    if is_interruptible(text):
        assert erasure(text) is None


def random_word(rng, actions):
    letters = [*actions, "o", "o"]
    prefix = rng.choices(letters, k=rng.randrange(5))
    return Word(tuple(prefix), tuple(rng.choices(letters, k=rng.randint(1, 4))))


def random_erasure(rng, word, actions):
    """Repeat and delete other actions, not the same in each round of the cycle."""
    rounds = rng.randint(1, 2)

    def erased(letters, *, keep):
        for letter in letters:
            times = 1 if letter in actions else rng.choice([0, 0, 1, 1, 2, 3])
            yield from [letter] * times
        if keep:
            yield "o"

    prefix = [*word.prefix, *word.cycle * rng.randrange(3)]
    cycle = word.cycle * rounds
    others = any(letter not in actions for letter in cycle)
    result = list(erased(cycle, keep=False))
    if others and all(letter in actions for letter in result):
        # One of infinitely many has to stay, where it was.
        at = next(k for k, letter in enumerate(cycle) if letter not in actions)
        result = [
            *erased(cycle[:at], keep=True),
            *erased(cycle[at + 1 :], keep=False),
        ]
    return Word(tuple(erased(prefix, keep=False)), tuple(result))


def is_erasure(word, other, actions):
    """Whether `other` is an erasure of `word`, by places in both, for short words.

    A place of one and a place of the other are reached together; both have to be gone
    through for ever, without deleting all but finitely many other actions if `other`
    has infinitely many of them or `word` has.
    """
    letters = [[*w.prefix, *w.cycle] for w in (word, other)]
    sizes = [len(w) for w in letters]
    backs = [len(w.prefix) for w in (word, other)]

    def following(which, place):
        return place + 1 if place + 1 < sizes[which] else backs[which]

    def is_other(which, place):
        return letters[which][place] not in actions

    moves = {}
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            found = set()
            if is_other(0, i):
                found.add(((following(0, i), j), False))
                place = j
                for _ in range(sizes[1] + 1):
                    if not is_other(1, place):
                        break
                    place = following(1, place)
                    found.add(((following(0, i), place), True))
            elif letters[0][i] == letters[1][j]:
                found.add(((following(0, i), following(1, j)), True))
            moves[i, j] = found
    quiet = not any(a not in actions for a in other.cycle)
    if quiet and any(a not in actions for a in word.cycle):
        return False
    return _endless(moves)


def _endless(moves):
    """Whether some reachable cycle from (0, 0) has a step that reads both words."""
    reached, todo = {(0, 0)}, [(0, 0)]
    while todo:
        for pair, _ in moves[todo.pop()]:
            if pair not in reached:
                reached.add(pair)
                todo.append(pair)
    for start in reached:
        for pair, reads in moves[start]:
            if reads and start in _reach(moves, pair):
                return True
    return False


def _reach(moves, start):
    found, todo = {start}, [start]
    while todo:
        for pair, _ in moves[todo.pop()]:
            if pair not in found:
                found.add(pair)
                todo.append(pair)
    return found


def check_definition(text, rng, n_words):
    """Erasures of random violations are violations, or there is a witness."""
    tree = parse(text).spot
    actions = parse(text).propositions
    found = erasure(text)
    if found is not None:
        assert not satisfies(tree, found.violating)
        assert satisfies(tree, found.satisfying)
        assert is_erasure(found.violating, found.satisfying, actions)
        return
    for _ in range(n_words):
        word = random_word(rng, actions)
        if not satisfies(tree, word):
            other = random_erasure(rng, word, actions)
            assert is_erasure(word, other, actions)
            assert not satisfies(tree, other), (word, other)


@given(formulas(max_leaves=5), st.randoms(use_true_random=False))
@settings(max_examples=examples(300))
def test_definition(text, rng):
    """On random words."""
    check_definition(text, rng, 40)


@pytest.mark.slow
@given(formulas(max_leaves=7), st.randoms(use_true_random=False))
@settings(max_examples=examples(5000))
def test_definition_by_the_thousand(text, rng):
    """On more of them."""
    check_definition(text, rng, 200)


def test_what_is_no_erasure():
    """The check of witnesses can fail."""
    actions = ["a", "b"]
    word = Word(("a", "o"), ("b",))
    assert is_erasure(word, Word(("a",), ("b",)), actions)
    assert is_erasure(word, Word(("a", "o", "o"), ("b", "b")), actions)
    assert not is_erasure(word, Word(("o", "a"), ("b",)), actions)
    assert not is_erasure(word, Word(("a",), ("a",)), actions)
    assert not is_erasure(Word((), ("a", "o")), Word((), ("a",)), actions)
    assert is_erasure(Word((), ("a", "o")), Word((), ("a", "a", "o")), actions)


def test_refused():
    """What does not parse, and PSL."""
    with pytest.raises(FormulaError):
        is_erasable("a U")
    with pytest.raises(UnsupportedError, match="PSL"):
        is_erasable("{a;b*}<>->c")


def test_seeded_words():
    """The same for formulas whose shape is at the border of the class."""
    rng = random.Random(0)
    for text in EXAMPLES:
        check_definition(text, rng, 300)
