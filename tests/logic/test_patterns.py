"""The catalogue of patterns: each says what its name and scope say.

Words end with one action for ever; what a pattern means is computed on the parts
of the word that its scope cuts out, without any formula.
"""

from __future__ import annotations

import random
import re
from itertools import islice, pairwise
from pathlib import Path

import pytest

from ltlpipe import UnsupportedError, is_interruptible
from ltlpipe.logic.classes import syntactic_class
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.generating import catalogue as shipped
from ltlpipe.logic.generating import formula_set, instances
from ltlpipe.logic.words import Word, satisfies

FILE = Path(__file__).parents[2] / "formulas" / "patterns.ltl"
TAIL = 5  # repetitions of the last action that stand for all


def catalogue():
    """Map (pattern, scope) to the formula below this comment."""
    lines = FILE.read_text().splitlines()
    found = {}
    for comment, line in pairwise(lines):
        if (named := re.fullmatch(r"# ([^,]+), (.+)", comment)) and line[:1] != "#":
            found[named.groups()] = line
    return found


CATALOGUE = catalogue()


def parts(scope, word):
    """The parts of a word in a scope: the events, and whether they go on for ever."""
    if scope == "global":
        return [word]
    if scope == "before r":
        return [word[: word.index("r")]] if "r" in word else []
    starts = [i + 1 for i, action in enumerate(word) if action == "q"]
    if scope == "after q":
        return [word[i:] for i in starts[:1]]
    ends = [word.index("r", i) if "r" in word[i:] else None for i in starts]
    if scope == "between q and r":
        return [word[i:j] for i, j in zip(starts, ends, strict=True) if j is not None]
    assert scope == "after q until r"
    return [word[i:j] for i, j in zip(starts, ends, strict=True)]


def after(word, *chain):
    """Whether a chain of actions occurs in a word, in this order."""
    for action in chain:
        if action not in word:
            return False
        word = word[word.index(action) + 1 :]
    return True


def before(word, action):
    return word[: word.index(action)] if action in word else None


def behind(word, action):
    """What follows each occurrence of an action."""
    return [word[i + 1 :] for i, a in enumerate(word) if a == action]


def precedence_1_2(part):
    for i, action in enumerate(part):
        if action == "s" and "t" in part[i + 1 :]:
            return "p" in part[:i]
    return True


MEANINGS = {
    "absence": lambda w: "p" not in w,
    "universality": lambda w: set(w) <= {"p"},
    "existence": lambda w: "p" in w,
    "bounded existence": lambda w: w.count("p") <= 2,
    "precedence": lambda w: "p" not in w or "s" in before(w, "p"),
    "response": lambda w: all("s" in rest for rest in behind(w, "p")),
    "precedence chain 2-1": lambda w: "p" not in w or after(before(w, "p"), "s", "t"),
    "precedence chain 1-2": precedence_1_2,
    "response chain 2-1": lambda w: all(
        "t" not in rest or after(rest, "t", "p") for rest in behind(w, "s")
    ),
    "response chain 1-2": lambda w: all(after(v, "s", "t") for v in behind(w, "p")),
    "constrained chain 1-2": lambda w: all(
        any("t" in rest and "z" not in before(rest, "t") for rest in behind(v, "s"))
        for v in behind(w, "p")
    ),
}
SCOPES = ["global", "before r", "after q", "between q and r", "after q until r"]


def test_every_pattern_in_every_scope():
    """And nothing else in the file."""
    assert set(CATALOGUE) == {(p, s) for p in MEANINGS for s in SCOPES}
    assert [f.text for f in read_formulas(FILE)] == list(CATALOGUE.values())


@pytest.mark.parametrize(("pattern", "scope"), CATALOGUE)
def test_meaning(pattern, scope):
    """On random words; each formula holds of some and not of others."""
    tree = parse(CATALOGUE[pattern, scope]).spot
    rng = random.Random(f"{pattern} {scope}")
    seen = set()
    for _ in range(800):
        letters = rng.choice(["pqrstzx", "pqr", "pppqr", "qpstz", "pqrst", "str"])
        events = rng.choices(letters, k=rng.randrange(9))
        last = rng.choice([*"xxxpstq", *events])
        word = events + TAIL * [last]
        expected = all(MEANINGS[pattern](part) for part in parts(scope, word))
        assert satisfies(tree, Word(tuple(events), (last,))) == expected, word
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize(("pattern", "scope"), CATALOGUE)
def test_interruptible(pattern, scope):
    """All but universality, as Siegel & Yan 2020 say of most that arise."""
    formula = parse(CATALOGUE[pattern, scope])
    assert is_interruptible(formula) is (pattern != "universality")
    if pattern != "universality":
        assert "intrpt" in syntactic_class(formula.spot)


def test_the_catalogue_at_run_time():
    """All of the file."""
    found = {(p.name, p.scope): p.template for p in shipped()}
    assert list(found.items()) == list(CATALOGUE.items())


def test_instances():
    """Different ones, of all patterns with two to four letters but universality."""
    texts = list(islice(instances([*"abcd", "X", "e f"], seed=3), 300))

    assert len(set(texts)) == 300
    assert texts == list(islice(instances([*"abcd", "X", "e f"], seed=3), 300))
    assert texts != list(islice(instances([*"abcd", "X", "e f"], seed=4), 300))
    for text in texts:
        visible = parse(text).propositions
        assert 2 <= len(visible) <= 4
        assert set(visible) <= {*"abcd", "X", "e f"}
        assert "intrpt" in syntactic_class(parse(text).spot)
    suited = [p for p in shipped() if 2 <= len(p.letters) <= 4]
    forms = {p.template for p in suited if p.name != "universality"}
    assert {re.sub('[a-d]|"(X|e f)"', "?", t) for t in texts} == {
        re.sub("[pqrstz]", "?", t) for t in forms
    }


def test_instances_end():
    """Where there are no more; all of two actions are found."""
    expected = {
        p.instance(order)
        for p in shipped()
        for order in ("ab", "ba")
        if len(p.letters) == 2 and p.name != "universality"
    }
    assert sorted(instances("ab", seed=1)) == sorted(expected)
    with pytest.raises(UnsupportedError, match="1 actions, expected at least 2"):
        instances(["a", "a"], seed=0)


def test_sets_of_instances():
    """With the pattern that is not interruptible, if that is allowed."""
    texts = formula_set(200, "abcdef", seed=1)
    assert len(set(texts)) == 200
    assert texts != formula_set(200, "abcdef", seed=2)
    assert formula_set(0, "ab") == []
    with pytest.raises(UnsupportedError, match="-1 formulas, expected 0 or more"):
        formula_set(-1, "ab")
    assert not all(map(is_interruptible, texts))
    assert all(map(is_interruptible, formula_set(60, "abc", interruptible=True)))
    with pytest.raises(UnsupportedError, match="over 2 actions; use more actions"):
        formula_set(1_000, "ab")
