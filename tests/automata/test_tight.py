"""Tight automata: the same words, and each in as many steps as it has."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ltlpipe.automata.conditions import Op, conjunction, disjunction, fin, inf
from ltlpipe.automata.letters import PropertyAutomaton, universal
from ltlpipe.automata.tight import tight
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies import instant
from ltlpipe.systems.plain_steps import PlainStep, PlainSteps
from tests.example_counts import examples

SEEDS = st.integers(0, 1 << 30)
LONGEST = 4


def condition_over(rng, n_marks, depth=2):
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([inf, fin])(rng.randrange(n_marks))
    join = rng.choice([conjunction, disjunction])
    return join([condition_over(rng, n_marks, depth - 1) for _ in range(2)])


def automaton(rng):
    """A random automaton of any acceptance."""
    n, n_letters = rng.randint(1, 3), rng.randint(1, 2)
    n_marks, density = rng.choice([0, 1, 1, 2, 3]), rng.choice([0.2, 0.3, 0.4])
    cells = [
        [
            (dst, sum(1 << mark for mark in range(n_marks) if rng.random() < 0.4))
            for dst in range(n)
            if rng.random() < density
        ]
        for _ in range(n * n_letters)
    ]
    condition = None
    if n_marks and rng.random() < 0.4:
        condition = condition_over(rng, n_marks)
        if condition.op in (Op.TRUE, Op.FALSE) or condition.n_marks < n_marks:
            condition = None
    return PropertyAutomaton(
        n_states=n,
        initial=0,
        n_letters=n_letters,
        first_edge=np.cumsum([0, *map(len, cells)]).astype(np.int32),
        edge_dst=np.array([d for c in cells for d, _ in c], dtype=np.int32),
        edge_marks=np.array([m for c in cells for _, m in c], dtype=np.uint32),
        n_marks=n_marks,
        state_based=False,
        condition=condition,
    )


def is_primitive(word, k):
    """Whether a prefix of length k, and the cycle behind it, have no shorter form."""
    cycle = word[k:]
    powers = (cycle[:d] * (len(cycle) // d) for d in range(1, len(cycle)))
    return cycle not in powers and not (k and word[k - 1] == word[-1])


class Word(PlainSteps):
    """A word as a system with one step in each state, which is a place in it."""

    def __init__(self, letters, length):
        self._letters, self._length = letters, length

    def initial(self):
        return 0

    def each_step(self, state, wanted=None):
        del wanted  # it has no name
        following = state + 1
        if following == len(self._letters):
            following = self._length
        yield PlainStep(state, self._letters[state], 0, following)


def assert_tight(seed):
    """Words are accepted as before, by lassos as long as they are themselves."""
    rng = random.Random(seed)
    given_automaton = automaton(rng)
    found = complete(tight(given_automaton, 300))
    if found is None:
        event("too large")
        return
    words = [
        (word, k)
        for length in range(1, LONGEST + 1)
        for word in product(range(given_automaton.n_letters), repeat=length)
        for k in range(length)
        if is_primitive(word, k)
    ]
    for word, k in rng.sample(words, min(20, len(words))):
        system = Word(word, k)
        known = complete(instant.search(instant.Moves(system, given_automaton)))
        table, starts = found
        made = complete(
            instant.search(
                instant.Moves(system, table), max_states=99_999, starts=starts
            )
        )
        assert made.status == known.status
        if made.run is not None:
            length = len(made.run.actions)
            assert length >= len(word)
            assert length == len(word) or not made.is_shortest
            event(f"proved: {made.is_shortest}")


@given(SEEDS)
@settings(max_examples=examples(60))
def test_random_automata(seed):
    assert_tight(seed)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=examples(3000))
def test_random_automata_by_the_thousand(seed):
    assert_tight(seed)


def test_an_automaton_that_is_tight_is_left_alone():
    """One state comes back to itself whenever the cycle begins."""
    table = universal()
    found = complete(tight(table))
    assert (found.table, found.starts) == (table, (0,))


def test_the_limit():
    """An automaton without structure has too many rounds."""
    n = 7
    everywhere = np.tile(np.arange(n, dtype=np.int32), 2 * n)
    table = PropertyAutomaton(
        n_states=n,
        initial=0,
        n_letters=2,
        first_edge=np.arange(2 * n + 1, dtype=np.int32) * n,
        edge_dst=everywhere,
        edge_marks=(np.arange(len(everywhere)) % 2).astype(np.uint32),
        n_marks=1,
        state_based=False,
    )
    assert complete(tight(table, 100)) is None


@pytest.mark.parametrize("n", [12, 90])
def test_states_that_accept_nothing_are_in_no_rounds(n):
    """The ways through them are as many as they have permutations."""
    cells = [[(1, 1), *((k, 0) for k in range(2, n))], [(1, 1)]]
    cells += [
        [(2 + (q - 1) % (n - 2), 0), (2 + q * 3 % (n - 2), 0)] for q in range(2, n)
    ]
    table = PropertyAutomaton(
        n_states=n,
        initial=0,
        n_letters=1,
        first_edge=np.cumsum([0, *map(len, cells)]).astype(np.int32),
        edge_dst=np.array([d for c in cells for d, _ in c], dtype=np.int32),
        edge_marks=np.array([m for c in cells for _, m in c], dtype=np.uint32),
        n_marks=1,
        state_based=False,
    )
    found = complete(tight(table))
    assert found.table.n_states <= n + 2
