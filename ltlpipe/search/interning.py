"""Looking states up in a store, a batch of successors at a time.

First all slots are asked for, then the rows that the slots point to, then the
comparisons are made.  The waits for memory thus overlap, and the time per state hardly
grows with their number.

Where a store keeps rows as trees, what stands for a row, one word, takes the row's
place in all of this.  Kernels are compiled for each of the two apart: one without trees
holds none of their code.

**Trees** of shared parts take one word per state, whatever the rows' width. The words
of a row are the leaves of a tree. A word is kept once, under a number, and so is a pair
of numbers; the pair at the root stands for the row, and is what the store keeps of it.
Two states whose rows agree in a part share what is kept of that part: of n states there
are, where a row's halves vary on their own, only some times the square root of n
different halves.

A successor differs from its source in a few words.  The numbers of the parts of the row
that was unfolded last are remembered, so that only the words that differ, and the pairs
above them, are looked up in the table.  They are asked for ahead of time, those of all
successors of a state, or of several states.

Source: A. Laarman, J. van de Pol and M. Weber, "Parallel Recursive State Compression
for Free", SPIN 2011, LNCS 6823, pp. 38-56, Sec. 3 and, for what successors share,
Sec. 3.3.

Differences from the source: leaves are words of 64 bits, into which variables are
packed, and not variables; leaves and inner pairs have one table, where a word that
looks like a pair shares its number; roots lie in the store (`ltlpipe.search.store`),
where rows of one word lie as they are.  One search uses the table.

Invariant: ``row`` is the row whose parts have the numbers in ``known``, where these are
not negative.

Cost: with n_words words up to 2 n_words - 2 numbers for a row none of whose parts is
known, 8 bytes each, and 4 bytes per slot with 4 slots for 3 numbers or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit, prefetch, specialised
from ltlpipe.runtime.kernels.rows import hash_row, hash_word
from ltlpipe.search.registers import N_REGISTERS, Reg
from ltlpipe.search.store import (
    MAX_LOAD,
    Store,
    copy_row,
    find,
    find_or_add,
    home_slot,
    slot_entry,
)

_U32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

NOWHERE = 0xFFFFFFFF
"""Number of a part that is not in the table."""

FEWEST_WORDS = 2
"""Words of rows that can be kept as trees."""


class Tree(NamedTuple):
    """The parts of rows of k words, and what was unfolded last.

    Part 1 is the row, which is not in the table; the parts of p < k are 2p and 2p + 1,
    and part k + w is word w.
    """

    parts: Store  # of one word: a word of a row, or a pair of numbers
    registers: np.ndarray  # int64[N_REGISTERS], STORED and ID_BITS of the parts
    row: np.ndarray  # uint64[k], the row that was unfolded last
    known: np.ndarray  # int64[2 k], the numbers of its parts, or -1
    numbers: np.ndarray  # int64[b, 2 k], the same of b rows at a time
    word: np.ndarray  # uint64[1, 1], the part that is looked up


def new_tree(n_words: int, n_rows: int, batch: int) -> Tree:
    """Return a tree without parts, with room for some rows of so many words.

    At most `batch` rows are to be looked up at a time.
    """
    n_parts = n_rows * (2 * n_words - 2)
    slots = np.zeros(int(n_parts / MAX_LOAD) + 1, dtype=np.uint32)
    registers = np.zeros(N_REGISTERS, dtype=np.int64)
    registers[Reg.ID_BITS] = len(slots).bit_length()
    return Tree(
        parts=Store(np.zeros((n_parts, 1), dtype=np.uint64), slots),
        registers=registers,
        row=np.zeros(n_words, dtype=np.uint64),
        known=np.full(2 * n_words, -1, dtype=np.int64),
        numbers=np.full((batch, 2 * n_words), -1, dtype=np.int64),
        word=np.zeros((1, 1), dtype=np.uint64),
    )


def parts_per_row(tree: Tree) -> int:
    """Return the most parts of a row that can be new."""
    return len(tree.known) - 2


@specialised
def lacks_room(tree, batch):
    """Whether the table lacks room for the parts of so many rows more."""
    if tree is None:
        return False
    needed = tree.registers[Reg.STORED]
    needed += batch * (tree.known.shape[0] - 2)
    parts = tree.parts
    return needed > parts.rows.shape[0] or 4 * needed > 3 * parts.slots.shape[0]


@called
def note_parts(tree, rows, begin, end):
    """Note the numbers of what some of `rows` share with the row unfolded last.

    Words that they do not share are asked for ahead of time.
    """
    row, known, numbers, slots = tree.row, tree.known, tree.numbers, tree.parts.slots
    n_words, n_slots = row.shape[0], slots.shape[0]
    for i in range(begin, end):
        for w in range(n_words):
            word, number = rows[i, w], known[n_words + w]
            if word != row[w] or number < 0:
                number = np.int64(-1)
                prefetch(slots, home_slot(hash_word(word), n_slots))
            numbers[i, n_words + w] = number
        for part in range(n_words - 1, 1, -1):
            number = known[part]
            if numbers[i, 2 * part] < 0 or numbers[i, 2 * part + 1] < 0:
                number = np.int64(-1)
            numbers[i, part] = number


@called
def number_parts(tree, roots, rows, begin, end, adding):
    """Write what stands for rows, whose shared parts have been noted, to `roots`.

    It is a pair of numbers, one of which may be NOWHERE unless `adding`.
    """
    slots, known, numbers = tree.parts.slots, tree.parts.rows, tree.numbers
    registers, word = tree.registers, tree.word
    n_words, n_slots = rows.shape[1], slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    for i in range(begin, end):
        for w in range(n_words):
            if numbers[i, n_words + w] < 0:
                slot = np.uint64(slots[home_slot(hash_word(rows[i, w]), n_slots)])
                if slot != 0:
                    prefetch(known, np.int64(slot & id_mask) - 1)
    stored = registers[Reg.STORED]
    for i in range(begin, end):
        for part in range(2 * n_words - 1, 1, -1):
            if numbers[i, part] >= 0:
                continue
            if part >= n_words:
                value = rows[i, part - n_words]
            else:
                left, right = numbers[i, 2 * part], numbers[i, 2 * part + 1]
                if left == NOWHERE or right == NOWHERE:
                    numbers[i, part] = NOWHERE
                    continue
                value = (np.uint64(left) << _U32) | np.uint64(right)
            word[0, 0] = value
            mixed = hash_word(value)
            at, number = find(slots, known, word, 0, mixed, id_bits)
            if number < 0 and adding:
                number = stored
                stored += 1
                known[number, 0] = value
                slots[at] = slot_entry(mixed, number, id_bits)
            numbers[i, part] = number if number >= 0 else NOWHERE
        left, right = numbers[i, 2], numbers[i, 3]
        roots[i, 0] = (np.uint64(left) << _U32) | np.uint64(right)
    registers[Reg.STORED] = stored


@called
def unfold_row(tree, root):
    """Write the row that `root` stands for to ``tree.row``."""
    row, known, parts = tree.row, tree.known, tree.parts.rows
    n_words = row.shape[0]
    word = root
    for part in range(1, n_words):
        if part > 1:
            word = parts[known[part], 0]
        known[2 * part] = np.int64(word >> _U32)
        known[2 * part + 1] = np.int64(word & _LOW)
    for w in range(n_words):
        row[w] = parts[known[n_words + w], 0]


@specialised
def unfold(tree, rows, state, row):
    """Write the row of a state of the store to `row`."""
    if tree is None:
        for w in range(row.shape[0]):
            row[w] = rows[state, w]
    else:
        unfold_row(tree, rows[state, 0])
        for w in range(row.shape[0]):
            row[w] = tree.row[w]


@specialised
def folded(tree, roots, rows, n, adding):
    """Return what the store has for the first `n` of `rows`: them, or `roots`.

    Without `adding`, parts that are not known are not added, and then no row of the
    store is the same.
    """
    if tree is None:
        return rows
    note_parts(tree, rows, 0, n)
    number_parts(tree, roots, rows, 0, n, adding)
    return roots


@specialised
def folded_missing(tree, roots, rows, n, ids, hashes):
    """Do what `folded` does for those rows whose id is negative, and hash them anew."""
    if tree is None:
        return rows
    for i in range(n):
        if ids[i] < 0:
            note_parts(tree, rows, i, i + 1)
            number_parts(tree, roots, rows, i, i + 1, True)
            hashes[i] = hash_row(roots, i)
    return roots


@njit
def fold_rows(tree, rows, roots):
    """Write what stands for each row, for which there is room."""
    for i in range(rows.shape[0]):
        note_parts(tree, rows[i : i + 1], 0, 1)
        number_parts(tree, roots[i : i + 1], rows[i : i + 1], 0, 1, True)


@njit
def unfold_rows(tree, roots, rows):
    """Write the rows for which roots stand."""
    for i in range(rows.shape[0]):
        unfold_row(tree, roots[i, 0])
        for w in range(rows.shape[1]):
            rows[i, w] = tree.row[w]


@inlined
def row_of(product, store, state):
    """Return the row of a state, uint64[n_words]; the next call overwrites it."""
    unfold(store.tree, store.rows, state, product.row)
    return product.row


def rows_of(store: Store, ids: np.ndarray) -> np.ndarray:
    """Return the rows of states, uint64[n, n_words], ids int[n]."""
    rows = np.asarray(store.rows[ids])
    if store.tree is not None:
        roots, rows = rows, np.empty((len(ids), len(store.tree.row)), dtype=np.uint64)
        unfold_rows(store.tree, roots, rows)
    return rows


@inlined
def intern(store, registers, rows, n, ids, hashes, companion, shift):
    """Find or add the first `n` of `rows`, and write their ids to `ids`.

    rows uint64[k, n_words], ids int32[k], hashes uint64[k] with k >= n.  The
    caller has made sure of room for n more states, and is going to look at
    ``companion[id >> shift]``, which is asked for together with the rows.  If the store
    is shared, `registers` are the worker's.
    """
    # Taking an array out of a tuple costs a reference count: not in a loop.
    slots = store.slots
    known = store.rows
    keys = folded(store.tree, store.roots, rows, n, True)
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    id_mask = (np.uint64(1) << id_bits) - np.uint64(1)
    for i in range(n):
        mixed = hash_row(keys, i)
        hashes[i] = mixed
        ids[i] = -1
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        slot = np.uint64(slots[home_slot(hashes[i], n_slots)])
        if slot != 0:
            state = np.int64(slot & id_mask) - 1
            prefetch(known, state)
            prefetch(companion, state >> shift)
    enter_all(store.shared, slots, known, registers, keys, n, ids, hashes)


@specialised
def enter_all(shared, slots, known, registers, keys, n, ids, hashes):
    """Find or add what stands for those of `n` rows whose id is negative."""
    id_bits = np.uint64(registers[Reg.ID_BITS])
    if shared is not None:
        for i in range(n):
            ids[i] = find_or_add(slots, known, registers, keys, i, hashes[i], id_bits)
        return
    n_stored = registers[Reg.STORED]
    for i in range(n):
        if ids[i] >= 0:
            continue
        at, state = find(slots, known, keys, i, hashes[i], id_bits)
        if state < 0:  # it may stand twice in the batch
            state = n_stored
            n_stored += 1
            copy_row(keys, i, known, state)
            slots[at] = slot_entry(hashes[i], state, id_bits)
        ids[i] = state
    registers[Reg.STORED] = n_stored


@inlined
def lookup(store, registers, rows, n, ids, hashes, companion, shift):
    """Find the first `n` of `rows`; -1 in `ids` for those that are not stored.

    The arguments are those of `intern`.
    """
    slots = store.slots
    known = store.rows
    keys = folded(store.tree, store.roots, rows, n, False)
    n_slots = slots.shape[0]
    id_bits = np.uint64(registers[Reg.ID_BITS])
    for i in range(n):
        mixed = hash_row(keys, i)
        hashes[i] = mixed
        prefetch(slots, home_slot(mixed, n_slots))
    for i in range(n):
        _, state = find(slots, known, keys, i, hashes[i], id_bits)
        ids[i] = state
        if state >= 0:
            prefetch(companion, state >> shift)


@inlined
def store_missing(store, registers, rows, n, ids, hashes):
    """Add those of the first `n` of `rows` that `lookup` has not found.

    Their ids, -1 so far, are written to `ids`.
    """
    keys = folded_missing(store.tree, store.roots, rows, n, ids, hashes)
    enter_all(None, store.slots, store.rows, registers, keys, n, ids, hashes)
