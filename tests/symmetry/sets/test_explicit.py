"""Automata over listed sets: properties 1 to 5, and what the operations promise."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.example_counts import at_least, examples
from tests.symmetry.sets.explicit import explicit_powerset, row_of, states_of
from tests.symmetry.sets.properties import Called, Underlying, assert_powerset
from tests.symmetry.sets.reference import random_sets


def explicit(sets, *, turn=0):
    """The automaton over sets whose operations the reference has in Python."""
    plain = sets.plain
    return explicit_powerset(
        plain.n_states,
        plain.transitions,
        sets.initial,
        sets.groups,
        n_marks=plain.n_marks,
        pieces=sets.pieces,
        turn=turn,
    )


def check(seed):
    """Check one random automaton; return what was seen."""
    sets = random_sets(random.Random(seed))
    plain = sets.plain
    underlying = Underlying(plain.initial, plain.steps, plain.n_marks)
    return assert_powerset(explicit(sets), states_of, underlying)


def test_random_ones_have_the_properties():
    """Def. 5 on 200 of them, and sets that include each other are among theirs."""
    seen = [check(seed) for seed in range(examples(200))]

    assert sum(s.inclusions > 0 for s in seen) >= at_least(100)
    assert sum(s.pieces > 0 for s in seen) >= at_least(100)


@pytest.mark.slow
def test_many_random_ones_have_the_properties():
    """Def. 5 on 2,000 more."""
    for seed in range(1000, 3000):
        check(seed)


@pytest.mark.parametrize("pieces", [False, True], ids=["one set", "several"])
def test_sets_of_several_words(pieces):
    """A ring of 150 states: each bit of three words is met."""
    n = 150
    ring = [(s, s % 2, (s + 1) % n) for s in range(n)]
    groups = [range(n), range(0, n, 3)]
    automaton = explicit_powerset(n, ring, [range(n)], groups, n_marks=1, pieces=pieces)
    called = Called(automaton)
    rows = called.successors(automaton.initial[0])
    even, odd = set(range(0, n, 2)), set(range(1, n, 2))
    thirds = set(range(0, n, 3))

    assert {(marks, states_of(row)) for marks, row in rows} == {
        (0, frozenset(odd)),
        (0, frozenset(odd & thirds)),
        (1, frozenset(even)),
        (1, frozenset(even & thirds)),
    }
    rest = called.decompose(automaton.initial[0], row_of(even, 3))
    assert frozenset().union(*map(states_of, rest)) == odd
    assert len(rest) == 1


def test_rows_and_sets():
    """Bit s % 64 of word s // 64 is state s."""
    row = row_of([0, 63, 64, 130], 3)

    assert row.tolist() == [1 | 1 << 63, 1, 4]
    assert states_of(row) == {0, 63, 64, 130}
    assert states_of(np.zeros(2, dtype=np.uint64)) == frozenset()


@pytest.mark.parametrize(
    ("initial", "groups", "message"),
    [
        ([], [{0, 1}], "initial sets"),
        ([{0}, set()], [{0, 1}], "initial sets"),
        ([{0}], [{0}], r"states in no group: \[1\]"),
    ],
)
def test_what_breaks_the_properties_is_refused(initial, groups, message):
    """No initial set, an empty one, and successors that would be lost."""
    with pytest.raises(ValueError, match=message):
        explicit_powerset(2, [(0, 0, 1)], initial, groups, n_marks=0)
