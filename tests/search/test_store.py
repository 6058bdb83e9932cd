"""The state store against a dictionary."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.runtime.kernels.rows import hash_row
from ltlpipe.search import store as stores
from ltlpipe.search.interning import intern
from ltlpipe.search.registers import N_REGISTERS, Reg
from ltlpipe.search.store import Store, find, home_slot, resize_slots


@njit
def call_intern(store, registers, rows, n, ids, hashes):
    """Look a batch of rows up as searches do."""
    intern(store, registers, rows, n, ids, hashes, ids, 0)


def empty_store(n_rows, n_words, n_slots):
    registers = np.zeros(N_REGISTERS, dtype=np.int64)
    registers[Reg.ID_BITS] = int(n_slots).bit_length()
    store = Store(
        rows=np.zeros((n_rows, n_words), dtype=np.uint64),
        slots=np.zeros(n_slots, dtype=np.uint32),
    )
    return store, registers


def look_up(store, registers, rows):
    n = len(rows)
    ids, hashes = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.uint64)
    call_intern(store, registers, rows, n, ids, hashes)
    return ids.tolist()


@given(
    st.integers(1, 3),
    st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=12), max_size=20),
    st.integers(100, 200),
)
def test_ids_are_those_of_a_dictionary(n_words, batches, n_slots):
    """Ids count up in order of first appearance, within batches too."""
    store, registers = empty_store(64, n_words, n_slots)
    known = {}
    for batch in batches:
        # Words that differ in one bit only, anywhere in the row.
        rows = np.array(
            [[1 << ((v + w) % 64) for w in range(n_words)] for v in batch],
            dtype=np.uint64,
        )
        expected = [known.setdefault(v, len(known)) for v in batch]
        assert look_up(store, registers, rows) == expected
    assert registers[Reg.STORED] == len(known)


@given(st.integers(0, 300), st.integers(410, 5000), st.integers(1, 310))
def test_rebuilt_slots_find_the_same_states(n_states, n_slots, block):
    """After a change of the table's size, with pauses, every row keeps its id."""
    store, registers = empty_store(310, 2, 420)
    rng = np.random.default_rng(n_states)
    rows = rng.integers(0, 2**63, size=(n_states, 2)).astype(np.uint64)
    before = look_up(store, registers, rows)
    with mock.patch.object(stores, "_BLOCK", block):
        pauses = len(list(resize_slots(store, registers, n_slots)))
    assert pauses == -(-int(registers[Reg.STORED]) // block)

    assert len(store.slots) == n_slots
    assert look_up(store, registers, rows) == before
    assert np.count_nonzero(store.slots) == registers[Reg.STORED]


@pytest.mark.parametrize("n_slots", [1 << 20, (1 << 20) + 7])
def test_rows_that_count_up_spread(n_slots):
    """Runs of occupied slots stay short for the rows that real systems have."""
    n = n_slots // 2
    store, registers = empty_store(n, 1, n_slots)
    look_up(store, registers, np.arange(n, dtype=np.uint64)[:, None] << np.uint64(3))
    empty = np.flatnonzero(store.slots == 0)

    assert np.diff(empty).max() < 100


@njit
def call_find(store, rows, id_bits):
    """Find the first row as searches do."""
    mixed = hash_row(rows, 0)
    return find(store.slots, store.rows, rows, 0, mixed, np.uint64(id_bits))


@njit
def call_home(rows, n_slots):
    return home_slot(hash_row(rows, 0), n_slots)


def rows_at(slot, n_slots, n):
    """Rows of two words, of which the first is the same, that begin at a slot."""
    found = []
    for second in range(1000):
        row = np.array([[7, second]], dtype=np.uint64)
        if call_home(row, n_slots) == slot:
            found.append(row)
        if len(found) == n:
            return found
    raise AssertionError


@pytest.mark.parametrize("slot", [0, 1])
def test_rows_of_one_slot_are_told_apart_by_all_words(slot):
    """Where the slots have no room for bits of hashes; what follows the last is 0."""
    store, _ = empty_store(4, 2, 2)
    first, second = rows_at(slot, 2, 2)
    store.rows[0] = first[0]
    store.slots[slot] = 1
    assert call_find(store, first, 32) == (slot, 0)
    assert call_find(store, second, 32) == (1 - slot, -1)
