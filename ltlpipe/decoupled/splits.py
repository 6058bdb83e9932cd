"""Split decoupled states: what each component reaches from each reference state.

A split state is a row of 64-bit words again.  A *block* is a component with one of its
accepting local states, its reference; the bits of a block are the local states that
are reached from the reference.  A block is empty if its state is no reference of this
inner search, or reaches nothing any more.  One split state dominates another iff its
row includes the other's.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 4 and 5, Lemma 2.

Differences from the source: a reference from which nothing is reached any more does not
count as a reference when dominance is decided.  It cannot come back, and the proof of
Theorem 4 needs only the references of the cycle that is missed; so more is pruned.

Cost: one bit per local state and accepting local state of its component; n * n bits for
a component of n states without acceptance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ltlpipe.decoupled.members import Block
from ltlpipe.decoupled.tables import WORD_BITS, DecoupledNetwork, place_sets
from ltlpipe.runtime.kernels.jit import inlined, trailing_zeros

_ONE = np.uint64(1)


class Splits(NamedTuple):
    """Where the blocks lie: k blocks, sorted by component, n components."""

    first_block: np.ndarray  # int64[n + 1], the blocks of each component
    reference: np.ndarray  # int64[k], the reference's bit in its component's words
    first_word: np.ndarray  # int64[k], the first word of each block
    shift: np.ndarray  # uint64[k], its first bit in that word
    mask: np.ndarray  # uint64[k], its bits in any of its words
    component_shift: np.ndarray  # uint64[n], `Decoupled.shift` for shifting


def split_tables(network: DecoupledNetwork) -> tuple[Splits, int]:
    """Return the places of all blocks, and the number of words of a split state."""
    tables = network.tables
    names = network.local_states
    accepting = network.unpack(tables.references)
    owners: list[int] = []
    references: list[int] = []
    first_block = [0]
    for i, states in enumerate(names):
        for k, state in enumerate(states.tolist()):
            if state in accepting[i]:
                owners.append(i)
                references.append(int(tables.shift[i]) + k)
        first_block.append(len(owners))
    sizes = [len(names[i]) for i in owners]
    places = place_sets(sizes)
    full = (1 << WORD_BITS) - 1
    masks = [
        ((1 << size) - 1) << shift if size <= WORD_BITS else full
        for size, shift in zip(sizes, places.shift, strict=True)
    ]
    ends = [f + n for f, n in zip(places.first_word, places.n_words, strict=True)]
    splits = Splits(
        first_block=np.array(first_block, dtype=np.int64),
        reference=np.array(references, dtype=np.int64),
        first_word=np.array(places.first_word, dtype=np.int64),
        shift=np.array(places.shift, dtype=np.uint64),
        mask=np.array(masks, dtype=np.uint64),
        component_shift=tables.shift.astype(np.uint64),
    )
    return splits, max([1, *ends])


def split_blocks(network: DecoupledNetwork, splits: Splits) -> list[list[Block]]:
    """Return the blocks of split states, by component."""
    found = []
    for i, states in enumerate(network.local_states):
        n_words = int(network.tables.n_words[i])
        places = range(int(splits.first_block[i]), int(splits.first_block[i + 1]))
        found.append(
            [
                Block(
                    int(splits.first_word[k]),
                    n_words,
                    int(splits.shift[k]),
                    len(states),
                )
                for k in places
            ]
        )
    return found


@inlined
def write_root(tables, splits, rows, i, out):
    """Write to ``out[0]`` the acceptance split of ``rows[i]`` (Def. 4)."""
    sets = tables.sets
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(tables.first_word.shape[0]):
        first = tables.first_word[component]
        n_words = tables.n_words[component]
        down = splits.component_shift[component]
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            bit = splits.reference[block]
            if (rows[i, first + (bit >> 6)] >> np.uint64(bit & 63)) & _ONE == 0:
                continue
            place = tables.closure[tables.first_closure[component] + bit]
            for w in range(n_words):
                closed = (sets[place + w] >> down) << splits.shift[block]
                out[0, splits.first_word[block] + w] |= closed


@inlined
def write_split_successor(tables, splits, rows, i, label, out):
    """Write to ``out[0]`` where a label leads from ``rows[i]`` (Def. 5).

    Returns whether every participant can take it; if not, `out` means nothing.
    """
    for w in range(rows.shape[1]):
        out[0, w] = rows[i, w]
    sets = tables.sets
    image = tables.image
    for part in range(tables.first_part[label], tables.first_part[label + 1]):
        component = tables.component[part]
        n_words = tables.n_words[component]
        first_source = tables.first_source[part]
        first_image = tables.first_image[part]
        down = splits.component_shift[component]
        some = False
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            first = splits.first_word[block]
            up = splits.shift[block]
            mask = splits.mask[block]
            for w in range(n_words):
                out[0, first + w] &= ~mask
            for w in range(n_words):
                reached = ((rows[i, first + w] & mask) >> up) << down
                states = reached & tables.sources[first_source + w]
                some |= states != 0
                while states != 0:
                    place = image[first_image + 64 * w + trailing_zeros(states)]
                    states &= states - _ONE
                    for v in range(n_words):
                        out[0, first + v] |= (sets[place + v] >> down) << up
        if not some:
            return False
    return True


@inlined
def closes_cycle(tables, splits, rows):
    """Whether every component has, in ``rows[0]``, a reference that reaches itself.

    The test of Lemma 2.
    """
    for component in range(tables.first_word.shape[0]):
        down = splits.component_shift[component]
        some = False
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            bit = splits.reference[block]
            word = rows[0, splits.first_word[block] + (bit >> 6)]
            place = np.uint64(bit & 63) - down + splits.shift[block]
            if (word >> place) & _ONE != 0:
                some = True
                break
        if not some:
            return False
    return True


@inlined
def write_overall(tables, splits, rows, out):
    """Write to ``out[0]`` the decoupled state of all that ``rows[0]`` reaches."""
    for w in range(out.shape[1]):
        out[0, w] = 0
    for component in range(tables.first_word.shape[0]):
        first = tables.first_word[component]
        down = splits.component_shift[component]
        start = splits.first_block[component]
        for block in range(start, splits.first_block[component + 1]):
            for w in range(tables.n_words[component]):
                word = rows[0, splits.first_word[block] + w] & splits.mask[block]
                out[0, first + w] |= (word >> splits.shift[block]) << down
