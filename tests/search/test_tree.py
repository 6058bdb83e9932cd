"""Rows kept as trees: the same rows, the same searches."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check
from ltlpipe.families.networks import philosophers
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.catalogue import OF_WORKERS, SEARCHES, SHARED
from ltlpipe.search.interning import (
    fold_rows,
    intern,
    lookup,
    new_tree,
    rows_of,
    store_missing,
)
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from ltlpipe.search.store import Store, resize_slots
from ltlpipe.systems import fields
from tests.complete_searches import Limits, drive
from tests.cross.test_agreement import SMALL, ask
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.search.explicit_automata import (
    automata,
    outcome_of,
    problem_of,
    replay,
    suits,
)
from tests.search.test_driver import search_of

NAMES = sorted(set(SEARCHES) - (SHARED - set(OF_WORKERS)))
"""Searches by one worker that store single states."""

USUAL = ["se05", "couvreur99", "tela"]
OTHERS = [
    pytest.param(name, marks=pytest.mark.thorough("compiles each search once more"))
    for name in NAMES
    if name not in USUAL
]

ROOM = 4000


@njit
def call_intern(store, registers, rows, n, ids, hashes):
    intern(store, registers, rows, n, ids, hashes, ids, 0)


@njit
def call_lookup(store, registers, rows, n, ids, hashes):
    lookup(store, registers, rows, n, ids, hashes, ids, 0)


@njit
def call_store_missing(store, registers, rows, n, ids, hashes):
    store_missing(store, registers, rows, n, ids, hashes)


def tree_store(first, batch):
    """A store that keeps rows as trees and has the first one."""
    tree, roots = new_tree(len(first), 1, batch), np.zeros((1, 1), dtype=np.uint64)
    fold_rows(tree, first[np.newaxis], roots)
    tree.parts.rows.resize((ROOM, 1), refcheck=False)
    for _ in resize_slots(tree.parts, tree.registers, 2 * ROOM):
        pass
    registers = np.zeros(N_REGISTERS, dtype=np.int64)
    store = Store(
        rows=np.zeros((ROOM, 1), dtype=np.uint64),
        slots=np.zeros(0, dtype=np.uint32),
        tree=tree,
        roots=np.zeros((batch, 1), dtype=np.uint64),
    )
    store.rows[0] = roots
    registers[Reg.STORED] = 1
    for _ in resize_slots(store, registers, 2 * ROOM):
        pass
    return store, registers


def batches_of(rng, n_words):
    """Batches of rows that often differ from one before in a word or two only."""
    values = rng.integers(0, 2**63, int(rng.integers(2, 6)), dtype=np.uint64)
    values[0] = 0
    row = rng.choice(values, n_words)
    yield row[np.newaxis]
    for _ in range(30):
        batch = np.repeat(row[np.newaxis], int(rng.integers(1, 9)), axis=0)
        for changed in batch:
            for _ in range(rng.integers(0, 3)):
                changed[rng.integers(n_words)] = rng.choice(values)
        yield batch
        row = batch[rng.integers(len(batch))]


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("n_words", [2, 3, 4, 5, 7, 8, 13])
@pytest.mark.parametrize("seed", range(5))
def test_ids_are_those_of_a_dictionary(n_words, seed):
    """By all ways to look rows up; and rows come out as they went in."""
    rng = np.random.default_rng([seed, n_words])
    batches = list(batches_of(rng, n_words))
    store, registers = tree_store(batches[0][0], 8)
    known = {tuple(batches[0][0].tolist()): 0}
    for batch in batches:
        n = len(batch)
        ids, hashes = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.uint64)
        given = store, registers, batch, n, ids, hashes
        keys = [tuple(row) for row in batch.tolist()]
        if rng.integers(2):
            before = int(store.tree.registers[Reg.STORED])
            call_lookup(*given)
            assert ids.tolist() == [known.get(key, -1) for key in keys]
            assert store.tree.registers[Reg.STORED] == before
            call_store_missing(*given)
        else:
            call_intern(*given)
        assert ids.tolist() == [known.setdefault(key, len(known)) for key in keys]
    assert registers[Reg.STORED] == len(known)
    rows = rows_of(store, np.arange(len(known)))
    assert list(map(tuple, rows.tolist())) == list(known)


def compressed(name, automaton, budget, *, compress):
    """Search the product of an automaton and clocks, in rows of several words."""
    with mock.patch.object(fields, "_WORD_BITS", 2):
        problem = problem_of(automaton, periods=(2, 3, 2, 3))
    assert problem.initial.shape[0] >= 3
    search = SEARCHES[name]()(replace(problem, compress=compress))
    assert (search.store.tree is not None) == compress
    return outcome_of(search, budget)


def assert_trees_change_nothing(name, data, budget):
    weak = name in ("dfs-weak", "reach-terminal")
    automaton = data.draw(automata(max_states=12, state_based=weak, weak=weak))
    if not suits(name, automaton):
        automaton = data.draw(automata(max_states=12, state_based=True))
    trees = compressed(name, automaton, budget, compress=True)

    assert trees == compressed(name, automaton, None, compress=False)
    assert (trees.status == Status.FOUND) == automaton.has_accepting_cycle()
    if trees.prefix is not None:
        replay(automaton, trees.prefix, trees.cycle)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("name", USUAL + OTHERS)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(60), deadline=None)
def test_trees_change_nothing(name, data, budget):
    """Status, figures, statistics and lasso are those of plain rows, cut anywhere."""
    assert_trees_change_nothing(name, data, budget)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), budget=st.none() | st.integers(1, 9))
@settings(max_examples=examples(1_000), deadline=None)
def test_trees_change_nothing_by_the_thousand(name, data, budget):
    assert_trees_change_nothing(name, data, budget)


@contextmanager
def narrow_words():
    """Rows of several words for small systems, too."""
    with mock.patch.object(fields, "_WORD_BITS", 3):
        yield


WAYS = [
    {"emptiness": "se05", "acceptance": "ba"},
    {"emptiness": "se05", "acceptance": "ba", "reduce": "ample"},
    {"emptiness": "se05", "acceptance": "ba", "reduce": "ample", "red_ample": "stored"},
    {"emptiness": "couvreur99", "reduce": "ample"},
    {"emptiness": "couvreur99", "reduce": "ample", "ample_sets": "components"},
    {"emptiness": "tela", "acceptance": "tela"},
]


@given(SMALL, formulas())
@settings(max_examples=examples(60), deadline=None)
def test_questions_have_the_same_answers(network, formula):
    """With ample sets, too; lassos are replayed by `check`."""
    for way in WAYS:
        options = {"reduce": "none", **way}
        try:
            plain = ask(network, formula, **options)
        except UnsupportedError:
            continue
        with narrow_words():
            trees = ask(network, formula, compress=True, **options)
        assert (trees.verdict, trees.stats.states) == (
            plain.verdict,
            plain.stats.states,
        )


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("memory_mib", [0.5, 2, 7])
def test_memory_stays_below_the_limit(name, memory_mib):
    """With trees, too; and the search goes on where it has ended."""
    with mock.patch.object(fields, "_WORD_BITS", 6):
        plain = search_of(name, 9)
    search = SEARCHES[name]()(replace(plain.problem, compress=True))
    assert drive(search, Limits(memory_mib=memory_mib)).reason == "memory"

    assert search.store.tree is not None
    assert memory_mib / 2 < search.memory_bytes / MIB <= memory_mib
    before = int(search.registers[Reg.VISITED])
    outcome = drive(search, Limits(max_states=before + 1000))
    assert outcome.reason == "max-states"
    assert search.registers[Reg.VISITED] == before + 1000


def test_wide_rows_take_less_memory():
    """Rows of 9 words: one word each, and a few parts."""
    n = 9
    with mock.patch.object(fields, "_WORD_BITS", 3):
        problem = search_of("se05", n).problem
    sizes = {}
    for compress in (False, True):
        search = SEARCHES["se05"]()(replace(problem, compress=compress))
        drive(search, Limits(max_states=100_000))
        sizes[compress] = search.memory_bytes
    assert problem.initial.shape[0] >= n
    assert sizes[True] < sizes[False] / 2.5


@pytest.mark.parametrize(
    "options",
    [
        {"bitstate": 1.0},
        {"compact": 64},
        {"workers": 2},
        *({"emptiness": name} for name in ("ufscc", "decoupled-scc", "iec")),
    ],
    ids=lambda options: "-".join(map(str, itertools.chain(*options.items()))),
)
def test_what_keeps_no_rows_of_its_own(options):
    with pytest.raises(UnsupportedError, match="compress"):
        check(philosophers(3), empty=True, compress=True, **options)
