"""Tables of visited members against sets of tuples."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.decoupled.boxes import (
    COVERED,
    MOST_COMBINATIONS,
    NEW,
    TOO_LARGE,
    BoxSearch,
    list_entries,
    look_up_members,
)
from ltlpipe.decoupled.composition import WORD_BITS, Block, place_sets, row_length
from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
from ltlpipe.families.networks import random_network
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.registers import Status
from ltlpipe.verdict.lasso import Lasso
from tests.complete_searches import Limits, drive, replay_run
from tests.decoupled.jobs import decoupled_of, extracted
from tests.decoupled.reference import Members
from tests.oracles import compose

SIZES = [[2, 3], [1], [5], [70, 70], [3]]
"""Local states of the blocks of each component."""

ENTRIES = [
    [(block, state) for block, size in enumerate(sizes) for state in range(size)]
    for sizes in SIZES
]


@njit
def looked_up(members, rows, marking):
    """What a look-up finds; called from Python."""
    n_combinations = list_entries(members, rows, 0)
    if n_combinations > MOST_COMBINATIONS:
        return TOO_LARGE
    return look_up_members(members, rows, 0, marking)


def found_in(search, rows, marking):
    """What a look-up in a table finds."""
    return looked_up(search.members, rows, marking)


def with_table(components, ordered=None):
    """Boxes with a table of members."""
    search = BoxSearch(components, ordered)
    search.add_table(math.inf)
    return search


def placed(sizes):
    """The blocks of components, and the words of a row."""
    blocks = place_sets([size for component in sizes for size in component])
    ends = np.cumsum([0, *map(len, sizes)])
    return [blocks[a:b] for a, b in pairwise(ends)], row_length(blocks)


def row_of(components, n_words, box):
    """The row of a box."""
    row = np.zeros((1, n_words), dtype=np.uint64)
    for blocks, entries in zip(components, box, strict=True):
        for block, state in entries:
            bit = blocks[block].shift + state
            word = blocks[block].first_word + bit // WORD_BITS
            row[0, word] |= np.uint64(1 << bit % WORD_BITS)
    return row


BOXES = st.tuples(
    *(st.sets(st.sampled_from(entries), min_size=1, max_size=6) for entries in ENTRIES)
)


@given(st.lists(st.tuples(BOXES, st.booleans()), max_size=20))
def test_new_members_are_those_that_were_not_visited(lookups):
    """What is new is boxed in, and visited from then on, if it is to be marked."""
    components, n_words = placed(SIZES)
    table = with_table(components)
    plain = Members()
    for box, marking in lookups:
        before = set(plain.visited)
        new = plain.new_in(box)
        if not marking:
            plain.visited = before
        rows = row_of(components, n_words, box)
        found = found_in(table, rows, marking)
        assert found == (COVERED if new is None else NEW)
        assert np.array_equal(rows, row_of(components, n_words, new or box))
    n_marked = np.unpackbits(table.members.bits.view(np.uint8)).sum()
    assert n_marked == len(plain.visited)


def test_one_component():
    """All members are in the words of the only component."""
    components, n_words = placed([[80]])
    table = with_table(components)
    rows = row_of(components, n_words, [[(0, 1), (0, 70)]])
    assert found_in(table, rows, True) == NEW
    rows = row_of(components, n_words, [[(0, 1), (0, 70), (0, 79)]])
    assert found_in(table, rows, True) == NEW
    assert np.array_equal(rows, row_of(components, n_words, [[(0, 79)]]))
    assert found_in(table, rows, True) == COVERED


def test_too_many_combinations():
    """Boxes that are too large are not looked up."""
    components, n_words = placed([[32], [32], [32], [33]])
    table = with_table(components)
    whole = [[(0, k) for k in range(n)] for n in (32, 32, 32, 33)]
    rows = row_of(components, n_words, whole)
    assert found_in(table, rows, True) == TOO_LARGE
    assert not table.members.bits.any()


@pytest.mark.parametrize(
    ("sizes", "free", "n_words"),
    [
        ([[60]] * 4, math.inf, 60**3),
        ([[60]] * 4, 8 * 60**3, 0),  # room for one, and for nothing else
        ([[60]] * 6, math.inf, 0),
        ([[30, 40], [50], [60]], math.inf, 50 * 60 * 2),
    ],
)
def test_words_of_a_table(sizes, free, n_words):
    """There is one as long as it fits in, and as long as there is memory."""
    table = BoxSearch(placed(sizes)[0])
    table.add_table(free)
    assert len(table.members.bits) == n_words


def test_the_product_covers():
    """Two boxes cover a third that neither dominates."""
    components, n_words = placed([[2], [2], [2]])
    table = with_table(components)
    for box, found in [
        ([{0, 1}, {0}, {0, 1}], NEW),
        ([{0, 1}, {1}, {0, 1}], NEW),
        ([{0}, {0, 1}, {1}], COVERED),
    ]:
        named = [list(product([0], states)) for states in box]
        rows = row_of(components, n_words, named)
        assert found_in(table, rows, True) == found


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_the_members_are_the_reachable_states(seed, ratio):
    """All of them, and no others, if nothing accepts."""
    network = random_network(3, seed=seed, n_states=(6, 14), local_ratio=ratio)
    decoupled = decoupled_of(network)
    nothing = np.zeros_like(decoupled.initial)
    tables = decoupled.tables._replace(accepting=nothing, references=nothing)
    search = DecoupledNDFS(decoupled._replace(tables=tables))
    search.outer.add_table(math.inf)
    assert drive(search, Limits()).status == Status.EMPTY
    expected = set(compose(network)[0])
    for state in product(*(states.tolist() for states in decoupled.local_states)):
        visited = (decoupled.pack(state) & ~decoupled.initial == 0).all()
        if not visited:
            rows = decoupled.pack(state)[np.newaxis].copy()
            visited = found_in(search.outer, rows, False) == COVERED
        assert visited == (state in expected)


@pytest.mark.parametrize("ratio", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_answers_of_searches_with_a_table(seed, ratio):
    """Those of an explicit search, with runs that are replayed."""
    network = random_network(
        3, seed=seed, n_states=(12, 24), local_ratio=ratio, accepting_ratio=0.1
    )
    search = DecoupledNDFS(decoupled_of(network))
    for boxes in (search.outer, search.inner):
        boxes.add_table(math.inf)
    status = drive(search, Limits()).status
    explicit = check(network, empty=True, emptiness="couvreur99", reduce="none")
    assert (status == Status.EMPTY) == (explicit.verdict == "holds")
    if status == Status.FOUND:
        actions, states, length = extracted(network, search)
        names = [network.actions[a].name for a in actions]
        replay_run(network, Lasso(names[:length], names[length:], actions, states))


LEVELS = 6

LEVELLED = st.tuples(BOXES, st.integers(0, LEVELS - 1))


@given(st.lists(st.tuples(LEVELLED, st.booleans()), max_size=20))
def test_an_ordered_component(lookups):
    """What has been visited on a level has been visited on all levels below."""
    components, n_words = placed(SIZES)
    ordered = Block(n_words, 1, 0, LEVELS)
    table = with_table(components, ordered)
    highest = {}
    for (box, level), marking in lookups:
        new = [s for s in product(*box) if highest.get(s, -1) < level]
        rows = np.zeros((1, n_words + 1), dtype=np.uint64)
        rows[:, :-1] = row_of(components, n_words, box)
        rows[0, -1] = (1 << level + 1) - 1
        assert found_in(table, rows, marking) == (NEW if new else COVERED)
        if new:
            around = [set(states) for states in zip(*new, strict=True)]
            assert np.array_equal(rows[:, :-1], row_of(components, n_words, around))
            assert rows[0, -1] == 1 << level
        if marking:
            highest.update(dict.fromkeys(new, level))
    n_marked = np.unpackbits(table.members.bits.view(np.uint8)).sum()
    assert n_marked == sum(level + 1 for level in highest.values())
